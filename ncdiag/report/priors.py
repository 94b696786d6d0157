"""Published counts of what stopped large training runs, for an answer in which nothing else decides.

They say where to look first when a large run that worked stops without a line that names a cause. A job that never
ran, a small one, and one of which something is known or suspected get none: other causes are likelier there.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from ncdiag.facts.stated import only
from ncdiag.facts.view import View
from ncdiag.facts.vocabulary.outcome import marks
from ncdiag.language import phrase, say
from ncdiag.messages.vocabulary.phases import phase
from ncdiag.report.counted import Counted
from ncdiag.report.model import Report
from ncdiag.suspects.priors import Count, priors

_OPEN = frozenset({"failed-cause-not-here", "complaint-nothing-seen"})
_STOPS = frozenset({"hangs", "crashes", "fails"})
_RAN = frozenset({"later", "end"})
_LEADS = frozenset({"likely", "very likely"})
_MONTH = 30.0
"""A job is large if it meets one of the counted faults in so many days."""
_AT_WORK = 1000
"""Minimum number of collectives of a process group that is past its set-up."""
_SHOWN = 3
"""Number of parts that a line names."""


def counted(report: Report, view: View) -> tuple[Counted, ...]:
    """The counts, if the input shows that a large run stopped and nothing in it points to a cause."""
    if report.summary.verdict not in _OPEN or not _is_open(report) or not _stopped(report, view):
        return ()
    gpus = report.summary.nranks or _told(view, "rank-count")
    hosts = report.summary.nhosts or _told(view, "host-count")
    if hosts == 1:
        return ()
    table = priors()
    every = [count.days_between(gpus, hosts) for count in table.count]
    if not any(days is not None and days <= _MONTH for days in every):
        return ()
    return tuple(_counted(count, days) for count, days in zip(table.count, every, strict=True))


def _told(view: View, kind: str) -> int | None:
    """The number that a person gives, if it is only one."""
    said = only(view.job.contexts, kind)
    return None if said is None else int(said.value.split(" ")[0])


def _is_open(report: Report) -> bool:
    """True if no finding and no suspect names a cause, and no trial of a person changed anything."""
    return not (
        any(found.role == "cause" and found.severity != "info" for found in report.findings)
        or any(suspect.likelihood in _LEADS for suspect in report.suspects)
        or any(told.kind in {"works", "decides"} for told in report.told)
    )


def _stopped(report: Report, view: View) -> bool:
    """True if the job failed or hangs after it had worked."""
    found = [each for each in report.complaints if each.what in _STOPS]
    return bool(found) and (
        phase(view.job, view) in _RAN or bool(marks(view.job, view).stepped)
        or any(each.told and each.phase in _RAN for each in found)
        or any((timeout.sequence or 0) >= _AT_WORK for timeout in view.job.timeouts)
    )  # fmt: skip


def _counted(count: Count, every: float | None) -> Counted:
    parts = Counter({part: sum(causes.values()) for part, causes in count.causes.items()})
    return Counted(
        source=count.source, address=count.address, checked=count.checked, what=phrase(count.what), total=count.total,
        days=count.days, parts=dict(parts.most_common()), every=None if every is None else round(every, 1),
    )  # fmt: skip


def lines(found: tuple[Counted, ...], *, short: bool = False) -> Iterator[str]:
    """A sentence on all counts together, then one on each; ``short``: only the first."""
    if not found:
        return
    together = Counter[str]()
    for each in found:
        together.update(each.parts)
    known = [pair for pair in together.most_common() if pair[0] != "unknown"]
    yield say(
        "of {total} faults in {n} published counts of large runs, {parts}",
        n=len(found), total=sum(each.total for each in found), parts=_named(known[:_SHOWN]),
    )  # fmt: skip
    for each in () if short else found:
        text = say(
            "{source}: of {total} {what} in {days} days, {parts}", source=each.source, total=each.total,
            what=each.what, days=each.days, parts=_named(each.parts.items()),
        )  # fmt: skip
        if each.every is not None:
            text += say("; at that rate, a job of this size meets one every {days} days", days=f"{each.every:g}")
        yield text + say(" (read on {day}: {address})", day=each.checked, address=each.address)


def _named(parts: Iterable[tuple[str, int]]) -> str:
    """``268 in a GPU or its memory, 35 in a switch or cable``."""
    names = priors().part
    return say(", ").join(
        say("{number} {part}", number=number, part=phrase(names.get(part, part))) for part, number in parts
    )
