"""``run`` and ``watch`` in this process, where what they do is seen line by line; test_run.py has the real program."""

from __future__ import annotations

import contextlib
import math
import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from processes import until

from ncdiag.apps.watching import dumps, job, outputs, place
from ncdiag.apps.watching.session import End, Session
from ncdiag.apps.watching.settings import Settings
from ncdiag.cli import main
from ncdiag.commands import _options, _run, _watch, _watching
from ncdiag.text.reading.growing import Growing
from ncdiag.text.reading.model import Reading
from ncdiag.text.reading.stop import Stop

pytestmark = pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")  # a test may have threads


@pytest.fixture
def log(project: Path) -> Path:
    return project / "fixtures" / "cases" / "veth" / "nccl.log"


@pytest.fixture(autouse=True)
def own_handlers() -> Iterator[None]:
    before = signal.getsignal(signal.SIGCHLD)
    yield
    signal.signal(signal.SIGCHLD, before)


@contextlib.contextmanager
def one_pipe() -> Iterator[list[bytes]]:
    """Standard output and standard error are one pipe; what came through it is in the list afterwards."""
    saved = [os.dup(1), os.dup(2)]
    end, pipe = os.pipe()
    printed: list[bytes] = []
    for stream in (1, 2):
        os.dup2(pipe, stream)
    os.close(pipe)
    try:
        yield printed
    finally:
        sys.stdout.flush()
        for stream, handle in zip((1, 2), saved, strict=True):
            os.dup2(handle, stream)
            os.close(handle)
        with os.fdopen(end, "rb") as opened:
            printed.append(opened.read())


def runner(argv: list[str], report: Path, **more: float) -> _run.Runner:
    options = _options.Options(output=report)
    return _run.Runner(argv, options, more.get("silence", 0), more.get("grace"), None, stacks="never")


def test_a_job_through_pipes(tmp_path: Path, log: Path) -> None:
    with one_pipe() as printed:
        code = runner(["sh", "-c", f"cat {log}; exit 3"], tmp_path / "report").run()
    assert (code, printed[0]) == (3, log.read_bytes())
    assert "socket-virtual-ifname" in (tmp_path / "report").read_text()


def test_a_job_into_files(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    code = main(["run", "-o", str(tmp_path / "report"), "--", "sh", "-c", "echo out; echo err >&2; exit 4"])
    assert (code, capfd.readouterr().out) == (4, "out\n")
    assert main(["run", "./nosuch"]) == job.NOT_FOUND
    assert "cannot run ./nosuch" in capfd.readouterr().err


def test_what_ncdiag_prints_into_the_file_of_the_job_is_not_output_of_the_job(tmp_path: Path, log: Path) -> None:
    """It is no sign of life either: a job that hangs is told of once."""
    path = tmp_path / "job.out"
    saved = [os.dup(1), os.dup(2)]
    with path.open("ab") as opened, contextlib.ExitStack() as after:
        for stream, handle in zip((1, 2), saved, strict=True):
            os.dup2(opened.fileno(), stream)
            after.callback(os.close, handle)
            after.callback(os.dup2, handle, stream)
        with os.fdopen(os.dup(2), "w") as err, contextlib.redirect_stderr(err):
            words = [
                "sh",
                "-c",
                f"cat {log}; while [ $(grep -c 'ROOT CAUSE' {path}) = 0 ]; do sleep 0.05; done; sleep 2",
            ]
            watched = _run.Runner(words, _options.Options(), 0.2, None, None, stacks="never")
            assert watched.run() == 0
    said = path.read_text()
    assert log.read_text() in said
    assert said.count("ROOT CAUSE") == 1
    assert "printed nothing" not in said.partition("ROOT CAUSE")[2]
    assert [source.size for source in watched._session.outputs.sources] == [log.stat().st_size]


def test_a_hang_is_told_and_ended(tmp_path: Path, log: Path, capfd: pytest.CaptureFixture[str]) -> None:
    words = ["sh", "-c", f"trap '' TERM; cat {log}; sleep 1000 & while :; do wait; done"]
    assert runner(words, tmp_path / "report", silence=0.2, grace=0.1).run() == -signal.SIGKILL
    assert "stopping it" in capfd.readouterr().err
    assert (tmp_path / "report").read_text()


def test_a_job_that_ends_on_sigterm_leaves_nothing(tmp_path: Path) -> None:
    assert runner(["sleep", "1000"], tmp_path / "report", silence=0.2, grace=60).run() == -signal.SIGTERM


def test_a_fault_of_ncdiag_is_not_one_of_the_job(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("ncdiag.base.errors.strict", False)

    def broken(*_: object, **__: object) -> bool:
        raise RuntimeError

    monkeypatch.setattr(Session, "read", broken)
    assert runner(["sh", "-c", "sleep 1; exit 6"], tmp_path / "report").run() == 6
    assert "the job continues, but is no longer watched" in capfd.readouterr().err
    monkeypatch.undo()
    monkeypatch.setattr("ncdiag.base.errors.strict", False)
    monkeypatch.setattr(_watching.Diagnoses, "judged", broken)
    assert runner(["sh", "-c", "exit 7"], tmp_path / "report").run() == 7
    assert "the job could not be diagnosed" in capfd.readouterr().err


def test_rules_that_cannot_be_read_end_the_watching_and_not_the_job(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rule, end, said = tmp_path / "rules" / "mine" / "mine.toml", tmp_path / "end", list[str]()
    rule.parent.mkdir(parents=True)
    rule.write_text("x = [")

    def say(sentence: str) -> None:
        said.append(sentence)
        end.touch()

    monkeypatch.setattr(_run, "say", say)
    job = ["sh", "-c", f"while [ ! -e {end} ]; do sleep 0.05; done; exit 6"]
    assert _run.Runner(job, _options.Options(rules=[tmp_path / "rules"]), 0.1, None, None, stacks="never").run() == 6
    assert len(said) == 1
    assert f"{rule}:1: " in said[0]
    assert said[0].endswith("; the job continues, but is no longer watched")


def test_where_no_process_can_be_begun_a_hang_is_told_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    def none(_: object) -> None:
        raise BlockingIOError(11, "Resource temporarily unavailable")

    monkeypatch.setattr(_watching, "Judging", none)
    assert runner(["sleep", "1000"], tmp_path / "report", silence=0.1, grace=math.inf).run() == -signal.SIGTERM
    said = capfd.readouterr().err
    assert "the diagnosis could not start: Resource temporarily unavailable; stopping it" in said


def test_a_diagnosis_that_fails_is_told(log: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "job.log").write_bytes(log.read_bytes())
    watcher, stop = _watch.Watcher([str(tmp_path)], _options.Options(), 0), Stop()
    watcher._diagnoses._not_seen = lambda: [str(1 // 0)]
    assert until(lambda: watcher.turn(stop) and capfd.readouterr().err) == (
        "ncdiag: the diagnosis failed (NCDIAG_DEBUG=1 shows where)\n"
    )


def test_a_session_says_what_it_does_not_see() -> None:
    found = Session(["true"], outputs.Outputs(), Settings({}, printed=True), place.Place("/x/", note="n"))
    found.outputs.unread["standard output"] = "why"
    assert [phrase.partition(" ")[0] for phrase in found.not_seen()] == ["standard", "n", "NCCL's"]
    found.files.refused.update((f"/x/{number}.log", "Permission denied") for number in range(9))
    assert found.not_seen()[1] == "NCCL's log 0.log (Permission denied)"
    assert found.not_seen()[4] == "6 more of NCCL's logs"
    assert not found.is_nccl_seen
    printed = outputs.Copied(1, 0, os.open(os.devnull, os.O_RDONLY), Growing("standard output"))
    found.outputs.copied.append(printed)
    seen = []
    for line in (b"loading\n", b"a:1:1 [0] NCCL INFO Bootstrap : Using eth0:10.0.0.1<0>\n"):
        printed.source.feed(line)
        seen.append(found.is_nccl_seen)
    assert seen == [False, True]
    found.outputs.close()


def test_an_error_in_the_words_of_a_command_is_none_that_happened() -> None:
    words = "NCCL WARN Call to ibv_modify_qp failed with error Connection timed out"
    said: dict[str, set[str]] = {}
    for argv in (["grep", words], ["sh", "-c", f"x\n{words}\n"], ["mpirun", "-x", "NCCL_IB_HCA=mlx5_0", "./x"]):
        found = Session(argv, outputs.Outputs(), Settings({}), place.Place("/x/"))
        item, *_ = found.items({}, end=End(0, 1))
        assert isinstance(item, Reading)
        said[argv[0]] = {each.entity for each in item.observations}
        found.outputs.close()
    assert said["grep"] | said["sh"] == set()
    assert {"Launch", "Setting"} <= said["mpirun"]


def test_a_rank_is_asked_for_its_dump(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dumps, "WAIT", 0.2)
    pipe = tmp_path / "p_0.pipe"
    os.mkfifo(pipe)
    (tmp_path / "p_1.pipe").touch()
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    dumps.ask_for_dumps(f"{tmp_path}/p_", f"{tmp_path}/d_")
    assert os.read(reader, 10) == b"1\n"
    os.close(reader)
    (tmp_path / "d_0").write_text("x")
    (tmp_path / "d_1").touch()
    assert list(dumps.written(f"{tmp_path}/d_", 0)) == [f"{tmp_path}/d_0"]


def test_ras_is_asked_where_it_is_said_to_listen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "ncclras"
    program.write_text('#!/bin/sh\necho "$@"\n')
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    answer = dumps.ras({"NCCL_RAS_ADDR": "[::1]:28028"})
    assert answer is not None
    assert b"".join(answer.buffers()) == b"$ ncclras -v\n-v -h ::1 -p 28028\n"


def test_where_a_folder_is_shared_it_is_in_the_working_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert not place._is_shared(tmp_path)
    monkeypatch.setattr(place, "_is_shared", lambda _: True)
    chosen = place.choose(None, elsewhere=True)
    assert Path(chosen.begin).parent == tmp_path
    chosen.remove()
    assert list(tmp_path.iterdir()) == []


def test_a_pipe_is_watched_to_its_end(
    log: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    end, pipe = os.pipe()
    os.write(pipe, log.read_bytes())
    os.close(pipe)
    with os.fdopen(end) as opened:
        monkeypatch.setattr(sys, "stdin", opened)
        assert main(["watch", "-"]) == 1
    assert capfd.readouterr().out.count("ROOT CAUSE") == 1


def test_what_came_just_before_ctrl_c_is_judged(tmp_path: Path, log: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "job.log").touch()

    def turn(_: _watch.Watcher, stop: Stop) -> bool:
        (tmp_path / "job.log").write_bytes(log.read_bytes())
        stop.ask()
        return True

    monkeypatch.setattr(_watch.Watcher, "turn", turn)
    assert main(["watch", "-q", str(tmp_path / "job.log")]) == 1


def test_each_cause_is_told_once(tmp_path: Path, log: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "job.log").write_bytes(log.read_bytes())
    watcher, stop = _watch.Watcher([str(tmp_path)], _options.Options(), 0.1), Stop()
    assert until(lambda: watcher.turn(stop) and watcher._diagnoses.shown)
    with (tmp_path / "job.log").open("ab") as opened:
        opened.write(b"RuntimeError: NCCL error\n")
    before = watcher._diagnoses._count
    assert until(lambda: watcher.turn(stop) and watcher._diagnoses._count > before)
    assert capfd.readouterr().out.count("socket-virtual-ifname") == 1
