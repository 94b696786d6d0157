"""The built wheel diagnoses in an environment of its own, and so does an editable install."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tarfile
import venv
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

Need = Callable[[str, object, str], None]

SIZE_LIMIT = 4_900_000
"""Bytes of the wheel."""
READ_AS_TOML = {
    f"ncdiag/{name}.toml"
    for name in ("apps/explaining/logs", "apps/lint/checks", "apps/lint/images", "apps/web/words", "nccl/terms")
}
"""Definitions that an installed ncdiag does not have in compiled form."""


def run(*command: str | Path, cwd: Path) -> subprocess.CompletedProcess[str]:
    """Run without anything of the calling environment that could lead back to the source tree."""
    env = {k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "NCDIAG", "VIRTUAL_ENV"))}
    return subprocess.run(list(map(str, command)), cwd=cwd, env=env, capture_output=True, text=True, check=False)


@pytest.fixture(scope="session")
def wheel(project: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of this tree, built once."""
    target = tmp_path_factory.mktemp("wheel")
    built = run(
        sys.executable, "-m", "pip", "wheel", "--no-deps", "--no-build-isolation", "--quiet", "-w", target, project,
        cwd=target,
    )  # fmt: skip
    assert built.returncode == 0, built.stderr
    (found,) = target.glob("ncdiag-*.whl")
    return found


@pytest.fixture(scope="module")
def clean(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a new virtual environment."""
    folder = tmp_path_factory.mktemp("clean") / "venv"
    venv.create(folder, with_pip=True)
    return folder


def install(clean: Path, need: Need, *what: str | Path) -> None:
    done = run(clean / "bin" / "pip", "install", "--quiet", "--disable-pip-version-check", *what, cwd=clean)
    need("wheel", done.returncode == 0, f"pip cannot install: {done.stderr.strip()[-300:]}")


def diagnosed(clean: Path, project: Path) -> dict[str, object]:
    """The summary of the shipped veth log, diagnosed far from the source tree."""
    log = project / "fixtures" / "cases" / "veth" / "nccl.log"
    done = run(clean / "bin" / "ncdiag", "parse", log, "--format", "json", cwd=clean)
    assert done.returncode == 1, done.stderr
    summary: dict[str, object] = json.loads(done.stdout)["summary"]
    return summary


def test_the_wheel_carries_the_package_and_compiled_definitions(wheel: Path, project: Path) -> None:
    inside = set(zipfile.ZipFile(wheel).namelist())
    expected = {f"ncdiag/{path.relative_to(project / 'ncdiag')}" for path in (project / "ncdiag").rglob("*.py")}
    assert not expected - inside
    compiled = {name.partition(".msgpack")[0] for name in inside if name.startswith("ncdiag/_compiled/")}
    assert {f"ncdiag/_compiled/{name}" for name in ("rules", "examples", "messages", "variables")} <= compiled
    assert not [name for name in inside if name.startswith(("tests/", "fixtures/", "rules/", "docs/"))]
    assert {name for name in inside if name.endswith(".toml")} == READ_AS_TOML
    (page,) = (name for name in inside if name.endswith(".data/data/share/man/man1/ncdiag.1"))
    assert ".SS ncdiag triage " in zipfile.ZipFile(wheel).read(page).decode()


def test_the_wheel_is_small(wheel: Path) -> None:
    members = zipfile.ZipFile(wheel).infolist()
    largest = sorted(((member.compress_size, member.filename) for member in members), reverse=True)[:10]
    assert wheel.stat().st_size <= SIZE_LIMIT, largest


def test_a_build_from_the_source_archive_is_the_same_bytes(wheel: Path, project: Path, tmp_path: Path) -> None:
    """From another place, with other times of files; two archives are the same bytes, too."""
    copy = tmp_path / "copy"
    files = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard"], cwd=project, capture_output=True, check=True
    )
    for name in files.stdout.decode().splitlines():
        if (project / name).is_file():
            (copy / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(project / name, copy / name)
            shutil.copymode(project / name, copy / name)
    first, second = (_built(tree, "sdist", tmp_path / str(number)) for number, tree in enumerate((project, copy)))
    assert first.read_bytes() == second.read_bytes()
    with tarfile.open(first) as archive:
        archive.extractall(tmp_path / "unpacked", filter="data")
    again = _built(next((tmp_path / "unpacked").iterdir()), "wheel", tmp_path / "again")
    assert again.name == wheel.name
    assert _digests(again) == _digests(wheel)
    assert again.read_bytes() == wheel.read_bytes()


def _built(tree: Path, kind: str, folder: Path) -> Path:
    """The wheel or source archive that is built of a tree."""
    done = run(sys.executable, "-m", "hatchling", "build", "-t", kind, "-d", folder, cwd=tree)
    assert done.returncode == 0, done.stderr
    (found,) = folder.iterdir()
    return found


def _digests(wheel: Path) -> dict[str, int]:
    """The checksum of each file in a wheel."""
    return {member.filename: member.CRC for member in zipfile.ZipFile(wheel).infolist()}


def test_the_wheel_diagnoses_in_a_clean_environment(wheel: Path, clean: Path, project: Path, need: Need) -> None:
    install(clean, need, wheel)
    assert diagnosed(clean, project)["root_cause"] == "socket-virtual-ifname"
    assert run(clean / "bin" / "ncdiag", "demo", cwd=clean).stdout.count("ROOT CAUSE") == 3
    assert (clean / "share" / "man" / "man1" / "ncdiag.1").is_file()


def test_an_editable_install_finds_the_rules(clean: Path, project: Path, need: Need) -> None:
    install(clean, need, "--editable", project)
    where = run(clean / "bin" / "python", "-c", "import ncdiag; print(ncdiag.__file__)", cwd=clean)
    assert where.stdout.strip() == str(project / "ncdiag" / "__init__.py")
    assert diagnosed(clean, project)["root_cause"] == "socket-virtual-ifname"


def test_the_wheel_asks_for_nothing_undeclared(wheel: Path) -> None:
    archive = zipfile.ZipFile(wheel)
    (metadata,) = (n for n in archive.namelist() if n.endswith(".dist-info/METADATA"))
    text = archive.read(metadata).decode()
    needed = {
        line.split(":")[1] for line in text.splitlines() if line.startswith("Requires-Dist:") and "extra ==" not in line
    }
    names = {requirement.strip().split(">")[0].split("<")[0].split(";")[0].strip() for requirement in needed}
    assert names == {"typer", "psutil", "netifaces-plus", "nvidia-ml-py", "rich", "msgspec", "tomli"}


def test_the_command_of_the_readme_installs_in_a_clean_environment(
    project: Path, tmp_path: Path, need: Need
) -> None:  # fmt: skip
    folder = tmp_path / "venv"
    venv.create(folder, with_pip=True)
    install(folder, need, project)  # pip builds in an environment of its own, where nothing else is installed
    assert diagnosed(folder, project)["root_cause"] == "socket-virtual-ifname"
