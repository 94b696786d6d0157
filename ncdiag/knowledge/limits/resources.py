"""Resource limits of a host or process that a job reaches: locked memory, open files, ports, memory."""

from __future__ import annotations

from ncdiag.facts.assemble_hosts import UNNAMED
from ncdiag.facts.derived import derived, derived_of
from ncdiag.facts.model import FAILURES, Event, Host, Job, Limit
from ncdiag.facts.view import View
from ncdiag.facts.vocabulary.ages import is_outdated
from ncdiag.facts.vocabulary.comparisons import raises_own
from ncdiag.facts.vocabulary.failures import CRASHES, SHELL_STATUS
from ncdiag.facts.vocabulary.hosts import shows_kernel_log, sysctl
from ncdiag.facts.vocabulary.rdma import has_rdma_hardware, ranks_of
from ncdiag.knowledge.limits.rdma_groups import rdma_group_full
from ncdiag.messages.vocabulary.exhaustion import OPEN_FAILURES, is_out_of_files, is_used_up
from ncdiag.messages.vocabulary.first_ends import is_plain_exit
from ncdiag.messages.vocabulary.reasons import reason

_MANY_RANKS, _MANY_MORE = 64, 512
_NO_FILES = "Too many open files"
"""EMFILE in words: whatever call failed with it, the limit is what it lacked."""
_FEW_FILES, _SOME_FILES = 1024, 65536


@derived
def runs_out_of_files(job: Job, view: View) -> bool | None:
    """Did a process run out of file descriptors, or is the limit too low for the number of ranks?"""
    for event in job.events:
        if is_out_of_files(event, view) or _is_out_of_files_in_words(event):
            view.note(event)
            return True
    tight = [host for host in job.hosts if _is_tight(host, job, view)]
    for host in tight:
        for limit in host.limits:
            if limit.name == "nofile":
                view.note(limit)
    if tight:
        return True
    return None if all(nofile(host, view) is None for host in job.hosts) else False


@derived
def files_allowed(job: Job, view: View) -> str:
    """The lowest limit of open files that was shown, `` (n1: 1024)``; empty for none."""
    shown = [(limit, host.name) for host in job.hosts if (limit := nofile(host, view)) is not None]
    limit, name = min(shown, default=(0, ""))
    return "" if not shown else f" ({limit})" if name == UNNAMED else f" ({name}: {limit})"


def _is_out_of_files_in_words(event: Event) -> bool:
    return _NO_FILES in event.text and (event.kind in FAILURES or event.level in {"WARN", "ERROR"})


def _is_tight(host: Host, job: Job, view: View) -> bool:
    limit = nofile(host, view)
    if limit is None or job.nranks is None:
        return limit is not None and limit < _FEW_FILES
    few = job.nranks > _MANY_RANKS and limit <= _FEW_FILES
    return bool(few or (job.nranks > _MANY_MORE and limit < _SOME_FILES))


_SIGKILL = 9  # which the signal module of Windows does not have
_KILLED = frozenset({-_SIGKILL, SHELL_STATUS + _SIGKILL})


@derived
def memory_limit(event: Event, view: View) -> str:
    """The memory limit of the container or job that the line is about, ``64 GiB``; empty where it was not shown."""
    if event.event == "oom-kill":
        return _limit_of_group(event, view.job, view)
    host = view.host(event.host)
    if event.event != "container-oom-killed" or host is None or host.memory_limit_bytes is None:
        return ""
    view.note(host, "memory_limit_bytes")
    return _size(host.memory_limit_bytes)


_GROUP = ("Memory cgroup out of memory", "constraint=CONSTRAINT_MEMCG")
"""What the kernel says where a limit was reached, not the memory of the host."""


def _limit_of_group(event: Event, job: Job, view: View) -> str:
    """The limit that the kernel prints before it kills a process of the group; empty where it was not seen."""
    if not any(words in event.text for words in _GROUP):
        return ""
    before = [
        e for e in job.events if e.event == "cgroup-memory-full" and e.host == event.host and e.order < event.order
    ]
    if not before:
        return ""
    last = max(before, key=lambda each: each.order)
    view.note(last)
    return _size(int(last.fields.get("limit_kib") or 0) << 10)


def _size(size: int) -> str:
    """``64 GiB``; ``150 MiB`` below one."""
    return f"{size / 2**30:.4g} GiB" if size >= 1 << 30 else f"{size / 2**20:.4g} MiB"


@derived_of("oom-kill", "container-oom-killed", "worker-killed", "worker-failed", "mpi-rank-signal", "mpi-signal")
def is_out_of_memory(event: Event, view: View) -> bool | None:
    """Did the kernel end the process for lack of memory?

    By the kernel's own message, or by signal 9 where the control group counts such ends. None for a signal 9 where
    neither the control group's count nor the kernel log was shown.
    """
    if is_outdated(event, view):
        return False
    if event.event in {"oom-kill", "container-oom-killed"}:
        return True
    killed = event.fields.get("signal") == _SIGKILL or event.fields.get("exit_code") in _KILLED
    name = event.host or event.fields.get("on_host")
    host = view.host(name if isinstance(name, str) else None)
    if host is None and len(view.job.hosts) == 1:
        host = view.job.hosts[0]
    if not killed:
        return False
    if host is None or host.oom_kills is None:
        return False if host is not None and shows_kernel_log(host, view) else None
    view.note(host, "oom_kills")
    return host.oom_kills > 0


MEMLOCK_ENOUGH = 64 << 20
"""The limit of locked memory in bytes below which even a small RDMA job fails."""
_LOCKING = ("ib-create-failed", "ib-reg-mr-failed")
_WARNED = "verbs-memlock"
_LOCKED = ("mpi-memlock", _WARNED)
"""Events by which a library says in the job itself that its limit of locked memory is too low."""
_MANY_QUEUES = 100_000
"""A number of queue pairs near a device's limit; ConnectX cards have 131,072 or 262,144 (driver, log_max_qp)."""


_MAKES = ("ALLOC_", "CREATE_")
"""Prefixes of the mlx5 commands that allocate something for a program (include/linux/mlx5/mlx5_ifc.h)."""
_MAKES_KEY = "CREATE_MKEY"
"""The mlx5 command that makes a memory key, of which each registered region needs one or more."""


@derived_of("ib-create-failed", "mlx5-resources-used-up", *OPEN_FAILURES)
def lacks_rdma_resources(event: Event, view: View) -> bool:
    """Did a card refuse a queue, or even a context, because its resources are exhausted?"""
    if event.event == "mlx5-resources-used-up":
        command = str(event.fields.get("command", ""))
        return command.startswith(_MAKES) and command != _MAKES_KEY
    return event.event == "ib-create-failed" or is_used_up(event, view)


@derived
def queues_held(event: Event, view: View) -> str:
    """What exhausts the card, ``; programs hold 261933 queue pairs of mlx5_0``; empty where that was not seen."""
    hosts = [host] if (host := view.host(event.host)) is not None else view.job.hosts
    for hca in (hca for host in hosts for hca in host.hcas):
        count = (hca.resources or {}).get("qp", 0)
        if count >= _MANY_QUEUES:
            view.note(hca, "resources")
            return f"; programs hold {count} queue pairs of {hca.name}"
    return ""


@derived
def memlock_too_low(host: Host, view: View) -> bool | None:
    """Is the limit on locked memory below ``MEMLOCK_ENOUGH``?"""
    size = memlock_bytes(host, view)
    if size is None and memlock_unlimited(host, view):
        return False
    for limit in host.limits:
        if limit.name == "memlock":
            view.note(limit)
    return None if size is None else bool(size < MEMLOCK_ENOUGH)


@derived
def memlock_suspected(host: Host, view: View) -> bool | None:
    """Is the limit too low, or not shown while verbs ran out of memory, or failed for host memory without a reason?

    The limit of a login shell proves nothing where a job worked. NCCL gives no reason up to 2.12, perftest never does.
    A failure without a reason beside one with a reason is its echo in a wrapper.
    """
    low = memlock_too_low(host, view)
    failed = list(view.events_on(host.name, (*_LOCKING, *_LOCKED)))
    if low is not None:
        return low and (any(event.event != _WARNED for event in failed) or not _did_without(host, view))
    explained = any(event.fields.get("error") is not None for event in failed)
    for event in failed:
        gpu = event.fields.get("memory") == "gpu"
        if reason(event, view) == "no-memory" or not (explained or gpu):
            view.note(event)
            return True
    return None


@derived
def memlock_harms(host: Host, view: View) -> bool:
    """Is a limit that was shown too low for a job that may use RDMA, and that did not fail by itself?"""
    low = memlock_too_low(host, view) and memlock_suspected(host, view)
    return bool(low) and uses_rdma(host, view) is not False


@derived
def failed_otherwise(host: Host, view: View) -> bool | None:
    """Did verbs fail for other reasons than memory? None where no limit was shown and the lines give no reason.

    Such a reason is that the resources of the card, or those that its control group may have of it, are used up.
    """
    if rdma_group_full(host, view):
        return True
    if any(view.events_on(host.name, ["mlx5-resources-used-up"])):
        return True
    reasons = {reason(event, view) for event in view.events_on(host.name, _LOCKING)}
    if reasons and reasons.isdisjoint({None, "no-memory"}):
        return True
    return False if "no-memory" in reasons or memlock_too_low(host, view) else None


def _did_without(host: Host, view: View) -> bool:
    """Is the limit that was shown no matter: did a program end well or by its own fault, or are ranks elsewhere?"""
    if (
        raises_own(view.job, view)
        or "program-finished" in view.event_names()
        or any(run.average_busbw is not None for run in view.job.benchmarks)
    ):
        return True
    places = {rank.host for rank in view.job.ranks}
    return bool(places) and host.name not in places


@derived
def memlock_text(host: Host, view: View) -> str:
    """The limit of locked memory as text: ``64 KiB``."""
    limit = memlock_bytes(host, view)
    if limit is None:
        return "an unknown size"
    return f"{limit >> 20} MiB" if limit >= 1 << 20 else f"{limit >> 10} KiB"


@derived
def uses_rdma(host: Host, view: View) -> bool | None:
    """Do ranks of this host use verbs, or does it print messages about verbs calls?"""
    verbs = [name for name in view.event_names() if name.startswith("ib-") and name != "ib-no-device"]
    if view.events_on(host.name, verbs):
        return True
    nets = {r.net for r in ranks_of(host, view)} - {None}
    if nets:
        return nets != {"Socket"}
    return True if host.hcas else has_rdma_hardware(host, view)


@derived
def memlock_bytes(host: Host, view: View) -> int | None:
    """The limit of locked memory in bytes, as the job printed it, else as a shell shows it.

    None when it is unlimited or unknown.
    """
    for event in view.events_on(host.name, _LOCKED):
        size = event.fields.get("limit_bytes")
        if isinstance(size, int):
            view.note(event)
            return size
    limit = _memlock(host)
    return limit.soft if limit else None


@derived
def memlock_unlimited(host: Host, view: View) -> bool | None:
    """Is locked memory unlimited on the host?"""
    limit = _memlock(host)
    return limit.unlimited if limit else None


def _memlock(host: Host) -> Limit | None:
    return next((limit for limit in host.limits if limit.name == "memlock"), None)


@derived
def nofile(host: Host, view: View) -> int | None:
    """The limit of open files; None when it is unlimited or unknown."""
    return next((limit.soft for limit in host.limits if limit.name == "nofile"), None)


NARROW_RANGE = 1000
"""The number of ephemeral TCP ports below which a host of a large job runs out (Linux has about 28,000 by default)."""


@derived
def backlog_below_ranks(host: Host, view: View) -> bool | None:
    """Is the queue of a listening socket (somaxconn) shorter than the number of ranks?"""
    value = sysctl(host, "net.core.somaxconn")
    if value is None or not value.isdecimal():
        return None
    view.note(host, "sysctls")
    return None if view.job.nranks is None else int(value) < view.job.nranks


@derived
def backlog(host: Host, view: View) -> str:
    """The length of the queue of a listening socket (net.core.somaxconn), as printed."""
    return sysctl(host, "net.core.somaxconn") or "?"


MANY_MAPPINGS = 1 << 20
"""The number of memory mappings that a process of a large job should be permitted (65530 by default)."""


@derived
def permits_many_mappings(job: Job, view: View) -> bool:
    """Does a host show that its processes may have a million memory mappings (vm.max_map_count)?"""
    for host in job.hosts:
        value = sysctl(host, "vm.max_map_count") or ""
        if value.isdecimal() and int(value) >= MANY_MAPPINGS:
            view.note(host, "sysctls")
            return True
    return False


_NO_OVERCOMMIT = "2"
"""The value of vm.overcommit_memory with which the kernel counts what programs ask for (Documentation/mm)."""


@derived
def bounds_address_space(job: Job, view: View) -> bool:
    """Does a host show that it limits what programs may map: by ulimit -v, or as the kernel does not overcommit?"""
    for host in job.hosts:
        if sysctl(host, "vm.overcommit_memory") == _NO_OVERCOMMIT:
            view.note(host, "sysctls")
            return True
        for limit in host.limits:
            if limit.name == "as" and limit.soft is not None:
                view.note(limit)
                return True
    return False


@derived
def has_few_ports(host: Host, view: View) -> bool | None:
    """Is the range of ephemeral TCP ports narrow?"""
    parts = (sysctl(host, "net.ipv4.ip_local_port_range") or "").split()
    if len(parts) != 2 or not all(part.isdecimal() for part in parts):  # noqa: PLR2004  (first and last)
        return None
    view.note(host, "sysctls")
    return int(parts[1]) - int(parts[0]) < NARROW_RANGE


@derived
def port_range(host: Host, view: View) -> str:
    """The range of ephemeral TCP ports (net.ipv4.ip_local_port_range), as printed."""
    return sysctl(host, "net.ipv4.ip_local_port_range") or "?"


@derived
def multiplies_sockets(job: Job, view: View) -> bool:
    """Is NCCL configured to use more than one socket to each peer?"""
    found = (view.setting(job, name) for name in ("NCCL_SOCKET_NTHREADS", "NCCL_NSOCKS_PERTHREAD"))
    return any(setting is not None and (setting.number or 0) > 1 for setting in found)


@derived
def ended_by_itself(job: Job, view: View) -> bool:
    """Did each process whose end is shown end with an exit code of its own, and none by a signal?"""
    ends = [event for event in job.events if event.event in CRASHES]
    return bool(ends) and all(map(is_plain_exit, ends))
