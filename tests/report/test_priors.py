"""Published counts of what stopped large runs: shown only where a large run stops and nothing else decides."""

from __future__ import annotations

import datetime as dt
import functools
from collections.abc import Iterator

import msgspec
import pytest

from ncdiag.diagnose import DEFAULTS, diagnose
from ncdiag.report import labelled
from ncdiag.report.model import Report
from ncdiag.suspects.priors import priors
from ncdiag.text import TextSource

TIMEOUT = (
    "[rank{rank}]:[E ProcessGroupNCCL.cpp:523] [Rank {rank}] Watchdog caught collective operation timeout: "
    "WorkNCCL(SeqNum={number}, OpType=ALLREDUCE, NumelIn=8, NumelOut=8, Timeout(ms)=600000) ran for 600123 "
    "milliseconds before timing out.\n"
)
XID = "[Sun Mar  1 10:00:00 2026] NVRM: Xid (PCI:0000:1b:00): 79, pid=10, GPU has fallen off the bus.\n"


def log(hosts: int, *, steps: int = 20, ready: bool = True) -> str:
    """The log of a job with 8 ranks on each host."""

    def inits(end: str) -> Iterator[str]:
        for rank in range(8 * hosts):
            yield (
                f"n{rank // 8}:10{rank % 8}:10{rank % 8} [{rank % 8}] NCCL INFO ncclCommInitRank comm 0x5{rank:04x} "
                f"rank {rank} nranks {8 * hosts} cudaDev {rank % 8} busId {rank % 8}b000 commId 0x9 - Init {end}\n"
            )

    trained = "".join(f"step {number}: loss 2.{number:03}\n" for number in range(steps))
    return "".join(inits("START")) + ("".join(inits("COMPLETE")) if ready else "") + trained


def timeouts(hosts: int, number: int = 41000) -> str:
    return "".join(TIMEOUT.format(rank=rank, number=number) for rank in range(0, 8 * hosts, 2))


@functools.cache
def judged(text: str, language: str = "en") -> Report:
    source = TextSource.of_bytes("paste", text.encode())
    return diagnose([source], msgspec.structs.replace(DEFAULTS, language=language))


def test_the_counts_add_up_and_have_a_source() -> None:
    table = priors()
    assert len(table.count) >= 2
    for count in table.count:
        assert sum(sum(causes.values()) for causes in count.causes.values()) == count.total, count.name
        assert count.causes.keys() <= table.part.keys()
        assert count.gpus or count.hosts
        assert count.address.startswith("https://")
        assert dt.date.fromisoformat(count.checked) >= dt.date(2026, 11, 29)


LARGE = {
    "steps, then timeouts": log(16) + timeouts(16),
    "timeouts of a late collective": log(16, steps=0) + timeouts(16),
    "in the words of a person": "Our pretraining on 64 nodes of 8 GPUs hangs after some hours, about once a day.",
    "a person counts hosts alone": "We train on 40 nodes with H100. After a day the job crashes, and no line says why.",
}


@pytest.mark.parametrize("text", LARGE.values(), ids=LARGE)
def test_a_large_run_that_stops_without_a_cause_gets_them(text: str) -> None:
    report = judged(text)
    assert [sum(each.parts.values()) for each in report.counted] == [each.total for each in report.counted]
    assert len(report.counted) == len(priors().count)
    said = dict(labelled.lines(report, short=True))["If nothing else decides"]
    assert said.startswith("of 717 faults in 2 published counts of large runs, 426 in a GPU or its memory")


OTHERS = {
    "a cause is named": log(16) + timeouts(16) + "root@n3:~# dmesg -T\n" + XID,
    "a few hosts": log(4) + timeouts(4),
    "one host": log(1) + timeouts(1),
    "a person counts two hosts": "Training on two nodes with 8 H100 hangs after some hours.",
    "a large run that ended well": log(16) + "Training complete\n",
    "a large run that goes on": log(16),
    "it never ran": log(16, steps=0, ready=False)
    + "n3:103:103 [3] NCCL WARN socketStartConnect: Connect to 10.0.0.9<4411> failed : Connection refused\n",
    "it stops in an early collective": log(16, steps=0) + timeouts(16, number=3),
    "a person found what helps": "Our pretraining on 64 nodes of 8 GPUs hangs after some hours. "
    "With NCCL_NVLS_ENABLE=0 it works.",
    "it is slow": "Our pretraining on 64 nodes of 8 GPUs is slow, 30% less than last week.",
    "it hangs at the start": "Our pretraining on 64 nodes of 8 GPUs hangs in init_process_group.",
    "of unknown size": timeouts(16),
}


@pytest.mark.parametrize("text", OTHERS.values(), ids=OTHERS)
def test_where_something_decides_or_the_job_is_small_there_are_none(text: str) -> None:
    assert not judged(text).counted


def test_the_rate_is_that_of_a_job_of_this_size() -> None:
    gpus, hosts = (each.every for each in judged(LARGE["steps, then timeouts"]).counted)
    assert gpus == round(54 / 419 * 16384 / 128, 1)
    assert hosts == round(348 / 298 * 400 / 16, 1)


def test_each_count_is_named_with_its_source_and_in_chinese() -> None:
    text = LARGE["steps, then timeouts"]
    shown = [said for label, said in labelled.lines(judged(text)) if label == "Source"]
    assert len(shown) == len(priors().count)
    for said, count in zip(shown, priors().count, strict=True):
        assert count.address in said
        assert f"of {count.total} {count.what}" in said
    assert judged(text, "zh").counted[0].what == "某次训练的意外中断"
