"""The hosts of a sweep beside each other, for rules and for the report."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ncdiag.comparing import groups, odd
from ncdiag.comparing.groups import Compared
from ncdiag.comparing.values import of_hosts
from ncdiag.engine.results import Verdict
from ncdiag.facts.model import Event
from ncdiag.facts.view import View


class Swept(NamedTuple):
    """The differences of hosts, and events of those that differ from most others."""

    found: Compared
    odd: tuple[Event, ...]

    def new(self, verdicts: Sequence[Verdict]) -> list[Verdict]:
        """The verdicts without differences that other rules report."""
        return odd.without_known(verdicts, self.found.different)


def swept(view: View) -> Swept:
    """Compare the hosts of a job, of which there are at least two."""
    found = groups.compare(of_hosts(view), view.hosts)
    return Swept(found, tuple(odd.events(found.different, len(view.job.events))))
