"""What NCCL would choose on each host: the selection functions over the facts, for one or several releases."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import msgspec

from ncdiag.facts.model import Host, Port
from ncdiag.facts.scalars import Version
from ncdiag.facts.view import View
from ncdiag.nccl.on_host import chosen
from ncdiag.nccl.on_host.chosen import AnyVersion
from ncdiag.nccl.on_host.compare import Comparison, compared, own_settings
from ncdiag.nccl.on_host.in_force import in_force
from ncdiag.nccl.selection.devices import Devices, label
from ncdiag.nccl.selection.gdr import gdr
from ncdiag.nccl.selection.network import IB
from ncdiag.nccl.selection.nics import nics
from ncdiag.nccl.selection.p2p import local_transports
from ncdiag.nccl.selection.reasons import Reason

_GIVES_UP = "NCCL gives up: "
_UNLIKE = "the log shows something else: "


class Step(msgspec.Struct, frozen=True):
    """A reason, with the ``choice`` that it belongs to: a field of `Chosen`."""

    choice: str
    about: str
    text: str
    rule: str
    source: str


class Gdr(msgspec.Struct, frozen=True):
    """GPUDirect RDMA of a port: ``enabled`` None is unknown, ``why`` a sentence part."""

    enabled: bool | None
    why: str


class Chosen(msgspec.Struct, frozen=True):
    """What is chosen; None is not known, or none where ``reasons`` say so. The ports are written ``mlx5_0:1``.

    ``nics`` are the nearest ones of each GPU (``GPU0``), ``local`` the transports of pairs of GPUs (``GPU0-GPU1``).
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
    """The choice on a host by one release; ``nccl_version`` is None where no release is known."""

    host: str
    nccl_version: str | None
    chosen: Chosen
    ranks: tuple[OfRank, ...]


def predict(
    view: View, releases: Sequence[Version] = (), env: Mapping[str, str] | None = None
) -> tuple[Prediction, ...]:
    """The choice on every host that the facts name, release by release; without ``releases`` by the one that is known.

    ``env`` are variables to set besides those that are known ("what if"); variables that nothing tells of count as
    unset.
    """
    found = []
    for host in view.job.hosts:
        versions: Sequence[AnyVersion] = releases or (view.version(host),)
        found += [_host(view, host, version, env or {}) for version in versions]
    if releases or env:  # what if: the log cannot show it
        return tuple(found)
    unlike = [one for one in compared(view) if one.predicted != one.logged]
    return tuple(_with_differences(one, [other for other in unlike if other.host == one.host]) for one in found)


def _with_differences(prediction: Prediction, unlike: Sequence[Comparison]) -> Prediction:
    """The prediction with what the log shows otherwise among its reasons."""
    steps = [
        Step(one.choice, _who(one), f"{_UNLIKE}{one.logged} where {one.predicted} is predicted", "log", "")
        for one in unlike
    ]
    told = (*prediction.chosen.reasons, *steps)
    return msgspec.structs.replace(prediction, chosen=msgspec.structs.replace(prediction.chosen, reasons=told))


def _who(one: Comparison) -> str:
    """``rank 3``, ``rank 3 mlx5_0:1`` or nothing."""
    return " ".join(part for part in ("" if one.rank is None else f"rank {one.rank}", one.about) if part)


def _host(view: View, host: Host, version: AnyVersion, env: Mapping[str, str]) -> Prediction:
    told = in_force(host, view, version, env)
    base = told.values
    usual = choose(view, host, base, version)
    known = {frozenset(base.items()): usual}
    usual = msgspec.structs.replace(usual, reasons=(*_steps("settings", told.reasons), *usual.reasons))
    ranks = []
    for rank in view.ranks_on(host.name):
        mine = {**base, **own_settings(rank), **env}
        key = frozenset(mine.items())
        if key not in known:  # ranks with equal settings choose alike
            known[key] = choose(view, host, mine, version)
        if _differ(known[key], usual):
            ranks.append(OfRank(rank.rank, known[key]))
    return Prediction(host.name, None if version is None else str(version), usual, tuple(ranks))


def _differ(one: Chosen, other: Chosen) -> bool:
    return msgspec.structs.replace(one, reasons=()) != msgspec.structs.replace(other, reasons=())


def choose(view: View, host: Host, settings: Mapping[str, str], version: AnyVersion) -> Chosen:
    """All choices of one host with these settings."""
    found = chosen.of_host(view, host, settings, version)
    boot, data, ports, net = found.sockets.bootstrap, found.sockets.data, found.ports, found.net
    steps = [
        *_assumed(host),
        *_steps("bootstrap_interface", boot.reasons),
        *_given_up("bootstrap_interface", boot.error),
        *_steps("socket_interfaces", data.reasons),
        *_steps("ib_devices", ports.reasons),
        *_steps("net", net.reasons),
    ]
    gids: dict[str, int | None] = {}
    direct: dict[str, Gdr] = {}
    far = chosen.distances_of(view, host, settings, ports)
    for port in _candidates(host, ports) if IB in {net.name, *net.possible} else ():
        name = label(port)
        choice = chosen.gid(view, port, settings, version)
        gids[name] = choice.index
        verdict = gdr(host, port.hca, settings, version, far)
        direct[name] = Gdr(verdict.enabled, verdict.why)
        steps += [*_steps("gid", choice.reasons, f"{name} entry "), *_steps("gdr", verdict.reasons)]
    by_gpu = nics(far, chosen.nic_names(found), settings, version)
    fast = {port.partition(":")[0] for port, verdict in direct.items() if verdict.enabled}
    local = local_transports(host, far, settings, version, chosen.processor_of(view, host), fast)
    steps += [*_steps("nics", by_gpu.reasons), *_steps("p2p", local.reasons)]
    return Chosen(
        bootstrap_interface=boot.names[0] if boot.known and boot.names else None,
        socket_interfaces=data.names if data.known else None,
        net=net.name,
        ib_devices=ports.names if ports.known else None,
        gid=gids,
        gdr=direct,
        nics=by_gpu.by_gpu,
        local={f"{pair.a}-{pair.b}": pair.transport for pair in local.pairs},
        reasons=tuple(dict.fromkeys(steps)),
    )


def _candidates(host: Host, found: Devices) -> tuple[Port, ...]:
    """The ports that NCCL takes for sure, then those that it may take and whose GIDs were seen."""
    open_ = (port for hca in host.hcas for port in hca.ports if port.gids and label(port) in found.possible)
    return (*found.ports, *open_)


def _given_up(choice: str, error: str | None) -> list[Step]:
    return [Step(choice, "", f"{_GIVES_UP}{error}", "no interface is left", "")] if error else []


def _assumed(host: Host) -> list[Step]:
    """What the answer takes for granted."""
    if "env" in host.complete:
        return []
    return [Step("settings", "", "variables that were not seen are taken as unset", "not known", "")]


def _steps(choice: str, reasons: Sequence[Reason], prefix: str = "") -> list[Step]:
    return [Step(choice, f"{prefix}{reason.about}".strip(), reason.text, reason.rule, reason.source)
            for reason in reasons]  # fmt: skip


_ROWS = (
    ("bootstrap interface", "bootstrap_interface"), ("socket interfaces", "socket_interfaces"), ("network", "net"),
    ("RDMA ports", "ib_devices"), ("GID index", "gid"), ("GPUDirect RDMA", "gdr"), ("nearest NICs", "nics"),
    ("between GPUs", "local"),
)  # fmt: skip
_UNKNOWN = "not known"


def as_text(predictions: Sequence[Prediction]) -> str:
    """A table for each host with one column for each release, the ranks that differ, and the reasons."""
    by_host: dict[str, list[Prediction]] = {}
    for one in predictions:
        by_host.setdefault(one.host, []).append(one)
    return "\n".join("".join(f"{line}\n" for line in _told(found)) for found in by_host.values())


def _told(found: Sequence[Prediction]) -> Iterator[str]:
    yield found[0].host
    rows = [("", [f"NCCL {one.nccl_version or 'of an unknown version'}" for one in found])]
    rows += [(words, [_cell(one.chosen, field) for one in found]) for words, field in _ROWS]
    widths = [max(len(cells[column]) for _, cells in rows) for column in range(len(found))]
    for words, cells in rows:
        shown = "  ".join(cell.ljust(width) for cell, width in zip(cells, widths, strict=True))
        yield f"  {words:<20} {shown}".rstrip()
    for one in found:
        for rank in one.ranks:
            differing = ", ".join(
                f"{words} {_cell(rank.chosen, field)}" for words, field in _ROWS
                if getattr(rank.chosen, field) != getattr(one.chosen, field)
            )  # fmt: skip
            yield f"  rank {rank.rank}: {differing}{_with(one, found)}"
    yield "  why"
    told = dict.fromkeys(step for one in found for step in one.chosen.reasons)
    for step in told:
        those = [one for one in found if step in one.chosen.reasons]
        only = "" if len(those) == len(found) else "".join(_with(one, found) for one in those)
        about = f"{step.about}: " if step.about else ""
        by = "; ".join(word for word in (step.rule, step.source) if word)
        yield f"    {step.choice}: {about}{step.text} ({by}){only}"


def _with(one: Prediction, found: Sequence[Prediction]) -> str:
    return f" [{one.nccl_version}]" if len(found) > 1 else ""


def _cell(answer: Chosen, field: str) -> str:
    """A field for people; unknown is said, and nothing is a dash."""
    value = getattr(answer, field)
    if field == "bootstrap_interface" and value is None:
        return "none" if any(step.text.startswith(_GIVES_UP) for step in answer.reasons) else _UNKNOWN
    if value is None:
        return _UNKNOWN
    if field in _WORDED:
        return _WORDED[field](value) or "-"
    return value if isinstance(value, str) else ", ".join(value) or "none"


_YES = {True: "yes", False: "no", None: _UNKNOWN}


def _pairs(transports: Mapping[str, str | None]) -> str:
    """``P2P``, or ``P2P 12, SHM 16`` where pairs differ."""
    counts = Counter(transport or _UNKNOWN for transport in transports.values())
    if len(counts) == 1:
        return next(iter(counts))
    return ", ".join(f"{transport} {count}" for transport, count in counts.items())


_WORDED: dict[str, Callable[[dict[str, Any]], str]] = {
    "gid": lambda held: ", ".join(f"{port} {_UNKNOWN if i is None else i}" for port, i in held.items()),
    "gdr": lambda held: ", ".join(f"{port} {_YES[verdict.enabled]}" for port, verdict in held.items()),
    "nics": lambda held: ", ".join(f"{gpu} {'+'.join(names)}" for gpu, names in held.items()),
    "local": _pairs,
}
"""How the fields that hold something for each port, GPU or pair are told."""


def as_json(predictions: Sequence[Prediction]) -> dict[str, object]:
    """The predictions under the names of ``--format json``."""
    return {"hosts": [_flat(one) for one in predictions]}


def _flat(one: Prediction) -> dict[str, object]:
    fields = _promised(one.chosen)
    ranks = [{"rank": each.rank, **_promised(each.chosen)} for each in one.ranks]
    reasons = fields.pop("reasons")
    return {"host": one.host, "nccl_version": one.nccl_version, **fields, "ranks": ranks, "reasons": reasons}


def _promised(answer: Chosen) -> dict[str, object]:
    """The fields of the JSON form; NICs and local transports stand among the reasons there."""
    fields: dict[str, object] = msgspec.to_builtins(answer)
    return {name: value for name, value in fields.items() if name not in {"nics", "local"}}
