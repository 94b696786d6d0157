"""The facts of a job after a fix: its settings changed, and what they decide simulated where that is possible.

The failed run printed its interface, GID entry or path. A fix that changes one of these makes the printed value wrong:
NCCL's choice replaces it where it can be simulated, otherwise it is unknown. Lines that report a failure are left out,
because they belong to the failed run.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

import msgspec

from ncdiag.facts.model import FAILURES, GidUse, Host, Interface, Job, Launch, Rank, Setting
from ncdiag.facts.view import View
from ncdiag.facts.vocabulary.job import is_multi_host
from ncdiag.fixes.proofs import devices, gdr, gids, local, rails, sockets
from ncdiag.fixes.proofs.outcome import Change, settings
from ncdiag.nccl import environment
from ncdiag.nccl.on_host import chosen, seen
from ncdiag.nccl.selection.sockets import Choice

_SEVERAL = 2
"""The number of hosts of a job that is known to have several, while their number is not known."""
_PATHS: dict[str, Any] = {"gdr": (), "transports": None, "net_ways": {}, "nics_used": None, "nic_distances": None}
_SHOWN_BY = (
    (sockets.VARIABLES, "ip -br addr (on every host)"), (gids.VARIABLES, "show_gids (on every host)"),
    (devices.VARIABLES, "ibstat (on every host)"), (gdr.VARIABLES | local.VARIABLES, "nvidia-smi topo -m"),
)  # fmt: skip
"""The output that shows what NCCL can choose from."""
_DECIDES: tuple[tuple[frozenset[str], dict[str, Any]], ...] = (
    (sockets.VARIABLES, {"bootstrap_interface": None, "oob_interface": None, "socket_interfaces": None}),
    (gids.VARIABLES, {"gids_used": ()}),
    (devices.VARIABLES, {
        "net": None, "net_plugin": None, "net_devices": None, "net_devices_partial": None, "gids_used": (), **_PATHS,
    }),
    (gdr.VARIABLES | local.VARIABLES | rails.VARIABLES, _PATHS),
)  # fmt: skip
"""What a rank prints about the choice that these variables decide: its fields, each with the value for unknown."""


def decides(names: Collection[str]) -> bool:
    """True if the effect of one of the variables on the facts is modelled."""
    return any(not variables.isdisjoint(names) for variables, _ in _DECIDES)


def asks_for(names: Collection[str]) -> tuple[str, ...]:
    """The commands whose output shows among which things these variables choose."""
    return tuple(command for variables, command in _SHOWN_BY if not variables.isdisjoint(names))


def applied(view: View, change: Change) -> View:
    """The state of the job after a change of variables on all hosts."""
    return _changed(view, change, sets=True, simulates=True)


def only_set(view: View, change: Change) -> View:
    """The state in which the variables are changed, and nothing is known of what they decide.

    A rule that fires here reads the variables alone.
    """
    return _changed(view, change, sets=True, simulates=False)


def undecided(view: View, change: Change) -> View:
    """The state in which nothing is known of the variables of a change, and of what they decide.

    A rule that fires here does not read what the change is about.
    """
    return _changed(view, change, sets=False, simulates=False)


def _changed(view: View, change: Change, *, sets: bool, simulates: bool) -> View:
    job, names = view.job, {*change.env, *change.unset}
    hosts = tuple(_host(host, change, view, sets=sets) for host in job.hosts)
    ranks = tuple(_rank(rank, change, view, sets=sets, simulates=simulates) for rank in job.ranks)
    own = [setting for host in hosts for name, setting in host.settings.items() if name in change.env]
    own += [setting for rank in ranks for name, setting in rank.settings.items() if name in change.env]
    if sets and not own:
        own = [setting for setting in _settings(change, view, None).values() if setting.is_set]
    changed = msgspec.structs.replace(
        job, hosts=hosts, ranks=ranks, settings=(*(s for s in job.settings if s.name not in names), *own),
        launches=tuple(_launch(launch, change, sets=sets) for launch in job.launches), timeouts=(),
        events=tuple(event for event in job.events if event.kind not in FAILURES), nhosts=_nhosts(job, view),
    )  # fmt: skip
    return View(changed, environment.resolve_fields)


def _nhosts(job: Job, view: View) -> int | None:
    """The number of hosts; events that are left out may have been all that shows that there are several."""
    if job.nhosts is not None:
        return job.nhosts
    several = is_multi_host(job, view)
    return None if several is None else _SEVERAL if several else 1


def _host(host: Host, change: Change, view: View, *, sets: bool) -> Host:
    names = {*change.env, *change.unset}
    conf = {name: setting for name, setting in host.conf_settings.items() if name not in names}
    kept = {name: setting for name, setting in host.settings.items() if name not in names}
    new = _settings(change, view, host.name) if sets else {}
    return msgspec.structs.replace(host, settings={**kept, **new}, conf_settings=conf)


def _rank(rank: Rank, change: Change, view: View, *, sets: bool, simulates: bool) -> Rank:
    names = {*change.env, *change.unset}
    own = {name: setting for name, setting in rank.settings.items() if name not in names}
    fields: dict[str, Any] = {"settings": own}
    for variables, decided in _DECIDES:
        if not variables.isdisjoint(names):
            fields |= decided
    if sets:
        fields["settings"] = {**own, **_settings(change, view, rank.host)}
    if simulates:
        fields |= _simulated(rank, change, view, fields)
    return msgspec.structs.replace(rank, **fields)


def _settings(change: Change, view: View, host: str | None) -> dict[str, Setting]:
    """The settings that the change makes on a host; None for the job as a whole."""
    version = view.version(view.host(host))
    found = {
        name: Setting(name=name, host=host, is_set=True, text=text, **_resolved(name, text, version))
        for name, text in change.env.items()
    }
    for name in change.unset:
        found[name] = Setting(name=name, host=host, is_set=False, **_resolved(name, None, version))
    return found


def _resolved(name: str, text: str | None, version: Any) -> dict[str, Any]:  # noqa: ANN401
    return environment.resolve_fields(name, text, version)


def _launch(launch: Launch, change: Change, *, sets: bool) -> Launch:
    """The launch with the variables that it set itself in their new state, given to the ranks of all hosts."""
    names = {*change.env, *change.unset}.intersection((*launch.env, *launch.prefix_env))
    if not names:
        return launch
    env, prefix = (
        {name: text for name, text in given.items() if name not in names} for given in (launch.env, launch.prefix_env)
    )
    new = {name: text for name, text in change.env.items() if name in names} if sets else {}
    return msgspec.structs.replace(launch, env={**env, **new}, prefix_env=prefix)


def _simulated(rank: Rank, change: Change, view: View, fields: Mapping[str, Any]) -> dict[str, Any]:
    """The choices of NCCL that follow from the change, for the fields that a rank printed before."""
    host = view.host(rank.host)
    if host is None:
        return {}
    after, version, found = settings(view, rank.host, change), view.version(host), dict[str, Any]()
    if "bootstrap_interface" in fields:
        taken = chosen.interfaces(host, view, after, version)
        by_name = {interface.name: interface for interface in seen.with_loopback(seen.interfaces(host.name, view))}
        found["bootstrap_interface"] = next(iter(_named(taken.bootstrap, by_name)), None)
        if rank.socket_interfaces is not None:
            found["socket_interfaces"] = _named(taken.data, by_name) or None
        if rank.oob_interface is not None:
            found["oob_interface"] = next(iter(_named(taken.oob, by_name)), None)
    if "net" in fields:
        net = chosen.of_host(host, view, after, version).net
        found["net"] = net.name if net.known else None
    if "gids_used" in fields:
        found["gids_used"] = tuple(
            GidUse(hca=port.hca, port=port.number, index=choice.index, local_gid=choice.entry.address)
            for device in host.hcas for port in device.ports
            if (choice := chosen.gid(port, view, after, version)).known and choice.entry is not None
        )  # fmt: skip
    return found


def _named(choice: Choice, by_name: Mapping[str, Interface]) -> tuple[Interface, ...]:
    """The interfaces of a choice; none where it is not certain."""
    return tuple(by_name[name] for name in choice.names if name in by_name) if choice.known else ()
