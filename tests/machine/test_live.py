"""A whole host at once: this machine, recorded trees, network namespaces; and that nothing missing looks healthy."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from processes import left_running, until

from ncdiag.base.errors import InputError
from ncdiag.base.spans import Span
from ncdiag.facts.observe import Observation
from ncdiag.machine import live, sysfs
from ncdiag.machine.command import Command
from ncdiag.machine.live import collect, settings
from ncdiag.machine.tree import Tree


def test_this_machine_is_seen_whole() -> None:
    seen = collect()
    complete = sysfs.complete(seen.observations)
    assert {"interfaces", "ulimit", "env", "df_shm", "sysfs_infiniband"} <= complete
    assert all(o.host == seen.host for o in seen.observations)
    missing = {item.what for item in seen.not_seen}
    for kind, (what, _) in sysfs.EXPECTED.items():
        told = any(section.kind == kind for section in seen.sections)
        assert (kind in complete) or told or what in missing, f"{kind} is neither seen nor told as not seen"
    assert all(item.why for item in seen.not_seen)
    if not Path("/proc/driver/nvidia/version").exists():
        assert "list of GPUs" in missing


def test_recorded_outputs_become_sections(project: Path) -> None:
    root = project / "fixtures" / "roots" / "ib-initializing"
    seen = collect(root)
    kinds = {section.kind: section for section in seen.sections}
    assert set(kinds) == {"df_shm", "nvidia_smi_L", "text", "nccl_conf"}
    assert all(section.host == "spruce12" for section in seen.sections)
    gpus = kinds["nvidia_smi_L"]
    assert (gpus.source, gpus.command, len(gpus.lines)) == (f"{root}/commands/nvidia_smi_L.txt", "nvidia-smi -L", 2)
    assert kinds["nccl_conf"].lines == ("NCCL_DEBUG=WARN",)
    missing = {item.what: item.why for item in seen.not_seen}
    assert missing["paths between GPUs and NICs"] == "no commands/topo_m.txt in the recorded tree"
    assert "list of GPUs" not in missing
    assert "size of /dev/shm" not in missing
    assert not any(o.entity == "Setting" for o in seen.observations), "this process is not the recorded machine"


def test_nothing_is_run_for_a_recorded_tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "bin"
    folder.mkdir()
    for name in ("ibstat", "lsmod", "nvidia-smi", "ip", "dmesg"):
        script = folder / name
        script.write_text(f"#!/bin/sh\ntouch {tmp_path}/was-run\n")
        script.chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")
    (tmp_path / "root").mkdir()
    seen = collect(tmp_path / "root")
    assert not (tmp_path / "was-run").exists()
    assert {item.what for item in seen.not_seen} >= {what for what, _ in sysfs.EXPECTED.values()}
    assert sysfs.complete(seen.observations) == set()
    assert seen.host == "root"


@pytest.mark.parametrize("name", ["nowhere", "a-file"])
def test_a_root_that_is_no_folder(tmp_path: Path, name: str) -> None:
    (tmp_path / "a-file").write_text("")
    with pytest.raises(InputError, match=f"cannot read .*{name}: "):
        collect(tmp_path / name)


def test_commands_that_fail_hang_or_flood_leave_reasons(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    scripts = {
        "dmesg": "echo 'dmesg: read kernel buffer failed: Operation not permitted' >&2; exit 1",
        "one": "sleep 600",
        "two": "echo 'Failed to initialize NVML: Driver/library version mismatch'; exit 18",
        "three": "echo fine",
    }
    for name, body in scripts.items():
        (tmp_path / name).write_text(f"#!/bin/sh\n{body}\n")
        (tmp_path / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")

    def entry(name: str, kind: str = "lsmod", *, limit: float = 500, root: bool = False) -> Command:
        return Command(name=name, argv=(name,), kind=kind, why=f"what {name} tells", limit=limit, root=root)

    commands = (entry("one", limit=0.5), *map(entry, ("two", "three", "four")), entry("dmesg", "dmesg", root=True))
    gathering = live._Gathering(Tree(Path("/"), "n1"), {"lsmod", "dmesg", "text"}, time.monotonic() + 500)
    gathering.run(commands)
    assert {what.split()[1]: why for what, [why] in gathering.reasons.items()} == {
        "one": "one: no answer within 0.5 s",
        "two": "two: exit status 18: Failed to initialize NVML: Driver/library version mismatch",
        "four": "four: not installed",
        "dmesg": "dmesg: exit status 1: dmesg: read kernel buffer failed: Operation not permitted"
        + (" (it needs root)" if os.geteuid() else ""),
    }
    assert [(s.kind, s.source, s.lines) for s in gathering.sections] == [
        ("text", "two", ("Failed to initialize NVML: Driver/library version mismatch",)), ("lsmod", "three", ("fine",)),
    ]  # fmt: skip


def test_the_deadline_holds_whatever_hangs() -> None:
    deadline = time.monotonic() + 3
    gathering = live._Gathering(Tree(Path("/"), "n1"), set(), deadline)
    forever = threading.Event()

    def broken() -> None:
        msg = "this reader has a fault"
        raise KeyError(msg)

    readers: dict[str, Callable[[], object]] = {"fine": lambda: None, "broken": broken, "stuck": forever.wait}
    results = gathering._parallel(readers)
    forever.set()
    assert time.monotonic() >= deadline
    assert results == {"fine": None}
    assert gathering.reasons["stuck"] == ["no answer in time"]
    assert gathering.reasons["broken"] == ["KeyError: 'this reader has a fault'"]


def test_environment_keeps_what_matters_and_no_secret() -> None:
    environ = {
        "NCCL_DEBUG": "INFO", "NCCL_IB_PKEY": "0x7fff", "MASTER_ADDR": "10.0.0.1", "HOME": "/root",
        "NCCL_API_KEY": "hunter2", "SLURM_JWT_TOKEN": "hunter2", "AWS_SECRET_ACCESS_KEY": "hunter2",
        "OMPI_MCA_proxy": "http://me:hunter2@proxy:3128",
    }  # fmt: skip
    found = settings(Tree(Path("/"), "n1"), environ)
    assert "hunter2" not in repr(found)
    values = {o.key[0]: o.fields for o in found if o.entity == "Setting"}
    assert set(values) == {"NCCL_DEBUG", "NCCL_IB_PKEY", "MASTER_ADDR", "OMPI_MCA_proxy"}
    assert values["NCCL_DEBUG"] == {"is_set": True, "text": "INFO", "origin": "live"}
    assert found[-1] == Observation(entity="Host", host="n1", span=Span("environment", 0), fields={"complete": ["env"]})


def test_no_variable_of_nccl_is_taken_for_a_secret(project: Path) -> None:
    import tomllib

    table = project / "ncdiag" / "nccl" / "env.toml"
    names = {name for name in _names(tomllib.loads(table.read_text())) if name.startswith("NCCL_")}
    kept = {o.key[0] for o in settings(Tree(Path("/"), "n1"), dict.fromkeys(names, "1"))[:-1]}
    assert len(names) > 100
    assert names - kept == set()


def _names(value: object) -> Iterator[str]:
    if isinstance(value, dict):
        for key, item in value.items():
            yield key
            yield from _names(item)
    elif isinstance(value, list):
        for item in value:
            yield from _names(item)
    elif isinstance(value, str):
        yield value


def test_configuration_files_of_nccl(tmp_path: Path) -> None:
    (tmp_path / "etc").mkdir()
    (tmp_path / "etc/nccl.conf").write_bytes(b"NCCL_DEBUG=INFO\r\nNCCL_IB_HCA=mlx5_0")
    (tmp_path / "home/ada").mkdir(parents=True)
    (tmp_path / "home/ada/.nccl.conf").write_text("NCCL_PROTO=Simple\n")
    found = {section.source: section.lines for section in collect(tmp_path).sections}
    assert found == {
        f"{tmp_path}/etc/nccl.conf": ("NCCL_DEBUG=INFO", "NCCL_IB_HCA=mlx5_0"),
        f"{tmp_path}/home/ada/.nccl.conf": ("NCCL_PROTO=Simple",),
    }
    one = tmp_path / "home/ada/own.conf"
    one.write_text("NCCL_ALGO=Ring\n")
    chosen = collect(tmp_path, environ={"HOME": "/home/ada", "NCCL_CONF_FILE": "/home/ada/own.conf"}).sections
    assert [Path(section.source).name for section in chosen] == ["nccl.conf", ".nccl.conf", "own.conf"]


COLLECT = """
import json, msgspec
from ncdiag.machine.live import collect
from ncdiag.text.reading.job import job_of
seen = collect(environ={})
[host] = job_of([], [o for o in seen.observations if o.entity in {"Interface", "Route", "Host"}]).hosts
print(json.dumps(msgspec.to_builtins(host)))
"""


@pytest.fixture
def namespace(need: Callable[[str, object, str], None]) -> Iterator[Callable[..., str]]:
    """A network namespace of this test's own, with a function that runs commands in it."""
    need("root", os.geteuid() == 0 and bool(shutil.which("ip")), "needs root and the ip command")
    name = f"ncdiag-{uuid.uuid4().hex[:8]}"
    made = subprocess.run(["ip", "netns", "add", name], capture_output=True, text=True, check=False)
    need("root", made.returncode == 0, f"cannot make a network namespace: {made.stderr.strip()}")

    def run(*arguments: str) -> str:
        command = ["ip", "netns", "exec", name, *arguments]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout

    try:
        yield run
    finally:
        subprocess.run(["ip", "netns", "del", name], check=True)


@pytest.mark.root
@pytest.mark.parametrize("without", ["", "psutil", "netifaces"])
def test_a_real_network_namespace(namespace: Callable[..., str], without: str) -> None:
    for line in (
        "link add veth0 type veth peer name veth1",
        "link add bond0 type bridge",
        "link set veth1 master bond0",
        "link set lo up",
        "link set veth0 up",
        "link set veth1 up",
        "link set bond0 up",
        "addr add 10.9.8.1/24 dev bond0",
        "addr add 10.9.9.1/24 dev bond0",
        "addr add fd98::1/64 dev bond0 nodad",
        "addr add 192.0.2.1 peer 192.0.2.2/32 dev veth0",
        "route add default via 10.9.8.254",
        "route add default via fd98::fe",
    ):
        namespace("ip", *line.split())
    hidden = f"import sys; sys.modules[{without!r}] = None\n" if without else ""
    host = json.loads(namespace(sys.executable, "-c", hidden + COLLECT))
    found = {interface["name"]: interface for interface in host["interfaces"]}
    assert {name: (i["kind"], i["up"], i["running"]) for name, i in found.items()} == {
        "lo": ("loopback", True, True), "veth0": ("veth", True, True), "veth1": ("veth", True, True),
        "bond0": ("bridge", True, True),
    }  # fmt: skip
    bond = [(a["ip"], a["prefix_len"]) for a in found["bond0"]["addresses"]]
    assert bond[:3] == [("10.9.8.1", 24), ("10.9.9.1", 24), ("fd98::1", 64)], "IPv4 first, in the kernel's order"
    address = found["veth0"]["addresses"][0]
    assert (address["ip"], address["prefix_len"]) == ("192.0.2.1", 32)
    assert without != "psutil" or address["peer"] == "192.0.2.2", "psutil tells it of point-to-point interfaces only"
    link_local = [a["ip"] for a in found["veth0"]["addresses"] if a["ip"].startswith("fe80::")]
    assert len(link_local) == 1
    assert "%" not in link_local[0]
    assert found["veth1"]["master"] == "bond0"
    assert found["bond0"]["slaves"] == ["veth1"]
    routes = {(r["destination"], r["interface"]): r.get("gateway") for r in host["routes"]}
    assert routes["default", "bond0"] == "10.9.8.254"
    assert routes["::/0", "bond0"] == "fd98::fe"
    assert "interfaces" in host["complete"]


@pytest.mark.root
def test_a_namespace_with_nothing_but_a_closed_loopback(namespace: Callable[..., str]) -> None:
    host = json.loads(namespace(sys.executable, "-c", COLLECT))
    [loopback] = host["interfaces"]
    assert (loopback["name"], loopback["up"], loopback.get("addresses", [])) == ("lo", False, [])
    assert not host.get("routes")


def test_no_program_outlives_an_interrupt(tmp_path: Path) -> None:
    mark = f"mark-{uuid.uuid4().hex}"
    script = tmp_path / "dmesg"
    script.write_text(f"#!/bin/sh\nsh -c 'touch {tmp_path}/begun; sleep 600; : {mark}'\n")
    script.chmod(0o755)
    environment = {**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}"}
    code = (
        "import signal; signal.signal(2, signal.default_int_handler)\nfrom ncdiag.machine import live; live.collect()"
    )
    with subprocess.Popen([sys.executable, "-c", code], env=environment, stderr=subprocess.DEVNULL) as running:
        begun = until((tmp_path / "begun").exists)
        running.send_signal(2)
    assert begun
    assert left_running(mark) == []
