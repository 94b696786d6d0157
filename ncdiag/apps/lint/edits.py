"""Edits: change a value, apply edits, show the corrected line, and the difference as a patch."""

from __future__ import annotations

import difflib
import re
import shlex
from collections.abc import Iterable, Sequence
from pathlib import Path

from ncdiag.apps.lint.model import Document, Edit, Finding, Setting
from ncdiag.formats.shell import hide_secrets


def putting(setting: Setting, value: str) -> tuple[Edit, ...]:
    """The edit that gives a setting another value, quoted as its place requires; empty if that is not possible."""
    place = setting.value_at
    if setting.quoting == "none" or "\n" in value:
        return ()
    text = value
    special = re.search(r"[^\w@%+=:,./^-]", value) is not None
    if setting.quoting == "bare" and special:
        return ()
    if setting.quoting == "shell":
        text = shlex.quote(value) if special else value
    elif setting.quoting == "yaml":
        text = '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
    return (Edit(place.start, place.end, text),)


def applied(text: str, edits: Iterable[Edit]) -> str:
    """The text with the edits applied; of two that overlap, the first is used."""
    pieces: list[str] = []
    position = 0
    for edit in sorted(set(edits)):
        if edit.start < position or edit.end > len(text):
            continue
        pieces += [text[position : edit.start], edit.text]
        position = edit.end
    return "".join([*pieces, text[position:]])


def corrected(document: Document, found: Finding) -> str | None:
    """The corrected lines of a finding's edits; the empty text if they are removed; None without edits."""
    if not found.edits:
        return None
    start = document.text.rfind("\n", 0, min(edit.start for edit in found.edits)) + 1
    last = max(edit.end for edit in found.edits)
    whole = last > start and document.text[last - 1 : last] == "\n"
    stop = last if whole else document.text.find("\n", last)
    stop = len(document.text) if stop < 0 else stop
    moved = [Edit(edit.start - start, edit.end - start, edit.text) for edit in found.edits]
    return hide_secrets(applied(document.text[start:stop], moved)).strip("\n")


def patch(source: str, before: str, after: str) -> str:
    """The difference in the unified format of patch and ``git apply``; empty if there is none."""
    old, new = _lines(before), _lines(after)
    path = Path(source)
    if path.is_absolute() and path.is_relative_to(Path.cwd()):
        path = path.relative_to(Path.cwd())
    name = path.as_posix()
    head = (f"a/{name}", f"b/{name}") if not path.is_absolute() else (name, name)
    return "".join(_ended(line) for line in difflib.unified_diff(old, new, *head))


def _lines(text: str) -> Sequence[str]:
    """Lines with their ends; only LF ends a line, as in patch(1)."""
    parts = text.split("\n")
    return [f"{part}\n" for part in parts[:-1]] + ([parts[-1]] if parts[-1] else [])


def _ended(line: str) -> str:
    return line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n"
