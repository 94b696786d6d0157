"""Stacks as ``py-spy dump --json`` prints them, as the text that ``py-spy dump`` would print of well-behaved names.

py-spy 0.4 prints the names of threads, functions and files unchanged (src/dump.rs). A newline in a name would add a
line to the dump that looks like a frame. In JSON a name cannot do that, and here each name is written on one line.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ncdiag.base.patterns import lazy_regex

_PYTHON = lazy_regex(r"(?:\S*/)?(?:python|torchrun|deepspeed|accelerate|ray::)")
"""The beginning of a command line by which the text of a dump is recognised."""
_LONGEST = 400
"""Maximum length of a name or a command line."""


def as_text(output: bytes, pid: int, proc: Path = Path("/proc")) -> str:
    """The stacks of a process, the main thread first; empty if the output is not a dump in JSON."""
    try:
        threads = json.loads(output.decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return ""
    if not isinstance(threads, list):
        return ""
    known = [thread for thread in threads if isinstance(thread, dict)]
    known.sort(key=lambda thread: thread.get("thread_name") != "MainThread")
    lines = [f"Process {pid}: {_command(proc / str(pid))}"]
    for thread in known:
        lines += _thread(thread)
    return "\n".join([*lines, ""]) if known else ""


def _command(place: Path) -> str:
    """The command line; one that does not begin with Python's name, such as one that was set, comes after it."""
    command = ""
    with contextlib.suppress(OSError):
        command = _plain((place / "cmdline").read_bytes().replace(b"\0", b" ").decode("utf-8", "replace").strip())
    return command if _PYTHON.match(command) else f"python {command}".rstrip()


def _thread(thread: dict[str, Any]) -> Iterator[str]:
    number = thread.get("os_thread_id") or thread.get("thread_id") or 0
    does = (
        "active+gil"
        if thread.get("active") and thread.get("owns_gil")
        else "active"
        if thread.get("active")
        else "idle"
    )
    name = _plain(str(thread.get("thread_name") or "")).replace('"', "'")
    yield f"Thread {number} ({does})" + (f': "{name}"' if name else "")
    for frame in thread.get("frames") or ():
        file, line = _plain(str(frame.get("short_filename") or frame.get("filename") or "?")), frame.get("line")
        yield f"    {_plain(str(frame.get('name') or '?'))} ({file}{f':{line}' if line else ''})"


def _plain(text: str) -> str:
    """The text with a question mark for each character that is not shown, or ends a line, cut to a length.

    Not with an escape: a reader of pastes takes those of line ends for line ends.
    """
    text = text[:_LONGEST]
    return text if text.isprintable() else "".join(c if c.isprintable() else "?" for c in text)
