"""Entities that are alike are judged once, by a stand-in; the verdicts are those of judging each by itself."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pytest
from book import rules, swept
from generate import healthy

from ncdiag import catalogue
from ncdiag.diagnose import view_of
from ncdiag.engine import alike
from ncdiag.engine.alike import Groups
from ncdiag.engine.compiling import program_of
from ncdiag.engine.evaluate import judge
from ncdiag.engine.fields import derived_field
from ncdiag.engine.kinds import derived_fields
from ncdiag.engine.load import load_text
from ncdiag.engine.results import Verdict
from ncdiag.engine.schema import Rule
from ncdiag.facts.classes import classes_of
from ncdiag.facts.model import Event, Fact, Host, Job, Launch, Rank
from ncdiag.facts.stand_in import Nameless, Refusal, has_faces
from ncdiag.facts.view import View
from ncdiag.text.reading.job import facts_of
from ncdiag.text.reading.many import read_all
from ncdiag.text.sources.files import TextSource

Lines = list[str]

SLOW = 'r.net == "Socket"'
RULE = """
code = "NCD901"
name = "slow"
area = "perf"
severity = "error"
role = "cause"
layer = 50
title = "Rank {{r.rank}} of {{r.host}} uses {{r.net}}"
each = {{ r = "job.ranks" }}
when = ['{}']
why = "Sockets are slower."
"""


def rule(condition: str = SLOW) -> Rule:
    return load_text(RULE.format(condition))


def ranks(size: int, slow: Sequence[int] = ()) -> Job:
    """A job of eight ranks on each host, of which the ``slow`` ones use another network."""
    found = [
        Rank(host=f"n{n // 8}", rank=n, pid=100 + n, cuda_dev=n % 8, net="Socket" if n in slow else "IB")
        for n in range(size)
    ]
    return Job(hosts=tuple(Host(name=f"n{n}") for n in range(size // 8)), ranks=tuple(found))


def evaluations(of: Rule, job: Job) -> int:
    """The number of times that a rule's condition is evaluated."""
    assert of.program is not None
    (test,) = of.program.tests
    count = 0

    def counted(frame: Any) -> Any:  # noqa: ANN401
        nonlocal count
        count += 1
        return test(frame)

    of.program.__dict__["tests"] = (counted,)
    judge([of], View(job))
    return count


@pytest.mark.parametrize(("condition", "asked"), [("l.nnodes > 1", 1), ("l.np > 1000", 101)])
def test_launches_that_differ_in_their_faces_are_judged_once(condition: str, asked: int) -> None:
    launches = tuple(Launch(program="srun", text=f"srun -n {n} a{n}.sh", np=n, script=f"a{n}.sh") for n in range(100))
    of = load_text(
        RULE.format(condition).replace("job.ranks", "job.launches").replace("{ r =", "{ l =")
        .replace("Rank {r.rank} of {r.host} uses {r.net}", "Started with {l.program}")
    )  # fmt: skip
    assert evaluations(of, Job(launches=launches)) == asked


def test_ranks_that_are_alike_are_judged_once() -> None:
    assert evaluations(rule(), ranks(64)) == evaluations(rule(), ranks(512)) == 8


def test_a_condition_that_reads_a_face_is_evaluated_for_each() -> None:
    assert evaluations(rule("r.rank == 1000"), ranks(64)) == 8 + 64


def test_only_the_members_of_a_class_that_fires_are_judged_one_by_one() -> None:
    again = 8  # a finding reads the evidence of its instances again
    assert evaluations(rule(), ranks(64, slow=range(0, 64, 8))) == 7 + 1 + 8 + again


def test_settled_members_are_not_visited() -> None:
    """The places that are visited are one of each class, and all of the class that is not settled, in their order."""
    view = View(ranks(64, slow=(9, 17, 25)))
    groups = Groups.of(view.job.ranks, view)
    assert groups is not None
    visited = 0

    def settles(stand_in: Any, _: int) -> bool:  # noqa: ANN401
        return bool(stand_in.net != "Socket")

    def is_decided() -> bool:
        nonlocal visited
        visited += 1
        return False

    assert [one.rank for one in groups.unsettled(settles, is_decided)] == [9, 17, 25]
    assert visited == len(groups.members) + 2 < 16


def of_hosts(condition: str) -> Rule:
    text = RULE.format(condition).replace("{ r =", "{ h =").replace("job.ranks", "job.hosts")
    return load_text(text.replace("Rank {r.rank} of {r.host} uses {r.net}", "A defect"))


@pytest.mark.parametrize(("slow", "classes"), [((), 1), ((5,), 2), ((5, 13), 2), ((5, 14), 3)])
def test_hosts_with_the_same_ranks_are_judged_once(slow: Sequence[int], classes: int) -> None:
    """A derived fact that reads the ranks of a host is computed of a stand-in, with the stand-ins of its ranks."""
    assert evaluations(of_hosts('h.release_defect == "none"'), ranks(256, slow)) == classes


def test_a_host_shows_no_ranks_to_what_is_on_it() -> None:
    """The hosts of a class of ranks may have other ranks."""
    view = View(ranks(256, slow=(5,)))
    host = view.host(classes_of(view).stand_in(view.job.ranks[0]).host)
    assert host is not None
    with pytest.raises(Refusal):
        view.ranks_on(host.name)


def test_few_ranks_are_judged_one_by_one() -> None:
    assert evaluations(rule(), ranks(8)) == 8


@pytest.mark.parametrize("slow", [(), (5,), range(3, 64, 7), range(64)], ids=["none", "one", "some", "all"])
@pytest.mark.parametrize(
    "condition",
    [
        SLOW, "r.rank == 5", 'r.rank > 9 and r.net == "Socket"', "r.host.name == 'n3'".replace("'", '"'),
        'r.net_plugin == "x"', "r.nranks == 64", 'r.net == "Socket" or r.pid == 117', "count(g for g in r.gdr) == 0",
        'any(o.net == "Socket" for o in job.ranks)', 'all(o.net == "Socket" for o in job.ranks)',
        'count(o for o in job.ranks if o.net == "Socket") > 9', "distinct(o.net for o in job.ranks) == 2",
        "distinct(o.rank for o in job.ranks) == 64", "distinct(o.host.name for o in job.ranks) == 8",
        'none(o.rank == 5 and o.net == "Socket" for o in job.ranks)', "distinct(o.nranks for o in job.ranks) == 64",
        "r.host.cloud == 'aws'".replace("'", '"'),
    ],
)  # fmt: skip
def test_the_verdict_is_that_of_judging_each_by_itself(
    condition: str, slow: Sequence[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    view = View(ranks(64, slow))
    given = rule(condition)
    together = judge([given], view)
    monkeypatch.setattr(alike, "FEW", 1000)
    assert judge([given], view) == together


def test_the_elements_of_a_rule_and_of_a_quantifier_are_apart() -> None:
    """Of the events that a rule walks over none is missing; of those that a condition counts there may be more."""
    text = RULE.format('e.event == "x"').replace("{ r =", "{ e =").replace("job.ranks", "job.events")
    walking = load_text(text.replace("{r.rank} of {r.host} uses {r.net}", "1"))
    guard = """unless = ['any(o.event == "x" and o.text == "y" for o in job.events)']\n"""
    guarded = load_text(text.replace("{r.rank} of {r.host} uses {r.net}", "1") + guard)
    view = View(Job(events=(Event(event="x", origin="nccl"),)))
    confidences = [verdict.findings[0].confidence for verdict in judge([walking, guarded], view)]
    assert confidences == ["likely", "possible"]


def _dropped(pattern: str) -> Callable[[Lines], Lines]:
    return lambda lines: [line for line in lines if not re.search(pattern, line)]


def _replaced(pattern: str, text: str) -> Callable[[Lines], Lines]:
    return lambda lines: [re.sub(pattern, text, line) for line in lines]


def _said(text: str) -> Callable[[Lines], Lines]:
    return lambda lines: [*lines[:2], lines[0].partition("NCCL")[0] + text, *lines[2:]]


FAULTS: Mapping[str, Callable[[Lines], Lines]] = {
    "no GPUDirect RDMA": _replaced("/GDRDMA", ""),
    "another release": _replaced(r"2\.27\.7", "2.26.2"),
    "a bridge": _replaced(r"bond0:[\d.]+<0>", "docker0:172.17.0.1<0>"),
    "sockets": _replaced("NET/IB/", "NET/Socket/"),
    "fewer ports": _replaced(r" \[[4-7]\]mlx5_\d:1/RoCE", ""),
    "a variable": _said("NCCL INFO NCCL_IB_TIMEOUT set by environment to 22s."),
    "a failure": _said("NCCL WARN Call to ibv_modify_qp failed with 22 Invalid argument"),
    "no memory": _said("NCCL WARN Cuda failure 2 'out of memory'"),
    "not complete": _dropped("Init COMPLETE"),
    "silence": lambda _: [],
}
WHERE: Mapping[str, Callable[[int], bool]] = {
    "one": lambda rank: rank == 11, "some": lambda rank: rank % 3 == 1, "all": lambda _: True,
}  # fmt: skip


def log(nodes: int, fault: str = "", where: str = "one") -> bytes:
    """The log of a job, with a fault on some of its ranks."""
    job = healthy.Job("2.27.7", "roce", nodes=nodes, gpus=8, channels=2)
    lines: Lines = []
    for rank in range(job.nranks):
        own = list(healthy.rank_lines(job, rank))
        lines += FAULTS[fault](own) if fault and WHERE[where](rank) else own
    return "".join(f"{line}\n" for line in lines).encode()


def view_of_log(text: bytes) -> View:
    return view_of(read_all([TextSource.of_bytes("job.log", text)]).job())


def everywhere(items: Sequence[Any], view: View) -> Groups | None:
    """Groups of which a stand-in is asked even for a single element."""
    if not items or not has_faces(type(items[0])):
        return None
    return Groups.grouped(items, view)


def assert_same(view: View, judged: Sequence[Rule], monkeypatch: pytest.MonkeyPatch) -> None:
    """Rules judge the facts alike with stand-ins, without them, and with one for each entity."""

    def found(of: Callable[[Sequence[Any], View], Groups | None]) -> list[Verdict]:
        monkeypatch.setattr(Groups, "of", of)
        return judge(judged, view_of(view.job))

    monkeypatch.setattr(alike, "LEAST", 1)
    usual = Groups.of
    alone = found(lambda *_: None)
    for of in (usual, everywhere):
        for one, other in zip(alone, found(of), strict=True):
            assert one == other
    monkeypatch.undo()


@pytest.mark.parametrize("where", WHERE)
@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_found_as_if_each_rank_was_judged(fault: str, where: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert_same(view_of_log(log(4, fault, where)), catalogue.rules(), monkeypatch)


@pytest.mark.sweep
def test_the_examples_of_rules_are_judged_alike(monkeypatch: pytest.MonkeyPatch) -> None:
    compared = 0
    for each in swept(one_in=3):
        area = [one for one in rules() if one.area == each.area]
        for example in each.examples:
            view = view_of(facts_of(example.sections, example.host))
            compared += assert_true_of_members(view)
            assert_same(view, area, monkeypatch)
    assert compared > 1000


def assert_true_of_members(view: View) -> int:
    """Each derived fact that a stand-in shows is that of its member; returns the number of those compared.

    It would not be if a function asked whether two entities are the same object.
    """
    compared = 0
    for entity in (*view.job.hosts, *view.job.ranks, *view.job.settings, *view.job.events):
        stand_in = classes_of(view).stand_in(entity)
        for name in derived_fields(type(entity)):
            field = derived_field(type(entity), name)
            assert field is not None
            try:
                shown = _comparable(view.computed(stand_in, field))
            except Refusal:
                continue
            assert shown == _comparable(view.computed(entity, field)), (name, entity)
            compared += 1
    return compared


def _comparable(value: Any) -> Any:  # noqa: ANN401
    """A value of a derived fact without the entities in it."""
    if isinstance(value, tuple | list):
        return [_comparable(one) for one in value]
    if isinstance(value, dict):
        return {key: _comparable(one) for key, one in value.items()}
    if type(value) is Nameless:
        raise Refusal
    return type(value).__name__ if isinstance(value, Fact) else value


def test_four_times_the_ranks_are_not_four_times_the_evaluations(monkeypatch: pytest.MonkeyPatch) -> None:
    count = 0

    def counting(test: Callable[[Any], Any]) -> Callable[[Any], Any]:
        def counted(frame: Any) -> Any:  # noqa: ANN401
            nonlocal count
            count += 1
            return test(frame)

        return counted

    over = [one for one in catalogue.rules() if {"job.ranks", "job.settings"} & set(one.each.values())]
    for one in over:
        program = program_of(one)
        monkeypatch.setitem(program.__dict__, "tests", tuple(map(counting, program.tests)))
    numbers = []
    for nodes in (8, 32):
        before = count
        judge(over, view_of_log(log(nodes)))
        numbers.append(count - before)
    few, many = numbers
    assert many < 2 * few
