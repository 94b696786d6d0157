"""Options of launch lines: counts, forwarded variables, options of Open MPI, GPUs of a task, LightCC."""

from __future__ import annotations

from collections import Counter

from ncdiag.base.patterns import lazy_regex
from ncdiag.facts.derived import derived, derived_of
from ncdiag.facts.model import Event, Job, Launch, Setting
from ncdiag.facts.scalars import ip_address
from ncdiag.facts.view import View
from ncdiag.facts.vocabulary.launches import SLURM_PROGRAMS
from ncdiag.knowledge.launcher.counts import told_miscount
from ncdiag.knowledge.launcher.slots import slots
from ncdiag.knowledge.launcher.starts import unequal_counts
from ncdiag.nccl.vocabulary.launches import left_behind, values_left_behind


@derived
def miscount(job: Job, view: View) -> str | None:
    """A sentence about fewer ranks than slots, or other numbers than other hosts; empty for none, None if unknown."""
    counted = [(launch, slots(launch, view)) for launch in job.launches]
    known = [(launch, count) for launch, count in counted if count is not None and launch.np is not None]
    for launch, count in known:
        if launch.np is not None and launch.np < count:
            view.note(launch)
            return f"{launch.program} starts {launch.np} ranks on hosts with {count} slots"
    unequal = unequal_counts(job, view)
    if unequal:
        return f"The hosts were started for jobs of different sizes: {unequal}"
    refused = next((event for event in job.events if told_miscount(event, view)), None)
    if refused is not None:
        view.note(refused)
        return f"A program is made for another number of ranks than it was started with: {told_miscount(refused, view)}"
    fixed = _fixed_rank(job, view)
    return fixed or ("" if known or unequal is not None else None)


_UNMET = ("coordination-start-timeout", "torch-store-timeout", "c10d-connect-timeout")


def _fixed_rank(job: Job, view: View) -> str:
    """The program gives each process the same number, and the others did not come; empty if not."""
    fault = next((fault for fault in job.script_faults if fault.kind == "fixed-rank"), None)
    unmet = next((event for event in job.events if event.event in _UNMET), None)
    if fault is None or unmet is None:
        return ""
    view.note(fault)
    view.note(unmet)
    return f"The program has its rank and their number as constants ({fault.call}), and the other ranks did not come"


_ONE_GPU = lazy_regex(
    r"--gpu-bind[= ](?:verbose,)?(?:single|map_gpu|per_task)\b"
    r"|--tres-bind[= ]gres/gpu:(?:verbose,)?(?:single|map|per_task)\b"
    r"|--gpus-per-task[= ](?:\w+:)?1\b|--ntasks-per-gpu[= ]1\b"
)
_UNBOUND = lazy_regex(r"--gpu-bind[= ]none|--tres-bind[= ]gres/gpu:none")
_PREFIX, _SIZE = "LIGHT_", "LIGHT_INTRA_SIZE"
_NOT_HOROVOD = ("torchrun", "deepspeed", "accelerate")


@derived
def lightcc_problem(setting: Setting, view: View) -> str | None:
    """Why a variable of LightCC has no effect, or a wrong one; empty for no reason, None if not known."""
    if not setting.name.startswith(_PREFIX) or not setting.is_set:
        return ""
    view.note(setting)
    launch = next((launch for launch in view.job.launches if launch.program in _NOT_HOROVOD), None)
    if launch is not None:
        view.note(launch)
        return f"has no effect: {launch.program} starts no Horovod, and LightCC is one"
    if setting.name != _SIZE:
        return "" if view.job.launches else None
    gpus = _gpus_per_host(view)
    if gpus is None or setting.number is None:
        return None
    return "" if setting.number == gpus else f"is not a whole host: there are {gpus} GPUs on each"


@derived
def gpus_per_host(setting: Setting, view: View) -> int | None:
    """The number of GPUs of each host, where it is the same on all hosts."""
    return _gpus_per_host(view)


def _gpus_per_host(view: View) -> int | None:
    counts = {len(host.gpus) for host in view.job.hosts if host.gpus}
    if not counts and view.job.nranks and len(view.job.ranks) == view.job.nranks:
        counts = set(Counter(rank.host for rank in view.job.ranks).values())
    return counts.pop() if len(counts) == 1 else None


_NOT_FOUND = 127
"""The exit status of a shell that does not find a command (POSIX)."""
_LISTS = ("btl_tcp_if_", "oob_tcp_if_")


def _parameters(launch: Launch) -> set[str]:
    """The MCA parameters on the line, as options or as OMPI_MCA_ variables."""
    variables = {*launch.env, *launch.prefix_env}
    return {*launch.mca, *(name.removeprefix("OMPI_MCA_") for name in variables if name.startswith("OMPI_MCA_"))}


@derived
def contradicting_lists(launch: Launch, view: View) -> tuple[str, ...]:
    """The TCP components with both an include and an exclude list: ``btl_tcp``, ``oob_tcp``."""
    given = _parameters(launch)
    return tuple(prefix.removesuffix("_if_") for prefix in _LISTS if {prefix + "include", prefix + "exclude"} <= given)


_DAEMONS = frozenset({"orted", "prted", "hydra_pmi_proxy", "hydra_bstrap_proxy", "pmi_proxy"})
"""Programs that mpirun starts on the other hosts: of Open MPI, of MPICH, and of Intel MPI."""


@derived_of("mpi-library-missing", "command-not-found", "ssh-command-ended", "mpi-daemon-not-started")
def is_mpi_missing(event: Event, view: View) -> bool:
    """Does a host lack MPI, by its own message, or by a shell that found no daemon to start (status 127)?"""
    if event.event == "mpi-library-missing":
        return True
    if event.event == "command-not-found":
        return str(event.fields.get("missing_command", "")).rpartition("/")[2] in _DAEMONS
    failed = any(other.event == "mpi-daemon-not-started" for other in view.job.events)
    return failed and event.fields.get("exit_status") == _NOT_FOUND


@derived
def is_local_address(setting: Setting, view: View) -> bool:
    """Does the value name the local machine: localhost or a loopback address?"""
    text = (setting.text or "").strip()
    address = ip_address(text)
    return text == "localhost" or (address is not None and address.is_loopback)


@derived
def unforwarded_names(launch: Launch, view: View) -> str:
    """The names of the variables that the launcher does not pass on, as text for messages."""
    return ", ".join(left_behind(launch, view))


@derived
def forwarding_example(launch: Launch, view: View) -> str:
    """The launch options that forward them, for Open MPI and for MPICH."""
    values = values_left_behind(launch, view)
    open_mpi = " ".join(f"-x {name}" for name in values)
    mpich = " ".join(f"-genv {name} {value}" for name, value in values.items())
    return f"Open MPI: {launch.program} {open_mpi} ...   MPICH: {launch.program} {mpich} ..."


@derived
def hides_gpus_from_tasks(job: Job, view: View) -> str:
    """The option of a Slurm line that limits each task to one visible GPU; empty for none.

    --ntasks-per-gpu binds each task to its GPU unless another binding is given (slurm.schedmd.com/srun.html).
    """
    for launch in job.launches:
        found = _ONE_GPU.search(launch.text) if launch.program in SLURM_PROGRAMS else None
        if found is not None and not (found[0].startswith("--ntasks") and _UNBOUND.search(launch.text)):
            view.note(launch)
            return found[0]
    return ""
