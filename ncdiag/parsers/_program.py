"""Read lines that programs print: prefix, catalogue, repeats. Shared by several parsers."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Sequence

import msgspec

from ncdiag.base.patterns import lazy_regex
from ncdiag.base.spans import Section
from ncdiag.facts.observe import Parsed
from ncdiag.parsers import (
    _checkpoint_parts,
    _complaints,
    _context,
    _ends,
    _events,
    _failing,
    _owners,
    _packages,
    _places,
    _progress,
    _slurm,
    _timeouts,
    _work,
)
from ncdiag.parsers.user_text import titles

NOISE = lazy_regex(
    r"frame #\d+: |Exception raised from \S+ at |#\d+ \S+ (?:from|in|at) |#\d+ +0x[0-9a-f]+ "
    r"|[-=_*~#+|^\s.{}\[\](),;:]+$|debug[123]: |[\w ]{0,30}:?\s*\d{1,3}%\||ProcessGroupNCCL preparing to dump debug"
    r"|CUDA kernel errors might be asynchronous|For debugging consider passing (?:CUDA|HIP|AMD)_|First PG on this rank"
    r"|Compile with `TORCH_USE_|Device-side assertion tracking was not|Stack trace of the failed collective:"
    r'|File "[^"]+", line \d+|Traceback \(most recent call last\):|During handling of the above exception, another'
    r"|The above exception was the direct cause|Exception ignored (?:in|on|while)\b"
    r"|\[\S+:\d+\] (?:\[ ?\d+\]|\*\*\*) |Set the environment variable HYDRA_"
    r"|(?:sysctl|find|ls|cat|head|tail|grep|stat|du|df|lspci|pcilib|lsof|which|modinfo|readlink|sudo): .{0,200}"
    r"(?:[Pp]ermission denied|No such file|not permitted|cannot (?:access|stat|open|read)|not found)"
    r"|Warning: Permanently added .{1,200} to the list of known hosts|\[\S+:\d+\] \d+ more process(?:es)? ha"
    r"|(?:\[\d+\] )?(?:NCCL INFO )?[\w/]{1,60}\.(?:cc|cu|h):\d+ -> \d"
)
"""What is around errors and says nothing: stack frames, rules of dashes, progress bars, ssh's debug lines, what a
shell's tools may not read or do not find."""

CONTINUED = lazy_regex(
    r"there may be a mismatch in collective sizes or environment settings|\[allowed range: -?\d{1,20} - -?\d{1,20}\]$"
    r"|This is usually caused by a system or configuration error in the Fabric Manager or NVSwitches"
    r"|(?:Disable|Do not force-enable) NVLS \(NCCL_NVLS_ENABLE=[01]\) if you wish to avoid this error"
    r"|The buffer is left unregistered for this operation and will be retried"
)
"""Further lines of NCCL's messages of several lines, which have no prefix (since 2.12; the first line is the event)."""

_QUOTES = lazy_regex(
    r"^[^\"\u201c]*\b(?:gets?|got|gives?|gave|says?|with|still)\s(?:me\s"
    r"|us\s)?[\"\u201c][^\"\u201d]{4,200}[\"\u201d]",
    re.IGNORECASE,
)
"""A sentence of a person that quotes what a program printed."""
_STOPS_AT = lazy_regex(
    r"[^:=\[\]\"\u201c]{0,80}\b(?:hang(?:s|ing)?|hung|stuck|stop(?:s|ped)?|freezes?|frozen|froze|stalls?|fail(?:s|ed)?|die[sd]?"
    r"|crash(?:es|ed)?|wait(?:s|ing)?)\s(?:\w+\s){0,2}?(?:at|after|on|in|before|with)\s",
    re.IGNORECASE,
)
"""A sentence that says at which line of a program it stops, which the words behind it repeat."""
_QUIET = frozenset({"fact", "harmless"})
_MEANING = lazy_regex(r"\bwhat\s(?:does|do|is|are)\s(?:\S+\s){0,12}mean|\bthe\smeaning\sof\b|什么意思", re.IGNORECASE)
_LOOKED_AT, _REMEMBERED, _SHORT = 1000, 1 << 14, 2000
"""Characters in which a question is looked for, number of lines whose answer is kept, and the longest of these."""
_LAST_ERROR = "Last error:"
_TAGGED = 120
"""Characters of ``Last error:`` with a tag of the launcher (``worker-1: ``) before it."""


def known(line: str) -> bool:
    """Tell whether a line without event is known chatter."""
    return is_chatter(_context.split(line)[1])


def is_chatter(text: str) -> bool:
    """The same of a line without its prefixes."""
    return NOISE.match(text) is not None or CONTINUED.match(text) is not None


Form = Callable[[str, _context.Context], "_events.Found | None"]
"""Tells an event by the form of a line that the catalogue does not know."""


def form_of_program(text: str, context: _context.Context) -> _events.Found | None:
    """The last line of a Python traceback, an end or an error by its form, a failure by its words."""
    known = _by_form if len(text) <= _SHORT else _by_form.__wrapped__
    return known(text, context.level)


@functools.lru_cache(_REMEMBERED)
def _by_form(text: str, level: str | None) -> _events.Found | None:
    """The same by all of a context that it depends on."""
    context = _context.Context(level=level)
    if (raised := _events.exception(text)) is not None or NOISE.match(text) or CONTINUED.match(text):
        return raised
    failed = _slurm.find(text) or _ends.find(text, context) or _failing.find(text, context)
    return failed or _owners.find(text) or _places.find(text) or _packages.find(text) or _checkpoint_parts.find(text)


def read(section: Section, is_known: Callable[[str], bool] = known, form: Form = form_of_program) -> Parsed:
    """The events of a section; a line without one is unread unless ``is_known(line)``.

    ``form`` is asked about the lines that the catalogue does not know.
    """
    collector = _events.Collector(section)
    timeouts = _timeouts.Timeouts(section)
    unread: list[int] = []
    complaints = _complaints.Complaints(section)
    progress = _progress.Progress(collector)
    works = _work.Works(section)
    expects_error, head = False, ""
    silent: dict[str, bool] = {}
    for index, line in enumerate(section.lines):
        if line in silent and not expects_error:
            if not silent[line]:
                unread.append(index)
            continue
        context, text = _context.split(line)
        if not text:
            continue
        _inherit(context, section, index)
        text = text.removeprefix(head) if expects_error else text
        told = expects_error or (text.startswith(_LAST_ERROR) and text != _LAST_ERROR)
        expects_error = expects(text)
        head = text.removesuffix(_LAST_ERROR) if expects_error else ""
        found = [] if expects_error else of_line(text, context, form, told=told)
        _collect(found, index, context, text, collector, timeouts)
        stops = bool(found) and found[0].kind in _QUIET and _STOPS_AT.match(text) is not None
        if found and (stops or found[0].event in _failing.EVENTS or _QUOTES.search(text)):
            complaints.see(index, line, text)  # whoever complains mentions failures, too
        is_work = not expects_error and _work.MAY_TELL.search(text) is not None and works.see(index, context, text)
        if found or expects_error or CONTINUED.match(text):
            continue
        complains = complaints.see(index, line, text)
        counted = not complains and progress.see(index, context, text)
        if counted and not is_work:
            works.went_on(index, context)
        remarked = complains or counted or is_work
        is_chatter = is_known(line)
        if not is_chatter:
            unread.append(index)
        if not remarked and not told:
            silent[line] = is_chatter
    progress.finish()
    found_all = (*collector.observations(), *timeouts.observations(), *complaints.observations(), *works.observations())
    return Parsed(observations=found_all, unread=tuple(unread))


def _collect(  # noqa: PLR0913, PLR0917  (what a line is beside where it goes)
    found: Sequence[_events.Found], index: int, context: _context.Context, text: str,
    collector: _events.Collector, timeouts: _timeouts.Timeouts,
) -> None:  # fmt: skip
    """Give the events of a line to those who gather them."""
    for event in found:
        collector.add(index, event, context, text)
        timeouts.see(index, event, context)


def counters(section: Section) -> Parsed:
    """How far a program was, by lines that were judged to have a counter and to say nothing else.

    Such a line may still be the title of what somebody writes; further lines of that kind are not sentences.
    """
    collector = _events.Collector(section)
    complaints = _complaints.Complaints(section)
    progress = _progress.Progress(collector)
    works = _work.Works(section)
    for index, line in enumerate(section.lines):
        context, text = _context.split(line)
        if section.number(index) <= titles.LAST and complaints.see(index, line, text):
            continue
        is_work = _work.MAY_TELL.search(text) is not None and works.see(index, context, text)
        if progress.see(index, context, text) and not is_work:
            works.went_on(index, context)
    progress.finish()
    return Parsed(observations=(*collector.observations(), *complaints.observations(), *works.observations()))


def _inherit(context: _context.Context, section: Section, index: int) -> None:
    """Take what the prefixes told that were removed before the line, and before all lines of the section."""
    for before in (section.head(index), section.prefix):
        if before:
            context.inherit(_context.split(before)[0])


def expects(line: str) -> bool:
    """Tell whether the next line is NCCL's own text: the line ends in ``Last error:``."""
    return line.endswith(_LAST_ERROR) and len(line) < _TAGGED


def is_led(text: str) -> bool:
    """Does the line announce NCCL's own text, or hold it?"""
    return expects(text) or text.startswith(_LAST_ERROR)


def of_line(
    text: str, context: _context.Context, form: Form = form_of_program, *, told: bool = False
) -> list[_events.Found]:
    """The events of a line without its prefixes; ``told``: it is NCCL's own text."""
    if told:
        return _events.last_error(text.removeprefix(_LAST_ERROR).lstrip())
    found = list((_by_catalogue if len(text) <= _SHORT else _by_catalogue.__wrapped__)(text))
    if found or _asks_meaning(text):
        return found
    other = form(text, context)
    return [other] if other is not None else []


@functools.lru_cache(_REMEMBERED)
def _by_catalogue(text: str) -> tuple[_events.Found, ...]:
    """What the catalogue makes of a line; all ranks print the same ones, and a line is judged before it is read."""
    return () if _asks_meaning(text) else tuple(_events.find(text))


def _asks_meaning(text: str) -> bool:
    """True for ``what does cudaErrorUnknown mean?``: whoever asks that tells of no event."""
    return text.rstrip().endswith(("?", "\uff1f")) and _MEANING.search(text[:_LOOKED_AT]) is not None


def leftovers(section: Section, indices: Sequence[int]) -> Parsed:
    """What the catalogue makes of lines that a parser did not understand; ``unread`` are indices into ``section``."""
    lines, numbers = tuple(section.lines[i] for i in indices), tuple(section.number(i) for i in indices)
    if not lines:
        return Parsed()
    heads = tuple(section.head(i) for i in indices) if section.heads else ()
    rest = msgspec.structs.replace(section, lines=lines, numbers=numbers, first_line=numbers[0], heads=heads)
    parsed = read(rest)
    return Parsed(observations=parsed.observations, unread=tuple(indices[i] for i in parsed.unread))
