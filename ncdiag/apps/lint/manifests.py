"""Find settings in YAML, JSON and TOML files that start jobs.

Manifests of Kubernetes, compose files, values of Helm, jobs of Ray, SkyPilot, Ansible, launch configurations of
editors, task definitions, tables of tasks, and similar files.
At any place in them: a mapping of variables, a list of names with values, a list of ``NAME=VALUE``, a command, a
script. Templates are skipped. Formats: Kubernetes API (EnvVar, ConfigMap), Compose Specification (environment,
shm_size, ulimits, devices, ipc).
"""

from __future__ import annotations

import msgspec

from ncdiag.apps.lint import masks, shell
from ncdiag.apps.lint.conflicts import JOB_GROUPS
from ncdiag.apps.lint.embedded import Script, Scripts
from ncdiag.apps.lint.model import Document, Environment, Quoting
from ncdiag.apps.lint.scalars import Scalars, refused
from ncdiag.apps.lint.vocabulary import is_setting
from ncdiag.base.patterns import lazy_regex
from ncdiag.base.spans import Section
from ncdiag.facts.observe import observe
from ncdiag.formats.places import read_json, read_toml
from ncdiag.formats.shell import is_kept, without_secrets
from ncdiag.formats.yaml import Node, load
from ncdiag.parsers import compose, k8s_manifest

_DEPTH = 40
"""Maximum depth of nested mappings; the YAML parser stops at 60."""
_LOOSE = 1000
"""The first job number for environments that belong to no container; each of them is a separate job."""
_SKIPPED = {"status", "managedFields"}
_PAIR = lazy_regex(r"[A-Z_][A-Z0-9_]*=")
_COMMANDS = {"command", "args", "entrypoint"}


def read(document: Document) -> None:
    """Parse each document of the file, then the scripts in it."""
    text = masks.without_templates(document.text)
    document.environments, document.begins = [], []
    scripts = Scripts(document, text)
    lines = [line.rstrip("\r") for line in text.split("\n")]
    start, job = 0, 0
    if document.form in {"json", "toml"}:
        root = read_json(text) if document.form == "json" else read_toml(text)
        _Reader(document, Scalars(document, text, 0), scripts, 0).read(lines, root)
        start = len(lines) + 1
    for number in range(len(lines) + 1):
        if number == len(lines) or (lines[number].startswith("---") and number >= start):
            piece = lines[start:number]
            if any(line.strip() for line in piece):
                document.begins += [start + 1] if job else []
                _Reader(document, Scalars(document, text, start), scripts, job).read(piece)
                job += 1
            start = number + 1
    document.script = scripts.text()
    for script in scripts.places:
        _script(document, script)


def _script(document: Document, script: Script) -> None:
    """Parse shell text. Edits of it must keep the surrounding YAML valid."""
    settings, launches = len(document.settings), len(document.launches)
    shell.read(document, script.place, script.group)
    if script.within == "block":
        return
    for number in range(settings, len(document.settings)):
        setting = document.settings[number]
        quoting: Quoting = "bare" if setting.quoting == "shell" else setting.quoting
        removal = setting.removal if script.within == "scalar" else None
        document.settings[number] = msgspec.structs.replace(setting, quoting=quoting, removal=removal)
    if script.within == "words":
        for launch in document.launches[launches:]:
            launch.behind = None


class _Reader:
    """One document of the file. ``group`` is the last number of an environment; each job has a thousand numbers."""

    def __init__(self, document: Document, scalars: Scalars, scripts: Scripts, job: int) -> None:
        self.document, self.scalars, self.scripts = document, scalars, scripts
        self.group = job % _LOOSE * JOB_GROUPS
        self.loose = _LOOSE * JOB_GROUPS * (job + 1)
        self.is_object = False

    def read(self, lines: list[str], root: Node | None = None) -> None:
        """Parse the document of these lines; ``root`` is the result of another parser than that of YAML."""
        yaml = root is None
        root = root or load(lines)[0]
        self.is_object = yaml and (root.text("apiVersion") is not None or bool(root.items()))
        compose = self.document.form == "compose"
        if compose:
            for name, service in root.pairs("services").items():
                self.service(name, service, lines)
        elif "{{" not in self.document.text:  # a template may add anything to a container
            section = self.section(k8s_manifest.KIND, lines)
            self.document.observations += [
                seen for seen in k8s_manifest.parse(section).observations if seen.fields.get("program") == "kubernetes"
            ]
        self.walk(root, 0, 0, left_out=frozenset({"services"}) if compose else frozenset())

    def section(self, kind: str, lines: list[str]) -> Section:
        return Section(
            kind=kind, source=self.document.source, first_line=self.scalars.first + 1, lines=tuple(lines) or ("",)
        )

    def walk(self, node: Node, depth: int, group: int, left_out: frozenset[str] = frozenset()) -> None:
        """Find environments, images and commands anywhere; ``group`` is that of the enclosing container."""
        if depth > _DEPTH:
            return
        if isinstance(node.value, list):
            self.listed(node, depth, group)
        elif isinstance(node.value, dict):
            if node.text("kind") == "ConfigMap":
                self.config_map(node)
                return
            group = self.container(node) or group
            self.mapped(node, group)
            if "module" in node.value and node.items("args"):
                self.scripts.module(node.value["module"], node.value["args"], self.scalars, group or self.apart)
            for key, child in node.value.items():
                if key not in _SKIPPED and key not in left_out:
                    self.below(key, child, depth, group)

    def below(self, key: str, child: Node, depth: int, group: int) -> None:
        if isinstance(child.value, str):
            self.scripts.add(child, self.scalars, group or self.apart, is_command=key in _COMMANDS)
        else:
            self.walk(child, depth + 1, group)

    @property
    def apart(self) -> int:
        """A number for an environment that belongs to no container."""
        self.loose += JOB_GROUPS
        return self.loose

    def config_map(self, node: Node) -> None:
        self.group += 1
        self.around(node, node.text("metadata", "name") or "?")
        for key, value in node.pairs("data").items():
            self.scalars.keyed(key, value, self.group, refused(self.document, kubernetes=True))
            self.scripts.add(value, self.scalars, self.group, name=key)

    def container(self, node: Node) -> int:
        """Add a container's variables and image; returns the number of its environment, 0 for other mappings."""
        image = node.text("image")
        if image:
            self.document.images.append(image)
        if not (node.items("env") or node.items("command") or node.items("args")):
            return 0
        self.group += 1
        self.around(node)
        return self.group

    def around(self, node: Node, config_map: str = "") -> None:
        """Store the lines of the environment with the last number."""
        first = self.scalars.first + 1
        self.document.environments.append(
            Environment(self.group, first + node.line, first + _last(node, 0), config_map)
        )

    def mapped(self, node: Node, group: int) -> None:
        """Process a mapping whose keys are names of variables."""
        names = [key for key in node.pairs() if key == key.upper() and is_setting(key)]
        own = group or (self.apart if names else 0)
        for name in names:
            self.scalars.keyed(name, node.pairs()[name], own)

    def listed(self, node: Node, depth: int, group: int) -> None:
        """Process a list of variables, the words of a command, or a list of other nodes."""
        items = node.items()
        words = [item for item in items if isinstance(item.value, str)]
        pairs = [word for word in words if _PAIR.match(str(word.value))]
        if pairs and len(pairs) == sum("=" in str(word.value) for word in words) and not any(map(_is_option, words)):
            own = group or self.apart
            for pair in pairs:
                self.scalars.item(pair, own)
        elif words:
            self.scripts.words(node, self.scalars, group or self.apart)
        entries = [item for item in items if isinstance(item.value, dict)]
        own = group
        for entry in entries:
            not_text = refused(self.document, kubernetes=True) if group and self.is_object else None
            own = own or (self.apart if entry.get("value") else 0)
            if not self.scalars.entry(entry, own, not_text):
                self.walk(entry, depth + 1, group)
        for item in items:
            if isinstance(item.value, list):
                self.walk(item, depth + 1, group)

    def service(self, name: str, service: Node, lines: list[str]) -> None:
        """Process a service of a compose file: its environment, and the options of its container, as a Launch."""
        self.group += 1
        self.around(service)
        start = len(self.document.settings)
        for item in service.items("environment"):
            self.scalars.item(item, self.group)
        for key, value in service.pairs("environment").items():
            self.scalars.keyed(key, value, self.group, refused(self.document, kubernetes=False))
        fields = dict(compose.container(service))
        if fields.get("image"):
            self.document.images.append(fields["image"])
        variables = {s.name: s.value for s in self.document.settings[start:] if s.value is not None and is_kept(s.name)}
        section = without_secrets(self.section("launch", lines))
        fields.update(program="docker compose", text=f"service {name}", env=variables or None)
        if fields.get("gpus") is not None:
            self.document.observations.append(
                observe(section, min(service.line, len(lines) - 1), "Launch", standing="manifest", **fields)
            )
        for key, child in service.pairs().items():
            if key not in {"environment", "image"}:
                self.below(key, child, 1, self.group)


def _last(node: Node, depth: int) -> int:
    """The index of the last line of a value."""
    below: list[Node] = []
    if depth <= _DEPTH:
        below = list(node.value.values()) if isinstance(node.value, dict) else node.items()
    return max([node.last, *(_last(each, depth + 1) for each in below)])


def _is_option(node: Node) -> bool:
    return str(node.value).startswith("-")
