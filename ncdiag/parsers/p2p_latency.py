"""``p2pBandwidthLatencyTest`` of the CUDA samples: peer access, bandwidth and latency between each two GPUs.

Source of the format: NVIDIA/cuda-samples Samples/5_Domain_Specific/p2pBandwidthLatencyTest/p2pBandwidthLatencyTest.cu
(main, checkP2Paccess, outputLatencyMatrix, outputBandwidthMatrix). Of the latencies only the GPU's own clock is kept;
numbers of GPUs are CUDA's, which are nvidia-smi's where all GPUs are of one model and none is hidden.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from ncdiag.base.spans import Section
from ncdiag.facts.observe import Parsed
from ncdiag.parsers._peer_rates import LARGEST, Rates

KIND = "p2p_latency"
COMMANDS: tuple[str, ...] = ("p2pBandwidthLatencyTest",)
ANCHOR = (
    r"\[P2P \(Peer-to-Peer\) GPU Bandwidth Latency Test\]|P2P Connectivity Matrix[ \t]*$"
    r"|Device=\d{1,4} CAN(?:NOT)? Access Peer Device=\d"
    r"|(?:(?:Uni|Bi)directional )?P2P=(?:Dis|En)abled (?:Latency|Bandwidth) [^\n]{0,40}Matrix"
)
SIGNS = ("P2P=Disabled", "P2P=Enabled")

_TITLE = re.compile(
    r"(?P<matrix>P2P Connectivity) Matrix|(?:(?P<way>Uni|Bi)directional )?P2P=(?P<peer>Dis|En)abled "
    r"(?P<what>Latency|Bandwidth)"
)
_HEAD = re.compile(r"\s*(?P<clock>GPU|CPU|D\\D)(?:\s+\d{1,4})+\s*$")
_ROW = re.compile(r"\s*(?P<gpu>\d{1,4})(?P<cells>(?:\s+\d{1,9}(?:\.\d{1,4})?)+)\s*$")
_DEVICE = re.compile(r"Device: (?P<gpu>\d{1,4}), (?P<model>[^,]{1,80}), pciBusID: ")
_ACCESS = re.compile(r"Device=(?P<one>\d{1,4}) (?P<can>CAN|CANNOT) Access Peer Device=(?P<other>\d{1,4})\s*$")
_OTHER = re.compile(r"\[P2P |Device: \d|So you can see|\*\*\*NOTE|NOTE: The CUDA Samples|\s*$")
_FIELDS = {
    ("Latency", "En"): "peer_latency_us", ("Latency", "Dis"): "staged_latency_us",
    ("Bandwidth", "En"): "peer_gb_per_s", ("Bandwidth", "Dis"): "staged_gb_per_s",
}  # fmt: skip
_ACCESS_FIELD, _BOTH_FIELD, _STAGED = "peer_access", "peer_both_gb_per_s", "staged_gb_per_s"
_CLOCKS = {"Latency": "GPU"}
"""What heads the columns of the latencies that are kept; that of all others is ``D\\D``."""


def continues(lines: Sequence[str], line: str) -> bool:
    """Titles, heads and rows of the matrices, and what the test prints before and after them."""
    return any(pattern.match(line) for pattern in (_TITLE, _HEAD, _ROW, _ACCESS, _OTHER))


def parse(section: Section) -> Parsed:
    """A link for each pair, in microseconds and GB/s; the models of the GPUs and the bandwidth of their own memory."""
    rates = Rates(section)
    unread: list[int] = []
    field, clock, columns = "", "", 0
    for index, line in enumerate(section.lines):
        title, head, row, access = _TITLE.match(line), _HEAD.match(line), _ROW.match(line), _ACCESS.match(line)
        if title:
            field, clock, columns = _field(title), _CLOCKS.get(title["what"], "D\\D"), 0
        elif head:
            columns = len(line.split()) - 1 if head["clock"] == clock else 0
        elif row:
            if field and len(row["cells"].split()) == columns <= LARGEST:  # a row that lost its number is none
                _take(rates, field, index, row)
        elif access:
            rates.pair(index, _ACCESS_FIELD, int(access["one"]), int(access["other"]), access["can"] == "CAN")
        elif device := _DEVICE.match(line):
            rates.gpu(index, int(device["gpu"]), model=device["model"].strip())
        elif not _OTHER.match(line):
            unread.append(index)
    return Parsed(observations=tuple(rates.observations()), unread=tuple(unread))


def _field(title: re.Match[str]) -> str:
    """The field that the cells of a matrix go into; empty for one that adds nothing."""
    if title["matrix"]:
        return _ACCESS_FIELD
    if title["way"] == "Bi":
        return _BOTH_FIELD if title["peer"] == "En" else ""
    return _FIELDS[title["what"], title["peer"]]


def _take(rates: Rates, field: str, index: int, row: re.Match[str]) -> None:
    """Take the cells of a row: from one GPU to each other; the diagonal is a copy inside one memory."""
    gpu = int(row["gpu"])
    for other, cell in enumerate(row["cells"].split()):
        if other != gpu:
            rates.pair(index, field, gpu, other, float(cell) > 0 if field == _ACCESS_FIELD else float(cell))
        elif field == _STAGED:
            rates.gpu(index, gpu, local_gb_per_s=float(cell))
