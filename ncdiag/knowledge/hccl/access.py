"""Access to the Ascend NPUs: who lacks it, and whether a container has the file with their addresses."""

from __future__ import annotations

from ncdiag.base.patterns import lazy_regex
from ncdiag.facts.derived import derived
from ncdiag.facts.model import Job
from ncdiag.facts.view import View
from ncdiag.facts.vocabulary.access import closed
from ncdiag.facts.vocabulary.mounts import has_own_files, is_mounted

_DRIVER = lazy_regex(r"/usr/local/Ascend|/dev/davinci")
_RUNTIME = lazy_regex(r"--runtime[= ]ascend|ASCEND_VISIBLE_DEVICES")
"""Ascend Docker Runtime mounts what the driver needs, /etc/hccn.conf included."""


@derived
def npu_closed_to(job: Job, view: View) -> tuple[str, ...]:
    """Who cannot use the Ascend NPUs although others can, in the words of ``nvidia_closed_to``."""
    return tuple(closed(job, view, "npu-smi", "npu"))


@derived
def hccn_conf_mounted(job: Job, view: View) -> bool | None:
    """Is /etc/hccn.conf mounted in the container that gets the NPUs? None without such a container.

    Also None with Ascend Docker Runtime, which mounts it.
    """
    given = [launch for launch in job.launches if has_own_files(launch) and _DRIVER.search(launch.text)]
    if not given or any(_RUNTIME.search(launch.text) for launch in given):
        return None
    view.note(given[0])
    return is_mounted("/etc/hccn.conf", job)
