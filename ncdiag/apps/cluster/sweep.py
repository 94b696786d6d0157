"""Inspect many hosts as `ncdiag check` does, with the means that the site has."""

from __future__ import annotations

import json
import os
import shlex
import shutil
from collections.abc import Mapping, Sequence
from typing import Literal

import msgspec

from ncdiag.agent.run import run
from ncdiag.apps.cluster import remote
from ncdiag.apps.cluster.model import Answer, Wish
from ncdiag.apps.cluster.talk import Talk
from ncdiag.apps.cluster.targets import MISSING, is_name, targets
from ncdiag.base.errors import InputError, UsageError
from ncdiag.machine.host import Seen, apart, machines_of
from ncdiag.text import Elsewhere, TextSource, read_source

Via = Literal["ssh", "srun", "mpirun", "kubectl"]


def sweep_hosts(nodes: str, via: Via | None, wish: Wish, *, push: bool = False) -> list[Seen]:
    """The machines in ``nodes``, as far as they answered; raises UsageError if there is no way to reach them.

    ``via`` None: what is available (`chosen`). ``push``: send the program, for hosts without ncdiag.
    """
    means = via or chosen(nodes)
    command = remote.pushed(wish.seconds) if push else remote.installed(wish.seconds, wish.job, wish.stacks)
    return apart(machine for answer in asked(nodes, means, command, wish) for machine in machines(answer))


def asked(nodes: str, means: Via, command: str, wish: Wish, talk: Talk | None = None) -> list[Answer]:
    """The answer of each host in ``nodes`` to a command; ``talk``: the exchange in the meantime."""
    if means == "kubectl":
        answers = _pods(nodes, command, wish, talk)
    else:
        hosts = targets(nodes)
        wish.begin(len(hosts))
        answers = _hosts(hosts, means, command, wish, talk)
    return [msgspec.structs.replace(answer, by=means) for answer in answers]


def chosen(nodes: str, environment: Mapping[str, str] = os.environ) -> Via:
    """The means to use: kubectl for labels; srun in an allocation, else the first available of ssh, srun, mpirun."""
    if "=" in nodes and "[" not in nodes:
        return "kubectl"
    if "SLURM_JOB_ID" in environment and shutil.which("srun"):
        return "srun"
    known: tuple[Via, ...] = ("ssh", "srun", "mpirun")
    found = [name for name in known if shutil.which(name)]
    if not found:
        msg = "other hosts cannot be reached: none of ssh, srun and mpirun is installed"
        raise UsageError(msg)
    return found[0]


def _hosts(hosts: Sequence[str], means: Via, command: str, wish: Wish, talk: Talk | None) -> list[Answer]:
    from ncdiag.apps.cluster import launchers

    if means == "srun":
        return launchers.by_srun(hosts, command, wish, talk)
    if means == "mpirun":
        return launchers.by_mpirun(hosts, command, wish)
    return _by_shells(hosts, command, wish, talk)


def _by_shells(
    hosts: Sequence[str], command: str, wish: Wish, talk: Talk | None, *, local: bool = False
) -> list[Answer]:  # fmt: skip
    """Answers by ClusterShell; raises UsageError if it is not installed or not supported: it needs POSIX."""
    try:
        from ncdiag.apps.cluster import shells
    except ImportError as error:
        why = MISSING if "ClusterShell" in str(error) else f"other hosts cannot be reached from here: {error}"
        raise UsageError(why) from None
    return shells.ask(hosts, command, wish, local=local, talk=talk)


def _pods(selector: str, command: str, wish: Wish, talk: Talk | None) -> list[Answer]:
    """Answers of the running pods with these labels; ``wish.options`` may name kubectl's namespace and context."""
    options = shlex.split(wish.options)
    listed = run(["kubectl", *options, "get", "pods", "-l", selector, "-o", "json"], wish.seconds)
    if listed.why is not None or listed.status:
        words = listed.errors.decode("utf-8", "replace").strip().splitlines()
        msg = f"kubectl get pods -l {selector}: {listed.why or (words[-1] if words else 'it failed')}"
        raise UsageError(msg)
    phases = _phases(listed.output)
    if phases is None:
        msg = f"kubectl get pods -l {selector} did not print a list of pods"
        raise UsageError(msg)
    if not phases:
        msg = f"no pod has the labels {selector}"
        raise UsageError(msg)
    running = [name for name, phase in phases.items() if phase == "Running"]
    wish.begin(len(running))
    line = shlex.join(["kubectl", *options, "exec", "-i"]) + " %h -- sh -c " + shlex.quote(command)
    local = line.replace("%", "%%").replace("%%h --", "%h --", 1)
    answers = _by_shells(running, local, wish, talk, local=True) if running else []
    return [*answers, *(Answer(n, problem=f"the pod is {phase}") for n, phase in phases.items() if phase != "Running")]


def _phases(printed: bytes) -> dict[str, str] | None:
    """The phase of each pod; None if the output is not a list of pods."""
    try:
        pods = json.loads(printed)["items"]
        found = {str(pod["metadata"]["name"]): str(pod["status"]["phase"]) for pod in pods}
    except (ValueError, KeyError, TypeError):
        return None
    return found if all(map(is_name, found)) else None


def machines(answer: Answer) -> list[Seen]:
    """The machines in an answer; without one, a machine of which only the failure is known."""
    if answer.problem:
        return [_silent(answer)]
    try:
        found = machines_of(answer.data, answer.host)
    except InputError as error:
        why = str(error).removeprefix(f"cannot read {answer.host}: ")
        return [_silent(msgspec.structs.replace(answer, problem=why))]
    return [
        msgspec.structs.replace(machine.placed() if isinstance(machine, Elsewhere) else machine, name=answer.host)
        for machine in found
    ]


def _silent(answer: Answer) -> Elsewhere:
    """The output that came instead of the answer, parsed as any text, and the line that reports the failure."""
    host = answer.host
    last = [answer.silence] if host else []
    lines = [*answer.said, *last]
    source = TextSource.of_bytes(
        f"sweep of {host}" if host else answer.problem, "".join(f"{line}\n" for line in lines).encode()
    )
    reading = read_source(source)
    found = tuple(msgspec.structs.replace(o, host=o.host or host or None) for o in reading.observations)
    read = (msgspec.structs.replace(reading, observations=found),)
    return Elsewhere(name=host or answer.problem, host=host, read=read, unseen=(answer.problem,))
