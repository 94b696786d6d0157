"""Container sizes, numbers of processes and variables."""

from __future__ import annotations

import shlex

from ncdiag.base.patterns import lazy_regex
from ncdiag.facts.model import Host, Launch, Setting
from ncdiag.facts.view import View
from ncdiag.facts.vocabulary.launches import SLURM_PROGRAMS
from ncdiag.fixes.values import Bindings, Value, best, bound
from ncdiag.nccl import environment
from ncdiag.nccl.vocabulary.launches import values_left_behind


@best
def shm_size(view: View, bindings: Bindings) -> Value:
    """The size of /dev/shm for docker's --shm-size: 1 GiB for each GPU or rank of the host, at least 1 GiB.

    Based on NVIDIA's advice of 1 GiB for NCCL in containers (NCCL user guide, troubleshooting, Docker) and on NCCL's
    buffers of about 10 MB for each channel and peer, whose number grows with the ranks of the host.
    """
    concerned = bound(bindings, Host)
    hosts = [concerned] if concerned is not None else view.job.hosts
    counts = [max(len(host.gpus), len(view.ranks_on(host.name))) for host in hosts]
    most = max(counts, default=0)
    if most == 0:
        reason = "1 GiB is what NVIDIA advises; how many GPUs share it was not seen"
        return Value(text="1g", reason=reason, ask_for=("nvidia-smi -L",))
    return Value(text=f"{most}g", reason=f"1 GiB for each of {most} ranks or GPUs on a host")


@best
def np(view: View, bindings: Bindings) -> Value:
    """The number of processes for which the hosts of the launch line have slots."""
    launch = bound(bindings, Launch) or next((one for one in view.job.launches if one.hosts), None)
    if launch is None or not launch.hosts:
        return Value(reason="the launch line names no hosts", ask_for=("the launch command and its host file",))
    found = launch.provenance.get("hosts") or launch.provenance.get("")
    spans = (found,) if found else ()
    slots = [host.slots for host in launch.hosts]
    if None not in slots:
        total = sum(count for count in slots if count is not None)
        return Value(text=str(total), reason=f"the slots of its {len(slots)} hosts", spans=spans)
    gpus = [len(host.gpus) if (host := view.host(named.name)) else 0 for named in launch.hosts]
    if all(gpus):
        return Value(text=str(sum(gpus)), reason="one process for each GPU of its hosts", spans=spans)
    return Value(reason="the hosts are given without slots", spans=spans, ask_for=("nvidia-smi -L (on every host)",))


@best
def left_behind(view: View, bindings: Bindings) -> Value:
    """The assignments before a launch command that do not reach the other hosts: ``NCCL_DEBUG=INFO``."""
    launch = bound(bindings, Launch)
    values = values_left_behind(launch, view) if launch is not None else {}
    if launch is None or not values:
        return Value(reason="the launch line forwards what it sets")
    found = launch.provenance.get("prefix_env") or launch.provenance.get("")
    text = shlex.join(f"{name}={value}" for name, value in values.items())
    return Value(text=text, reason="as set on the launcher's host", spans=(found,) if found else ())


@best
def host_id(view: View, bindings: Bindings) -> Value:  # noqa: ARG001
    """NCCL_HOSTID needs a different value on each machine, so there is no common value."""
    return Value(reason="each machine needs a different value, such as a unique name")


@best
def variable_suggestion(view: View, bindings: Bindings) -> Value:  # noqa: ARG001
    """The variable that a misspelt one was probably meant to be."""
    setting = bound(bindings, Setting)
    if setting is None:
        return Value(reason="the input names no variable")
    names = environment.suggest(setting.name)
    if not names:
        return Value(reason=f"no variable of NCCL has a name like {setting.name}")
    more = f" (or {', '.join(names[1:3])})" if names[1:] else ""
    return Value(text=names[0], reason=f"the nearest name that NCCL reads{more}")


@best
def default_for(view: View, bindings: Bindings) -> Value:
    """The default of a variable in the job's NCCL version."""
    setting = bound(bindings, Setting)
    variable = environment.variables().get(setting.name) if setting is not None else None
    if setting is None or variable is None:
        return Value(reason="the variable is unknown")
    version = view.version(setting)
    value = variable.default_at(version)
    if value is not None:
        at = f" of NCCL {version}" if version is not None else ""
        return Value(text=str(value), reason=f"the default{at}")
    if len(variable.defaults) > 1:
        reason = "the default differs between the possible releases"
        return Value(reason=reason, ask_for=("NCCL_DEBUG=VERSION output",))
    return Value(reason=f"{variable.name} is unset by default")


_PER_TASK = lazy_regex(r"--gpus-per-task[=\s](?P<kind>[a-z][\w.-]{0,30}:)?(?P<count>\d{1,2})\b")
_BINDS = lazy_regex(r"--gpu-bind[=\s](?!none\b)\S{1,60}|--ntasks-per-gpu[=\s]\d")


@best
def visible_gpus(view: View, bindings: Bindings) -> Value:  # noqa: ARG001
    """The options of Slurm with which each task sees all GPUs of its node, in place of those that leave it one.

    --gpus-per-task implies --gpu-bind=per_task, --ntasks-per-gpu --gpu-bind=single (Slurm sbatch(1), srun(1)).
    """
    lines = [launch for launch in view.job.launches if launch.program in SLURM_PROGRAMS]
    tasks = next((launch.nproc_per_node for launch in lines if launch.nproc_per_node), None)
    for launch in lines:
        found = _PER_TASK.search(launch.text or "")
        if found is not None and tasks is not None:
            option = f"--gpus-per-node={found['kind'] or ''}{tasks * int(found['count'])}"
            head = "#SBATCH" if launch.program == "sbatch" else launch.program
            why = f"   # in place of --gpus-per-task={found['count']}: each task then sees all of them"
            return Value(text=f"{head} {option}{why}", reason=f"{tasks} tasks on a node")
        if found is not None or _BINDS.search(launch.text or ""):
            text = "srun --gpu-bind=none ...   # each task then sees all GPUs of its node"
            return Value(text=text, reason="Slurm was asked to give each task its own GPUs")
    return Value(reason="no option of Slurm was seen that binds tasks to GPUs")
