"""Does a line that is not NCCL's say anything by itself, and would it with other digits?"""

from __future__ import annotations

from typing import Literal

from ncdiag.parsers import digits_may_tell, discover, silent, told
from ncdiag.sections import prompt
from ncdiag.sections.cut import Cutter
from ncdiag.sections.kinds import kinds_of

Silence = Literal["chatter", "unread", "bar", "counter", "sentence"]
"""How a line says nothing (`ncdiag.parsers.silent`)."""


class Judge:
    """Asks the cutter, then the parser of text."""

    def __init__(self) -> None:
        """One for many lines: it has a cutter of its own, which reads nothing else."""
        self._probe = Cutter("", discover(), keeps=False)
        self._kinds = kinds_of(tuple(discover().values()))
        self._notes = told.NOTES

    def answer(self, line: str) -> Silence | None:
        """How the line says nothing, None where it says something."""
        alone = self._probe.alone(line)
        self._notes -= 1
        if alone == "text":
            return silent(line, notes=self._notes > 0)
        return "chatter" if alone == "nothing" else None

    def depends_on_digits(self, line: str) -> bool:
        """May a line say something that differs from this one, which does not, in digits alone?"""
        if digits_may_tell(line):
            return True
        starts = (line, *(prefix.removed(line) or "" for prefix in prompt.prefixes(line)))
        return any(map(self._kinds.may_depend_on_digits, starts))
