"""GPUs from NVML, through pynvml (the package nvidia-ml-py): the data of nvidia-smi, without starting it.

A missing driver, library or GPU gives a reason, never an exception. Each value is queried separately: old drivers lack
some, and a GPU that has fallen off the bus answers none. Constants and signatures: nvml.h of the CUDA toolkit.
"""

from __future__ import annotations

import contextlib
import ctypes
from collections.abc import Callable, Iterator
from typing import Any

from ncdiag.facts.observe import Observation
from ncdiag.facts.scalars import bus_id
from ncdiag.machine.nvml_links import nvlink, pairs
from ncdiag.machine.tree import Tree

_FABRIC = {1: "Not Started", 2: "In Progress", 3: "Completed"}  # NVML_GPU_FABRIC_STATE_*, in nvidia-smi's words
_COMPUTE_MODES = {0: "Default", 1: "Exclusive_Thread", 2: "Prohibited", 3: "Exclusive_Process"}
_SLOWDOWNS = {  # nvmlClocksEventReason*, in nvidia-smi's words; idle GPUs and clock settings are not slowdowns
    0x4: "SW Power Cap", 0x8: "HW Slowdown", 0x20: "SW Thermal Slowdown", 0x40: "HW Thermal Slowdown",
    0x80: "HW Power Brake Slowdown",
}  # fmt: skip
_UNCORRECTED, _VOLATILE, _AGGREGATE = 1, 0, 1
_SINGLE_BIT, _DOUBLE_BIT = 0, 1
_SM_CLOCK = 1

Ask = Callable[..., Any]
"""``ask("nvmlDeviceGetName", handle)`` returns the answer; None if this driver, GPU or binding does not support it."""


def gpus(tree: Tree) -> tuple[list[Observation], str | None]:
    """(observations, reason why there are none). The list is complete if there is no reason."""
    try:
        import pynvml
    except ImportError:
        return [], "the module pynvml is not installed (pip install nvidia-ml-py)"
    try:
        pynvml.nvmlInit()
    except (pynvml.NVMLError, OSError) as error:
        return [], _reason(error)
    try:
        return list(_all(tree, pynvml)), None
    except (pynvml.NVMLError, OSError) as error:
        return [], _reason(error)
    finally:
        with contextlib.suppress(pynvml.NVMLError):
            pynvml.nvmlShutdown()


def _reason(error: Exception) -> str:
    return f"NVML: {error}"


def _all(tree: Tree, nvml: Any) -> Iterator[Observation]:  # noqa: ANN401  (a module without type information)
    count = nvml.nvmlDeviceGetCount()
    ask = _asking(nvml)
    driver, version = ask("nvmlSystemGetDriverVersion"), ask("nvmlSystemGetCudaDriverVersion")
    system = {
        "driver": _text(driver) if driver else None,
        "cuda": f"{version // 1000}.{version % 1000 // 10}" if version else None,
    }
    handles = [nvml.nvmlDeviceGetHandleByIndex(index) for index in range(count)]
    for index, handle in enumerate(handles):
        yield _gpu(tree, nvml, ask, index, handle, system)
    told = ["nvml"]
    found = list(pairs(tree, ask, handles))
    if len(found) == count * (count - 1) // 2:
        told.append("topo_p2p")
    yield from found
    text = f"NVML: {count} GPUs"
    yield tree.fact("dev/nvidiactl", "Host", text=text, line=0, complete=told, driver=system["driver"])


def _asking(nvml: Any) -> Ask:  # noqa: ANN401
    def ask(name: str, *arguments: Any) -> Any:  # noqa: ANN401
        try:
            return getattr(nvml, name)(*arguments)
        except (nvml.NVMLError, AttributeError, TypeError, ValueError, OSError):
            return None

    return ask


def _gpu(  # noqa: PLR0913, PLR0917  (whom to ask, about what)
    tree: Tree, nvml: Any, ask: Ask, index: int, handle: Any, system: dict[str, str | None]  # noqa: ANN401
) -> Observation:  # fmt: skip
    memory, capability = ask("nvmlDeviceGetMemoryInfo", handle), ask("nvmlDeviceGetCudaComputeCapability", handle)
    mode, address = ask("nvmlDeviceGetMigMode", handle), ask("nvmlDeviceGetPciInfo", handle)
    where = bus_id(_text(address.busId)) if address else None
    model, uuid = ask("nvmlDeviceGetName", handle), ask("nvmlDeviceGetUUID", handle)
    return tree.fact(
        "dev/nvidiactl", "Gpu", index, line=0, text=f"NVML: GPU {index} {_text(model or '')} {where}",
        bus_id=where, uuid=_text(uuid) if uuid else None, model=_text(model) if model else None,
        memory_mib=memory.total >> 20 if memory else None, mig=bool(mode[0]) if mode else None,
        compute_capability=f"{capability[0]}.{capability[1]}" if capability else None,
        pcie_gen=ask("nvmlDeviceGetCurrPcieLinkGeneration", handle),
        pcie_gen_max=ask("nvmlDeviceGetMaxPcieLinkGeneration", handle),
        pcie_width=ask("nvmlDeviceGetCurrPcieLinkWidth", handle),
        pcie_width_max=ask("nvmlDeviceGetMaxPcieLinkWidth", handle), numa_node=_numa(tree, where),
        **system, **_fabric(nvml, ask, handle), **_state(ask, handle), **_memory_errors(ask, handle),
        **nvlink(nvml, ask, handle),
    )  # fmt: skip


def _text(value: Any) -> str:  # noqa: ANN401  (older bindings answer with bytes)
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)


def _state(ask: Ask, handle: Any) -> dict[str, Any]:  # noqa: ANN401
    """Modes and clocks, and the reasons why the clocks are currently reduced."""
    persistence = ask("nvmlDeviceGetPersistenceMode", handle)
    reasons = ask("nvmlDeviceGetCurrentClocksEventReasons", handle)
    if reasons is None:  # the name up to driver 535
        reasons = ask("nvmlDeviceGetCurrentClocksThrottleReasons", handle)
    return {
        "persistence_mode": None if persistence is None else bool(persistence),
        "compute_mode": _COMPUTE_MODES.get(ask("nvmlDeviceGetComputeMode", handle)),
        "slowdowns": None if reasons is None else [word for bit, word in _SLOWDOWNS.items() if reasons & bit],
        "sm_clock_mhz": ask("nvmlDeviceGetClockInfo", handle, _SM_CLOCK),
        "sm_clock_max_mhz": ask("nvmlDeviceGetMaxClockInfo", handle, _SM_CLOCK),
    }


def _memory_errors(ask: Ask, handle: Any) -> dict[str, Any]:  # noqa: ANN401
    """Uncorrectable ECC errors, retired pages (before Ampere), remapped rows (Ampere and later)."""
    mode, pending = ask("nvmlDeviceGetEccMode", handle), ask("nvmlDeviceGetRetiredPagesPendingStatus", handle)
    retired = [ask("nvmlDeviceGetRetiredPages", handle, cause) for cause in (_SINGLE_BIT, _DOUBLE_BIT)]
    rows = ask("nvmlDeviceGetRemappedRows", handle) or (None,) * 4
    return {
        "ecc_enabled": bool(mode[0]) if mode else None,
        "ecc_uncorrected": ask("nvmlDeviceGetTotalEccErrors", handle, _UNCORRECTED, _VOLATILE),
        "ecc_uncorrected_ever": ask("nvmlDeviceGetTotalEccErrors", handle, _UNCORRECTED, _AGGREGATE),
        "retired_single_bit": None if retired[0] is None else len(retired[0]),
        "retired_double_bit": None if retired[1] is None else len(retired[1]),
        "retirement_pending": None if pending is None else bool(pending),
        "remapped_correctable": rows[0], "remapped_uncorrectable": rows[1],
        "remapping_pending": None if rows[2] is None else bool(rows[2]),
        "remapping_failed": None if rows[3] is None else bool(rows[3]),
    }  # fmt: skip


def _fabric(nvml: Any, ask: Ask, handle: Any) -> dict[str, Any]:  # noqa: ANN401
    """The state of the registration with the NVLink fabric and, once it has ended, its result."""
    structure = getattr(nvml, "c_nvmlGpuFabricInfo_t", None)
    if structure is None:
        return {}
    info = structure()
    if ask("nvmlDeviceGetGpuFabricInfo", handle, ctypes.byref(info)) is None:
        return {}
    state = _FABRIC.get(info.state)
    ended = ask("nvmlErrorString", info.status) if state == "Completed" else None
    return {"fabric_state": state, "fabric_status": _text(ended) if ended else None}


def _numa(tree: Tree, where: str | None) -> int | None:
    node = tree.number(f"sys/bus/pci/devices/{where}/numa_node") if where else None
    return None if node == -1 else node
