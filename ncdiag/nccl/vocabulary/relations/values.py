"""Values against limits: intervals between lines, releases of CUDA, sizes at which a failure begins."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from itertools import pairwise

from ncdiag.base.patterns import lazy_regex
from ncdiag.facts.model import Complaint, Event, Fact, Job, Relation, Trial
from ncdiag.facts.view import View
from ncdiag.facts.vocabulary.probes import lines_of
from ncdiag.nccl import driver_cuda

_MOST = 20
_REPEATED = ("c10d-reverse-lookup", "host-name-unresolved")
_CLOCK = lazy_regex(r"(?<![\d:])(\d\d):(\d\d):(\d\d(?:\.\d{1,9})?)")
_TRIES = (5.0, 10.0, 15.0, 20.0, 30.0)
"""Seconds after which a resolver gives up: 5 for each attempt and name server, two attempts (man 5 resolv.conf)."""
_SLACK = 0.6
_FIRST_CUDA = {8: (11, 0), 9: (11, 8), 10: (12, 8), 12: (12, 8)}
"""The first CUDA release with code for a major compute capability (release notes of the CUDA toolkit)."""
_SIZE = lazy_regex(r"(?<![\d.])(\d{1,5}(?:\.\d{1,2})?)\s?[GT]i?B\b")
_ABOVE = lazy_regex(
    r"(?i)(?:more than|above|over|beyond|(?:larger|bigger|greater) than|from|>=?)\s\d[\d.]{0,6}\s?[GT]i?B\b"
)
_WELL, _ILL = (
    lazy_regex(r"(?i)\b(?:works?|ok|fine|succeeds?|passes)\b"),
    lazy_regex(r"(?i)\b(?:fails?|gives? (?:this )?(?:an )?error|errors?|cannot|unable|not work)\b"),
)


def at_resolver_interval(job: Job, _view: View) -> Iterator[Relation]:
    """A line about a name that comes again and again, each time after the time limit of a resolver."""
    groups: dict[tuple[str, str | None, int | None], list[tuple[float, Event]]] = defaultdict(list)
    for event in job.events:
        if event.event in _REPEATED and (clock := _clock(event)) is not None:
            groups[event.event, event.host, event.rank].append((clock, event))
    for held in groups.values():
        gaps = [later - first for (first, _), (later, _) in pairwise(held[:_MOST])]
        steady = [gap for gap in gaps if any(abs(gap - limit) <= _SLACK for limit in _TRIES)]
        if len(steady) > 1 and len(steady) >= len(gaps) / 2:
            shown = ", ".join(f"{gap:.0f}" for gap in steady[:3])
            text = f"the line comes again after {shown} seconds, as a resolver gives up"
            yield Relation(what="at-resolver-interval", text=text, provenance=lines_of(event for _, event in held[:3]))
            return


def _told(job: Job) -> Iterator[Complaint | Trial]:
    """What people say goes wrong, and what they tried."""
    yield from job.complaints
    yield from job.trials


def _clock(event: Event) -> float | None:
    """The time of day in the line of the event, in seconds; None for a line without one."""
    span = event.provenance.get("")
    found = _CLOCK.search(span.text or "") if span is not None else None
    return 3600 * int(found[1]) + 60 * int(found[2]) + float(found[3]) if found else None


def gpu_newer_than_cuda(job: Job, view: View) -> Iterator[Relation]:
    """The build of NCCL is for a CUDA release that has no code for the compute capability of the GPUs."""
    builds = ((rank, view.version(rank)) for rank in job.ranks)
    build = next(((rank, text) for rank, version in builds if version and "+cuda" in (text := version.text)), None)
    least = next((event for event in job.events if isinstance(event.fields.get("compute_capability"), int)), None)
    told: list[tuple[Fact, int]] = []
    if least is not None:
        told.append((least, int(str(least.fields["compute_capability"]))))
    gpus = (gpu for host in job.hosts for gpu in host.gpus if gpu.compute_capability)
    told += [(gpu, int(str(gpu.compute_capability).split(".")[0])) for gpu in gpus]
    if build is None or not told:
        return
    release = driver_cuda.read(build[1])
    for fact, major in told:
        first = _FIRST_CUDA.get(major)
        if release is not None and first is not None and release < first:
            text = f"NCCL {build[1]} has no code for compute capability {major}, which needs CUDA {first[0]}.{first[1]}"
            yield Relation(what="gpu-newer-than-cuda", text=text, provenance=lines_of([build[0], fact]))
            return


def library_for_other_cuda(job: Job, _view: View) -> Iterator[Relation]:
    """An installed package of NCCL is for another major release of CUDA than the toolkit or framework."""
    packages = [event for event in job.events if event.event == "nccl-package"]
    cuda = _toolkit(job)
    for event in packages:
        built = driver_cuda.read(str(event.fields.get("cuda_release", "")))
        if built is not None and cuda is not None and built[0] != cuda[1][0]:
            text = f"the NCCL package is for CUDA {built[0]}.{built[1]}, and the toolkit is {cuda[1][0]}.{cuda[1][1]}"
            yield Relation(what="library-for-other-cuda", text=text, provenance=lines_of([event, cuda[0]]))
            return


def _toolkit(job: Job) -> tuple[Fact, tuple[int, int]] | None:
    for event in job.events:
        if event.event == "cuda-toolkit" and (release := driver_cuda.read(str(event.fields.get("cuda_release")))):
            return event, release
    for host in job.hosts:
        for name in ("cuda", "cuda toolkit"):
            if (text := (host.frameworks or {}).get(name)) and (release := driver_cuda.read(text)):
                return host, release
    for context in job.contexts:
        if context.kind == "cuda-toolkit" and (release := driver_cuda.read(context.value)):
            return context, release
    return None


def starts_at_gigabytes(job: Job, _view: View) -> Iterator[Relation]:
    """Somebody says that a size of gigabytes works and a larger one fails: no limit in kilobytes is the cause."""
    for told in _told(job):
        sizes = [float(number) for number in _SIZE.findall(told.text)]
        both = len(sizes) > 1 and _WELL.search(told.text) and _ILL.search(told.text)
        if both or (sizes and _ABOVE.search(told.text) and _ILL.search(told.text)):
            text = f"it works up to {min(sizes):g} GB and fails above"
            yield Relation(what="starts-at-gigabytes", text=text, provenance=lines_of([told]))
            return
