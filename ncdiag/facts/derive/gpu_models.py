"""What a model of GPU says about its NVLinks: SXM modules sit on a board that joins them, cards need bridges.

Links of a GPU and what each carries: NVIDIA A100, H100 and Blackwell architecture whitepapers (A100 12 links of 25 GB/s
in each direction, H100 and H200 18 of 25, B200 18 of 50); the models for China have fewer (A800, H800: 8). H20 has 18.
Boards hold four modules, joined directly, or eight behind NVSwitches (NVIDIA Fabric Manager user guide, NVSwitch-Based
Systems); those of GB200 and GB300 reach switches in other trays of the rack.
"""

from __future__ import annotations

import re

import msgspec

from ncdiag.facts.model import Gpu, Host
from ncdiag.facts.view import View, derived


class Module(msgspec.Struct, frozen=True):
    """An SXM model: its NVLinks and what each of them carries in one direction, in GB/s."""

    pattern: re.Pattern[str]
    links: int
    link_gb_per_s: float = 25.0


_MODULES = (
    Module(re.compile(r"\bA100-SXM"), 12),
    Module(re.compile(r"\bA800-SXM"), 8),
    Module(re.compile(r"\bH100 \d{2,3}GB HBM"), 18),
    Module(re.compile(r"\bH800(?! PCIe| NVL)\b"), 8),
    Module(re.compile(r"\bH200(?! NVL)\b"), 18),
    Module(re.compile(r"\bH20(?:-3e|Z)?(?! NVL)(?![\w-])"), 18),
    Module(re.compile(r"\b(?:GB[23]00|B[123]00)\b"), 18, 50.0),
)
_RACK = re.compile(r"\bG(?:B[23]00|H200)\b")
_CARD = re.compile(
    r"\bPCIe\b|-PCIE-|\bNVL\b|\b(?:GeForce|RTX|Quadro|TITAN|GTX)\b|\b(?:A(?:2|10|10G|16|30|40)|L(?:4|20|40|40S)|T4)\b"
)


def module_of(gpu: Gpu) -> Module | None:
    """The SXM model of a GPU; None for a card, and where the model is not known."""
    return next((m for m in _MODULES if gpu.model and m.pattern.search(gpu.model)), None)


@derived
def is_module(gpu: Gpu, view: View) -> bool | None:
    """True for an SXM module or a GPU of a rack, False for a card; None where the model does not decide."""
    if gpu.model is None:
        return None
    if module_of(gpu) is not None:
        return True
    return False if _CARD.search(gpu.model) else None


@derived
def is_of_rack(gpu: Gpu, view: View) -> bool | None:
    """True if its NVSwitches stand in other trays of the rack, which no service of this host sets up."""
    return None if gpu.model is None else _RACK.search(gpu.model) is not None


def listed(host: Host) -> list[Gpu] | None:
    """The GPUs of the host as nvidia-smi lists them; None when no list is known to be whole."""
    gpus = [gpu for gpu in host.gpus if gpu.index is not None]
    whole = {"nvidia_smi", "nvidia_smi_L", "nvidia_smi_q", "nvml"} & host.complete
    return gpus if gpus and (whole or len(gpus) == host.gpus_attached) else None
