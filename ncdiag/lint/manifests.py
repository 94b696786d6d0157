"""YAML: manifests of Kubernetes and compose files. Settings with their places, containers, commands.

Formats: Kubernetes API (EnvVar, ConfigMap), Compose Specification (environment, shm_size, ulimits, devices, ipc).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from ncdiag.facts.observe import observe
from ncdiag.formats.shell import is_kept, without_secrets
from ncdiag.formats.units import size_bytes
from ncdiag.formats.yaml import Node, load
from ncdiag.lint import shell
from ncdiag.lint.findings import finding
from ncdiag.lint.model import Document, Edit, Place, Setting
from ncdiag.parsers import k8s_manifest
from ncdiag.spans import Section

_SCALAR = re.compile(
    r"(?P<value>\"(?:[^\"\\\n]|\\.)*\"|'[^'\n]*'|[^\n#]*?)(?=[ \t\r]*(?:[ \t]#[^\n]*)?$)", re.MULTILINE
)
_ITEM = re.compile(r"[ \t]*-[ \t]+(?P<quote>[\"']?)(?P<name>[A-Za-z_]\w*)=")
_KEYED = re.compile(r"[ \t]*(?:-[ \t]+)?[\"']?(?P<key>[A-Za-z_]\w*)[\"']?[ \t]*:[ \t]*")
_IN_BRACES = re.compile(r"(?P<value>\"(?:[^\"\\\n]|\\.)*\"|'[^'\n]*'|[^\n,}]*?)(?=[ \t]*[,}])")
_NOT_TEXT = re.compile(
    r"(?:[-+]?[0-9][\d_.]*(?:e[-+]?\d+)?|0x[0-9a-f]+|true|false|yes|no|on|off|null|~)$", re.IGNORECASE
)
_BOOLEAN = re.compile(r"(?:true|false|yes|no|on|off)$", re.IGNORECASE)
_PAIR_OPTIONS = {"-x", "-e", "--env"}


def read(document: Document) -> None:
    """Read each document of the file."""
    lines = document.text.split("\n")
    start = 0
    group = 0
    for number in range(len(lines) + 1):
        if number == len(lines) or (lines[number].startswith("---") and number >= start):
            piece = lines[start:number]
            if any(line.strip() for line in piece):
                group = _one(document, [line.rstrip("\r") for line in piece], start, group)
            start = number + 1


def _one(document: Document, lines: list[str], first: int, group: int) -> int:
    root, _ = load(lines)
    reader = _Reader(document, lines, first, group)
    if document.form == "compose":
        for name, service in root.pairs("services").items():
            reader.service(name, service)
    else:
        section = Section(
            kind=k8s_manifest.KIND, source=document.source, first_line=first + 1, lines=tuple(lines) or ("",)
        )
        document.observations += [o for o in k8s_manifest.parse(section).observations if o.entity != "Setting"]
        reader.walk(root, 0)
    return reader.group


class _Reader:
    def __init__(self, document: Document, lines: list[str], first: int, group: int) -> None:
        self.document, self.lines, self.first, self.group = document, lines, first, group

    def place(self, index: int) -> Place:
        """The stretch of a line of this part."""
        return self.document.line_place(self.first + index + 1)

    def walk(self, node: Node, depth: int) -> None:
        """Find environments, images and commands wherever they stand."""
        if depth > 40:  # noqa: PLR2004  (the reader of YAML stops at 60)
            return
        if node.text("kind") == "ConfigMap":
            self.group += 1
            for key, value in node.pairs("data").items():
                self.keyed(key, value)
            return
        if isinstance(node.value, list):
            for item in node.value:
                self.walk(item, depth + 1)
        if not isinstance(node.value, dict):
            return
        self.container(node)
        for key, child in node.value.items():
            if key not in {"env", "status", "managedFields"}:
                self.walk(child, depth + 1)

    def container(self, node: Node) -> None:
        """The environment, command and image of a container; nothing for other mappings."""
        if node.items("env") or node.items("command") or node.items("args"):
            self.group += 1
            for item in node.items("env"):
                self.entry(item)
            for key in ("command", "args"):
                self.command(node.items(key))
        image = node.text("image")
        if image:
            self.document.images.append(image)

    def entry(self, item: Node) -> None:
        """``- name: NCCL_DEBUG`` and ``value: INFO`` of a container."""
        name, value = item.text("name"), item.get("value")
        if name is None or value is None or not isinstance(value.value, str):
            return
        name_line = item.pairs()["name"].line if "name" in item.pairs() else item.line
        at = self.place(name_line)
        start = self.document.text.find(name, at.start, at.end)
        where = self.scalar(value.line, _KEYED, "value")
        if where is None or start < 0:
            return
        raw = self.document.text[where.start : where.end]
        last = max(name_line, value.line)
        own = self.place(min(item.line, name_line))
        removal = Edit(own.start, min(self.place(last).end + 1, len(self.document.text)), "")
        one = self.document.text[own.start : own.end].lstrip()
        self.document.settings.append(
            Setting(
                name=name, value=value.value, name_at=Place(start, start + len(name)), value_at=where, quoting="yaml",
                removal=removal if one.startswith("- ") and last - item.line == 1 else None, group=self.group,
                reaches="all",
            )
        )  # fmt: skip
        if _NOT_TEXT.match(raw) and not raw.startswith(('"', "'")):
            self.document.found.append(
                finding("manifest-value-not-text", where, variable=name, what=f"{name}: {raw} is not text in YAML",
                        edits=(Edit(where.start, where.end, f'"{raw}"'),), fixable=True)
            )  # fmt: skip

    def keyed(self, name: str, value: Node) -> None:
        """``NCCL_DEBUG: INFO`` of a ConfigMap or a compose service."""
        where = self.scalar(value.line, _KEYED, name)
        if not isinstance(value.value, str) or where is None or not re.fullmatch(r"[A-Za-z_]\w*", name):
            return
        at = self.place(value.line)
        start = self.document.text.find(name, at.start, at.end)
        if start < 0:
            return
        raw = self.document.text[where.start : where.end]
        alone = not self.document.text[at.start : start].strip(" \t\"'")
        self.document.settings.append(
            Setting(
                name=name, value=None if "${" in value.value else value.value, name_at=Place(start, start + len(name)),
                value_at=where, quoting="yaml", group=self.group, reaches="all",
                removal=Edit(at.start, min(at.end + 1, len(self.document.text)), "") if alone else None,
            )
        )  # fmt: skip
        config = self.document.form == "kubernetes"
        if (_NOT_TEXT if config else _BOOLEAN).match(raw) and raw and not raw.startswith(('"', "'")):
            self.document.found.append(
                finding("manifest-value-not-text", where, variable=name, what=f"{name}: {raw} is not text in YAML",
                        edits=(Edit(where.start, where.end, f'"{raw}"'),), fixable=True)
            )  # fmt: skip

    def item(self, node: Node) -> None:
        """``- NCCL_DEBUG=INFO`` of a compose service or of the arguments of a launcher."""
        at = self.place(node.line)
        found = _ITEM.match(self.document.text, at.start, at.end)
        if found is None or not isinstance(node.value, str):
            return
        whole = re.compile(r"[^\n]*?(?=[ \t\r]*(?:[ \t]#[^\n]*)?$)", re.MULTILINE).match(
            self.document.text, found.end()
        )
        stop = whole.end() if whole else at.end
        closed = bool(found["quote"]) and self.document.text[found.end() : stop].endswith(found["quote"])
        value = node.value.partition("=")[2]
        self.document.settings.append(
            Setting(
                name=found["name"], value=None if "${" in value else value,
                name_at=Place(found.start("name"), found.end("name")),
                value_at=Place(found.end(), stop - closed), quoting="compose", group=self.group, reaches="all",
                removal=Edit(at.start, min(at.end + 1, len(self.document.text)), ""),
            )
        )  # fmt: skip

    def scalar(self, index: int, key: re.Pattern[str], name: str) -> Place | None:
        """The place of the value that is behind a key on a line or within braces, quotes included."""
        at = self.place(index)
        found = key.match(self.document.text, at.start, at.end)
        pattern = _SCALAR
        if found is None or found["key"] != name:
            within = re.compile(rf"[{{,]\s*[\"']?{re.escape(name)}[\"']?\s*:\s*")
            found, pattern = within.search(self.document.text, at.start, at.end), _IN_BRACES
        value = pattern.match(self.document.text, found.end(), at.end) if found else None
        return Place(value.start("value"), value.end("value")) if value else None

    def command(self, items: list[Node]) -> None:
        """Words of a command: scripts in block scalars, and pairs behind -x."""
        before = ""
        for node in items:
            text = node.value if isinstance(node.value, str) else ""
            if "\n" in text:
                last = node.line + text.count("\n")
                end = self.place(min(last, len(self.lines) - 1)).end
                shell.read(self.document, Place(self.place(node.line).start, end), self.group)
            elif before in _PAIR_OPTIONS:
                self.item(node)
            before = text

    def service(self, name: str, service: Node) -> None:
        """A service of a compose file: its environment, and what its container is given, as a Launch."""
        self.group += 1
        environment = service.get("environment")
        start = len(self.document.settings)
        for item in service.items("environment"):
            self.item(item)
        for key, value in environment.pairs().items() if environment else ():
            self.keyed(key, value)
        fields = dict(_container(service))
        if "image" in fields:
            self.document.images.append(fields["image"])
        variables = {s.name: s.value for s in self.document.settings[start:] if s.value is not None and is_kept(s.name)}
        section = Section(
            kind="launch", source=self.document.source, first_line=self.first + 1, lines=tuple(self.lines)
        )
        section = without_secrets(section)
        fields.update(program="docker compose", text=f"service {name}", env=variables or None)
        if fields.get("gpus") is not None:
            self.document.observations.append(
                observe(section, min(service.line, len(self.lines) - 1), "Launch", standing="manifest", **fields)
            )


def _container(service: Node) -> Iterator[tuple[str, Any]]:
    """Fields of a Launch that a compose service tells."""
    yield "image", service.text("image")
    yield "ipc", service.text("ipc")
    yield "network", service.text("network_mode")
    yield "privileged", service.text("privileged") == "true"
    yield "cap_add", [str(item.value) for item in service.items("cap_add")]
    yield "devices", [str(item.value) for item in service.items("devices")]
    size = service.text("shm_size")
    yield "shm_size_bytes", size_bytes(size) if size else None
    limit = service.text("ulimits", "memlock") or service.text("ulimits", "memlock", "soft")
    yield "memlock", "unlimited" if limit == "-1" else limit
    devices = service.items("deploy", "resources", "reservations", "devices")
    gpus = [item for item in devices if any(cap.value == "gpu" for cap in item.items("capabilities"))]
    counts = [item.text("count") for item in gpus]
    yield "gpus", (counts[0] or "all") if gpus else service.text("gpus") or _by_runtime(service)


def _by_runtime(service: Node) -> str | None:
    return "all" if service.text("runtime") == "nvidia" else None
