"""Limits that a job needs higher: the resources of the unit that starts it, the time of its collectives."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from ncdiag.base.patterns import lazy_regex
from ncdiag.facts.model import Service
from ncdiag.facts.view import View
from ncdiag.facts.vocabulary.told import told_context
from ncdiag.fixes.values import Bindings, Value, best

_UNIT = lazy_regex(r"(?!user@|user-|session|ssh)[A-Za-z][\w.-]{0,63}(?<!\.slice)(?<!\.scope)(?<!\.socket)")
"""A service whose restart ends no login."""
_STARTS_JOBS = lazy_regex(
    r"(?:^|[/\s])(?:slurmd|dockerd?|containerd|kubelet|crio|podman|pbs_mom|condor_(?:startd|master)|sge_execd|nomad|k3s"
    r"|rke2|ray|torchrun|mpirun)\b|\s-m\s+torch\.distributed"
)
"""Services, and programs of ``ExecStart``, that start the processes of jobs. A unit of Python can be anything."""
_WATCHES = lazy_regex(
    r"(?i)export(?:er)?\b|monitor|metric|prometheus|telegraf|collectd|fluent|vector\b|dcgm|opensm|nginx|jupyter|sshd|grafana"
)
"""Services, and programs, that are beside jobs: a limit of theirs holds for no job."""
_APART = frozenset({"kubelet", "crio"})
"""Services that start their processes in control groups of other units, so that a restart ends none of them."""
_MAIN_ALONE = frozenset({"process", "none"})
_STOPS = "   # this stops everything that it runs"
_FACTORS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}
_PASSED_ON, _KEPT_BACK = "PropagateResourceLimits", "PropagateResourceLimitsExcept"
_ENDLESS = frozenset({"infinity", "unlimited"})
_MANY_FILES = 65_536
_OF_SLURMD = "sudo systemctl edit slurmd   # LimitMEMLOCK=infinity"
"""For nodes whose units were not shown."""
_TIMES, _HOUR = 4, 3600
_OF_TRAINER = lazy_regex(r"--(?:ddp_timeout|do_train)\b")
"""Options of transformers' TrainingArguments that scripts with a loop of their own do not take."""
_OF_TRANSFORMERS = lazy_regex(r"--per_device_train_batch_size\b")
"""An option of both: those with a loop of their own are started by accelerate."""
_OF_MEGATRON = lazy_regex(r"--(?:tensor-model-parallel-size|micro-batch-size|distributed-timeout-minutes)\b")
_DROP_IN = (
    "sudo mkdir -p /etc/systemd/system/{unit}.service.d; printf '[Service]\\n{limit}\\n' | "
    "sudo tee /etc/systemd/system/{unit}.service.d/{name}.conf; sudo systemctl daemon-reload; "
    "sudo systemctl restart {unit}"
)
"""What limits.conf cannot do: it holds for logins, and no login starts the processes of a unit (systemd.exec(5))."""


@best
def lift_memlock(view: View, bindings: Bindings) -> Value:  # noqa: ARG001
    """The lines that lift the limit on locked memory: of a unit that was shown, or what Slurm passes on."""
    if (passed_on := _passed_on("MEMLOCK", view)) is not None:
        return passed_on
    found = _lifted("LimitMEMLOCK=infinity", view)
    return found if found.text is not None else msgspec.structs.replace(found, text=_OF_SLURMD)


@best
def lift_nofile(view: View, bindings: Bindings) -> Value:  # noqa: ARG001
    """The same for open files: the largest number that the kernel allows by default (fs.nr_open)."""
    return _passed_on("NOFILE", view) or _lifted("LimitNOFILE=1048576", view)


@best
def lift_tasks(view: View, bindings: Bindings) -> Value:  # noqa: ARG001
    """The lines that lift a limit on processes and threads that a unit was shown to have."""
    known = any("TasksMax" in (each.limits or {}) for host in view.job.hosts for each in host.services)
    return _lifted("TasksMax=infinity", view) if known else Value(reason="no limit of a unit was shown")


def _passed_on(name: str, view: View) -> Value | None:
    """What keeps Slurm from giving its tasks the limit of the host of submission, where slurmd's own is higher.

    PropagateResourceLimitsExcept counts before PropagateResourceLimits (Slurm src/common/read_config.c).
    """
    configs = [host.slurm_config for host in view.job.hosts if host.slurm_config and _PASSED_ON in host.slurm_config]
    passed = {word for each in configs for word in each[_PASSED_ON].upper().split(",")}
    kept = {word for each in configs for word in each.get(_KEPT_BACK, "").upper().split(",")}
    if passed.isdisjoint({"ALL", name}) or not kept.isdisjoint({"ALL", name}):
        return None
    daemons = [each for host in view.job.hosts for each in host.services if each.name == "slurmd"]
    limits = [(each.limits or {}).get(f"Limit{name}", "") for each in daemons]
    if not limits or not all(limit in _ENDLESS or (name == "NOFILE" and _is_many(limit)) for limit in limits):
        return None
    names = ",".join([*sorted(kept - {"", "NONE"}), name])
    text = f"{_KEPT_BACK}={names}   # in slurm.conf of all nodes; then: sudo scontrol reconfigure"
    return Value(
        text=f"{text}\nsbatch --propagate=NONE ...   # until then",
        reason="Slurm gives tasks the limits of the host of submission, and those of slurmd are higher",
    )


def _is_many(limit: str) -> bool:
    """Is a limit of slurmd's open files one that no job reaches?"""
    return limit.isdecimal() and int(limit) >= _MANY_FILES


def _lifted(limit: str, view: View) -> Value:
    name, _, wanted = limit.partition("=")
    found = [each for host in view.job.hosts for each in host.services if _holds(each, name, wanted)]
    unit = found[0].name if len({each.name for each in found}) == 1 else ""
    if not _UNIT.fullmatch(unit):
        reason = "no unit was shown whose limit is lower"
        return Value(reason=reason, ask_for=(f"systemctl show <unit> -p {name}",))
    text = _DROP_IN.format(unit=unit, limit=limit, name=f"50-{name.removeprefix('Limit').lower()}")
    return Value(text=text + what_ends(found), reason=f"{unit} has {_shown(found[-1], name)}")


def what_ends(units: Sequence[Service]) -> str:
    """What a restart of the unit, on each of its hosts, stops: a comment behind the command, or nothing."""
    is_survived = all(each.name in _APART or each.kill_mode in _MAIN_ALONE for each in units)
    return "" if is_survived else _STOPS


def _shown(service: Service, name: str) -> str:
    value = (service.limits or {}).get(name)
    return f"{name}={value}" if value is not None else f"no {name}"


def _holds(service: Service, name: str, wanted: str) -> bool:
    """Has the unit a lower limit, or, if it starts jobs and its file is shown, the low one that is the default?"""
    limits = service.limits or {}
    if any(map(_WATCHES.search, (service.name, service.runs or ""))):
        return False
    if name in limits:
        return _is_lower(limits, name, wanted)
    return service.unit_file is True and any(map(_STARTS_JOBS.search, (service.name, service.runs or "")))


def _is_lower(limits: Mapping[str, str], name: str, wanted: str) -> bool:
    """Is the limit, or its soft part, a number below the wanted one?"""
    values = [limits[name], limits.get(f"{name}Soft", limits[name])]
    numbers = [number for value in values if (number := _number(value)) is not None]
    return any(not wanted.isdecimal() or number < int(wanted) for number in numbers)


def _number(value: str) -> int | None:
    """``8388608`` and ``8M`` of a unit file; None for ``infinity``."""
    digits = value.rstrip("KMGT")
    return int(digits) * _FACTORS[value[len(digits) :]] if digits.isdecimal() else None


@best
def longer_timeout(view: View, bindings: Bindings) -> Value:  # noqa: ARG001
    """An option, or a line of Python, that allows four times the limit that was reached, in whole hours."""
    limits = [each.timeout_ms for each in view.job.timeouts if each.timeout_ms]
    if not limits:
        return Value(reason="the time limit that was reached was not seen")
    seconds = -(-max(limits) * _TIMES // 1000 // _HOUR) * _HOUR
    texts = [launch.text for launch in view.job.launches]
    reason = f"four times the limit of {max(limits) // 1000} s, in whole hours"
    if any(map(_OF_MEGATRON.search, texts)):
        return Value(text=f"--distributed-timeout-minutes {seconds // 60}", reason=reason)
    programs = [*told_context(view.job, view), *(launch.program for launch in view.job.launches)]
    by_accelerate = any(program.startswith("accelerate") for program in programs)
    if any(_OF_TRAINER.search(text) or (_OF_TRANSFORMERS.search(text) and not by_accelerate) for text in texts):
        return Value(text=f"--ddp_timeout {seconds}", reason=reason)
    argument = f"timeout=datetime.timedelta(seconds={seconds})"
    if by_accelerate:
        return Value(text=f"Accelerator(kwargs_handlers=[InitProcessGroupKwargs({argument})])", reason=reason)
    return Value(text=f'torch.distributed.init_process_group("nccl", {argument})', reason=reason)
