"""Predict what NCCL would choose on each host, for one or several releases."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from ncdiag.facts.model import Host, Port
from ncdiag.facts.model.declared import is_closed
from ncdiag.facts.scalars import Version
from ncdiag.facts.view import View
from ncdiag.nccl.on_host import chosen
from ncdiag.nccl.on_host.chosen import AnyVersion
from ncdiag.nccl.on_host.compare import Comparison, compared, own_settings
from ncdiag.nccl.on_host.in_force import in_force
from ncdiag.nccl.on_host.reach import reach
from ncdiag.nccl.selection.devices import Devices, label
from ncdiag.nccl.selection.network import IB
from ncdiag.nccl.selection.reasons import Reason

GIVES_UP = "NCCL gives up: "
"""The beginning of a reason after which NCCL fails for lack of choices."""
_UNLIKE = "the log shows something else: "


class Step(msgspec.Struct, frozen=True):
    """A reason, with the ``choice`` that it belongs to: a field of `Chosen`."""

    choice: str
    about: str
    text: str
    rule: str
    source: str


class Gdr(msgspec.Struct, frozen=True):
    """GPUDirect RDMA of a port: ``enabled`` is None if unknown, ``why`` is a part of a sentence."""

    enabled: bool | None
    why: str


class Chosen(msgspec.Struct, frozen=True):
    """The predicted choices; None means unknown, or none where ``reasons`` say so. Ports are written ``mlx5_0:1``.

    ``nics`` are the nearest NICs of each GPU (``GPU0``), ``local`` the transports of pairs of GPUs (``GPU0-GPU1``).
    """

    bootstrap_interface: str | None
    socket_interfaces: tuple[str, ...] | None
    net: str | None
    ib_devices: tuple[str, ...] | None
    gid: dict[str, int | None]
    gdr: dict[str, Gdr]
    nics: dict[str, tuple[str, ...]]
    local: dict[str, str | None]
    reasons: tuple[Step, ...]


class OfRank(msgspec.Struct, frozen=True):
    """The choice of a rank that differs from that of its host."""

    rank: int | None
    chosen: Chosen


class Prediction(msgspec.Struct, frozen=True):
    """The choices on a host with one release; ``nccl_version`` is None where the release is unknown.

    ``known_defects`` are those of the release that the host meets, as sentences.
    """

    host: str
    nccl_version: str | None
    chosen: Chosen
    ranks: tuple[OfRank, ...]
    known_defects: tuple[str, ...] = ()


def predict(
    view: View, releases: Sequence[Version] = (), env: Mapping[str, str] | None = None
) -> tuple[Prediction, ...]:
    """Return the choices on every host in the facts, release by release; without ``releases`` for the known release.

    ``env`` are variables to set in addition ("what if"); variables that are not in the input count as unset.
    """
    found = []
    for host in view.job.hosts:
        versions: Sequence[AnyVersion] = releases or (view.version(host),)
        found += [predict_host(host, view, version, env or {}) for version in versions]
    if releases or env:  # what if: the log cannot show it
        return tuple(found)
    unlike = [one for one in compared(view) if one.predicted != one.logged]
    return tuple(_with_differences(one, [other for other in unlike if other.host == one.host]) for one in found)


def _with_differences(prediction: Prediction, unlike: Sequence[Comparison]) -> Prediction:
    """The prediction, with the differences from the log among its reasons."""
    steps = [
        Step(one.choice, _who(one), f"{_UNLIKE}{one.logged} where {one.predicted} is predicted", "log", "")
        for one in unlike
    ]
    told = (*prediction.chosen.reasons, *steps)
    return msgspec.structs.replace(prediction, chosen=msgspec.structs.replace(prediction.chosen, reasons=told))


def _who(one: Comparison) -> str:
    """The rank and port of a comparison: ``rank 3``, ``rank 3 mlx5_0:1`` or an empty text."""
    return " ".join(part for part in ("" if one.rank is None else f"rank {one.rank}", one.about) if part)


def predict_host(host: Host, view: View, version: AnyVersion, env: Mapping[str, str] | None = None) -> Prediction:
    """Return the choices on one host with one release, or with all of a range; ``env`` as for `predict`."""
    env = env or {}
    told = in_force(host, view, version, env)
    base = told.values
    usual = choose(host, view, base, version)
    known = {frozenset(base.items()): usual}
    usual = msgspec.structs.replace(usual, reasons=(*_steps("settings", told.reasons), *usual.reasons))
    ranks = []
    for rank in view.ranks_on(host.name):
        mine = {**base, **own_settings(rank), **env}
        key = frozenset(mine.items())
        if key not in known:  # ranks with equal settings make the same choice
            known[key] = choose(host, view, mine, version)
        if _differ(known[key], usual):
            ranks.append(OfRank(rank.rank, known[key]))
    return Prediction(host.name, None if version is None else str(version), usual, tuple(ranks))


def _differ(one: Chosen, other: Chosen) -> bool:
    return msgspec.structs.replace(one, reasons=()) != msgspec.structs.replace(other, reasons=())


def choose(host: Host, view: View, settings: Mapping[str, str], version: AnyVersion) -> Chosen:
    """Return all choices of one host with these settings."""
    found = chosen.of_host(host, view, settings, version)
    boot, data, ports, net = found.sockets.bootstrap, found.sockets.data, found.ports, found.net
    steps = [
        *_assumed(host),
        *_steps("bootstrap_interface", boot.reasons),
        *_given_up("bootstrap_interface", boot.error),
        *_steps("socket_interfaces", data.reasons),
        *_steps("ib_devices", ports.reasons),
        *_steps("net", net.reasons),
    ]
    candidates = _candidates(host, ports) if IB in {net.name, *net.possible} else ()
    known = reach(host, view, settings, version, found, [port.hca for port in candidates])
    gids: dict[str, int | None] = {}
    direct: dict[str, Gdr] = {}
    for port in candidates:
        name = label(port)
        choice = chosen.gid(port, view, settings, version)
        gids[name] = choice.index
        verdict = known.direct[port.hca]
        direct[name] = Gdr(verdict.enabled, verdict.why)
        steps += [*_steps("gid", choice.reasons, f"{name} entry "), *_steps("gdr", verdict.reasons)]
    steps += [*_steps("nics", known.nics.reasons), *_steps("p2p", known.local.reasons)]
    return Chosen(
        bootstrap_interface=boot.names[0] if boot.known and boot.names else None,
        socket_interfaces=data.names if data.known else None,
        net=net.name,
        ib_devices=ports.names if ports.known else None,
        gid=gids,
        gdr=direct,
        nics=known.nics.by_gpu,
        local={f"{pair.a}-{pair.b}": pair.transport for pair in known.local.pairs},
        reasons=tuple(dict.fromkeys(steps)),
    )


def _candidates(host: Host, found: Devices) -> tuple[Port, ...]:
    """The ports that NCCL certainly uses, then those that it may use and whose GIDs were seen."""
    open_ = (port for hca in host.hcas for port in hca.ports if port.gids and label(port) in found.possible)
    return (*found.ports, *open_)


def _given_up(choice: str, error: str | None) -> list[Step]:
    return [Step(choice, "", f"{GIVES_UP}{error}", "no interface is left", "")] if error else []


def _assumed(host: Host) -> list[Step]:
    """The assumptions that the prediction makes."""
    if is_closed(host, "settings"):
        return []
    return [Step("settings", "", "variables that were not seen are assumed to be unset", "not known", "")]


def _steps(choice: str, reasons: Sequence[Reason], prefix: str = "") -> list[Step]:
    return [Step(choice, f"{prefix}{reason.about}".strip(), reason.text, reason.rule, reason.source)
            for reason in reasons]  # fmt: skip
