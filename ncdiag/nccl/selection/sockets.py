"""Which IP interfaces NCCL uses for the bootstrap, for the TCP transport and for the set-up sockets of NET/IB.

Source: ncclFindInterfaces (src/misc/socket.cc:190-232), ncclOsFindInterfaces (src/os/linux.cc:379-442) and
bootstrapNetInit (src/bootstrap.cc:105-142) at v2.30.7-1, and their predecessors in every tag since v2.3.5-5.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence

import msgspec

from ncdiag.facts.model import Interface
from ncdiag.facts.scalars import Version, VersionRange
from ncdiag.nccl import versions
from ncdiag.nccl.selection.addresses import CommId, Entry, in_subnet, is_running, kernel_order, parse_comm_id
from ncdiag.nccl.selection.names import NameList
from ncdiag.nccl.selection.reasons import Reason

MAX_INTERFACES = 16
"""The largest number of interfaces that NET/Socket uses as devices (MAX_IFS)."""

CHANGES = (versions.EXACT_NAMES, versions.COMM_ID_DECIDES, versions.RUNNING_ONLY)
NO_BOOTSTRAP = "Bootstrap : no socket interface found"
NO_SOCKET = "NET/Socket : no interface found"
NO_OOB = "NET/IB : No IP interface found."
NO_SUBNET = "NET/Socket : No usable listening interface found"
BAD_COMM_ID = "Invalid NCCL_COMM_ID"

_FAMILIES = {"AF_INET": 4, "AF_INET6": 6}
_DEFAULTS_OLD = ("^docker,lo", "docker", "lo")
_DEFAULTS = ("^docker,lo,virbr", "docker", "lo", "virbr")

Settings = Mapping[str, str | None]
"""Variables that are set, by name; None means unknown whether the variable is set. All others are unset."""


class Chosen(msgspec.Struct, frozen=True):
    """A chosen interface, with the address that NCCL announces (None where that is not known)."""

    name: str
    address: str | None = None


class Choice(msgspec.Struct, frozen=True):
    """The interfaces that NCCL uses.

    ``known`` False: several results are possible, and ``possible`` has the names of all interfaces among them.
    ``error`` is the message with which NCCL fails (``interfaces`` is then empty). ``reasons`` has an entry for each
    interface that was considered, and says which facts are missing where the result is not known.
    """

    known: bool
    interfaces: tuple[Chosen, ...] = ()
    possible: tuple[str, ...] = ()
    error: str | None = None
    reasons: tuple[Reason, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the interfaces, in NCCL's order."""
        return tuple(chosen.name for chosen in self.interfaces)


class _Scan:
    """One pass over the addresses: collects the interfaces that are used, those that may be, and the reasons."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.taken: list[Chosen] = []
        self.maybe: list[str] = []
        self.reasons: list[Reason] = []
        self.error: str | None = None
        self._told: set[str] = set()

    @property
    def full(self) -> bool:
        return len(self.taken) >= self.limit

    def tell(self, entry: Entry, text: str, rule: str, source: str) -> None:
        if text and entry.interface.name not in self._told:
            self._told.add(entry.interface.name)
            self.reasons.append(Reason(entry.interface.name, text, rule, source))

    def offer(self, entry: Entry, verdict: bool | None, why: str, rule: str, source: str) -> None:  # noqa: FBT001
        name = entry.interface.name
        if verdict is False:
            self.tell(entry, why, rule, source)
        elif name not in {chosen.name for chosen in self.taken}:
            self._told.discard(name)
            self.tell(entry, why, rule, source)
            if verdict is None:
                self.maybe.append(name)
            else:
                self.taken.append(Chosen(name, entry.address.ip if entry.address else None))

    def choice(self) -> Choice | None:
        """The result; None when no interface is used, even possibly."""
        if self.error:
            return Choice(known=True, error=self.error, reasons=tuple(self.reasons))
        if not self.maybe:
            return Choice(known=True, interfaces=tuple(self.taken), reasons=tuple(self.reasons)) if self.taken else None
        names = tuple(dict.fromkeys([*self.maybe, *(chosen.name for chosen in self.taken)]))
        if self.taken and len(names) == 1:  # another address of an interface that is used anyway
            return Choice(known=True, interfaces=(Chosen(names[0]),), reasons=tuple(self.reasons))
        return Choice(known=False, possible=names, reasons=tuple(self.reasons))


def find_interfaces(
    interfaces: Sequence[Interface], settings: Settings, version: Version | VersionRange | None, limit: int = 1,
    error: str = NO_SOCKET,
) -> Choice:  # fmt: skip
    """Return the first ``limit`` interfaces that NCCL accepts; ``interfaces`` must be complete, in kernel order.

    ``error`` is the message printed when none is found. For a version range or None, the result is known where all its
    releases agree.
    """

    def at(exact: Version) -> Choice:
        return _for_families(settings, lambda chosen: _find(interfaces, chosen, exact, limit, error))

    return _agreed(version, at)


def bootstrap(interfaces: Sequence[Interface], settings: Settings, version: Version | VersionRange | None) -> Choice:
    """Return the interface of the bootstrap (the ``Bootstrap : Using`` line).

    NCCL_COMM_ID, when set, alone decides since 2.8.3. Up to 2.7 the line lists what `find_interfaces` accepts, and with
    NCCL_COMM_ID the ranks still listen in its subnet (findSubnetIf, src/bootstrap.cc:293, v2.7.8-1). With
    NCCL_OOB_NET_ENABLE=1 (2.23 and later) the ring between the ranks uses a network device instead, and the root's
    socket stays on this interface.
    """

    def at(exact: Version) -> Choice:
        if "NCCL_COMM_ID" not in settings:
            return _for_families(settings, lambda chosen: _find(interfaces, chosen, exact, 1, NO_BOOTSTRAP))
        found = _comm_id_scan(interfaces, settings["NCCL_COMM_ID"], _source(exact))
        return found.choice() or Choice(known=True, error=NO_SUBNET, reasons=tuple(found.reasons))

    return _agreed(version, at)


def net_socket(interfaces: Sequence[Interface], settings: Settings, version: Version | VersionRange | None) -> Choice:
    """Return the devices of NET/Socket (the ``NET/Socket : Using`` line), at most 16; all of them carry data."""
    return find_interfaces(interfaces, settings, version, MAX_INTERFACES, NO_SOCKET)


def oob(interfaces: Sequence[Interface], settings: Settings, version: Version | VersionRange | None) -> Choice:
    """Return the interface of the set-up socket of NET/IB (``; OOB eth0:...``)."""
    return find_interfaces(interfaces, settings, version, 1, NO_OOB)


def _agreed(version: Version | VersionRange | None, at: Callable[[Version], Choice]) -> Choice:
    answers = {exact: at(exact) for exact in versions.samples(version, CHANGES)}
    return _same(list(answers.values()), "the NCCL version: " + ", ".join(f"{v} and later" for v in answers))


def _for_families(settings: Settings, find: Callable[[Settings], Choice]) -> Choice:
    """Call ``find``; where it is unknown whether NCCL_SOCKET_FAMILY is set, call it for every possible value."""
    if settings.get("NCCL_SOCKET_FAMILY", "") is not None:
        return find(settings)
    rest = {name: value for name, value in settings.items() if name != "NCCL_SOCKET_FAMILY"}
    answers = [find(rest), *(find({**rest, "NCCL_SOCKET_FAMILY": family}) for family in _FAMILIES)]
    return _same(answers, "whether NCCL_SOCKET_FAMILY is set")


def _same(answers: Sequence[Choice], depends_on: str) -> Choice:
    """The choice that all have in common; unknown when they differ."""
    if len({(answer.known, answer.interfaces, answer.error) for answer in answers}) == 1:
        return answers[-1]
    names = [name for answer in answers for name in (*answer.names, *answer.possible)]
    reason = Reason("", f"the answer depends on {depends_on}", "not known", "")
    reasons = tuple(dict.fromkeys([reason, *(told for answer in answers for told in answer.reasons)]))
    return Choice(known=False, possible=tuple(dict.fromkeys(names)), reasons=reasons)


def _find(interfaces: Sequence[Interface], settings: Settings, version: Version, limit: int, error: str) -> Choice:
    """The result of ncclFindInterfaces of one release, with NCCL_SOCKET_FAMILY known."""
    source = _source(version)
    family = _FAMILIES.get(settings.get("NCCL_SOCKET_FAMILY") or "")
    wanted = settings.get("NCCL_SOCKET_IFNAME", "")
    if wanted is None:
        reason = Reason("", "whether NCCL_SOCKET_IFNAME is set is not known", "NCCL_SOCKET_IFNAME", source)
        return Choice(known=False, possible=tuple(i.name for i in interfaces), reasons=(reason,))

    def scan(pattern: str, rule: str) -> _Scan:
        return _scan(interfaces, NameList.parse(pattern, version), version, family, limit, rule)

    if len(wanted) > 1:
        found = scan(wanted, f"NCCL_SOCKET_IFNAME={wanted}")
        return found.choice() or Choice(known=True, error=error, reasons=tuple(found.reasons))
    steps = [lambda: scan("ib", "default: names that begin with ib come first")]
    if settings.get("NCCL_COMM_ID", "") != "":
        steps.append(lambda: _comm_id_scan(interfaces, settings["NCCL_COMM_ID"], source))
    patterns = _DEFAULTS if version >= versions.RUNNING_ONLY else _DEFAULTS_OLD
    steps += [functools.partial(scan, pattern, f"default list {pattern}") for pattern in patterns]
    return _first(steps, error)


def _first(steps: Sequence[Callable[[], _Scan]], error: str) -> Choice:
    """The result of the first step that finds an interface.

    An uncertain step makes the results of later ones possible.
    """
    reasons: list[Reason] = []
    possible: list[str] = []
    for step in steps:
        result = step()
        reasons += result.reasons
        choice = result.choice()
        if choice is None:
            continue
        if not possible and (choice.known or choice.error):
            return msgspec.structs.replace(choice, reasons=tuple(reasons))
        possible += [*choice.names, *choice.possible]
        if result.taken:
            break
    if not possible:
        return Choice(known=True, error=error, reasons=tuple(reasons))
    return Choice(known=False, possible=tuple(dict.fromkeys(possible)), reasons=tuple(reasons))


def _scan(  # noqa: PLR0913, PLR0917  (the parameters of NCCL's function)
    interfaces: Sequence[Interface], wanted: NameList, version: Version, family: int | None, limit: int, rule: str
) -> _Scan:
    """The result of ncclOsFindInterfaces: all addresses in kernel order, compared with one list."""
    scan = _Scan(limit)
    source = _source(version)
    for entry in kernel_order(interfaces):
        if scan.full:
            break
        verdict, why, by = _test(entry, wanted, version, family, rule)
        scan.offer(entry, verdict, why, by, source)
    return scan


def _test(
    entry: Entry, wanted: NameList, version: Version, family: int | None, rule: str
) -> tuple[bool | None, str, str]:
    """Does NCCL use this address? With the reason and the rule that decided; None when a fact is missing."""
    name = entry.interface.name
    if not wanted.admits(name):
        return False, _not_admitted(name, wanted, rule), rule
    if family is not None and entry.family != family:
        return False, f"has no IPv{family} address", "NCCL_SOCKET_FAMILY"
    if entry.address is not None and entry.address.ip == "::1":
        return False, "::1 is skipped", "IPv6 loopback test"
    running = is_running(entry.interface) if version >= versions.RUNNING_ONLY else True
    if running is False:
        return False, "is not running (no carrier or down), skipped since 2.28.3", "IFF_RUNNING"
    if entry.address is None or running is None:
        what = "its addresses were not seen" if entry.address is None else "whether it is running was not seen"
        return None, what, rule if entry.address is None else "IFF_RUNNING"
    item = wanted.matching(name)
    why = f", it matches {item}" if item is not None else ""
    if is_running(entry.interface) is False:
        why += ", although it is not running (tested only since 2.28.3)"
    return True, f"taken with {entry.address.ip}{why}", rule


def _not_admitted(name: str, wanted: NameList, rule: str) -> str:
    """Why a list does not allow a name; empty for the defaults of a single name, whose reasons would be noise."""
    if wanted.exclude:
        return f"excluded by ^{wanted.matching(name) or ''}"
    return "" if rule.startswith("default") else f"does not match {wanted.text}"


def _comm_id_scan(interfaces: Sequence[Interface], text: str | None, source: str) -> _Scan:
    """The first interface in the subnet of NCCL_COMM_ID; IFF_RUNNING and the name lists are ignored."""
    rule = "NCCL_COMM_ID"
    comm_id = parse_comm_id(text) if text is not None else CommId("host")
    scan = _Scan(1)
    if comm_id.kind == "invalid":
        scan.error = BAD_COMM_ID
        scan.reasons.append(Reason("", f"{text!r} is not valid", rule, source))
    elif comm_id.kind == "host":
        what = f"the address of the host {comm_id.ip}" if text is not None else "whether NCCL_COMM_ID is set"
        scan.maybe += [interface.name for interface in interfaces]
        scan.reasons.append(Reason("", f"{what} is not known", rule, source))
    else:
        for entry in kernel_order(interfaces):
            if scan.full:
                break
            inside = in_subnet(entry, comm_id)
            where = "in its subnet" if inside else "in another subnet"
            why = f"{comm_id.ip} is {where}" if inside is not None else "its subnet is not known"
            scan.offer(entry, inside, why, rule, source)
    return scan


def _source(version: Version) -> str:
    """The place of the function in the source of the release."""
    if version >= Version(2, 29):
        return "src/os/linux.cc:379 (v2.30.7-1)"
    if version >= Version(2, 26):
        return "src/misc/socket.cc:129 (v2.27.7-1)"
    return "src/misc/socket.cc:100 (v2.18.3-1)" if version >= Version(2, 12) else "src/include/socket.h:62 (v2.4.2-1)"
