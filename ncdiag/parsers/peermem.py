"""``cat`` or ``ls`` below /sys/kernel/mm/memory_peers and /sys/module/nvidia_peermem: the peer memory clients.

NCCL's own test (src/transport/net_ib.cc, ncclIbGdrSupport): one of memory_peers/nv_mem/version,
memory_peers/nv_mem_nc/version and, in newer releases, /sys/module/nvidia_peermem/version exists.
"""

from __future__ import annotations

import re

from ncdiag.base.patterns import lazy_regex
from ncdiag.base.spans import Section, span
from ncdiag.facts.observe import Observation, Standing
from ncdiag.parsers._rows import Reading, Row, Rows, never

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

_ASKED = lazy_regex(_PATH)


class _Clients(Reading):
    """``peermem_registered`` and, from the paths of modules, which are loaded and which are not."""

    def __init__(self, section: Section) -> None:
        """Lines without a path are about the one in the command."""
        super().__init__(section)
        asked = _ASKED.search(section.command or "")
        self.path = asked[0].rstrip("/") if asked else ""

    def missing(self, error: re.Match[str]) -> None:
        """A path that does not exist; nv_mem_nc alone says nothing, for older modules register only nv_mem."""
        path = error["path"].rstrip("/").removesuffix("/version")
        if path.startswith("/sys/module/"):
            self.observe("Host", absent_modules=[path.split("/")[3]])
        elif not path.endswith("/nv_mem_nc"):
            self._registered(yes=False)

    def client(self, entry: re.Match[str]) -> bool:
        """The folder of a client."""
        there = bool(self.path) and (self.path == _FOLDER or self.path.endswith(entry["name"]))
        if there:
            self._registered(yes=True)
        return there

    def version(self, _: re.Match[str]) -> bool:
        """The module, or the client, that has the version."""
        if self.path.startswith("/sys/module/"):
            self.observe("KernelModule", (self.path.split("/")[3],))
        elif self.path and self.path != _FOLDER:
            self._registered(yes=True)
        else:
            return False
        return True

    def name(self, found: re.Match[str]) -> bool:
        """What ``ls`` prints of a path that exists."""
        return self.line.strip() in {"version", self.path, f"{self.path}/"} and self.version(found)

    def end(self) -> None:
        """An empty folder has no client."""
        if self.path == _FOLDER and not self.found and not self.unread:
            self.index = 0
            self._registered(yes=False)

    def _registered(self, *, yes: bool) -> None:
        section, lines = self.section, self.section.lines
        # that a client is registered outweighs that the file of another one is missing
        standing: Standing = "live" if yes else "conf"
        at = section.span(self.index) if lines else span(section.source, section.first_line, section.command or "")
        fields = {"peermem_registered": yes}
        self.found.append(Observation(entity="Host", host=section.host, span=at, fields=fields, standing=standing))


ROWS = Rows(
    _Clients,
    Row(f"{_BEFORE}(?P<path>{_PATH}){_BEHIND}", _Clients.missing),
    Row(r"\s*\d[\w.-]{0,30}\s*$", _Clients.version),
    Row(r"(?:.*\s)?(?P<name>nv_mem_nc|nv_mem)/?\s*$", _Clients.client),
    Row(r"\s*total \d+\s*$"),
    Row(r"\s*(?:version|/sys/\S{1,200})\s*$", _Clients.name, belongs=never),
)
