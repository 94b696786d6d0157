"""Which ranks of a communicator are connected with each other, derived from what the ranks printed."""

from __future__ import annotations

import msgspec

from ncdiag.facts.model.base import Fact, HostName


class Wire(msgspec.Struct, frozen=True, omit_defaults=True):
    """A connection between two ranks; data flow from ``source`` to ``target``.

    ``sent`` and ``received`` count Channel lines by transport, as the source and the target printed them: one for each
    channel. ``source_nics`` and ``target_nics`` are NCCL's numbers of the NICs at the two ends. A host is None if no
    line of that rank was seen.
    """

    source: int
    target: int
    source_host: HostName | None = None
    target_host: HostName | None = None
    sent: dict[str, int] = {}
    received: dict[str, int] = {}
    source_nics: tuple[int, ...] = ()
    target_nics: tuple[int, ...] = ()


class Ring(msgspec.Struct, frozen=True, omit_defaults=True):
    """The order of the ranks in the rings of some channels.

    ``channel`` is the first of these channels, ``channels`` their number; both are None where the order was assembled
    from the neighbours that each rank printed. ``whole``: does it contain all ranks of the communicator?
    """

    order: tuple[int, ...]
    channel: int | None = None
    channels: int | None = None
    whole: bool = False


class Wiring(Fact, frozen=True, kw_only=True):
    """The connections of a communicator and its rings (derived, `ncdiag.facts.vocabulary.wiring`).

    ``communicator`` is its id. It is None where no line shows an id; then the entry holds the connections of all
    communicators with that ``nranks``, and ``mixed`` is True where there is more than one, so that a rank number may
    stand for several ranks.
    """

    communicator: str | None = None
    nranks: int | None = None
    mixed: bool = False
    wires: tuple[Wire, ...] = ()
    rings: tuple[Ring, ...] = ()
