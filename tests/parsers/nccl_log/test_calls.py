# ruff: noqa: E501  (log lines are as long as they are)
"""The collective trace: sums by communicator, and the last call of each rank."""

from __future__ import annotations

from typing import Any

import pytest

from ncdiag.parsers.nccl_log import Scanner

INIT = "{host}:{pid}:{pid} [0] NCCL INFO ncclCommInitRank comm {comm} rank {rank} nranks 2 cudaDev 0 nvmlDev 0 busId 1b000 commId 0x7c3 - Init START\n"
CALL = "{tag}{host}:{pid}:{pid} [0] NCCL INFO {what}: opCount {number:x} sendbuff 0x7f00 recvbuff (nil) count {count} datatype {datatype} op 0 root 0 comm {comm} [nranks=2] stream 0x5d0\n"
FIRST = {"host": "n1", "pid": 10, "comm": "0x5a0", "tag": ""}
SECOND = {"host": "n2", "pid": 20, "comm": "0x6a0", "tag": ""}


def call(process: dict[str, Any], what: str, number: int, count: int = 1024, datatype: int = 7) -> str:
    return CALL.format(**process, what=what, number=number, count=count, datatype=datatype)


LOG = (
    INIT.format(**FIRST, rank=0)
    + INIT.format(**SECOND, rank=1)
    + call(FIRST, "AllReduce", 30)
    + call(SECOND, "AllReduce", 30)
    + call(FIRST, "AllReduce", 31, 3)
    + call(SECOND, "AllReduce", 31, 3, 0)
    + call(FIRST, "Broadcast", 32, 16, 9)
)


def scan(text: str) -> Scanner:
    scanner = Scanner("job.log")
    assert scanner.feed(text.encode()) == []
    return scanner


def sums(scanner: Scanner) -> dict[tuple[Any, ...], dict[str, Any]]:
    return {o.key: o.fields for o in scanner.finish().observations if o.entity == "CollectiveSum"}


def last(scanner: Scanner) -> dict[str | None, Any]:
    found = scanner.finish().observations
    return {o.host: (o.span.line, o.fields["last_ops"]) for o in found if o.entity == "Rank" and "last_ops" in o.fields}


def test_sums_over_the_ranks() -> None:
    assert sums(scan(LOG)) == {
        ("0x7c3", 2, "AllReduce", "float32"): {"calls": 3, "bytes": 2 * 4096 + 12, "sizes": {"8": 1, "4096": 2}},
        ("0x7c3", 2, "AllReduce", "int8"): {"calls": 1, "bytes": 3, "sizes": {"2": 1}},
        ("0x7c3", 2, "Broadcast", "bfloat16"): {"calls": 1, "bytes": 32, "sizes": {"32": 1}},
    }


def test_the_last_call_of_each_rank_has_its_line() -> None:
    told = last(scan(LOG))
    assert told["n1"] == (
        7,
        [
            {
                "communicator": "0x7c3",
                "nranks": 2,
                "function": "Broadcast",
                "op_count": 32,
                "count": 16,
                "datatype": "bfloat16",
            }
        ],
    )
    line, (second,) = told["n2"]
    assert (line, second["function"], second["op_count"]) == (6, "AllReduce", 31)


def test_the_first_trace_names_no_function() -> None:
    """2.3.5: src/enqueue.cu has two forms, one of them without the root."""
    before = "n1:10:10 [0] NCCL INFO "
    call = "opCount {} sendbuff 0x7f00 recvbuff 0x7f40 count 256 size 4 datatype 7 op 0 {}comm 0x5a0 [nranks=2] stream 0x5d0"
    text = "".join(f"{before}{call.format(n, root)}\n" for n, root in [("9", "root 0 "), ("a", "")])
    assert sums(scan(text)) == {(None, 2, "collective", "float32"): {"calls": 2, "bytes": 2048, "sizes": {"1024": 2}}}
    ((line, (told,)),) = last(scan(text)).values()
    assert (line, told["function"], told["op_count"], told["count"]) == (2, "collective", 10, 256)


def test_calls_without_init_lines() -> None:
    log = call(FIRST, "Send", 1) + call(SECOND, "Recv", 2)
    assert set(sums(scan(log))) == {(None, 2, "Send", "float32"), (None, 2, "Recv", "float32")}
    assert {host: told[1][0]["op_count"] for host, told in last(scan(log)).items()} == {"n1": 1, "n2": 2}


@pytest.mark.parametrize("tag", ["", "[1,0]<stdout>:", "2025-03-14T09:26:53.1Z stdout F ", " 3: "])
@pytest.mark.parametrize("others", [0, 1, 50])
def test_few_calls_or_many_behind_any_prefix(tag: str, others: int) -> None:
    process = {**FIRST, "tag": tag}
    plain = f"{tag}n1:10:10 [0] NCCL INFO Trees [0] 1/-1/-1->0->-1\n" * others
    log = "".join(plain + call(process, "AllReduce", number) for number in range(1, 21))
    scanner = scan(log)
    assert sums(scanner)[None, 2, "AllReduce", "float32"]["calls"] == 20
    assert last(scanner)["n1"][0] == log.count("\n")


@pytest.mark.parametrize(
    "broken",
    [
        "count x datatype 7", "count 99999999999999999999 datatype 7", "count 4 datatype 99", "count 4 datatype x",
        "count 4", "",
    ],
)  # fmt: skip
def test_damaged_calls_do_no_harm(broken: str) -> None:
    log = call(FIRST, "AllReduce", 1) + call(FIRST, "AllReduce", 2).replace("count 1024 datatype 7", broken)
    assert sums(scan(log))[None, 2, "AllReduce", "float32"]["calls"] >= 1


def test_a_pointer_used_again_belongs_to_its_last_communicator() -> None:
    again = INIT.format(**FIRST, rank=0).replace("0x7c3", "0x8d4")
    log = INIT.format(**FIRST, rank=0) + again + call(FIRST, "AllReduce", 1)
    assert set(sums(scan(log))) == {("0x8d4", 2, "AllReduce", "float32")}
