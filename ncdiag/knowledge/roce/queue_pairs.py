"""What one queue pair carries of what several do, as tests of the link show it."""

from __future__ import annotations

from ncdiag.facts.derived import derived
from ncdiag.facts.model import LinkTest
from ncdiag.facts.view import View
from ncdiag.facts.vocabulary.link_tests import is_alike, measured_bandwidth, ways


@derived
def of_one_queue_pair(test: LinkTest, view: View) -> float | None:
    """The result over one queue pair divided by the best over several of the same device; None without both.

    1 for a test over several itself.
    """
    mine = measured_bandwidth(test)
    if test.qps is None or mine is None:
        return None
    if test.qps > 1:
        return 1.0
    others = [other for other in view.job.link_tests if (other.qps or 0) > 1 and is_alike(test, other)]
    several = [(found[0] / ways(other), other) for other in others if (found := measured_bandwidth(other))]
    if not several:
        return None
    best, other = max(several, key=lambda item: item[0])
    view.note(test, "rows")
    view.note(other, "rows")
    return mine[0] / ways(test) / best
