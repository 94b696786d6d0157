"""Compiled programs of regular expressions, kept in the user's cache folder between runs.

Python compiles a pattern in some 0.2 ms, and a short paste needs 500: a third of the time to the answer. A program is
what the compiler of ``re`` gives to ``_sre.compile`` (Lib/re/_compiler.py), which checks it and makes the pattern. Both
are private to CPython: for another interpreter, and where one of them differs, patterns are compiled as usual. The kept
file is only for one version of Python. It has only patterns of the source and of definitions, no text of the input.
"""

from __future__ import annotations

import array
import atexit
import contextlib
import importlib
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, AnyStr, NamedTuple, TypeVar, cast

import msgspec

from ncdiag.base import compiled

_NAME = "programs"
_ENOUGH = 8
"""Number of new results for which a file is written again."""
_MOST = 8 << 20
"""Maximum bytes in a file; a larger one, of patterns that have changed often, is begun anew."""


T = TypeVar("T")


class Program(NamedTuple):
    """The arguments of ``_sre.compile`` for a pattern; ``code``: its words of 4 bytes, in this machine's order."""

    flags: int
    code: bytes
    groups: int
    names: dict[str, int]


class Kept:
    """Small results by name, kept in a file of the user's cache folder between runs."""

    def __init__(self, path: Path | None, stamp: str) -> None:
        """``path``: the file, None if there is no cache folder; a file with another ``stamp`` is not read."""
        self._path, self._stamp = path, stamp
        kept = path and compiled.read(path, stamp, dict[bytes, msgspec.Raw])  # decoded when used: most are not
        self._known: dict[bytes, msgspec.Raw] = kept or {}
        self._new: dict[bytes, msgspec.Raw] = {}

    def of(self, name: str, kind: Any, make: Callable[[], T]) -> T:  # noqa: ANN401
        """The result of this name and kind (a type for msgspec), made and kept if it is new or damaged."""
        key = name.encode(errors="surrogatepass")
        known = self._known.get(key)
        if known is not None:
            with contextlib.suppress(msgspec.DecodeError):
                return cast("T", msgspec.msgpack.decode(known, type=kind))
        made = make()
        self._known[key] = self._new[key] = msgspec.Raw(msgspec.msgpack.encode(made))
        return made

    def write(self) -> None:
        """Write the file if enough results are new; what cannot be written is made again by the next process."""
        if self._path is None or len(self._new) < _ENOUGH:
            return
        if sum(len(bytes(each)) for each in self._known.values()) > _MOST:
            self._known = dict(self._new)
        with contextlib.suppress(OSError):
            compiled.write(self._path, self._stamp, self._known)
        self._new = {}


class Programs(Kept):
    """The compiled programs, by flags and pattern."""

    def pattern(self, pattern: str, flags: int) -> re.Pattern[str]:
        """Equal to ``re.compile(pattern, flags)``; raises re.error where that does."""
        with contextlib.suppress(Exception):  # a damaged program is refused; another Python may lack private functions
            name = f"{int(flags)} {pattern}"
            return _made(pattern, self.of(name, Program, lambda: _program(pattern, int(flags))))
        return re.compile(pattern, flags)


def _made(pattern: str, program: Program) -> re.Pattern[str]:
    names: list[str | None] = [None] * (program.groups + 1)
    for name, group in program.names.items():
        names[group] = name
    code = array.array("I")
    code.frombytes(program.code)
    made = _sre().compile(pattern, program.flags, code.tolist(), program.groups, program.names, tuple(names))
    return cast("re.Pattern[str]", made)


def _program(pattern: str, flags: int) -> Program:
    compiler = importlib.import_module("re._compiler" if sys.version_info >= (3, 11) else "sre_compile")
    parser = importlib.import_module("re._parser" if sys.version_info >= (3, 11) else "sre_parse")
    parsed = parser.parse(pattern, flags)
    code = array.array("I", map(int, compiler._code(parsed, flags)))  # noqa: SLF001
    state = parsed.state
    return Program(flags | state.flags, code.tobytes(), state.groups - 1, dict(state.groupdict))


def _sre() -> Any:  # noqa: ANN401
    return importlib.import_module("_sre")


_programs: Programs | None = None


def compile_once(pattern: AnyStr, flags: int = 0) -> re.Pattern[AnyStr]:
    """Like ``re.compile``, with the program of an earlier run where one is kept. Not for patterns made from input.

    The few patterns of bytes are always compiled.
    """
    global _programs  # noqa: PLW0603
    if isinstance(pattern, bytes) or sys.implementation.name != "cpython":
        return re.compile(pattern, flags)
    if _programs is None:
        _programs = Programs(compiled.cache_file(_NAME, (__file__,)), sys.version)
        atexit.register(_programs.write)
    return _programs.pattern(pattern, flags)
