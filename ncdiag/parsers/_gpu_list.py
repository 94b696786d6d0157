"""The lines of ``nvidia-smi -L`` and of ``nvidia-smi nvlink -s`` and ``-e``: all name each GPU the same way."""

from __future__ import annotations

import re
from typing import Any

from ncdiag.facts.observe import Observation, Parsed, observe
from ncdiag.parsers._shared import is_elision, unfiltered
from ncdiag.spans import Section

GPU = r"GPU \d{1,3}: .{1,100}?\(UUID: "

_GPU = re.compile(r"\s*GPU (?P<index>\d{1,3}): (?P<model>.{1,100}?)\s*\(UUID: (?P<uuid>[\w*-]{1,60})")
_MIG = re.compile(r"\s*MIG \S+\s+Device\s+\d+: \(UUID: ")
_LINK = re.compile(
    r"\s*Link (?P<link>\d{1,2}): (?:(?P<rate>\d{1,4}(?:\.\d{1,4})?) GB/s|<?(?P<off>inactive|Inactive)>?)\s*$"
)
_ERROR = re.compile(r"\s*Link \d{1,2}: (?P<kind>[A-Z][A-Za-z ]{1,20}?) Errors: (?P<count>\d{1,18})\s*$")
_OTHER = re.compile(
    r"\s*Link \d{1,2}(?:, [A-Z][\w ]{2,50}: (?:true|false)"
    r"|: (?:Remote Device )?[0-9A-Fa-f]{8}:[0-9A-Fa-f]{2}:[0-9A-Fa-f]{2}\.\d(?:: Link \d{1,2})?"
    r"|: (?:Data|Raw) [RT]x\d?: \d{1,20} KiB)\s*$"
)
"""What ``nvlink -c``, ``-p``, ``-R`` and ``-gt`` say of a link; not kept."""
_TROUBLE = re.compile(
    r"\s*(?:Unable to determine the device handle for|Failed to initialize NVML|NVML library version:|No devices)"
)
"""Why a GPU is not listed: left to the catalogue of messages."""
_ASKED = re.compile(r"\s(?:-i|--id)[ =]?(\d{1,3})\b")
_NONE = re.compile(r"\s*(?:NVML: )?Unable to retrieve NVLink information as all links are in[aA]ctive")


def belongs(line: str) -> bool:
    """Whether it is a line of one of these outputs."""
    return (
        not line.strip()
        or is_elision(line)
        or any(p.match(line) for p in (_GPU, _MIG, _LINK, _NONE, _ERROR, _OTHER, _TROUBLE))
    )


def _detail(line: str, fields: dict[str, Any]) -> bool:
    """Take what a line tells of the GPU above it, but its links; errors are added up over the links by kind."""
    error = _ERROR.match(line)
    if error:
        counts, kind = fields.setdefault("nvlink_errors", {}), error["kind"].lower().replace(" ", "_")
        counts[kind] = counts.get(kind, 0) + int(error["count"])
    elif _NONE.match(line):
        fields["nvlinks"] = 0
    elif _MIG.match(line):
        fields["mig"] = True
    else:
        return _OTHER.match(line) is not None
    return True


def read(section: Section, program: str) -> Parsed:
    """GPUs with their UUIDs and, where links are listed, how many are active and at which rates (GB/s)."""
    gpus: list[tuple[int, int, dict[str, Any]]] = []
    links: list[list[float | None]] = []
    unread: list[int] = []
    elided = False
    for index, line in enumerate(section.lines):
        gpu, link = _GPU.match(line), _LINK.match(line)
        if gpu:
            gpus.append((index, int(gpu["index"]), {"model": gpu["model"].strip(), "uuid": gpu["uuid"]}))
            links.append([])
        elif link and gpus:
            links[-1].append(float(link["rate"]) if link["rate"] else None)
        elif gpus and _detail(line, gpus[-1][2]):
            continue
        elif _NONE.match(line) and (asked := _ASKED.search(section.command or "")):
            gpus.append((index, int(asked[1]), {"nvlinks": 0}))
            links.append([])
        elif is_elision(line):
            elided = True
        elif line.strip():
            unread.append(index)
    found: list[Observation] = []
    for (index, number, fields), rates in zip(gpus, links, strict=True):
        if rates:
            active = [rate for rate in rates if rate is not None]
            fields.update(
                nvlinks=len(active), nvlinks_inactive=len(rates) - len(active), nvlink_rates=sorted(set(active))
            )
        found.append(observe(section, index, "Gpu", (number,), **fields))
    numbers = [number for _, number, _ in gpus]
    whole = bool(gpus) and not unread and not elided and numbers == list(range(len(gpus)))
    complete = whole and (section.command is None or (unfiltered(section.command, program, ("-L", "nvlink", "-s"))))
    return Parsed(observations=tuple(found), unread=tuple(unread), complete=complete)
