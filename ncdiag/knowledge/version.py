"""Releases of NCCL and of the driver with a known defect, or too old for the GPUs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Literal

from ncdiag.facts.derived import derived, derived_of
from ncdiag.facts.model import Event, Fact, Host, Job, Rank
from ncdiag.facts.scalars import Version, VersionRange
from ncdiag.facts.view import View
from ncdiag.facts.vocabulary.gpus import joins_gpus
from ncdiag.facts.vocabulary.hosts import shows_kernel_log
from ncdiag.facts.vocabulary.told import told_context
from ncdiag.nccl import driver_cuda
from ncdiag.nccl.defects import DEFECTS, FIRST_FOR_GPU, Defect
from ncdiag.nccl.driver_defects import DRIVER_DEFECTS, DriverDefect

_RDMA_MODULES = ("mlx4_", "mlx5_", "ib_", "rdma_", "iw_", "bnxt_re", "irdma", "efa")


@derived_of("module-symbol")
def is_rdma_module_mismatch(event: Event, view: View) -> bool:
    """Does a module of the RDMA stack not match the kernel or the other modules?"""
    return str(event.fields.get("module", "")).startswith(_RDMA_MODULES)


_XID = "gpu-xid"
_LINK_DOWN = "nvlink-down"
_UNSUPPORTED = "NS"


@derived
def driver_defect(host: Host, view: View) -> str | None:
    """A known defect of the driver release with a sign of it, ``Driver 525.85.12 lets ...``; empty for none.

    None when there may be one: the driver, the GPU or the place of its sign was not shown.
    """
    told = next((gpu for gpu in host.gpus if gpu.driver), None)
    text = host.driver or (told.driver if told is not None else None)
    version = Version.parse(text) if text else None
    verdicts = [(defect, _applies(defect, version, host, view)) for defect in DRIVER_DEFECTS]
    for defect, applies in verdicts:
        if applies:
            view.note(host if host.driver else told, "driver")
            return f"Driver {text} of {host.name} {defect.what} (fixed in {defect.printed})"
    return None if any(applies is None for _, applies in verdicts) else ""


def _applies(defect: DriverDefect, version: Version | None, host: Host, view: View) -> bool | None:
    """The three-valued conjunction of the conditions on release, sign and GPU."""
    affected = None if version is None else version.major == defect.fixed.major and version < defect.fixed
    parts = [affected]
    for tell in (_has_sign, _has_gpu):
        if False in parts:
            return False
        parts.append(tell(defect, host, view))
    return False if False in parts else None if None in parts else True


def _has_sign(defect: DriverDefect, host: Host, view: View) -> bool | None:
    signs = []
    if defect.xid is not None:
        signs.append(_has_xid(defect.xid, host, view))
    if defect.peers_unsupported:
        signs.append(_denies_peers(host, view))
    return True if True in signs else None if None in signs else False


def _has_xid(xid: int, host: Host, view: View) -> bool | None:
    """Does the kernel log of the host contain the Xid? None where the log was not shown."""
    event = next((e for e in view.events_on(host.name, [_XID]) if e.fields.get("xid") == xid), None)
    if event is not None:
        view.note(event)
        return True
    return False if shows_kernel_log(host, view) else None


def _denies_peers(host: Host, view: View) -> bool | None:
    """Are there GPUs without peer access? None where that was not shown."""
    pairs = [link for link in host.links if joins_gpus(link)]
    states = [{link.p2p_read, link.p2p_write, link.p2p_status} - {None} for link in pairs]
    denied = next((link for link, told in zip(pairs, states, strict=True) if _UNSUPPORTED in told), None)
    if denied is not None:
        view.note(denied)
        return True
    return False if any(states) else None


def _has_gpu(defect: DriverDefect, host: Host, view: View) -> bool | None:
    if defect.gpus is None:
        return True
    models = [gpu for gpu in host.gpus if gpu.model]
    mine = next((gpu for gpu in models if defect.gpus.search(gpu.model or "")), None)
    if mine is not None:
        view.note(mine, "model")
    return mine is not None if models else None


@derived
def release_defect(host: Host, view: View) -> str | None:
    """A known defect of the NCCL release on this host, ``NCCL 2.26.2 stops with ...``.

    Empty for none, None if unknown.
    """
    found, is_known = _defect(host, view)
    if found is None:
        return "" if is_known else None
    return f"NCCL {view.version(host)} {found.what} (fixed in {found.fixed})"


@derived
def avoids_defect(host: Host, view: View) -> str:
    """The assignments with which the release does not meet its known defect, ``NCCL_PROTO=^LL128``; empty for none."""
    found, _ = _defect(host, view)
    return " ".join(f"{name}={value}" for name, value in found.avoided_by) if found is not None else ""


@derived
def defect_setting(host: Host, view: View) -> str:
    """The variable with which the release meets its known defect; empty if it needs none."""
    found, _ = _defect(host, view)
    return found.setting[0] if found is not None and found.setting is not None else ""


def _defect(host: Host, view: View) -> tuple[Defect | None, bool]:
    """The first known defect that applies, and whether all are known to apply or not."""
    version = view.version(host)
    if version is None or version.less(Version(2, 0, 1)):
        return None, False
    verdicts = [(defect, _hits(defect, host, version, view)) for defect in DEFECTS]
    found = next((defect for defect, applies in verdicts if applies), None)
    return found, all(applies is not None for _, applies in verdicts)


def _hits(defect: Defect, host: Host, version: VersionRange, view: View) -> bool | None:
    """The three-valued conjunction of the conditions in the entry."""
    older, newer = version.less(defect.since), version.less(defect.fixed)
    parts = [None if older is None else not older, newer, *_conditions(defect, host, view)]
    if False in parts:
        return False
    return None if None in parts else True


def _conditions(defect: Defect, host: Host, view: View) -> Iterable[bool | None]:
    if defect.gpus is not None:
        models = [gpu for gpu in host.gpus if gpu.model]
        mine = next((gpu for gpu in models if defect.gpus.search(gpu.model or "")), None)
        if mine is not None:
            view.note(mine, "model")
        yield True if mine is not None else False if models else None
    if defect.setting is not None:
        name, value = defect.setting
        setting = view.setting(host, name)
        if setting is not None and setting.text == value:
            view.note(setting)
        yield setting.text == value if setting is not None else None
    if defect.links_down:
        inactive = [gpu.nvlinks_inactive for gpu in host.gpus]
        yield (
            True
            if any(inactive) or _LINK_DOWN in told_context(view.job, view)
            else None
            if None in inactive or not inactive
            else False
        )
    if defect.events:
        yield any(name in defect.events for name in view.event_names())


@derived
def gpu_before_time(host: Host, view: View) -> str | None:
    """A GPU newer than the host's NCCL, ``NVIDIA H100 (first release for it: 2.15.1)``; empty for none."""
    version = view.version(host)
    models = [gpu for gpu in host.gpus if gpu.model]
    if version is None or not models:
        return None
    for gpu in models:
        first = next((bound for known, bound in FIRST_FOR_GPU if known.search(gpu.model or "")), None)
        if first is not None and version.less(first) is not False:
            view.note(gpu, "model")
            return f"{gpu.model} (first release for it: {first})" if version.less(first) else None
    return ""


_MINOR_FREELY = 11
"""The first CUDA major release whose minor releases all run on a driver for any of them."""
_Told = tuple[driver_cuda.Release | None, Fact, str]
"""A release of CUDA, and the fact and field that show it."""


@derived
def cuda_gap(job: Job, view: View) -> Literal["", "minor", "major"] | None:
    """Is the CUDA of NCCL, PyTorch or the toolkit newer than the driver's, and in the major or only the minor release?

    From 11 on a driver runs all releases of its major one, except functions and PTX that it does not know. None where
    one of the two is unknown.
    """
    driver = next((told for told in _drivers_cuda(job) if told[0]), None)
    built = next((told for told in _built_with(job, view) if told[0]), None)
    if driver is None or built is None or driver[0] is None or built[0] is None:
        return None
    for _, fact, field in (driver, built):
        view.note(fact, field)
    if built[0] <= driver[0]:
        return ""
    return "minor" if built[0][0] == driver[0][0] >= _MINOR_FREELY else "major"


def _drivers_cuda(job: Job) -> Iterator[_Told]:
    """The CUDA of the driver: as it reports it, which includes the compat package, else by the driver's release."""
    for event in job.events:
        code = event.fields.get("cuda_version")
        if event.event == "cuda-driver-version" and isinstance(code, int):
            yield (code // 1000, code % 1000 // 10), event, ""
    gpus = [gpu for host in job.hosts for gpu in host.gpus]
    yield from ((driver_cuda.read(gpu.cuda), gpu, "cuda") for gpu in gpus if gpu.cuda)
    yield from ((driver_cuda.of_driver(host.driver), host, "driver") for host in job.hosts if host.driver)
    yield from ((driver_cuda.of_driver(gpu.driver), gpu, "driver") for gpu in gpus if gpu.driver)
    yield from ((driver_cuda.of_driver(c.value), c, "") for c in job.contexts if c.kind == "driver-branch")


def _built_with(job: Job, view: View) -> Iterator[_Told]:
    """The CUDA that the program was built with: NCCL's, PyTorch's, else that of a toolkit, which may not be in use."""
    for rank in job.ranks:
        version = view.version(rank)
        if version is not None and "+cuda" in version.text:
            yield driver_cuda.read(version.text), rank, "nccl_version"
    for name in ("cuda", "cuda toolkit"):
        for host in job.hosts:
            if host.frameworks and name in host.frameworks:
                yield driver_cuda.read(host.frameworks[name]), host, "frameworks"
    yield from ((driver_cuda.read(c.value), c, "") for c in job.contexts if c.kind == "cuda-toolkit")


@derived
def nccl_build(event: Event, view: View) -> str:
    """The NCCL build that prints the message, `` (NCCL 2.18.3+cuda11.0)``, as far as known; else empty."""
    versions = ((rank, view.version(rank)) for rank in view.job.ranks if event.rank in {None, rank.rank})
    for rank, version in versions:
        if version is not None and "+cuda" in version.text:
            view.note(rank, "nccl_version")
            return f" (NCCL {version.text})"
    return ""


@derived
def nccl_cuda_behind(job: Job, view: View) -> str | None:
    """The CUDA of NCCL and the later major release of the program's CUDA: ``10.2 and 12.1``.

    Empty where the program's is not later; None where one of them is unknown.
    """
    told = list(_built_with(job, view))
    nccl = next((release for release, fact, _ in told if isinstance(fact, Rank) and release), None)
    program = next((found for found in told if isinstance(found[1], Host) and found[0]), None)
    if nccl is None or program is None or program[0] is None:
        return None
    view.note(program[1], program[2])
    return f"{nccl[0]}.{nccl[1]} and {program[0][0]}.{program[0][1]}" if nccl[0] < program[0][0] else ""
