"""What the processes of a running job are doing if none of them is late; whether the job is only nccl-tests."""

from __future__ import annotations

from ncdiag.base.patterns import lazy_regex
from ncdiag.facts.derived import derived
from ncdiag.facts.model import Event, Job
from ncdiag.facts.view import View
from ncdiag.facts.vocabulary.ages import EXAMINED
from ncdiag.knowledge.launcher.silence import processes, states

_TEST = lazy_regex(r"(?:^|/)[a-z_]{3,20}_perf(?:_mpi)?$")


@derived
def examined_text(event: Event, view: View) -> str:
    """What the processes of a running job do, each place with those that are there; empty if none was read.

    Their stacks say more where they were read: a launcher that only waits for them is left out.
    """
    if event.event != EXAMINED or not states(view.job):
        return ""
    return "; ".join(processes(view.job, view))


@derived
def runs_nccl_tests_alone(job: Job, view: View) -> bool:
    """Do all launch lines start nccl-tests, and does nothing in the input come from a framework such as PyTorch?"""
    started = [each for each in job.launches if each.program != "hostfile"]
    tests = [each for each in started if _TEST.search(each.executable or each.program)]
    if not tests or len(tests) < len(started) or job.timeouts or any(h.frameworks for h in job.hosts):
        return False
    view.note(tests[0])
    return True
