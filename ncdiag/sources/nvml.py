"""GPUs as NVML tells them, through pynvml (the package nvidia-ml-py): what nvidia-smi shows, without starting it.

An absent driver, library or GPU is an answer with a reason, never an exception. Each value is asked for on its own: old
drivers lack some, and a GPU that fell off the bus answers none.
"""

from __future__ import annotations

import contextlib
import ctypes
from collections.abc import Callable
from typing import Any

from ncdiag.facts.observe import Observation
from ncdiag.facts.scalars import bus_id
from ncdiag.sources.tree import Tree

_FABRIC = {1: "Not Started", 2: "In Progress", 3: "Completed"}  # NVML_GPU_FABRIC_STATE_*, in nvidia-smi's words


def gpus(tree: Tree) -> tuple[list[Observation], str | None]:
    """(observations, reason why there are none). The list is whole when there is no reason."""
    try:
        import pynvml
    except ImportError:
        return [], "the module pynvml is not installed (pip install nvidia-ml-py)"
    try:
        pynvml.nvmlInit()
    except (pynvml.NVMLError, OSError) as error:
        return [], _reason(error)
    try:
        count = pynvml.nvmlDeviceGetCount()
        system = _System(pynvml)
        found = [_gpu(tree, pynvml, system, index) for index in range(count)]
        whole = tree.fact(
            "dev/nvidiactl", "Host", text=f"NVML: {count} GPUs", line=0, complete=["nvml"], driver=system.driver
        )
    except (pynvml.NVMLError, OSError) as error:
        return [], _reason(error)
    finally:
        with contextlib.suppress(pynvml.NVMLError):
            pynvml.nvmlShutdown()
    return [*found, whole], None


def _reason(error: Exception) -> str:
    return f"NVML: {error}"


class _System:
    """What is the same for all GPUs."""

    def __init__(self, nvml: Any) -> None:  # noqa: ANN401  (a module without type information)
        """Ask once."""
        self.driver = _ask(nvml, lambda: _text(nvml.nvmlSystemGetDriverVersion()))
        version = _ask(nvml, nvml.nvmlSystemGetCudaDriverVersion)
        self.cuda = f"{version // 1000}.{version % 1000 // 10}" if version else None


def _gpu(tree: Tree, nvml: Any, system: _System, index: int) -> Observation:  # noqa: ANN401
    handle = nvml.nvmlDeviceGetHandleByIndex(index)

    def ask(name: str, *arguments: Any) -> Any:  # noqa: ANN401
        return _ask(nvml, lambda: getattr(nvml, name)(handle, *arguments))

    memory, capability = ask("nvmlDeviceGetMemoryInfo"), ask("nvmlDeviceGetCudaComputeCapability")
    mode, address = ask("nvmlDeviceGetMigMode"), ask("nvmlDeviceGetPciInfo")
    where = bus_id(_text(address.busId)) if address else None
    model, uuid = ask("nvmlDeviceGetName"), ask("nvmlDeviceGetUUID")
    return tree.fact(
        "dev/nvidiactl", "Gpu", index, line=0, text=f"NVML: GPU {index} {_text(model or '')} {where}",
        bus_id=where, uuid=_text(uuid) if uuid else None, model=_text(model) if model else None,
        driver=system.driver, cuda=system.cuda, nvlinks=_links(nvml, handle), fabric_state=_fabric(nvml, handle),
        memory_mib=memory.total >> 20 if memory else None, mig=bool(mode[0]) if mode else None,
        compute_capability=f"{capability[0]}.{capability[1]}" if capability else None,
        pcie_gen=ask("nvmlDeviceGetCurrPcieLinkGeneration"), pcie_gen_max=ask("nvmlDeviceGetMaxPcieLinkGeneration"),
        pcie_width=ask("nvmlDeviceGetCurrPcieLinkWidth"), pcie_width_max=ask("nvmlDeviceGetMaxPcieLinkWidth"),
        numa_node=_numa(tree, where),
    )  # fmt: skip


def _ask(nvml: Any, question: Callable[[], Any]) -> Any:  # noqa: ANN401
    """The answer; None for what this driver, GPU or binding does not know."""
    try:
        return question()
    except (nvml.NVMLError, AttributeError, TypeError, ValueError, OSError):
        return None


def _text(value: Any) -> str:  # noqa: ANN401  (older bindings answer with bytes)
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)


def _links(nvml: Any, handle: Any) -> int | None:  # noqa: ANN401
    """Active NVLinks; 0 for a GPU without NVLink, None when the first question already fails otherwise."""
    states = [_link_state(nvml, handle, link) for link in range(getattr(nvml, "NVML_NVLINK_MAX_LINKS", 18))]
    return None if states and states[0] is None else states.count(1)


def _link_state(nvml: Any, handle: Any, link: int) -> int | None:  # noqa: ANN401
    """1 active, 0 inactive or not there, None unknown."""
    try:
        return int(nvml.nvmlDeviceGetNvLinkState(handle, link))
    except (nvml.NVMLError_NotSupported, nvml.NVMLError_InvalidArgument):
        return 0  # no NVLink at all; fewer links than the binding's maximum
    except (nvml.NVMLError, AttributeError):
        return None


def _fabric(nvml: Any, handle: Any) -> str | None:  # noqa: ANN401
    def question() -> str | None:
        info = nvml.c_nvmlGpuFabricInfo_t()
        nvml.nvmlDeviceGetGpuFabricInfo(handle, ctypes.byref(info))
        return _FABRIC.get(info.state)

    state: str | None = _ask(nvml, question)
    return state


def _numa(tree: Tree, where: str | None) -> int | None:
    node = tree.number(f"sys/bus/pci/devices/{where}/numa_node") if where else None
    return None if node == -1 else node
