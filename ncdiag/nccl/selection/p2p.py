"""Which transport NCCL uses between two GPUs of a host: P2P, shared memory, or the network.

Source: ncclTopoCheckP2p and ncclTopoCheckNet, src/graph/paths.cc:303-425 and 602-634; shmCanConnect,
src/transport/shm.cc (v2.30.7-1); p2pCanConnect, src/transport/p2p.cc up to v2.5.7-1, and the same in every tag between.
Assumptions: the ranks are on one host with one /dev/shm, and CUDA allows what NVML reports.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import combinations

import msgspec

from ncdiag.facts.model import Host, TopoCpu, TopoLink
from ncdiag.facts.scalars import Version, VersionRange
from ncdiag.nccl import paths, versions
from ncdiag.nccl.numbers import parse_number
from ncdiag.nccl.selection import distances as known_distances
from ncdiag.nccl.selection import graph as graphs
from ncdiag.nccl.selection.distances import Distances
from ncdiag.nccl.selection.graph import Node
from ncdiag.nccl.selection.reasons import Reason, source
from ncdiag.nccl.selection.values import Settings, number

P2P, SHM, NET = "P2P", "SHM", "NET"

_ONE_CPU, _BY_TYPE = Version(2, 5), Version(2, 6)
_INTEL_BRIDGE, _INTEL_SWITCH, _EVERYWHERE = Version(2, 7), Version(2, 9), Version(2, 23)
_NET_TEST = Version(2, 14)
CHANGES = (
    Version(2, 4, 6), _ONE_CPU, _BY_TYPE, _INTEL_BRIDGE, _INTEL_SWITCH, _NET_TEST, _EVERYWHERE,
    *known_distances.CHANGES,
)  # fmt: skip
_DEFAULT = "the default level"
_GRANTED = "the ranks are assumed to share the host's /dev/shm, and CUDA to allow what NVML reports"
_FEW_GPUS = 2
_SKYLAKE = 0x55
"""Intel CPUs of family 6 with at least this model number are newer than Broadwell."""
_STATUS = ("p2p_read", "p2p_write", "p2p_status")


class Pair(msgspec.Struct, frozen=True):
    """Two GPUs with the type of their path and the transport; None where unknown, with the reason in ``why``."""

    a: str
    b: str
    path: str | None
    transport: str | None
    why: str


class Local(msgspec.Struct, frozen=True):
    """The transports between all pairs of GPUs of a host."""

    pairs: tuple[Pair, ...] = ()
    reasons: tuple[Reason, ...] = ()


def local_transports(  # noqa: PLR0913, PLR0917  (what is known)
    host: Host, seen: Distances | None, settings: Settings, version: Version | VersionRange | None,
    cpu: TopoCpu | None = None, direct: Collection[str] = (),
) -> Local:  # fmt: skip
    """Return P2P, SHM or NET for every pair of GPUs.

    ``cpu`` is the processor from a topology file, ``direct`` are the NICs with GPUDirect RDMA. For a version range or
    None, the result is known where all its releases agree.
    """
    if seen is None or len(seen.gpus) <= 1 or not seen.knows_nvlink:
        return Local()
    processor = cpu or TopoCpu(arch=host.cpu_arch, vendor=host.cpu_vendor)
    answers = [_at(host, seen, settings, exact, processor, direct) for exact in versions.samples(version, CHANGES)]
    last = answers[-1]
    pairs = tuple(
        pair if len({(other.transport, other.path) for other in same}) == 1
        else Pair(pair.a, pair.b, None, None, "the answer depends on the NCCL version")
        for pair, same in zip(last.pairs, zip(*(a.pairs for a in answers), strict=True), strict=True)
    )  # fmt: skip
    return Local(pairs, last.reasons)


def level(
    settings: Settings, version: Version, processor: TopoCpu, gpus: int, cpus: int | None = None
) -> tuple[str | None, str]:
    """Return the farthest path type with P2P, and what decided it; None when that is not known.

    ``cpus`` is the number of NUMA nodes. LOC means that P2P is off. Up to 2.5 a number means "nearer than".
    """
    disabled, wanted = settings.get("NCCL_P2P_DISABLE", ""), settings.get("NCCL_P2P_LEVEL", "")
    if disabled is None or wanted is None:
        return None, "NCCL_P2P_DISABLE" if disabled is None else "NCCL_P2P_LEVEL"
    given = paths.parse_level(wanted, version) if wanted else None
    off = parse_number(disabled) == 1
    if given is not None and (version < _BY_TYPE or not off):  # the order of the two types changed with 2.6
        return given, f"NCCL_P2P_LEVEL={wanted}"
    if off:
        return "LOC", "NCCL_P2P_DISABLE=1"
    default = _default(version, processor, gpus, cpus)
    ignored = f" (NCCL_P2P_LEVEL={wanted} is not understood)" if wanted else ""
    return default, f"{_DEFAULT} {default or 'of this release'}{ignored}"


def _default(version: Version, processor: TopoCpu, gpus: int, cpus: int | None) -> str | None:
    """The default level of the release; None where it depends on something that was not seen."""
    if version < _BY_TYPE:  # nearer than SOC, then than NODE; with one CPU since 2.5 nearer than PHB
        alone = None if cpus is None else cpus == 1
        return "PHB" if version < _ONE_CPU or alone is False else None if alone is None else "PXB"
    known = processor.vendor is not None or processor.arch not in {None, "x86_64"}
    if version >= _EVERYWHERE:
        if gpus > _FEW_GPUS or (known and processor.vendor != "AuthenticAMD"):
            return "PXB"
        return "SYS" if known else None
    if processor.arch in {"aarch64", "arm64"}:
        return "PXB"
    if processor.vendor == "GenuineIntel":
        return _intel(version, processor)
    return _of_others(processor) if known else None


def _intel(version: Version, processor: TopoCpu) -> str | None:
    """The level on Intel CPUs: PXB since 2.9; before, Broadwell and older only."""
    if version >= _INTEL_SWITCH:
        return "PXB"
    if processor.model_id is None:
        return None
    newer = processor.model_id >= _SKYLAKE
    return "PXB" if not newer else "PHB" if version >= _INTEL_BRIDGE else "SYS"


def _of_others(processor: TopoCpu) -> str:
    return "PXB" if processor.vendor in {"CentaurHauls", "  Shanghai  "} else "SYS"


class _Limits(msgspec.Struct, frozen=True):
    """What applies to all pairs: the level with what decided it, NCCL_SHM_DISABLE, and the NICs that may be preferred.

    ``by_default``: does the level depend only on the release and the processor?
    """

    level: str | None
    rule: str
    by_default: bool
    shm: int | None
    version: Version
    direct: frozenset[str]


def _at(  # noqa: PLR0913, PLR0917  (what is known)
    host: Host, seen: Distances, settings: Settings, version: Version, processor: TopoCpu, direct: Collection[str]
) -> Local:
    cpus = len(seen.graph.of("cpu")) if seen.graph is not None else None
    limit, rule = level(settings, version, processor, len(seen.gpus), cpus)
    stays_inside = version < _NET_TEST or number(settings, "NCCL_NET_DISABLE_INTRA", version) == 1
    nets = frozenset() if stays_inside else frozenset(direct)
    shm = number(settings, "NCCL_SHM_DISABLE", version)
    limits = _Limits(limit, rule, rule.startswith(_DEFAULT), shm, version, nets)
    status = {(link.a, link.b): link for link in host.links}
    pairs = tuple(
        _pair(one, other, seen, _refused(status.get((one, other)) or status.get((other, one))), limits)
        for one, other in combinations(seen.gpus, 2)
    )
    return Local(pairs, tuple(_reasons(pairs, seen, rule, version)))


def _refused(link: TopoLink | None) -> str:
    """NVML's status against P2P between two GPUs (``CNS``); empty when there is none."""
    words = [getattr(link, name) for name in _STATUS] if link is not None else []
    return next((word for word in words if word not in {None, "OK", "U"}), "")


def _pair(one: str, other: str, seen: Distances, refused: str, limits: _Limits) -> Pair:
    path = seen.between(one, other, limits.version)
    if path is None:
        return Pair(one, other, None, None, "the path between the GPUs was not seen")
    near = _near(path, limits)
    if near is None:
        return Pair(one, other, path, None, f"{path}: how far P2P goes is not known ({limits.rule})")
    why = f"{path} is {'within' if near else 'beyond'} {limits.rule}"
    if near and not refused:
        return Pair(one, other, path, P2P, why)
    if near:
        why = f"{path}, but NVML reports {refused}"
    return Pair(one, other, path, *_without_p2p(one, other, seen, why, limits))


def _without_p2p(one: str, other: str, seen: Distances, why: str, limits: _Limits) -> tuple[str | None, str]:
    """Shared memory or the network, and the reason."""
    if _by_net(one, other, seen, limits):
        return NET, f"{why}; the NICs are faster than the way through the CPU"
    if limits.shm is None:
        return None, f"{why}; whether NCCL_SHM_DISABLE is set is not known"
    return (NET, f"{why}, and NCCL_SHM_DISABLE=1") if limits.shm == 1 else (SHM, why)


def _near(path: str, limits: _Limits) -> bool | None:
    """Is the path within the level? Every default allows switches and nearer paths."""
    limit, version = limits.level, limits.version
    if limit is None and not limits.by_default:
        return None
    if path == "NVL" and version < _BY_TYPE:
        return limit != "LOC"
    if limit is None:
        return paths.is_within(path, "PXB", version) or None
    return paths.is_within(path, limit, version) if limit != "LOC" else path == "LOC"


def _by_net(one: str, other: str, seen: Distances, limits: _Limits) -> bool:
    """Does each of the two GPUs have a NIC behind PCI switches only that is faster than their path through the CPU?"""
    if seen.graph is None or not limits.direct or limits.version < graphs.SIMULATED:
        return False
    reach = [seen.graph.paths(Node("gpu", name), limits.version) for name in (one, other)]
    cpu = max(seen.graph.of("cpu"), key=lambda node: reach[1][node].bw if node in reach[1] else 0.0)
    through = min(found[cpu].bw if cpu in found else 0.0 for found in reach)
    fastest = [
        max((p.bw for n, p in found.items() if n.name in limits.direct and p.type in {"PIX", "PXB"}), default=0.0)
        for found in reach
    ]
    return min(fastest) > through


def _reasons(pairs: Sequence[Pair], seen: Distances, rule: str, version: Version) -> list[Reason]:
    """One reason for all pairs that share a path and a transport."""
    groups: dict[tuple[str | None, str], list[str]] = {}
    for pair in pairs:
        groups.setdefault((pair.transport, pair.why), []).append(f"{pair.a}-{pair.b}")
    found = [Reason("", _GRANTED, "not known", "")] if pairs else []
    for (transport, why), names in groups.items():
        shown = ", ".join(names[:4]) + (f" and {len(names) - 4} more pairs" if len(names) > 4 else "")  # noqa: PLR2004
        place = source("shm" if transport == SHM else "p2p", version)
        found.append(Reason(shown, f"{transport or 'not known'}: {why} (path from {seen.source})", rule, place))
    return found
