"""The lines of a buffer, taken apart by one pattern: what is counted, what tells nothing, what has to be looked at.

``Channel`` lines and collective calls come in millions. Each is reduced to a key of what is counted about it; equal
keys are counted without looking at any of them from Python.
"""

from __future__ import annotations

import functools
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from ncdiag.base.patterns import lazy_regex
from ncdiag.parsers.nccl_log.calls import ANY_CALL, CALL
from ncdiag.parsers.nccl_log.lines import COUNTED, wanted

Fields = tuple[bytes, bytes, bytes, bytes, bytes]
"""What is counted of a line: ``host:pid:tid [dev]``, what follows the number of a channel, and of a call the function,
``count datatype`` and the communicator. All are empty where the line has to be looked at."""

SOMETHING = b"\n" * (len(Fields.__args__) - 1)  # type: ignore[attr-defined]
"""The key of a line that has to be looked at."""
WORDS_LIMIT = 12
"""Words of launchers and log collectors that may come before NCCL's own prefix."""

_CHANNEL = r"(?:Channel|Ring) [^ ]* : (.*)"
_BULK = rf"{_CHANNEL}|{CALL}"
_PROCESS = r"[^: \n]*:[^ ]* \[[^ ]*"
"""``host:pid:tid [dev]``, of words of anything but a blank: that is twice as fast to match as what is no white space.

The colon keeps lines of nothing, or of one word, from being taken for the beginning of the next one.
"""
_ANYWHERE = lazy_regex(rf"NCCL INFO (?:{_CHANNEL}|{ANY_CALL})".encode())
_LAUNCHER_LIMIT = 2000

key_of = b"\n".join
"""The key of a line's fields."""


@functools.cache
def _pattern(words: int) -> re.Pattern[bytes]:
    """Every line; the groups are the `Fields`. ``words``: how many come before ``host:pid:tid [dev]``."""
    before = rf"(?:[^ \n]* ){{{words}}}" if words else ""
    nothing = rf"(?:{COUNTED}|(?!{wanted()}|opCount )).*"
    return re.compile(rf"\n(?:{before}({_PROCESS}) NCCL INFO (?:{_BULK}|{nothing})|.*)".encode())


def fields(text: bytes, lines: Sequence[bytes], words: int) -> list[Fields]:
    """The fields of each of the ``lines``, which are those of ``text`` and each is there behind a line end."""
    pattern = _pattern(words)
    found: list[Fields] = pattern.findall(text)
    if len(found) == len(lines):
        return found
    return [pattern.findall(b"\n" + line)[0] for line in lines]  # a torn call was taken for one with the line behind it


def taken_apart(
    text: bytes, lines: Sequence[bytes], words: int
) -> tuple[list[Fields], list[bytes], list[int]]:  # fmt: skip
    """The `fields` of the lines, their keys, and the indices of the lines that have to be looked at."""
    found = fields(text, lines, words)
    keys = list(map(key_of, found))
    strange = [index for index, key in enumerate(keys) if key == SOMETHING] if SOMETHING in keys else []
    return found, keys, strange


def anywhere(line: bytes) -> Iterator[Fields]:
    """The same of channels and calls with anything before the host."""
    for found in _ANYWHERE.finditer(line):
        words = line[max(found.start() - _LAUNCHER_LIMIT, 0) : found.start()].rsplit(b" ", 3)[-3:]
        link, function, what, comm = found.groups(b"")
        yield b" ".join(words[:-1]), link, function, what, comm


def words_before(lines: Iterable[bytes]) -> int | None:
    """How many words come before ``host:pid:tid [dev]`` in most of these lines."""
    counts: Counter[int] = Counter()
    for line in lines:
        place = line.find(b" NCCL INFO ")
        if place >= 0:
            counts[line.count(b" ", 0, place) - 1] += 1
    words, count = counts.most_common(1)[0] if counts else (0, 0)
    return words if count and 0 <= words <= WORDS_LIMIT else None
