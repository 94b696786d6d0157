"""Hosts beside each other: equal ones give nothing, odd ones are named, and what was not seen is no difference."""

from __future__ import annotations

import json
from collections.abc import Iterable

import msgspec
import pytest
from generate.fleet import ODDITIES, Node, Oddity, fleet
from linear import assert_linear

from ncdiag import catalogue
from ncdiag.apps.redact import report_cleaned
from ncdiag.checks.compared import book
from ncdiag.comparing import runs
from ncdiag.comparing.groups import Compared, compare
from ncdiag.comparing.readers import READERS
from ncdiag.comparing.values import of_hosts
from ncdiag.diagnose import DEFAULTS, diagnose, view_of
from ncdiag.facts.model import Host, Job, Limit
from ncdiag.facts.observe import Observation
from ncdiag.facts.view import View
from ncdiag.report import renderer
from ncdiag.report.differences import Comparison
from ncdiag.text.reading.job import job_of
from ncdiag.text.reading.model import Reading

TABLE = msgspec.structs.replace(DEFAULTS, table=True)


def of(observations: Iterable[Observation]) -> Compared:
    view = view_of(job_of([], observations))
    return compare(of_hosts(view), view.hosts)


def compared(nodes: Iterable[Node], *more: Observation) -> Compared:
    return of([*(seen for node in nodes for seen in node.observations()), *more])


def only(found: Compared) -> Comparison:
    [one] = found.different
    return one


def test_every_entry_of_the_table_names_what_exists() -> None:
    rules = {rule.name for rule in catalogue.rules()}
    view = View(Job(hosts=(Host(name="n1"),)))
    assert of_hosts(view) == {}  # every field and reader is asked for
    for item in book().item:
        assert set(item.rules) <= rules, item.what
        assert item.read in (runs.READERS if item.run else READERS) or not item.read, item.what
        assert bool(item.absent) == bool(item.seen_with), item.what
    used = {item.read for item in book().item}
    assert used >= runs.READERS.keys() | READERS.keys()


def test_equal_hosts_give_an_empty_comparison() -> None:
    found = compared(fleet(4))
    assert found.different == ()
    assert found.alike > 100


@pytest.mark.parametrize("oddity", ODDITIES)
def test_the_odd_one_of_five_is_named(oddity: Oddity) -> None:
    nodes = [Node(number, oddity if number == 3 else None) for number in range(1, 6)]
    for one in compared(nodes).different:
        [odd] = one.odd
        assert next(iter(one.groups)) == odd
        assert (one.groups[odd].hosts, one.groups[odd].nhosts) == ("gpu0003", 1)
        [usual] = one.groups.keys() - {odd}
        assert (one.groups[usual].hosts, one.groups[usual].nhosts) == ("gpu[0001-0002,0004-0005]", 4)


WHAT = {
    "driver": {"GPU driver"}, "memlock": {"limit memlock"}, "mtu": {"interface MTU rail3"},
    "module": {"kernel module nvidia_peermem"}, "lanes": {"PCIe lanes of the GPUs"}, "nvlink": {"NVLinks of the GPUs"},
    "firmware": {"firmware of the RDMA device mlx5_[0-7]"},
    "port": {"port state mlx5_6", "physical state of the port mlx5_6"},
    "setting": {"NCCL variable NCCL_IB_GID_INDEX"}, "governor": {"frequency governor"},
}  # fmt: skip


@pytest.mark.parametrize("oddity", ODDITIES)
def test_an_oddity_is_one_comparison(oddity: Oddity) -> None:
    nodes = [*fleet(4), Node(9, oddity)]
    assert {f"{one.what} {one.name}".strip() for one in compared(nodes).different} == WHAT[oddity]


def test_of_two_equal_groups_none_is_odd() -> None:
    one = only(compared([Node(1), Node(2), Node(3, "mtu"), Node(4, "mtu")]))
    assert one.odd == ()
    assert {value: share.hosts for value, share in one.groups.items()} == {
        "1500": "gpu[0003-0004]", "9000": "gpu[0001-0002]",
    }  # fmt: skip


def host(name: str, **fields: object) -> Observation:
    from ncdiag.base.spans import span

    return Observation(entity="Host", host=name, span=span(name, 0, name), fields=fields)


def test_a_host_on_which_nothing_was_seen_is_not_different() -> None:
    found = compared(fleet(3), host("dark", looked_at=True))
    assert found.different == ()
    found = compared([*fleet(3), Node(9, "mtu")], host("dark", looked_at=True))
    assert only(found).not_seen.hosts == "dark"


def test_a_module_is_missing_only_where_all_modules_were_seen() -> None:
    told = host("partly", looked_at=True)
    seen = Observation(entity="KernelModule", key=("mlx5_core",), host="partly", span=told.span)
    assert compared(fleet(3), told, seen).different == ()
    whole = host("whole", complete=["lsmod"])
    loaded = msgspec.structs.replace(seen, host="whole")
    names = {name for one in compared(fleet(3), whole, loaded).different for name in one.name.split(", ")}
    assert "nvidia_peermem" in names
    assert "mlx5_core" not in names


def test_what_differs_by_nature_is_left_out() -> None:
    kept = json.dumps(msgspec.to_builtins(compared([Node(1), Node(700, "driver")]).different))
    assert "10.6" not in kept  # addresses
    assert "UUID" not in kept
    assert "a088" not in kept  # GUIDs


def test_hosts_without_a_name_in_common_are_compared_by_device() -> None:
    """Another card has another MTU and another rate, and both may be right."""
    first = [
        Observation(
            entity="Interface", key=(name,), host=host, span=node.span,
            fields={"kind": "physical", "mtu": mtu, "up": True},
        )
        for host in ("a", "b") for name, mtu in (("eno1", 1500), ("rail0", 9000)) for node in (globals()["host"](host),)
    ]  # fmt: skip
    assert of(first).different == ()


HOSTILE = "x" * 5000 + "\x1b[31m\n| `rm` <script> {evil} %s \u202e"


def test_hostile_values_are_shown_harmlessly() -> None:
    report = diagnose([*fleet(3), _Evil(Node(9))], TABLE)
    one = next(one for one in report.comparison if one.what == "kernel")
    assert one.odd == (HOSTILE,)
    for form in ("text", "markdown", "json"):
        shown = renderer(form)(report, width=100)
        assert "\x1b" not in shown
        assert "\u202e" not in shown
        assert form == "json" or "x" * 500 not in shown
    assert "gpu0009" not in json.dumps(msgspec.to_builtins(report_cleaned(report).comparison))


class _Evil:
    """A host that says of its kernel what nobody expects."""

    def __init__(self, node: Node) -> None:
        self.name, self.node = node.name, node

    def readings(self, *, alone: bool) -> list[Reading]:
        return self.node.readings(alone=alone)

    def not_seen(self) -> list[str]:
        return []

    def observations(self) -> list[Observation]:
        seen = self.node.observations()
        fields = {**seen[0].fields, "kernel_release": HOSTILE}
        return [msgspec.structs.replace(seen[0], fields=fields), *seen[1:]]


def test_hundreds_of_values_are_a_line() -> None:
    seen = [host(f"n{number}", kernel_release=f"6.8.{number}") for number in range(300)]
    one = only(of(seen))
    assert one.odd == ()
    assert len(one.groups) == 300
    from ncdiag.report.compared import line

    assert len(line(one)) < 400
    assert "and 296 more values" in line(one) or "; 296 more values" in line(one)


def test_a_variable_that_ranks_must_share_weighs_more_than_one_that_is_free() -> None:
    def setting(number: int, name: str, text: str) -> Observation:
        return Observation(
            entity="Setting", key=(name,), host=f"n{number}", span=host("n").span,
            fields={"text": text, "is_set": True, "origin": "live"},
        )  # fmt: skip

    found = of(setting(n, name, str(n)) for n in (1, 2) for name in ("NCCL_PROTO", "NCCL_IB_TIMEOUT"))
    assert [(one.name, one.weight) for one in found.different] == [("NCCL_PROTO", "high"), ("NCCL_IB_TIMEOUT", "low")]


def test_the_work_grows_with_the_hosts() -> None:
    assert_linear(compare_jobs, lambda size: job_of([], [o for n in fleet(size) for o in n.observations()]), 8)


def compare_jobs(job: Job) -> Compared:
    view = view_of(job)
    return compare(of_hosts(view), view.hosts)


def test_many_hosts_are_one_screen() -> None:
    report = diagnose(fleet(40, *ODDITIES), TABLE)
    assert {one.odd[0] for one in report.comparison if one.what == "GPU driver"} == {"535.104.05"}
    shown = renderer("text")(report, width=80, detail="screen")
    assert shown.count("\n") <= 23
    assert "40 hosts compared" in shown
    assert max(look.nhosts for look in report.looks) == 40
    assert len([look for look in report.looks if look.what == "locked memory"]) == 2


def test_an_interface_that_lost_its_address_is_told() -> None:
    seen = [observation for node in fleet(4) for observation in node.observations()]
    bare = next(o for o in seen if o.host == "gpu0002" and o.entity == "Interface" and o.key == ("rail4",))
    seen[seen.index(bare)] = msgspec.structs.replace(bare, fields={**bare.fields, "addresses": []})
    told = {(one.what, one.name): one for one in of(seen).different}
    one = told["addresses of the interface", "rail4"]
    assert one.odd == ("none",)
    assert one.groups["none"].hosts == "gpu0002"


def test_a_host_without_device_files_is_told() -> None:
    first, *rest = Node(3).observations()
    blind = msgspec.structs.replace(first, fields={**first.fields, "infiniband_devices": []})
    one = only(compared([Node(1), Node(2)], blind, *rest))
    assert (one.what, one.odd) == ("device files of the RDMA devices", ("missing",))


def test_a_host_is_in_one_group_of_a_thing() -> None:
    """Two limits of one name are one value of their host, which would else be on both sides."""
    small, large = (Limit(host="n1", name="memlock", soft=soft) for soft in (65536, 131072))
    hosts = Host(name="n1", limits=(small, large)), Host(name="n2", limits=(large,))
    found = {subject.name: groups for subject, groups in of_hosts(View(Job(hosts=hosts))).items()}
    assert found["memlock"] == {"131072, 65536": ["n1"], "131072": ["n2"]}
