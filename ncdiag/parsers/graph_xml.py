"""NCCL's graph file: the rings and trees of its search, as NCCL_GRAPH_DUMP_FILE writes and NCCL_GRAPH_FILE reads them.

Source of the format: NCCL src/graph/search.cc (ncclTopoGetXmlFromGraph, ncclTopoGetXmlFromChannel), 2.5 to 2.30.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ncdiag.base.spans import Section
from ncdiag.facts.observe import Parsed, observe
from ncdiag.formats import xml

KIND = "graph_xml"
COMMANDS: tuple[str, ...] = ()
ANCHOR = rf"\s{{0,40}}{xml.LESS}graph(?:s version|\s+id)={xml.QUOTE}"


def continues(lines: Sequence[str], line: str) -> bool:
    """Tags, wrapped attributes and comments, to the end of the graphs."""
    return xml.continues(lines, line, "graphs")


def parse(section: Section) -> Parsed:
    """One GraphDump with its graphs and their channels."""
    document = xml.read(section)
    graphs: dict[int, dict[str, Any]] = {}
    channels: dict[int, dict[str, list[int]]] = {}
    version: int | None = None
    for index, element in enumerate(document.elements):
        get, above = element.attributes.get, element.parent
        if element.name == "graphs":
            version = xml.integer(get("version"))
        elif element.name == "graph" and xml.integer(get("id")) is not None:
            graphs[index] = _graph(get)
        elif element.name == "channel" and above in graphs:
            channels[index] = {"gpus": [], "ranks": [], "nets": []}
            graphs[above]["channels"].append(channels[index])
        elif element.name in {"gpu", "net"} and above in channels:
            _member(channels[above], element.name, get)
    if not graphs:
        return Parsed(unread=tuple(i for i, line in enumerate(section.lines) if line.strip()))
    whole = "graphs" in document.closed
    dump = observe(section, 0, "GraphDump", version=version, whole=whole, graphs=list(graphs.values()))
    return Parsed(observations=(dump,))


def _graph(get: Any) -> dict[str, Any]:  # noqa: ANN401  (dict.get)
    same = xml.integer(get("samechannels"))
    fields = {
        "id": xml.integer(get("id")), "pattern": xml.integer(get("pattern")),
        "cross_nic": xml.integer(get("crossnic")), "nchannels": xml.integer(get("nchannels")),
        "bw_intra": xml.real(get("speedintra")), "bw_inter": xml.real(get("speedinter")),
        "latency_inter": xml.real(get("latencyinter")), "type_intra": get("typeintra"),
        "type_inter": get("typeinter"), "same_channels": None if same is None else same != 0,
    }  # fmt: skip
    return {"channels": [], **{name: value for name, value in fields.items() if value is not None}}


def _member(channel: dict[str, list[int]], name: str, get: Any) -> None:  # noqa: ANN401
    """A GPU or net of a channel; a GPU has a rank only in what NCCL wrote itself."""
    dev, rank = xml.integer(get("dev")), xml.integer(get("rank"))
    if dev is not None:
        channel["gpus" if name == "gpu" else "nets"].append(dev)
    if rank is not None and name == "gpu":
        channel["ranks"].append(rank)
