"""A run beside another: what matters comes first, equal things are counted, and nothing is made up."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from generate import large
from generate.machines import write
from generate.shelf import HGX

from ncdiag.apps.redact import difference_cleaned
from ncdiag.checks.compared import book
from ncdiag.comparing.changes import Pairing, changes
from ncdiag.comparing.values import JOB, Subject, Table
from ncdiag.diagnose import difference
from ncdiag.report.changes import json as as_json
from ncdiag.report.changes import markdown, text
from ncdiag.report.model import Difference
from ncdiag.text.reading.case import Case
from ncdiag.text.reading.many import read_all
from ncdiag.text.sources.files import TextSource

Ran = Callable[..., subprocess.CompletedProcess[bytes]]


def case(log: str) -> Case:
    return read_all([TextSource.of_bytes("log", log.encode())])


def between(before: str, after: str) -> Difference:
    return difference(("good.log", case(before)), ("bad.log", case(after)))


def log(*faults: large.Fault, release: str = "2.27.7") -> str:
    return "".join(f"{line}\n" for line in large.lines(large.large(release, "roce", 3, 8, faults=faults)))


def values(found: Difference) -> dict[str, tuple[str, str]]:
    return {f"{one.what} {one.name}".strip(): (one.before, one.after) for one in found.changes}


def test_a_run_does_not_differ_from_itself() -> None:
    found = between(log(), log())
    assert found.changes == ()
    assert not found.matters
    assert found.equal > 10
    assert "Nothing differs" in text(found)


def test_a_host_that_lost_gpudirect_is_told_with_the_rules_that_say_so() -> None:
    found = between(log(), log("gdr"))
    told = values(found)
    assert told["GPUDirect RDMA"] == ("used", "used by some connections")
    assert told["finding gdr-disabled-for-hca"][0] == "not found"
    assert found.matters
    assert [one.weight for one in found.changes] == sorted((one.weight for one in found.changes), key=WEIGHTS.index)


WEIGHTS = ["high", "medium", "low"]


def test_a_failure_is_the_first_thing() -> None:
    found = between(log(), log("gid"))
    told = values(found)
    assert told["outcome"] == ("finished", "failed")
    assert told["first failure"][0] == "none"
    assert found.changes[0].what == "finding"
    assert found.changes[0].name == "roce-gid-link-local"


def test_the_other_way_round_the_finding_is_gone() -> None:
    found = between(log("gid"), log())
    assert values(found)["outcome"] == ("failed", "finished")
    assert "gone: roce-gid-link-local" in text(found)


def test_a_release_of_one_host_is_told_of_that_host() -> None:
    found = between(log(), log("version"))
    [change] = [one for one in found.changes if one.what == "NCCL run"]
    assert (change.before, change.nhosts) == ("2.27.7", 1)


TABLE = """
# nThread 1 nGpus 1 minBytes 8388608 maxBytes 33554432 step: 2(factor) warmup iters: 5 iters: 20 validation: 1
#
# Using devices
#  Rank  0 Group  0 Pid  11 on       n1 device  0 [0x1b] NVIDIA H100 80GB HBM3
#  Rank  1 Group  0 Pid  12 on       n1 device  1 [0x43] NVIDIA H100 80GB HBM3
#
#                                                              out-of-place                       in-place
#       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   busbw #wrong
#        (B)    (elements)                               (us)  (GB/s)  (GB/s)            (us)  (GB/s)  (GB/s)
     8388608       2097152     float     sum      -1    80.10  104.73  {0}      0    80.20  104.60  {0}      0
    16777216       4194304     float     sum      -1    90.10  186.21  {1}      0    90.30  185.79  {1}      0
    33554432       8388608     float     sum      -1    99.10  338.59  {2}      0    99.30  337.91  {2}      0
# Out of bounds values : 0 OK
# Avg bus bandwidth    : {1}
#
"""


def test_bandwidths_are_compared_by_size_and_noise_is_none() -> None:
    found = between(TABLE.format("104.7", "186.2", "338.5"), TABLE.format("101.2", "61.5", "338.1"))
    told = [one for one in found.changes if one.what == "bus bandwidth"]
    assert [one.name.rpartition(", ")[2] for one in told] == ["16 MiB"]
    assert (told[0].before, told[0].after, told[0].change) == ("186.2 GB/s", "61.5 GB/s", -0.67)
    assert "(-67%)" in text(found)


def test_hosts_of_other_names_are_compared_by_what_any_of_them_showed() -> None:
    driver = next(number for number, item in enumerate(BOOK) if item.what == "GPU driver")
    subject = Subject(driver, "")
    before: Table = {subject: {"550": ["a1", "a2"], "535": ["a3"]}}
    after: Table = {subject: {"550": ["b1"], "535": ["b2"], "570": ["b3", "b4"]}}
    found = changes(before, after, Pairing.of(["a1", "a2", "a3"], ["b1", "b2", "b3", "b4"]))
    [change] = found.changes
    assert (change.before, change.after, change.hosts) == ("550 or 535", "570", "b[3-4]")


def test_what_only_one_of_the_two_shows_is_counted_and_no_difference() -> None:
    driver = next(number for number, item in enumerate(BOOK) if item.what == "GPU driver")
    shown: Table = {Subject(driver, ""): {"550": ["a"]}}
    for before, after in (({}, shown), (shown, {})):
        found = changes(before, after, Pairing.of(["a"], ["a"]))
        assert (found.changes, found.equal, found.one_sided) == ((), 0, 1)


def test_a_host_that_is_new_is_not_compared_with_hosts_that_differ_among_themselves() -> None:
    driver = next(number for number, item in enumerate(BOOK) if item.what == "GPU driver")
    before: Table = {Subject(driver, ""): {"550": ["a"], "535": ["b"]}}
    after: Table = {Subject(driver, ""): {"550": ["a"], "570": ["c"]}}
    assert changes(before, after, Pairing.of(["a", "b"], ["a", "c"])).changes == ()


def test_the_job_as_a_whole_is_set_beside_the_job() -> None:
    ranks = next(number for number, item in enumerate(BOOK) if item.what == "ranks")
    before: Table = {Subject(ranks, ""): {"16": [JOB]}}
    after: Table = {Subject(ranks, ""): {"8": [JOB]}}
    [change] = changes(before, after, Pairing.of(["a", "b"], ["c"])).changes
    assert (change.before, change.after, change.hosts) == ("16", "8", "")


BOOK = book().item


@pytest.fixture
def hosts(tmp_path: Path) -> tuple[Path, Path]:
    return (
        write(tmp_path / "good", HGX),
        write(tmp_path / "bad", HGX.but(memlock="65536", modules=("mlx5_core", "mlx5_ib", "ib_uverbs"))),
    )


def test_the_command_says_what_matters_and_exits_with_it(hosts: tuple[Path, Path], ncdiag: Ran) -> None:
    good, bad = hosts
    done = ncdiag("diff", good, bad)
    assert done.returncode == 1, done.stderr
    shown = " ".join(done.stdout.decode().split())
    assert "limit memlock on hgx-07 (1): unlimited, now 65536" in shown
    assert "kernel module nvidia_peermem, rdma_ucm on hgx-07 (1): loaded, now not loaded" in shown
    assert ncdiag("diff", good, good).returncode == 0


@pytest.mark.parametrize("form", ["json", "markdown"])
def test_each_format_has_the_changes(form: str, hosts: tuple[Path, Path], ncdiag: Ran) -> None:
    done = ncdiag("diff", *hosts, "--format", form)
    assert done.returncode == 1, done.stderr
    if form == "json":
        found = json.loads(done.stdout)
        assert found["schema_version"] == 1
        assert found["matters"]
        assert {"what", "name", "before", "after", "hosts", "nhosts", "weight"} <= found["changes"][0].keys()
    else:
        assert b"| limit memlock | hgx-07 | unlimited | 65536 |" in done.stdout


def test_what_cannot_be_understood_is_said(tmp_path: Path, ncdiag: Ran) -> None:
    path = tmp_path / "prose.txt"
    path.write_text("the cat sat on the mat\n")
    done = ncdiag("diff", path, path)
    assert done.returncode == 3
    assert b"prose.txt" in done.stderr
    assert ncdiag("diff", path, tmp_path / "gone").returncode == 2
    assert ncdiag("diff", path, path, "--format", "nonsense").returncode == 2


def test_redacted_differences_name_no_host() -> None:
    found = difference_cleaned(between(log(), log("gid")))
    for shown in (text(found), markdown(found), as_json(found)):
        assert "trn-1" not in shown
