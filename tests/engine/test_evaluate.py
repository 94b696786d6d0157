"""Rules judged over jobs that are built by hand."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec
import pytest

from ncdiag.base.spans import Span
from ncdiag.engine import evaluate, where
from ncdiag.engine.load import load_text
from ncdiag.engine.results import Verdict
from ncdiag.engine.schema import Rule
from ncdiag.facts.model import Address, Event, GidUse, Hca, Host, Interface, InterfaceKind, Job, Rank, Setting
from ncdiag.facts.scalars import OLDEST, Version, VersionRange
from ncdiag.facts.view import View

VIRTUAL = """
code = "NCD101"
name = "socket-virtual-ifname"
area = "socket"
severity = "error"
role = "cause"
layer = 50
applies = { nccl = ">=2.4" }
title = "Rank {rank.rank} announced {iface.name}, a {iface.kind} interface, to the other hosts"
each = { rank = "job.ranks", iface = "rank.socket_interfaces" }
when = ['iface.kind in ["veth", "bridge", "tunnel"]', 'job.nhosts > 1']
unless = ['rank.host.has_one_interface']
why = "The address of such an interface means something only inside its own host."
explains = ["init-never-completes", "socket-connect-timeout", "socket-connection-refused"]

[[fix]]
kind = "env"
env = { NCCL_SOCKET_IFNAME = "{best.shared_interface}" }
applies = { nccl = ">=2.4" }
scope = "all hosts"
confirm = "the Bootstrap line of every rank names the new interface"

[[fix]]
kind = "command"
when = ['rank.host.cloud == "aws"']
text = "Ask {rank.host.cloud} about {iface.name} on {rank.host}"

[[fix]]
kind = "config"
applies = { nccl = "<2.4" }
text = "only for releases that the rule does not know"

[[fix]]
kind = "config"
applies = { nccl = ">=2.18" }
text = "only for newer releases"
"""
"""The rule that architecture shows, with fixes of its own."""


def rule(text: str = VIRTUAL, **changes: object) -> Rule:
    return msgspec.structs.replace(load_text(text), **changes)


def at(line: int) -> dict[str, Span]:
    return {"": Span("job.log", line, f"line {line}")}


def interface(host: str, name: str = "veth1", kind: InterfaceKind = "veth", line: int = 1) -> Interface:
    return Interface(host=host, name=name, kind=kind, addresses=(Address(ip="10.0.0.1"),), provenance=at(line))


def rank(number: int | None, host: str, *interfaces: Interface, version: str | None = "2.18.3") -> Rank:
    return Rank(
        host=host, rank=number, socket_interfaces=interfaces, provenance=at(10 + (number or 0)),
        nccl_version=VersionRange.exact(version) if version else None,
    )  # fmt: skip


def host(name: str, *interfaces: str, whole: bool = True, **fields: object) -> Host:
    found = tuple(interface(name, each, "physical") for each in interfaces)
    made = Host(name=name, interfaces=found, complete=frozenset({"interfaces"} if whole else ()))
    return msgspec.structs.replace(made, **fields)


def two_hosts(*ranks: Rank) -> Job:
    return Job(nhosts=2, ranks=ranks, hosts=(host("n1", "veth1", "eno1"), host("n2", "veth1", "eno1")))


def judge(job: Job, of: Rule | None = None) -> Verdict:
    return evaluate.judge([of or rule()], View(job))[0]


def test_the_rule_that_the_architecture_shows_fires() -> None:
    job = two_hosts(rank(0, "n1", interface("n1", line=3)), rank(8, "n2", interface("n2", "bond0", "bond", 4)))
    verdict = judge(job)
    assert verdict.outcome == "fired"
    (finding,) = verdict.findings
    assert finding.title == "Rank 0 announced veth1, a veth interface, to the other hosts"
    assert (finding.hosts, finding.ranks) == (("n1",), (0,))
    assert [span.line for span in finding.evidence] == [3]
    assert finding.where.devices == {("n1", "interface", "veth1")}


def test_a_near_miss_is_clear() -> None:
    assert judge(two_hosts(rank(0, "n1", interface("n1", "eno1", "physical")))).outcome == "clear"
    assert judge(msgspec.structs.replace(two_hosts(rank(0, "n1", interface("n1"))), nhosts=1)).outcome == "clear"


def test_without_the_number_of_hosts_it_is_unknown() -> None:
    job = msgspec.structs.replace(two_hosts(rank(0, "n1", interface("n1"))), nhosts=None)
    verdict = judge(job)
    assert verdict.outcome == "unknown"
    assert verdict.open_clauses == ("job.nhosts > 1",)
    assert verdict.held_clauses == ('iface.kind in ["veth", "bridge", "tunnel"]',)


HCAS = """
code = "NCD900"
name = "down"
area = "ib"
severity = "error"
role = "cause"
layer = 50
title = "t"
why = "w"
each = { h = "job.hosts", c = "h.hcas", p = "c.ports" }
when = ['p.state == "down"']
"""


def test_what_is_missing_comes_with_the_kinds_that_would_show_it() -> None:
    down = load_text(HCAS)
    verdict = judge(Job(hosts=(Host(name="a"),)), down)
    assert (verdict.outcome, verdict.missing) == ("unknown", ("h.hcas",))
    assert verdict.needs == ("h.hcas (any of: ibstat, ibstatus, ibv_devinfo, show_gids, sysfs_infiniband)",)
    nothing = Job(hosts=(Host(name="a", complete=frozenset({"show_gids"})),))
    assert (judge(nothing, down).outcome, judge(nothing, down).needs) == ("clear", ())
    portless = Job(hosts=(Host(name="a", complete=frozenset({"show_gids"}), hcas=(Hca(host="a", name="m"),)),))
    assert judge(portless, down).needs == ("c.ports (any of: ibstat, ibstatus, ibv_devinfo)",)
    modules = load_text(HCAS.replace("h.hcas", "h.modules").replace(', p = "c.ports"', "").replace("p.state", "c.name"))
    assert judge(Job(hosts=(Host(name="a"),)), modules).needs == ("h.modules (lsmod)",)
    assert judge(Job(), down).needs == ("job.hosts",)


def test_input_that_is_missing_is_named() -> None:
    assert judge(Job(nhosts=2)).missing == ("job.ranks",)
    job = two_hosts(msgspec.structs.replace(rank(0, "n1"), socket_interfaces=None))
    verdict = judge(job)
    assert (verdict.outcome, verdict.missing) == ("unknown", ("rank.socket_interfaces",))


def test_instances_that_differ_in_rank_and_host_are_one_finding() -> None:
    job = two_hosts(
        *(rank(n, "n1", interface("n1")) for n in range(8)),
        rank(9, "n2", interface("n2")),
        rank(10, "n2", interface("n2", "br0", "bridge")),
    )
    first, second = judge(job).findings
    assert first.title == "Rank 0-7,9 announced veth1, a veth interface, to the other hosts"
    assert (first.count, first.hosts) == (9, ("n1", "n2"))
    assert second.title == "Rank 10 announced br0, a bridge interface, to the other hosts"


def test_a_guard_that_is_true_blocks_and_one_that_is_unknown_lowers_the_confidence() -> None:
    seen = interface("n1")
    alone = host("n1", "veth1")
    for known, outcome, confidence in (
        (alone, "clear", None),
        (host("n1", "veth1", "eno1"), "fired", "likely"),
        (host("n1", whole=False), "fired", "possible"),
    ):
        verdict = judge(Job(nhosts=2, ranks=(rank(0, "n1", seen),), hosts=(known,)))
        assert verdict.outcome == outcome
        assert [finding.confidence for finding in verdict.findings] == [confidence] * (confidence is not None)


@pytest.mark.parametrize(
    ("version", "outcome", "confidence"),
    [
        (VersionRange.exact("2.18.3"), "fired", "certain"),
        (VersionRange.exact("2.3.7"), "not applicable", None),
        (VersionRange(OLDEST, Version(2, 30)), "fired", "likely"),
        (None, "fired", "likely"),
    ],
)
def test_the_version_is_judged_over_what_is_possible(
    version: VersionRange | None, outcome: str, confidence: str | None
) -> None:
    found = msgspec.structs.replace(rank(0, "n1", interface("n1")), nccl_version=version)
    verdict = judge(two_hosts(found), rule(strength="certain"))
    assert verdict.outcome == outcome
    assert [finding.confidence for finding in verdict.findings] == [confidence] * (confidence is not None)


def test_the_version_of_a_rank_that_tells_none_is_that_of_its_host_or_of_the_job() -> None:
    bare = rank(0, "n1", interface("n1"), version=None)
    old = VersionRange.exact("2.3.7")
    of_host = Job(nhosts=2, ranks=(bare, rank(1, "n2")), hosts=(host("n1", "veth1", "eno1", nccl_version=old),))
    assert judge(of_host).outcome == "clear"  # rank 1, which has another version, was judged
    of_job = Job(nhosts=2, ranks=(bare, rank(1, "n2", version="2.3.7")), hosts=(host("n1", "veth1", "eno1"),))
    assert judge(of_job).outcome == "not applicable"


def test_fixes_that_the_facts_rule_out_are_left_out() -> None:
    of_cloud = host("n1", "veth1", "eno1", cloud="gcp")
    job = Job(nhosts=2, ranks=(rank(0, "n1", interface("n1"), version="2.12"),), hosts=(of_cloud,))
    (finding,) = judge(job).findings
    fixes = evaluate.applicable_fixes(finding, View(job))
    assert [(fix.kind, every) for fix, every in fixes] == [("env", True)]
    vague = VersionRange(Version(2, 4), Version(2, 30))
    open_version = msgspec.structs.replace(job.ranks[0], nccl_version=vague)
    job = Job(nhosts=2, ranks=(open_version,), hosts=(host("n1", "veth1", "eno1", cloud="aws"),))
    (finding,) = judge(job).findings
    fixes = evaluate.applicable_fixes(finding, View(job))
    assert [(fix.kind, every) for fix, every in fixes] == [("env", True), ("command", True), ("config", None)]
    assert evaluate.render(finding, fixes[1][0].text, View(job)) == "Ask aws about veth1 on n1"


def test_computed_values_in_texts() -> None:
    job = two_hosts(rank(0, "n1", interface("n1")))
    (finding,) = judge(job).findings
    text = finding.rule.fixes[0].env["NCCL_SOCKET_IFNAME"]
    assert evaluate.render(finding, text, View(job)) == "unknown"
    assert evaluate.holes_unknown(finding, text, View(job))

    def values(name: str, names: Mapping[str, Any]) -> str:
        assert name == "shared_interface"
        return f"eno1 instead of {names['iface'].name}"

    assert evaluate.render(finding, text, View(job), values) == "eno1 instead of veth1"
    assert not evaluate.holes_unknown(finding, text, View(job), values)


BY_EVENT = """
code = "NCD102"
name = "connect-timeout"
area = "socket"
severity = "error"
role = "symptom"
layer = 50
title = "Rank {e.rank} cannot reach {e.peer}"
why = "because"
each = { e = "job.events" }
when = ['e.event == "socket-connect-timeout"', 'e.errno in [110, 113]']
unless = ['any(x.event == "init-complete" for x in job.events)']
"""


def event(
    name: str, number: int, errno: int, *, time: float | None = None, host: str | None = None, peer: str | None = None
) -> Event:
    return Event(
        event=name, origin="nccl", rank=number, order=number, provenance=at(number), fields={"errno": errno},
        time=time, host=host, peer=peer,
    )  # fmt: skip


def test_events_bring_peer_time_and_order() -> None:
    events = (
        event("socket-connect-timeout", 5, errno=110, time=7.0, host="n1", peer="10.0.0.5<3000>"),
        event("socket-connect-timeout", 6, errno=113, time=3.0, host="n1", peer="10.0.0.5<3000>"),
        event("socket-connect-timeout", 7, errno=2),
        event("other", 8, errno=110),
    )
    (finding,) = judge(Job(events=events), rule(BY_EVENT)).findings
    assert finding.title == "Rank 5-6 cannot reach 10.0.0.5<3000>"
    assert (finding.where.time, finding.where.order) == (3.0, 5)
    assert finding.where.peers == {"10.0.0.5<3000>"}
    assert finding.confidence == "possible"  # nobody says that an init-complete line would have been in the input


def test_events_that_are_not_there_are_clear_not_unknown() -> None:
    assert judge(Job(), rule(BY_EVENT)).outcome == "clear"


def test_a_rule_on_the_job_alone_takes_its_place_from_what_it_read() -> None:
    text = BY_EVENT.replace('each = { e = "job.events" }', "").replace("Rank {e.rank} cannot reach {e.peer}", "Timeout")
    when = "when = ['any(x.event == \"socket-connect-timeout\" and x.errno == 110 for x in job.events)']"
    text = "\n".join(when if line.startswith("when") else line for line in text.splitlines())
    events = (
        event("socket-connect-timeout", 4, errno=2, host="n0"),
        event("socket-connect-timeout", 5, errno=110, host="n1"),
    )
    (finding,) = judge(Job(events=events), rule(text)).findings
    assert (finding.hosts, finding.ranks) == (("n1",), (5,))
    assert [span.line for span in finding.evidence] == [5]


def test_evidence_is_what_was_read_of_what_held() -> None:
    text = BY_EVENT.replace('each = { e = "job.events" }', 'each = { rank = "job.ranks" }')
    text = text.replace("Rank {e.rank} cannot reach {e.peer}", "Level {rank.setting.NCCL_NET_GDR_LEVEL.text}")
    when = """when = ['rank.cuda_dev == 9 or rank.setting.NCCL_NET_GDR_LEVEL.text == "LOC"']"""
    text = "\n".join(when if line.startswith("when") else line for line in text.splitlines())
    setting = Setting(
        name="NCCL_NET_GDR_LEVEL", is_set=True, text="LOC", provenance={"": Span("env", 3), "text": Span("env", 4)}
    )
    ranked = Rank(
        host="n1",
        cuda_dev=0,
        settings={"NCCL_NET_GDR_LEVEL": setting},
        provenance={"": Span("log", 1), "cuda_dev": Span("log", 2)},
    )
    (finding,) = judge(Job(ranks=(ranked,)), rule(text)).findings
    assert [(span.source, span.line) for span in finding.evidence] == [("env", 4)]
    assert finding.title == "Level LOC"


def test_the_line_of_an_item_is_that_of_its_collection() -> None:
    first, used = Span("log", 1), Span("log", 7)
    use = GidUse(hca="mlx5_0", local_gid="fe80::1")
    ranked = Rank(host="n1", rank=0, gids_used=(use,), provenance={"": first, "gids_used": used})
    assert where.spans([ranked, use], [(use, "local_gid")], View(Job(ranks=(ranked,)))) == [used]
    assert where.spans([ranked], [(ranked, "rank")], View(Job(ranks=(ranked,)))) == [first]


def test_the_trace_tells_every_clause() -> None:
    job = two_hosts(rank(0, "n1", interface("n1", "eno1", "physical")))
    (seen,) = evaluate.trace(rule(), View(job))
    assert seen.names == {"rank": "rank 0 on n1", "iface": "eno1 on n1"}
    assert [result for _, result in seen.when] == [False, True]
    assert [result for _, result in seen.unless] == [False]


def test_findings_are_capped_and_the_rest_is_counted() -> None:
    job = two_hosts(*(rank(n, "n1", interface("n1", f"veth{n}")) for n in range(130)))
    verdict = judge(job)
    assert len(verdict.findings) == 100
    assert verdict.omitted == 30


def test_a_rule_built_by_hand_is_compiled_when_it_is_judged() -> None:
    by_hand = rule(program=None)
    assert judge(two_hosts(rank(0, "n1", interface("n1"))), by_hand).outcome == "fired"


def test_the_first_title_that_is_true_counts() -> None:
    rule = load_text(
        'code = "NCD902"\nname = "which-title"\narea = "gpu"\nseverity = "info"\nrole = "cause"\nlayer = 10\n'
        'why = "w"\ntitle = "{h.name} is a host"\neach = { h = "job.hosts" }\nwhen = [\'h.name != "nobody"\']\n'
        '[[titles]]\nwhen = [\'h.name == "a"\', "h.in_container == True"]\ntext = "{h.name} is a container"\n'
        '[[titles]]\nwhen = [\'h.name in ["a", "b"]\']\ntext = "{h.name} is one of two"\n'
    )
    hosts = (Host(name="a", in_container=True), Host(name="b"), Host(name="c"), Host(name="a2", in_container=None))
    titles = {finding.title for finding in evaluate.judge([rule], View(Job(hosts=hosts)))[0].findings}
    assert titles == {"a is a container", "b is one of two", "a2,c is a host"}
