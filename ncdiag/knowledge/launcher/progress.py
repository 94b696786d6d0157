"""How far the ranks of a job came, and which of them printed nothing."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection

from ncdiag.base.patterns import lazy_regex
from ncdiag.facts.derived import derived
from ncdiag.facts.fold import fold_hosts, fold_ranks
from ncdiag.facts.model import Communicator
from ncdiag.facts.view import View
from ncdiag.facts.vocabulary.communicators import is_stuck, members
from ncdiag.facts.vocabulary.outcome import open_failures


@derived
def progress(communicator: Communicator, view: View) -> str:
    """The progress of the set-up: ``ranks 0-3 of 8 on n1 began, 0-1 completed, 4-7 were not heard of``."""
    started, ready = set(communicator.ranks_started), set(communicator.ranks_ready)
    parts = [f"{_of(started, communicator, view)} began", f"{fold_ranks(ready) if ready else 'none'} completed"]
    if ready and started - ready:
        late = started - ready
        hosts = hosts_of(communicator, late, view)
        parts.append(f"{fold_ranks(late)}{f' on {fold_hosts(hosts)}' if hosts else ''} did not")
    if communicator.nranks is not None:
        missing = set(range(min(communicator.nranks, 1 << 17))) - started - ready
        parts += [f"{fold_ranks(missing)} were not heard of"] if missing else []
    return ", ".join(parts)


def _of(ranks: set[int], communicator: Communicator, view: View) -> str:
    total = f" of {communicator.nranks}" if communicator.nranks is not None else ""
    hosts = hosts_of(communicator, ranks, view)
    return f"ranks {fold_ranks(ranks)}{total}{f' on {fold_hosts(hosts)}' if hosts else ''}"


_MOST_RANKS = 1 << 17
"""The largest size of a communicator for which missing ranks are listed individually."""
_RAY = lazy_regex(r"\((?:\w+ )?(?:rank=\d+ )?pid=\d+(?:, ip=[^)]*)?\)")
"""The prefix of lines of a Ray worker."""


def hosts_of(communicator: Communicator, numbers: Collection[int], view: View) -> set[str]:
    """The hosts of these ranks."""
    return {r.host for r in members(communicator, view) if r.rank in numbers}


@derived
def absent(communicator: Communicator, view: View) -> tuple[int, ...] | None:
    """The ranks that print nothing while others began to set up the communicator.

    A file of one rank or one host says nothing about ranks elsewhere: absent ranks are known only where the input comes
    from several hosts or files, and between two ranks of one host. Otherwise None. Once a rank has completed its
    set-up, all of them were there. Ray prints equal lines of several ranks once, so a missing line with its prefix does
    not count.
    """
    started = set(communicator.ranks_started)
    if communicator.nranks is None or not started or communicator.nranks > _MOST_RANKS:
        return None
    if communicator.ranks_ready:
        return ()
    ranks = members(communicator, view)
    if any(_RAY.search(rank.line_tag or "") for rank in ranks):
        return None
    missing = set(range(communicator.nranks)) - started - {r.rank for r in ranks}
    if not missing:
        return ()
    for rank in ranks[:2]:
        view.note(rank)
    sources = {span.source for r in ranks if (span := r.provenance.get("")) is not None}
    if len({r.host for r in ranks}) > 1 or len(sources) > 1:
        return tuple(sorted(missing))
    gaps = tuple(sorted(rank for rank in missing if min(started) < rank < max(started)))
    return gaps or None


@derived
def absent_text(communicator: Communicator, view: View) -> str:
    """The absent ranks: ``rank 6 of 8 (n2 started fewer ranks than the other hosts)``."""
    missing = absent(communicator, view) or ()
    word = "ranks" if len(missing) > 1 else "rank"
    text = f"{word} {fold_ranks(missing)} of {communicator.nranks}"
    counts: dict[str, int] = defaultdict(int)
    for rank in members(communicator, view):
        counts[rank.host] += 1
    most = max(counts.values(), default=0)
    few = sorted(host for host, count in counts.items() if count < most)
    return f"{text} ({fold_hosts(few)} started fewer ranks than the other hosts)" if few else text


@derived
def is_unfinished(communicator: Communicator, view: View) -> bool:
    """Did ranks begin the set-up and none complete it, while it is unknown whether it hangs or the log was cut?"""
    return (
        bool(communicator.ranks_started)
        and not communicator.ranks_ready
        and is_stuck(communicator, view) is None
        and not open_failures(view.job, view)
    )
