"""``cat`` or ``ls`` below /sys/kernel/mm/memory_peers and /sys/module/nvidia_peermem: the peer memory clients.

NCCL's own test (src/transport/net_ib.cc, ncclIbGdrSupport): one of memory_peers/nv_mem/version,
memory_peers/nv_mem_nc/version and, in newer releases, /sys/module/nvidia_peermem/version exists.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from ncdiag.base.spans import Section, Span, span
from ncdiag.facts.observe import Observation, Parsed, Standing

KIND = "peermem"
_FOLDER = "/sys/kernel/mm/memory_peers"
_MODULE = "/sys/module/nvidia_peermem"
_PATHS = tuple(
    f"{base}{end}"
    for base in (_FOLDER, f"{_FOLDER}/nv_mem", f"{_FOLDER}/nv_mem_nc", _MODULE, "/sys/module/nv_peer_mem")
    for end in ("", "/", "/version")
)
COMMANDS: tuple[str, ...] = tuple(
    f"{tool} {path}"
    for path in _PATHS
    for tool in ("cat", "ls", "ls -l", "ls -la", "ls -al", "ls -d", "stat", "ll", "tree")
)
_PATH = r"/sys/(?:kernel/mm/memory_peers|module/(?:nvidia_peermem|nv_peer_mem))[\w/]*"
_BEFORE = r"(?:cat|ls|stat|head|find): (?:cannot (?:access|statx?|open) )?'?"
_BEHIND = r"'?(?: for reading)?: No such file or directory"
ANCHOR = f"{_BEFORE}{_PATH}{_BEHIND}"

_ERROR = re.compile(f"{_BEFORE}(?P<path>{_PATH}){_BEHIND}")
_ASKED = re.compile(_PATH)
_VERSION = re.compile(r"\s*\d[\w.-]{0,30}\s*$")
_ENTRY = re.compile(r"(?:.*\s)?(?P<name>nv_mem_nc|nv_mem)/?\s*$")
_NOISE = re.compile(r"\s*total \d+\s*$")


def continues(lines: Sequence[str], line: str) -> bool:
    """Another complaint about such a path, a version, names of clients."""
    return any(pattern.match(line) for pattern in (_ERROR, _VERSION, _ENTRY, _NOISE))


def parse(section: Section) -> Parsed:
    """``peermem_registered`` and, from the paths of modules, which are loaded and which are not."""
    asked = _ASKED.search(section.command or "")
    path = asked[0].rstrip("/") if asked else None
    found: list[Observation] = []
    unread: list[int] = []
    for index, line in enumerate(section.lines):
        error = _ERROR.match(line)
        read = _missing(error["path"].rstrip("/").removesuffix("/version")) if error else _present(path, line)
        if read:
            found.append(_observation(section, section.span(index), read))
        elif read is None and line.strip() and not _NOISE.match(line):
            unread.append(index)
    if path == _FOLDER and not found and not unread:
        line_span = (
            section.span(0) if section.lines else span(section.source, section.first_line, section.command or "")
        )
        found.append(_observation(section, line_span, {"peermem_registered": False}))
    return Parsed(observations=tuple(found), unread=tuple(unread))


def _observation(section: Section, where: Span, fields: dict[str, Any]) -> Observation:
    if "module" in fields:
        return Observation(entity="KernelModule", key=(fields["module"],), host=section.host, span=where)
    # that a client is registered outweighs that the file of another one is missing
    standing: Standing = "conf" if fields.get("peermem_registered") is False else "live"
    return Observation(entity="Host", host=section.host, span=where, fields=fields, standing=standing)


def _missing(path: str) -> dict[str, Any]:
    """What the absence of a path says; that of nv_mem_nc alone says nothing, for older modules register only nv_mem."""
    if path.startswith("/sys/module/"):
        return {"absent_modules": [path.split("/")[3]]}
    return {} if path.endswith("/nv_mem_nc") else {"peermem_registered": False}


def _present(path: str | None, line: str) -> dict[str, Any] | None:
    """What the output of a command about ``path`` says; None when the line is no such output."""
    entry = _ENTRY.match(line)
    if entry and (path is None or path == _FOLDER or path.endswith(entry["name"])):
        return {"peermem_registered": True} if path else None
    if path is None or not (_VERSION.match(line) or line.strip() in {"version", path, f"{path}/"}):
        return None
    if path.startswith("/sys/module/"):
        return {"module": path.split("/")[3]}
    return None if path == _FOLDER else {"peermem_registered": True}
