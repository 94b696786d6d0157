"""The program of plain Python sees on a host without ncdiag what ``check`` sees there, with any Python since 3.6."""

from __future__ import annotations

import ast
import gzip
import json
import os
import stat
import subprocess
import sys
import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest
from bare_node import SECRET, SECRETS, Need, check_settings, differing, facts_of
from processes import interpreter

from ncdiag.machine import host as machine
from ncdiag.machine import remote

PYTHONS = tuple(f"3.{minor}" for minor in range(6, 14))


def test_the_program_is_plain_old_python(program_text: str) -> None:
    program_text.encode("ascii")
    tree = ast.parse(program_text, feature_version=(3, 6))
    imported = {
        name.split(".")[0]
        for found in ast.walk(tree) if isinstance(found, ast.Import | ast.ImportFrom)
        for name in ([found.module or ""] if isinstance(found, ast.ImportFrom) else [a.name for a in found.names])
    }  # fmt: skip
    assert imported <= set(sys.stdlib_module_names)
    defined = [
        name
        for found in tree.body
        for name in (
            [found.name] if isinstance(found, ast.FunctionDef | ast.ClassDef)
            else [t.id for t in found.targets if isinstance(t, ast.Name)] if isinstance(found, ast.Assign)
            else []
        )
    ]  # fmt: skip
    assert sorted(defined) == sorted(set(defined)), "one name for two things of two modules"


def test_every_module_of_the_program_is_in_it(program_text: str) -> None:
    folder = Path(remote.__file__).parents[1] / "agent"
    assert {path.stem for path in folder.glob("*.py")} == {"__init__", *remote._MODULES}
    assert "from ncdiag" not in program_text


@pytest.mark.parametrize("version", PYTHONS)
def test_with_every_python(version: str, program_text: str, tmp_path: Path, need: Need) -> None:
    python = interpreter(version)
    need(f"python{version}", python, "no such interpreter here")
    environ = {**os.environ, **SECRETS, "NCCL_SOCKET_IFNAME": "^docker", "HOME": str(tmp_path)}
    before = facts_of(machine.look(ask_library=False))
    done = subprocess.run(
        [str(python), "-I", "-S", "-"], input=program_text.encode(), capture_output=True, check=False, env=environ,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, b"")
    (tmp_path / "x.tar.gz").write_bytes(done.stdout)
    told = facts_of(machine.unpack(tmp_path / "x.tar.gz"))
    check_settings(told.pop("settings"))
    looks = [before, facts_of(machine.look(ask_library=False))]
    for look in looks:
        del look["settings"]
    assert differing(told, looks) == {}
    assert SECRET.encode() not in gzip.decompress(done.stdout)


def test_the_bundle_is_written_whole_for_its_owner_alone(program_text: str, tmp_path: Path) -> None:
    (tmp_path / "ncdiag-bare.py").write_text(program_text)
    command = [sys.executable, "-I", "-S", str(tmp_path / "ncdiag-bare.py"), "-o"]
    path = tmp_path / "out" / "x.tar.gz"
    path.parent.mkdir()
    for _ in range(2):  # a new one, then in the place of the older one
        assert subprocess.run([*command, str(path)], check=False).returncode == 0
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        assert [p.name for p in path.parent.iterdir()] == ["x.tar.gz"]
        with tarfile.open(path) as archive:
            assert archive.getnames()[0] == "ncdiag-bundle/manifest.json"
    for target in ("/dev/full", "/no/such/folder/x.tar.gz", "/proc/x.tar.gz"):
        done = subprocess.run([*command, target], capture_output=True, check=False)
        assert (done.returncode, done.stderr.count(b"\n")) == (4, 1)
        assert f"cannot write {target}".encode() in done.stderr
    gone = subprocess.run([*command, "-", "--pid", "999999999"], capture_output=True, check=False)
    assert gone.returncode == 2
    assert b"cannot read the environment of process 999999999" in gone.stderr


def test_the_environment_and_limits_of_a_process(program_text: str, tmp_path: Path) -> None:
    environ = {"PATH": os.environ["PATH"], "NCCL_IB_HCA": "mlx5_7", "NCCL_API_KEY": SECRET}
    with subprocess.Popen(["sleep", "600"], env=environ) as child:
        try:
            command = [sys.executable, "-I", "-S", "-", "--pid", str(child.pid), "-o", str(tmp_path / "x.tar.gz")]
            done = subprocess.run(command, input=program_text.encode(), check=False)
        finally:
            child.kill()
    assert done.returncode == 0
    seen = machine.unpack(tmp_path / "x.tar.gz")
    assert facts_of(seen)["settings"] == [("NCCL_IB_HCA", "mlx5_7")]
    limits = [o.span.source for o in seen.observations() if o.entity == "Limit"]
    assert any(f"/proc/{child.pid}/limits" in place for place in limits)


def test_all_programs_hanging(
    program_text: str, hanging: Callable[[], list[int]], tmp_path: Path
) -> None:  # fmt: skip
    command = [sys.executable, "-I", "-S", "-", "--deadline", "2", "-o", str(tmp_path / "x.tar.gz")]
    done = subprocess.run(command, input=program_text.encode(), check=False, capture_output=True)
    assert (done.returncode, done.stderr) == (0, b"")
    assert hanging() == []
    recorded = json.loads(_member(tmp_path / "x.tar.gz", "ncdiag-bundle/manifest.json"))
    reasons = [program["reason"] for program in recorded["programs"].values()]
    assert sum("no answer within" in str(reason) for reason in reasons) >= 3
    assert any("no answer within" in phrase for phrase in machine.unpack(tmp_path / "x.tar.gz").not_seen())


def _member(path: Path, name: str) -> bytes:
    with tarfile.open(path) as archive:
        content = archive.extractfile(name)
        assert content is not None
        return content.read()
