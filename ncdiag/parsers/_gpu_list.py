"""The lines of ``nvidia-smi -L`` and of ``nvidia-smi nvlink -s`` and ``-e``: all name each GPU the same way."""

from __future__ import annotations

import re
from typing import Any

from ncdiag.base.patterns import lazy_regex
from ncdiag.base.spans import Section
from ncdiag.facts.observe import Observation, observe
from ncdiag.formats.basics import filters, is_elision, unfiltered
from ncdiag.parsers._rows import BLANK, Reading, Row, Rows, never, not_understood

GPU = r"GPU \d{1,3}: .{1,100}?\(UUID: "

_GPU = r"\s*GPU (?P<index>\d{1,3}): (?P<model>.{1,100}?)\s*\(UUID: (?P<uuid>[\w*-]{1,60})"
_MIG = r"\s*MIG \S+\s+Device\s+\d+: \(UUID: "
_LINK = r"\s*Link (?P<link>\d{1,2}): (?:(?P<rate>\d{1,4}(?:\.\d{1,4})?) GB/s|<?(?P<off>inactive|Inactive)>?)\s*$"
_COUNTER = (
    r"\s*Link \d{1,2}: (?P<name>[A-Z][A-Za-z ]{1,60}?)(?P<part> Lane \d| - \d{1,2}| Total)?"
    r": (?P<value>\d{1,20}(?:e-?\d{1,3})?|N/A)\s*$"
)
_ERRORS = lazy_regex(r"(?!Raw )(?P<kind>.{1,60}) Errors$")
"""Counters of errors. Those of the raw lanes and of the FEC, before correction, rise on every healthy link."""
_RECOVERIES = {
    "Link recovery successful events": "recovery_events", "Link recovery failed events": "failed_recovery_events",
}  # fmt: skip
_NONE = r"\s*(?:NVML: )?Unable to retrieve NVLink (?:information|errors) as all links are in[aA]ctive"
_ONE_OFF = r"\s*(?:NVML: )?Unable to retrieve NVLink (?:information|errors) for link \d{1,2} - in[aA]ctive"
_OTHER = (
    r"\s*Link \d{1,2}(?:, [A-Z][\w ]{2,50}: (?:true|false)"
    r"|: (?:Remote Device )?[0-9A-Fa-f]{8}:[0-9A-Fa-f]{2}:[0-9A-Fa-f]{2}\.\d(?:: Link \d{1,2})?"
    r"|: (?:Data|Raw) [RT]x\d?: \d{1,20} KiB)\s*$"
)
"""What ``nvlink -c``, ``-p``, ``-R`` and ``-gt`` say of a link; not kept."""
_TROUBLE = r"\s*(?:Unable to determine the device handle for|Failed to initialize NVML|NVML library version:)"
"""Why a GPU is not listed: left to the catalogue of messages."""
_ASKED = lazy_regex(r"\s(?:-i|--id)[ =]?(\d{1,3})\b")

_NO_GPU = r"No devices (?:were )?found\b"
NO_GPU = lazy_regex(_NO_GPU)
"""What all commands of nvidia-smi print on a host whose driver has no GPU."""


_OPTIONS = ("-L", "nvlink", "-s", "--status", "-e", "--errorcounters")


class _Gpus(Reading):
    """GPUs by index with model and UUID and, where links are listed, how many are active and at which rates (GB/s)."""

    def __init__(self, section: Section) -> None:
        """No GPU was read yet."""
        super().__init__(section)
        self.gpus: list[tuple[int, int, dict[str, Any]]] = []
        self.links: list[list[float | None]] = []
        self.elided = False

    def gpu(self, found: re.Match[str]) -> None:
        """A GPU, of which the lines below speak."""
        self._begin(int(found["index"]), model=found["model"].strip(), uuid=found["uuid"])

    def link(self, found: re.Match[str]) -> bool:
        """A link of the GPU above; its rate is None where it is inactive."""
        if self.links:
            self.links[-1].append(float(found["rate"]) if found["rate"] else None)
        return bool(self.links)

    def counter(self, found: re.Match[str]) -> bool:
        """A counter of a link; errors are added up over the links by kind."""
        kind = _kind(found)
        if self.gpus and kind and found["value"].isdecimal():
            counts = self.gpus[-1][2].setdefault("nvlink_errors", {})
            counts[kind] = counts.get(kind, 0) + int(found["value"])
        return bool(self.gpus)

    def none_active(self, _: re.Match[str]) -> bool:
        """The GPU above, or that in the command, has inactive links alone."""
        asked = _ASKED.search(self.section.command or "")
        if self.gpus:
            self.gpus[-1][2]["nvlinks"] = 0
        elif asked:
            self._begin(int(asked[1]), nvlinks=0)
        return bool(self.gpus)

    def one_inactive(self, _: re.Match[str]) -> bool:
        """A link is inactive."""
        if self.gpus:
            fields = self.gpus[-1][2]
            fields["nvlinks_inactive"] = fields.get("nvlinks_inactive", 0) + 1
        return bool(self.gpus)

    def mig(self, _: re.Match[str]) -> bool:
        """A part of the GPU above."""
        if self.gpus:
            self.gpus[-1][2]["mig"] = True
        return bool(self.gpus)

    def other(self, _: re.Match[str]) -> bool:
        """What else is said of a link."""
        return bool(self.gpus)

    def elision(self, _: object) -> None:
        """GPUs or links were left out."""
        self.elided = True

    def end(self) -> None:
        """All GPUs, or that there is none."""
        if len(self.links) > 1 and 0 < len(self.links[-1]) < max(map(len, self.links)):
            self.links[-1], self.elided = [], True  # every link has a line, active or not: the list was cut off
        self._leave_out(filters(self.section.command))
        for (at, number, fields), rates in zip(self.gpus, self.links, strict=True):
            self.observe("Gpu", (number,), at=at, **_with_links(fields, rates))
        self.found += none_found(self.section)

    def _leave_out(self, filtered: list[str]) -> None:
        """Count no links where a filter may have dropped lines: ``head`` at the end, ``tail`` at the start."""
        cut = {"head": slice(-1, None), "tail": slice(0, 1)}
        for program in filtered:
            for rates in self.links[cut.get(program, slice(None))]:
                rates.clear()

    def complete(self) -> bool:
        """All GPUs of the host."""
        numbers = [number for _, number, _ in self.gpus]
        whole = bool(numbers) and not self.unread and not self.elided and numbers == list(range(len(numbers)))
        return whole and unfiltered(self.section.command, "nvidia-smi", _OPTIONS)

    def _begin(self, number: int, **fields: Any) -> None:  # noqa: ANN401
        self.gpus.append((self.index, number, fields))
        self.links.append([])


ROWS = Rows(
    _Gpus,
    BLANK,
    Row(_GPU, _Gpus.gpu),
    Row(_LINK, _Gpus.link),
    Row(_COUNTER, _Gpus.counter),
    Row(_NONE, _Gpus.none_active),
    Row(_ONE_OFF, _Gpus.one_inactive),
    Row(_MIG, _Gpus.mig),
    Row(_OTHER, _Gpus.other),
    Row(is_elision, _Gpus.elision),
    Row(rf"\s*{_NO_GPU}", belongs=never),
    Row(_TROUBLE, not_understood),
)


def none_found(section: Section) -> list[Observation]:
    """That there is no GPU, where an echoed nvidia-smi says so: the words alone may be of any program."""
    hits = [index for index, line in enumerate(section.lines) if NO_GPU.match(line.strip())]
    if not hits or "nvidia-smi" not in (section.command or ""):
        return []
    return [observe(section, hits[0], "Host", gpus_attached=0)]


def _kind(counter: re.Match[str]) -> str | None:
    """The name of a counter of errors in a GPU's facts; None for one that counts something else."""
    if counter["part"]:
        return None
    error = _ERRORS.match(counter["name"])
    return error["kind"].lower().replace(" ", "_") if error else _RECOVERIES.get(counter["name"])


def _with_links(fields: dict[str, Any], rates: list[float | None]) -> dict[str, Any]:
    """The facts of a GPU with its listed links; None is an inactive one, as are those that a line of text names."""
    if not rates:
        return fields
    active = [rate for rate in rates if rate is not None]
    inactive = fields.get("nvlinks_inactive", 0) + len(rates) - len(active)
    return {**fields, "nvlinks": len(active), "nvlinks_inactive": inactive, "nvlink_rates": sorted(set(active))}
