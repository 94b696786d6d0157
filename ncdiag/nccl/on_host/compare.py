"""Compare the choices that a log shows with those that follow from all other facts.

A difference means that something differs from the facts: a conf file that was changed since, other interfaces or
devices inside the container, a plugin, a variable that the input does not show.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping

import msgspec

from ncdiag.facts.model import Host, Rank
from ncdiag.facts.model.declared import is_closed
from ncdiag.facts.model.job import Choice
from ncdiag.facts.view import View
from ncdiag.nccl import paths
from ncdiag.nccl.on_host import chosen
from ncdiag.nccl.on_host.in_force import AnyVersion, settings_of
from ncdiag.nccl.selection import gdr
from ncdiag.nccl.selection.devices import label
from ncdiag.nccl.versions import BOOTSTRAP_LIST, agreed

_ECHOES = ("process", "log echo")
_IB_FAILED = ("libibverbs-missing", "verbs-symbol-missing", "ib-open-device-failed", "ib-query-device-failed")
"""Messages with which NCCL itself explains why it does not use its IB transport."""

_NO_LEVELS = frozenset({"NET", "DIS"})
"""Path types beyond SYS, which no level denotes; a log that prints them as a limit numbers its paths differently."""


class Comparison(msgspec.Struct, frozen=True):
    """A choice in a rank's log, with the prediction; ``about`` is the port, for a GID index."""

    host: str
    rank: int | None
    choice: Choice
    predicted: str
    logged: str
    about: str = ""


class _Prediction(msgspec.Struct, frozen=True):
    """The choices that follow from one set of variables on a host.

    ``choices`` is None when only the level was requested.
    """

    choices: chosen.OfHost | None
    level: str | None


def compared(view: View, *, logs_alone: bool = True) -> tuple[Comparison, ...]:
    """Return prediction and log wherever both are known, with the settings and the version of each rank.

    ``logs_alone`` False leaves out interfaces and devices of hosts about which only their log is known.
    """
    found: dict[Comparison, None] = {}
    known: dict[tuple[str | None, str, frozenset[tuple[str, str]]], _Prediction] = {}
    for host in view.job.hosts:
        base = settings_of(host, view)
        whole = logs_alone or bool(host.complete or host.hcas)
        for rank in view.ranks_on(host.name):
            if rank.library == "RCCL":
                continue  # another library, with different rules and releases
            version = view.version(rank)
            mine = {**base, **own_settings(rank)}
            key = host.name if whole else None, str(version), frozenset(mine.items())
            if key not in known:
                choices = chosen.of_host(host, view, mine, version) if whole else None
                known[key] = _Prediction(choices, _level(mine, version))
            found.update(dict.fromkeys(_compared(host, view, rank, known[key], mine)))
    return tuple(found)


def _level(settings: Mapping[str, str], version: AnyVersion) -> str | None:
    return agreed(version, (*paths.CHANGES, *gdr.CHANGES), lambda exact: gdr.level(settings, exact)[0])


def own_settings(rank: Rank) -> dict[str, str]:
    """Return the NCCL variables that the rank's own process printed."""
    return {
        name: setting.text for name, setting in rank.settings.items()
        if name.startswith("NCCL_") and setting.is_set and setting.text is not None
    }  # fmt: skip


def _compared(
    host: Host, view: View, rank: Rank, predicted: _Prediction, settings: Mapping[str, str]
) -> Iterator[Comparison]:  # fmt: skip
    where = host.name, rank.rank
    found = [_of_files(host, rank)]
    if predicted.choices is not None:
        found += [_interfaces(host, view, rank, predicted.choices), _devices(rank, view, predicted.choices)]
    for choice, mine, logged in itertools.chain.from_iterable(found):
        yield Comparison(*where, choice, mine, logged)
    version = view.version(rank)
    used = {(use.hca, use.port or 1): use.index for use in rank.gids_used if use.hca and use.index is not None}
    for port in (port for hca in host.hcas for port in hca.ports if (port.hca, port.number) in used):
        index = chosen.gid(port, view, settings, version).index
        if index is not None:
            yield Comparison(*where, "GID index", str(index), str(used[port.hca, port.number]), label(port))
    printed = {verdict.limit for verdict in rank.gdr if verdict.limit is not None}
    told = paths.path_type(printed.pop(), version) if len(printed) == 1 else None
    if predicted.level is not None and told is not None and told not in _NO_LEVELS:
        yield Comparison(*where, "GPUDirect RDMA level", predicted.level, told)


def _of_files(host: Host, rank: Rank) -> Iterator[tuple[Choice, str, str]]:
    """Variables that only a conf file can have set: the environment was seen whole and does not contain them."""
    for name, held in host.conf_settings.items() if is_closed(host, "settings") else ():
        echoed = rank.settings.get(name)
        shown = host.settings.get(name)
        by_file = shown is None or shown.origin in _ECHOES
        if by_file and echoed is not None and echoed.text is not None and held.text is not None:
            yield "setting", f"{name}={held.text}", f"{name}={echoed.text}"


def _interfaces(host: Host, view: View, rank: Rank, predicted: chosen.OfHost) -> Iterator[tuple[Choice, str, str]]:
    boot, data = predicted.sockets.bootstrap, predicted.sockets.data
    version = view.version(rank)
    tells = version is None or version.high >= BOOTSTRAP_LIST  # older releases list the devices of NET instead
    if tells and boot.known and boot.names and rank.bootstrap_interface is not None:
        yield "bootstrap interface", boot.names[0], rank.bootstrap_interface.name
    whole = is_closed(host, "interfaces")  # else the prediction would be based on the same log
    if whole and data.known and rank.socket_interfaces:
        listed = ", ".join(interface.name for interface in rank.socket_interfaces)
        yield "socket interfaces", ", ".join(data.names), listed


def _devices(rank: Rank, view: View, predicted: chosen.OfHost) -> Iterator[tuple[Choice, str, str]]:
    ports, net = predicted.ports, predicted.net
    if net.known and net.name and rank.net is not None and not view.events_on(rank.host, _IB_FAILED):
        yield "network", net.name, rank.net
    if ports.known and rank.net_devices:
        named = {f"{part}:{d.port or 1}" for d in rank.net_devices for part in d.name.replace("_dma", "").split("+")}
        yield "RDMA ports", ", ".join(sorted(ports.names)), ", ".join(sorted(named))
