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
from pathlib import Path
from typing import Any, AnyStr, NamedTuple, cast

import msgspec

from ncdiag.base import compiled

_NAME = "programs"
_ENOUGH = 8
"""Number of new programs for which the file is written again."""
_MOST = 8 << 20
"""Maximum bytes of all programs in the file; a larger one, of patterns that have changed often, is begun anew."""


class Program(NamedTuple):
    """The arguments of ``_sre.compile`` for a pattern; ``code``: its words of 4 bytes, in this machine's order."""

    flags: int
    code: bytes
    groups: int
    names: dict[str, int]


class Programs:
    """The kept programs, by flags and pattern, and those that this process adds."""

    def __init__(self, path: Path | None, stamp: str) -> None:
        """``path``: the file, None if there is no cache folder; a file with another ``stamp`` is not read."""
        self._path, self._stamp = path, stamp
        kept = path and compiled.read(path, stamp, dict[bytes, msgspec.Raw])  # decoded when used: most are not
        self._known: dict[bytes, Program | msgspec.Raw] = kept or {}
        self._new = 0

    def pattern(self, pattern: str, flags: int) -> re.Pattern[str]:
        """Equal to ``re.compile(pattern, flags)``; raises re.error where that does."""
        key = f"{int(flags)} {pattern}".encode(errors="surrogatepass")
        known = self._known.get(key)
        if known is not None:
            with contextlib.suppress(Exception):  # a damaged program is refused
                kept = known if isinstance(known, Program) else msgspec.msgpack.decode(known, type=Program)
                return _made(pattern, kept)
        try:
            program = _program(pattern, int(flags))
            made = _made(pattern, program)
        except Exception:  # noqa: BLE001  (private functions, which another Python may not have)
            return re.compile(pattern, flags)
        self._known[key] = program
        self._new += 1
        return made

    def write(self) -> None:
        """Write the file if enough programs are new; what cannot be written is compiled again by the next process."""
        if self._path is None or self._new < _ENOUGH:
            return
        if sum(len(each if isinstance(each, msgspec.Raw) else each.code) for each in self._known.values()) > _MOST:
            self._known = dict(list(self._known.items())[-self._new :])
        with contextlib.suppress(OSError):
            compiled.write(self._path, self._stamp, self._known)
        self._new = 0


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
