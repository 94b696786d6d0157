"""The control group and the namespaces of the inspected process: the limits of a container, a pod or a job step.

Formats: kernel Documentation/admin-guide/cgroup-v2.rst, cgroup-v1/memory.rst, scheduler/sched-bwc.rst and
cgroup-v1/pids.rst; numbers of the first namespaces from include/linux/proc_ns.h.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from ncdiag.base.patterns import lazy_regex
from ncdiag.facts.observe import Observation
from ncdiag.machine.tree import Tree
from ncdiag.parsers.cgroup_cpu import FEW_PERIODS

_GROUPS = "sys/fs/cgroup"
_UNLIMITED = 1 << 62  # version 1 writes the largest page count for 'no limit'
_DEPTH = 32
_NAMESPACE = lazy_regex(r"[a-z_]{1,20}:\[(\d{1,12})\]")
_FIRST = {
    "ipc": 0xEFFFFFFF, "uts": 0xEFFFFFFE, "user": 0xEFFFFFFD, "pid": 0xEFFFFFFC, "cgroup": 0xEFFFFFFB,
    "time": 0xEFFFFFFA,
}  # fmt: skip


def group(tree: Tree) -> Iterator[Observation]:
    """Limits of memory, processors and processes of the control group, what they stopped, and its killed processes.

    The smallest limit of the group and its ancestors is used.
    """
    memory = _smallest(tree, "memory", ("memory.max", "memory.limit_in_bytes"), _bytes)
    if memory:
        yield tree.fact(memory[0], "Host", memory_limit_bytes=int(memory[1]))
    share = _smallest(tree, "cpu", ("cpu.max",), _processors) or _smallest(
        tree, "cpu", ("cpu.cfs_quota_us",), lambda text: _quota(text, "100000")
    )
    if share:
        yield tree.fact(share[0], "Host", cpu_limit=round(share[1], 2))
    count = _smallest(tree, "pids", ("pids.max",), _bytes)
    if count:
        yield tree.fact(count[0], "Limit", "pids", soft=int(count[1]), unlimited=False)
    yield from _throttled(tree)
    yield from _killed(tree)


def _folders(tree: Tree, controller: str) -> Iterator[str]:
    """The folders of the control groups of the process, its own group first; of version 2 and of version 1."""
    process = tree.ask("process", lambda: None) or "self"
    own = {}
    for line in tree.lines(f"proc/{process}/cgroup") or ():
        words = line.split(":", 2)
        if len(words) == 3 and ".." not in words[2].split("/"):  # noqa: PLR2004  (number, controllers, path)
            own[words[1]] = words[2].strip("/")
    joined = next((path for names, path in own.items() if controller in names.split(",")), "")
    for base, path in ((_GROUPS, own.get("", "")), (f"{_GROUPS}/{controller}", joined)):
        parts = [part for part in path.split("/") if part][:_DEPTH]
        for length in range(len(parts), -1, -1):
            yield "/".join([base, *parts[:length]])


def _smallest(
    tree: Tree, controller: str, files: tuple[str, ...], read: Callable[[str], float | None]
) -> tuple[str, float] | None:  # fmt: skip
    """(file, value) of the smallest limit."""
    found = []
    for folder in _folders(tree, controller):
        for file in files:
            value = read(tree.text(f"{folder}/{file}") or "")
            if value is not None:
                found.append((f"{folder}/{file}", value))
    return min(found, key=lambda pair: pair[1], default=None)


def _bytes(text: str) -> float | None:
    value = int(text) if text.isdecimal() and len(text) < 20 else _UNLIMITED  # noqa: PLR2004  (digits of 64 bits)
    return value if value < _UNLIMITED else None


def _processors(text: str) -> float | None:
    """Parse ``200000 100000`` (microseconds of processor time per period, and the period) to a number of processors."""
    words = text.split()
    return _quota(*words) if len(words) == 2 else None  # noqa: PLR2004


def _quota(quota: str, period: str) -> float | None:
    if not (quota.isdecimal() and period.isdecimal() and len(quota) < 20 and len(period) < 20):  # noqa: PLR2004
        return None
    return int(quota) / int(period) if int(period) else None


def _throttled(tree: Tree) -> Iterator[Observation]:
    """How often the process's own group, or the nearest above it that has a limit, was stopped."""
    for folder in _folders(tree, "cpu"):
        counts = {}
        for index, line in enumerate(tree.lines(f"{folder}/cpu.stat") or ()):
            name, _, value = line.partition(" ")
            if value.strip().isdecimal() and len(value) < 20:  # noqa: PLR2004  (digits of 64 bits)
                counts[name] = (int(value), index + 1, line)
        periods = counts.get("nr_periods", (0, 0, ""))[0]
        if periods >= FEW_PERIODS and "nr_throttled" in counts:
            stopped, number, line = counts["nr_throttled"]
            share = round(stopped / periods, 2)
            yield tree.fact(f"{folder}/cpu.stat", "Host", text=line, line=number, cpu_throttled=share)
            return


def _killed(tree: Tree) -> Iterator[Observation]:
    """The count of the process's own group: the counts of its ancestors include other groups."""
    for folder in _folders(tree, "memory"):
        for file in ("memory.events", "memory.oom_control"):
            for index, line in enumerate(tree.lines(f"{folder}/{file}") or ()):
                word, _, value = line.partition(" ")
                if word == "oom_kill" and value.strip().isdecimal():
                    yield tree.fact(f"{folder}/{file}", "Host", text=line, line=index + 1, oom_kills=int(value))
                    return


def namespaces(tree: Tree) -> Iterator[Observation]:
    """The kinds of namespace in which the process differs from the initial namespace of the machine.

    Mount namespaces and, before Linux 6.18, network namespaces have no fixed initial number: the network namespace is
    compared with that of process 1 if root inspects from outside a container.
    """
    base = f"proc/{tree.ask('process', lambda: None) or 'self'}/ns"
    numbers = {kind: _number(tree, f"{base}/{kind}") for kind in (*_FIRST, "net")}
    known = [kind for kind in _FIRST if numbers[kind] is not None]
    if not known:
        return
    own = [kind for kind in known if numbers[kind] != _FIRST[kind]]
    first = _number(tree, "proc/1/ns/net")
    if "pid" not in own and None not in (first, numbers["net"]) and numbers["net"] != first:
        own.append("net")
    yield tree.fact(base, "Host", text=" ".join(own), line=0, own_namespaces=own)


def _number(tree: Tree, path: str) -> int | None:
    found = _NAMESPACE.fullmatch(tree.target(path) or "")
    return int(found[1]) if found else None
