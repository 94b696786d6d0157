"""Why a call failed, whoever says it: errno by number, name or text in any language, CUDA, verbs, signals.

Tables: ``reasons.toml`` (the groups), ``strerror.toml`` (errno), ``cuda.toml`` (cudaError).
"""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any

import msgspec

from ncdiag.base import compiled
from ncdiag.base.patterns import lazy_regex

_FOLDER = Path(__file__).parent
_TABLES = tuple(_FOLDER / name for name in ("reasons.toml", "strerror.toml", "cuda.toml"))
_LIMIT = 600
"""Characters of a text in which an error is looked for."""
_WORD = lazy_regex(r"\w+")
_SHORTEST = 8
"""Letters of an error's text that is believed inside other text: ``Killed`` or ``I/O`` are in any prose."""
_NUMBER = lazy_regex(
    r"\b(?:errno|os error|strerror)\b[ :=(]{0,4}(?P<errno>\d{1,3})\b|\[Errno (?P<python>\d{1,3})\]"
    r"|\bC(?:uda|UDA|UDA_)? ?(?:failure|error|ERROR)[ :(]{1,3}(?P<cuda>\d{1,3})\b"
)
_NAME = lazy_regex(
    r"\b(?:E[A-Z]{3,16}|(?:cuda|hip)Error[A-Za-z]{3,40}|C[UD][A-Z]{0,4}_(?:ERROR|STATUS)_[A-Z_]{3,40})\b"
)


class Reason(msgspec.Struct, frozen=True):
    """A group of errors and the one in it: ``refused`` and ``ECONNREFUSED``. Either is None where it is not known."""

    group: str | None = None
    name: str | None = None


class Errors(msgspec.Struct, frozen=True):
    """The tables turned round: what is looked up to the group and name that it stands for."""

    means: dict[str, str]
    tcp: dict[str, str]
    errno: dict[int, Reason]
    cuda: dict[int, Reason]
    completion: dict[int, str]
    signal: dict[int, Reason]
    signals: dict[str, int]
    names: dict[str, Reason]
    texts: dict[str, Reason]
    cuda_texts: dict[str, Reason]


def build() -> Errors:
    """Read the tables from TOML."""
    from ncdiag.base import toml

    groups, said, cuda = (toml.loads(path.read_text(encoding="utf-8")) for path in _TABLES)
    of: dict[str, dict[Any, str]] = {"errno": {}, "cuda": {}, "completion": {}, "signal": {}}
    for name, entry in groups["reason"].items():
        for kind, found in of.items():
            found.update(dict.fromkeys(entry.get(kind, ()), name))
    errno = {number: Reason(of["errno"].get(name), name) for name, (number, _) in said.items()}
    errors = {int(number): Reason(of["cuda"].get(int(number)), name) for number, (name, _) in cuda["error"].items()}
    cuda_texts: dict[str, Reason] = {}
    for number, (_, text) in cuda["error"].items():
        cuda_texts.setdefault(_plain(text), errors[int(number)])
    names = {reason.name or "": reason for reason in (*errno.values(), *errors.values())}
    for word, number in cuda["also"].items():
        (cuda_texts if " " in word else names)[_plain(word) if " " in word else word] = errors[number]
    texts = {_plain(text): errno[number] for number, wordings in said.values() for text in wordings}
    means = {name: entry["means"] for name, entry in groups["reason"].items()}
    signals = {number: Reason(of["signal"].get(number), name) for name, number in groups["signals"].items()}
    tcp = {name: entry["tcp"] for name, entry in groups["reason"].items() if "tcp" in entry}
    return Errors(means, tcp, errno, errors, of["completion"], signals, groups["signals"], names, texts, cuda_texts)


@functools.cache
def errors() -> Errors:
    """The tables, read once."""
    return compiled.load("reasons", (*_TABLES, __file__), build, Errors)


def groups() -> dict[str, str]:
    """What each group means, as the end of "It failed because"."""
    return errors().means


def first_step_of_tcp(group: str) -> str | None:
    """What to do first where a TCP connection failed for a reason of this group; None where that tells nothing."""
    return errors().tcp.get(group)


def of_errno(number: int) -> Reason | None:
    """The reason of a number of errno, as Linux counts."""
    return errors().errno.get(abs(number))


def of_cuda(number: int) -> Reason | None:
    """The reason of a number of cudaError; of CUresult too from 100 on, which has the same numbers there."""
    return errors().cuda.get(number)


def of_completion(status: int) -> Reason | None:
    """The reason of a status of ibv_poll_cq (enum ibv_wc_status)."""
    group = errors().completion.get(status)
    return Reason(group) if group else None


def of_signal(number: int) -> Reason | None:
    """The reason of the signal that ended a process."""
    return errors().signal.get(number)


def number_of_signal(name: str) -> int | None:
    """The number of a signal on Linux, by its name (``SIGKILL``)."""
    return errors().signals.get(name)


def of_text(text: str, *, cuda: bool = False) -> Reason | None:
    """The error that a text is: its name, its words in any known language, with a number before or a stop behind it.

    ``cuda``: words that CUDA and the C library share (``invalid argument``) are CUDA's.
    """
    known = errors()
    text, first, second = text.strip()[:_LIMIT], known.texts, known.cuda_texts
    if cuda:
        first, second = second, first
    bare = _plain(text)
    exact = known.names.get(text) or first.get(bare) or second.get(bare)
    if exact is not None:
        return exact
    found = _NAME.search(text)
    while found is not None:
        if found[0] in known.names:
            return known.names[found[0]]
        found = _NAME.search(text, found.end())
    return _inside(bare, cuda=cuda) or _inside(bare, cuda=not cuda) or _numbered(text)


def _inside(bare: str, *, cuda: bool) -> Reason | None:
    """The longest wording of CUDA or of the C library that is in the text, at the borders of words."""
    table = _by_first_word(cuda=cuda)
    candidates = [pair for word in sorted(set(_WORD.findall(bare))) for pair in table.get(word, ())]
    candidates += [] if bare.isascii() else table.get("", [])
    best: tuple[int, Reason] | None = None
    for words, reason in candidates:
        long = len(words) if words.isascii() else 4 * len(words)  # a Chinese sign says as much as several letters
        if long >= _SHORTEST and (best is None or len(words) > best[0]) and words in bare and _is_apart(words, bare):
            best = len(words), reason
    return best[1] if best else None


@functools.cache
def _by_first_word(*, cuda: bool) -> dict[str, list[tuple[str, Reason]]]:
    """The wordings by their first word; behind the empty one those of scripts in which words cannot be told apart."""
    found: dict[str, list[tuple[str, Reason]]] = {}
    for words, reason in (errors().cuda_texts if cuda else errors().texts).items():
        first = _WORD.search(words) if words.isascii() else None
        found.setdefault(first[0] if first else "", []).append((words, reason))
    return found


def _is_apart(words: str, text: str) -> bool:
    at = text.find(words)
    before, after = text[:at][-1:], text[at + len(words) :][:1]
    return not words.isascii() or not (before.isalnum() or after.isalnum())


def _numbered(text: str) -> Reason | None:
    found = _NUMBER.search(text)
    if found is None:
        return None
    if found["cuda"]:
        return of_cuda(int(found["cuda"]))
    return of_errno(int(found["errno"] or found["python"]))


def _plain(text: str) -> str:
    """The text as it is compared: small letters, single blanks, typographic apostrophes as plain ones, no stop."""
    return " ".join(text.replace("\u2019", "'").casefold().split()).rstrip(" .;,!)")
