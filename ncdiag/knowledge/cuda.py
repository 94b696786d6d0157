"""GPUs that failed or were repaired, by their Xids; programs that see none of them."""

from __future__ import annotations

import re
from collections import defaultdict

from ncdiag.base.patterns import lazy_regex
from ncdiag.facts.assemble_hosts import UNNAMED
from ncdiag.facts.derived import derived, derived_for, derived_of
from ncdiag.facts.model import Event, Fact, Gpu, Host, Job, Setting
from ncdiag.facts.model.declared import is_closed
from ncdiag.facts.view import View
from ncdiag.facts.vocabulary.gpus import gpu_of
from ncdiag.facts.vocabulary.launches import POD, is_container
from ncdiag.facts.vocabulary.outcome import is_open_failure
from ncdiag.facts.vocabulary.platforms import platforms
from ncdiag.messages.vocabulary.cuda_errors import (
    PRINTED,
    REFUSED,
    UNAVAILABLE,
    cuda_class,
    is_cuda_unavailable,
    is_gpu_refused,
    is_nvlink_error,
)
from ncdiag.messages.vocabulary.gpu_memory import is_held_by_pytorch
from ncdiag.messages.vocabulary.xids import (
    SXID,
    XID,
    is_fatal_sxid,
    is_link_xid,
    is_unfit,
    memory_xids,
    of,
    wanted_recovery,
)
from ncdiag.nccl.vocabulary.relations.table import relations
from ncdiag.nccl.xids import Remedy

_ENLARGING = {
    "NCCL_BUFFSIZE": 32 << 20, "NCCL_LL128_BUFFSIZE": 32 << 20, "NCCL_LL_BUFFSIZE": 8 << 20, "NCCL_MIN_NCHANNELS": 33,
    "NCCL_MIN_CTAS": 33,
}  # fmt: skip
"""Values from which NCCL's buffers, one for each channel and peer, use gigabytes (src/init.cc, computeBuffSizes)."""
_FULL = 0.9
"""The part of its memory above which a GPU counts as full."""
_GSP_XIDS = frozenset({119, 120})
"""Xids after which the driver also prints its last calls (kernel_gsp.c, kgspLogRpcDebugInfo)."""

_UVM = "nvidia_uvm"
_OF_NVIDIA = frozenset({"CUDA_VISIBLE_DEVICES", "NVIDIA_VISIBLE_DEVICES"})
"""Variables that name a MIG instance."""
_INSTANCES = ("MIG-", "nvidia.com/mig-")
"""How a MIG instance is named by its UUID, and as a resource of Kubernetes."""


@derived_of("duplicate-gpu", "cuda-invalid-device")
def is_between_mig_instances(event: Event, view: View) -> bool:
    """Does NCCL find one GPU twice, or CUDA no second one, where programs are given MIG instances of a GPU?

    CUDA gives a process one instance of those that are named, or of a host whose GPUs are all divided.
    """
    given: list[Fact] = [
        setting for setting in view.job.settings
        if setting.name in _OF_NVIDIA and (setting.text or "").lstrip("'\"").startswith("MIG-")
        and (event.event == "duplicate-gpu" or (setting.text or "").count("MIG-") > 1)
    ]  # fmt: skip
    is_twice, hosts = event.event == "duplicate-gpu", [h for h in view.job.hosts if event.host in {h.name, None}]
    given += [each for each in view.job.launches if is_twice and any(word in each.text for word in _INSTANCES)]
    hosts = [host for host in hosts if is_twice or all(gpu.mig for gpu in host.gpus)]
    given += [gpu for host in hosts for gpu in host.gpus if gpu.mig]
    for fact in given:
        view.note(fact)
    return bool(given)


@derived
def lacks_uvm(host: Host, view: View) -> bool | None:
    """Is the GPU driver loaded without its module for unified memory, or is the device file of that module missing?"""
    told = next(iter(view.events_on(host.name, ["nvidia-uvm-missing"])), None)
    if told is not None:
        view.note(told)
        return True
    if host.nvidia_uvm_file is not None:
        view.note(host, "nvidia_uvm_file")
        return not host.nvidia_uvm_file
    if any(module.name == _UVM for module in host.modules):
        return False
    driver = next((module for module in host.modules if module.name == "nvidia"), None)
    if driver is None or not (is_closed(host, "modules") or _UVM in (host.absent_modules or ())):
        return None
    view.note(driver)
    return True


@derived
def cuda_never_starts(host: Host, view: View) -> bool:
    """Does CUDA find no GPU on a host, or fail without an error name, as it does where it cannot open its devices?"""
    mine = view.events_on(host.name, UNAVAILABLE)
    found = next((e for e in mine if is_cuda_unavailable(e, view) or cuda_class(e, view) == "unnamed"), None)
    if found is not None:
        view.note(found)
    return found is not None


@derived
def is_left_alone(gpu: Gpu, view: View) -> bool:
    """Is the GPU used by no rank, where all ranks of the job show their GPUs?

    If the GPUs are listed only by number and several ranks name the same one, each rank sees different GPUs.
    """
    host, ranks = view.host(gpu.host), view.job.ranks
    if host is None or not ranks or len(ranks) != max(rank.nranks or 0 for rank in ranks):
        return False
    mine = view.ranks_on(host.name)
    used = {found.index for rank in mine if (found := gpu_of(rank, host)) is not None}
    return len(used) == len(mine) and gpu.index not in used


@derived
def is_needed_whole(gpu: Gpu, view: View) -> bool | None:
    """Does the job need whole GPUs, not MIG instances: has it several ranks, or did CUDA refuse a GPU of this host?

    None if the number of ranks is unknown.
    """
    refused = next((e for e in view.events_on(gpu.host, REFUSED) if is_gpu_refused(e, view)), None)
    if refused is not None:
        view.note(refused)
        return True
    return has_several_ranks(view.job, view)


@derived_of(XID)
def follows_switch(event: Event, view: View) -> bool:
    """Is it an Xid of the NVLinks of a GPU on a host whose NVSwitch failed, that is, another sign of the same fault?"""
    return is_link_xid(event, view) and any(is_fatal_sxid(e, view) for e in view.events_on(event.host, [SXID]))


@derived_of(XID, "gpu-gsp-history", "cuda-nvlink-error", *PRINTED)
def is_fatal_gpu_failure(event: Event, view: View) -> bool:
    """Was a GPU lost: an Xid that needs a reset, a system processor that does not answer, a lost NVLink?

    False for NVLinks to an NVSwitch that failed.
    """
    if not event.event.startswith("gpu-"):
        return bool(is_nvlink_error(event, view))
    if event.event == XID:
        return is_unfit(event, view) and not follows_switch(event, view)
    told = {e.fields.get("xid") for e in view.events_on(event.host, [XID])}
    return not told & _GSP_XIDS


_MENDED_BY: dict[Remedy, str] = {
    "reset": "reset the GPU",
    "reboot": "restart the host",
    "update": "update the driver, of host and guest alike",
    "wiring": "check the cables and the slot of the GPU",
    "restart": "start the program again",
}


@derived
def xid_name(event: Event, view: View) -> str | None:
    """The name of the Xid in the event: ``GPU has fallen off the bus``."""
    known = of(event)
    return known.name if known is not None else None


@derived
def xid_meaning(event: Event, view: View) -> str:
    """What this Xid means, as a sentence: ``The GPU cannot be reached over PCIe ...``; empty where it is not known."""
    known = of(event)
    return known.meaning if known is not None else ""


_ITS_NODE = "<node of this GPU>"
_MACHINE = lazy_regex(r"(?<![\w.])(?=[\w.-]*\d)[A-Za-z][\w.-]{0,62}(?![\w.])")
"""A word with letters and digits, as names of machines are."""


@derived
def node(event: Event, view: View) -> str:
    """The host of the event for a command; a gap for it where no line names it, or the line names another machine.

    What a pod's log calls a host may be the pod, which is no node that can be drained.
    """
    name = event.host
    if not name or name == UNNAMED or _names_another(event, name):
        return _ITS_NODE
    is_pod = POD in platforms(view.job, view) and name not in {each.name for each in view.job.cluster_nodes}
    return _ITS_NODE if is_pod else name


def _names_another(event: Event, name: str) -> bool:
    """Does something in front of the driver's message look like the name of another machine?"""
    span = event.provenance.get("")
    front = span.text.partition("NVRM")[0] if span is not None and "NVRM" in span.text else ""
    words = _MACHINE.findall(front)
    return bool(words) and name not in {word.partition(".")[0] for word in words}


@derived
def needs_reboot(event: Event, view: View) -> bool:
    """Does this GPU come back only when its host is restarted?"""
    known = of(event)
    return known is not None and known.remedy == "reboot"


@derived
def remedy(event: Event, view: View) -> str:
    """The first thing to do for a GPU that failed: ``restart the host``."""
    known, wanted = of(event), wanted_recovery(event, view)
    if wanted:
        return f"do what the driver wants ({wanted})"
    return _MENDED_BY.get(known.remedy if known is not None else "reset", _MENDED_BY["reset"])


@derived
def has_several_ranks(job: Job, view: View) -> bool | None:
    """Are there several ranks, by the log or by the launch line? None when neither shows it."""
    if job.nranks is not None:
        return job.nranks > 1
    counts = [count for launch in job.launches for count in (launch.np, launch.nproc_per_node) if count is not None]
    return max(counts) > 1 if counts else None


_LOST = frozenset({"gpu-fell-off-bus", "gpu-init-failed", "gpu-handle-missing", "gpu-answers-nothing"})
_OFF_THE_BUS = 79


@derived_of(XID)
def is_repair(event: Event, view: View) -> bool:
    """Does an Xid only report that memory was taken out of use, or that errors were corrected?"""
    known = of(event)
    noted = known is not None and (known.fault, known.remedy) == ("memory", "none")
    return noted and not memory_xids(view)


@derived_of(XID)
def is_program_xid(event: Event, view: View) -> bool:
    """Did a fault of the program cause an Xid, after which the GPU need not be reset?"""
    known = of(event)
    return known is not None and known.fault in {"program", "engine"}


@derived_of(XID)
def is_echo(event: Event, view: View) -> bool:
    """Does an Xid only report a clean-up by the driver, or that the links to a failed NVSwitch are down?"""
    known = of(event)
    return known is not None and (known.fault == "echo" or follows_switch(event, view))


_NOTED = frozenset({"bus", "firmware", "power", "store", "advice", "other"})


@derived_of(XID)
def is_noted(event: Event, view: View) -> bool:
    """Does an Xid report something that needs no immediate action?"""
    known = of(event)
    return known is not None and known.fault in _NOTED and not is_unfit(event, view)


@derived_of(*_LOST)
def is_lost_gpu(event: Event, view: View) -> bool:
    """Did a GPU leave the bus or not start, without an Xid 79 or a line that names the GPU and reports the same?"""
    if any(e.event == XID and e.fields.get("xid") == _OFF_THE_BUS for e in view.job.events):
        return False
    unnamed = event.event == "gpu-init-failed" and not event.fields.keys() & _NAMES
    return not (unnamed and any(e.fields.keys() & _NAMES for e in view.events_on(event.host, [event.event])))


_NAMES = {"pci", "gpu_minor"}
_BOXES = frozenset({"docker", "docker-snap", "podman", "enroot", "pyxis", "apptainer", "singularity", "kubernetes"})
"""Containers and orchestrators of which people say that a job runs in them."""


@derived
def in_container(job: Job, view: View) -> bool:
    """Does the job, or the program that fails, run in a container or pod, as far as anything says so?"""
    if any(is_container(launch, view) or launch.program == "kubernetes" for launch in job.launches):
        return True
    if any(host.in_container for host in job.hosts) or any(a.place == "container" for a in job.accesses):
        return True
    return any(c.kind in {"container", "orchestrator"} and c.value in _BOXES for c in job.contexts)


_VISIBLE = frozenset({
    "CUDA_VISIBLE_DEVICES", "NVIDIA_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES",
    "ASCEND_VISIBLE_DEVICES", "ASCEND_RT_VISIBLE_DEVICES", "GPU_DEVICE_ORDINAL",
})  # fmt: skip
_NONE = frozenset({"", "-1", "nodevfiles", "none", "void", "null"})
"""Values that mean no GPU: CUDA ends at the first number that is not a device, Slurm and the runtimes have words."""


@derived_for(*_VISIBLE)
def hides_all_gpus(setting: Setting, view: View) -> bool:
    """Does the variable hide all GPUs from the program?"""
    hit = setting.text is not None and setting.text.strip("\"' ").lower() in _NONE
    if hit:
        view.note(setting)
    return hit


@derived_for("CUDA_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES")
def is_range_of_gpus(setting: Setting, view: View) -> bool:
    """Is the list written with ranges, such as ``0-3``, of which CUDA reads the first number and HIP nothing?

    Not if the ranks of a process use more GPUs than that: its launcher then wrote all numbers.
    """
    listed = (setting.text or "").strip("\"' ")
    if not _RANGES.fullmatch(listed):
        return False
    seen = listed.count(",") + 1
    if any(rank.cuda_dev is not None and rank.cuda_dev >= seen for rank in view.job.ranks):
        return False
    view.note(setting)
    return True


_RANGES = lazy_regex(r"(?:\d{1,3},){0,63}\d{1,3}-\d[\d,-]{0,255}")


@derived_of("cuda-out-of-memory")
def is_on_gpu0(event: Event, view: View) -> bool | None:
    """Did GPU 0 run out of memory? Where the line names no GPU: does nvidia-smi show that GPU 0 is full?

    PyTorch before 2.1 prints ``(GPU 0; 23.60 GiB total capacity``.
    """
    named = re.search(r"\bGPU (\d{1,3})(?:;| has a total)", event.text)
    if named is not None:
        return int(named[1]) == 0
    shown = [gpu for host in view.job.hosts for gpu in host.gpus if gpu.index == 0 and gpu.memory_mib]
    used = [(gpu.memory_used_mib or 0) / gpu.memory_mib for gpu in shown if gpu.memory_mib]
    return max(used) > _FULL if used else None


@derived
def tests_share_gpus(job: Job, view: View) -> bool:
    """Do processes that run nccl-tests separately use the same GPU of a host?"""
    alone = any(relation.what == "alone" for relation in relations(job, view))
    users: dict[tuple[str, int], set[int | None]] = defaultdict(set)
    for rank in job.ranks if alone else ():
        if rank.cuda_dev is not None:
            users[rank.host, rank.cuda_dev].add(rank.pid)
            view.note(rank)
    return any(len(pids) > 1 for pids in users.values())


@derived
def memory_setting(event: Event, view: View) -> str:
    """The variable of the job that makes NCCL's own buffers many times as large as by default; empty for none.

    Empty also where PyTorch says that it holds most of the GPU itself.
    """
    if is_held_by_pytorch(event):
        return ""
    place = view.host(event.host) or view.job
    for name, least in _ENLARGING.items():
        setting = view.setting(place, name) or view.setting(view.job, name)
        if setting is not None and setting.is_set is not False and (setting.number or 0) >= least:
            view.note(setting)
            return name
    return ""


@derived_of("engine-memory-changed")
def is_memory_released(event: Event, view: View) -> bool:
    """Did GPU memory become free while an engine measured what it needs, and did the engine end because of that?

    Two equal numbers show no other process: releases for some devices refuse these, too.
    """
    before, after = (event.fields.get(name) for name in ("memory_before", "memory_after"))
    if not isinstance(before, float) or not isinstance(after, float):
        return False
    grew = after < before if "used memory" in event.text else after > before
    return grew and is_open_failure(event, view)


@derived_of("cuda-out-of-memory")
def is_state_gathered(event: Event, view: View) -> bool:
    """Did GPU memory run out while FSDP gathered the whole model to save it (torch fsdp/_state_dict_utils.py)?

    It only warns, and the checkpoint may have invalid weights: a job that goes on has the fault as well.
    """
    return "Failed to clone() tensor with name" in event.text


@derived
def is_beside_used_gpus(event: Event, view: View) -> bool:
    """Does the host of the line have a GPU on which kernels run or programs compute, so that CUDA starts there?"""
    only = view.job.hosts[0] if len(view.job.hosts) == 1 else None
    host = only if event.host is None else view.host(event.host)
    for gpu in () if host is None else host.gpus:
        for field in ("load_percent", "process_mib"):
            if getattr(gpu, field):
                view.note(gpu, field)
                return True
    return False
