"""The agent on each host: reports its properties, receives those of the others, and tests connections to them.

The order is that of a round-robin tournament: in each round every host has one partner, and each tests connections to
the other. No host waits for another, so one that hangs delays only those that connect to it. The results are printed
as lines that `ncdiag.parsers.probe` parses.
"""

import base64
import json
import queue
import socket
import sys
import threading
import time
import zlib
from collections import Counter
from typing import Any, Dict, Iterator, List, Mapping, Tuple

from ncdiag.agent.addresses import is_here, resolved
from ncdiag.agent.probe.bandwidth import Receiver, rdma_ports, where
from ncdiag.agent.probe.client import Asker
from ncdiag.agent.probe.needs import Needs, gpus
from ncdiag.agent.probe.rails import Rails
from ncdiag.agent.probe.server import Server
from ncdiag.agent.probe.ways import interfaces, neighbour, network_of, port_range, share_network, way
from ncdiag.agent.wrap import leave_with_caller, own_name, wrapped

_GRACE = 30.0
"""Seconds in addition to those of the tests: until the table arrives, and for the last test to end."""
_RESOLVERS = 4
_RESOLVING = 6.0

Host = Mapping[str, Any]
"""The properties that a host reports: ``host``, ``token``, ``interfaces`` with their ``ports``."""


def probe(plan: Mapping[str, Any]) -> int:
    """Run all tests; returns the exit code.

    ``plan``: ``wait`` and ``seconds``, ``ports`` to listen on, ``within`` a range or None, and what a launch ``needs``
    (`Needs`) or None. ``bandwidth``: seconds of one run of ``ib_write_bw``, 0 for none; ``nccl_tests``: a program to
    look for.
    """
    words = queue.Queue()  # type: queue.Queue[bytes]
    leave_with_caller(plan["wait"] + plan["seconds"] + _GRACE, words.put)
    server = Server()
    needs = Needs(plan["needs"]) if plan["needs"] else None
    own = _introduction(server, plan)
    threading.Thread(target=server.serve, daemon=True).start()
    _say(json.dumps(own))
    table = _table(words)
    hosts = table["hosts"]
    me = next((place for place, host in enumerate(hosts) if host["token"] == server.token), None)
    if me is None:  # it was too late, and no other host knows it
        return 0
    server.tell(table["secret"])
    time.sleep(table["pause"])  # the others receive it a little later
    turn = Turn(table, me, server)
    found = turn.lines()
    found += needs.lines(table["hosts"][me]["host"]) if needs is not None else []
    _say("".join(line + "\n" for line in [*found, *turn.outputs]))
    threading.Event().wait()  # others may still connect: stay until the caller has all results, and end with it
    return 0


def _introduction(server: Server, plan: Mapping[str, Any]) -> Dict[str, Any]:
    ports = tuple(plan["within"] or port_range())
    found, more = interfaces()
    listening = server.declared(plan["ports"])  # first, so that the agent itself takes none of them
    for one in found:
        one["ports"] = server.listen(one["address"], (ports[0], ports[1]), within=bool(plan["within"]))
    rdma = rdma_ports() if plan["bandwidth"] else []
    carries = bool(rdma and where())
    if carries:
        server.receiver = Receiver(rdma, plan["bandwidth"], plan["within"])
    return {
        "host": own_name(), "token": server.token, "interfaces": [one for one in found if one["ports"]],
        "range": ports, "listening": listening, "more": more, "rdma": rdma, "carries": carries,
        "gpus": gpus() if plan["bandwidth"] else 0, "nccl_tests": where(plan["nccl_tests"]) or "",
    }  # fmt: skip


def _say(text: str) -> None:
    sys.stdout.writelines(wrapped(text.encode(), own_name()))
    sys.stdout.flush()


def _table(words: "queue.Queue[bytes]") -> Dict[str, Any]:
    """The first line received: JSON, compressed, in base64."""
    heard = b""
    while b"\n" not in heard:
        heard += words.get()
    found = json.loads(zlib.decompress(base64.b64decode(heard.partition(b"\n")[0])).decode())
    return dict(found)


def partner(place: int, turn: int, count: int) -> int:
    """The partner of player ``place`` in a round of the tournament (the circle method); itself in a pause."""
    odd = count - 1 if count % 2 == 0 else count
    if place == odd:
        return turn * (odd + 1) // 2 % odd
    met = (turn - place) % odd
    return met if met != place else odd if odd < count else place


def turns(count: int, most: int) -> List[int]:
    """The rounds that are played: all, or ``most`` that are spread over them."""
    whole = count - 1 if count % 2 == 0 else count
    return list(range(whole)) if whole <= most else [place * whole // most for place in range(most)]


class Turn:
    """The tests of one host: against its partners in turn, until the time is up."""

    def __init__(self, table: Mapping[str, Any], me: int, server: Server) -> None:
        """``table`` is sent to all hosts; ``server`` is that of this host."""
        self._server = server
        self.outputs: List[str] = []
        """The outputs of the programs that measured this host's RDMA ports."""
        self._table = table
        self._hosts = table["hosts"]  # type: List[Host]
        self._me, self._own = me, self._hosts[me]
        self._name = self._own["host"]
        macs = [(one["mac"], host["host"]) for host in self._hosts for one in host["interfaces"] if one["mac"]]
        times = Counter(mac for mac, _ in macs)
        self._macs = {mac: name for mac, name in macs if times[mac] == 1}  # cloned machines and bridges share some
        self._asker = Asker(table["secret"], {host["token"]: host["host"] for host in self._hosts})
        self._ends = time.monotonic() + table["seconds"]

    def lines(self) -> List[str]:
        """The lines of results."""
        count, most = len(self._hosts), self._table["rounds"]
        met = [partner(self._me, turn, count) for turn in turns(count, most)]
        partners = [self._hosts[place] for place in met if place != self._me]
        names = Names(dict.fromkeys([self._name, *(host["host"] for host in partners), *self._table["names"]]))
        found = list(self._head())
        if self._table["bandwidth"] is not None:
            rails = Rails(self._table["bandwidth"], self._own, self._asker, self._ways)
            found += rails.lines([(self._hosts[place], self._me < place) for place in met], self._server.receiver)
            self.outputs = rails.outputs
            if not (self._own["nccl_tests"] and self._own["gpus"]):
                why = "{} is not installed".format(self._table["nccl_tests"]) if self._own["gpus"] else "it has no GPU"
                found.append("probe {}: nccl-tests not tried: {}".format(self._name, why))
            self._ends = time.monotonic() + self._table["seconds"]
        done = 0
        for host in partners:
            if time.monotonic() >= self._ends:
                break
            found += self._meet(host)
            done += 1
        if done < len(partners):
            found.append("probe {}: {} of {} hosts tried in time".format(self._name, done, len(partners)))
        for place, port in self._table["places"]:
            found += self._place(place, port)
        return [*found, *names.lines(self._name)]

    def _head(self) -> Iterator[str]:
        first, last = self._own["range"]
        yield "probe {}: ports {}-{}".format(self._name, first, last)
        for one in self._own["interfaces"]:
            yield "probe {}: {name} {address}/{prefix} mtu {mtu} index {index}".format(self._name, **one)
        if self._own["more"]:
            yield "probe {}: {} more interfaces not tried".format(self._name, self._own["more"])
        for one in self._own["rdma"]:
            yield "probe {}: {hca}:{port} {layer} active {rate} Gbit/s".format(self._name, **one)

    def _ways(self, host: Host) -> Iterator[Tuple[str, Dict[str, Any]]]:
        for one, other, _ in self._links(host):
            yield one["address"], other

    def _meet(self, host: Host) -> Iterator[str]:
        at = ""
        for one, other, gateway in self._links(host):
            phrases = self._asker.link(one["address"], other, host["host"])
            way_there = way(other["address"], one["address"])
            if way_there and way_there[0] != one["index"] and other["address"] != one["address"]:
                phrases.append("leaves by {}".format(self._named(way_there[0])))
            answers = self._macs.get(neighbour(other["address"]) or "") if not gateway else None
            if answers and answers not in {host["host"], self._name} and not phrases[-1].endswith("answered"):
                words = "through {}" if phrases[0].startswith("connected") else "{} answers ARP"
                phrases.append(words.format(answers))
            where = "via {}".format(gateway) if gateway else "in {}".format(network_of(one))
            at = at or (other["address"] if phrases[0].startswith("connected") else "")
            yield "probe {} {} {} -> {} {} {} {}: {}".format(
                self._name, one["name"], one["address"], host["host"], other["name"], other["address"], where,
                ", ".join(phrases),
            )  # fmt: skip
        for port in self._table["ports"] if at else ():
            words = self._reached(at, port, host["host"])
            yield "probe {} -> {} {} port {}: {}".format(self._name, host["host"], at, port, words)

    def _links(self, host: Host) -> Iterator[Tuple[Dict[str, Any], Dict[str, Any], str]]:
        """(own interface, peer's interface, gateway): each of the peer's in a shared network, else by a route."""
        ours = self._own["interfaces"]
        for other in host["interfaces"]:
            same = [one for one in ours if _family(one) == _family(other)]
            shared = [one for one in same if share_network(one, other)]
            if shared:
                yield from ((one, other, "") for one in shared)
                continue
            chosen = way(other["address"])
            alike = [one for one in same if one["name"] == other["name"]]
            by_route = [one for one in same if chosen and one["index"] == chosen[0]]
            for one in (alike or by_route)[:1]:
                routed = way(other["address"], one["address"])
                if routed is not None:
                    yield one, other, routed[1] or "no gateway"

    def _named(self, index: int) -> str:
        for one in self._own["interfaces"]:
            if one["index"] == index:
                return str(one["name"])
        try:
            return socket.if_indextoname(index)
        except OSError:
            return "interface {}".format(index)

    def _place(self, place: str, port: int) -> Iterator[str]:
        """The result of a connection to an address that the job uses, such as MASTER_ADDR and MASTER_PORT.

        For the host that it names, first whether a program can listen there.
        """
        found = resolved(place)
        if is_here(place, found, self._name):
            words = self._server.refused.get(port, "free")
            if words != "free" and found and self._asker.is_agent(found[0], port):
                words = "free"  # in use only by this agent: the host was given under two names, or in two containers
            yield "probe {} is {}, port {}: {}".format(self._name, place, port, words)
        words = self._reached(found[0], port, place) if found else "not found"
        yield "probe {} -> {} {} port {}: {}".format(self._name, place, found[0] if found else "-", port, words)

    def _reached(self, address: str, port: int, name: str) -> str:
        """The answer of a port: ``rejected`` if an agent listens, because then a filter refused in its place."""
        words = self._asker.reach(address, port)
        hosts = (one for one in self._hosts if name == one["host"] or address in _addresses(one))
        return "rejected" if words == "refused" and any(port in one["listening"] for one in hosts) else words


class Names:
    """Resolves the names of hosts while the connections are tested."""

    def __init__(self, names: Mapping[str, Any]) -> None:
        """Start at once."""
        self._names = list(names)
        self._found = {}  # type: Dict[str, List[str]]
        self._left = queue.Queue()  # type: queue.Queue[str]
        for name in self._names:
            self._left.put(name)
        self._asking = [threading.Thread(target=self._work, daemon=True) for _ in range(_RESOLVERS)]
        for thread in self._asking:
            thread.start()

    def _work(self) -> None:
        while True:
            try:
                name = self._left.get_nowait()
            except queue.Empty:
                return
            self._found[name] = resolved(name)

    def lines(self, own: str) -> Iterator[str]:
        """The addresses of each name."""
        ends = time.monotonic() + _RESOLVING
        for thread in self._asking:
            thread.join(max(0.0, ends - time.monotonic()))
        for name in self._names:
            found = self._found.get(name)
            words = "no answer" if found is None else " ".join(found) or "not found"
            yield "probe {} resolves {}: {}".format(own, name, words)


def _family(one: Mapping[str, Any]) -> bool:
    return ":" in one["address"]


def _addresses(host: Host) -> List[str]:
    return [one["address"] for one in host["interfaces"]]
