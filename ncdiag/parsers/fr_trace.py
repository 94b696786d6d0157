"""What PyTorch's analysis of flight recorder dumps prints (``torchfrtrace``, before 2.6 ``fr_trace.py``).

Format: torch/distributed/flight_recorder/components/types.py (EntryState.log) and utils.py (error_analysis), before 2.9
under tools/flight_recorder: a sentence about a collective, then ``name: value`` lines about it and its stack.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from ncdiag.base.spans import Section
from ncdiag.facts.observe import Observation, Parsed, observe
from ncdiag.formats import basics

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

_HEAD = re.compile(rf"(?:(?P<missing>{_MISSING})|{_ERRORS})\s*$")
_SEQUENCE = re.compile(r"\d{1,12}")
_VALUE = re.compile(
    r"(?P<name>internal record id|group info|collective|missing ranks|total (?:in|out)put numel|(?:in|out)put sizes"
    r"|world size|expected ranks|collective state|error msg|collective stack trace): ?(?P<value>.{0,2000})$"
)
_FRAME = re.compile(r"\s*\S.{0,300} at \S.{0,400}:\d{1,7}$")
_VERDICT = re.compile(r"No errors found for this collective entry|We cannot decide what's wrong with this collective")


def continues(lines: Sequence[str], line: str) -> bool:
    """Values, stack frames and further collectives."""
    known = any(pattern.match(line) for pattern in (_HEAD, _VALUE, _FRAME, _VERDICT))
    return known or not line.strip() or basics.is_elision(line)


def parse(section: Section) -> Parsed:
    """An event for each collective: ranks that did not come, or that called something else."""
    found: list[Observation] = []
    unread: list[int] = []
    head: tuple[int, re.Match[str]] | None = None
    values: dict[str, str] = {}
    for index, line in enumerate(section.lines):
        start, value = _HEAD.match(line), _VALUE.match(line)
        if start:
            found += _event(section, head, values)
            head, values = (index, start), {}
        elif value:
            values[value["name"]] = value["value"].strip()
        elif line.strip() and not _FRAME.match(line) and not _VERDICT.match(line) and not basics.is_elision(line):
            unread.append(index)
    return Parsed(observations=(*found, *_event(section, head, values)), unread=tuple(unread))


def _event(section: Section, head: tuple[int, re.Match[str]] | None, values: dict[str, str]) -> Iterator[Observation]:
    if head is None:
        return
    index, start = head
    number = _SEQUENCE.search(section.lines[index])
    fields = {
        "sequence": int(number[0]) if number else None, "operation": values.get("collective"),
        "process_group": values.get("group info"),
    }  # fmt: skip
    told = f"{values.get('collective') or 'a collective'} number {fields['sequence']}"
    if start["missing"]:
        fields["world_size"] = basics.number(values.get("world size", ""))
        fields["late_ranks"] = values.get("missing ranks", "").strip("{}[] ")
        event, text = "torch-ranks-missing", section.lines[index].strip()
    else:
        event, text = "torch-collective-mismatch", f"{told}: {values.get('error msg') or 'its sizes differ'}"
    yield observe(
        section, index, "Event", event=event, origin="torch", kind="cause" if not start["missing"] else "symptom",
        text=text[:400], order=section.number(index), count=1,
        fields={name: value for name, value in fields.items() if value is not None},
    )  # fmt: skip
