"""``aws ec2 describe-security-groups`` and ``describe-instances``: what the cloud lets through between its machines.

Source of the formats: Amazon EC2 API reference (SecurityGroup, IpPermission, Instance) as JSON; AWS CLI awscli/text.py
(``--output text``: tables as lines that begin with their name in capitals; ``--output yaml``). A query may leave two
lists of rules, whose group is that of the command. EFA passes where a rule for all traffic
names the group itself, in both directions: a network such as 0.0.0.0/0 does not do (EC2 user guide, EFA set-up).
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ncdiag.base.patterns import lazy_regex
from ncdiag.base.spans import Section
from ncdiag.facts.observe import Observation, Parsed, observe
from ncdiag.formats import decoded
from ncdiag.formats.yaml import Node, load

KIND = "aws_ec2"
COMMANDS: tuple[str, ...] = ("aws ec2 describe-security-groups", "aws ec2 describe-instances")
ANCHOR = (
    r' {4}"(?:SecurityGroups|Reservations)": \[[ \t]*$|SECURITYGROUPS\t.{0,600}\bsg-[0-9a-f]{8,17}\t'
    r"|INSTANCES\t.{0,600}\bi-[0-9a-f]{8,17}\t|SecurityGroups:[ \t]*$"
)

_GROUP = lazy_regex(r"\bsg-[0-9a-f]{8,17}\b")
_INSTANCE = lazy_regex(r"\bi-[0-9a-f]{8,17}\b")
_NETWORK = lazy_regex(r"\bvpc-[0-9a-f]{8,17}\b")
_ZONE = lazy_regex(r"\b[a-z]{2}(?:-[a-z]{2,9}){1,3}-\d[a-z]\b")
_TEXT = lazy_regex(r"[A-Z]{4,40}(?:\t|\s*$)")
_ASKED = lazy_regex(r"--group-ids?[=\s](?P<group>sg-[0-9a-f]{8,17})(?!\s*sg-)")
_BOTH = lazy_regex(r"\[\s*(?:\w+:\s*)?IpPermissions\s*,\s*(?:\w+:\s*)?IpPermissionsEgress\s*\]")
_YAML = lazy_regex(r"SecurityGroups:\s*$|\s*(?:- ){1,4}\w|\s+\w[\w/]{0,40}:|\s*-\s*$|\[\]\s*$")
_ALL = "-1"
_LIMIT = 50_000


def continues(lines: Sequence[str], line: str) -> bool:
    """JSON to its last brace, tables of ``--output text``, or rows with an id."""
    if len(lines) > _LIMIT or not line.strip():
        return False
    first = next((text for text in lines if text.strip()), line)
    if first.lstrip()[:1] in {"{", "[", '"'}:
        return decoded.is_line(line) and not (len(lines) > 1 and lines[-1].rstrip() in {"}", "]"})
    if _YAML.match(first):
        return _YAML.match(line) is not None
    if "aws ec2 " in line:
        return False  # the next command, with an id among its options
    return _TEXT.match(line) is not None or any(p.search(line) for p in (_GROUP, _INSTANCE))


def parse(section: Section) -> Parsed:
    """Security groups with what they let pass among their own members, and machines with their places."""
    first = next((text for text in section.lines if text.strip()), "")
    asked = _ASKED.search(section.command or "")
    if asked and _BOTH.search(section.command or ""):
        found = list(_of_rules(section, asked["group"]))
    elif first.lstrip()[:1] in {"{", "[", '"'}:
        text = section.text if section.text.lstrip().startswith("{") else "{" + section.text
        found = list(_of_document(section, next(iter(decoded.listed(text)), {})))
    elif first.startswith("SecurityGroups:"):
        document = _value(load(section.lines)[0])
        found = list(_of_document(section, document if isinstance(document, dict) else {}))
    elif any(line.startswith(("SECURITYGROUPS\t", "IPPERMISSIONS")) for line in section.lines):
        found = list(_of_text(section))
    else:
        found = [o for index, line in enumerate(section.lines) for o in _of_row(section, index, line)]
    if not found:
        return Parsed(unread=tuple(index for index, line in enumerate(section.lines) if line.strip()))
    return Parsed(observations=tuple(found))


def _of_rules(section: Section, group: str) -> Iterator[Observation]:
    """The group of the command, from its two lists of rules as YAML or JSON."""
    text = section.text.strip()
    try:
        both = json.loads(text) if text.startswith("[") else _value(load(section.lines)[0])
    except ValueError:
        return
    if isinstance(both, list) and len(both) == len(("in", "out")):
        takes, sends = (_names_itself(rules, group) for rules in both)
        yield observe(section, 0, "SecurityGroup", (group,), takes_own=takes, sends_own=sends)


def _value(node: Node) -> Any:  # noqa: ANN401
    """A node of YAML as plain lists, tables and texts."""
    if isinstance(node.value, dict):
        return {name: _value(child) for name, child in node.value.items()}
    return [_value(child) for child in node.value] if isinstance(node.value, list) else node.value


def _of_document(section: Section, document: Mapping[str, Any]) -> Iterator[Observation]:
    places = _places(section)
    for group in decoded.tables(document.get("SecurityGroups")):
        name = decoded.text(group.get("GroupId"))
        if name:
            takes, sends = (_names_itself(group.get(way), name) for way in ("IpPermissions", "IpPermissionsEgress"))
            yield observe(section, places.get(name, 0), "SecurityGroup", (name,), takes_own=takes, sends_own=sends)
    for reservation in decoded.tables(document.get("Reservations")):
        for instance in decoded.tables(reservation.get("Instances")):
            name = decoded.text(instance.get("InstanceId"))
            if name:
                zone = decoded.text(decoded.table(instance.get("Placement")).get("AvailabilityZone"))
                where: dict[str, Any] = {"vpc": decoded.text(instance.get("VpcId")), "zone": zone}
                yield observe(section, places.get(name, 0), "CloudInstance", (name,), **where)


def _places(section: Section) -> dict[str, int]:
    """The first line of each id."""
    found: dict[str, int] = {}
    for index, line in enumerate(section.lines):
        for pattern in (_GROUP, _INSTANCE):
            for name in pattern.findall(line):
                found.setdefault(name, index)
    return found


def _names_itself(rules: Any, name: str) -> bool | None:  # noqa: ANN401
    """True if a rule for all traffic names the group; None where the rules were left out of the answer."""
    if not isinstance(rules, list):
        return None
    pairs = (
        pair
        for rule in decoded.tables(rules)
        if rule.get("IpProtocol") == _ALL
        for pair in decoded.tables(rule.get("UserIdGroupPairs"))
    )
    return any(pair.get("GroupId") == name for pair in pairs)


def _of_text(section: Section) -> Iterator[Observation]:
    """A rule's peers are on the lines below it."""
    groups: dict[str, tuple[int, dict[str, Any]]] = {}
    name, way, every = "", "", False
    for index, line in enumerate(section.lines):
        word, _, rest = line.partition("\t")
        named = _GROUP.search(rest)
        if word == "SECURITYGROUPS" and named:
            name, way = named[0], ""
            groups[name] = index, {"takes_own": False, "sends_own": False}
        elif word in {"IPPERMISSIONS", "IPPERMISSIONSEGRESS"}:
            way = "takes_own" if word == "IPPERMISSIONS" else "sends_own"
            every = rest.strip() == _ALL
        elif word == "USERIDGROUPPAIRS" and every and way and name and _GROUP.findall(rest)[:1] == [name]:
            groups[name][1][way] = True
    for group, (index, fields) in groups.items():
        yield observe(section, index, "SecurityGroup", (group,), **fields)


def _of_row(section: Section, index: int, line: str) -> Iterator[Observation]:
    """What a query chose of an instance: its id, with a zone or a network."""
    instance, vpc, zone = _INSTANCE.search(line), _NETWORK.search(line), _ZONE.search(line)
    if instance and (vpc or zone):
        where: dict[str, Any] = {"vpc": vpc[0] if vpc else None, "zone": zone[0] if zone else None}
        yield observe(section, index, "CloudInstance", (instance[0],), **where)
