"""``simpleP2P``, ``deviceQuery`` and ``bandwidthTest`` of the CUDA samples: peer access, models, copies to the host.

Source of the formats: NVIDIA/cuda-samples Samples/0_Introduction/simpleP2P/simpleP2P.cu,
Samples/1_Utilities/deviceQuery/deviceQuery.cpp, Samples/1_Utilities/bandwidthTest/bandwidthTest.cu (removed in 12.9).
Releases before 10 printed ``Bandwidth(MB/s)``. Numbers of GPUs are CUDA's, as in `ncdiag.parsers.p2p_latency`.
The ``>`` of a line is taken for that of a quoted mail, and gone.
"""

from __future__ import annotations

import re
from typing import Any

from ncdiag.base.spans import Section
from ncdiag.facts.scalars import bus_id
from ncdiag.parsers import _context, _events
from ncdiag.parsers._peer_rates import Rates
from ncdiag.parsers._rows import Reading, Row, Rows

KIND = "cuda_samples"
COMMANDS: tuple[str, ...] = ("simpleP2P", "deviceQuery", "bandwidthTest")
_PEERS = r"(?:> )?Peer access from [^()\n]{1,80} \(GPU\d{1,3}\) -> [^()\n]{1,80} \(GPU\d{1,3}\) : (?:Yes|No)[ \t]*$"
ANCHOR = (
    r"\[[^\]\n]{0,200}simpleP2P\] - Starting\.\.\.|[ \t]{0,2}CUDA Device Query \(Runtime API\) version "
    rf"|\[CUDA Bandwidth Test\] - Starting|{_PEERS}|cudaMemcpyPeer / cudaMemcpy between GPU\d{{1,3}} and GPU\d"
    r"|[ \t]?(?:Host to Device|Device to Host) Bandwidth, \d{1,3} Device\(s\)[ \t]*$"
)

_ACCESS = (
    r"(?:> )?Peer access from .{1,100}? \(GPU(?P<one>\d{1,3})\) -> .{1,100}? \(GPU(?P<other>\d{1,3})\)"
    r" : (?P<can>Yes|No)\s*$"
)
_RATE = (
    r"cudaMemcpyPeer / cudaMemcpy between GPU(?P<one>\d{1,3}) and GPU(?P<other>\d{1,3}): (?P<rate>\d{1,6}\.\d{1,4})GB/s"
)
_CHECKED = r"Enabling peer access between GPU(?P<one>\d{1,3}) and GPU(?P<other>\d{1,3})"
_ERROR = r"-> (?P<error>[a-zA-Z].{3,120}?)\s*$"
"""The words of the CUDA error whose number is in the line above."""
_DEVICE = r"\s?Device (?P<gpu>\d{1,3}): \"?(?P<model>[^\"\n]{3,80}?)\"?\s*$"
_PLACE = (
    r"\s{1,6}Device PCI Domain ID / Bus ID / location ID:\s+(?P<domain>\d{1,6}) / (?P<bus>\d{1,3}) / (?P<slot>\d{1,2})"
)
_WAY = r"\s?(?P<way>Host to Device|Device to Host|Device to Device) Bandwidth, (?P<count>\d{1,3}) Device"
_OTHER = (
    r"\s*$|\[[^\]]{1,200}\] - |> |Checking |CUDA-capable device count|Enabling |Disabling |Allocating |Creating "
    r"|Preparing |Run kernel |Copy data |Shutting |Running on\.\.\."
    r"|cudaGet\w{1,40} returned \d|Result = FAIL|deviceQuery, CUDA|Result = PASS|NOTE: The CUDA"
    r"|Test failed!|Two or more GPUs with Peer|Peer to Peer access is|Waiving test|Detected \d"
    r"|\S{1,200}deviceQuery Starting"
    r"|\s{1,6}(?:\(\d{1,4}\) Multiprocessors|[A-Z][^:]{2,60}:(?:\s|$)|< |CUDA |[A-Z][\w (),/.#-]{3,60}\s\s\S)"
    r"|\s(?:PINNED|Quick|Range|Shmoo) |\.+\s*$"
)
_FIELDS = {
    "Host to Device": "from_host_gb_per_s",
    "Device to Host": "to_host_gb_per_s",
    "Device to Device": "local_gb_per_s",
}
_LARGE = 1 << 20
"""Bytes from which a copy shows bandwidth."""


class _Samples(Reading):
    """GPUs with their models, links with peer access and GB/s, and whether the data of a copy was right."""

    gpu: int | None = None
    field, scale = "", 1.0
    pair: tuple[int, ...] = ()
    wrong: tuple[int, str] | None = None
    passed: int | None = None

    def __init__(self, section: Section) -> None:
        """Nothing is measured yet."""
        super().__init__(section)
        self.rates = Rates(section)
        self.errors = _events.Collector(section)

    def access(self, found: re.Match[str]) -> None:
        """Whether one GPU reaches another."""
        self.rates.pair(self.index, "peer_access", int(found["one"]), int(found["other"]), found["can"] == "Yes")

    def rate(self, found: re.Match[str]) -> None:
        """How fast it copies from there."""
        self.rates.pair(self.index, "peer_gb_per_s", int(found["one"]), int(found["other"]), float(found["rate"]))

    def checked(self, found: re.Match[str]) -> None:
        """The pair whose copies are checked."""
        self.pair = int(found["one"]), int(found["other"])

    def invalid(self, _: re.Match[str]) -> None:
        """Wrong data in a copy; the first line counts."""
        self.wrong = self.wrong or (self.index, self.line.strip())

    def all_right(self, _: re.Match[str]) -> None:
        """The data of all copies was right."""
        self.passed = self.index

    def error(self, found: re.Match[str]) -> None:
        """A CUDA error."""
        for event in _events.find(f"CUDA error: {found['error']}"):
            self.errors.add(self.index, event, _context.Context(), found["error"])

    def device(self, found: re.Match[str]) -> None:
        """A GPU with its model."""
        self.gpu = int(found["gpu"])
        self.rates.gpu(self.index, self.gpu, model=found["model"].strip())

    def place(self, found: re.Match[str]) -> None:
        """Its PCI address."""
        if self.gpu is not None:
            where = bus_id(f"{int(found['domain']):04x}:{int(found['bus']):02x}:{int(found['slot']):02x}.0")
            self.rates.gpu(self.index, self.gpu, bus_id=where)

    def way(self, found: re.Match[str]) -> None:
        """The direction of the copies below; those of several GPUs at once say nothing of one."""
        self.field = _FIELDS[found["way"]] if found["count"] == "1" else ""

    def pageable(self, _: re.Match[str]) -> None:
        """Copies of memory that is not pinned, which are slower."""
        self.field = ""

    def unit(self, found: re.Match[str]) -> None:
        """The unit of the rates below."""
        self.scale = 1.0 if found["unit"] == "G" else 1000.0

    def size(self, found: re.Match[str]) -> None:
        """The rate of copies of one size."""
        if self.field and self.gpu is not None and int(found["size"]) >= _LARGE:
            self.rates.gpu(self.index, self.gpu, **{self.field: float(found["rate"]) / self.scale})

    def end(self) -> None:
        """What was measured, what simpleP2P found when it compared the data of its copies, the errors."""
        self.found += self.rates.observations()
        check: dict[str, Any] = {"program": "simpleP2P", "name": "peer copies"}
        if self.wrong:
            at, text = self.wrong
            self.observe("HealthCheck", at=at, **check, result="fail", gpus=self.pair, message=text)
        elif self.passed is not None and self.pair:
            self.observe("HealthCheck", at=self.passed, **check, result="pass", gpus=self.pair)
        self.found += self.errors.observations()


ROWS = Rows(
    _Samples,
    Row(_ACCESS, _Samples.access),
    Row(_RATE, _Samples.rate),
    Row(_CHECKED, _Samples.checked),
    Row(r"Verification error @ element \d", _Samples.invalid),
    Row(r"Test passed", _Samples.all_right),
    Row(_ERROR, _Samples.error),
    Row(_DEVICE, _Samples.device),
    Row(_PLACE, _Samples.place),
    Row(_WAY, _Samples.way),
    Row(r"\s?PAGEABLE ", _Samples.pageable, belongs=lambda _, line: line[:1].isspace()),
    Row(r"\s+Transfer Size \(Bytes\)\s+Bandwidth\((?P<unit>[GM])B/s\)", _Samples.unit),
    Row(r"\s+(?P<size>\d{1,12})\s+(?P<rate>\d{1,7}\.\d)\s*$", _Samples.size),
    Row(_OTHER),
    most=4000,
)
