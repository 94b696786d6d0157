"""``rdma dev``: the RDMA devices with firmware and GUID.

Format: iproute2, rdma/dev.c: ``0: mlx5_0: node_type ca fw 20.31.1014 node_guid ... sys_image_guid ...``, with ``-d`` a
line of capabilities below; ``-j`` prints the same words as JSON.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from ncdiag.base.spans import Section
from ncdiag.facts.observe import Parsed
from ncdiag.formats import decoded, rdma
from ncdiag.parsers._rows import BLANK, ELISION, Reading, Row, Rows, not_again

KIND = "rdma_dev"
COMMANDS = tuple(f"rdma{option} {word}" for option in ("", " -d", " -j", " -jp") for word in ("dev", "device"))
_HEAD = r"\d{1,5}: [A-Za-z][\w.-]{0,63}: (?:node_type|fw|node_guid) \S"
ANCHOR = _HEAD + r"|\[\s?\{\s?\"ifindex\":\s?\d+,\s?\"ifname\":\s?\"[^\"]{1,64}\",\s?\"node_type\":"
_ROW = r"\s*\d{1,5}: (?P<name>[A-Za-z][\w.-]{0,63}): (?P<rest>(?:node_type|fw|node_guid) .*)$"
_DETAIL = r"\s+(?:caps: <|[A-Z_]{4,})"


class _Devices(Reading):
    """A device a line; complete where no device was asked for by its name."""

    def row(self, found: re.Match[str]) -> None:
        """A device, with words and their values in turn."""
        words = found["rest"].split()
        self.device(found["name"], dict(zip(words[::2], words[1::2], strict=False)))

    def device(self, name: str, values: Mapping[str, Any]) -> None:
        """A device by the words that ``rdma`` prints."""
        firmware, guid = values.get("fw"), values.get("node_guid")
        firmware = str(firmware) if firmware and firmware != "<invalid>" else None
        self.observe("Hca", (name,), firmware=firmware, node_guid=rdma.guid(str(guid)) if guid else None)

    def complete(self) -> bool:
        """All devices are there."""
        bare = self.section.command is None or re.search(r"\bdev(?:ice)?( show)?\s*$", self.section.command) is not None
        return bool(self.found) and not self.unread and bare


ROWS = Rows(_Devices, Row(_ROW, _Devices.row, belongs=not_again), Row(_DETAIL), BLANK, ELISION, longest=1023)


def continues(lines: Sequence[str], line: str) -> bool:
    """Further devices and the capabilities that ``-d`` prints, or a list in JSON."""
    return decoded.more(lines[-1], line) if decoded.begins(lines[0] or line) else ROWS.continues(lines, line)


def parse(section: Section) -> Parsed:
    """An observation a device."""
    if not section.lines or not decoded.begins(section.lines[0]):
        return ROWS.parse(section)
    reading = _Devices(section)
    for item in decoded.listed(section.text):
        if "ifname" in item and "node_guid" in item:
            reading.device(str(item["ifname"]), item)
    found = tuple(reading.found)
    return Parsed(observations=found, unread=() if found else tuple(range(len(section.lines))))
