"""Releases that do not fit: of NCCL for the GPUs, of CUDA for the driver, of kernel modules for each other."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from ncdiag.base.patterns import lazy_regex
from ncdiag.facts.derived import derived, derived_of
from ncdiag.facts.model import Event, Fact, Host, Job, Rank
from ncdiag.facts.scalars import Version
from ncdiag.facts.view import View
from ncdiag.facts.vocabulary.capabilities import named_gpus
from ncdiag.facts.vocabulary.job import is_multi_host
from ncdiag.knowledge.version.conditions import is_gpu
from ncdiag.nccl import driver_cuda
from ncdiag.nccl.defects.entries import version_of
from ncdiag.nccl.defects.table import tables

_WARNED = lazy_regex(r"(?:^|: )\s*(\w[\w ()-]{2,60}?) with CUDA capability")
_RDMA_MODULES = ("mlx4_", "mlx5_", "ib_", "rdma_", "iw_", "bnxt_re", "irdma", "efa")


@derived_of("module-symbol")
def is_rdma_module_mismatch(event: Event, view: View) -> bool:
    """Does a module of the RDMA stack not match the kernel or the other modules?"""
    return str(event.fields.get("module", "")).startswith(_RDMA_MODULES)


@derived_of("numpy-object-newer")
def is_of_another_environment(event: Event, view: View) -> bool | None:
    """Does an object that NumPy cannot read come from a file, and not from another host of the job?

    True where the job has one host, whose processes share their releases. None otherwise: the line does not say it.
    """
    return True if is_multi_host(view.job, view) is False else None


@derived
def gpu_before_time(host: Host, view: View) -> str | None:
    """A GPU newer than the host's NCCL, ``NVIDIA H100 (first release for it: 2.15.1)``; empty for none."""
    version = view.version(host)
    models = list(_models(host, view))
    if version is None or not models:
        return None
    for model, fact, field in models:
        first = first_release(model)
        if first is not None and version.less(first) is not False:
            view.note(fact, field)
            return f"{model} (first release for it: {first})" if version.less(first) else None
    return ""


@derived
def fits_named_gpus(job: Job, view: View) -> bool | None:
    """Does the release that NCCL prints support all GPUs that somebody names? None where one of the two is unknown."""
    named, version = named_gpus(job, view), view.version()
    if not named or version is None:
        return None
    bounds = [bound for model in named for family, bound in _firsts() if is_gpu(model.upper(), (family,))]
    return all(version.less(bound) is False for bound in bounds)


def first_release(model: str) -> Version | None:
    """The first release of NCCL that is built for this GPU; None where it is not known."""
    return next((bound for family, bound in _firsts() if is_gpu(model, (family,))), None)


def _models(host: Host, view: View) -> Iterator[tuple[str, Fact, str]]:
    """The models of the host's GPUs, each with the fact and field that shows it; also those in PyTorch's warning."""
    yield from ((gpu.model, gpu, "model") for gpu in host.gpus if gpu.model)
    for event in view.events_on(host.name, ["torch-arch-unsupported"]):
        named = _WARNED.search(event.text)
        if named is not None:
            yield named[1], event, ""


def _firsts() -> Iterator[tuple[str, Version]]:
    """Families of GPUs, each with the first release of NCCL that is built for it."""
    return ((family, version_of(first)) for family, first in tables().first.items())


_MINOR_FREELY = 11
"""The first CUDA major release whose minor releases all run on a driver for any of them."""
_OF_WHEELS = 12
"""The CUDA major release that most packages were built with since 2023."""
_TORCH_OF_CUDA_12 = Version(2, 1)
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


@derived
def driver_is_before_wheels(job: Job, view: View) -> bool:
    """Does the driver support CUDA 11, while the program's CUDA is unknown, which is 12 in most packages?

    False for a driver for CUDA 10 or older, since it dates from a time when packages used such releases as well.
    """
    driver = next((shown for shown in _drivers_cuda(job) if shown[0]), None)
    if driver is None or driver[0] is None or any(shown[0] for shown in _built_with(job, view)):
        return False
    if driver[0][0] != _OF_WHEELS - 1 or _is_torch_of_cuda_11(job):
        return False
    view.note(driver[1], driver[2])
    return True


def _is_torch_of_cuda_11(job: Job) -> bool:
    """Does an error of NCCL come from PyTorch before 2.1, the first release that is built with CUDA 12 by default?"""
    if not any(event.event == "torch-nccl-error" for event in job.events):
        return False
    releases = [host.frameworks["pytorch"] for host in job.hosts if host.frameworks and "pytorch" in host.frameworks]
    releases += [c.value.split()[-1] for c in job.contexts if c.value.startswith("pytorch ")]
    return any(version < _TORCH_OF_CUDA_12 for version in map(Version.parse, releases) if version)


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
