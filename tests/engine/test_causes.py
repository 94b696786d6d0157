"""Root cause first: edges between findings, their order, the verdict, and what is asked for."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal

import msgspec
import pytest

from ncdiag.base.severity import Severity
from ncdiag.base.spans import Span
from ncdiag.engine.causes import conclude
from ncdiag.engine.peers import Peers
from ncdiag.engine.results import Finding, Verdict
from ncdiag.engine.schema import Ask, Rule
from ncdiag.engine.where import Device, Where
from ncdiag.facts.model import Address, Complaint, Event, Host, Interface, Job, Rank
from ncdiag.facts.view import View


def rule(
    name: str, role: Literal["cause", "symptom"] = "cause", severity: Severity = "error", layer: int = 50,
    **fields: object,
) -> Rule:  # fmt: skip
    made = Rule(
        code=f"NCD{sum(map(ord, name)) % 1000:03d}", name=name, area="a", severity=severity, role=role, layer=layer,
        title=name, why="", when=("True",),
    )  # fmt: skip
    return msgspec.structs.replace(made, **fields)


def found(
    of: Rule, hosts: Iterable[str] = ("n1",), time: float | None = None, title: str = "", *,
    ranks: Iterable[int] = (), devices: Iterable[Device] = (), peers: Iterable[str] = (),
) -> Verdict:  # fmt: skip
    place = Where(set(hosts), set(ranks), set(devices), set(peers), time)
    finding = Finding(
        rule=of,
        severity=of.severity,
        role=of.role,
        layer=of.layer,
        title=title or of.name,
        why="",
        confidence="likely",
        where=place,
        evidence=(),
        instances=({},),
        count=1,
    )
    return Verdict(rule=of, outcome="fired", findings=(finding,))


def order(*verdicts: Verdict, job: Job | None = None) -> list[str]:
    return [finding.title for finding in conclude(verdicts, View(job or Job())).findings]


CAUSE = rule("port-down", explains=("timeout",))
SYMPTOM = rule("timeout", role="symptom")


def test_the_cause_comes_first_and_its_consequence_says_so() -> None:
    diagnosis = conclude([found(SYMPTOM), found(CAUSE)], View(Job()))
    assert (diagnosis.verdict, diagnosis.root_cause) == ("root-cause", "port-down")
    cause, symptom = diagnosis.findings
    assert (cause.consequences, cause.explained_by) == (("timeout",), ())
    assert (symptom.consequences, symptom.explained_by) == ((), ("port-down",))


def test_a_symptom_alone_is_not_a_root_cause() -> None:
    diagnosis = conclude([found(SYMPTOM)], View(Job()))
    assert (diagnosis.verdict, diagnosis.root_cause) == ("failed-cause-not-here", None)
    assert diagnosis.findings[0].rule.name == "timeout"


@pytest.mark.parametrize(
    ("cause", "symptom", "holds"),
    [
        ({"hosts": ["n1"]}, {"hosts": ["n1"]}, True),
        ({"hosts": ["n1"]}, {"hosts": ["n2"]}, False),
        ({"hosts": [], "ranks": [3]}, {"hosts": [], "ranks": [3]}, True),
        ({"hosts": []}, {"hosts": ["n2"]}, True),
        ({"hosts": ["n1"], "devices": [("n1", "hca", "a")]}, {"hosts": ["n1"], "devices": [("n1", "hca", "a")]}, True),
        ({"hosts": ["n1"], "devices": [("n1", "hca", "a")]}, {"hosts": ["n1"], "devices": [("n1", "hca", "b")]}, False),
        ({"hosts": ["n1"], "devices": [("n1", "hca", "a")]}, {"hosts": ["n1"], "devices": [("n1", "gpu", "b")]}, True),
        ({"hosts": ["n1"]}, {"hosts": ["n2"], "peers": ["10.9.9.9<80>"]}, True),
        ({"hosts": ["n1"]}, {"hosts": ["n2"], "peers": ["10.0.0.1<80>"]}, True),
        ({"hosts": ["n3"]}, {"hosts": ["n2"], "peers": ["10.0.0.1<80>"]}, False),
        ({"hosts": ["n1"]}, {"hosts": ["n2"], "peers": ["n1.cluster:80"]}, True),
    ],
)
def test_where_an_edge_holds(cause: dict[str, Any], symptom: dict[str, Any], holds: bool) -> None:
    eth = Interface(host="n1", name="eth0", addresses=(Address(ip="10.0.0.1"),))
    job = Job(hosts=(Host(name="n1", interfaces=(eth,)), Host(name="n2"), Host(name="n3")))
    first, second = conclude([found(CAUSE, **cause), found(SYMPTOM, **symptom)], View(job)).findings
    assert (first.rule.name, second.rule.name) == ("port-down", "timeout")
    assert second.explained_by == (("port-down",) if holds else ())


@pytest.mark.parametrize("of", ["cause", "symptom"])
def test_an_effect_on_the_job_crosses_hosts(of: str) -> None:
    cause = msgspec.structs.replace(CAUSE, effect="job") if of == "cause" else CAUSE
    symptom = msgspec.structs.replace(SYMPTOM, effect="job") if of == "symptom" else SYMPTOM
    second = conclude([found(symptom, ["n2"]), found(cause, ["n1"])], View(Job())).findings[1]
    assert second.explained_by == ("port-down",)


def test_a_symptom_is_never_told_first_while_something_that_explains_it_fired() -> None:
    small = msgspec.structs.replace(CAUSE, severity="warning")
    diagnosis = conclude([found(SYMPTOM, ["n2"], time=1.0), found(small, ["n1"], time=9.0)], View(Job()))
    assert diagnosis.root_cause == "port-down"
    assert diagnosis.findings[1].explained_by == ()


def test_chains_fold_under_one_root() -> None:
    middle = rule("init-failed", role="symptom", explains=("hang",))
    last = rule("hang", role="symptom", layer=1)
    root = rule("firewall", explains=("init-failed",))
    diagnosis = conclude([found(last), found(middle), found(root)], View(Job()))
    assert [f.rule.name for f in diagnosis.findings] == ["firewall", "init-failed", "hang"]
    assert set(diagnosis.findings[0].consequences) == {"init-failed", "hang"}
    assert diagnosis.findings[2].explained_by == ("init-failed",)


def test_rules_that_explain_each_other_do_not_lose_the_root() -> None:
    one, two = rule("one", explains=("two",), layer=1), rule("two", explains=("one",), layer=2)
    diagnosis = conclude([found(two), found(one)], View(Job()))
    assert [(f.rule.name, f.explained_by) for f in diagnosis.findings] == [("one", ()), ("two", ("one",))]


def test_a_former_name_still_holds_an_edge() -> None:
    renamed = rule("connect-timeout", role="symptom", formerly=("timeout",))
    assert conclude([found(CAUSE), found(renamed)], View(Job())).findings[1].explained_by == ("port-down",)


def test_order_of_roots() -> None:
    warning, error = rule("w", severity="warning"), rule("e")
    assert order(found(warning), found(error)) == ["e", "w"]
    assert order(found(rule("late"), time=50.0), found(rule("early", layer=90), time=5.0)) == ["early", "late"]
    assert order(found(rule("upper", layer=80), time=5.0), found(rule("lower", layer=8), time=5.0)) == [
        "lower",
        "upper",
    ]
    assert order(found(rule("b", strength="likely")), found(rule("c", strength="certain"))) == ["c", "b"]
    assert order(found(rule("s", role="symptom")), found(rule("c", layer=1))) == [
        "s",
        "c",
    ]  # nothing says that c did it


def test_a_cause_of_an_error_seen_comes_before_one_that_stands_alone() -> None:
    assert order(found(rule("alone", layer=1)), found(CAUSE), found(SYMPTOM)) == ["port-down", "alone", "timeout"]


def test_a_warning_that_explains_an_error_comes_before_one_that_does_not() -> None:
    small = rule("acs", severity="warning", explains=("timeout",), layer=90)
    assert order(found(rule("other", severity="warning", layer=1)), found(small), found(SYMPTOM)) == [
        "acs",
        "other",
        "timeout",
    ]


def test_clocks_of_two_hosts_may_differ_but_one_host_has_one_clock() -> None:
    early, late = rule("early", layer=90), rule("late", layer=1)
    assert order(found(early, ["n1"], time=10.0), found(late, ["n2"], time=11.0)) == ["late", "early"]
    assert order(found(early, ["n1"], time=10.0), found(late, ["n2"], time=19.0)) == ["early", "late"]
    assert order(found(early, ["n1"], time=10.0), found(late, ["n1"], time=11.0)) == ["early", "late"]


def test_clocks_that_are_known_to_differ_are_set_right() -> None:
    """The clock of n2 is an hour ahead: both hosts left one exchange at 100 and at 3700."""
    lines = [
        Event(event="comm-nodes", origin="nccl", host=host, time=time, fields={"rank": rank, "nranks": 2})
        for rank, (host, time) in enumerate([("n1", 100.0), ("n2", 3700.0)])
    ]
    job = Job(events=tuple(lines))
    first, second = rule("first", layer=90), rule("second", layer=1)
    assert order(found(first, ["n2"], time=3710.0), found(second, ["n1"], time=120.0), job=job) == ["first", "second"]
    assert order(found(first, ["n2"], time=3720.0), found(second, ["n1"], time=120.0), job=job) == ["second", "first"]
    assert order(found(first, ["n2"], time=3710.0), found(second, ["n1"], time=120.0)) == ["second", "first"]
    stranger = found(second, ["n3"], time=120.0)
    assert order(found(first, ["n2"], time=3710.0), stranger, job=job) == ["second", "first"]


def test_what_has_no_time_was_so_before_the_job() -> None:
    assert order(found(rule("event", layer=1), time=1.0), found(rule("setup", layer=90))) == ["setup", "event"]


@pytest.mark.parametrize(
    ("verdicts", "understood", "word"),
    [
        ([], True, "healthy-as-far-as-seen"),
        ([], False, "nothing-understood"),
        ([found(rule("note", severity="info"))], True, "healthy-as-far-as-seen"),
        ([found(rule("note", severity="info", explains=("timeout",))), found(SYMPTOM)], True, "failed-cause-not-here"),
        ([found(rule("unused", severity="error"))], True, "risk-only"),
        ([found(rule("broken", broken=True))], True, "root-cause"),
        ([found(CAUSE), found(SYMPTOM)], True, "root-cause"),
    ],
)
def test_verdict(verdicts: list[Verdict], understood: bool, word: str) -> None:
    diagnosis = conclude(verdicts, View(Job()), understood=understood)
    assert diagnosis.verdict == word
    assert (diagnosis.root_cause is not None) == (word == "root-cause")


def test_a_broken_part_is_the_cause_of_a_complaint_about_a_job_that_ends_well() -> None:
    ended = Event(event="program-finished", origin="launcher", kind="fact", provenance={"": Span("log", 9, "done")})
    job = Job(events=(ended,), complaints=(Complaint(what="slow", text="I expected more"),))
    for broken, role in ((True, "cause"), (False, "risk")):
        diagnosis = conclude([found(rule("part", broken=broken))], View(job), understood=True)
        assert [each.role for each in diagnosis.findings] == [role]


def asking(name: str, *asks: str, explains: tuple[str, ...] = (), held: tuple[str, ...] = ()) -> Verdict:
    wanted = tuple(Ask(missing=f"what {ask} says", ask_for=ask) for ask in asks)
    return Verdict(rule=rule(name, explains=explains, asks=wanted), outcome="unknown", held_clauses=held,
                   open_clauses=("clause",))  # fmt: skip


def test_only_open_rules_that_matter_are_told() -> None:
    verdicts = [
        found(SYMPTOM),
        asking("explains-it", "show_gids", explains=("timeout",)),
        asking("half-true", "lsmod", held=("True",)),
        asking("irrelevant", "ibstat"),
        asking("of-another-premise", "dmesg", held=("x",)),
        Verdict(rule=rule("clear", explains=("timeout",)), outcome="clear"),
        asking("asks-nothing", explains=("timeout",)),
    ]
    told = conclude(verdicts, View(Job())).unknown
    assert [unknown.name for unknown in told] == ["explains-it", "half-true", "asks-nothing"]
    assert told[0].missing == ("what show_gids says",)
    assert told[2].missing == ("clause",)


def test_a_job_with_one_symptom_is_not_asked_about_another() -> None:
    verdicts = [
        asking("of-this", "ip addr", explains=("timeout",), held=("True",)),
        asking("of-another", "lsmod", explains=("slow",), held=("True",)),
        asking("of-none", "df", held=("True",)),
    ]
    assert {u.name for u in conclude(verdicts, View(Job())).unknown} == {"of-this", "of-another", "of-none"}
    told = conclude([found(SYMPTOM), *verdicts], View(Job())).unknown
    assert {u.name for u in told} == {"of-this", "of-none"}


def test_the_three_outputs_that_decide_most_are_asked_for() -> None:
    verdicts = [
        asking("a", "ulimit", held=("True",)),
        asking("b", "show_gids", "ip addr", held=("True",)),
        asking("c", "ip addr", held=("True",)),
        asking("d", "lsmod", held=("True",)),
        asking("e", "lsmod", "ip addr", held=("True",)),
        asking("f", "df", explains=("timeout",)),
        found(SYMPTOM),
    ]
    told = conclude(verdicts, View(Job())).unknown
    assert {ask for unknown in told for ask in unknown.ask_for} == {"df", "ip addr", "lsmod"}
    assert told[0].name == "f"
    assert "a" not in {unknown.name for unknown in told}


@pytest.mark.parametrize(
    ("peer", "host"),
    [("10.0.0.1<4000>", "n1"), ("10.0.0.1:4000", "n1"), ("10.0.0.1", "n1"), ("[fe80::1]:80", "n1"), ("n2", "n2"),
     ("n2.example.org:80", "n2"), ("172.17.0.1", None), ("10.9.9.9", None), ("nobody", None), ("", None), ("5", "n2"),
     ("6", None), ("[", None)],
)  # fmt: skip
def test_peers(peer: str, host: str | None) -> None:
    def eth(name: str, ip: str) -> Interface:
        return Interface(host=name, name="eth0", addresses=(Address(ip=ip), Address(ip="172.17.0.1")))

    n1 = Host(name="n1", interfaces=(eth("n1", "10.0.0.1"), eth("n1", "fe80::1%eth0")))
    ranks = (Rank(host="n2", rank=5), Rank(host="n1", rank=6), Rank(host="n2", rank=6))
    assert Peers(Job(hosts=(n1, Host(name="n2", interfaces=(eth("n2", "10.0.0.2"),))), ranks=ranks)).host(peer) == host


def test_every_error_explains_what_only_echoes_one() -> None:
    echo = rule("return-code", role="symptom", echo=True, effect="job")
    small = rule("small", severity="warning")
    findings = conclude([found(echo, ["n2"]), found(small), found(CAUSE)], View(Job())).findings
    assert [(f.rule.name, f.explained_by) for f in findings] == [
        ("port-down", ()),
        ("small", ()),
        ("return-code", ("port-down",)),
    ]
