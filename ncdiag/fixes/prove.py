"""Simulate NCCL's choice with a fix applied, on every known host.

``proved``: on every known host NCCL then chooses what the fix intends; hosts that were not seen at all are listed
separately, with the commands to paste. ``refuted``: on one host it does not, so the fix must not be offered.
``not-simulated``: data of a known host is missing, or the simulation does not cover the variable.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence

from ncdiag.base.patterns import lazy_regex
from ncdiag.facts.fold import fold_hosts
from ncdiag.facts.view import View
from ncdiag.fixes.proofs import devices, gdr, gids, local, rails, sockets
from ncdiag.fixes.proofs.outcome import Change, HostProof, Proof, State

_WORST: tuple[State, ...] = ("refuted", "not-simulated", "proved")
_SHOWN, _ASKS_SHOWN = 6, 4
_HOST = "\0"
"""Replaces the name of a host while sentences are compared."""
_WORD = lazy_regex(r"\w[\w.-]*\w|\w")
_ADDRESS = lazy_regex(r" \((?:\d{1,3}(?:\.\d{1,3}){3}|[0-9a-fA-F]*:[0-9a-fA-F:.]+(?:%[\w.-]+)?)\)")

_SIMULATIONS: tuple[tuple[frozenset[str], Callable[[View, Change], tuple[HostProof, ...]]], ...] = (
    (sockets.VARIABLES, sockets.prove),
    (gids.VARIABLES, gids.prove),
    (devices.VARIABLES, devices.prove),
    (gdr.VARIABLES, gdr.prove),
    (local.VARIABLES, local.prove),
    (rails.VARIABLES, rails.prove),
)


def simulated() -> frozenset[str]:
    """The variables whose effect can be simulated."""
    return frozenset().union(*(variables for variables, _ in _SIMULATIONS))


def prove(view: View, env: Mapping[str, str] | None = None, unset: Sequence[str] = ()) -> Proof:
    """The proof of setting ``env`` and removing ``unset`` on all hosts; a change without effect is not simulated.

    It runs once for all findings that offer the same fix.
    """
    change = Change(dict(env or {}), tuple(unset))
    return view.remembered(("proof", *change.env.items(), change.unset), lambda: _prove(view, change))


def _prove(view: View, change: Change) -> Proof:
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
    """The worst state of the known hosts; unseen hosts do not invalidate a proof for these."""
    at_hand = [part for part in parts if not part.others]
    state = min((part.state for part in at_hand or parts), key=_WORST.index)
    ordered = sorted(parts, key=lambda part: (part.state != state, _WORST.index(part.state)))
    texts = _texts(ordered)
    more = f"; and {len(texts) - _SHOWN} more" if len(texts) > _SHOWN else ""
    ask_for = tuple(dict.fromkeys(ask for part in ordered for ask in part.ask_for))
    text = "; ".join(texts[:_SHOWN]) + more
    if ask_for:
        text += f": paste {listed(ask_for)}"
    return Proof(state, text, tuple(parts), ask_for)


def _texts(parts: Iterable[HostProof]) -> list[str]:
    """The sentences; hosts for which the same is true are merged, without the addresses that differ."""
    groups: dict[str, dict[str, list[HostProof]]] = defaultdict(lambda: defaultdict(list))
    for part in parts:
        text = _without(part.host, part.text)
        groups[_ADDRESS.sub("", text) if _HOST in text else text][text].append(part)
    texts = []
    for short, forms in groups.items():
        alike = [part for found in forms.values() for part in found]
        told = (next(iter(forms)) if len(forms) == 1 else short).replace(_HOST, fold_hosts(part.host for part in alike))
        texts.append(f"not simulated: {told}" if alike[0].others else told)
    return texts


def _without(host: str, text: str) -> str:
    """The text with the host's name replaced by a mark."""
    return _WORD.sub(lambda word: _HOST if word[0] == host else word[0], text)


def listed(asks: Sequence[str]) -> str:
    """A request for outputs, ```ip addr` (on node2)``: only the command is quoted, followed by all its hosts."""
    hosts: dict[str, list[str]] = {}
    for ask in asks:
        command, _, place = ask.partition(" (on ")
        hosts.setdefault(command if place else ask, []).extend([place.removesuffix(")")] if place else [])
    shown = []
    for told, places in list(hosts.items())[:_ASKS_SHOWN]:
        command, bracket, rest = told.partition(" (")
        shown.append(f"`{command}`" + (f" (on {_on(places)})" if places else "") + (bracket + rest))
    return " and ".join(shown) + (" ..." if len(hosts) > len(shown) else "")


def _on(places: Sequence[str]) -> str:
    """Host names folded; words such as ``each host`` unchanged."""
    named = [place for place in places if " " not in place]
    return ", ".join([*([fold_hosts(named)] if named else []), *(place for place in places if " " in place)])
