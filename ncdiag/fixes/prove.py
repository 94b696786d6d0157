"""Run NCCL's choice again with a fix applied, on every host that is known.

``proved``: on every host at hand NCCL then picks what the fix means; hosts that were not seen at all are told beside
it, with what to paste. ``refuted``: on one host it does not, and the fix must not be offered. ``not-simulated``:
something of a host at hand was not seen, or the simulation does not cover the variable.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from ncdiag.facts.view import View
from ncdiag.fixes.proofs import devices, gdr, gids, sockets
from ncdiag.fixes.proofs.outcome import Change, HostProof, Proof, State

_WORST: tuple[State, ...] = ("refuted", "not-simulated", "proved")
_SHOWN = 6

_SIMULATIONS: tuple[tuple[frozenset[str], Callable[[View, Change], tuple[HostProof, ...]]], ...] = (
    (sockets.VARIABLES, sockets.prove),
    (gids.VARIABLES, gids.prove),
    (devices.VARIABLES, devices.prove),
    (gdr.VARIABLES, gdr.prove),
)


def simulated() -> frozenset[str]:
    """The variables whose effect is simulated."""
    return frozenset().union(*(variables for variables, _ in _SIMULATIONS))


def prove(view: View, env: Mapping[str, str] | None = None, unset: Sequence[str] = ()) -> Proof:
    """The proof of setting ``env`` and removing ``unset`` on all hosts; what changes nothing is not simulated."""
    change = Change(dict(env or {}), tuple(unset))
    names = [*change.env, *change.unset]
    parts: list[HostProof] = []
    for variables, simulate in _SIMULATIONS:
        if not variables.isdisjoint(names):
            parts += simulate(view, change)
    others = [name for name in names if not any(name in variables for variables, _ in _SIMULATIONS)]
    if others or not parts:
        what = ", ".join(others) if others else "a change outside NCCL's variables"
        parts.append(HostProof("", "not-simulated", f"the effect of {what} is not simulated"))
    return _joined(parts)


def _joined(parts: Sequence[HostProof]) -> Proof:
    """The worst state of the hosts at hand; what was not seen of others does not take away what is proved of these."""
    at_hand = [part for part in parts if not part.others]
    state = min((part.state for part in at_hand or parts), key=_WORST.index)
    ordered = sorted(parts, key=lambda part: (part.state != state, _WORST.index(part.state)))
    texts = [_told(part) for part in ordered]
    texts = list(dict.fromkeys(texts))
    more = f"; and {len(texts) - _SHOWN} more" if len(texts) > _SHOWN else ""
    ask_for = tuple(dict.fromkeys(ask for part in ordered for ask in part.ask_for))
    text = "; ".join(texts[:_SHOWN]) + more
    if ask_for:
        text += f": paste {_listed(ask_for)}"
    return Proof(state, text, tuple(parts), ask_for)


def _told(part: HostProof) -> str:
    """The sentence; what was not seen is set apart from what was simulated."""
    return f"not simulated: {part.text}" if part.others else part.text


def _listed(asks: Sequence[str]) -> str:
    """``ip addr`` (on node2): the command alone stands in quotes."""
    shown = []
    for command, _, where in (ask.partition(" (") for ask in asks[:4]):
        shown.append(f"`{command}` ({where}" if where else f"`{command}`")
    return " and ".join(shown) + (" ..." if len(asks) > len(shown) else "")
