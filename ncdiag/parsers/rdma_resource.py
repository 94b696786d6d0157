"""``rdma resource`` (``rdma resource show``): how many queue pairs, regions and the like programs hold of each device.

Source of the format: iproute2 rdma/res.c (res_print_summary): ``0: mlx5_0: pd 4 cq 5 qp 2 cm_id 0 mr 0 ctx 0 srq 2``.
"""

from __future__ import annotations

import re

from ncdiag.parsers._rows import Reading, Row, Rows

KIND = "rdma_resource"
COMMANDS: tuple[str, ...] = ("rdma resource", "rdma res")
_WORDS = r"(?: (?:pd|cq|qp|cm_id|mr|ctx|srq|counter|frmr_pools) \d{1,9}){2,12}"
ANCHOR = rf"\d{{1,4}}: [A-Za-z][\w.-]{{0,63}}:{_WORDS}[ \t]*$"


def _device(read: Reading, row: re.Match[str]) -> None:
    """``resources`` of a device."""
    words = row["counts"].split()
    counts = {name: int(value) for name, value in zip(words[::2], words[1::2], strict=True)}
    read.observe("Hca", (row["hca"],), resources=counts)


ROWS = Rows(
    Reading,
    Row(
        rf"\s{{0,8}}\d{{1,4}}: (?P<hca>[A-Za-z][\w.-]{{0,63}}):(?P<counts>{_WORDS})\s*$",
        _device,
        belongs=lambda lines, line: line not in lines[:1],
    ),
)
