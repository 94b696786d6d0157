"""Releases to install: a build for the driver that is there, the package of the driver's version."""

from __future__ import annotations

from collections.abc import Mapping

from ncdiag.base.patterns import lazy_regex
from ncdiag.facts.assemble_hosts import UNNAMED
from ncdiag.facts.fold import fold_hosts
from ncdiag.facts.model import Gpu, Host
from ncdiag.facts.scalars import Version, VersionRange
from ncdiag.facts.view import View
from ncdiag.facts.vocabulary.gpus import driver_of
from ncdiag.fixes.values import Bindings, Value, best, bound

_INDEX = "https://download.pytorch.org/whl/"
_BUILDS = ((525, "cu126"), (450, "cu118"))
"""The first driver branch on which builds of CUDA 12 and 11 run (CUDA release notes, minor versions)."""
_CUDA_BUILDS = {12: "cu126", 11: "cu118"}
_FOR_BLACKWELL = "cu128"
_BLACKWELL = lazy_regex(r"(?i)\b(?:G?B[123]00\b|RTX PRO \d|RTX 50\d0)")
"""GPUs of compute capability 10 and 12, for which builds of CUDA 12.6 have no kernels."""
_FOUND = lazy_regex(r"found version (\d{1,2})0\d0\b")
"""The CUDA of the driver, as PyTorch prints it: 12040 is 12.4."""
_CUDA = lazy_regex(r"\+cuda(\d{2})\.")
_RELEASE = lazy_regex(r"\d{3}(?:\.\d{1,3}){1,2}")
_BY_DNF = lazy_regex(r"(?i)red hat|rhel|rocky|alma|centos|fedora|suse|amazon")
_LONG_CODES = 20900
"""From this release on a code has two digits for the minor release (ncclGetVersion, nccl.h)."""
_RENAMED = 580
"""The branch from which on NVIDIA's packages have no branch in their names."""


@best
def torch_index(view: View, bindings: Bindings) -> Value:  # noqa: ARG001
    """The package index of PyTorch with builds that run on the oldest driver of the hosts."""
    drivers = [v for host in view.job.hosts if (v := Version.parse(driver_of(host) or "")) is not None]
    build = next((name for first, name in _BUILDS if drivers and min(drivers).major >= first), None)
    if build == _CUDA_BUILDS[12] and any(map(_is_blackwell, (gpu for host in view.job.hosts for gpu in host.gpus))):
        build = _FOR_BLACKWELL
    if build is not None:
        return Value(text=f"{_INDEX}{build}", reason=f"driver {min(drivers)} runs builds for {build}")
    found = [int(number[1]) for event in view.job.events for number in _FOUND.finditer(event.text or "")]
    build = _CUDA_BUILDS.get(min(found)) if found else None
    if build is None:
        return Value(reason="the driver of the hosts was not seen", ask_for=("nvidia-smi",))
    return Value(text=f"{_INDEX}{build}", reason=f"the driver runs builds for CUDA {min(found)}")


@best
def fabric_manager_package(view: View, bindings: Bindings) -> Value:
    """Name and version of the package of NVIDIA's repository for Debian and Ubuntu, up to branch 575."""
    host = bound(bindings, Host)
    driver = driver_of(host) if host is not None else next(filter(None, map(driver_of, view.job.hosts)), None)
    version = Version.parse(driver or "")
    if driver is None or version is None or version.major >= _RENAMED or not _RELEASE.fullmatch(driver):
        return Value(reason="the version of the driver was not seen", ask_for=("nvidia-smi",))
    if host is not None and _BY_DNF.search(host.os_release or ""):
        return Value(reason="the packages of this distribution have other names")
    return Value(text=f"nvidia-fabricmanager-{version.major}={driver}-1", reason=f"the driver is {driver}")


@best
def nccl_wheel(view: View, bindings: Bindings) -> Value:  # noqa: ARG001
    """A line that installs the latest NCCL release of the job where the wheel of an older one is."""
    known = {host.name: v for host in view.job.hosts if (v := host.nccl_version) is not None and v.known}
    known |= {rank.host: v for rank in view.job.ranks if (v := rank.nccl_version) is not None and v.known}
    latest = max((v.low for v in known.values()), default=None)
    older = [name for name, v in known.items() if v.low != latest]
    cuda = {found[1] for v in known.values() if (found := _CUDA.search(v.text))}
    where = fold_hosts(older)
    if not older and (printed := _mismatched(view, known)) is not None:
        latest, where = printed
    if latest is None or not where or len(cuda) != 1:
        return Value(reason="two releases, and the CUDA that they are for, were not seen")
    line = f"pip install nvidia-nccl-cu{cuda.pop()}=={latest}   # on {where}"
    return Value(text=line, reason=f"{latest} is the latest release in the job")


def _mismatched(view: View, known: Mapping[str, VersionRange]) -> tuple[Version, str] | None:
    """The later release of the two in NCCL's own line, and the host of the rank with the other, or a word for it."""
    for event in view.job.events:
        codes = [event.fields.get(name) for name in ("first_version", "second_version")]
        numbers = [code for code in codes if isinstance(code, int) and code >= _LONG_CODES]
        if event.event == "version-mismatch" and len(numbers) == len(codes):
            latest = max(numbers)
            version = Version(latest // 10000, latest // 100 % 100, latest % 100)
            older = event.fields.get("second_rank" if numbers[0] == latest else "first_rank")
            hosts = {rank.host for rank in view.job.ranks if rank.rank == older} - {UNNAMED}
            own = [
                name
                for name in hosts
                if name not in known or known[name].low != version or not _shows_version(name, view)
            ]
            return version, own[0] if len(own) == len(hosts) == 1 else f"the host of rank {older}"
    return None


def _shows_version(host: str, view: View) -> bool:
    """Does a line printed on this host show its release? NCCL prints it on one rank, for all hosts of the job."""
    spans = [(rank.host, span) for rank in view.job.ranks if (span := rank.provenance.get("nccl_version")) is not None]
    others = {span for name, span in spans if name != host}
    return any(name == host and (host in span.text or span not in others) for name, span in spans)


def _is_blackwell(gpu: Gpu) -> bool:
    return (gpu.compute_capability or "").startswith(("10.", "12.")) or _BLACKWELL.search(gpu.model or "") is not None
