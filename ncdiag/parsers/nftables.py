"""``nft list ruleset`` (or ``list table``, ``list chain``): what the packet filter does with what comes in.

Source of the format: nftables src/rule.c (chain_print_declaration, table_print); a base chain names its type, hook,
priority and policy, without a policy it accepts. A rule's verdict is at its end.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ncdiag.base.patterns import lazy_regex
from ncdiag.base.spans import Section
from ncdiag.facts.observe import Parsed, observe
from ncdiag.parsers._filters import network, networks
from ncdiag.parsers.iptables import MESH_CHAIN

KIND = "nftables"
COMMANDS: tuple[str, ...] = ("nft list", "nft -a list", "nft -n list")
ANCHOR = r"table (?:ip|ip6|inet|arp|bridge|netdev) \S{1,128} \{"

_TABLE = lazy_regex(r"\s{0,40}table ((?:ip|ip6|inet|arp|bridge|netdev) \S{1,128}) \{")
_CHAIN = lazy_regex(r"\s{0,40}chain (\S{1,128}) \{")
_HOOK = lazy_regex(r"\s{0,40}type filter hook (\w+) (?:device\s.{1,200} )?priority [^;]{1,60};(?:\s*policy (\w+);)?")
_JUMP = lazy_regex(r"\b(?:jump|goto) (\S{1,128})")
_DROPS = lazy_regex(r"\b(?:drop|reject)\b")
_MESH = lazy_regex(MESH_CHAIN)
_LETS_IN = lazy_regex(
    r"(?:ip saddr (?P<source>[\d./]{7,18})|iifname (?P<interface>[\w.@-]{1,20}))"
    r"(?: counter(?: packets \d{1,20} bytes \d{1,20})?)? accept\s*$"
)
"""All that comes from a network, or by an interface."""
_OF_IPV4 = ("ip ", "inet ")
_NAMES = lazy_regex(r"\w+ [A-Za-z_][\w/.]{0,63} [A-Za-z_][\w/.]{0,63}")
"""A family, a table and a chain as they may stand in a command."""
_MANAGED = (("inet firewalld ", "firewalld"), ("ip firewalld ", "firewalld"), ("ip filter ufw-", "ufw"))
"""Tables and chains that another tool writes: what is added there is lost, or refused."""
_LIMIT = 50_000

_Chain = tuple[str, str]


def continues(lines: Sequence[str], line: str) -> bool:
    """What is indented, closing braces and further tables."""
    known = not line.strip() or line.startswith(("\t", " ", "}", "# Warning: table ")) or _TABLE.match(line)
    return bool(known) and len(lines) < _LIMIT


def parse(section: Section) -> Parsed:
    """``input_policy``, ``input_drops`` and ``input_allows`` of the host, by the hook ``input`` and its jumps.

    ``mesh_chain`` as iptables made it, where the whole rule set is listed.
    """
    chains: dict[_Chain, list[str]] = {}
    hooked: dict[_Chain, str] = {}
    first = None
    table, chain = "", None
    for index, line in enumerate(section.lines):
        if found := _TABLE.match(line):
            table, chain, first = found[1], None, index if first is None else first
        elif found := _CHAIN.match(line):
            chain = (table, found[1])
            chains[chain] = []
        elif chain and line.strip() == "}":
            chain = None
        elif chain:
            _read(chain, line.strip(), chains[chain], hooked)
    if first is None:
        return Parsed(unread=tuple(i for i, line in enumerate(section.lines) if line.strip()))
    if not chains and "chain" in (section.command or ""):
        return Parsed()
    passed = [rule for name in _reached(hooked, chains) for rule in chains[name]]
    fields: dict[str, Any] = {
        "input_policy": "drop" if "drop" in hooked.values() else "accept",
        "input_drops": sum(bool(_DROPS.search(rule)) for rule in passed),
        "input_allows": [named for rule in passed for named in _let_in(rule)] or None,
        "input_filters": [_manager(chains)],
        "input_networks": networks(passed),
        "input_chain": _dropping(hooked),
    }
    if "ruleset" in (section.command or "") or any(_MESH.match(name) for _, name in chains):
        fields["mesh_chain"] = next((name for _, name in chains if _MESH.match(name)), "")
    return Parsed(observations=(observe(section, first, "Host", **fields),))


def _manager(chains: Iterable[_Chain]) -> str:
    """The tool that writes the rules."""
    names = [" ".join(name) for name in chains]
    return next((tool for begin, tool in _MANAGED if any(name.startswith(begin) for name in names)), "nft")


def _dropping(hooked: Mapping[_Chain, str]) -> str | None:
    """Family, table and name of the only chain that drops incoming packets of IPv4; None for several."""
    seen = {name: policy for name, policy in hooked.items() if name[0].startswith(_OF_IPV4)}
    chains = [" ".join(name) for name, policy in seen.items() if policy == "drop"] or [" ".join(name) for name in seen]
    return chains[0] if len(chains) == 1 and _NAMES.fullmatch(chains[0]) else None


def _let_in(rule: str) -> list[str]:
    """The network or interface from which a rule lets in all; loopback goes nowhere."""
    found = _LETS_IN.match(rule)
    allowed = (network(found["source"]) if found["source"] else found["interface"]) if found else None
    return [allowed] if allowed and allowed != "lo" else []


def _read(chain: _Chain, line: str, rules: list[str], hooked: dict[_Chain, str]) -> None:
    hook = _HOOK.match(line)
    if hook is None:
        named = re.sub(r"iifname \"([\w.@-]{1,20})\"", r"iifname \1", line)
        rules.append(re.sub(r"\"[^\"]{0,256}\"|#.{0,4096}$", "", named))  # comments and names may say anything
    elif hook[1] == "input":
        hooked[chain] = hook[2] or "accept"


def _reached(hooked: Iterable[_Chain], chains: dict[_Chain, list[str]]) -> list[_Chain]:
    """The chains that a packet may pass from those on the hook."""
    reached = dict.fromkeys(hooked)
    waiting = list(reached)
    while waiting:
        table, _ = name = waiting.pop()
        for rule in chains[name]:
            for jump in _JUMP.finditer(rule):
                target = (table, jump[1])
                if target in chains and target not in reached:
                    reached[target] = None
                    waiting.append(target)
    return list(reached)
