"""Which lines are NCCL's, and which of them can change a fact: regular expressions over whole buffers.

Each begins with a literal, so that the search runs at memory speed and only hits become Python objects.
"""

from __future__ import annotations

import functools
import re

from ncdiag.messages.load import Message, load_messages
from ncdiag.messages.template import parse

ORIGINS = frozenset({"nccl", "rccl", "plugin"})
"""The message origins that print through NCCL's logger."""

_LEVELS = rb"INFO|WARN|ATTN|TRACE|CALL|DIAG|ABORT"
_OURS = re.compile(
    rb"NCCL (?:(?:" + _LEVELS + rb")\b|(?:git )?version \d\S*\s*$)"
    rb"|RCCL version ?:? ?\d|^(?:\([^)\n]*\) ?)*(?:HIP version|ROCm version|Librccl path) +: "
    rb"|Line: \d+: NET/OFI |^\s*(?:\| )?\S*libfabric:\d+:"
)
_SIGNS = (b"NCCL ", b"RCCL ", b"HIP version", b"ROCm version", b"Librccl", b"NET/OFI", b"libfabric:")


def is_nccl_line(line: bytes) -> bool:
    """Tell whether NCCL, RCCL or a network plugin printed this line (with or without its prefix)."""
    return any(sign in line for sign in _SIGNS) and _OURS.search(line) is not None


def split_lines(buffer: bytes) -> list[tuple[int, bytes]]:
    """The lines of ``buffer`` that are not NCCL's, each with its index (from 0) in the buffer."""
    lines = buffer.split(b"\n")
    if lines and not lines[-1]:
        lines.pop()
    if b"CCL " not in buffer and not any(sign in buffer for sign in _SIGNS[2:]):
        return list(enumerate(lines))
    others = [(index, line) for index, line in enumerate(lines) if b"NCCL INFO " not in line]
    return [(index, line) for index, line in others if not is_nccl_line(line)]


PREFIXED = re.compile(
    r"""(?:\[[^\]\n]{1,40}\]\s)?[^\s:/"'|<>()\[\],{}]{1,255}:\d{1,10}:\d{1,10}\s(?:\[-?\w{1,16}\]\s)?"""
    r"""(?:[^\s:]{1,300}:\d{1,6}\s)?(?:\([^()]{1,200}\)\s)?NCCL\s(?:INFO|WARN|ATTN|TRACE|CALL|ABORT)"""
)
"""The beginning of another NCCL line inside a line: two processes wrote into one pipe."""

_FACTS = (
    r"Bootstrap ?:", r"NET(?:/(?!\d)| :)", r"Using (?:network|internal Network)", r"GPU Direct RDMA",
    r"(?:\[Rank \d+\] )?(?:nccl\w+ )?comm 0x", r"[NR]CCL_\w+ set ", r"[NR]CCL version", r"CUDA Dev \d",
    r"Channel \d+(?:/\d+)? : +\d+ +\d", r"Plugin name set", r"rank \d+ nranks \d+$",
)  # fmt: skip
_HOLE_FIRST = (r"\d+ coll channels", r"\w+: [Cc]onnect ", r"\w+ failed in nccl", r"[\w./-]+:\d+ (?:->|\(\w+\) ->|Cuda failure)")


def _beginnings(messages: tuple[Message, ...]) -> list[str]:
    """How the INFO messages of the catalogue begin, at most 24 characters of each."""
    found = set()
    for message in messages:
        if message.origin in ORIGINS and message.level in {None, "INFO"}:
            first = parse(message.text)[0]
            if isinstance(first, str):
                found.add(re.escape(first[:24].rstrip()))
    return sorted(found)


@functools.cache
def interesting() -> re.Pattern[bytes]:
    """Lines that can change a fact or tell an event: from ``NCCL`` to the first words of the message."""
    wanted = "|".join([*_FACTS, *_beginnings(load_messages(samples=False)), *_HOLE_FIRST])
    noise = r"Channel [\d/]+ : \d+(?:\[| ->)|Ring \d|Trees |AllReduce: op|\w+: opCount "
    return re.compile(
        rf"NCCL (?:(WARN|ATTN|DIAG)\b ?|(ABORT)|version (?=\d)|(INFO) (?=(?!{noise})(?:{wanted})))".encode(),
    )
