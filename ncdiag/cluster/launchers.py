"""One process a host, by what also starts the job: ``srun`` or ``mpirun``."""

from __future__ import annotations

import contextlib
import os
import shlex
import shutil
import signal
import subprocess
import threading
from collections import deque
from collections.abc import Iterator, Mapping, Sequence

import msgspec

from ncdiag.bare.run import run
from ncdiag.cluster.envelope import Envelopes
from ncdiag.cluster.model import Answer, Wish
from ncdiag.cluster.remote import NONE
from ncdiag.facts.fold import fold_hosts

_GRACE = 15
"""Seconds beyond those of a host: until all processes are started, and until the last of them is told to end."""
_WORDS = 20
_UP = ("idle", "mix", "alloc", "comp", "resv")
"""How the states begin in which Slurm starts processes on a node (sinfo(1))."""
_ROOT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}


def by_srun(hosts: Sequence[str], command: str, wish: Wish) -> list[Answer]:
    """Ask by a job step on each host: in the allocation at hand, else in one of its own."""
    unfit = _unfit(hosts)
    fit = [host for host in hosts if host not in unfit]
    own = () if "SLURM_JOB_ID" in os.environ else (f"--immediate={_GRACE:d}", "--time=2")
    argv = [
        "srun", "--quiet", "--nodelist", fold_hosts(fit), "--nodes", str(len(fit)), "--ntasks", str(len(fit)),
        "--ntasks-per-node=1", "--kill-on-bad-exit=0", "--wait=0", "--overlap", "--mpi=none", *own,
        *shlex.split(wish.options), "sh", "-c", f"NCDIAG_HOST=$SLURMD_NODENAME; export NCDIAG_HOST; {command}",
    ]  # fmt: skip
    answers = _asked(argv, fit, wish, {}) if fit else []
    return [*answers, *(Answer(host, problem=why) for host, why in unfit.items())]


def _unfit(hosts: Sequence[str]) -> dict[str, str]:
    """The hosts on which Slurm starts nothing, and why: one of them would hold up all."""
    answer = run(["sinfo", "--noheader", "--Node", "--nodes", fold_hosts(hosts), "--format", "%N %T %E"], _GRACE)
    if answer.why is not None or answer.status:
        return {}
    states = {}
    for line in answer.output.decode("utf-8", "replace").splitlines():
        name, _, rest = line.strip().partition(" ")
        states[name] = rest
    found = {}
    for host in hosts:
        state, _, reason = states.get(host, "").partition(" ")
        if not state:
            found[host] = "Slurm does not know it"
        elif not state.startswith(_UP) or state.endswith("*"):
            why = "" if reason.strip() in {"", "none"} else f" ({reason.strip()})"
            found[host] = f"Slurm says that it is {state}{why}"
    return found


def by_mpirun(hosts: Sequence[str], command: str, wish: Wish) -> list[Answer]:
    """Ask by Open MPI's or MPICH's launcher; it gives up on all hosts when it cannot reach one."""
    said = run(["mpirun", "--version"], _GRACE).output.decode("utf-8", "replace")
    hydra = "HYDRA" in said or "Intel" in said
    where = ["-hosts", ",".join(hosts), "-ppn", "1"] if hydra else ["-H", ",".join(f"{h}:1" for h in hosts)]
    argv = ["mpirun", *where, "-n", str(len(hosts)), *shlex.split(wish.options), "sh", "-c", command]
    return _asked(argv, hosts, wish, _ROOT if os.geteuid() == 0 else {})


def _asked(argv: Sequence[str], hosts: Sequence[str], wish: Wish, more: Mapping[str, str]) -> list[Answer]:
    """Run a launcher and take what its processes say."""
    if shutil.which(argv[0]) is None:
        return [Answer(host, problem=f"{argv[0]} is not installed here") for host in hosts]
    envelopes, said = Envelopes(), deque[str](maxlen=_WORDS)
    with subprocess.Popen(  # noqa: S603  (an argument list)
        list(argv), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True,
        env={**os.environ, **more}, text=True, errors="replace",
    ) as process:  # fmt: skip
        reading = threading.Thread(target=_read, args=(process, envelopes, said, wish), daemon=True)
        reading.start()
        late = False
        try:
            process.wait(wish.seconds + _GRACE)
        except subprocess.TimeoutExpired:
            late = True
        finally:
            _end(process)
            reading.join(_GRACE)
    names = {**{name.partition(".")[0]: name for name in envelopes.hosts()}, **{n: n for n in envelopes.hosts()}}
    why = f"no answer within {wish.seconds:g} s" if late else _why(argv[0], process.returncode, said)
    answers = [
        _answer(host, names.get(host) or names.get(host.partition(".")[0], host), envelopes, why) for host in hosts
    ]
    first = next((number for number, answer in enumerate(answers) if answer.problem), None)
    if first is not None:  # what the launcher printed is of no one host: it is told once
        answers[first] = msgspec.structs.replace(answers[first], said=tuple(text for text in said if NONE not in text))
    return answers


def _read(process: subprocess.Popen[str], envelopes: Envelopes, said: deque[str], wish: Wish) -> None:
    for line in process.stdout or ():
        if envelopes.take(line):
            wish.tell(sum(map(envelopes.is_whole, envelopes.hosts())))
        elif line.strip():
            said.append(line.strip()[:400])


def _end(process: subprocess.Popen[str]) -> None:
    """End a launcher, its processes first: they see standard input end."""
    with contextlib.suppress(OSError):
        if process.stdin is not None:
            process.stdin.close()
    for number in _signals(process):
        with contextlib.suppress(OSError):
            os.killpg(process.pid, number)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(5)


def _signals(process: subprocess.Popen[str]) -> Iterator[int]:
    for number in (signal.SIGTERM, signal.SIGKILL):
        if process.poll() is None:
            yield number


def _why(launcher: str, code: int | None, said: Sequence[str]) -> str:
    missing = next((text[text.index(NONE) :] for text in said if NONE in text), None)
    if missing is not None:
        return f"it has no{missing.removeprefix(NONE)}"
    last = said[-1] if said else ""
    return f"{launcher} ended with {code}{f': {last}' if last else ''}"


def _answer(host: str, name: str, envelopes: Envelopes, why: str) -> Answer:
    try:
        return Answer(host, data=envelopes.data(name))
    except ValueError as error:
        return Answer(host, problem=str(error) if name in envelopes.hosts() else why)
