"""The cloud of the hosts, and the requirements of its network."""

from __future__ import annotations

import re
from typing import Literal

from ncdiag.base.patterns import lazy_regex
from ncdiag.base.products import machines, type_name
from ncdiag.facts.derived import derived, derived_of
from ncdiag.facts.model import Event, Host, Job, Setting
from ncdiag.facts.stated import only
from ncdiag.facts.view import View
from ncdiag.facts.vocabulary.job import is_multi_host
from ncdiag.facts.vocabulary.rdma import by_distance, ranks_of, uses_ofi, uses_roce

AZURE_NAMES = lazy_regex(r"mlx5_(?:ib|an)\d")
"""The names of RDMA devices in Azure's images (azhpc-images, azure_persistent_rdma_naming)."""
_LARGE = 8
_GOOGLE_PLUGINS = (
    (lazy_regex(r"H100[- ]mega", re.IGNORECASE), "GPUDirect-TCPXO, with its receive daemon (A3 Mega)"),
    (lazy_regex(r"H100", re.IGNORECASE), "GPUDirect-TCPX (A3 High) or -TCPXO (A3 Mega), with its receive daemon"),
    (lazy_regex(r"H200|G?B[23]00", re.IGNORECASE), "gIB (A3 Ultra, A4)"),
)
"""Plugins by GPU model or accelerator label (Google Cloud: accelerator-optimized machine family, GPUDirect)."""
_GOOGLE_FAMILIES = {
    "a3-high": "GPUDirect-TCPX (A3 High), with its receive daemon",
    "a3-mega": "GPUDirect-TCPXO, with its receive daemon (A3 Mega)",
    "a3-ultra": "gIB (A3 Ultra, A4)",
    "a4-high": "gIB (A3 Ultra, A4)",
}
"""Plugins by what comes before ``gpu`` in the machine type, of which those with all eight GPUs have one."""
_TRAFFIC_CLASSES = {"oci": 41, "alibaba": 136}
"""The traffic class that the RoCE network of a cloud keeps lossless, by cloud.

Sources: oracle-quickstart/oci-hpc roles/nccl-conf, Alibaba Cloud PAI "high-performance networks for distributed
training" (Lingjun).
"""
_NAMES = {"oci": "Oracle Cloud", "alibaba": "Alibaba Cloud"}


@derived
def provider(host: Host, view: View) -> str | None:
    """The cloud of a host: by its firmware, by a plugin's output, by names, else by the job's manifest."""
    if host.cloud is not None:
        view.note(host, "cloud")
        return host.cloud
    for event in view.events_on(host.name, ["ofi-platform"]):  # AWS's plugin knows the instance type
        view.note(event)
        return "aws"
    for hca in host.hcas:
        if AZURE_NAMES.match(hca.name):
            view.note(hca)
            return "azure"
    for rank in ranks_of(host, view):
        if any(AZURE_NAMES.match(device.name) for device in rank.net_devices or ()):
            view.note(rank, "net_devices")
            return "azure"
    return _placed(view) or _cloud_of_named_types(view)


def _cloud_of_named_types(view: View) -> str | None:
    """The cloud that all machine types named in the text belong to; None without one."""
    named = [c for c in view.job.contexts if c.kind == "instance-type"]
    rows = [machines().get(type_name(context.value)) for context in named]
    clouds = {row.cloud if row is not None else None for row in rows}
    if len(clouds) != 1:
        return None
    view.note(named[0])
    return clouds.pop()


def _machine_type(host: Host, view: View) -> str | None:
    """The machine type that the host reports, else the one that the text names; None if it names several or none."""
    if host.instance_type is not None:
        view.note(host, "instance_type")
        return host.instance_type
    named = only(view.job.contexts, "instance-type")
    if named is None:
        return None
    view.note(named)
    return named.value


def _placed(view: View) -> str | None:
    """The cloud whose node labels the pods of a manifest require."""
    launch = next((launch for launch in view.job.launches if launch.accelerator or launch.efa_devices), None)
    if launch is None:
        return None
    view.note(launch)
    return "gcp" if launch.accelerator else "aws"


@derived
def providers(job: Job, view: View) -> tuple[str, ...]:
    """The known clouds of all hosts, each once."""
    found = {provider(host, view) for host in job.hosts}
    return tuple(sorted(name for name in found if name is not None))


@derived
def provider_name(host: Host, view: View) -> str:
    """The name of the host's cloud as text for messages."""
    return _NAMES.get(provider(host, view) or "", "its cloud")


@derived
def lacks_topology_file(host: Host, view: View) -> bool | None:
    """Does NCCL get no topology file, on a virtual machine whose PCI bus hides which NIC is near which GPU?

    By variables and conf files, which must both have been shown, or because NCCL found NICs too far from the GPUs.
    """
    setting = view.setting(host, "NCCL_TOPO_FILE")
    if setting is not None and setting.is_set and setting.text:
        return False
    for event in view.events_on(host.name, ["topology-file-loaded", "topology-file-missing"]):
        view.note(event)
        return False
    far = next((r for r in ranks_of(host, view) for g in r.gdr if by_distance(g, view)), None)
    if far is not None:
        view.note(far, "gdr")
        return True
    return True if setting is not None and host.conf_settings else None


@derived
def plain_tcp(host: Host, view: View) -> bool | None:
    """Do the ranks on a host communicate over NCCL's own TCP sockets?"""
    for rank in ranks_of(host, view):
        if rank.net is not None:
            view.note(rank, "net")
            return rank.net == "Socket"
    return None


@derived
def is_said_to_span_hosts(job: Job, view: View) -> bool | None:
    """Does the job span several hosts, as the input shows or as somebody says (``2 nodes``)?"""
    shown: bool | None = is_multi_host(job, view)
    told = next((context for context in job.contexts if context.kind == "host-count"), None)
    if shown is None and told is not None and told.value.partition(" ")[0] not in {"0", "1"}:
        view.note(told)
        return True
    return shown


@derived
def google_plugin(host: Host, view: View) -> str | None:
    """The network plugin that Google provides for machines with these GPUs; empty for none, None if unknown.

    Among H100 machines, only those with all eight GPUs have one.
    """
    kind = _machine_type(host, view) or ""
    if family := _GOOGLE_FAMILIES.get(kind.partition("gpu")[0]):
        return family if kind.endswith("-8g") else ""
    label = next((launch.accelerator for launch in view.job.launches if launch.accelerator), None)
    gpu = next((gpu for gpu in host.gpus if gpu.model), None)
    text = label or (gpu.model if gpu is not None else None)
    if text is None:
        return None
    if gpu is not None:
        view.note(gpu, "model")
    found = next((plugin for pattern, plugin in _GOOGLE_PLUGINS if pattern.search(text)), "")
    return "" if label is None and "H100" in text and len(host.gpus) < _LARGE else found


@derived
def google_plugin_kind(host: Host, view: View) -> Literal["gib", "tcpxo", "tcpx", "either", ""]:
    """Which of Google's plugins it is; ``either`` of the two for H100 where the machine type is not known."""
    name = google_plugin(host, view) or ""
    if name.startswith("gIB"):
        return "gib"
    if name.startswith("GPUDirect-TCPXO"):
        return "tcpxo"
    return "either" if " or " in name else "tcpx" if name else ""


@derived
def preset_traffic_class(host: Host, view: View) -> int | None:
    """NCCL_IB_TC in the provider's own configuration; None where it sets none or the provider is unknown."""
    return _TRAFFIC_CLASSES.get(provider(host, view) or "")


@derived
def lacks_traffic_class(host: Host, view: View) -> bool | None:
    """Does RoCE traffic use another class than the one that the network of the cloud keeps lossless?"""
    roce = [rank for rank in ranks_of(host, view) if uses_roce(rank, view)]
    mlx5 = next((rank for rank in roce if any(d.name.startswith("mlx5") for d in rank.net_devices or ())), None)
    if mlx5 is None:
        return None if any(rank.net_devices is None for rank in ranks_of(host, view)) else False
    if provider(host, view) is None:
        return None
    wanted = preset_traffic_class(host, view)
    setting = view.setting(mlx5, "NCCL_IB_TC")
    if wanted is None or setting is None:
        return False if wanted is None else None
    view.note(mlx5, "net_devices")
    view.note(setting)
    return bool((setting.number if setting.is_set else 0) != wanted)


@derived
def wanted_assignment(event: Event, view: View) -> str:
    """The assignment that Google's checker requires: ``NCCL_MIN_NCHANNELS=4``."""
    return f"{event.fields.get('variable')}={event.fields.get('wanted')}"


@derived
def has_rails(host: Host, view: View) -> bool | None:
    """Does the host have several InfiniBand ports, so that it matters which of them is near which GPU?"""
    ports = [port for hca in host.hcas for port in hca.ports if port.link_layer == "InfiniBand"]
    listed = [len([d for d in r.net_devices if d.link_layer == "IB"]) for r in ranks_of(host, view) if r.net_devices]
    count = max([len(ports), *listed])
    return count > 1 if ports or listed else None


@derived
def azure_topology_file(host: Host, view: View) -> str:
    """The path of the topology file in Azure's HPC images for machines with these GPUs."""
    models = " ".join(gpu.model or "" for gpu in host.gpus)
    series = "ndv4" if "A100" in models else "ndv5" if re.search(r"H[12]00", models) else ""
    return f"/opt/microsoft/{series}-topo.xml" if series else "<the file of the machine type>"


_LEFT_AT_LEAST = 0.02
"""The share of memory that must be available; below it, memory counts as exhausted."""
_PROVIDERS = {
    "FI_EFA_": "aws", "NCCL_FASTRAK_": "gcp", "NCCL_GPUDIRECTTCPX_": "gcp", "NCCL_SHIMNET_": "gcp",
}  # fmt: skip
_PATHS = {"/opt/microsoft/": "azure", "/opt/amazon/": "aws"}


@derived
def is_of_other_provider(setting: Setting, view: View) -> bool | None:
    """Does the variable belong to another cloud than the host's? None when the host's cloud is unknown."""
    theirs = next((name for start, name in _PROVIDERS.items() if setting.name.startswith(start)), None)
    if theirs is None and setting.name in {"NCCL_TOPO_FILE", "NCCL_GRAPH_FILE"}:
        theirs = next((name for path, name in _PATHS.items() if (setting.text or "").startswith(path)), None)
    if theirs is None or not setting.is_set:
        return False
    here = providers(view.job, view)
    view.note(setting)
    return None if not here else theirs not in here


@derived_of("host-memory-exhausted", "efa-fork-unsafe")
def is_failed_fork(event: Event, view: View) -> bool:
    """Did a program of a libfabric job fork although its provider forbids it, or fail for lack of memory (errno 12)?

    False for a lack of memory with another cause: the host has none left, or its kernel killed processes for it.
    """
    if event.event == "efa-fork-unsafe":
        return True
    if "[Errno 12]" not in event.text or not uses_ofi(view.job, view):
        return False
    hosts = [host] if (host := view.host(event.host)) is not None else view.job.hosts
    return not any(map(_has_no_memory, hosts)) and not view.events_on(event.host, ["oom-kill"])


def _has_no_memory(host: Host) -> bool:
    if host.memory_bytes is None or host.memory_available_bytes is None:
        return False
    return host.memory_available_bytes < host.memory_bytes * _LEFT_AT_LEAST
