"""NCCL's own log, of every release, in any mixture of processes: read in bulk, not line by line."""

from __future__ import annotations

from ncdiag.messages.match import Match, default_matcher
from ncdiag.parsers.nccl_log.lines import ORIGINS, is_nccl_line
from ncdiag.parsers.nccl_log.repeats import Repeats
from ncdiag.parsers.nccl_log.scanner import Scanner

__all__ = ["Repeats", "Scanner", "is_nccl_line", "warn_text"]


def warn_text(text: str) -> Match | None:
    """The event of an NCCL message that stands without any prefix, such as the text below PyTorch's ``Last error:``."""
    return default_matcher().match(text, ORIGINS)
