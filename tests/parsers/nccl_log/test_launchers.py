"""A log in the form that each launcher, collector of logs or tool to paste gives it says what it said before."""

from __future__ import annotations

import importlib.util
import json
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import msgspec
import pytest

from ncdiag.knowledge.launcher.progress import absent
from ncdiag.text.reading.job import job_of
from ncdiag.text.reading.model import Reading
from ncdiag.text.reading.one import read_source
from ncdiag.text.sources.files import TextSource

Form = Callable[[int, str], str]
"""The number of a line, from 0 on, and its text to the line as it arrives."""

DEDUPLICATED = "(Ray deduplicates logs by default. Set RAY_DEDUP_LOGS=0 to disable log deduplication)"


def _json_file(_: int, line: str) -> str:
    """As Docker writes it: without blanks, escaped for HTML."""
    record = {"log": line + "\n", "stream": "stdout", "time": "2026-03-02T04:11:09.123456789Z"}
    text = json.dumps(record, separators=(",", ":"))
    return text.replace("<", r"\u003c").replace(">", r"\u003e").replace("&", r"\u0026")


def _ray_repeated(number: int, line: str) -> str:
    return f"(RayTrainWorker pid=12) {line}" + f" [repeated 7x across cluster] {DEDUPLICATED}" * (number % 7 == 3)


FORMS: dict[str, Form] = {
    "Open MPI": lambda n, line: f"[1,{n % 4}]<stdout>:{line}",
    "Open MPI with times": lambda n, line: f"Mon Mar  2 04:11:09 2026[1,{n % 4}]<stdout>:{line}",
    "PRRTE": lambda n, line: f"[prterun-box-1234@1,{n % 4}]<stderr>: {line}",
    "PRRTE in detail": lambda n, line: f"[prterun-box-1234@1,{n % 4}, box:{2200 + n % 4}]<stdout>: {line}",
    "Horovod over Gloo": lambda n, line: f"[{n % 4}]<stdout>:{line}",
    "an address": lambda _, line: f"[10.1.2.3]:{line}",
    "torchrun": lambda n, line: f"[default{n % 4}]:{line}",
    "torchrun in colour": lambda n, line: f"\x1b[33m[default{n % 4}]:\x1b[0m{line}",
    "srun": lambda n, line: f"{n % 12:2d}: {line}",
    "Ray": lambda _, line: f"\x1b[36m(RayWorker pid=12, ip=10.0.0.9)\x1b[0m {line}",
    "Ray within vLLM": lambda _, line: f"(EngineCore_DP0 pid=7) (RayWorkerWrapper pid=9) {line}",
    "Ray, which repeats nothing": _ray_repeated,
    "kubectl": lambda n, line: f"[pod/trainer-{n % 4}/main] {line}",
    "kubectl with times": lambda n, line: f"[pod/trainer-{n % 4}/main] 2026-03-02T04:11:09.123456789Z {line}",
    "stern": lambda n, line: f"\x1b[91mtrainer-{n % 4}\x1b[0m \x1b[31mmain\x1b[0m {line}",
    "Docker": _json_file,
    "Docker Compose": lambda n, line: f"worker-{n % 4}  | {line}",
    "CRI": lambda _, line: f"2026-03-02T04:11:09.123456789Z stdout F {line}",
    "journald": lambda _, line: f"Mar 02 04:11:09 box python[77]: {line}",
    "journald in ISO": lambda _, line: f"2026-03-02T04:11:09+0000 box python[77]: {line}",
    "GitHub": lambda _, line: f"2026-03-02T04:11:09.1234567Z {line}",
    "GitLab": lambda _, line: f"2026-03-02T04:11:09.123456Z 01O {line}",
    "ts": lambda _, line: f"Mar 02 04:11:09 {line}",
    "pdsh": lambda n, line: f"node0{n % 4}: {line}",
    "cat -n": lambda n, line: f"{n + 1:6d}\t{line}",
    "grep -n": lambda n, line: f"logs/job.out:{n + 1}:{line}",
    "quoted": lambda _, line: f"> {line}",
    "indented": lambda _, line: f"    {line}",
}


@pytest.fixture(scope="module")
def generated(project: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location("large_logs", project / "tests" / "generate" / "large.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


OLDER = (pytest.param(release, marks=pytest.mark.long) for release in ("2.8.4", "2.18.3"))


@pytest.fixture(scope="module", params=["2.27.7", *OLDER])
def log(request: pytest.FixtureRequest, generated: ModuleType) -> list[str]:
    """The lines of a job of two hosts; from one, its errors arrive."""
    job = generated.large(request.param, "roce", nodes=2, gpus=4, faults=("gid",))
    return list(generated.lines(job))


_DIFFER = {"provenance", "line_tag", "time", "begun_at", "ready_at", "order"}


def _plain(value: Any) -> Any:  # noqa: ANN401
    """A fact without its lines, their times and their tags, which differ."""
    if isinstance(value, dict):
        return {k: _plain(v) for k, v in value.items() if k not in _DIFFER}
    return [_plain(item) for item in value] if isinstance(value, list | tuple) else value


def _reading(lines: list[str]) -> Reading:
    return read_source(TextSource.of_bytes("job.log", "".join(f"{line}\n" for line in lines).encode()))


def _facts(reading: Reading) -> Any:  # noqa: ANN401
    return _plain(msgspec.to_builtins(job_of([reading])))


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_the_same_facts_in_every_form(form: Form, log: list[str]) -> None:
    dressed = _reading([form(number, line) for number, line in enumerate(log)])
    assert _facts(dressed) == _facts(_reading(log))
    assert dressed.unread_lines == 0


def test_what_ray_left_out_is_told() -> None:
    lines = [_ray_repeated(number, f"n1:7:7 [0] NCCL INFO Channel 0{number}/04 : 0 1") for number in range(11)]
    assert any("Ray omitted 14 lines" in note for note in _reading(lines).notes)


def test_nobody_is_absent_from_a_log_of_which_ray_left_out_lines() -> None:
    line = (
        "n{}:7:7 [0] NCCL INFO ncclCommInitRank comm 0x5 rank {} nranks 8 cudaDev 0 busId 1b000 commId 0x7 - Init START"
    )
    lines = [line.format(host, rank) for host, rank in [(1, 0), (2, 4)]]
    for form, expected in [("srun", True), ("Ray", None)]:
        job = job_of([_reading([FORMS[form](0, line) for line in lines])])
        assert _absent(job) is expected


def _absent(job: Any) -> bool | None:  # noqa: ANN401
    from ncdiag.facts.view import View

    view = View(job)
    found = absent(job.communicators[0], view)
    return None if found is None else bool(found)


WIDTHS = (80, 100, 120)


@pytest.mark.parametrize("width", WIDTHS)
def test_the_same_facts_in_a_wrapped_paste(width: int, log: list[str]) -> None:
    wrapped = [line[at : at + width] for line in log for at in range(0, len(line), width)]
    assert _facts(_reading(wrapped)) == _facts(_reading(log))


def test_the_same_facts_where_lines_are_glued_together(log: list[str]) -> None:
    """Two processes that write into one pipe: a line that lost its end to the other one."""
    text = "".join(line if line.endswith(CLOSED) else f"{line}\n" for line in log)
    assert _facts(_reading(text.splitlines())) == _facts(_reading(log))


CLOSED = ("P2P/CUMEM", "P2P/IPC", "/GDRDMA", "COMPLETE", "START")
"""Ends of messages that can be told from the host name behind them."""
