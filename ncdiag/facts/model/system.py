"""A host's software and limits."""

from __future__ import annotations

from ncdiag.facts.model.base import Fact, HostName
from ncdiag.facts.scalars import VersionRange


class KernelModule(Fact, frozen=True, kw_only=True):
    """A loaded kernel module; ``used_by`` is its use count."""

    host: HostName
    name: str
    size: int | None = None
    used_by: int | None = None


class Mount(Fact, frozen=True, kw_only=True):
    """A mounted file system; sizes in bytes."""

    host: HostName
    path: str
    filesystem: str | None = None
    fstype: str | None = None
    size_bytes: int | None = None
    used_bytes: int | None = None
    available_bytes: int | None = None


class Limit(Fact, frozen=True, kw_only=True):
    """A resource limit (``memlock``, ``nofile``, ``stack``, ``nproc``).

    ``soft`` in bytes or a count; None with ``unlimited``.
    """

    host: HostName
    name: str
    soft: int | None = None
    unlimited: bool | None = None
    hard: int | None = None
    hard_unlimited: bool | None = None


class Service(Fact, frozen=True, kw_only=True):
    """A systemd unit; ``active`` as systemctl says, ``version`` where known."""

    host: HostName
    name: str
    active: bool | None = None
    version: str | None = None


class Library(Fact, frozen=True, kw_only=True):
    """A shared library that a program could load; ``loaded``: the process in question has done so."""

    host: HostName
    path: str
    version: VersionRange | None = None
    loaded: bool | None = None
