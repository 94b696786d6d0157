"""``simpleP2P``, ``deviceQuery`` and ``bandwidthTest`` of the CUDA samples: peer access, models, copies to the host.

Source of the formats: NVIDIA/cuda-samples Samples/0_Introduction/simpleP2P/simpleP2P.cu,
Samples/1_Utilities/deviceQuery/deviceQuery.cpp, Samples/1_Utilities/bandwidthTest/bandwidthTest.cu (removed in 12.9).
Releases before 10 printed ``Bandwidth(MB/s)``. Numbers of GPUs are CUDA's, as in `ncdiag.parsers.p2p_latency`.
The ``>`` of a line is taken for that of a quoted mail, and gone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from ncdiag.base.spans import Section
from ncdiag.facts.observe import Observation, Parsed, observe
from ncdiag.facts.scalars import bus_id
from ncdiag.parsers import _context, _events
from ncdiag.parsers._peer_rates import Rates

KIND = "cuda_samples"
COMMANDS: tuple[str, ...] = ("simpleP2P", "deviceQuery", "bandwidthTest")
_PEERS = r"(?:> )?Peer access from [^()\n]{1,80} \(GPU\d{1,3}\) -> [^()\n]{1,80} \(GPU\d{1,3}\) : (?:Yes|No)[ \t]*$"
ANCHOR = (
    r"\[[^\]\n]{0,200}simpleP2P\] - Starting\.\.\.|[ \t]{0,2}CUDA Device Query \(Runtime API\) version "
    rf"|\[CUDA Bandwidth Test\] - Starting|{_PEERS}|cudaMemcpyPeer / cudaMemcpy between GPU\d{{1,3}} and GPU\d"
    r"|[ \t]?(?:Host to Device|Device to Host) Bandwidth, \d{1,3} Device\(s\)[ \t]*$"
)

_ACCESS = re.compile(
    r"(?:> )?Peer access from .{1,100}? \(GPU(?P<one>\d{1,3})\) -> .{1,100}? \(GPU(?P<other>\d{1,3})\)"
    r" : (?P<can>Yes|No)\s*$"
)
_RATE = re.compile(
    r"cudaMemcpyPeer / cudaMemcpy between GPU(?P<one>\d{1,3}) and GPU(?P<other>\d{1,3}): (?P<rate>\d{1,6}\.\d{1,4})GB/s"
)
_CHECKED = re.compile(r"Enabling peer access between GPU(?P<one>\d{1,3}) and GPU(?P<other>\d{1,3})")
_WRONG = re.compile(r"Verification error @ element \d")
_ERROR = re.compile(r"-> (?P<error>[a-zA-Z].{3,120}?)\s*$")
"""The words of the CUDA error whose number is in the line above."""
_DEVICE = re.compile(r"\s?Device (?P<gpu>\d{1,3}): \"?(?P<model>[^\"\n]{3,80}?)\"?\s*$")
_PLACE = re.compile(
    r"\s+Device PCI Domain ID / Bus ID / location ID:\s+(?P<domain>\d{1,6}) / (?P<bus>\d{1,3}) / (?P<slot>\d{1,2})"
)
_WAY = re.compile(r"\s?(?P<way>Host to Device|Device to Host|Device to Device) Bandwidth, (?P<count>\d{1,3}) Device")
_UNIT = re.compile(r"\s+Transfer Size \(Bytes\)\s+Bandwidth\((?P<unit>[GM])B/s\)")
_SIZE = re.compile(r"\s+(?P<size>\d{1,12})\s+(?P<rate>\d{1,7}\.\d)\s*$")
_OTHER = re.compile(
    r"\s*$|\[[^\]]{1,200}\] - |> |Checking |CUDA-capable device count|Enabling |Disabling |Allocating |Creating "
    r"|Preparing |Run kernel |Copy data |Shutting |Running on\.\.\."
    r"|cudaGet\w{1,40} returned \d|Result = FAIL|deviceQuery, CUDA|Result = PASS|NOTE: The CUDA"
    r"|Test passed|Two or more GPUs with Peer|Peer to Peer access is|Waiving test|Detected \d"
    r"|\S{1,200}deviceQuery Starting"
    r"|\s{1,6}(?:\(\d{1,4}\) Multiprocessors|[A-Z][^:]{2,60}:(?:\s|$)|< |CUDA |[A-Z][\w (),/.#-]{3,60}\s\s\S)"
    r"|\s(?:PINNED|PAGEABLE|Quick|Range|Shmoo) |\.+\s*$"
)
_FIELDS = {
    "Host to Device": "from_host_gb_per_s",
    "Device to Host": "to_host_gb_per_s",
    "Device to Device": "local_gb_per_s",
}
_LARGE = 1 << 20
"""Bytes from which a copy shows bandwidth."""
_LINES = 4000


def continues(lines: Sequence[str], line: str) -> bool:
    """What these samples print; anything else ends the section."""
    patterns = (_ACCESS, _RATE, _WRONG, _ERROR, _DEVICE, _WAY, _UNIT, _SIZE, _OTHER)
    return len(lines) < _LINES and (any(p.match(line) for p in patterns) or line.startswith("Test failed!"))


def parse(section: Section) -> Parsed:
    """GPUs with their models, links with peer access and GB/s, and whether the data of a copy was right."""
    reader = _Reader(section)
    unread = [i for i, line in enumerate(section.lines) if not reader.take(i, line) and not _OTHER.match(line)]
    found = (*reader.rates.observations(), *reader.checks(), *reader.errors.observations())
    return Parsed(observations=found, unread=tuple(unread))


class _Reader:
    """The state of the sample that is being read."""

    def __init__(self, section: Section) -> None:
        self._section = section
        self.rates = Rates(section)
        self.errors = _events.Collector(section)
        self._gpu: int | None = None
        self._field, self._scale = "", 1.0
        self._pair: tuple[int, ...] = ()
        self._wrong: tuple[int, str] | None = None
        self._passed: int | None = None

    def take(self, index: int, line: str) -> bool:
        """Read a line; False when it is none that these samples tell something in."""
        if found := _ACCESS.match(line):
            self.rates.pair(index, "peer_access", int(found["one"]), int(found["other"]), found["can"] == "Yes")
        elif found := _RATE.match(line):
            self.rates.pair(index, "peer_gb_per_s", int(found["one"]), int(found["other"]), float(found["rate"]))
        elif found := _CHECKED.match(line):
            self._pair = int(found["one"]), int(found["other"])
        elif _WRONG.match(line):
            self._wrong = self._wrong or (index, line.strip())
        elif line.startswith("Test passed"):
            self._passed = index
        elif found := _ERROR.match(line):
            for event in _events.find(f"CUDA error: {found['error']}"):
                self.errors.add(index, event, _context.Context(), found["error"])
        elif not line.startswith("Test failed!"):
            return self._of_gpu(index, line) or self._of_copy(index, line)
        return True

    def _of_gpu(self, index: int, line: str) -> bool:
        if found := _DEVICE.match(line):
            self._gpu = int(found["gpu"])
            self.rates.gpu(index, self._gpu, model=found["model"].strip())
        elif (found := _PLACE.match(line)) and self._gpu is not None:
            where = bus_id(f"{int(found['domain']):04x}:{int(found['bus']):02x}:{int(found['slot']):02x}.0")
            self.rates.gpu(index, self._gpu, bus_id=where)
        else:
            return False
        return True

    def _of_copy(self, index: int, line: str) -> bool:
        if found := _WAY.match(line):
            self._field = _FIELDS[found["way"]] if found["count"] == "1" else ""
        elif "PAGEABLE" in line[:20]:
            self._field = ""
        elif found := _UNIT.match(line):
            self._scale = 1.0 if found["unit"] == "G" else 1000.0
        elif found := _SIZE.match(line):
            if self._field and self._gpu is not None and int(found["size"]) >= _LARGE:
                self.rates.gpu(index, self._gpu, **{self._field: float(found["rate"]) / self._scale})
        else:
            return False
        return True

    def checks(self) -> Iterator[Observation]:
        """What simpleP2P found when it compared the data of its copies."""
        if self._wrong:
            index, text = self._wrong
            yield observe(
                self._section, index, "HealthCheck", program="simpleP2P", name="peer copies", result="fail",
                gpus=self._pair, message=text,
            )  # fmt: skip
        elif self._passed is not None and self._pair:
            yield observe(
                self._section, self._passed, "HealthCheck", program="simpleP2P", name="peer copies", result="pass",
                gpus=self._pair,
            )  # fmt: skip
