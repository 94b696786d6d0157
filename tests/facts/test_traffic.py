"""Ports that stand still between two readings of their counters, and what looks like one and is none."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from ncdiag.diagnose import view_of
from ncdiag.knowledge.perf.traffic import idle_ports
from ncdiag.text.reading.many import read_all
from ncdiag.text.sources.files import TextSource

FILE = "/sys/class/infiniband/{}/ports/1/counters/port_xmit_data"
GROWN = 34_000_000_000
LISTED = "n1:40:50 [0] NCCL INFO NET/IB : Using [0]mlx5_0:1/IB [1]mlx5_1:1/IB [RO]; OOB eth0:192.0.2.1<0>\n"


def idle(text: str) -> str:
    """What is said of the idle ports of the only host."""
    view = view_of(read_all([TextSource.of_bytes("log", text.encode())]).job())
    (host,) = view.job.hosts
    return idle_ports(host, view)


def paths(values: dict[str, int]) -> str:
    """The output of grep over the files of the counters."""
    return "".join(f"{FILE.format(name)}:{value}\n" for name, value in values.items())


def loop(values: dict[str, int], before: str = "") -> str:
    """A loop of the shell that prints name and value, and its output."""
    command = (
        "for d in /sys/class/infiniband/mlx5_*; do echo $(basename $d) $(cat $d/ports/1/counters/port_xmit_data); done"
    )
    return f"$ {before}{command}\n" + "".join(f"{name} {value}\n" for name, value in values.items())


def perfquery(values: dict[str, int]) -> str:
    """The table of perfquery for each card."""
    return "".join(
        f"$ perfquery -x -C {name}\n# Port extended counters: Lid {lid} port 1 (CapMask: 0x5300)\n"
        f"PortXmitData:....................{value}\nPortRcvData:.....................{value}\n"
        for lid, (name, value) in enumerate(values.items(), 17)
    )  # fmt: skip


def statistic(values: dict[str, int]) -> str:
    """The counters of the hardware."""
    rows = (f"link {name}/1 rx_write_requests {value} rx_read_requests 0\n" for name, value in values.items())
    return "$ rdma statistic show link\n" + "".join(rows)


def exporter(values: dict[str, int]) -> str:
    """The metrics of node_exporter."""
    name = 'node_infiniband_port_data_transmitted_bytes_total{{device="{}",port="1"}} {:e}\n'
    return "".join(name.format(card, value) for card, value in values.items())


def cards(*grown: int, name: str = "mlx5_") -> tuple[dict[str, int], dict[str, int]]:
    """Counters of so many cards before and after."""
    before = {f"{name}{number}": 1_000_000 + 7919 * number for number in range(len(grown))}
    return before, {card: before[card] + more for card, more in zip(before, grown, strict=True)}


ONE = cards(GROWN, GROWN, 0, GROWN)


@pytest.mark.parametrize("write", [paths, loop, perfquery, statistic, exporter])
def test_one_card_stands_still_in_the_output_of_each_tool(write: Callable[[dict[str, int]], str]) -> None:
    before, after = ONE
    assert idle(write(before) + write(after)) == "mlx5_2: still while the counters of 3 others grow"
    assert idle(write(after)) == ""


def test_loops_with_a_pause_are_two_readings() -> None:
    before, after = ONE
    assert idle(loop(before) + loop(after, "sleep 10; ")).startswith("mlx5_2: ")
    both = loop(before).removeprefix("$ ").split("\n", 1)
    once = f"$ {both[0]}; sleep 5; {both[0]}\n{both[1]}" + loop(after).split("\n", 1)[1]
    assert idle(once).startswith("mlx5_2: ")


def test_a_loop_with_cat_is_read_twice() -> None:
    before, after = ONE
    numbers = "for i in 0 1 2 3; do cat /sys/class/infiniband/mlx5_$i/ports/1/counters/port_xmit_data; done"
    values = "".join(f"{value}\n" for value in (*before.values(), *after.values()))
    assert idle(f"$ {numbers}; sleep 5; {numbers}\n{values}").startswith("mlx5_2: ")


def test_interfaces_count_what_rdma_sends() -> None:
    def write(values: dict[str, int]) -> str:
        return "".join(
            f"$ ethtool -S {name}np0\nNIC statistics:\n     tx_vport_rdma_unicast_bytes: {value}\n"
            for name, value in values.items()
        )

    before, after = cards(GROWN, GROWN, GROWN, 0, name="ens")
    assert idle(write(before) + write(after)).startswith("ens3np0: ")


@pytest.mark.parametrize(
    "grown",
    [(GROWN,) * 4, (0,) * 4, (GROWN, GROWN, GROWN, GROWN // 50), (GROWN, GROWN, 0, 0), (GROWN, 0), (900, 900, 900, 0)],
    ids=["all send", "a job that hangs", "one sends less", "half of them", "one of two", "an idle host"],
)
def test_no_card_stands_out(grown: tuple[int, ...]) -> None:
    before, after = cards(*grown)
    assert idle(paths(before) + paths(after)) == ""


def test_cards_of_another_driver_and_for_other_uses() -> None:
    before, after = ONE
    others = {"bnxt_re0": 500}
    sends = {card: value + GROWN for card, value in before.items()}
    assert idle(paths({**before, **others}) + paths({**sends, **others})) == ""
    assert idle("mlx5_2 is the card of the file system.\n\n" + paths(before) + paths(after)) == ""


def test_what_nccl_lists_decides_where_few_cards_are_shown() -> None:
    before, after = cards(GROWN, 0)
    assert idle(LISTED + paths(before) + paths(after)).endswith("although NCCL lists it")
    before, after = cards(GROWN, GROWN, 0)
    assert idle(LISTED + paths(before) + paths(after)) == ""
    before, after = cards(GROWN, GROWN, GROWN, 0)
    assert idle(LISTED + paths(before) + paths(after)).endswith("and NCCL does not list it")
