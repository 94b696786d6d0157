"""Stacks that a program prints as it fails, by the handler of a library: UCX, glibc, Open MPI, PyTorch, glog, Python.

Sources of the formats: openucx/ucx 1.18 src/ucs/debug/debug.c (with and without debug information), glibc
debug/backtracesyms.c, open-mpi/ompi 5.0 opal/util/stacktrace.c, pytorch 2.9 c10/util/Backtrace.cpp, glog 0.7
src/signalhandler.cc and abseil debugging/internal/examine_stack.cc (TensorFlow, JAX, Ray), CPython 3.14
Python/traceback.c (_Py_DumpStack). Stacks of processes that run are those of `ncdiag.parsers.stacks`.
"""

from __future__ import annotations

import functools
import re
from typing import Any, NamedTuple

from ncdiag.base.patterns import lazy_regex
from ncdiag.parsers import _context
from ncdiag.parsers._copies import Raw, copies_in
from ncdiag.parsers._rows import ELISION, Reading, Row, Rows

KIND = "backtraces"
COMMANDS: tuple[str, ...] = ()
INTERLEAVED = True  # other processes of the job go on writing
_NUMBER = r"(?P<depth>\d{1,3})"
_PLACE = r"(?P<file>[^\s()\[\]]{1,400})\((?P<function>[^()+\s]{0,400})(?:\+0x[0-9a-f]{1,16})?\) ?\[0x[0-9a-f]{1,16}\]$"
"""What glibc's ``backtrace_symbols`` makes of an address; the function is empty where its name is not exported."""
_HEAD = lazy_regex(
    r"==== backtrace (?:\(tid: {0,12}\d{1,10}\) )?====|Current thread's C stack trace \(most recent call first\):"
)
_FRAMES: tuple[tuple[str, tuple[re.Pattern[str], ...]], ...] = (
    ("frame #", (
        lazy_regex(
            rf"frame #{_NUMBER}: (?P<function>\S[^\n]{{0,2000}}?) \+ 0x[0-9a-f]{{1,16}}"
            r"(?: \(0x[0-9a-f]{1,16} in (?P<file>[^\s)]{0,400})\))?$"
        ),
    )),
    ('Binary file "', (
        lazy_regex(
            r'Binary file "(?P<file>[^"]{1,400})", at (?P<function>[^\s+]{0,400})\+0x[0-9a-f]{1,16}'
            r" \[0x[0-9a-f]{1,16}\]$"
        ),
    )),
    ("[0x", (
        lazy_regex(rf"(?:\[(?P<owner>[\w.-]{{1,100}}:\d{{1,9}})\] )?\[ ?{_NUMBER}\] {_PLACE}"),
        lazy_regex(rf"{_NUMBER} {{1,2}}{_PLACE}"),
        lazy_regex(_PLACE),
    )),
    ("0x", (
        lazy_regex(
            rf"(?:{_NUMBER} )?0x[0-9a-f]{{16}} (?P<function>[^\s()]{{1,400}})\(\) {{1,2}}"
            r"(?P<file>[^\s:]{0,400}):(?P<line>\d{1,7})$"
        ),
        lazy_regex(
            r"(?:PC: )?@ {1,12}0x[0-9a-f]{6,16}(?: {1,12}\d{1,9})?(?: {1,4}\(unknown\)(?= ))? {1,4}"
            r"(?P<function>[A-Za-z_(~]\S{0,400}(?: \S{1,200}){0,40})$"
        ),
    )),
)  # fmt: skip
"""The forms of a frame, by a text that a line of the form contains; the first that is in the line decides."""
_END = lazy_regex(r"={20,60}$|<truncated rest of calls>$")
_MANGLED = lazy_regex(r"_ZT?[NKL]*(?=\d)")
_PART = lazy_regex(r"(\d{1,3})([A-Za-z_]\w{0,400})")
_OWN = lazy_regex(r"(?i:nccl)")
"""The first frame of NCCL is the line that a report shows: those before it are of the handler and of libc."""
_UNNAMED = frozenset({"", "(unknown)", "(deleted)", "<unknown function>"})
_LOCATED = r"[^\s()\[\]]{1,400}\([^()+\s]{0,400}\+0x[0-9a-f]{1,16}"
ANCHOR = (
    r"==== backtrace (?:\(tid: {0,12}\d{1,10}\) )?====|Current thread's C stack trace \("
    rf"|(?:\[[\w.-]{{1,100}}:\d{{1,9}}\] )?(?:\[[ \d]\d\] |[ \d]\d  ){_LOCATED}(?:\)\[0x|\) \[0x)"
    rf"|{_LOCATED}(?:\)\[0x|\) \[0x)"
    r"|frame #\d{1,3}: \S"
    r"|[ \t]{0,8}(?:PC: )?@     0x[0-9a-f]{6,16} "
)
_KEPT_FRAMES, _KEPT_STACKS = 60, 400
_CHECK = "ProcessGroupNCCL::WorkNCCL::checkTimeout"
"""The function on the stack of a watchdog of PyTorch that gives up."""


@functools.lru_cache(maxsize=16)
def frame(line: str) -> re.Match[str] | None:
    """The frame that the line shows, with ``function`` and what else its form has; None for any other line."""
    forms = next((forms for literal, forms in _FRAMES if literal in line), ())
    if not forms:
        return None
    text = _context.split(line)[1].lstrip()
    return next((found for form in forms if (found := form.match(text))), None)


def _head(line: str) -> re.Match[str] | None:
    return _HEAD.match(_context.split(line)[1]) if "trace (" in line or "trace ====" in line else None


def _named(text: str) -> str:
    """The name of a function without its parameters; the parts of a mangled one, joined."""
    if begin := _MANGLED.match(text):
        parts, at = [], begin.end()
        while found := _PART.match(text, at):
            at = found.start(2) + int(found[1])
            parts.append(text[found.start(2) : at])
        return "::".join(parts) or text
    name = text.replace("(anonymous namespace)", "{anonymous}")
    return name if "operator(" in name else name.partition("(")[0].strip() or text


_Owner = tuple[str | None, int | None]
"""The process that prints a stack, ``host:pid`` and rank, as far as its lines have them."""


class _Stack(NamedTuple):
    """A stack that is being read: the index of the line that a report shows, the frames with a name, and all."""

    at: int
    frames: list[dict[str, Any]]
    raw: list[Raw]


class _Stacks(Reading):
    """The stacks of one section; lines of several processes may be mixed, which their heads tell apart."""

    def __init__(self, section: Any) -> None:  # noqa: ANN401  (a section, as the base has it)
        """No stack has begun."""
        super().__init__(section)
        self.open: dict[_Owner, _Stack] = {}

    def head(self, _found: re.Match[str]) -> None:
        """The next frames are of another stack."""
        self.close((None, self._rank()))

    def frame(self, found: re.Match[str]) -> None:
        """A function of a stack, the innermost first; one without a name is left out."""
        fields = found.groupdict()
        owner, depth = (fields.get("owner"), self._rank()), fields.get("depth")
        held = self.open.get(owner)
        if held is None or (depth is not None and int(depth) == 0 and held.frames):
            self.close(owner)
            held = self.open[owner] = _Stack(self.index, [], [])
        name = fields["function"].strip()
        if len(held.raw) < _KEPT_FRAMES:
            held.raw.append(("" if name in _UNNAMED else name, fields.get("file") or ""))
        if name not in _UNNAMED and len(held.frames) < _KEPT_FRAMES:
            if not any("nccl" in (each.get("file") or "") for each in held.frames) and _OWN.search(self.line):
                self.open[owner] = held._replace(at=self.index)
            line = fields.get("line")
            told = {"function": _named(name), "file": fields.get("file"), "line": int(line) if line else None}
            held.frames.append({key: value for key, value in told.items() if value and value != "???"})

    def _rank(self) -> int | None:
        """The rank before the line, in what all lines have or in its own prefix."""
        return _context.split(f"{self.section.head(self.index)}{self.line}")[0].rank

    def close(self, owner: _Owner) -> None:
        """Report the stack of this process, if it has a function with a name."""
        stack = self.open.pop(owner, None)
        copying = copies_in(stack.raw) if stack is not None else None
        if stack is None or not (stack.frames or copying) or len(self.found) >= _KEPT_STACKS:
            return
        process, rank = owner
        host, _, pid = (process or "").rpartition(":")
        self.observe(
            "StackDump", at=stack.at, threads=[{"frames": stack.frames}] if stack.frames else [], has_failed=True,
            host=host or None, pid=int(pid) if pid else None, rank=rank, copies_in=copying,
        )  # fmt: skip
        if any(str(each.get("function")).endswith(_CHECK) for each in stack.frames):
            self.observe("Timeout", at=stack.at, rank=rank, only_stack=True)

    def end(self) -> None:
        """Report what is open."""
        for owner in list(self.open):
            self.close(owner)


def _rest(line: str) -> object:
    return _END.match(_context.split(line)[1])


ROWS = Rows(
    _Stacks,
    Row(_head, _Stacks.head),
    Row(frame, _Stacks.frame),
    Row(_rest),
    ELISION,
    longest=4096,
)
