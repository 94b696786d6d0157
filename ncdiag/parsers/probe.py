"""``ncdiag probe``: which connections between hosts work, and how.

Format: `ncdiag.agent.probe.main`, which prints it. A line for each interface of a host, for each try between two
interfaces, for each port that was tried besides, and for each name::

    probe n1: eth0 10.0.0.1/16 mtu 1500 index 2
    probe n1 eth0 10.0.0.1 -> n2 eth0 10.0.0.2 in 10.0.0.0/16: connected 0.21 ms, 256 KiB both ways, 5 of 5 ports
    probe n1 eth0 10.0.0.1 -> n3 eth0 10.0.0.3 in 10.0.0.0/16: no answer in 2.5 s
    probe n1 -> n2 10.0.0.2 port 22: refused
    probe n1 resolves n2: 10.0.0.2

With ``--bandwidth`` also one for each active RDMA port and for each run of perftest, whose output follows all of them;
and what a host did not try::

    probe n1: mlx5_0:1 InfiniBand active 400.0 Gbit/s
    probe n1 mlx5_0:1 -> n2 mlx5_0:1 at 10.0.0.2: ib_write_bw ran
    probe n1 -> n2 with all_reduce_perf: 46.21 GB/s
    probe n3: bandwidth not tried: ib_write_bw is not installed
    probe n3: 1 of 2 hosts tried in time

For a launch there are also the lines of `ncdiag.parsers._probe_needs`, which has that on the place of the ranks, too.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ncdiag.base.spans import Section
from ncdiag.facts.observe import Observation, Parsed, observe
from ncdiag.parsers._probe_needs import needed

KIND = "probe"
COMMANDS: tuple[str, ...] = ("ncdiag probe",)
_HOST = r"[A-Za-z0-9_][\w.:-]{0,252}"
_NAME = r"[\w.@:-]{1,64}"
_ADDRESS = r"[0-9A-Fa-f.:]{2,60}"
_DEVICE = r"[A-Za-z][\w.-]{0,63}"
_LAYERS = {"InfiniBand": "InfiniBand", "Ethernet": "Ethernet"}
ANCHOR = (
    rf"probe of \d{{1,7}} hosts: |probe {_HOST} {_NAME} {_ADDRESS} -> |probe {_HOST} resolves |probe {_HOST}: ports \d"
    rf"|probe {_HOST} {_DEVICE}:\d{{1,3}} -> |probe {_HOST} -> {_HOST} with \w"
    rf"|probe {_HOST}: (?:bandwidth|nccl-tests) not tried: "
    rf"|probe {_HOST} ssh {_HOST}(?: port \d{{1,5}})?: |probe {_HOST} is user \S+ uid \d"
)
_LONGEST = 2000

_HEAD = re.compile(r"probe of (?P<count>\d{1,7}) hosts: ")
_RANGE = re.compile(rf"probe {_HOST}: ports (?P<first>\d{{1,5}})-(?P<last>\d{{1,5}})$")
_PACE = re.compile(rf"probe (?P<host>{_HOST}): (?P<tried>\d{{1,7}} of \d{{1,7}}) hosts tried in time$")
_MORE = re.compile(rf"probe (?P<host>{_HOST}): (?P<count>\d{{1,7}}) more interfaces not tried$")
_UNFINISHED = re.compile(rf"probe (?P<host>{_HOST}) has more that was not looked at in time$")
_NOT_TRIED = re.compile(rf"probe (?P<host>{_HOST}): (?P<what>bandwidth|nccl-tests) not tried: (?P<why>.{{1,300}})$")
_RDMA = re.compile(
    rf"probe (?P<host>{_HOST}): (?P<hca>{_DEVICE}):(?P<port>\d{{1,3}}) (?P<layer>\w{{0,32}}) active"
    r" (?P<rate>\d{1,6}(?:\.\d{1,6})?|None) Gbit/s$"
)
_PAIR = re.compile(
    rf"probe (?P<host>{_HOST}) -> (?P<peer>{_HOST}) with (?P<program>\w{{1,40}}): "
    r"(?:(?P<rate>\d{1,7}\.\d{1,3}) GB/s|failed: (?P<error>.{1,300}))$"
)
_RAIL = re.compile(
    rf"probe (?P<host>{_HOST}) (?P<hca>{_DEVICE}):(?P<port>\d{{1,3}}) -> "
    rf"(?P<peer>{_HOST}) (?P<peer_hca>{_DEVICE}):(?P<peer_port>\d{{1,3}}) at (?P<address>{_ADDRESS}|-): "
    r"(?P<program>\w{1,40}) (?P<outcome>ran|not tried|failed)(?:: (?P<error>.{1,300}))?$"
)
_INTERFACE = re.compile(
    rf"probe (?P<host>{_HOST}): (?P<name>{_NAME}) (?P<ip>{_ADDRESS})/(?P<prefix>\d{{1,3}})"
    r" mtu (?P<mtu>\d{1,7}|None) index (?P<index>\d{1,9}|None)$"
)
_LINK = re.compile(
    rf"probe (?P<host>{_HOST}) (?P<interface>{_NAME}) (?P<address>{_ADDRESS}) -> "
    rf"(?P<peer>{_HOST}) (?P<peer_interface>{_NAME}) (?P<peer_address>{_ADDRESS})"
    rf" (?:in (?P<network>{_ADDRESS}/\d{{1,3}})|via (?P<gateway>{_ADDRESS}|no gateway)): (?P<words>.+)$"
)
_PORT = re.compile(
    rf"probe (?P<host>{_HOST}) -> (?P<place>{_HOST}) (?P<address>{_ADDRESS}|-) port (?P<port>\d{{1,5}}): (?P<words>.+)$"
)
_RESOLVES = re.compile(rf"probe (?P<host>{_HOST}) resolves (?P<name>{_HOST}): (?P<words>.+)$")
_WORDS: Mapping[str, dict[str, Any]] = {
    "rejected": {"outcome": "rejected"},
    "refused": {"outcome": "refused"}, "reset": {"outcome": "refused"},
    "no route to host": {"outcome": "unreachable"}, "network unreachable": {"outcome": "unreachable"},
    "not permitted": {"outcome": "not permitted"}, "not found": {"outcome": "not found"},
    "but silent": {"outcome": "silent"}, "but hung up": {"outcome": "silent"},
    "256 KiB arrived": {"arrives": True},
    "256 KiB both ways": {"arrives": True, "returns": True},
    "256 KiB did not arrive": {"arrives": False, "returns": True},
    "256 KiB did not come back": {"arrives": True, "returns": False},
    "256 KiB in neither direction": {"arrives": False, "returns": False},
}  # fmt: skip
_PHRASES: tuple[tuple[re.Pattern[str], Callable[[str], dict[str, Any]]], ...] = (
    (re.compile(r"connected (\d{1,9}\.\d{1,3}) ms$"), lambda text: {"outcome": "connected", "ms": float(text)}),
    (re.compile(r"(no answer) in [\d.]{1,9} s$"), lambda text: {"outcome": "no answer", "error": text}),
    (re.compile(r"failed: (.{1,100})$"), lambda text: {"outcome": "failed", "error": text}),
    (re.compile(rf"({_HOST}|another program) answered$"), lambda text: {"outcome": "other", "answered_by": text}),
    (re.compile(rf"({_HOST}) answers ARP$"), lambda text: {"outcome": "other", "answered_by": text}),
    (re.compile(rf"through ({_HOST})$"), lambda text: {"through": text}),
    (re.compile(r"clock ([+-]\d{1,12}\.\d{1,9}) s$"), lambda text: {"clock_ahead_seconds": float(text)}),
    (re.compile(r"\d{1,3} of (\d{1,3}) ports$"), lambda text: {"ports_tried": int(text), "ports_closed": []}),
    (re.compile(r"closed((?: \d{1,5}){1,64})$"), lambda text: {"ports_closed": [int(port) for port in text.split()]}),
    (re.compile(r"seen as (\S{1,64})$"), lambda text: {"seen_as": text}),
    (re.compile(r"leaves by (\S{1,64})$"), lambda text: {"leaves_by": text}),
)


def continues(lines: Sequence[str], line: str) -> bool:
    """Any other line of a probe but its head."""
    return line.startswith("probe ") and _HEAD.match(line) is None


def parse(section: Section) -> Parsed:
    """The interfaces of each host, and a fact for each try."""
    found: list[Observation] = []
    unread: list[int] = []
    for index, line in enumerate(section.lines):
        text = line.rstrip()
        read = _observed(section, index, text) if len(text) < _LONGEST else None
        if read is not None:
            found.append(read)
        elif text and not _RANGE.match(text):
            unread.append(index)
    return Parsed(observations=tuple(found), unread=tuple(unread))


def _observed(section: Section, index: int, line: str) -> Observation | None:
    if head := _HEAD.match(line):
        return observe(section, index, "Job", nhosts=int(head["count"])) if int(head["count"]) else None
    if own := _INTERFACE.match(line):
        numbers = {name: int(own[name]) for name in ("mtu", "index") if own[name] != "None"}
        return observe(
            section, index, "Interface", (own["name"],), host=own["host"], up=True, running=True,
            addresses=[{"ip": own["ip"], "prefix_len": int(own["prefix"])}],
            mtu=numbers.get("mtu"), ifindex=numbers.get("index"),
        )  # fmt: skip
    return _of_rdma(section, index, line) or _gap(section, index, line) or _try(section, index, line)


def _of_rdma(section: Section, index: int, line: str) -> Observation | None:
    """An active port of an RDMA device, a run between two of them, or one of nccl-tests over two hosts."""
    if pair := _PAIR.match(line):
        return observe(
            section, index, "ProbePair", host=pair["host"], peer=pair["peer"], program=pair["program"],
            busbw=float(pair["rate"]) if pair["rate"] else None, error=pair["error"],
        )  # fmt: skip
    if own := _RDMA.match(line):
        rate = float(own["rate"]) if own["rate"] != "None" else None
        return observe(
            section, index, "Port", (own["hca"], int(own["port"])), host=own["host"], state="active", rate_gbps=rate,
            link_layer=_LAYERS.get(own["layer"]),
        )  # fmt: skip
    if run := _RAIL.match(line):
        return observe(
            section, index, "ProbeRail", host=run["host"], hca=run["hca"], port=int(run["port"]), peer=run["peer"],
            peer_hca=run["peer_hca"], peer_port=int(run["peer_port"]), program=run["program"], outcome=run["outcome"],
            address=run["address"] if run["address"] != "-" else None, error=run["error"],
        )  # fmt: skip
    return None


def _gap(section: Section, index: int, line: str) -> Observation | None:
    """What a host did not try."""
    if pace := _PACE.match(line):
        why = f"{pace['tried']} other hosts tried in time"
        return observe(section, index, "ProbeGap", host=pace["host"], what="hosts", why=why)
    if more := _MORE.match(line):
        why = f"{more['count']} more than are tried"
        return observe(section, index, "ProbeGap", host=more["host"], what="interfaces", why=why)
    if late := _UNFINISHED.match(line):
        return observe(section, index, "ProbeGap", host=late["host"], what="needs", why="it took too long")
    if told := _NOT_TRIED.match(line):
        return observe(section, index, "ProbeGap", host=told["host"], what=told["what"], why=told["why"])
    return None


def _try(section: Section, index: int, line: str) -> Observation | None:
    """A try of a connection, of a port, or of a name."""
    if link := _LINK.match(line):
        fields = {**link.groupdict(), **_told(link["words"])}
        for name in ("host", "words"):
            del fields[name]
        return observe(section, index, "ProbeLink", host=link["host"], **fields)
    if port := _PORT.match(line):
        address = port["address"] if port["address"] != "-" else None
        told = {name: value for name, value in _told(port["words"]).items() if name in {"outcome", "error"}}
        return observe(
            section, index, "ProbePort", host=port["host"], place=port["place"], port=int(port["port"]),
            address=address, **told,
        )  # fmt: skip
    if asked := _RESOLVES.match(line):
        words: dict[str, list[str] | None] = {"no answer": None, "not found": []}
        addresses = words.get(asked["words"], asked["words"].split())
        return observe(section, index, "ProbeName", host=asked["host"], name=asked["name"], addresses=addresses)
    return needed(section, index, line)


def _told(words: str) -> dict[str, Any]:
    """The fields that the phrases of a try tell."""
    found: dict[str, Any] = {}
    for phrase in words.split(", "):
        known = _WORDS.get(phrase)
        if known is not None:
            found |= known if "outcome" not in known else {**known, "error": phrase.removeprefix("but ")}
            continue
        for pattern, fields in _PHRASES:
            if told := pattern.match(phrase):
                found |= fields(told[1])
                break
    return found
