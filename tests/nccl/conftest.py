"""Network namespaces and a real NCCL library for the tests that need them."""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
import sys
import uuid
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from namespaces import Namespace

VERSION = os.environ.get("NCDIAG_NCCL_VERSION") or "2.18.3"
WHEEL = f"nvidia-nccl-cu12=={VERSION}"
ROOT = Path(__file__).parents[2]


@pytest.fixture
def namespace(need: Callable[[str, object, str], None]) -> Iterator[Callable[[], Namespace]]:
    """A function that makes namespaces; skipped where they cannot be made."""
    possible = shutil.which("ip") is not None and os.geteuid() == 0
    need("netns", possible, "network namespaces take root and the ip command")
    made: list[Namespace] = []

    def make() -> Namespace:
        space = Namespace(f"ncd{uuid.uuid4().hex[:7]}")
        for name in (space.name, space.far):
            done = subprocess.run(["ip", "netns", "add", name], check=False, capture_output=True, text=True)
            need("netns", done.returncode == 0, f"no network namespaces here: {done.stderr.strip()}")
        made.append(space)
        return space

    yield make
    for space in made:
        for name in (space.name, space.far):
            subprocess.run(["ip", "netns", "del", name], check=False, capture_output=True)


@pytest.fixture(scope="session")
def nccl_library(need: Callable[[str, object, str], None]) -> Path:
    """A real libnccl.so.2: the file named by NCDIAG_NCCL_LIB, or the wheel's, downloaded once into .cache/nccl."""
    named = os.environ.get("NCDIAG_NCCL_LIB")
    if named:
        need("nccl", Path(named).is_file(), f"NCDIAG_NCCL_LIB names no file: {named}")
        return Path(named)
    folder = ROOT / ".cache" / "nccl" / VERSION
    library = folder / "libnccl.so.2"
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "lock").open("w") as lock:  # workers of one run: the first fetches it, the others wait
        fcntl.flock(lock, fcntl.LOCK_EX)
        problem = "" if library.is_file() else _download(folder)
    need("nccl", not problem, problem)
    return library


def _download(folder: Path) -> str:
    """Fetch the wheel and unpack the library; why that failed, empty when it did not."""
    options = ["--no-deps", "--only-binary", ":all:", "--quiet", "--dest", str(folder)]
    command = [sys.executable, "-m", "pip", "download", *options, WHEEL]
    try:
        done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=200)
    except subprocess.TimeoutExpired:
        return f"{WHEEL} could not be downloaded in time"
    wheels = list(folder.glob("*.whl"))
    if done.returncode or not wheels:
        return f"{WHEEL} cannot be downloaded here: {done.stderr.strip()[-200:]}"
    with zipfile.ZipFile(wheels[0]) as wheel:
        member = next(name for name in wheel.namelist() if name.endswith("/libnccl.so.2"))
        part = folder / "libnccl.part"
        with wheel.open(member) as source, part.open("wb") as target:
            shutil.copyfileobj(source, target)
        part.rename(folder / "libnccl.so.2")
    wheels[0].unlink(missing_ok=True)
    return ""
