"""``p2pBandwidthLatencyTest`` of the CUDA samples: peer access, bandwidth and latency between each two GPUs.

Source of the format: NVIDIA/cuda-samples Samples/5_Domain_Specific/p2pBandwidthLatencyTest/p2pBandwidthLatencyTest.cu
(main, checkP2Paccess, outputLatencyMatrix, outputBandwidthMatrix). Of the latencies only the GPU's own clock is kept;
numbers of GPUs are CUDA's, which are nvidia-smi's where all GPUs are of one model and none is hidden.
"""

from __future__ import annotations

import re

from ncdiag.base.spans import Section
from ncdiag.parsers._peer_rates import LARGEST, Rates
from ncdiag.parsers._rows import BLANK, Reading, Row, Rows

KIND = "p2p_latency"
COMMANDS: tuple[str, ...] = ("p2pBandwidthLatencyTest",)
ANCHOR = (
    r"\[P2P \(Peer-to-Peer\) GPU Bandwidth Latency Test\]|P2P Connectivity Matrix[ \t]*$"
    r"|Device=\d{1,4} CAN(?:NOT)? Access Peer Device=\d"
    r"|(?:(?:Uni|Bi)directional )?P2P=(?:Dis|En)abled (?:Latency|Bandwidth) [^\n]{0,40}Matrix"
    r"|[^\n]{0,60}\b(?:[Uu]ni|[Bb]i)directional,? (?:bandwidth,? )?P2P=(?:Dis|En)abled\b[^\n]{0,40}$"
)
SIGNS = ("P2P=Disabled", "P2P=Enabled")

_TITLE = (
    r"(?P<matrix>P2P Connectivity) Matrix|(?:(?P<way>Uni|Bi)directional )?P2P=(?P<peer>Dis|En)abled "
    r"(?P<what>Latency|Bandwidth)"
)
_OWN_TITLE = (
    r".{0,60}\b(?:(?P<matrix>connectivity matrix)|(?P<way>[Uu]ni|[Bb]i)directional,? (?:bandwidth,? )?"
    r"P2P=(?P<peer>Dis|En)abled\b(?P<what>))"
)
"""A heading that somebody wrote above a bandwidth matrix in place of the tool's."""
_FIELDS = {
    ("Latency", "En"): "peer_latency_us", ("Latency", "Dis"): "staged_latency_us",
    ("Bandwidth", "En"): "peer_gb_per_s", ("Bandwidth", "Dis"): "staged_gb_per_s",
}  # fmt: skip
_ACCESS_FIELD, _BOTH_FIELD, _STAGED = "peer_access", "peer_both_gb_per_s", "staged_gb_per_s"
_CLOCKS = {"Latency": "GPU"}
"""What heads the columns of the latencies that are kept; that of all others is ``D\\D``."""


class _Matrices(Reading):
    """A link for each pair, in microseconds and GB/s; the models of the GPUs and the bandwidth of their own memory."""

    def __init__(self, section: Section) -> None:
        """No matrix has begun."""
        super().__init__(section)
        self.rates = Rates(section)
        self.field, self.clock, self.columns = "", "", 0

    def title(self, found: re.Match[str]) -> None:
        """The next matrix."""
        self.field, self.clock, self.columns = _field(found), _CLOCKS.get(found["what"], "D\\D"), 0

    def head(self, found: re.Match[str]) -> None:
        """The numbers of its columns."""
        self.columns = len(self.line.split()) - 1 if found["clock"] == self.clock else 0

    def row(self, found: re.Match[str]) -> None:
        """From one GPU to each other; the diagonal is a copy inside one memory."""
        gpu, cells = int(found["gpu"]), found["cells"].split()
        if not self.field or not len(cells) == self.columns <= LARGEST:  # a row that lost its number says nothing
            return
        for other, cell in enumerate(cells):
            if other != gpu:
                value = float(cell) > 0 if self.field == _ACCESS_FIELD else float(cell)
                self.rates.pair(self.index, self.field, gpu, other, value)
            elif self.field == _STAGED:
                self.rates.gpu(self.index, gpu, local_gb_per_s=float(cell))

    def access(self, found: re.Match[str]) -> None:
        """Whether one GPU reaches another."""
        self.rates.pair(self.index, _ACCESS_FIELD, int(found["one"]), int(found["other"]), found["can"] == "CAN")

    def device(self, found: re.Match[str]) -> None:
        """The model of a GPU."""
        self.rates.gpu(self.index, int(found["gpu"]), model=found["model"].strip())

    def end(self) -> None:
        """All of them."""
        self.found += self.rates.observations()


ROWS = Rows(
    _Matrices,
    Row(_TITLE, _Matrices.title),
    Row(_OWN_TITLE, _Matrices.title),
    Row(r"\s*(?P<clock>GPU|CPU|D\\D)(?:\s+\d{1,4})+\s*$", _Matrices.head),
    Row(r"\s*(?P<gpu>\d{1,4})(?P<cells>(?:\s+\d{1,9}(?:\.\d{1,4})?)+)\s*$", _Matrices.row),
    Row(r"Device=(?P<one>\d{1,4}) (?P<can>CAN|CANNOT) Access Peer Device=(?P<other>\d{1,4})\s*$", _Matrices.access),
    Row(r"Device: (?P<gpu>\d{1,4}), (?P<model>[^,]{1,80}), pciBusID: ", _Matrices.device),
    Row(r"\[P2P |Device: \d|So you can see|\*\*\*NOTE|NOTE: The CUDA Samples"),
    BLANK,
)


def _field(title: re.Match[str]) -> str:
    """The field that the cells of a matrix go into; empty for one that adds nothing."""
    if title["matrix"]:
        return _ACCESS_FIELD
    if (title["way"] or "").title() == "Bi":
        return _BOTH_FIELD if title["peer"] == "En" else ""
    return _FIELDS[title["what"] or "Bandwidth", title["peer"]]
