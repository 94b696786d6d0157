"""Checks of names: unknown, misspelt, not yet or no longer read, renamed, undocumented."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from ncdiag.facts.scalars import Version, VersionRange
from ncdiag.lint import values
from ncdiag.lint.edits import putting
from ncdiag.lint.findings import finding
from ncdiag.lint.model import Document, Edit, Finding, Setting
from ncdiag.lint.vocabulary import suggestions
from ncdiag.nccl import environment, versions

UNKNOWN = "NCD601", "env-unknown-variable"
REMOVED = "NCD615", "env-removed-variable"
"""The rules that find the same in facts; lint knows more of the place."""
_SILENT = "NCCL reads the variables that it knows and never complains about others."


def check(document: Document, version: VersionRange | None) -> Iterator[Finding]:
    """What is wrong with the names of the document's settings."""
    for setting in document.settings:
        known = environment.variables().get(setting.name)
        if setting.reaches == "shell":  # a name of the script's own
            continue
        if known is None:
            yield from _unknown(document, setting, version)
        elif known.owner == environment.OURS:
            yield from _of_release(setting, known, version)


def _unknown(document: Document, setting: Setting, version: VersionRange | None) -> Iterator[Finding]:
    name = setting.name
    near = suggestions(name)
    seen = environment.table().misspelt.get(name)
    if seen is not None and name in environment.table().foreign_names:
        what = f"NCCL does not read {name}; {environment.table().foreign_names[name]} do: {seen.why}"
        yield finding("variable-of-others", setting.name_at, variable=name, what=what)
        return
    ours = name.startswith("NCCL_")
    if (ours and seen is None and environment.is_foreign(name)) or not (ours or near):
        return
    why = f" ({seen.why})" if seen else ""
    hint = f"; did you mean {' or '.join(near[:2])}?" if near else ""
    edits = _renaming(setting, near)
    if edits and near and not _fits(document, setting, near[0], version):
        edits = ()
    fixable = bool(edits and near) and (not ours or near[0].startswith("NCCL_"))
    fields = {"variable": name, "edits": edits, "fixable": fixable}
    if name.startswith("NCCL") or (near and near[0].startswith("NCCL_") and seen is None):
        code, rule = UNKNOWN
        yield Finding(
            code=code, name=rule, severity="warning", place=setting.name_at,
            message=f"NCCL knows no variable {name}: setting it has no effect{why}{hint}", reason=_SILENT,
            advice="" if edits else _advice(near), variable=name, edits=edits, fixable=fixable,
            references=("https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/env.html",),
        )  # fmt: skip
    elif near and seen is None:
        yield finding("neighbour-variable-misspelt", setting.name_at, what=f"No program reads {name}{hint}", **fields)


def _advice(near: list[str]) -> str:
    return f"Remove it, or give {near[0]} a value that it takes." if near else "Remove it."


def _fits(document: Document, setting: Setting, name: str, version: VersionRange | None) -> bool:
    """Whether the value makes sense for the variable that was meant, and that is not set beside it already."""
    same = _switches_off(setting.name) == _switches_off(name)
    renamed = msgspec.structs.replace(setting, name=name, value=setting.value if same else "1")
    taken = any(other.name == name and other.group == setting.group for other in document.settings)
    return not taken and not any(values.of_setting(document, renamed, version))


def _renaming(setting: Setting, near: list[str]) -> tuple[Edit, ...]:
    """The right name in the place of the wrong one, when there is one and it means the same; removal when none is.

    Where one switches on what the other switches off, the value is turned as well.
    """
    place = setting.name_at
    if not near:
        return (setting.removal,) if setting.removal is not None else ()
    if len(near) > 1 and not _plainly_nearer(setting.name, near):
        return ()
    renamed = Edit(place.start, place.end, near[0])
    if _switches_off(setting.name) == _switches_off(near[0]):
        return (renamed,)
    turned = {"0": "1", "1": "0"}.get(setting.value or "")
    return (renamed, *putting(setting, turned)) if turned and putting(setting, turned) else ()


def _switches_off(name: str) -> bool:
    return "DISAB" in name


def _plainly_nearer(name: str, near: list[str]) -> bool:
    from ncdiag.nccl.spelling import distance

    first, second = (distance(name.upper(), other, 3) or 0 for other in near[:2])
    return first < second


def _of_release(setting: Setting, known: environment.Variable, version: VersionRange | None) -> Iterator[Finding]:
    read = known.exists_at(version)
    place = setting.name_at
    if known.until is not None and read is not True:
        code, rule = REMOVED
        instead = f"; {known.renamed} took its place" if known.renamed else ""
        gone = read is False and _is_before(known.until, version)
        if gone or version is None:
            who = "This NCCL" if gone else f"No NCCL since {known.until}"
            message = f"{who} reads {known.name}" if not gone else f"{who} does not read {known.name} any more"
            yield Finding(
                code=code, name=rule, severity="warning" if gone else "info", message=f"{message}{instead}",
                place=place,
                reason="Old recipes live on, and NCCL never complains about a variable that it does not read.",
                versions=f">={known.until}", variable=known.name, advice="Remove it.",
                edits=(setting.removal,) if setting.removal else (), fixable=gone and setting.removal is not None,
            )  # fmt: skip
            return
    if known.since is not None and read is False:
        what = f"This NCCL does not know {known.name} yet: it came with {known.since}"
        yield finding("variable-too-new", place, variable=known.name, what=what, versions=f"<{known.since}")
    elif known.until is None and known.renamed and known.renamed in environment.variables():
        heir = environment.variables()[known.renamed]
        if heir.exists_at(version) is not False:
            what = f"{known.name} has been replaced by {known.renamed}"
            since = f">={heir.since}" if heir.since else ""
            yield finding("variable-deprecated", place, variable=known.name, what=what, versions=since)
    elif not known.documented:
        yield finding("variable-undocumented", place, variable=known.name)


def _is_before(change: Version, version: VersionRange | None) -> bool:
    return version is not None and versions.as_range(version).low >= change
