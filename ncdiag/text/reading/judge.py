"""Decide whether a line that is not from NCCL carries information, and whether it could with other numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ncdiag.messages.match import default_matcher
from ncdiag.parsers import discover, is_eventless, silent, user_text, with_other_numbers
from ncdiag.text.sections import prompt
from ncdiag.text.sections.cut import Cutter
from ncdiag.text.sections.kinds import kinds_of

if TYPE_CHECKING:
    from ncdiag.parsers import Silence


class Judge:
    """Classifies single lines with the cutter and the parser of text."""

    def __init__(self) -> None:
        """One object can classify many lines: it has a private cutter, which reads nothing else."""
        self._probe = Cutter("", discover(), keeps=False)
        self._kinds = kinds_of(tuple(discover().values()))
        self._notes = user_text.Notes()

    def answer(self, line: str, *, is_read: bool = True) -> Silence | None:
        """Why the line carries no information; None if it carries some. ``is_read``: it is a line of the text."""
        alone = self._probe.alone(line)
        notes = self._notes.may_be(line, counts=is_read)
        if alone == "text":
            return silent(line, notes=notes)
        return "chatter" if alone == "nothing" else None

    def is_eventless(self, line: str) -> bool:
        """True if the line begins no section and reports no event, whatever people may say in it."""
        alone = self._probe.alone(line)
        return alone == "nothing" or (alone == "text" and is_eventless(line))

    def depends_on_numbers(self, line: str, silence: Silence) -> bool:
        """True if a line that differs from this uninformative one only in its numbers may carry information."""
        starts = (line, *(prefix.removed(line) or "" for prefix in prompt.prefixes(line)))
        if default_matcher().may_depend_on_numbers(line) or any(map(self._kinds.may_depend_on_numbers, starts)):
            return True
        said = {None} if silence == "sentence" else {None, "sentence"}
        return any(self.answer(other, is_read=False) in said for other in with_other_numbers(line))
