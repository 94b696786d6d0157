"""The table of looks: each entry names what exists, and each line says no more than what was seen and compared."""

from __future__ import annotations

import dataclasses
import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest
from generate.fleet import Node, fleet
from generate.machines import write
from generate.shelf import HGX, LAPTOP

from ncdiag import catalogue
from ncdiag.checks.book import book, launch_book
from ncdiag.diagnose import DEFAULTS, Options, diagnose
from ncdiag.engine.fields import read
from ncdiag.facts.model import Host, Job
from ncdiag.facts.observe import Observation
from ncdiag.facts.view import View
from ncdiag.machine import live, sysfs
from ncdiag.machine.command import collectors
from ncdiag.machine.host import apart, look
from ncdiag.report import renderer
from ncdiag.report.model import Look, Report
from ncdiag.text.reading.model import Item
from ncdiag.text.sources.files import TextSource

TABLE = msgspec.structs.replace(DEFAULTS, table=True)
Ran = Callable[..., subprocess.CompletedProcess[bytes]]


def test_every_look_names_what_exists() -> None:
    rules = {rule.name for rule in catalogue.rules()}
    areas = {area.name for table in (book(), launch_book()) for area in table.area}
    entries = collectors()
    known = {entry.what for entry in entries.reader} | {entry.what for entry in entries.asked}
    known |= {command.why for command in entries.command}
    known |= {what for what, *_ in sysfs.EXPECTED.values()} | {live.ACS, ""}
    host = Host(name="n1")
    view = View(Job(hosts=(host,)))
    for entry in (*book().look, *launch_book().look):
        assert entry.area in areas, entry.what
        assert entry.rules, f"nothing compares {entry.what}, so that it could never pass"
        assert set(entry.rules) <= rules, entry.what
        assert entry.collector in known, entry.what
        assert (entry.choice is None) is bool(entry.seen), entry.what
        if entry.seen:
            read(view.job if entry.job else host, entry.seen, view)


def test_every_area_of_the_rule_book_has_a_place() -> None:
    placed = [name for area in book().area for name in area.rules]
    assert len(set(placed)) == len(placed)
    warned = {rule.area for rule in catalogue.rules() if rule.severity != "info" and rule.when}
    assert warned <= {*placed, "shm", "roce"}


def test_of_a_host_of_which_nothing_was_seen_nothing_passes(tmp_path: Path) -> None:
    (tmp_path / "etc").mkdir()
    (tmp_path / "etc" / "hostname").write_text("bare\n")
    report = diagnose([look(tmp_path)], TABLE)
    assert [line for line in report.looks if line.status != "SKIP"] == []
    assert all(line.why for line in report.looks)


def of(report: Report, what: str, host: str = "") -> Look:
    [line] = [line for line in report.looks if line.what == what and line.host == host]
    return line


def test_a_line_has_the_value_and_what_it_should_be(tmp_path: Path) -> None:
    report = diagnose([look(write(tmp_path, HGX))], TABLE)
    lanes = of(report, "lanes of GPUs and RDMA cards", "hgx-07")
    assert (lanes.status, lanes.seen) == ("PASS", "16 x16 of x16")
    assert of(report, "GPUs", "hgx-07").expected == "all GPUs on the PCI bus; a whole board of 8"
    meeting = of(report, "interface for the bootstrap", "hgx-07")
    assert (meeting.status, meeting.seen) == ("PASS", "eno1")
    assert "10.60.1.7" in meeting.why
    assert of(report, "addresses").why == "only one host"


KERNEL = {
    "nothing": "",
    "its start": "[root@hgx-07 ~]# dmesg\n[    0.412345] iommu: Default domain type: Passthrough\n",
    "an old fault": "[root@hgx-07 ~]# dmesg\n[ 4711.123456] NVRM: Xid (PCI:0000:0f:00): 63, pid=1234, name=python\n",
}


@pytest.mark.parametrize("kernel", KERNEL.values(), ids=KERNEL)
@pytest.mark.parametrize(("release", "status"), [("2.22.3", "WARN"), ("2.32.6", "PASS")])
def test_a_known_defect_that_a_host_meets_does_not_pass(tmp_path: Path, kernel: str, release: str, status: str) -> None:
    """Each live host has lines of its kernel."""
    root = write(tmp_path, HGX)
    (root / "etc" / "nccl.conf").write_text("NCCL_CROSS_NIC=1\n")
    sources: list[Item] = [look(root)]
    sources += [TextSource.of_bytes("kernel", kernel.encode())] if kernel else []
    report = diagnose(sources, msgspec.structs.replace(TABLE, nccl=release))
    assert of(report, "known defects", "hgx-07").status == status


def test_several_hosts_are_compared(tmp_path: Path) -> None:
    one = write(tmp_path / "a", HGX)
    nics = tuple(dataclasses.replace(nic, ip="10.60.1.8/22") if nic.name == "eno1" else nic for nic in HGX.nics)
    other = write(tmp_path / "b", HGX.but(nics=nics))
    report = diagnose(apart([look(one), look(other)]), TABLE)
    assert of(report, "names").status == "WARN"  # both call themselves hgx-07
    assert of(report, "addresses").status == "PASS"
    assert of(report, "addresses").seen == "eno1 10.60.1.7 (hgx-07), eno1 10.60.1.8 (hgx-07#2)"
    text = renderer("text")(report, width=100)
    assert "links on hgx-07,hgx-07#2: 9 up" in " ".join(text.split())


def test_ignored_rules_let_nothing_pass(tmp_path: Path) -> None:
    options = Options(table=True, ignore=("memlock-too-low",))
    report = diagnose([look(write(tmp_path, HGX))], options)
    assert of(report, "locked memory", "hgx-07").status == "SKIP"


@pytest.mark.parametrize("form", ["text", "markdown", "json"])
def test_each_format_has_the_table(form: str, tmp_path: Path, ncdiag: Ran) -> None:
    root = write(tmp_path, LAPTOP)
    done = ncdiag("check", "--root", root, "--format", form)
    assert done.returncode == 0, done.stderr
    shown = done.stdout.decode()
    if form == "json":
        looks = json.loads(shown)["looks"]
        assert {line["status"] for line in looks} == {"PASS", "SKIP"}
    else:
        assert "interface for the bootstrap" in shown
        assert "wlp0s20f3" in shown


def test_one_area_alone(tmp_path: Path, ncdiag: Ran) -> None:
    root = write(tmp_path, HGX.but(memlock="65536", nofile="256"))
    done = ncdiag("check", "--root", root, "--only", "limits", "--format", "json")
    report = json.loads(done.stdout)
    assert {line["area"] for line in report["looks"]} == {"limits"}
    assert {found["name"] for found in report["findings"]} == {"memlock-too-low", "nofile-too-low"}
    done = ncdiag("check", "--root", root, "--only", "clock", "--fail-on", "warning", "--format", "json")
    assert done.returncode == 0
    assert json.loads(done.stdout)["findings"] == []
    done = ncdiag("check", "--root", root, "--only", "limit")
    assert done.returncode == 2
    assert b"there is no area 'limit': did you mean 'limits'?" in done.stderr


def test_the_list_names_every_look(ncdiag: Ran) -> None:
    shown = ncdiag("check", "--list").stdout.decode()
    assert [entry.what for entry in book().look if f"  {entry.what} " not in shown] == []


def lines(report: Report, what: str) -> dict[str, Look]:
    return {look.host: look for look in report.looks if look.what == what}


class Blind(Node):
    """A node whose RDMA devices have no files that a program could open."""

    def observations(self) -> list[Observation]:
        first, *rest = super().observations()
        return [msgspec.structs.replace(first, fields={**first.fields, "infiniband_devices": []}), *rest]


def test_what_nccl_chooses_on_one_host_is_not_told_of_another() -> None:
    found = lines(diagnose([Node(1), Node(2), Blind(3), Node(4)], TABLE), "network")
    assert {host: look.seen for host, look in found.items()} == {"gpu[0001-0002,0004]": "IB", "gpu0003": "Socket"}


def test_hosts_that_choose_alike_are_one_line_without_an_address() -> None:
    report = diagnose(fleet(4), TABLE)
    [look] = lines(report, "interface for the bootstrap").values()
    assert (look.seen, look.why, look.nhosts) == ("eno1", "eno1: taken with its address, it matches eno1", 4)
    [look] = lines(diagnose(fleet(1), TABLE), "interface for the bootstrap").values()
    assert look.why == "eno1: taken with 10.60.0.2, it matches eno1"


FILTER = """\
table inet filter {
	chain input {
		type filter hook input priority filter; policy drop;
		tcp dport 22 accept
	}
}
"""


def test_a_packet_filter_that_drops_is_a_failure_with_the_ports(tmp_path: Path) -> None:
    root = write(tmp_path, HGX)
    (root / "commands").mkdir(exist_ok=True)
    (root / "commands" / "nftables.txt").write_text(FILTER)
    report = diagnose([look(root)], TABLE)
    incoming = of(report, "incoming connections", "hgx-07")
    assert (incoming.status, incoming.scope, incoming.actor) == ("FAIL", "node", "operator")
    assert "over which NCCL would connect to TCP ports " in incoming.why
    assert incoming.next == "Admit all TCP ports from the network of the hosts."


def test_checks_that_were_skipped_are_one_line_of_the_screen(tmp_path: Path) -> None:
    report = diagnose([look(write(tmp_path, LAPTOP))], TABLE)
    skipped = sum(line.status == "SKIP" for line in report.looks)
    screen, whole = (renderer("text")(report, width=100, detail=detail) for detail in ("screen", "whole"))
    assert f"{skipped} skipped: not present or not seen (-v lists them)" in screen
    assert "SKIP  " not in screen
    assert whole.count("SKIP  ") == skipped


def test_each_line_says_what_it_is_about_and_who_can_act(tmp_path: Path) -> None:
    report = diagnose([look(write(tmp_path, HGX.but(memlock="65536")))], TABLE)
    memory, meeting = of(report, "locked memory", "hgx-07"), of(report, "MTU")
    assert (memory.status, memory.scope, memory.actor) == ("WARN", "node", "operator")
    assert memory.next.startswith("Lift the limit where the job is started")
    assert (meeting.scope, meeting.next) == ("fabric", "")
    assert {line.next for line in report.looks if line.status == "PASS"} == {""}


class Open(Node):
    """A node of which iptables shows that it accepts everything."""

    def observations(self) -> list[Observation]:
        first, *rest = super().observations()
        fields = {**first.fields, "input_policy": "accept", "input_drops": 0}
        return [msgspec.structs.replace(first, fields=fields), *rest]


class WithoutNft(Open):
    """The same without nft, whose tables iptables does not show."""

    def not_seen(self) -> list[str]:
        return ["rules of the packet filter (nftables): nft: not installed"]


def test_a_filter_of_which_a_part_was_not_seen_does_not_pass() -> None:
    whole, part = (of(diagnose([node(1)], TABLE), "incoming connections", "gpu0001") for node in (Open, WithoutNft))
    assert (whole.status, whole.seen) == ("PASS", "policy accept, 0 rules drop")
    assert (part.status, part.why) == ("SKIP", "nft: not installed")
