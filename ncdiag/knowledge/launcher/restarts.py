"""Ranks that were restarted while the others of their job continued."""

from __future__ import annotations

import re
from collections import defaultdict

from ncdiag.facts.derived import derived
from ncdiag.facts.model import Event, Job
from ncdiag.facts.view import View
from ncdiag.facts.vocabulary.failures import has_failed

_REPLICA = r"(?P<job>[\w.-]+?)(?:-(?:master|worker|chief|node|head|ps))?(?:-\d+)+(?:-[a-z0-9]{5})?"
"""A replica of a job: ``train-worker-0`` of an operator, ``train-node-0-1-x7k2p`` of a JobSet, ``train-0``.

The launcher of an MPIJob does not match: it is restarted until all workers answer.
"""


@derived
def lone_restart(job: Job, view: View) -> str | None:
    """A pod restarted alone, ``train-worker-0 was restarted, 2 other pods of the job not``; empty for none.

    None without a list of pods, and where nothing failed and nobody complains: a job may recover from a restart.
    """
    restart = next((event for event in job.events if event.event == "coordination-task-restarted"), None)
    if restart is not None:
        view.note(restart)
        return f"{restart.fields.get('task_name') or 'A task'} was restarted, and the others were not"
    groups: dict[str, dict[str, Event]] = defaultdict(dict)
    for event in job.events:
        name = str(event.fields.get("pod_name", ""))
        replica = re.fullmatch(_REPLICA, name) if event.event == "pod-listed" else None
        if replica:
            groups[replica["job"]][name] = event
    if not groups:
        return None
    for pods in groups.values():
        again = [event for event in pods.values() if event.fields.get("restarts")]
        if again and len(again) < len(pods) and not (has_failed(job, view) or job.complaints):
            return None
        if again and len(again) < len(pods):
            for event in again:
                view.note(event)
            names = ", ".join(str(event.fields["pod_name"]) for event in again[:3])
            left = len(pods) - len(again)
            verb, others = "was" if len(again) == 1 else "were", "pod" if left == 1 else "pods"
            return f"{names} {verb} restarted, {left} other {others} of the job not"
    return ""
