"""The Containerfile, as far as it can be judged without building it: what it copies, who runs it, and what it runs."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

FILE = Path(__file__).resolve().parents[2] / "contrib" / "Containerfile"


def instructions() -> list[tuple[str, str]]:
    lines = re.sub(r"(?m)^#.*\n", "", FILE.read_text()).replace("\\\n", " ").splitlines()
    return [(line.split(None, 1)[0], line.split(None, 1)[1]) for line in lines if line]


def test_the_image_runs_ncdiag_as_nobody(program: list[str]) -> None:
    last = dict(instructions())
    assert re.fullmatch(r"[1-9]\d*:[1-9]\d*", last["USER"]), "a number, so that runAsNonRoot can be checked"
    assert json.loads(last["ENTRYPOINT"]) == ["ncdiag"]
    done = subprocess.run([*program, *json.loads(last["CMD"])], check=True, capture_output=True)
    assert b"Usage: ncdiag" in done.stdout


def test_the_tag_is_the_release(project: Path) -> None:
    """In the Containerfile, the manifests and what CI installs."""
    from ncdiag import __version__

    named = re.findall(r"ncdiag[:@]v?([\d.]+\d)", "".join(p.read_text() for p in FILE.parent.rglob("*") if p.is_file()))
    assert len(named) > 3
    assert set(named) == {__version__}
    assert 'dynamic = ["version"]' in (project / "pyproject.toml").read_text()


def test_it_names_an_extra_that_there_is(project: Path) -> None:
    extras = {extra for found in re.findall(r"\[(\w+)\]\"?", str(instructions())) for extra in [found]}
    assert extras == {"zstd"}
    assert "zstd = [" in (project / "pyproject.toml").read_text()


def test_debian_has_the_packages(need: Callable[[str, object, str], None]) -> None:
    need("apt", shutil.which("apt-cache"), "no apt-cache")
    (text,) = [text for name, text in instructions() if name == "RUN" and "apt-get install" in text]
    packages = text.split("--no-install-recommends")[1].split("&&")[0].split()
    assert len(packages) > 5
    known = subprocess.run(["apt-cache", "pkgnames"], capture_output=True, text=True, check=True).stdout.split()
    if not {"bash", "pciutils"} <= set(known):
        pytest.skip("apt-cache has no lists of packages")
    assert set(packages) - set(known) == set()
