"""What the kernel's logs of a job's hosts show, and what they would show had they been given."""

from __future__ import annotations

from ncdiag.facts.model import Event, Host, Job
from ncdiag.facts.view import View, derived


@derived
def kernel_logs(job: Job, view: View) -> tuple[str | None, ...]:
    """The hosts of whose kernel's log something was read; None among them is a host without a name."""
    return tuple(dict.fromkeys(event.host for event in job.events if event.origin == "kernel"))


@derived
def shows_kernel_log(host: Host, view: View) -> bool:
    """True if something was read of the kernel's log of the host: what it does not hold did not happen."""
    shown = view.get(view.job, "kernel_logs")
    return None in shown or host.name in shown


@derived
def link_losses(job: Job, view: View) -> tuple[Event, ...] | None:
    """The events that tell of a lost link.

    None where there is none, RDMA failed, and the kernel's log of a host was not shown.
    """
    found = tuple(event for event in job.events if view.get(event, "is_link_loss"))
    if found or not view.get(job, "failed_over_verbs"):
        return found
    return () if all(view.get(host, "shows_kernel_log") for host in job.hosts) else None
