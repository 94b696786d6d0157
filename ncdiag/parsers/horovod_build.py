"""What Horovod was built with: ``horovodrun --check-build`` (``-cb``).

Format: check_build of horovod/runner/launch.py (0.19 to 0.28): three lists of ``[X] name`` or ``[ ] name``.
"""

from __future__ import annotations

import re

from ncdiag.parsers._rows import BLANK, ELISION, Reading, Row, Rows, not_again

KIND = "horovod_build"
COMMANDS: tuple[str, ...] = ("horovodrun --check-build", "horovodrun -cb")
ANCHOR = r"Horovod v\d[\w.]{0,20}:[ \t]*$|[ \t]{0,16}Available (?:Frameworks|Controllers|Tensor Operations):[ \t]*$"
EVENTS = {"horovod-without-nccl": {"carriers": "str"}}

_ON_GPUS = frozenset({"NCCL", "DDL"})
"""Operations that reduce in the memory of GPUs, without those of MPI, which a build does so on request."""


class _Build(Reading):
    """The operations on tensors: an event if none of those that were built is for GPUs."""

    of_tensors = False
    missing: int | None = None
    built: tuple[str, ...] = ()

    def heading(self, found: re.Match[str]) -> None:
        """The title of a list."""
        self.of_tensors = found["what"] == "Tensor Operations"

    def part(self, found: re.Match[str]) -> None:
        """A part that was built, or not."""
        if self.of_tensors and found["mark"] == "X":
            self.built += (found["name"],)
        elif self.of_tensors and found["name"] == "NCCL":
            self.missing = self.index

    def end(self) -> None:
        """An event at the line of NCCL."""
        if self.missing is not None and self.built and _ON_GPUS.isdisjoint(self.built):
            carriers = ", ".join(self.built)
            self.observe(
                "Event", at=self.missing, event="horovod-without-nccl", origin="torch", kind="fact", count=1,
                text=self.section.lines[self.missing].strip(), order=self.section.number(self.missing),
                fields={"carriers": carriers},
            )  # fmt: skip


ROWS = Rows(
    _Build,
    Row(r"Horovod v\d[\w.]{0,20}:[ \t]*$", belongs=not_again),
    Row(r"[ \t]{0,16}Available (?P<what>Frameworks|Controllers|Tensor Operations):[ \t]*$", _Build.heading),
    Row(r"[ \t]{0,24}\[(?P<mark>[X ])\] (?P<name>[A-Za-z]{2,16})[ \t]*$", _Build.part),
    BLANK,
    ELISION,
)
