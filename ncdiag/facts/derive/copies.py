"""What copies between GPUs, inside them and from the host reach, beside those of their siblings.

A few pairs or GPUs far below all others are at fault; where the slow ones are many, the machine is built so. The floor
for GPUs on NVSwitches is half of what their links carry (`ncdiag.facts.derive.gpu_models`): tests reach 85 to 90%
(stas00/ml-engineering network/README.md: 396 of 450 GB/s on H200).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from statistics import median

from ncdiag.facts.derive.gpu_models import module_of
from ncdiag.facts.model import Gpu, Host, TopoLink
from ncdiag.facts.view import View, derived

_FAR_BELOW = 0.5
"""Share of what is usual below which a copy is slow."""
_ENOUGH = 5
"""Pairs from which on a few stand out."""
_FEW = 0.25
"""Share of the pairs that are slow because of a fault, and not because of how the machine is built."""
_NVLINK_GB_PER_S = 70.0
"""More than PCIe of the fifth generation carries: NVLink joins the pairs."""
_GPUS = 3
_FIELDS = ("peer_gb_per_s", "peer_both_gb_per_s")
_COPIES = {
    "from_host_gb_per_s": "from the host to it", "to_host_gb_per_s": "from it to the host",
    "local_gb_per_s": "inside its memory",
}  # fmt: skip


@derived
def slow_pairs(host: Host, view: View) -> str | None:
    """``GPU1 and GPU3 (20.1 of 392 GB/s)``: pairs far below the others; empty for none, None when none was measured."""
    measured = False
    for field in _FIELDS:
        pairs = [(link, rate) for link in host.links if (rate := _rate(link, field, view)) is not None]
        measured = measured or bool(pairs)
        usual, slow = _slow(host, pairs, view, ways=1 + _FIELDS.index(field))
        if slow:
            for link, _ in slow[:3]:
                view.note(link, field)
            return "; ".join(f"{link.a} and {link.b} ({rate:.3g} of {usual:.3g} GB/s)" for link, rate in slow[:3])
    return "" if measured else None


def _rate(link: TopoLink, field: str, view: View) -> float | None:
    """What the pair reaches; None without peer access, where the copy goes through the host."""
    refused = link.peer_access is False or view.get(link, "lacks_peer_access")
    rate: float | None = getattr(link, field)
    return None if refused else rate


_Pairs = list[tuple[TopoLink, float]]


def _slow(host: Host, pairs: _Pairs, view: View, *, ways: int) -> tuple[float, _Pairs]:
    """What is usual, and the pairs far below it: by the links of the model, else by the other pairs of their level."""
    floor = _promised(host, view) * ways
    below = [pair for pair in pairs if pair[1] < floor * _FAR_BELOW]
    if below:
        return floor, below
    for alike in _by_level(pairs):
        usual = median(rate for _, rate in alike)
        slow = [pair for pair in alike if pair[1] < usual * _FAR_BELOW]
        if slow and len(alike) >= _ENOUGH and len(slow) <= len(alike) * _FEW:
            return usual, slow
        if found := _of_one_gpu(alike):
            return found
    return 0.0, []


def _promised(host: Host, view: View) -> float:
    """GB/s between two GPUs on NVSwitches, in one direction, by their model; 0 for other machines."""
    modules = [module for gpu in host.gpus if (module := module_of(gpu)) is not None]
    if not modules or not view.get(host, "has_nvswitch"):
        return 0.0
    return min(module.links * module.link_gb_per_s for module in modules)


def _by_level(pairs: _Pairs) -> Iterator[_Pairs]:
    """Pairs that are joined alike, as far as ``nvidia-smi topo -m`` was seen."""
    levels = dict.fromkeys(link.level for link, _ in pairs)
    return ([pair for pair in pairs if pair[0].level == level] for level in levels)


def _of_one_gpu(pairs: _Pairs) -> tuple[float, _Pairs] | None:
    """All pairs of one GPU, where NVLink joins all others."""
    names = sorted({name for link, _ in pairs for name in (link.a, link.b)})
    for name in names if len(names) > _GPUS else ():
        mine = [pair for pair in pairs if name in {pair[0].a, pair[0].b}]
        others = [rate for link, rate in pairs if name not in {link.a, link.b}]
        usual = median(others) if len(others) >= _GPUS else 0.0
        is_fast = min(others, default=0.0) >= _NVLINK_GB_PER_S
        if mine and is_fast and all(rate < usual * _FAR_BELOW for _, rate in mine):
            return usual, mine
    return None


@derived
def slow_copies(gpu: Gpu, view: View) -> str | None:
    """``from the host to it reach 6.1 GB/s, on other GPUs 25``: empty for none, None when nothing can be compared."""
    host = view.host(gpu.host)
    answers = [_compared(gpu, host.gpus, field, view) for field in _COPIES] if host is not None else []
    known = [answer for answer in answers if answer is not None]
    return next(filter(None, known), "") if known else None


def _compared(gpu: Gpu, gpus: Sequence[Gpu], field: str, view: View) -> str | None:
    read: Callable[[Gpu], float | None] = lambda other: getattr(other, field)  # noqa: E731  (of that one field)
    mine = read(gpu)
    others = [rate for other in gpus if other is not gpu and other.model == gpu.model and (rate := read(other))]
    if mine is None or len(others) < _GPUS - 1:
        return None
    usual = median(others)
    if mine >= usual * _FAR_BELOW or sum(rate < usual * _FAR_BELOW for rate in others) > len(others) * _FEW:
        return ""
    view.note(gpu, field)
    return f"{_COPIES[field]} reach {mine:.3g} GB/s, on the other GPUs {usual:.3g}"
