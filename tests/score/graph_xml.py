"""The truths of NCCL graph files, from the merged facts."""

from __future__ import annotations

from typing import Any

from ncdiag.facts.model import GraphPlan, Job


def truths(job: Job) -> dict[str, Any]:
    if len(job.graph_dumps) != 1:
        return {}
    dump = job.graph_dumps[0]
    return {
        "root": "graphs" if dump.whole or dump.version is not None else None,
        "version": str(dump.version),
        "ngraphs": len(dump.graphs),
        "graphs": [_graph(graph) for graph in dump.graphs],
    }


def _graph(graph: GraphPlan) -> dict[str, Any]:
    """In the words of the file."""
    return {
        "id": str(graph.id),
        "pattern": str(graph.pattern),
        "nchannels": str(graph.nchannels if graph.nchannels is not None else len(graph.channels)),
        "speedintra": f"{graph.bw_intra:g}",
        "speedinter": f"{graph.bw_inter:g}",
        "typeintra": graph.type_intra,
        "typeinter": graph.type_inter,
    }
