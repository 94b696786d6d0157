"""Values of hosts as tools print them that run a command on many: the odd one out, and nothing where none is."""

from __future__ import annotations

import pytest

from ncdiag.parsers import odd_hosts

LOOP = "$ for h in gpu01 gpu02 gpu03 gpu04; do {}; done\n"
SAME = "gpu01{0}{1}\ngpu02{0}{1}\ngpu03{0}{2}\ngpu04{0}{1}\n"
CHANGED, RATE = " | CHANGED | rc=0 >>\n", "/sys/class/infiniband/mlx5_0/ports/1/rate"


def odd(text: str) -> dict[str, tuple[object, ...]]:
    """(thing, value, usual, weight) by odd host."""
    found = odd_hosts("x", list(enumerate(text.split("\n"), 1)))
    told = [one.fields["fields"] for one in found]
    return {one["odd_host"]: (one["thing"], one["value"], one["usual"], one["weight"]) for one in told}


@pytest.mark.parametrize(
    ("text", "thing"),
    [
        (LOOP.format("ssh $h 'echo $(hostname) $(ulimit -l)'") + SAME.format(" ", "unlimited", "64"), "limit memlock"),
        (LOOP.format('echo "$h: $(ssh $h cat /sys/class/net/eth0/mtu)"') + SAME.format(": ", "9000", "1500"), "MTU"),
        ("$ pdsh -w gpu[01-04] ulimit -l\n" + SAME.format(": ", "unlimited", "64"), "limit memlock"),
        ("$ pdsh -w gpu[01-04] uname -r\n" + SAME.format(": ", "6.8.0-31-generic", "6.5.0-27-generic"), "kernel"),
        ("$ ansible gpus -m shell -a 'ulimit -l'\n" + SAME.format(CHANGED, "unlimited", "64"), "limit memlock"),
        ("$ ansible all -a 'ofed_info -s'\n" + SAME.format(CHANGED, "OFED-24.10:", "OFED-5.8:"), "OFED release"),
        (LOOP.format(f'ssh $h "hostname; cat {RATE}"') + SAME.format("\n", "400 Gb/sec", "100 Gb/sec"), "RDMA port"),
        ("$ for h in a b; do\n  ssh $h nvidia-smi -L | wc -l\ndone\n" + SAME.format(" ", "8", "7"), "number of GPUs"),
        ("$ salt 'gpu*' cmd.run 'cat /proc/sys/vm/swappiness'\n" + SAME.format(":\n    ", "0", "1"), "the output"),
    ],
)  # fmt: skip
def test_the_host_that_differs_is_found(text: str, thing: str) -> None:
    found = odd(text)
    assert list(found) == ["gpu03"]
    assert found["gpu03"][0] == thing


def test_hosts_that_clush_folds_are_counted_one_by_one() -> None:
    rule = "-" * 15
    shown = f"{rule}\ngpu[01-02,04] (3)\n{rule}\nunlimited\n{rule}\ngpu03\n{rule}\n64\n"
    text = f"$ clush -b -w gpu[01-04] 'ulimit -l'\n{shown}"
    assert odd(text) == {"gpu03": ("limit memlock", "64 KiB", "unlimited", "high")}


@pytest.mark.parametrize(
    "text",
    [
        "$ pdsh -w gpu[01-04] ulimit -l\n" + SAME.format(": ", "unlimited", "unlimited"),
        LOOP.format("ssh $h hostname -I") + SAME.format(" ", "10.0.0.1", "10.0.0.3"),
        "$ pdsh -w gpu[01-04] uptime\n" + SAME.format(": ", "up 3 days", "up 4 days"),
        "$ pdsh -w gpu[01-02] ulimit -l\ngpu01: unlimited\ngpu02: 64\n",
        "$ pdsh -w gpu[01-04] ulimit -l\ngpu01: 64\ngpu02: 64\ngpu03: unlimited\ngpu04: unlimited\n",
        "$ for f in a1 a2 a3 a4; do wc -l $f; done\n" + SAME.format(" ", "10", "12"),
        "We use pdsh to look at all hosts.\n\n" + SAME.format(" ", "unlimited", "64"),
        SAME.format(": ", "unlimited", "64"),
    ],
)
def test_hosts_that_are_alike_or_differ_by_nature_are_not(text: str) -> None:
    assert odd(text) == {}
