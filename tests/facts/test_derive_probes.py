"""Tries between many hosts come to one finding for each fault, with who is to blame."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Callable

import pytest
from linear import assert_linear

from ncdiag.facts.view import View
from ncdiag.knowledge.ib.links import fraction_of_promised, promised_gbps
from ncdiag.knowledge.ib.probe_rails import rail_faults
from ncdiag.knowledge.launcher.reach import launch_faults
from ncdiag.knowledge.socket.culprits import Culprit, culprits
from ncdiag.knowledge.socket.probes import probe_faults
from ncdiag.report.probing import plan, svg, text
from ncdiag.text.reading.job import job_of
from ncdiag.text.reading.one import read_source
from ncdiag.text.sources.files import TextSource

Fails = Callable[[str, str], bool]


def hosts(count: int) -> list[str]:
    return [f"n{number}" for number in range(1, count + 1)]


def blamed(count: int, fails: Fails) -> list[Culprit]:
    return culprits({(a, b): fails(a, b) for a in hosts(count) for b in hosts(count) if a != b})


FAULTS: list[tuple[str, int, Fails, list[str]]] = [
    ("all is well", 4, lambda _a, _b: False, []),
    ("one host", 8, lambda a, b: "n3" in {a, b}, ["to and from n3"]),
    ("its packet filter", 8, lambda _a, b: b == "n3", ["to n3"]),
    ("its route", 8, lambda a, _b: a == "n3", ["from n3"]),
    ("two hosts", 8, lambda a, b: bool({"n3", "n7"} & {a, b}), ["to and from n[3,7]"]),
    ("a host and another's filter", 8, lambda a, b: "n3" in {a, b} or b == "n5", ["to and from n3", "to n5"]),
    ("no network", 4, lambda _a, _b: True, ["between n[1-4]"]),
    ("two hosts alone", 2, lambda _a, _b: True, ["between n[1-2]"]),
    ("two racks", 8, lambda a, b: (int(a[1:]) > 5) != (int(b[1:]) > 5), ["between n[6-8] and n[1-5]"]),
    ("one pair", 8, lambda a, b: {a, b} == {"n1", "n2"}, ["between n1 and n2"]),
    ("one way of a pair", 8, lambda a, b: (a, b) == ("n2", "n1"), ["from n2 to n1"]),
]


@pytest.mark.parametrize(("count", "fails", "where"), [case[1:] for case in FAULTS], ids=[case[0] for case in FAULTS])
def test_who_is_to_blame(count: int, fails: Fails, where: list[str]) -> None:
    found = blamed(count, fails)
    assert [culprit.where for culprit in found] == where
    accounted = {pair for culprit in found for pair in culprit.pairs}
    assert accounted == {(a, b) for a in hosts(count) for b in hosts(count) if a != b and fails(a, b)}


def told(count: int, words: Callable[[str, str], str], step: int = 1) -> str:
    """The text of a probe in which each host asks every ``step``-th other."""
    lines = [f"probe of {count} hosts: {count} took part"]
    for place, host in enumerate(hosts(count), 1):
        lines.append(f"probe {host}: eth0 10.1.{place // 200}.{place % 200 + 1}/16 mtu 1500 index 2")
        for other in range(1 + place % step, count + 1, step):
            if other != place:
                address = f"10.1.{other // 200}.{other % 200 + 1}"
                lines.append(
                    f"probe {host} eth0 10.1.{place // 200}.{place % 200 + 1} -> n{other} eth0 {address} in "
                    f"10.1.0.0/16: {words(host, f'n{other}')}"
                )
    return "\n".join(lines) + "\n"


FINE = "connected 0.21 ms, clock +0.0001 s, 256 KiB both ways, 5 of 5 ports"


def view(paste: str) -> View:
    return View(job_of([read_source(TextSource.of_bytes("probe", paste.encode()))]))


def test_500_hosts_are_one_finding() -> None:
    seen = view(told(500, lambda a, b: "no answer in 2.5 s" if "n77" in {a, b} else FINE, step=40))
    (fault,) = probe_faults(seen.job, seen)
    assert (fault.what, fault.where, fault.hosts) == ("cut off", "to and from n77", "n77")
    (matrix,) = plan.matrices(seen.job)
    assert len(matrix.groups) < 5
    drawn = text.render([matrix], width=80)
    assert all(len(line) <= 80 for line in drawn.splitlines())
    assert any(line.endswith("  n77") for line in drawn.splitlines())


def test_the_work_is_linear_in_the_tries() -> None:
    def make(count: int) -> dict[tuple[str, str], bool]:
        return {(f"n{a}", f"n{(a + step) % count}"): (a * step) % 7 == 0 for a in range(count) for step in range(1, 9)}

    assert_linear(culprits, make, 200)


def test_a_matrix_shows_each_trouble_in_words() -> None:
    def words(_: str, other: str) -> str:
        kinds = {"n2": "no answer in 2.5 s", "n3": "connected 0.30 ms, n1 answered"}
        kinds["n4"] = FINE.replace("both ways", "did not arrive")
        kinds["n5"] = FINE.replace("5 of 5 ports", "4 of 5 ports, closed 40000")
        return kinds.get(other, FINE)

    (matrix,) = plan.matrices(view(told(6, words)).job)
    rows = text.render([matrix], width=80).splitlines()
    assert rows[2] == "  1 \\ x ? m p .  n1"
    picture = svg.render([matrix])
    for sentence in ("n1 to n2: does not connect (no answer)", "n1 to n4: large messages are lost"):
        assert sentence in picture
    assert len(list(ET.fromstring(picture).iter("{http://www.w3.org/2000/svg}rect"))) == 36 + 5  # noqa: S314


def test_a_host_that_asks_in_the_wrong_name_is_found_by_its_deviation() -> None:
    names = "".join(
        f"probe {host} resolves n1: {'10.9.0.1' if host == 'n5' else '10.1.0.2'}\n" for host in hosts(6) if host != "n1"
    )
    seen = view(told(6, lambda _a, _b: FINE) + names)
    (fault,) = probe_faults(seen.job, seen)
    assert (fault.what, fault.hosts) == ("name", "n5")
    assert "n1 is 10.9.0.1 there, 10.1.0.2 on other hosts" in fault.detail


def test_the_clock_that_is_apart_from_most_is_named() -> None:
    def words(one: str, other: str) -> str:
        ahead = (12.5 if other == "n4" else 0) - (12.5 if one == "n4" else 0)
        return FINE.replace("+0.0001", f"{ahead:+.4f}")

    seen = view(told(5, words))
    (fault,) = probe_faults(seen.job, seen)
    assert (fault.what, fault.hosts, fault.detail) == ("clock", "n4", "n4 12.5 s ahead")


def rails(rates: Callable[[str, str, str], float], *, slow_port: str = "") -> str:
    """The text of a probe in which three hosts measured two ports each, all but the one named of 400 Gbit/s."""
    lines = ["probe of 3 hosts: 3 took part"]
    for place, host in enumerate(hosts(3), 1):
        lines.append(f"probe {host}: ports 32768-60999")
        for rail in ("mlx5_0", "mlx5_1"):
            port = 100.0 if f"{host} {rail}" == slow_port else 400.0
            lines.append(f"probe {host}: {rail}:1 InfiniBand active {port} Gbit/s")
        runs = [(rail, other) for rail in ("mlx5_0", "mlx5_1") for other in range(1, 4) if other != place]
        lines += [
            f"probe {host} {rail}:1 -> n{other} {rail}:1 at 10.1.0.{other}: ib_write_bw ran" for rail, other in runs
        ]
        for rail, other in runs:
            rate = rates(host, f"n{other}", rail)
            lines += [
                f"[ncdiag@{host} ~]# ib_write_bw -d {rail} -i 1 -s 1048576 --report_gbits 10.1.0.{other}",
                "                    RDMA_Write BW Test",
                f" Dual-port       : OFF\t\tDevice         : {rail}",
                " #bytes     #iterations    BW peak[Gb/sec]    BW average[Gb/sec]   MsgRate[Mpps]",
                f" 1048576    5000             0.00               {rate:.2f}   \t\t     0.046",
            ]
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize(
    ("rates", "expected"),
    [
        (lambda _a, _b, _rail: 391.0, []),
        (lambda _a, b, rail: 150.0 if (b, rail) == ("n2", "mlx5_1") else 391.0, [("to n2", "mlx5_1:1")]),
        (lambda _a, _b, rail: 150.0 if rail == "mlx5_1" else 391.0, [("between n[1-3]", "mlx5_1:1")]),
        (lambda a, b, _rail: 150.0 if (a, b) == ("n1", "n3") else 391.0, [("from n1 to n3", "mlx5_0:1, mlx5_1:1")]),
    ],
)
def test_a_slow_rail_is_narrowed_down(
    rates: Callable[[str, str, str], float], expected: list[tuple[str, str]]
) -> None:  # fmt: skip
    seen = view(rails(rates))
    assert [(fault.where, fault.network) for fault in rail_faults(seen.job, seen)] == expected


def test_rates_of_two_programs_are_two_faults() -> None:
    """Gbit/s of ports and GB/s of nccl-tests are not told in one sentence."""
    pairs = [("n1", "n2", 46.2), ("n1", "n3", 12.3), ("n2", "n3", 12.3)]
    lines = [f"probe {one} -> {other} with all_reduce_perf: {rate:.2f} GB/s" for one, other, rate in pairs]
    seen = view(rails(lambda a, b, _rail: 150.0 if "n3" in {a, b} else 391.0) + "\n".join(lines) + "\n")
    assert [(fault.where, fault.network, fault.detail) for fault in rail_faults(seen.job, seen)] == [
        ("to and from n3", "mlx5_0:1, mlx5_1:1", "150 Gbit/s where others reach 391"),
        ("to and from n3", "all_reduce_perf", "12.3 GB/s where others reach 46.2"),
    ]


def test_a_port_of_a_lower_rate_is_compared_with_its_like() -> None:
    """What the slower of two ports carries is all that a run between them can reach."""
    paste = rails(lambda a, b, rail: 97.0 if "n2" in {a, b} and rail == "mlx5_0" else 391.0, slow_port="n2 mlx5_0")
    seen = view(paste)
    assert rail_faults(seen.job, seen) == ()
    assert {promised_gbps(test, seen) for test in seen.job.link_tests} == {100.0, 400.0}
    assert not [test for test in seen.job.link_tests if (fraction_of_promised(test, seen) or 0) < 0.9]


def test_the_rates_are_drawn() -> None:
    found = plan.matrices(view(rails(lambda a, _b, rail: 87.6 if (a, rail) == ("n1", "mlx5_0") else 391.0)).job)
    assert [matrix.network for matrix in found] == ["mlx5_0:1", "mlx5_1:1"]
    assert found[0].summary == "mlx5_0:1: 4 of 6 runs have the usual speed"
    rows = text.render(found, width=80).splitlines()
    assert rows[2] == "    1   \\  88  88  n1"
    assert rows[-1] == "Numbers are in Gbit/s; each is the lowest of its group."
    picture = svg.render(found)
    assert "n1 to n3: 87.6 Gbit/s" in picture
    assert "much slower than others" in picture


@pytest.mark.parametrize(("gpus", "fitting"), [(4, "n1:8,n2:4"), (0, "n1:8")])
def test_slots_that_fit_the_gpus(gpus: int, fitting: str) -> None:
    """A host without a GPU has no slot to be named with."""
    seen = view(
        "mpirun -np 16 -H n1:8,n2:8 python3 /data/train.py\n\nprobe of 2 hosts: 2 took part\n"
        f"probe n1 is user ada uid 1000, 8 GPUs\nprobe n2 is user ada uid 1000, {gpus} GPUs\n"
    )
    (fault,) = launch_faults(seen.job, seen)
    assert (fault.what, fault.hosts, fault.example) == ("slots", "n2", fitting)
