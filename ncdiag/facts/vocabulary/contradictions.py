"""Compare what people say about the environment with what tools printed: one table row for each kind of statement.

The tool's output wins. A run may use only a part of the system, so more hosts than one run used, or fewer GPUs than a
host has, contradict nothing. Not compared are CUDA (the releases of toolkit, driver and wheel differ on healthy hosts),
containers (output of the host says nothing about the job in a container) and launchers (one starts another).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from ncdiag.base.patterns import lazy_regex
from ncdiag.base.spans import Span
from ncdiag.facts.derived import derived
from ncdiag.facts.model import Conflict, Context, Fact, Host, Job
from ncdiag.facts.model.declared import is_closed
from ncdiag.facts.stated import is_elsewhere, only
from ncdiag.facts.view import View
from ncdiag.facts.vocabulary.gpus import gpu_pairs, has_nvlink, has_nvswitch

_MODEL = lazy_regex(r"\b(?:[a-z]{1,3}\d{1,4}[a-z]{0,2}|\d0[5-9]0)\b", re.IGNORECASE)
"""A GPU name that contains the model; ``0x740f`` and ``Graphics Device`` do not."""
_CLOUDS = frozenset({"aws", "gcp", "azure", "oci", "alibaba", "tencent"})
"""Clouds whose name is in the firmware of their machines (`ncdiag.formats.clouds`)."""


class Shown(NamedTuple):
    """A value that a tool printed, and its line."""

    value: str
    span: Span | None = None


class Comparison(NamedTuple):
    """``shown`` returns the values that tools printed; ``agrees(told, shown)``: can both values be true?"""

    kind: str
    field: str
    shown: Callable[[Job, View, str], Iterable[Shown]]
    agrees: Callable[[str, str], bool]


@derived
def told_conflicts(job: Job, view: View) -> tuple[Conflict, ...]:
    """Where the input contradicts what a person says about the environment: the release of NCCL, the GPUs of a host."""
    return tuple(conflict for _, conflict in contradicted(job, view))


def contradicted(job: Job, view: View) -> Iterator[tuple[Context, Conflict]]:
    """Statements that tools contradict.

    If a person mentions several values of a kind, each may be of another system.
    """
    for row in COMPARISONS:
        context = only(job.contexts, row.kind)
        if context is None or is_elsewhere(context):
            continue
        shown = list(row.shown(job, view, context.value))
        if shown and not any(row.agrees(context.value, each.value) for each in shown):
            spans = tuple(span for span in (context.provenance.get(""), shown[0].span) if span is not None)
            values = context.value, shown[0].value
            yield context, Conflict("Told", row.field, values, spans, shown[0].value)


def _of(fact: Fact, field: str, value: object) -> Shown:
    return Shown(str(value), fact.provenance.get(field) or fact.provenance.get(""))


def _release(told: str, shown: str) -> bool:
    """Is ``nccl 2.18`` or ``driver 535`` the printed release, compared to the shorter precision?"""
    one, other = f"{told.rpartition(' ')[2]}.", f"{shown}."
    return one.startswith(other) or other.startswith(one)


def _nccl(_job: Job, view: View, _told: str) -> Iterator[Shown]:
    version = view.version()
    if version is not None and version.known:
        yield Shown(str(version.low))


def _drivers(job: Job, _view: View, _told: str) -> Iterator[Shown]:
    return (_of(host, "driver", host.driver) for host in job.hosts if host.driver)


def _frameworks(job: Job, _view: View, told: str) -> Iterator[Shown]:
    name = told.partition(" ")[0]
    found = ((host, host.frameworks.get(name)) for host in job.hosts if host.frameworks)
    return (_of(host, "frameworks", release) for host, release in found if release)


def _models(job: Job, _view: View, _told: str) -> Iterator[Shown]:
    found = (gpu for host in job.hosts for gpu in host.gpus)
    return (_of(gpu, "model", gpu.model) for gpu in found if gpu.model and _MODEL.search(gpu.model))


def _compact(text: str) -> str:
    return re.sub(r"[\W_]+", "", text.lower())


def _is_model(told: str, shown: str) -> bool:
    """Is the model that a person names part of the printed name?

    People shorten it (A10 for A10G, H100 for H100 NVL).
    """
    return _compact(told) in _compact(shown)


def _counts(job: Job, _view: View, _told: str) -> Iterator[Shown]:
    closed = (host for host in job.hosts if is_closed(host, "gpus") and host.gpus)
    return (_of(host.gpus[0], "", f"{len(host.gpus)} gpus") for host in closed)


def _nhosts(job: Job, _view: View, _told: str) -> Iterator[Shown]:
    if job.nhosts is not None:
        yield _of(job, "nhosts", f"{job.nhosts} hosts")


def _number(text: str) -> int:
    """The number in a statement; a word that is not a number agrees with any."""
    first = text.partition(" ")[0]
    return int(first) if first.isdecimal() else 0


def _at_least(told: str, shown: str) -> bool:
    return _number(told) >= _number(shown) or not _number(told)


def _at_most(told: str, shown: str) -> bool:
    return _number(told) <= _number(shown)


def _instances(job: Job, _view: View, _told: str) -> Iterator[Shown]:
    yield from (_of(host, "instance_type", host.instance_type) for host in job.hosts if host.instance_type)
    yield from (_of(node, "instance_type", node.instance_type) for node in job.cluster_nodes if node.instance_type)


def _clouds(job: Job, _view: View, told: str) -> Iterator[Shown]:
    hosts = (host for host in job.hosts if host.cloud and told in _CLOUDS)
    return (_of(host, "cloud", host.cloud) for host in hosts)


def _alike(told: str, shown: str) -> bool:
    return told == shown.lower().removeprefix("standard_")


def _machines(job: Job, _view: View, told: str) -> Iterator[Shown]:
    """Whether the hosts are virtual; a hypervisor's name may be that of the host that was inspected."""
    hosts = (host for host in job.hosts if host.virtual_machine is not None and told == "vm")
    return (_of(host, "virtual_machine", "vm" if host.virtual_machine else "bare metal") for host in hosts)


def _kernels(job: Job, _view: View, _told: str) -> Iterator[Shown]:
    for host in job.hosts:
        if host.in_wsl:
            yield _of(host, "in_wsl", "wsl")
        elif host.kernel_release:
            yield _of(host, "kernel_release", "wsl" if "microsoft" in host.kernel_release.lower() else "another kernel")


def _joined(word: str, without: str, holds: Callable[[Host, View], bool | None]) -> Callable[..., Iterator[Shown]]:
    """A function that yields how the GPUs of hosts with a known matrix are connected: ``word`` or ``without``."""

    def shown(job: Job, view: View, _told: str) -> Iterator[Shown]:
        found = ((gpu_pairs(host), holds(host, view)) for host in job.hosts)
        return (_of(pairs[0], "", word if is_so else without) for pairs, is_so in found if pairs and is_so is not None)

    return shown


COMPARISONS = (
    Comparison("nccl-version", "nccl_version", _nccl, _release),
    Comparison("driver-branch", "driver", _drivers, _release),
    Comparison("framework-version", "framework", _frameworks, _release),
    Comparison("gpu-model", "gpu_model", _models, _is_model),
    Comparison("gpu-count", "gpus", _counts, _at_most),
    Comparison("host-count", "hosts", _nhosts, _at_least),
    Comparison("instance-type", "instance_type", _instances, _alike),
    Comparison("cloud", "cloud", _clouds, _alike),
    Comparison("vm", "machine", _machines, _alike),
    Comparison("wsl", "kernel", _kernels, _alike),
    Comparison("nvlink-bridge", "nvlink", _joined("nvlink-bridge", "no NVLink", has_nvlink), _alike),
    Comparison("nvswitch", "nvlink", _joined("nvswitch", "no NVSwitch", has_nvswitch), _alike),
)
