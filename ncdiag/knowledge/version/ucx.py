"""A program that finds another release of UCX than the one it was built with."""

from __future__ import annotations

from collections.abc import Sequence

from ncdiag.base.patterns import lazy_regex
from ncdiag.facts.derived import derived, derived_of
from ncdiag.facts.model import Event, StackDump
from ncdiag.facts.view import View
from ncdiag.facts.vocabulary.outcome import is_open_failure, open_failures
from ncdiag.messages.vocabulary.exceptions import EXCEPTION, is_own_exception
from ncdiag.messages.vocabulary.ucx import missing_ucx_symbol, refused_ucx

_OLDER, _ADDRESS = "ucx-older-than-needed", "ucx-address-unread"
_LOADER, _NOT_OPENED = "loader-symbol-missing", "mpi-component-not-opened"
_NO_COMPONENT = "mpi-component-missing"
_START_FAILED = frozenset({_NO_COMPONENT, "nixl-backend-failed", "nixl-backend-missing"})
"""Events of a transport that does not start. They do not say why."""
_REASONS = ("ucx-", "ib-", "verbs-", "gpudirect-", "rdma-")
"""Prefixes of the events that say what UCX failed at."""
_CRASHES = frozenset({"mpi-signal", "segfault"})
_IN_UCX = lazy_regex(r"uc[mpst]_\w|(?:.{0,400}/)?libuc[mpst]\b")
_HANDLER = lazy_regex(r"ucs_(?:handle_error|debug|error|fatal|log)")
_DEEP = 4
"""The number of frames of a crash to check: those of the signal handler, and the one that crashed."""


@derived_of(_OLDER, _ADDRESS, _LOADER, _NOT_OPENED, EXCEPTION)
def is_ucx_unfit(event: Event, view: View) -> bool:
    """Did a program fail since the UCX that it found is another one than it was built with?

    UCX warns of an older release and continues, and Open MPI leaves out a component that does not load: they count only
    where a transport did not start, or UCX crashed.
    """
    if event.event == EXCEPTION:
        return ucx_fault(event, view) != "" and bool(is_own_exception(event, view))
    if event.event in {_ADDRESS, _LOADER}:
        return ucx_fault(event, view) != "" and bool(is_open_failure(event, view))
    return ucx_fault(event, view) != "" and _fails_to_start(view)


def _fails_to_start(view: View) -> bool:
    """Does a transport over UCX not start without a line that says why, or does UCX crash?"""
    failed = open_failures(view.job, view)
    event = view.remembered(("UCX does not start",), lambda: _failed_start(failed, view.job.stack_dumps))
    if event is not None:
        view.note(event)
    return event is not None


def _failed_start(failed: Sequence[Event], dumps: Sequence[StackDump]) -> Event | None:
    """The failure of a transport over UCX, or its crash; None where another line says why."""
    if any(event.event.startswith(_REASONS) for event in failed):
        return None
    dump = next(filter(_crashed_in_ucx, dumps), None)
    for event in failed:
        if event.event == _NO_COMPONENT and event.fields.get("component") not in {"ucx", "pml"}:
            continue
        crashed = event.event in _CRASHES and (dump is not None or _IN_UCX.match(str(event.fields.get("library", ""))))
        if crashed or event.event in _START_FAILED:
            return event
    return None


def _crashed_in_ucx(dump: StackDump) -> bool:
    """Is the function in which a process crashed one of UCX, apart from its handler of signals?"""
    frames = [f for thread in dump.threads for f in thread.frames[:_DEEP] if not _HANDLER.match(f.function)]
    return dump.has_failed and any(_IN_UCX.match(f.function) or _IN_UCX.match(f.file or "") for f in frames[:2])


@derived
def ucx_fault(event: Event, view: View) -> str:
    """How the loaded UCX does not fit, ``: 1.20 is needed, and 1.18.0 is loaded``; empty for any other line."""
    if event.event == _OLDER:
        return f": {event.fields.get('ucx_needed')} is needed, and {event.fields.get('ucx_loaded')} is loaded"
    if event.event == _ADDRESS:
        return ": it cannot read the address of a worker"
    if symbol := missing_ucx_symbol(event.text):
        return f": it lacks {symbol}"
    if event.event == EXCEPTION and (release := refused_ucx(event.text)):
        return f": {release} is too old for the Python package"
    return ""
