"""How far the clock of each file is ahead, from lines that all ranks print at once near the beginning of their logs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ncdiag.facts.view import View
from ncdiag.facts.vocabulary.clocks import RESOLUTION, clock_offsets
from ncdiag.parsers.nccl_log.prefix import parse_prefix
from ncdiag.text.reading.job import job_of
from ncdiag.text.reading.one import read_source
from ncdiag.text.sources.archives import BROKEN
from ncdiag.text.sources.files import File, TextSource

_HEAD = 1 << 20
"""Bytes at the beginning of each file that are searched."""
_SIGN = b" nNodes "
_LEAST = 2 * RESOLUTION


def ahead(files: Sequence[File]) -> Mapping[str, tuple[str, float]]:
    """By name of a file, its only host and the seconds by which that host's clock is ahead of the median host's.

    Files of several hosts, and of hosts whose clock is right or unknown, are left out.
    """
    hosts: dict[str, set[str]] = {}
    lines: list[bytes] = []
    for file in files:
        found = _lines(file)
        lines += found
        prefixes = [parse_prefix(line.decode("utf-8", "replace").partition("NCCL ")[0]) for line in found]
        hosts[file.name] = {prefix.host for prefix in prefixes if prefix.host is not None}
    if len(set().union(*hosts.values())) < 2:  # noqa: PLR2004  (clocks are compared between hosts)
        return {}
    job = job_of([read_source(TextSource.of_bytes("clocks", b"".join(lines)))], [])
    offsets = clock_offsets(job, View(job)) or {}
    only = {name: next(iter(found)) for name, found in hosts.items() if len(found) == 1}
    return {name: (host, offsets[host]) for name, host in only.items() if abs(offsets.get(host, 0.0)) >= _LEAST}


def _lines(file: File) -> list[bytes]:
    """The lines near the beginning of a file that all ranks print at once."""
    try:
        with file.opener() as reader:
            head = reader.read(_HEAD)
    except BROKEN:
        return []
    if _SIGN not in head:
        return []
    return [line for line in head.splitlines(keepends=True)[:-1] if _SIGN in line]
