"""What links allow, which one is the limit, the shape of a curve, and how training scales."""

from __future__ import annotations

import msgspec
import pytest

from ncdiag.facts.model import (
    Benchmark,
    BenchmarkRow,
    Gpu,
    Hca,
    Host,
    Job,
    Launch,
    PciDevice,
    Port,
    Setting,
    Throughput,
    TopoLink,
)
from ncdiag.facts.view import View
from ncdiag.facts.vocabulary.benchmarks import test_name as name_of_test
from ncdiag.facts.vocabulary.trainings import loses_between_nodes, scalings
from ncdiag.knowledge.perf.benchmarks import dip_text, limit_text
from ncdiag.nccl.vocabulary.limits import fraction_of_limit, in_node_floor, least_fraction, limit_gbs

MIB = 1 << 20


def host(name: str, ports: int, rate: float, width: int | None = None, speed: float = 16.0) -> Host:
    hcas = tuple(
        Hca(
            host=name, name=f"mlx5_{n}", bus_id=f"0000:{n:02x}:00.0",
            ports=(Port(host=name, hca=f"mlx5_{n}", number=1, state="active", rate_gbps=rate),),
        )
        for n in range(ports)
    )  # fmt: skip
    pci = (
        tuple(PciDevice(host=name, bus_id=h.bus_id or "", width=width, speed_gts=speed) for h in hcas) if width else ()
    )
    return Host(name=name, hcas=hcas, pci=pci)


def run(program: str | None = "all_reduce_perf", busbw: float = 10.0, size: int = 1 << 30, **told: int) -> Benchmark:
    return Benchmark(program=program, rows=(BenchmarkRow(size=size, busbw=busbw),), **told)  # type: ignore[arg-type]


def of(benchmark: Benchmark, *hosts: Host) -> View:
    return View(Job(hosts=hosts, benchmarks=(benchmark,)))


def test_the_ports_of_the_weakest_host_are_the_limit() -> None:
    benchmark = run(nhosts=2)
    view = of(benchmark, host("a", 8, 400), host("b", 8, 200))
    assert limit_gbs(benchmark, view) == 200
    assert limit_text(benchmark, view) == "8 RDMA ports of 200 Gb/s a host"
    assert fraction_of_limit(benchmark, view) == pytest.approx(0.05)


def test_a_card_on_a_narrow_slot_is_the_limit() -> None:
    benchmark = run(nhosts=2)
    view = of(benchmark, host("a", 1, 200, width=8, speed=8.0))
    assert limit_gbs(benchmark, view) == pytest.approx(8 * 8 * 128 / 130 / 8)
    assert "mlx5_0 on PCIe x8 at 8 GT/s carries 7.88 GB/s" in limit_text(benchmark, view)
    wide = of(benchmark, host("a", 1, 200, width=16))
    assert limit_gbs(benchmark, wide) == 25


def test_of_an_all_to_all_only_a_part_crosses_the_network() -> None:
    benchmark = run("alltoall_perf", nhosts=2, nranks=16)
    assert limit_gbs(benchmark, of(benchmark, host("a", 8, 400))) == pytest.approx(400 / 8 * 15 / 8)


def test_between_two_hosts_one_rank_sends_to_the_next() -> None:
    benchmark = run("sendrecv_perf", nhosts=2, nranks=16)
    view = of(benchmark, host("a", 8, 400))
    assert limit_gbs(benchmark, view) == 50
    assert limit_text(benchmark, view) == "one RDMA port of 400 Gb/s"


@pytest.mark.parametrize(
    ("row", "launch", "name"),
    [
        (BenchmarkRow(size=1, redop="sum", algbw=10.0, busbw=18.75), "", "all_reduce_perf"),
        (BenchmarkRow(size=1, redop="sum", algbw=10.0, busbw=9.375), "", "The benchmark"),
        (BenchmarkRow(size=1, algbw=10.0, busbw=9.375), "", "The benchmark"),
        (BenchmarkRow(size=1, algbw=10.0, busbw=9.375), "mpirun -np 16 ./alltoall_perf -g 1", "alltoall_perf"),
        (BenchmarkRow(size=1, algbw=10.0, busbw=9.375), "x_perf; ./alltoall_perf; ./sendrecv_perf", "The benchmark"),
    ],
)
def test_a_test_without_a_name_is_known_by_its_rows_or_its_launch(row: BenchmarkRow, launch: str, name: str) -> None:
    benchmark = Benchmark(rows=(row,), nranks=16)
    view = View(Job(benchmarks=(benchmark,), launches=(Launch(program="mpirun", text=launch),) if launch else ()))
    assert name_of_test(benchmark, view) == name


@pytest.mark.parametrize(
    ("counts", "model", "floor"),
    [
        ((12, 12, 12), "NVIDIA A100-SXM4-80GB", 120), ((4, 4, 4), "NVIDIA GeForce RTX 3090", 24),
        ((2, 1, 2), "Tesla V100-SXM2-32GB", None), ((4, 0, 0), "NVIDIA A10", None),
    ],
)  # fmt: skip
def test_nvlinks_between_all_pairs_are_a_floor(counts: tuple[int, ...], model: str, floor: int | None) -> None:
    pairs = [("GPU0", "GPU1"), ("GPU0", "GPU2"), ("GPU1", "GPU2")]
    links = tuple(TopoLink(host="a", a=a, b=b, nvlink_count=n) for (a, b), n in zip(pairs, counts, strict=True))
    gpus = tuple(Gpu(host="a", index=n, model=model) for n in range(3))
    benchmark = run(nhosts=1, nranks=3)
    assert in_node_floor(benchmark, of(benchmark, Host(name="a", gpus=gpus, links=links))) == floor


@pytest.mark.parametrize(
    ("benchmark", "why"),
    [
        (run(nhosts=1), "one host"), (run("hypercube_perf", nhosts=2), "no ring"), (run(None, nhosts=2), "no head"),
    ],
)  # fmt: skip
def test_where_no_limit_is_known(benchmark: Benchmark, why: str) -> None:
    assert limit_gbs(benchmark, of(benchmark, host("a", 8, 400))) is None, why


def test_medium_sizes_are_held_to_less_and_small_ones_to_nothing() -> None:
    for size, share in ((1 << 30, 0.4), (256 * MIB, 0.4 / 0.6), (128 * MIB, None)):
        benchmark = run(busbw=10.0, size=size, nhosts=2)
        found = fraction_of_limit(benchmark, of(benchmark, host("a", 1, 200)))
        assert found == (None if share is None else pytest.approx(share))


def test_the_floor_inside_a_host_is_of_its_eight_gpus() -> None:
    def floor(model: str, nranks: int = 8, shown: int = 8) -> object:
        benchmark = run(nhosts=1, nranks=nranks)
        gpus = tuple(Gpu(host="a", index=n, model=model) for n in range(shown))
        return in_node_floor(benchmark, of(benchmark, Host(name="a", gpus=gpus)))

    assert floor("NVIDIA H100 80GB HBM3") == floor("NVIDIA H200") == 306
    assert floor("NVIDIA A100-SXM4-80GB") == 204
    assert floor("NVIDIA H200", 4, 4) == floor("NVIDIA H200", 3) == 270
    assert floor("NVIDIA GB200", 4, 4) == 540
    assert floor("NVIDIA H200", 6) == 306
    assert floor("NVIDIA H200", 3, 3) is None, "perhaps on a board of four, without a switch"
    assert floor("Tesla V100-SXM2-32GB") == 110
    assert floor("Tesla V100-SXM2-32GB", 4, 4) is floor("NVIDIA H200 NVL") is floor("NVIDIA H100 PCIe") is None


@pytest.mark.parametrize(
    ("curve", "dips"),
    [
        ((10, 20, 30, 40, 50), False), ((10, 20, 30, 14, 50), True), ((10, 20, 30, 40, 19), True),
        ((30, 10, 28, 40, 50), True), ((10, 20, 30, 21, 50), False), ((50, 40, 30, 26, 26), False),
    ],
)  # fmt: skip
def test_a_dip_is_less_than_half_of_both_sides(curve: tuple[int, ...], dips: bool) -> None:
    rows = tuple(BenchmarkRow(size=(4 * MIB) << n, busbw=float(value)) for n, value in enumerate(curve))
    benchmark = Benchmark(rows=rows)
    found = dip_text(benchmark, of(benchmark))
    assert (None if found is None else found != "") is dips


def test_where_training_loses_its_speed() -> None:
    runs = [(1, 1, 100.0), (8, 1, 780.0), (32, 4, 1560.0)]
    told = tuple(Throughput(unit="samples/s", gpus=g, nodes=n, per_second=rate) for g, n, rate in runs)
    other = Throughput(unit="samples/s", gpus=8, nodes=1, per_second=5.0, case="fp32")
    view = View(Job(throughputs=(told[2], other, told[0], told[1])))
    [scaling] = scalings(view.job, view)
    assert (scaling.gpus, scaling.nodes) == (32, 4)
    assert scaling.inside == pytest.approx(0.975)
    assert scaling.across == pytest.approx(0.5)


def test_where_the_nodes_are_not_told_the_loss_is_not_placed() -> None:
    told = tuple(Throughput(unit="img/sec", gpus=g, per_second=100.0) for g in (8, 16))
    view = View(Job(throughputs=told))
    [scaling] = scalings(view.job, view)
    assert (scaling.inside, scaling.across) == (None, None)
    assert loses_between_nodes(scaling, view) is None
    assert scaling.smallest == 8
    assert scaling.overall == pytest.approx(0.5)


def on_boards(model: str, benchmark: Benchmark, *hosts: Host, **job: object) -> View:
    """The hosts with the GPUs of that run."""
    local = (benchmark.nranks or 0) // len(hosts)
    gpus = [tuple(Gpu(host=each.name, index=n, model=model) for n in range(local)) for each in hosts]
    told = tuple(msgspec.structs.replace(each, gpus=own) for each, own in zip(hosts, gpus, strict=True))
    return View(Job(hosts=told, benchmarks=(benchmark,), **job))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("model", "program", "ports", "nhosts", "limit", "least"),
    [
        ("NVIDIA H100 80GB HBM3", "all_reduce_perf", (8, 400), 2, 478, 0.75),
        ("NVIDIA H100 80GB HBM3", "all_gather_perf", (8, 400), 2, 400, 0.8),  # which goes by rings
        ("NVIDIA H100 80GB HBM3", "all_reduce_perf", (8, 400), 4, 400, 0.8),
        ("NVIDIA H100 80GB HBM3", "all_reduce_perf", (1, 400), 2, 50, 0.8),  # the port stays the limit of trees as well
        ("NVIDIA A100-SXM4-80GB", "all_reduce_perf", (8, 200), 2, 234, 0.75),
        ("NVIDIA B200", "all_reduce_perf", (8, 400), 2, 400, 0.8),
        ("Tesla V100-SXM2-32GB", "all_reduce_perf", (4, 100), 2, 50, 0.8),
        ("NVIDIA L40S", "all_reduce_perf", (2, 200), 2, 50, 0.8),
    ],
)
def test_two_hosts_reach_by_trees_what_one_reaches_inside(
    model: str, program: str, ports: tuple[int, int], nhosts: int, limit: float, least: float
) -> None:
    benchmark = run(program, nhosts=nhosts, nranks=8 * nhosts)
    view = on_boards(model, benchmark, *(host(f"n{n}", *ports) for n in range(nhosts)))
    assert limit_gbs(benchmark, view) == pytest.approx(limit)
    assert least_fraction(benchmark, view) == pytest.approx(least)


@pytest.mark.parametrize("value", ["Ring", "^Tree,NVLSTree", "allreduce:ring"])
def test_rings_are_limited_by_the_ports(value: str) -> None:
    benchmark = run(nhosts=2, nranks=16)
    asked = Setting(name="NCCL_ALGO", text=value, is_set=True)
    view = on_boards("NVIDIA H100 80GB HBM3", benchmark, host("a", 8, 400), host("b", 8, 400), settings=(asked,))
    assert limit_gbs(benchmark, view) == 400


@pytest.mark.parametrize(
    ("ports", "local", "carried"),
    [
        ((8, 400), 8, 400), ((12, 400), 8, 400), ((8, 400), 2, 100), ((8, 400), 1, 50), ((16, 200), 4, 200),
        ((4, 100), 2, 12.5), ((8, 800), 8, 8 * 32 * 16 / 8 * 128 / 130),
    ],
)  # fmt: skip
def test_ranks_reach_the_ports_near_their_gpus(ports: tuple[int, int], local: int, carried: float) -> None:
    """Of a board of eight; more ports than GPUs are as many for each; a GPU sends no more than its PCIe carries."""
    benchmark = run("all_gather_perf", nhosts=2, nranks=2 * local)
    view = on_boards("NVIDIA H100 80GB HBM3", benchmark, host("a", *ports), host("b", *ports))
    assert limit_gbs(benchmark, view) == pytest.approx(carried)


def test_a_cloud_is_the_measure_of_its_own_machines() -> None:
    benchmark = run("all_gather_perf", nhosts=2, nranks=16)
    for cloud, layer, least in ((None, "Ethernet", 0.625), ("oci", "Ethernet", 0.8), (None, "InfiniBand", 0.8)):
        hosts = [host(name, 8, 400) for name in "ab"]
        for each in hosts:
            ports = [msgspec.structs.replace(hca.ports[0], link_layer=layer) for hca in each.hcas]
            hcas = tuple(
                msgspec.structs.replace(hca, ports=(port,)) for hca, port in zip(each.hcas, ports, strict=True)
            )
            hosts[hosts.index(each)] = msgspec.structs.replace(each, hcas=hcas, cloud=cloud)
        view = on_boards("NVIDIA H200", benchmark, *hosts)
        assert least_fraction(benchmark, view) == pytest.approx(least), (cloud, layer)
