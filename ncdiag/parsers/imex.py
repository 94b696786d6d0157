r"""``nvidia-imex-ctl -N`` (and ``-q``): the nodes of an IMEX domain, which share GPU memory over NVLink.

Source of the format: NVIDIA IMEX service for NVLink networks, nvidia-imex-ctl: a legend, ``Node #0   - 10.0.0.1   -
READY   - Version: ...``, the table ``Nodes From\To`` and ``Domain State: UP``; with ``-j`` the same as JSON
(``nodes``, each with ``status``, ``host`` and ``connections``, and the ``status`` of the domain). ``-q`` prints only
the status of the daemon of this host: ``READY``, ``INITIALIZING``, ``UNAVAILABLE``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from ncdiag.base.patterns import lazy_regex
from ncdiag.base.spans import Section
from ncdiag.facts.observe import Parsed, observe
from ncdiag.formats import decoded
from ncdiag.parsers._rows import BLANK, Reading, Row, Rows, at_start, first_line

KIND = "imex"
COMMANDS: tuple[str, ...] = ("nvidia-imex-ctl",)
ANCHOR = r"Connectivity Table Legend:|Node #\d{1,4} {1,8}- \S{1,64} {1,40}- [A-Z]{4,20}\b"

_NODE = (
    r"Node #(?P<number>\d{1,4})\s{1,8}(?:\*\s{0,4})?-\s(?P<address>\S{1,64})\s{1,64}(?:\*\s{0,4})?-\s"
    r"(?P<state>[A-Z][A-Z_ ]{1,30}?)\s*(?:\*\s*)?(?:-\sVersion:|$)"
)
_NAME = lazy_regex(r"\s-\sHostname: (?P<name>[\w.-]{1,64})")
_DOMAIN = lazy_regex(r"Domain State: (?P<state>[A-Z]{2,20})\s*$")
_FRAME = (
    r"Connectivity Table Legend:|(?:[A-Z]|!\w!) - [A-Z]|\d{1,2}/\d{1,2}/\d{4} [\d:.]{5,16}\s*$|Nodes:\s*$"
    r"|\s?Nodes From\\To\s"
)
_STATUS = r"\s{0,4}(?P<status>[A-Z]{3,16}(?:[ _][A-Z]{2,16}){0,3})\s*$"
_LIMIT = 2000
_READY, _CONNECTED = "READY", "C"
_MOST = 8


class _Domain(Reading):
    """``imex_domain``, ``imex_nodes`` and ``imex_lost`` of the host that was asked."""

    def __init__(self, section: Section) -> None:
        """No node was read yet."""
        super().__init__(section)
        self.nodes: dict[int, tuple[str, str]] = {}
        self.addresses: list[str] = []
        self.rows: dict[int, list[str]] = {}
        self.state: str | None = None
        self.status: str | None = None
        self.last = 0

    def node(self, found: re.Match[str]) -> None:
        """A node with its state."""
        name = _NAME.search(self.line)
        self.nodes[int(found["number"])] = (name["name"] if name else found["address"]), found["state"]
        self.addresses.append(found["address"])

    def domain(self, found: re.Match[str]) -> None:
        """The state of the whole, which is the last line."""
        self.state, self.last = found["state"], self.index

    def daemon(self, found: re.Match[str]) -> None:
        """The status of the daemon of this host alone."""
        self.status, self.last = found["status"], self.index

    def row(self, _: re.Match[str]) -> None:
        """How a node is connected to each."""
        number, *cells = self.line.split()
        self.rows[int(number)] = cells

    def end(self) -> None:
        """All of it as one observation."""
        if self.status not in {None, _READY}:
            self.observe("Host", at=self.last, imex_lost=[f"its daemon ({self.status})"])
        if not self.nodes and self.state is None:
            return
        lost = [f"{name} ({word})" for name, word in self.nodes.values() if word != _READY]
        lost += _unconnected(self.nodes, self.rows)
        count = len(self.nodes) or None
        self.observe(
            "Host", at=self.last, imex_domain=self.state, imex_nodes=count, imex_lost=lost if count or lost else None,
            imex_addresses=self.addresses or None,
        )  # fmt: skip


ROWS = Rows(
    _Domain,
    Row(_NODE, _Domain.node),
    Row(_DOMAIN.pattern, _Domain.domain),
    Row(r"\s{1,16}\d{1,4}\s{1,16}(?:[INRDACVM!]{1,4}\s*){1,600}$", _Domain.row),
    Row(_FRAME),
    Row(_STATUS, _Domain.daemon, belongs=at_start),
    BLANK,
    most=_LIMIT + 1,
)


def continues(lines: Sequence[str], line: str) -> bool:
    """The legend, the nodes, the table and the state, with blank lines between them; or JSON."""
    if first_line(lines, line).lstrip().startswith("{"):
        return decoded.is_line(line) and not (len(lines) > 1 and decoded.closed(lines[-1], line))
    return not _DOMAIN.match(lines[-1] if lines else "") and ROWS.continues(lines, line)


def parse(section: Section) -> Parsed:
    """What the text or the JSON says of the domain."""
    return _of_json(section) if section.lines and section.lines[0].lstrip().startswith("{") else ROWS.parse(section)


def _unconnected(nodes: Mapping[int, tuple[str, str]], rows: Mapping[int, list[str]]) -> list[str]:
    """Pairs of ready nodes that are not connected."""
    ready = [number for number, (_, state) in nodes.items() if state == _READY]
    if not nodes:  # a table whose list of nodes was not pasted: a daemon that runs is connected with itself
        ready = [number for number, cells in rows.items() if cells[number : number + 1] == [_CONNECTED]]
    pairs = [(a, b) for a in ready for b in ready if b < len(rows.get(a, ())) and rows[a][b] != _CONNECTED]
    names = {number: name for number, (name, _) in nodes.items()}
    return [f"{names.get(a, f'node {a}')} to {names.get(b, f'node {b}')} ({rows[a][b]})" for a, b in pairs[:_MOST]]


def _of_json(section: Section) -> Parsed:
    document = next(iter(decoded.listed(section.text)), {})
    nodes = [node for node in decoded.table(document.get("nodes")).values() if isinstance(node, dict)]
    state = decoded.text(document.get("status"))
    if not nodes or state is None:
        return Parsed(unread=tuple(index for index, line in enumerate(section.lines) if line.strip()))
    lost = [f"{_named(node)} ({node.get('status')})" for node in nodes if node.get("status") != _READY]
    lost += [
        f"{_named(node)} to {link.get('host')} ({link.get('status')})"
        for node in nodes
        for link in decoded.table(node.get("connections")).values()
        if isinstance(link, dict)
        and node.get("status") == _READY
        and link.get("status") != "CONNECTED"
        and _is_ready(link.get("host"), nodes)
    ][:_MOST]
    place = max((index for index, line in enumerate(section.lines) if '"status"' in line), default=0)
    told = observe(section, place, "Host", imex_domain=state, imex_nodes=len(nodes), imex_lost=lost)
    return Parsed(observations=(told,))


def _named(node: Mapping[str, Any]) -> str:
    return decoded.text(node.get("hostName")) or decoded.text(node.get("host")) or "?"


def _is_ready(host: object, nodes: Sequence[Mapping[str, Any]]) -> bool:
    return any(node.get("host") == host and node.get("status") == _READY for node in nodes)
