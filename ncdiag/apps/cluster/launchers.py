"""Run one process per host with ``srun`` or ``mpirun``, which also start the job."""

from __future__ import annotations

import contextlib
import os
import selectors
import shlex
import shutil
import signal
import subprocess
import time
from collections import deque
from collections.abc import Iterator, Mapping, Sequence

from ncdiag.agent.run import run
from ncdiag.apps.cluster.envelope import Envelopes
from ncdiag.apps.cluster.model import Answer, Wish
from ncdiag.apps.cluster.remote import NONE
from ncdiag.apps.cluster.talk import Talk
from ncdiag.apps.cluster.targets import targets
from ncdiag.base.errors import UsageError
from ncdiag.facts.fold import fold_hosts

_GRACE = 15
"""Seconds in addition to those of a host: to start all processes, and to stop the last of them."""
_LAST, _TICK = 2, 0.5
"""Seconds for a launcher to end, and between checks."""
_WORDS, _LONGEST = 20, 400
_LONGEST_LINE = 1 << 20
"""Maximum length of a line in bytes; those of an envelope have 4,096."""
_UP = ("idle", "mix", "alloc", "comp", "resv")
"""Prefixes of the states in which Slurm starts processes on a node (sinfo(1))."""
_DRAINING = ("drain", "drng")
"""States of a node that accepts no new job and continues those that it has."""
AS_ROOT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}


def by_srun(hosts: Sequence[str], command: str, wish: Wish, talk: Talk | None = None) -> list[Answer]:
    """Run the command as a job step on each host: in the current allocation, else in a new one.

    ``talk``: the exchange in the meantime; srun sends its standard input to all of them.
    """
    unfit = _unfit(hosts)
    fit = [host for host in hosts if host not in unfit]
    own = () if "SLURM_JOB_ID" in os.environ else (f"--immediate={_GRACE:d}", "--time=2")
    argv = [
        "srun", "--quiet", "--nodelist", fold_hosts(fit), "--nodes", str(len(fit)), "--ntasks", str(len(fit)),
        "--ntasks-per-node=1", "--kill-on-bad-exit=0", "--wait=0", "--overlap", "--mpi=none", *own,
        *shlex.split(wish.options), "sh", "-c", f"NCDIAG_HOST=$SLURMD_NODENAME; export NCDIAG_HOST; {command}",
    ]  # fmt: skip
    answers = _asked(argv, fit, wish, {}, talk) if fit else []
    return [*answers, *(Answer(host, problem=why) for host, why in unfit.items())]


def _unfit(hosts: Sequence[str]) -> dict[str, str]:
    """The hosts on which Slurm starts nothing, and why: one of them would delay all."""
    answer = run(
        ["sinfo", "--all", "--noheader", "--Node", "--nodes", fold_hosts(hosts), "--format", "%N %T %E"], _GRACE
    )
    if answer.why is not None or answer.status:
        return {}
    own, states = _allocated(), {}
    for line in answer.output.decode("utf-8", "replace").splitlines():
        name, _, rest = line.strip().partition(" ")
        states[name] = rest
    found = {}
    for host in hosts:
        state, _, reason = states.get(host, "").partition(" ")
        if not state:
            found[host] = "Slurm does not know it"
        elif not state.startswith((*_UP, *_DRAINING) if host in own else _UP) or state.endswith("*"):
            why = "" if reason.strip() in {"", "none"} else f" ({reason.strip()})"
            found[host] = f"Slurm says that it is {state}{why}"
    return found


def _allocated() -> frozenset[str]:
    """The nodes of the current allocation: steps can be started on them while it lasts."""
    listed = os.environ.get("SLURM_JOB_NODELIST") if "SLURM_JOB_ID" in os.environ else None
    try:
        return frozenset(targets(listed)) if listed else frozenset()
    except UsageError:
        return frozenset()


def by_mpirun(hosts: Sequence[str], command: str, wish: Wish) -> list[Answer]:
    """Run the command with the launcher of Open MPI or MPICH; it fails on all hosts if it cannot reach one."""
    # Standard input of most ranks ends at once, which means nothing. Standard output is a pty, which does not preserve
    # records (orte/mca/iof/base/iof_base_setup.c); standard error is a pipe.
    apart = f"{{ {command}; }} </dev/null 3>&2 2>/dev/null 1>&3"
    argv = [*mpirun(hosts), *shlex.split(wish.options), "sh", "-c", apart]
    return _asked(argv, hosts, wish, AS_ROOT if os.geteuid() == 0 else {})


def mpirun(hosts: Sequence[str]) -> list[str]:
    """The start of a command line that starts one process on each host."""
    said = run(["mpirun", "--version"], _GRACE).output.decode("utf-8", "replace")
    hydra = "HYDRA" in said or "Intel" in said
    where = ["-hosts", ",".join(hosts), "-ppn", "1"] if hydra else ["-H", ",".join(f"{h}:1" for h in hosts)]
    return ["mpirun", *where, "-n", str(len(hosts))]


def _asked(
    argv: Sequence[str], hosts: Sequence[str], wish: Wish, more: Mapping[str, str], talk: Talk | None = None
) -> list[Answer]:  # fmt: skip
    """Run a launcher and collect the answers of its processes."""
    if shutil.which(argv[0]) is None:
        return [Answer(host, problem=f"{argv[0]} is not installed here") for host in hosts]
    envelopes, said = talk or Envelopes(hosts), deque[str](maxlen=_WORDS)
    if talk is not None:
        talk.begin(hosts)
    process = subprocess.Popen(  # noqa: S603  (an argument list)
        list(argv), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True,
        env={**os.environ, **more},
    )  # fmt: skip
    late = True
    try:
        for line in _lines(process, time.monotonic() + wish.seconds + _GRACE):
            if envelopes.take(line):
                wish.tell(envelopes.whole())
            elif line.strip():
                said.append(line.strip()[:_LONGEST])
            if talk is not None and _is_over(talk, process):
                break
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(_LAST)
            late = False
    finally:
        _end(process)
    why = f"no answer within {wish.seconds:g} s" if late else _why(argv[0], process.returncode, said)
    answers = [_answer(host, envelopes, why) for host in hosts]
    if any(answer.problem for answer in answers):  # the launcher's output may concern any of them
        told = tuple(text for text in said if NONE not in text)
        answers.append(Answer("", problem=f"{argv[0]} was asked", said=told))
    return answers


def _is_over(talk: Talk, process: subprocess.Popen[bytes]) -> bool:
    """Send what is due; True once nothing more is expected."""
    word = talk.due()
    if word is not None and process.stdin is not None:
        with contextlib.suppress(OSError):
            process.stdin.write(word)
            process.stdin.flush()
    return talk.is_over()


def _lines(process: subprocess.Popen[bytes], deadline: float) -> Iterator[str]:
    """The lines of a process until its output ends or the deadline: child processes may keep the output open.

    Yields an empty line at intervals while there is no output, so that the caller can act.
    """
    if process.stdout is None:
        return
    rest = b""
    with selectors.DefaultSelector() as selector:
        selector.register(process.stdout, selectors.EVENT_READ)
        while (left := deadline - time.monotonic()) > 0:
            if not selector.select(min(left, _TICK)):
                if process.poll() is not None:
                    break
                yield ""
                continue
            piece = os.read(process.stdout.fileno(), 1 << 16)
            *whole, rest = (rest + piece).split(b"\n")
            if len(rest) > _LONGEST_LINE:  # a very long line is passed on in parts
                whole, rest = [*whole, rest], b""
            yield from (line.decode("utf-8", "replace") for line in whole)
            if not piece:
                break
    yield rest.decode("utf-8", "replace")


def _end(process: subprocess.Popen[bytes]) -> None:
    """End a launcher: its processes see standard input end, and it has a moment to end the rest."""
    for stream in (process.stdin, process.stdout):
        if stream is not None:
            with contextlib.suppress(OSError):
                stream.close()
    for number in (signal.SIGTERM, signal.SIGKILL):
        with contextlib.suppress(OSError):
            if process.poll() is None:
                os.killpg(process.pid, number)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(_LAST)


def _why(launcher: str, code: int | None, said: Sequence[str]) -> str:
    missing = next((text[text.index(NONE) :] for text in said if NONE in text), None)
    if missing is not None:
        return f"it has no{missing.removeprefix(NONE)}"
    last = said[-1] if said else ""
    return f"{launcher} ended with {code}{f': {last}' if last else ''}"


def _answer(host: str, envelopes: Envelopes | Talk, why: str) -> Answer:
    try:
        return Answer(host, data=envelopes.data(host))
    except ValueError as error:
        return Answer(host, problem=str(error) if host in envelopes.hosts() else why)
