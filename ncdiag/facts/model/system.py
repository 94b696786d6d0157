"""Software and resource limits of a host."""

from __future__ import annotations

from typing import Annotated

import msgspec

from ncdiag.facts.model.base import Fact, HostName
from ncdiag.facts.model.marks import BY_NAME
from ncdiag.facts.scalars import VersionRange


class KernelModule(Fact, frozen=True, kw_only=True):
    """A loaded kernel module; ``used_by`` is its use count, ``users`` are the modules that use it."""

    KEY = ("name",)

    host: HostName
    name: str
    size: int | None = None
    used_by: int | None = None
    users: tuple[str, ...] | None = None


class Mount(Fact, frozen=True, kw_only=True):
    """A mounted file system; sizes in bytes. Two mounts with the same ``device`` number are the same file system."""

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


UNNAMED_UNIT = "<unit>"
"""The name given to a systemd unit if its settings were pasted without the path of its file."""


class Service(Fact, frozen=True, kw_only=True):
    """A systemd unit; ``active`` is the state that systemctl reports, ``version`` the release where known.

    ``limits`` are its resource limits, as ``systemctl show`` prints them (``LimitMEMLOCK``: ``8388608``).
    ``unit_file``: was its file shown, where a missing limit is the default? ``runs`` is the command that it starts.
    ``kill_mode`` says what ends with the unit: ``process`` is its main process alone (systemd.kill(5)).
    ``sandbox`` says what is hidden from the unit (``RestrictAddressFamilies``: ``AF_UNIX AF_INET``). ``installed`` is
    False where systemctl does not find the unit.
    """

    KEY = ("name",)

    host: HostName
    name: str
    active: bool | None = None
    installed: bool | None = None
    version: str | None = None
    limits: Annotated[dict[str, str] | None, BY_NAME] = None
    unit_file: bool | None = None
    runs: str | None = None
    sandbox: Annotated[dict[str, str] | None, BY_NAME] = None
    kill_mode: str | None = None


class ProcessCpus(msgspec.Struct, frozen=True, omit_defaults=True):
    """The processors that a process may use, as the kernel lists them (``0-31,64-95``)."""

    pid: int
    cpus: str


class IdleState(msgspec.Struct, frozen=True, omit_defaults=True):
    """An idle state of the processors; ``latency_us`` is the time to wake up from it, in microseconds.

    ``used``: has the first processor been in it since the system started? ``disabled``: the kernel does not enter it.
    """

    name: str
    latency_us: int | None = None
    disabled: bool | None = None
    used: bool | None = None


class Library(Fact, frozen=True, kw_only=True):
    """A shared library that a program could load; ``loaded``: has the process in question loaded it?"""

    KEY = ("path",)

    host: HostName
    path: str
    version: VersionRange | None = None
    loaded: bool | None = None
