"""The dump of a failed completion by libmlx5: ``mlx5: HOST: got completion with error:`` and the entry in four rows.

Format: rdma-core providers/mlx5/cq.c (mlx5_parse_cqe, dump_cqe): 16 words of 32 bits, the first byte of each in front.
Of ``struct mlx5_err_cqe`` (mlx5dv.h), byte 54 is the vendor's syndrome, byte 55 the syndrome, the upper half of byte
63 the opcode, 13 or 14 for an error. libmlx5 dumps neither flushed completions nor those without an acknowledgement.
"""

from __future__ import annotations

from collections.abc import Sequence

from ncdiag.base.patterns import lazy_regex
from ncdiag.base.spans import Section
from ncdiag.facts.observe import Parsed, observe
from ncdiag.parsers import _completions, _program

KIND = "mlx5_cqe"
COMMANDS: tuple[str, ...] = ()
INTERLEAVED = True  # NCCL writes between the rows
ANCHOR = r"mlx5: [\w.-]{1,128}: got completion with error:[ \t]*$"

_HEADER = lazy_regex(r"mlx5: (?P<host>[\w.-]{1,128}): ")
_ROW = lazy_regex(r"[ \t]{0,8}(?P<words>[0-9a-f]{8}(?: [0-9a-f]{8}){3})[ \t]*$")
_ROWS, _VENDOR, _SYNDROME, _OPCODE = 4, 54, 55, 63
_ERRORS = frozenset({13, 14})
"""MLX5_CQE_REQ_ERR and MLX5_CQE_RESP_ERR."""


def continues(lines: Sequence[str], line: str) -> bool:
    """The four rows."""
    return len(lines) <= _ROWS and _ROW.match(line) is not None


def parse(section: Section) -> Parsed:
    """One event with the status; a header without a whole entry below it says only that something failed."""
    rows = [found["words"] for line in section.lines[1:] if (found := _ROW.match(line))]
    entry = bytes.fromhex("".join(rows).replace(" ", "")) if len(rows) == _ROWS else b""
    status = _completions.of_syndrome(entry[_SYNDROME]) if entry and entry[_OPCODE] >> 4 in _ERRORS else None
    header = _HEADER.match(next(iter(section.lines), ""))
    if status is None or header is None:
        return _program.leftovers(section, range(len(section.lines)))
    event = observe(
        section, 0, "Event", host=section.host or header["host"], event=_completions.EVENT, origin="rdma",
        kind="symptom", text=section.lines[0].strip()[:400], order=section.number(0), count=1,
        fields={"status": status, "vendor_err": entry[_VENDOR]},
    )  # fmt: skip
    return Parsed(observations=(event,))
