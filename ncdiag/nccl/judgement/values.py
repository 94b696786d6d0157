"""Check the value of a variable: does NCCL read the text as its writer must have intended?

Numbers are read with strtoll (`ncdiag.nccl.numbers`), words are compared as a whole, and everything that reaches the
process belongs to the value. Sources: src/misc/param.cc (numbers, conf files) and, by variable, the table.
"""

from __future__ import annotations

import functools
import re
from typing import Literal

from ncdiag.base.patterns import lazy_regex
from ncdiag.facts.scalars import Version, VersionRange
from ncdiag.nccl import book, versions
from ncdiag.nccl.book import NUMBERS, OURS, Variable, WrongValue
from ncdiag.nccl.judgement import words
from ncdiag.nccl.judgement.verdict import ValueVerdict
from ncdiag.nccl.numbers import is_plain, parse_number

Written = Literal["process", "shell", "conf", "env file"]
"""How the text is written.

As the process gets it; in a shell, which expands a leading ``~``; after the ``=`` of a line in nccl.conf, where all
characters belong to the value; or in a file for ``docker run --env-file``.
"""

AnyVersion = Version | VersionRange | None

_WHO = {OURS: "NCCL", "horovod": "Horovod", "hccl": "HCCL"}
_RANGED = {"hccl", "lightcc"}
"""Other programs whose numbers are known well enough to be checked."""
_TRUE, _FALSE = (
    {"true", "t", "yes", "y", "on", "enable", "enabled"},
    {"false", "f", "no", "n", "off", "disable", "disabled"},
)
_SUFFIXED = lazy_regex(r"(\d{1,9})\s?([kKmMgG])(?:i?[bB])?")
_DECIMAL = lazy_regex(r"0{1,20}([1-9]\d{0,20})")
_REMARK = lazy_regex(r"(\S[^#]{0,1024}?)\s{1,64}#.*")
_TAILED = lazy_regex(r"(-?\d{1,20})(?:\.0{0,20})?[\s;#,].*|(-?\d{1,20})\.0{1,20}")
_STEPS = {"k": 1 << 10, "m": 1 << 20, "g": 1 << 30}
_SHOWN = 60


@functools.lru_cache(8192)
def of_value(name: str, text: str, version: AnyVersion = None, written: Written = "process") -> ValueVerdict | None:
    """Return what is wrong with the value of a variable; None when nothing is known to be, as for unknown names.

    ``version`` is the release of NCCL that reads it, None for any. A problem in only some of the possible releases is
    reported with its ``versions``.
    """
    known = book.variables().get(name)
    found = _judged(known, text, version, written) if known is not None else None
    return None if found is None or found.holds(version) is False else found


def _judged(known: Variable, text: str, version: AnyVersion, written: Written) -> ValueVerdict | None:
    if not text:
        return _empty(known)
    wrapped = _wrapped(known, text, version, written)
    if wrapped is not None:
        return wrapped
    mistake = seen(known.name, text)
    if mistake is not None and not (written == "shell" and text.startswith("~")):
        return _mistaken(known, mistake, text)
    if known.type in NUMBERS and not known.words:
        ranged = known.owner in _RANGED and (known.bounds or known.choices)
        return _number(known, text, version) if known.owner in {OURS, "horovod"} or ranged else None
    return words.of_words(known, text, version)


def seen(name: str, text: str) -> WrongValue | None:
    """Return the known mistake that a value of this variable matches; None without one."""
    if len(text) >= book.VALUE_LIMIT:
        return None
    return next((one for one in book.table().wrong_values.get(name, ()) if re.fullmatch(one.value, text)), None)


def _mistaken(known: Variable, mistake: WrongValue, text: str) -> ValueVerdict:
    right = mistake.mended(text)
    return ValueVerdict(
        fault="of-another-kind",
        what=f"{known.name}={shown(text)} does not mean what it seems to: {mistake.why}",
        right=right if right and seen(known.name, right) is None else None,
        versions=f">={mistake.since}" if mistake.since else "",
    )


def _empty(known: Variable) -> ValueVerdict | None:
    if known.empty:
        what = f"{known.name} is set to nothing, which {known.empty}"
        why = "To unset it, remove the assignment or start the program with `env -u NAME`."
        meant = "none" in known.words  # an empty value is a valid way to select none
        return ValueVerdict(fault="empty-counts", what=what, why=why, versions=known.empty_at, mild=meant)
    if known.empty_is_unset:
        return ValueVerdict(fault="empty", what=f"{known.name} is set to nothing", mild=True)
    return None


def _wrapped(known: Variable, text: str, version: AnyVersion, written: Written) -> ValueVerdict | None:
    """Quotes, blanks and comments that become part of the value."""
    if known.owner != OURS:
        return None
    remark = _REMARK.fullmatch(text) if written == "conf" else None
    if remark:
        return _cut(f"The comment after {known.name}={remark[1]} belongs to its value", remark[1])
    bare = text.strip()
    if len(bare) > 1 and bare[0] == bare[-1] and bare[0] in "\"'":
        inner, kept = bare[1:-1].strip(), written == "env file"
        who = "docker run --env-file and Kubernetes keep the quotes of" if kept else "The quotes around"
        what = f"{who} {known.name}={shown(text)}"
        return _cut(what if kept else f"{what} belong to its value", inner, mild=kept)
    if bare == text or not bare or written == "env file" or known.type in NUMBERS:
        return None
    returned = text.rstrip("\r") == bare
    if returned and written == "conf" and version and versions.as_range(version).low >= versions.CONF_HOME_VARIABLE:
        return None
    what = "line ends of Windows" if returned else "blanks"
    return _cut(f"The {what} around {known.name}={shown(text)} belong to its value", bare)


def _cut(what: str, right: str, *, mild: bool = False) -> ValueVerdict:
    return ValueVerdict(fault="has-quotes-or-blanks", what=what, right=right, mild=mild)


def _number(known: Variable, text: str, version: AnyVersion) -> ValueVerdict | None:
    if is_plain(text):
        number = parse_number(text)
        return None if number is None or known.admits(number) else _out_of_range(known, text, version)
    since = known.truth if text.strip().upper() in {"T", "TRUE", "F", "FALSE"} else None
    right = _meant(known, text.strip())
    if known.owner != OURS and right is None:
        return _out_of_range(known, text, version) if known.bounds is not None and known.owner in _RANGED else None
    number = parse_number(text)
    read = "nothing (the default stays)" if number is None else str(number)
    who = _WHO.get(known.owner, "The program")
    return ValueVerdict(
        fault="not-a-number", what=f"{known.name}={shown(text)}: {who} reads {read}{_harm(number, right)}", right=right,
        versions=f"<{since}" if since else "", mild=right is not None and str(number) == right,
    )  # fmt: skip


def _out_of_range(known: Variable, text: str, version: AnyVersion) -> ValueVerdict:
    default = known.default_at(version)
    right = str(default) if isinstance(default, int) and default >= 0 else None
    what = f"{known.name}={shown(text)} is out of range: {_range(known)}"
    return ValueVerdict(fault="out-of-range", what=what, why=f"{known.means}.", right=right)


def _range(known: Variable) -> str:
    if known.bounds is not None:
        return f"{known.bounds[0]} to {known.bounds[1]}"
    return "one of " + ", ".join(map(str, known.choices))


def _meant(known: Variable, text: str) -> str | None:
    """The number that was intended; None where that cannot be determined."""
    lower = text.lower()
    if lower in _TRUE | _FALSE and {0, 1} <= set(known.choices):
        return "1" if lower in _TRUE else "0"
    if lower in _FALSE:
        return "0"
    suffixed = _SUFFIXED.fullmatch(text)
    if suffixed and known.type == "size":
        return str(int(suffixed[1]) * _STEPS[suffixed[2].lower()])
    tailed = _TAILED.fullmatch(text)
    found = (tailed[1] or tailed[2]) if tailed else (_DECIMAL.fullmatch(text) or [None, None])[1]
    if text.startswith("+") and is_plain(text[1:]):
        found = text[1:]
    return found if found is not None and is_plain(found) and known.admits(int(found, 0)) else None


def _harm(number: int | None, right: str | None) -> str:
    if right is None or number is None or str(number) == right:
        return ""
    return f", the opposite of what was intended ({right})" if {number, int(right)} == {0, 1} else f", not {right}"


def shown(value: str) -> str:
    """Return a value as part of a sentence: shortened, in quotes where blanks would be missed."""
    short = value if len(value) < _SHOWN else value[: _SHOWN - 3] + "..."
    return short if short == short.strip() and short else repr(short)
