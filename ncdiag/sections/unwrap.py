"""Rejoin log lines that a terminal or a chat tool wrapped.

A paste is taken for wrapped when its lines share a width that none exceeds and NCCL lines run up to it. A line of NCCL
that reaches the width goes on in the next one, unless that begins a line of its own. The numbers of lines stay: what
was joined leaves empty lines behind.
"""

from __future__ import annotations

import itertools
import re

LIMIT = 1 << 18
"""Bytes; logs that were not pasted by hand are longer, and are not wrapped."""
NARROWEST, WIDEST = 60, 250
"""Widths of terminals and tickets."""
_LONGEST = 6
"""Lines of a terminal that one line fills, on average."""
ENOUGH = 3
"""Lines that end at the width before it counts as one."""

_MARK = re.compile(rb"NCCL (?:INFO|WARN|ATTN|TRACE|CALL) ")
_OWN = re.compile(
    rb"\s*$|[^\n]{0,200}NCCL (?:INFO|WARN|version)|[\w.-]+:\d+:\d+ \[|\[\d{4}-\d\d|```|[$#>] |\[?[\w.-]+@[\w.-]+"
    rb"|Traceback |\s+File \""
)
"""Beginnings of lines that are no continuation."""


def rejoined(buffer: bytes) -> bytes:
    """The buffer with wrapped NCCL lines joined; the same buffer when it does not look wrapped."""
    if len(buffer) > LIMIT or not _MARK.search(buffer):
        return buffer
    lines = buffer.split(b"\n")
    width, glue = _wrapping(lines)
    return _joined(lines, width, glue) if width else buffer


def unfolded(buffer: bytes) -> bytes | None:
    """The buffer with all lines joined that a terminal may have broken at its width; None when none look broken.

    Tables have lines of one length, too: whoever asks has to try both and keep what can be understood.
    """
    if len(buffer) > LIMIT:
        return None
    lines = buffer.split(b"\n")
    width = max(map(len, lines))
    if not NARROWEST <= width <= WIDEST:
        return None
    broken = [i for i, line in enumerate(lines[:-1]) if len(line) == width and not _OWN.match(lines[i + 1])]
    ends = sum(len(lines[i + 1]) < width for i in broken)
    if ends < ENOUGH or ends * _LONGEST < len(broken):
        return None
    for index in reversed(broken):
        lines[index], lines[index + 1] = lines[index] + lines[index + 1], b""
    return b"\n".join(lines)


def _wrapping(lines: list[bytes]) -> tuple[int, bytes]:
    """The width at which NCCL lines break off (0: none) and what stood at the break: nothing, or a blank."""
    widest = max(map(len, lines))
    if not NARROWEST <= widest <= WIDEST:
        return 0, b""
    broken = [
        len(line)
        for line, following in itertools.pairwise(lines)
        if _MARK.search(line) and _reaches(line, following, widest) and not _OWN.match(following)
    ]
    at_words = any(length < widest for length in broken)
    return (widest if len(broken) >= ENOUGH else 0), (b" " if at_words else b"")


def _reaches(line: bytes, following: bytes, width: int) -> bool:
    """Would the first word of the following line not have fitted behind this one?"""
    word = following.split(b" ", 1)[0]
    return len(line) == width or len(line) + 1 + len(word) > width


def _joined(lines: list[bytes], width: int, glue: bytes) -> bytes:
    result: list[bytes] = []
    index = 0
    while index < len(lines):
        whole = lines[index]
        last = whole
        taken = 1
        if _MARK.search(whole):
            while index + taken < len(lines) and _goes_on(last, lines[index + taken], width):
                last = lines[index + taken]
                whole += glue + last
                taken += 1
        result.append(whole)
        result += [b""] * (taken - 1)
        index += taken
    return b"\n".join(result)


def _goes_on(line: bytes, following: bytes, width: int) -> bool:
    return bool(following.strip()) and _reaches(line, following, width) and not _OWN.match(following)
