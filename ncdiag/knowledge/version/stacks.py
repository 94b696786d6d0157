"""The functions by which a stack shows a known defect.

An entry is one function, or several as ``cuMemCreate < ncclCuMemHostEnable``: they are then in one thread, each called
by the next.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from ncdiag.facts.model import StackDump
from ncdiag.facts.view import View

_CALLED_BY = " < "


def dump_with(entries: Collection[str], view: View, *, running: bool = False) -> StackDump | None:
    """The first stack with one of these entries; ``running``: of a process that has not failed."""
    for dump in view.job.stack_dumps:
        threads = ([frame.function for frame in thread.frames] for thread in dump.threads)
        if not (running and dump.has_failed) and any(_is_in(entry, names) for names in threads for entry in entries):
            return dump
    return None


def shows_functions(entries: Collection[str], view: View) -> bool | None:
    """Does a stack, or a person, name the functions of an entry? None where no stack was shown."""
    dump = dump_with(entries, view)
    if dump is not None:
        view.note(dump)
        return True
    told = [context.value for context in view.job.contexts if context.kind == "function"]
    named = any(
        all(any(re.search(part, name) for name in told) for part in entry.split(_CALLED_BY)) for entry in entries
    )
    return named or (None if not view.job.stack_dumps else False)


def _is_in(entry: str, names: Sequence[str]) -> bool:
    """Does the stack, which begins with the innermost function, have these functions in this order?"""
    rest = iter(names)
    return all(any(re.search(part, name) for name in rest) for part in entry.split(_CALLED_BY))
