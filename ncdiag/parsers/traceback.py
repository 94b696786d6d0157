"""Python tracebacks (Lib/traceback.py, 3.6 to 3.13), plain, behind a logger's head or a launcher's tag, or cut.

The last line tells the exception: those of torch.distributed carry NCCL's return code and version, and the lines
``ncclXxx: ...`` and ``Last error:`` that PyTorch puts behind them (c10d/NCCLUtils.hpp, getNcclErrorDetailStr). One that
ends in ``KeyboardInterrupt`` shows what the program did when somebody stopped it, as a dump of its stack does.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec

from ncdiag.base.patterns import lazy_regex
from ncdiag.base.spans import Section
from ncdiag.facts.observe import Observation, Parsed, observe
from ncdiag.parsers import _context, _engine_files, _events, _model_files, _program, coordination

KIND = "traceback"
COMMANDS: tuple[str, ...] = ()
INTERLEAVED = True  # NCCL writes its own lines between the frames
_START = r"Traceback \(most recent call last\):"
_CHAINED = (
    r"(?:During handling of the above exception|The above exception was the direct cause"
    r"|Exception ignored (?:in|on|while)\b)"
)
ANCHOR = (
    rf"(?:(?:[\[(]|[A-Z]{{4,8}} )[^\n]{{0,200}}?[:\]] )?(?:{_START}|{_CHAINED})"
    r'|\s{1,8}File "[^"\n]{1,400}", line \d+, in '
)

_HEADER = lazy_regex(rf".{{0,240}}{_START}")
_CHAIN = lazy_regex(_CHAINED)
"""What Python prints before the traceback of an exception that didn't end the program: an earlier one did, or none."""
_MORE = lazy_regex(
    r"nccl\w{1,40}: |Last error:|CUDA kernel errors might be|For debugging consider passing|Compile with `TORCH_USE_"
)
_TASKS = lazy_regex(r"Barrier timed out\. (?:Barrier_i|I)d: \S")
"""An exception that goes on with the tasks that did not come, which has a parser."""
_LAST_ERROR = lazy_regex(r"Last error:$")
_EXCEPTION = "python-exception"
_INTERRUPTED = "KeyboardInterrupt"
_FRAME = lazy_regex(r'File "(?P<file>[^"\n]{1,400})", line (?P<line>\d{1,7}), in (?P<function>\S{1,200})')
_LISTS = lazy_regex(coordination.ANCHOR)
"""An exception whose message is a list of tasks, which that parser reads."""
_ASSERTION, _ASSERT, _LONGEST = "AssertionError", lazy_regex(r"assert\s(\S.*)"), 200
_KEPT_FRAMES = 60
_FRAME_INDENT = lazy_regex(r"[^\S\n]{2,}|\t")


def _body(line: str) -> tuple[bool, str]:
    """Is the line indented behind its prefixes, and its text."""
    text = _context.split(line)[1]
    before = line[: max(line.find(text), 0)] if text else line
    return _FRAME_INDENT.search(before[-8:]) is not None, text


def continues(lines: Sequence[str], line: str) -> bool:
    """Frames, then the exception's line, then what PyTorch adds to it; chained tracebacks as well."""
    last = next((item for item in reversed(lines[-2:]) if item.strip()), "")
    if not line.strip():
        return bool(lines[-1].strip())
    indented, text = _body(line)
    if _TASKS.search(text):
        return False
    was_indented, last_text = _body(last)
    if _HEADER.match(text):
        return _CHAIN.match(last_text) is not None
    if not indented and _LISTS.match(text):
        return False
    if indented or _CHAIN.match(text) or _MORE.match(text):
        return True
    return was_indented or _HEADER.match(last_text) is not None or _LAST_ERROR.match(last_text) is not None


def parse(section: Section) -> Parsed:
    """The exceptions' lines as events; frames and the code under them are known."""

    def is_known(line: str) -> bool:
        return _body(line)[0] or _program.known(line) or _HEADER.match(line) is not None

    read = _model_files.judged(section, _engine_files.judged(section, _program.read(section, is_known)))
    marks: dict[int, dict[str, Any]] = {section.number(index): {"aside": 1} for index in _asides(section)}
    for index, condition in _asserted(section):
        marks.setdefault(section.number(index), {})["asserted"] = condition
    if marks:
        read = msgspec.structs.replace(read, observations=tuple(_marked(seen, marks) for seen in read.observations))
    return msgspec.structs.replace(read, observations=(*read.observations, *_stacks(section)))


def _marked(seen: Observation, marks: Mapping[int, dict[str, Any]]) -> Observation:
    if seen.entity != "Event" or seen.span.line not in marks or seen.fields.get("event") != _EXCEPTION:
        return seen
    fields = seen.fields | {"fields": seen.fields["fields"] | marks[seen.span.line]}
    return msgspec.structs.replace(seen, fields=fields)


def _asserted(section: Section) -> Iterator[tuple[int, str]]:
    """The line and the condition of each assertion that failed without a message; ranks may be mixed."""
    if not any(_ASSERTION in line for line in section.lines):
        return
    conditions: dict[int | None, str] = {}
    for index, line in enumerate(section.lines):
        context, text = _context.split(line)
        text = text.strip()
        if found := _ASSERT.match(text):
            conditions[context.rank] = found[1][:_LONGEST]
        elif _FRAME.match(text):
            conditions.pop(context.rank, None)
        elif text == _ASSERTION and context.rank in conditions:
            yield index, conditions.pop(context.rank)


def _asides(section: Section) -> Iterator[int]:
    """The lines of exceptions that Python raised while it handled another one, or ignored; ranks may be mixed."""
    announced: set[int | None] = set()
    aside: set[int | None] = set()
    for index, line in enumerate(section.lines):
        context, text = _context.split(line)
        if _CHAIN.match(text):
            announced.add(context.rank)
        elif _HEADER.match(text):
            (aside.add if context.rank in announced else aside.discard)(context.rank)
            announced.discard(context.rank)
        elif context.rank in aside and _events.exception(text) is not None:
            aside.discard(context.rank)
            yield index


def _stacks(section: Section) -> Iterator[Observation]:
    """The stack of each process that was interrupted, the innermost function first."""
    if not any(_INTERRUPTED in line for line in section.lines):
        return
    frames: list[dict[str, Any]] = []
    last = 0
    for index, line in enumerate(section.lines):
        context, text = _context.split(line)
        if _HEADER.match(text):
            frames = []
        elif frame := _FRAME.match(text.lstrip()):
            frames.append({**frame.groupdict(), "line": int(frame["line"])})
            last = index
        elif text.strip() == _INTERRUPTED and frames:
            threads = [{"is_main": True, "frames": frames[: -_KEPT_FRAMES - 1 : -1]}]
            told: dict[str, Any] = {"rank": context.rank, "pid": context.pid}
            told = {name: value for name, value in told.items() if value is not None}
            yield observe(section, last, "StackDump", threads=threads, **told)
            frames = []
