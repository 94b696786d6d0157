"""Failed completions of RDMA work that a program other than NCCL prints (UCX, perftest), or people quote in part.

A completion has a status (enum ibv_wc_status), which goes by its name, its number, the words of ibv_wc_status_str
(rdma-core, libibverbs/verbs.c) or, as UCX prints it, the syndrome of the card (mlx5, enum in providers/mlx5/mlx5dv.h).
"""

from __future__ import annotations

import functools
import re

from ncdiag.base.patterns import lazy_regex
from ncdiag.formats.guarded import guarded_regex
from ncdiag.nccl.codes import codes
from ncdiag.parsers._signs import Signs

EVENT = "ib-completion-error"
_SIGNS = Signs(
    "ibv_wc_",
    "ompletion",
    "status",
    "vendor",
    "synd",
    "retry count",
    "access error",
    "protection error",
    "operation error",
    "length error",
    "request error",
    "response error",
    "flushed error",
)
"""One of these is in every line that the patterns know: they are tried on few others."""
_NAME = guarded_regex(
    r"(?<![=!]= )\bIBV_WC_[A-Z_]{3,40}\b(?!\s*(?:[=!]=|\)\s*(?:\{|return|continue|break|goto)|:\s*$|;))"
)
_NUMBER = guarded_regex(
    r"\bFailed status (\d{1,2}): wr_id\b|\b[Ff]ailed status [a-zA-Z ]{4,40} \((\d{1,2})\) for wr_id\b"
    r"|\b(?i:wc|work completion|completion(?: queue)?(?: entry| error)?|cqe?)(?: with)?[ ._](?i:error |err )?"
    r"(?i:status)(?: is| code)?[ :=]{1,3}(\d{1,2})\b"
    r"|\b(?i:wc|completion|ibv_poll_cq|cqe?)[ ._](?i:(?:with )?(?:fail(?:ed|ure)|error))(?:,?(?: with)? (?i:status))?"
    r"(?:(?<=[sS])[ :=]|:) ?(\d{1,2})\b"
    r"|\bGot completion (?:from peer \S{3,64} )?with (?:error|status)[ =](\d{1,2})\b"
    r"|\b(?:status|error)[ =:]{1,2}(\d{1,2})\b.{0,60}?\bvendor[ _]err(?:or)?[ =]\d"
    r"|\bvendor[ _]err(?:or)?[ =]\d{1,3},?(?: and| with)? (?:status|error)[ =:]{1,2}(\d{1,2})\b"
)
"""The last three are of NCCL's own line, which people shorten."""
_SYNDROME = lazy_regex(r"\(synd(?:rome)? 0x([0-9a-f]{1,2}) vend 0x")
_SYNDROMES = {
    0x01: 1, 0x02: 2, 0x04: 4, 0x05: 5, 0x06: 6, 0x10: 7, 0x11: 8, 0x12: 9, 0x13: 10, 0x14: 11, 0x15: 12, 0x16: 13,
    0x22: 16,
}  # fmt: skip
"""MLX5_CQE_SYNDROME_* and the status as which libmlx5 reports it (rdma-core, providers/mlx5/cq.c)."""
_COMMON = frozenset({16, 19, 21})
"""Statuses whose words are in any text: ``fatal error``. They count behind a number of theirs alone."""


def status(text: str) -> int | None:
    """The status of the failed completion of which a line tells; None where it tells of none."""
    if not _SIGNS.stand_in(text):
        return None
    named = _NAME.search(text)
    if named is not None:
        return _by_name().get(named[0]) or None
    numbered = _NUMBER.search(text)
    if numbered is not None:
        number = int(next(filter(None, numbered.groups())))
        return number if number in codes()["completion"] else None
    by_card = _SYNDROME.search(text)
    if by_card is not None:
        return of_syndrome(int(by_card[1], 16))
    words = _words().search(text)
    return _said()[words[0].lower().replace("count ", "counter ")] if words is not None else None


def of_syndrome(syndrome: int) -> int | None:
    """The status for a syndrome of mlx5."""
    return _SYNDROMES.get(syndrome)


@functools.cache
def _by_name() -> dict[str, int]:
    return {code.name: code.number for code in codes()["completion"].values()}


@functools.cache
def _said() -> dict[str, int]:
    completions = codes()["completion"].values()
    return {code.said.lower(): code.number for code in completions if code.said and code.number not in _COMMON}


@functools.cache
def _words() -> re.Pattern[str]:
    """The words of ibv_wc_status_str; a retry counter is a count in some programs."""
    words = "|".join(re.escape(said).replace("counter", "count(?:er)?") for said in _said())
    return re.compile(rf"(?i)(?<![\w/])(?:{words})(?!\w)")
