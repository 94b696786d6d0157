"""Which NICs serve a GPU, and whether a ring may enter by one NIC and leave by another.

Source: ncclTopoGetLocal and ncclTopoGetLocalNetType, src/graph/topo.cc (v2.30.7-1) and ncclTopoGetLocalNet of the tags
since v2.12.7-1; ncclTopoCompute, src/graph/search.cc:1080 and 1236, for NCCL_CROSS_NIC.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from ncdiag.facts.scalars import Version, VersionRange
from ncdiag.nccl import versions
from ncdiag.nccl.selection import distances as known_distances
from ncdiag.nccl.selection.distances import Distances, nearest
from ncdiag.nccl.selection.graph import Node, Path
from ncdiag.nccl.selection.reasons import Reason, source
from ncdiag.nccl.selection.values import Settings, number

BEGAN = Version(2, 12)
CROSS_NIC = Version(2, 5)
CHANGES = (CROSS_NIC, BEGAN, *known_distances.CHANGES)
_CROSSING = {
    0: "rings and trees stay on one NIC number, and so does send/recv",
    1: "rings and trees may come in by one NIC and go out by another",
    2: "the search first tries without crossing, and lets rings and trees cross if that is faster",
}


class Nics(msgspec.Struct, frozen=True):
    """The nearest NICs of each GPU (``GPU0``), in NCCL's order; a GPU whose distances were not seen is left out."""

    by_gpu: dict[str, tuple[str, ...]]
    cross_nic: int | None = None
    reasons: tuple[Reason, ...] = ()


def nics(
    seen: Distances | None, names: Sequence[str], settings: Settings, version: Version | VersionRange | None
) -> Nics:
    """Return the NICs that serve each GPU; ``names`` are the network devices that NCCL uses, in its order.

    For a version range or None, the result is known where all its releases agree.
    """
    if not names:
        return Nics({})
    answers = [_at(seen, names, settings, exact) for exact in versions.samples(version, CHANGES)]
    last = answers[-1]
    same = {gpu: found for gpu, found in last.by_gpu.items() if all(a.by_gpu.get(gpu) == found for a in answers)}
    cross = last.cross_nic if all(a.cross_nic == last.cross_nic for a in answers) else None
    return Nics(same, cross, last.reasons)


def _at(seen: Distances | None, names: Sequence[str], settings: Settings, version: Version) -> Nics:
    found: dict[str, tuple[str, ...]] = {}
    reasons: list[Reason] = []
    for gpu in seen.gpus if seen is not None else ():
        best = _nearest(seen, gpu, names, version)
        if best is not None and seen is not None:
            found[gpu] = tuple(best)
            far = seen.to_net(gpu, best[0], version)
            text = f"{', '.join(best)}: {'nearest' if len(names) > 1 else 'the only NIC'}, {far} (from {seen.source})"
            reasons.append(Reason(gpu, text, "the widest, then the nearest path", source("nics", version)))
    cross, why = _crossing(len(names), settings, version)
    return Nics(found, cross, (*reasons, why))


def _nearest(seen: Distances | None, gpu: str, names: Sequence[str], version: Version) -> list[str] | None:
    """The NICs with the widest and nearest path; by distance alone where speeds are unknown.

    None when no path was seen.
    """
    if seen is None:
        return None
    routes = [(Node("net", name), seen.path(Node("gpu", gpu), Node("net", name), version)) for name in names]
    known = [(node, path) for node, path in routes if path is not None]
    if len(known) < len(names):
        types = [(name, seen.to_net(gpu, name, version)) for name in names]
        known = [(Node("net", name), Path(found, 0.0, 0)) for name, found in types if found is not None]
    return [node.name for node in nearest(known, version)] if len(known) == len(names) else None


def _crossing(count: int, settings: Settings, version: Version) -> tuple[int | None, Reason]:
    """The value of NCCL_CROSS_NIC in force, and the reason; 0 with a single NIC."""
    place = source("cross nic", version)
    if version < CROSS_NIC:
        return None, Reason("", "this version has no NCCL_CROSS_NIC (2.5 and later)", "NCCL_CROSS_NIC", place)
    if count <= 1:
        return 0, Reason("", "with one NIC, crossing is not possible", "number of NICs", place)
    value = number(settings, "NCCL_CROSS_NIC", version)
    if value is None:
        return None, Reason("", "whether NCCL_CROSS_NIC is set is not known", "NCCL_CROSS_NIC", place)
    given = "set" if settings.get("NCCL_CROSS_NIC") else "the default"
    text = f"{_CROSSING.get(value, 'rings do not cross unless the value is 1 or 2')} ({given})"
    return value, Reason("", text, f"NCCL_CROSS_NIC={value}", place)
