"""What PyTorch's analysis of flight recorder dumps prints (``torchfrtrace``, before 2.6 ``fr_trace.py``).

Format: torch/distributed/flight_recorder/components/types.py (EntryState.log) and utils.py (error_analysis), before 2.9
under tools/flight_recorder: a sentence about a collective, then ``name: value`` lines about it and its stack.
"""

from __future__ import annotations

import re

from ncdiag.base.patterns import lazy_regex
from ncdiag.base.spans import Section
from ncdiag.formats import basics
from ncdiag.parsers._rows import BLANK, Reading, Row, Rows

KIND = "fr_trace"
COMMANDS: tuple[str, ...] = ("torchfrtrace", "fr_trace.py")
EVENTS = {
    "torch-ranks-missing": {
        "late_ranks": "str",
        "sequence": "int",
        "operation": "str",
        "process_group": "str",
        "world_size": "int",
    },
    "torch-collective-mismatch": {"sequence": "int", "operation": "str", "process_group": "str"},
}
_MISSING = r"Not all ranks joining collective(?:, sequence number: \d{1,12}| \d{1,12} at entry \d{1,12})"
_ERRORS = (
    r"(?:Collective sequence number: \d{1,12} has errors|Collective \d{1,12} at entry \d{1,12} errors"
    r"|Input/output mismatch in the collective sequence number: \d{1,12})"
)
ANCHOR = rf"(?:{_MISSING}|{_ERRORS})[ \t]*$"

_SEQUENCE = lazy_regex(r"\d{1,12}")
_VALUE = (
    r"(?P<name>internal record id|group info|collective|missing ranks|total (?:in|out)put numel|(?:in|out)put sizes"
    r"|world size|expected ranks|collective state|error msg|collective stack trace): ?(?P<value>.{0,2000})$"
)
_FRAME = r"\s*\S.{0,300} at \S.{0,400}:\d{1,7}$"
_VERDICT = r"No errors found for this collective entry|We cannot decide what's wrong with this collective"


class _Collectives(Reading):
    """An event for each collective: ranks that did not come, or that called something else."""

    def __init__(self, section: Section) -> None:
        """No collective has begun."""
        super().__init__(section)
        self.missing: bool | None = None
        self.start, self.values = 0, dict[str, str]()

    def head(self, found: re.Match[str]) -> None:
        """The next collective."""
        self.end()
        self.missing, self.start, self.values = found["missing"] is not None, self.index, {}

    def value(self, found: re.Match[str]) -> None:
        """A name and its value."""
        self.values[found["name"]] = found["value"].strip()

    def end(self) -> None:
        """The event of the collective above."""
        if self.missing is None:
            return
        line, values = self.section.lines[self.start], self.values
        number = _SEQUENCE.search(line)
        fields = {
            "sequence": int(number[0]) if number else None, "operation": values.get("collective"),
            "process_group": values.get("group info"),
        }  # fmt: skip
        if self.missing:
            fields["world_size"] = basics.number(values.get("world size", ""))
            fields["late_ranks"] = values.get("missing ranks", "").strip("{}[] ")
            event, text = "torch-ranks-missing", line.strip()
        else:
            named = f"{values.get('collective') or 'a collective'} number {fields['sequence']}"
            event, text = "torch-collective-mismatch", f"{named}: {values.get('error msg') or 'its sizes differ'}"
        self.observe(
            "Event", at=self.start, event=event, origin="torch", kind="symptom" if self.missing else "cause",
            text=text[:400], order=self.section.number(self.start), count=1,
            fields={name: value for name, value in fields.items() if value is not None},
        )  # fmt: skip


ROWS = Rows(
    _Collectives,
    Row(rf"(?:(?P<missing>{_MISSING})|{_ERRORS})\s*$", _Collectives.head),
    Row(_VALUE, _Collectives.value),
    Row(_FRAME),
    Row(_VERDICT),
    Row(basics.is_elision),
    BLANK,
)
