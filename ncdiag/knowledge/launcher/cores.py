"""Where the core file of a crashed process is, by the kernel's pattern and the limit that the job had (core(5))."""

from __future__ import annotations

from typing import Literal

from ncdiag.base.patterns import lazy_regex
from ncdiag.facts.derived import derived
from ncdiag.facts.model import Event
from ncdiag.facts.view import View

_SEEN = "run-core-file"
_SPECIFIER = lazy_regex(r"%.")
_SAFE = lazy_regex(r"[\w./*-]{1,200}")
Kind = Literal["unseen", "off", "systemd", "piped", "file"]


def _setting(view: View) -> tuple[Kind, str]:
    """What becomes of a core file, and the pattern. The limit does not hold for a program that gets it by a pipe."""
    event = next((each for each in view.job.events if each.event == _SEEN), None)
    if event is None:
        return "unseen", ""
    view.note(event)
    pattern = str(event.fields.get("core_pattern") or "")
    if pattern.startswith("|"):
        return ("systemd" if "systemd-coredump" in pattern else "piped"), pattern[1:].split(" ", maxsplit=1)[0]
    return ("off" if event.fields.get("core_limit") == "0" or not pattern else "file"), pattern


@derived
def core_text(event: Event, view: View) -> str:
    """Where the core file is, as a sentence."""
    kind, pattern = _setting(view)
    return {
        "unseen": "read the core file if one was written",
        "off": "no core file was written, since the limit of the job was 0 (ulimit -c)",
        "systemd": "systemd-coredump has the core file",
        "piped": f"the kernel gave the core file to {pattern}",
        "file": f"the core file is named {pattern}, in the working folder of the process unless the name begins with /",
    }[kind]


@derived
def core_command(event: Event, view: View) -> str:
    """The command that finds the core file, or that allows one."""
    kind, pattern = _setting(view)
    place = _SPECIFIER.sub("*", pattern)
    if kind == "systemd":
        return f"coredumpctl info {event.fields.get('pid') or ''}".rstrip()
    if kind == "file" and _SAFE.fullmatch(place):
        return f"ls -lt {place.rstrip('*')}*"
    return "ulimit -c unlimited" if kind == "off" else "cat /proc/sys/kernel/core_pattern"
