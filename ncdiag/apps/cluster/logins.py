"""Test ssh from this host to each host of a launch, without a prompt and with the launcher's options.

The lines are parsed by `ncdiag.parsers._probe_needs`.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

from ncdiag.agent.run import run
from ncdiag.apps.cluster.ssh_words import Ways

_CONNECT, _ALL = 10, 20
"""Timeout in seconds for a connection (ssh's ConnectTimeout), and for one login including its shell startup."""
_AT_ONCE = 32
_LONGEST = 400


def logins(own: str, peers: Sequence[str], how: Ways) -> list[str]:
    """A line for each peer; ``own`` is the name of this host."""
    at = f" port {how.port}" if how.port is not None else ""
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        words = pool.map(lambda peer: _tried(peer, how.options), peers)
        return [f"probe {own} ssh {peer}{at}: {said}" for peer, said in zip(peers, words, strict=True)]


def _tried(peer: str, options: Sequence[str]) -> str:
    """The result, in the words of ssh if it failed."""
    settings = ["-o", "BatchMode=yes", "-o", f"ConnectTimeout={_CONNECT}"]
    ran = run(["ssh", *settings, *options, peer, "true"], _ALL)
    if ran.why is None and ran.status == 0:
        return "logged in"
    said = [line.strip() for line in ran.errors.decode("utf-8", "replace").splitlines() if line.strip()]
    words = said[-1] if said else ran.why or f"exit status {ran.status}"
    return (words if ran.why is None else f"{ran.why}: {words}" if said else ran.why)[:_LONGEST]
