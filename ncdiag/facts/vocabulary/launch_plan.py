"""What a launch needs of its hosts, as its text says: which hosts, how they are reached, where the ranks meet."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Mapping, Sequence
from typing import TypeVar

import msgspec

from ncdiag.facts.model import Job, Launch

T = TypeVar("T")

HOSTFILE = "hostfile"
"""The program of a launch that is a file of hosts."""
_MPI = frozenset({"mpirun", "mpiexec", "mpiexec.hydra", "mpiexec.mpich", "orterun", "prterun"})
_TORCH = frozenset({"torchrun", "torch.distributed.run", "torch.distributed.launch", "torch.distributed.elastic"})
_SLURM = frozenset({"srun", "sbatch", "salloc"})
_KNOWN = _MPI | _TORCH | _SLURM | {"horovodrun", "deepspeed", "accelerate launch"}
_SSH_AGENTS = frozenset({"ssh", "rsh", "pdsh", "openmpi", "mpich", "impi", "mvapich", "standard"})
"""Launchers of hydra (-launcher) and of DeepSpeed (--launcher) that log in by ssh; the first two by its name."""
_SSH_ARGUMENTS = ("plm_rsh_args", "plm_ssh_args", "pls_rsh_args")
_SSH_PROGRAMS = ("plm_rsh_agent", "plm_ssh_agent", "pls_rsh_agent")
"""Parameters of Open MPI 1 to 5 (orte/mca/plm/rsh, PRRTE src/mca/plm/ssh)."""
_PORT, _C10D_PORT = 29500, 29400
"""Ports where none is told: of torchrun, DeepSpeed and accelerate; of a c10d endpoint (torch/distributed/run.py)."""
_ENDPOINT = r"--rdzv[-_]endpoint\b"
_PLAIN = r"[A-Za-z0-9_][\w.:-]{0,252}"
_BY_NODE = r"-{1,2}(?:bynode|map-by[= ]+(?:ppr:\d+:)?node)\b"


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """What the launch needs.

    ``launcher`` is the outermost one that is known; ``hosts`` those that the text names, and ``source`` a phrase on
    where. ``hostfile`` is the file of hosts that was named, ``slots`` the processes on each host as far as told.
    ``ssh`` are the options with which the launcher calls ssh; None where it does not.
    ``master`` and ``port`` are where the ranks meet; empty and None where the text does not say it.
    """

    launcher: str = ""
    hosts: tuple[str, ...] = ()
    source: str = ""
    hostfile: str | None = None
    slots: Mapping[str, int] = {}
    gpus_per_node: int | None = None
    ssh: tuple[str, ...] | None = None
    master: str = ""
    port: int | None = None
    executable: str | None = None
    script: str | None = None
    workdir: str | None = None
    image: str | None = None

    @property
    def place(self) -> tuple[str, int] | None:
        """Where the ranks meet; None where the text does not say both host and port."""
        return (self.master, self.port) if self.master and self.port is not None else None


def plan_of(job: Job, hosts: Sequence[str] = ()) -> Plan:
    """The plan of the launch that a job shows; ``hosts`` are told by somebody else, in place of those of the text."""
    lines = [launch for launch in job.launches if launch.program in _KNOWN]
    named, source = _named(job, lines)
    own = tuple(hosts) or named
    outer = next((line for line in lines if line.program not in {"sbatch", "salloc"}), lines[0] if lines else None)
    master, port = _meeting(job, lines, own)
    return Plan(
        launcher=outer.program if outer is not None else HOSTFILE if named else "",
        hosts=own,
        source=source if own == named else "",
        hostfile=next((line.hostfile for line in lines if line.hostfile), None),
        slots=_slots(job, lines, own),
        gpus_per_node=_first(line.gpus_per_node for line in lines),
        ssh=_ssh(outer, lines),
        master=master,
        port=port,
        executable=_last(line.executable for line in lines if line.program != "sbatch"),
        script=_last(line.script for line in lines if line.program != "sbatch"),
        workdir=_last(line.workdir for line in lines),
        image=_first(line.image for line in job.launches),
    )


def _first(values: Iterable[T | None]) -> T | None:
    return next((value for value in values if value is not None), None)


def _last(values: Iterable[str | None]) -> str | None:
    found = [value for value in values if value is not None]
    return found[-1] if found else None


def _listed(job: Job, lines: Sequence[Launch]) -> Launch | None:
    """The line or the file that names the hosts: a launcher's option, Slurm's list, then a file."""
    files = [launch for launch in job.launches if launch.program == HOSTFILE]
    order = [*(line for line in lines if line.program != "sbatch"), *lines, *files]
    return next((launch for launch in order if launch.hosts), None)


def _named(job: Job, lines: Sequence[Launch]) -> tuple[tuple[str, ...], str]:
    listed = _listed(job, lines)
    if listed is None:
        return (), ""
    names = list(dict.fromkeys(host.name for host in listed.hosts))
    chooser = next((line for line in lines if line.program == "deepspeed"), None)
    if chooser is not None:
        names = [name for name in names if chooser.include is None or name in chooser.include]
        names = [name for name in names if name not in (chooser.exclude or ())]
        names = names[: chooser.nnodes] if chooser.nnodes else names
    return tuple(names), "the file of hosts" if listed.program == HOSTFILE else listed.program


def _ssh(outer: Launch | None, lines: Sequence[Launch]) -> tuple[str, ...] | None:
    """The options of ssh; None where the launcher does not call it."""
    if outer is None:
        return ()  # a file of hosts alone is for a launcher that logs in to them
    if outer.program in _TORCH | _SLURM | {"accelerate launch"} or any(line.program == "sbatch" for line in lines):
        return None
    given = _parameters(outer)
    program = next((given[name] for name in _SSH_PROGRAMS if given.get(name)), outer.agent or "ssh")
    name = program.split(":")[0].strip().rpartition("/")[2].split(" ")[0]
    if name not in _SSH_AGENTS or given.get("plm") == "slurm":
        return None
    words = next((_split(given[name]) for name in _SSH_ARGUMENTS if given.get(name)), [])
    words += ["-p", str(outer.ssh_port)] if outer.ssh_port is not None else []
    words += ["-i", outer.ssh_key] if outer.ssh_key else []
    return tuple(words)


def _parameters(launch: Launch) -> dict[str, str]:
    """Open MPI's parameters, as options or as variables."""
    variables = {**launch.prefix_env, **launch.env}
    by_name = {name.removeprefix("OMPI_MCA_").removeprefix("PRTE_MCA_"): text for name, text in variables.items()}
    return {**by_name, **launch.mca}


def _split(text: str) -> list[str]:
    try:
        return shlex.split(text)
    except ValueError:
        return text.split()


def _meeting(job: Job, lines: Sequence[Launch], hosts: Sequence[str]) -> tuple[str, int | None]:
    """MASTER_ADDR and MASTER_PORT: of a launcher's option, of the variables it sets, of the script around it."""
    texts = {setting.name: setting.text for setting in job.settings if setting.is_set}
    for line in lines:
        texts.update(line.env)
    inner = lines[-1].program if lines else ""
    address, port = texts.get("MASTER_ADDR"), texts.get("MASTER_PORT")
    told = _last(line.master_addr for line in lines) or (address if address and re.fullmatch(_PLAIN, address) else None)
    if told is None and hosts and (inner == "deepspeed" or address):
        told = hosts[0]  # a script works it out, as the first host of its list
    if told is None:
        return "", None
    number = next((line.master_port for line in reversed(lines) if line.master_port is not None), None)
    if number is None and port is not None:
        return told, int(port) if port.isdecimal() else None
    if number is None and inner in _TORCH | {"deepspeed", "accelerate launch"}:
        number = _C10D_PORT if any(re.search(_ENDPOINT, line.text) for line in lines) else _PORT
    return told, number


def _slots(job: Job, lines: Sequence[Launch], hosts: Sequence[str]) -> dict[str, int]:
    """How many processes the launch starts on each host, as far as the text says."""
    each = [line.nproc_per_node for line in lines if line.nproc_per_node is not None]
    if each:
        return dict.fromkeys(hosts, max(each))
    listed = _listed(job, lines)
    written = {host.name: host.slots for host in listed.hosts} if listed is not None else {}
    known = {name: count for name in hosts if (count := written.get(name)) is not None}
    total = next((line.np for line in lines if line.np is not None), None)
    if total is None:
        return known
    by_node = any(re.search(_BY_NODE, line.text) for line in lines)
    if hosts and (by_node or (not known and any(line.program in _SLURM for line in lines))):
        return dict.fromkeys(hosts, -(-total // len(hosts)))
    if len(known) < len(hosts):
        return known
    found = {}
    for name, count in known.items():  # Open MPI fills one host after the other (--map-by slot)
        found[name] = min(count, total)
        total -= found[name]
    return found
