"""Real logs replayed: what their facts predict is what they show. And facts beside a made-up log, with a difference."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from shared_texts import THREADS, answer, corpus, threads

from ncdiag.diagnose import diagnose
from ncdiag.facts.model import GdrVerdict
from ncdiag.facts.scalars import OLDEST, VersionRange
from ncdiag.nccl.on_host import chosen
from ncdiag.nccl.on_host.compare import Comparison, compared, own_settings
from ncdiag.nccl.on_host.in_force import settings_of
from ncdiag.nccl.paths import CHANGES, path_number
from ncdiag.nccl.selection import gdr
from ncdiag.nccl.selection.names import NameList
from ncdiag.nccl.versions import BOOTSTRAP_LIST, samples
from ncdiag.text.sources.files import TextSource


def logs(shared: Path) -> list[Path]:
    return [path for path in corpus(shared) if path.parent.name == "nccl_log"]


def replayed(path: Path) -> tuple[Comparison, ...]:
    return compared(answer(path).view)


@THREADS
def test_the_logs_of_the_corpus_show_what_is_predicted(shared: Path) -> None:
    found = [(path.name, one) for path in logs(shared) for one in replayed(path)]
    assert [(name, one) for name, one in found if one.predicted != one.logged] == []
    counts = Counter(one.choice for _, one in found)
    assert counts["bootstrap interface"] >= 2, counts
    assert counts["network"] >= 1, counts


@THREADS
def test_what_is_not_certain_leaves_room_for_what_the_logs_show(shared: Path) -> None:
    looked_at = Counter[str]()
    for path in logs(shared):
        view = answer(path).view
        for rank in view.job.ranks:
            host, version = view.host(rank.host), view.version(rank)
            assert host is not None
            settings = settings_of(host, view)
            taken = chosen.of_host(host, view, settings, version)
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


@THREADS
def test_gpudirect_rdma_in_real_logs(shared: Path) -> None:
    """Of a printed distance and limit some release that can have printed them has that limit, and decides so."""
    looked_at = 0
    for path in (*logs(shared), *threads(shared)):
        view = answer(path).view
        for rank in view.job.ranks:
            host, version = view.host(rank.host), view.version(rank)
            told = [v for v in rank.gdr if v.distance is not None and v.limit is not None]
            if host is None or not told or rank.library == "RCCL":
                continue
            settings = {**settings_of(host, view), **own_settings(rank)}
            for verdict in told:
                looked_at += 1
                assert verdict.enabled in predicted_verdicts(verdict, settings, version), (path.name, verdict)
    assert looked_at >= 1


def predicted_verdicts(verdict: GdrVerdict, settings: dict[str, str], version: VersionRange | None) -> set[bool]:
    """What the releases that can have printed this say, those whose level has the printed number."""
    found = set()
    for exact in samples(version, (*CHANGES, *gdr.CHANGES)):
        limit, _ = gdr.level(settings, exact)
        if limit is not None and path_number(limit, exact) == verdict.limit:
            found.add((verdict.distance or 0) <= (verdict.limit or 0))
    return found


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
        ("eth7", "mlx5_0", {"bootstrap interface": ("bond0", "eth7")}),
        ("bond0", "mlx5_3", {"RDMA ports": ("mlx5_0:1", "mlx5_3:1")}),
    ],
)
def test_tools_and_log_side_by_side(
    interface: str, device: str, wrong: dict[str, tuple[str, str]], tmp_path: Path
) -> None:
    file = tmp_path / "paste.txt"
    file.write_text(TOOLS + "\n" + LOG.format(interface=interface, device=device))
    found = replayed(file)
    assert {one.choice for one in found} == {"bootstrap interface", "network", "RDMA ports"}
    assert {one.choice: (one.predicted, one.logged) for one in found if one.predicted != one.logged} == wrong


ROCE = """\
=== node1 ===
$ show_gids
DEV     PORT    INDEX   GID                                     IPv4            VER     DEV
---     ----    -----   ---                                     ------------    ---     ---
mlx5_0  1       0       fe80:0000:0000:0000:0200:5eff:fe00:0001                 v1      eth0
mlx5_0  1       1       fe80:0000:0000:0000:0200:5eff:fe00:0001                 v2      eth0
mlx5_0  1       2       0000:0000:0000:0000:0000:ffff:0a00:0005 10.0.0.5        v1      eth0
mlx5_0  1       3       0000:0000:0000:0000:0000:ffff:0a00:0005 10.0.0.5        v2      eth0
n_gids_found=4
"""
ROCE_LOG = """\
node1:871:871 [0] NCCL INFO NCCL version {version}+cuda12.1
{setting}node1:871:890 [0] NCCL INFO NET/IB : Using [0]mlx5_0:1/RoCE [RO]; OOB eth0:10.0.0.5<0>
node1:871:890 [0] NCCL INFO GPU Direct RDMA {verdict} for GPU 0 / HCA 0 (distance {distance} {sign} {limit}), read 0
node1:871:899 [0] NCCL INFO NET/IB: NCCL Dev 0 IbDev 0 Port 1 qpn 321 mtu 5 GID {gid} (0/AA0000500FFFF) fifoRkey=0x1
"""


@pytest.mark.parametrize(
    ("version", "variable", "gid", "limit", "wrong"),
    [
        ("2.18.3", "NCCL_IB_GID_INDEX set by environment to 3.", 3, 4, {}),
        ("2.18.3", "", 0, 4, {}),
        ("2.18.3", "", 3, 4, {"GID index": ("0", "3")}),
        ("2.21.5", "", 3, 4, {}),
        ("2.21.5", "", 1, 4, {"GID index": ("3", "1")}),
        ("2.5.7", "", 0, 2, {}),
        ("2.5.7", "", 0, 3, {"GPUDirect RDMA level": ("PXB", "PHB")}),
        ("2.27.7", "", 3, 5, {}),
        ("2.29.3", "", 3, 6, {}),
        ("2.18.3", "NCCL_NET_GDR_LEVEL set by environment to PHB", 0, 6, {}),
        ("2.18.3", "", 0, 6, {"GPUDirect RDMA level": ("PXB", "PHB")}),
    ],
)
def test_gid_and_gpudirect_rdma_beside_the_tables(
    version: str, variable: str, gid: int, limit: int, wrong: dict[str, tuple[str, str]], tmp_path: Path
) -> None:
    setting = f"node1:871:871 [0] NCCL INFO {variable}\n" if variable else ""
    sign = "<" if version == "2.5.7" else "<="
    log = ROCE_LOG.format(
        version=version, setting=setting, gid=gid, limit=limit, distance=1, verdict="Enabled", sign=sign
    )
    file = tmp_path / "paste.txt"
    file.write_text(f"{ROCE}\n{log}")
    found = {one.choice: (one.predicted, one.logged) for one in replayed(file)}
    assert {"GID index", "GPUDirect RDMA level"} <= set(found)
    assert {choice: pair for choice, pair in found.items() if pair[0] != pair[1]} == wrong


OLD = """\
node1:871:871 [0] NCCL INFO NCCL version 2.5.7+cuda10.2
node1:871:890 [0] NCCL INFO comm 0x7f2a90001060 rank 0 nranks 16 cudaDev 0 busId 1b000 - Init COMPLETE
node1:871:890 [0] NCCL INFO NET/IB : GPU Direct RDMA {verdict}
"""
"""Up to 2.5 NCCL printed ``distance < level``: the level is the first distance that is too far."""


@pytest.mark.parametrize(
    ("verdict", "distance", "limit", "level"),
    [
        ("Enabled for GPU 1b000 / HCA 0 (distance 1 < 2), read 0", "PXB", "PXB", None),
        ("Disabled for GPU 1b000 / HCA 0 (distance 2 >= 2)", "PHB", "PXB", "3"),
        ("Disabled for GPU 1b000 / HCA 0 (distance 4 >= 3)", "SYS", "PHB", "5"),
    ],
)
def test_the_level_that_releases_up_to_2_5_print(verdict: str, distance: str, limit: str, level: str | None) -> None:
    report = diagnose([TextSource.of_bytes("paste.txt", OLD.format(verdict=verdict).encode())])
    far = [found for found in report.findings if found.name == "gdr-nic-far-from-gpu"]
    values = [fix.env["NCCL_NET_GDR_LEVEL"] for found in far for fix in found.fixes if fix.env]
    assert values == ([level] if level else [])
    words = f"{distance} apart, farther than GPUDirect RDMA may reach ({limit})"
    assert all(words in found.title for found in far)


def test_a_library_of_another_vendor_is_not_judged_by_these_rules(tmp_path: Path) -> None:
    file = tmp_path / "paste.txt"
    log = LOG.format(interface="eth7", device="mlx5_3").replace(
        "NCCL version 2.18.3+cuda12.1", "RCCL version 2.18.3+hip5.7"
    )
    file.write_text(TOOLS + "\n" + log)
    assert replayed(file) == ()
