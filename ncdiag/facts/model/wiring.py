"""Who is joined with whom in a communicator: derived from what its ranks printed."""

from __future__ import annotations

import msgspec

from ncdiag.facts.model.base import Fact, HostName


class Wire(msgspec.Struct, frozen=True, omit_defaults=True):
    """A pair of ranks that is connected; the data go from ``source`` to ``target``.

    ``sent`` and ``received`` count Channel lines by transport, as either end printed them: one for each channel.
    ``source_nics`` and ``target_nics`` are NCCL's numbers of the NICs at the two ends. A host is None if no line of
    that rank was seen.
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

    ``channel`` is the first of these channels, ``channels`` how many there are; both are None where the order was put
    together from what each rank printed of its neighbours. ``whole``: all ranks of the communicator are in it.
    """

    order: tuple[int, ...]
    channel: int | None = None
    channels: int | None = None
    whole: bool = False


class Wiring(Fact, frozen=True, kw_only=True):
    """The connections of a communicator and its rings (derived, `ncdiag.facts.vocabulary.wiring`).

    ``communicator`` is its id; None: no line tells it, and the lines of all those of equal ``nranks`` are here, with
    ``mixed`` where they are of more than one: a number of a rank is then that of several ranks.
    """

    communicator: str | None = None
    nranks: int | None = None
    mixed: bool = False
    wires: tuple[Wire, ...] = ()
    rings: tuple[Ring, ...] = ()
