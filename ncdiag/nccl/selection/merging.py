"""Which RDMA ports NCCL merges into one NIC.

Source: ncclIbFindMatchingDev, src/transport/net_ib.cc (v2.20.5-1 to v2.23.4-1); ncclTopoGetVNicParent and
ncclTopoAutoMerge, src/graph/topo.cc:1392-1462 and 1738 (v2.30.7-1), since v2.24.3-1.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from ncdiag.facts.model import Hca, Port
from ncdiag.facts.scalars import Version
from ncdiag.nccl.selection.reasons import Reason
from ncdiag.nccl.selection.values import Settings, number

BEGAN, MIXED_CARDS, BY_TOPOLOGY = Version(2, 20), Version(2, 22), Version(2, 24)
CHANGES = (Version(2, 18), BEGAN, MIXED_CARDS, BY_TOPOLOGY)
SOURCE = "src/graph/topo.cc:1392 (v2.30.7-1)"
SOURCE_OLD = "src/transport/net_ib.cc:166 (v2.20.5-1)"

Nics = tuple[tuple[str, ...], ...]


def nics(
    ports: Sequence[Port], hcas: Mapping[str, Hca], settings: Settings, version: Version
) -> tuple[Nics | None, tuple[Reason, ...]]:
    """Return the ports by NIC, each a tuple of names (``mlx5_0:1``), with reasons; None when a fact is missing.

    ``ports`` are the ports that NCCL uses, in its order.
    """
    single = tuple((f"{port.hca}:{port.number}",) for port in ports)
    source = SOURCE if version >= BY_TOPOLOGY else SOURCE_OLD
    if len(ports) <= 1 or version < BEGAN:
        return single, ()
    verdict, rule = _by_settings(settings, version)
    if verdict is None:
        return None, (Reason("", f"which ports {rule} joins is not simulated", rule, source),)
    if not verdict:
        return single, (Reason("", "ports are not joined", rule, source),)
    cards = [_card(hcas.get(port.hca), settings, version) for port in ports]
    if None in cards:
        lacking = next(port.hca for port, card in zip(ports, cards, strict=True) if card is None)
        text = f"the PCI location of {lacking} was not seen, so which ports share a card is not known"
        return None, (Reason("", text, "merging of ports", source),)
    if MIXED_CARDS <= version < BY_TOPOLOGY and len(set(Counter(cards).values())) > 1:
        return single, (Reason("", "cards with one and with several ports: not joined", "mixed cards", source),)
    groups = _grouped(ports, cards, 4 if version >= BY_TOPOLOGY else 2)
    return groups, tuple(
        Reason(group[0], f"{' and '.join(group)} are one card and become one NIC", "merging of ports", source)
        for group in groups if len(group) > 1
    )  # fmt: skip


def _by_settings(settings: Settings, version: Version) -> tuple[bool | None, str]:
    """Are the ports of one card merged? With the variable that decides; None where that is not simulated."""
    if number(settings, "NCCL_IB_MERGE_NICS", version) == 0:
        return False, "NCCL_IB_MERGE_NICS=0"
    if version < BY_TOPOLOGY:
        return True, ""
    if settings.get("NCCL_NET_FORCE_MERGE", "") != "":
        return None, "NCCL_NET_FORCE_MERGE"
    level = settings.get("NCCL_NET_MERGE_LEVEL", "")
    if level == "LOC":
        return False, "NCCL_NET_MERGE_LEVEL=LOC"
    return (True, "") if level in {"", "PORT"} else (None, "NCCL_NET_MERGE_LEVEL")


def _grouped(ports: Sequence[Port], cards: Sequence[str | None], most: int) -> Nics:
    """Groups of at most ``most`` ports of one card and one link layer, in the order of the first port of each."""
    groups: dict[tuple[str | None, str | None, int], list[str]] = {}
    seen: Counter[tuple[str | None, str | None]] = Counter()
    for port, card in zip(ports, cards, strict=True):
        kind = card, port.link_layer
        groups.setdefault((*kind, seen[kind] // most), []).append(f"{port.hca}:{port.number}")
        seen[kind] += 1
    return tuple(tuple(group) for group in groups.values())


def _card(hca: Hca | None, settings: Settings, version: Version) -> str | None:
    """The PCI address without function, and with NCCL_IB_MERGE_VFS (2.18 and later, default on) without device."""
    if hca is None or hca.bus_id is None:
        return None
    virtual = version >= Version(2, 18) and number(settings, "NCCL_IB_MERGE_VFS", version) != 0
    return hca.bus_id.rpartition(":")[0] if virtual else hca.bus_id.rpartition(".")[0]
