"""``kubectl get nodes`` and ``kubectl describe node``: the nodes of a Kubernetes cluster, and what they offer.

Source of the formats: Kubernetes pkg/printers/internalversion/printers.go (printNode), kubectl pkg/cmd/get (``-L``
appends a column named after the last part of the label; ``--show-labels``), pkg/describe/describe.go (describeNode).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from ncdiag.base.patterns import lazy_regex
from ncdiag.base.spans import Section
from ncdiag.facts.observe import Observation, Parsed, observe

KIND = "kubectl_nodes"
COMMANDS: tuple[str, ...] = tuple(
    f"{program} {verb} {what}"
    for program in ("kubectl", "k", "oc")
    for verb in ("get", "describe")
    for what in ("nodes", "node", "no")
)
ANCHOR = r"NAME[ ]{2,80}STATUS[ ]{2,40}ROLES[ ]{2,40}AGE[ ]{2,20}VERSION\b|(?:Capacity|Allocatable):[ ]{0,4}$"
EVENTS = {
    "k8s-devices-withdrawn": {
        "resource": "str", "device_capacity": "int", "device_allocatable": "int", "cluster_node": "str"
    },
}  # fmt: skip

_HEAD = lazy_regex(r"NAME(?:\s{2,}\S+)+\s*$")
_ROW = lazy_regex(r"[a-z0-9][\w.-]{0,252} {3,80}\S")
_COLUMN = lazy_regex(r"\S+(?: \S+)*")
_NODE = lazy_regex(r"Name:\s{2,40}(?P<name>[\w.-]{1,253})\s*$")
_PART = lazy_regex(r"(?P<part>[A-Z][A-Za-z ]{2,30}):(?:\s|$)")
_HAS, _OFFERS = "Capacity", "Allocatable"
_SHARE = lazy_regex(rf"(?:{_HAS}|{_OFFERS}):\s*$")
_LABEL = lazy_regex(r"(?:Labels:)?\s{2,40}(?P<name>[\w./-]{1,300})=(?P<value>[\w.-]{0,63})\s*$")
_AMOUNT = lazy_regex(r"\s{2,8}(?P<name>[\w.-]{1,200}/[\w.-]{1,63}):\s{1,40}(?P<amount>\d{1,9})(?P<thousands>k)?\s*$")
_USED = lazy_regex(r"\s{2,8}[\w.-]{1,200}/[\w.-]{1,63}\s{1,40}\d")
_TYPES = ("node.kubernetes.io/instance-type", "beta.kubernetes.io/instance-type")
_EFA = "vpc.amazonaws.com/efa"
_UNNAMED = "?"
_WIDTH, _LIMIT = 8192, 20_000


def continues(lines: Sequence[str], line: str) -> bool:
    """Rows of the table; or the description of a node, whose parts are indented, and of further nodes."""
    if len(lines) > _LIMIT or len(line) > _WIDTH:
        return False
    first = next((text for text in lines if text.strip()), line)
    if _HEAD.match(first):
        return line is first or _ROW.match(line) is not None
    if not line.strip():
        return bool(lines) and bool(lines[-1].strip()) and _NODE.match(first) is not None
    return any(p.match(line) for p in (_NODE, _PART, _LABEL, _AMOUNT, _USED)) or line.startswith("  ")


def parse(section: Section) -> Parsed:
    """An observation for each node: its instance type, and the resources of device plugins.

    The kubelet counts unhealthy devices in the capacity, but not in what it offers to pods
    (pkg/kubelet/cm/devicemanager/manager.go, GetCapacity). If the two differ, an event is added.
    """
    first = next((text for text in section.lines if text.strip()), "")
    if _HEAD.match(first):
        return Parsed(observations=tuple(_rows(section)))
    if section.command is None and not _NODE.match(first) and not _SHARE.match(first):
        return Parsed(unread=tuple(index for index, line in enumerate(section.lines) if line.strip()))
    return Parsed(observations=tuple(_described(section)))


def _rows(section: Section) -> Iterator[Observation]:
    """A column begins where its heading does."""
    columns: list[tuple[str, int]] = []
    for index, line in enumerate(section.lines):
        if _HEAD.match(line):
            columns = [(found[0], found.start()) for found in _COLUMN.finditer(line)]
            continue
        ends = [start for _, start in columns[1:]] + [len(line)]
        cells = {name: line[start:end].strip() for (name, start), end in zip(columns, ends, strict=True)}
        name = cells.pop("NAME", "")
        if name and " " not in name:
            yield observe(section, index, "ClusterNode", (name,), **_of_cells(cells))


def _of_cells(cells: dict[str, str]) -> dict[str, Any]:
    labels = dict(part.partition("=")[::2] for part in cells.get("LABELS", "").split(","))
    kind = cells.get("INSTANCE-TYPE") or next((labels[name] for name in _TYPES if name in labels), None)
    efa = cells.get("EFA", "")
    return {
        "instance_type": kind if kind and kind != "<none>" else None,
        "resources": {_EFA: int(efa)} if efa.isdecimal() and efa.isascii() and len(efa) < 6 else None,  # noqa: PLR2004
    }


def _described(section: Section) -> Iterator[Observation]:
    """Nodes one after the other; filtered lines name none. What one has and does not offer comes last."""
    name, first, part = _UNNAMED, 0, ""
    kind: str | None = None
    resources: dict[str, int] = {}
    has: dict[str, int] = {}
    withdrawn: list[Observation] = []
    for index, line in enumerate([*section.lines, "Name:   end"]):
        node, label, amount, head = _NODE.match(line), _LABEL.match(line), _AMOUNT.match(line), _PART.match(line)
        if node:
            if kind or resources:
                yield observe(section, first, "ClusterNode", (name,), instance_type=kind, resources=resources or None)
            name, first, kind, resources, has = node["name"], index, None, {}, {}
        if head:
            part = head["part"]
            has = {} if part == _HAS else has
        if label and label["name"] in _TYPES:
            kind = label["value"] or None
        elif amount and part in {"", _HAS, _OFFERS}:  # the later one, what pods can have, counts
            resource, count = amount["name"], int(amount["amount"]) * (1000 if amount["thousands"] else 1)
            resources[resource] = count
            if part == _HAS:
                has[resource] = count
            elif part == _OFFERS and count < has.get(resource, 0):
                withdrawn.append(_withdrawn(section, index, name, resource, (has[resource], count)))
    yield from withdrawn


def _withdrawn(section: Section, index: int, node: str, resource: str, shares: tuple[int, int]) -> Observation:
    """The event of a node that offers less of a resource than it has."""
    fields = {
        "resource": resource, "device_capacity": shares[0], "device_allocatable": shares[1],
        "cluster_node": "" if node == _UNNAMED else node,
    }  # fmt: skip
    return observe(
        section, index, "Event", event="k8s-devices-withdrawn", origin="launcher", kind="fact", count=1,
        text=section.lines[index].strip(), order=section.number(index), fields=fields,
    )  # fmt: skip
