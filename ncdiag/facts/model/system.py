"""A host's software and limits."""

from __future__ import annotations

import msgspec

from ncdiag.facts.model.base import Fact, HostName
from ncdiag.facts.scalars import VersionRange


class KernelModule(Fact, frozen=True, kw_only=True):
    """A loaded kernel module; ``used_by`` is its use count, ``users`` are the modules among what uses it."""

    KEY = ("name",)

    host: HostName
    name: str
    size: int | None = None
    used_by: int | None = None
    users: tuple[str, ...] | None = None


class Mount(Fact, frozen=True, kw_only=True):
    """A mounted file system; sizes in bytes. ``device`` is its device number: two mounts that share it are one."""

    KEY = ("path",)

    host: HostName
    path: str
    filesystem: str | None = None
    fstype: str | None = None
    device: int | None = None
    size_bytes: int | None = None
    used_bytes: int | None = None
    available_bytes: int | None = None


class Limit(Fact, frozen=True, kw_only=True):
    """A resource limit (``memlock``, ``nofile``, ``stack``, ``nproc``).

    ``soft`` in bytes or a count; None with ``unlimited``.
    """

    KEY = ("name",)

    host: HostName
    name: str
    soft: int | None = None
    unlimited: bool | None = None
    hard: int | None = None
    hard_unlimited: bool | None = None


class Service(Fact, frozen=True, kw_only=True):
    """A systemd unit; ``active`` as systemctl says, ``version`` where known."""

    KEY = ("name",)

    host: HostName
    name: str
    active: bool | None = None
    version: str | None = None


class ProcessCpus(msgspec.Struct, frozen=True, omit_defaults=True):
    """The processors that a process may use, as the kernel lists them (``0-31,64-95``)."""

    pid: int
    cpus: str


class IdleState(msgspec.Struct, frozen=True, omit_defaults=True):
    """A state in which an idle processor sleeps: ``latency_us`` is what it takes to wake up from it, in microseconds.

    ``used``: the first processor was in it since the start; ``disabled``: it is not entered any more.
    """

    name: str
    latency_us: int | None = None
    disabled: bool | None = None
    used: bool | None = None


class Library(Fact, frozen=True, kw_only=True):
    """A shared library that a program could load; ``loaded``: the process in question has done so."""

    KEY = ("path",)

    host: HostName
    path: str
    version: VersionRange | None = None
    loaded: bool | None = None
