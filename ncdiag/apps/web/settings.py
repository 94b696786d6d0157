"""What the operator of a page may choose."""

from __future__ import annotations

from pathlib import Path

import msgspec

from ncdiag.diagnose import DEFAULTS, Options

LOOPBACK = frozenset({"127.0.0.1", "::1", "localhost"})


class Limits(msgspec.Struct, frozen=True, kw_only=True):
    """What one user may take: bytes of an ``upload``, ``seconds`` and bytes of ``memory`` of an analysis.

    So many analyses run ``at_once``, and so many more may be ``waiting`` or uploading; who comes then is sent away.
    """

    upload: int = 256 << 20
    seconds: float = 120.0
    memory: int = 4 << 30
    at_once: int = 2
    waiting: int = 64


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """Where the page is and who may use it.

    ``token`` is the first part of every path, empty for none. ``names`` are those by which the page may be called,
    besides addresses. ``keep``: a folder for all inputs and answers, None to keep nothing. ``options``: those
    of every judgement.
    """

    host: str = "127.0.0.1"
    port: int = 8765
    token: str = ""
    names: frozenset[str] = LOOPBACK
    limits: Limits = Limits()
    keep: Path | None = None
    options: Options = DEFAULTS
