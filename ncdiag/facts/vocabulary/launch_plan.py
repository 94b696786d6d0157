"""What a launch needs from its hosts, from its text: which hosts, how they are reached, and where the ranks meet."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TypeVar

import msgspec

from ncdiag.base.patterns import lazy_regex
from ncdiag.facts.model import Job, Launch
from ncdiag.facts.vocabulary.launches import SLURM_PROGRAMS

T = TypeVar("T")

HOSTFILE = "hostfile"
"""The ``program`` of a launch that is a file of hosts."""
_MPI = frozenset({"mpirun", "mpiexec", "mpiexec.hydra", "mpiexec.mpich", "orterun", "prterun"})
TORCH = frozenset({"torchrun", "torch.distributed.run", "torch.distributed.launch", "torch.distributed.elastic"})
_KNOWN = _MPI | TORCH | SLURM_PROGRAMS | {"horovodrun", "deepspeed", "accelerate launch"}
_SSH_AGENTS = frozenset({"ssh", "rsh", "pdsh", "openmpi", "mpich", "impi", "mvapich", "standard"})
"""Launcher options of hydra (-launcher) and DeepSpeed (--launcher) that use ssh; the first two are hydra's names."""
_SSH_ARGUMENTS = ("plm_rsh_args", "plm_ssh_args", "pls_rsh_args")
_SSH_PROGRAMS = ("plm_rsh_agent", "plm_ssh_agent", "pls_rsh_agent")
"""Parameters of Open MPI 1 to 5 (orte/mca/plm/rsh, PRRTE src/mca/plm/ssh)."""
_PORT, _C10D_PORT = 29500, 29400
"""Default ports: of torchrun, DeepSpeed and accelerate; of a c10d endpoint (torch/distributed/run.py)."""
_CONTAINER = lazy_regex(
    r"(?:^|[\s/])(?:(?:singularity|apptainer|podman-hpc|docker|podman|nerdctl|enroot)\s+(?:exec|run|start)|shifter"
    r"|kubectl\s(?:.{0,200}\s)?exec)\s"
)
_ELSEWHERE = lazy_regex(r"\s*(?:[A-Za-z_]\w*=\S*\s+|sudo\s+|time\s+|nohup\s+){0,20}(ssh|kubectl)\s")
"""Programs that start the launcher on another host."""
_OPTIONS = r"(?:mpirun|mpiexec\S{0,9}|orterun|prterun)\s(?:[^;|&]{0,2000}?\s)?-{1,2}"
_FILES = (
    (lazy_regex(rf"{_OPTIONS}(?:rf|rankfile|map-by[= ]+rankfile:file)[= ](\S{{1,200}})"), "the rank file {}"),
    (lazy_regex(rf"{_OPTIONS}(?:app|configfile)[= ](\S{{1,200}})"), "the file of applications {}"),
)
"""Files that say where processes run or where the ranks meet, each with a phrase for it."""
_CONFIGURATION = lazy_regex(r"accelerate[ ]launch\s[^;|&]{0,400}--config[_-]file[= ](\S{1,200})")
_CONFIGURED = "accelerate config"
"""The ``program`` of a launch that is such a file."""
_SEVERAL, _EACH_ON_ITS_OWN = lazy_regex(r"\s:\s+-"), lazy_regex(r"\s:\s(?:.*\s)?-{1,2}(?:H|hosts?)\b")
"""Several applications in one mpirun line."""
_SHOWN, _FEW = 80, 3
_LAST_PORT = 65535
_ENDPOINT = r"--rdzv[-_]endpoint\b"
_PLAIN = r"[A-Za-z0-9_][\w.:-]{0,252}"
_BY_NODE = r"-{1,2}(?:bynode|map-by[= ]+(?:ppr:\d+:)?node)\b"


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """What the launch needs.

    ``launcher`` is the outermost launcher that is known. ``hosts`` are the hosts that the text names, ``source`` is a
    phrase that says where. ``hostfile`` is the file of hosts that was named, ``slots`` the number of processes on each
    host as far as known. ``ssh`` are the options with which the launcher calls ssh; None where it does not use ssh.

    ``master`` and ``port`` are where the ranks meet; empty and None where the text does not say it. ``contained``: does
    the started program see the files of a container instead of those of the host? ``elsewhere`` is the program that
    starts the launcher itself on another host. ``doubt`` is the reason why ``hosts`` may be incomplete, ``unread``
    holds a phrase for each other part of the text that was not parsed.
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
    contained: bool = False
    elsewhere: str = ""
    doubt: str = ""
    unread: tuple[str, ...] = ()

    @property
    def place(self) -> tuple[str, int] | None:
        """The host and port where the ranks meet; None where the text does not give both."""
        return (self.master, self.port) if self.master and self.port is not None else None


def plan_of(job: Job, hosts: Sequence[str] = ()) -> Plan:
    """Return the plan of the launch that a job shows; ``hosts``, where given, replace those of the text."""
    lines = [launch for launch in job.launches if launch.program in _KNOWN]
    named, source = _named(job, lines)
    own = tuple(hosts) or named
    outer = next((line for line in lines if line.program not in {"sbatch", "salloc"}), lines[0] if lines else None)
    configured = [launch for launch in job.launches if launch.program == _CONFIGURED]
    master, port = _meeting(job, [*configured, *lines], own)
    meets = re.fullmatch(_PLAIN, master) is not None and (port is None or 0 < port <= _LAST_PORT)
    files = [] if configured else [f"the configuration {name} of accelerate" for name in configurations(job)]
    odd = [f"{master} port {port}, where the ranks are to meet"] if master and port != 0 and not meets else []
    return Plan(
        launcher=outer.program if outer is not None else HOSTFILE if named else "",
        hosts=own,
        source=source if own == named else "",
        hostfile=next((line.hostfile for line in lines if line.hostfile), None),
        slots=_slots(job, lines, own),
        gpus_per_node=_first(line.gpus_per_node for line in lines),
        ssh=_ssh(outer, lines),
        master=master if meets else "",
        port=port if meets else None,
        executable=_last(line.executable for line in lines if line.program != "sbatch"),
        script=_last(line.script for line in lines if line.program != "sbatch"),
        workdir=_last(line.workdir for line in lines),
        contained=any(line.image for line in job.launches) or any(map(_is_contained, lines)),
        elsewhere=found[1] if outer is not None and (found := _ELSEWHERE.match(outer.text)) else "",
        unread=tuple(dict.fromkeys([*odd, *files, *_unread(lines)])),
        doubt=_doubt(lines, _listed(job, lines)) if own == named else "",
    )


def configurations(job: Job) -> list[str]:
    """The configuration files that accelerate is started with."""
    return [found[1] for launch in job.launches if (found := _CONFIGURATION.search(launch.text))]


def _is_contained(line: Launch) -> bool:
    """Is the program that the line starts run inside a container?

    A container that the launcher starts does not count.
    """
    before = line.text.rpartition(f" {line.executable}")[0] if line.executable else ""
    return _CONTAINER.search(before) is not None


def _unread(lines: Sequence[Launch]) -> Iterator[str]:
    """Phrases for the parts of the lines that were not parsed."""
    for line in lines:
        if line.program in _MPI and _SEVERAL.search(line.text):
            yield f"the programs that {line.program} starts after a colon"
        for pattern, phrase in _FILES:
            if file := pattern.search(line.text):
                yield phrase.format(file[1])


def _doubt(lines: Sequence[Launch], listed: Launch | None) -> str:
    """The reason why the list of hosts may be incomplete; empty where it is complete.

    One line may contain several launchers, one of which has the hosts. A step of Slurm whose hosts come from a variable
    is skipped: it is one of several steps, and the job itself has the full list.
    """
    files = list(dict.fromkeys(line.hostfile for line in lines if line.hostfile))
    if len(files) > 1 and (listed is None or listed.program == HOSTFILE):
        return f"several files of hosts are named: {', '.join(files[:_FEW])}"
    if listed is None:
        words = [word for line in lines for word in line.hosts_unread]
        return f"not understood: {', '.join(words[:_FEW])}" if words else ""
    if listed.hosts_unread:
        return f"not understood: {', '.join(listed.hosts_unread)}"
    if listed.program in _MPI and _EACH_ON_ITS_OWN.search(listed.text):
        return f"{listed.program} starts several programs with a colon between them, each on its own hosts"
    if listed.program not in {HOSTFILE, "sbatch"} and _sets(lines) - {frozenset(host.name for host in listed.hosts)}:
        return f"several commands start processes, and not all on the hosts of {listed.text[:_SHOWN]}"
    return ""


def _sets(lines: Sequence[Launch]) -> set[frozenset[str]]:
    """The sets of hosts on which the command lines of a launch start; empty where any line does not say it."""
    by_text: dict[str, frozenset[str]] = {}
    for line in lines:
        if line.program != "sbatch" and not (line.hosts_unread and not line.hosts):
            by_text[line.text] = by_text.get(line.text, frozenset()) | {host.name for host in line.hosts}
    return set(by_text.values())


def _first(values: Iterable[T | None]) -> T | None:
    return next((value for value in values if value is not None), None)


def _last(values: Iterable[str | None]) -> str | None:
    found = [value for value in values if value is not None]
    return found[-1] if found else None


def _listed(job: Job, lines: Sequence[Launch]) -> Launch | None:
    """The line or file that names the hosts: a launcher's option, else Slurm's list, else a file.

    Where several lines start on different hosts: a list of Slurm that contains all of them.
    """
    files = [launch for launch in job.launches if launch.program == HOSTFILE]
    sets = _sets(lines)
    batch = [line for line in lines if line.program == "sbatch" and line.hosts]
    if batch and len(sets) > 1 and {host.name for host in batch[0].hosts} >= frozenset().union(*sets):
        return batch[0]
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
    """The options of ssh; None where the launcher does not use ssh."""
    if outer is None:
        return ()  # without a launch line, a file of hosts is for a launcher that logs in by ssh
    if outer.program in TORCH | SLURM_PROGRAMS | {"accelerate launch"} or any(
        line.program == "sbatch" for line in lines
    ):
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
    """Open MPI's MCA parameters, from options or variables."""
    variables = {**launch.prefix_env, **launch.env}
    by_name = {name.removeprefix("OMPI_MCA_").removeprefix("PRTE_MCA_"): text for name, text in variables.items()}
    return {**by_name, **launch.mca}


def _split(text: str) -> list[str]:
    try:
        return shlex.split(text)
    except ValueError:
        return text.split()


def _meeting(job: Job, lines: Sequence[Launch], hosts: Sequence[str]) -> tuple[str, int | None]:
    """MASTER_ADDR and MASTER_PORT, from an option of the launcher, the variables it sets, or the script around it."""
    texts = {setting.name: setting.text for setting in job.settings if setting.is_set}
    for line in lines:
        texts.update(line.env)
    inner = lines[-1].program if lines else ""
    address, port = texts.get("MASTER_ADDR"), texts.get("MASTER_PORT")
    told = _last(line.master_addr for line in lines) or (address if address and re.fullmatch(_PLAIN, address) else None)
    if told is None and hosts and (inner == "deepspeed" or address):
        told = hosts[0]  # a script computes it, as the first host of its list
    if told is None:
        return "", None
    told = told.removeprefix("[").removesuffix("]")  # an IPv6 address before its port
    number = next((line.master_port for line in reversed(lines) if line.master_port is not None), None)
    if number is None and port is not None:
        return told, int(port) if re.fullmatch(r"[0-9]{1,9}", port) else None
    if number is None and inner in TORCH | {"deepspeed", "accelerate launch"}:
        number = _C10D_PORT if any(re.search(_ENDPOINT, line.text) for line in lines) else _PORT
    return told, number


def _slots(job: Job, lines: Sequence[Launch], hosts: Sequence[str]) -> dict[str, int]:
    """The number of processes that the launch starts on each host, as far as the text says."""
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
    if hosts and (by_node or (not known and any(line.program in SLURM_PROGRAMS for line in lines))):
        return dict.fromkeys(hosts, -(-total // len(hosts)))
    if len(known) < len(hosts):
        return known
    found = {}
    for name, count in known.items():  # Open MPI fills one host after the other (--map-by slot)
        found[name] = min(count, total)
        total -= found[name]
    return found
