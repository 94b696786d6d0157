"""``fi_info`` (``-p efa``, ``-l``): the providers of libfabric, and the devices that they work on.

Source of the format: libfabric util/info.c (print_short_info, print_providers; ``fi_getinfo: -61`` where nothing fits);
the EFA provider names its domains after the RDMA device (``rdmap0s6-rdm``: prov/efa/src/efa_prov_info.c).
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from ncdiag.base.spans import Section
from ncdiag.facts.observe import Observation, Parsed, observe

KIND = "fi_info"
COMMANDS: tuple[str, ...] = ("fi_info",)
_NAMES = r"(?:efa|tcp|udp|verbs|shm|sockets|psm[23]?|opx|cxi|gni|usnic|lnx|ucx)(?:;ofi_\w{2,12}){0,3}"
ANCHOR = rf"provider: {_NAMES}[ \t]*$|fi_getinfo: -\d{{1,4}}(?: \([A-Z][\w /]{{1,60}}\))?[ \t]*$"

_PROVIDER = re.compile(r"provider: (?P<name>[a-z][\w;-]{1,40})\s*$")
_LISTED = re.compile(r"(?P<name>[a-z][\w;-]{1,40}):\s*$")
_VALUE = re.compile(r"    (?P<name>fabric|domain|version|type|protocol): (?P<value>\S{1,120})\s*$")
# behind the echoed command the number is enough
_NONE = re.compile(r"(?:fi_getinfo: )?-(?P<errno>\d{1,4})(?: \(.{1,60}\))?\s*$")
_ASKED = re.compile(r"\s(?:-p\s{0,4}|--provider[= ])(?P<name>[a-z][\w;-]{0,40})")
_DEVICE = re.compile(r"(?P<hca>[A-Za-z][\w.]{0,60}?)-(?:rdm|dgrm)$")
_NARROW = re.compile(r"\s(?:-[cmtadfnsPi]\b|--(?:caps|mode|ep_type|addr_format|domain|fabric|node|port|src_addr)\b)")
_EFA, _NO_DATA, _NOT_BUILT = "efa", 61, 38
_LIMIT = 20_000


def continues(lines: Sequence[str], line: str) -> bool:
    """Providers with their values, indented."""
    if not any(text.strip() for text in lines):
        return bool(_NONE.match(line) or _PROVIDER.match(line) or _LISTED.match(line))
    listed = _LISTED.match(line) and (_VALUE.match(lines[-1]) or _LISTED.match(lines[0]))
    return len(lines) < _LIMIT and bool(_VALUE.match(line) or _PROVIDER.match(line) or listed)


def parse(section: Section) -> Parsed:
    """``libfabric_providers`` of the host, and the adapters of the provider ``efa``.

    A provider is known to be missing where it was asked for by name, or all were listed.
    """
    asked = _ASKED.search(section.command or "")
    offered: dict[str, bool] = {}
    devices: dict[str, int] = {}
    provider, first, none = "", 0, False
    unread: list[int] = []
    for index, line in enumerate(section.lines):
        begun, value, nothing = _PROVIDER.match(line) or _LISTED.match(line), _VALUE.match(line), _NONE.match(line)
        if begun:
            provider = begun["name"]
            first = first if offered else index
        elif value:
            offered |= dict.fromkeys(provider.split(";") if provider else (), True)  # a name alone is any YAML
            device = _DEVICE.match(value["value"]) if value["name"] == "domain" else None
            if device and provider == _EFA:
                devices.setdefault(device["hca"], index)
        elif nothing:
            none, first = int(nothing["errno"]) in {_NO_DATA, _NOT_BUILT}, index
        elif line.strip():
            unread.append(index)
    if none and asked and not offered:
        offered[asked["name"]] = False
    if offered and section.command and not asked and not _NARROW.search(section.command):
        offered.setdefault(_EFA, False)
    found: list[Observation] = [observe(section, first, "Host", libfabric_providers=offered)] if offered else []
    found += [observe(section, index, "Hca", (name,), driver=_EFA) for name, index in devices.items()]
    return Parsed(observations=tuple(found), unread=tuple(unread))
