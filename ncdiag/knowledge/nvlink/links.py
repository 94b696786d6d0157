"""NVLinks, NVSwitches and IMEX of a host: whether they exist, and whether all of them work."""

from __future__ import annotations

import re

from ncdiag.base.patterns import lazy_regex
from ncdiag.facts.derived import derived, derived_of
from ncdiag.facts.model import Context, Event, Gpu, Host, Job, Service
from ncdiag.facts.view import View
from ncdiag.facts.vocabulary.gpus import (
    driver_of,
    gpu_pairs,
    has_nvswitch,
    is_module,
    listed,
    module_of,
    offers_no_access,
)
from ncdiag.facts.vocabulary.outcome import is_open_failure
from ncdiag.messages.vocabulary.cuda_errors import PRINTED, is_fabric_wait, is_kernel_fault
from ncdiag.messages.vocabulary.xids import SXID
from ncdiag.nccl import xids
from ncdiag.nccl.vocabulary.peer_access import lacks_nvlink


@derived_of(SXID)
def is_apart(event: Event, view: View) -> bool:
    """Did kernels of the program fail only on other hosts, or more than an hour apart? No where none failed."""
    faults = [each for each in view.job.events if is_kernel_fault(each, view) and is_open_failure(each, view)]
    distant = [each for each in faults if event.time and each.time and abs(event.time - each.time) > 3600]  # noqa: PLR2004
    apart = [each for each in faults if each in distant or (each.host != event.host and each.host and event.host)]
    return bool(faults) and len(apart) == len(faults)


@derived
def fabric_manager_down(host: Host, view: View) -> bool | None:
    """Does CUDA wait for Fabric Manager, or is the service down on a machine with NVSwitches?

    True also where it finds no switch although there are some: the NVLink subnet manager does not run (HGX B200 and
    later).
    """
    for event in view.events_on(host.name, ["cuda-fabric-not-ready", *PRINTED]):
        if is_fabric_wait(event, view):
            view.note(event)
            return True
    has_switch = has_nvswitch(host, view)
    if has_switch is False or (has_switch is None and has_cards_told(view.job, view)):
        return False
    idle = view.events_on(host.name, ["fabric-manager-not-needed"])
    failed = view.events_on(host.name, ["fabric-manager-failed"])
    for event in (*idle, *failed) if has_switch or not idle else ():
        view.note(event)
        return True
    service = _fabric_manager(host)
    if service is None or service.active is None:
        return None
    view.note(service)
    return False if service.active else has_switch


@derived
def lacks_fabric_manager(host: Host, view: View) -> bool:
    """Does systemctl find no unit of Fabric Manager?"""
    service = _fabric_manager(host)
    return service is not None and service.installed is False


def _fabric_manager(host: Host) -> Service | None:
    return next((s for s in host.services if s.name.removesuffix(".service") == "nvidia-fabricmanager"), None)


_CARD = lazy_regex(r"(?:rtx|geforce|titan|quadro)\b.*|l40?s?|l20|a10g?|a16|a30|a40|t4|a[4-6]000")
"""Models as people write them, without the brand, that NVSwitches do not connect."""


@derived
def has_cards_told(job: Job, view: View) -> bool:
    """Are all GPUs in the input cards of models without an NVSwitch?"""
    named = [context for context in job.contexts if context.kind == "gpu-model"]
    for context in named:
        view.note(context)
    return bool(named) and all(_CARD.fullmatch(context.value) or _is_on_pcie(context) for context in named)


def _is_on_pcie(context: Context) -> bool:
    """Does the text say of the model that it is the card for PCIe (``A100 PCIe``)?"""
    form = rf"{re.escape(context.value)}[\s-](?:\d+\s?gb[\s-])?(?:pci-?e|nvl)\b"
    return re.search(form, context.text, re.IGNORECASE) is not None


@derived
def lacks_nvswitch_told(job: Job, view: View) -> bool:
    """Do people or Fabric Manager itself say that there are no NVSwitches?"""
    idle = [event for event in job.events if event.event == "fabric-manager-not-needed"]
    for event in idle:
        view.note(event)
    return bool(idle) or has_cards_told(job, view)


@derived_of(SXID)
def is_fabric_wide(event: Event, view: View) -> bool:
    """Is this an SXid after which all links of all switches of the host are down?"""
    return xids.reach(event.fields.get("sxid")) == "fabric"


_UNDER_WAY = frozenset({"Not Started", "In Progress"})
_DONE, _WELL = "Completed", "success"
_FAILED_RECOVERIES = "failed_recovery_events"


@derived
def fabric_problem(gpu: Gpu, view: View) -> str | None:
    """What prevents the GPU from joining the NVLink fabric, or is wrong there; empty for nothing, None if not known.

    A GPU alone in its virtual machine may have been given none of its links.
    """
    state, status = gpu.fabric_state, gpu.fabric_status
    if state is None and gpu.fabric_problems is None:
        return None
    view.note(gpu, "fabric_status" if state == _DONE and status else "fabric_state")
    if state in _UNDER_WAY:
        host = view.host(gpu.host)
        alone = host is not None and len(listed(host) or (1, 2)) == 1
        return None if alone else f"its registration is {(state or '').lower()}"
    if state == _DONE and status is not None and status.lower() != _WELL:
        return f"its registration ended with: {status}"
    view.note(gpu, "fabric_problems")
    return "; ".join(gpu.fabric_problems or ())


@derived
def failed_recoveries(gpu: Gpu, view: View) -> int | None:
    """The number of failed recoveries of the GPU's NVLinks; None if no counter shows it (before Blackwell)."""
    view.note(gpu, "nvlink_errors")
    return (gpu.nvlink_errors or {}).get(_FAILED_RECOVERIES)


_NVLS_LINKS = 18
"""The number of NVLinks of a Hopper GPU to NVSwitches; A100 has 12 and no multicast."""


@derived
def has_nvls_hardware(host: Host, view: View) -> bool | None:
    """Are the host's GPUs of a generation with multicast, and connected by NVSwitches?"""
    if any(is_module(gpu, view) is False for gpu in host.gpus):
        return False
    counts = [link.nvlink_count for link in host.links if link.nvlink_count is not None]
    return any(count >= _NVLS_LINKS for count in counts) if counts else None


@derived
def nvls_refused(host: Host, view: View) -> bool | None:
    """Does NCCL report for a GPU of this host that multicast is not available? None when it reports nothing."""
    told = view.events_on(host.name, ["nvls-state"])
    for event in told:
        if str(event.fields.get("availability", "")).startswith("not"):
            view.note(event)
            return True
    return False if told else None


_REGISTERED = 3


@derived
def fabric_manager_differs(host: Host, view: View) -> bool | None:
    """Do Fabric Manager and the driver have different versions: by its own message, else by the two versions?"""
    for event in view.events_on(host.name, ["fabric-manager-version"]):
        view.note(event)
        return True
    service = next((s for s in host.services if s.name == "nvidia-fabricmanager" and s.version), None)
    driver = driver_of(host)
    if service is None or driver is None:
        return None
    view.note(service)
    return service.version != driver


@derived_of("mnnvl-state")
def is_unfinished_fabric(event: Event, view: View) -> bool:
    """Is the GPU part of an NVLink fabric of several hosts (non-zero id) that it has not joined (state not 3)?"""
    if event.fields.get("fabric_state_code") in {None, _REGISTERED}:
        return False
    return any(str(event.fields.get(half, "0")).strip("0x") for half in ("uuid_high", "uuid_low"))


_FEW_LINKS = 4
"""The number of NVLinks of its siblings from which a GPU without any is an outlier."""


@derived
def active_nvlinks(gpu: Gpu, view: View) -> int | None:
    """The active NVLinks of the GPU, as listed or, with NVSwitches, as many as to any other GPU.

    None when not known.
    """
    if gpu.nvlinks is not None:
        view.note(gpu, "nvlinks")
        return gpu.nvlinks
    host = view.host(gpu.host)
    if host is None or gpu.index is None or not has_nvswitch(host, view):
        return None
    mine = [link for link in gpu_pairs(host) if f"GPU{gpu.index}" in {link.a, link.b}]
    for link in mine[:1]:
        view.note(link)
    return max((link.nvlink_count or 0 for link in mine), default=None)


@derived
def expected_nvlinks(gpu: Gpu, view: View) -> int | None:
    """The NVLinks that the GPU should have: as many as its siblings, as are listed for a module, or as its model has.

    A card without any, or a GPU without any among others with few, has no bridge, so that none are expected.
    """
    host = view.host(gpu.host)
    active = active_nvlinks(gpu, view)
    if host is None or active is None:
        return None
    alike: list[int] = [active_nvlinks(other, view) or 0 for other in host.gpus if other.model == gpu.model]
    most = max(alike)
    usual = is_module(gpu, view) is not False and most >= _FEW_LINKS and alike.count(most) > len(host.gpus) / 2
    expected = most if active or usual else 0
    module = module_of(gpu)
    if module is None or not active:
        return expected
    listed = active + (gpu.nvlinks_inactive or 0) if gpu.nvlinks is not None else module.links
    return max(expected, listed)


@derived
def is_card(gpu: Gpu, view: View) -> bool:
    """Is the GPU a PCIe card, whose NVLinks use pluggable bridges? False where the model is not known."""
    return is_module(gpu, view) is False


@derived
def lacks_nvlinks(gpu: Gpu, view: View) -> bool | None:
    """Does the GPU have fewer active NVLinks than it should? None where all are alike and their model is not known."""
    active, expected = active_nvlinks(gpu, view), expected_nvlinks(gpu, view)
    if active is None or expected is None:
        return None
    return None if active == expected and gpu.nvlinks is None and gpu.model is None else bool(active < expected)


@derived
def lost_nvlink(host: Host, view: View) -> str | None:
    """Why no NVLink connects SXM modules, which have no other link; empty if one does, None if it cannot be determined.

    Empty for cards. A module that is alone, or divided into MIG instances, needs none.
    """
    if {is_module(gpu, view) for gpu in host.gpus} == {False}:
        return ""
    modules = [gpu for gpu in host.gpus if is_module(gpu, view) and not gpu.mig]
    pairs = gpu_pairs(host)
    is_board = bool(pairs) and all(is_module(gpu, view) for gpu in host.gpus if gpu.model)
    if not modules or (len(modules) == 1 and not is_board):  # one GPU speaks for all between which links are shown
        return None
    told = [gpu for gpu in modules if gpu.nvlinks is not None]
    if len(told) > 1:
        view.note(told[0], "nvlinks")
        return "" if any(gpu.nvlinks for gpu in told) else f"all NVLinks of its {len(told)} GPUs are inactive"
    for link in pairs[:1]:
        view.note(link)
    if not pairs:
        return None
    joined = any((link.level or "").startswith("NV") for link in pairs)
    return "" if joined else f"its GPUs see each other over {'/'.join(sorted({p.level or '' for p in pairs}))}"


@derived
def refused_pairs(host: Host, view: View) -> str | None:
    """Pairs on NVLink without peer access in the driver, ``GPU0 and GPU3``; empty for none.

    None when no output shows peer access, or how the GPUs without it are connected.
    """
    answers = [(link, offers_no_access(link)) for link in host.links]
    if all(lacks is None for _, lacks in answers):
        return None
    on_switch, bare = has_nvswitch(host, view), lacks_nvlink(host, view)
    refused = [link for link, lacks in answers if lacks]
    bad = [link for link in refused if link.nvlink_count or on_switch]
    if not bad and on_switch is None and not bare and any(link.level is None for link in refused):
        return None
    for link in bad[:3]:
        view.note(link)
    return "; ".join(f"{link.a} and {link.b}" for link in bad[:3]) + (" and others" if len(bad) > 3 else "")  # noqa: PLR2004


_NVLS = lazy_regex(r"(?:nccl)?[nN]vls[A-Z]\w*")


@derived
def held_in_nvls(job: Job, view: View) -> bool:
    """Is a running process in the setup of NVLS, where its ranks wait for each other?"""
    for dump in job.stack_dumps:
        if not dump.has_failed and any(_NVLS.match(f.function) for thread in dump.threads for f in thread.frames):
            view.note(dump)
            return True
    return False
