"""Checks of values: numbers that are read differently, words that are not known, blanks and quotes, known mistakes."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ncdiag.facts.scalars import VersionRange
from ncdiag.lint.edits import putting
from ncdiag.lint.findings import finding
from ncdiag.lint.lists import check_words
from ncdiag.lint.model import Document, Edit, Finding, Setting
from ncdiag.nccl import environment, versions
from ncdiag.nccl.environment import NUMBERS, OURS, Variable
from ncdiag.nccl.numbers import is_plain, parse_number

_WHO = {OURS: "NCCL", "horovod": "Horovod", "hccl": "HCCL"}
_RANGED = {"hccl", "lightcc"}
"""Other programs whose numbers are known well enough to be checked."""
_TRUE, _FALSE = (
    {"true", "t", "yes", "y", "on", "enable", "enabled"},
    {"false", "f", "no", "n", "off", "disable", "disabled"},
)
_SUFFIXED = re.compile(r"(\d{1,9})\s?([kKmMgG])(?:i?[bB])?")
_DECIMAL = re.compile(r"0+([1-9]\d*)")
_REMARK = re.compile(r"(\S[^#]*?)\s+#.*")
_TAILED = re.compile(r"(-?\d+)(?:\.0*)?[\s;#,].*|(-?\d+)\.0+")
_STEPS = {"k": 1 << 10, "m": 1 << 20, "g": 1 << 30}


def check(document: Document, version: VersionRange | None) -> Iterator[Finding]:
    """What is wrong with the values of the document's settings."""
    for setting in document.settings:
        if setting.reaches != "shell":
            yield from of_setting(document, setting, version)


def of_setting(document: Document, setting: Setting, version: VersionRange | None) -> Iterator[Finding]:
    """What is wrong with one value."""
    known = environment.variables().get(setting.name)
    if known is not None and setting.value is not None:
        yield from _value(document, setting, known, version)


def _value(document: Document, setting: Setting, known: Variable, version: VersionRange | None) -> Iterator[Finding]:
    value = setting.value or ""
    if not value:
        if known.empty:
            what = f"{known.name} is set to nothing, which {known.empty}"
            yield finding("value-empty-counts", setting.name_at, variable=known.name, what=what)
        elif known.empty_is_unset and document.form != "process":
            yield finding("value-empty", setting.name_at, variable=known.name)
        return
    wrapped = list(_wrapped(document, setting, known, value, version))
    yield from wrapped
    if wrapped:
        return
    seen = environment.wrong_value(known.name, value, version)
    if seen is not None and not (seen.value == "~.*" and _shell_expands(document, setting)):
        right = seen.mended(value)
        what = f"{known.name}={_shown(value)} does not say what it seems to: {seen.why}"
        edits = putting(setting, right) if right is not None else ()
        yield finding("value-of-another-kind", setting.value_at, variable=known.name, what=what, edits=edits,
                      fixable=bool(edits), versions=f">={seen.since}" if seen.since else "")  # fmt: skip
    elif known.type in NUMBERS and not known.words:
        ranged = known.owner in _RANGED and (known.bounds or known.choices)
        if known.owner in {OURS, "horovod"} or ranged:
            yield from _number(setting, known, value, version)
    else:
        yield from check_words(setting, known, value, version)


def _wrapped(
    document: Document, setting: Setting, known: Variable, value: str, version: VersionRange | None
) -> Iterator[Finding]:
    """Quotes and blanks that belong to the value."""
    bare = value.strip()
    quoted = len(bare) > 1 and bare[0] == bare[-1] and bare[0] in "\"'"
    comment = _REMARK.fullmatch(value) if setting.quoting == "raw" and document.form != "env" else None
    if comment and known.owner == OURS:
        yield finding("value-has-quotes-or-blanks", setting.value_at, variable=known.name,
                      what=f"The remark behind {known.name}={comment[1]} belongs to its value",
                      edits=putting(setting, comment[1]), fixable=bool(putting(setting, comment[1])))  # fmt: skip
        return
    inner = bare[1:-1].strip() if quoted else bare
    if known.owner != OURS or (not quoted and (bare == value or not bare)):
        return
    if quoted and document.form == "env":
        yield finding("value-has-quotes-or-blanks", setting.value_at, variable=known.name, severity="info",
                      what=f"docker run --env-file and Kubernetes keep the quotes of {known.name}={_shown(value)}",
                      edits=putting(setting, inner), fixable=bool(putting(setting, inner)))  # fmt: skip
        return
    if document.form == "env" or (not quoted and known.type in NUMBERS):
        return
    returned = not quoted and value.rstrip("\r") == bare
    cut = document.form == "conf" and version is not None and version.low >= versions.CONF_HOME_VARIABLE
    if returned and cut:
        return
    what = "quotes" if quoted else "line ends of Windows" if returned else "blanks"
    yield finding("value-has-quotes-or-blanks", setting.value_at, variable=known.name,
                  what=f"The {what} around {known.name}={_shown(value)} belong to its value",
                  edits=putting(setting, inner), fixable=bool(putting(setting, inner)))  # fmt: skip


def _number(setting: Setting, known: Variable, value: str, version: VersionRange | None) -> Iterator[Finding]:
    number = parse_number(value)
    text = value.strip()
    since = known.truth if text.upper() in {"T", "TRUE", "F", "FALSE"} else None
    if since is not None and version is not None and version.low >= since:
        return
    if not is_plain(value):
        right = _meant(known, text)
        if known.owner != OURS and right is None:
            if known.bounds is not None and known.owner in _RANGED:
                yield _out_of_range(setting, known, version)
            return
        read = "nothing (the default stays)" if number is None else str(number)
        who = _WHO.get(known.owner, "The program")
        edits = putting(setting, right) if right is not None else ()
        yield finding("value-not-a-number", setting.value_at, variable=known.name, edits=edits, fixable=bool(edits),
                      what=f"{known.name}={_shown(value)}: {who} reads {read}{_harm(number, right)}",
                      versions=f"<{since}" if since else "")  # fmt: skip
    elif number is not None and not known.admits(number):
        yield _out_of_range(setting, known, version)


def _out_of_range(setting: Setting, known: Variable, version: VersionRange | None) -> Finding:
    default = known.default_at(version)
    edits: tuple[Edit, ...] = (setting.removal,) if setting.removal else ()
    if isinstance(default, int) and default >= 0:
        edits = putting(setting, str(default))
    what = f"{known.name}={_shown(setting.value or '')} is out of range: {_range(known)}"
    return finding("value-out-of-range", setting.value_at, variable=known.name, edits=edits, what=what,
                   reason=f"{known.means}.")  # fmt: skip


def _meant(known: Variable, text: str) -> str | None:
    """The number that was meant; None where that cannot be told."""
    lower = text.lower()
    if lower in _TRUE | _FALSE and {0, 1} <= set(known.choices):
        return "1" if lower in _TRUE else "0"
    if lower in _FALSE and known.type in NUMBERS:
        return "0"
    suffixed = _SUFFIXED.fullmatch(text)
    if suffixed and known.type == "size":
        return str(int(suffixed[1]) * _STEPS[suffixed[2].lower()])
    tailed = _TAILED.fullmatch(text)
    found = (tailed[1] or tailed[2]) if tailed else (_DECIMAL.fullmatch(text) or [None, None])[1]
    if text.startswith("+") and is_plain(text[1:]):
        found = text[1:]
    if found is not None and is_plain(found) and known.admits(int(found)):
        return found
    return None


def _harm(number: int | None, right: str | None) -> str:
    if right is None or number is None or str(number) == right:
        return ""
    return f", the opposite of what was meant ({right})" if {number, int(right)} == {0, 1} else f", not {right}"


def _range(known: Variable) -> str:
    if known.bounds is not None:
        return f"{known.bounds[0]} to {known.bounds[1]}"
    return "one of " + ", ".join(map(str, known.choices))


def _shell_expands(document: Document, setting: Setting) -> bool:
    """A shell puts the home directory in the place of a ``~`` that stands without quotes behind the ``=``."""
    return setting.quoting == "shell" and document.form in {"shell", "kubernetes", "compose"} and (
        document.text[setting.value_at.start : setting.value_at.start + 1] == "~"
    )  # fmt: skip


def _shown(value: str) -> str:
    short = value if len(value) < 60 else value[:57] + "..."  # noqa: PLR2004  (what fits on a line)
    return short if short == short.strip() and short else repr(short)
