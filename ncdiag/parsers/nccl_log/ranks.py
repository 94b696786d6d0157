"""What was read of each process.

A record belongs to one (host, pid, device). Lines of helper threads carry another device number than the rank's own,
and one process may drive several GPUs: `ncdiag.parsers.nccl_log.outcome` puts the records of a process together.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

from ncdiag.base.spans import Span
from ncdiag.facts.scalars import VersionRange
from ncdiag.parsers.nccl_log.dialect import folded
from ncdiag.parsers.nccl_log.lives import Life, Lives
from ncdiag.parsers.nccl_log.reading import CARRIED, Reading
from ncdiag.parsers.nccl_log.transports import Link
from ncdiag.parsers.nccl_log.wiring import Wiring

LIST_LIMIT = 256
"""Different entries of a list (GIDs, GDR verdicts) that are kept for one process."""

Key = tuple[str | None, int | None, int | None]
"""Host, pid, CUDA device; None where the line does not tell."""


class Record:
    """What the lines of one (host, pid, device) told.

    ``fields`` holds values with the span of the line, ``lists`` entries with the span of the line of the first one.

    Records of two parts of a log merge to the record of both: what is first stays first, what is last stays last.
    """

    def __init__(self, key: Key, span: Span) -> None:
        """Start empty; ``span`` is the first line seen."""
        self.key, self.span = key, span
        self.fields: dict[str, tuple[Any, Span]] = {}
        self.lists: dict[str, tuple[list[Any], Span]] = {}
        self.settings: dict[str, tuple[str, Span]] = {}
        self.lives = Lives()
        self.net: tuple[int, str, Span] | None = None
        self.transports: Counter[str] = Counter()
        self.ways: Counter[str] = Counter()
        self.first_links: dict[bool, Span] = {}
        self.nics: set[int] = set()
        self.link_ranks: set[int] = set()
        self.failed: Span | None = None
        self.exact: tuple[str, Span] | None = None
        self.constraints: dict[str, None] = {}
        self.link_constraints: set[str] = set()
        self.link_net: str | None = None
        self.wiring = Wiring()

    def take(self, reading: Reading, span: Span, thread: int | None = None, time: float | None = None) -> None:
        """Add what one line of a thread told. The first value of a field stays; lists grow."""
        for name, value in reading.fields.items():
            self.fields.setdefault(name, (value, span))
        for name, items in reading.lists.items():
            for item in items:
                self._add(name, item, span)
        if reading.setting is not None:
            self.settings.setdefault(reading.setting[0], (reading.setting[1], span))
        if reading.net is not None:
            self._take_net((*reading.net, span))
        if reading.for_sure and self.exact is None:
            self.exact = reading.for_sure, span
        if reading.fails:
            self.failed = span
        if reading.init is not None:
            self.lives.take(reading.init, span, thread, time)
        self.constraints.setdefault(reading.versions)

    def wants_line_of(self, link: Link) -> bool:
        """Is this the first connection of its sort: over the network, or within the host?"""
        return (link.nic is not None) not in self.first_links

    def take_link(self, link: Link, where: Span | None) -> None:
        """Note a connection of the rank; how often it is told is counted apart. ``where``: its line, where wanted."""
        if where is not None and self.wants_line_of(link):
            self.first_links[link.nic is not None] = where
        self.link_ranks.add(link.rank)
        if link.nic is not None:
            self.nics.add(link.nic)
        self.link_net = self.link_net or link.net
        self.link_constraints.add(link.versions)

    def count_link(self, link: Link, count: int) -> None:
        """Add connections to those of their kind."""
        self.transports[link.transport] += count
        if link.way is not None:
            self.ways[link.way] += count

    def merge(self, later: Record) -> None:
        """Add what a later part of the log told of the same process."""
        for name, told in later.fields.items():
            self.fields.setdefault(name, told)
        for name, (items, span) in later.lists.items():
            for item in items:
                self._add(name, item, span)
        for name, setting in later.settings.items():
            self.settings.setdefault(name, setting)
        self.lives.merge(later.lives)
        if later.net is not None:
            self._take_net(later.net)
        self.transports.update(later.transports)
        self.ways.update(later.ways)
        self.first_links = later.first_links | self.first_links
        self.nics |= later.nics
        self.link_ranks |= later.link_ranks
        self.failed = later.failed or self.failed
        self.exact = self.exact or later.exact
        self.constraints |= later.constraints
        self.link_constraints |= later.link_constraints
        self.link_net = self.link_net or later.link_net
        self.wiring.merge(later.wiring)

    def _add(self, name: str, item: Any, span: Span) -> None:  # noqa: ANN401
        held, _ = self.lists.setdefault(name, ([], span))
        if len(held) < LIST_LIMIT and item not in held:
            held.append(item)

    def _take_net(self, net: tuple[int, str, Span]) -> None:
        if self.net is None or net[0] > self.net[0]:
            self.net = net

    @property
    def bounds(self) -> VersionRange | None:
        """The releases that can have printed the lines."""
        return folded([*self.constraints, *sorted(self.link_constraints)])

    def network(self) -> tuple[int, str, Span] | None:
        """The network and how sure that is; the lines that announce one win over its channels."""
        if self.link_net is not None and (self.net is None or self.net[0] < CARRIED):
            return CARRIED, self.link_net, self.span
        return self.net

    def told_anything(self) -> bool:
        """Tell whether the lines said more than that somebody printed them."""
        told = self.fields or self.lists or self.settings or self.lives or self.network()
        return self.key[1] is not None or bool(told)

    @property
    def world(self) -> Life | None:
        """The communicator that gives the rank its number."""
        return self.lives.world()

    @property
    def state(self) -> tuple[str, Span] | None:
        """The latest word: a failure, or what the widest communicator told."""
        world = self.world
        said = world.state if world is not None else None
        if self.failed is not None and (said is None or self.failed.line >= said[1].line):
            return "failed", self.failed
        return said

    @property
    def rank(self) -> int | None:
        """The number of the rank: from its Init lines, else from its channels when they agree."""
        world = self.world
        if world is not None:
            return world.init.rank
        return next(iter(self.link_ranks)) if len(self.link_ranks) == 1 else None

    @property
    def is_rank(self) -> bool:
        """Tell whether this record stands for a rank of its own, not for a helper thread or a whole process."""
        return bool(self.lives) or len(self.link_ranks) == 1
