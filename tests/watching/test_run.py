"""``ncdiag run`` around real processes: what they print, how they end and what they are sent is as without it."""

from __future__ import annotations

import contextlib
import hashlib
import os
import signal
import subprocess
import sys
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from processes import left_running, running, until

Run = Callable[..., subprocess.CompletedProcess[bytes]]

MARK = "NCDIAG_TEST_JOB"
PRINTS = """
import os, sys
block = bytes(range(256)) * 257
for _ in range({blocks}):
    os.write(1, block)
    os.write(2, block[:1000])
os.write(1, b"no line end")
sys.exit({code})
"""
COUNTS = """
import os, signal, sys, time
def count(number, frame):
    os.write(log, b"%d\\n" % number)
log = os.open(sys.argv[1], os.O_WRONLY | os.O_CREAT | os.O_APPEND)
for name in ("SIGINT", "SIGTERM", "SIGHUP", "SIGUSR1", "SIGUSR2"):
    signal.signal(getattr(signal, name), count)
open(sys.argv[1] + ".ready", "w").close()
while not os.path.exists(sys.argv[1] + ".end"):
    time.sleep(0.02)
"""


DISPOSES = """
import os, signal, sys
for name in ("SIGINT", "SIGPIPE", "SIGXFSZ"):
    signal.signal(getattr(signal, name), signal.SIG_DFL)
if sys.argv[1] == "ignored":
    signal.signal(signal.SIGINT, signal.SIG_IGN)
os.environ.pop("LC_CTYPE", None)
os.execvp(sys.argv[2], sys.argv[2:])
"""


def with_ctrl_c(disposition: str) -> list[str]:
    """Words that start a program with Ctrl-C ``ignored``, as a shell's background job has it, or with its default.

    Tests are started with the one or the other.
    """
    return [sys.executable, "-c", DISPOSES, disposition]


@pytest.fixture
def mark() -> Iterator[str]:
    """A word in the environment of a job and of all that it starts; nothing that carries it is left behind."""
    word = uuid.uuid4().hex
    yield word
    assert left_running(word) == []


def started(program: list[str], *words: str | Path, mark: str = "", **options: Any) -> subprocess.Popen[bytes]:  # noqa: ANN401
    """The program in a session of its own, so without a terminal."""
    defaults: dict[str, Any] = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    env = {**os.environ, MARK: mark, **options.pop("env", {})}
    command = [*program, "run", *map(str, words)]
    return subprocess.Popen(command, start_new_session=True, env=env, **(defaults | options))


def python(code: str, *arguments: str | Path) -> list[str]:
    return [sys.executable, "-c", code, *map(str, arguments)]


@pytest.mark.parametrize("blocks", [pytest.param(0, marks=pytest.mark.long), 200])
def test_the_output_is_the_same_to_the_byte(ncdiag_process: Run, tmp_path: Path, blocks: int) -> None:
    job = python(PRINTS.format(blocks=blocks, code=3))
    alone = subprocess.run(job, capture_output=True, check=False)
    watched = ncdiag_process("run", "-q", "-o", tmp_path / "report", "--", *job)
    assert (watched.returncode, watched.stderr) == (alone.returncode, alone.stderr) == (3, alone.stderr)
    assert hashlib.sha256(watched.stdout).digest() == hashlib.sha256(alone.stdout).digest()
    assert (tmp_path / "report").read_text()


def test_two_streams_into_one_pipe_keep_their_order(ncdiag_process: Run) -> None:
    job = python("import os\nfor n in range(500): os.write(1 + n % 2, b'%d ' % n)")
    done = ncdiag_process("run", "-q", "--", *job, stderr=subprocess.STDOUT)
    assert done.stdout.split() == [b"%d" % n for n in range(500)]


def test_a_file_stays_a_file_and_is_read(ncdiag_process: Run, tmp_path: Path, project: Path) -> None:
    log = project / "fixtures" / "cases" / "veth" / "nccl.log"
    out = tmp_path / "job.out"
    out.write_text("what was there before\n")
    code = "import os, shutil, stat, sys; shutil.copyfileobj(open(sys.argv[1]), sys.stdout); sys.stdout.flush()\n"
    code += "os.write(1, b'%d\\n' % stat.S_ISREG(os.fstat(1).st_mode)); sys.exit(1)"
    with out.open("ab") as opened:
        done = ncdiag_process("run", "--", *python(code, log), stdout=opened)
    assert done.returncode == 1
    assert out.read_text() == f"what was there before\n{log.read_text()}1\n"
    assert b"socket-virtual-ifname" in done.stderr
    assert b"what was there before" not in done.stderr


@pytest.mark.parametrize(
    ("job", "code"),
    [
        (["sh", "-c", "exit 3"], 3),
        (["sh", "-c", "kill -SEGV $$"], -11),
        (["./nosuch"], 127),
        (["/"], 126),
        pytest.param(["true"], 0, marks=pytest.mark.long),
        pytest.param(["sh", "-c", "kill -KILL $$"], -9, marks=pytest.mark.long),
        pytest.param([""], 127, marks=pytest.mark.long),
    ],
)
def test_the_exit_code_is_that_of_the_job(ncdiag_process: Run, tmp_path: Path, job: list[str], code: int) -> None:
    done = ncdiag_process("run", "--", *job, env={"TMPDIR": str(tmp_path)})
    assert done.returncode == code
    assert b"Traceback" not in done.stderr
    assert b"internal error" not in done.stderr
    assert list(tmp_path.iterdir()) == []


HANDLED = "import traceback\ntry:\n    int('x')\nexcept ValueError:\n    traceback.print_exc()\n"


def test_an_exception_that_a_job_handled_is_no_fault(ncdiag_process: Run) -> None:
    done = ncdiag_process("run", "--", sys.executable, "-c", HANDLED)
    said = done.stderr.decode()
    assert done.returncode == 0
    assert "ncdiag: the job ended with 0; no fault found" in said
    assert "SOMETHING IS WRONG" not in said


def test_an_exception_that_ended_the_job_is_its_root_cause(ncdiag_process: Run) -> None:
    done = ncdiag_process("run", "--", sys.executable, "-c", "int('x')")
    assert done.returncode == 1
    assert "A process failed on its own (ValueError: invalid literal" in done.stderr.decode()


def test_signals_are_passed_on_once(program: list[str], tmp_path: Path, mark: str) -> None:
    log = tmp_path / "signals"
    numbers = [signal.SIGHUP, signal.SIGINT, signal.SIGTERM, signal.SIGUSR1, signal.SIGUSR2]
    with started([*with_ctrl_c("default"), *program], "--", *python(COUNTS, log), mark=mark) as process:
        assert until((tmp_path / "signals.ready").exists)
        for count, number in enumerate(numbers, 1):
            os.killpg(process.pid, number)
            assert until(lambda count=count: log.exists() and log.read_text().count("\n") == count)  # type: ignore[misc]
        (tmp_path / "signals.end").touch()
        assert process.wait() == 0
    assert [int(word) for word in log.read_text().split()] == numbers


IGNORES = "import os, signal, sys; signal.signal(signal.SIGHUP, signal.SIG_IGN); os.execvp(sys.argv[1], sys.argv[1:])"


def test_a_hangup_that_is_ignored_ends_neither_ncdiag_nor_its_job(
    program: list[str], tmp_path: Path, mark: str
) -> None:
    """As after nohup; what is not ignored is passed on all the same."""
    ready = tmp_path / "ready"
    job = ["sh", "-c", f"grep SigIgn /proc/self/status; touch {ready}; while :; do sleep 0.05; done"]
    with started(python(IGNORES, *program), "-q", "--", *job, mark=mark) as process:
        assert until(ready.exists)
        os.killpg(process.pid, signal.SIGHUP)
        for child in running(mark):
            with contextlib.suppress(ProcessLookupError):
                os.kill(child, signal.SIGHUP)
        process.terminate()
        out, _ = process.communicate()
    assert int(out.split()[1], 16) & 1 << signal.SIGHUP - 1
    assert process.returncode == -signal.SIGTERM


def state_of(pid: int) -> str:
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]


def test_a_job_is_stopped_and_continued(program: list[str], tmp_path: Path, mark: str) -> None:
    log = tmp_path / "signals"
    with started(program, "--", *python(COUNTS, log), mark=mark) as process:
        assert until((tmp_path / "signals.ready").exists)
        job = next(pid for pid in running(str(log)) if pid != process.pid)
        process.send_signal(signal.SIGTSTP)
        assert until(lambda: state_of(job) == "T")
        process.send_signal(signal.SIGCONT)
        assert until(lambda: state_of(job) != "T")
        (tmp_path / "signals.end").touch()
        assert process.wait() == 0


def test_a_job_that_hangs_is_diagnosed_and_goes_on(
    program: list[str], tmp_path: Path, mark: str, project: Path
) -> None:
    log = project / "fixtures" / "cases" / "veth" / "nccl.log"
    end = tmp_path / "end"
    job = ["sh", "-c", f"cat {log}; while [ ! -e {end} ]; do sleep 0.05; done"]
    with started(program, "--hang-after", "0.3", "--", *job, mark=mark) as process:
        assert process.stderr is not None
        said = b""
        while b"socket-virtual-ifname" not in said:  # before it prints, a slow start may be taken for a hang
            said += process.stderr.readline() or pytest.fail(f"nothing said of a hang: {said!r}")
        end.touch()
        _, rest = process.communicate()
    assert process.returncode == 0
    assert b"has printed nothing for" in said
    assert b"ROOT CAUSE" not in rest
    assert b"its root cause is the one printed above" in rest


def test_a_job_that_hangs_and_ignores_sigterm_is_ended_if_that_is_wanted(
    program: list[str], tmp_path: Path, mark: str
) -> None:
    job = ["sh", "-c", "trap '' TERM; sleep 1000 & while :; do wait; done"]
    options = ["--hang-after", "0.3", "--kill-on-hang", "--kill-grace", "0.2", "--logs", str(tmp_path)]
    with started(program, *options, "--", *job, mark=mark) as process:
        _, said = process.communicate()
    assert process.returncode == -signal.SIGKILL
    assert b"stopping it" in said


def test_a_job_that_ignores_sigterm_goes_on(program: list[str], tmp_path: Path, mark: str) -> None:
    ready, end = tmp_path / "ready", tmp_path / "end"
    job = ["sh", "-c", f"trap '' TERM; touch {ready}; while [ ! -e {end} ]; do sleep 0.05; done; echo whole"]
    with started(program, "--", *job, mark=mark) as process:
        assert until(ready.exists)
        process.terminate()
        end.touch()
        out, _ = process.communicate()
    assert (process.returncode, out) == (0, b"whole\n")


def test_the_job_outlives_ncdiag(program: list[str], tmp_path: Path, mark: str) -> None:
    ready, end = tmp_path / "ready", tmp_path / "end"
    job = ["sh", "-c", f"echo begin; touch {ready}; while [ ! -e {end} ]; do sleep 0.05; done; echo whole"]
    with started(program, "--", *job, mark=mark, env={"TMPDIR": str(tmp_path)}) as process:
        assert until(ready.exists)
        process.kill()
        process.wait()
        end.touch()
        assert process.stdout is not None
        assert process.stdout.read() == b"begin\nwhole\n"


def test_a_reader_that_goes_away_ends_the_job(program: list[str], mark: str) -> None:
    with started(program, "-q", "--", "sh", "-c", "while echo line; do sleep 0.01; done", mark=mark) as process:
        assert process.stdout is not None
        process.stdout.read(10)
        process.stdout.close()
        assert process.wait() == -signal.SIGPIPE


def test_a_log_that_is_the_persons_own_is_read_and_kept(ncdiag_process: Run, tmp_path: Path) -> None:
    log = tmp_path / "own.log"
    done = ncdiag_process(
        "run", "--", "sh", "-c", 'echo "a:1:1 [0] NCCL INFO x" >$NCCL_DEBUG_FILE', env={"NCCL_DEBUG_FILE": str(log)}
    )
    assert f"{log.stat().st_size} bytes of NCCL's logs, in {log}\n".encode() in done.stderr


SHOWS = (
    "import os; print(*(f'{n}={v}' for n, v in sorted(os.environ.items()) if 'NCCL' in n or 'TORCH' in n), sep='\\n')"
)


def given(done: subprocess.CompletedProcess[bytes]) -> dict[str, str]:
    return dict(line.split("=", 1) for line in done.stdout.decode().splitlines())


def test_what_is_not_set_is_set(ncdiag_process: Run, tmp_path: Path) -> None:
    found = given(ncdiag_process("run", "--logs", tmp_path, "--", *python(SHOWS)))
    assert found["NCCL_DEBUG"] == "INFO"
    assert found["NCCL_DEBUG_FILE"] == f"{tmp_path}/nccl.%h.%p.log"
    assert found["TORCH_NCCL_DEBUG_INFO_TEMP_FILE"] == f"{tmp_path}/nccl_trace_rank_"


def test_what_is_set_stays(ncdiag_process: Run) -> None:
    own = {"NCCL_DEBUG": "WARN", "NCCL_DEBUG_SUBSYS": "ALL", "TORCH_FR_BUFFER_SIZE": "0"}
    done = ncdiag_process("run", "--", *python(SHOWS), env=own)
    found = given(done)
    assert {name: found[name] for name in own} == own
    assert not {"NCCL_DEBUG_FILE", "TORCH_NCCL_TRACE_BUFFER_SIZE"} & found.keys()  # which would change the output
    assert b"NCCL_DEBUG=WARN, NCCL_DEBUG_SUBSYS=ALL is already set and was not changed" in done.stderr


@pytest.mark.parametrize(
    ("locale", "ctrl_c"), [("C.UTF-8", "ignored"), pytest.param("C", "default", marks=pytest.mark.long)]
)
def test_nothing_else_is_changed(program: list[str], locale: str, ctrl_c: str) -> None:
    signals = "grep -e SigBlk -e SigIgn /proc/self/status | grep -o '......[0-9a-f]$'"  # glibc takes 32 and 33
    show = f"env | sort | grep -v -e NCCL -e ^_=; {signals}; ls /proc/self/fd; umask; pwd"
    job = ["sh", "-c", show]
    env = {name: value for name, value in os.environ.items() if name not in {"LC_ALL", "LC_CTYPE", "COLUMNS", "LINES"}}
    env["LANG"] = locale
    shell = with_ctrl_c(ctrl_c)
    alone = subprocess.run([*shell, *job], capture_output=True, check=False, stdin=subprocess.DEVNULL, env=env)
    line = [*shell, *program, "run", "-q", "--stacks", "never", "--", *job]
    watched = subprocess.run(line, capture_output=True, check=False, stdin=subprocess.DEVNULL, env=env)
    assert watched.stdout == alone.stdout
    assert b"LC_CTYPE" not in watched.stdout


DUMPS = """
import os, pickle, sys
pipe = os.environ["TORCH_NCCL_DEBUG_INFO_PIPE_FILE"] + "0.pipe"
os.mkfifo(pipe)
print("waiting", flush=True)
with open(pipe) as opened:
    opened.read()
call = dict(frames=[], record_id=0, pg_id=0, process_group=("0", "default_pg"), collective_seq_id=7, p2p_seq_id=0,
    op_id=7, profiling_name="nccl:all_reduce", state="scheduled", input_sizes=[[4]], input_dtypes=["Float"],
    output_sizes=[[4]], output_dtypes=["Float"], is_p2p=False)
dump = {"version": "2.4", "nccl_version": "2.21.5", "pg_config": {"0": {"name": "0", "desc": "default_pg",
    "ranks": "[0, 1]"}}, "pg_status": {}, "entries": [call]}
with open(os.environ["TORCH_NCCL_DEBUG_INFO_TEMP_FILE"] + "0", "wb") as opened:
    pickle.dump(dump, opened, 2)
while not os.path.exists(sys.argv[1]):
    pass
"""


def test_ranks_are_asked_for_their_flight_recorders(program: list[str], tmp_path: Path, mark: str) -> None:
    """The job does with the pipe and the dump what a rank of PyTorch does."""
    report, end = tmp_path / "report", tmp_path / "end"
    options: list[str | Path] = ["--hang-after", "0.3", "--format", "json", "-o", report]
    with started(program, *options, "--", *python(DUMPS, end), mark=mark) as process:
        assert until(report.exists)
        text = report.read_text()
        end.touch()
        process.communicate()
    assert '"flight_recorder"' in text


def test_a_report_for_a_plugin_is_refused(ncdiag_process: Run) -> None:
    done = ncdiag_process("run", "--exit-style", "nagios", "--", "true")
    assert b"cannot run as a monitoring plugin" in done.stdout + done.stderr
