"""A process whose background thread of NCCL may have overrun its stack while the communicator was set up."""

from __future__ import annotations

from ncdiag.base.patterns import lazy_regex
from ncdiag.facts.derived import derived
from ncdiag.facts.model import Event, Job, Phase, StackDump
from ncdiag.facts.view import View
from ncdiag.facts.vocabulary.stacks import WAITS, entered
from ncdiag.knowledge.launcher.ends import phase_at, signal_of

_SET_UP: frozenset[Phase] = frozenset({"bootstrap", "init", "connect"})
_MANY = 16
"""Ranks at least: the search calls itself once for each GPU of an NVLink domain, so few of them need little stack."""
_NCCL = lazy_regex(r"^nccl[A-Z]|(?:^|/)libnccl\.so")
"""A function or the library of NCCL, but not one of its plugins."""


@derived
def overran_in_set_up(event: Event, view: View) -> bool:
    """Did the process end with SIGSEGV while NCCL set up a large communicator, and does no stack show other code?"""
    if signal_of(event, view) != "SIGSEGV" or phase_at(event, view) not in _SET_UP:
        return False
    return _is_large(view.job) and not any(_is_of_other_code(dump) for dump in _of_crash(view.job))


def _is_large(job: Job) -> bool:
    sizes = [rank.nranks for rank in job.ranks if rank.nranks is not None]
    return max([*sizes, job.nranks or 0]) >= _MANY


def _of_crash(job: Job) -> list[StackDump]:
    failed = [dump for dump in job.stack_dumps if dump.has_failed]
    return failed or list(job.stack_dumps)


def _is_of_other_code(dump: StackDump) -> bool:
    """Does a stack name functions, but none of NCCL and none that waits for the other ranks?"""
    frames = [frame for thread in dump.threads for frame in thread.frames]
    if not frames or any(_NCCL.search(frame.function) or _NCCL.search(frame.file or "") for frame in frames):
        return False
    found = entered(dump)
    return found is None or found[0] not in WAITS
