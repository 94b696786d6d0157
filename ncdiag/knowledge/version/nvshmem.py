"""Parts of NVSHMEM from two installations: its wheel, which PyTorch loads, and another build."""

from __future__ import annotations

import posixpath
from collections.abc import Sequence

import msgspec

from ncdiag.base.patterns import lazy_regex
from ncdiag.facts.derived import derived
from ncdiag.facts.model import Context, Event, Job
from ncdiag.facts.view import View

_MISMATCH, _RELEASE = "nvshmem-version-mismatch", "nvshmem-version"
_TWO = 2
_HOST_LIBRARY = lazy_regex(r"libnvshmem_host\.so(?:\.\d{1,6})*$")
_MODULE = lazy_regex(r"nvshmem_(?:transport|bootstrap)_\w{1,40}\.so(?:\.\d{1,6})*$")
_NUMBER = lazy_regex(r"(?<![\d.])\d{1,2}\.\d{1,2}(?=\.\d)")


@derived
def nvshmem_parts(job: Job, view: View) -> tuple[Event, ...]:
    """The events about NVSHMEM's release, and about a mismatch of releases.

    If no line reports a mismatch, one is added if two releases are named and one process maps files of two
    installations. That both are installed does not show which one the process uses.
    """
    reported = tuple(event for event in job.events if event.event in {_MISMATCH, _RELEASE})
    named = _named(job)
    if len(named) < _TWO or any(event.event == _MISMATCH for event in reported):
        return reported
    host = next((host for host in job.hosts if _is_mixed(host.mapped_files)), None)
    if host is None:
        return reported
    view.note(host, "mapped_files")
    for source in named.values():
        view.note(source)
    text = f"host library and transports of NVSHMEM {', '.join(sorted(named))}"
    event = reported[0] if reported else Event(event=_RELEASE, origin="rdma", kind="fact", text=text)
    return (*reported, msgspec.structs.replace(event, event=_MISMATCH, kind="cause", text=text))


@derived
def nvshmem_files_mixed(job: Job, view: View) -> bool:
    """Are two releases named, and does a listing show the host library and the transports of two installations?"""
    named = _named(job)
    host = next((host for host in job.hosts if _is_mixed(host.files)), None) if len(named) >= _TWO else None
    if host is not None:
        view.note(host, "files")
    return host is not None


def _named(job: Job) -> dict[str, Event | Context]:
    """The releases of NVSHMEM that the input names, each with the fact that does."""
    sources: list[Event | Context] = [event for event in job.events if event.event in {_MISMATCH, _RELEASE}]
    sources += [c for c in job.contexts if c.kind == "release" and c.value.startswith("nvshmem ")]
    return {found[0]: source for source in sources if (found := _NUMBER.search(_release(source)))}


def _release(source: Event | Context) -> str:
    return str(source.fields.get("nvshmem", "")) if isinstance(source, Event) else source.value


def _is_mixed(paths: Sequence[str] | None) -> bool:
    """Are all host libraries of the wheel and all transports of another installation, or vice versa?"""
    files = [posixpath.split(path) for path in paths or ()]
    libraries = {"site-packages" in folder for folder, name in files if _HOST_LIBRARY.match(name)}
    modules = {"site-packages" in folder for folder, name in files if _MODULE.match(name)}
    return len(libraries) == 1 and len(modules) == 1 and libraries != modules
