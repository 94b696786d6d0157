"""Which lines are NCCL's, and which of them can change a fact: regular expressions over whole buffers.

Each begins with a literal, so that the search runs at memory speed and only hits become Python objects.
"""

from __future__ import annotations

import functools
import itertools
import re
from collections.abc import Iterable, Iterator

from ncdiag.base import compiled
from ncdiag.base.patterns import lazy_regex
from ncdiag.messages.load import own_messages
from ncdiag.messages.match import sources
from ncdiag.messages.message import Message
from ncdiag.messages.template import parse

ORIGINS = frozenset({"nccl", "rccl", "plugin", "libfabric"})
"""The message origins that print through NCCL's logger."""

_LEVELS = rb"INFO|WARN|ATTN|TRACE|CALL|DIAG|ABORT"
_OURS = lazy_regex(
    rb"NCCL (?:" + _LEVELS + rb")\b|(?<!, )NCCL (?:git )?version \d\S*\s*$"  # after a comma: PyTorch
    rb"|RCCL version ?:? ?\d|^(?:\([^)\n]*\) ?)*(?:HIP version|ROCm version|Librccl path) +: "
    rb"|Line: \d+: NET/OFI |^\s*(?:\| )?\S*libfabric:\d+:"
)
SIGNS = (b"NCCL ", b"RCCL ", b"HIP version", b"ROCm version", b"Librccl", b"NET/OFI", b"libfabric:")
"""One of these is in each line of ours."""


def is_nccl_line(line: bytes) -> bool:
    """Tell whether NCCL, RCCL or a network plugin printed this line (with or without its prefix)."""
    return any(sign in line for sign in SIGNS) and _OURS.search(line) is not None


BLANKS_LIMIT = 16
"""Empty lines in a row that are told of."""
Line = tuple[int, bytes]
"""A line's number and its text."""


def without_blanks(lines: Iterable[Line]) -> Iterator[Line]:
    """The lines without most of a long run of empty ones: they say nothing, and a file may have millions."""
    blanks = 0
    for number, line in lines:
        blanks = 0 if line else blanks + 1
        if blanks < BLANKS_LIMIT:
            yield number, line


_OPEN = lazy_regex(rb"(NCCL INFO Channel \d.{0,200}?) via .{0,200}\Z")


def settled(line: bytes) -> bytes:
    """A line that has no line end, and may have been cut off, without what would mean something else if it went on.

    ``via NET/IB/0`` is the beginning of ``via NET/IB/0/GDRDMA``, which says the opposite.
    """
    return _OPEN.sub(rb"\1", line)


_FACTS = (
    r"Bootstrap ?:", r"NET(?:/(?!\d)| :)", r"Using (?:network|(?:in|ex)ternal N)", r"GPU Direct RDMA", r"\[Rank \d",
    r"comm 0x", r"nccl\w+ comm 0x", r"NCCL_\w+ set ", r"RCCL_\w+ set ", r"NCCL version", r"RCCL version",
    r"CUDA Dev \d", r"Plugin name set", r"Coll(?:Net)? \d", r"rank \d+ nranks \d+(?:\n|$)",
)  # fmt: skip
_NAME_FIRST = r"[\w./-]+(?:: [Cc]onnect |:\d+ (?:->|\(\w+\) ->|Cuda failure)| failed in nccl)"
"""``socketStartConnect: connect to``, ``init.cc:123 -> 3``: messages that begin with any name."""


def _beginnings(messages: tuple[Message, ...]) -> list[str]:
    """How the INFO messages of the catalogue begin, at most 24 characters of each."""
    found = set()
    for message in messages:
        if message.origin in ORIGINS and message.level in {None, "INFO"} and not message.quiet:
            first = parse(message.text)[0]
            if isinstance(first, str) and not first.startswith(("NET/", "NET :")):
                found.add(re.escape(first[:24].rstrip()))
    return sorted(found)


def _by_first_character(patterns: list[str]) -> str:
    """One alternation that looks at the first character once."""
    grouped: dict[str, list[str]] = {}
    for pattern in patterns:
        length = 2 if pattern.startswith("\\") else 1
        grouped.setdefault(pattern[:length], []).append(pattern[length:])
    return "|".join(f"{first}(?:{'|'.join(rests)})" for first, rests in grouped.items())


def build() -> str:
    """How an INFO message begins that can change a fact or tell an event: the source of the patterns below."""
    wanted = _by_first_character([*_FACTS, *_beginnings(own_messages())])
    return rf"{wanted}|\d+ coll channels|{_NAME_FIRST}"


@functools.cache
def wanted() -> str:
    """How an INFO message begins that can change a fact or tell an event."""
    return compiled.load("nccl-lines", itertools.chain([__file__], sources()), build, str)


COUNTED = r"Channel |Ring \d|Trees |\w+: opCount "
"""Messages of which there are too many to look at each: they are counted, or tell nothing."""


@functools.cache
def interesting() -> re.Pattern[bytes]:
    """Lines that can change a fact or tell an event: from ``NCCL`` to the first words of the message."""
    info = rf"(?!{COUNTED})(?={wanted()})"
    return re.compile(rf"NCCL (?:(INFO) {info}|(WARN|ATTN|DIAG)\b ?|(ABORT)|version (?=\d))".encode())
