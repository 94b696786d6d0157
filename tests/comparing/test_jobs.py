"""Many jobs beside each other: what the failed ones share, with counts, and nothing that good ones have as often."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec

from ncdiag.comparing.jobs import Named, compared
from ncdiag.facts.model import Fabric, Gpu, Hca, Host, Job, Launch
from ncdiag.facts.model.fabric import FabricLink, FabricNode
from ncdiag.facts.view import View
from ncdiag.report.differences import Shared
from ncdiag.report.model import Report, Summary, Tool, Verdict
from ncdiag.report.traits import traits

Ran = Callable[..., subprocess.CompletedProcess[bytes]]
FAILED: Verdict = "root-cause"
WELL: Verdict = "healthy-as-far-as-seen"


def job(name: str, verdict: Verdict, hosts: str, **kinds: str) -> Named:
    summary = Summary(verdict=verdict, hosts=hosts)
    made: dict[str, tuple[str, ...]] = {kind.replace("_", " "): (value,) for kind, value in kinds.items()}
    return Named(name, Report(tool=Tool("ncdiag", "1"), summary=summary, traits=made))


def shared(*jobs: Named) -> list[tuple[str, str, int, int, int, int]]:
    return [(one.kind, one.value, one.failed, one.of_failed, one.good, one.of_good) for one in compared(jobs).shared]


def test_the_bad_node_and_its_switch_show_across_jobs() -> None:
    found = shared(
        job("a", FAILED, "n[1,17]", leaf_switch="leaf3"), job("b", FAILED, "n[2,17]", leaf_switch="leaf3"),
        job("c", FAILED, "n[3-4]", leaf_switch="leaf3", driver="550"), job("d", WELL, "n[1-3]", driver="550"),
        job("e", WELL, "n4", leaf_switch="leaf1", driver="550"),
    )  # fmt: skip
    assert found == [("leaf switch", "leaf3", 3, 3, 0, 1), ("host", "n17", 2, 3, 0, 2)]


def test_one_host_of_one_failed_job_of_several_says_nothing() -> None:
    assert shared(job("a", FAILED, "n1"), job("b", FAILED, "n2"), job("c", WELL, "n3")) == []


def test_a_value_that_some_good_jobs_have_needs_a_clear_difference() -> None:
    good = [job(f"g{number}", WELL, "n1", image="new" if number == 0 else "old") for number in range(4)]
    bad = [job(f"b{number}", FAILED, "n2", image="new") for number in range(4)]
    assert ("image", "new", 4, 4, 1, 4) in shared(*good, *bad)
    half = [job(f"h{number}", WELL, "n1", image="new" if number < 3 else "old") for number in range(4)]
    assert not [one for one in shared(*half, *bad) if one[0] == "image"]


def test_a_report_of_nothing_is_left_out() -> None:
    found = compared([job("a", FAILED, "n1"), job("b", "nothing-understood", ""), job("c", WELL, "n2")])
    assert (found.failed, found.good, found.left_out) == (("a",), ("c",), ("b",))
    assert found.shared == (Shared(kind="host", value="n1", failed=1, of_failed=1, good=0, of_good=1),)


def test_the_traits_of_a_job_are_those_of_its_hosts() -> None:
    switch = FabricNode(kind="switch", guid="0c01", name="leaf-a")
    mine = FabricNode(kind="ca", guid="0a01", name="n1 mlx5_0", links=(FabricLink(port=1, peer="0c01"),))
    other = FabricNode(kind="ca", guid="0a02", name="m9 mlx5_0", links=(FabricLink(port=1, peer="0c02"),))
    spine = FabricNode(kind="switch", guid="0c02", name="leaf-b")
    host = Host(
        name="n1", hcas=(Hca(host="n1", name="mlx5_0", board="card-7", firmware="28.1"),),
        gpus=(Gpu(host="n1", index=0, driver="550.54.15"),),
    )  # fmt: skip
    made = Job(
        hosts=(host,),
        fabrics=(Fabric(nodes=(switch, mine, other, spine)),),
        launches=(Launch(program="docker", text="", image="t:1"),),
    )
    assert traits(View(made)) == {
        "leaf switch": ("leaf-a",), "HCA": ("card-7, firmware 28.1",), "image": ("t:1",), "driver": ("550.54.15",),
    }  # fmt: skip


def written(folder: Path, *jobs: Named) -> list[str]:
    for one in jobs:
        (folder / one.source).write_bytes(msgspec.json.encode(one.report))
    return [str(folder / one.source) for one in jobs]


def test_the_command_names_what_failed_jobs_share(tmp_path: Path, ncdiag: Ran) -> None:
    files = written(tmp_path, job("a", FAILED, "n[1,7]"), job("b", FAILED, "n[2,7]"), job("c", WELL, "n[1-2]"))
    done = ncdiag("diff", "--jobs", *files)
    assert done.returncode == 1
    assert "host n7: in 2 of 2 failed jobs, in 0 of 1 good ones" in done.stdout.decode()
    answer: Any = json.loads(ncdiag("diff", "--jobs", *files, "--format", "json").stdout)
    assert [one["value"] for one in answer["shared"]] == ["n7"]


def test_bad_input_is_a_sentence(tmp_path: Path, ncdiag: Ran) -> None:
    good, log = written(tmp_path, job("a", WELL, "n1"), job("b", WELL, "n2"))[0], tmp_path / "job.log"
    log.write_text("NCCL INFO\n")
    for words, said in (
        (("--jobs", good, good), "0 failed and 2 good jobs: at least one of each is needed"),
        (("--jobs", good, str(log)), "it is not a report of ncdiag (--format json)"),
        (("--jobs", good, str(tmp_path / "none")), "No such file or directory"),
        (("--jobs", good, good, "--format", "html"), "at least one of each is needed"),
        ((good, good, "third"), "'third' is one more; --jobs compares the reports of many jobs"),
    ):
        done = ncdiag("diff", *words)
        assert done.returncode == 2, words
        assert said in done.stderr.decode(), words
