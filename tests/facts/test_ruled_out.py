"""What an input rules out: nothing by a part of the job, for a container, or that a finding speaks of."""

from __future__ import annotations

import pytest

from ncdiag.diagnose import diagnose
from ncdiag.facts.view import View
from ncdiag.messages.vocabulary.ruled_out import ruled_out
from ncdiag.report import digest, renderer
from ncdiag.report.model import Report
from ncdiag.text.reading.job import job_of
from ncdiag.text.reading.one import read_source
from ncdiag.text.sources.files import TextSource

INIT = "{0}:4{1}:51 [{1}] NCCL INFO comm 0x{1} rank {1} nranks 2 cudaDev {1} busId {1}000 commId 0x9 - Init {2}\n"
NODES = "{0}:4{1}:51 [{1}] NCCL INFO comm 0x{1} rank {1} nRanks 2 nNodes {2} localRanks 1 localRank 0 MNNVL 0\n"
CHANNEL = "{0}:4{1}:51 [{1}] NCCL INFO Channel 00/0 : {1}[{1}] -> {2}[{2}] [send] via NET/IB/0\n"
NET = "{0}:4{1}:51 [{1}] NCCL INFO NET/IB : Using [0]mlx5_{1}:1/RoCE [RO]; OOB eth0:10.1.2.3<0>\n"
USING = "{0}:4{1}:51 [{1}] NCCL INFO Using network {2}\n"
VERSION = "{0}:4{1}:51 [{1}] NCCL INFO NCCL version {2}+cuda12.4\n"
FAILED = (
    "n1:40:51 [0] misc/ipcsocket.cc:300 NCCL WARN UDS: Sending data over socket /tmp/nccl-socket-3-77 failed : "
    "Connection refused (111)\n"
)
SHM = """\
=== {0} ===
$ df -h /dev/shm
Filesystem      Size  Used Avail Use% Mounted on
tmpfs            {1}     0   {1}   0% /dev/shm
"""
MEMLOCK = """\
=== {0} ===
$ ulimit -a
core file size          (blocks, -c) 0
max locked memory       (kbytes, -l) {1}
open files                      (-n) 65536
"""
DOCKER = "$ docker run --gpus all train:1\n"
IBSTAT = """\
=== {0} ===
$ ibstat
CA 'mlx5_0'
\tCA type: MT4129
\tNumber of ports: 1
\tPort 1:
\t\tState: {1}
\t\tPhysical state: LinkUp
\t\tRate: 400
\t\tBase lid: 4
\t\tLink layer: InfiniBand
"""


def each(line: str, hosts: tuple[str, str], *values: str) -> str:
    return "".join(line.format(host, rank, *values) for rank, host in enumerate(hosts))


ONE, TWO = ("n1", "n1"), ("n1", "n2")


def up(hosts: tuple[str, str]) -> str:
    return each(INIT, hosts, "START") + each(INIT, hosts, "COMPLETE")


def out(text: str) -> dict[str, str]:
    view = View(job_of([read_source(TextSource.of_bytes("log", text.encode()))]))
    return {found.what: found.because for found in ruled_out(view.job, view)}


def report_of(text: str) -> Report:
    return diagnose([TextSource.of_bytes("job.log", text.encode())])


@pytest.mark.parametrize(
    ("text", "what"),
    [
        (each(NODES, TWO, "2"), "the network between hosts"),
        (each(NODES, ONE, "1") + CHANNEL.format("n1", 0, 1), "the network between hosts"),
        (INIT.format("n1", 0, "START"), "the network between hosts"),
        (up(TWO).replace("COMPLETE", "START", 3), "the bootstrap of the ranks"),
        (up(TWO).rpartition("n2")[0], "the bootstrap of the ranks"),
        (up(TWO) + USING.format("n1", 0, "IB"), "a fall-back to TCP sockets"),
        (up(TWO) + USING.format("n1", 0, "IB") + USING.format("n2", 1, "Socket"), "a fall-back to TCP sockets"),
        (up(TWO) + VERSION.format("n1", 0, "2.21.5"), "a mix of NCCL releases"),
        (up(TWO) + VERSION.format("n1", 0, "2.21.5") + VERSION.format("n2", 1, "2.20.5"), "a mix of NCCL releases"),
        (up(TWO).replace("NCCL INFO", "NCCL INFO ncclCommInitRank"), "a mix of NCCL releases"),
        (up(TWO) + SHM.format("n1", "252G"), "a full /dev/shm"),
        (up(ONE) + SHM.format("n1", "64M"), "a full /dev/shm"),
        (up(ONE) + DOCKER + SHM.format("n1", "252G"), "a full /dev/shm"),
        (up(TWO) + MEMLOCK.format("n1", "unlimited"), "the limit of locked memory"),
        (up(ONE) + MEMLOCK.format("n1", "64"), "the limit of locked memory"),
        (up(ONE) + DOCKER + MEMLOCK.format("n1", "unlimited"), "the limit of locked memory"),
        (up(TWO) + IBSTAT.format("n1", "Active"), "an RDMA port that is down"),
        (up(TWO) + IBSTAT.format("n1", "Active") + IBSTAT.format("n2", "Down"), "an RDMA port that is down"),
        (up(TWO), "an IOMMU between the GPUs"),
    ],
)
def test_a_part_of_the_job_rules_nothing_out(text: str, what: str) -> None:
    assert what not in out(text)


@pytest.mark.parametrize(
    ("text", "what", "because"),
    [
        (each(NODES, ONE, "1"), "the network between hosts", "the job is on one host"),
        (up(ONE), "the network between hosts", "the job is on one host"),
        (up(TWO), "the bootstrap of the ranks", "all 2 ranks completed their communicator"),
        (up(TWO) + each(NET, TWO) + each(USING, TWO, "IB"), "a fall-back to TCP sockets",
         "every rank uses RDMA over mlx5_0, mlx5_1"),
        (up(TWO) + each(VERSION, TWO, "2.21.5"), "a mix of NCCL releases", "all 2 ranks print 2.21.5"),
        (up(ONE) + SHM.format("n1", "252G"), "a full /dev/shm", "252 GiB are free on n1"),
        (up(TWO) + MEMLOCK.format("n1", "unlimited") + MEMLOCK.format("n2", "unlimited"), "the limit of locked memory",
         "it is lifted on n[1-2]"),
        (up(TWO) + IBSTAT.format("n1", "Active") + IBSTAT.format("n2", "Active"), "an RDMA port that is down",
         "all 2 ports are active on n[1-2]"),
    ],
)  # fmt: skip
def test_what_is_seen_of_the_whole_job_rules_out(text: str, what: str, because: str) -> None:
    assert out(text)[what] == because


def test_each_rests_on_lines() -> None:
    text = up(ONE) + each(NODES, ONE, "1") + each(VERSION, ONE, "2.21.5") + SHM.format("n1", "252G")
    report = report_of(text + FAILED)
    assert [found.what for found in report.ruled_out] == [
        "the network between hosts", "the bootstrap of the ranks", "a mix of NCCL releases", "a full /dev/shm",
    ]  # fmt: skip
    assert all(found.evidence for found in report.ruled_out)
    line = f"Ruled out: {digest.ruled_out(report)}"
    assert line.startswith("Ruled out: the network between hosts (the job is on one host); ")
    assert line in " ".join(renderer("text")(report, width=80).split())
    assert "- Ruled out: the network between hosts" in renderer("markdown")(report)


def test_a_healthy_job_rules_nothing_out() -> None:
    steps = "".join(f"step {number} loss 2.{number}\n" for number in range(1, 7))
    assert report_of(up(ONE) + each(NODES, ONE, "1") + steps).ruled_out == ()


def test_where_a_finding_speaks_of_it_nothing_is_ruled_out() -> None:
    full = (
        "n1:40:51 [0] include/shm.h:48 NCCL WARN Error while creating shared memory segment /dev/shm/nccl-a1 (size "
        "9637888), error: No space left on device (28)\n"
    )
    report = report_of(up(ONE) + SHM.format("n1", "252G") + full)
    assert "shm-too-small" in report.answers
    assert "a full /dev/shm" not in {found.what for found in report.ruled_out}
    assert "the network between hosts" in {found.what for found in report.ruled_out}
