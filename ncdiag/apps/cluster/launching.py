"""Test what a launch needs on all of its hosts: ``ncdiag probe --launch``."""

from __future__ import annotations

import os
import shlex
import socket
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import msgspec

from ncdiag.agent.addresses import is_here, resolved
from ncdiag.apps.cluster.logins import logins
from ncdiag.apps.cluster.model import Wish
from ncdiag.apps.cluster.probing import Trial, Tried, probe
from ncdiag.apps.cluster.ssh_words import ways
from ncdiag.apps.cluster.sweep import Via, chosen
from ncdiag.apps.cluster.targets import targets
from ncdiag.base.errors import UsageError
from ncdiag.base.spans import Section, span
from ncdiag.facts.model import Job
from ncdiag.facts.vocabulary.launch_plan import Plan, configurations, plan_of
from ncdiag.formats.shell import hide_secrets
from ncdiag.parsers import hostfile
from ncdiag.text import Piece, Reading, TextSource, job_of, read_source

_LARGEST = 4 << 20
"""Maximum size in bytes of a script or a host file."""
_DEEPSPEED_FILE = "/job/hostfile"
"""The host file that DeepSpeed reads by default (deepspeed/launcher/runner.py, DLTS_HOSTFILE)."""


class Asked(msgspec.Struct, frozen=True):
    """A parsed launch: its ``plan`` with all hosts, the ``readings`` of its texts, and these as one ``text``."""

    plan: Plan
    readings: tuple[Reading, ...]
    text: str


def asked(launch: str, nodes: str | None, environment: Mapping[str, str] = os.environ) -> Asked:
    """The launch in a command line or a file; ``nodes`` are its hosts if the launch does not name them.

    Raises UsageError for a text without a launch, if no hosts are named, and for a missing file.
    """
    folder, name, text = _text(launch)
    readings, texts = [read_source(TextSource.of_bytes(name, text.encode()))], [text]
    for beside in _further(job_of(readings), folder):
        texts.append(_read(beside))
        readings.append(read_source(TextSource.of_bytes(str(beside), texts[-1].encode())))
    plan = plan_of(job_of(readings))
    if not plan.launcher and name == launch:
        readings, texts = [_hosts_of(name, text)], [f"$ cat hostfile\n{text}"]
        plan = plan_of(job_of(readings))
    if not plan.launcher:
        where = name if name == launch else "the line"
        msg = (
            f"no launch was recognised in {where}: expected a line with mpirun, horovodrun, deepspeed, "
            "torchrun, accelerate or srun, a script with one, or a hostfile"
        )
        raise UsageError(msg)
    _refuse(plan)
    file = plan.hostfile or (_DEEPSPEED_FILE if plan.launcher == "deepspeed" and nodes is None else None)
    if (
        not plan.hosts
        and file is not None
        and (found := _hostfile(file, folder, told=bool(plan.hostfile and not nodes)))
    ):
        readings.append(found[0])
        texts.append(f"$ cat hostfile\n{found[1]}")
    hosts = _hosts(plan_of(job_of(readings)), nodes, environment)
    lines = [hide_secrets(line) for line in "\n".join(texts).splitlines()]
    return Asked(plan_of(job_of(readings), hosts), tuple(readings), "".join(f"{line}\n" for line in lines))


def _refuse(plan: Plan) -> None:
    """Raise UsageError for a launch that cannot be tested from this host."""
    if plan.elsewhere and plan.ssh is not None:
        msg = (
            f"{plan.elsewhere} starts {plan.launcher} in another place; run ncdiag probe there, with the command that "
            f"{plan.elsewhere} starts"
        )
        raise UsageError(msg)


def _further(job: Job, folder: Path) -> list[Path]:
    """The script of ``sbatch job.sh`` and a configuration of accelerate, if they exist."""
    scripts = [line.executable for line in job.launches if line.program == "sbatch" and line.executable]
    return [folder / name for name in (*scripts, *configurations(job)) if _is_file(folder / name)]


def _text(launch: str) -> tuple[Path, str, str]:
    """(folder in which the launch searches files, name, text)."""
    if _is_file(launch):
        return Path(launch).parent, launch, _read(Path(launch))
    if len(launch.split()) < 2:  # noqa: PLR2004  (a launcher and what it starts)
        msg = f"--launch {launch}: no such file, and not a launch command"
        raise UsageError(msg)
    try:
        shlex.split(launch)
    except ValueError as error:
        msg = f"--launch {launch}: {str(error).lower()}"
        raise UsageError(msg) from None
    return Path(), "launch", f"{launch.strip()}\n"


def _is_file(path: str | Path) -> bool:
    """Like Path.is_file, but False for a name that is too long, such as a whole command line, or in a closed folder."""
    return os.path.isfile(path)  # noqa: PTH113


def _read(path: Path) -> str:
    try:
        with path.open("rb") as opened:
            data = opened.read(_LARGEST + 1)
    except OSError as error:
        msg = f"cannot read {path}: {error.strerror}"
        raise UsageError(msg) from None
    if len(data) > _LARGEST:
        msg = f"{path} is too long for a script or a hostfile"
        raise UsageError(msg)
    return data.decode("utf-8", "replace")


def _hosts_of(name: str, text: str) -> Reading:
    """The facts of a host file, whatever its name; none if a line of it is something else."""
    lines = tuple(text.splitlines())
    section = Section(kind="hostfile", source=name, first_line=1, lines=lines, command="cat hostfile")
    parsed = hostfile.ROWS.parse(section)
    observations = () if parsed.unread else parsed.observations
    unread = tuple(span(name, number + 1, lines[number]) for number in parsed.unread)
    piece = Piece("hostfile", 1, len(lines), None)
    return Reading(name, len(lines), len(unread), (piece,), (), observations, unread)


def _hostfile(file: str, folder: Path, *, told: bool) -> tuple[Reading, str] | None:
    """A host file that the launch names; raises UsageError if a file given explicitly does not exist."""
    path = next((place for place in (Path(file), folder / file) if _is_file(place)), None)
    if path is not None:
        text = _read(path)
        reading = _hosts_of(str(path), text)
        if reading.unread and told:
            msg = f"{reading.unread[0].source}, line {reading.unread[0].line}: not a valid line of a hostfile"
            raise UsageError(msg)
        return reading, text
    if not told:
        return None
    msg = (
        f"the launch uses the hostfile {file}, which does not exist here: run this in the folder from which "
        "the job is started, or give the hosts with --nodes"
    )
    raise UsageError(msg)


def _hosts(plan: Plan, nodes: str | None, environment: Mapping[str, str]) -> tuple[str, ...]:
    """The hosts of the launch: those of ``--nodes``, of its text, or of the current Slurm allocation."""
    allocation = environment.get("SLURM_JOB_NODELIST")
    if nodes is not None:
        return targets(nodes)
    if plan.hosts and not plan.doubt:
        return plan.hosts
    if allocation:
        return targets(allocation)
    why = "does not say on which hosts it runs" if not plan.hosts else ("does not say reliably on which hosts it runs")
    words = f" ({plan.doubt})" if plan.doubt else ""
    msg = f"the launch {why}{words}; give them with --nodes (example: --nodes 'node[1-4]')"
    raise UsageError(msg)


def tried(found: Asked, via: Via | None, trial: Trial, wish: Wish) -> Tried:
    """What the hosts of a launch have of its requirements, and the connections between them.

    The lines of ssh follow the head of the text.
    """
    plan = found.plan
    wish.begin(len(plan.hosts))
    needs = {"programs": _programs(plan), "paths": _paths(plan)}
    here = frozenset(name for name in plan.hosts if is_here(name, resolved(name)))
    by_ssh = _logs_in(plan)
    nodes = ",".join(plan.hosts)
    means = via or chosen(nodes)
    own_way = ways(plan.ssh or () if by_ssh or means == "ssh" else ())
    options = wish.options or (shlex.join(own_way.options) if means == "ssh" else "")
    whole = msgspec.structs.replace(trial, needs=needs, ssh=by_ssh and own_way.port is None)
    carried = msgspec.structs.replace(wish, options=options, here=here, begin=lambda _: None)
    own = next(iter(sorted(here)), socket.gethostname())
    peers = [name for name in plan.hosts if name not in here]
    with ThreadPoolExecutor(1) as pool:
        asking = pool.submit(logins, own, peers, own_way) if by_ssh else None
        result = probe(nodes, means, whole, carried)
        lines = asking.result() if asking is not None else []
    head, _, rest = result.text.partition("\n")
    return msgspec.structs.replace(result, text="".join(f"{line}\n" for line in [head, *lines]) + rest)


def _logs_in(plan: Plan, environment: Mapping[str, str] = os.environ) -> bool:
    """True if the launcher logs in to the hosts. In a Slurm allocation, Open MPI and MPICH use srun."""
    if plan.ssh is None:
        return False
    return plan.launcher in {"horovodrun", "deepspeed"} or "SLURM_JOB_ID" not in environment


def _programs(plan: Plan) -> list[str]:
    """Programs that every host must find by name or by absolute path; none for a container."""
    name = plan.executable
    return [name] if name and not plan.contained and _is_plain(name) and ("/" not in name or name[0] == "/") else []


def _paths(plan: Plan) -> list[str]:
    """Files and folders that every host needs.

    A relative path counts only if it exists here: otherwise the job is started from another folder.
    """
    if plan.contained:
        return []
    base = Path(plan.workdir) if plan.workdir and _is_plain(plan.workdir) else Path()
    program = plan.executable if plan.executable and "/" in plan.executable else None
    found = [str(base)] if base.is_absolute() else []
    for name in (program, plan.script):
        if name and _is_plain(name) and (base / name).is_absolute():
            found.append(str(base / name))
        elif name and _is_plain(name) and os.path.exists(base / name):  # noqa: PTH110  (as in _is_file)
            found.append(os.path.normpath(Path.cwd() / base / name))
    return list(dict.fromkeys(found))


def _is_plain(word: str) -> bool:
    """True if a shell uses the word unchanged."""
    return not set(word) & set("$`*?~{}()<>|&;\"'\\")
