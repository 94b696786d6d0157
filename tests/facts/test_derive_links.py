"""What links carry without NCCL, beside their ports, host memory and NCCL; partitions; the places of processes."""

from __future__ import annotations

from typing import Any

import pytest

from ncdiag.facts.model import (
    Address,
    Advertised,
    Benchmark,
    BenchmarkRow,
    CollectiveSum,
    Event,
    Gpu,
    Hca,
    Host,
    IdleState,
    Interface,
    Job,
    LinkTest,
    LinkTestRow,
    Port,
    ProcessCpus,
    Rank,
    Setting,
)  # fmt: skip
from ncdiag.facts.view import View
from ncdiag.facts.vocabulary.link_tests import fraction_of_host_memory, fraction_of_tested
from ncdiag.facts.vocabulary.link_tests import tested_gbs as gbs_of_tests
from ncdiag.fixes.values import Values
from ncdiag.knowledge.env.cost import debugging_cost, slowness_beside
from ncdiag.knowledge.ib.links import fraction_of_promised, promised_gbps
from ncdiag.knowledge.ib.partitions import partition_problem
from ncdiag.knowledge.kernel import deep_sleep, has_slow_small_messages, small_message_us
from ncdiag.knowledge.perf.benchmarks import common_bytes, is_many_and_small
from ncdiag.knowledge.socket.interfaces import ipoib_trouble
from ncdiag.knowledge.socket.speed import is_speed_assumed, real_mbps
from ncdiag.knowledge.topology import cpu_numbers, far_bindings

MIB = 1 << 20


def measured(gbps: float = 100.0, size: int = 8 * MIB, **told: Any) -> LinkTest:  # noqa: ANN401
    fields = {"program": "ib_write_bw", "host": "a", "hca": "mlx5_0", "memory": "host", **told}
    return LinkTest(rows=(LinkTestRow(size=size, average_gbps=gbps),), **fields)


def host(name: str = "a", rate: float = 400, ports: int = 1, **port: Any) -> Host:  # noqa: ANN401
    hcas = tuple(
        Hca(
            host=name, name=f"mlx5_{n}",
            ports=(Port(host=name, hca=f"mlx5_{n}", number=1, state="active", rate_gbps=rate, **port),),
        )
        for n in range(ports)
    )  # fmt: skip
    return Host(name=name, hcas=hcas)


def seen(test: LinkTest, *hosts: Host, others: tuple[LinkTest, ...] = ()) -> View:
    return View(Job(hosts=hosts, link_tests=(test, *others)))


@pytest.mark.parametrize(
    ("test", "share"),
    [
        (measured(320), 0.8), (measured(640, bidirectional=True), 0.8), (measured(640, dual_port=True), 0.8),
        (measured(300, size=64 << 10), 1.0), (measured(320, host=None), 0.8), (measured(320, port=1), 0.8),
        (measured(320, port=2), None), (measured(320, hca="mlx5_7"), None), (measured(320, size=4096), None),
    ],
)  # fmt: skip
def test_a_test_beside_the_rate_of_its_port(test: LinkTest, share: float | None) -> None:
    found = fraction_of_promised(test, seen(test, host()))
    assert found == (None if share is None else pytest.approx(share))


def test_of_a_test_whose_host_is_not_known_the_ports_have_to_be_equal() -> None:
    test = measured(host=None)
    assert promised_gbps(test, seen(test, host("a", 400), host("b", 400))) == 400
    assert promised_gbps(test, seen(test, host("a", 400), host("b", 200))) is None


@pytest.mark.parametrize(
    ("other", "share"),
    [
        (measured(400), 0.25), (measured(400, host=None), 0.25), (measured(400, host="b"), None),
        (measured(400, hca="x"), None), (measured(400, memory="gpu"), None),
        (measured(400, memory=None), None), (measured(400, size=MIB), None),
        (measured(400, bidirectional=True), None), (measured(400, program="ib_read_bw"), None),
    ],
)  # fmt: skip
def test_gpu_memory_beside_host_memory_in_an_equal_test(other: LinkTest, share: float | None) -> None:
    test = measured(100, memory="gpu")
    assert fraction_of_host_memory(test, seen(test, others=(other,))) == share


@pytest.mark.parametrize(
    ("links", "ports", "nranks", "gbs"),
    [
        ((measured(400),), 8, 16, 400.0), ((measured(400),), 8, 2, 50.0),
        ((measured(800, bidirectional=True),), 1, 16, 50.0),
        ((measured(400), measured(200)), 1, 2, 50.0),
        ((measured(400), LinkTest(program="iperf3", gbps=80.0)), 1, 2, 50.0),
        ((LinkTest(program="iperf3", gbps=80.0),), 8, 16, 10.0), ((), 8, 16, None),
    ],
)  # fmt: skip
def test_what_the_links_of_a_host_carry(
    links: tuple[LinkTest, ...], ports: int, nranks: int, gbs: float | None
) -> None:
    rows = (BenchmarkRow(size=1 << 30, busbw=25.0),)
    benchmark = Benchmark(program="all_reduce_perf", nhosts=2, nranks=nranks, rows=rows)
    view = View(Job(hosts=(host(ports=ports),), benchmarks=(benchmark,), link_tests=links))
    assert gbs_of_tests(benchmark, view) == gbs
    assert fraction_of_tested(benchmark, view) == (None if gbs is None else pytest.approx(25 / gbs))


def partitions(*tables: tuple[str, ...], layer: str = "InfiniBand", **variables: str) -> Job:
    hosts = tuple(host(name, pkeys=table, link_layer=layer) for name, table in zip("abcd", tables, strict=False))
    settings = tuple(
        Setting(name=name, text=text, is_set=True, number=int(text, 0)) for name, text in variables.items()
    )
    return Job(hosts=hosts, settings=settings)


@pytest.mark.parametrize(
    ("job", "problem", "index"),
    [
        (partitions(("0xffff",), ("0xffff",)), "", "0"),
        (partitions(("0xffff",), ("0x7fff",)), "", None),
        (partitions(("0x7fff", "0x8001"), ("0x7fff", "0x8001")), "a and b are both limited members", "1"),
        (partitions(("0x7fff", "0x8001"), ("0x7fff", "0x8001"), NCCL_IB_PKEY="1"), "", "1"),
        (partitions(("0x8005", "0xffff"), ("0x8007", "0xffff")), "a and b are in no common", "1"),
        (partitions(("0x8005",), ("0x8005",), ("0x8007",)), "a and c are in no common", None),
        (partitions(("0xffff",), NCCL_IB_PKEY="3"), "entry 3 of the partition table of mlx5_0 on a is empty", "0"),
        (partitions(("0x8005",), ("0x8007",), NCCL_IB_PKEY_VALUE="0x8005"), None, None),
        (partitions(("0x8005",)), None, "0"),
        (partitions(("0x7fff",), ("0x7fff",), layer="Ethernet"), "", None),
    ],
)
def test_who_can_talk_to_whom(job: Job, problem: str | None, index: str | None) -> None:
    view = View(job)
    found = partition_problem(job, view)
    assert (found or "").startswith(problem) if problem else found == problem
    assert Values(view).compute("pkey_index", {}).text == index


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("0-2,8", {0, 1, 2, 8}), ("7", {7}), ("3-1", set()), ("", set()), ("ff,ff", set()), ("0-7:2", set()),
        ("1-99999999999", set()),
    ],
)  # fmt: skip
def test_a_list_of_processors(text: str, numbers: set[int]) -> None:
    assert cpu_numbers(text) == numbers


def test_no_list_of_processors_is_longer_than_a_machine() -> None:
    assert len(cpu_numbers("0-99999")) < 10_000


def bound(cpus: str, near: str | None = "0-3", bus: str | None = "0000:1b:00.0") -> Job:
    gpu = Gpu(host="a", index=0, bus_id=bus, cpu_affinity=near)
    there = Host(name="a", gpus=(gpu,), process_cpus=(ProcessCpus(7, cpus),))
    return Job(hosts=(there,), ranks=(Rank(host="a", rank=0, pid=7, cuda_dev=0, bus_id="0000:1b:00.0"),))


@pytest.mark.parametrize(
    ("job", "far"),
    [
        (bound("4-7"), True), (bound("3-7"), False), (bound("4-7", bus=None), True), (bound("4-7", near=None), None),
        (bound("4-7", bus="0000:99:00.0"), None), (bound("4-7", near="0-3,x"), None),
    ],
)  # fmt: skip
def test_the_place_of_a_process(job: Job, far: bool | None) -> None:
    found = far_bindings(job.hosts[0], View(job))
    assert (None if found is None else found != "") is far


def test_many_far_processes_are_told_in_short() -> None:
    fields = {"process_cpus": "9", "gpu_cpus": "0-3"}
    events = tuple(
        Event(event="cpu-affinity-empty", origin="nccl", host="a", order=gpu, fields={"gpu": gpu, **fields})
        for gpu in range(8)
    )
    there = Host(name="a")
    told = far_bindings(there, View(Job(hosts=(there,), events=events)))
    assert told is not None
    assert told.startswith("GPU 0 (its process may use 9, near it are 0-3), GPU 1")
    assert told.endswith(" and 5 more")


@pytest.mark.parametrize(
    ("state", "deep"),
    [
        (IdleState("C6", 190, used=True), True), (IdleState("C6", 190), True), (IdleState("C1", 2, used=True), False),
        (IdleState("C6", 190, disabled=True, used=True), False), (IdleState("C6", 190, used=False), False),
        (IdleState("C6"), False),
    ],
)  # fmt: skip
def test_which_sleep_is_deep(state: IdleState, deep: bool) -> None:
    there = Host(name="a", idle_states=(state,))
    found = deep_sleep(there, View(Job(hosts=(there,))))
    assert (None if found is None else found != "") is deep


def test_latencies_are_those_of_the_host() -> None:
    def latency(us: float, **told: Any) -> LinkTest:  # noqa: ANN401
        return LinkTest(program="ib_send_lat", rows=(LinkTestRow(size=2, typical_us=us),), **told)

    a, b = Host(name="a"), Host(name="b")
    both = View(Job(hosts=(a, b), link_tests=(latency(3.0, host="a"), latency(30.0, host="b"), latency(90.0))))
    assert [small_message_us(h, both) for h in (a, b)] == [3.0, 30.0]
    assert [has_slow_small_messages(h, both) for h in (a, b)] == [False, True]
    assert has_slow_small_messages(a, View(Job(hosts=(a,), link_tests=(latency(90.0),)))) is True
    assert has_slow_small_messages(a, View(Job(hosts=(a,), link_tests=(measured(host="a"),)))) is None


def nic(name: str, **told: Any) -> Interface:  # noqa: ANN401
    return Interface(host="a", name=name, **told)


@pytest.mark.parametrize(
    ("interfaces", "real"),
    [
        ((nic("bond0", slaves=("x", "y")), nic("x", speed_mbps=25_000), nic("y", speed_mbps=25_000)), 50_000),
        ((nic("bond0", slaves=("x",)), nic("x")), None),
        ((nic("x.7", parent="x"), nic("x", speed_mbps=100_000)), 100_000),
        ((nic("eth0", addresses=(Address("10.0.0.1"),)),), 40_000),
        ((nic("eth0", addresses=(Address("10.0.0.9"),)),), None),
    ],
)
def test_what_an_interface_carries_in_truth(interfaces: tuple[Interface, ...], real: int | None) -> None:
    links = (LinkTest(program="iperf3", local_ip="10.0.0.1", gbps=40.0), LinkTest(program="iperf3", gbps=90.0))
    view = View(Job(hosts=(Host(name="a", interfaces=interfaces),), link_tests=links))
    assert real_mbps(interfaces[0], view) == real


def test_a_rate_that_may_well_be_ten_gigabits_is_none() -> None:
    interface = nic("eth0", addresses=(Address("10.0.0.1"),))
    links = (LinkTest(program="iperf3", local_ip="10.0.0.1", gbps=9.4),)
    assert real_mbps(interface, View(Job(hosts=(Host(name="a", interfaces=(interface,)),), link_tests=links))) is None


@pytest.mark.parametrize(
    ("event", "assumed"),
    [
        ({"interface": "eth0"}, True), ({"sysfs_path": "/sys/class/net/eth0/speed"}, True),
        ({"interface": "eth1"}, None),
    ],
)  # fmt: skip
def test_whose_speed_nccl_could_not_read(event: dict[str, Any], assumed: bool | None) -> None:
    interface = nic("eth0")
    told = Event(event="interface-speed-unknown", origin="nccl", host="a", fields=event)
    view = View(Job(hosts=(Host(name="a", interfaces=(interface,)),), events=(told,)))
    assert is_speed_assumed(interface, view) is assumed


@pytest.mark.parametrize(
    ("name", "text", "more", "cost"),
    [
        ("CUDA_LAUNCH_BLOCKING", "1", {}, "makes the program wait"), ("CUDA_LAUNCH_BLOCKING", "0", {}, ""),
        ("TORCH_DISTRIBUTED_DEBUG", "detail", {}, "checks every collective"),
        ("TORCH_DISTRIBUTED_DEBUG", "INFO", {}, ""),
        ("NCCL_DEBUG", "INFO", {"NCCL_DEBUG_SUBSYS": "INIT,COLL"}, "prints lines"), ("NCCL_DEBUG", "INFO", {}, ""),
        ("NCCL_DEBUG", "WARN", {"NCCL_DEBUG_SUBSYS": "ALL"}, ""), ("NCCL_ALGO", "Tree", {}, "overrides"),
        ("NCCL_IB_HCA", "mlx5", {}, ""),
    ],
)  # fmt: skip
def test_what_a_variable_costs(name: str, text: str, more: dict[str, str], cost: str) -> None:
    setting = Setting(name=name, text=text, is_set=True)
    others = tuple(Setting(name=other, text=value, is_set=True) for other, value in more.items())
    job = Job(settings=(setting, *others))
    told = debugging_cost(setting, View(job))
    assert told.startswith(cost)
    assert bool(told) is bool(cost)


def test_a_provider_that_pins_a_choice_knows_its_machines() -> None:
    setting = Setting(name="NCCL_ALGO", text="Tree", is_set=True)
    view = View(Job(hosts=(Host(name="a", cloud="gcp"),), settings=(setting,)))
    assert debugging_cost(setting, view) == ""


def test_a_benchmark_says_nothing_of_a_framework() -> None:
    rows = (BenchmarkRow(size=1 << 30, busbw=1.0),)
    benchmark = Benchmark(program="all_reduce_perf", nhosts=2, nranks=2, rows=rows)
    torch, cuda = (
        Setting(name=n, text="DETAIL", is_set=True) for n in ("TORCH_DISTRIBUTED_DEBUG", "CUDA_LAUNCH_BLOCKING")
    )
    view = View(Job(hosts=(host(),), benchmarks=(benchmark,), settings=(torch, cuda)))
    assert slowness_beside(torch, view) is None
    assert slowness_beside(cuda, view)


@pytest.mark.parametrize(
    ("sizes", "common"),
    [
        ({"65536": 100}, 131072), ({"4": 1000, "33554432": 4}, 67108864), ({"65536": 100, "33554432": 1}, 67108864),
        ({}, None), ({"0": 9}, None),
    ],
)  # fmt: skip
def test_the_size_that_carries_half(sizes: dict[str, int], common: int | None) -> None:
    calls = CollectiveSum(function="AllReduce", datatype="float32", calls=sum(sizes.values()), sizes=sizes)
    assert common_bytes(calls, View(Job(collectives=(calls,)))) == common


def test_many_are_many_on_each_rank() -> None:
    calls = CollectiveSum(function="AllReduce", datatype="float32", calls=100, sizes={"65536": 100})
    ranks = tuple(Rank(host="a", rank=n) for n in range(8))
    assert is_many_and_small(calls, View(Job(collectives=(calls,)))) is True
    assert is_many_and_small(calls, View(Job(collectives=(calls,), ranks=ranks))) is False


@pytest.mark.parametrize(
    ("item", "trouble"),
    [
        (
            Advertised(ip="10.0.0.1", interface="ib0", kind="ipoib", host="a", failed=True),
            "connections to 10.0.0.1 fail",
        ),
        (Advertised(ip="10.0.0.1", interface="ib0", kind="ipoib", host="a"), "b waits at eno1"),
        (Advertised(ip="10.0.0.1", interface="eno1", kind="physical", host="a", failed=True), ""),
        (Advertised(ip="10.0.0.1", interface="x", host="a", failed=True), None),
        (Advertised(ip="10.0.0.1", interface="ib0", kind="ipoib", host="a", role="data", failed=True), ""),
    ],
)
def test_trouble_over_ipoib(item: Advertised, trouble: str | None) -> None:
    other = Rank(host="b", rank=1, bootstrap_interface=Interface(host="b", name="eno1"))
    assert ipoib_trouble(item, View(Job(ranks=(other,)))) == trouble
