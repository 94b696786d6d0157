"""What ``ncclParamDumpAll`` prints (NCCL 2.31 and later): the registry of parameters, with the values in force.

Source of the format: NCCL src/param/c_api.cc and param.cc of 2.31 and 2.32: the key with its type and flags, then
``Current value=... set_by=... default=...``, then what is accepted. ``set_by`` is ``Default`` where no source gave one
or NCCL refused it; a parameter is in the registry once the library knows it.
"""

from __future__ import annotations

import re

from ncdiag.base.spans import Section
from ncdiag.formats.shell import hide_secrets
from ncdiag.parsers._rows import BLANK, Reading, Row, Rows, never

KIND = "nccl_params"
COMMANDS: tuple[str, ...] = ()
INTERLEAVED = True  # threads of the library go on writing the log
ANCHOR = r"=== ncclParam Registry Dump ===[ \t]*$"

_KEY = r"(NCCL_\w{1,120}) \([\w:* ]{1,60}\)(?: \[[^\]]{0,120}\])?(?: .{0,4000})?$"
_VALUE = r"    Current value=(?P<value>.{0,2000}?) set_by=(?P<by>\w{1,40}) default=(?P<default>.{0,2000})$"
_UNSET = ("<unset>", "<unknown>")


class _Parameters(Reading):
    """``nccl_parameters`` of the host: each key with its value, who set it, and its default."""

    def __init__(self, section: Section) -> None:
        """No key was read yet."""
        super().__init__(section)
        self.parameters: list[dict[str, str | None]] = []
        self.name: str | None = None

    def key(self, found: re.Match[str]) -> None:
        """A key, whose value is below."""
        self.name = found[1]

    def value(self, found: re.Match[str]) -> bool:
        """The value of the key above."""
        if self.name is None:
            return False
        value, default = (None if found[part] in _UNSET else found[part] for part in ("value", "default"))
        shown = None if value is None else hide_secrets(f"{self.name}={value}").partition("=")[2]
        self.parameters.append({"name": self.name, "value": shown, "set_by": found["by"], "default": default})
        self.name = None
        return True

    def end(self) -> None:
        """All of them as one observation."""
        if self.parameters:
            self.observe("Host", at=0, nccl_parameters=self.parameters)


ROWS = Rows(
    _Parameters,
    Row(_KEY, _Parameters.key),
    Row(_VALUE, _Parameters.value),
    Row(r"    Accepted value:|        \S"),
    Row(ANCHOR, belongs=never),
    BLANK,
)
