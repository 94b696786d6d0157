"""Hosts that a trouble follows: people say it (``any job with n7 hangs``), or label their outputs (``Bad node:``)."""

from __future__ import annotations

from ncdiag.base.patterns import lazy_regex
from ncdiag.facts.derived import derived
from ncdiag.facts.described_hosts import is_called_bad
from ncdiag.facts.model import Context, Job, RunLabel
from ncdiag.facts.view import View

_APART = lazy_regex(r"[\s._-]+")


@derived
def troubled_hosts(job: Job, view: View) -> tuple[str, ...]:
    """The hosts of the input that the trouble follows; none where that is most of them."""
    found: list[str] = []
    for host in job.hosts:
        facts = [*_said_of(job, _plain(host.name)), *_labels_of(job, _plain(host.name))]
        if facts or is_called_bad(host.name):
            found.append(host.name)
        for fact in facts:
            view.note(fact)
    return tuple(found) if len(job.hosts) == 1 or 2 * len(found) <= len(job.hosts) else ()


def _said_of(job: Job, host: str) -> list[Context]:
    told = (context for context in job.contexts if context.kind == "troubled-host")
    return [context for context in told if host in {_plain(context.value), _plain(context.value.partition(".")[0])}]


def _labels_of(job: Job, host: str) -> list[RunLabel]:
    return [label for label in job.run_labels if label.well is False and host in map(_plain, label.text.split())]


def _plain(name: str) -> str:
    """A name as people write it: ``Node 7`` and ``node-7`` are one."""
    return _APART.sub("", name.strip("()`'\"*:#").lower())
