"""The lines of ``nvidia-smi -L`` and of ``nvidia-smi nvlink -s`` and ``-e``: all name each GPU the same way."""

from __future__ import annotations

import re
from typing import Any

from ncdiag.base.spans import Section
from ncdiag.facts.observe import Observation, Parsed, observe
from ncdiag.formats.basics import is_elision, unfiltered

GPU = r"GPU \d{1,3}: .{1,100}?\(UUID: "

_GPU = re.compile(r"\s*GPU (?P<index>\d{1,3}): (?P<model>.{1,100}?)\s*\(UUID: (?P<uuid>[\w*-]{1,60})")
_MIG = re.compile(r"\s*MIG \S+\s+Device\s+\d+: \(UUID: ")
_LINK = re.compile(
    r"\s*Link (?P<link>\d{1,2}): (?:(?P<rate>\d{1,4}(?:\.\d{1,4})?) GB/s|<?(?P<off>inactive|Inactive)>?)\s*$"
)
_COUNTER = re.compile(
    r"\s*Link \d{1,2}: (?P<name>[A-Z][A-Za-z ]{1,60}?)(?P<part> Lane \d| - \d{1,2}| Total)?"
    r": (?P<value>\d{1,20}(?:e-?\d{1,3})?|N/A)\s*$"
)
_ERRORS = re.compile(r"(?!Raw )(?P<kind>.{1,60}) Errors$")
"""Counters of errors. Those of the raw lanes and of the FEC, before correction, rise on every healthy link."""
_RECOVERIES = {
    "Link recovery successful events": "recovery_events", "Link recovery failed events": "failed_recovery_events",
}  # fmt: skip
_NONE = re.compile(r"\s*(?:NVML: )?Unable to retrieve NVLink (?:information|errors) as all links are in[aA]ctive")
_ONE_OFF = re.compile(r"\s*(?:NVML: )?Unable to retrieve NVLink (?:information|errors) for link \d{1,2} - in[aA]ctive")
_OTHER = re.compile(
    r"\s*Link \d{1,2}(?:, [A-Z][\w ]{2,50}: (?:true|false)"
    r"|: (?:Remote Device )?[0-9A-Fa-f]{8}:[0-9A-Fa-f]{2}:[0-9A-Fa-f]{2}\.\d(?:: Link \d{1,2})?"
    r"|: (?:Data|Raw) [RT]x\d?: \d{1,20} KiB)\s*$"
)
"""What ``nvlink -c``, ``-p``, ``-R`` and ``-gt`` say of a link; not kept."""
_TROUBLE = re.compile(
    r"\s*(?:Unable to determine the device handle for|Failed to initialize NVML|NVML library version:)"
)
"""Why a GPU is not listed: left to the catalogue of messages."""
_ASKED = re.compile(r"\s(?:-i|--id)[ =]?(\d{1,3})\b")

NO_GPU = re.compile(r"No devices (?:were )?found\b")
"""What all commands of nvidia-smi print on a host whose driver has no GPU."""


def none_found(section: Section) -> list[Observation]:
    """That there is no GPU, where an echoed nvidia-smi says so: the words alone may be of any program."""
    hits = [index for index, line in enumerate(section.lines) if NO_GPU.match(line.strip())]
    if not hits or "nvidia-smi" not in (section.command or ""):
        return []
    return [observe(section, hits[0], "Host", gpus_attached=0)]


def belongs(line: str) -> bool:
    """Whether it is a line of one of these outputs."""
    return (
        not line.strip()
        or is_elision(line)
        or any(p.match(line) for p in (_GPU, _MIG, _LINK, _NONE, _ONE_OFF, _COUNTER, _OTHER, _TROUBLE))
    )


def _detail(line: str, fields: dict[str, Any]) -> bool:
    """Take what a line tells of the GPU above it, but its links; errors are added up over the links by kind."""
    if counter := _COUNTER.match(line):
        kind = _kind(counter)
        if kind and counter["value"].isdecimal():
            counts = fields.setdefault("nvlink_errors", {})
            counts[kind] = counts.get(kind, 0) + int(counter["value"])
    elif _NONE.match(line):
        fields["nvlinks"] = 0
    elif _ONE_OFF.match(line):
        fields["nvlinks_inactive"] = fields.get("nvlinks_inactive", 0) + 1
    elif _MIG.match(line):
        fields["mig"] = True
    else:
        return _OTHER.match(line) is not None
    return True


def _kind(counter: re.Match[str]) -> str | None:
    """The name of a counter of errors in a GPU's facts; None for one that counts something else."""
    if counter["part"]:
        return None
    error = _ERRORS.match(counter["name"])
    return error["kind"].lower().replace(" ", "_") if error else _RECOVERIES.get(counter["name"])


def _counted(rates: list[float | None]) -> dict[str, Any]:
    """What the links of a GPU are as facts; None is an inactive one."""
    active = [rate for rate in rates if rate is not None]
    if not rates:
        return {}
    return {"nvlinks": len(active), "nvlinks_inactive": len(rates) - len(active), "nvlink_rates": sorted(set(active))}


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
        elif line.strip() and not NO_GPU.match(line.strip()):
            unread.append(index)
    if len(links) > 1 and 0 < len(links[-1]) < max(map(len, links)):
        links[-1], elided = [], True  # every link has a line, active or not: the list was cut off
    found: list[Observation] = []
    for (index, number, fields), rates in zip(gpus, links, strict=True):
        found.append(observe(section, index, "Gpu", (number,), **fields, **_counted(rates)))
    numbers = [number for _, number, _ in gpus]
    whole = bool(gpus) and not unread and not elided and numbers == list(range(len(gpus)))
    complete = whole and (
        section.command is None
        or (unfiltered(section.command, program, ("-L", "nvlink", "-s", "--status", "-e", "--errorcounters")))
    )
    return Parsed(observations=(*found, *none_found(section)), unread=tuple(unread), complete=complete)
