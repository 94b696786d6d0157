"""Host files of MPI, Horovod and DeepSpeed: ``node1 slots=8``, ``node1:8``, or one host name a line.

Source of the formats: Open MPI prrte/src/util/hostfile, hydra mpich src/pm/hydra, DeepSpeed launcher/runner.py. A
list of bare names is taken only when the names are alike (node1, node2, ...) and are no devices, for any list of
words looks like one.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from string import ascii_lowercase

from ncdiag.base.spans import Section
from ncdiag.facts.observe import Parsed, observe

KIND = "hostfile"
COMMANDS: tuple[str, ...] = (
    "cat hostfile", "cat hosts", "cat machinefile", "cat hostfile.txt", "cat hosts.txt", "cat /etc/mpi/hostfile",
    "hostfile", "machinefile",
)  # fmt: skip
_USER = r"(?:[a-z_][\w.-]{0,31}@)?"
_HOST = r"[A-Za-z0-9][\w.-]{0,80}"
_DEVICES = (
    r"(?:(?:eth|ib|br|lo|sd|v|tun|tap|team|bond|rank|step|epoch|cuda|gpu|nic|py|cp|sm|layer|torch|xid|part)[-_.]?\d"
    r"|(?:en[opsx]|mlx|roce|rdma|ibp|veth|docker|virbr|cali|cni|nvidia|uverbs|umad|issm|efa|hfi|bnxt|nvme|vlan|lib|nccl)\w*)"
)
_BARE = rf"(?!(?i:{_DEVICES}))[A-Za-z][A-Za-z0-9-]{{1,60}}\d[A-Za-z0-9.-]{{0,60}}"
_IP = r"(?:\d{1,3}\.){3}\d{1,3}"
ANCHOR = rf"{_IP}[ \t]*$|{_USER}{_HOST}[ \t]+(?:slots|max_slots|max-slots)[ \t]?=[ \t]?\d{{1,4}}\b|{_BARE}[ \t]*$"
STRUCTURE = "0" + ascii_lowercase
FREQUENT = {STRUCTURE: "a name alone in its line may be any word with a digit"}

_SLOTS = re.compile(
    rf"\s*{_USER}(?P<name>{_HOST})(?:\s+(?:[a-z_-]+\s?=\s?\S+\s*)?(?:slots\s?=\s?(?P<slots>\d{{1,4}})).*|\s+\S+=.*)$"
)
_COLON = re.compile(rf"\s*{_USER}(?P<name>{_HOST})(?::(?P<slots>\d{{1,4}}))?\s*$")
_ALONE = re.compile(rf"(?:{_BARE}|{_IP})\s*$")
_COMMENT = re.compile(r"\s*#")
_ALIKE = 3
_STEM = 2


def continues(lines: Sequence[str], line: str) -> bool:
    """Lines of the layout that began the list; comments."""
    first = next((text for text in lines if text.strip() and not _COMMENT.match(text)), line)
    if first.startswith("-----"):
        return False  # a key or a certificate, whose lines are no names
    if _COMMENT.match(line):
        return True
    if not line.strip():
        return bool(lines) and bool(lines[-1].strip())
    if "=" in first:
        return _SLOTS.match(line) is not None
    if ":" in first or not lines:
        return _COLON.match(line) is not None
    return (_ALONE.match(line) or _COLON.match(line)) is not None and " " not in line.strip()


def parse(section: Section) -> Parsed:
    """The hosts with their slots, as a launch whose program is ``hostfile``."""
    hosts: list[dict[str, str | int]] = []
    unread: list[int] = []
    first: int | None = None
    for index, line in enumerate(section.lines):
        found = _SLOTS.match(line) or _COLON.match(line)
        if found:
            host: dict[str, str | int] = {"name": found["name"]}
            if found["slots"]:
                host["slots"] = int(found["slots"])
            hosts.append(host)
            first = index if first is None else first
        elif line.strip() and not _COMMENT.match(line):
            unread.append(index)
    sure = (section.command is not None and not unread) or any("slots" in host for host in hosts)
    if first is None or not (sure or _alike([str(host["name"]) for host in hosts])):
        return Parsed(unread=tuple(i for i, line in enumerate(section.lines) if line.strip()))
    return Parsed(
        observations=(
            observe(section, first, "Launch", program="hostfile", text=section.lines[first].strip(), hosts=hosts),
        ),
        unread=tuple(unread),
    )


def _alike(names: Sequence[str]) -> bool:
    """Several different names that share how they begin."""
    if not all(_ALONE.match(name) for name in names):
        return False
    stems = {name[:_STEM] for name in names}
    return len(names) >= _ALIKE and len(set(names)) == len(names) and len(stems) == 1
