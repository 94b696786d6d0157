"""Put each row of a tool's output on a line again where a page or a chat made one line of them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

import msgspec

from ncdiag.base.patterns import lazy_regex
from ncdiag.text.sections.line import Line

LIMIT = 1 << 16
"""Characters; a longer line is one tool's."""
_GID = r"GID\[ {0,3}\d{1,5}\]: {0,8}[0-9a-f:]{2}"
_IBV = (
    r"hca_id: |(?:transport|fw_ver|node_guid|sys_image_guid|vendor_id|vendor_part_id|hw_ver|board_id|phys_port_cnt"
    r"|max_mtu|active_mtu|sm_lid|port_lid|port_lmc|link_layer|active_width|active_speed|state|phys_state"
    r"|max_qp_rd_atom): +\w"
    rf"|port: +\d{{1,3}} |{_GID}"
)
_IBSTAT = (
    r"CA '[\w.-]{1,32}'|CA type: |Number of ports: |(?:Firmware|Hardware) version: |(?:Node|System image|Port) GUID: "
    r"|Port \d{1,3}: |(?:State|Physical state|Rate|Base lid|LMC|SM lid|Capability mask|Link layer): "
)
_IP = (
    r"\d{1,5}: [\w.@-]{1,40}: <[A-Z_,-]{1,200}> mtu |link/\w{1,20} [0-9a-f:]{2,60} brd |inet6? [0-9a-f.:]{2,45}/\d"
    r"|valid_lft "
)
_TOOLS: tuple[tuple[str, int, re.Pattern[str]], ...] = tuple(
    (sign, fewest, lazy_regex(rf"(?<![\s,;({{\[]) +(?=(?:{row}))"))
    for sign, fewest, row in (
        ("GID[", 1, _GID),
        ("hca_id:", 2, _IBV),
        ("CA type:", 3, _IBSTAT),
        (" ==> ", 1, r"[\w.-]{1,32} port \d{1,3} ==> \S"),  # ibdev2netdev
        ("physical_state", 1, r"link [\w.-]{1,32}/\d{1,3} (?:\w{1,20} \S{1,40} ){0,3}state [A-Z]"),  # rdma link
        ("(UUID: GPU-", 1, r"GPU \d{1,3}: [^():]{3,60} \(UUID: GPU-"),  # nvidia-smi -L
        (" mtu ", 2, _IP),
    )
)
"""A word of each line that may hold rows of a tool, the minimum number of breaks in it, and what a row begins with."""


def in_rows(lines: Iterable[Line]) -> list[Line]:
    """The lines, those that hold several rows as one line for each, with the number of the one."""
    return [part for line in lines for part in _parts(line)]


def _parts(line: Line) -> Iterator[Line]:
    text = line.text
    for sign, fewest, row in _TOOLS:
        if sign in text and len(text) <= LIMIT and "NCCL" not in text:
            starts = [found.end() for found in row.finditer(text)]
            is_begun = row.match(f" {text.lstrip()}") is not None  # what a log puts in front is no row
            if len(starts) >= fewest + (not is_begun):
                for start, end in zip([0, *starts], [*starts, len(text)], strict=True):
                    yield msgspec.structs.replace(line, text=text[start:end].rstrip())
                return
    yield line
