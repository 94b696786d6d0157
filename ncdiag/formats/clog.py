"""Logs of torchcomms' ClogHook (clog): the calls of one rank, as a dump of PyTorch's flight recorder has them.

Source of the format: meta-pytorch/torchcomms comms/torchcomms/hooks/clog/AI_TOOL_INSTRUCTIONS_V1.md and ClogHook.cpp.
``V|1|base_timestamp=1714234567.890`` begins a log; then come ``new_comm|comm=world|rank=0|world_size=8``,
``split|parent=world|child=tp|ranks=0,1``, the signature of a call with its number,
``C1|sig|all_reduce|in_count=1024|...|comm=world``, and its events with seconds since the base:
``C1|Q|work_id=1|+0.001`` (enqueued), ``C1|S|+0.002`` (started), ``C1|E|+0.005`` (ended), ``C1|W|+0.006`` (waited for).
``G42|`` before an event is the capture of a CUDA graph, ``G42|R1|`` its replay, which has no number of its own and is
not counted here.
"""

from __future__ import annotations

from collections import deque
from typing import Any

import msgspec

from ncdiag.base.patterns import lazy_regex

HEAD = r"V\|\d{1,3}\|base_timestamp=\d{1,12}(?:\.\d{1,6})?"
"""The first line of a log."""
_LINE = lazy_regex(
    r"(?P<head>" + HEAD + r")\s*$"
    r"|new_comm\|comm=(?P<comm>[^|]{0,200})\|rank=(?P<rank>\d{1,7})\|world_size=(?P<size>\d{1,7})\s*$"
    r"|split\|parent=(?P<parent>[^|]{0,200})\|child=(?P<child>[^|]{0,200})\|ranks=(?P<ranks>[\d,]{0,1000000})\s*$"
    r"|C(?P<signed>\d{1,12})\|sig\|(?P<op>\w{1,40})\|(?P<parameters>.{0,1000000})$"
    r"|(?:G(?P<graph>\d{1,20})\|)?C(?P<id>\d{1,12})\|(?P<event>Q\|work_id=\d{1,19}|[SEW])\|\+\d{1,12}(?:\.\d{1,6})?\s*$"
    r"|(?P<replay>G\d{1,20}\|R\d{1,19}\|C\d{1,12}\|[SE]\|\+\d)"
    r"|WARN\|(?P<warning>.{0,1000})$"
)
_LEAKED = lazy_regex(r"comm=[^|]*\|leaked work_id=\d")
_KEPT = 2000
"""Calls that are kept, the latest ones, as many as the flight recorder keeps; open ones are kept beside them."""
_OPEN_KEPT = 10_000
_SIGNATURES = 1 << 16
_WORLD = 1 << 17
"""The largest communicator whose ranks are listed."""
_PEERS = {"send": "->", "recv": "<-"}


class _Signature(msgspec.Struct, frozen=True):
    op: str
    comm: str
    count: str = ""
    kinds: tuple[str, ...] = ()
    peer: str = ""


class _Call(msgspec.Struct):
    """``number`` counts the collectives of the communicator, or its sends and receives; ``state`` is as in a dump."""

    signature: _Signature
    number: int
    after_p2p: int
    state: str = "scheduled"


class Clog:
    """What the lines of one log say, in their order; memory is bounded."""

    def __init__(self) -> None:
        """No line was read."""
        self._comms: dict[str, tuple[int, int]] = {}
        self._members: dict[str, list[int]] = {}
        self._signatures: dict[str, _Signature] = {}
        self._counts: dict[tuple[str, bool], int] = {}
        self._latest: deque[_Call] = deque(maxlen=_KEPT)
        self._open: dict[tuple[str | None, str], deque[_Call]] = {}
        self._opened = 0
        self._shows_ends = False
        self._finished = False

    def read(self, line: str) -> bool:
        """Read a line; False for one that is none of a log."""
        found = _LINE.match(line)
        if found is None:
            return False
        if found["comm"] is not None:
            self._comms.setdefault(found["comm"], (int(found["rank"]), int(found["size"])))
        elif found["child"] is not None:
            ranks = [int(number) for number in found["ranks"].split(",") if number][:_WORLD]
            self._members.setdefault(found["child"], ranks)
        elif found["signed"] is not None:
            if len(self._signatures) < _SIGNATURES:
                self._signatures.setdefault(found["signed"], _signature(found["op"], found["parameters"]))
        elif found["id"] is not None:
            self._event((found["graph"], found["id"]), found["event"][0])
        elif found["warning"] is not None and _LEAKED.match(found["warning"]):
            self._finished = True
        return True

    def _event(self, key: tuple[str | None, str], event: str) -> None:
        if event == "Q":
            self._enqueue(key)
            return
        self._shows_ends = self._shows_ends or event in "SE"
        waiting = self._open.get(key, ())
        if event == "S":
            call = next((call for call in waiting if call.state == "scheduled"), None)
            if call is not None:
                call.state = "started"
        elif event == "E" and waiting:
            self._open[key].popleft().state = "completed"
            self._opened -= 1
            if not self._open[key]:
                del self._open[key]

    def _enqueue(self, key: tuple[str | None, str]) -> None:
        signature = self._signatures.get(key[1])
        if signature is None:
            return
        count, sent = (signature.comm, bool(signature.peer)), self._counts.get((signature.comm, True), 0)
        self._counts[count] = self._counts.get(count, 0) + 1
        call = _Call(signature, self._counts[count], 0 if signature.peer else sent)
        self._latest.append(call)
        if self._opened < _OPEN_KEPT:
            self._open.setdefault(key, deque()).append(call)
            self._opened += 1

    def dump(self) -> dict[str, Any]:
        """The calls in the layout of a dump of the flight recorder.

        ``live``: the log does not say that its process ended, so that a call which is under way may be no wait.
        """
        rank, size = max(self._comms.values(), key=lambda found: found[1], default=(None, 0))
        groups = {}
        for comm in {name: None for name, _ in self._counts} | dict.fromkeys(self._comms):
            members = self._members.get(comm)
            if members is None and self._comms.get(comm, (0, 0))[1] == size <= _WORLD:
                members = list(range(size))
            groups[comm] = {"name": comm, "desc": "", "ranks": str(members or [])}
        latest = {id(call) for call in self._latest}
        older = [call for calls in self._open.values() for call in calls if id(call) not in latest]
        return {
            "version": "2.10", "rank": rank, "live": not self._finished, "pg_config": groups,
            "entries": [self._entry(call) for call in (*older, *self._latest)],
        }  # fmt: skip

    def _entry(self, call: _Call) -> dict[str, Any]:
        signed = call.signature
        own = self._members.get(signed.comm, [])
        entry: dict[str, Any] = {"process_group": [signed.comm, ""], "is_p2p": bool(signed.peer)}
        if signed.peer:
            rank = max(self._comms.values(), key=lambda found: found[1], default=(0, 0))[0]
            place = own.index(rank) if rank in own else rank
            name = f"{signed.op} {place}{_PEERS[signed.op]}{signed.peer}"
            entry |= {"p2p_seq_id": call.number, "profiling_name": name}
        else:
            entry |= {
                "collective_seq_id": call.number, "p2p_seq_id": call.after_p2p, "profiling_name": signed.op,
                "input_dtypes": list(signed.kinds),
            }  # fmt: skip
            if signed.count:
                entry["input_sizes"] = [[int(signed.count)]]
        return entry | ({"state": call.state} if self._shows_ends else {})


def _signature(op: str, parameters: str) -> _Signature:
    """The parts of a signature that all ranks must agree on; ``comm`` is the last parameter."""
    body, _, comm = parameters.rpartition("comm=")
    given = dict(part.partition("=")[::2] for part in body.split("|") if "=" in part)
    root = f"root {given['root'][:10]}" if "root" in given else ""
    kinds = tuple(filter(None, (given.get("dtype", "")[:20], given.get("red_op", "")[:20], root)))
    count = given.get("in_count", "")[:20]
    return _Signature(
        op, comm.strip()[:200], count if count.isdecimal() else "", kinds, given.get("peer", "") if op in _PEERS else ""
    )
