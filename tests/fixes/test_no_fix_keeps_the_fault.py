"""No fix with a value leaves the fault that it is for, or brings another one: the rules are asked about its result."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from book import swept

from ncdiag import catalogue
from ncdiag.diagnose import diagnose, view_of
from ncdiag.engine.fallback import judge_all
from ncdiag.facts.model import Address, Event, Host, Interface, Job, Launch, Rank, Setting
from ncdiag.facts.scalars import VersionRange
from ncdiag.facts.view import View
from ncdiag.fixes import values
from ncdiag.fixes.applied import applied, only_set, undecided
from ncdiag.fixes.proofs.outcome import Change
from ncdiag.fixes.values import Value, Values
from ncdiag.machine.inputs import inputs
from ncdiag.report import model
from ncdiag.report.objections import objections
from ncdiag.report.remedies import fixes_of
from ncdiag.text import TextSource, facts_of

V218 = VersionRange.exact("2.18.3")
INSIDE = re.compile(
    r"=?(?:docker|cni|virbr|br-[0-9a-f]{12}|veth|flannel|cali|tailscale|.*,=?(?:docker|cni|virbr|veth))"
)
"""Values that name an interface inside of a host, written without the code under test."""
CNI0 = """
n4:20:20 [0] NCCL INFO Bootstrap : Using cni0:10.42.3.1<0>
n4:20:20 [0] misc/socket.cc:484 NCCL WARN socketStartConnect: Connect to 10.42.7.1<40815> failed : Connection refused
"""
DOCKER0_ALONE = """
n4:20:20 [0] NCCL INFO NCCL_SOCKET_IFNAME set by environment to tailscal0
n4:20:20 [0] bootstrap.cc:45 NCCL WARN Bootstrap : no socket interface found
root@n4:~# ip addr
1: lo: <LOOPBACK,UP,LOWER_UP> mtu 65536 qdisc noqueue state UNKNOWN group default qlen 1000
    link/loopback 00:00:00:00:00:00 brd 00:00:00:00:00:00
    inet 127.0.0.1/8 scope host lo
       valid_lft forever preferred_lft forever
2: docker0: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1500 qdisc noqueue state UP group default
    link/ether 02:42:5f:11:22:33 brd ff:ff:ff:ff:ff:ff
    inet 172.17.0.1/16 brd 172.17.255.255 scope global docker0
       valid_lft forever preferred_lft forever
"""
NIC_TOO = """
3: eno1: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1500 qdisc mq state UP group default qlen 1000
    link/ether 52:54:00:11:22:33 brd ff:ff:ff:ff:ff:ff
    inet 10.1.0.4/24 brd 10.1.0.255 scope global eno1
       valid_lft forever preferred_lft forever
"""


def report(text: str) -> model.Report:
    return diagnose([TextSource.of_bytes("log", text.encode())])


def fixes(text: str, rule: str) -> list[model.Fix]:
    return [fix for found in report(text).findings if found.name == rule for fix in found.fixes]


def state(fix: model.Fix) -> str:
    return fix.proof.state if fix.proof is not None else ""


@pytest.mark.parametrize(("text", "rule"), [(CNI0, "socket-virtual-ifname"), (DOCKER0_ALONE, "socket-ifname-no-match")])
def test_an_interface_inside_of_the_host_is_not_offered(text: str, rule: str) -> None:
    found = fixes(text, rule)
    assert [fix.env for fix in found if None in fix.env.values()] == [{"NCCL_SOCKET_IFNAME": None}]
    assert ("Paste the output of ip addr (on n4)" in found[-1].text) is ("# ip addr" not in text)
    assert not any(INSIDE.match(value or "") for fix in found for value in fix.env.values())
    assert not any(state(fix) == "proved" for fix in found if fix.env)


def test_a_nic_beside_it_is_offered_and_proved() -> None:
    found = fixes(DOCKER0_ALONE + NIC_TOO, "socket-ifname-no-match")
    assert [(fix.env, state(fix)) for fix in found if fix.env] == [({"NCCL_SOCKET_IFNAME": "eno1"}, "proved")]


@pytest.mark.parametrize("planted", ["=cni0", "cni0", "cni"])
def test_a_value_that_keeps_the_fault_is_taken_away(monkeypatch: pytest.MonkeyPatch, planted: str) -> None:
    """Whatever computes it."""
    values.registry()  # all are there before one is replaced
    monkeypatch.setitem(values._REGISTRY, "shared_interface", lambda view, bindings: Value(text=planted))  # noqa: ARG005
    found = [fix for fix in fixes(CNI0, "socket-virtual-ifname") if "NCCL_SOCKET_IFNAME" in fix.env]
    assert planted not in {fix.env["NCCL_SOCKET_IFNAME"] for fix in found}
    if len(found) == 1:  # else the proof has refuted it already
        assert "the fault would remain: cni0 on n4, a virtual interface, is offered" in found[0].text
        assert "Paste the output of ip -br addr" in found[0].text
        assert state(found[0]) == "not-simulated"


def test_a_value_that_brings_a_new_fault_is_taken_away() -> None:
    view = view_of(facts_of({"text": (DOCKER0_ALONE + NIC_TOO,)}, None))
    rules = catalogue.rules()
    assert objections(view, rules, Change({"NCCL_SOCKET_IFNAME": "=eno1"})) == ()
    found = {
        each.rule: each.by_value for each in objections(view, rules, Change({"NCCL_SOCKET_IFNAME": "^docker0,^lo"}))
    }
    assert found["socket-ifname-mixed-exclude"]


def test_the_price_of_a_workaround_is_no_reason_against_it() -> None:
    view = View(Job(hosts=(Host(name="n1", nccl_version=V218),), ranks=(Rank(host="n1", rank=0),)))
    found = objections(view, catalogue.rules(), Change({"NCCL_SHM_DISABLE": "1"}))
    assert [(each.rule, each.by_value) for each in found] == [("env-shm-disable", True)]


class TestApplied:
    """The state after a change."""

    @staticmethod
    def view() -> View:
        eno1 = Interface(host="n1", name="eno1", up=True, running=True, ifindex=2, addresses=(Address("10.1.0.4", 24),))
        cni0 = Interface(
            host="n1", name="cni0", up=True, running=True, ifindex=3, addresses=(Address("10.42.3.1", 24),)
        )
        old = Setting(name="NCCL_SOCKET_IFNAME", host="n1", is_set=True, text="cni0")
        other = Setting(name="NCCL_DEBUG", host="n1", is_set=True, text="INFO")
        host = Host(
            name="n1", nccl_version=V218, interfaces=(eno1, cni0), complete=frozenset({"interfaces"}),
            settings={"NCCL_SOCKET_IFNAME": old, "NCCL_DEBUG": other},
        )  # fmt: skip
        rank = Rank(host="n1", rank=0, bootstrap_interface=cni0, socket_interfaces=(cni0,), net="Socket")
        launch = Launch(program="mpirun", text="mpirun ./x", prefix_env={"NCCL_SOCKET_IFNAME": "cni0"})
        events = (
            Event(event="socket-connect-failed", origin="nccl", kind="symptom", peer="10.42.7.1<4000>"),
            Event(event="socket-interfaces", origin="nccl", kind="fact"),
        )
        return View(
            Job(hosts=(host,), ranks=(rank,), settings=(old, other), launches=(launch,), events=events, nhosts=2)
        )

    def test_the_choice_is_simulated(self) -> None:
        after = applied(self.view(), Change({"NCCL_SOCKET_IFNAME": "=eno1"}))
        (rank,) = after.job.ranks
        assert rank.bootstrap_interface is not None
        assert rank.bootstrap_interface.name == "eno1"
        assert [interface.name for interface in rank.socket_interfaces or ()] == ["eno1"]
        assert rank.net == "Socket"

    def test_settings_and_launches_have_the_new_value(self) -> None:
        after = applied(self.view(), Change({"NCCL_SOCKET_IFNAME": "=eno1"}))
        told = {setting.name: setting.text for setting in after.job.settings}
        assert told == {"NCCL_SOCKET_IFNAME": "=eno1", "NCCL_DEBUG": "INFO"}
        assert after.hosts["n1"].settings["NCCL_SOCKET_IFNAME"].text == "=eno1"
        assert (after.job.launches[0].env, after.job.launches[0].prefix_env) == ({"NCCL_SOCKET_IFNAME": "=eno1"}, {})

    def test_a_variable_that_is_removed_is_known_to_be_unset(self) -> None:
        after = applied(self.view(), Change({}, ("NCCL_SOCKET_IFNAME",)))
        assert [setting.name for setting in after.job.settings] == ["NCCL_DEBUG"]
        assert after.hosts["n1"].settings["NCCL_SOCKET_IFNAME"].is_set is False
        (rank,) = after.job.ranks
        assert rank.bootstrap_interface is not None
        assert rank.bootstrap_interface.name == "eno1"

    def test_failures_of_the_run_are_left_out(self) -> None:
        after = applied(self.view(), Change({"NCCL_SOCKET_IFNAME": "=eno1"}))
        assert [event.kind for event in after.job.events] == ["fact"]
        assert after.job.nhosts == 2

    def test_without_the_choice_it_is_unknown(self) -> None:
        change = Change({"NCCL_SOCKET_IFNAME": "=eno1"})
        for state, texts in ((only_set(self.view(), change), {"=eno1"}), (undecided(self.view(), change), set())):
            (rank,) = state.job.ranks
            assert (rank.bootstrap_interface, rank.socket_interfaces) == (None, None)
            assert {s.text for s in state.job.settings if s.name == "NCCL_SOCKET_IFNAME"} == texts

    def test_what_a_log_does_not_settle_is_unknown(self) -> None:
        cni0 = Interface(host="n1", name="cni0", addresses=(Address("10.42.3.1", 24),))
        rank = Rank(host="n1", rank=0, bootstrap_interface=cni0, nccl_version=V218)
        view = View(Job(hosts=(Host(name="n1", nccl_version=V218),), ranks=(rank,)))
        after = applied(view, Change({"NCCL_SOCKET_IFNAME": "^cni"}))
        assert after.job.ranks[0].bootstrap_interface is None


def offered(project: Path) -> Iterator[tuple[str, View, model.Fix]]:
    """The fixes that are offered for all cases of the fixtures, and for the examples of a tenth of the rules."""
    rules = catalogue.rules()
    views = [
        (folder.name, facts)
        for folder in sorted((project / "fixtures" / "cases").iterdir())
        for facts in [view_of(_job(folder))]
    ]
    views += [
        (f"{rule.name}: {example.name}", view_of(facts_of(example.sections, example.host)))
        for rule in swept() for example in rule.examples if example.outcome == "fired"
    ]  # fmt: skip
    for name, view in views:
        held = Values(view, rules)
        for verdict in judge_all(rules, view, held):
            for found in verdict.findings:
                yield from ((name, view, fix) for fix in fixes_of(found, view, held, []) if isinstance(fix, model.Fix))


def _job(folder: Path) -> Job:
    from ncdiag.text import read_all

    return read_all(inputs([str(path) for path in sorted(folder.iterdir()) if path.name != "case.toml"])).job()


@pytest.mark.sweep
def test_no_fix_of_a_fixture_or_an_example_keeps_a_fault(project: Path) -> None:
    wrong: list[tuple[str, object, object]] = []
    count = 0
    for name, view, fix in offered(project):
        env = {variable: value for variable, value in fix.env.items() if value is not None}
        if fix.workaround or not (env or fix.unset):
            continue
        count += 1
        against = objections(view, catalogue.rules(), Change(env, fix.unset))
        wrong += [(name, (env, fix.unset), each) for each in against if not each.by_value]
        wrong += [
            (name, env, variable) for variable, value in env.items() if "IFNAME" in variable and INSIDE.match(value)
        ]
    assert count
    assert wrong == []
