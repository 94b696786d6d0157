"""Real logs replayed: what their facts predict is what they show. And facts beside a made-up log, with a difference."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from ncdiag.facts.scalars import OLDEST
from ncdiag.facts.view import View
from ncdiag.fixes import chosen
from ncdiag.nccl import environment
from ncdiag.nccl.derive.filters import settings_of
from ncdiag.nccl.selection.names import NameList
from ncdiag.nccl.versions import BOOTSTRAP_LIST
from ncdiag.predicting import Comparison, compared
from ncdiag.read import job_of, read_source
from ncdiag.sources.files import TextSource, open_sources

LARGEST = 4_000_000
"""Bytes; longer logs repeat the same lines for more ranks."""


def view_of(path: Path) -> View:
    readings = [read_source(source) for source in open_sources([str(path)]) if isinstance(source, TextSource)]
    return View(job_of(readings), environment.resolve_fields)


def replayed(path: Path) -> tuple[Comparison, ...]:
    return compared(view_of(path))


def test_the_logs_of_the_corpus_show_what_is_predicted(shared: Path) -> None:
    logs = [path for path in sorted((shared / "corpus" / "nccl_log").glob("*.log")) if path.stat().st_size < LARGEST]
    assert logs
    found = [(path.name, one) for path in logs for one in replayed(path)]
    assert [(name, one) for name, one in found if one.predicted != one.logged] == []
    counts = Counter(one.choice for _, one in found)
    assert counts["bootstrap_interface"] >= 2, counts
    assert counts["net"] >= 1, counts


def test_what_is_not_certain_leaves_room_for_what_the_logs_show(shared: Path) -> None:
    looked_at = Counter[str]()
    for path in sorted((shared / "corpus" / "nccl_log").glob("*.log")):
        if path.stat().st_size >= LARGEST:
            continue
        view = view_of(path)
        for rank in view.job.ranks:
            host, version = view.host(rank.host), view.version(rank)
            assert host is not None
            settings = settings_of(host, view)
            taken = chosen.of_host(view, host, settings, version)
            boot = taken.sockets.bootstrap
            if rank.bootstrap_interface is not None and (version is None or version.high >= BOOTSTRAP_LIST):
                looked_at["interface"] += 1
                assert rank.bootstrap_interface.name in {*boot.names, *boot.possible}, (path.name, boot)
            if rank.net in {"IB", "Socket"}:
                looked_at["net"] += 1
                assert rank.net in {taken.net.name, *taken.net.possible}, (path.name, taken.net)
            names = NameList.parse(settings.get("NCCL_IB_HCA", ""), version.low if version else OLDEST)
            for device in rank.net_devices or ():
                looked_at["device"] += 1
                assert names.admits(device.name, device.port), (path.name, device)
    assert min(looked_at["interface"], looked_at["net"], looked_at["device"]) >= 5, looked_at


LOG = """\
node1:871:871 [0] NCCL INFO Bootstrap : Using {interface}:10.0.0.5<0>
node1:871:871 [0] NCCL INFO NCCL version 2.18.3+cuda12.1
node1:871:890 [0] NCCL INFO NET/IB : Using [0]{device}:1/IB [RO]; OOB bond0:10.0.0.5<0>
node1:871:890 [0] NCCL INFO Using network IB
"""
TOOLS = """\
=== node1 ===
$ ip addr
1: lo: <LOOPBACK,UP,LOWER_UP> mtu 65536 qdisc noqueue state UNKNOWN group default qlen 1000
    link/loopback 00:00:00:00:00:00 brd 00:00:00:00:00:00
    inet 127.0.0.1/8 scope host lo
       valid_lft forever preferred_lft forever
2: bond0: <BROADCAST,MULTICAST,MASTER,UP,LOWER_UP> mtu 1500 qdisc mq state UP group default qlen 1000
    link/ether 02:00:5e:10:00:01 brd ff:ff:ff:ff:ff:ff
    inet 10.0.0.5/24 brd 10.0.0.255 scope global bond0
       valid_lft forever preferred_lft forever
3: eth7: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1500 qdisc mq state UP group default qlen 1000
    link/ether 02:00:5e:10:00:02 brd ff:ff:ff:ff:ff:ff
    inet 10.7.0.5/24 brd 10.7.0.255 scope global eth7
       valid_lft forever preferred_lft forever
$ ibstat
CA 'mlx5_0'
	CA type: MT4129
	Number of ports: 1
	Firmware version: 28.39.1002
	Hardware version: 0
	Node GUID: 0x02005e0000000001
	System image GUID: 0x02005e0000000001
	Port 1:
		State: Active
		Physical state: LinkUp
		Rate: 400
		Base lid: 12
		LMC: 0
		SM lid: 1
		Capability mask: 0xa751e848
		Port GUID: 0x02005e0000000001
		Link layer: InfiniBand
"""


@pytest.mark.parametrize(
    ("interface", "device", "wrong"),
    [
        ("bond0", "mlx5_0", {}),
        ("eth7", "mlx5_0", {"bootstrap_interface": ("bond0", "eth7")}),
        ("bond0", "mlx5_3", {"ib_devices": ("mlx5_0:1", "mlx5_3:1")}),
    ],
)
def test_tools_and_log_side_by_side(
    interface: str, device: str, wrong: dict[str, tuple[str, str]], tmp_path: Path
) -> None:
    file = tmp_path / "paste.txt"
    file.write_text(TOOLS + "\n" + LOG.format(interface=interface, device=device))
    found = replayed(file)
    assert {one.choice for one in found} == {"bootstrap_interface", "net", "ib_devices"}
    assert {one.choice: (one.predicted, one.logged) for one in found if one.predicted != one.logged} == wrong
