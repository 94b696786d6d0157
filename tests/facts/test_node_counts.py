"""Why NCCL counts more or fewer nodes than there are host names: host ids, containers, NVLink, equal names."""

from __future__ import annotations

import pytest

from ncdiag.diagnose import diagnose
from ncdiag.facts.view import View
from ncdiag.facts.vocabulary.accounts import communicator_account
from ncdiag.facts.vocabulary.node_counts import node_count_text
from ncdiag.report import renderer
from ncdiag.report.accounts import account, lines
from ncdiag.text.reading.job import job_of
from ncdiag.text.reading.one import read_source
from ncdiag.text.sources.files import TextSource

HOSTID = "NCCL_HOSTID set by environment to {rank}"
NO_SHM = "NCCL_SHM_DISABLE set by environment to 1."
PODS = "web-{rank}"
IDS = "4f0c21a9be{rank:02}"
"""Names that Docker gives."""


def nodes(
    count: int, *extra: str, host: str = "srv{node}", mnnvl: int = 0, bus: str = "{rank:x}b000", ranks: int = 4
) -> str:
    """The lines of two hosts; ``extra`` lines are printed by each rank."""
    found = ""
    for rank in range(ranks):
        values = {"rank": rank, "node": rank // (ranks // 2), "local": rank % (ranks // 2)}
        before = f"{host.format(**values)}:{100 + rank}:{100 + rank} [0] NCCL INFO "
        comm = f"comm 0x{0x5000 + rank:x} rank {rank} "
        told = [
            *(text.format(**values) for text in extra),
            f"{comm}nranks {ranks} cudaDev 0 nvmlDev 0 busId {bus.format(**values)} commId 0x1 - Init START",
            f"{comm}nRanks {ranks} nNodes {count} localRanks 2 localRank 0 MNNVL {mnnvl}",
            f"{comm}nranks {ranks} cudaDev 0 nvmlDev 0 busId {bus.format(**values)} commId 0x1 - Init COMPLETE",
        ]
        found += "".join(f"{before}{text}\n" for text in told)
    return found


def told(text: str) -> str:
    job = job_of([read_source(TextSource.of_bytes("x.log", text.encode()))])
    return node_count_text(job, View(job))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (nodes(1, mnnvl=1), "1 for 2 host names (srv[0-1]): an NVLink domain over several hosts is one node"),
        (nodes(1, HOSTID.format(rank="all")), "1 for 2 host names (srv[0-1]): NCCL_HOSTID is the same"),
        (nodes(1), "1 for 2 host names (srv[0-1]): hosts with the same NCCL_HOSTID, or in one NVLink"),
        (nodes(4, HOSTID), "4 for 2 host names (srv[0-1]): NCCL_HOSTID is set, and ranks"),
        (
            nodes(2, host="node", bus="{local}b000"),
            "2 for 1 host names (node): ranks of one host name have GPUs at the same",
        ),
        (
            nodes(4, host="node"),
            "4 for 1 host names (node): GPUs of a host between which neither P2P nor shared memory",
        ),
        (
            nodes(4, NO_SHM, ranks=8),
            "4 for 2 host names (srv[0-1]): NCCL_SHM_DISABLE=1 leaves P2P alone, which joins pairs",
        ),
        (nodes(8, NO_SHM, ranks=8), "8 for 2 host names (srv[0-1]): NCCL_SHM_DISABLE=1 leaves P2P alone, and GPUs"),
        (
            nodes(4, host=PODS),
            "4 for 4 host names (web-[0-3]) with one GPU each, all at different bus addresses: containers",
        ),
        (nodes(2, host=IDS, ranks=2), "2 for 2 host names (4f0c21a9be[00-01]) with one GPU each"),
    ],
)
def test_other_counts_of_nodes_are_explained(text: str, said: str) -> None:
    assert told(text).startswith(f"NCCL counts {said}")


@pytest.mark.parametrize(
    "text",
    [
        nodes(2),
        nodes(2, HOSTID.format(rank="{node}")),
        nodes(2, NO_SHM),
        nodes(4, host=PODS, bus="1b000"),
        nodes(2, host="desk{rank}", ranks=2),
        "".join(part for part in nodes(1).splitlines(keepends=True) if "srv0" in part),
    ],
    ids=[
        "two hosts",
        "an id for each host",
        "P2P is enough",
        "machines of one build",
        "two machines",
        "ranks are missing",
    ],
)
def test_nothing_is_said_of_usual_counts(text: str) -> None:
    assert not told(text)


@pytest.mark.parametrize("ranks", [4, 8])
@pytest.mark.parametrize("count", [1, 4])
def test_lines_of_the_count_alone_are_enough(count: int, ranks: int) -> None:
    lines = [line for line in nodes(count, ranks=ranks).splitlines(keepends=True) if "nNodes" in line]
    assert told("".join(lines)).startswith(f"NCCL counts {count} for 2 host names (srv[0-1]): ")
    assert not told("".join(lines[1:]))  # a rank is missing
    assert not told("".join(lines).replace(f"nNodes {count}", "nNodes 2"))


def test_groups_of_one_size_are_not_counted_together() -> None:
    """Each of two groups on hosts of its own has ranks 0 to 3."""
    pair = nodes(2) + nodes(2, host="web{node}")
    assert not told("".join(line for line in pair.splitlines(keepends=True) if "nNodes" in line))


def text_of(given: str) -> str:
    return renderer("text")(diagnose([TextSource.of_bytes("x.log", given.encode())]))


@pytest.mark.parametrize(
    ("text", "said"),
    [(nodes(1), "2 hosts (srv[0-1]), 4 ranks"), (nodes(4), "2 hosts (srv[0-1]), 4 ranks"), (nodes(2), "2 hosts (srv")],
)
def test_the_number_beside_names_is_theirs(text: str, said: str) -> None:
    counts = "".join(line for line in text.splitlines(keepends=True) if "nNodes" in line)
    for given in (text, counts):
        report = text_of(given)
        assert said in " ".join(report.split())
        assert ("Nodes: NCCL counts" in report) == ("nNodes 2" not in given)
    part = "".join(line for line in text.splitlines(keepends=True) if line.startswith("srv0"))
    if "nNodes 4" in part:
        assert "1 of 4 hosts (srv0)" in text_of(part)


def test_the_report_has_it_on_a_line() -> None:
    job = job_of([read_source(TextSource.of_bytes("x.log", nodes(1, mnnvl=1).encode()))])
    view = View(job)
    found = list(lines(account(communicator_account(job, view), node_count_text(job, view)), 3))
    assert [label for label, _ in found] == ["Nodes"]
