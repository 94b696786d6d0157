"""Processors, capabilities, ports and packet filter: what can slow a process down or block it.

Formats: kernel Documentation/ABI/testing/sysfs-devices-system-cpu, include/uapi/linux/capability.h,
Documentation/networking/proc_net_tcp.rst, include/uapi/linux/timex.h.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator

from ncdiag.agent.ask import clock_status
from ncdiag.facts.observe import Observation
from ncdiag.machine.tree import Tree
from ncdiag.parsers.cpuidle import idle_states

_CLOCK = "sys/devices/system/clocksource/clocksource0/current_clocksource"
_GOVERNORS = "sys/devices/system/cpu/cpu*/cpufreq/scaling_governor"
_IDLE = "sys/devices/system/cpu/cpu0/cpuidle"
_IDLE_FILES = ("name", "latency", "disable", "usage")
_CAPABILITIES = {12: "NET_ADMIN", 13: "NET_RAW", 14: "IPC_LOCK", 19: "SYS_PTRACE", 21: "SYS_ADMIN", 24: "SYS_RESOURCE"}
_UNSYNCHRONIZED = 0x40  # STA_UNSYNC
_LISTENING = "0A"  # TCP_LISTEN of include/net/tcp_states.h


def processors(tree: Tree) -> Iterator[Observation]:
    """The clock source of the kernel, and the number of processors per frequency governor."""
    clock = tree.text(_CLOCK)
    yield from tree.told(_CLOCK, "Host", text=clock, clock_source=clock)
    governors = Counter(text for path in tree.matches(_GOVERNORS) if (text := tree.text(path)))
    if governors:
        shown = ", ".join(f"{name} {count}" for name, count in sorted(governors.items()))
        yield tree.fact(_GOVERNORS, "Host", text=shown, line=0, cpu_governors=dict(governors))


def idle(tree: Tree) -> Iterator[Observation]:
    """The idle states of the first processor; the others have the same."""
    numbers = [name.removeprefix("state") for name in tree.names(_IDLE) or () if name.startswith("state")]
    found = {
        int(number): {name: tree.text(f"{_IDLE}/state{number}/{name}") for name in _IDLE_FILES}
        for number in numbers if number.isdecimal() and len(number) < 3  # noqa: PLR2004  (there are about ten)
    }  # fmt: skip
    states = idle_states(found)
    if states:
        shown = ", ".join(state["name"] for state in states)
        yield tree.fact(_IDLE, "Host", text=shown, line=0, idle_states=states)


def clock(tree: Tree) -> Iterator[Observation]:
    """The time, and whether the kernel's clock is synchronised, as reported to it by NTP and PTP daemons."""
    now = tree.ask("time", time.time)
    if isinstance(now, int | float):
        yield tree.fact("clock", "Host", text="", line=0, examined_at=float(now))
    status = tree.ask("clock status", clock_status)
    if isinstance(status, int):
        text = f"adjtimex: status {status:#x}"
        yield tree.fact(_CLOCK, "Host", text=text, line=0, clock_synchronized=not status & _UNSYNCHRONIZED)


def loaded(tree: Tree) -> Iterator[Observation]:
    """The NCCL library and plugins that the inspected process has loaded."""
    process = tree.ask("process", lambda: None)
    path = f"proc/{process}/maps"
    told = set()
    for index, line in enumerate(tree.lines(path) or () if process else ()):
        file = line.partition("/")[2].removesuffix(" (deleted)")
        if file.rpartition("/")[2].startswith("libnccl") and file not in told:
            told.add(file)
            yield tree.fact(path, "Library", f"/{file}", text=line, line=index + 1, loaded=True)


def capabilities(tree: Tree) -> Iterator[Observation]:
    """The effective capabilities that matter to NCCL, of the inspected process (default: this process)."""
    path = f"proc/{tree.ask('process', lambda: None) or 'self'}/status"
    for index, line in enumerate(tree.lines(path) or ()):
        word, _, value = line.partition(":")
        if word == "CapEff":
            try:
                mask = int(value, 16)
            except ValueError:
                return
            names = [name for bit, name in _CAPABILITIES.items() if mask >> bit & 1]
            yield tree.fact(path, "Host", text=line, line=index + 1, capabilities=names)


def affinity(tree: Tree) -> Iterator[Observation]:
    """The processors that the inspected process may use; nothing without an inspected process."""
    process = tree.ask("process", lambda: None)
    path = f"proc/{process}/status"
    for index, line in enumerate(tree.lines(path) or () if process else ()):
        word, _, value = line.partition(":")
        if word == "Cpus_allowed_list" and value.strip():
            cpus = [{"pid": int(process), "cpus": value.strip()}]
            yield tree.fact(path, "Host", text=line, line=index + 1, process_cpus=cpus)


def ports(tree: Tree) -> Iterator[Observation]:
    """The TCP ports on which programs in this network namespace listen."""
    tables = {path: lines for path in ("proc/net/tcp", "proc/net/tcp6") if (lines := tree.lines(path)) is not None}
    found = {port for lines in tables.values() for line in lines[1:] if (port := _listening(line.split())) is not None}
    if "proc/net/tcp" in tables:
        yield tree.fact("proc/net/tcp", "Host", text="", line=0, listening_ports=sorted(found))


def _listening(words: list[str]) -> int | None:
    """The port in a row of the table (number, local address, remote address, state ...) if its socket listens."""
    if len(words) < 4 or words[3] != _LISTENING:  # noqa: PLR2004
        return None
    try:
        return int(words[1].rpartition(":")[2], 16)
    except ValueError:
        return None


def firewall(tree: Tree) -> Iterator[Observation]:
    """Tables of iptables in use (``filter``, ``nat``); those of nftables are in no file."""
    found = []
    for path in ("proc/net/ip_tables_names", "proc/net/ip6_tables_names"):
        found += [name for name in tree.lines(path) or () if name]
    if tree.data("proc/net/ip_tables_names") is not None:
        text = " ".join(found)
        yield tree.fact("proc/net/ip_tables_names", "Host", text=text, line=0, packet_filters=sorted(set(found)))
