"""What GPUs can do, by any spelling of their name: ``4090``, ``NVIDIA GeForce RTX 4090``, ``A100-SXM4-80GB``.

A capability is a word: ``gdr`` (GPUDirect RDMA), ``peer`` (peer access over PCIe), ``nvlink``, ``nvls`` (NVLink SHARP),
``mig``, ``xgmi`` (AMD's links between GPUs); ``no-`` before it says that the GPU lacks it. What is not listed is
unknown.
"""

from __future__ import annotations

import functools
import re
from typing import NamedTuple

from ncdiag.base.patterns import lazy_regex


class Family(NamedTuple):
    """GPUs that can do the same: a pattern of spellings, the compute capability (AMD: LLVM target), and the words.

    The capability is empty if the spellings cover GPUs with different ones.
    """

    spelling: re.Pattern[str]
    arch: str
    can: frozenset[str]


def _family(spelling: str, arch: str, can: str) -> Family:
    return Family(lazy_regex(rf"(?<![a-z0-9])(?:{spelling})(?![a-z0-9])"), arch, frozenset(can.split()))


_AMD = "no-nvlink no-mig no-nvls"
"""Words for what only GPUs of NVIDIA have, as words of an AMD GPU."""
FAMILIES = (
    _family(r"gb10|dgx ?spark", "12.1", "no-gdr no-nvlink no-mig no-nvls"),
    _family(r"rtx ?pro ?\d000\w*(?: blackwell)?", "12.0", "gdr no-nvlink no-nvls"),
    _family(r"(?:geforce )?(?:rtx ?)?50[5-9]0 ?(?:ti|d)?", "12.0", "no-gdr no-peer no-nvlink no-mig no-nvls"),
    _family(r"g?b[123]00\w*", "10.0", "gdr peer nvlink mig nvls"),
    _family(r"h[128]00[- ]?(?:nvl|pcie)", "9.0", "gdr peer mig no-nvls"),
    _family(r"h20|[gh]h?[128]00", "9.0", "gdr peer nvlink mig"),
    _family(r"(?:geforce )?(?:rtx ?)?40[5-9]0 ?(?:ti|d|super)*", "8.9", "no-gdr no-peer no-nvlink no-mig no-nvls"),
    _family(r"l(?:2|4|20|40s?)|(?:rtx )?[4-6][05]00 ada", "8.9", "gdr no-nvlink no-mig no-nvls"),
    _family(r"a[18]00(?:[- ]?(?:sxm4?|pcie))?(?:[- ]?\d+g?b?)?", "8.0", "gdr peer nvlink mig no-nvls"),
    _family(r"a30", "8.0", "gdr mig no-nvls"),
    _family(r"a(?:2|10[gm]?|16)", "8.6", "no-nvlink no-mig no-nvls"),
    _family(r"a40|(?:rtx )?a[456]\d00", "8.6", "gdr no-mig no-nvls"),
    _family(r"(?:geforce )?(?:rtx ?)?30[5-9]0 ?(?:ti)?", "8.6", "no-gdr no-mig no-nvls"),
    _family(r"(?:geforce )?(?:rtx ?)?20[5-9]0 ?(?:ti|super)*|titan rtx", "7.5", "no-gdr no-mig no-nvls"),
    _family(r"geforce(?: gtx)?", "", "no-gdr no-mig no-nvls"),
    _family(r"t4", "7.5", "gdr no-nvlink no-mig no-nvls"),
    _family(r"v100s?(?:[- ]?(?:sxm[23]?|pcie))?(?:[- ]?\d+g?b?)?", "7.0", "gdr no-mig no-nvls"),
    _family(r"p100", "6.0", "gdr no-mig no-nvls"),
    _family(r"mi35[05]x?", "gfx950", f"xgmi {_AMD}"),
    _family(r"mi3(?:00[ax]?|08x?|25x?)", "gfx942", f"xgmi {_AMD}"),
    _family(r"mi250x?", "gfx90a", f"xgmi {_AMD}"),
    _family(r"mi210", "gfx90a", _AMD),
    _family(r"mi100", "gfx908", _AMD),
    _family(r"mi[56]0", "gfx906", _AMD),
    _family(r"rx ?9\d{3} ?(?:xt|gre)?|(?:pro )?r9[67]00", "gfx120x", f"no-xgmi {_AMD}"),
    _family(r"rx ?7\d{3} ?(?:xtx?|gre)?|(?:pro )?w7[5-9]00", "gfx110x", f"no-xgmi {_AMD}"),
    _family(r"rx ?6\d{3} ?(?:xt)?", "gfx103x", _AMD),
)  # fmt: skip
"""NVIDIA: compute capabilities (developer.nvidia.com/cuda-gpus); GPUDirect RDMA on data-center and RTX professional
GPUs alone (docs.nvidia.com/cuda/gpudirect-rdma); MIG on A30, A100 and later data-center GPUs and RTX PRO
(docs.nvidia.com/datacenter/tesla/mig-user-guide); NVLink of the data sheets; NVLink SHARP from NVSwitch 3 on (NCCL
user guide, NCCL_NVLS_ENABLE). AMD: targets of LLVM (rocm.docs.amd.com/en/latest/reference/gpu-specs.html); the driver
enables xGMI on Vega 20 and CDNA (Linux drivers/gpu/drm/amd/amdgpu/gmc_v9_0.c) and in some releases on Navi 21 (nv.c),
never on RDNA 3 and 4. MI210 and older cards need a bridge for it, MI250 and later have it on their board (data
sheets). Checked on 2026-11-29."""


@functools.lru_cache(maxsize=256)
def family_of(name: str) -> Family | None:
    """The family of a GPU by its name in any spelling; None for a name that is not known."""
    said = " ".join(re.sub(r"nvidia|tesla|[_()]", " ", name.lower()).split())
    return next((family for family in FAMILIES if family.spelling.search(said)), None)


def capabilities_of(name: str) -> frozenset[str]:
    """The words for what a GPU can and cannot do; empty for a name that is not known."""
    family = family_of(name)
    return family.can if family is not None else frozenset()
