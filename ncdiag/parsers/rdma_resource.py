"""``rdma resource`` (``rdma resource show``): how many queue pairs, regions and the like programs hold of each device.

Source of the format: iproute2 rdma/res.c (res_print_summary): ``0: mlx5_0: pd 4 cq 5 qp 2 cm_id 0 mr 0 ctx 0 srq 2``.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from ncdiag.base.spans import Section
from ncdiag.facts.observe import Parsed, observe

KIND = "rdma_resource"
COMMANDS: tuple[str, ...] = ("rdma resource", "rdma res")
_WORDS = r"(?: (?:pd|cq|qp|cm_id|mr|ctx|srq|counter|frmr_pools) \d{1,9}){2,12}"
ANCHOR = rf"\d{{1,4}}: [A-Za-z][\w.-]{{0,63}}:{_WORDS}[ \t]*$"

_ROW = re.compile(rf"\s{{0,8}}\d{{1,4}}: (?P<hca>[A-Za-z][\w.-]{{0,63}}):(?P<counts>{_WORDS})\s*$")


def continues(lines: Sequence[str], line: str) -> bool:
    """A line for each device; the first one again is another host's output."""
    return _ROW.match(line) is not None and line not in lines[:1]


def parse(section: Section) -> Parsed:
    """``resources`` of each device."""
    found = []
    unread: list[int] = []
    for index, line in enumerate(section.lines):
        row = _ROW.match(line)
        if row:
            words = row["counts"].split()
            counts = {name: int(value) for name, value in zip(words[::2], words[1::2], strict=True)}
            found.append(observe(section, index, "Hca", (row["hca"],), resources=counts))
        elif line.strip():
            unread.append(index)
    return Parsed(observations=tuple(found), unread=tuple(unread))
