"""One message, without its prefix, to what it tells: the forms of every release (NVIDIA/nccl tags v2.3.5 to v2.30.7).

A `Reading` is plain data, so that equal messages of many ranks are read once.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Callable
from typing import Any

import msgspec

from ncdiag.base.patterns import lazy_regex
from ncdiag.facts.scalars import nccl_bus_id
from ncdiag.messages.match import default_matcher
from ncdiag.parsers.nccl_log import early
from ncdiag.parsers.nccl_log.lines import ORIGINS
from ncdiag.parsers.nccl_log.lists import devices, interfaces
from ncdiag.parsers.nccl_log.prefix import short_path

EVENTS = {
    "error-return": {"code": "int", "source_file": "str", "source_line": "int"},
    "ring-order": {"channel": "int", "channels": "int", "nranks": "int"},
    "unknown-warn": {},
}
"""Events that are told by the form of a line, and the types of their fields."""
CHOSEN, CARRIED, STARTED, LISTED = 4, 3, 2, 1
"""How sure a line makes which network is used: it says so; a channel uses it; it was started; it listed its devices."""
IN_PROGRESS = "7"
"""The result code that is not an error (nccl.h, ncclInProgress)."""


class Init(msgspec.Struct, frozen=True):
    """A line of a communicator's life. ``pointer`` names it within its process, ``comm`` (commId) over all of them."""

    rank: int
    nranks: int
    pointer: str
    comm: str | None = None
    cuda_dev: int | None = None
    bus_id: str | None = None
    parent: str | None = None
    nhosts: int | None = None
    state: str | None = None
    branch: str | None = None  # the number (or UNNUMBERED) and the color of the split of ``parent``, a pointer
    of_parent: int | None = None  # the rank in the parent that was shrunk
    aborted: bool = False


class Told(msgspec.Struct, frozen=True):
    """An event, as the catalogue or the form of the line names it."""

    event: str
    origin: str
    kind: str | None
    fields: dict[str, Any] = {}


class Reading(msgspec.Struct, frozen=True):
    """What a message tells: values of the rank's fields, more entries of its lists, a setting, an event ...

    ``versions`` bounds the release; ``for_sure`` is an exact version as printed.
    """

    fields: dict[str, Any] = {}
    lists: dict[str, list[Any]] = {}
    net: tuple[int, str] | None = None
    setting: tuple[str, str] | None = None
    init: Init | None = None
    told: Told | None = None
    fails: bool = False
    versions: str = ""
    for_sure: str = ""
    library: str | None = None

    def of_damaged(self) -> Reading:
        """What is left where the message is not ASCII, as all names are: bytes were lost, or it quotes the system."""
        return Reading(told=self.told, fails=self.fails, versions=self.versions)


NOTHING = Reading()
UNNUMBERED = "?"
"""In place of the number of a split, which NCCL prints since 2.24."""

_GIDS = lazy_regex(
    r"localGid[ =]{0,3}(?P<local_gid>[\da-fA-F:.]{2,45})"
    r"(?:,?[ ]{0,3}remoteGids?[ =]{0,3}(?P<remote_gid>[\da-fA-F:.]{2,45}))?"
)
_DISTANCE = lazy_regex(r"[A-Z0-9]{3,4}$")


def _bootstrap(found: re.Match[str]) -> Reading:
    listed = interfaces(found["what"])
    versions = "<2.24" if found["colon"] == " :" else ">=2.24"
    if found["what"].lstrip().startswith("[") and versions == "<2.24":
        versions = ">=2.4,<2.8"
    elif versions == "<2.24":
        versions = ">=2.8,<2.24"
    return Reading(fields={"bootstrap_interface": listed[0]} if listed else {}, versions=versions)


def _socket(found: re.Match[str]) -> Reading:
    listed = interfaces(found["what"])
    return Reading(fields={"socket_interfaces": listed} if listed else {}, net=(LISTED, "Socket"), versions=">=2.4")


def _ib(found: re.Match[str]) -> Reading:
    listed, oob = devices(found["what"]), interfaces(found["oob"])
    gaps = [item["index"] for item in listed] != list(range(len(listed)))  # somebody left some out
    name = "net_devices_partial" if gaps else "net_devices"
    fields: dict[str, Any] = {name: listed, "relaxed_ordering": True if "[RO]" in found["what"] else None}
    if oob and listed:  # without a device RDMA is not used, and neither is its side channel
        fields["oob_interface"] = oob[0]
    merged, ordered = "={" in found["what"], "[RO]" in found["what"]
    versions = ">=2.20,<2.24" if merged else ">=2.12" if ordered else ">=2.4"
    return Reading(fields=_known(fields), net=(STARTED, "IB") if listed else None, versions=versions)


def _ib_cut(found: re.Match[str]) -> Reading:
    """A list that was cut off: what is named is there, what more there is nobody knows."""
    listed = devices(found["what"])
    return Reading(fields={"net_devices_partial": listed} if listed else {}, net=(STARTED, "IB"))


def _gdr_hca(found: re.Match[str]) -> Reading:
    if found["net"] == "Socket":
        return NOTHING  # sockets never have it: the line says nothing
    verdict = {"hca": found["hca"], "enabled": found["verdict"] == "Enabled", "reason": found["reason"]}
    return Reading(lists={"gdr": [_known(verdict)]}, versions=">=2.5,<2.13" if found["reason"] else ">=2.13")


def _gdr_pair(found: re.Match[str]) -> Reading:
    if found["net"] == "Socket":
        return NOTHING
    strict = found["sign"] in {"<", ">="}  # up to 2.5 the printed level is the first distance that is too far
    verdict = {
        "hca": found["name"] or found["hca"], "gpu": found["gpu"],
        "enabled": found["verdict"] == "Enabled", "reason": found["reason"],
        "distance": _int(found["distance"]), "limit": int(found["limit"]) - strict if found["limit"] else None,
    }  # fmt: skip
    return Reading(lists={"gdr": [_known(verdict)]}, versions="<2.6" if strict else "<2.30")


def _gid(found: re.Match[str]) -> Reading:
    use = {
        "device": int(found["dev"]), "port": int(found["port"]), "index": int(found["index"]),
        "local_gid": _gid_text(found["high"], found["low"]),
    }  # fmt: skip
    return Reading(lists={"gids_used": [_known(use)]})


def _gid_text(high: str, low: str) -> str | None:
    """The two 64-bit halves are network order read as little-endian numbers: turn the bytes round again."""
    try:
        packed = int(high, 16).to_bytes(8, "little") + int(low, 16).to_bytes(8, "little")
    except (ValueError, OverflowError):
        return None
    address = ipaddress.IPv6Address(packed)
    return f"::ffff:{address.ipv4_mapped}" if address.ipv4_mapped else str(address)


def _comm(found: re.Match[str]) -> Reading:
    text = found.string
    named, state = dict(reversed(_OF_COMM.findall(text))), None  # the first of each name
    if text.endswith("Init START"):
        state = "started"
    elif text.endswith(("Init COMPLETE", "- COMPLETE")):
        state = "ready"  # its end says only that it was: a failure may lie between
    elif "cudaDev" not in text and "nNodes" not in named:
        state = "started"  # 2.3: the line itself is the start
    init = Init(
        int(found["rank"]), int(found["nranks"]), found["pointer"], named.get("commId"),
        _int(named.get("cudaDev")), nccl_bus_id(int(named["busId"], 16)) if "busId" in named else None,
        named.get("parent"), _int(named.get("nNodes")), state,
        f"{named.get('Count', UNNUMBERED)}.{named['color']}" if {"parent", "color"} <= named.keys() else None,
        int(key[1]) if "Shrink" in text and (key := _KEY.search(text)) is not None else None,
        text.endswith(("Abort START", "Abort COMPLETE")),
    )  # fmt: skip
    told = _told(text, "INFO")[0] if not text.endswith(("Init START", "Init COMPLETE")) else None
    return Reading(init=init, told=told, versions=_init_versions(found["api"], text))


def _init_versions(api: str | None, text: str) -> str:
    if text.startswith("[Rank ") or "childCount" in text:
        return ">=2.29"
    if "splitCount" in text:
        return ">=2.24,<2.29"
    if "nRanks" in text:
        return ">=2.20"
    if api is None and text.endswith("Init START"):
        return ">=2.18.3,<2.21"
    if api is not None:
        return ">=2.21"
    return ""


def _setting(found: re.Match[str]) -> Reading:
    whole = _NEXT_LINE.split(found["value"], maxsplit=1)[0]
    stopped = re.fullmatch(r"(.*[^.])\.", whole)  # param.cc ends its sentence with a full stop
    value = stopped[1] if stopped else whole
    if stopped and re.fullmatch(r"\d{19,20}", value) and int(value) >= 1 << 63:
        value = str(int(value) - (1 << 64))  # before 2.12.10 a negative number was printed as unsigned
    return Reading(setting=(found["name"], value))


def _plugin_setting(found: re.Match[str]) -> Reading:
    return Reading(setting=("NCCL_NET_PLUGIN", found["value"]))


def _network(found: re.Match[str]) -> Reading:
    return Reading(net=(CHOSEN, found["name"]), told=_told(found.string, "INFO")[0])


def _network_started(found: re.Match[str]) -> Reading:
    return Reading(net=(STARTED, found["name"]))


def _nic_distance(found: re.Match[str]) -> Reading:
    words = found["distances"].split()
    told = {"nic_distances": words} if words and all(_DISTANCE.match(word) for word in words) else {}
    return Reading(fields=told, net=(CARRIED, found["name"]), versions=">=2.4,<2.5")


def _plugin(found: re.Match[str]) -> Reading:
    return Reading(fields={"net_plugin": found["name"]}, told=_told(found.string, "INFO")[0])


def _ofi(found: re.Match[str]) -> Reading:
    return Reading(net=(STARTED, "AWS Libfabric"), told=_told(found.string, "INFO")[0])


def _version(found: re.Match[str]) -> Reading:
    return Reading(for_sure=found["version"], library="NCCL")


def _rccl_version(found: re.Match[str]) -> Reading:
    return Reading(for_sure=found["version"], library="RCCL")


def _returned(found: re.Match[str]) -> Reading:
    fields = {"code": int(found["code"]), "source_file": short_path(found["file"]), "source_line": int(found["line"])}
    function = found["file"].rsplit("/", 1)[-1].split(".")[0]
    at_top = found["thread"] is not None or function in {"init", "group", "enqueue"}
    told, fails = Told("error-return", "nccl", "echo", fields), at_top and found["code"] not in {"0", IN_PROGRESS}
    return Reading(told=told, fails=fails, versions=">=2.30.7" if found["function"] else "")


def _ring_order(found: re.Match[str]) -> Reading:
    nranks = len(found["order"].split())
    fields = {"channel": int(found["channel"]), "channels": _int(found["channels"]), "nranks": nranks}
    return Reading(fields={"nranks": nranks}, told=Told("ring-order", "nccl", "fact", _known(fields)))


def _rank_alone(found: re.Match[str]) -> Reading:
    """2.3 tells the rank before there is a communicator (src/init.cu of v2.3.5-5)."""
    init = Init(int(found["rank"]), int(found["nranks"]), "", state="started")
    return Reading(init=init, versions=early.RELEASES)


def _early(form: Callable[[re.Match[str]], early.Values]) -> Callable[[re.Match[str]], Reading]:
    return lambda found: Reading(**form(found), versions=early.RELEASES)


def _known(fields: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value is not None}


def _int(text: str | None) -> int | None:
    return int(text) if text is not None else None


Form = tuple[str, re.Pattern[str], Callable[[re.Match[str]], Reading]]

_GDR_HCA = (
    r"NET/(?P<net>[^/]{1,40}?) : GPU Direct RDMA (?P<verdict>Enabled|Disabled) for HCA \d+ '(?P<hca>[^']*)'"
    r"(?: \((?P<reason>[^()]*)\))?"
)
_GID = (
    r"NET/IB: .*?Dev (?P<dev>\d{1,4}) Port (?P<port>\d{1,3}) (?:qpn|qp_num) \d+ mtu \d+ "
    r".*?GID (?P<index>-?\d{1,6}) \((?P<high>[0-9A-Fa-f]{1,16})/(?P<low>[0-9A-Fa-f]{1,16})\)"
)
_FORMS: tuple[Form, ...] = tuple(
    (start, lazy_regex(pattern), read)
    for start, pattern, read in (
        ("Boo", r"Bootstrap(?P<colon> ?:) Using(?P<what> .*)", _bootstrap),
        ("NET", r"NET/Socket ?: Using(?P<what> ?\[.*)", _socket),
        ("NET", r"NET/IB ?: Using(?P<what> .*?) ?; OOB (?P<oob>.*)", _ib),
        ("NET", r"NET/IB ?: Using(?P<what> ?\[[^;]*)$", _ib_cut),
        ("NET", _GDR_HCA, _gdr_hca),
        ("NET", _GID, _gid),
        ("NET", r"NET/Plugin: Loaded net plugin (?P<name>.+?) \(v\d+\)", _plugin),
        ("NET", r"NET/OFI (?:Initializing|Using|Selected) .*", _ofi),
        ("P2P", r"P2P plugin (?P<name>\S+)", _plugin),
        ("ran", r"rank (?P<rank>\d{1,9}) nranks (?P<nranks>\d{1,9})$", _rank_alone),
        ("Usi", r"Using (?:network|(?:in|ex)ternal Network) (?P<name>.+)", _network),
        ("Ass", r"Assigned NET plugin (?P<name>.+?) to comm", _network),
        ("Ini", r"Initialized NET plugin (?P<name>.+)", _network_started),
        ("CUD", r"CUDA Dev \d+\[\d+\], (?P<name>.+?) NIC distance ?:?(?P<distances>[A-Z0-9 ]{0,400})", _nic_distance),
        ("Plu", r"Plugin name set by env to (?P<value>\S+)", _plugin_setting),
        ("Cha", r"Channel (?P<channel>\d+)(?:/(?P<channels>\d+))? : +(?P<order>\d+(?: +\d+)+)$", _ring_order),
        *((start, pattern, _early(form)) for start, pattern, form in early.FORMS),
    )
)  # fmt: skip
_GDR_PAIR = lazy_regex(
    r"(?:NET/(?P<net>[^/]{1,40}?) : )?GPU Direct RDMA (?P<verdict>Enabled|Disabled) for "
    r"(?:GPU )?(?P<gpu>\S+)(?: \(rank \d+\))? (?:/ HCA |- )(?P<hca>\S+)(?: '(?P<name>[^']*)')? "
    r"\((?:distance (?P<distance>\d{1,4}) (?P<sign>[<>=]+) (?P<limit>\d{1,4})|(?P<reason>[^()]*))"
)
_COMM = lazy_regex(
    r"(?:\[Rank \d+\] )?(?:(?P<api>nccl\w+) )?comm (?P<pointer>0x[\w.]*) "
    r"rank (?P<rank>\d{1,9}) n[rR]anks (?P<nranks>\d{1,9})"
)
_OF_COMM = lazy_regex(
    r"(?: |split|child)(commId|parent|cudaDev|busId|nNodes|Count|color) (?=((?:(?<= commId )|(?<= parent ))0x[\w.]+"
    r"|(?<= cudaDev )\d{1,4}|(?<= busId )[0-9a-f]{1,12}\b|(?<= nNodes )\d{1,6}|(?:(?<=Count )|(?<=color ))\d{1,10}))"
)
_KEY = lazy_regex(r" key (\d{1,7})\b")
"""The key of a child; ncclCommShrink gives the rank in the parent (src/init.cc)."""
_SETTING = lazy_regex(r"(?P<name>[NR]CCL_\w{1,64}) set (?:(?:by|from) environment )?to (?P<value>.*)")
_NEXT_LINE = lazy_regex(r"\s*[;,|]?\s+(?:\S{1,200}\s)?[NR]CCL INFO\s")
"""What follows a value where somebody wrote several lines of a log into one."""
_VERSION = lazy_regex(r"(?:NCCL )?version (?P<version>\d+\.\d+\.\d+[\w.+-]*)")
_RCCL = lazy_regex(r"RCCL version ?:? ?(?P<version>\d+\.\d+(?:\.\d+)?)")
_RETURN = lazy_regex(
    r"(?P<file>[^\s:]{1,300}):(?P<line>\d{1,6}) (?:\((?P<function>\w{1,100})\) )?-> (?P<code>\d{1,4})"
    r"(?: \([^()]*\))?(?: \[(?P<thread>[^\]]{1,60})\])?\s*$"
)
_PAIRS: tuple[tuple[re.Pattern[str], Callable[[re.Match[str]], Reading]], ...] = (
    (_COMM, _comm), (_SETTING, _setting), (_RETURN, _returned), (_GDR_PAIR, _gdr_pair), (_RCCL, _rccl_version),
    (_VERSION, _version),
)  # fmt: skip


def read(text: str, level: str, file: str | None = None) -> Reading:
    """What one message tells; ``text`` is behind ``NCCL <level> ``. Never raises."""
    text = text.strip()
    if level == "INFO":
        for start, pattern, form in _FORMS:
            if text.startswith(start) and (found := pattern.match(text)):
                return form(found)
        for pattern, form in _PAIRS:
            if found := pattern.match(text):
                return form(found)
    told, versions = _told(text, level, file)
    library = "RCCL" if told is not None and (told.origin == "rccl" or told.event.startswith("rccl")) else None
    if "librccl" in text or (file is not None and ("rccl" in file or file.endswith(".cpp"))):
        library = "RCCL"
    init = None
    if told is not None and told.event == "init-timings":
        init = Init(told.fields["rank"], told.fields["nranks"], "")
    return Reading(told=told, init=init, versions=versions, library=library, **_from_fields(text, told))


def _told(text: str, level: str, file: str | None = None) -> tuple[Told | None, str]:
    """The event of a text and the releases that print it. A warning that the catalogue lacks is an event as well."""
    match = default_matcher().match(text, ORIGINS, None if level not in {"INFO", "WARN"} else level, file)
    if match is None and level == "WARN":
        match = default_matcher().match(text, ORIGINS, None, file)  # levels change between releases
    if match is None and level != "INFO":
        match = default_matcher().match_loosely(text, ORIGINS)
    if match is not None:
        versions = match.message.versions if match.whole else ""  # cut off, it may be the beginning of another one
        return Told(match.event, match.message.origin, match.message.kind, match.fields), versions
    if level == "WARN":
        from ncdiag.parsers import _events  # it reads what programs print, and few warnings are unknown

        found = _events.in_warning(text)
        if found is not None:
            return Told(found.event, found.origin, found.kind, found.fields), ""
    return (None, "") if level == "INFO" else (Told("unknown-warn", "nccl", None), "")


def _from_fields(text: str, told: Told | None) -> dict[str, Any]:
    """The facts that a recognised message holds beside its event: the GIDs in use, the network."""
    more: dict[str, Any] = {}
    if text.startswith("NET/IB") and told is not None and told.event in {"ib-completion-error", "collective-mismatch"}:
        more["net"] = (STARTED, "IB")
    fields = {} if told is None else {**_in_tail(told), **told.fields}
    if "local_gid" in fields:
        sources = ("hca", "port", "gid_index", "local_gid", "remote_gid")
        names = {name: name.removeprefix("gid_") for name in sources}
        more["lists"] = {"gids_used": [{new: fields[old] for old, new in names.items() if old in fields}]}
    return more


def _in_tail(read: Told) -> dict[str, Any]:
    """The GIDs at the end of a completion error whose line was cut, or pasted with other blanks; empty if none."""
    found = _GIDS.search(str(read.fields.get("detail", ""))) if read.event == "ib-completion-error" else None
    return {name: value for name, value in found.groupdict().items() if value} if found else {}
