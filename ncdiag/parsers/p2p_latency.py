"""``p2pBandwidthLatencyTest`` of the CUDA samples: how long a copy from one GPU to another takes, with peer access.

Source of the format: NVIDIA/cuda-samples Samples/5_Domain_Specific/p2pBandwidthLatencyTest/p2pBandwidthLatencyTest.cu
(main, outputLatencyMatrix, outputBandwidthMatrix). Of the latencies only the GPU's own clock is kept.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from ncdiag.facts.observe import Observation, Parsed, observe
from ncdiag.spans import Section

KIND = "p2p_latency"
COMMANDS: tuple[str, ...] = ("p2pBandwidthLatencyTest",)
ANCHOR = (
    r"\[P2P \(Peer-to-Peer\) GPU Bandwidth Latency Test\]|P2P Connectivity Matrix[ \t]*$"
    r"|(?:(?:Uni|Bi)directional )?P2P=(?:Dis|En)abled (?:Latency|Bandwidth) [^\n]{0,40}Matrix"
)

_TITLE = re.compile(r"(?P<way>(?:Uni|Bi)directional )?P2P=(?P<peer>Dis|En)abled (?P<what>Latency|Bandwidth)")
_HEAD = re.compile(r"\s*(?P<clock>GPU|CPU|D\\D)(?:\s+\d{1,4})+\s*$")
_ROW = re.compile(r"\s*(?P<gpu>\d{1,4})(?P<cells>(?:\s+\d{1,9}(?:\.\d{1,4})?)+)\s*$")
_OTHER = re.compile(
    r"\[P2P |Device: \d|Device=\d|P2P Connectivity|So you can see|\*\*\*NOTE|NOTE: The CUDA Samples|\s*$"
)
_FIELDS = {
    ("Latency", "En"): "peer_latency_us", ("Latency", "Dis"): "staged_latency_us",
    ("Bandwidth", "En"): "peer_gb_per_s", ("Bandwidth", "Dis"): "staged_gb_per_s",
}  # fmt: skip
_CLOCKS = {"Latency": "GPU", "Bandwidth": "D\\D"}
"""What heads the columns of the matrices that are kept."""
_LARGEST = 1024
"""GPUs of a matrix; a wider one is something else."""


def continues(lines: Sequence[str], line: str) -> bool:
    """Titles, heads and rows of the matrices, what the test says before and behind them."""
    return any(pattern.match(line) for pattern in (_TITLE, _HEAD, _ROW, _OTHER))


def parse(section: Section) -> Parsed:
    """A link for each pair with the slower of its two directions, in microseconds and GB/s."""
    found: dict[tuple[str, str, str], tuple[int, float]] = {}
    unread: list[int] = []
    what, field, gpus = "", "", False
    for index, line in enumerate(section.lines):
        title, head, row = _TITLE.match(line), _HEAD.match(line), _ROW.match(line)
        if title:
            what, field, gpus = title["what"], _FIELDS[title["what"], title["peer"]], False
        elif head:
            gpus = head["clock"] == _CLOCKS.get(what)
        elif row:
            if field and gpus:
                _take(found, field, index, row)
        elif not _OTHER.match(line):
            unread.append(index)
    links = tuple(_link(section, place, index, latency) for place, (index, latency) in found.items())
    return Parsed(observations=links, unread=tuple(unread))


def _link(section: Section, place: tuple[str, str, str], index: int, latency: float) -> Observation:
    fields: dict[str, Any] = {place[2]: latency}
    return observe(section, index, "TopoLink", place[:2], **fields)


def _take(found: dict[tuple[str, str, str], tuple[int, float]], field: str, index: int, row: re.Match[str]) -> None:
    """Take the cells of a row: from one GPU to each other; the worse of two directions stays."""
    gpu, cells = int(row["gpu"]), row["cells"].split()
    if len(cells) > _LARGEST:
        return
    for other, cell in enumerate(cells):
        if other != gpu:
            key = f"GPU{min(gpu, other)}", f"GPU{max(gpu, other)}", field
            if key not in found or _is_worse(field, float(cell), found[key][1]):
                found[key] = index, float(cell)


def _is_worse(field: str, value: float, other: float) -> bool:
    return value > other if field.endswith("_us") else value < other
