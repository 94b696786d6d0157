"""Logs of hosts without a trace of a job, with no GPU, RDMA, MPI or training in them, and lines of ssh servers."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from ncdiag.base.patterns import lazy_regex

_LEAST = 5
_LONGEST = 2000
_SHARE = 0.9
_LINE = lazy_regex(
    r"(?:- \d{9,10} \d{4}\.\d\d\.\d\d \S+ )?(?:<\d{1,3}>)?(?:[A-Z][a-z]{2} {1,2}\d{1,2} \d\d:\d\d:\d\d"
    r"|\d{4}-\d\d-\d\dT[\d:.+Z-]+) "
    r"(?P<host>[\w.@/#-]{1,80}) (?P<text>.*)"
)
_TRACE = lazy_regex(
    r"gpu|nvidia|nvrm|\bxid\b|cuda|nccl|rdma|\bmlx|infiniband|\bib\d|\bib_(?!sm)|\bmpi|\bopal|\borte|torch"
    r"|\btrain|slurm|srun|python|\brank\b"
    r"|amdgpu|rocm|\bhccl|\bucx|roce\b|\bgdr|peermem|deepspeed|horovod|jax|tensorflow|vllm|\bray\b|kubelet"
    r"|docker|containerd|pcieport"
    r"|\baer\b|mce:|edac|iommu|hugepage",
    re.IGNORECASE,
)
"""Words of machines that train, and of what may be their fault."""
_SERVED = lazy_regex(
    r"sshd(?:-session|-auth)?(?:\[\d+\])?: .*(?:kex_(?:exchange|protocol)|ssh_dispatch|banner exchange"
    r"|[Cc]onnection (?:closed|reset)|[Ii]nvalid user|Failed (?:password|publickey)|authentication (?:attempts|failure)"
    r"|before authentication|[Dd]isconnect|Unable to negotiate|Bad protocol)"
)
"""What an ssh server logs about its clients: any host on a public network is scanned. The client of a launcher
complains in the output of the job."""


def other_systems(lines: Sequence[str]) -> Iterator[tuple[int, int]]:
    """The logs of hosts without a trace of a job, and each line of any host that is about clients of its ssh server."""
    yield from host_log(lines)
    for index, line in enumerate(lines):
        if "sshd" in line[:_LONGEST] and (found := _LINE.match(line[:_LONGEST])) and _SERVED.match(found["text"]):
            yield index, index


def host_log(lines: Sequence[str]) -> Iterator[tuple[int, int]]:
    """The stretches of a text that are a log of a host, if it is not one of the hosts of the rest, nor has a trace."""
    found = [_LINE.match(line[:_LONGEST]) for line in lines]
    written = sum(bool(line.strip()) for line in lines)
    logged = sum(each is not None for each in found)
    if logged < _LEAST:
        return
    traced = any(each is not None and _TRACE.search(each["text"]) for each in found)
    hosts = {each["host"] for each in found if each is not None}
    rest = [line for line, each in zip(lines, found, strict=True) if each is None]
    if traced or (logged < _SHARE * written and any(host in line for host in hosts for line in rest)):
        return
    begin = -1
    for index, each in enumerate([*found, None]):
        if each is not None and begin < 0:
            begin = index
        elif each is None and begin >= 0:
            yield begin, index - 1
            begin = -1
