"""Pages that really run, a browser, and what finds faults of accessibility."""

from __future__ import annotations

import contextlib
import shutil
import subprocess
import tarfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from fetched import keep
from serving import Served, served_by

if TYPE_CHECKING:
    from playwright.sync_api import Browser

AXE = Path(__file__).resolve().parents[2] / ".cache" / "axe" / "axe.min.js"
AXE_PACKAGE = "axe-core@4.10.3"


@pytest.fixture(scope="session")
def served(program: list[str], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A page with the usual settings, for all tests of a session."""
    with served_by(program, tmp_path_factory.mktemp("served")) as page:
        yield page


@pytest.fixture
def serving(program: list[str], tmp_path: Path) -> Iterator[Callable[..., Served]]:
    """``serving("--keep", folder)``: a page with settings of its own."""
    with contextlib.ExitStack() as stack:

        def start(*options: str | Path) -> Served:
            temporary = tmp_path / f"served-{len(list(tmp_path.iterdir()))}"
            temporary.mkdir()
            return stack.enter_context(served_by(program, temporary, *options))

        yield start


@pytest.fixture(scope="module")  # while it is open, its thread runs a loop, and tests beside it could run none
def chromium(need: Callable[[str, object, str], None]) -> Iterator[Browser]:
    """A browser (playwright's ``Browser``); the test is skipped where there is none."""
    path = shutil.which("chromium") or shutil.which("google-chrome")
    need("chromium", path, "no chromium on PATH")
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def axe(need: Callable[[str, object, str], None], tmp_path_factory: pytest.TempPathFactory) -> str:
    """The script of axe-core, which finds faults of accessibility; skipped where npm does not have it."""
    if not AXE.exists():
        made = _of_npm(tmp_path_factory.mktemp("npm"))
        need("axe", made, f"npm cannot fetch {AXE_PACKAGE}")
        keep(AXE, made)
    return AXE.read_text(encoding="utf-8")


def _of_npm(folder: Path) -> bytes:
    if not shutil.which("npm"):
        return b""
    command = ["npm", "pack", "--silent", AXE_PACKAGE]
    packed = subprocess.run(
        command, cwd=folder, capture_output=True, check=False, timeout=120, stdin=subprocess.DEVNULL
    )
    if packed.returncode:
        return b""
    safely: Any = {"filter": "data"} if hasattr(tarfile, "data_filter") else {}  # first releases of 3.10 and 3.11
    shutil.unpack_archive(next(folder.glob("*.tgz")), folder, **safely)
    return (folder / "package" / "axe.min.js").read_bytes()
