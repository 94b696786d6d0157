"""Lines that tell of an end or an error by their form, whatever program prints them: exit codes, signals, error levels.

What the catalogue knows is told better by it; this is for the programs that nobody wrote a message for.
"""

from __future__ import annotations

import re

from ncdiag.base.patterns import lazy_regex
from ncdiag.formats.guarded import guarded_regex
from ncdiag.nccl.reasons import number_of_signal
from ncdiag.parsers._context import Context
from ncdiag.parsers._events import Found
from ncdiag.parsers._prose import is_prose, is_talk, is_voiced
from ncdiag.parsers._signs import Signs

EVENTS = {"process-exit": {"exit_code": "int", "signal": "int", "container": "str"}, "program-error": {}}
"""Events that are told by the form of a line, and the types of their fields."""

_LOOKED_AT = 600
_SIGNS = Signs("exit", "sig", "returned", "return code", "dumped", "status=")
_EXIT = guarded_regex(
    r"\b(?:exit(?:ed|s|ing)?(?:[ _](?:with|by|on))?(?:[ _](?:non-?zero|an?|error|exit)){0,2}[ _]?(?:status|code|value)"
    r"|exit(?:ed|s)\s(?:with|by)(?:\san?)?(?:\snon-?zero)?"
    r"|return(?:ed)?[ _](?:non-?zero[ _])?(?:exit[ _])?(?:status|code))"
    r"\"?\s{0,8}[:=(]?\s{0,8}(?P<code>-?\d{1,3})\b(?![.:/\d])|\bcode=exited, status=(?P<unit>\d{1,3})/",
    re.IGNORECASE,
)
_SIGNAL = guarded_regex(
    r"\b(?:(?:killed|terminated|interrupted|ended|died|exited|crashed)\s(?:by|on|due\sto|with)\s(?:the\s)?signal"
    r"|(?:caught|received|got)\s"
    r"(?:a\s)?(?:fatal\s)?signal|exit(?:ed)?\son\ssignal"
    r"|signal\scode)\b[\s:=(]{0,6}(?P<which>SIG[A-Z]{2,6}|\d{1,2})\b"
    r"|\b(?P<dumped>Segmentation fault|Aborted|Bus error|Illegal instruction|Floating point exception|Killed)\b.{0,40}"
    r"\(core dumped\)"
    r"|^signal: (?P<told>killed|aborted|terminated|segmentation fault|bus error)\b"
    r"|\bcode=(?:killed|dumped), status=(?P<unit>\d{1,2})/",
    re.IGNORECASE,
)
_OF_COMPOSE = lazy_regex(r"(?P<container>[a-z0-9][\w.-]{0,80}[-_]\d{1,4}) exited with code \d")
_FAULTS = {4: "worker-crashed", 6: "worker-crashed", 7: "worker-bus-error", 8: "worker-crashed", 11: "worker-crashed"}
"""The events of signals that a fault of the process itself raises: SIGILL, SIGABRT, SIGBUS, SIGFPE and SIGSEGV."""
_SHELL_STATUS = 128
_DUMPED = {
    "segmentation fault": "SIGSEGV", "aborted": "SIGABRT", "bus error": "SIGBUS", "killed": "SIGKILL",
    "terminated": "SIGTERM",
    "illegal instruction": "SIGILL", "floating point exception": "SIGFPE",
}  # fmt: skip
_ERROR = lazy_regex(
    r"[\[(<|]?\s{0,2}(?:(?:FATAL|CRITICAL|ERROR)\b|(?:[Ff]atal [Ee]rror|panic|PANIC)\s{0,3}[\])>|:-])"
    r"[\])>|:\s-]{1,8}\S.{5}"
    r"|(?:[\w.:/-]{1,80}\s){0,3}[\[(|]?(?:FATAL|CRITICAL|ERROR)(?:[\])|:]|\s\d\d[-:])\s{0,8}\S.{5}"
    r"|(?:[\w./+-]{1,60}(?:\[\d{1,9}\])?:\s{1,4}){1,3}(?:fatal|panic)\s{0,2}:\s{0,4}\S.{5}"
    r"|(?:free|malloc|realloc|calloc|munmap_chunk)\(\): .{4}|double free or corruption|corrupted (?:size|double-linked)"
    r"|\*\*\* (?:stack smashing|buffer overflow) detected|[\w ]{0,40}\|[A-Z]{2,12}_(?:ERROR|FATAL)\|\s{0,4}\S"
    r"|-E-\s{1,4}\S.{5}"
    r"|thread '[^']{1,80}' panicked at|[\w./-]{1,120}:\d{1,6}: .{0,80}Assertion .{1,300} failed"
)
_LEVELLED = lazy_regex(r"\b(?:level|severity|lvl)[\"']?\s?[=:]\s?[\"']?(?:error|fatal|crit\w*|panic)\b", re.IGNORECASE)
_HARMLESS = lazy_regex(r"[^\w]{0,4}(?:0|none|no)\b|.{0,200}\b(?:ERROR|error)s?:\s{0,3}0\b", re.IGNORECASE)
_LEVELS = frozenset("EFC")
"""First letters of the levels error, fatal and critical."""


def find(text: str, context: Context) -> Found | None:
    """The event of a line (without its prefixes) that tells of an end or an error by its form; None for others."""
    text = text[:_LOOKED_AT]
    found = _end(text) if _SIGNS.stand_in(text) else None
    if found is not None:
        return None if is_prose(text) and is_talk(text) else found
    if not (context.level in _LEVELS or _ERROR.match(text) or _is_levelled(text)) or _HARMLESS.match(text):
        return None
    if context.level is None and is_prose(text) and is_voiced(text):
        return None
    return Found("program-error", "app", "symptom", {})


def _is_levelled(text: str) -> bool:
    """True if the line has its level as a field, as structured loggers print it: ``level=error msg="..."``."""
    return ("level" in text or "severity" in text or "lvl" in text) and _LEVELLED.search(text) is not None


def _end(text: str) -> Found | None:
    signalled = _SIGNAL.search(text)
    if signalled is not None:
        told = (signalled["told"] or signalled["dumped"] or "").lower()
        number = _number(signalled["which"] or signalled["unit"] or _DUMPED.get(told, ""))
        event = "process-exit" if signalled["unit"] else of_signal(number)
        return Found(event, "app", "symptom", {"signal": number} if number else {})
    exited = _EXIT.search(text)
    if exited is None:
        return None
    code = int(exited["code"] or exited["unit"])
    composed = _OF_COMPOSE.match(text)
    fields = {"exit_code": code, **({"container": composed["container"]} if composed else {})}
    event = "process-exit" if exited["unit"] else of_signal(code - _SHELL_STATUS if code > 0 else -code)
    return Found(event, "app", "symptom" if code else "fact", fields)


def of_signal(number: int | None) -> str:
    """The event of a process that ended by this signal: a crash, if a fault of its own raises it."""
    return _FAULTS.get(number or 0, "process-exit")


def _number(name: str) -> int | None:
    return int(name) if name.isdecimal() else number_of_signal(name.upper())
