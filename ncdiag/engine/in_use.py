"""The lines that show which network a job uses: GPUDirect RDMA, RDMA, and the way in which its ranks connect."""

from __future__ import annotations

from collections.abc import Iterable

from ncdiag.base.spans import Span
from ncdiag.facts.view import View

_LINES = 3


def lines_of_gdr(view: View) -> tuple[Span, ...]:
    """The lines that show GPUDirect RDMA in use; empty if any shows a card, a connection or a buffer without it."""
    return view.remembered(("gdr is on",), lambda: _of_gdr(view))


def _of_gdr(view: View) -> tuple[Span, ...]:
    ranks = view.job.ranks
    ways = {name for rank in ranks for name in rank.transports or () if name.startswith("NET/")}
    if not all(verdict.enabled for rank in ranks for verdict in rank.gdr) or not all("GDRDMA" in way for way in ways):
        return ()
    if any(event.event == "ib-reg-mr-failed" for event in view.job.events):
        return ()  # chosen, and the card did not get the memory
    fields = [(rank, "gdr") for rank in ranks if rank.gdr] + [(rank, "transports") for rank in ranks if ways]
    return first(rank.provenance.get(field) for rank, field in fields)


def lines_of_connecting(view: View, way: str) -> tuple[Span, ...]:
    """The lines in which ranks connect in this way."""
    return view.remembered(("connecting", way), lambda: _of_connecting(view, way))


def _of_connecting(view: View, way: str) -> tuple[Span, ...]:
    ranks = [rank for rank in view.job.ranks if any(name.startswith(way) for name in rank.transports or ())]
    return first(rank.provenance.get("transports") for rank in ranks)


def lines_of_rdma(view: View) -> tuple[Span, ...]:
    """The lines that show another network than sockets in use; empty if any shows sockets."""
    ranks = [rank for rank in view.job.ranks if rank.net is not None]
    providers = [event for event in view.job.events if event.event == "ofi-provider"]
    sockets = any(rank.net == "Socket" for rank in ranks)
    if sockets or any(event.fields.get("provider") != "efa" for event in providers):
        return ()
    return first([rank.provenance.get("net") for rank in ranks] + [event.provenance.get("") for event in providers])


def first(spans: Iterable[Span | None]) -> tuple[Span, ...]:
    """The first different lines of these."""
    return tuple(dict.fromkeys(span for span in spans if span is not None))[:_LINES]
