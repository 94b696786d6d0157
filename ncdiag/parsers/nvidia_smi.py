"""``nvidia-smi`` without options: the box with two or three rows a GPU and the processes below, or these alone.

Source of the format: nvidia-smi (CUDA driver package, seen from release 384 to 580): index, name, persistence mode, bus
id and ECC errors in the first row, power, memory, load and compute mode in the second, MIG in a third (since 450). Long
names end in ``...`` up to release 470. What cannot be read is ``ERR!``: of a fan alone when the fan is at fault, of all
values when the driver lost the GPU.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from ncdiag.base.patterns import lazy_regex
from ncdiag.base.spans import Section
from ncdiag.facts.observe import Observation, Parsed, observe
from ncdiag.facts.scalars import bus_id
from ncdiag.formats import basics
from ncdiag.parsers import _gpu_list

KIND = "nvidia_smi"
COMMANDS: tuple[str, ...] = ("nvidia-smi",)
_HEAD = r"[ \t]{0,8}(?:\|[ \t]{0,4})?NVIDIA-SMI \d{3}\.[\d.]{2,12}\s+Driver Version: \d"
_BUS = r"[0-9A-Fa-f]{8}:[0-9A-Fa-f]{2}:[0-9A-Fa-f]{2}\.\d"
_ROW = rf"\|\s{{1,4}}\d{{1,3}}\s{{1,4}}\S[^|]{{1,60}}?\s(?:On|Off|N/A|ERR!)\s*\|\s+{_BUS}\s"
_NO_NVML = (
    r"Failed to initialize NVML: (?:Unknown Error|Insufficient Permissions|Driver Not Loaded|Function Not Found|Timeout"
    r"|GPU is lost|GPU access blocked by the operating system)"
)
"""Errors of NVML that mean the driver cannot be reached; two versions of the driver are the catalogue's."""
_TABLE = r"\|[ \t]{1,4}Processes:[ \t]{1,80}(?:GPU Memory[ \t]{1,4})?\|"
"""The title of the table of processes, which people paste without that of the GPUs."""
ANCHOR = rf"{_HEAD}|[ \t]*{_ROW}|{_NO_NVML}|[ \t]*{_TABLE}"
STRUCTURE = " \t|"

_SMI = lazy_regex(
    r"[ \t]{0,8}(?:\|[ \t]{0,4})?NVIDIA-SMI (?P<tool>\d{3}\.[\d.]{2,12})"
    r"\s+Driver Version: (?P<driver>\d{3}\.[\d.]{2,12})"
)
"""Below WSL the tool is Linux's and the driver that of Windows, which has another number."""
_CUDA = lazy_regex(r"CUDA Version: (\d{1,2}\.\d{1,2})")
_GPU = lazy_regex(
    r"\s*\|\s+(?P<index>\d{1,3})\s+(?P<model>\S[^|]{0,60}?)\s+(?:On|Off|N/A|ERR!)\s*"
    rf"\|\s+(?P<bus>{_BUS})\s[^|]{{0,40}}\|\s*(?P<ecc>[^|]{{1,40}}?)\s*\|"
)
_LOAD = lazy_regex(
    r"\s*\|[^|]{1,60}?\s(?P<power>\d{1,4}|N/A|ERR!)W?\s*/\s*(?P<limit>\d{1,4}|N/A|ERR!)W?\s*"
    r"\|\s+(?P<used>\d{1,7})MiB\s*/\s*(?P<total>\d{1,7})MiB\s*\|\s+(?P<load>\d{1,3}%|N/A|ERR!)\s+(?P<mode>[^|]{1,20}?)\s*\|"
)
_BROKEN = lazy_regex(r"\s*\|\s{0,3}ERR!\s{1,4}ERR!\s{1,4}ERR!\s")
"""The second row of a GPU whose fan, temperature and performance state cannot be read."""
_MIG = lazy_regex(r"\s*\|\s+\|\s+\|\s+(?P<mig>Enabled|Disabled|N/A)\*?\s*\|")
_COMPUTE_MODES = {"Default": "Default", "E. Process": "Exclusive_Process", "Prohibited": "Prohibited"}
"""The names that ``nvidia-smi -q`` prints in full."""
_PROCESSES = lazy_regex(r"\s*\|\s+Processes:")
"""The table below that of the GPUs, behind which none is cut off."""
_PROCESS = lazy_regex(
    r"\s*\|\s+(?P<index>\d{1,3})\s+(?:(?:N/A|\d{1,2})\s+(?:N/A|\d{1,2})\s+)?(?P<pid>\d{1,10})\s+(?:M\+)?C(?:\+G)?\s+[^|]{1,80}?"
    r"\s(?P<mib>\d{1,7})MiB\s*\|"
)
"""A process that computes, with the memory that it has on one GPU; the instances of MIG come before it since 450."""
_NVML = lazy_regex(rf"(?={_NO_NVML}\s*$)Failed to initialize NVML: (?P<error>.{{2,80}}?)\s*$")
_CUT, _ERROR = "...", "ERR!"
_PARTITIONED = "On"
"""What the column of ECC errors shows for a GPU in MIG mode (MIG User Guide)."""


def continues(lines: Sequence[str], line: str) -> bool:
    """Everything in the box, its rules and the blank line above the processes."""
    bare = line.strip()
    return not bare or bare[0] in "|+" or _SMI.match(line) is not None


def parse(section: Section) -> Parsed:
    """GPUs by index, with load in percent, power in watts and memory in MiB; the driver of the host."""
    found: list[Observation] = []
    gpus: list[tuple[int, int, dict[str, Any]]] = []
    unread: list[int] = []
    held: dict[int, dict[str, int]] = defaultdict(dict)
    alone: dict[int, int] = {}
    for index, line in enumerate(section.lines):
        head, gpu, load, mig = _SMI.match(line), _GPU.match(line), _LOAD.match(line), _MIG.match(line)
        if head:
            found.append(observe(section, index, "Host", driver=head["driver"]))
            if head["tool"] != head["driver"]:
                found.append(observe(section, index, "Host", in_wsl=True))
        elif gpu:
            gpus.append((index, int(gpu["index"]), _identity(gpu)))
        elif gpus and (load or _BROKEN.match(line)):
            gpus[-1][2].update(_load(load) if load else {})
            gpus[-1][2].update({"unreadable": _ERROR} if _BROKEN.match(line) else {})
        elif mig and gpus:
            gpus[-1][2]["mig"] = {"Enabled": True, "Disabled": False}.get(mig["mig"])
        elif process := _PROCESS.match(line):
            number = int(process["index"])
            held[number][process["pid"]] = int(process["mib"])
            alone.setdefault(number, index)
        elif refusal := _NVML.match(line):
            found.append(observe(section, index, "Host", nvml_error=refusal["error"]))
        elif line.strip()[:1] not in {"", "|", "+"} and not _gpu_list.NO_GPU.match(line):
            unread.append(index)
    cuda = next((told[1] for line in section.lines[:2] if (told := _CUDA.search(line))), None)
    found += [
        observe(section, i, "Gpu", (number,), cuda=cuda, process_mib=held.get(number), **fields)
        for i, number, fields in gpus
    ]
    shown = {number for _, number, _ in gpus}
    found += [
        observe(section, i, "Gpu", (number,), process_mib=held[number])
        for number, i in alone.items()
        if number not in shown
    ]
    found += _gpu_list.none_found(section)
    return Parsed(observations=tuple(found), unread=tuple(unread), complete=_is_whole(section, [n for _, n, _ in gpus]))


def _is_whole(section: Section, numbers: Sequence[int]) -> bool:
    """True if the box shows all GPUs: from its head to the table of processes, without a gap or an option."""
    begins, ends = any(map(_SMI.match, section.lines[:3])), any(map(_PROCESSES.match, section.lines))
    plain = basics.unfiltered(section.command, "nvidia-smi")
    return bool(numbers) and numbers == list(range(len(numbers))) and begins and ends and plain


def _identity(row: re.Match[str]) -> dict[str, Any]:
    """Name where it is whole, bus id and the errors that ECC could not correct.

    Persistence mode is left out: on a workstation, whose owner pastes this box, it is off and means nothing.
    """
    model, ecc = row["model"].strip(), row["ecc"]
    return {
        "model": None if model.endswith(_CUT) or model == _ERROR else model,
        "unreadable": _ERROR if model == _ERROR else None,
        "bus_id": bus_id(row["bus"]),
        "ecc_uncorrected": int(ecc) if ecc.isdecimal() and len(ecc) < 16 else None,  # noqa: PLR2004  (no real count)
        **({"mig": True} if ecc == _PARTITIONED else {}),
    }


def _load(row: re.Match[str]) -> dict[str, Any]:
    """Power now and at most, memory and how much of it is in use, share of time in which a kernel ran, compute mode."""
    return {
        "power_watts": _number(row["power"]),
        "power_limit_watts": _number(row["limit"]),
        "memory_mib": int(row["total"]),
        "memory_used_mib": int(row["used"]),
        "load_percent": _number(row["load"].rstrip("%")),
        "compute_mode": _COMPUTE_MODES.get(row["mode"]),
    }


def _number(text: str) -> int | None:
    return int(text) if text.isdecimal() else None
