"""Identify the launchers of a command, and how environment variables reach its ranks: directly, by an option, or not.

===================== ================================================================================================
Open MPI              Ranks on this host inherit; those on others get only what ``-x NAME`` names (mpirun(1)). The
                      variable OMPI_MCA_mca_base_env_list does the same, but a job that also uses ``-x`` is rejected
                      (orte/mca/schizo/base/schizo_base_stubs.c), and ``-x`` applies to one of several applications
                      separated by ``:``.
MPICH, Intel MPI      All ranks get the environment of mpiexec unless an option prevents it (-genvnone, -genvlist).
srun                  All ranks get it unless --export or SLURM_EXPORT_ENV prevents it (srun(1)).
torchrun, accelerate  Workers are child processes; other hosts are started by others.
deepspeed             Other hosts get the variables in ~/.deepspeed_env and those with a prefix in EXPORT_ENVS
                      (launcher/runner.py), which includes NCCL only in some releases.
horovodrun            All that can be exported (horovod/runner/mpi_run.py).
docker run, ssh, sudo Start with a new environment (except sudo -E, Apptainer and Singularity).
===================== ================================================================================================
"""

from __future__ import annotations

import itertools
import re
import socket
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

import msgspec

from ncdiag.agent.run import run
from ncdiag.base.patterns import lazy_regex
from ncdiag.formats.launch_words import Command, read_command
from ncdiag.formats.launchers import CONTAINERS, find

_MPIRUN = frozenset({"mpirun", "mpiexec", "orterun", "prterun"})
_PREFIXES = frozenset({
    "env", "timeout", "nice", "nohup", "stdbuf", "time", "numactl", "taskset", "setsid", "ionice", "chrt", "unbuffer",
    "catchsegv", "strace", "ltrace", "xvfb-run", "nsys", "ncu",
})  # fmt: skip
"""Programs that start another one, which inherits their environment."""
_LEAVING = frozenset({"ssh", "rsh", "pdsh", "sudo", "doas"})
_EXEC = frozenset({"kubectl", "docker", "podman", "nerdctl", "crictl"})
_ARGUMENT = lazy_regex(r"-.*|[A-Za-z_]\w*=.*|[\d,.:x-]+[smhdk]?|profile|(?:KILL|TERM|INT|HUP)", re.DOTALL)
"""A word that is an argument of such a program, not the program that it starts."""
_ENV_LIST = "mca_base_env_list"
_SHOWN = 4


class Plan(msgspec.Struct, frozen=True):
    """How to start a command: its words, perhaps with additions, and notes for the user.

    ``elsewhere``: it starts processes on other hosts, as far as its words show. ``queues``: it only submits the job and
    ends.
    """

    argv: tuple[str, ...]
    notes: tuple[str, ...] = ()
    elsewhere: bool = False
    queues: bool = False
    programs: tuple[str, ...] = ()


class _Step(NamedTuple):
    """A launcher of the command: the indexes of its name and of its arguments, and the effect of its options."""

    name: str
    place: int
    words: tuple[str, ...]
    command: Command


def plan(argv: Sequence[str], names: Sequence[str], environment: Mapping[str, str]) -> Plan:
    """How the variables ``names``, which are in the job's ``environment``, reach the ranks of a command."""
    steps = list(_steps(list(argv)))
    made = list(argv)
    notes: list[str] = []
    for step in reversed(steps):  # backwards, so that indexes stay valid
        more, note = _passing(step, argv, names, environment)
        at = step.place + 1
        made[at:at] = more
        if note:
            notes.insert(0, note)
    left = _left(argv, steps)
    if left and names:
        notes.append(f"{left} does not pass on the environment: give it {_list(names)}, or run ncdiag inside it")
    return Plan(
        tuple(made), tuple(notes),
        elsewhere=any(_is_elsewhere(step, environment) for step in steps),
        queues=any(step.name == "sbatch" for step in steps), programs=tuple(step.name for step in steps),
    )  # fmt: skip


def _steps(argv: list[str]) -> Iterator[_Step]:
    """The launchers from the outside in; any other program ends the search, because the rest are its arguments."""
    position = 0
    while position < len(argv):
        here = find(argv, position)
        if here:
            command, inner = read_command(argv, here)
            yield _Step(here[0], here[2] - 1, tuple(argv[here[2] : inner]), command)
            position = inner
            continue
        if _base(argv[position]) not in _PREFIXES:
            return
        position += 1
        while position < len(argv) and _ARGUMENT.fullmatch(argv[position]):
            position += 1


def _base(word: str) -> str:
    return word.rpartition("/")[2]


def _left(argv: Sequence[str], steps: Sequence[_Step]) -> str:
    """The program before the job that does not pass on its environment, if any."""
    for step in steps:
        if step.name in CONTAINERS:
            return step.name
    if not steps and argv:
        word = next((word for word in argv if _base(word) not in _PREFIXES and not _ARGUMENT.fullmatch(word)), "")
        if (_base(word) in _LEAVING and "-E" not in argv) or (_base(word) in _EXEC and "exec" in argv[:4]):
            return f"{_base(word)}{' exec' if _base(word) in _EXEC else ''}"
    return ""


def _passing(
    step: _Step, argv: Sequence[str], names: Sequence[str], environment: Mapping[str, str]
) -> tuple[list[str], str]:
    """(words to insert after the launcher's name, note for the user)."""
    if not names:
        return [], ""
    if step.name in _MPIRUN or step.name.startswith("mpiexec"):
        return _by_mpi(step, argv, names, environment)
    if step.name == "srun":
        told = [word.partition("=")[2] for word in step.words if word.startswith("--export=")]
        told += [behind for word, behind in itertools.pairwise(step.words) if word == "--export"]
        given = next(iter(told), environment.get("SLURM_EXPORT_ENV", ""))
        if given and "ALL" not in given.split(","):
            return [], f"srun passes on only the variables named in --export: add {','.join(names)} or ALL"
    if step.name == "deepspeed" and _is_elsewhere(step, environment):
        return [], f"deepspeed may not pass {_list(names)} on to other hosts: add them to ~/.deepspeed_env"
    return [], ""


def _by_mpi(
    step: _Step, argv: Sequence[str], names: Sequence[str], environment: Mapping[str, str]
) -> tuple[list[str], str]:
    limits = {"genvnone", "envnone", "genvlist", "envlist"} & {word.lstrip("-") for word in step.words}
    if limits:
        return [], (f"-{min(limits)} limits which variables are passed on: add -genv NAME VALUE for {_list(names)}")
    said = run([argv[step.place], "--version"], 10).output.decode("utf-8", "replace")
    if "HYDRA" in said or "Intel" in said:
        return [], ""
    missing = [name for name in names if name not in {*step.command.env, *step.command.forwarded}]
    advice = " ".join(f"-x {name}" for name in missing)
    if "Open MPI" not in said and "PRRTE" not in said:
        return [], (f"ncdiag does not know {step.name}: make sure that it passes {_list(missing)} on to other hosts")
    if _ENV_LIST in step.command.mca or f"OMPI_MCA_{_ENV_LIST}" in environment:
        return [], f"{_ENV_LIST} excludes -x: add {';'.join(missing)} to it for the ranks on other hosts"
    if ":" in argv:
        return [], f"each of the applications needs {advice} for its ranks on other hosts"
    return [word for name in missing for word in ("-x", name)], ""


def _is_elsewhere(step: _Step, environment: Mapping[str, str]) -> bool:
    """True if it starts processes on other hosts."""
    several = any(environment.get(name, "1") != "1" for name in ("SLURM_JOB_NUM_NODES", "SLURM_NNODES"))
    if step.name in {"srun", "sbatch"}:
        return several or "SLURMD_NODENAME" not in environment
    if not step.command.spreads:
        return False
    if step.name in _MPIRUN:
        several = several or any(name in environment for name in ("PBS_NODEFILE", "LSB_HOSTS", "LSB_DJOB_HOSTFILE"))
    named = {str(host["name"]) for host in step.command.hosts}
    return several or "hostfile" in step.command.fields or bool(named - _own_names())


def _own_names() -> set[str]:
    own = socket.gethostname()
    return {own, own.partition(".")[0], "localhost", "127.0.0.1"}


def _list(names: Iterable[str]) -> str:
    given = list(names)
    return ", ".join(given[:_SHOWN]) + (f" and {len(given) - _SHOWN} more" if len(given) > _SHOWN else "")
