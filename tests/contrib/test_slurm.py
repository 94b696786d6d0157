"""The scripts for Slurm: a real slurmd runs them, and nothing but an error that was found takes a node away."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
import slurm_node

FAULTY = "fixtures/roots/ib-initializing"
SCRIPTS = ("ncdiag-health.sh", "ncdiag-prolog.sh", "ncdiag-epilog.sh")
PATIENT = 300
"""Seconds for a check: a busy machine is slow, and these tests are not about time."""


@pytest.fixture
def scripts(project: Path, tmp_path: Path) -> Path:
    """A copy of the scripts, whose settings a test may write."""
    for name in SCRIPTS:
        shutil.copy(project / "contrib" / "slurm" / name, tmp_path)
    return tmp_path


def settings(folder: Path, ncdiag: str, **more: str) -> None:
    """Write the settings file; the cache is that of the other tests."""
    given = {"NCDIAG": ncdiag, "LIMIT": str(PATIENT), **more}
    lines = [f"{name}={shlex.quote(value)}" for name, value in given.items()]
    cache = os.environ["XDG_CACHE_HOME"]
    lines += [f"export XDG_CACHE_HOME={shlex.quote(cache)}"]
    (folder / "ncdiag-slurm.conf").write_text("".join(f"{line}\n" for line in lines))


def bare(script: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Run a script as slurmd does: with the name of the node and nothing else."""
    return subprocess.run(
        [script, *words], env={"SLURMD_NODENAME": "n1"}, capture_output=True, text=True, check=False, cwd=script.parent,
        stdin=subprocess.DEVNULL,
    )  # fmt: skip


@pytest.mark.parametrize("shell", ["sh", "bash"])
@pytest.mark.parametrize("name", [*SCRIPTS, "ncdiag-requeue.sh"])
def test_the_shells_take_the_scripts(project: Path, name: str, shell: str) -> None:
    script = project / "contrib" / "slurm" / name
    assert os.access(script, os.X_OK)
    assert subprocess.run([shell, "-n", script], check=True, capture_output=True).stderr == b""


@pytest.mark.parametrize("name", SCRIPTS[1:])
def test_prolog_and_epilog_fail_on_a_faulty_node_alone(
    project: Path, scripts: Path, program: list[str], name: str
) -> None:
    settings(scripts, program[0], OPTIONS=f"--no-nccl --root {project / FAULTY}")
    done = bare(scripts / name)
    assert done.returncode == 1
    assert done.stderr.startswith("ncdiag: ib-sm-not-running ")
    settings(scripts, program[0], OPTIONS=f"--no-nccl --root {project / FAULTY} --fail-on never")
    assert bare(scripts / name).returncode == 0


PLUGIN = "#!/bin/sh\n"
NOT_AN_ERROR = {
    "ok": f"{PLUGIN}echo 'NCDIAG OK: fine'; exit 0",
    "warning": f"{PLUGIN}echo 'NCDIAG WARNING: slow'; exit 1",
    "unknown": f"{PLUGIN}echo 'NCDIAG UNKNOWN: nothing was seen'; exit 3",
    "python that cannot open its file": f'{PLUGIN}echo "can\'t open file" >&2; exit 2',
    "traceback": f"{PLUGIN}echo 'NCDIAG CRITICAL: half'; exit 1",
    "killed": f"{PLUGIN}echo 'NCDIAG CRITICAL: half'; kill -9 $$",
    "segmentation fault": f"{PLUGIN}kill -11 $$",
    "usage of another program": f"{PLUGIN}echo 'usage: check'; exit 2",
    "no interpreter": "#!/no/such/interpreter\n",
}
"""Programs in the place of ncdiag, which end as it might."""


@pytest.mark.parametrize("ending", NOT_AN_ERROR)
@pytest.mark.parametrize("action", ["drain", "fail"])
def test_whatever_is_no_answer_drains_nothing(scripts: Path, ending: str, action: str) -> None:
    program, asked = scripts / "program", scripts / "scontrol"
    program.write_text(NOT_AN_ERROR[ending])
    asked.write_text(f"{PLUGIN}touch {scripts}/drained\n")
    for each in (program, asked):
        each.chmod(0o755)
    settings(scripts, str(program), PATH=f"{scripts}:/usr/bin:/bin")
    assert bare(scripts / "ncdiag-health.sh", action).returncode == 0
    assert not (scripts / "drained").exists()
    program.write_text(f"{PLUGIN}echo 'NCDIAG CRITICAL: broken | errors=1;;;0'; exit 2")
    assert bare(scripts / "ncdiag-health.sh", action).returncode == (action == "fail")
    assert (scripts / "drained").exists() == (action == "drain"), "the same setting drains a node with an error"


def test_a_program_that_is_missing_or_hangs_drains_nothing(scripts: Path) -> None:
    settings(scripts, "/no/such/ncdiag")
    assert bare(scripts / "ncdiag-health.sh", "fail").returncode == 0
    hangs = scripts / "hangs"
    hangs.write_text(f"{PLUGIN}echo 'NCDIAG CRITICAL: half'; exec sleep 10000")
    hangs.chmod(0o755)
    settings(scripts, str(hangs), LIMIT="1")
    assert bare(scripts / "ncdiag-health.sh", "fail").returncode == 0


def test_the_reason_is_short_and_plain(scripts: Path) -> None:
    program = scripts / "program"
    program.write_text(
        f"{PLUGIN}printf 'NCDIAG CRITICAL: a \"b\" \\033[2J日志 %0300d | errors=1;;;0\\nmore\\n' 1; exit 2"
    )
    program.chmod(0o755)
    settings(scripts, str(program))
    reason = bare(scripts / "ncdiag-health.sh", "fail").stderr
    assert reason.startswith("ncdiag: a b [2J 0000")
    assert len(reason) <= 201


@pytest.mark.parametrize(
    ("ending", "told"), [("ok", ""), ("warning", ""), ("unknown", "3, NCDIAG UNKNOWN"), ("segmentation fault", "139")]
)
def test_syslog_says_what_was_not_judged(scripts: Path, ending: str, told: str) -> None:
    program, logger = scripts / "program", scripts / "logger"
    program.write_text(NOT_AN_ERROR[ending])
    logger.write_text(f'{PLUGIN}echo "$@" > {scripts}/said\n')
    for each in (program, logger):
        each.chmod(0o755)
    settings(scripts, str(program), PATH=f"{scripts}:/usr/bin:/bin")
    assert bare(scripts / "ncdiag-health.sh").returncode == 0
    said = (scripts / "said").read_text() if (scripts / "said").exists() else ""
    assert bool(said) == bool(told)
    assert told in said


WAIT = """
tries=0
until {until}; do
    tries=$((tries + 1)); [ $tries -gt 240 ] && {{ sinfo -N -o '%N %T %E'; tail slurmctld.log slurmd.log; exit 9; }}
    sleep 0.5
done
"""


@pytest.mark.root
def test_a_real_slurm_drains_the_faulty_node_with_the_reason(
    need: Callable[[str, object, str], None], project: Path, scripts: Path, program: list[str]
) -> None:
    """The node works until the settings say that it is the faulty one, and a healthy one stays as it is."""
    need("slurm", slurm_node.is_here(), slurm_node.LACKING)
    slurm = {"SLURM_CONF": str(scripts / "slurm.conf")}
    settings(scripts, program[0], OPTIONS=f"--no-nccl --root {project / FAULTY} --fail-on never", **slurm)
    faulty = scripts / "faulty.conf"
    healthy = (scripts / "ncdiag-slurm.conf").read_text()
    faulty.write_text(healthy.replace(" --fail-on never", "") + f"date >> {scripts}/faulty.log\n")
    (scripts / "ncdiag-slurm.conf").write_text(f"{healthy}date >> {scripts}/healthy.log\n")
    wait = WAIT.format(until="[ $(wc -l < healthy.log) -ge 3 ]")  # the third begins when the second has ended
    drained = WAIT.format(until="sinfo -h -o %T | grep -q drain")
    again = WAIT.format(until="[ $(wc -l < faulty.log) -ge $((again + 2)) ]")
    script = f"""{wait}
sinfo -h -o '%T'
mv faulty.conf ncdiag-slurm.conf
{drained}
sinfo -h -o '%T %E'
scontrol update NodeName=localhost State=RESUME
scontrol update NodeName=localhost State=DRAIN Reason='by an admin'
again=$(wc -l < faulty.log)
{again}
sinfo -h -o '%E'
"""
    asked = f"HealthCheckProgram={scripts}/ncdiag-health.sh\nHealthCheckInterval=1\nHealthCheckNodeState=ANY"
    shown = slurm_node.run(script, scripts, os.environ, asked)
    assert shown.returncode == 0, shown.stdout + shown.stderr[-2000:]
    before, after, admin = shown.stdout.splitlines()
    assert "drain" not in before
    state, _, reason = after.partition(" ")
    assert state.startswith("drain"), "draining while an epilog runs"
    assert reason.startswith("ncdiag: ib-sm-not-running (NCD")
    assert admin == "by an admin"


@pytest.mark.root
@pytest.mark.parametrize("name", ["Prolog", pytest.param("Epilog", marks=pytest.mark.long)])
def test_a_real_slurm_drains_a_node_whose_prolog_or_epilog_fails(
    need: Callable[[str, object, str], None], project: Path, scripts: Path, program: list[str], name: str
) -> None:
    """Jobs run until the node is faulty; then a prolog keeps the next one from starting, and an epilog ends with it."""
    need("slurm", slurm_node.is_here(), slurm_node.LACKING)
    faulty = f"--no-nccl --root {project / FAULTY}"
    settings(scripts, program[0], OPTIONS=faulty)
    (scripts / "ncdiag-slurm.conf").rename(scripts / "faulty.conf")
    settings(scripts, program[0], OPTIONS=f"{faulty} --fail-on never")
    drained = WAIT.format(until=f"sinfo -h -o %E | grep -q '{name} error'")
    idle = WAIT.format(until="sinfo -h -o %T | grep -qx idle")  # the epilog of the first job has ended
    script = f"""{idle}
mv faulty.conf ncdiag-slurm.conf
timeout 100 srun -Q -N1 touch job-ran &
{drained}
sinfo -h -o '%T %E'
"""
    asked = f"{name}={scripts}/ncdiag-{name.lower()}.sh\nPrologFlags=Alloc"
    shown = slurm_node.run(script, scripts, os.environ, asked)
    assert shown.returncode == 0, shown.stdout + shown.stderr[-2000:]
    assert shown.stdout.startswith("drain")
    assert (scripts / "job-ran").exists() == (name == "Epilog")


SCONTROL = """#!/bin/sh
echo "$@" >> "$0.log"
case $* in *"show job"*) echo "JobId=71 ExcNodeList=n9 NodeList=n[1-4]" ;; esac
"""
LOST = """
Aug 12 03:11:09 gn3 kernel: NVRM: Xid (PCI:0000:3b:00): 79, pid=3120, name=python, GPU has fallen off the bus.
"""
TYPO = """
gn1:7:7 [0] NCCL INFO NCCL_SOCKET_IFNAME set by environment to eht0
gn1:7:7 [0] NCCL WARN Bootstrap : no socket interface found
"""


def requeued(project: Path, folder: Path, report: Path, **variables: str) -> tuple[int, str, list[str]]:
    """(exit code, what was printed, the calls of scontrol) of the script for a report of job 71."""
    scontrol = folder / "scontrol"
    scontrol.write_text(SCONTROL)
    scontrol.chmod(0o755)
    log = folder / "scontrol.log"
    log.unlink(missing_ok=True)
    done = subprocess.run(
        [project / "contrib" / "slurm" / "ncdiag-requeue.sh", report], capture_output=True, text=True, check=False,
        env={"PATH": os.environ["PATH"], "SLURM_JOB_ID": "71", "SCONTROL": str(scontrol), **variables},
    )  # fmt: skip
    return done.returncode, done.stderr, log.read_text().splitlines() if log.exists() else []


@pytest.fixture
def reported(ncdiag: Callable[..., subprocess.CompletedProcess[bytes]], tmp_path: Path) -> Callable[[str], Path]:
    """The report of a log as a file."""

    def report(log: str) -> Path:
        path = tmp_path / "report.json"
        path.write_bytes(ncdiag("triage", "--format", "json", "-", input=log.encode()).stdout)
        return path

    return report


def test_a_job_on_a_broken_host_is_to_be_submitted_without_it(
    project: Path, tmp_path: Path, reported: Callable[[str], Path]
) -> None:
    report = reported(LOST)
    code, said, calls = requeued(project, tmp_path, report)
    assert calls == ["--oneliner show job 71"]
    assert (code, "sbatch --exclude=n9,gn3 ...: " in said) == (3, True)
    code, said, calls = requeued(project, tmp_path, report, SLURM_RESTART_COUNT="3")
    assert (code, calls, "restarted 3 times already" in said) == (1, [], True)


def test_a_job_that_would_fail_again_is_not_requeued(
    project: Path, tmp_path: Path, reported: Callable[[str], Path]
) -> None:
    code, said, calls = requeued(project, tmp_path, reported(TYPO))
    assert (code, calls) == (1, [])
    assert said == "ncdiag-requeue: not requeued: the job will fail again until this is fixed\n"


@pytest.mark.parametrize(
    ("text", "code", "calls"),
    [
        ('{"restart": {"word": "restart", "hosts": "", "reason": "it does not last"}}', 0, ["requeue 71"]),
        ('{"restart": null}', 1, []),
        ('{"restart": {"word": "restart-without-hosts", "hosts": "", "reason": "broken"}}', 1, []),
        ('{"restart": {"word": "restart-without-hosts", "hosts": "n1;reboot", "reason": "broken"}}', 2, []),
        ("no report", 2, []),
    ],
)
def test_what_the_report_says_about_a_restart_is_done(
    project: Path, tmp_path: Path, text: str, code: int, calls: list[str]
) -> None:
    (tmp_path / "report.json").write_text(text)
    found, said, called = requeued(project, tmp_path, tmp_path / "report.json")
    assert (found, called) == (code, calls)
    assert "ncdiag-requeue: " in said
    assert "--exclude" not in said
