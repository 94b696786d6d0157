"""Check the name of a variable: which program reads it, in which releases, and which name was probably intended."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Mapping, Sequence

from ncdiag.base.patterns import lazy_regex
from ncdiag.facts.scalars import Version, VersionRange
from ncdiag.nccl import book, versions
from ncdiag.nccl.book import OURS, Variable
from ncdiag.nccl.judgement.verdict import NameVerdict
from ncdiag.nccl.spelling import distance

NEAR = 2
"""The largest number of edits between a misspelt name and the suggested one."""
LONG = 16
"""The length in characters from which that number applies; for shorter names it is one edit."""
_PREFIX = "NCCL_"
_LIKE_NCCL = lazy_regex(r"([A-Z]{3,5})_[A-Z]")
_A_CCL = lazy_regex(r"[A-Z]?CCL$")
"""Other collective libraries: RCCL, HCCL, MCCL, TCCL, CCL. Their variables look like NCCL's."""
_FAMILIES = ("HCCL_", "HOROVOD_", "TORCH_NCCL_", "LIGHT_", "RCCL_", "GLOO_", "NVSHMEM_", "FI_EFA_")
"""Prefixes of other programs whose variables are known well enough to recognise a misspelt one."""
_PYTORCH = "pytorch"
_ZEROS = str.maketrans("123456789", "0" * 9)
_HINTS = 2


def of_name(name: str, version: Version | VersionRange | None = None) -> NameVerdict | None:
    """Return what is wrong with the name of a variable that is set; None when nothing is.

    ``version`` is the release of NCCL, None for any.
    """
    known = book.variables().get(name)
    if known is None:
        return _of_unknown(name)
    return _of_release(known, version) if known.owner == OURS else _of_alias(known)


def reader(name: str) -> str | None:
    """Return the program that reads a variable that the table lacks but that begins like NCCL's; None for none."""
    table = book.table()
    if name in table.foreign_names:
        return table.foreign_names[name]
    return next((program for prefix, program in table.foreign_prefixes.items() if name.startswith(prefix)), None)


def is_foreign(name: str) -> bool:
    """Does the name belong to another program although it looks like NCCL's?

    True for old names of PyTorch, for plugins and for build systems; False for NCCL's own variables, and for names that
    no known program reads.
    """
    table = book.table()
    if name in table.variables:
        return table.variables[name].owner != OURS
    return reader(name) is not None or not name.startswith("NCCL")


@functools.lru_cache(1 << 15)
def suggest(name: str) -> tuple[str, ...]:
    """Return the names that a misspelt variable was probably intended to be, best first; empty when none is near.

    Wrong names that occur in practice come from the table; others are at most `NEAR` edits away (a swap of neighbouring
    letters counts as one), short ones one. A name that exists gets no suggestion.
    """
    table = book.table()
    if name in table.misspelt and name not in table.variables:
        return table.misspelt[name].right
    if name in table.variables or name in table.foreign_names:
        return ()
    upper = name.upper()
    if name != upper:
        return (upper,) if upper in table.variables and upper.startswith(_PREFIX) else ()
    if name.startswith(_PREFIX):
        allowed = 1 if len(name) < LONG else NEAR
        same = _ours_like(name.translate(_ZEROS), allowed)
        near = [(edits, other) for other in same if (edits := distance(name, other, allowed)) is not None]
        return tuple(other for _, other in sorted(near))
    like = _LIKE_NCCL.match(name)
    if like and not _A_CCL.match(like[1]) and distance(like[1], "NCCL", 1) is not None:
        return _nearest(name, _PREFIX)
    family = next((prefix for prefix in _FAMILIES if name.startswith(prefix)), None)
    return _nearest(name, family) if family else ()


@functools.cache
def _ours() -> Mapping[int, Sequence[str]]:
    """The variables of NCCL by the lengths of their names."""
    found: dict[int, list[str]] = {}
    for name, variable in book.table().variables.items():
        if variable.owner == OURS:
            found.setdefault(len(name), []).append(name)
    return found


@functools.lru_cache(1 << 12)
def _ours_like(shape: str, allowed: int) -> Sequence[str]:
    """The variables of NCCL of which the names are near if digits count as equal; ``shape`` has zeros in their place.

    Scripts number their variables: the names of a row share the answer.
    """
    lengths = range(len(shape) - allowed, len(shape) + allowed + 1)
    same = itertools.chain.from_iterable(_ours().get(length, ()) for length in lengths)
    return [name for name in same if distance(shape, name.translate(_ZEROS), allowed) is not None]


def _nearest(name: str, prefix: str) -> tuple[str, ...]:
    same = (other for other in book.variables() if other.startswith(prefix))
    near = [(edits, other) for other in same if (edits := distance(name, other, NEAR)) is not None]
    return (min(near)[1],) if near else ()


@functools.lru_cache(1 << 15)
def _of_unknown(name: str) -> NameVerdict | None:
    table, near = book.table(), suggest(name)
    seen, ours = table.misspelt.get(name), name.startswith(_PREFIX)
    if seen is not None and name in table.foreign_names:
        what = f"NCCL does not read {name}; {table.foreign_names[name]} do: {seen.why}"
        return NameVerdict(fault="of-others", what=what, mild=True)
    if (not ours and (seen or not near)) or (ours and not seen and is_foreign(name)):
        return None
    hint = f"; did you mean {' or '.join(near[:_HINTS])}?" if near else ""
    if not ours and not near[0].startswith(_PREFIX):
        return NameVerdict(fault="neighbour-misspelt", what=f"No program reads {name}{hint}", near=near)
    if not seen and not near:
        return NameVerdict(fault="unread", what=f"No known release of NCCL reads {name}", mild=True)
    why = f" ({seen.why})" if seen else ""
    what = f"NCCL has no variable {name}: setting it has no effect{why}{hint}"
    return NameVerdict(fault="misspelt", what=what, near=near)


def _of_alias(known: Variable) -> NameVerdict | None:
    """The old name of another program's variable, which that program still reads; releases are those of the program."""
    heir = book.variables().get(known.renamed or "")
    if heir is None:
        return None
    what = f"{known.name} has been replaced by {heir.name}"
    if heir.since and heir.owner == _PYTORCH:
        what = f"{known.name} has been replaced by {heir.name} since PyTorch {str(heir.since).removesuffix('.0')}"
    return NameVerdict(fault="deprecated", what=what, mild=True, near=(heir.name,))


def _of_release(known: Variable, version: Version | VersionRange | None) -> NameVerdict | None:
    """What the release does with a variable of NCCL."""
    read, low = known.exists_at(version), versions.as_range(version).low
    if known.until is not None and read is not True:
        gone = version is not None and low >= known.until
        if gone or read is None:
            instead = f"; {known.renamed} replaced it" if known.renamed else ""
            who = (
                f"This NCCL does not read {known.name} any more"
                if gone
                else f"No NCCL since {known.until} reads {known.name}"
            )
            near = (known.renamed,) if known.renamed else ()
            return NameVerdict(
                fault="removed", what=f"{who}{instead}", versions=f">={known.until}", mild=not gone, near=near
            )
    if known.since is not None and read is False:
        what = f"This NCCL does not know {known.name} yet: it came with {known.since}"
        return NameVerdict(fault="too-new", what=what, versions=f"<{known.since}")
    heir = book.variables().get(known.renamed or "")
    if known.until is None and heir is not None and heir.exists_at(version) is not False:
        what = f"{known.name} has been replaced by {known.renamed}"
        since = f">={heir.since}" if heir.since else ""
        return NameVerdict(fault="deprecated", what=what, versions=since, mild=True, near=(heir.name,))
    if not known.documented:
        return NameVerdict(fault="undocumented", what=f"{known.name} is not in NCCL's user guide", mild=True)
    return None
