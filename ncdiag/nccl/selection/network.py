"""Which network back end NCCL uses: a plugin, its own IB transport, or sockets.

Source: ncclNetInit, src/plugin/net.cc:249-315 (v2.30.7-1), src/net.cc in older tags; ncclIbInit for the conditions
under which IB fails.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from ncdiag.facts.scalars import Version, VersionRange
from ncdiag.nccl import versions
from ncdiag.nccl.environment import variables
from ncdiag.nccl.numbers import parse_number
from ncdiag.nccl.selection.devices import Devices
from ncdiag.nccl.selection.reasons import Reason, source
from ncdiag.nccl.selection.sockets import Choice
from ncdiag.nccl.selection.values import Settings

IB, SOCKET = "IB", "Socket"
_IB_SWITCH = "whether NCCL_IB_DISABLE is set"
_OOB_FOUND = "whether an IP interface for its setup socket is found"
NO_NET = "Failed to initialize any NET plugin"


class Network(msgspec.Struct, frozen=True):
    """The back end: ``name`` is ``IB``, ``Socket`` or None; ``possible`` are the candidates when it is not known.

    ``error`` is the message with which NCCL fails when no back end is left.
    """

    known: bool
    name: str | None = None
    possible: tuple[str, ...] = ()
    error: str | None = None
    reasons: tuple[Reason, ...] = ()


class Found(msgspec.Struct, frozen=True, kw_only=True):
    """What the choice depends on: the RDMA ports, the set-up interface of IB, and the available plugins.

    ``plugins`` are library files named libnccl-net*; ``verbs``: can libibverbs be loaded and open a device file?
    """

    devices: Devices
    oob: Choice
    sockets: Choice
    plugins: Sequence[str] = ()
    verbs: bool | None = None


def network(found: Found, settings: Settings, version: Version | VersionRange | None) -> Network:
    """Return the back end with these settings; a plugin without any sign is assumed absent, as a reason says."""
    since = variables()["NCCL_NET"].since
    answers = [_at(found, settings, exact) for exact in versions.samples(version, [since] if since else [])]
    first = answers[0]
    if all((a.known, a.name, a.error) == (first.known, first.name, first.error) for a in answers):
        return answers[-1]
    names = [name for a in answers for name in (a.name, *a.possible) if name]
    reason = Reason("", "the answer depends on the NCCL version", "not known", "")
    return Network(known=False, possible=tuple(dict.fromkeys(names)), reasons=(reason, *answers[-1].reasons))


def _at(found: Found, settings: Settings, version: Version) -> Network:
    reads = variables()["NCCL_NET"].exists_at(version)
    wanted = settings.get("NCCL_NET", "") if reads else ""
    ib, why = _ib(found, settings)
    place = source("network", version)
    reasons = [Reason(IB, why, _rule_of(why), source("devices", version))]
    usable = {IB: ib, SOCKET: _any(found.sockets)}
    order = [IB, SOCKET]
    if wanted is None:
        reasons.append(Reason("", "whether NCCL_NET is set is not known", "NCCL_NET", place))
        return Network(known=False, possible=tuple(order), reasons=tuple(reasons))
    if wanted:
        order = [name for name in order if name.lower() == wanted.lower()]
        reasons.append(Reason("", f"only the network named {wanted} is used", f"NCCL_NET={wanted}", place))
        if not order:
            reasons.append(Reason(wanted, "a plugin, whose own choice is not simulated", "NCCL_NET", place))
            return Network(known=False, possible=(wanted,), reasons=tuple(reasons))
    plugin, told = _plugin(found, settings)
    reasons.append(Reason("", told, "NCCL_NET_PLUGIN", place))
    if plugin and not wanted:
        return Network(known=False, possible=(plugin, *order), reasons=tuple(reasons))
    return _first(order, usable, reasons, place)


def _first(order: Sequence[str], usable: Mapping[str, bool | None], reasons: list[Reason], place: str) -> Network:
    """The first back end that works; one that may work leaves the later ones possible."""
    possible: list[str] = []
    for name in order:
        if usable[name] and not possible:
            text = "taken" if name == order[0] or order == [name] else f"taken, because {order[0]} is not available"
            return Network(known=True, name=name, reasons=(*reasons, Reason(name, text, "order of networks", place)))
        if usable[name] is not False:
            possible.append(name)
        if usable[name]:
            break
    if possible:
        return Network(known=False, possible=tuple(possible), reasons=tuple(reasons))
    return Network(known=True, error=NO_NET, reasons=(*reasons, Reason("", NO_NET, "order of networks", place)))


def _ib(found: Found, settings: Settings) -> tuple[bool | None, str]:
    """Does NCCL's own IB transport work? With the condition that decides."""
    disabled = settings.get("NCCL_IB_DISABLE", "")
    off = None if disabled is None else (parse_number(disabled) or 0) != 0
    tests = (
        (
            None if off is None else not off,
            f"switched off by NCCL_IB_DISABLE={disabled}",
            _IB_SWITCH,
        ),
        (found.verbs is not False, "libibverbs reaches no device (no /dev/infiniband/uverbs*)", ""),
        (found.devices.some, "no RDMA port is left", "whether an RDMA port can be used"),
        (_any(found.oob), "no IP interface for its setup socket", _OOB_FOUND),
    )
    for verdict, failed, _ in tests:
        if verdict is False:
            return False, failed
    for verdict, _, open_point in tests:
        if verdict is None:
            return None, f"{open_point} is not known"
    return True, f"works, with {', '.join(found.devices.names)}"


def _rule_of(why: str) -> str:
    """The variable or test that a sentence names."""
    return next((word for word in ("NCCL_IB_DISABLE", "uverbs", "IP interface") if word in why), "RDMA ports")


def _any(choice: Choice) -> bool | None:
    """Does the choice contain an interface? None if unknown."""
    return (choice.error is None) if choice.known else None


def _plugin(found: Found, settings: Settings) -> tuple[str, str]:
    """The plugin that may come first (``""`` for none), and a sentence about it."""
    named = settings.get("NCCL_NET_PLUGIN", "")
    if named == "none":
        return "", "no plugin is loaded (NCCL_NET_PLUGIN=none)"
    if named is None:
        return "plugin", "whether NCCL_NET_PLUGIN is set is not known"
    if named:
        return named, f"the plugin {named} is used first if it can be loaded, and its choice is not simulated"
    if found.plugins:
        return found.plugins[0], f"the plugin {found.plugins[0]} may be loaded, and its choice is not simulated"
    return "", "no plugin was seen; a libnccl-net.so in the library path would be used first"
