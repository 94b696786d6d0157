"""Why a call failed: errors by number, name or text in any language, of errno, CUDA, verbs and signals.

Tables: ``reasons.toml`` (the groups), ``strerror.toml`` (errno), ``cuda.toml`` (cudaError).
"""

from __future__ import annotations

import bisect
import functools
import itertools
from pathlib import Path
from typing import Any

import msgspec

from ncdiag.base import compiled
from ncdiag.base.patterns import lazy_regex

_FOLDER = Path(__file__).parent
_TABLES = tuple(_FOLDER / name for name in ("reasons.toml", "strerror.toml", "cuda.toml"))
_LIMIT = 600
"""The number of characters of a text that are searched for an error."""
_WORD = lazy_regex(r"\w+")
_SHORTEST = 8
"""Texts of errors with fewer letters are not searched inside other text: ``Killed`` or ``I/O`` may be prose."""
_NUMBER = lazy_regex(
    r"\b(?:errno|os error|strerror)\b[ :=(]{0,4}(?P<errno>\d{1,3})\b|\[Errno (?P<python>\d{1,3})\]"
    r"|\bC(?:uda|UDA|UDA_)? ?(?:failure|error|ERROR)[ :(]{1,3}(?P<cuda>\d{1,3})\b"
)
_NAME = lazy_regex(
    r"\b(?:E[A-Z]{3,16}|(?:cuda|hip)Error[A-Za-z]{3,40}|C[UD][A-Z]{0,4}_(?:ERROR|STATUS)_[A-Z_]{3,40})\b"
)


class Reason(msgspec.Struct, frozen=True):
    """The group and the name of an error: ``refused`` and ``ECONNREFUSED``. Either is None where it is not known."""

    group: str | None = None
    name: str | None = None


class Errors(msgspec.Struct, frozen=True):
    """Lookup tables: from numbers, names and texts to the group and name of the error."""

    means: dict[str, str]
    tcp: dict[str, str]
    errno: dict[int, Reason]
    cuda: dict[int, Reason]
    completion: dict[int, str]
    signal: dict[int, Reason]
    signals: dict[str, int]
    signal_texts: dict[str, str]
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
    return Errors(
        means, tcp, errno, errors, of["completion"], signals, groups["signals"], groups["signal_texts"], names, texts,
        cuda_texts,
    )  # fmt: skip


@functools.cache
def errors() -> Errors:
    """Return the tables, read once."""
    return compiled.load("reasons", (*_TABLES, __file__), build, Errors)


def groups() -> dict[str, str]:
    """Return the meaning of each group, as the end of a sentence that begins "It failed because"."""
    return errors().means


def first_step_of_tcp(group: str) -> str | None:
    """Return the first thing to check after a failed TCP connection with a reason of this group; None without one."""
    return errors().tcp.get(group)


def of_errno(number: int) -> Reason | None:
    """Return the reason for an errno number, with Linux's numbers."""
    return errors().errno.get(abs(number))


def of_cuda(number: int) -> Reason | None:
    """Return the reason for a cudaError number, or for a CUresult from 100 on, which has the same numbers."""
    return errors().cuda.get(number)


def of_completion(status: int) -> Reason | None:
    """Return the reason for a status of ibv_poll_cq (enum ibv_wc_status)."""
    group = errors().completion.get(status)
    return Reason(group) if group else None


def of_signal(number: int) -> Reason | None:
    """Return the reason for a signal that ended a process."""
    return errors().signal.get(number)


def number_of_signal(name: str) -> int | None:
    """Return the number of a signal on Linux, by its name (``SIGKILL``) or its text (``Segmentation fault``)."""
    held = errors()
    return held.signals.get(held.signal_texts.get(name.strip(" .").lower(), name))


def of_text(text: str, *, cuda: bool = False) -> Reason | None:
    """Return the error that a text names: by its name or its words in any known language, a number or stop around them.

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
    return _inside(bare, cuda=cuda) or _inside(bare, cuda=not cuda) or _numbered(text) or _cut(bare)


def of_cuda_text(text: str) -> Reason | None:
    """Return the error of which this is CUDA's whole text, and not one of the C library's too; None for others."""
    bare = _plain(text)
    return None if bare in errors().texts else errors().cuda_texts.get(bare)


def _inside(bare: str, *, cuda: bool) -> Reason | None:
    """The longest wording of an error of CUDA or the C library in the text, at word boundaries."""
    table = _by_first_word(cuda=cuda)
    candidates = [pair for word in sorted(set(_WORD.findall(bare))) for pair in table.get(word, ())]
    candidates += [] if bare.isascii() else table.get("", [])
    best: tuple[int, Reason] | None = None
    for words, reason in candidates:
        long = len(words) if words.isascii() else 4 * len(words)  # a Chinese character counts as several letters
        if long >= _SHORTEST and (best is None or len(words) > best[0]) and words in bare and _is_apart(words, bare):
            best = len(words), reason
    return best[1] if best else None


@functools.cache
def _by_first_word(*, cuda: bool) -> dict[str, list[tuple[str, Reason]]]:
    """The wordings by their first word; under the empty word those in scripts without blanks between words."""
    found: dict[str, list[tuple[str, Reason]]] = {}
    for words, reason in (errors().cuda_texts if cuda else errors().texts).items():
        first = _WORD.search(words) if words.isascii() else None
        found.setdefault(first[0] if first else "", []).append((words, reason))
    return found


def _is_apart(words: str, text: str) -> bool:
    at = text.find(words)
    before, after = text[:at][-1:], text[at + len(words) :][:1]
    return not words.isascii() or not (before.isalnum() or after.isalnum())


def _cut(bare: str) -> Reason | None:
    """The only error whose words begin with these, of a line that was cut behind its second word: ``No route to``."""
    if " " not in bare or len(bare) < _SHORTEST:
        return None
    texts = _in_order()
    start = bisect.bisect_left(texts, bare)
    found = {errors().texts[words] for words in itertools.takewhile(lambda each: each.startswith(bare), texts[start:])}
    return found.pop() if len(found) == 1 else None


@functools.cache
def _in_order() -> list[str]:
    return sorted(errors().texts)


def _numbered(text: str) -> Reason | None:
    found = _NUMBER.search(text)
    if found is None:
        return None
    if found["cuda"]:
        return of_cuda(int(found["cuda"]))
    return of_errno(int(found["errno"] or found["python"]))


def _plain(text: str) -> str:
    """The text in the form in which it is compared: lower case, single blanks, plain apostrophes, no full stop."""
    return " ".join(text.replace("\u2019", "'").casefold().split()).rstrip(" .;,!)")
