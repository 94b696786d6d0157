"""GPUDirect RDMA: peer memory modules, ACS, and NCCL's decision for each NIC with its reason."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Literal

from ncdiag.facts.derived import derived, derived_for, derived_of
from ncdiag.facts.model import Event, GdrVerdict, Host, Job, LinkTest, PciDevice, Rank, Setting
from ncdiag.facts.model.declared import is_closed
from ncdiag.facts.view import View
from ncdiag.facts.vocabulary.hosts import RDMA_CARDS
from ncdiag.facts.vocabulary.link_tests import measured_bandwidth
from ncdiag.facts.vocabulary.rdma import active_ports, is_soft_rdma, ranks_of
from ncdiag.facts.vocabulary.told_rates import ratio, told_rate
from ncdiag.messages.vocabulary.reasons import error_name
from ncdiag.nccl import paths, versions
from ncdiag.nccl.on_host.in_force import settings_of
from ncdiag.nccl.selection import gdr
from ncdiag.nccl.vocabulary.levels import GDR_LEVEL, P2P_LEVEL


@derived
def uses_gdr(rank: Rank, view: View) -> bool | None:
    """Do channels of the rank transfer data between NIC and GPU memory directly (``/GDRDMA``)?"""
    return None if rank.transports is None else any(name.endswith("/GDRDMA") for name in rank.transports)


_PEER_MODULES = frozenset({"nv_peer_mem", "nvidia_peermem"})


@derived
def has_both_peer_modules(host: Host, view: View) -> bool:
    """Are the peer-memory module of the driver and its predecessor both loaded?"""
    found = [module for module in host.modules if module.name in _PEER_MODULES]
    for module in found:
        view.note(module)
    return len({module.name for module in found}) == len(_PEER_MODULES)


PEERMEM_MODULES = ("nvidia_peermem", "nv_peer_mem")
"""The module of the GPU driver and its predecessor, each of which gives NICs access to GPU memory.

Source: NVIDIA GPUDirect RDMA guide.
"""


@derived
def blocked_device(host: Host, view: View) -> str:
    """The device of which the IOMMU blocked a transfer, ``3b:00.0``, as the kernel of the host reports; else empty."""
    for event in view.events_on(host.name, ["iommu-fault"]):
        if event.fields.get("pci"):
            view.note(event)
            return str(event.fields["pci"])
    return ""


@derived_of("ib-reg-mr-failed")
def is_refused_gpu_buffer(event: Event, view: View) -> bool:
    """Was memory refused as unknown pages, which is what GPU memory is to a card without its module?"""
    return error_name(event, view) == "EFAULT"


@derived
def peermem_loaded(host: Host, view: View) -> bool | None:
    """Is a peer memory module loaded? False only when the module list was seen whole or both are known absent.

    For the predecessor it suffices that nothing is registered with the RDMA core. Programs that need a module check
    too.
    """
    for module in host.modules:
        if module.name in PEERMEM_MODULES:
            view.note(module)
            return True
    missed = _missed_peermem(host, view)
    if missed is not None:
        view.note(missed)
        return False
    absent = set(host.absent_modules or ())
    view.note(host, "absent_modules" if absent else "complete:lsmod")
    if host.peermem_registered is False:
        absent.add(PEERMEM_MODULES[1])
    if PEERMEM_MODULES[0] in (host.absent_modules or ()) and gdr_disabled_for_nics(host, view):
        return False  # NCCL looked for both
    return False if is_closed(host, "modules") or absent.issuperset(PEERMEM_MODULES) else None


def _missed_peermem(host: Host, view: View) -> Event | None:
    """The event in which a program that searched /sys for the modules reports them missing."""
    return next(iter(view.events_on(host.name, ["gpudirect-missing"])), None)


@derived_of("ib-reg-mr-failed")
def is_gpu_registration(event: Event, view: View) -> bool:
    """Did the registration of GPU memory fail: by the line, by the test around it, or with a bad address?

    The kernel does not accept GPU memory as memory of the process; without a peer memory module it returns EFAULT.
    """
    return event.fields.get("memory") == "gpu" or error_name(event, view) == "EFAULT"


_ALLOCATOR_SETTINGS = frozenset({"PYTORCH_CUDA_ALLOC_CONF", "PYTORCH_ALLOC_CONF", "PYTORCH_HIP_ALLOC_CONF"})
_EXPANDABLE = r"\bexpandable_segments:\s*(?i:true)\b"
_EXPORT = r"(?i)custom_?all_?reduce\w*\.(?:cuh?|hip)\b.{0,80}invalid argument"
"""The export of buffers in csrc of vLLM, sgl-kernel and aiter; ranks in different containers fail to open them."""


@derived_of("ib-reg-mr-failed", "program-cuda-failure", "expandable-ipc-unsupported")
def is_expandable_segment(event: Event, view: View) -> bool | None:
    """Did the card, or CUDA's IPC, reject memory of PyTorch's expandable segments? None if not known."""
    if event.event != "ib-reg-mr-failed":
        if event.event == "expandable-ipc-unsupported" or re.search(_EXPORT, event.text) is None:
            return event.event == "expandable-ipc-unsupported"
    elif error_name(event, view) not in {"EFAULT", "EINVAL", "EIO", "EOPNOTSUPP", None}:
        return False
    allocator = [s for s in view.job.settings if s.name in _ALLOCATOR_SETTINGS and s.text is not None]
    for setting in allocator:
        view.note(setting)
        if re.search(_EXPANDABLE, setting.text or ""):
            return True
    return False if allocator else None


@derived
def acs_bridge(host: Host, view: View) -> str | None:
    """The first PCI bridge that redirects peer traffic; None where none does or the lines name no device.

    None also where the list shows devices without any GPU or RDMA card: root ports redirect on most hosts.
    """
    found = next(_redirecting(host), None)
    if found is not None:
        view.note(found)
    return found.bus_id if found is not None else None


@derived
def acs_bridges(host: Host, view: View) -> str | None:
    """All bridges that redirect peer traffic, ``0000:16:04.0 0000:16:08.0``; None where none is named."""
    found = list(_redirecting(host))
    for device in found:
        view.note(device)
    return " ".join(device.bus_id for device in found) or None


def _redirecting(host: Host) -> Iterator[PciDevice]:
    """Bridges whose control is on, and devices of which only that is known."""
    if not _shows_no_peer(host):
        yield from (d for d in host.pci if d.acs_redirects and d.device_class in _MAY_BRIDGE)


_MAY_BRIDGE = ("PCI bridge", None)
_PEERS = frozenset({
    "3D controller", "VGA compatible controller", "Display controller", "Processing accelerators",
    "Infiniband controller",
})  # fmt: skip


def _shows_no_peer(host: Host) -> bool:
    ends = [d for d in host.pci if d.device_class is not None and "bridge" not in d.device_class.lower()]
    cards = (d for d in ends if d.device_class in _PEERS or any(word in (d.description or "") for word in RDMA_CARDS))
    return bool(ends) and next(cards, None) is None


@derived
def has_acs_on_bridge(host: Host, view: View) -> bool | None:
    """Does a PCI bridge redirect peer traffic, named or not? None while the list of devices is not complete."""
    if acs_bridge(host, view) is not None:
        return True
    if host.acs_redirects:
        view.note(host, "acs_redirects")
        return True
    bridges = [d for d in host.pci if d.device_class in _MAY_BRIDGE and d.acs_redirects is not None]
    return False if host.acs_redirects is False or bridges or "lspci" in host.complete else None


@derived
def acs_place(host: Host, view: View) -> str:
    """The bridge that redirects, ``bridge 0000:19:00.0``; a general word where the lines name none."""
    bridge = acs_bridge(host, view)
    return f"bridge {bridge}" if bridge else "a bridge"


@derived
def bandwidth_text(test: LinkTest, view: View) -> str:
    """The result of the test: ``391 Gbit/s from host memory``."""
    found = measured_bandwidth(test)
    if found is None:
        return "nothing that was measured"
    where = {None: "", "host": " from host memory", "gpu": " from GPU memory"}[test.memory]
    return f"{found[0]:.3g} Gbit/s{where}"


@derived
def gdr_disabled_for_nics(host: Host, view: View) -> bool | None:
    """Did NCCL print that its NICs do not support GPUDirect RDMA (the support test, not the distance test)?"""
    verdicts = [(r, g) for r in ranks_of(host, view) for g in _nic_verdicts(r)]
    for rank, verdict in verdicts:
        if not verdict.enabled:
            view.note(verdict if verdict.provenance else rank, "" if verdict.provenance else "gdr")
            return True
    return False if verdicts else None


@derived
def refuses_gpu_memory(host: Host, view: View) -> bool:
    """Could a program on this host not register GPU memory with a card?"""
    refused = (e for e in view.events_on(host.name, ["ib-reg-mr-failed"]) if is_gpu_registration(e, view))
    found = next(refused, None) or _missed_peermem(host, view)
    if found is not None:
        view.note(found)
    return found is not None


def _nic_verdicts(rank: Rank) -> Iterable[GdrVerdict]:
    return (g for g in rank.gdr if g.gpu is None)


@derived
def gdr_unused(rank: Rank, view: View) -> bool | None:
    """Do data between RDMA NIC and GPU go through host memory? From NCCL's decisions and the Channel lines."""
    if rank.net == "Socket":
        return False
    staged, direct = _staged_and_direct(rank)
    view.note(rank, "nics_used" if staged or direct else "gdr")
    if staged and not direct:
        return True
    if direct:
        return False
    return any(not g.enabled for g in rank.gdr) if rank.gdr else None


@derived
def gdr_direction(rank: Rank, view: View) -> Literal["both", "none", "send", "receive", "mixed"] | None:
    """The directions in which the rank transfers between NIC and GPU memory directly; ``mixed`` where channels differ.

    A log cut within a line may have lost one ``/GDRDMA``, so a single connection without it does not count.
    """
    ways = rank.net_ways
    told = {way: _direct(ways.get(f"{way}/GDRDMA", 0), ways.get(way, 0)) for way in ("send", "receive")}
    if None in told.values():
        return "mixed" if _MIXED in told.values() else None
    view.note(rank, "net_ways")
    directions: dict[tuple[str | None, str | None], Literal["both", "none", "send", "receive"]] = {
        (_DIRECT, _DIRECT): "both", (_STAGED, _STAGED): "none",
        (_DIRECT, _STAGED): "send", (_STAGED, _DIRECT): "receive",
    }  # fmt: skip
    return directions.get((told["send"], told["receive"]), "mixed")


_DIRECT, _STAGED, _MIXED = "direct", "staged", "mixed"


def _direct(direct: int, staged: int) -> str | None:
    if staged < 2:  # noqa: PLR2004
        return _DIRECT if direct else None
    return _MIXED if direct else _STAGED


def _staged_and_direct(rank: Rank) -> tuple[int, int]:
    counts = rank.transports or {}
    rdma = {name: n for name, n in counts.items() if name.startswith("NET/IB")}
    direct = sum(n for name, n in rdma.items() if "GDRDMA" in name)
    return sum(rdma.values()) - direct, direct


@derived
def gdr_problem(rank: Rank, view: View) -> str:
    """What shows that GPUDirect RDMA is not used, as a part of a sentence."""
    for verdict in rank.gdr:
        if not verdict.enabled:
            if verdict.gpu is not None:
                return f"NCCL disabled it for GPU {verdict.gpu} and NIC {verdict.hca}"
            return f"NCCL disabled it for {verdict.hca}"
    return "channel connections lack /GDRDMA"


_SMALL_READ = 512


@derived
def small_reads(host: Host, view: View) -> str | None:
    """RDMA cards with a small maximum read request, ``0000:17:00.0 (512 bytes)``; empty for none, None if unknown."""
    cards = [d for d in host.pci if d.max_read_request and any(word in (d.description or "") for word in RDMA_CARDS)]
    small = [d for d in cards if (d.max_read_request or 0) <= _SMALL_READ]
    for device in small[:1]:
        view.note(device)
    return ", ".join(f"{d.bus_id} ({d.max_read_request} bytes)" for d in small) if cards else None


@derived
def distance_name(verdict: GdrVerdict, view: View) -> str | None:
    """The printed distance as a path type of the version that printed it (``PHB``)."""
    if verdict.distance is None:
        return None
    return paths.path_type(verdict.distance, view.version()) or _by_default(verdict, verdict.distance, view)


def _by_default(verdict: GdrVerdict, number: int, view: View) -> str | None:
    """The path type in the numberings in which the printed limit is the default; None where these differ.

    Only where the job sets no limit of its own.
    """
    possible = versions.as_range(view.version())
    setting = view.setting(view.job, GDR_LEVEL)
    if verdict.limit is None or (setting is not None and setting.is_set):
        return None
    rows = list(zip(paths.TABLES, [*paths.CHANGES[1:], possible.high], strict=True))
    names = {
        _type_at(types, number) for (since, types), until in rows
        if since <= possible.high and (until > possible.low or until == possible.high)
        and _type_at(types, verdict.limit) == paths.default_gdr_level(max(since, possible.low))
    }  # fmt: skip
    return names.pop() if len(names) == 1 else None


def _type_at(types: Sequence[str], number: int) -> str | None:
    return types[number] if number < len(types) else None


@derived
def limit_name(verdict: GdrVerdict, view: View) -> str | None:
    """The farthest path type that is accepted, by the printed limit and the version that printed it."""
    return paths.path_type(verdict.limit, view.version()) if verdict.limit is not None else None


@derived
def admitting_level(verdict: GdrVerdict, view: View) -> str | None:
    """The value of NCCL_NET_GDR_LEVEL that allows the printed distance: a path type (``PHB``), up to 2.5 a number."""
    version = view.version()
    named = versions.agreed(version, (paths.NAMED_LEVELS,), lambda exact: exact >= paths.NAMED_LEVELS)
    if named is None or verdict.distance is None:
        return None
    return distance_name(verdict, view) if named else str(verdict.distance + 1)


@derived_for(GDR_LEVEL)
def forbids_gdr(setting: Setting, view: View) -> bool | None:
    """Is NCCL_NET_GDR_LEVEL nearer than PIX, the smallest distance between a PCIe NIC and a GPU?"""
    if not setting.is_set or not setting.text:
        return False
    level, version = paths.parse_level(setting.text, view.version(setting)), view.version(setting)
    if level is None:
        return False if setting.valid is False else None
    return level == "LOC" or paths.is_within("PIX", level, version) is False


@derived
def sends_staged_by_default(rank: Rank, view: View) -> bool | None:
    """Does NCCL by default send from host memory on the rank's host? None where that was not seen."""
    host = view.host(rank.host)
    if host is None:
        return None
    reads = versions.agreed(view.version(rank), gdr.CHANGES, lambda exact: gdr.reads_by_itself(host, exact)[0])
    return None if reads is None else not reads


@derived_for(GDR_LEVEL, P2P_LEVEL)
def is_numeric_level(setting: Setting, view: View) -> bool:
    """Is the level a digit other than 0, whose meaning changed with 2.6 (0 is LOC in all releases)?"""
    text = (setting.text or "").strip()
    return text.isascii() and text.isdigit() and int(text) > 0


@derived
def level_word(setting: Setting, view: View) -> str | None:
    """The path type for a level that is a digit; None when the possible releases differ."""
    return paths.parse_level(setting.text or "", view.version(setting))


@derived
def told_fraction_from_gpu(job: Job, view: View) -> float | None:
    """The rate of an RDMA test from GPU memory divided by that from host memory, by people's words."""
    return ratio(told_rate(job, view, {"gpu-test"}), told_rate(job, view, {"rdma-test"}))


@derived
def no_way_to_gpu_memory(host: Host, view: View) -> str | None:
    """Why no card can access GPU memory: ``no peer memory module is loaded, DMA-BUF takes ...``; empty for no reason.

    For hosts with a loaded GPU driver and active RDMA ports. None where these or the modules were not shown, empty
    where DMA-BUF may work.
    """
    cards = [hca for hca in host.hcas if not is_soft_rdma(hca, view) and hca.driver != "efa"]
    ports = [port for port in active_ports(host, view) if any(hca.name == port.hca for hca in cards)]
    loaded = peermem_loaded(host, view)
    if loaded or (not ports and is_closed(host, "hcas")):
        return ""
    if loaded is None or host.driver is None or not ports:
        return None
    settings, version = settings_of(host, view), view.version(host)
    exact = versions.LATEST_READ if version is None or version.low != version.high else version.low
    verdict, told, _ = gdr.support(host, settings, exact)
    if verdict is not False:
        return ""
    view.note(host, "open_kernel_module")
    return told
