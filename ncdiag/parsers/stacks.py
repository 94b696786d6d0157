"""Stacks of processes: ``py-spy dump``, gdb's ``thread apply all bt``, ``eu-stack``, ``pystack remote``, faulthandler.

Sources of the formats: benfred/py-spy 0.4 src/dump.rs, gdb 13 gdb/stack.c (print_frame) and gdb/thread.c,
elfutils 0.191 src/stack.c, bloomberg/pystack 1.4 src/pystack/traceback_formatter.py, CPython 3.6 to 3.14
Python/traceback.c (_Py_DumpTracebackThreads).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ncdiag.base.patterns import lazy_regex
from ncdiag.base.spans import Section
from ncdiag.facts.observe import Observation, Parsed, observe
from ncdiag.formats.basics import is_elision, number
from ncdiag.formats.ranks import rank_in
from ncdiag.parsers import _context

KIND = "stacks"
COMMANDS: tuple[str, ...] = ("py-spy dump", "pystack remote", "pystack core", "pstack", "gstack", "gdb", "eu-stack")
INTERLEAVED = True  # a program that dumps its own stacks goes on writing its log

_PROCESS = lazy_regex(
    r"Process (?P<pid>\d{1,9}): (?P<program>(?:\S*/)?(?:python|torchrun|deepspeed|accelerate|ray::)\S*.*)"
)
_PYTHON = lazy_regex(r"Python v\d+\.\d+\.\S+ \(")
_PY_SPY = lazy_regex(r'Thread (?:0x)?(?P<id>[0-9A-Fa-f]{1,16}) \((?:idle|active)[\w+]*\)(?:: "(?P<name>[^"]*)")?$')
_HANDLER = lazy_regex(
    r"(?:Current thread|Thread) 0x[0-9a-f]{1,16}(?: \[(?P<name>[^\]]*)\])? \(most recent call first\):"
)
_GDB = lazy_regex(
    r"Thread (?P<id>\d{1,6}) \((?:Thread 0x[0-9a-f]{1,16} )?\(?LWP (?P<lwp>\d{1,9})\)?(?: \"(?P<name>[^\"]*)\")?\):"
)
_PYSTACK = lazy_regex(
    r"Traceback for thread (?P<id>\d{1,9})(?: \((?P<name>[^()]*)\))? \[[^\]]*\] \(most recent call last\):"
)
_EU_PROCESS = lazy_regex(r"PID (?P<pid>\d{1,9}) - (?:process|core|corefile)\b")
_EU_THREAD = lazy_regex(r"TID (?P<id>\d{1,9}):$")
_EU_FRAME = lazy_regex(
    r"#(?P<depth>\d{1,4})\s+0x[0-9a-f]{8,16}(?: - 1|    )?"
    r"(?: (?P<function>(?!in |- )[^\s(-][^\n(]{0,400}?)(?:\([^\n]*?\)[ a-z]*)?)?(?: - (?P<library>/\S{1,400}))?$"
)
"""A frame of eu-stack: no ``in``, and C++ names with the types of their parameters; a stripped library has no name."""
_GDB_FRAME = lazy_regex(r"#(?P<depth>\d{1,4})\s+(?:0x[0-9a-f]{1,16} in )?(?P<function>[^\s(][^\n]*?)(?: \(|$)")
_GDB_PLACE = lazy_regex(r"\) (?:at (?P<file>\S+):(?P<line>\d{1,7})|from (?P<library>\S+))$")
_FRAMES: tuple[re.Pattern[str], ...] = (
    lazy_regex(r'\((?:Python|C|C\+\+|Unknown)\) File "(?P<file>[^"]*)", line (?P<line>\d{1,7}), in (?P<function>\S+)'),
    lazy_regex(r'File "(?P<file>[^"]*)", line (?P<line>\d{1,7}) in (?P<function>\S+)$'),
    lazy_regex(
        r"(?P<function>[\w<>.:~$]{1,200}) \((?P<file>[^\s():]{1,400}|<frozen [\w.]{1,200}>):(?P<line>\d{1,7})\)$"
    ),
    lazy_regex(r"(?P<function>[\w<>.:~$ ,&*()]{1,400}?) \((?P<library>[\w.+-]{1,200}\.so[\w.+-]*)\)$"),
)
_NOT_A_FRAME = lazy_regex(
    r"(?:Arguments|Locals):$|\[(?:New|Switching to) |\[Thread debugging|\[Inferior |Using host libthread_db|warning: "
    r"|\(more frames follow|No shared libraries"
)
_UNREADABLE_FRAME = lazy_regex(r"\s{4}.{0,10000}:\d{1,7}\)$")
"""A frame of py-spy whose name cannot be read, for example with a newline in it; the stack continues after it."""
_FATAL = lazy_regex(
    r"Fatal Python error: (?:Segmentation fault|Bus error|Floating.point exception|Illegal instruction)"
)
"""A crash. ``Aborted`` is none: a watchdog ends a process so while its threads still wait."""
_NO_NAME = "??"
_HANDLED = "<signal handler called>"
_BEGINS = lazy_regex(r"Timeout \(\d{1,3}:\d\d:\d\d[.\d]*\)!|Fatal Python error: |Current thread 0x")
"""A line with which faulthandler begins the dump of a process, or which it prints once in each."""
_LOCAL_RANK = lazy_regex(r"--local[-_]rank[= ](\d{1,6})\b")
_RANK_ABOVE = lazy_regex(
    r"[\W_]{0,8}(?:(?:py-?spy|pystack|gdb|stack|traceback)(?: dump)?(?: (?:of|from|on|for))?[ :]{1,2})?"
    r"(?:global[ _-])?rank[ \t_:=#-]{0,3}(\d{1,7})(?!\.?\d)[^.!?]{0,60}$",
    re.IGNORECASE,
)
"""A line above a stack that says whose it is: ``== rank 2 (pid 4711)``, ``py-spy of rank 2:``; no sentence."""
ANCHOR = (
    r"Process \d{1,9}: (?:\S*/)?(?:python|torchrun|deepspeed|accelerate|ray::)"
    r"|Python v\d+\.\d+\.\S+ \(/"
    r'|Thread (?:0x)?[0-9A-Fa-f]{1,16} \((?:idle|active)[\w+]*\)(?:: "|$)'
    r"|Timeout \(\d{1,3}:\d\d:\d\d[.\d]*\)!"
    r"|(?:Current thread|Thread) 0x[0-9a-f]{1,16}(?: \[[^\]]*\])? \(most recent call first\):"
    r"|Thread \d{1,6} \((?:Thread 0x[0-9a-f]{1,16} )?\(?LWP \d{1,9}"
    r"|Traceback for thread \d{1,9}[ (]"
    r"|TID \d{1,9}:$"
    r"|PID \d{1,9} - (?:process|core)"
    r"|#0\s+0x[0-9a-f]{8,16}(?: - 1)? [A-Za-z_~]"
    r"|#0\s+(?:0x[0-9a-f]{4,16} in \S|[^\s#]\S{0,200} \([^\n]{0,2000}\) (?:at \S+:\d|from /))"
    r"|[ \t]{2,12}[\w<>.]{1,100} \([\w./<>-]{1,200}\.pyx?:\d{1,6}\)[ \t]*$"  # frames that were cut out of a dump
)
STRUCTURE = "# \t"
_KEPT_FRAMES, _KEPT_THREADS, _PROGRAM_LIMIT = 60, 400, 500
_LOCALS = lazy_regex(r"\s{8}\s*\S")


class _Dump:
    """One process while its lines are read."""

    def __init__(self, index: int) -> None:
        """``index``: the line with which it begins."""
        self.index = index
        self.fields: dict[str, Any] = {}
        self.threads: list[dict[str, Any]] = []
        self.numbers: list[int] = []
        """The numbers that gdb gave to its threads: down to 1, or up from it."""
        self.has_current = False
        """True if faulthandler has printed its current thread, of which each dump has at most one."""

    def begin_thread(self, **fields: Any) -> None:  # noqa: ANN401  (values of a thread's fields)
        """Another stack."""
        self.threads.append({name: value for name, value in fields.items() if value is not None} | {"frames": []})

    def add(self, frame: dict[str, Any]) -> None:
        """A function of the last stack; those of pystack come outermost first."""
        if not self.threads:
            self.begin_thread()
        frames = self.threads[-1]["frames"]
        if self.threads[-1].get("reversed"):
            frames.insert(0, frame)
            del frames[_KEPT_FRAMES:]
        elif len(frames) < _KEPT_FRAMES:
            frames.append(frame)


def continues(lines: Sequence[str], line: str) -> bool:
    """Heads of processes and threads, frames, the variables and source lines below them."""
    if not line.strip():
        return bool(lines[-1].strip())
    if is_elision(line):
        return True
    _, text = _context.split(line)
    return _is_head(text) or _frame(text) is not None or _belongs(line, text)


def _belongs(line: str, text: str) -> bool:
    """Is it what is between frames: variables, source text, the rest of a frame, what gdb says beside them?"""
    return (
        any(form.match(line) for form in (_LOCALS, _UNREADABLE_FRAME))
        or _NOT_A_FRAME.match(text) is not None
        or text.startswith("at ")
    )


_HEADS = (_PROCESS, _PYTHON, _PY_SPY, _HANDLER, _GDB, _PYSTACK, _BEGINS, _EU_PROCESS, _EU_THREAD)


def _is_head(text: str) -> bool:
    return any(head.match(text) for head in _HEADS)


def parse(section: Section) -> Parsed:
    """One dump for each process; a stack without a head (gdb's ``bt``) is a process of its own."""
    dumps: list[_Dump] = []
    unread: list[int] = []
    rank = _context.split(section.prefix)[0].rank
    named = rank_in(section.source)
    for index, line in enumerate(section.lines):
        context, text = _context.split(line)
        told = rank if context.rank is None else context.rank
        if told is not None and dumps and dumps[-1].fields.get("rank", told) != told:
            dumps.append(_Dump(index))
        if not (_take_head(dumps, index, text) or _take_frame(dumps, index, text) or _belongs(line, text) or not text):
            unread.append(index)
        if dumps and told is not None:
            dumps[-1].fields.setdefault("rank", told)
    if dumps and (above := _RANK_ABOVE.match(section.above)) is not None:
        dumps[0].fields.setdefault("rank", int(above[1]))
    if named is not None:
        for dump in dumps:
            dump.fields.setdefault("rank", named)
    found = [_observation(section, dump) for dump in dumps if dump.threads]
    return Parsed(observations=tuple(found), unread=tuple(unread))


def _take_process(dumps: list[_Dump], index: int, text: str) -> bool:
    """The head of a process, with its number."""
    found = _PROCESS.match(text) or _EU_PROCESS.match(text)
    if found is None:
        return False
    dumps.append(_Dump(index))
    dumps[-1].fields["pid"] = int(found["pid"])
    program = found.groupdict().get("program")
    if program is not None:
        dumps[-1].fields["program"] = program[:_PROGRAM_LIMIT]
        local = _LOCAL_RANK.search(program)
        if local is not None:
            dumps[-1].fields["local_rank"] = int(local[1])
    return True


def _take_head(dumps: list[_Dump], index: int, text: str) -> bool:
    """The head of a process or of a thread."""
    if _take_process(dumps, index, text):
        return True
    if begin := _BEGINS.match(text):
        is_current = begin[0].startswith("Current")
        if not dumps or (dumps[-1].threads and (dumps[-1].has_current or not is_current)):
            dumps.append(_Dump(index))
        dumps[-1].has_current = is_current
        if _FATAL.match(text):
            dumps[-1].fields["has_failed"] = True
        if not is_current:
            return True
    if _PYTHON.match(text):
        return True
    for pattern, take in _THREADS:
        if found := pattern.match(text):
            if not dumps or (pattern is _GDB and _is_next(dumps[-1], int(found["id"]))):
                dumps.append(_Dump(index))
            take(dumps[-1], found)
            return True
    return False


def _is_next(dump: _Dump, number: int) -> bool:
    """Is the thread with this number of gdb one of another process than the last ones?"""
    return number in dump.numbers or (dump.numbers[-1:] == [1] and (number, len(dump.numbers)) != (2, 1))


def _take_frame(dumps: list[_Dump], index: int, text: str) -> bool:
    frame = _frame(text)
    if frame is None:
        return False
    depth = frame.pop("depth", None)
    if not dumps or (depth == 0 and dumps[-1].threads and dumps[-1].threads[-1]["frames"]):
        dumps.append(_Dump(index))
    dumps[-1].add(frame)
    if frame["function"] == _HANDLED:
        dumps[-1].fields["has_failed"] = True
    return True


def _py_spy(dump: _Dump, found: re.Match[str]) -> None:
    dump.begin_thread(name=found["name"], is_main=found["name"] == "MainThread" if found["name"] else None)


def _eu(dump: _Dump, found: re.Match[str]) -> None:
    """The first thread of a process is its main one, whose number is that of the process."""
    pid = dump.fields.setdefault("pid", int(found["id"]))
    dump.begin_thread(is_main=int(found["id"]) == pid)


def _handler(dump: _Dump, found: re.Match[str]) -> None:
    dump.begin_thread(name=found["name"])


def _gdb(dump: _Dump, found: re.Match[str]) -> None:
    is_main = found["id"] == "1"
    dump.numbers.append(int(found["id"]))
    if is_main:
        dump.fields.setdefault("pid", int(found["lwp"]))
    dump.begin_thread(name=found["name"], is_main=is_main)


def _pystack(dump: _Dump, found: re.Match[str]) -> None:
    dump.begin_thread(name=found["name"], reversed=True)


_THREADS: tuple[tuple[re.Pattern[str], Callable[[_Dump, re.Match[str]], None]], ...] = (
    (_PY_SPY, _py_spy), (_EU_THREAD, _eu), (_HANDLER, _handler), (_GDB, _gdb), (_PYSTACK, _pystack),
)  # fmt: skip


def _frame(text: str) -> dict[str, Any] | None:
    """Function, file and line of a frame; ``depth`` where it is numbered."""
    if found := _EU_FRAME.match(text):
        return _fields({**found.groupdict(), "function": found["function"] or _NO_NAME})
    if found := _GDB_FRAME.match(text):
        place = _GDB_PLACE.search(text)
        return _fields({**found.groupdict(), **(place.groupdict() if place else {})})
    for pattern in _FRAMES:
        if found := pattern.match(text):
            return _fields(found.groupdict())
    return None


def _fields(named: Mapping[str, str | None]) -> dict[str, Any]:
    numbers = {name: number(named.get(name) or "") for name in ("depth", "line")}
    texts = {"function": named["function"], "file": named.get("file") or named.get("library")}
    return {name: value for name, value in (texts | numbers).items() if value is not None}


def _observation(section: Section, dump: _Dump) -> Observation:
    threads = [
        {name: value for name, value in thread.items() if name != "reversed"}
        for thread in dump.threads[:_KEPT_THREADS]
    ]  # fmt: skip
    return observe(section, dump.index, "StackDump", threads=threads, **dump.fields)
