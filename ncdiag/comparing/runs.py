"""Functions for properties of a job as a whole: its progress, what it used, and its speed.

``compared.toml`` refers to them by name. Each yields (name, value); the name is empty for the job as a whole. What the
input does not show yields nothing.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator

from ncdiag.base.patterns import lazy_regex
from ncdiag.comparing.readers import distinct, folded
from ncdiag.facts.model import BenchmarkRow, Interface
from ncdiag.facts.view import View
from ncdiag.facts.vocabulary.outcome import open_failures, outcome
from ncdiag.messages.vocabulary.phases import phase
from ncdiag.messages.vocabulary.seen import first_hand, seen_complaints
from ncdiag.messages.vocabulary.timeline import first_of
from ncdiag.nccl import environment

Found = Iterator[tuple[str, str]]
_TEXT = 160
"""Maximum length of a line in characters."""
_CHANGING = lazy_regex(r"0x[0-9a-f]+|\b\d{4,}\b|\[[^\]]*\]", re.IGNORECASE)
"""Parts of a line that differ in every run: addresses, process numbers, time stamps."""
_UNITS = ((1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB"))
_NET = lazy_regex(r"/\d+(?=/|$)")


def _ranks(view: View) -> Found:
    if view.job.nranks is not None:
        yield "", str(view.job.nranks)


def _hosts(view: View) -> Found:
    if view.job.nhosts is not None:
        yield "", str(view.job.nhosts)


def _outcome(view: View) -> Found:
    found = outcome(view.job, view)
    if found != "unknown":
        yield "", found


def _phase(view: View) -> Found:
    found = phase(view.job, view)
    if found is not None:
        yield "", found


def _troubles(view: View) -> Found:
    """The problems, in readable words; ``none`` for a job that is known to have succeeded."""
    found = [complaint.what for complaint in seen_complaints(view.job, view)]
    if found:
        yield "", distinct(found)
    elif outcome(view.job, view) in {"finished", "running"}:
        yield "", "nothing"


def _first_failure(view: View) -> Found:
    """The first failure, without parts that differ in every run; ``none`` for a job that is known to have succeeded."""
    failures = open_failures(view.job, view)
    if failures:
        first, _ = first_of(first_hand(failures, view), view)
        event = min(first, key=lambda event: event.order)
        text = _CHANGING.sub("...", event.text)
        yield "", text if len(text) <= _TEXT else f"{text[:_TEXT]} ..."
    elif outcome(view.job, view) in {"finished", "running"}:
        yield "", "none"


def _net(view: View) -> Found:
    yield from _together(rank.net for rank in view.job.ranks if rank.net)


def _bootstrap(view: View) -> Found:
    yield from _interfaces(i for r in view.job.ranks for i in (r.bootstrap_interface,) if i is not None)


def _sockets(view: View) -> Found:
    yield from _interfaces(i for r in view.job.ranks for i in r.socket_interfaces or ())


def _oob(view: View) -> Found:
    yield from _interfaces(i for r in view.job.ranks for i in (r.oob_interface,) if i is not None)


def _interfaces(found: Iterable[Interface]) -> Found:
    names = {interface.name for interface in found}
    if names:
        yield "", folded(names)


def _nics(view: View) -> Found:
    """The lists of NICs of the ranks, with the number of ranks for each list."""
    lists = {folded(device.name for device in rank.net_devices) for rank in view.job.ranks if rank.net_devices}
    if lists:
        yield "", " or ".join(sorted(lists))


def _link_layers(view: View) -> Found:
    yield from _together(d.link_layer for r in view.job.ranks for d in r.net_devices or () if d.link_layer)


def _gids(view: View) -> Found:
    yield from _together(str(use.index) for r in view.job.ranks for use in r.gids_used if use.index is not None)


def _transports(view: View) -> Found:
    """The kinds of connections, without the numbers of NICs: ``NET/IB/GDRDMA, P2P/IPC``."""
    yield from _together(_NET.sub("", name) for rank in view.job.ranks for name in rank.transports or ())


def _gdr(view: View) -> Found:
    """Whether connections over the network use GPUDirect RDMA."""
    ways = [name for rank in view.job.ranks for name in rank.transports or () if name.startswith("NET/")]
    if ways:
        direct = sum("GDRDMA" in name for name in ways)
        yield "", "used" if direct == len(ways) else "not used" if not direct else "used by some connections"


def _channels(view: View) -> Found:
    told = [(event.fields, event.order) for event in view.events_on(None, ("channel-counts",))]
    told = told or [(event.fields, event.order) for event in view.job.events if event.event == "channel-counts"]
    for name in ("coll", "nvls", "collnet", "p2p"):
        values = {str(fields[f"{name}_channels"]) for fields, _ in told if f"{name}_channels" in fields}
        if values:
            yield name, distinct(values)


def _searches(view: View) -> Found:
    """The result of the search for channels, by the number of the pattern."""
    found: dict[str, set[str]] = {}
    for event in view.job.events:
        if event.event == "graph-search-result":
            fields = event.fields
            text = f"{fields.get('channels')} channels of {fields.get('bw_intra')}/{fields.get('bw_inter')} GB/s"
            path = f" by {fields['type_intra']}/{fields['type_inter']}" if "type_intra" in fields else ""
            found.setdefault(f"pattern {fields.get('pattern')}", set()).add(f"{text}{path}")
    yield from ((name, distinct(texts)) for name, texts in found.items())


def _algorithms(view: View) -> Found:
    """The algorithm and protocol of each collective, by its size."""
    found: dict[str, set[str]] = {}
    for event in view.job.events:
        fields = event.fields
        size = fields.get("size", fields.get("bytes"))
        if event.event == "algorithm-chosen" and isinstance(size, int):
            name = fields.get("function") or fields.get("collective") or "collective"
            chosen = [
                fields.get(a, fields.get(b)) for a, b in (("algorithm", "algo_code"), ("protocol_name", "proto_code"))
            ]
            if None not in chosen:
                found.setdefault(f"{name} {amount(size)}", set()).add("/".join(map(str, chosen)))
    yield from ((name, distinct(texts)) for name, texts in found.items())


def _settings(view: View) -> Found:
    """Variables that belong to no host: from a launch line or a paste."""
    texts: dict[str, set[str]] = {}
    for setting in view.job.settings:
        if setting.host is None and setting.text is not None and setting.name in environment.variables():
            texts.setdefault(setting.name, set()).add(setting.text)
    yield from ((name, distinct(found)) for name, found in texts.items())


def _launcher(view: View) -> Found:
    yield from _together(launch.program for launch in view.job.launches)


def _bandwidths(view: View) -> Found:
    """The bus bandwidth of each row of nccl-tests, in GB/s; for a size that was run several times, the best."""
    best: dict[str, float] = {}
    for name, row in _rows(view):
        for speed in (row.busbw, row.in_place_busbw):
            if speed is not None:
                best[name] = max(best.get(name, 0.0), speed)
    yield from ((name, f"{speed:g} GB/s") for name, speed in best.items())


def _rows(view: View) -> Iterator[tuple[str, BenchmarkRow]]:
    for run in view.job.benchmarks:
        program = (run.program or "test").rpartition("/")[2]
        for row in run.rows:
            kind = " ".join(filter(None, (row.datatype, row.redop if row.redop != "none" else None)))
            yield f"{program}, {amount(row.size)}{f' of {kind}' if kind and kind != 'float sum' else ''}", row


def _average(view: View) -> Found:
    for run in view.job.benchmarks:
        if run.average_busbw is not None:
            yield (run.program or "test").rpartition("/")[2], f"{run.average_busbw:g} GB/s"


def _wrong(view: View) -> Found:
    told = [run.out_of_bounds for run in view.job.benchmarks if run.out_of_bounds is not None]
    if told:
        yield "", str(sum(told))


def _link_tests(view: View) -> Found:
    """The results of perftest and iperf3 in Gbit/s, by tested device."""
    for test in view.job.link_tests:
        best = max((row.average_gbps for row in test.rows if row.average_gbps is not None), default=test.gbps)
        if best is not None:
            yield " ".join(filter(None, (test.program, test.hca))), f"{best:g} Gbit/s"


def _throughput(view: View) -> Found:
    for found in view.job.throughputs:
        name = " ".join(filter(None, (found.unit, found.case, f"on {found.gpus} GPUs")))
        yield name, f"{found.per_second:g} a second"


def amount(size: int) -> str:
    """``1 GiB``, ``512 B``."""
    for unit, word in _UNITS:
        if size >= unit:
            return f"{size / unit:.4g} {word}"
    return f"{size} B"


def _together(values: Iterable[str]) -> Found:
    found = distinct(values)
    if found:
        yield "", found


READERS: dict[str, Callable[[View], Iterable[tuple[str, str]]]] = {
    "ranks": _ranks, "hosts": _hosts, "outcome": _outcome, "phase": _phase, "troubles": _troubles,
    "first_failure": _first_failure, "net": _net, "bootstrap": _bootstrap, "sockets": _sockets, "oob": _oob,
    "nics": _nics, "link_layers": _link_layers, "gids": _gids, "transports": _transports, "gdr": _gdr,
    "channels": _channels, "searches": _searches, "algorithms": _algorithms, "settings": _settings,
    "launcher": _launcher, "bandwidths": _bandwidths, "average": _average, "wrong": _wrong,
    "link_tests": _link_tests, "throughput": _throughput,
}  # fmt: skip
