"""The resources of a container or pod: GPUs, shared memory, locked memory, RDMA devices, and a service mesh."""

from __future__ import annotations

import itertools
import re
from collections import defaultdict

from ncdiag.base.patterns import lazy_regex
from ncdiag.base.products import efa_machines, products
from ncdiag.facts.derived import derived, derived_of
from ncdiag.facts.model import FAILURES, Event, Host, Interface, Job, Launch
from ncdiag.facts.view import View
from ncdiag.facts.vocabulary.access import closed
from ncdiag.facts.vocabulary.launches import CONTAINER_PROGRAMS, POD, is_container
from ncdiag.facts.vocabulary.rdma import has_rdma_hardware
from ncdiag.knowledge.container.pods import listed_trouble
from ncdiag.messages.vocabulary.exhaustion import OPEN_FAILURES, is_out_of_space, is_used_up
from ncdiag.messages.vocabulary.reasons import error_name

_SECOND = r"net\d{1,2}"
"""The names that Multus gives additional interfaces of a pod."""
_REPLICA = r"[\w.-]+-(?:master|worker|chief|launcher|ps)-\d+(?:-[a-z0-9]{5})?"
"""A pod of a training job, for which its operator creates one container."""
_REPORT = lazy_regex(
    r"\s(?:nvidia-smi|nvcc|env|printenv|ls|cat|df|hostname|ibstat|ibv_devices|ibv_devinfo|ldconfig|uname|deviceQuery)"
    r"(?:\s+-{0,2}[\w./=-]{1,60}){0,4}\s*$"
)
"""The end of a line that starts a container for one look at the machine."""
_BARE_IMAGE = lazy_regex(r"\bnvidia/cuda:[\w.-]{0,60}base[\w.-]{0,60}(?:\s+(?:/bin/)?(?:ba)?sh)?\s*$")
"""A shell in NVIDIA's image that has CUDA's runtime alone (docker.com, nvidia/cuda): neither NCCL nor a framework."""
_INBOUND = "127.0.0.6"
"""The source address of inbound connections: Istio pilot/pkg/networking/util/util.go (InboundPassthroughBindIpv4)."""
_LOCKING = frozenset({"IPC_LOCK", "CAP_IPC_LOCK", "ALL"})


@derived
def docker_in_snap(job: Job, view: View) -> bool:
    """Is Docker installed as a snap, as a path, a service or a person says?"""
    said = (c for c in job.contexts if (c.kind, c.value) == ("container", "docker-snap"))
    fact = next(itertools.chain(view.events_named("docker-in-snap"), said), None)
    if fact is not None:
        view.note(fact)
    return fact is not None


@derived
def gpu_count(launch: Launch, view: View) -> int | None:
    """The number of GPUs of the container; None when the line does not say it, or says all."""
    text = (launch.gpus or "").strip("\"'")
    if text.startswith("device="):
        return len(text.removeprefix("device=").split(","))
    return int(text) if text.isascii() and text.isdigit() else None


@derived
def has_several_gpus(launch: Launch, view: View) -> bool | None:
    """Does the container have several GPUs? ``all`` counts as several; None when the line does not say it."""
    if launch.gpus == "all":
        return True
    count = gpu_count(launch, view)
    return None if count is None else count > 1


@derived
def only_reports(launch: Launch, view: View) -> bool:
    """Does the container run a command that prints something about the machine, and no job: ``nvidia-smi``, ``env``?

    A shell in an image without libraries is for that, too.
    """
    return _REPORT.search(launch.text) is not None or _BARE_IMAGE.search(launch.text) is not None


@derived
def has_default_shm(launch: Launch, view: View) -> bool | None:
    """Does a pod have only the default /dev/shm of 64 MiB (kubelet and containerd, as Docker)?"""
    if launch.program != POD:
        return None
    if launch.ipc == "host":
        return False
    return None if launch.shm_mounted is None else not launch.shm_mounted


@derived
def can_lock_memory(launch: Launch, view: View) -> bool | None:
    """May the container lock memory without limit: privileged, IPC_LOCK, or an unlimited memlock?"""
    if launch.program != POD and launch.program not in CONTAINER_PROGRAMS:
        return None
    return bool(launch.privileged) or launch.memlock == "unlimited" or not _LOCKING.isdisjoint(launch.cap_add)


@derived
def asks_efa_only(launch: Launch, view: View) -> bool | None:
    """Are the RDMA devices that a pod requests AWS EFA devices only, whose nodes do not limit locked memory?"""
    asked = launch.rdma_resources
    return None if asked is None else bool(asked) and all(name.endswith("/efa") for name in asked)


@derived
def reaches_host_devices(launch: Launch, view: View) -> bool | None:
    """Does a pod see the RDMA devices of its host without requesting them: privileged, in the host's network?"""
    return bool(launch.privileged) and launch.network == "host" if launch.program == POD else None


@derived
def verbs_closed(host: Host, view: View) -> bool | None:
    """Can no program open the RDMA devices that the host has: did an open fail, or are there no uverbs files?"""
    failed = _closed(host, view)
    if failed is not None:
        view.note(failed)
        return True
    if host.infiniband_devices is None:
        return None
    if any(name.startswith("uverbs") for name in host.infiniband_devices):
        return False
    view.note(host, "infiniband_devices")
    return bool(has_rdma_hardware(host, view)) if has_rdma_hardware(host, view) is not None else None


@derived
def verbs_failure(host: Host, view: View) -> str:
    """The line of a program that could not open an RDMA device; empty for none."""
    failed = _closed(host, view)
    return failed.text if failed else ""


_OPENED = ("ib-query-gid-failed", "ib-query-port-failed", "ib-create-qp-failed", "ib-reg-mr-failed")
"""Events of a device that a program has opened: it asks for a port or GID, or creates a queue or a memory region."""
_DEVICE = lazy_regex(r"\b[a-z]+\w*_\w+\b")


def _closed(host: Host, view: View) -> Event | None:
    """An open of a device that failed for another reason than a lack of resources of the card or process.

    Programs report a device that they opened and cannot use (it has no suitable GID) in the same words.
    """
    failed = [e for e in view.events_on(host.name, OPEN_FAILURES) if not is_used_up(e, view)]
    if not failed:
        return None
    opened = {name for e in view.events_on(host.name, _OPENED) for name in _DEVICE.findall(e.text)}
    return next((e for e in failed if opened.isdisjoint(_DEVICE.findall(e.text))), None)


_SHM_EVENTS = frozenset({"shm-extend-failed", "shm-segment-failed", "container-shm-small", "shared-memory-full"})


@derived
def lacks_shm_room(job: Job, view: View) -> bool:
    """Did NCCL run out of space in /dev/shm?"""
    return any(e.event in _SHM_EVENTS and is_out_of_space(e, view) for e in job.events)


@derived
def refuses_nvml(host: Host, view: View) -> bool | None:
    """Could nvidia-smi not start? None where none of its output was shown."""
    if host.nvml_error is not None:
        view.note(host, "nvml_error")
        return True
    return False if host.gpus else None


@derived
def runs_on(launch: Launch, view: View) -> str | None:
    """The instance type that the pod requires; without one, the only type with EFA among the nodes of the cluster."""
    if launch.instance_type is not None or launch.program != "kubernetes":
        return launch.instance_type
    nodes = [node for node in view.job.cluster_nodes if node.instance_type in efa_machines()]
    if len({node.instance_type for node in nodes}) != 1:
        return None
    view.note(nodes[0])
    return nodes[0].instance_type


@derived
def efa_available(launch: Launch, view: View) -> int | None:
    """The number of EFA devices of the instance type that the pod runs on."""
    found = efa_machines().get(runs_on(launch, view) or "")
    return found.ports if found is not None else None


@derived
def takes_whole_instance(launch: Launch, view: View) -> bool | None:
    """Does the pod use all GPUs of the instance type that it runs on?"""
    found, count = efa_machines().get(runs_on(launch, view) or ""), gpu_count(launch, view)
    return None if found is None or count is None else count == products().gpu[found.gpu].board


@derived
def asks_other_efa_count(launch: Launch, view: View) -> bool | None:
    """Does the pod request EFA devices, but not as many as its instance type has?"""
    available = efa_available(launch, view)
    if launch.efa_devices is None or available is None:
        return None if launch.efa_devices is None or launch.efa_devices else False
    return launch.efa_devices not in {0, available}


def _comes_from_mesh(event: Event) -> bool:
    return _INBOUND in event.text and re.search(rf"(?<![\d.]){re.escape(_INBOUND)}(?![\d.])", event.text) is not None


@derived
def met_mesh(job: Job, view: View) -> bool:
    """Does a failed connection name the address from which Istio's proxy forwards inbound connections?"""
    return any(event.kind in FAILURES and _comes_from_mesh(event) for event in job.events)


@derived
def service_mesh(job: Job, view: View) -> str | None:
    """A sentence about a proxy that intercepts the connections of the ranks; empty for none, None if not known."""
    for launch in job.launches:
        if launch.mesh:
            view.note(launch)
            return f"The pods of {launch.text} carry the proxy of a service mesh ({launch.mesh})"
    for host in job.hosts:
        if host.mesh_chain:
            view.note(host, "mesh_chain")
            chain = f"(chain {host.mesh_chain})"
            return f"The connections of {host.name} are redirected to the proxy of a service mesh {chain}"
    for event in job.events:
        if event.kind in FAILURES and _comes_from_mesh(event):
            view.note(event)
            return f"A connection came from {_INBOUND}, the proxy of a service mesh (Istio)"
    told = [launch.mesh for launch in job.launches if launch.program == "kubernetes"]
    told += [host.mesh_chain for host in job.hosts]
    return "" if told and None not in told else None


@derived_of("pod-listed")
def has_company(event: Event, view: View) -> bool:
    """Does the pod of a replica have other containers besides that of the job?"""
    several = int(event.fields.get("containers") or 0) > 1
    return several and re.fullmatch(_REPLICA, str(event.fields.get("pod_name", ""))) is not None


@derived
def address_twice(job: Job, view: View) -> str | None:
    """Pods with equal addresses, ``worker-0 and worker-1 both have 10.56.7.4 on net1``, in additional networks.

    Empty for none; None where fewer than two pods show such an address.
    """
    held: dict[str, list[tuple[Host, Interface]]] = defaultdict(list)
    for host in job.hosts:
        for interface in host.interfaces:
            if re.fullmatch(_SECOND, interface.name):
                for address in interface.addresses or ():
                    held[address.ip].append((host, interface))
    for ip, holders in held.items():
        names = dict.fromkeys(host.name for host, _ in holders)
        if len(names) > 1:
            for _, interface in holders[:2]:
                view.note(interface, "addresses")
            return f"{' and '.join([*names][:2])} both have {ip} on {holders[0][1].name}"
    return "" if len({host.name for holders in held.values() for host, _ in holders}) > 1 else None


@derived
def uses_bridge(launch: Launch, view: View) -> bool:
    """Does the container use Docker's own bridge, which is the default?"""
    return launch.network in {None, "bridge", "default"}


@derived_of("verbs-provider-missing", "verbs-abi-mismatch")
def is_provider_missing(event: Event, view: View) -> bool:
    """Did the verbs library find no driver for an adapter, or one that does not match the kernel's interface?

    It also reports drivers for absent hardware; those count only where they serve the usual adapters.
    """
    driver = event.fields.get("driver_file")
    return driver is None or any(name in str(driver) for name in ("mlx5", "mlx4", "efa", "bnxt_re", "irdma"))


@derived
def publishes_ports(launch: Launch, view: View) -> bool:
    """Does the line map individual ports of a container to its host?"""
    return is_container(launch, view) and re.search(r"\s(?:-p|--publish)[= ]?[\d.:]{1,40}:\d", launch.text) is not None


_NOT_STARTED = {
    "k8s-kind-unknown": "The cluster does not know the kind {object_kind}: its operator is not installed",
    "k8s-object-refused": "Kubernetes refuses an object of the job",
    "k8s-image-not-pulled": "A node cannot fetch the image {image}",
    "k8s-volume-not-mounted": "A volume of a pod cannot be mounted",
    "k8s-network-not-attached": "A network of a pod cannot be set up on its node",
    "k8s-container-not-created": "The container of a pod cannot be created on its node",
    "k8s-devices-not-prepared": "The devices that a pod claims cannot be prepared on its node",
}


@derived
def pod_trouble(event: Event, view: View) -> str:
    """Why a pod is not started, as a sentence: ``A node cannot fetch the image train:1``."""
    if event.event == "pod-listed":
        return listed_trouble(event, view)
    text = _NOT_STARTED.get(event.event, "")
    network = re.search(r"\bnetwork \"([^\"]{1,100})\"", event.text)
    if event.event == "k8s-network-not-attached" and network is not None:
        text = f"The network {network[1]} of a pod cannot be set up on its node"
    names = {name: str(event.fields.get(name, "")) for name in ("object_kind", "image")}
    return " ".join(text.format(**names).split())


@derived_of("network-policy")
def restricts_all_pods(event: Event, view: View) -> bool:
    """Does a NetworkPolicy apply to all pods of its namespace?"""
    return event.fields.get("pods") == "<none>"


_CONNECTS = (
    "socket-connect-failed",
    "socket-connect-exhausted",
    "c10d-connect-failed",
    "c10d-connect-timeout",
    "gloo-connect-failed",
)
_SILENT = frozenset({"ETIMEDOUT", "EHOSTUNREACH", "EHOSTDOWN", None})


@derived
def gets_no_answer(job: Job, view: View) -> bool:
    """Did a connection between processes of the job get no answer at all, as if its packets were dropped?"""
    for event in job.events:
        if event.event in _CONNECTS and error_name(event, view) in _SILENT:
            view.note(event)
            return True
    return False


@derived
def nvidia_open_to(job: Job, view: View) -> tuple[str, ...]:
    """The places in which nvidia-smi works, and nothing says that it fails there: `host`, `container`, ..."""
    mine = [access for access in job.accesses if access.tool == "nvidia-smi"]
    shut = {access.place for access in mine if not access.works}
    found = {access.place: access for access in mine if access.works and access.place and access.place not in shut}
    for access in found.values():
        view.note(access)
    return tuple(found)


@derived
def amd_closed_to(job: Job, view: View) -> tuple[str, ...]:
    """Who cannot use the AMD GPUs although others can, in the words of ``nvidia_closed_to``."""
    return tuple(closed(job, view, "rocm-smi", "rocm"))


@derived
def rdma_closed_to(job: Job, view: View) -> tuple[str, ...]:
    """Who cannot use the RDMA devices although others can: `container`, `job` or `user`."""
    return tuple(who for who in closed(job, view, "rdma", "rdma") if who not in {"programs", "host"})


@derived
def gpus_not_reached(job: Job, view: View) -> bool:
    """Are the GPUs not reached, as people say, who say nothing of RDMA: does it fail before its network matters?"""
    shut = next((a for a in job.accesses if not a.works and a.tool not in {"rdma", "program"}), None)
    if shut is None or any(a.tool == "rdma" for a in job.accesses):
        return False
    view.note(shut)
    return True
