"""Which entry of a port's GID table NCCL uses.

Source: ncclIbGetGidIndex and ncclUpdateGidIndex, src/transport/net_ib/connect.cc:231-334 (v2.30.7-1); net_ib.cc:263 in
v2.21.5-1, where the choice began; NCCL_PARAM(IbGidIndex) in every tag before.
"""

from __future__ import annotations

import functools
import ipaddress
from collections.abc import Iterable, Mapping

import msgspec

from ncdiag.base.patterns import lazy_regex
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
_READ = (
    "NCCL_IB_GID_INDEX", "NCCL_IB_ADDR_FAMILY", "NCCL_IB_ADDR_RANGE", "NCCL_IB_ROCE_VERSION_NUM",
    "NCCL_IB_ROUTABLE_FLID_GID_INDEX",
)  # fmt: skip
"""The variables that the choice depends on."""

_MAPPED = (b"\0" * 10 + b"\xff\xff", b"\xff\x0e" + b"\0" * 8 + b"\xff\xff")
"""The prefixes of addresses that represent IPv4 ones: ::ffff:0:0/96 and, for multicast, ff0e::ffff:0:0/96."""
_LINK_LOCAL = b"\xfe\x80" + b"\0" * 6
"""The prefix of link-local addresses, fe80::/64."""
_WRITTEN_OUT = lazy_regex(r"[0-9A-Fa-f]{4}(?::[0-9A-Fa-f]{4}){7}")
_STAND_INS = {_MAPPED[0]: "::ffff:192.0.2.1", _MAPPED[1]: "ff0e::ffff:192.0.2.1", _LINK_LOCAL: "fe80::1"}
_ROCE = {"IB": 1, "RoCE v1": 1, "RoCE v2": 2}
"""The RoCE version by GID type, as gid_attrs/types has it; the file of a v1 entry reads ``IB/RoCE v1``."""


class GidChoice(msgspec.Struct, frozen=True):
    """The GID index in force; ``index`` None and ``known`` False means undecided, with candidates in ``possible``.

    ``entry`` is the table's entry at the index, None where the table was not seen or does not contain it.
    """

    known: bool
    index: int | None = None
    entry: Gid | None = None
    possible: tuple[int, ...] = ()
    reasons: tuple[Reason, ...] = ()


class _Entry(msgspec.Struct, frozen=True):
    """The properties of a table entry that the choice depends on, so that equal tables are searched once.

    None is unknown.

    ``family``: IPv4 for mapped addresses, IPv6 for all others, including the empty entry (getGidAddrFamily). ``valid``:
    neither empty nor link-local (validGid). ``flid``: bytes 4 and 5 are not 0. ``ip`` is the whole GID as an IPv6
    address, set where the variables restrict the address range.
    """

    index: int
    family: int | None = None
    valid: bool | None = None
    flid: bool | None = None
    version: int | None = None
    ip: ipaddress.IPv6Address | None = None


def _empty(index: int) -> _Entry:
    return _Entry(index, family=IPV6, valid=False, flid=False, ip=ipaddress.IPv6Address(0))


class _Table(msgspec.Struct, frozen=True):
    """The table of a port and its link layer; ``whole``: entries that are not in it are known to be empty."""

    layer: str | None
    whole: bool
    entries: tuple[_Entry, ...]

    def at(self, index: int) -> _Entry | None:
        """The entry with that index, None where the table has none."""
        return next((entry for entry in self.entries if entry.index == index), None)


class _Wanted(msgspec.Struct, frozen=True):
    family: int
    version: int
    network: ipaddress.IPv4Network | ipaddress.IPv6Network | None

    def in_range(self, entry: _Entry) -> bool | None:
        """The result of matchGidAddrPrefix: no range matches all; for IPv4 only the last four bytes are compared."""
        if self.network is None:
            return True
        if entry.ip is None:
            return None
        if isinstance(self.network, ipaddress.IPv4Network):
            return ipaddress.IPv4Address(int(entry.ip) & 0xFFFFFFFF) in self.network
        return entry.ip in self.network


def gid_index(port: Port, settings: Mapping[str, str], version: Version | VersionRange | None) -> GidChoice:
    """Return the GID index that NCCL uses on ``port`` with these variables (those not in ``settings`` are unset).

    2.3 to 2.20 use NCCL_IB_GID_INDEX (default 0) unchecked. 2.21 and later use any value >= 0 unchecked, and choose for
    -1 (the default). InfiniBand ports ignore NCCL_IB_GID_INDEX since 2.22.3. For a table that was not seen whole,
    entries without type or address, or an unknown link layer, the index is known only where all possibilities agree.
    """
    ranged = bool(settings.get("NCCL_IB_ADDR_RANGE"))
    entries = tuple(_entry_of(gid, keep_ip=ranged) for gid in port.gids)
    table = _Table(port.link_layer, bool(port.gids_complete), entries)
    read = tuple((name, settings[name]) for name in _READ if name in settings)
    answer = _of_table(table, read, version)
    if not answer.known:
        return answer
    return msgspec.structs.replace(answer, entry=next((gid for gid in port.gids if gid.index == answer.index), None))


@functools.lru_cache(maxsize=1024)
def _of_table(
    table: _Table, read: tuple[tuple[str, str], ...], version: Version | VersionRange | None
) -> GidChoice:  # fmt: skip
    """The choice without its entry, cached: most ports of a cluster have equal tables."""
    settings = dict(read)
    answers = {exact: _at(table, settings, exact) for exact in versions.samples(version, CHANGES)}
    found = {answer.index if answer.known else None for answer in answers.values()}
    if len(found) == 1:
        return list(answers.values())[-1]
    told = tuple(reason for answer in answers.values() for reason in answer.reasons)
    between = ", ".join(f"{exact} and later: {answer.index}" for exact, answer in answers.items())
    reason = Reason("", f"the answer depends on the NCCL version ({between})", "not known", "")
    candidates = [index for answer in answers.values() for index in (answer.index, *answer.possible)]
    return _unknown(candidates, (reason, *dict.fromkeys(told)))


def _at(table: _Table, settings: Mapping[str, str], version: Version) -> GidChoice:
    if version >= versions.GID_FLID and table.layer != "Ethernet":
        infiniband = _infiniband(table, settings)
        if table.layer == "InfiniBand":
            return infiniband
        roce = _roce(table, settings, version)
        if infiniband.known and roce.known and infiniband.index == roce.index:
            return roce
        reason = Reason("", "whether the port is InfiniBand or Ethernet is not known", "not known", SOURCE)
        return _unknown((infiniband.index, roce.index), (reason, *roce.reasons))
    return _roce(table, settings, version)


def _number(settings: Mapping[str, str], name: str, version: Version) -> int:
    """A variable as NCCL reads it, or its default."""
    number = parse_number(settings.get(name))
    default = variables()[name].default_at(version)
    return number if number is not None else default if isinstance(default, int) else 0


def _infiniband(table: _Table, settings: Mapping[str, str]) -> GidChoice:
    """2.22.3 and later: the entry NCCL_IB_ROUTABLE_FLID_GID_INDEX if it holds a FLID (bytes 4 and 5), else 0."""
    index = _number(settings, "NCCL_IB_ROUTABLE_FLID_GID_INDEX", versions.GID_FLID)
    rule = "InfiniBand: NCCL_IB_ROUTABLE_FLID_GID_INDEX"
    if (entry := table.at(index)) is None or entry.flid is None:
        if table.whole and entry is None:
            return _answer(0, f"entry {index} is empty", rule, SOURCE)
        reason = Reason(str(index), "the entry was not seen", rule, SOURCE)
        return _unknown((0, index), (reason,))
    if entry.flid:
        return _answer(index, f"entry {index} holds a routable FLID", rule, SOURCE)
    return _answer(0, f"entry {index} holds no FLID; the user's index is not used", rule, SOURCE)


def _roce(table: _Table, settings: Mapping[str, str], version: Version) -> GidChoice:
    asked = _number(settings, "NCCL_IB_GID_INDEX", version)
    if version < versions.GID_CHOICE:
        how = f"set to {asked}" if settings.get("NCCL_IB_GID_INDEX") else "not set: the default is 0"
        return _answer(asked, f"{how}, used without checking the table", "NCCL_IB_GID_INDEX", SOURCE_BLIND)
    if asked >= 0:
        return _answer(asked, f"set to {asked}, used without checking the table", "NCCL_IB_GID_INDEX", SOURCE)
    return _search(table, _wanted(settings, version))


def _wanted(settings: Mapping[str, str], version: Version) -> _Wanted:
    """The family, version and address range that the choice searches for (envIbAddrFamily, envIbAddrRange)."""
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


def _entry_of(gid: Gid, *, keep_ip: bool) -> _Entry:
    text = gid.address if gid.address is not None else f"::ffff:{gid.ip}" if gid.ip else None
    version = _ROCE.get(gid.type) if gid.type else None
    raw = None if text is None else _bytes_of(text)
    if raw is None:
        return _Entry(gid.index, version=version)
    family = IPV4 if raw.startswith(_MAPPED) else IPV6
    valid = any(raw) and not raw.startswith(_LINK_LOCAL)
    flid = raw[4:6] != b"\0\0"
    return _Entry(gid.index, family, valid, flid, version, ipaddress.IPv6Address(raw) if keep_ip else None)


def without_place(gid: Gid) -> Gid:
    """Return the entry with another address that leads to the same `gid_index`, unless a range of addresses is set."""
    raw = (_bytes_of(gid.address) if gid.address is not None else None) or b""
    address = next((text for head, text in _STAND_INS.items() if raw.startswith(head)), gid.address)
    return msgspec.structs.replace(gid, address=address, ip=None if gid.ip is None else "192.0.2.1")


def _bytes_of(text: str) -> bytes | None:
    """The 16 bytes of a GID; None for a text that is not one."""
    try:
        if _WRITTEN_OUT.fullmatch(text):  # the form in which the kernel writes all entries of a cluster
            return bytes.fromhex(text.replace(":", ""))
        return ipaddress.IPv6Address(text.partition("%")[0]).packed
    except ValueError:
        return None


def _candidates(table: _Table) -> Iterable[_Entry]:
    """The entries from 1 on; in a table that was not seen whole, unknown entries fill the gaps and the rest."""
    last = max((entry.index for entry in table.entries), default=0)
    for index in range(1, last + 1):
        entry = table.at(index)
        if entry is not None:
            yield entry
        elif not table.whole:
            yield _Entry(index)
    if not table.whole:
        yield _Entry(last + 1)


def _search(table: _Table, wanted: _Wanted) -> GidChoice:
    """Search the table as NCCL does, keeping the set of indices that may be current where something is unknown."""
    if not table.entries and not table.whole:
        reason = Reason("", "the GID table of the port was not seen", "choice of 2.21 and later", SOURCE)
        return _unknown((), (reason,))
    first = table.at(0) or (_empty(0) if table.whole else _Entry(0))
    current: dict[int, _Entry] = {0: first}
    reasons: list[Reason] = []
    for candidate in _candidates(table):
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
    return GidChoice(known=True, index=chosen, reasons=tuple(reasons))


def _rule(wanted: _Wanted) -> str:
    within = f" in {wanted.network}" if wanted.network else ""
    return f"choice of 2.21 and later: IPv{wanted.family}{within}, RoCE v{wanted.version}"


def _replaces(candidate: _Entry, current: _Entry, wanted: _Wanted) -> tuple[bool | None, str]:
    """Does the candidate become the current entry (ncclUpdateGidIndex)? None when that depends on something unknown.

    A candidate must be of the wanted family, and on the second branch of the wanted version; so it replaces the current
    entry exactly where that one is not. In this form an unknown candidate makes no more unknown than necessary.
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
        return verdict, f"first of family IPv{wanted.family} (its RoCE version is not checked here)"
    return verdict, f"is RoCE v{wanted.version} where the entry before it is not"


def _equal(left: int | None, right: int | None) -> bool | None:
    return None if left is None or right is None else left == right


def _not(value: bool | None) -> bool | None:  # noqa: FBT001
    return None if value is None else not value


def _both(left: bool | None, right: bool | None) -> bool | None:  # noqa: FBT001
    return False if left is False or right is False else None if left is None or right is None else True


def _either(left: bool | None, right: bool | None) -> bool | None:  # noqa: FBT001
    return _not(_both(_not(left), _not(right)))


def _answer(index: int, text: str, rule: str, source: str) -> GidChoice:
    reason = Reason(str(index), text, rule, source)
    return GidChoice(known=True, index=index, reasons=(reason,))


def _unknown(possible: Iterable[int | None], reasons: tuple[Reason, ...]) -> GidChoice:
    return GidChoice(known=False, possible=tuple(sorted({i for i in possible if i is not None})), reasons=reasons)
