"""``fi_info`` (``-p efa``, ``-l``): the providers of libfabric, and the devices that they work on.

Source of the format: libfabric util/info.c (print_short_info, print_providers; ``fi_getinfo: -61`` where nothing fits);
the EFA provider names its domains after the RDMA device (``rdmap0s6-rdm``: prov/efa/src/efa_prov_info.c).
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from ncdiag.base.patterns import lazy_regex
from ncdiag.base.spans import Section
from ncdiag.parsers._rows import Reading, Row, Rows, at_start

KIND = "fi_info"
COMMANDS: tuple[str, ...] = ("fi_info",)
_NAMES = r"(?:efa|tcp|udp|verbs|shm|sockets|psm[23]?|opx|cxi|gni|usnic|lnx|ucx)(?:;ofi_\w{2,12}){0,3}"
ANCHOR = rf"provider: {_NAMES}[ \t]*$|fi_getinfo: -\d{{1,4}}(?: \([A-Z][\w /]{{1,60}}\))?[ \t]*$"

_LISTED = lazy_regex(r"(?P<name>[a-z][\w;-]{1,40}):\s*$")
_VALUE = lazy_regex(r"    (?P<name>fabric|domain|version|type|protocol): (?P<value>\S{1,120})\s*$")
_ASKED = lazy_regex(r"\s(?:-p\s{0,4}|--provider[= ])(?P<name>[a-z][\w;-]{0,40})")
_DEVICE = lazy_regex(r"(?P<hca>[A-Za-z][\w.]{0,60}?)-(?:rdm|dgrm)$")
_NARROW = lazy_regex(r"\s(?:-[cmtadfnsPi]\b|--(?:caps|mode|ep_type|addr_format|domain|fabric|node|port|src_addr)\b)")
_EFA, _NO_DATA, _NOT_BUILT = "efa", 61, 38
_LIMIT = 20_000


class _Providers(Reading):
    """``libfabric_providers`` of the host, and the adapters of the provider ``efa``.

    A provider is known to be missing where it was asked for by name, or all were listed.
    """

    def __init__(self, section: Section) -> None:
        """No provider has begun."""
        super().__init__(section)
        self.offered: dict[str, bool] = {}
        self.devices: dict[str, int] = {}
        self.provider, self.first, self.none = "", 0, False

    def begun(self, found: re.Match[str]) -> None:
        """The next provider, whose values are below."""
        self.provider = found["name"]
        self.first = self.first if self.offered else self.index

    def value(self, found: re.Match[str]) -> None:
        """A value shows that the provider above is there: its name alone may be that of any YAML."""
        self.offered |= dict.fromkeys(self.provider.split(";") if self.provider else (), True)
        device = _DEVICE.match(found["value"]) if found["name"] == "domain" else None
        if device and self.provider == _EFA:
            self.devices.setdefault(device["hca"], self.index)

    def nothing(self, found: re.Match[str]) -> None:
        """The error that there is no such provider."""
        self.none, self.first = int(found["errno"]) in {_NO_DATA, _NOT_BUILT}, self.index

    def end(self) -> None:
        """The providers, then the adapters."""
        command = self.section.command or ""
        asked = _ASKED.search(command)
        if self.none and asked and not self.offered:
            self.offered[asked["name"]] = False
        if self.offered and command and not asked and not _NARROW.search(command):
            self.offered.setdefault(_EFA, False)
        if self.offered:
            self.observe("Host", at=self.first, libfabric_providers=self.offered)
        for name, index in self.devices.items():
            self.observe("Hca", (name,), at=index, driver=_EFA)


def _in_list(lines: Sequence[str], line: str) -> bool:
    """A name below the values of another, or in a list of names alone."""
    return at_start(lines, line) or bool(_VALUE.match(lines[-1]) or _LISTED.match(lines[0]))


ROWS = Rows(
    _Providers,
    Row(r"provider: (?P<name>[a-z][\w;-]{1,40})\s*$", _Providers.begun),
    Row(_LISTED.pattern, _Providers.begun, belongs=_in_list),
    Row(_VALUE.pattern, _Providers.value, belongs=lambda lines, line: not at_start(lines, line)),
    # after the echoed command the number is enough
    Row(r"(?:fi_getinfo: )?-(?P<errno>\d{1,4})(?: \(.{1,60}\))?\s*$", _Providers.nothing, belongs=at_start),
    most=_LIMIT,
)
