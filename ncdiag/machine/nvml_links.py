"""NVLinks and peer-to-peer access from NVML. Constants and signatures: nvml.h of the CUDA toolkit."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from ncdiag.facts.observe import Observation
from ncdiag.machine.tree import Tree

_P2P = {0: "OK", 1: "CNS", 2: "GNS", 3: "TNS", 4: "DR", 5: "NS", 6: "U"}  # NVML_P2P_STATUS_*, in nvidia-smi's words
_CAPABILITIES = {0: "p2p_read", 1: "p2p_write", 2: "p2p_nvlink", 3: "p2p_atomics", 4: "p2p_proprietary"}
_ERRORS = {0: "replay", 1: "recovery", 2: "crc_flit", 3: "crc_data", 4: "ecc_data"}  # NVML_NVLINK_ERROR_DL_*
_SPEED = 90  # NVML_FI_DEV_NVLINK_SPEED_MBPS_COMMON
_UNSIGNED = (1, 2, 3)  # NVML_VALUE_TYPE_UNSIGNED_INT, _LONG, _LONG_LONG
_MOST_LINKS = 18


def nvlink(nvml: Any, ask: Callable[..., Any], handle: Any) -> dict[str, Any]:  # noqa: ANN401
    """Fields of a Gpu: links up and down, their rate, and the sums of errors by kind.

    A GPU without NVLink has 0 links; the fields are None if the first query fails for another reason.
    """
    states = [_state(nvml, handle, link) for link in range(getattr(nvml, "NVML_NVLINK_MAX_LINKS", _MOST_LINKS))]
    if not states or (states[0] is None and 1 not in states):
        return {}
    up = [link for link, state in enumerate(states) if state == 1]
    errors = {}
    for number, kind in _ERRORS.items():
        counts = [ask("nvmlDeviceGetNvLinkErrorCounter", handle, link, number) for link in up]
        if known := [count for count in counts if count is not None]:
            errors[kind] = sum(known)
    rate = _rate(ask, handle) if up else None
    return {
        "nvlinks": len(up), "nvlinks_inactive": states.count(0), "nvlink_errors": errors or None,
        "nvlink_rates": [rate] if rate else None,
    }  # fmt: skip


def _state(nvml: Any, handle: Any, link: int) -> int | None:  # noqa: ANN401
    """1 up, 0 down, -1 no such link, None unknown."""
    try:
        return int(nvml.nvmlDeviceGetNvLinkState(handle, link))
    except (nvml.NVMLError_NotSupported, nvml.NVMLError_InvalidArgument):
        return -1  # no NVLink at all, or fewer links than the maximum of the binding
    except (nvml.NVMLError, AttributeError):
        return None


def _rate(ask: Callable[..., Any], handle: Any) -> float | None:  # noqa: ANN401
    """GB/s of one link, as ``nvidia-smi nvlink -s`` prints it."""
    for value in ask("nvmlDeviceGetFieldValues", handle, [_SPEED]) or ():
        if value.nvmlReturn == 0 and value.valueType in _UNSIGNED:
            speed = value.value.ullVal if value.valueType == _UNSIGNED[2] else value.value.uiVal
            return round(speed / 1000, 3) or None
    return None


def pairs(
    tree: Tree, ask: Callable[..., Any], handles: Sequence[Any]
) -> Iterator[Observation]:  # fmt: skip
    """For each pair of GPUs, whether one can access the other's memory, in the words of ``nvidia-smi topo -p2p``."""
    for a, first in enumerate(handles):
        for b, second in enumerate(handles[a + 1 :], a + 1):
            told = {
                field: _P2P.get(ask("nvmlDeviceGetP2PStatus", first, second, index))
                for index, field in _CAPABILITIES.items()
            }
            if told["p2p_read"]:
                known = {field: word for field, word in told.items() if word}
                text = f"NVML: GPU{a} GPU{b} {' '.join(f'{field}={word}' for field, word in known.items())}"
                yield tree.fact("dev/nvidiactl", "TopoLink", f"GPU{a}", f"GPU{b}", text=text, line=0, **known)
