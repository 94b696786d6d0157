"""The variables of a container in a part of a manifest, below no ``apiVersion``: ``- name: A`` and ``value: B``.

Source of the format: Kubernetes API reference (EnvVar). A whole manifest is read by `ncdiag.parsers.k8s_manifest`.
"""

from __future__ import annotations

import re

from ncdiag.base.patterns import lazy_regex
from ncdiag.base.spans import Section
from ncdiag.formats.shell import without_secrets
from ncdiag.parsers._rows import Reading, Row, Rows

KIND = "k8s_env"
COMMANDS: tuple[str, ...] = ()
_NAME = r"[A-Z][A-Z0-9]{1,30}_[A-Z0-9_]{1,60}"
_ITEM = rf"\s*- name: [\"']?(?P<name>{_NAME})[\"']?\s*(?:#.{{0,200}})?$"
_VALUE = r"\s+value: (?P<value>\"[^\"]{0,400}\"|'[^']{0,400}'|[^\s#][^\n]{0,400}?)\s*(?:\s#.{0,200})?$"
_BOTH = (
    rf"\s*- \{{\s*name: [\"']?(?P<name>{_NAME})[\"']?,\s*value: "
    r"(?P<value>\"[^\"]{0,400}\"|'[^']{0,400}'|[^\s,}]{1,400})\s*\}\s*(?:#.{0,200})?$"
)
_FROM = r"\s+(?:valueFrom|fieldRef|configMapKeyRef|secretKeyRef|resourceFieldRef|fieldPath|key|name|resource|optional):"
ANCHOR = rf"[ \t]*- (?:name: [\"']?{_NAME}[\"']?[ \t]*(?:#|$)|\{{ ?name: [\"']?{_NAME}[\"']?, ?value: )"
_MOST = 400
_QUOTED = lazy_regex(r"([\"'])(.*)\1$")


class _Variables(Reading):
    """A Setting for each variable with a value."""

    def __init__(self, section: Section) -> None:
        """Values may be secrets, which are left out."""
        super().__init__(without_secrets(section))
        self.name: str | None = None

    def item(self, found: re.Match[str]) -> None:
        """The next variable."""
        self.name = found["name"]

    def value(self, found: re.Match[str]) -> bool:
        """Its value."""
        name, self.name = self.name, None
        return name is not None and self._set(name, found["value"])

    def both(self, found: re.Match[str]) -> bool:
        """A variable with its value in one line."""
        return self._set(found["name"], found["value"])

    def _set(self, name: str, value: str) -> bool:
        quoted = _QUOTED.match(value)
        text = quoted[2] if quoted else value
        self.observe("Setting", (name,), standing="manifest", is_set=True, text=text, origin="manifest")
        return True


ROWS = Rows(
    _Variables, Row(_ITEM, _Variables.item), Row(_VALUE, _Variables.value), Row(_BOTH, _Variables.both), Row(_FROM),
    most=_MOST,
)  # fmt: skip
continues, parse = ROWS.continues, ROWS.parse
