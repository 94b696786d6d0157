"""``rdma dev``: the RDMA devices with firmware and GUID.

Format: iproute2, rdma/dev.c: ``0: mlx5_0: node_type ca fw 20.31.1014 node_guid ... sys_image_guid ...``, with ``-d`` a
line of capabilities below; ``-j`` prints the same words as JSON.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from ncdiag.base.spans import Section
from ncdiag.facts.observe import Observation, Parsed, observe
from ncdiag.formats import decoded, rdma

KIND = "rdma_dev"
COMMANDS = tuple(f"rdma{option} {word}" for option in ("", " -d", " -j", " -jp") for word in ("dev", "device"))
_HEAD = r"\d{1,5}: [A-Za-z][\w.-]{0,63}: (?:node_type|fw|node_guid) \S"
ANCHOR = _HEAD + r"|\[\s?\{\s?\"ifindex\":\s?\d+,\s?\"ifname\":\s?\"[^\"]{1,64}\",\s?\"node_type\":"
_ROW = re.compile(r"\s*\d{1,5}: (?P<name>[A-Za-z][\w.-]{0,63}): (?P<rest>(?:node_type|fw|node_guid) .*)$")
_DETAIL = re.compile(r"\s+(?:caps: <|[A-Z_]{4,})")
_LINE_LIMIT = 1024


def continues(lines: Sequence[str], line: str) -> bool:
    """Further devices and the capabilities that ``-d`` prints; the first device again is another host's output."""
    return rdma.more(lines, line, _ROW, _DETAIL)


def parse(section: Section) -> Parsed:
    """An observation a device."""
    if section.lines and decoded.begins(section.lines[0]):
        devices = [item for item in decoded.listed(section.text) if "ifname" in item and "node_guid" in item]
        found = [_device(section, 0, str(item["ifname"]), item) for item in devices]
        return Parsed(observations=tuple(found), unread=() if found else tuple(range(len(section.lines))))
    found, unread = [], list[int]()
    for index, line in enumerate(section.lines):
        row = _ROW.match(line) if len(line) < _LINE_LIMIT else None
        if row:
            words = row["rest"].split()
            found.append(_device(section, index, row["name"], dict(zip(words[::2], words[1::2], strict=False))))
        elif line.strip() and not _DETAIL.match(line):
            unread.append(index)
    bare = section.command is None or re.search(r"\bdev(?:ice)?( show)?\s*$", section.command) is not None
    return Parsed(observations=tuple(found), unread=tuple(unread), complete=bool(found) and not unread and bare)


def _device(section: Section, index: int, name: str, values: Mapping[str, Any]) -> Observation:
    firmware, guid = values.get("fw"), values.get("node_guid")
    return observe(
        section, index, "Hca", (name,), firmware=str(firmware) if firmware and firmware != "<invalid>" else None,
        node_guid=rdma.guid(str(guid)) if guid else None,
    )  # fmt: skip
