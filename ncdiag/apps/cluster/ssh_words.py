"""Parse the ssh options of a launcher, keeping those that say how to connect and rejecting those that start programs.

Source: ssh(1), ssh_config(5) and the getopt string in ssh.c of OpenSSH 9.9.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import msgspec

from ncdiag.base.errors import UsageError
from ncdiag.base.patterns import lazy_regex

_VALUED = frozenset("BDEFIJLOPQRSWbceilmopw")
"""Options that take a value."""
_CONNECTING = frozenset("46AaBbCcFiJKklmpo")
"""Options that affect which host is reached and how to log in; the others concern what the launcher runs there."""
_STARTING = frozenset(
    {"proxycommand", "localcommand", "knownhostscommand", "pkcs11provider", "securitykeyprovider", "xauthlocation"}
)
"""Settings of -o that name a program or a library of this host."""
_OTHER = frozenset(
    {"batchmode", "remotecommand", "sessiontype", "stdinnull", "requesttty", "forkafterauthentication", "localforward",
     "remoteforward", "dynamicforward", "tunnel", "controlmaster", "controlpath", "controlpersist"}
)  # fmt: skip
"""Settings of -o that concern what runs there, or that leave something behind."""
_SETTING = lazy_regex(r"[\s=\"]*(\w+)[\s=\"]*(.*)", re.DOTALL)
"""``Port=22``, ``Port 22`` or ``"Port" 22``, also with leading blanks and = (strdelim in misc.c)."""


class Ways(msgspec.Struct, frozen=True):
    """The ``options`` of ssh that say how to connect, and the ``port`` among them; None for the default."""

    options: tuple[str, ...] = ()
    port: int | None = None


def ways(words: Sequence[str]) -> Ways:
    """How ssh connects with these words before the host name.

    Raises UsageError for a word that would be a host, for a program that ssh would start here, and for an invalid port.
    """
    kept: list[str] = []
    ports: list[str] = []
    left = list(reversed(words))
    while left:
        word = left.pop()
        if not re.match(r"-\w", word):
            msg = f"the launch calls ssh with {word!r}, which is not an ssh option; correct or remove it"
            raise UsageError(msg)
        for place, letter in enumerate(word[1:], 2):
            value = None
            if letter in _VALUED:
                value = word[place:] or (left.pop() if left else "")
            if letter in _CONNECTING and (letter != "o" or _is_kept(value or "")):
                kept += [f"-{letter}"] if value is None else [f"-{letter}", value]
                ports += [found for found in [_port(letter, value or "")] if found is not None]
            if value is not None:
                break
    if ports and not (ports[0].isascii() and ports[0].isdecimal() and 0 < int(ports[0][:6]) < 1 << 16):
        msg = f"the launch calls ssh with the port {ports[0]!r}, which is not a valid port"
        raise UsageError(msg)
    return Ways(tuple(kept), int(ports[0]) if ports else None)


def _is_kept(setting: str) -> bool:
    """True for a setting of -o that says how to connect. Raises UsageError if ssh would start a program here."""
    found = _SETTING.match(setting)
    if found is None:
        return False
    name = found[1].lower()
    if name in _STARTING and found[2].strip().lower() != "none":
        msg = (
            f"the launch calls ssh with {found[1]}, which starts a program here; ncdiag starts no program named "
            "in a launch (put the option into ~/.ssh/config, which ssh also reads for ncdiag)"
        )
        raise UsageError(msg)
    return name not in _OTHER


def _port(letter: str, value: str) -> str | None:
    found = _SETTING.match(value) if letter == "o" else None
    if found and found[1].lower() == "port":
        return found[2].strip()
    return value if letter == "p" else None
