"""Output of perftest (``ib_write_bw``, ``ib_send_lat`` and the like): what a link carries without NCCL.

Source of the format: linux-rdma/perftest src/perftest_parameters.c (ctx_print_test_info, print_full_bw_report,
print_report_lat), src/perftest_parameters.h (RESULT_FMT and the rest), src/cuda_memory.c (what is above the header
when the buffers lie on a GPU), releases 4.5 to 26. ``MB/sec`` of older releases are MiB/s like those of newer ones.
"""

from __future__ import annotations

import ipaddress
import itertools
import re
from collections.abc import Iterator, Sequence
from typing import Any

from ncdiag.base.patterns import lazy_regex
from ncdiag.base.spans import Section
from ncdiag.facts.observe import Observation, Parsed, observe
from ncdiag.facts.scalars import ip_address
from ncdiag.formats import basics
from ncdiag.parsers import _events

KIND = "perftest"
EVENTS: dict[str, dict[str, str]] = {
    "roce-gid-empty": {"hca": "str", "port": "int", "gid_index": "int", "link_layer": "str", "side": "str"}
}
"""Events that are told by the form of a line, and the types of their fields."""
COMMANDS: tuple[str, ...] = tuple(
    f"ib_{name}" for name in ("write_bw", "read_bw", "send_bw", "atomic_bw", "write_lat", "read_lat", "send_lat")
)
_VERB = r"(?:Send(?:_imm)?|(?:RDMA_)?Write(?:_imm)?|(?:RDMA_)?Read|Atomic(?: [A-Z_]{8,12})?)"
_TITLE_TEXT = (
    rf"[ \t]{{4,40}}{_VERB} (?:Bidirectional )?(?:Post List )?(?:BW|Latency) (?:forwarding )?(?:Multicast )?Test[ \t]*$"
)
_HEAD_TEXT = r"[ \t]{0,4}#bytes[ \t]{1,12}(?:#sl[ \t]{1,8})?#iterations[ \t]{1,12}(?:BW peak|t_min|t_avg)\["
_CHATTER_TEXT = r"initializing CUDA[ \t]*$|\* Waiting for client to connect\.\.\. \*|Perftest doesn't supports? CUDA "
ANCHOR = (
    rf"{_TITLE_TEXT}|{_HEAD_TEXT}|{_CHATTER_TEXT}|[ \t]{{0,4}}Dual-port[ \t]{{1,12}}: (?:ON|OFF)[ \t]{{1,24}}Device"
)

_TITLE = lazy_regex(
    rf"\s{{4,40}}(?P<verb>{_VERB}) (?P<both>Bidirectional )?(?:Post List )?(?P<what>BW|Latency) (?:[FfMm]\w+ )?Test\s*$"
)
_HEAD = lazy_regex(_HEAD_TEXT)
_UNIT = lazy_regex(r"BW average\[(MiB/sec|MB/sec|Gb/sec)\]")
_ROW = lazy_regex(r"\s{0,8}\d{1,13}(?:\s{1,24}\d{1,12}(?:\.\d{1,9})?){3,11}\s*$")
_HEADER = lazy_regex(
    r"\s{0,4}(?:Dual-port|Number of qps|Connection type|PCIe relax order|ibv_wr\* API|[TR]X depth|(?:Recv )?Post List"
    r"|CQ Moderation|CQE Poll Batch|Mtu|Link type|GID index2?|Max inline data|Outstand reads|rdma_cm QPs"
    r"|Data ex\. method|Use \w{2,8} memory|NUMA node|Buffer size|DCS (?:active )?num streams|Block Size"
    r"|Number of data encryption keys)\s{0,24}:"
)
_FIELDS = {
    "hca": lazy_regex(r"Device\s{1,24}: ([A-Za-z][\w.-]{0,62})"),
    "qps": lazy_regex(r"Number of qps\s{1,8}: (\d{1,6})"),
    "connection": lazy_regex(r"Connection type : (\w{2,8})"),
    "mtu": lazy_regex(r"Mtu\s{1,24}: (\d{1,6})\[B\]"),
    "link_layer": lazy_regex(r"Link type\s{1,16}: (IB|Ethernet)"),
    "gid_index": lazy_regex(r"GID index\s{1,16}: (\d{1,4})"),
    "dual_port": lazy_regex(r"Dual-port\s{1,16}: (ON|OFF)"),
}
_ON_GPU = lazy_regex(
    r"\s?(?:initializing CUDA|Picking (?:device No\.|GPU number)|making it the current \w{2,8} Ctx|cuMemAlloc"
    r"|allocated (?:\d{1,15} bytes of )?GPU buffer|CUDA device integrated|using DMA-BUF for GPU"
    r"|Perftest doesn't supports? CUDA |Use (?:CUDA|ROCm|MUSA) memory : ON)"
)
_GPU = lazy_regex(r"\s?(?:Picking device No\. |Picking GPU number |\[pid = \d{1,9}, dev = )(\d{1,4})")
_MODEL = lazy_regex(r"\[pid = \d{1,9}, dev = +(?P<gpu>\d{1,4})\] device name = \[(?P<model>[^\[\]]{2,80})(?:\]|$)")
_SERVER = lazy_regex(r"\* Waiting for client to connect\.\.\. \*")
_SIDE = lazy_regex(r" (local|remote) address: LID ((?:0x)?[0-9a-f]{1,6}) ")
_GID = lazy_regex(r"\s?GID: ((?:\d{2,3}:){15}\d{2,3})\s*$")
_OTHER = lazy_regex(
    r"\s*$|-{20,}\s*$|\*{10,}\s*$|\s?MGID: [\d:a-f]| WARNING: |Conflicting CPU freq"
    r"|Listing all CUDA|CUDA device \d|There are \d|\[pid = |creating \w{2,8} Ctx|destroying|deallocating"
    r"|Finding PCIe BUS| Test with events| MultiCast runs| Client closed| Waiting for client| Please run the"
    r"|\s?(?:Local|Remote) results: "
)
_GPU_OPTION = lazy_regex(r"--use_(?:cuda|rocm|musa|hl|mlu)\w*(?:[= ](?P<number>\d{1,4})(?!\S))?")
_MEBIBYTE = 8 * (1 << 20) / 1e9  # Gbit/s
_NAMES = {"Send": "send", "Write": "write", "Read": "read", "Atomic": "atomic"}
_LAYERS = {"IB": "InfiniBand", "Ethernet": "Ethernet"}
_NO_GID, _BYTE = "::", 255
_FEWEST = 4
"""Columns of a row: size, iterations and two numbers at least."""
_LATENCIES = {9: ("typical_us", 4), 4: ("average_us", 2)}


def continues(lines: Sequence[str], line: str) -> bool:
    """Header, addresses, table, and what the program says around them; further runs in the same output."""
    known = (_HEADER, _ROW, _HEAD, _TITLE, _ON_GPU, _SIDE, _GID, _OTHER)
    return any(p.match(line) for p in known) or basics.is_elision(line) or bool(_events.by_form(line.strip()))


def parse(section: Section) -> Parsed:
    """A LinkTest for each run with rows, the GPUs that runs name, and an event for each step that failed.

    The event contains what the head of the run says about its queue.
    """
    runs: list[_Run] = []
    events: list[Observation] = []
    picked: list[Observation] = []
    unread: list[int] = []
    for index, line in enumerate(section.lines):
        begins = _TITLE.match(line) or _ON_GPU.match(line) or _SERVER.match(line)
        another = begins and runs and (runs[-1].ended or (_TITLE.match(line) and runs[-1].titled))
        if another or (not runs and (section.command or begins or _HEADER.match(line) or _HEAD.match(line))):
            runs.append(_Run(section.command))
        told = bool(runs) and runs[-1].take(index, line)
        failed = list(runs[-1].failures(section, index)) if runs else []
        events += failed
        if gpu := _MODEL.match(line.strip()):
            model = gpu["model"].strip()
            picked.append(observe(section, index, "Gpu", (int(gpu["gpu"]),), standing="default", model=model))
        if not (told or failed or _OTHER.match(line) or basics.is_elision(line)):
            unread.append(index)
    found = [observation for run in runs for observation in run.observations(section)]
    return Parsed(observations=(*found, *picked, *events), unread=tuple(unread))


class _Run:
    """One run while it is being read."""

    def __init__(self, command: str | None) -> None:
        self._last, self._rows = 0, list[dict[str, Any]]()
        self._fields = dict(_of_command(command))
        self._scale: float | None = None
        self._latency = self._levels = self._served = self._again = False
        self._side, self._has_lid, self._gids = "local", True, dict[str, str | None]()
        self.titled = False

    @property
    def ended(self) -> bool:
        """Has the table been read?"""
        return bool(self._rows)

    def take(self, index: int, line: str) -> bool:
        """Read one line; False when it says nothing that is known."""
        title = _TITLE.match(line)
        if title:
            self._title(title)
        elif _HEAD.match(line):
            unit = _UNIT.search(line)
            self._again = self.ended  # --report-both repeats the two directions, each by itself
            self._latency, self._levels = unit is None, "#sl" in line
            self._scale = None if unit is None else 1.0 if unit[1] == "Gb/sec" else _MEBIBYTE
        elif _ROW.match(line):
            self._last = index
            return self._row(line.split())
        elif _SERVER.match(line):
            self._served = True
        elif _ON_GPU.match(line) or _GPU.match(line):
            number = _GPU.match(line)
            self._fields |= {"memory": "gpu"} | ({"gpu": int(number[1])} if number else {})
        elif _HEADER.match(line):
            self._fields |= _of_header(line)
        elif (side := _SIDE.match(line)) is not None:
            self._side, self._has_lid = side[1], int(side[2], 16) > 0
        elif (gid := _GID.match(line)) is not None:
            self._gids[self._side] = _gid(gid[1])
        else:
            return False
        return True

    def failures(self, section: Section, index: int) -> Iterator[Observation]:
        """The events of a line: an empty GID where one is needed, a failed step or completion."""
        line = section.lines[index].strip()
        fields = {
            name: self._fields[name] for name in ("hca", "port", "gid_index", "link_layer") if name in self._fields
        }
        needed = self._fields.get("link_layer") == "Ethernet" or not self._has_lid
        if _GID.match(line) and needed and self._gids.get(self._side) == _NO_GID:
            yield _event(section, index, "roce-gid-empty", fields | {"side": self._side})
        elif not _GID.match(line):
            gids = {f"{side}_gid": gid for side, gid in self._gids.items() if gid is not None}
            memory = {"memory": "gpu"} if self._fields.get("memory") == "gpu" else {}
            for told in _events.by_form(line):
                yield _event(section, index, told.event, fields | gids | memory | told.fields)

    def _title(self, found: re.Match[str]) -> None:
        """What is printed above the header says nothing of a GPU where the buffers are the host's."""
        verb = found["verb"].removeprefix("RDMA_").split("_")[0].split(" ")[0]
        self.titled = True
        self._fields["program"] = f"ib_{_NAMES[verb]}_{'bw' if found['what'] == 'BW' else 'lat'}"
        self._fields["bidirectional"] = found["both"] is not None
        if self._served:
            self._fields.setdefault("memory", "host")

    def _row(self, words: list[str]) -> bool:
        """A row of the table whose head was seen."""
        if self._again:
            return True
        if self._levels:
            del words[1]  # the service level
        if len(words) < _FEWEST or not words[1].isdecimal():
            return False
        if self._latency:
            return self._latencies(words)
        if self._scale is None or "." not in words[3]:
            return False
        peak, average = (round(float(word) * self._scale, 3) for word in words[2:4])
        row = {"size": int(words[0]), "iterations": int(words[1]), "average_gbps": average}
        self._rows.append(row | ({"peak_gbps": peak} if peak else {}))
        return True

    def _latencies(self, words: list[str]) -> bool:
        """``t_min t_max t_typical t_avg t_stdev 99% 99.9%``, or the average alone of a run by time."""
        if len(words) not in _LATENCIES:
            return False
        name, column = _LATENCIES[len(words)]
        row = {"size": int(words[0]), "iterations": int(words[1]), name: float(words[column])}
        if name == "typical_us":
            row |= {"average_us": float(words[5]), "percentile99_us": float(words[7])}
        self._rows.append(row)
        return True

    def observations(self, section: Section) -> Iterator[Observation]:
        """The run, told by its last row, where it says which program it was and has rows."""
        if self._rows and "program" in self._fields:
            yield observe(section, self._last, "LinkTest", rows=self._rows, **self._fields)


def _event(section: Section, index: int, event: str, fields: dict[str, Any]) -> Observation:
    return observe(
        section, index, "Event", event=event, origin="rdma", kind="symptom", text=section.lines[index].strip()[:400],
        order=section.number(index), count=1, fields=fields,
    )  # fmt: skip


def _gid(text: str) -> str | None:
    """The sixteen numbers of a GID, in decimal, as an address; None where one is not a byte."""
    numbers = [int(part) for part in text.split(":")]
    return str(ipaddress.IPv6Address(bytes(numbers))) if max(numbers) <= _BYTE else None


def _of_header(line: str) -> dict[str, Any]:
    found = {name: match[1] for name, pattern in _FIELDS.items() if (match := pattern.search(line))}
    fields: dict[str, Any] = {name: int(found[name]) for name in ("qps", "mtu", "gid_index") if name in found}
    fields |= {name: found[name] for name in ("hca", "connection") if name in found}
    if "link_layer" in found:
        fields["link_layer"] = _LAYERS[found["link_layer"]]
    if "dual_port" in found:
        fields["dual_port"] = found["dual_port"] == "ON"
    return fields


def _of_command(command: str | None) -> Iterator[tuple[str, Any]]:
    """What the echoed command shows: program, ``-d``, ``-i``, ``-q``, the server's address and whose memory it uses."""
    words = (command or "")[:4096].split()
    program = next((word.rsplit("/", 1)[-1] for word in words if word.rsplit("/", 1)[-1] in COMMANDS), None)
    if program is None:
        return
    yield "program", program
    if words[-2:-1] not in (["--source_ip"], ["--bind_source_ip"]) and (peer := ip_address(words[-1])) is not None:
        yield "remote_ip", str(peer)
    option = _GPU_OPTION.search(" ".join(words))
    yield "memory", "gpu" if option else "host"
    if option and option["number"]:
        yield "gpu", int(option["number"])
    for name, value in itertools.pairwise(words):
        if name in {"-d", "--ib-dev"}:
            yield "hca", value
        elif name in {"-i", "--ib-port"} and value.isdecimal() and len(value) < 4:  # noqa: PLR2004  (a port number)
            yield "port", int(value)
        elif name in {"-q", "--qp"} and value.isdecimal() and len(value) < 7:  # noqa: PLR2004  (at most 16 million)
            yield "qps", int(value)
    if "-b" in words or "--bidirectional" in words:
        yield "bidirectional", True
