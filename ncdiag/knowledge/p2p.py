"""Peer access between the GPUs of a host: whether it is offered, slow, or transfers wrong data."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from statistics import median

from ncdiag.base.products import product_of
from ncdiag.facts.derived import derived, derived_of
from ncdiag.facts.model import Event, Gpu, Host, Job, Rank, TopoCpu, TopoLink
from ncdiag.facts.scalars import Version
from ncdiag.facts.view import View
from ncdiag.facts.vocabulary.gpus import (
    DISABLED_BY_KEY,
    has_nvswitch,
    module_of,
    offers_no_access,
    p2p_words,
)
from ncdiag.messages.vocabulary.cuda_errors import is_said
from ncdiag.nccl import paths, versions
from ncdiag.nccl.selection import p2p
from ncdiag.nccl.vocabulary.levels import P2P_LEVEL


@derived
def net_within_host(rank: Rank, view: View) -> bool | None:
    """Does the rank send over the network although all ranks of its job are on its own host?"""
    if rank.transports is None:
        return None
    if not any(name.startswith("NET/") for name in rank.transports):
        return False
    hosts = hosts_by_communicator(view.job, view).get(rank.communicator or "")
    return None if hosts is None else hosts == 1


@derived
def hosts_by_communicator(job: Job, view: View) -> dict[str, int]:
    """The number of hosts of each communicator, for communicators all of whose ranks were seen."""
    members: dict[str, list[Rank]] = defaultdict(list)
    for rank in job.ranks:
        members[rank.communicator or ""].append(rank)
    found = {}
    for name, ranks in members.items():
        wanted = max((r.nranks for r in ranks if r.nranks is not None), default=None)
        if wanted is not None and len({r.rank for r in ranks} - {None}) >= wanted:
            found[name] = len({r.host for r in ranks})
    return found


_FAR_BELOW = 0.5
"""A copy below this share of the usual rate is slow."""
_ENOUGH = 5
"""The number of pairs from which a few slow ones are outliers."""
_FEW_LANES, _ALIKE = 0.3, 0.8
"""The share of the usual rate below which one GPU has lost lanes, and from which on rates of other pairs are alike."""
_FEW = 0.25
"""The largest share of slow pairs that a fault explains; more are due to the construction of the machine."""
_NVLINK_GB_PER_S = 70.0
"""A rate above that of PCIe 5.0, so that NVLink connects the pairs."""
_GPUS = 3
_FIELDS = ("peer_gb_per_s", "peer_both_gb_per_s")
_COPIES = {
    "from_host_gb_per_s": "from the host to it reach", "to_host_gb_per_s": "from it to the host reach",
    "local_gb_per_s": "inside its memory reach",
}  # fmt: skip


@derived
def slow_pairs(host: Host, view: View) -> str | None:
    """Pairs far below the others, ``GPU1 and GPU3 (20.1 of 392 GB/s)``; empty for none, None when none was measured."""
    measured = False
    for field in _FIELDS:
        pairs = [(link, rate) for link in host.links if (rate := _rate(link, field)) is not None]
        measured = measured or bool(pairs)
        usual, slow = _slow(host, pairs, view, ways=1 + _FIELDS.index(field))
        if slow:
            for link, _ in slow[:3]:
                view.note(link, field)
            return "; ".join(f"{link.a} and {link.b} ({rate:.3g} of {usual:.3g} GB/s)" for link, rate in slow[:3])
    return "" if measured else None


def _rate(link: TopoLink, field: str) -> float | None:
    """The rate of the pair; None without peer access, where the copy goes through the host."""
    rate: float | None = getattr(link, field)
    return None if rate is None or link.peer_access is False or offers_no_access(link) else rate


_Pairs = list[tuple[TopoLink, float]]


def _slow(host: Host, pairs: _Pairs, view: View, *, ways: int) -> tuple[float, _Pairs]:
    """The usual rate, and the pairs far below it: by the model's links, else by other pairs of the same level."""
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
    """The GB/s between two GPUs on NVSwitches in one direction, by their model; 0 for other machines."""
    modules = [module for gpu in host.gpus if (module := module_of(gpu)) is not None]
    if not modules or not has_nvswitch(host, view):
        return 0.0
    return min(module.links * module.link_gbs for module in modules)


def _by_level(pairs: _Pairs) -> Iterator[_Pairs]:
    """Pairs that are connected in the same way, as far as ``nvidia-smi topo -m`` was seen."""
    levels = dict.fromkeys(link.level for link, _ in pairs)
    return ([pair for pair in pairs if pair[0].level == level] for level in levels)


def _of_one_gpu(pairs: _Pairs) -> tuple[float, _Pairs] | None:
    """The usual rate and all pairs of one slow GPU; else None.

    Where NVLink connects all others, half of the rate is slow. Over PCIe, whose switches and sockets make pairs differ,
    all others must be alike and those of the GPU reach a small part of their rate, as with a few lanes.
    """
    names = sorted({name for link, _ in pairs for name in (link.a, link.b)})
    for name in names if len(names) > _GPUS else ():
        mine = [pair for pair in pairs if name in {pair[0].a, pair[0].b}]
        others = [rate for link, rate in pairs if name not in {link.a, link.b}]
        usual = median(others) if len(others) >= _GPUS else 0.0
        slowest = min(others, default=0.0)
        limit = _FAR_BELOW if slowest >= _NVLINK_GB_PER_S else _FEW_LANES if slowest >= usual * _ALIKE else 0.0
        if mine and all(rate < usual * limit for _, rate in mine):
            return usual, mine
    return None


@derived
def slow_copies(gpu: Gpu, view: View) -> str | None:
    """Slow copies of the GPU, ``from the host to it reach 6.1 GB/s, on other GPUs 25``.

    Empty for none, None if unknown.
    """
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
    return f"{_COPIES[field]} {mine:.3g} GB/s, on the other GPUs {usual:.3g}"


@derived
def uses_shm(rank: Rank, view: View) -> bool | None:
    """Does the rank communicate with another on its host through shared memory?"""
    if rank.transports is None:
        return None
    return any(name.startswith("SHM") or "shared memory" in name for name in rank.transports)


@derived
def has_near_gpus(host: Host, view: View) -> bool | None:
    """Are all pairs of GPUs connected by NVLink or one PCIe switch, so that none needs shared memory?"""
    pairs = [link for link in host.links if link.a.startswith("GPU") and link.b.startswith("GPU") and link.level]
    if not pairs:
        return None
    return all(link.level in {"PIX", "PXB"} or (link.level or "").startswith("NV") for link in pairs)


_PEER_REFUSALS = ("cuda-peer-unsupported", "accelerate-p2p-refused")


@derived
def is_disabled_by_key(link: TopoLink, view: View) -> bool | None:
    """Does a registry key of the driver prevent peer access between two GPUs?"""
    told = p2p_words(link)
    if DISABLED_BY_KEY in told:
        view.note(link)
    return DISABLED_BY_KEY in told if told else None


@derived
def peer_refusal_text(job: Job, view: View) -> str:
    """The line of a program that did not get peer access between GPUs; empty for none."""
    told = next((event for event in job.events if event.event in _PEER_REFUSALS and _is_printed(event)), None)
    if told is None:
        return ""
    view.note(told)
    return told.text


_REFUSED, _REFUSED_TEXT = 217, "peer access is not supported"
"""cudaErrorPeerAccessUnsupported, and its text; older releases of NCCL print the text alone."""
_WIDE = frozenset({"SYS", "PHB", "PXB", "PXN", "PIX"})


@derived_of("cuda-failure", "cuda-peer-unsupported")
def is_peer_refusal(event: Event, view: View) -> bool:
    """Did CUDA refuse peer access between two GPUs, as a program printed?"""
    if event.fields.get("cuda_code") == _REFUSED or str(event.fields.get("cuda_error", "")).startswith(_REFUSED_TEXT):
        return True
    return event.event == "cuda-peer-unsupported" and _is_printed(event)


@derived
def forcing_setting(event: Event, view: View) -> str | None:
    """The setting that makes NCCL use peer access over PCIe, ``NCCL_P2P_LEVEL=SYS``; empty for none."""
    setting = view.setting(view.host(event.host) or view.job, "NCCL_P2P_LEVEL")
    if setting is None:
        return None
    text = (setting.text or "").strip().upper()
    if text not in _WIDE and not (text.isdecimal() and int(text) > 0):
        return ""
    view.note(setting)
    return f"NCCL_P2P_LEVEL={setting.text}"


@derived
def host_without_peer_access(job: Job, view: View) -> str | None:
    """The first host whose driver offers no peer access between two GPUs; empty for none, None if not known."""
    answers = [(link, offers_no_access(link)) for host in job.hosts for link in host.links]
    for link, lacks in answers:
        if lacks and not is_disabled_by_key(link, view):
            view.note(link)
            return link.host
    return "" if any(lacks is False for _, lacks in answers) else None


def _is_printed(event: Event) -> bool:
    """Did a program print the line? The words alone may be somebody's prose."""
    return event.event != "cuda-peer-unsupported" or is_said(event)


_MANY = 8
"""The assumed number of GPUs of a host where they were not counted; with two the result would differ."""


@derived
def limits_p2p(rank: Rank, view: View) -> bool | None:
    """Does NCCL_P2P_LEVEL allow peer access up to some distance, but not at any?"""
    setting = view.setting(rank, P2P_LEVEL)
    if setting is None or setting.is_set is None:
        return None
    if not setting.is_set or setting.valid is False:
        return False
    return None if setting.effective is None else setting.effective not in {"LOC", "SYS"}


@derived
def unset_widens_p2p(rank: Rank, view: View) -> bool:
    """Is NCCL's default limit known to be farther than NCCL_P2P_LEVEL?

    The default depends on the release, the processor and the number of GPUs (`ncdiag.nccl.selection.p2p`).
    """
    setting, host, version = view.setting(rank, P2P_LEVEL), view.host(rank.host), view.version(rank)
    if setting is None or host is None or not isinstance(setting.effective, str):
        return False
    processor = TopoCpu(arch=host.cpu_arch, vendor=host.cpu_vendor)
    gpus = len(host.gpus) or _MANY
    mine = setting.effective

    def widens(exact: Version) -> bool | None:
        default, _ = p2p.level({}, exact, processor, gpus)
        if default is None:  # every default reaches at least PXB
            return paths.is_within("PXB", mine, exact) is False
        return paths.is_within(default, mine, exact) is False

    return versions.agreed(version, p2p.CHANGES, widens) is True


_PEERS = 8


@derived
def exceeds_peers(job: Job, view: View) -> bool:
    """Are more GPUs in use on a host than CUDA can map to each other over PCIe: more than eight besides one?

    ``cuCtxEnablePeerAccess`` of the CUDA driver API: a device has eight peer connections on systems without NVSwitch,
    over all programs.
    """
    if any(has_nvswitch(host, view) for host in job.hosts):
        return False
    for run in job.benchmarks:
        of_process = (run.nthreads or 1) * (run.gpus_per_process or 0)
        if max(of_process, (run.nranks or 0) if run.nhosts == 1 else 0) > _PEERS + 1:
            view.note(run)
            return True
    ranks = ([rank for rank in view.ranks_on(host.name) if rank.cuda_dev is not None] for host in job.hosts)
    crowded = next((own for own in ranks if len({(rank.pid, rank.cuda_dev) for rank in own}) > _PEERS + 1), None)
    if crowded is not None:
        view.note(crowded[0])
    return crowded is not None


@derived
def peerless_model(job: Job, view: View) -> str:
    """The GPU model for which the driver offers no peer access, ``NVIDIA GeForce RTX 4090``; empty where it is offered.

    By the models of a host, else by what people say; with a patched driver, the listed pairs show peer access.
    """
    if any(offers_no_access(link) is False for host in job.hosts for link in host.links):
        return ""
    seen = [gpu for host in job.hosts for gpu in host.gpus if gpu.model]
    for gpu in seen:
        product = product_of(gpu.model)
        if product is not None and product.peer is False:
            view.note(gpu, "model")
            return gpu.model or ""
    told = [context for context in job.contexts if context.kind == "gpu-model"] if not seen else []
    for context in told:
        product = product_of(context.value.upper())
        if product is not None and product.peer is False:
            view.note(context)
            return context.value.upper()
    return ""
