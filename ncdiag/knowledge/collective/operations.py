"""A process that waits for NCCL's network thread to take an operation: does it wait for long?

Any busy process is there for moments, so that one stack proves nothing.
"""

from __future__ import annotations

from ncdiag.base.patterns import lazy_regex
from ncdiag.facts.derived import derived
from ncdiag.facts.model import StackDump
from ncdiag.facts.model.stacks import StackThread
from ncdiag.facts.view import View
from ncdiag.facts.vocabulary.outcome import marks
from ncdiag.facts.vocabulary.places import place
from ncdiag.facts.vocabulary.stacks import stands

_WAITS = "operation"
_NETWORK_THREAD = lazy_regex(r"ncclProxyProgress\b")
_SLEEPS = lazy_regex(r"cond_wait|cond_timedwait|futex")


@derived
def is_brief_wait(dump: StackDump, view: View) -> bool | None:
    """Did the process go on? False if it stays there, or nobody takes its operation; None if one stack is all.

    It goes on where the program prints steps or its end after the stack, or where a later stack shows it elsewhere.
    """
    others = [stands(other, view) for other in view.job.stack_dumps if _is_of_one_process(other, dump)]
    if _went_on_after(dump, view) or any(found != _WAITS for found in others):
        return True
    return False if others or any(map(_is_asleep, dump.threads)) else None


def _is_of_one_process(one: StackDump, other: StackDump) -> bool:
    """Is it another stack of the same process? Processes without a number are not compared."""
    return one is not other and one.pid is not None and (one.host, one.pid) == (other.host, other.pid)


def _went_on_after(dump: StackDump, view: View) -> bool:
    at = place(dump)
    if at is None:
        return False
    seen, (source, line) = marks(view.job, view), at
    return any(later > line for lines in (seen.stepped, seen.finished) for later in lines.get(source, []))


def _is_asleep(thread: StackThread) -> bool:
    """Does NCCL's network thread sleep, as it does when it sees no operation?"""
    names = [frame.function for frame in thread.frames]
    return any(map(_NETWORK_THREAD.search, names)) and any(map(_SLEEPS.search, names))
