"""Lines of PyTorch's NCCL watchdog, each with its glog head (c10d/ProcessGroupNCCL.cpp, 1.8 to 2.9)."""

from __future__ import annotations

from collections.abc import Sequence

from ncdiag.base.patterns import lazy_regex
from ncdiag.base.spans import Section
from ncdiag.facts.observe import Parsed
from ncdiag.parsers import _program, backtraces

KIND = "torch_watchdog"
COMMANDS: tuple[str, ...] = ()
INTERLEAVED = True  # NCCL and other ranks write between the lines
ANCHOR = (
    r"(?:\[\d{1,9}\] )?(?:\d{4}-\d\d-\d\d \d\d:\d\d:\d\d )?(?:\[rank\d{1,7}\]:)?"
    r"\[[EWIF](?:\d{3,4} [\d:.]{8,20})? ProcessGroupNCCL\.cpp:\d{1,5}\]"
)

_HEAD = lazy_regex(ANCHOR)


def continues(lines: Sequence[str], line: str) -> bool:
    """More lines of the watchdog, with what is between them, except the stacks, which have a parser."""
    return _HEAD.match(line) is not None or (_program.known(line) and backtraces.frame(line) is None)


def parse(section: Section) -> Parsed:
    """Events and Timeouts; what the watchdog says besides is unread."""
    return _program.read(section)
