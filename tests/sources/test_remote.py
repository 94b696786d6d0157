"""Programs for hosts without ncdiag: any Python since 3.6 or any shell sees what ``check`` sees there."""

from __future__ import annotations

import ast
import gzip
import io
import json
import os
import re
import shutil
import stat
import subprocess
import sys
import tarfile
import time
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from ncdiag import node
from ncdiag.bare.look import Record
from ncdiag.errors import InputError
from ncdiag.node import Node
from ncdiag.read import job_of
from ncdiag.sources import patterns, printed, remote, sysfs
from ncdiag.sources.archives import Member
from ncdiag.sources.command import table
from ncdiag.sources.recording import Recorded, ReplayedTree
from ncdiag.sources.tree import Tree

Run = Callable[..., subprocess.CompletedProcess[bytes]]
Need = Callable[[str, object, str], None]

ROOTS = ("ib-initializing", "pod-without-rdma", "roce8")
PYTHONS = tuple(f"3.{minor}" for minor in range(6, 14))
SHELLS = {"dash": ["dash"], "bash": ["bash", "--posix"], "busybox": ["busybox", "sh"]}
SECRET = "s3cr3tValue9"  # noqa: S105  (planted)
SECRETS = {"NCCL_API_TOKEN": SECRET, "NCCL_NET_PLUGIN": f"x --password {SECRET}", "OMPI_MCA_u": f"tcp://kim:{SECRET}@h"}
TIMES = {"listening_ports", "mounts", "provenance", "gpus", "complete", "oom_kills"}
"""Fields of a host that change between two looks, or that take NVML."""


class Asking(Tree):
    """A tree that notes what it is asked for."""

    def __init__(self, root: Path) -> None:
        super().__init__(root, "n1")
        self.asked: set[tuple[str, str]] = set()

    def data(self, path: str) -> bytes | None:
        self.asked.add(("read", path))
        return super().data(path)

    def names(self, path: str) -> list[str] | None:
        self.asked.add(("list", path))
        return super().names(path)

    def exists(self, path: str) -> bool:
        self.asked.add(("look", path))
        return super().exists(path)

    def link(self, path: str) -> str | None:
        self.asked.add(("look", path))
        return super().link(path)


@pytest.mark.parametrize("root", ["/", *ROOTS])
def test_the_table_names_every_path_that_a_reader_asks_for(root: str, project: Path) -> None:
    tree = Asking(Path("/") if root == "/" else project / "fixtures" / "roots" / root)
    for read in sysfs.readers().values():
        for _ in read(tree) or ():
            pass
    listed = patterns.regex(patterns.listed())
    read_ones = patterns.regex(pattern for pattern in patterns.every() if not pattern.endswith("/"))

    def declared(how: str, path: str) -> bool:
        if how == "list":
            return listed.fullmatch(path) is not None
        entry = how == "look" and any(listed.fullmatch(part) for part in (path, path.rpartition("/")[0]))
        return entry or read_ones.fullmatch(path) is not None

    missing = {f"{how} {re.sub('[0-9]+', 'N', path)}" for how, path in tree.asked if not declared(how, path)}
    assert not missing, "add these to `reads` of collectors.toml"


@pytest.mark.parametrize("name", ROOTS)
def test_what_the_patterns_keep_tells_the_same(name: str, project: Path) -> None:
    root = project / "fixtures" / "roots" / name
    record = Record({"process": ["self"], "group": [""]}, str(root))
    record.take(patterns.every())
    kept = Recorded(
        host="n1", replies=False, files=record.files, folders=record.folders, links=record.links,
        present=record.present, refused=record.refused,
    )  # fmt: skip
    there, here = Tree(root, "n1"), ReplayedTree(kept, "x")
    for what, read in sysfs.readers().items():
        told = [_text(observation).replace(str(root), "x:") for observation in read(there)]
        assert [_text(observation) for observation in read(here)] == told, what


def _text(value: Any) -> str:  # noqa: ANN401
    return msgspec.json.encode(value).decode()


@pytest.fixture(scope="module")
def program_text() -> str:
    return remote.python_program()


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
    folder = Path(remote.__file__).parents[1] / "bare"
    assert {path.stem for path in folder.glob("*.py")} == {"__init__", *remote._MODULES}
    assert "from ncdiag" not in program_text


def interpreter(version: str) -> str | None:
    """A Python of that version: of pyenv, or on the path."""
    root = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv")
    found = sorted(root.glob(f"versions/{version}.*/bin/python"))
    return str(found[-1]) if found else shutil.which(f"python{version}")


def facts_of(seen: Node) -> dict[str, Any]:
    """What two looks at this machine have in common."""
    job = json.loads(_text(job_of(seen.readings(), seen.observations())))
    (host,) = job["hosts"]
    told = {name: _plain(value) for name, value in host.items() if name not in TIMES}
    told["routes"] = sorted(_text(route) for route in told.get("routes", ()))
    told["settings"] = [(setting["name"], setting["text"]) for setting in job.get("settings", ())]
    return told


def _plain(value: Any) -> Any:  # noqa: ANN401
    """Without the places that it was read from, and without what counts up."""
    if isinstance(value, dict):
        return {name: _plain(item) for name, item in value.items() if name not in {"provenance", "counters"}}
    return [_plain(item) for item in value] if isinstance(value, list) else value


@pytest.mark.parametrize("version", PYTHONS)
def test_with_every_python(version: str, program_text: str, tmp_path: Path, need: Need) -> None:
    python = interpreter(version)
    need(f"python{version}", python, "no such interpreter here")
    environ = {**os.environ, **SECRETS, "NCCL_SOCKET_IFNAME": "^docker", "HOME": str(tmp_path)}
    done = subprocess.run(
        [str(python), "-I", "-S", "-"], input=program_text.encode(), capture_output=True, check=False, env=environ,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, b"")
    (tmp_path / "x.tar.gz").write_bytes(done.stdout)
    told = facts_of(node.unpack(tmp_path / "x.tar.gz"))
    check_settings(told.pop("settings"))
    here = facts_of(node.look(ask_library=False))
    del here["settings"]
    assert told == here
    assert SECRET.encode() not in gzip.decompress(done.stdout)


def check_settings(settings: list[tuple[str, str]]) -> None:
    """What was set is told, without secrets."""
    assert ("NCCL_SOCKET_IFNAME", "^docker") in settings
    assert "NCCL_API_TOKEN" not in dict(settings)
    assert SECRET not in repr(settings)


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
    with subprocess.Popen(["sleep", "60"], env=environ) as child:
        try:
            command = [sys.executable, "-I", "-S", "-", "--pid", str(child.pid), "-o", str(tmp_path / "x.tar.gz")]
            done = subprocess.run(command, input=program_text.encode(), check=False)
        finally:
            child.kill()
    assert done.returncode == 0
    seen = node.unpack(tmp_path / "x.tar.gz")
    assert facts_of(seen)["settings"] == [("NCCL_IB_HCA", "mlx5_7")]
    limits = [o.span.source for o in seen.observations() if o.entity == "Limit"]
    assert any(f"/proc/{child.pid}/limits" in place for place in limits)


@pytest.fixture
def hanging(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Every program of the table hangs, deaf to signals, with a child; the value is in the environment of all."""
    folder, mark = tmp_path / "bin", uuid.uuid4().hex
    folder.mkdir()
    for name in {command.argv[0] for command in table()} - {"sh"}:
        (folder / name).write_text("#!/bin/sh\ntrap '' TERM INT HUP\necho begun\nsleep 60 & wait\n")
        (folder / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")
    monkeypatch.setenv("NCDIAG_TEST_MARK", mark)
    yield mark
    with_mark = [pid for pid in Path("/proc").glob("[0-9]*") if _marked(pid, mark) and int(pid.name) != os.getpid()]
    for place in with_mark:  # a shell without `timeout` leaves the children of a stopped program
        os.kill(int(place.name), 9)


def _marked(place: Path, mark: str) -> bool:
    try:
        return mark.encode() in (place / "environ").read_bytes()
    except OSError:
        return False


def alive(mark: str) -> list[str]:
    """Processes that carry the mark, some time after they were ended."""
    deadline = time.monotonic() + 30
    while True:
        found = [p.name for p in Path("/proc").glob("[0-9]*") if _marked(p, mark) and int(p.name) != os.getpid()]
        if not found or time.monotonic() > deadline:
            return found
        time.sleep(0.05)


def test_all_programs_hanging(program_text: str, hanging: str, tmp_path: Path) -> None:
    command = [sys.executable, "-I", "-S", "-", "--deadline", "2", "-o", str(tmp_path / "x.tar.gz")]
    start = time.monotonic()
    done = subprocess.run(command, input=program_text.encode(), check=False, capture_output=True)
    assert (done.returncode, done.stderr) == (0, b"")
    assert time.monotonic() - start < 20
    assert alive(hanging) == []
    recorded = json.loads(_member(tmp_path / "x.tar.gz", "ncdiag-bundle/manifest.json"))
    reasons = [program["reason"] for program in recorded["programs"].values()]
    assert sum("no answer within" in str(reason) for reason in reasons) >= 3
    assert any("no answer within" in phrase for phrase in node.unpack(tmp_path / "x.tar.gz").not_seen())


def _member(path: Path, name: str) -> bytes:
    with tarfile.open(path) as archive:
        content = archive.extractfile(name)
        assert content is not None
        return content.read()


def test_a_reader_that_comes_to_no_end_is_told(project: Path) -> None:
    kept = Recorded(host="n1", failures={"RDMA devices": "no answer in time"})
    tree = ReplayedTree(kept, "x")
    seen = node._collected(tree, "x", ())
    assert "RDMA devices: no answer in time" in "\n".join(seen.not_seen())
    assert project.is_dir()


@pytest.fixture(scope="module")
def script_text() -> str:
    return remote.shell_script()


@pytest.mark.parametrize("shell", SHELLS)
def test_with_every_shell(shell: str, script_text: str, tmp_path: Path, need: Need) -> None:
    need(shell, shutil.which(SHELLS[shell][0]), "no such shell here")
    environ = {**os.environ, **SECRETS, "NCCL_SOCKET_IFNAME": "^docker", "HOME": str(tmp_path), "TMPDIR": str(tmp_path)}
    done = subprocess.run(
        [*SHELLS[shell], "-s"], input=script_text.encode(), capture_output=True, check=False, env=environ
    )
    assert (done.returncode, done.stderr) == (0, b"")
    assert SECRET.encode() not in done.stdout
    assert list(tmp_path.iterdir()) == [], "it cleans up behind itself"
    (tmp_path / "x.txt").write_bytes(done.stdout)
    told = facts_of(node.unpack(tmp_path / "x.txt"))
    check_settings(told.pop("settings"))
    here = facts_of(node.look(ask_library=False))
    for name in ("settings", "clock_synchronized"):  # no file and no usual program tells the latter
        here.pop(name)
        told.pop(name, None)
    assert told == here


def test_with_nothing_but_busybox(script_text: str, tmp_path: Path, need: Need) -> None:
    need("busybox", shutil.which("busybox"), "no busybox here")
    (tmp_path / "bin").mkdir()
    subprocess.run(["busybox", "--install", "-s", str(tmp_path / "bin")], check=True)
    (tmp_path / "look.sh").write_text(script_text)
    environ = {"PATH": str(tmp_path / "bin"), "NCCL_DEBUG": "INFO", "NCCL_TOKEN": SECRET, "NCCL_IB_PKEY": "0x8001"}
    done = subprocess.run([tmp_path / "bin/sh", "look.sh"], capture_output=True, check=False, env=environ, cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, b"")
    assert SECRET.encode() not in done.stdout
    (tmp_path / "x.txt").write_bytes(done.stdout)
    told = facts_of(node.unpack(tmp_path / "x.txt"))
    assert told["settings"] == [("NCCL_DEBUG", "INFO"), ("NCCL_IB_PKEY", "0x8001")]
    here = facts_of(node.look(ask_library=False))
    for name in ("interfaces", "routes", "pci", "sysctls", "kernel_command_line"):
        assert told[name] == here[name], name


@pytest.mark.parametrize("with_timeout", [True, False])
def test_the_script_with_all_programs_hanging(
    with_timeout: bool, script_text: str, hanging: str, tmp_path: Path
) -> None:  # fmt: skip
    text = re.sub(r"^(start \S+) [\d.]+", r"\1 1", script_text.replace("then start", "then\nstart"), flags=re.MULTILINE)
    text = text if with_timeout else text.replace("command -v timeout", "command -v no-such-program")
    start = time.monotonic()
    done = subprocess.run(["sh", "-s"], input=text.encode(), capture_output=True, check=False)
    assert time.monotonic() - start < 20
    assert done.returncode == 0
    (tmp_path / "x.txt").write_bytes(done.stdout)
    assert any("no answer in time" in phrase for phrase in node.unpack(tmp_path / "x.txt").not_seen())
    assert hanging


def of_text(text: str) -> list[Recorded]:
    return printed.recorded([Member("", io.BytesIO(text.encode()))], "x")


def test_what_is_printed_of_several_hosts() -> None:
    one, two = of_text(
        """\
# ncdiag 1 n1.example 1763762702
# ncdiag user 1000
$ lsmod
Module                  Size  Used by
nvidia_peermem         16384  0

# ncdiag status 0
$ ibstat

# ncdiag status 127
$ dmesg --time-format iso

# ncdiag status 1 dmesg: read kernel buffer failed: Operation not permitted
# ncdiag link /sys/class/net/eth0/device ../../../0000:3b:00.0
# ncdiag refused /proc/iomem Permission denied
==> /proc/modules <==
nvidia 1 0 - Live 0x0

==> /dev/null <==

# ncdiag environment
NCCL_DEBUG=INFO
NCCL_TOKEN=***
# ncdiag end
noise
# ncdiag 1 n2 1763762703
# ncdiag hex /sys/bus/pci/devices/0000:00:01.0/config
 0d 00 01 00
# ncdiag folder /sys/class/net
eth10
eth2
"""
    )
    assert (one.host, two.host) == ("n1", "n2")
    assert one.outputs["lsmod"].output == ("Module                  Size  Used by", "nvidia_peermem         16384  0")
    assert one.outputs["ibstat"].reason == "not installed"
    assert "Operation not permitted" in str(one.outputs["dmesg"].reason)
    assert one.links == {"sys/class/net/eth0/device": "../../../0000:3b:00.0"}
    assert one.refused == {"proc/iomem": "Permission denied"}
    assert one.files["proc/modules"] == b"nvidia 1 0 - Live 0x0\n"
    assert one.answers["environment"] == {"NCCL_DEBUG": "INFO"}
    assert one.answers["user id"] == 1000
    assert two.files["sys/bus/pci/devices/0000:00:01.0/config"] == b"\r\0\1\0"
    assert two.folders["sys/class/net"] == ["eth2", "eth10"]


def test_a_file_that_forges_another_one_comes_too_late() -> None:
    (made,) = of_text(
        "# ncdiag 1 n1 1\n==> /proc/cmdline <==\nquiet\n\n==> /etc/nccl.conf <==\n"
        "==> /proc/cmdline <==\niommu=on\n# ncdiag user 0\n# ncdiag end\n"
    )
    assert made.files["proc/cmdline"] == b"quiet\n"


@pytest.mark.parametrize(("version", "words"), [(2, "a newer ncdiag reads it"), (0, "print it again")])
def test_other_versions_of_what_is_printed(version: int, words: str, ncdiag: Run) -> None:
    done = ncdiag("triage", "-", input=f"# ncdiag {version} n1 1\n".encode())
    assert done.returncode == 2
    assert words in done.stderr.decode()
    with pytest.raises(InputError, match="its format is"):
        of_text(f"# ncdiag {version} n1 1\n")


@pytest.mark.parametrize(
    "noise", ["", "# ncdiag 1\n", "# ncdiag 1 n1\n==> /x", "# ncdiag 1 n1 1\n# ncdiag hex /x\nzz 0"]
)
def test_odd_texts_break_nothing(noise: str) -> None:
    for made in of_text(noise):
        assert made.host


def test_the_command_prints_both(ncdiag: Run, program_text: str, script_text: str, tmp_path: Path) -> None:
    assert ncdiag("collect", "--python").stdout.decode() == program_text
    assert ncdiag("collect", "--script", "-o", tmp_path / "look.sh").returncode == 0
    assert (tmp_path / "look.sh").read_text() == script_text
    for wrong in (["collect"], ["collect", "--python", "--script"]):
        done = ncdiag(*wrong)
        assert (done.returncode, done.stderr.count(b"\n")) == (2, 1)
