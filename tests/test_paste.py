"""A generated paste of outputs and the end of a log: every piece is read, and the planted fault is named."""

from __future__ import annotations

from collections import Counter

import pytest
from generate.paste import paste

from ncdiag.diagnose import diagnose
from ncdiag.text.sources.files import TextSource


@pytest.mark.parametrize("lines", [700, 1000])
def test_a_paste_is_read_whole_and_its_fault_named(lines: int) -> None:
    report = diagnose([TextSource.of_bytes("paste.txt", paste(lines).encode())])
    read = report.inputs[0]
    assert (read.lines, read.unread_lines) == (lines, 1)
    kinds = Counter(section.kind for section in read.sections)
    assert kinds == {"nccl_log": 1, "ibstat": 2, "topo_m": 2, "env": 2, "text": 1}  # the last: the steps of the program
    assert report.summary.nhosts == 2
    assert report.summary.root_cause == "roce-gid-link-local"


def test_a_length_that_no_paste_has_is_refused() -> None:
    with pytest.raises(ValueError, match="a paste has"):
        paste(100)


PODS = """\
[me@login ~]$ kubectl logs w-0
w-0:66:231 [0] NCCL INFO ncclCommInitRank comm 0x55d0 rank 0 nranks 2 cudaDev 0 nvmlDev 0 busId 53000 commId 0x5b1d - Init START
torch.distributed.DistBackendError: NCCL error in: ../torch/csrc/distributed/c10d/NCCLUtils.hpp:317, internal error, NCCL version 2.21.5
[me@login ~]$ kubectl logs w-1
w-1:61:228 [0] NCCL INFO ncclCommInitRank comm 0x55f7 rank 1 nranks 2 cudaDev 0 nvmlDev 0 busId 53000 commId 0x5b1d - Init START
torch.distributed.DistBackendError: NCCL error in: ../torch/csrc/distributed/c10d/NCCLUtils.hpp:328, remote process exited, NCCL version {release}
"""  # noqa: E501  (as the programs print them)


@pytest.mark.parametrize(("release", "differs"), [("2.26.2", True), ("2.21.5", False)])
def test_the_releases_that_pytorch_names_on_two_pods_are_compared(release: str, differs: bool) -> None:
    report = diagnose([TextSource.of_bytes("paste.txt", PODS.format(release=release).encode())])
    assert (report.summary.root_cause == "version-nccl-mismatch") is differs


APART = """\
$ kubectl logs fit-0
[rank0]: torch.distributed.DistBackendError: NCCL error in: ProcessGroupNCCL.cpp:2395, internal error, NCCL version 2.21.5
$ kubectl logs {pod} --since=48h
[rank{rank}]: torch.distributed.DistBackendError: NCCL error in: ProcessGroupNCCL.cpp:2395, internal error, NCCL version 2.26.2
"""  # noqa: E501  (as PyTorch prints them)


@pytest.mark.parametrize(
    ("pod", "rank", "more", "differs"),
    [
        ("fit-1", 1, "", True),
        ("old-eval-0", 1, "", False),
        ("fit-1", 0, "", False),
        ("fit-1", 1, "[rank1]: KeyError: 'labels'\n", False),
    ],
)
def test_the_releases_of_two_jobs_are_not_compared(pod: str, rank: int, more: str, differs: bool) -> None:
    text = APART.format(pod=pod, rank=rank) + more
    report = diagnose([TextSource.of_bytes("paste.txt", text.encode())])
    assert ("version-nccl-installed-differs" in {found.name for found in report.findings}) is differs


@pytest.mark.parametrize(("comm", "differs"), [("0x5b1d", True), ("0x77aa", False)])
def test_the_releases_of_two_communicators_are_not_compared(comm: str, differs: bool) -> None:
    text = PODS.format(release="2.26.2").replace("0x5b1d", comm, 1)
    report = diagnose([TextSource.of_bytes("paste.txt", text.encode())])
    assert (report.summary.root_cause == "version-nccl-mismatch") is differs
