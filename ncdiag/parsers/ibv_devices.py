r"""``ibv_devices``: the RDMA devices that libibverbs sees, with their node GUIDs.

Source of the format: rdma-core libibverbs/examples/device_list.c (a heading, then ``    mlx5_0          \t...``).
"""

from __future__ import annotations

import re

from ncdiag.formats import basics, rdma
from ncdiag.parsers._rows import Reading, Row, Rows, once

KIND = "ibv_devices"
COMMANDS: tuple[str, ...] = ("ibv_devices",)
ANCHOR = r"[ \t]{4}device[ \t]{1,24}node GUID[ \t]*$"


class _Devices(Reading):
    """The devices; complete below the heading, where none means that there is none."""

    headed = False

    def heading(self, _: re.Match[str]) -> None:
        """The two lines above the devices."""
        self.headed = True

    def device(self, found: re.Match[str]) -> None:
        """A device with its GUID."""
        self.observe("Hca", (found["name"],), node_guid=rdma.guid(found["guid"]))

    def complete(self) -> bool:
        """Below the heading, nothing left out."""
        return self.headed and not self.unread and basics.unfiltered(self.section.command, "ibv_devices")


ROWS = Rows(
    _Devices,
    Row(r"\s{1,8}(?P<name>[A-Za-z][\w.-]{0,63})\s{1,24}(?P<guid>[0-9a-f]{16})\s*$", _Devices.device),
    Row(r"\s{1,8}(?:device\s+node GUID|-{4,8}\s+-{8,24})\s*$", _Devices.heading, belongs=once),
)
