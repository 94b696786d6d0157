"""``firewall-cmd --list-all`` (``--list-all-zones``, ``--state``): what firewalld does with what comes in.

Source of the format: firewalld src/firewall/command.py (print_zone_policy_info): a zone's name with ``(active)``, then
indented ``name: value``. The target ``default`` rejects what no service, port or rule names (firewalld.zone(5)).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from ncdiag.base.patterns import lazy_regex
from ncdiag.base.spans import Section
from ncdiag.facts.observe import Observation, Parsed, observe
from ncdiag.parsers._filters import ALL_IPV4, holds_ephemeral, network, networks

KIND = "firewalld"
COMMANDS: tuple[str, ...] = ("firewall-cmd",)
_ZONES = (
    r"(?:public|work|home|internal|external|dmz|trusted|block|drop|nm-shared|docker|libvirt(?:-routed)?|kubernetes"
    r"|Fedora(?:Server|Workstation))"
)
"""The zones that come with firewalld and with programs that use it. Without the command others look like prose."""
ANCHOR = rf"{_ZONES} \((?:default, )?active\)[ \t]*$|FirewallD is not running[ \t]*$"

_ZONE = lazy_regex(r"(?P<name>[A-Za-z0-9][\w-]{0,30})(?P<active> \((?:default, )?active\)| \(default\))?\s*$")
_PAIR = lazy_regex(r"  (?P<name>[a-z][a-z -]{2,30}):(?: (?P<value>.{0,4096}))?$")
_INNER = lazy_regex(r"\t\S")
_SOURCE = lazy_regex(r'source (?:NOT )?address="([^"]{3,60})"')
_NARROW = lazy_regex(r"\b(?:service|port|protocol|icmp-block|icmp-type|source-port|forward-port) \w+=")
"""What makes a rich rule one for a part of the traffic (firewalld.richlanguage(5))."""
_PORT = lazy_regex(r'port port="([^"]{1,20})"')
_TCP = lazy_regex(r"([0-9]{1,5}(?:-[0-9]{1,5})?)/tcp$")
_LIMIT = 2000


def continues(lines: Sequence[str], line: str) -> bool:
    """The values of a zone, rich rules below them, further zones behind a blank line."""
    if len(lines) >= _LIMIT:
        return False
    if not lines or not lines[-1].strip():
        return _ZONE.match(line) is not None or not line.strip()
    inner = _PAIR.match(line) or (_INNER.match(line) and (_PAIR.match(lines[-1]) or _INNER.match(lines[-1])))
    return inner is not None or not line.strip()


def parse(section: Section) -> Parsed:
    """Whether firewalld runs; of its active zones what they turn away and let in (``input_policy`` and so on).

    A zone with interfaces filters what comes in through them; one with sources alone, what comes from these networks.
    """
    found: list[Observation] = []
    unread: list[int] = []
    zones: list[tuple[int, dict[str, str], list[str]]] = []
    active = False
    for index, line in enumerate(section.lines):
        zone, pair = _ZONE.match(line), _PAIR.match(line)
        if _is_state(line, section.command):
            found.append(observe(section, index, "Service", ("firewalld",), active=line.strip() == "running"))
        elif zone and index + 1 < len(section.lines) and _PAIR.match(section.lines[index + 1]):
            active = zone["active"] is not None and "active" in zone["active"]
            zones += [(index, {}, [])] if active else []
        elif pair and active:
            zones[-1][1][pair["name"]] = (pair["value"] or "").strip()
        elif _INNER.match(line) and active:
            zones[-1][2].append(line.strip())
        elif line.strip() and not pair and not _INNER.match(line):
            unread.append(index)
    if zones:
        first = zones[0][0]
        found.append(observe(section, first, "Service", ("firewalld",), active=True))
        found.append(observe(section, first, "Host", **_filter(zones)))
    return Parsed(observations=tuple(found), unread=tuple(unread))


def _is_state(line: str, command: str | None) -> bool:
    text = line.strip()
    asked = "--state" in (command or "") and text in {"running", "not running"}
    return asked or text == "FirewallD is not running"


def _filter(zones: Sequence[tuple[int, dict[str, str], list[str]]]) -> dict[str, Any]:
    """The facts of the host: what any zone with interfaces turns away, and what the zones let in."""
    policy, allows, drops = "accept", [], 0
    for _, values, rules in zones:
        if values.get("target") == "ACCEPT" or any(map(holds_ephemeral, _tcp_ports(values))):
            allows += values.get("interfaces", "").split()
            allows += [source for text in values.get("sources", "").split() if (source := network(text))]
            continue
        policy = "drop" if values.get("interfaces") else policy
        drops += sum(rule.endswith(("drop", "reject")) and not _NARROW.search(rule) for rule in rules)
        allows += list(_allowed(rules))
    closed = [values for _, values, _ in zones if values.get("interfaces") and values.get("target") != "ACCEPT"]
    texts = [text for _, values, rules in zones for text in (values.get("sources", ""), *rules)]
    return {
        "input_policy": policy, "input_drops": drops, "input_allows": allows, "input_filters": ["firewalld"],
        "input_networks": networks(texts), "input_ports": [port for each in closed for port in _tcp_ports(each)],
    }  # fmt: skip


def _tcp_ports(values: dict[str, str]) -> Iterator[str]:
    return (found[1] for port in values.get("ports", "").split() if (found := _TCP.match(port)))


def _allowed(rules: Sequence[str]) -> Iterator[str]:
    """The networks from which rich rules accept all, or all ports that the kernel hands out."""
    for rule in rules:
        source, port = _SOURCE.search(rule), _PORT.search(rule)
        if not rule.endswith("accept") or _NARROW.search(rule.replace("port port=", "")) or " NOT " in rule:
            continue
        if port and not holds_ephemeral(port[1]):
            continue
        named = network(source[1]) if source else ALL_IPV4 if port else None
        if named:
            yield named
