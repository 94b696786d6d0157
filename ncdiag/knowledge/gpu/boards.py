"""GPUs that are missing, unreadable, faulty or poorly connected."""

from __future__ import annotations

from collections.abc import Collection

from ncdiag.facts.derived import derived
from ncdiag.facts.model import Gpu, HealthCheck, Host, TopoLink
from ncdiag.facts.stated import counts
from ncdiag.facts.view import View
from ncdiag.facts.vocabulary.gpus import (
    DATA_TESTS,
    MESH_SIZE,
    is_module,
    joins_gpus,
    link_gbs,
    listed,
    module_of,
    noted_hit,
)
from ncdiag.facts.vocabulary.pci import LENT, is_nvidia_gpu
from ncdiag.facts.vocabulary.usual import symptoms
from ncdiag.messages.vocabulary.cuda_errors import is_invalid_device


@derived
def missing_gpus(host: Host, view: View) -> str | None:
    """The GPUs that nvidia-smi lists, of those that boards of this model have, ``7 of 8``; empty for whole boards.

    Empty also for cards, which may be any number. None when no complete list or no model is known, and in a container,
    which may have been given fewer.
    """
    gpus = listed(host)
    if gpus is None or host.in_container:
        return None
    modules = [is_module(gpu, view) for gpu in gpus]
    if not all(modules):
        return "" if set(modules) == {False} else None
    board = max((module.board or 0 for gpu in gpus if (module := module_of(gpu)) is not None), default=0)
    if not board // 2 < len(gpus) < board:  # slices of a board have 1, 2 or 4 of eight
        return ""
    view.note(gpus[-1])
    return f"{len(gpus)} of {board}"


_WITHOUT_DISPLAY = "3D controller"
"""Server GPUs; others may be a workstation's display GPU."""


@derived
def unlisted_gpus(host: Host, view: View) -> str | None:
    """The GPUs that nvidia-smi lists, ``7 of the 8 GPUs on its PCI bus``.

    Empty if all, None where a list is missing. Even without a list, if a driver for virtual machines holds some and the
    job lacks one.
    """
    gpus = listed(host)
    if lent := _lent_gpus(host, view):
        return lent
    if gpus is None or "lspci" not in host.complete or host.in_container:
        return None
    there = [device for device in host.pci if is_nvidia_gpu(device) and _WITHOUT_DISPLAY in (device.description or "")]
    if len(there) <= len(gpus):
        return ""
    for device in there[-1:]:
        view.note(device)
    return f"{len(gpus)} of the {len(there)} GPUs on its PCI bus"


def _lent_gpus(host: Host, view: View) -> str:
    """The same text if a driver for virtual machines holds some of the GPUs and the job lacks one; else empty."""
    there = [device for device in host.pci if is_nvidia_gpu(device)]
    lent = [device for device in there if device.driver in LENT]
    kept = sum(device.driver == "nvidia" for device in there)
    if not lent or not kept or host.in_container:
        return ""
    if not (
        any(number > kept for number in counts(view.job.contexts, "gpu-count"))
        or "not-used:gpu-unseen" in symptoms(view.job, view)
        or any(is_invalid_device(event, view) for event in view.job.events)
    ):
        return ""
    view.note(lent[0], "driver")
    return f"{kept} of the {len(there)} GPUs on its PCI bus ({lent[0].driver} holds {lent[0].bus_id})"


_FEW = 1 / 8
"""The maximum share of GPU pairs without xGMI for a host to count as a mesh with missing links."""
_NO_ACTION = "None"
"""The ``Recovery Action`` of a GPU that needs none."""
_SET_UP = frozenset({"persistence mode", "graphics processes", "environment variables", "permissions and os blocks"})
"""Tests of ``dcgmi diag`` that check settings of the host, not its hardware."""


@derived
def needed_recovery(gpu: Gpu, view: View) -> str | None:
    """The action that the driver requests: ``Reset``; empty for none, None if it was not queried."""
    if gpu.recovery_action is not None:
        view.note(gpu, "recovery_action")
        return "" if gpu.recovery_action == _NO_ACTION else gpu.recovery_action
    if gpu.reset_required is not None:
        view.note(gpu, "reset_required")
        return "Reset" if gpu.reset_required else ""
    return None


@derived
def is_unreadable(gpu: Gpu, view: View) -> bool:
    """Does nvidia-smi print an error in place of the GPU's values?"""
    if gpu.unreadable:
        view.note(gpu, "unreadable")
    return bool(gpu.unreadable)


@derived
def sees_no_gpu(host: Host, view: View) -> bool | None:
    """Does nvidia-smi find no GPU at all?"""
    if host.gpus_attached is None:
        return None
    view.note(host, "gpus_attached")
    return host.gpus_attached == 0


@derived
def is_hardware_failure(check: HealthCheck, view: View) -> bool:
    """Did a test of hardware fail? Tests of the host's settings, and of data, do not count."""
    is_of_hardware = check.program not in DATA_TESTS and check.name.lower() not in _SET_UP
    return noted_hit(check, view, is_hit=check.result == "fail" and is_of_hardware)


@derived
def is_warning(check: HealthCheck, view: View) -> bool:
    """Did a test warn, or a test of the host's settings fail?"""
    is_setting = check.result == "fail" and check.name.lower() in _SET_UP
    return noted_hit(check, view, is_hit=check.result == "warn" or is_setting)


@derived
def damaged_memory(gpu: Gpu, view: View) -> str:
    """What nvidia-smi says about damaged GPU memory; empty for none. Memory that a reset repairs does not count."""
    told = {
        "a row could not be remapped": gpu.remapping_failed,
        f"{gpu.ecc_uncorrected} uncorrected errors": bool(gpu.ecc_uncorrected),
    }
    return ", ".join(words for words, holds in told.items() if holds)


def _kind(link: TopoLink) -> str | None:
    return link.link_type or (link.level if link.level in {"XGMI", "PCIE"} else None)


def _is_nearly_mesh(pairs: Collection[TopoLink]) -> bool:
    """Does xGMI connect nearly all pairs of eight GPUs? On boards with two dies per GPU, it connects about half."""
    names = {name for link in pairs for name in (link.a, link.b)}
    return len(names) == MESH_SIZE and 0 < sum(_kind(link) == "PCIE" for link in pairs) <= len(pairs) * _FEW


@derived
def xgmi_gap(host: Host, view: View) -> str | None:
    """Pairs of a mesh that only PCIe connects while xGMI connects others, ``GPU2 and GPU5``; empty for none.

    None if the links are not known, or if the models are not known and too few links are xGMI for a mesh. Where no pair
    has xGMI, the table is from another machine.
    """
    models = [gpu for gpu in host.gpus if gpu.model]
    pairs = [link for link in host.links if joins_gpus(link) and _kind(link)]
    if not pairs or not (models or _is_nearly_mesh(pairs)):
        return None
    if not all(map(link_gbs, models)) or len(host.gpus) > MESH_SIZE:  # more: GPUs that are partitioned
        return ""
    without = [link for link in pairs if _kind(link) == "PCIE"]
    if len(without) == len(pairs):
        return ""
    for link in without[:2]:
        view.note(link)
    for gpu in models[:1]:
        view.note(gpu, "model")
    return ", ".join(f"{link.a} and {link.b}" for link in without)
