"""Timers of Megatron: the time that each part of a step took, on the fastest and the slowest rank or on every rank.

Source of the format: Megatron-LM megatron/core/timers.py, ``--timing-log-option minmax``, ``max`` and ``all``. The name
of a timer is filled up with dots to 48 columns.
"""

from __future__ import annotations

import re

from ncdiag.formats.step_parts import sort_of
from ncdiag.parsers._rows import BLANK, ELISION, Reading, Row, Rows

KIND = "megatron_timers"
COMMANDS: tuple[str, ...] = ()
ANCHOR = r"[ ]{0,8}(?:\(min, max\) time|max time|times) across ranks \(ms\):[ ]{0,4}$"
_TOOL = "Megatron's timers"
_NAME = r"[ ]{1,12}(?P<name>[a-z][a-z0-9/_-]{1,60}(?: [a-z0-9/_-]{1,30}){0,3})"
_TIME = r"\d{1,12}(?:\.\d{1,6})?"


class _Timers(Reading):
    """A `StepPart` for each timer, or for each rank of a timer."""

    name: str | None = None

    def spread(self, found: re.Match[str]) -> None:
        """``    forward-compute .....: (1345.37, 1359.59)``; without the parentheses the slowest rank alone."""
        least = float(found["least"]) if found["least"] else None
        self._part(found["name"], float(found["most"]), least=least)

    def timer(self, found: re.Match[str]) -> None:
        """``  forward-compute:`` begins the times of its ranks."""
        self.name = found["name"]

    def of_rank(self, found: re.Match[str]) -> bool:
        """``     rank  3: 1345.37``; False without a timer above it."""
        if self.name is None:
            return False
        self._part(self.name, float(found["value"]), rank=int(found["rank"]))
        return True

    def _part(self, name: str, value: float, *, rank: int | None = None, least: float | None = None) -> None:
        self.observe(
            "StepPart", tool=_TOOL, part=name, sort=sort_of(name), value=value, unit="ms", rank=rank, least=least
        )


ROWS = Rows(
    _Timers,
    Row(ANCHOR),
    Row(rf"{_NAME} \.{{2,48}}: (?:\((?P<least>{_TIME}), (?=[^)]{{1,20}}\)))?(?P<most>{_TIME})\)?\s*$", _Timers.spread),
    Row(rf"[ ]{{1,12}}rank[ ]{{1,6}}(?P<rank>\d{{1,7}}): (?P<value>{_TIME})\s*$", _Timers.of_rank),
    Row(rf"{_NAME}:\s*$", _Timers.timer),
    BLANK,
    ELISION,
)
