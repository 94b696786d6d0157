"""How a launch line binds the processes of Open MPI, and the transports of UCX, on which Open MPI runs."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from typing import Literal

from ncdiag.base.patterns import lazy_regex
from ncdiag.facts.derived import derived, derived_of
from ncdiag.facts.model import Event, Host, Job, Launch
from ncdiag.facts.view import View
from ncdiag.facts.vocabulary.job import has_ready_rank
from ncdiag.facts.vocabulary.launches import MPI_PROGRAMS, SLURM_PROGRAMS
from ncdiag.facts.vocabulary.outcome import is_open_failure
from ncdiag.facts.vocabulary.rdma import has_rdma_hardware
from ncdiag.messages.vocabulary.reasons import error_name

_ONE_CORE = r"(?<![\w-])--?bind-to(?:[ =]|-)(?:core|hwthread)\b"
_SEVERAL = r"(?i)\bPE=\d|--?cpus-per-(?:proc|rank)\b"


_TOOLS = lazy_regex(r"\b(?:libnuma|taskset):")
_CALLS_TOOL = lazy_regex(r"\b(?:numactl|taskset)\b")
_SECURITY, _NO_COMPONENT, _DOUBTED = "pmix-security-differs", "pmix-security-absent", "slurm-not-authenticated"
_STARTS = frozenset({"mpi-pmi-failed", "mpi-pmix-missing", "mpi-daemon-unreachable", "mpi-daemon-not-started"})
"""Events that say that MPI or its process manager did not start."""
_BOUND = "mpi-bound-to-core"
_PAIR = 2
_FEW_CORES = "torch-dataloader-cores-few"


@derived_of("binding-refused")
def binds_no_rank(event: Event, view: View) -> bool | None:
    """Is the process that could not be bound no rank of the job? True where a rank is ready.

    numactl and taskset do not say what they were to start: None unless a launch line calls one of them.
    """
    if has_ready_rank(view.job, view):
        return True
    if not _TOOLS.search(event.text) or any(_CALLS_TOOL.search(launch.text or "") for launch in view.job.launches):
        return False
    return None


@derived
def one_core_each(job: Job, view: View) -> str | None:
    """How the processes of the job come to share one core each with all their threads; empty if they do not.

    A launch line binds them, Open MPI reports that it did (--report-bindings), several processes may each use one
    processor (taskset, /proc), or PyTorch counts one in a task of Slurm or MPI. None without any of these.
    """
    for launch in filter(_binds_to_one_core, job.launches):
        view.note(launch)
        return f"{launch.program} binds every process to one core"
    bound = [event for event in job.events if event.event == _BOUND]
    for event in bound[:1]:
        view.note(event)
        return "Open MPI reports that it binds each process to one core"
    for host in job.hosts:
        processes = host.process_cpus or ()
        if len(processes) >= _PAIR and all(process.cpus.isdecimal() for process in processes):
            view.note(host, "process_cpus")
            return f"{len(processes)} processes of {host.name} may each use one processor"
    for event in job.events:
        if event.event == _FEW_CORES and event.fields.get("cores") == 1 and any(map(_starts_tasks, job.launches)):
            view.note(event)
            return f"PyTorch counts one core for its process and {event.fields.get('workers')} workers that load data"
    known = any(launch.program.endswith(MPI_PROGRAMS) for launch in job.launches)
    return "" if known or any(host.process_cpus for host in job.hosts) else None


@derived_of(_SECURITY, _NO_COMPONENT, _DOUBTED)
def is_refused_by_pmix(event: Event, view: View) -> bool:
    """Did PMIx not accept the other side, because they have no way to prove who they are in common?

    A component that is missing is only a warning, unless the start fails, too: PMIx takes the next one.
    """
    if event.event == _NO_COMPONENT:
        failed = next((e for e in view.job.events if e.event in _STARTS and is_open_failure(e, view)), None)
        if failed is not None:
            view.note(failed)
        return failed is not None
    return is_open_failure(event, view) and (event.event == _SECURITY or "PMIX" in event.text)


def _starts_several(launch: Launch) -> bool:
    """Does the line start more than one process?"""
    return max(launch.np or 1, launch.nnodes or 1, launch.nproc_per_node or 1) > 1


def _starts_tasks(launch: Launch) -> bool:
    """Is it a launcher that limits the cores of what it starts?"""
    return launch.program.endswith((*MPI_PROGRAMS, *SLURM_PROGRAMS))


def _binds_to_one_core(launch: Launch) -> bool:
    """Does the line bind each process to a single core or hardware thread?"""
    if not launch.program.endswith(MPI_PROGRAMS):
        return False
    return re.search(_ONE_CORE, launch.text) is not None and re.search(_SEVERAL, launch.text) is None


_FAMILIES: dict[str, str] = {
    "rdma": r"(?:rc|ud|dc|gga)(?:_\w+)?$|ib$|srd$",
    "gpu": r"(?:cuda|rocm|ze|gaudi)(?:_\w+)?$|gdr_copy$",
    "host": r"(?:sm|shm|mm|posix|sysv|xpmem|cma|knem|self|tcp|all)$|ugni",
}
"""The transports of UCX, and aliases of several: openucx/ucx src/ucp/core/ucp_context.c (ucp_tl_aliases)."""
Family = Literal["rdma", "gpu", "host", "none"]


def _family(name: str) -> str:
    """The family of a transport; ``none`` for a name that is not a transport of UCX."""
    return next((family for family, names in _FAMILIES.items() if re.match(names, name)), "none")


def _families(names: Collection[str]) -> set[str]:
    return {_family(name) for name in names}


def _names(text: object) -> list[str]:
    return re.findall(r"\w+", text) if isinstance(text, str) else []


@derived
def ucx_asked(event: Event, view: View) -> str:
    """The requested transports that do not exist: ``efa, rc``."""
    return ", ".join(_names(event.fields.get("asked")))


@derived
def ucx_lacks(event: Event, view: View) -> Family:
    """The family of the missing transports; ``none`` where UCX has no transport of such a name.

    No card has all RDMA transports, so the family counts as missing only where none of them exists.
    """
    asked, there = _families(_names(event.fields.get("asked"))), _families(_names(event.fields.get("available")))
    if "none" in asked:
        return "none"
    return "rdma" if "rdma" in asked - there else "gpu" if "gpu" in asked else "host"


@derived
def ucx_left_out(host: Host, view: View) -> Literal["rdma", "gpu", "nothing"] | None:
    """The kind of devices of the host that its UCX has no transport for, or ``nothing``; None where that is unknown."""
    if host.ucx_transports is None:
        return None
    there = _families(host.ucx_transports)
    view.note(host, "ucx_transports")
    has_rdma = "rdma" in there or has_rdma_hardware(host, view)
    if "rdma" not in there and has_rdma:
        return "rdma"
    if "gpu" not in there and host.gpus:
        return "gpu"
    return "nothing" if has_rdma is not None and "gpu" in there else None


@derived
def ucx_built_without(host: Host, view: View) -> str | None:
    """The build option that excluded verbs or CUDA from the host's UCX: ``--without-verbs``."""
    found = re.search(r"--(?:without-(?:verbs|ib|cuda)|with-(?:verbs|cuda)=no)(?!\S)", host.ucx_configured or "")
    if found is None:
        return None
    view.note(host, "ucx_configured")
    return found[0]


_PMI, _PMIX_LIBRARY = "mpi-pmix-missing", "mpi-pmix-not-loaded"
_ALONE = frozenset({"mpi-pmi-alone", "mpi-abort-alone"})
"""Events of a process that MPICH takes for the only one, since no process manager gave it a connection."""
_OF_A_JOB = lazy_regex(r"\b(?:srun|slurmstepd)\b")


@derived_of(_PMI, _PMIX_LIBRARY, *_ALONE)
def is_pmi_missing(event: Event, view: View) -> bool:
    """Did a job start without PMI? Daemons load all plugins when they start, and report what each lacks.

    A process that is alone is meant to be, unless srun started several.
    """
    if event.event in _ALONE:
        several = next((la for la in view.job.launches if la.program == "srun" and _starts_several(la)), None)
        if several is not None:
            view.note(several)
        return several is not None
    return event.event == _PMI or _OF_A_JOB.search(event.text) is not None


@derived
def pmi_text(event: Event, view: View) -> str:
    """The missing PMI, ``: pmix_v4 is not there``; empty where the line names none."""
    named = event.fields.get("mpi_type")
    return f": {named} is not there" if named else ""


@derived
def stray_text(event: Event, view: View) -> str:
    """The unknown option, ``, -ppn``; empty where the line does not name it."""
    stray = event.fields.get("stray")
    return f", {stray}" if stray else ""


_SEGV = 11
_WITHOUT_CUDA, _ASKED_FOR_CUDA = "mpi-built-without-cuda", "mpi-cuda-asked-in-vain"
_WITH_ADDRESS = frozenset({"mpi-signal", "mpi-fault-address"})
_COPY_REFUSED = frozenset({"process-copy-refused", "process-copy-left-out"})
_OF_HOST = lazy_regex(
    r"(?:Failing at address:|at address) "
    r"(?:\(nil\)|0x(?:[0-9a-f]{1,5}|7ff[c-f][0-9a-f]{8}|5[56][0-9a-f]{10})(?![0-9a-f]))"
)
"""Addresses of host memory: null, or near it as a field of a null structure; the stack and heap of Linux on x86_64."""


@derived_of("mpi-signal", *_COPY_REFUSED)
def touches_gpu_memory(event: Event, view: View) -> bool:
    """Did a copy in host code access existing memory that a CPU may not read, such as GPU memory?"""
    if event.event in _COPY_REFUSED:
        return error_name(event, view) == "EFAULT"
    if "invalid permissions for mapped object" in event.text or copied_by(event, view) != "":
        return True
    return event.fields.get("signal") == _SEGV and is_built_without_cuda(event, view)


@derived_of("mpi-signal")
def is_built_without_cuda(event: Event, view: View) -> bool:
    """Was the MPI built without CUDA, and does no line show that the fault was in memory of the host?

    If somebody asked this MPI for CUDA, the program passes GPU memory, wherever it faults.
    """
    if asked := view.events_named(_ASKED_FOR_CUDA):
        view.note(asked[0])
        return True
    built = next(iter(view.events_named(_WITHOUT_CUDA)), None)
    if built is None or view.remembered(("fault in memory of a host",), lambda: _faults_in_host_memory(view.job)):
        return False
    view.note(built)
    return True


@derived
def copied_by(event: Event, view: View) -> str:
    """The function or library of MPI or UCX that crashed while it copied a message; empty if in memory of the host."""
    if event.fields.get("signal") != _SEGV:
        return ""
    dump = next((dump for dump in view.job.stack_dumps if dump.copies_in), None)
    if dump is None or view.remembered(("fault in memory of a host",), lambda: _faults_in_host_memory(view.job)):
        return ""
    view.note(dump)
    return dump.copies_in or ""


def _faults_in_host_memory(job: Job) -> bool:
    """Does a line name an address that cannot be that of GPU memory?"""
    return any(event.event in _WITH_ADDRESS and _OF_HOST.search(event.text) for event in job.events)


@derived_of("mpi-signal")
def copies_in_ucx(event: Event, view: View) -> bool:
    """Did UCX crash while it copied a message?"""
    return copied_by(event, view).startswith(("uct", "ucp", "libuct", "libucp", "mca_pml_ucx"))


_CLAUSE = lazy_regex(r"(?i)[;,\n]|[.!?](?=\s|$)|\b(?:but|while|whereas|however|although|though|and|yet)\b")
_LAUNCHER = lazy_regex(r"(?i)\b(?:(?P<srun>srun)|(?P<mpirun>mpirun|mpiexec(?:\.hydra)?|orterun|prterun))\b")
_ILL = lazy_regex(
    r"(?i)\b(?:not\s(?:ok|okay|fine)|fail\w*|hang\w*|hung|stuck|freez\w*|crash\w*|segfault\w*|abort\w*|errors?|tim(?:es?|ed)\sout"
    r"|(?:does\s?n[o']t|did\s?n[o']t|do\s?n[o']t|not|never)\s(?:work|start|run|complete|finish|return)\w*|broken)\b"
)
_WELL = lazy_regex(
    r"(?i)\b(?:works?|worked|working|ok|okay|fine|runs|ran|succeed\w*|success\w*|no\s(?:problems?|issues?|errors?))\b"
)


@derived
def srun_alone_fails(job: Job, view: View) -> bool:
    """Does somebody say that the program works with mpirun and not with srun? False if its ranks did connect."""
    if has_ready_rank(job, view):
        return False
    named = [each for each in job.contexts if each.kind == "launcher"]
    said: dict[str, set[str]] = {"srun": set(), "mpirun": set()}
    for each in named:
        for launcher, outcome in _outcomes(each.text or ""):
            said[launcher].add(outcome)
    found = "ill" in said["srun"] and said["mpirun"] == {"well"}
    for each in named if found else ():
        view.note(each)
    return found


def _outcomes(text: str) -> Iterator[tuple[str, str]]:
    """Launchers with what a text says of them: ``srun`` or ``mpirun``, and ``well`` or ``ill``.

    A clause that names no launcher is about the one that was named last, if nothing was said of it yet.
    """
    launcher = ""
    for clause in _CLAUSE.split(text):
        named = {str(found.lastgroup) for found in _LAUNCHER.finditer(clause)}
        if len(named) > 1:
            launcher = ""
            continue
        launcher = next(iter(named), launcher)
        outcome = "ill" if _ILL.search(clause) else "well" if _WELL.search(clause) else ""
        if launcher and outcome:
            yield launcher, outcome
            launcher = ""
