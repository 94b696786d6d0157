"""Bundles: judged anywhere as on the node, written whole or not at all, and read with suspicion."""

from __future__ import annotations

import dataclasses
import io
import json
import os
import signal
import stat
import subprocess
import sys
import tarfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from ncdiag.agent import place as place_module
from ncdiag.base.errors import InputError
from ncdiag.facts.observe import Observation
from ncdiag.machine import bundle
from ncdiag.machine import host as machine
from ncdiag.machine.host import Machine
from ncdiag.machine.live import collect
from ncdiag.machine.recording import RecordingTree, ReplayedTree
from ncdiag.text.reading.job import job_of

Run = Callable[..., subprocess.CompletedProcess[bytes]]
ROOTS = ("ib-initializing", "pod-without-rdma", "roce8")


@dataclasses.dataclass(frozen=True)
class Looked:
    """What two looks at the same machine have to have in common."""

    job: Any
    not_seen: list[str]


def looked(seen: Machine, prefix: str) -> Looked:
    """The facts without the place that they were read from."""
    text = msgspec.json.encode(job_of(seen.readings(), seen.observations())).decode()
    return Looked(json.loads(text.replace(prefix, "")), [phrase.replace(prefix, "") for phrase in seen.not_seen()])


@pytest.mark.parametrize("name", ROOTS)
def test_a_recorded_tree_and_its_bundle_are_the_same(name: str, project: Path, tmp_path: Path) -> None:
    root, path = project / "fixtures" / "roots" / name, tmp_path / "x.tar.gz"
    bundle.write(machine.pack(root), path)
    here, there = looked(machine.look(root), str(root)), looked(machine.unpack(path), f"{path}:")
    assert here == there
    assert here.job["hosts"][0]["name"] == here.job["hosts"][0]["interfaces"][0]["host"]


def test_this_machine_and_its_bundle_are_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NCCL_SOCKET_IFNAME", "^docker")
    monkeypatch.setenv("NCCL_API_TOKEN", "hunter2")
    tree, path = RecordingTree(Path("/"), "n1"), tmp_path / "x.tar.gz"
    there = collect(tree=tree)
    manifest = bundle.Manifest(format=bundle.FORMAT, ncdiag="1", host="n1", started=time.time(), seconds=1)
    bundle.write(bundle.Bundle(manifest=manifest, recorded=tree.recorded), path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    monkeypatch.delenv("NCCL_SOCKET_IFNAME")
    monkeypatch.setenv("PATH", str(tmp_path))
    here = collect(tree=ReplayedTree(bundle.read(path).recorded, "x"))
    assert there.sections == [msgspec.structs.replace(s, source=s.source.removeprefix("x:")) for s in here.sections], (
        "outputs of programs and configuration files"
    )
    assert [_placed(o) for o in here.observations] == there.observations
    assert "^docker" in repr(here.observations)
    assert b"hunter2" not in b"".join(_members(path).values())
    assert [item.why.replace("x:/", "/") for item in here.not_seen] == [item.why for item in there.not_seen]


def _placed(observation: Observation) -> Observation:
    where = observation.span
    return msgspec.structs.replace(
        observation, span=msgspec.structs.replace(where, source=where.source.removeprefix("x:"))
    )


def _members(path: Path) -> dict[str, bytes]:
    with tarfile.open(path) as archive:
        found = {}
        for member in archive:
            content = archive.extractfile(member)
            assert content is not None
            found[member.name] = content.read()
    return found


def test_what_lies_in_a_bundle(project: Path, tmp_path: Path, ncdiag: Run) -> None:
    root, path = project / "fixtures" / "roots" / "ib-initializing", tmp_path / "x.tar.gz"
    before = time.time()
    done = ncdiag("collect", "--root", root, "-o", path)
    assert (done.returncode, done.stdout) == (0, b"")
    members = _members(path)
    assert next(iter(members)) == "ncdiag-bundle/manifest.json"
    assert members["ncdiag-bundle/tree/proc/modules"] == (root / "proc/modules").read_bytes()
    assert members["ncdiag-bundle/tree/commands/nvidia_smi_L.txt"] == (root / "commands/nvidia_smi_L.txt").read_bytes()
    manifest = json.loads(members["ncdiag-bundle/manifest.json"])
    assert manifest["format"] == bundle.FORMAT
    assert manifest["host"] == "spruce12"
    assert before <= manifest["started"] <= time.time()
    assert any("topo_m.txt" in phrase for phrase in manifest["not_seen"])


@pytest.mark.parametrize("command", [["check", "--from"], ["parse"], ["triage"]], ids=lambda c: c[0])
def test_commands_judge_a_bundle_alike(command: list[str], project: Path, tmp_path: Path, ncdiag: Run) -> None:
    root, path = project / "fixtures" / "roots" / "roce8", tmp_path / "x.tar.gz"
    bundle.write(machine.pack(root), path)
    there = ncdiag("check", "--root", root, "--format", "json")
    here = ncdiag(*command, path, "--format", "json")
    assert here.returncode == there.returncode
    text = here.stdout.decode().replace(f"{path}:", str(root)).replace(str(path), str(root))
    judged, expected = json.loads(text), json.loads(there.stdout)
    if command[0] != "check":  # which alone has the table
        assert (judged.pop("looks"), bool(expected.pop("looks"))) == ([], True)
    assert judged == expected


def test_what_could_not_be_read_is_named(project: Path, tmp_path: Path, ncdiag: Run) -> None:
    path = tmp_path / "node.tar.gz"
    done = ncdiag("collect", "--root", project / "fixtures" / "roots" / "roce8", "-o", path)
    first, *rest = done.stderr.decode().splitlines()
    assert " files from " in first
    missing = bundle.read(path).manifest.not_seen
    assert rest == [f"ncdiag: not read: {item}" for item in missing]
    assert missing


def test_a_bundle_through_a_pipe(project: Path, ncdiag: Run) -> None:
    root = project / "fixtures" / "roots" / "roce8"
    done = ncdiag("collect", "-q", "--root", root, "-o", "-")
    assert (done.returncode, done.stderr) == (0, b"")
    here = json.loads(ncdiag("check", "--from", "-", "--format", "json", input=done.stdout).stdout)
    there = json.loads(ncdiag("check", "--root", root, "--format", "json").stdout)
    assert [f["title"] for f in here["findings"]] == [f["title"] for f in there["findings"]]
    assert ncdiag("check", "--from", "-", input=b"\x1f\x8b nonsense").returncode == 2
    reader, writer = os.pipe()
    os.close(reader)
    gone = ncdiag("collect", "-q", "--root", root, "-o", "-", stdout=writer)
    os.close(writer)
    assert (gone.returncode, gone.stderr) == (141, b"")


def test_a_bundle_beside_a_log(project: Path, tmp_path: Path, ncdiag: Run) -> None:
    path, log = tmp_path / "x.tar.gz", project / "fixtures" / "cases" / "veth" / "nccl.log"
    bundle.write(machine.pack(project / "fixtures" / "roots" / "roce8"), path)
    report = json.loads(ncdiag("triage", path, log, "--format", "json").stdout)
    assert {item["source"] for item in report["inputs"]} >= {str(path), str(log)}
    assert "gpu-a01" in report["summary"]["hosts"]
    assert report["summary"]["root_cause"] == "socket-virtual-ifname", "the bundle does not stand in the way"


def repacked(path: Path, change: Callable[[dict[str, Any]], object], target: Path) -> Path:
    """The bundle with another manifest."""
    members = _members(path)
    manifest = json.loads(members["ncdiag-bundle/manifest.json"])
    change(manifest)
    members["ncdiag-bundle/manifest.json"] = json.dumps(manifest).encode()
    return packed(members, target)


def packed(members: dict[str, bytes], target: Path) -> Path:
    with tarfile.open(target, "w:gz") as archive:
        for name, data in members.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(data)
            archive.addfile(entry, io.BytesIO(data))
    return target


@pytest.fixture(scope="module")
def good(project: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("bundle") / "good.tar.gz"
    bundle.write(machine.pack(project / "fixtures" / "roots" / "ib-initializing"), path)
    return path


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (lambda m: m.update(format=bundle.FORMAT + 1), "use a newer ncdiag"),
        (lambda m: m.update(format=0), "collect it again"),
        (lambda m: m.update(format="one"), "bundle has format one"),
        (lambda m: m.pop("format"), "bundle has format None"),
        (lambda m: m.update(folders=7), "manifest.json is damaged"),
        (lambda m: m.update(something="new in the same format"), None),
    ],
    ids=["newer", "older", "no number", "no format", "wrong type", "more fields"],
)
def test_versions_of_the_format(
    change: Callable[[dict[str, Any]], object], sentence: str | None, good: Path, tmp_path: Path, ncdiag: Run
) -> None:
    path = repacked(good, change, tmp_path / "x.tar.gz")
    done = ncdiag("check", "--from", path)
    assert b"Traceback" not in done.stderr
    if sentence is None:
        assert done.returncode in {0, 1}
    else:
        assert done.returncode == 2
        assert sentence in done.stderr.decode()
        assert done.stderr.count(b"\n") == 1


@pytest.mark.parametrize(
    "answers",
    [
        {"addresses": 7}, {"addresses": {"eth0": [{"no": "ip"}]}}, {"default gateways": [[1]]},
        {"list of GPUs": "none"}, {"size of /dev/shm": [1]}, {"environment": {"NCCL_DEBUG": 7}},
        {"second sample of counters": {"a": 1}},
        {"versions of NCCL libraries": {"/x/libnccl.so.2": "a.b.c"}}, {"clock status": "x"},
        {"NCCL libraries": 5}, {"NCCL libraries": [5]}, {"process": {"a": "../.."}}, {"user id": "x"},
    ],
    ids=lambda value: next(iter(value)),
)  # fmt: skip
def test_foreign_answers_break_nothing(answers: dict[str, Any], good: Path, tmp_path: Path, ncdiag: Run) -> None:
    path = repacked(good, lambda m: m.update(answers=answers, replies=True), tmp_path / "x.tar.gz")
    done = ncdiag("check", "--from", path)
    assert done.returncode in {0, 1, 2}, done.stderr
    assert b"internal error" not in done.stderr


def test_truncated_anywhere(good: Path, tmp_path: Path) -> None:
    data, path = good.read_bytes(), tmp_path / "x.tar.gz"
    for size in [*range(40), *range(40, len(data) - 8, max(1, len(data) // 25))]:
        path.write_bytes(data[:size])
        with pytest.raises(InputError):
            bundle.read(path)


def test_what_is_no_bundle(tmp_path: Path) -> None:
    text = tmp_path / "a.log"
    text.write_text("just text\n")
    other = packed({"logs/a.log": b"NCCL INFO\n"}, tmp_path / "logs.tar.gz")
    for path in (text, other, tmp_path / "none", tmp_path):
        with pytest.raises(InputError, match=f"cannot read {path}"):
            bundle.read(path)


def test_a_bundle_reaches_no_file_of_this_machine(good: Path, tmp_path: Path) -> None:
    members = _members(good)
    members["ncdiag-bundle/tree/../../../../etc/hostname"] = b"evil\n"
    path = packed(members, tmp_path / "x.tar.gz")
    before = sorted(tmp_path.iterdir())
    tree = ReplayedTree(bundle.read(path).recorded, "x")
    assert tree.data("proc/version") is None
    assert "meminfo" not in (tree.names("proc") or ())
    assert not tree.exists("bin/sh")
    assert sorted(tmp_path.iterdir()) == before


def test_a_bundle_that_grows_without_end(monkeypatch: pytest.MonkeyPatch, good: Path) -> None:
    monkeypatch.setattr(bundle, "SIZE_LIMIT", 1000)
    with pytest.raises(InputError, match="has more than"):
        bundle.read(good)


@pytest.mark.parametrize("target", ["/dev/full", "/no/such/folder/x.tar.gz", "/proc/x.tar.gz"])
def test_a_disk_that_takes_nothing(target: str, ncdiag: Run, project: Path) -> None:
    done = ncdiag("collect", "--root", project / "fixtures" / "roots" / "roce8", "-o", target)
    assert done.returncode == 4
    assert f"cannot write {target}" in done.stderr.decode()
    assert b"Traceback" not in done.stderr


def test_killed_at_any_moment(program: list[str], project: Path, tmp_path: Path) -> None:
    path = tmp_path / "x.tar.gz"
    for moment in (0.07, 0.19, 0.31, 0.43):
        command = [*program, "collect", "-q", "--root", str(project / "fixtures" / "roots" / "roce8"), "-o", str(path)]
        with subprocess.Popen(command, stderr=subprocess.DEVNULL) as child:
            time.sleep(moment)
            child.send_signal(signal.SIGKILL)
        if path.exists():
            assert bundle.read(path).manifest.format == bundle.FORMAT
        if without_names(tmp_path):
            assert {p.name for p in tmp_path.iterdir()} <= {path.name}, "a killed run leaves nothing behind"


def without_names(folder: Path) -> bool:
    """Whether the file system has files without a name."""
    try:
        os.close(os.open(folder, os.O_TMPFILE | os.O_RDWR))
    except OSError:
        return False
    return True


def test_killed_while_writing(tmp_path: Path) -> None:
    """The moments at which a run is killed in the middle of its file: pieces that kill it."""
    if not without_names(tmp_path):
        pytest.skip("this file system has no files without a name")
    script = (
        "import os, sys\nfrom ncdiag.agent.place import place\n"
        "def pieces():\n    yield b'half'\n    os.kill(os.getpid(), 9)\nplace(pieces(), sys.argv[1])\n"
    )
    for _ in range(2):  # once for a new file, once over an older one
        done = subprocess.run([sys.executable, "-c", script, str(tmp_path / "x.tar.gz")], check=False)
        assert done.returncode == -signal.SIGKILL
        assert [p.name for p in tmp_path.iterdir()] == [p.name for p in tmp_path.glob("x.tar.gz")]
        assert all(p.read_bytes() == b"whole" for p in tmp_path.iterdir())
        (tmp_path / "x.tar.gz").write_bytes(b"whole")


def test_a_file_is_replaced_or_left_as_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken() -> Iterator[bytes]:
        yield b"half"
        raise OSError(28, "No space left on device")

    for nameless in (True, False):
        if not nameless:  # as on NFS
            monkeypatch.setattr(place_module, "_nameless", lambda _: None)
        path = tmp_path / f"{nameless}.bin"
        place_module.place([b"one"], str(path))
        with pytest.raises(OSError, match="No space left"):
            place_module.place(broken(), str(path))
        assert path.read_bytes() == b"one"
        place_module.place([b"two", b"three"], str(path), 0o640)
        assert (path.read_bytes(), stat.S_IMODE(path.stat().st_mode)) == (b"twothree", 0o640)
    monkeypatch.setattr(place_module, "_nameless", lambda _: os.open(tmp_path / "none", os.O_CREAT | os.O_RDWR))
    monkeypatch.setattr(place_module, "_linked", lambda *_: False)
    place_module.place([b"over", b"again"], str(tmp_path / "c.bin"))
    assert (tmp_path / "c.bin").read_bytes() == b"overagain"
    (tmp_path / "none").unlink()
    assert sorted(p.name for p in tmp_path.iterdir()) == ["False.bin", "True.bin", "c.bin"]


def test_two_at_once(project: Path, tmp_path: Path) -> None:
    path = tmp_path / "x.tar.gz"
    packed_once = machine.pack(project / "fixtures" / "roots" / "roce8")
    writers = [threading.Thread(target=bundle.write, args=(packed_once, path)) for _ in range(4)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    assert bundle.read(path).recorded.host == packed_once.recorded.host
    assert [p.name for p in tmp_path.iterdir()] == ["x.tar.gz"]


@pytest.mark.root
@pytest.mark.parametrize("exists", [True, False])
def test_a_link_of_another_user_is_not_written_through(tmp_path: Path, *, exists: bool) -> None:
    """Whoever made the link would choose the file: a bundle of root could replace any."""
    target, own, foreign = tmp_path / "target", tmp_path / "own.tar.gz", tmp_path / "foreign.tar.gz"
    if exists:
        target.write_text("kept")
    foreign.symlink_to("target")
    os.lchown(foreign, 12345, -1)
    own.symlink_to(foreign)
    for path in (foreign, own):
        with pytest.raises(PermissionError, match="it is a link that another user owns"):
            place_module.place([b"written"], str(path))
    assert target.exists() == exists
    assert not exists or target.read_text() == "kept"
    assert foreign.is_symlink()


def test_links_of_this_user_lead_to_the_file(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "a").symlink_to("folder/b")
    (tmp_path / "folder" / "b").symlink_to("c")
    (tmp_path / "loop").symlink_to("loop")
    for text in (b"first", b"second"):
        place_module.place([text], str(tmp_path / "a"))
        assert (tmp_path / "folder" / "c").read_bytes() == text
    with pytest.raises(OSError, match="Too many levels of symbolic links"):
        place_module.place([b"nothing"], str(tmp_path / "loop"))
    assert sorted(path.name for path in (tmp_path / "folder").iterdir()) == ["b", "c"]
