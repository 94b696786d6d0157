"""Host files of MPI, Horovod and DeepSpeed: ``node1 slots=8``, ``node1:8``, or one host name a line.

Source of the formats: Open MPI prrte/src/util/hostfile, hydra mpich src/pm/hydra, DeepSpeed launcher/runner.py. A
list of bare names is taken only when the names are alike (node1, node2, ...) and are no devices, for any list of
words looks like one.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from string import ascii_lowercase

from ncdiag.base.patterns import lazy_regex
from ncdiag.base.spans import Section
from ncdiag.parsers._rows import Reading, Row, Rows, after_text

KIND = "hostfile"
COMMANDS: tuple[str, ...] = (
    "cat hostfile", "cat hosts", "cat machinefile", "cat hostfile.txt", "cat hosts.txt", "cat /etc/mpi/hostfile",
    "cat hostlist", "cat hostlist.txt", "cat host_list", "cat host_file", "cat my_hostfile", "cat myhostfile",
    "cat mpi_hosts", "cat nodelist", "cat nodelist.txt", "cat nodefile", "cat nodes.txt", "cat machines",
    "cat machines.txt", "cat machinefile.txt", "hostfile", "machinefile",
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

_SLOTS = (
    rf"\s*{_USER}(?P<name>{_HOST})(?:\s+(?:[a-z_-]+\s?=\s?\S+\s*)?(?:slots\s?=\s?(?P<slots>\d{{1,4}})).*|\s+\S+=.*)$"
)
_COLON = rf"\s*{_USER}(?P<name>{_HOST})(?::(?P<slots>\d{{1,4}}))?\s*$"
_ALONE = lazy_regex(rf"(?:{_BARE}|{_IP})\s*$")
_ADDRESS = lazy_regex(_IP)
_COMMENT = lazy_regex(r"\s*#")
_ALIKE = 3
_STEM = 2


class _Hosts(Reading):
    """The hosts with their slots, as a launch whose program is ``hostfile``."""

    def __init__(self, section: Section) -> None:
        """No host was read yet."""
        super().__init__(section)
        self.hosts: list[dict[str, str | int]] = []
        self.first = 0

    def host(self, found: re.Match[str]) -> None:
        """One host a line."""
        self.first = self.first if self.hosts else self.index
        self.hosts.append({"name": found["name"], **({"slots": int(found["slots"])} if found["slots"] else {})})

    def end(self) -> None:
        """All of them, where it is sure that they are hosts; else nothing."""
        sure = (self.section.command is not None and not self.unread) or any("slots" in host for host in self.hosts)
        if self.hosts and (sure or _alike([str(host["name"]) for host in self.hosts])):
            text = self.section.lines[self.first].strip()
            self.observe("Launch", at=self.first, program="hostfile", text=text, hosts=self.hosts)
        else:
            self.found_nothing()


def _alike(names: Sequence[str]) -> bool:
    """Several different names that share how they begin, or at least two in one domain."""
    if not all(_ALONE.match(name) for name in names):
        return False
    domains = {name.partition(".")[2] for name in names if not _ADDRESS.fullmatch(name)}
    if len(set(names)) == len(names) > 1 and len(domains) == 1 and "." in domains.pop():
        return True
    stems = {name[:_STEM] for name in names}
    return len(names) >= _ALIKE and len(set(names)) == len(names) and len(stems) == 1


def _first_host(lines: Sequence[str], line: str) -> str:
    """The first line that is not a comment, which decides the layout; the line itself where none is above it."""
    return next((text for text in lines if text.strip() and not _COMMENT.match(text)), line)


def _no_key(lines: Sequence[str], line: str) -> bool:
    """The lines of a key or a certificate are not names."""
    return not _first_host(lines, line).startswith("-----")


ROWS = Rows(
    _Hosts,
    Row(_SLOTS, _Hosts.host, belongs=lambda lines, line: _no_key(lines, line) and "=" in _first_host(lines, line)),
    Row(_COLON, _Hosts.host, belongs=lambda lines, line: _no_key(lines, line) and "=" not in _first_host(lines, line)),
    Row(_COMMENT.pattern, belongs=_no_key),
    Row(r"\s*$", belongs=lambda lines, line: _no_key(lines, line) and after_text(lines, line)),
)
