"""Which entry of a port's GID table NCCL uses.

Source: ncclIbGetGidIndex and ncclUpdateGidIndex, src/transport/net_ib/connect.cc:231-334 (v2.30.7-1); net_ib.cc:263 in
v2.21.5-1, where the choice began; NCCL_PARAM(IbGidIndex) in every tag before.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable, Mapping

import msgspec

from ncdiag.facts.model import Gid, Port
from ncdiag.facts.scalars import Version, VersionRange
from ncdiag.nccl import versions
from ncdiag.nccl.environment import variables
from ncdiag.nccl.numbers import parse_number
from ncdiag.nccl.selection.reasons import Reason

SOURCE = "src/transport/net_ib/connect.cc:298 (v2.30.7-1)"
SOURCE_BLIND = "src/transport/net_ib.cc:80 (v2.20.5-1)"
CHANGES = (versions.GID_CHOICE, versions.GID_FLID)
IPV4, IPV6 = 4, 6

_MAPPED = ipaddress.ip_network("::ffff:0:0/96")
_MAPPED_MULTICAST = ipaddress.ip_network("ff0e::ffff:0:0/96")
_LINK_LOCAL = ipaddress.ip_network("fe80::/64")
_ROCE = {"IB": 1, "RoCE v1": 1, "RoCE v2": 2}
"""What gid_attrs/types says as a number; the file of a v1 entry reads ``IB/RoCE v1``."""


class GidChoice(msgspec.Struct, frozen=True):
    """The GID index in force. ``index`` None and ``known`` False: not settled, ``possible`` has the candidates.

    ``entry`` is the table's entry at the index, None where the table was not seen or does not hold it.
    """

    known: bool
    index: int | None = None
    entry: Gid | None = None
    possible: tuple[int, ...] = ()
    reasons: tuple[Reason, ...] = ()


class _Entry(msgspec.Struct, frozen=True):
    """What is known of a table entry; None is unknown. ``ip`` is the whole GID as an IPv6 address."""

    index: int
    ip: ipaddress.IPv6Address | None
    version: int | None

    @property
    def family(self) -> int | None:
        """IPv4 for mapped addresses, IPv6 for all others, the empty entry included (getGidAddrFamily)."""
        if self.ip is None:
            return None
        return IPV4 if self.ip in _MAPPED or self.ip in _MAPPED_MULTICAST else IPV6

    @property
    def valid(self) -> bool | None:
        """Neither empty nor link-local (validGid)."""
        return None if self.ip is None else int(self.ip) != 0 and self.ip not in _LINK_LOCAL


class _Wanted(msgspec.Struct, frozen=True):
    family: int
    version: int
    network: ipaddress.IPv4Network | ipaddress.IPv6Network | None

    def in_range(self, entry: _Entry) -> bool | None:
        """matchGidAddrPrefix: no range matches all; IPv4 looks at the last four bytes only."""
        if self.network is None:
            return True
        if entry.ip is None:
            return None
        if isinstance(self.network, ipaddress.IPv4Network):
            return ipaddress.IPv4Address(int(entry.ip) & 0xFFFFFFFF) in self.network
        return entry.ip in self.network


def gid_index(port: Port, settings: Mapping[str, str], version: Version | VersionRange | None) -> GidChoice:
    """The GID index that NCCL uses on ``port`` with these variables set (those not in ``settings`` are unset).

    2.3 .. 2.20: NCCL_IB_GID_INDEX, default 0, used blindly. 2.21 and later: any value >= 0 is used blindly, -1 (the
    default) chooses. InfiniBand ports look at no index of the user since 2.22.3. A table that was not seen whole,
    entries without type or address, an unknown link layer: answered only where all possibilities agree.
    """
    answers = {exact: _at(port, settings, exact) for exact in versions.samples(version, CHANGES)}
    found = {answer.index if answer.known else None for answer in answers.values()}
    if len(found) == 1:
        return list(answers.values())[-1]
    told = tuple(reason for answer in answers.values() for reason in answer.reasons)
    between = ", ".join(f"{exact} and later: {answer.index}" for exact, answer in answers.items())
    reason = Reason("", f"the answer depends on the NCCL version ({between})", "not known", "")
    candidates = [index for answer in answers.values() for index in (answer.index, *answer.possible)]
    return _unknown(candidates, (reason, *dict.fromkeys(told)))


def _at(port: Port, settings: Mapping[str, str], version: Version) -> GidChoice:
    if version >= versions.GID_FLID and port.link_layer != "Ethernet":
        infiniband = _infiniband(port, settings)
        if port.link_layer == "InfiniBand":
            return infiniband
        roce = _roce(port, settings, version)
        if infiniband.known and roce.known and infiniband.index == roce.index:
            return roce
        reason = Reason("", "whether the port is InfiniBand or Ethernet is not known", "not known", SOURCE)
        return _unknown((infiniband.index, roce.index), (reason, *roce.reasons))
    return _roce(port, settings, version)


def _number(settings: Mapping[str, str], name: str, version: Version) -> int:
    """A variable as NCCL reads it, with its default."""
    number = parse_number(settings.get(name))
    default = variables()[name].default_at(version)
    return number if number is not None else default if isinstance(default, int) else 0


def _infiniband(port: Port, settings: Mapping[str, str]) -> GidChoice:
    """2.22.3 and later: the entry NCCL_IB_ROUTABLE_FLID_GID_INDEX if it holds a FLID (bytes 4 and 5), else 0."""
    index = _number(settings, "NCCL_IB_ROUTABLE_FLID_GID_INDEX", versions.GID_FLID)
    rule = "InfiniBand: NCCL_IB_ROUTABLE_FLID_GID_INDEX"
    if (entry := _table(port).get(index)) is None or entry.ip is None:
        if port.gids_complete and entry is None:
            return _answer(port, 0, f"entry {index} is empty", rule, SOURCE)
        reason = Reason(str(index), "the entry was not seen", rule, SOURCE)
        return _unknown((0, index), (reason,))
    if entry.ip.packed[4:6] != b"\0\0":
        return _answer(port, index, f"entry {index} holds a routable FLID", rule, SOURCE)
    return _answer(port, 0, f"entry {index} holds no FLID; the index of the user is not looked at", rule, SOURCE)


def _roce(port: Port, settings: Mapping[str, str], version: Version) -> GidChoice:
    asked = _number(settings, "NCCL_IB_GID_INDEX", version)
    if version < versions.GID_CHOICE:
        how = f"set to {asked}" if settings.get("NCCL_IB_GID_INDEX") else "not set: the default is 0"
        return _answer(port, asked, f"{how}, used without a look at the table", "NCCL_IB_GID_INDEX", SOURCE_BLIND)
    if asked >= 0:
        return _answer(port, asked, f"set to {asked}, used without a look at the table", "NCCL_IB_GID_INDEX", SOURCE)
    return _search(port, _wanted(settings, version))


def _wanted(settings: Mapping[str, str], version: Version) -> _Wanted:
    """Family, version and range that the choice looks for (envIbAddrFamily, envIbAddrRange)."""
    family = IPV6 if settings.get("NCCL_IB_ADDR_FAMILY") == "AF_INET6" else IPV4
    network: ipaddress.IPv4Network | ipaddress.IPv6Network | None = None
    address, slash, length = settings.get("NCCL_IB_ADDR_RANGE", "").partition("/")
    if slash:
        bits = parse_number(length.lstrip("0") or "0") or 0
        try:
            made = ipaddress.ip_network(f"{address}/{bits}", strict=False)
        except ValueError:
            made = None  # NCCL ignores a range that it cannot read
        network = made if made is not None and made.version == family and bits > 0 else None
    return _Wanted(family, _number(settings, "NCCL_IB_ROCE_VERSION_NUM", version), network)


def _table(port: Port) -> dict[int, _Entry]:
    found = {}
    for gid in port.gids:
        text = gid.address if gid.address is not None else f"::ffff:{gid.ip}" if gid.ip else None
        try:
            ip = ipaddress.IPv6Address(text.split("%")[0]) if text is not None else None
        except ValueError:
            ip = None
        found[gid.index] = _Entry(gid.index, ip, _ROCE.get(gid.type) if gid.type else None)
    return found


def _candidates(port: Port, table: dict[int, _Entry]) -> Iterable[_Entry]:
    """The entries from 1 on; in a table that was not seen whole, unknown ones stand for the gaps and what follows."""
    last = max(table, default=0)
    for index in range(1, last + 1):
        if index in table:
            yield table[index]
        elif not port.gids_complete:
            yield _Entry(index, None, None)
    if not port.gids_complete:
        yield _Entry(last + 1, None, None)


def _search(port: Port, wanted: _Wanted) -> GidChoice:
    """The walk over the table, with the set of indices that may be current where something is unknown."""
    table = _table(port)
    if not table and not port.gids_complete:
        reason = Reason("", "the GID table of the port was not seen", "choice of 2.21 and later", SOURCE)
        return _unknown((), (reason,))
    empty = ipaddress.IPv6Address(0)
    first = table.get(0, _Entry(0, empty if port.gids_complete else None, None))
    current: dict[int, _Entry] = {0: first}
    reasons: list[Reason] = []
    for candidate in _candidates(port, table):
        outcomes = {index: _replaces(candidate, entry, wanted) for index, entry in current.items()}
        if any(outcome[0] is not False for outcome in outcomes.values()):
            texts = dict.fromkeys(text for verdict, text in outcomes.values() if verdict is not False)
            reasons.extend(Reason(str(candidate.index), text, _rule(wanted), SOURCE) for text in texts)
            current = {index: entry for index, entry in current.items() if outcomes[index][0] is not True}
            current[candidate.index] = candidate
    if len(current) > 1:
        return _unknown(current, tuple(reasons))
    chosen = next(iter(current))
    if chosen == 0 and not reasons:
        reasons.append(Reason("0", f"no entry from 1 on is IPv{wanted.family} and in range", _rule(wanted), SOURCE))
    return GidChoice(known=True, index=chosen, entry=_entry(port, chosen), reasons=tuple(reasons))


def _rule(wanted: _Wanted) -> str:
    within = f" in {wanted.network}" if wanted.network else ""
    return f"choice of 2.21 and later: IPv{wanted.family}{within}, RoCE v{wanted.version}"


def _replaces(candidate: _Entry, current: _Entry, wanted: _Wanted) -> tuple[bool | None, str]:
    """Does the candidate become the current entry (ncclUpdateGidIndex)? None when that hangs on something unknown.

    A candidate must be of the wanted family, and on the second branch of the wanted version; so it differs from the
    current entry exactly where that one is not. Put this way an unknown candidate does not make more unknown than it
    must.
    """
    fits = _both(_equal(candidate.family, wanted.family), wanted.in_range(candidate))
    if fits is False:
        return False, "is of the other family or out of range"
    other_family = _not(_equal(current.family, wanted.family))
    better = _either(_not(_equal(current.version, wanted.version)), _not(current.valid))
    newer = _both(better, _equal(candidate.version, wanted.version))
    verdict = _both(fits, _either(other_family, _both(candidate.valid, newer)))
    if verdict is None:
        return None, "may replace the entry before it; its address or type was not seen"
    if other_family:
        return verdict, f"first of family IPv{wanted.family} (its RoCE version is not looked at here)"
    return verdict, f"is RoCE v{wanted.version} where the entry before it is not"


def _equal(left: int | None, right: int | None) -> bool | None:
    return None if left is None or right is None else left == right


def _not(value: bool | None) -> bool | None:  # noqa: FBT001
    return None if value is None else not value


def _both(left: bool | None, right: bool | None) -> bool | None:  # noqa: FBT001
    return False if left is False or right is False else None if left is None or right is None else True


def _either(left: bool | None, right: bool | None) -> bool | None:  # noqa: FBT001
    return _not(_both(_not(left), _not(right)))


def _entry(port: Port, index: int) -> Gid | None:
    return next((gid for gid in port.gids if gid.index == index), None)


def _answer(port: Port, index: int, text: str, rule: str, source: str) -> GidChoice:
    reason = Reason(str(index), text, rule, source)
    return GidChoice(known=True, index=index, entry=_entry(port, index), reasons=(reason,))


def _unknown(possible: Iterable[int | None], reasons: tuple[Reason, ...]) -> GidChoice:
    return GidChoice(known=False, possible=tuple(sorted({i for i in possible if i is not None})), reasons=reasons)
