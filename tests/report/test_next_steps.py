"""What a report says to do next where it found a symptom and no cause."""

from __future__ import annotations

from pathlib import Path

import pytest

import ncdiag
from ncdiag import catalogue
from ncdiag.report.model import Report
from ncdiag.text.reading.given import Given, given
from ncdiag.text.reading.one import read_source
from ncdiag.text.sources.files import TextSource

REFUSED = "n1:40:51 [0] misc/socket.cc:484 NCCL WARN socketStartConnect: Connect to 10.1.2.4<40815> failed : Connection refused\n"  # noqa: E501
LOST = "n1:40:51 [0] transport/net_ib.cc:1295 NCCL WARN NET/IB : Got completion from peer 10.1.2.4<40815> with status=12 opcode=0 len=0 vendor err 129\n"  # noqa: E501
PORTS = """$ ibstat
CA 'mlx5_0'
	CA type: MT4129
	Number of ports: 1
	Port 1:
		State: Active
		Physical state: LinkUp
		Rate: 400
		Base lid: 7
		Link layer: InfiniBand
"""
STORE = "torch.distributed.DistStoreError: Timed out after 601 seconds waiting for clients. 1/2 clients joined.\n"


def report_of(folder: Path, text: str) -> Report:
    (folder / "paste.txt").write_text(text, encoding="utf-8")
    return ncdiag.triage([folder / "paste.txt"])


@pytest.mark.parametrize("text", [REFUSED, STORE])
def test_what_the_rule_of_a_symptom_asks_for_comes_first(tmp_path: Path, text: str) -> None:
    report = report_of(tmp_path, text)
    lead = report.findings[0]
    asks = [
        ask.ask_for for ask in next(rule for rule in catalogue.rules() if rule.name == lead.name).asks if not ask.about
    ]
    assert (lead.role, [step.run for step in report.next_steps][: len(asks)]) == ("symptom", asks[:3])


def test_nothing_is_asked_for_that_was_given(tmp_path: Path) -> None:
    wanted = {each.ask_for for each in report_of(tmp_path, LOST).findings[0].asks}
    open_still = {each.ask_for for each in report_of(tmp_path, LOST + PORTS).findings[0].asks}
    assert wanted - open_still == {"ibstat"}


def test_a_cause_asks_for_nothing(tmp_path: Path) -> None:
    report = report_of(
        tmp_path, "n1:4:5 [0] NCCL WARN Duplicate GPU detected : rank 1 and rank 0 both on CUDA device 4000\n"
    )
    assert [(found.role, found.asks) for found in report.findings][:1] == [("cause", ())]


@pytest.mark.parametrize(
    ("outputs", "kinds", "expected"),
    [
        ("ip addr", {"interfaces"}, True), ("ip addr; ip route", {"interfaces"}, False),
        ("ip addr (on every host)", {"interfaces"}, False), ("the launch command of every host", {"interfaces"}, False),
        ("dmesg -T | grep -i xid", {"dmesg"}, True), ("ip addr", set(), False),
    ],
)  # fmt: skip
def test_what_is_given(outputs: str, kinds: set[str], expected: bool) -> None:
    assert (Given(dict.fromkeys(kinds, "a.txt:4")).rest(outputs) == "") is expected


@pytest.mark.parametrize("alone", [True, False])
def test_the_line_of_an_output_that_was_read_is_named(alone: bool) -> None:
    known = Given({"interfaces": "a.txt:4"}, alone=alone)
    assert known.place("ip addr") == "a.txt:4"
    assert known.place("ip addr; ip route") == ""
    assert known.place("ip addr (on every host)") == ("a.txt:4" if alone else "")


@pytest.mark.parametrize(
    ("outputs", "rest"),
    [
        ("ibstat; sminfo (on every host)", "sminfo (on every host)"), ("ibstat, inside the container", ""),
        ("the log of that rank; dmesg -T (on its host)", "the log of that rank (on its host)"),
        ("sudo ufw status verbose; or ibstat", ""), ("the launch command; the hostfile", "the hostfile"),
        ("arping -D -I <interface> -c 3 <own address>", ""), ("", ""),
    ],
)  # fmt: skip
def test_of_several_outputs_the_missing_ones_are_asked_for(outputs: str, rest: str) -> None:
    places = dict.fromkeys(("ibstat", "dmesg", "launch"), "a.txt:4")
    known = Given(places, {"arping -D -I eth0 -c 3 10.0.0.4": "a.txt:9"}, frozenset(places), {}, alone=True)
    assert known.rest(outputs) == rest


def test_an_output_of_every_host_of_the_job_is_given_everywhere() -> None:
    read = [read_source(TextSource.of_bytes("a.txt", f"ada@n{n}:~$ ibstat\n{PORTS[9:]}".encode())) for n in (1, 2)]
    for hosts in ({"n1", "n2"}, {"n1", "n2", "n3"}):
        known = given(read, frozenset(hosts))
        assert bool(known.rest("ibstat (on every host)")) is (len(hosts) > 2)


def test_a_fix_does_not_tell_to_look_at_what_is_shown() -> None:
    known = Given({"dmesg": "a.txt:2"}, {"kubectl describe pod w-0 -n ml": "a.txt:9"})
    looks = "dmesg -T | grep -i oom\nkubectl describe pod w-0\ncat /sys/fs/cgroup/memory.events"
    assert known.without_looks(looks) == "cat /sys/fs/cgroup/memory.events"
    acts = "rm -f /dev/shm/nccl-*\ndf -h /dev/shm"
    assert Given({"df_shm": "a.txt:2"}).without_looks(acts) == acts


COUNTED = """our RoCE job gets slower with each host, and switches drop packets
$ ethtool -S ens1f0np0
NIC statistics:
     rx_discards_phy: 12
     rx_prio3_pause: 7
"""


def test_a_request_has_the_names_of_the_input(tmp_path: Path) -> None:
    counted = COUNTED.replace("rx_discards_phy: 12", "rx_discards_phy: 8812034")
    asked = [question.ask for suspect in report_of(tmp_path, counted).suspects for question in suspect.decide]
    assert "mlnx_qos -i ens1f0np0" in asked


def test_a_question_names_the_line_of_the_output_that_decides_it(tmp_path: Path) -> None:
    asked = [question for suspect in report_of(tmp_path, COUNTED).suspects for question in suspect.decide]
    assert not [question.ask for question in asked if question.ask.startswith("ethtool -S")]
    assert any(question.text.startswith(f"see {tmp_path / 'paste.txt'}:3: ") for question in asked)
