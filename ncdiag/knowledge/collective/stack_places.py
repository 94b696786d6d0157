"""Where the processes of a job are by their stacks: who is elsewhere than the others, or what all of them do.

Processes that wait for others (in a collective, at the rendezvous, for their GPU) show that they wait, not for whom.
The one that does something else is the one that they wait for. If all wait at one place, none of these is late.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from collections.abc import Set as AbstractSet

import msgspec

from ncdiag.base.patterns import lazy_regex
from ncdiag.facts.derived import derived
from ncdiag.facts.fold import fold_hosts, fold_ranks
from ncdiag.facts.model import Difference, Job, StackDump
from ncdiag.facts.view import View
from ncdiag.facts.vocabulary.communicators import is_said_to_hang
from ncdiag.facts.vocabulary.job import is_timeout
from ncdiag.facts.vocabulary.stack_spots import Spot, spot_of
from ncdiag.facts.vocabulary.stacks import WAITS, Place, is_helper, is_own, main_threads, process_name

_SILENT = "run-silent"
_BEGINNING: frozenset[Place] = frozenset({"rendezvous", "set-up"})
"""Places before the first collective: a process there is late if others are in one."""
_WORK: frozenset[str] = frozenset({"compile", "checkpoint", "data", "import"})
"""What one process may do alone while others, at one line of the program, wait for it."""
_WORKS = lazy_regex(
    r"_{0,2}(?:\w{1,30}_)?(?:eval(?:uate|uation)?|validat(?:e|ion)|valid_step|sav(?:e|ing)|checkpoint|tokeni[sz]e|preprocess"
    r"|download|upload|generate|plot|log_samples)(?:_\w{1,40})?$", re.IGNORECASE,
)  # fmt: skip
_PID = "pid"
"""The group that holds the process id of the only late process."""
_SHOWN = 3
"""The most places that a title names one by one."""
_NAMED = 4
"""The most processes without a rank number that are named one by one."""


def _ranks(job: Job, view: View) -> list[tuple[StackDump, Spot]]:
    """The last stack of each process that is a rank, with its spot; helpers are left out.

    Where processes have rank numbers, one without is a launcher.
    """
    last: dict[tuple[object, ...], StackDump] = {}
    for number, dump in enumerate(job.stack_dumps):
        known = (dump.host, dump.rank, dump.local_rank, dump.pid)
        last[known if any(each is not None for each in known[1:]) else (number,)] = dump
    running = [dump for dump in last.values() if not (dump.has_failed or is_helper(dump))]
    spots = ((_numbered(dump, view), spot_of(dump)) for dump in running)
    found = [(dump, spot) for dump, spot in spots if spot is not None]
    numbered = [(dump, spot) for dump, spot in found if dump.rank is not None]
    return numbered if len(numbered) > 1 else found


def _numbered(dump: StackDump, view: View) -> StackDump:
    """The dump with its rank number, where the log of NCCL shows it for the process."""
    if dump.rank is not None or dump.pid is None:
        return dump
    found = {r.rank for r in view.job.ranks if r.pid == dump.pid and dump.host in {None, r.host}}
    return msgspec.structs.replace(dump, rank=found.pop()) if len(found) == 1 else dump


@derived
def stack_places(job: Job, view: View) -> tuple[Difference, ...]:
    """What the stacks of several processes show together: at most one comparison.

    ``odd``: a few are elsewhere (``late``) while the others wait (``waiting``). ``together``: all wait in the same kind
    of place. ``phase``: all are in the same part of the program, and none waits for another.
    """
    silent = any(event.event == _SILENT for event in job.events)
    waited = [timeout for timeout in job.timeouts if is_timeout(timeout, view)]
    gave_up = {timeout.rank for timeout in waited if timeout.rank is not None}
    told = is_said_to_hang(job) or bool(waited)
    ranks = _ranks(job, view)
    return tuple(_alone(*ranks[0], gave_up) if len(ranks) == 1 else _compared(ranks, silent=silent, told=told))


def _alone(dump: StackDump, spot: Spot, gave_up: AbstractSet[int]) -> Iterator[Difference]:
    """The only stack, if its process was at work of its own while other ranks waited up to the time limit."""
    if spot.kind in _WORK and gave_up and dump.rank is not None and dump.rank not in gave_up:
        found = _difference("odd", {"late": [dump]}, [(dump, spot)])
        who = f"rank{'s' * (len(gave_up) > 1)} {fold_ranks(gave_up)}"
        told = {**found.groups, "waiting": f"{who} waited in a collective up to the time limit"}
        yield msgspec.structs.replace(found, groups=told)


def _compared(ranks: Sequence[tuple[StackDump, Spot]], *, silent: bool, told: bool) -> Iterator[Difference]:
    if len(ranks) < 2:  # noqa: PLR2004  (one process shows nothing of the others)
        return
    kinds = {spot.kind for _, spot in ranks}
    waits = WAITS - _BEGINNING if kinds & (WAITS - _BEGINNING) else WAITS
    waiting = [dump for dump, spot in ranks if spot.kind in waits]
    if not waiting and silent:  # they do nothing, wherever they are: most of them are where the others are waited for
        waiting = _crowd(ranks)
    elif not waiting and told:  # a stack of Python does not show the native call that waits
        waiting = _crowd_beside_work(ranks)
    late = [dump for dump, _ in ranks if dump not in waiting]
    if late and len(late) <= len(waiting):
        yield _difference("odd", {"late": late, "waiting": waiting}, ranks)
    elif not late and kinds.isdisjoint(_BEGINNING):
        yield _difference("together", {"all": waiting}, ranks)
    elif not waiting and len(kinds) == 1 and kinds != {""}:
        yield _difference("phase", {"all": late}, ranks)


def _crowd(ranks: Sequence[tuple[StackDump, Spot]]) -> list[StackDump]:
    """More than half of the processes, if so many are at the same line and others are not; else none."""
    (spot, count), *others = Counter(spot for _, spot in ranks).most_common()
    return [dump for dump, at in ranks if at == spot] if others and 2 * count > len(ranks) else []


def _crowd_beside_work(ranks: Sequence[tuple[StackDump, Spot]]) -> list[StackDump]:
    """The crowd at a line of the program, if all others do work that each rank does for itself; else none."""
    crowd = _crowd(ranks)
    at_line = all(not spot.kind for dump, spot in ranks if dump in crowd)
    others = [(dump, spot) for dump, spot in ranks if dump not in crowd]
    return crowd if at_line and all(spot.kind in _WORK or _works(dump) for dump, spot in others) else []


def _works(dump: StackDump) -> bool:
    """Is a function of the program on the stack whose name says that it evaluates, saves or prepares data?"""
    own = (frame.function for thread in main_threads(dump) for frame in thread.frames if is_own(frame))
    return any(_WORKS.match(function.rpartition(".")[2]) for function in own)


def _difference(what: str, groups: dict[str, list[StackDump]], ranks: Sequence[tuple[StackDump, Spot]]) -> Difference:
    spots = {id(dump): spot for dump, spot in ranks}
    told = {name: _placed(dumps, lambda dump: spots[id(dump)], name) for name, dumps in groups.items()}
    first = [dump for dumps in groups.values() for dump in dumps[:_SHOWN]]
    spans = {str(n): dump.provenance[""] for n, dump in enumerate(first) if "" in dump.provenance}
    kinds = {spots[id(dump)].kind for dump in groups.get("all", groups.get("late", []))}
    pids = {str(dump.pid) for dump in groups.get("late", ()) if dump.pid is not None}
    if len(pids) == 1:
        told[_PID] = pids.pop()
    return Difference(what=what, name=min(kinds), groups=told, provenance=spans)


def _placed(dumps: Sequence[StackDump], spot: Callable[[StackDump], Spot], group: str) -> str:
    """Each place with the processes that are there, the rarest first: ``rank 5 is loading data (__next__)``."""
    places: dict[Spot, list[StackDump]] = defaultdict(list)
    for dump in dumps:
        places[spot(dump)].append(dump)
    by_size = sorted(places.items(), key=lambda place: len(place[1]), reverse=group != "late")
    told = [_sentence(there, at) for at, there in by_size[:_SHOWN]]
    rest = sum(len(there) for _, there in by_size[_SHOWN:])
    return "; ".join([*told, *([f"{rest} more are elsewhere"] if rest else [])])


def _sentence(dumps: Sequence[StackDump], spot: Spot) -> str:
    who, place = _names(dumps), spot.text
    is_one = len(dumps) == 1 or (dumps[0].rank is not None and len({dump.rank for dump in dumps}) == 1)
    if spot.kind in {"collective", "rendezvous"}:
        return f"{who} waits {place}" if is_one else f"{who} wait {place}"
    return f"{who} is {place}" if is_one else f"{who} are {place}"


def _names(dumps: Sequence[StackDump]) -> str:
    """``rank 5``, ``ranks 0-4,6-7``, ``process 77 on n1``, ``12 processes on n[1-3]``."""
    ranks = [dump.rank for dump in dumps if dump.rank is not None]
    if len(ranks) == len(dumps):
        return f"ranks {fold_ranks(ranks)}" if len(set(ranks)) > 1 else f"rank {ranks[0]}"
    ranks = [dump.local_rank for dump in dumps if dump.local_rank is not None]
    if len(ranks) == len(dumps) and len({dump.host for dump in dumps}) == 1:
        return f"local ranks {fold_ranks(ranks)}" if len(ranks) > 1 else f"local rank {ranks[0]}"
    if len(dumps) == 1:
        return process_name(dumps[0])
    pids = [str(dump.pid) for dump in dumps if dump.pid is not None]
    if len(pids) == len(dumps) <= _NAMED:
        return f"processes {','.join(pids)}"
    hosts = {dump.host for dump in dumps if dump.host}
    return f"{len(dumps)} processes on {fold_hosts(hosts)}" if hosts else f"{len(dumps)} processes"


@derived
def late_pid(difference: Difference, view: View) -> str:
    """The process id of the one that is elsewhere, or a word for it in a command."""
    return difference.groups.get(_PID, "<pid of that rank>")


@derived
def odd_text(difference: Difference, view: View) -> str:
    """Who is elsewhere and what it does, then who waits, each with the place."""
    return _text(difference, view, "late", "waiting")


@derived
def all_text(difference: Difference, view: View) -> str:
    """What all processes do, with the place."""
    return _text(difference, view, "all")


def _text(difference: Difference, view: View, *groups: str) -> str:
    for span in difference.provenance:
        view.note(difference, span)
    return "; ".join(difference.groups[name] for name in groups)
