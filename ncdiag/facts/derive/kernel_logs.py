"""What the kernel's logs of a job's hosts show, and what they would show had they been given."""

from __future__ import annotations

from ncdiag.facts.model import Host, Job
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
