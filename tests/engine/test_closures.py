"""Conditions as they are evaluated: fan-out, what is unknown, what is complete, and agreement with Python itself."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from examples import examples
from hypothesis import given
from hypothesis import strategies as st

from ncdiag.engine import clauses
from ncdiag.engine.closures import test as judge
from ncdiag.engine.scope import Names, Scope
from ncdiag.engine.walk import Context, Frame
from ncdiag.facts.model import (
    Event,
    Gid,
    Gpu,
    Hca,
    Host,
    Interface,
    Job,
    KernelModule,
    Launch,
    Port,
    Rank,
    Setting,
)
from ncdiag.facts.scalars import OLDEST, Version, VersionRange
from ncdiag.facts.view import View


def evaluate(text: str, job: Job) -> bool | None:
    tree = clauses.condition(text, Scope(Names()))
    return judge(tree)(Frame(Context(View(job)), {}))


def gpus(*models: str | None, whole: bool = True) -> Job:
    found = tuple(Gpu(host="node1", index=i, model=model) for i, model in enumerate(models))
    return Job(hosts=(Host(name="node1", gpus=found, complete=frozenset({"nvml"} if whole else ())),),
               complete=frozenset({"hosts"}))  # fmt: skip


WALK = "for g in job.hosts.gpus"


@pytest.mark.parametrize(
    ("text", "job", "result"),
    [
        (f"any(g.model == 'A' {WALK})", gpus("B", "A"), True),
        (f"any(g.model == 'A' {WALK})", gpus("B"), False),
        (f"any(g.model == 'A' {WALK})", gpus("B", None), None),
        (f"any(g.model == 'A' {WALK})", gpus("B", whole=False), None),
        (f"any(g.model == 'A' {WALK})", gpus("A", whole=False), True),
        (f"any(g.model == 'A' {WALK})", gpus(), False),
        (f"any(g.index == 1 {WALK} if g.model == 'A')", gpus("A", None), None),
        (f"any(g.index == 2 {WALK} if g.model == 'A')", gpus("A", None), False),
        (f"none(g.model == 'A' {WALK})", gpus("B"), True),
        (f"none(g.model == 'A' {WALK})", gpus("B", whole=False), None),
        (f"none(g.model == 'A' {WALK})", gpus("A", whole=False), False),
        (f"all(g.model == 'A' {WALK})", gpus("A", "A"), True),
        (f"all(g.model == 'A' {WALK})", gpus("A", whole=False), None),
        (f"all(g.model == 'A' {WALK})", gpus("A", "B", whole=False), False),
        (f"all(g.model == 'A' {WALK})", gpus("A", None), None),
        (f"all(g.model == 'A' {WALK})", gpus("B", None), False),
        (f"all(g.model == 'A' {WALK} if g.index < 1)", gpus("A", None), True),
        (f"count(g {WALK}) == 2", gpus("A", None), True),
        (f"count(g {WALK}) >= 2", gpus("A", "A", whole=False), True),
        (f"count(g {WALK}) == 2", gpus("A", "A", whole=False), None),
        (f"count(g {WALK}) < 2", gpus("A", "A", whole=False), False),
        (f"count(g.model == 'A' {WALK}) <= 2", gpus("A", None), True),
        (f"count(g.model == 'A' {WALK}) == 2", gpus("A", None), None),
        (f"count(g {WALK} if g.model == 'A') > 2", gpus("A", None), False),
        (f"distinct(g.model {WALK}) > 1", gpus("A", "B"), True),
        (f"distinct(g.model {WALK}) > 1", gpus("A", "A"), False),
        (f"distinct(g.model {WALK}) > 1", gpus("A", None), None),
        (f"distinct(g.model {WALK}) > 1", gpus("A", whole=False), None),
        (f"distinct(g.model {WALK}) == 1", gpus(None), True),
        (f"distinct(g.model {WALK} if g.index < 1) == 1", gpus("A", "B"), True),
        ("'A' in job.hosts.gpus.model", gpus("B", "A"), True),
        ("'A' in job.hosts.gpus.model", gpus("B"), False),
        ("'A' in job.hosts.gpus.model", gpus("B", None), None),
        ("'A' not in job.hosts.gpus.model", gpus("B", whole=False), None),
    ],
)
def test_collections(text: str, job: Job, result: bool | None) -> None:
    assert evaluate(text, job) is result


def test_a_host_reached_by_many_ranks_is_counted_once() -> None:
    job = msgspec.structs.replace(gpus("A", "A"), ranks=(Rank(host="node1"), Rank(host="node1")),
                                  complete=frozenset({"ranks", "hosts"}))  # fmt: skip
    assert evaluate("count(g for g in job.ranks.host.gpus) == 2", job) is True


def test_a_host_that_is_not_known_makes_what_lies_behind_unknown() -> None:
    job = Job(ranks=(Rank(host="elsewhere"),), complete=frozenset({"ranks"}))
    assert evaluate("any(r.host.cloud == 'aws' for r in job.ranks)", job) is None


def test_a_collection_that_nobody_read_is_open() -> None:
    ranks = (Rank(host="a", socket_interfaces=()), Rank(host="b", socket_interfaces=None))
    for some, result in ((ranks, None), (ranks[:1], False)):
        job = Job(ranks=some, complete=frozenset({"ranks"}))
        assert evaluate("any(i.kind == 'veth' for i in job.ranks.socket_interfaces)", job) is result


@pytest.mark.parametrize(
    ("hca", "result"),
    [
        (Hca(host="a", name="mlx5_0"), None),
        (Hca(host="a", name="mlx5_0", ports=(Port(host="a", hca="mlx5_0", number=1),)), None),
        (Hca(host="a", name="mlx5_0", ports=(Port(host="a", hca="mlx5_0", number=1, gids_complete=True),)), True),
        (
            Hca(
                host="a",
                name="mlx5_0",
                ports=(
                    Port(
                        host="a",
                        hca="mlx5_0",
                        number=1,
                        gids=(Gid(host="a", hca="mlx5_0", port=1, index=3, type="IB"),),
                    ),
                ),
            ),
            None,
        ),
    ],
)
def test_gids_are_whole_when_their_port_says_so_and_an_hca_has_ports(hca: Hca, result: bool | None) -> None:
    job = Job(hosts=(Host(name="a", hcas=(hca,), complete=frozenset({"ibstat"})),), complete=frozenset({"hosts"}))
    assert evaluate("none(g.type == 'RoCE v2' for g in job.hosts.hcas.ports.gids)", job) is result


def test_events_are_never_all_there_is() -> None:
    job = Job(events=(Event(event="a", origin="nccl"),))
    assert evaluate("any(x.event == 'a' for x in job.events)", job) is True
    assert evaluate("any(x.event == 'b' for x in job.events)", job) is None
    assert evaluate("none(x.event == 'b' for x in job.events)", job) is None
    closed = msgspec.structs.replace(job, complete=frozenset({"events"}))
    assert evaluate("none(x.event == 'b' for x in job.events)", closed) is True


def test_holes_of_events() -> None:
    job = Job(events=(Event(event="a", origin="nccl", fields={"errno": 110}),), complete=frozenset({"events"}))
    assert evaluate("any(x.errno == 110 for x in job.events)", job) is True
    assert evaluate("any(x.errno == 111 for x in job.events)", job) is False
    assert evaluate("any(x.status == 12 for x in job.events)", job) is None


@pytest.mark.parametrize(
    ("text", "result"),
    [
        ("any(x.env.NCCL_DEBUG == 'INFO' for x in job.launches)", True),
        ("any(x.env.NCCL_IB_HCA == 'mlx5' for x in job.launches)", False),
        ("any(x.env.NCCL_IB_HCA in ['mlx5'] for x in job.launches)", False),
        ("any(x.env.NCCL_IB_HCA != 'mlx5' for x in job.launches)", True),
        ("any('NCCL_DEBUG' in x.env for x in job.launches)", True),
        ("any('NCCL_IB_HCA' in x.env for x in job.launches)", False),
        ("any('mlx5' in x.env.NCCL_IB_HCA for x in job.launches)", False),
        ("'INFO' in job.launches.env.NCCL_DEBUG", True),
        ("any(p.counters.symbol_error > 0 for p in job.hosts.hcas.ports)", True),
        ("any(p.counters.link_downed > 0 for p in job.hosts.hcas.ports)", None),
        ("any('link_downed' in p.counters for p in job.hosts.hcas.ports)", None),
        ("any('SHM' in r.transports for r in job.ranks)", False),
    ],
)
def test_tables(text: str, result: bool | None) -> None:
    port = Port(host="a", hca="mlx5_0", number=1, counters={"symbol_error": 3})
    job = Job(
        launches=(Launch(program="mpirun", text="", env={"NCCL_DEBUG": "INFO"}),),
        hosts=(Host(name="a", hcas=(Hca(host="a", name="mlx5_0", ports=(port,)),), complete=frozenset({"ibstat"})),),
        ranks=(Rank(host="a", transports={"NET/IB": 4}),),
        complete=frozenset({"launches", "hosts", "ranks"}),
    )
    assert evaluate(text, job) is result


def test_settings_are_reached_by_name() -> None:
    setting = Setting(name="NCCL_IB_TIMEOUT", is_set=True, text="22", number=22, effective=22)
    unset = Setting(name="NCCL_IB_HCA", is_set=False)
    job = Job(
        ranks=(Rank(host="a", settings={"NCCL_IB_TIMEOUT": setting, "NCCL_IB_HCA": unset}),),
        complete=frozenset({"ranks"}),
    )
    for text, result in (
        ("any(r.setting.NCCL_IB_TIMEOUT.effective == 22 for r in job.ranks)", True),
        ("any(r.setting.NCCL_IB_TIMEOUT.effective < 22 for r in job.ranks)", False),
        ("any(r.setting.NCCL_IB_TIMEOUT.effective == 'x' for r in job.ranks)", False),
        ("any(r.setting.NCCL_IB_HCA.text == 'mlx5_0' for r in job.ranks)", False),
        ("any(r.setting.NCCL_IB_HCA.is_set for r in job.ranks)", False),
        ("any(r.setting.NCCL_DEBUG.text == 'INFO' for r in job.ranks)", None),
    ):
        assert evaluate(text, job) is result, text


@pytest.mark.parametrize(
    ("text", "result"),
    [("< '2.21'", True), (">= '2.4'", None), ("> '2.21'", False), ("== '2.3'", None), ("== '2.21'", False),
     ("in '>=2.2,<2.21'", True), ("in ['2.21', '2.22.3']", False), ("in ['2.3']", None)],
)  # fmt: skip
def test_versions_are_ranges(text: str, result: bool | None) -> None:
    between = VersionRange(Version(2, 3), Version(2, 12))
    job = Job(ranks=(Rank(host="a", nccl_version=between),), complete=frozenset({"ranks"}))
    assert evaluate(f"any(r.nccl_version {text} for r in job.ranks)", job) is result


def test_distinct_versions() -> None:
    exact = VersionRange.exact("2.18.3")
    vague = VersionRange(OLDEST, Version(2, 30))
    ranks = (Rank(host="a", nccl_version=exact), Rank(host="b", nccl_version=vague))
    text = "distinct(r.nccl_version for r in job.ranks) == 1"
    assert evaluate(text, Job(ranks=ranks, complete=frozenset({"ranks"}))) is None
    assert evaluate(text, Job(ranks=ranks[:1] * 2, complete=frozenset({"ranks"}))) is True


# Random conditions over a random host: what Python itself says of them when everything is known, and what may never
# happen when some of it is not.

ATOMS = [
    "i.mtu == 1500", "i.mtu < 4000", "1500 <= i.mtu < 9000", "i.up", "i.running", "i.kind in ['veth', 'bond']",
    "i.kind not in ['bridge']", "i.name == i.master", "i.name != 'eth0'", "'eth' in i.name", "i.speed_mbps > i.mtu",
    "any(m.used_by > 0 for m in h.modules)", "all(m.used_by >= 1 for m in h.modules if m.name != 'x')",
    "none(m.name == i.name for m in h.modules)", "count(m for m in h.modules if m.used_by > 0) >= 2",
    "count(m.size > i.mtu for m in h.modules) == 1", "distinct(m.used_by for m in h.modules) < 3",
    "h.in_container", "h.cloud == 'aws'", "h.driver in ['550', '560']",
]  # fmt: skip

conditions = st.recursive(
    st.sampled_from(ATOMS),
    lambda inner: st.one_of(
        inner.map(lambda a: f"not ({a})"),
        st.tuples(inner, st.sampled_from(["and", "or"]), inner).map(lambda t: f"({t[0]}) {t[1]} ({t[2]})"),
    ),
    max_leaves=6,
)
names = st.sampled_from(["eth0", "veth1", "x", "bond0"])
interface_fields = st.fixed_dictionaries(
    {"mtu": st.sampled_from([1500, 4000, 9000]), "up": st.booleans(), "running": st.booleans(), "master": names,
     "kind": st.sampled_from(["veth", "bond", "bridge"]), "speed_mbps": st.sampled_from([1000, 100000])}
)  # fmt: skip
module_fields = st.fixed_dictionaries({"used_by": st.integers(0, 2), "size": st.sampled_from([100, 5000])})
host_fields = st.fixed_dictionaries(
    {"in_container": st.booleans(), "cloud": st.sampled_from(["aws", "gcp"]), "driver": st.sampled_from(["550", "570"])}
)
modules_fields = st.lists(st.tuples(names, module_fields), max_size=3)


def build(host: dict[str, Any], interface: dict[str, Any], modules: list[Any], *, whole: bool) -> dict[str, Any]:
    found = Host(
        name="h1",
        modules=tuple(KernelModule(host="h1", name=name, **fields) for name, fields in modules),
        complete=frozenset({"lsmod"} if whole else ()),
        **host,
    )
    return {"h": found, "i": Interface(host="h1", name="eth0", **interface)}


def run(text: str, bound: dict[str, Any]) -> bool | None:
    scope = Scope(Names())
    for name, path in (("h", "job.hosts"), ("i", "h.interfaces")):
        scope = scope.bind(name, *clauses.path(path, scope))
    return judge(clauses.condition(text, scope))(Frame(Context(View(Job(hosts=(bound["h"],)))), bound))


PYTHON = {"none": lambda walk: not any(walk), "distinct": lambda walk: len(set(walk)),
          "count": lambda walk: sum(item is not False for item in walk)}  # fmt: skip


@examples(200)
@given(conditions, host_fields, interface_fields, modules_fields)
def test_python_agrees_where_everything_is_known(
    text: str, host: dict[str, Any], interface: dict[str, Any], modules: list[Any]
) -> None:
    bound = build(host, interface, modules, whole=True)
    assert run(text, bound) is eval(text, PYTHON | bound)  # noqa: S307  (the oracle: the text is made above)


@examples(200)
@given(conditions, host_fields, interface_fields, modules_fields, st.data())
def test_learning_more_never_turns_a_result_round(
    text: str, host: dict[str, Any], interface: dict[str, Any], modules: list[Any], data: st.DataObject
) -> None:
    def partly(fields: dict[str, Any]) -> dict[str, Any]:
        hidden = data.draw(st.sets(st.sampled_from(sorted(fields))))
        return {name: value for name, value in fields.items() if name not in hidden}

    seen = data.draw(st.lists(st.sampled_from(modules), unique_by=id)) if modules else []
    less = build(partly(host), partly(interface), [(name, partly(fields)) for name, fields in seen], whole=False)
    before, after = run(text, less), run(text, build(host, interface, modules, whole=True))
    assert before in (after, None)
