"""The jobs of a file: what each container, service or script of a manifest starts is judged separately.

What belongs to no container is shared by its whole YAML document, and a ConfigMap by the containers that name it. The
containers of one Kubernetes object are roles of one job (launcher and workers); findings that depend only on their own
environment are made for each.
"""

from __future__ import annotations

import bisect
import re
from collections.abc import Iterable, Iterator

import msgspec

from ncdiag.apps.lint.model import Document, Environment, Setting
from ncdiag.facts.observe import Observation

_SEVERAL = {"kubernetes", "compose", "json", "toml"}
_LIMIT, _ENVIRONMENTS = 100, 500
"""Maximum number of jobs of a file judged separately, and of separate environments; beyond it, the file is one job."""


def containers(document: Document) -> list[Document]:
    """The document once for each container or script, with only its settings, launches and observations."""
    return _split(document, roles=False)


def jobs(document: Document) -> list[Document]:
    """The document once for each of its jobs; the containers of a Kubernetes object are together."""
    return _split(document, roles=document.form == "kubernetes")


def _split(document: Document, *, roles: bool) -> list[Document]:
    if document.form not in _SEVERAL or len(document.environments) > _ENVIRONMENTS:
        return [document]
    parts = _Parts(document, roles=roles)
    found = [part for owner in parts.owners() if (part := parts.part(*owner)) is not None]
    return found if 1 < len(found) <= _LIMIT else [document]


class _Parts:
    def __init__(self, document: Document, *, roles: bool) -> None:
        self.document, self.roles = document, roles
        self.environments = {each.group: each for each in document.environments}
        self.own = {group for group in self.environments if not roles or self.is_map(group)}
        self.own |= set() if roles else {launch.group for launch in document.launches}

    def owners(self) -> Iterable[tuple[int, int]]:
        """(index of the YAML document, group) of each job; -1 for a document without separate jobs."""
        document = self.document
        found = {(self.where(document.line(s.name_at.start)), s.group): None for s in document.settings}
        found |= {(self.where(document.line(la.at.start)), la.group): None for la in document.launches}
        found |= {(self.where(seen.span.line), self.group(seen)): None for seen in document.observations}
        apart = {where for where, group in found if group in self.own and not self.is_map(group)}
        for where, group in found:
            if group in self.own:
                if not self.is_map(group) or not any(self.names(each, group) for each in self.environments.values()):
                    yield where, group
            elif where not in apart:
                yield where, -1
                apart.add(where)

    def part(self, where: int, group: int) -> Document | None:
        """The part that belongs to one job; None if there is none."""
        document = self.document
        settings = [each for each in document.settings if self.has(where, group, each)]
        seen = [
            each
            for each in document.observations
            if self.where(each.span.line) == where and (self.group(each) == group or self.group(each) not in self.own)
        ]
        launches = [
            each
            for each in document.launches
            if each.group == group or (self.where(document.line(each.at.start)) == where and each.group not in self.own)
        ]
        if not settings and not seen and not launches:
            return None
        return msgspec.structs.replace(document, settings=settings, observations=seen, launches=launches)

    def has(self, where: int, group: int, setting: Setting) -> bool:
        """True if the job gets the setting."""
        if setting.group == group:
            return True
        if self.is_map(setting.group):
            users = [each for each in self.environments.values() if each.group == group or group not in self.own]
            return any(self.where(each.first) == where and self.names(each, setting.group) for each in users)
        shared = setting.group not in self.own
        return shared and self.where(self.document.line(setting.name_at.start)) == where

    def is_map(self, group: int) -> bool:
        return group in self.environments and bool(self.environments[group].config_map)

    def names(self, container: Environment, config_map: int) -> bool:
        """True if a container takes its variables from a ConfigMap."""
        name = self.environments[config_map].config_map
        if container.config_map:
            return False
        document = self.document
        text = document.text[document.line_place(container.first).start : document.line_place(container.last).end]
        return re.search(rf"(?<![\w.-]){re.escape(name)}(?![\w.-])", text) is not None

    def where(self, line: int) -> int:
        """The index of the YAML document that contains a line."""
        return bisect.bisect_right(self.document.begins, line)

    def group(self, seen: Observation) -> int:
        """The environment of a launch: that of its command, or of the container around its line; -1 for none."""
        command = self.document.command_of(seen)
        if command is not None:
            return command.group
        return next((each.group for each in _inside_out(self.environments.values(), seen.span.line)), -1)


def _inside_out(environments: Iterable[Environment], line: int) -> Iterator[Environment]:
    """The environments around a line, innermost first."""
    around = [each for each in environments if each.first <= line <= each.last]
    yield from sorted(around, key=lambda each: each.last - each.first)
