"""HCCL's rank table (ranktable.json): which NPUs, at which addresses, form a job of Ascend devices.

Format: CANN documentation, "ranktable configuration" (versions 1.0, 1.1 and 1.2): status, version, server_count and
server_list of servers with their devices; its older template 2 has group_list with instance_list in their place,
without rank ids; MindCluster's global-ranktable has server_group_list with such lists. People paste it with
comments and in parts, so it is read tolerantly.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from ncdiag.base.patterns import lazy_regex
from ncdiag.base.spans import Section
from ncdiag.facts.observe import Parsed, observe
from ncdiag.facts.scalars import ip_address
from ncdiag.formats import decoded, relaxed_json

KIND = "hccl_ranktable"
COMMANDS: tuple[str, ...] = ()
ANCHOR = (
    r'\s{0,8}\{?\s{0,8}"(?:status"\s?:\s?"(?:completed|initializing)"'
    r'|server_count"\s?:|group_count"\s?:\s?"?\d|server_group_list"\s?:|group_list"\s?:\s?\[|server_list"\s?:|version"\s?:\s?"1\.[0-2]")'
)
SIGNS = ('"completed"', '"initializing"')

_LIKE_JSON = lazy_regex(r'\s|[{}\[\]",/]|-?\d|true|false|null|$')
_VERSIONS = frozenset({"1.0", "1.1", "1.2"})
_SAID = lazy_regex(r'"(status|version|server_count)"\s{0,8}:\s{0,8}"?([\w.-]{1,40})')
_PLACEHOLDER = lazy_regex(r"[{}<>$*?]|[^\x00-\x7f]|\b[xX]{1,3}\b|\b[Yy]our|\bYOUR")
_LISTS = ("server_list", "server_group_list", "group_list")
_Device = dict[str, str]


def continues(lines: Sequence[str], line: str) -> bool:
    """Lines that look like JSON, to the brace that closes the table; prose and other texts may follow it."""
    return _LIKE_JSON.match(line) is not None and not decoded.closed(lines[-1], line) and not _closed(lines, line)


def _closed(lines: Sequence[str], line: str) -> bool:
    """Does the last line close the table, as the brace that stands left of the first key, or under the first brace?

    Of an indented table that a page quotes; what goes on with a bracket or a comma is closed by no brace.
    """
    first, last = lines[0], lines[-1]
    depth = len(last) - len(last.lstrip()) - (len(first) - len(first.lstrip()))
    if last.strip() != "}" or line.lstrip().startswith(("}", "]", ",")):
        return False
    return depth == 0 if first.lstrip().startswith("{") else depth < 0


def parse(section: Section) -> Parsed:
    """One RankTable with what breaks HCCL's rules for it."""
    text = section.text.strip()
    text = text if text.startswith("{") else "{" + text  # the brace on a line of its own is above the section
    read = relaxed_json.loads(text)
    table = read.value if isinstance(read.value, dict) else {}
    said = dict(reversed(_SAID.findall(text[: relaxed_json.SIZE_LIMIT])))
    fields: dict[str, Any] = {"valid_json": None if read.cut else read.valid}
    for name in ("status", "version"):
        value = table.get(name, said.get(name))
        fields[name] = str(value) if isinstance(value, str | int | float) else None
    fields["server_count"] = _number(table.get("server_count", said.get("server_count")))
    servers = list(_servers(table))
    devices = [_device(server, item) for server in servers for item in decoded.tables(server.get("device"))]
    fields["servers"], fields["devices"] = len(servers), devices
    problems = [*_format_problems(read, fields)]
    if read.valid and any(name in table for name in _LISTS):
        if any(
            item.get("super_device_id") == "" for server in servers for item in decoded.tables(server.get("device"))
        ):
            problems.append("A super_device_id is empty.")
        problems += [*_server_problems(servers, devices, fields["server_count"]), *_address_problems(servers, devices)]
    fields["problems"] = problems
    fields["placeholders"] = list(dict.fromkeys(_placeholders(devices)))
    fields["layout"] = next((name for name in _LISTS if name in table), None)
    groups = decoded.tables(table.get("group_list")) or decoded.tables(table.get("server_group_list"))
    fields["groups"] = len(groups) or _number(table.get("group_count"))
    return Parsed(observations=(observe(section, 0, "RankTable", **fields),) if section.lines else ())


def _servers(table: dict[str, Any]) -> Iterable[dict[str, Any]]:
    """The servers, in whatever list the layout has them."""
    yield from decoded.tables(table.get("server_list"))
    for group in decoded.tables(table.get("server_group_list")):
        yield from decoded.tables(group.get("server_list"))
    for group in decoded.tables(table.get("group_list")):
        for instance in decoded.tables(group.get("instance_list")):
            name = instance.get("server_id", instance.get("pod_name"))
            yield {"server_id": name, "device": instance.get("devices")}


def _number(value: Any) -> int | None:  # noqa: ANN401
    text = str(value)
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else None  # noqa: PLR2004


def _device(server: dict[str, Any], device: dict[str, Any]) -> _Device:
    fields = {name: device.get(name) for name in ("device_id", "device_ip", "rank_id")}
    fields["server_id"] = server.get("server_id")
    return {name: str(value) for name, value in fields.items() if isinstance(value, str | int)}


def _placeholders(devices: list[_Device]) -> Iterable[str]:
    """What a template has in the place of addresses."""
    for device in devices:
        if (server := device.get("server_id", "")) and _PLACEHOLDER.search(server):
            yield server
        if _is_placeholder(address := device.get("device_ip", "")):
            yield address


def _is_placeholder(address: str) -> bool:
    """A word in the place of an address; one that is mistyped has digits."""
    return bool(address) and (_PLACEHOLDER.search(address) is not None or re.search(r"[\d:]", address) is None)


def _format_problems(read: relaxed_json.Relaxed, fields: dict[str, Any]) -> Iterable[str]:
    if not read.valid and not read.cut:
        yield f"It is not valid JSON: {read.complaint}."
    if fields["version"] is not None and fields["version"] not in _VERSIONS:
        yield f"The version {fields['version']} is none of {', '.join(sorted(_VERSIONS))}."
    if fields["status"] is not None and fields["status"] != "completed":
        yield f"The status is {fields['status']}, not completed: the table is not ready."


def _server_problems(servers: list[dict[str, Any]], devices: list[_Device], count: int | None) -> Iterable[str]:
    if count is not None and count != len(servers):
        yield f"server_count says {count}, the list has {len(servers)} servers."
    for server, times in Counter(str(server.get("server_id")) for server in servers).items():
        if times > 1 and not _PLACEHOLDER.search(server):
            yield f"The server_id {server} occurs {times} times."
    ranks = [str(device.get("rank_id")) for device in devices]
    told = any("rank_id" in device for device in devices)
    if told and sorted(ranks) != sorted(str(number) for number in range(len(devices))):
        yield f"The rank ids are not 0 to {len(devices) - 1}, each once."
    for (name, device), times in Counter((d.get("server_id"), d.get("device_id")) for d in devices).items():
        if times > 1 and not _PLACEHOLDER.search(str(name)):
            yield f"The device_id {device} occurs {times} times in the server {name}."


def _address_problems(servers: list[dict[str, Any]], devices: list[_Device]) -> Iterable[str]:
    addresses = Counter(str(device.get("device_ip") or "") for device in devices)
    for address, times in addresses.items():
        if _is_placeholder(address):
            continue
        if address and ip_address(address) is None:
            yield f"The device_ip {address} is not an address."
        elif address and times > 1:
            yield f"The device_ip {address} occurs {times} times."
    if addresses[""] and len(servers) > 1:
        yield f"{addresses['']} devices have no device_ip although there are several servers."
