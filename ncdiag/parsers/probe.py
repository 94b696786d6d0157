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
from collections.abc import Callable, Mapping
from typing import Any

from ncdiag.base.patterns import lazy_regex
from ncdiag.parsers._probe_needs import NEEDS
from ncdiag.parsers._rows import Reading, Row, Rows, never, not_understood

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
_HEAD = r"probe of (?P<count>\d{1,7}) hosts: "
_RANGE = rf"probe {_HOST}: ports (?P<first>\d{{1,5}})-(?P<last>\d{{1,5}})\s*$"
_PACE = rf"probe (?P<host>{_HOST}): (?P<tried>\d{{1,7}} of \d{{1,7}}) hosts tried in time\s*$"
_MORE = rf"probe (?P<host>{_HOST}): (?P<count>\d{{1,7}}) more interfaces not tried\s*$"
_UNFINISHED = rf"probe (?P<host>{_HOST}) has more that was not looked at in time\s*$"
_NOT_TRIED = rf"probe (?P<host>{_HOST}): (?P<what>bandwidth|nccl-tests) not tried: (?P<why>.{{1,300}}?)\s*$"
_RDMA = (
    rf"probe (?P<host>{_HOST}): (?P<hca>{_DEVICE}):(?P<port>\d{{1,3}}) (?P<layer>\w{{0,32}}) active"
    r" (?P<rate>\d{1,6}(?:\.\d{1,6})?|None) Gbit/s\s*$"
)
_PAIR = (
    rf"probe (?P<host>{_HOST}) -> (?P<peer>{_HOST}) with (?P<program>\w{{1,40}}): "
    r"(?:(?P<rate>\d{1,7}\.\d{1,3}) GB/s|failed: (?P<error>.{1,300}?))\s*$"
)
_RAIL = (
    rf"probe (?P<host>{_HOST}) (?P<hca>{_DEVICE}):(?P<port>\d{{1,3}}) -> "
    rf"(?P<peer>{_HOST}) (?P<peer_hca>{_DEVICE}):(?P<peer_port>\d{{1,3}}) at (?P<address>{_ADDRESS}|-): "
    r"(?P<program>\w{1,40}) (?P<outcome>ran|not tried|failed)(?:: (?P<error>.{1,300}?))?\s*$"
)
_INTERFACE = (
    rf"probe (?P<host>{_HOST}): (?P<name>{_NAME}) (?P<ip>{_ADDRESS})/(?P<prefix>\d{{1,3}})"
    r" mtu (?P<mtu>\d{1,7}|None) index (?P<index>\d{1,9}|None)\s*$"
)
_LINK = (
    rf"probe (?P<host>{_HOST}) (?P<interface>{_NAME}) (?P<address>{_ADDRESS}) -> "
    rf"(?P<peer>{_HOST}) (?P<peer_interface>{_NAME}) (?P<peer_address>{_ADDRESS})"
    rf" (?:in (?P<network>{_ADDRESS}/\d{{1,3}})|via (?P<gateway>{_ADDRESS}|no gateway)): (?P<words>.+?)\s*$"
)
_PORT = (
    rf"probe (?P<host>{_HOST}) -> (?P<place>{_HOST}) (?P<address>{_ADDRESS}|-) port (?P<port>\d{{1,5}}): "
    r"(?P<words>.+?)\s*$"
)
_RESOLVES = rf"probe (?P<host>{_HOST}) resolves (?P<name>{_HOST}): (?P<words>.+?)\s*$"
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
    (lazy_regex(r"connected (\d{1,9}\.\d{1,3}) ms$"), lambda text: {"outcome": "connected", "ms": float(text)}),
    (lazy_regex(r"(no answer) in [\d.]{1,9} s$"), lambda text: {"outcome": "no answer", "error": text}),
    (lazy_regex(r"failed: (.{1,100})$"), lambda text: {"outcome": "failed", "error": text}),
    (lazy_regex(rf"({_HOST}|another program) answered$"), lambda text: {"outcome": "other", "answered_by": text}),
    (lazy_regex(rf"({_HOST}) answers ARP$"), lambda text: {"outcome": "other", "answered_by": text}),
    (lazy_regex(rf"through ({_HOST})$"), lambda text: {"through": text}),
    (lazy_regex(r"clock ([+-]\d{1,12}\.\d{1,9}) s$"), lambda text: {"clock_ahead_seconds": float(text)}),
    (lazy_regex(r"\d{1,3} of (\d{1,3}) ports$"), lambda text: {"ports_tried": int(text), "ports_closed": []}),
    (lazy_regex(r"closed((?: \d{1,5}){1,64})$"), lambda text: {"ports_closed": [int(port) for port in text.split()]}),
    (lazy_regex(r"seen as (\S{1,64})$"), lambda text: {"seen_as": text}),
    (lazy_regex(r"leaves by (\S{1,64})$"), lambda text: {"leaves_by": text}),
)


class _Tries(Reading):
    """The interfaces of each host, and a fact for each try."""

    def head(self, found: re.Match[str]) -> bool:
        """The hosts of the job."""
        if int(found["count"]):
            self.observe("Job", nhosts=int(found["count"]))
        return int(found["count"]) > 0

    def interface(self, own: re.Match[str]) -> None:
        """An interface of a host."""
        numbers = {name: int(own[name]) for name in ("mtu", "index") if own[name] != "None"}
        self.observe(
            "Interface", (own["name"],), host=own["host"], up=True, running=True,
            addresses=[{"ip": own["ip"], "prefix_len": int(own["prefix"])}],
            mtu=numbers.get("mtu"), ifindex=numbers.get("index"),
        )  # fmt: skip

    def pair(self, found: re.Match[str]) -> None:
        """A run of nccl-tests over two hosts."""
        self.observe(
            "ProbePair", host=found["host"], peer=found["peer"], program=found["program"],
            busbw=float(found["rate"]) if found["rate"] else None, error=found["error"],
        )  # fmt: skip

    def rdma(self, own: re.Match[str]) -> None:
        """An active port of an RDMA device."""
        rate = float(own["rate"]) if own["rate"] != "None" else None
        self.observe(
            "Port", (own["hca"], int(own["port"])), host=own["host"], state="active", rate_gbps=rate,
            link_layer=_LAYERS.get(own["layer"]),
        )  # fmt: skip

    def rail(self, run: re.Match[str]) -> None:
        """A run between two RDMA devices."""
        self.observe(
            "ProbeRail", host=run["host"], hca=run["hca"], port=int(run["port"]), peer=run["peer"],
            peer_hca=run["peer_hca"], peer_port=int(run["peer_port"]), program=run["program"], outcome=run["outcome"],
            address=run["address"] if run["address"] != "-" else None, error=run["error"],
        )  # fmt: skip

    def pace(self, found: re.Match[str]) -> None:
        """Hosts that were not tried in time."""
        self._gap(found, "hosts", f"{found['tried']} other hosts tried in time")

    def more(self, found: re.Match[str]) -> None:
        """Interfaces that are not tried."""
        self._gap(found, "interfaces", f"{found['count']} more than are tried")

    def late(self, found: re.Match[str]) -> None:
        """Needs that were not tried in time."""
        self._gap(found, "needs", "it took too long")

    def not_tried(self, found: re.Match[str]) -> None:
        """A program that could not run."""
        self._gap(found, found["what"], found["why"])

    def link(self, found: re.Match[str]) -> None:
        """A try of a connection between two interfaces."""
        fields = {**found.groupdict(), **_told(found["words"])}
        del fields["words"]
        self.observe("ProbeLink", **fields)

    def port(self, found: re.Match[str]) -> None:
        """A try of a port."""
        address = found["address"] if found["address"] != "-" else None
        told = {name: value for name, value in _told(found["words"]).items() if name in {"outcome", "error"}}
        place, port = found["place"], int(found["port"])
        self.observe("ProbePort", host=found["host"], place=place, port=port, address=address, **told)

    def resolves(self, asked: re.Match[str]) -> None:
        """The addresses of a name; none where it is not found, unknown where nothing answered."""
        words: dict[str, list[str] | None] = {"no answer": None, "not found": []}
        addresses = words.get(asked["words"], asked["words"].split())
        self.observe("ProbeName", host=asked["host"], name=asked["name"], addresses=addresses)

    def _gap(self, found: re.Match[str], what: str, why: str) -> None:
        self.observe("ProbeGap", host=found["host"], what=what, why=why)


ROWS = Rows(
    _Tries,
    Row(r".{2000}", not_understood),
    Row(_HEAD, _Tries.head, belongs=never),
    Row(_INTERFACE, _Tries.interface),
    Row(_PAIR, _Tries.pair),
    Row(_RDMA, _Tries.rdma),
    Row(_RAIL, _Tries.rail),
    Row(_PACE, _Tries.pace),
    Row(_MORE, _Tries.more),
    Row(_UNFINISHED, _Tries.late),
    Row(_NOT_TRIED, _Tries.not_tried),
    Row(_LINK, _Tries.link),
    Row(_PORT, _Tries.port),
    Row(_RESOLVES, _Tries.resolves),
    *NEEDS,
    Row(_RANGE),
    Row(r"probe ", not_understood),
)


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
