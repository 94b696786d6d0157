"""What the installed library answers is judged as what is simulated is; beside the log of a job neither is."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest
from generate.machines import Machine, Nic, write

from ncdiag.diagnose import Options, diagnose
from ncdiag.machine.bundle import LibraryLog
from ncdiag.machine.host import Machine as Looked
from ncdiag.machine.host import look
from ncdiag.report.model import Report
from ncdiag.text.sources.files import TextSource

CARD = Nic("eth0", "10.1.0.5/24")
HOSTS: dict[str, tuple[tuple[Nic, ...], str, str | None]] = {
    "loopback alone": ((), "lo:127.0.0.1", "socket-choice-alone"),
    "loopback beside a card": ((CARD,), "lo:127.0.0.1", "socket-choice-inside"),
    "the card": ((CARD,), "eth0:10.1.0.5", None),
    "a pod": (
        (Nic("eth0", "10.244.1.5/24", "veth"), Nic("net1", "192.168.9.5/24", "macvlan")),
        "eth0:10.244.1.5",
        None,
    ),
    "one end of a pair": ((Nic("veth12ab", "10.9.0.5/24", "veth"), CARD), "veth12ab:10.9.0.5", "socket-choice-inside"),
    "docker0 alone": ((Nic("docker0", "172.17.0.1/16", "bridge"),), "docker0:172.17.0.1", "socket-choice-alone"),
    "a VPN alone": ((Nic("wg0", "10.7.0.1/16", "tun"),), "wg0:10.7.0.1", "socket-choice-alone"),
    "link-local alone": ((Nic("eth0", ipv6="fe80::7/64"),), "eth0:fe80::7%eth0", "socket-choice-alone"),
}


def asked(root: Path, nics: tuple[Nic, ...], picks: str) -> Looked:
    """A machine whose library was asked and answered so."""
    answer = f"n1:1:1 [0] NCCL INFO Bootstrap : Using {picks}<0>\n"
    library = LibraryLog(path="/usr/lib/libnccl.so.2", version="2.21.5", problem=None, log=answer)
    return msgspec.structs.replace(look(write(root, Machine(nics=nics))), libraries=(library,))


def alarms(report: Report) -> list[str]:
    return [found.name for found in report.findings if found.severity != "info"]


@pytest.mark.parametrize("name", HOSTS)
def test_an_answer_of_the_library(name: str, tmp_path: Path) -> None:
    nics, picks, found = HOSTS[name]
    report = diagnose([asked(tmp_path, nics, picks)], Options(table=True))
    assert alarms(report) == ([found] if found else [])
    first = report.looks[0]
    assert (first.what, first.seen) == ("interface for the bootstrap", picks.partition(":")[0])
    assert first.status == {None: "PASS", "socket-choice-alone": "WARN", "socket-choice-inside": "FAIL"}[found]


@pytest.mark.parametrize(
    "name", sorted(HOSTS.keys() - {"loopback beside a card"})
)  # which NCCL does not take by itself
def test_the_simulation_says_the_same(name: str, tmp_path: Path) -> None:
    nics, picks, found = HOSTS[name]
    report = diagnose([look(write(tmp_path, Machine(nics=nics)))], Options(table=True, nccl="2.21.5"))
    assert alarms(report) == ([found] if found else [])
    assert report.looks[0].seen == picks.partition(":")[0]


def test_the_log_of_a_job_counts_more_than_a_look(tmp_path: Path) -> None:
    log = (
        "n1:40:51 [0] NCCL INFO Bootstrap : Using docker0:172.17.0.1<0>\n"
        "n1:40:51 [0] NCCL INFO comm 0x7f rank 0 nRanks 16 nNodes 2 localRanks 8 localRank 0 MNNVL 0\n"
    )
    nics = (CARD, Nic("docker0", "172.17.0.1/16", "bridge"))
    report = diagnose([look(write(tmp_path, Machine(nics=nics))), TextSource.of_bytes("job.log", log.encode())])
    assert "socket-docker-bridge-selected" in alarms(report)
    assert "socket-choice-inside" not in alarms(report)
