"""The blocks ``Limits:`` and ``Environment:`` of ``kubectl describe pod``: what a container may use, and its variables.

Source of the format: Kubernetes staging/src/k8s.io/kubectl/pkg/describe/describe.go (describeContainerResource,
describeContainerEnvVars). The pod is the host of the section; what else the command prints, messages know.
"""

from __future__ import annotations

import re

from ncdiag.base.spans import Section
from ncdiag.formats.shell import is_variable, without_secrets
from ncdiag.formats.units import size_bytes
from ncdiag.parsers._rows import Reading, Row, Rows, never

KIND = "kubectl_container"
COMMANDS: tuple[str, ...] = ()  # the pod and its events are read by others
ANCHOR = r"[ \t]{2,12}(?:Limits|Environment):[ \t]*$"
_MOST = 400


class _Blocks(Reading):
    """``memory_limit_bytes`` of the host from its limits, and its variables."""

    def __init__(self, section: Section) -> None:
        """No block has begun."""
        super().__init__(without_secrets(section))
        self.block = ""

    def heading(self, found: re.Match[str]) -> None:
        """The block that the lines below belong to."""
        self.block = found["block"]

    def value(self, found: re.Match[str]) -> None:
        """A resource or a variable."""
        name, text = found["name"], found["value"].strip()
        if self.block == "Limits" and name == "memory":
            self.observe("Host", memory_limit_bytes=size_bytes(text.removesuffix("i")))
        elif self.block == "Environment" and is_variable(name):
            self.observe("Setting", (name,), standing="manifest", is_set=True, text=text, origin="manifest")


ROWS = Rows(
    _Blocks,
    Row(ANCHOR.replace("(?:Limits|Environment)", "(?P<block>Limits|Environment)"), _Blocks.heading, belongs=never),
    Row(r"\s{4,16}(?P<name>[A-Za-z][\w./-]{0,200}):\s{1,60}(?P<value>\S.{0,4000})$", _Blocks.value),
    most=_MOST,
)
