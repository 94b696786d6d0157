"""The operator's settings for a page."""

from __future__ import annotations

from pathlib import Path

import msgspec

from ncdiag.diagnose import DEFAULTS, Options

LOOPBACK = frozenset({"127.0.0.1", "::1", "localhost"})


class Limits(msgspec.Struct, frozen=True, kw_only=True):
    """Limits per user: bytes of an ``upload``, ``seconds`` and bytes of ``memory`` of an analysis.

    ``at_once`` analyses run in parallel, and ``waiting`` more may wait; further users are rejected. ``unfinished``
    uploads may be in progress, ``unfinished_each`` of them from one address.
    """

    upload: int = 256 << 20
    seconds: float = 120.0
    memory: int = 4 << 30
    at_once: int = 2
    waiting: int = 64
    unfinished: int = 64
    unfinished_each: int = 32


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """The address of the page, and who may use it.

    ``token`` is the first part of every path, empty for none. ``names`` are the host names by which the page may be
    called, in addition to IP addresses. ``keep``: a folder for all inputs and answers, None to keep nothing.
    ``options``: those of every diagnosis.
    """

    host: str = "127.0.0.1"
    port: int = 8765
    token: str = ""
    names: frozenset[str] = LOOPBACK
    limits: Limits = Limits()
    keep: Path | None = None
    options: Options = DEFAULTS
