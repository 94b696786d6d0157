"""Crashes in HCOLL, NVIDIA's library of collectives below Open MPI and MPICH."""

from __future__ import annotations

from ncdiag.base.patterns import lazy_regex
from ncdiag.facts.derived import derived_of
from ncdiag.facts.model import Event, StackDump, StackFrame
from ncdiag.facts.view import View
from ncdiag.facts.vocabulary.outcome import is_open_failure

_FAULTS = frozenset({4, 7, 8, 11})
"""Signals of a fault: SIGILL, SIGBUS, SIGFPE, SIGSEGV. Others come from elsewhere, to a process that may only wait."""
_HANDLER = lazy_regex(
    r"(?:killpg|raise|gsignal|abort|_*funlockfile|_*restore_rt|_*sigaction|_*kernel_(?:rt_)?sigreturn|\.annobin_sigaction\.c"
    r"|_*GI_raise|backtrace\w*|ucs_(?:handle_error|debug|error)\w*)$"
)
_FUNCTION = lazy_regex(r"hmca_\w|hcoll_\w|mcast_(?:ucx|p2p|vmc)_\w|vmc_\w|bcol_\w|comm_allreduce_hcolrte")
_FILE = lazy_regex(r"(?:.{0,400}/)?(?:libhcoll\.so|hmca_\w{1,60}\.so|(?:mcast_)?vmc\.c|bcol_\w{1,60}\.c|hcoll_rte\.c)")
_BELOW = lazy_regex(r"rdma_\w|ibv_\w|mlx5\w*_\w|_{0,4}(?:GI_)?mem(?:cpy|move|set)\w*")
"""Functions of verbs and libc, which HCOLL calls itself. Those of UCX may fail for other reasons."""
_CALLED = 2


@derived_of("mpi-signal", "segfault")
def crashes_in_hcoll(event: Event, view: View) -> bool:
    """Did a process crash in HCOLL itself, or in a function of verbs or libc that HCOLL had called?"""
    if event.event == "segfault":
        found = _FILE.match(str(event.fields.get("library", ""))) is not None
        return found and bool(is_open_failure(event, view))
    if event.fields.get("signal") not in _FAULTS or not is_open_failure(event, view):
        return False
    dump = view.remembered(("crash in HCOLL",), lambda: next(filter(_is_in_hcoll, view.job.stack_dumps), None))
    if dump is not None:
        view.note(dump)
    return dump is not None


def _is_in_hcoll(dump: StackDump) -> bool:
    """Is the first function, apart from those of a signal handler, one of HCOLL or called by it?"""
    if not dump.has_failed:
        return False
    frames = [frame for thread in dump.threads for frame in thread.frames if not _HANDLER.match(frame.function)]
    for frame in frames[: _CALLED + 1]:
        if _is_of_hcoll(frame):
            return True
        if not _BELOW.match(frame.function):
            return False
    return False


def _is_of_hcoll(frame: StackFrame) -> bool:
    return _FUNCTION.match(frame.function) is not None or _FILE.match(frame.file or "") is not None
