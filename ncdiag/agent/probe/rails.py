"""The schedule of RDMA measurements: when each host measures against which, with no port in two runs at once.

In each round of the tournament the host with the lower place sends first and reports when it has finished, then the
other one sends; a host serves only its partner of the round. All hosts receive the table at the same time and count
time slots from then, one per round: the next slot begins early if both are ready, and never late, whoever hangs.
"""

import time
from typing import Any, Callable, Iterator, List, Mapping, Optional, Sequence, Tuple

from ncdiag.agent.probe.bandwidth import TOOL, Receiver, sent
from ncdiag.agent.probe.client import Asker

Port = Mapping[str, Any]
_SHORT_CALL = 5.0
"""Seconds for an agent to answer a request, in addition to the wait for its turn."""


def rails(own: Sequence[Port], others: Sequence[Port]) -> List[Tuple[Port, Port]]:
    """Pairs of an own port and the peer's port of the same rail: those with equal names, the rest in their order."""
    named = {(one["hca"], one["port"], one["layer"]): one for one in others}
    found = [(one, named[key]) for one in own for key in [(one["hca"], one["port"], one["layer"])] if key in named]
    taken = {id(port) for pair in found for port in pair}
    for layer in sorted({one["layer"] for one in own}):
        mine = [one for one in own if one["layer"] == layer and id(one) not in taken]
        theirs = [one for one in others if one["layer"] == layer and id(one) not in taken]
        found += zip(mine, theirs)
    return found


class Rails:
    """The measurements of one host. ``ways`` yields (own address, peer's interface) for another host, best first."""

    def __init__(
        self, plan: Mapping[str, Any], own: Mapping[str, Any], asker: Asker,
        ways: Callable[[Mapping[str, Any]], Iterator[Tuple[str, Mapping[str, Any]]]],
    ) -> None:  # fmt: skip
        """``plan``: ``seconds`` of a run, ``half`` of a slot, and ``whole`` of all that is measured."""
        self._plan, self._own, self._asker, self._ways = plan, own, asker, ways
        self._name = own["host"]
        self.outputs: List[str] = []
        """The output of the tool in each run, after its command line."""

    def lines(self, met: Sequence[Tuple[Mapping[str, Any], bool]], receiver: Optional[Receiver]) -> Iterator[str]:
        """Measure against one host after the other; ``True``: this host sends first.

        ``receiver`` answers the others.
        """
        began, half = time.monotonic(), self._plan["half"]
        if receiver is None:
            why = "{} is not installed".format(TOOL) if self._own["rdma"] else "no active RDMA port"
            yield "probe {}: bandwidth not tried: {}".format(self._name, why)
            return
        partners = [(slot, host, first) for slot, (host, first) in enumerate(met)
                    if host["carries"] and host["host"] != self._name]  # fmt: skip
        over, tried = began + self._plan["whole"], 0
        for slot, host, first in partners:
            if time.monotonic() + self._plan["seconds"] > over:
                break
            tried += 1
            ends = min(over, began + half * (2 * slot + 2))
            receiver.meet(host["host"])
            if not first:
                receiver.wait_for(host["host"], ends - half)
            yield from self._against(host, ends - half if first else ends)
            if first:
                receiver.wait_for(host["host"], ends)
        receiver.meet("")
        if tried < len(partners):
            yield "probe {}: bandwidth not tried: time was over before all partners had their turn".format(self._name)
        if not partners:
            yield "probe {}: bandwidth not tried: no partner has {} and an active RDMA port".format(self._name, TOOL)

    def _against(self, host: Mapping[str, Any], ends: float) -> Iterator[str]:
        for own, other in rails(self._own["rdma"], host["rdma"]):
            at, words = "-", "not tried: no time left"
            if time.monotonic() + self._plan["seconds"] < ends:
                at, words = self._one(host, own, other, ends)
            yield "probe {} {}:{} -> {} {}:{} at {}: {} {}".format(
                self._name, own["hca"], own["port"], host["host"], other["hca"], other["port"], at, TOOL, words
            )
        for address, target in self._ways(host):
            connection, _ = self._asker.call(address, target, host["host"], "carry {}".format(self._name), _SHORT_CALL)
            if connection is not None:
                connection.close()
                return

    def _one(self, host: Mapping[str, Any], own: Port, other: Port, ends: float) -> Tuple[str, str]:
        """(address by which the two sides connected, result)."""
        at, why = "-", "no way to it"
        for address, target in self._ways(host):
            at, left = target["address"], max(0.0, ends - time.monotonic() - self._plan["seconds"])
            word = "carry {} {:.1f} {hca} {port}".format(self._name, left, **other)
            connection, answer = self._asker.call(address, target, host["host"], word, left + _SHORT_CALL)
            if connection is None:
                why = answer
                continue
            with connection:
                word, _, rest = answer.partition(" ")
                if word == "busy":
                    return at, "not tried: {} was {}".format(host["host"], answer)
                if word != "listens" or not rest.isdigit():
                    return at, "failed: {} on {}".format(rest or "no answer", host["host"])
                line, said, why = sent(own, self._plan["seconds"], int(rest), at)
            self.outputs.append("[ncdiag@{} ~]# {}\n{}".format(self._name, line, said))
            return at, "failed: {}".format(why) if why else "ran"
        return at, "not tried: {}".format(why)
