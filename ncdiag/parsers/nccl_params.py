"""What ``ncclParamDumpAll`` prints (NCCL 2.31 and later): the registry of parameters, with the values in force.

Source of the format: NCCL src/param/c_api.cc and param.cc of 2.31 and 2.32: the key with its type and flags, then
``Current value=... set_by=... default=...``, then what is accepted. ``set_by`` is ``Default`` where no source gave one
or NCCL refused it; a parameter is in the registry once the library knows it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from ncdiag.base.spans import Section
from ncdiag.facts.observe import Parsed, observe
from ncdiag.formats.shell import hide_secrets

KIND = "nccl_params"
COMMANDS: tuple[str, ...] = ()
INTERLEAVED = True  # threads of the library go on writing the log
ANCHOR = r"=== ncclParam Registry Dump ===[ \t]*$"

_HEAD = re.compile(ANCHOR)
_KEY = re.compile(r"(NCCL_\w{1,120}) \([\w:* ]{1,60}\)(?: \[[^\]]{0,120}\])?(?: .{0,4000})?$")
_VALUE = re.compile(r"    Current value=(?P<value>.{0,2000}?) set_by=(?P<by>\w{1,40}) default=(?P<default>.{0,2000})$")
_MORE = re.compile(r"    Accepted value:|        \S")
_UNSET = ("<unset>", "<unknown>")


def continues(lines: Sequence[str], line: str) -> bool:
    """Keys, the lines indented below them, blank lines between."""
    return not line.strip() or any(pattern.match(line) for pattern in (_KEY, _VALUE, _MORE))


def parse(section: Section) -> Parsed:
    """``nccl_parameters`` of the host: each key with its value, who set it, and its default."""
    found: list[dict[str, str | None]] = []
    name = None
    unread: list[int] = []
    for index, line in enumerate(section.lines):
        if key := _KEY.match(line):
            name = key[1]
        elif (told := _VALUE.match(line)) and name:
            value, default = (None if told[part] in _UNSET else told[part] for part in ("value", "default"))
            shown = None if value is None else hide_secrets(f"{name}={value}").partition("=")[2]
            found.append({"name": name, "value": shown, "set_by": told["by"], "default": default})
            name = None
        elif line.strip() and not _MORE.match(line) and not _HEAD.match(line):
            unread.append(index)
    if not found:
        return Parsed(unread=tuple(unread))
    return Parsed(observations=(observe(section, 0, "Host", nccl_parameters=found),), unread=tuple(unread))
