"""What all tests share: the project's folders, the real program, expected files that can be rewritten."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import in_process
import pytest
import surroundings
from examples import load_profile

from ncdiag.base import errors

PROJECT = Path(__file__).resolve().parent.parent
surroundings.make_equal(PROJECT / ".cache" / "home")
load_profile()
errors.strict = True  # a test is to see every fault of ncdiag; test_fail_forward.py says what users see
Run = Callable[..., subprocess.CompletedProcess[bytes]]


def pytest_addoption(parser: pytest.Parser) -> None:
    """``--update`` writes expected files anew; review the difference before it is kept."""
    parser.addoption("--update", action="store_true", help="rewrite expected files from what came out")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark tests by what they need.

    Tests that share the downloaded NCCL library are long and run in one worker, so that it is fetched once. Those that
    read the shared specimens are marked, as they take longer than all the others. Property tests are a sweep, of more
    examples.
    """
    for item in items:
        if item.get_closest_marker("hypothesis"):
            item.add_marker(pytest.mark.sweep)
        if item.get_closest_marker("lab"):
            item.add_marker(pytest.mark.xdist_group("lab"))
            item.add_marker(pytest.mark.long)
        if "shared" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.shared)


def pytest_configure(config: pytest.Config) -> None:
    """pytest-randomly varies the order of tests alone: their random numbers are the same in every run (below)."""
    config.option.randomly_reset_seed = False


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Seed the random numbers of the test; leave a random search (fuzz/campaign.py) out when its time is over."""
    random.seed(0)
    until = os.environ.get("NCDIAG_FUZZ_UNTIL")
    if until and item.get_closest_marker("hypothesis") and time.time() > float(until):
        pytest.skip("the time of the search is over")


def required(name: str) -> bool:
    """Must tests that need ``name`` run? NCDIAG_REQUIRE lists what this machine is promised to have."""
    return name in os.environ.get("NCDIAG_REQUIRE", "").replace(",", " ").split()


@pytest.fixture(scope="session")
def project() -> Path:
    """The root of the project."""
    return PROJECT


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of shared specimens; the test is skipped where it is absent."""
    found = Path(os.environ.get("NCDIAG_SHARED") or PROJECT.parent / "shared")
    if not found.is_dir():
        pytest.skip("no shared specimens (NCDIAG_SHARED names their folder)")
    return found


@pytest.fixture(scope="session")
def need() -> Callable[[str, object, str], None]:
    """``need("nccl", available, reason)``: skip when it is not available, fail when it was promised."""

    def check(name: str, available: object, reason: str) -> None:
        if not available:
            (pytest.fail if required(name) else pytest.skip)(f"{name}: {reason}")

    return check


@pytest.fixture
def expect(request: pytest.FixtureRequest) -> Callable[[Path, str], None]:
    """``expect(path, text)``: the file holds exactly this text; with ``--update`` it is written instead."""

    def check(path: Path, text: str) -> None:
        if request.config.getoption("--update"):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        assert path.exists(), f"{path} is missing; run pytest with --update and review it"
        assert text == path.read_text(encoding="utf-8")

    return check


@pytest.fixture(scope="session")
def program() -> list[str]:
    """The command that starts the installed program."""
    script = Path(sys.executable).parent / "ncdiag"
    return [str(script)] if script.exists() else [sys.executable, "-m", "ncdiag"]


@pytest.fixture(scope="session")
def ncdiag() -> Run:
    """``ncdiag("parse", path, input=b"...")``: what the program does in a process, without one; bytes in and out.

    For what is about processes (signals, terminals, limits, the variables of Python and the locale): `ncdiag_process`.
    """

    def run(*arguments: str | Path, env: dict[str, str] | None = None, **options: Any) -> Any:  # noqa: ANN401
        at_start = [name for name in env or {} if name.startswith(("PYTHON", "LC_"))]
        assert not at_start, f"what a process reads at its start takes ncdiag_process: {at_start}"
        return in_process.run(*arguments, env=_environment(env), **options)

    return run


@pytest.fixture(scope="session")
def ncdiag_process(program: list[str]) -> Run:
    """The same in a real process of the installed program; takes all options of `subprocess.run`."""

    def run(*arguments: str | Path, env: dict[str, str] | None = None, **options: Any) -> Any:  # noqa: ANN401
        defaults: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        if "input" not in options:
            defaults["stdin"] = subprocess.DEVNULL
        command = [*program, *map(str, arguments)]
        return subprocess.run(command, check=False, env=_environment(env), **(defaults | options))

    return run


def _environment(more: dict[str, str] | None) -> dict[str, str]:
    inherited = {name: value for name, value in os.environ.items() if name not in {"COLUMNS", "LINES"}}
    return {**inherited, **(more or {})}
