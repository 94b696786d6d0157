"""Settings in YAML, JSON and TOML at exact places: a key with a value, a name next to a value, an item ``NAME=VALUE``.

Formats: Kubernetes API (EnvVar, ConfigMap), Compose Specification (environment), and whatever else writes the
environment of a process as a mapping or a list.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import msgspec

from ncdiag.apps.lint.findings import finding
from ncdiag.apps.lint.model import Document, Edit, Place, Setting
from ncdiag.apps.lint.pairs import default_of
from ncdiag.base.patterns import lazy_regex
from ncdiag.formats.yaml import Node

_QUOTED = {'"': lazy_regex(r'"(?:[^"\\\n]|\\.)*"'), "'": lazy_regex(r"'(?:[^'\n]|'')*'(?!')")}
_LINES = {'"': lazy_regex(r'"(?:[^"\\]|\\.)*"', re.DOTALL), "'": lazy_regex(r"'(?:[^']|'')*'(?!')", re.DOTALL)}
_ASSIGNED = lazy_regex(r"(?P<name>[A-Za-z_]\w{0,120})=")
_NOT_TEXT = lazy_regex(
    r"(?:[-+]?[0-9][\d_]*(?:\.[\d_]*)?(?:e[-+]?\d+)?|0x[0-9a-f]+|true|false|yes|no|on|off|null|~)$", re.IGNORECASE
)
_BOOLEAN = lazy_regex(r"(?:true|false|yes|no|on|off)$", re.IGNORECASE)
_NULL = {"", "~", "null", "Null", "NULL"}


class Scalars:
    """The scalars of one document of a YAML file. ``text`` is the file without its templates."""

    def __init__(self, document: Document, text: str, first: int) -> None:
        """``first``: the index of the document's first line in the file."""
        self.document, self.text, self.first = document, text, first

    def line(self, index: int) -> Place:
        """The stretch of a line of this part."""
        return self.document.line_place(self.first + index + 1)

    def start(self, node: Node) -> int:
        """Where a scalar begins in the file."""
        return self.line(node.line).start + max(node.column, 0)

    def place(self, node: Node) -> Place | None:
        """The place of a scalar on one line, including quotes; None for others."""
        if node.column < 0 or node.last > node.line or node.style in {"|", ">"} or not isinstance(node.value, str):
            return None
        start = self.start(node)
        if node.style:
            found = _QUOTED[node.style].match(self.text, start)
            return Place(start, found.end()) if found else None
        return Place(start, start + len(node.value)) if self.text.startswith(node.value, start) else None

    def whole(self, node: Node) -> Place:
        """The place of a quoted or plain scalar, on one line or several, including quotes."""
        start, end = self.start(node), self.line(node.last).end
        if node.style:
            found = _LINES[node.style].match(self.text, start, end)
            return Place(start, found.end() if found else end)
        return self.place(node) or Place(start, start + len(self.text[start:end].rstrip()))

    def keyed(self, name: str, node: Node, group: int, not_text: re.Pattern[str] | None = None) -> None:
        """``NCCL_DEBUG: INFO``. The program that reads the file rejects values that match ``not_text``."""
        where = self.place(node)
        if where is None or not isinstance(node.value, str) or not re.fullmatch(r"[A-Za-z_]\w*", name):
            return
        at = self.line(node.line)
        start = self.text.rfind(name, at.start, where.start)
        if start < 0 or (not node.style and node.value in _NULL and not not_text):
            return
        alone = not self.text[at.start : start].strip(" \t\"'") and not self.text[where.end : at.end].strip(" \t\r,")
        setting = self._setting(Place(start, start + len(name)), node, where, group)
        self._add(setting, Edit(at.start, min(at.end + 1, len(self.text)), "") if alone else None)
        raw = self.document.text[where.start : where.end]
        if not_text is not None and raw and not node.style and not_text.match(raw):
            self.document.found.append(
                finding("manifest-value-not-text", where, variable=name, what=f"{name}: {raw} is not text in YAML",
                        edits=(Edit(where.start, where.end, f'"{raw}"'),), fixable=True)
            )  # fmt: skip

    def entry(self, item: Node, group: int, not_text: re.Pattern[str] | None) -> bool:
        """``name: NCCL_DEBUG`` and ``value: INFO`` in one mapping. False if the mapping is not such a pair."""
        name, value = (next((item.pairs()[key] for key in keys if key in item.pairs()), None) for keys in _BESIDE)
        if name is None or value is None or not isinstance(name.value, str) or not isinstance(value.value, str):
            return False
        at, where = self.place(name), self.place(value)
        if at is None or where is None or not re.fullmatch(r"[A-Za-z_]\w*", name.value):
            return False
        inset = 1 if name.style else 0
        last, own = max(name.line, value.line), self.line(min(item.line, name.line))
        one = self.text[own.start : own.end].lstrip()
        whole = one.startswith("- ") and last - item.line == 1 and len(item.pairs()) == 2  # noqa: PLR2004  (name, value)
        start = at.start + inset
        setting = self._setting(Place(start, start + len(name.value)), value, where, group)
        self._add(setting, Edit(own.start, min(self.line(last).end + 1, len(self.text)), "") if whole else None)
        raw = self.document.text[where.start : where.end]
        if not_text is not None and not value.style and not_text.match(raw):
            self.document.found.append(
                finding("manifest-value-not-text", where, variable=name.value,
                        what=f"the value {raw} of {name.value} is not text in YAML",
                        edits=(Edit(where.start, where.end, f'"{raw}"'),), fixable=True)
            )  # fmt: skip
        return True

    def item(self, node: Node, group: int) -> None:
        """``- NCCL_DEBUG=INFO``."""
        where = self.place(node)
        if where is None or not isinstance(node.value, str):
            return
        inset = 1 if node.style else 0
        found = _ASSIGNED.match(self.text, where.start + inset, where.end - inset)
        if found is None:
            return
        at = self.line(node.line)
        alone = self.text[at.start : where.start].strip() == "-"
        value = node.value.partition("=")[2]
        setting = Setting(
            name=found["name"], value=self._value(value), name_at=Place(found.start("name"), found.end("name")),
            value_at=Place(found.end(), where.end - inset), quoting="none" if "$" in value else "compose",
            group=group, reaches="all",
        )  # fmt: skip
        self._add(setting, Edit(at.start, min(at.end + 1, len(self.text)), "") if alone else None)

    def _value(self, text: str) -> str | None:
        """The value as the process gets it: a variable's default if there is one; None for other variables."""
        if self.document.form == "compose" or "${" in text or "$(" in text:
            return default_of(text) if "$" in text.replace("$$", "") else text.replace("$$", "$")
        return text

    def _setting(self, name: Place, node: Node, where: Place, group: int) -> Setting:
        text = str(node.value)
        return Setting(
            name=self.text[name.start : name.end], value=self._value(text), name_at=name, value_at=where, group=group,
            reaches="all", quoting="none" if "$" in text else "yaml",
        )  # fmt: skip

    def _add(self, setting: Setting, removal: Edit | None) -> None:
        if self.document.form == "json":  # the comma before it may have to be removed, too
            removal = None
        self.document.settings.append(msgspec.structs.replace(setting, removal=removal))


_BESIDE: Sequence[Sequence[str]] = (("name", "Name", "key"), ("value", "Value"))


def refused(document: Document, *, kubernetes: bool) -> re.Pattern[str] | None:
    """Matches values of variables that the reader of this file rejects; None if it accepts all.

    Kubernetes accepts only strings, compose no booleans.
    """
    return _NOT_TEXT if kubernetes else _BOOLEAN if document.form == "compose" else None
