"""How the GPUs and NICs of a host are connected, and processes that are bound far from their GPU."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator

from ncdiag.base.patterns import lazy_regex
from ncdiag.facts.derived import derived, derived_of
from ncdiag.facts.model import Event, Host, Job, PciDevice, Rank
from ncdiag.facts.stated import only
from ncdiag.facts.view import View
from ncdiag.facts.vocabulary.benchmarks import pcie_gbs
from ncdiag.facts.vocabulary.failures import CODES, OWN_FAILURES
from ncdiag.facts.vocabulary.files import listed_files
from ncdiag.facts.vocabulary.gpus import gpu_of
from ncdiag.facts.vocabulary.hosts import RDMA_CARDS
from ncdiag.facts.vocabulary.job import has_one_gpu_a_host
from ncdiag.facts.vocabulary.mounts import has_own_files, is_in_container, is_mounted
from ncdiag.facts.vocabulary.pci import is_nvidia_gpu, is_rdma_card

_CPUS = 1 << 13
_SHOWN = 3
_TOPOLOGY = lazy_regex(r"topo[\w.-]*\.xml$|[\w-]*topo\.xml$")
_NO_LETTER = lazy_regex(r"[^a-z0-9]+")
_MISSING = "topology-file-missing"
_PLAIN = "topoxml"
"""A name that says nothing of the machine."""
Binding = tuple[str, str, str]
"""What is bound (``GPU 3``), the processors of its process, and those near it."""


@derived
def far_bindings(host: Host, view: View) -> str | None:
    """Processes bound far away, ``GPU 0 (its process may use 64-95, near it are 0-31)``.

    Empty for none, None if unknown.

    A log shows wrong bindings only.
    """
    found = dict.fromkeys(_told_by_nccl(host, view))
    compared = list(_compared(host, view))
    found |= dict.fromkeys(binding for binding, far in compared if far)
    if not found:
        return "" if compared else None
    texts = [f"{what} (its process may use {own}, near it are {near})" for what, own, near in found]
    more = f" and {len(texts) - _SHOWN} more" if len(texts) > _SHOWN else ""
    return ", ".join(texts[:_SHOWN]) + more


def _told_by_nccl(host: Host, view: View) -> Iterator[Binding]:
    for event in view.events_on(host.name, ["cpu-affinity-empty"]):
        view.note(event)
        yield f"GPU {event.fields.get('gpu')}", str(event.fields.get("process_cpus")), str(event.fields.get("gpu_cpus"))


def _compared(host: Host, view: View) -> Iterator[tuple[Binding, bool]]:
    """Ranks with known processors and known processors near their GPU, and whether these are disjoint."""
    processes = {process.pid: process.cpus for process in host.process_cpus or ()}
    for rank in view.ranks_on(host.name) if processes else ():
        own, gpu = processes.get(rank.pid or 0), gpu_of(rank, host)
        near = gpu.cpu_affinity if gpu is not None else None
        mine, there = cpu_numbers(own or ""), cpu_numbers(near or "")
        if gpu is not None and mine and there:
            view.note(host, "process_cpus")
            view.note(gpu, "cpu_affinity")
            yield (f"GPU {gpu.index if gpu.index is not None else gpu.bus_id}", own or "", near or ""), not mine & there


def cpu_numbers(text: str) -> frozenset[int]:
    """Return the numbers of a list such as ``0-31,64-95``; empty for anything else."""
    found: set[int] = set()
    for part in text.split(","):
        first, _, last = part.strip().partition("-")
        if not first.isdecimal() or not (last or first).isdecimal() or len(first) > 5 or len(last) > 5:  # noqa: PLR2004
            return frozenset()
        found |= set(range(int(first), min(int(last or first) + 1, _CPUS)))
    return frozenset(found)


_SAYS_NOTHING = CODES | {"python-exception"}


@derived
def fails_without_reason(job: Job, view: View) -> bool:
    """Are return codes of NCCL all that the job shows of its failure?"""
    failures = [event for event in job.events if event.kind in OWN_FAILURES]
    return any(e.event in CODES for e in failures) and all(e.event in _SAYS_NOTHING for e in failures)


_FAST_CARDS = ("ConnectX-5", "ConnectX-6", "ConnectX-7", "ConnectX-8", "BlueField", "Infiniband controller", "Thor")
_SLOW_BY_DESIGN = ("ConnectX-6 Lx", "Virtual Function")


@derived
def narrow_devices(host: Host, view: View) -> tuple[str, ...] | None:
    """GPUs and RDMA cards on fewer PCIe lanes than they support, and RDMA cards at a lower PCIe speed.

    GPUs lower the speed themselves when idle; for a card it counts only where it carries less than its port does. None
    when no width is known.
    """
    found = []
    told = False
    for device in host.pci:
        if not _is_fast(device, host) or not device.width or not device.width_max:
            continue
        told = True
        if (device.width < device.width_max or _is_slow_card(device)) and not _carries_its_port(device, host):
            view.note(device)
            found.append(f"{device.bus_id} (x{device.width} of x{device.width_max}{_speeds(device)})")
    seen = {d.bus_id for d in host.pci}
    for gpu in host.gpus:
        if not gpu.pcie_width or not gpu.pcie_width_max or gpu.bus_id in seen:
            continue
        told = True
        if gpu.pcie_width < gpu.pcie_width_max:
            view.note(gpu)
            found.append(f"GPU {gpu.bus_id or gpu.index} (x{gpu.pcie_width} of x{gpu.pcie_width_max})")
    return tuple(found) if told else None


def _is_fast(device: PciDevice, host: Host) -> bool:
    words = device.description or ""
    if any(word in words for word in _SLOW_BY_DESIGN):
        return False
    card = is_rdma_card(device, host) or any(word in words for word in _FAST_CARDS)
    return is_nvidia_gpu(device) or card


def _is_slow_card(device: PciDevice) -> bool:
    fast, slow = device.speed_gts_max, device.speed_gts
    return not is_nvidia_gpu(device) and fast is not None and slow is not None and slow < fast


def _carries_its_port(device: PciDevice, host: Host) -> bool:
    """Is the PCIe link as fast as the port of the card, or as any that may be its port where that is not known?"""
    own = [hca for hca in host.hcas if hca.bus_id == device.bus_id]
    hcas = own or [hca for hca in host.hcas if hca.bus_id is None]
    rates = [port.rate_gbps for hca in hcas for port in hca.ports if port.state == "active" and port.rate_gbps]
    carried = pcie_gbs(device)
    return bool(rates) and not is_nvidia_gpu(device) and carried is not None and carried * 8 >= max(rates)


def _speeds(device: PciDevice) -> str:
    return f", {device.speed_gts:g} of {device.speed_gts_max:g} GT/s" if _is_slow_card(device) else ""


_RDMA_NAME = lazy_regex(r"mlx\d|ib|irdma|bnxt_re|efa|rdmap|roce")
_TOPOLOGY_GAPS = frozenset({
    "topology-node-not-found", "topology-link-orphan", "topology-host-unknown", "topology-link-one-way",
    "topology-no-path", "topology-first-card-missing",
})  # fmt: skip
"""Messages of NCCL about a device or link missing in its topology; in one read from the system nothing is missing."""


@derived_of("pci-parent-unknown")
def hides_rdma_device(event: Event, view: View) -> bool:
    """Did NCCL find no place on the PCI bus for an RDMA device or a GPU? For virtual Ethernet that is normal."""
    name = str(event.fields.get("device_name", ""))
    return event.fields.get("path") is None or _RDMA_NAME.match(name) is not None


@derived
def has_foreign_topology(job: Job, view: View) -> bool:
    """Does NCCL refer to the topology file that it was given, or miss data that the file should contain?"""
    hints = [e for e in job.events if e.event == "nccl-hint" and "provided topology file" in e.text]
    hints += [e for e in job.events if e.event in _TOPOLOGY_GAPS]
    for event in hints[:1]:
        view.note(event)
    return bool(hints)


_FROM_SYS = frozenset({"pci", "nvlink"})
"""Elements of the topology that NCCL partly reads from /sys; all others it detects completely."""


@derived_of("xml-attribute-missing")
def lacks_word_of_file(event: Event, view: View) -> bool:
    """Is an attribute missing that only a file can lack, or that a file that is known to be loaded lacks?

    Elements that NCCL detects have all attributes (ncclTopoGetXmlFromCpu, ncclTopoGetXmlFromGpu, ncclTopoFillNet;
    v2.6.4 to v2.30.7), except the class of a device that /sys hides.
    """
    if event.fields.get("element") not in _FROM_SYS:
        return True
    host = view.host(event.host)
    settings = [view.setting(host or view.job, name) for name in ("NCCL_TOPO_FILE", "NCCL_GRAPH_FILE")]
    given = next((setting for setting in settings if setting is not None and setting.is_set), None)
    told = [given, *view.events_on(event.host, ["topology-file-loaded"])]
    read = next((fact for fact in told if fact is not None), None)
    if read is not None:
        view.note(read)
    return read is not None


@derived_of("xml-value-unknown")
def is_unknown_speed(event: Event, view: View) -> bool:
    """Is the unknown value in NCCL's message the speed of a PCIe link?"""
    return "GT/s" in str(event.fields.get("word", ""))


@derived
def loads_own_topology(host: Host, view: View) -> bool | None:
    """Does NCCL read the topology from the file to which it writes it?"""
    read, written = (view.setting(host, name) for name in ("NCCL_TOPO_FILE", "NCCL_TOPO_DUMP_FILE"))
    if read is None or read.is_set is None:
        return None
    if not read.is_set or not read.text:
        return False
    view.note(read)
    return written is not None and written.text == read.text


@derived
def loads_graph(host: Host, view: View) -> bool:
    """Does NCCL read its channels from a file?"""
    graph = view.setting(host, "NCCL_GRAPH_FILE")
    if graph is None or not graph.is_set or not graph.text:
        return False
    view.note(graph)
    return True


@derived
def reuses_dump(host: Host, view: View) -> bool | None:
    """Does NCCL read its own topology dump, or its channels in a job that failed without a reason?"""
    if loads_graph(host, view) and fails_without_reason(view.job, view):
        return True
    return loads_own_topology(host, view)


@derived
def reused_dump(host: Host, view: View) -> str:
    """The file that is reused, as text: ``the topology file that it writes (/tmp/topo.xml)``."""
    if loads_own_topology(host, view):
        setting = view.setting(host, "NCCL_TOPO_FILE")
        return f"the topology file that NCCL itself writes ({setting.text if setting else ''})"
    setting = view.setting(host, "NCCL_GRAPH_FILE")
    return f"the channels of NCCL from {setting.text if setting else 'a file'}"


_MERGED = "ib-virtual-device"


@derived
def merges_virtual_functions(rank: Rank, view: View) -> bool | None:
    """Does NCCL merge ports of a host whose RDMA cards are virtual functions?"""
    if rank.net_devices is None:
        return None
    names = [device.name for device in rank.net_devices]
    names += [str(e.fields.get("hca")) for e in view.events_on(rank.host, (_MERGED,))]
    if not any("+" in name for name in names):
        return False
    host = view.host(rank.host)
    cards = [d for d in (host.pci if host is not None else ()) if any(w in (d.description or "") for w in RDMA_CARDS)]
    view.note(rank, "net_devices")
    return any("Virtual Function" in (d.description or "") for d in cards) if cards else None


@derived
def nodes_for_hosts(job: Job, view: View) -> str:
    """More nodes than the machines that people name hold, ``16 nodes for 2 hosts``; empty for none.

    The ranks must fit the machines as they are told: as many as these have GPUs.
    """
    hosts, gpus = only(job.contexts, "host-count"), only(job.contexts, "gpu-count")
    if hosts is None or gpus is None or job.nhosts is None or job.nranks is None:
        return ""
    told, each = int(hosts.value.split()[0]), int(gpus.value.split()[0])
    if job.nhosts <= told or job.nranks > told * each:
        return ""
    view.note(hosts)
    return f"{job.nhosts} nodes for {told} hosts"


@derived
def each_rank_is_a_node(job: Job, view: View) -> bool:
    """Does NCCL count a node for each rank, while nobody says that there are several machines?"""
    told = any(context.kind == "host-count" and context.told for context in job.contexts)
    return has_one_gpu_a_host(job, view) and not told


@derived
def has_topology_file(job: Job, view: View) -> bool:
    """Does a host have the topology file that NCCL could not open, so that only the container lacks it?"""
    return not _missing(job).isdisjoint(listed_files(job, view))


@derived
def unmounted_topology_file(job: Job, view: View) -> str:
    """The topology file that a launch names for its container but does not mount in it; empty if there is none.

    Files that a listing or NCCL's log shows are left out, since the image may contain them.
    """
    loaded = {str(event.fields.get("file_path")) for event in job.events if event.event == "topology-file-loaded"}
    there = loaded.union(listed_files(job, view))
    for launch in job.launches:
        path = launch.env.get("NCCL_TOPO_FILE", "")
        if path.startswith("/") and path not in there and has_own_files(launch) and not is_mounted(path, job):
            view.note(launch)
            return path
    return ""


@derived
def moved_topology_file(job: Job, view: View) -> str:
    """The only listed file that has the name of the missing one, written in another way or in another folder.

    Empty where the job runs in a container that is not given that file.
    """
    missing, files = _missing(job), listed_files(job, view)
    if not missing or has_topology_file(job, view):
        return ""
    names = {name for path in missing for name in _names(path)}
    near = [path for path in files if not names.isdisjoint(_names(path))]
    if not near:
        near = [path for path in files if _TOPOLOGY.search(posixpath.basename(path))]
    if len(near) != 1 or (is_in_container(job, view) and not is_mounted(near[0], job)):
        return ""
    return near[0]


def _missing(job: Job) -> set[str]:
    return {str(event.fields.get("file_path") or "") for event in job.events if event.event == _MISSING} - {""}


def _names(path: str) -> set[str]:
    """The file's name in letters and digits, alone and with its folder: ``ndv5topoxml``."""
    parts = path.lower().split("/")
    return {_NO_LETTER.sub("", "".join(parts[-length:])) for length in (1, 2)} - {_PLAIN}
