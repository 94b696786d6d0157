"""The condition language as it is read: what is accepted, and what is refused with which help."""

from __future__ import annotations

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ncdiag.base.errors import DefinitionError
from ncdiag.engine import clauses
from ncdiag.engine.confine import confined
from ncdiag.engine.kinds import Entity
from ncdiag.engine.scope import Names, Scope
from ncdiag.engine.tree import Quantifier, event_names
from ncdiag.facts import model

NAMES = Names(
    settings=frozenset({"NCCL_IB_TIMEOUT", "NCCL_NET_GDR_LEVEL"}),
    events=frozenset({"socket-connect-timeout", "ib-completion-error"}),
    holes={"errno": frozenset({"int"}), "status": frozenset({"str"})},
)


def scope(**each: str) -> Scope:
    found = Scope(NAMES)
    for name, text in each.items():
        path, kind = clauses.path(text, found)
        found = found.bind(name, path, kind)
    return found


EACH = scope(
    rank="job.ranks", iface="rank.socket_interfaces", e="job.events", port="job.hosts.hcas.ports", launch="job.launches"
)

ACCEPTED = """
iface.up
not iface.up
iface.kind in ["veth", "bridge", "tunnel"]
iface.kind != "loopback" and (iface.mtu < 1500 or iface.speed_mbps >= 25000)
1 <= iface.mtu < 9000
iface.name == rank.bootstrap_interface.name
"Mellanox" in rank.net
port.rate_gbps < 100
port.rate_gbps > -1.5
rank.nccl_version < "2.21"
rank.nccl_version == "2.18.3"
rank.nccl_version in ["2.18.3", "2.19"]
rank.nccl_version in ">=2.4,<2.21"
rank.nccl_version != rank.host.nccl_version
rank.host == e.host
rank.host.cloud == "aws"
any(a.ip in "10.0.0.0/8" for a in iface.addresses)
any(g.model == "H100" for g in rank.host.gpus)
all(g.nvlinks > 0 for g in rank.host.gpus if g.index < 8)
none("vfio" in m.name for m in rank.host.modules)
count(g for g in rank.host.gpus) < 8
count(g for g in rank.host.gpus if g.mig) == 0
count(g.mig for g in rank.host.gpus) > 0
distinct(g.driver for g in rank.host.gpus) > 1
"mlx5_core" in rank.host.modules.name
rank.setting.NCCL_IB_TIMEOUT.effective < 18
job.setting.NCCL_NET_GDR_LEVEL.text == "LOC"
rank.host.setting.NCCL_IB_TIMEOUT.is_set
rank.settings.NCCL_IB_TIMEOUT.number == 22
launch.env.NCCL_DEBUG == "INFO"
"NCCL_DEBUG" in launch.env
any(t in ["NET/Socket", "NET/IB"] for t in rank.transports)
port.counters.symbol_error > 0
e.event == "ib-completion-error" and e.status == "12"
e.errno in [110, 113]
any(r.state == "ready" for r in job.ranks)
"""


@pytest.mark.parametrize("text", ACCEPTED.strip().splitlines())
def test_accepted(text: str) -> None:
    clauses.condition(text, EACH)


REFUSED = [  # text, part of the reason, what the caret stands under, part of the help
    ("iface.knid == 1", "Interface has no field 'knid'", "knid", "did you mean 'kind'?"),
    ('iface.kind == "vet"', "'vet' is not one of its values", '"vet"', "did you mean 'veth'?"),
    ('iface.kind in ["veth", "brigde"]', "'brigde' is not one of its values", '"brigde"', "did you mean 'bridge'?"),
    ("ifcae.up", "nothing is called 'ifcae' here", "ifcae", "did you mean 'iface'?"),
    ("iface.up == true", "nothing is called 'true' here", "true", "write True"),
    ("rank.setting.NCCL_IB_TIMEOT.number == 1", "no variable", "NCCL_IB_TIMEOT", "did you mean 'NCCL_IB_TIMEOUT'?"),
    ("rank.settings.NCCL_IB_TIMEOT.number == 1", "no variable", "NCCL_IB_TIMEOT", "did you mean 'NCCL_IB_TIMEOUT'?"),
    ("rank.setting.NCCL_IB_TIMEOUT", "this is not a condition but Setting", "rank", "compare"),
    ("rank.setting == 1", "a variable has to be named", "setting", "setting.NCCL_IB_TIMEOUT"),
    ("rank.host.gpu.index == 1", "Host has no field 'gpu'", "gpu", "did you mean 'gpus'?"),
    ("iface.mtu.low < 3", "int has no fields", "low", ""),
    ("e.errn == 3", "Event has no field 'errn'", "errn", "did you mean 'errno'?"),
    ("e.errno == 'x'", "'x' is a str, but the other side is a int", "'x'", ""),
    ('e.event == "ib-completion-eror"', "not one of its values", '"ib-', "did you mean 'ib-completion-error'?"),
    ("iface.mtu == None", "nothing can be compared with None", "None", "unknown by itself"),
    ("iface.mtu is 3", "'is' is not part", "iface", "=="),
    ("iface.mtu + 1 == 3", "BinOp is not part", "iface", "a condition has"),
    ("rank.gdr[0].enabled", "a path starts with a name", "rank.gdr[0]", ""),
    ("len(rank.gdr) == 1", "'len' cannot be called", "len", "count"),
    ("iface.name.startswith('x')", "'iface.name.startswith' cannot be called", "iface", ""),
    ("any(iface.addresses)", "any takes one iteration", "any", "for x in path"),
    ("any(x.ip == 'a' for x in iface.addresses for y in rank.gdr)", "any takes one iteration", "any", ""),
    ("any(x.ip == 'a' for x in iface.name)", "this is a str, not a collection", "iface.name", ""),
    ("any(rank.up for rank in iface.addresses)", "'rank' is taken", "rank in", "another name"),
    ("iface.name", "this is not a condition but str", "iface", "compare"),
    ("3", "this is not a condition but a constant", "3", ""),
    ("iface.name < 'x'", "str has no order", "iface", "only numbers and versions"),
    ("iface == rank.bootstrap_interface", "this is a Interface and cannot be compared", "iface", ".name"),
    ("rank.host.gpus.index == 1", "this is a collection of int", "rank", "any("),
    ("rank.nccl_version < 2.21", "2.21 is a float", "2.21", ""),
    ('rank.nccl_version < "new"', "'new' is not a version", '"new"', "2.21"),
    ('rank.nccl_version in "2.4 to 2.5"', "is not a version condition", '"2.4', ""),
    ('iface.name in "eth"', "a str is never in a text", '"eth"', "write a list"),
    ('iface.name in "300.0.0.0/8"', "'300.0.0.0/8' does not appear", '"300', ""),
    ("1 < 2", "this compares two constants", "1", ""),
    ("iface.up < 1", "1 is a int", "1", ""),
    ("iface.up and iface.mtu", "this is not a condition but int", "iface.mtu", ""),
    ("iface.up ==", "this is not a condition", "", ""),
    ("lambda: 1", "Lambda is not part", "lambda", ""),
    ("[1, 2]", "a list is allowed only after 'in'", "[1", ""),
    ("any(r.state == rank.state for r in job.ranks)", "quadratic", "job.ranks", "job.differences"),
    ("not " * 80 + "iface.up", "nested too deeply", "not", ""),
    ("iface.up or " * 400 + "iface.up", "longer than", "", ""),
]


@pytest.mark.parametrize(("text", "reason", "under", "hint"), REFUSED, ids=[case[0][:40] for case in REFUSED])
def test_refused(text: str, reason: str, under: str, hint: str) -> None:
    with pytest.raises(DefinitionError) as caught:
        clauses.condition(text, EACH)
    error = caught.value
    assert reason in error.reason
    assert error.text[error.column :].startswith(under)
    assert hint in error.hint


def test_the_message_of_a_misspelt_field() -> None:
    with pytest.raises(DefinitionError) as caught:
        clauses.condition("iface.up and iface.knid == 1", EACH)
    assert str(caught.value) == (
        "Interface has no field 'knid'\n"
        "    iface.up and iface.knid == 1\n"
        "                       ^\n"
        "  help: did you mean 'kind'?"
    )


def test_the_caret_counts_characters_not_bytes() -> None:
    with pytest.raises(DefinitionError) as caught:
        clauses.condition('"µ" in iface.name and iface.knid', EACH)
    assert caught.value.text[caught.value.column :] == "knid"


def test_a_quantifier_that_reads_only_the_job_may_walk_what_each_walks() -> None:
    tree = clauses.condition("none(r.state == 'ready' for r in job.ranks)", EACH)
    assert isinstance(tree, Quantifier)
    assert tree.closed


def test_a_quantifier_inside_one_over_the_same_collection_is_refused() -> None:
    inside = "any(s.state == r.state for s in job.ranks)"
    with pytest.raises(DefinitionError, match="quadratic"):
        clauses.condition(f"any({inside} for r in job.ranks)", Scope(NAMES))


def test_the_same_collection_of_another_host_is_another_collection() -> None:
    ports = scope(port="job.hosts.hcas.ports")
    clauses.condition("any(p.link_layer != port.link_layer for p in port.host.hcas.ports)", ports)


def test_events_are_confined_by_their_name() -> None:
    tree = clauses.condition("any(x.event == 'ib-completion-error' and x.errno == 1 for x in job.events)", Scope(NAMES))
    assert isinstance(tree, Quantifier)
    assert tree.events == ("ib-completion-error",)
    free = clauses.condition("any(x.event == 'ib-completion-error' or x.errno == 1 for x in job.events)", Scope(NAMES))
    assert isinstance(free, Quantifier)
    assert free.events is None
    negated = clauses.condition("x.event != 'ib-completion-error'", scope(x="job.events"))
    assert event_names((negated,), "x", confined) is None


def test_events_are_confined_by_a_field_that_only_some_of_them_can_have() -> None:
    found = clauses.condition(
        "any(x.is_fatal_sxid or x.event == 'ib-completion-error' for x in job.events)", Scope(NAMES)
    )
    assert isinstance(found, Quantifier)
    assert found.events == ("nvswitch-sxid", "ib-completion-error")
    for text in ("x.is_fatal_sxid or x.rank == 1", "not x.is_fatal_sxid", "x.is_out_of_space"):
        free = clauses.condition(f"any({text} for x in job.events)", Scope(NAMES))
        assert isinstance(free, Quantifier)
        assert free.events is None


def test_each_binds_facts_hosts_and_keys() -> None:
    assert clauses.path("job.ranks.host", Scope(NAMES))[1] == Entity(model.Host)
    assert clauses.path("rank.bootstrap_interface", scope(rank="job.ranks"))[1] == Entity(model.Interface)
    path, _ = clauses.path("rank.transports", scope(rank="job.ranks"))
    assert path.many
    with pytest.raises(DefinitionError, match="is not a collection"):
        clauses.path("rank.net", scope(rank="job.ranks"))


def test_without_known_names_every_name_is_admitted() -> None:
    loose = Scope(Names())
    clauses.condition("job.setting.NCCL_FUTURE.number == 1", loose)
    clauses.condition("any(x.event == 'anything' and x.hole == 3 for x in job.events)", loose)


@given(st.text(max_size=60))
def test_any_text_is_read_or_refused(text: str) -> None:
    with contextlib.suppress(DefinitionError):
        clauses.condition(text, EACH)


PIECES = ["iface", "rank", ".", "up", "mtu", "==", "<", "in", "not", "and", "(", ")", "[", "]", "any", "for", "x", "if",
          "job.ranks", "1", "-", '"veth"', "None", "True", "lambda", ":", "*", "{", "await", "yield", ","]  # fmt: skip


@given(st.lists(st.sampled_from(PIECES), max_size=25))
def test_any_heap_of_words_is_read_or_refused(words: list[str]) -> None:
    with contextlib.suppress(DefinitionError):
        clauses.condition(" ".join(words), EACH)
