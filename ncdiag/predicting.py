"""What NCCL would choose on each host: the selection functions over the facts, for one or several releases."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import msgspec

from ncdiag.facts.model import COLLECTION_KINDS, Host, Rank
from ncdiag.facts.scalars import Version
from ncdiag.facts.view import View
from ncdiag.fixes import chosen
from ncdiag.fixes.chosen import AnyVersion
from ncdiag.nccl.derive.filters import settings_of
from ncdiag.nccl.selection.devices import label
from ncdiag.nccl.selection.gdr import gdr
from ncdiag.nccl.selection.gid import gid_index
from ncdiag.nccl.selection.network import IB
from ncdiag.nccl.selection.reasons import Reason
from ncdiag.nccl.versions import BOOTSTRAP_LIST

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
    """What is chosen; None is not known, or none where ``reasons`` say so. The ports are written ``mlx5_0:1``."""

    bootstrap_interface: str | None
    socket_interfaces: tuple[str, ...] | None
    net: str | None
    ib_devices: tuple[str, ...] | None
    gid: dict[str, int | None]
    gdr: dict[str, Gdr]
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
    hint = "an old conf file, another view inside a container or a plugin would explain it"
    steps = [
        Step(one.choice, "" if one.rank is None else f"rank {one.rank}", f"{_UNLIKE}{one.logged}; {hint}", "log", "")
        for one in unlike
    ]
    told = (*prediction.chosen.reasons, *steps)
    return msgspec.structs.replace(prediction, chosen=msgspec.structs.replace(prediction.chosen, reasons=told))


def _host(view: View, host: Host, version: AnyVersion, env: Mapping[str, str]) -> Prediction:
    base = {**settings_of(host, view), **env}
    known = {frozenset(base.items()): choose(view, host, base, version)}
    usual = known[frozenset(base.items())]
    ranks = []
    for rank in view.ranks_on(host.name):
        mine = {**base, **_own(rank), **env}
        key = frozenset(mine.items())
        if key not in known:  # ranks with equal settings choose alike
            known[key] = choose(view, host, mine, version)
        if _differ(known[key], usual):
            ranks.append(OfRank(rank.rank, known[key]))
    return Prediction(host.name, None if version is None else str(version), usual, tuple(ranks))


def _own(rank: Rank) -> dict[str, str]:
    """The NCCL variables that the rank's own process told."""
    return {
        name: setting.text for name, setting in rank.settings.items()
        if name.startswith("NCCL_") and setting.is_set and setting.text is not None
    }  # fmt: skip


def _differ(one: Chosen, other: Chosen) -> bool:
    return msgspec.structs.replace(one, reasons=()) != msgspec.structs.replace(other, reasons=())


class Comparison(msgspec.Struct, frozen=True):
    """A choice that a rank's log shows, beside the prediction from everything else that is known."""

    host: str
    rank: int | None
    choice: str
    predicted: str
    logged: str


def compared(view: View) -> tuple[Comparison, ...]:
    """Prediction and log wherever both are known, with the settings and the version of each rank.

    A difference means that something is not as the facts say: an old conf file, other interfaces inside the
    container, a plugin.
    """
    found: dict[Comparison, None] = {}
    for host in view.job.hosts:
        base = settings_of(host, view)
        known: dict[tuple[str, frozenset[tuple[str, str]]], chosen.OfHost] = {}
        for rank in view.ranks_on(host.name):
            version = view.version(rank)
            mine = {**base, **_own(rank)}
            key = str(version), frozenset(mine.items())
            if key not in known:
                known[key] = chosen.of_host(view, host, mine, version)
            found.update(dict.fromkeys(_compared(view, host, rank, known[key], mine)))
    return tuple(found)


def _compared(
    view: View, host: Host, rank: Rank, predicted: chosen.OfHost, settings: Mapping[str, str]
) -> Iterator[Comparison]:  # fmt: skip
    boot, data, ports, net = predicted.sockets.bootstrap, predicted.sockets.data, predicted.ports, predicted.net
    where = host.name, rank.rank
    version = view.version(rank)
    tells = version is None or version.high >= BOOTSTRAP_LIST  # older releases list what NET found instead
    if tells and boot.known and boot.names and rank.bootstrap_interface is not None:
        yield Comparison(*where, "bootstrap_interface", boot.names[0], rank.bootstrap_interface.name)
    whole = bool(host.complete & COLLECTION_KINDS["interfaces"])  # else the list is the log's own
    if whole and data.known and rank.socket_interfaces:
        listed = ", ".join(interface.name for interface in rank.socket_interfaces)
        yield Comparison(*where, "socket_interfaces", ", ".join(data.names), listed)
    if net.known and net.name and rank.net is not None:
        yield Comparison(*where, "net", net.name, rank.net)
    if ports.known and rank.net_devices:
        named = {f"{part}:{d.port or 1}" for d in rank.net_devices for part in d.name.replace("_dma", "").split("+")}
        yield Comparison(*where, "ib_devices", ", ".join(sorted(ports.names)), ", ".join(sorted(named)))
    used = {(use.hca, use.port or 1): use.index for use in rank.gids_used if use.hca and use.index is not None}
    for port in (port for hca in host.hcas for port in hca.ports if (port.hca, port.number) in used):
        index = gid_index(port, settings, version).index
        if index is not None:
            yield Comparison(*where, f"gid of {label(port)}", str(index), str(used[port.hca, port.number]))


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
    for port in ports.ports if IB in {net.name, *net.possible} else ():
        name = label(port)
        choice = gid_index(port, settings, version)
        gids[name] = choice.index
        verdict = gdr(host, port.hca, settings, version)
        direct[name] = Gdr(verdict.enabled, verdict.why)
        steps += [*_steps("gid", choice.reasons, f"{name} entry "), *_steps("gdr", verdict.reasons)]
    return Chosen(
        bootstrap_interface=boot.names[0] if boot.known and boot.names else None,
        socket_interfaces=data.names if data.known else None,
        net=net.name,
        ib_devices=ports.names if ports.known else None,
        gid=gids,
        gdr=direct,
        reasons=tuple(dict.fromkeys(steps)),
    )


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
    ("RDMA ports", "ib_devices"), ("GID index", "gid"), ("GPUDirect RDMA", "gdr"),
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
    if field == "gid":
        return ", ".join(f"{port} {_UNKNOWN if index is None else index}" for port, index in value.items()) or "-"
    if field == "gdr":
        words = {True: "yes", False: "no", None: _UNKNOWN}
        return ", ".join(f"{port} {words[verdict.enabled]}" for port, verdict in value.items()) or "-"
    return value if isinstance(value, str) else ", ".join(value) or "none"


def as_json(predictions: Sequence[Prediction]) -> dict[str, object]:
    """The predictions under the names of ``--format json``."""
    return {"hosts": [_flat(one) for one in predictions]}


def _flat(one: Prediction) -> dict[str, object]:
    fields = msgspec.to_builtins(one.chosen)
    ranks = [{"rank": each.rank, **msgspec.to_builtins(each.chosen)} for each in one.ranks]
    reasons = fields.pop("reasons")
    return {"host": one.host, "nccl_version": one.nccl_version, **fields, "ranks": ranks, "reasons": reasons}
