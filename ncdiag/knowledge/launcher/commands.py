"""Commands that a shell, launcher or container runtime could not find or run, and the effect on the job."""

from __future__ import annotations

import re

from ncdiag.facts.derived import derived, derived_of
from ncdiag.facts.model import Event, Job
from ncdiag.facts.view import View
from ncdiag.facts.vocabulary.outcome import is_open_failure, went_on
from ncdiag.facts.vocabulary.places import place
from ncdiag.knowledge.launcher.arguments import is_stray_option
from ncdiag.messages.vocabulary.exceptions import EXCEPTION, is_own_exception

_MISSING = "command-not-found"
_EXITS = ("worker-failed", "process-exit", "mpi-exit-code")
_STATUS = frozenset({126, 127})
"""Exit statuses of a shell for a command that it cannot run, and for one that it cannot find (POSIX)."""
_TOLD = frozenset({_MISSING, "loader-library-missing", "loader-undefined-symbol", "mpi-library-missing"})
"""Events that give the reason for such a status."""
_STARTING = r"""(?x)
    # launchers and schedulers
    torchrun | torchx | deepspeed | accelerate | horovodrun | colossalai | fabric | lightning | ray
  | (?:mpi|orte|prte|js|a|p)run | mpiexec(?:\.\w+)? | orted | prted | hydra_\w+ | pmi_proxy | srun | sbatch | salloc
  | flux | qsub | bsub | pdsh | clush | parallel-ssh | pssh
    # what runs the program, and programs of many ranks
  | python[\d.]* | bash | sh | zsh | julia | \w+\.(?:py|sh) | \w+_perf(?:_mpi)?
  | vllm | sglang | trtllm-\w+ | tritonserver | text-generation-launcher
  | llamafactory-cli | xtuner | axolotl | nemo(?:run)?
    """
"""Programs that start a job or are one."""
_IN_FRONT = (
    r"ssh|sshpass|docker|nvidia-docker|podman|nerdctl|enroot|singularity|apptainer|shifter"
    r"|numactl|taskset|nsys|ncu|stdbuf|timeout|nohup|setsid|sudo"
)
"""Commands that come before the program in a script, and that people also try by hand."""
_BUILDING = r"nvcc|hipcc|ninja|cmake|make|gcc|g\+\+|cc|c\+\+|clang(?:\+\+)?|git|hostname|ldconfig|which|lscpu"
"""Programs that Python libraries call while they load, most of them to compile."""
_NO_FILE = r"\[Errno (?:2|13)\] [^:']{1,60}: ['\"]([^'\"]{1,200})['\"]"


@derived_of(_MISSING, EXCEPTION, *_EXITS)
def is_missing_command(event: Event, view: View) -> bool | None:
    """Did the job not start, or end, because a command of it was not found or could not be run?

    An optional tool of a script does not count: the command must start jobs or be on a launch line, or the program that
    was to start it reports it. None for a user's own program where no launch line was shown.
    """
    if event.event in _EXITS:
        fits = event.fields.get("exit_code") in _STATUS and _TOLD.isdisjoint(view.event_names())
        return fits and bool(is_open_failure(event, view))
    if event.event == EXCEPTION:
        return bool(is_own_exception(event, view)) and missing_command(event, view) != ""
    if went_on(event, view) or _came_to_run(event, view) or is_stray_option(event, view):
        return False
    name = missing_command(event, view)
    if event.kind == "cause" or (name != "" and _is_of_job(name, event, view)):
        return True
    return None if "/" in name and not view.job.launches else False


def _starts(command: str) -> bool:
    return re.fullmatch(_STARTING, command.rpartition("/")[2]) is not None


@derived
def missing_command(event: Event, view: View) -> str:
    """The command that was not found or could not be run, ``torchrun``; empty where no line names it."""
    if event.event == EXCEPTION:
        found = re.match(_NO_FILE, str(event.fields.get("error", "")))
        folder, _, name = found[1].rpartition("/") if found else ("", "", "")
        is_program = (not folder or folder.endswith("bin")) and (_starts(name) or re.fullmatch(_BUILDING, name))
        return name if is_program else ""
    return str(event.fields.get("missing_command", "")).strip("\"'`\\\u2018\u2019")


@derived
def missing_command_text(event: Event, view: View) -> str:
    """The missing command as text, ``torchrun``; ``a command`` where no line names it."""
    return missing_command(event, view) or "a command"


def _is_of_job(command: str, event: Event, view: View) -> bool:
    """Does the command start the job, or come before it in a script or on a launch line of the input?"""
    in_script = "script_line" in event.fields and re.fullmatch(_IN_FRONT, command.rpartition("/")[2]) is not None
    return _starts(command) or in_script or _is_launched(command, view.job)


def _is_launched(command: str, job: Job) -> bool:
    """Does a launch line of the input name the command?"""
    return any(command in launch.text.split() for launch in job.launches)


def _came_to_run(event: Event, view: View) -> bool:
    """Did all ranks start, or do some on the host print later? Then they were started in another way.

    NCCL starts when the processes have met, so its first line shows that none was missing.
    """
    at, job = place(event), view.job
    if job.nranks is not None and len({rank.rank for rank in job.ranks}) >= job.nranks:
        return True
    ranks = (rank for rank in view.job.ranks if event.host is None or rank.host == event.host)
    found = (place(rank) for rank in ranks)
    return at is not None and any(seen is not None and seen[0] == at[0] and seen[1] > at[1] for seen in found)


@derived
def starts_python(job: Job, view: View) -> bool:
    """Does a launch line of the job name Python, so that its program may choose the GPU by a variable?"""
    return any("python" in launch.text for launch in job.launches)
