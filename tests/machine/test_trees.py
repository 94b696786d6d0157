"""Machines that others packed: reports of sos, recorded roots, and all of them through every command that reads."""

from __future__ import annotations

import io
import json
import subprocess
import tarfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Literal

import pytest

from ncdiag.machine import bundle, outputs
from ncdiag.machine import host as machine
from ncdiag.text.reading.job import job_of
from ncdiag.text.sources import machines

Run = Callable[..., subprocess.CompletedProcess[bytes]]

TOP = "sosreport-spruce12-2026-01-05-abcdefg"
IP_ADDRESS = """\
1: lo: <LOOPBACK,UP,LOWER_UP> mtu 65536 qdisc noqueue state UNKNOWN group default qlen 1000
    link/loopback 00:00:00:00:00:00 brd 00:00:00:00:00:00 promiscuity 0
    inet 127.0.0.1/8 scope host lo
2: veth5a3f@if7: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1500 qdisc noqueue state UP group default qlen 1000
    link/ether 02:42:ac:11:00:02 brd ff:ff:ff:ff:ff:ff link-netnsid 0 promiscuity 0
    veth numtxqueues 1 numrxqueues 1 gso_max_size 65536 gso_max_segs 65535
    inet 172.17.0.2/16 brd 172.17.255.255 scope global veth5a3f
"""
IBSTAT = """\
CA 'mlx5_0'
\tCA type: MT4129
\tNumber of ports: 1
\tFirmware version: 28.39.1002
\tHardware version: 0
\tNode GUID: 0x506b4b0300a1b2c3
\tSystem image GUID: 0x506b4b0300a1b2c3
\tPort 1:
\t\tState: Initializing
\t\tPhysical state: LinkUp
\t\tRate: 400
\t\tBase lid: 65535
\t\tLMC: 0
\t\tSM lid: 0
\t\tCapability mask: 0xa651e848
\t\tPort GUID: 0x506b4b0300a1b2c3
\t\tLink layer: InfiniBand
"""
DMESG = "[   12.345678] NVRM: Xid (PCI:0000:3b:00): 79, pid='<unknown>', name=<unknown>, GPU has fallen off the bus.\n"
SOS = {
    "version.txt": "sosreport: 4.7.0\n",
    "etc/hostname": "spruce12.cluster.example\n",
    "proc/modules": "mlx5_ib 450560 0 - Live 0x0000000000000000\nnvidia 56717312 90 - Live 0x0000000000000000 (PO)\n",
    "proc/cmdline": "BOOT_IMAGE=/vmlinuz root=/dev/sda2 iommu=pt password=s3cr3tValue9\n",
    "proc/net/route": "Iface\tDestination\tGateway\tFlags\tRefCnt\tUse\tMetric\tMask\tMTU\tWindow\tIRTT\n",
    "sys/class/net/veth5a3f/flags": "0x1003\n",
    "sos_commands/networking/ip_-d_address": IP_ADDRESS,
    "sos_commands/networking/ip_netns_exec_x_ip_-d_address_show": IP_ADDRESS.replace("veth5a3f", "other0"),
    "sos_commands/infiniband/ibstat": IBSTAT,
    "sos_commands/kernel/dmesg": DMESG,
    "sos_commands/kernel/dmesg_-T": DMESG.replace("[   12.345678]", "[Mon Jan  5 10:00:00 2026]"),
    "sos_commands/kernel/lsmod": "Module                  Size  Used by\nmlx5_ib               450560  0\n",
    "var/log/messages": "nothing that is looked at\n",
}


COMPRESSIONS: dict[str, Literal["w:gz", "w:xz"]] = {".gz": "w:gz", ".xz": "w:xz"}


def packed(members: Mapping[str, str | bytes], target: Path, links: Mapping[str, str] | None = None) -> Path:
    """A tar archive, compressed as its name says."""
    with tarfile.open(target, COMPRESSIONS[target.suffix]) as archive:
        for name, content in members.items():
            data = content if isinstance(content, bytes) else content.encode()
            entry = tarfile.TarInfo(name)
            entry.size = len(data)
            archive.addfile(entry, io.BytesIO(data))
        for name, place in (links or {}).items():
            entry = tarfile.TarInfo(name)
            entry.type, entry.linkname = tarfile.SYMTYPE, place
            archive.addfile(entry)
    return target


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("sos")
    links = {f"{TOP}/lsmod": "sos_commands/kernel/lsmod"}
    return packed({f"{TOP}/{name}": text for name, text in SOS.items()}, folder / "report.tar.xz", links)


def facts(path: Path | str) -> Any:  # noqa: ANN401
    seen = machine.unpack(path)
    return job_of(seen.readings(), seen.observations())


def test_a_report_of_sos(report: Path) -> None:
    seen = machine.unpack(report)
    (host,) = facts(report).hosts
    assert host.name == "spruce12"
    assert [(i.name, i.kind) for i in host.interfaces] == [("lo", "loopback"), ("veth5a3f", "veth")]
    assert [(h.name, h.ports[0].state) for h in host.hcas] == [("mlx5_0", "init")]
    assert {module.name for module in host.modules} == {"mlx5_ib", "nvidia"}, "files first: lsmod was not read"
    assert host.kernel_command_line == "BOOT_IMAGE=/vmlinuz root=/dev/sda2 iommu=pt password=***"
    assert sum(section.kind == "dmesg" for section in seen.seen.sections) == 1
    assert not {"sysfs_infiniband", "sysfs_pci"} & set(host.complete)
    told = "\n".join(seen.not_seen())
    assert "not in the sos report" in told
    places = {o.span.source for o in seen.observations()}
    assert f"{report}:/proc/modules" in places


def test_what_a_report_does_not_hold_is_no_answer(tmp_path: Path) -> None:
    few = {name: text for name, text in SOS.items() if name.startswith(("etc", "proc/cmdline", "sys"))}
    path = packed({f"{TOP}/{name}": text for name, text in few.items()}, tmp_path / "few.tar.gz")
    (host,) = facts(path).hosts
    assert not host.complete
    assert not host.interfaces
    assert not host.hcas
    assert host.peermem_registered is None
    assert host.infiniband_devices is None


@pytest.mark.parametrize("name", ["ip_-d_address", "ibv_devinfo_-v", "ethtool_-S_eth0", "nvidia-smi_-q", "lspci_-nnvv"])
def test_names_of_commands_as_sos_writes_them(name: str) -> None:
    found = outputs.of_sos(f"sos_commands/plugin/{name}")
    assert found is not None
    assert found.kind in {"interfaces", "ibv_devinfo", "ethtool_S", "nvidia_smi_q", "lspci"}
    assert found.command == {"ibv_devinfo_-v": "ibv_devinfo -v"}.get(name, name.replace("_", " "))
    assert outputs.of_sos("sos_commands/plugin/no-such-tool_-x") is None


def test_an_unpacked_report_is_the_same(report: Path, tmp_path: Path) -> None:
    safely: Any = {"filter": "data"} if hasattr(tarfile, "data_filter") else {}  # first releases of 3.10 and 3.11
    with tarfile.open(report) as archive:
        archive.extractall(tmp_path, **safely)  # noqa: S202  (made here)
    there, here = facts(report), facts(tmp_path / TOP)
    for name in ("interfaces", "modules", "hcas", "complete"):
        assert _names(getattr(here.hosts[0], name)) == _names(getattr(there.hosts[0], name))
    assert len(here.events) == len(there.events)
    (looked,) = job_of([], machine.look(tmp_path / TOP).observations()).hosts
    assert "sysfs_infiniband" not in looked.complete
    (tmp_path / TOP / "proc/cmdline").chmod(0)
    assert facts(tmp_path / TOP).hosts[0].name == "spruce12", "what may not be read stops nothing"


def _names(items: Any) -> list[str]:  # noqa: ANN401
    return [getattr(item, "name", item) for item in items]


@pytest.mark.parametrize("form", ["tar.gz", "tar.xz", "folder", "tar.gz with a folder"])
def test_a_recorded_root_in_every_form(form: str, project: Path, tmp_path: Path, ncdiag: Run) -> None:
    root = project / "fixtures" / "roots" / "roce8"
    files = {str(p.relative_to(root)): p.read_bytes() for p in sorted(root.rglob("*"), reverse=True) if p.is_file()}
    top = "node7/" if "with" in form else ""
    path = root if form == "folder" else tmp_path / f"x.{form.partition(' ')[0]}"
    if path != root:
        packed({f"{top}{name}": data for name, data in files.items()}, path)
    there = json.loads(ncdiag("check", "--root", root, "--format", "json").stdout)
    for command in (["check", "--from"], ["parse"]):
        here = json.loads(ncdiag(*command, path, "--format", "json").stdout)
        assert _gist(here) == _gist(there)


def _gist(report: dict[str, Any]) -> Any:  # noqa: ANN401
    return [(f["code"], f["title"], f["confidence"]) for f in report["findings"]], report["summary"]["verdict"]


@pytest.mark.parametrize("form", ["bundle", "sos"])
def test_every_command_reads_a_machine(form: str, report: Path, project: Path, tmp_path: Path, ncdiag: Run) -> None:
    path = report
    if form == "bundle":
        path = tmp_path / "x.tar.gz"
        bundle.write(machine.pack(project / "fixtures" / "roots" / "ib-initializing"), path)
    code = ncdiag("check", "--from", path, "--format", "json")
    expected = _gist(json.loads(code.stdout))
    assert expected[0], "a port that waits for the subnet manager is found"
    for command in (["parse", path], ["triage", path], ["parse", "-"], ["triage", "-"], ["triage"]):
        given = {"input": path.read_bytes()} if command[-1] != path else {}
        assert _gist(json.loads(ncdiag(*command, "--format", "json", **given).stdout)) == expected
    for command in (["facts", path], ["facts", "-"]):
        given = {"input": path.read_bytes()} if command[-1] != path else {}
        assert json.loads(ncdiag(*command, **given).stdout)["hosts"][0]["name"] == "spruce12"
    shown = ncdiag("explain", expected[0][0][0], path)
    assert (shown.returncode, b"fired" in shown.stdout) == (0, True)
    assert ncdiag("predict", path).returncode in {0, 1}


def test_several_machines_and_logs_in_a_folder(report: Path, project: Path, tmp_path: Path, ncdiag: Run) -> None:
    folder = tmp_path / "all"
    folder.mkdir()
    bundle.write(machine.pack(project / "fixtures" / "roots" / "roce8"), folder / "a.tar.gz")
    (folder / "b.tar.xz").write_bytes(report.read_bytes())
    (folder / "c.tar.gz").write_bytes((folder / "a.tar.gz").read_bytes()[:2000])
    (folder / "d.log").write_text((project / "fixtures" / "cases" / "veth" / "nccl.log").read_text())
    done = ncdiag("parse", folder, "--format", "json")
    told = json.loads(done.stdout)
    assert {item["source"] for item in told["inputs"]} >= {
        f"{folder}/{name}" for name in ("a.tar.gz", "b.tar.xz", "d.log")
    }
    assert "socket-virtual-ifname" in {finding["name"] for finding in told["findings"]}
    assert b"c.tar.gz" in done.stderr
    assert b"Traceback" not in done.stderr
    assert ncdiag("parse", folder / "c.tar.gz").returncode == 2


def test_a_report_that_grows_without_end(report: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machines, "MEMBER_LIMIT", 3)
    (host,) = facts(report).hosts
    assert not host.interfaces, "what stood behind the limit was not read"
    assert any("it is too much" in phrase for phrase in machine.unpack(report).not_seen())


def test_a_report_cut_short(report: Path, tmp_path: Path, ncdiag: Run) -> None:
    data, path = report.read_bytes(), tmp_path / "x.tar.xz"
    for size in range(1, len(data), max(1, len(data) // 12)):
        path.write_bytes(data[:size])
        done = ncdiag("triage", path)
        assert done.returncode in {0, 1, 2, 3}
        assert b"internal error" not in done.stderr
