"""``check`` asks the installed NCCL what it picks here, and judges the answer as it judges a log."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from namespaces import Namespace

from ncdiag.agent.libraries import versions
from ncdiag.machine import host
from ncdiag.nccl.library import ask, find_plugins

Run = Callable[..., subprocess.CompletedProcess[bytes]]


def checked(done: subprocess.CompletedProcess[bytes]) -> dict[str, Any]:
    assert done.returncode in {0, 1}, done.stderr
    report: dict[str, Any] = json.loads(done.stdout)
    return report


def asked(report: dict[str, Any]) -> dict[str, Any]:
    [found] = [item for item in report["inputs"] if item["source"].startswith("NCCL ")]
    assert isinstance(found, dict)
    return found


def what_is_told(report: dict[str, Any]) -> dict[str, Any]:
    """Of what NCCL said, all but how many lines it took: its threads print one more or less from run to run."""
    found = {name: value for name, value in asked(report).items() if name != "lines"}
    return {**found, "sections": [(section["kind"], section["host"]) for section in found["sections"]]}


@pytest.mark.lab
@pytest.mark.root
def test_the_library_picks_a_veth(
    namespace: Callable[[], Namespace],
    nccl_library: Path,
    program: list[str],
    tmp_path: Path,
    ncdiag: Callable[..., subprocess.CompletedProcess[bytes]],
) -> None:
    space = namespace()
    space.build(("veth3c1d", "veth", "up", ("10.77.0.1/24",)), ("eno7", "veth", "up", ("10.78.0.1/24",)))
    environment = {**os.environ, "LD_LIBRARY_PATH": str(nccl_library.parent)}
    command = [*space.inside, *program]

    def run(*arguments: str) -> subprocess.CompletedProcess[bytes]:
        return subprocess.run([*command, *arguments], env=environment, capture_output=True, check=False)

    report = checked(run("check", "--format", "json"))
    assert asked(report)["notes"][0] == "picks veth3c1d here"
    assert report["answers"][0] == "socket-choice-inside"
    assert "veth3c1d" in report["findings"][0]["title"]
    assert report["findings"][0]["fixes"][0]["env"] == {"NCCL_SOCKET_IFNAME": "=eno7"}
    bundle = tmp_path / "x.tar.gz"
    assert run("collect", "-o", str(bundle)).returncode == 0
    again = checked(ncdiag("check", "--from", bundle, "--format", "json"))
    assert what_is_told(again) == what_is_told(report)
    assert [f["name"] for f in again["findings"]] == [f["name"] for f in report["findings"]]
    silent = checked(run("check", "--no-nccl", "--format", "json"))
    assert not [item for item in silent["inputs"] if item["source"].startswith("NCCL ")]


@pytest.mark.lab
def test_a_filter_that_matches_nothing_is_found_before_the_job_runs(nccl_library: Path, ncdiag: Run) -> None:
    environment = {
        "LD_LIBRARY_PATH": str(nccl_library.parent),
        "NCCL_SOCKET_IFNAME": "nothere9",
        "NCCL_DEBUG_FILE": "/no",
    }
    report = checked(ncdiag("check", "--format", "json", env=environment))
    assert report["summary"]["root_cause"] == "socket-ifname-no-match"


SLEEPER = (
    "import ctypes, sys, time; ctypes.CDLL(sys.argv[1])\n"  # as a rank would, and then it is busy
    "print(flush=True); time.sleep(600)"
)


@pytest.mark.lab
def test_beside_a_process_the_library_is_asked_on_demand_alone(nccl_library: Path, ncdiag: Run, tmp_path: Path) -> None:
    environment = {**os.environ, "NCCL_SOCKET_IFNAME": "nothere7", "LD_LIBRARY_PATH": str(tmp_path)}
    (tmp_path / "libnccl.so.2").write_text("another library, which the process did not load")
    with subprocess.Popen(
        [sys.executable, "-c", SLEEPER, str(nccl_library)], env=environment, stdout=subprocess.PIPE
    ) as rank:
        try:
            assert rank.stdout is not None
            rank.stdout.readline()
            pid = str(rank.pid)
            plain = checked(ncdiag("check", "--pid", pid, "--format", "json"))
            on_demand = checked(ncdiag("check", "--pid", pid, "--ask-nccl", "--format", "json"))
        finally:
            rank.kill()
    assert not [item for item in plain["inputs"] if item["source"].startswith("NCCL ")]
    assert "it was not asked which interface it picks (--ask-nccl)" in str(plain["summary"]["not_looked_at"])
    assert str(nccl_library) in asked(on_demand)["source"], "the one that the process has loaded"
    assert on_demand["summary"]["root_cause"] == "socket-ifname-no-match", "under its environment"


@pytest.mark.lab
def test_every_library_found_says_its_version(nccl_library: Path) -> None:
    told = versions([str(nccl_library), sys.executable, str(nccl_library.parent), "/nowhere"])
    asked_version = ask(nccl_library).version
    assert told == {str(nccl_library): str(asked_version)}


@pytest.mark.lab
def test_the_registry_of_parameters(nccl_library: Path, ncdiag: Run, need: Callable[[str, object, str], None]) -> None:
    registry = subprocess.run(["grep", "-qa", "ncclParamDumpAll", str(nccl_library)], check=False).returncode == 0
    need("registry", registry, "this release has no registry of parameters: 2.31 and later have (make lab)")
    environment = {
        "LD_LIBRARY_PATH": str(nccl_library.parent), "NCCL_SET_THREAD_NAME": "1", "NCCL_DEBUG_TIMESTAMP_FORMAT": "%T",
    }  # fmt: skip
    facts = node_facts(ncdiag, environment)
    told = {parameter["name"]: parameter for parameter in facts["nccl_parameters"]}
    assert (told["NCCL_SET_THREAD_NAME"]["value"], told["NCCL_SET_THREAD_NAME"]["set_by"]) == ("TRUE", "EnvPlugin")
    assert not [name for name in told if name.startswith("NCCL_DEBUG")], "those were set to hear what it says"
    refused = node_facts(ncdiag, {**environment, "NCCL_SET_THREAD_NAME": "perhaps"})
    told = {parameter["name"]: parameter for parameter in refused["nccl_parameters"]}
    assert told["NCCL_SET_THREAD_NAME"]["set_by"] == "Default", "the library says which values it does not take"


def node_facts(ncdiag: Run, environment: dict[str, str]) -> dict[str, Any]:
    """The host that a bundle made under this environment describes."""
    with tempfile.TemporaryDirectory() as folder:
        bundle = Path(folder) / "x.tar.gz"
        assert ncdiag("collect", "-q", "-o", str(bundle), env=environment).returncode == 0
        [host] = json.loads(ncdiag("facts", str(bundle)).stdout)["hosts"]
    assert isinstance(host, dict)
    return host


LIBRARIES = {  # what stands in the file libnccl.so.2, and what is told of it
    "no library": ("just text\n", "could not be loaded as an NCCL library"),
    "empty": ("", "could not be loaded as an NCCL library"),
    "crashes": ("#include <stdlib.h>\nint ncclGetVersion(int*v){abort();}\n", "ended the process with SIGABRT"),
    "exits": ("#include <unistd.h>\nint ncclGetVersion(int*v){_exit(0);}\n", "could not be loaded as an NCCL library"),
    "floods": ('#include <stdio.h>\nint ncclGetVersion(int*v){for(;;)puts("x");}\n', "printed more than 1 MiB"),
}  # fmt: skip


@pytest.mark.parametrize("name", LIBRARIES)
def test_a_library_that_misbehaves_is_told_and_does_no_harm(
    name: str, tmp_path: Path, ncdiag: Run, need: Callable[[str, object, str], None]
) -> None:
    text, problem = LIBRARIES[name]
    library = tmp_path / "libnccl.so.2"
    if text.startswith("#include"):
        (tmp_path / "x.c").write_text(text)
        built = subprocess.run(
            ["sh", "-c", f"cc -shared -fPIC -o {library} {tmp_path}/x.c"], capture_output=True, check=False
        )
        need("cc", built.returncode == 0, "no C compiler")
    else:
        library.write_text(text)
    done = ncdiag("check", "-v", env={"LD_LIBRARY_PATH": str(tmp_path)})
    assert done.returncode in {0, 1}
    shown = " ".join(done.stdout.decode().split())
    assert "the NCCL library: " in shown
    assert problem in shown


def test_a_library_that_hangs_costs_a_bounded_time(
    tmp_path: Path, ncdiag: Run, need: Callable[[str, object, str], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert host.LIBRARY_LIMIT <= 15
    monkeypatch.setattr(host, "LIBRARY_LIMIT", 2.0)
    (tmp_path / "x.c").write_text("#include <unistd.h>\nint ncclGetVersion(int*v){for(;;)sleep(9);}\n")
    command = f"cc -shared -fPIC -o {tmp_path}/libnccl.so.2 {tmp_path}/x.c"
    built = subprocess.run(["sh", "-c", command], capture_output=True, check=False)
    need("cc", built.returncode == 0, "no C compiler")
    done = ncdiag("check", "-v", env={"LD_LIBRARY_PATH": str(tmp_path)})
    assert "no answer within 2 seconds" in " ".join(done.stdout.decode().split())


def test_nothing_to_ask_is_said(ncdiag: Run, need: Callable[[str, object, str], None]) -> None:
    done = ncdiag("check", "-v", env={"LD_LIBRARY_PATH": ""})
    shown = " ".join(done.stdout.decode().split())
    need("no nccl", "NCCL library (" not in shown and "nccl_library" not in shown, "a libnccl is installed here")
    assert "the NCCL library: no libnccl.so in LD_LIBRARY_PATH" in shown


def test_not_asked_is_said(tmp_path: Path, ncdiag: Run) -> None:
    (tmp_path / "libnccl.so.2").write_text("")
    done = ncdiag("check", "-v", "--no-nccl", env={"LD_LIBRARY_PATH": str(tmp_path)})
    assert "the NCCL library: it was not asked which interface it picks" in " ".join(done.stdout.decode().split())


def test_plugins_are_found(tmp_path: Path) -> None:
    for name in ("libnccl-net.so", "libnccl-net-ofi.so", "libnccl.so.2", "libnccl-tuner-x.so.1"):
        (tmp_path / name).write_bytes(b"")
    found = [path.name for path in find_plugins({"LD_LIBRARY_PATH": str(tmp_path)}) if path.parent == tmp_path]
    assert found == ["libnccl-net-ofi.so", "libnccl-net.so", "libnccl-tuner-x.so.1"]
