"""Hosts that a trouble follows: people say it (``any job with n7 hangs``), or label their outputs (``Bad node:``)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping

from ncdiag.base.patterns import lazy_regex
from ncdiag.facts.described_hosts import is_called_bad
from ncdiag.facts.model import Fact, Job
from ncdiag.facts.view import View

_APART = lazy_regex(r"[\s._-]+")


def troubled_hosts(view: View) -> Mapping[str, tuple[Fact, ...]]:
    """The hosts of the input that the trouble follows, with the facts that say so; none if that is most of them."""
    return view.remembered(("troubled hosts",), lambda: _found(view.job))


def _found(job: Job) -> Mapping[str, tuple[Fact, ...]]:
    named: dict[str, list[Fact]] = defaultdict(list)
    for context in job.contexts:
        if context.kind == "troubled-host":
            for name in {_plain(context.value), _plain(context.value.partition(".")[0])}:
                named[name].append(context)
    for label in job.run_labels:
        if label.well is False:
            for word in label.text.split():
                named[_plain(word)].append(label)
    found = {
        host.name: tuple(named.get(_plain(host.name), ()) if named else ())
        for host in job.hosts if (named and _plain(host.name) in named) or is_called_bad(host.name)
    }  # fmt: skip
    return found if len(job.hosts) == 1 or 2 * len(found) <= len(job.hosts) else {}


def _plain(name: str) -> str:
    """A name as people write it: ``Node 7`` and ``node-7`` are one."""
    return _APART.sub("", name.strip("()`'\"*:#").lower())
