"""Derived facts of several ranks, hosts and files together: who is missing, what differs, how the clocks go."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from ncdiag.facts.model import Event, Gpu, Host, Job, Rank
from ncdiag.facts.view import View
from ncdiag.facts.vocabulary.clocks import clock_skew
from ncdiag.facts.vocabulary.job import differences
from ncdiag.knowledge.gdr.decisions import gdr_direction
from ncdiag.knowledge.launcher.progress import absent, absent_text, progress
from ncdiag.knowledge.launcher.progress import absent as found_absent
from ncdiag.knowledge.monitoring import counts_text
from ncdiag.messages.vocabulary.first_ends import first_crash_order
from ncdiag.text.reading.job import facts_of, job_of
from ncdiag.text.reading.one import read_source
from ncdiag.text.sources.files import TextSource


def view_of(**sections: str) -> View:
    return View(facts_of({kind: (text,) for kind, text in sections.items()}, None))


def start(host: str, rank: int, nranks: int, state: str = "START") -> str:
    return (
        f"{host}:{40 + rank}:{90 + rank} [0] NCCL INFO comm 0x55d0c3a{rank} rank {rank} nranks {nranks} cudaDev 0 "
        f"nvmlDev 0 busId 1b000 commId 0x9a1 - Init {state}\n"
    )


@pytest.mark.parametrize(
    ("ways", "direction"),
    [
        ({"send/GDRDMA": 4, "receive/GDRDMA": 4}, "both"),
        ({"send": 4, "receive": 4}, "none"),
        ({"send/GDRDMA": 4, "receive": 4}, "send"),
        ({"send": 2, "receive/GDRDMA": 2}, "receive"),
        ({"send": 2, "send/GDRDMA": 2, "receive/GDRDMA": 2}, "mixed"),
        ({"send": 2, "send/GDRDMA": 2}, "mixed"),
        ({"send": 1, "receive/GDRDMA": 2}, None),
        ({"send": 1, "send/GDRDMA": 3, "receive/GDRDMA": 2}, "both"),
        ({"send": 4}, None),
        ({}, None),
    ],
)
def test_the_direction_of_gpudirect_rdma(ways: dict[str, int], direction: str | None) -> None:
    rank = Rank(host="n1", net_ways=ways)
    assert gdr_direction(rank, View(Job(ranks=(rank,)))) == direction


@pytest.mark.parametrize(
    ("seen", "nranks", "absent"),
    [
        ({0: "n1", 1: "n1", 2: "n2"}, 4, (3,)),
        ({0: "n1", 1: "n1"}, 4, None),
        ({0: "n1", 2: "n1"}, 4, (1,)),
        ({0: "n1", 1: "n2"}, 2, ()),
    ],
)
def test_ranks_are_absent_only_where_the_input_could_hold_them(
    seen: Mapping[int, str], nranks: int, absent: tuple[int, ...] | None
) -> None:
    view = view_of(nccl_log="".join(start(host, rank, nranks) for rank, host in seen.items()))
    assert found_absent(view.job.communicators[0], view) == absent


def test_one_rank_that_completed_means_that_all_were_there() -> None:
    view = view_of(nccl_log=start("n1", 0, 4) + start("n2", 2, 4) + start("n1", 0, 4, "COMPLETE"))
    assert absent(view.job.communicators[0], view) == ()


def test_files_of_single_ranks_claim_to_be_all() -> None:
    sources = [TextSource.of_bytes(f"rank{r}.log", start("n1", r, 3).encode()) for r in (0, 1)]
    view = View(job_of(read_source(source) for source in sources))
    communicator = view.job.communicators[0]
    assert absent(communicator, view) == (2,)
    assert absent_text(communicator, view) == "rank 2 of 3"


def test_the_host_with_fewer_ranks_is_told() -> None:
    log = start("n1", 0, 4) + start("n1", 1, 4) + start("n2", 2, 4)
    view = view_of(nccl_log=log)
    text = absent_text(view.job.communicators[0], view)
    assert text == "rank 3 of 4 (n2 started fewer ranks than the other hosts)"


def test_progress_names_the_hosts_of_those_that_did_not_complete() -> None:
    log = start("n1", 0, 3) + start("n2", 1, 3) + start("n2", 2, 3) + start("n1", 0, 3, "COMPLETE")
    view = view_of(nccl_log=log)
    assert progress(view.job.communicators[0], view) == (
        "ranks 0-2 of 3 on n[1-2] began, 0 completed, 1-2 on n2 did not"
    )


def test_groups_are_folded_with_ranks_and_hosts() -> None:
    ranks = [Rank(host=f"n{n // 2}", rank=n, pid=n, net_plugin="A" if n < 4 else "B") for n in range(6)]
    hosts = [Host(name=f"n{n}") for n in range(3)]
    job = Job(ranks=tuple(ranks), hosts=tuple(hosts))
    (found,) = differences(job, View(job))
    assert (found.what, found.groups) == ("net_plugin", {"A": "ranks 0-3 on n[0-1]", "B": "ranks 4-5 on n2"})


def test_hosts_that_tell_nothing_do_not_differ() -> None:
    hosts = (Host(name="n1", gpus=(Gpu(host="n1", index=0, driver="550.90.07"),)), Host(name="n2"))
    job = Job(hosts=hosts)
    assert differences(job, View(job)) == ()


def nodes_line(host: str, rank: int, time: float, **fields: Any) -> Event:  # noqa: ANN401
    return Event(event="comm-nodes", origin="nccl", host=host, time=time, fields={"rank": rank, "nranks": 4}, **fields)


@pytest.mark.parametrize(
    ("lines", "skew"),
    [
        ([nodes_line("n1", 0, 100.0), nodes_line("n2", 1, 100.25)], 1.0),
        ([nodes_line("n1", 0, 100.0), nodes_line("n2", 1, 3700.0)], 3600.0),
        ([nodes_line("n1", 0, 100.0), nodes_line("n1", 1, 109.0)], None),
        ([nodes_line("n1", 0, 100.0), nodes_line("n2", 1, 100.0), nodes_line("n2", 1, 900.0)], None),
        ([nodes_line("n1", 0, 100.0, count=2), nodes_line("n2", 1, 100.0)], None),
        ([], None),
    ],
    ids=["alike", "an hour", "one host", "started again", "printed twice", "nothing told"],
)
def test_clock_skew(lines: list[Event], skew: float | None) -> None:
    job = Job(events=tuple(lines))
    assert clock_skew(job, View(job)) == skew


def test_the_first_crash_is_found_by_clocks_set_right() -> None:
    crashes = (
        Event(event="worker-crashed", origin="app", host="n1", time=160.0, order=3),
        Event(event="worker-crashed", origin="app", host="n2", time=3750.0, order=4),
    )
    lines = (nodes_line("n1", 0, 100.0), nodes_line("n2", 1, 3700.0))
    for events, first in ((lines + crashes, 4), (crashes, 3)):
        job = Job(events=events)
        assert first_crash_order(job, View(job)) == first


def test_the_minority_that_ras_lists_may_be_ahead() -> None:
    view = view_of(
        ncclras="""CUDA runtime version 12080, driver version 12080
#0-0 (5a5a00112233aabb) MISMATCH
  Communicator ranks have different AllReduce operation counts
  14 ranks have launched up to operation 99
  2 ranks have launched up to operation 100
  Rank 3 -- GPU 3 managed by process 64 on node 10.20.0.1
  Rank 5 -- GPU 5 managed by process 66 on node 10.20.0.1
"""
    )
    assert counts_text(view.job.ras_reports[0], view) == "AllReduce: ranks 3,5 at 100, 14 ranks at 99"


@pytest.mark.parametrize(
    ("name", "rank"),
    [("nccl_trace_rank_3", 3), ("dumps/nccl_trace_rank_12.json", 12), ("console.log", None), ("run_7/paste.txt", None)],
)
def test_a_flight_recorder_dump_is_of_the_rank_in_its_file_name(name: str, rank: int | None) -> None:
    dump = """{
  "version": "2.4",
  "pg_config": {"0": {"name": "0", "desc": "default_pg", "ranks": "[0, 1]"}},
  "entries": []
}
"""
    job = job_of([read_source(TextSource.of_bytes(name, dump.encode()))])
    assert [record.rank for record in job.flight_records] == [rank]
