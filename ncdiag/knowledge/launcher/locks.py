"""File locks on which processes of the job wait, by messages of their programs and by their stacks."""

from __future__ import annotations

from ncdiag.facts.derived import derived
from ncdiag.facts.model import Event, Job, StackDump
from ncdiag.facts.view import View
from ncdiag.facts.vocabulary.stacks import process_name, stands, waits_for_lock_in

_AWAITED, _REFUSED = "file-lock-awaited", "file-lock-refused"


@derived
def lock_waits(job: Job, view: View) -> tuple[Event, ...]:
    """Processes that wait for a file lock, or did not get it, by a message or by a stack."""
    told = [event for event in job.events if event.event in {_AWAITED, _REFUSED}]
    shown = [_as_event(dump) for dump in job.stack_dumps if stands(dump, view) == "lock"]
    return (*told, *shown)


def _as_event(dump: StackDump) -> Event:
    text = f"{process_name(dump)} waits in {waits_for_lock_in(dump)}"
    return Event(
        event=_AWAITED, origin="launcher", kind="cause", text=text, pid=dump.pid, host=dump.host, rank=dump.rank,
        provenance=dump.provenance,
    )  # fmt: skip


@derived
def stands_at_extensions(job: Job, view: View) -> bool | None:
    """Does PyTorch search for an extension that it builds at first use, without a line that one was loaded?"""
    sought = [event for event in job.events if event.event == "torch-extensions-root"]
    for event in sought[:1]:
        view.note(event)
    loaded = any(event.event == "torch-extension-loaded" for event in job.events)
    return not loaded if sought else None
