"""Resolve the peer that a message names to a host: by host name, or by an address of one of its interfaces."""

from __future__ import annotations

import functools
from collections.abc import Iterator

from ncdiag.facts.model import Interface, Job
from ncdiag.facts.scalars import ip_address


class Peers:
    """Finds hosts of one job by address or name."""

    def __init__(self, job: Job) -> None:
        """Nothing is looked up yet."""
        self._job = job

    def host(self, peer: str) -> str | None:
        """The host of ``10.0.0.5<34567>``, ``[fe80::1]:80``, ``node1.cluster:29500`` or the rank ``3``.

        None if it is unknown. An address that two hosts have, as container bridges do, is ignored.
        """
        text = peer.split("<", 1)[0].strip()
        if text.isdecimal():
            return self._ranks.get(text)
        if text.startswith("["):
            text = text[1:].split("]", 1)[0]
        address = ip_address(text) or ip_address(text.rpartition(":")[0])
        if address is not None:
            return self._addresses.get(str(address))
        return self._names.get(text.partition(":")[0].partition(".")[0])

    @functools.cached_property
    def _ranks(self) -> dict[str, str | None]:
        found: dict[str, str | None] = {}
        for rank in self._job.ranks:
            if found.setdefault(str(rank.rank), rank.host) != rank.host:
                found[str(rank.rank)] = None  # rank numbers of two communicators are ambiguous
        return found

    @functools.cached_property
    def _names(self) -> dict[str, str]:
        hosts = [host.name for host in self._job.hosts] + [rank.host for rank in self._job.ranks]
        return {name.partition(".")[0]: name for name in hosts}

    @functools.cached_property
    def _addresses(self) -> dict[str, str | None]:
        found: dict[str, str | None] = {}
        for interface in self._interfaces():
            for given in interface.addresses or ():
                address = ip_address(given.ip)
                if address is not None and found.setdefault(str(address), interface.host) != interface.host:
                    found[str(address)] = None
        return found

    def _interfaces(self) -> Iterator[Interface]:
        for host in self._job.hosts:
            yield from host.interfaces
        for rank in self._job.ranks:
            yield from rank.socket_interfaces or ()
            yield from (i for i in (rank.bootstrap_interface, rank.oob_interface) if i is not None)
