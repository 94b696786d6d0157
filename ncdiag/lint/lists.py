"""Checks of values that are words: levels, log levels, lists of algorithms, protocols and subsystems.

Sources: src/debug.cc (levels and subsystems), src/graph/tuning.cc (NCCL_ALGO, NCCL_PROTO), src/graph/paths.cc
(levels of distance), src/misc/socket.cc (families), all at v2.30.7-1; the words of a release come from env.toml.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ncdiag.facts.scalars import VersionRange
from ncdiag.lint.edits import putting
from ncdiag.lint.findings import finding
from ncdiag.lint.model import Finding, Setting
from ncdiag.nccl import paths, versions
from ncdiag.nccl.environment import OURS, Variable
from ncdiag.nccl.spelling import distance

_ALGORITHMS = ("Tree", "Ring", "CollNet", "CollNetDirect", "CollNetChain", "NVLS", "NVLSTree", "PAT")
_PROTOCOLS = ("LL", "LL128", "Simple")
_FUNCTIONS = ("broadcast", "reduce", "allgather", "reducescatter", "allreduce", "sendrecv", "send", "recv")
_LISTS = {
    "NCCL_ALGO": _ALGORITHMS, "NCCL_PROTO": _PROTOCOLS, "NCCL_DEBUG_SUBSYS": (), "NCCL_DEBUG_LEVELS": (),
    "NCCL_DEBUG_TIMESTAMP_LEVELS": (),
}  # fmt: skip
_LEVELS = tuple(dict.fromkeys(name for _, names in paths.TABLES[2:] for name in names if name not in {"NET", "DIS"}))


def check_words(setting: Setting, known: Variable, value: str, version: VersionRange | None) -> Iterator[Finding]:
    """What is wrong with words; nothing for variables that take any text."""
    if known.owner not in {OURS, "hccl"}:
        return
    if known.type == "level":
        yield from _level(setting, value, version)
    elif known.name in _LISTS:
        yield from _list(setting, known, value)
    elif known.words and not known.choices:
        words = known.words
        right = _word(words, value, any_case=known.any_case)
        if right is not None or not _among(words, value, any_case=known.any_case):
            yield _unknown(setting, right, words)


def _among(words: tuple[str, ...], value: str, *, any_case: bool) -> bool:
    return value in words or (any_case and value.upper() in {word.upper() for word in words})


def _word(words: tuple[str, ...], value: str, *, any_case: bool) -> str | None:
    """The word that was meant by one that is not among them; None when it is, or when none is near."""
    if _among(words, value, any_case=any_case):
        return None
    upper = value.strip().upper()
    for word in words:
        if word.upper() == upper:
            return word
    near = [(edits, word) for word in words if (edits := distance(upper, word.upper(), 1 + len(word) // 6)) is not None]
    return min(near)[1] if near and len(value) > 2 else None  # noqa: PLR2004  (two letters resemble everything)


def _unknown(setting: Setting, right: str | None, words: tuple[str, ...], versions_: str = "") -> Finding:
    value = setting.value or ""
    text = value if len(value) < 60 else value[:57] + "..."  # noqa: PLR2004  (what fits on a line)
    hint = f"; {right} was probably meant" if right else ""
    edits = putting(setting, right) if right else ()
    return finding(
        "value-word-unknown", setting.value_at, variable=setting.name, edits=edits, fixable=bool(edits),
        what=f"{setting.name} does not know {text!r}{hint}", reason=f"It knows {', '.join(words)}.", versions=versions_,
    )  # fmt: skip


def _level(setting: Setting, value: str, version: VersionRange | None) -> Iterator[Finding]:
    """Names in capitals, from 2.6 on; digits are told by a rule."""
    if value[:1].isdigit() or value.startswith("-"):
        return
    possible = versions.samples(version, paths.CHANGES)
    if any(paths.parse_level(value, exact) for exact in possible if exact >= paths.NAMED_LEVELS):
        missing = [exact for exact in possible if exact >= paths.NAMED_LEVELS and not paths.parse_level(value, exact)]
        if version is not None and missing:
            yield _unknown(setting, None, _LEVELS, f"<={missing[-1]}")
        return
    if version is not None and version.high < paths.NAMED_LEVELS:
        return
    yield _unknown(setting, _word(_LEVELS, value, any_case=False), _LEVELS)


def _list(setting: Setting, known: Variable, value: str) -> Iterator[Finding]:
    """Lists with commas; any letter case, a leading ^; algorithms and protocols by function since 2.24."""
    words = _LISTS[known.name] or _accepted(known)
    wrong: list[str] = []
    mended = value
    hopeless = False
    for part in re.split(r"[,;:]", value.removeprefix("^")):
        bare = part.strip().removeprefix("^")
        plain = known.name in {"NCCL_ALGO", "NCCL_PROTO"} and bare.lower() in _FUNCTIONS
        if plain or _among(words, bare, any_case=True):
            continue
        right = _word(words, bare, any_case=True)
        wrong.append(part)
        if right and bare:
            mended = re.sub(rf"(?<![\w]){re.escape(bare)}(?![\w])", right, mended)
        else:
            hopeless = True
    if wrong:
        text = ", ".join(map(repr, wrong[:3]))
        edits = putting(setting, mended) if not hopeless and mended != value else ()
        yield finding(
            "value-word-unknown", setting.value_at, variable=known.name, edits=edits, fixable=bool(edits),
            what=f"{known.name} does not know {text}", reason=f"It knows {', '.join(words)}.",
        )  # fmt: skip


def _accepted(known: Variable) -> tuple[str, ...]:
    """The words that ``accepts`` lists before its remarks."""
    head = re.sub(r"\([^)]*\)", "", known.accepts.split(";", maxsplit=1)[0])
    return tuple(word.strip() for word in head.split(",") if re.fullmatch(r"\s*[A-Z][A-Z_0-9]*\s*", word))
