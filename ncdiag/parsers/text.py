"""Text that no other parser claimed: what frameworks, MPI, the kernel, launchers and people wrote between the tools' output.

Each line is tried against the message catalogue (`ncdiag.messages`); a recognised line becomes an Event, the rest is unread,
except the chatter that surrounds errors (C++ stack frames, rules of dashes) which is known and says nothing.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from ncdiag.facts.observe import Observation, Parsed, observe
from ncdiag.parsers import _context, _events
from ncdiag.spans import Section

KIND = "text"
COMMANDS: tuple[str, ...] = ()
ANCHOR = ""

_NOISE = re.compile(
    r"frame #\d+: |Exception raised from \S+ at |#\d+ \S+ (?:from|in|at) |#\d+ +0x[0-9a-f]+ |CUDA kernel errors might be asynchronously reported"
    r"|For debugging consider passing (?:CUDA|HIP|AMD)_|Compile with `TORCH_USE_|Device-side assertion tracking was not enabled"
    r'|File "[^"]+", line \d+|Stack trace of the failed collective:|[-=_*~#+|^\s.{}\[\](),;:]+$|debug[123]: |\s*\d{1,3}%\||'
    r"During handling of the above exception, another|The above exception was the direct cause of|Set the environment variable HYDRA_FULL_ERROR"
    r"|Warning: Permanently added .* to the list of known hosts|\[\S+:\d+\] (?:\[ ?\d+\]|\*\*\*) |First PG on this rank to signal dumping"
    r"|\[?(?:PG [^\]]*\] )?ProcessGroupNCCL preparing to dump debug info"
)
_LAST_ERROR = "Last error:"


def continues(lines: Sequence[str], line: str) -> bool:
    """The cutter gathers text by itself."""
    return True


def parse(section: Section) -> Parsed:
    """Read every line; the line behind ``Last error:`` is NCCL's own text."""
    collector = _events.Collector(section)
    timeouts = Timeouts(section)
    unread: list[int] = []
    expects_error = False
    for index, line in enumerate(section.lines):
        context, text = _context.split(line)
        if not text:
            continue
        at_last_error = text.startswith(_LAST_ERROR)
        found = _of_line(text.removeprefix(_LAST_ERROR).lstrip(), told=expects_error or (at_last_error and text != _LAST_ERROR))
        expects_error = text == _LAST_ERROR
        for event in found:
            collector.add(index, event, context, text)
            timeouts.see(index, event, context)
        if not found and not expects_error and not _NOISE.match(text):
            unread.append(index)
    return Parsed(observations=(*collector.observations(), *timeouts.observations()), unread=tuple(unread))


def _of_line(text: str, *, told: bool) -> list[_events.Found]:
    if not text:
        return []
    if told:
        return _events.last_error(text)
    found = _events.find(text)
    if found:
        return found
    exception = _events.exception(text)
    return [exception] if exception else []


class Timeouts:
    """The collectives that PyTorch's watchdog gave up, with how far the process group had come where a later line tells."""

    _FIELDS = ("sequence", "operation", "numel_in", "numel_out", "timeout_ms", "ran_ms")

    def __init__(self, section: Section) -> None:
        """Start empty."""
        self._section = section
        self._found: list[tuple[int, _context.Context, dict[str, int | str | None]]] = []
        self._last: dict[tuple[int | None, object], int] = {}

    def see(self, index: int, event: _events.Found, context: _context.Context) -> None:
        """Take an event that speaks of a timeout."""
        fields = event.fields
        place = context.rank, fields.get("sequence")
        if event.event == "torch-watchdog-timeout":
            self._last[place] = len(self._found)
            self._found.append((index, context, {name: fields.get(name) for name in self._FIELDS}))
        elif event.event == "torch-work-failed":
            state = {name: fields.get(name) for name in ("last_enqueued", "last_completed")}
            state["process_group"] = context.process_group
            if place in self._last:
                self._found[self._last[place]][2].update(state)
            else:
                self._last[place] = len(self._found)
                self._found.append((index, context, {"sequence": fields.get("sequence"), **state}))

    def observations(self) -> list[Observation]:
        """One Timeout for each watchdog line, in order."""
        return [
            observe(self._section, index, "Timeout", rank=context.rank, **fields) for index, context, fields in self._found
        ]
