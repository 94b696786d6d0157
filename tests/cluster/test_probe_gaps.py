"""What hosts did not try is said, whatever the words of a host are."""

from __future__ import annotations

from ncdiag.facts.vocabulary.probes import gaps
from ncdiag.text.reading.job import job_of
from ncdiag.text.reading.one import read_source
from ncdiag.text.sources.files import TextSource


def untried(*lines: str) -> list[str]:
    text = "".join(f"{line}\n" for line in ("probe of 3 hosts: 3 took part", "probe n1: ports 32768-60999", *lines))
    return gaps(job_of([read_source(TextSource.of_bytes("saved", text.encode()))]))


def test_each_is_said_once() -> None:
    assert untried(
        "probe n1: 1 of 2 hosts tried in time",
        "probe n2: 1 of 2 hosts tried in time",
        "probe n3: 8 more interfaces not tried",
        "probe n2: bandwidth not tried: no active RDMA port",
    ) == [
        "connections from n[1-2] to some other hosts (the time of the probe was over)",
        "some interfaces of n3 (8 more than are tried)",
        "bandwidth of n2 (no active RDMA port)",
    ]


def test_runs_that_had_no_turn() -> None:
    run = "probe n1 mlx5_0:1 -> n{} mlx5_0:1 at {}: ib_write_bw {}"
    lines = [run.format(2, "10.1.0.2", "ran"), run.format(3, "-", "not tried: no time left")]
    assert untried(*lines) == ["1 of 2 runs between RDMA ports (no time left)"]


def test_what_a_launch_needs_and_nobody_could_look_at() -> None:
    """A file system that hangs: the other hosts have the file, and nobody knows of this one."""
    assert untried("probe n1 has file /data/t.py", "probe n2 has more that was not looked at in time") == [
        "some of what the launch needs of n2 (it took too long)"
    ]


def test_words_of_a_host_are_no_format() -> None:
    assert untried("probe n1: nccl-tests not tried: {x} is {not} installed", "probe n2: bandwidth not tried: {") == [
        "nccl-tests of n1 ({x} is {not} installed)",
        "bandwidth of n2 ({)",
    ]
