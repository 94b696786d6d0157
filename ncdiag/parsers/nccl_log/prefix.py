"""What comes before ``NCCL INFO``: who printed the line, and when.

Every release prints ``host:pid:tid [dev] `` (src/debug.cc); WARN adds ``file:line`` (plugins put their function there,
in C++ with its signature: nccl_ofi_log.h of aws-ofi-nccl), since 2.26 a time before the host and since 2.30.7
``(function)``. Launchers put their own tags in front, people cut pieces off and write ``<host>``, ``[host]`` or ``***``
for a name: the host is looked for from the right, whatever is left of it.
"""

from __future__ import annotations

import re

import msgspec

from ncdiag.base.patterns import lazy_regex
from ncdiag.formats.stamps import seconds_of, zone_of

_CLOCK = lazy_regex(r"(\d{4})-(\d\d)-(\d\d)[T ](\d\d):(\d\d):(\d\d)(?:[.,](\d{1,9}))?(Z|[+-]\d\d:?\d\d)?")
_TAIL = lazy_regex(
    r"""(?:(?P<host><[A-Za-z][\w. -]{0,62}>(?=:)|\[[A-Za-z][\w.-]{0,62}\](?=:)|\*{2,32}(?=:)
            |(?=[^\s:]*[A-Za-z._-])(?![^\s:]*\.(?:cc?|cpp|cu|h):\d+\s)[^\s:/"'`|<>()\[\],{}]{1,255})
          :(?P<pid>\d{1,10})(?::(?P<tid>\d{1,10}))?\s
        |(?:(?<=\s)|^)(?P<bare>[A-Za-z][\w.-]{0,254})\s(?=\[))?
        (?:\[(?P<dev>-?\w{1,16})\]\s)?
        (?:\d{1,12}\.\d{1,9}\s(?:\w{1,200}:\d{1,6}\s)?)?
        (?:(?P<file>[^\s:]{1,300}\.\w{1,4}|(?<=\]\s)[A-Za-z_][^\n\[\]]{0,400}?):(?P<line>\d{1,6})\s)?
        (?:\((?P<function>[^()]{1,200})\)\s)?$""",
    re.VERBOSE,
)
_USUAL = lazy_regex(
    r"(?!.*(?:START|COMPLETE))([A-Za-z][A-Za-z0-9_.-]{0,254}):([0-9]{1,10}):([0-9]{1,10}) \[([0-9]{1,3})\] \Z"
)
"""The whole of a prefix that nothing was put around, read in a fifth of the time."""
_GLUE = lazy_regex(
    r"(?:P2P/(?:IPC|CUMEM|MNNVL)|/(?:read|CE|GDRDMA|Shared|direct)|\(PCI\)|shared memory|direct pointer"
    r"|NET/[^/\s]{1,40}/\d{1,4}(?=[A-Za-z])|-> \d{1,2}(?=[A-Za-z])|COMPLETE|START|\+cuda\d{1,2}\.\d)"
    r"(?=\w[^\s:/]{0,255}:\d{1,10}:\d{1,10} )"
)
_DEVICES = 1024
"""CUDA device numbers from here on are garbage (uninitialised memory in some releases)."""

TAG_LIMIT = 120
"""Characters of a launcher's tag; what is longer is prose."""


_WRITTEN = lazy_regex(r"[\x00-\x7f\u0400-\u04ff\u3000-\u30ff\u3400-\u9fff\uac00-\ud7af\uff00-\uffef\u2018-\u201d]*")

FAILS = frozenset({"WARN", "ABORT"})
"""Levels of which a line says that something failed, whoever printed it."""


class Prefix(msgspec.Struct, frozen=True):
    """The parts of a line's prefix, None where it does not tell. ``time`` is seconds since the epoch (UTC assumed).

    ``tag`` is what a launcher or a collector of logs put before it, without times.
    """

    host: str | None = None
    pid: int | None = None
    tid: int | None = None
    dev: int | None = None
    time: float | None = None
    file: str | None = None
    line: int | None = None
    function: str | None = None
    has_clock: bool = False
    tag: str | None = None


def is_whole(prefix: Prefix, before: bytes) -> bool:
    """False where what comes before ``NCCL`` is damaged: nobody knows whose line it is.

    A person may speak before it, in letters of a script; before a device there is a name, which has none. The first of
    these bytes may be cut.
    """
    if prefix.host is not None:
        return prefix.host.isascii()
    text = before.decode("utf-8", "replace").lstrip("\ufffd")
    return before.isascii() or (prefix.dev is None and _WRITTEN.fullmatch(text) is not None)


def undamaged(prefix: Prefix, before: bytes, level: str, message: bytes) -> Prefix | None:
    """The prefix, or what a damaged one still tells of a failure: the place in NCCL's source, not whose line it is.

    None where nothing is to be believed: of other levels, and where the message is damaged, too.
    """
    if is_whole(prefix, before):
        return prefix
    if level not in FAILS or not message.isascii():
        return None
    return Prefix(file=prefix.file if (prefix.file or "").isascii() else None, line=prefix.line)


def unglued(text: str) -> str:
    """Put a blank where another process's line was glued behind a message: ``...P2P/CUMEMnode1:42:43 [0] NCCL``."""
    return _GLUE.sub(r"\g<0> ", text)


def parse_prefix(text: str) -> Prefix:
    """Read ``text``, all that is on the line before ``NCCL``."""
    usual = _USUAL.match(text)
    if usual is not None:
        return Prefix(host=usual[1], pid=int(usual[2]), tid=int(usual[3]), dev=int(usual[4]))
    text = unglued(text)
    clocks = list(_CLOCK.finditer(text))
    clock = clocks[-1] if clocks else None
    timeless = _CLOCK.sub(" ", text) if clock else text
    found = _TAIL.search(timeless)
    if found is None:
        return Prefix(time=_seconds(clock))
    host, dev = found["host"] or found["bare"], found["dev"]
    number = int(dev) if dev is not None and dev.isdecimal() and len(dev) < len(str(_DEVICES)) + 1 else None
    return Prefix(
        host=host,
        pid=int(found["pid"]) if found["pid"] else None,
        tid=int(found["tid"]) if found["tid"] else None,
        dev=number if number is not None and number < _DEVICES else None,
        time=_seconds(clock),
        file=short_path(found["file"]) if found["file"] else None,
        line=int(found["line"]) if found["line"] else None,
        function=found["function"],
        has_clock=clock is not None and text[: clock.start()].endswith("[") and text[clock.end() :].startswith("]"),
        tag=_tag(timeless[: found.start()]) if found["pid"] else None,
    )


def _tag(before: str) -> str | None:
    """What comes before a host, unless it is the end of another message."""
    tag = before.replace("[ ]", "").strip()
    is_message = "NCCL " in tag or " -> " in tag
    return tag if tag and len(tag) <= TAG_LIMIT and not is_message else None


def short_path(path: str) -> str:
    """The path below ``src/``: builds made elsewhere print where they were made."""
    return path.rsplit("/src/", 1)[-1] if "/src/" in path else path


def _seconds(clock: re.Match[str] | None) -> float | None:
    """Seconds since the epoch of a date and time; a time without a zone is taken as UTC."""
    if clock is None:
        return None
    year, month, day, hour, minute, second = (int(clock[i]) for i in range(1, 7))
    start = seconds_of(year, month, day)
    if start is None:
        return None
    seconds = start + hour * 3600 + minute * 60 + second
    if clock[7]:
        seconds += int(clock[7]) / 10 ** len(clock[7])
    return seconds - zone_of(clock[8]) if clock[8] else seconds


def versions_of(prefix: Prefix, level: str) -> str:
    """Releases that print such a prefix (src/debug.cc): warnings have a date since 2.26, a function since 2.30.7."""
    if prefix.file is not None and prefix.file.endswith(".cu"):
        return "<2.5"
    if level != "WARN" or prefix.host is None or prefix.file is None:
        return ""
    if prefix.function is not None:
        return ">=2.30.7"
    return ">=2.26" if prefix.has_clock else "<2.26"
