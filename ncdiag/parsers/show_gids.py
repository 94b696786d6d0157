"""``show_gids``: the GID tables of all ports, with RoCE version and net device.

Format: the script of NVIDIA's OFED: columns ``DEV PORT INDEX GID IPv4 VER DEV`` over a rule of dashes, a line an entry,
at the end ``n_gids_found=N``. The script says ``v1`` both for RoCE v1 and for InfiniBand; entries of an InfiniBand port
have no net device, which tells them apart. Copies that lost their line breaks are cut before each entry; a person may
have made a table of Markdown of it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from string import ascii_lowercase

import msgspec

from ncdiag.base.patterns import lazy_regex
from ncdiag.base.spans import Section
from ncdiag.facts.observe import Observation, Parsed, observe
from ncdiag.formats import basics, rdma

KIND = "show_gids"
COMMANDS = ("show_gids",)
_PLACE = rf"\d{{1,3}}[\s|]+\d{{1,5}}[\s|]+{rdma.GID_PATTERN}\b"
ANCHOR = rf"(?:\|\s*)?(?:DEV[\s|]+PORT[\s|]+INDEX[\s|]+GID\b|[A-Za-z][\w.-]{{0,63}}[\s|]+{_PLACE})|n_gids_found=\d+"
STRUCTURE = "|" + ascii_lowercase
_HEADER = lazy_regex(r"[\s|]*DEV[\s|]+PORT[\s|]+INDEX[\s|]+GID\b")
_RULE = lazy_regex(r"[\s|:]*-{3,}[\s|:-]+")
_ROW = lazy_regex(
    r"[\s|]*(?P<dev>[A-Za-z][\w.-]{0,63})[\s|]+(?P<port>\d{1,3})[\s|]+(?P<index>\d{1,5})[\s|]+(?P<gid>"
    + rdma.GID_PATTERN
    + r")(?:[\s|]+(?P<ip>\d{1,3}(?:\.\d{1,3}){3}))?(?:[\s|]+[vV](?P<version>[12]))?"
    r"(?:[\s|]+(?P<netdev>[\w.:-]{1,64}))?[\s|]*$"
)
_COUNT = lazy_regex(r"\s*n_gids_found=(\d{1,6})\s*$")
_DEVICES = r"(?:mlx[45]_|bnxt_re|roce[pP]|ibp|irdma|hns_|hrn\d|rxe|siw|qedr|cxgb)[\w.-]{0,60}"
_GLUED = lazy_regex(rf"(?=n_gids_found=)|(?<=[-\w])(?={_DEVICES}\s+{_PLACE})")
_GLUED_LIMIT = 65536


class _Row(msgspec.Struct, frozen=True):
    """An entry of the table; ``line`` is the index into the section."""

    line: int
    dev: str
    port: int
    index: int
    gid: str
    ip: str | None
    version: str | None
    netdev: str | None


def continues(lines: Sequence[str], line: str) -> bool:
    """Entries, the rule and, as the last line, the count; nothing goes on behind the count."""
    if _COUNT.match(lines[-1]) or _HEADER.match(line):
        return False
    if not line.strip() or _RULE.match(line) or _ROW.match(line) or _COUNT.match(line):
        return True
    return basics.is_elision(line) or len(_pieces(line)) > 1


def parse(section: Section) -> Parsed:
    """An observation a GID and one a port; the tables are whole when all that the last line counts were read.

    Without that line, the tables of the ports shown are if nothing seems to be missing up to the shell's next prompt.
    """
    rows: list[_Row] = []
    unread: list[int] = []
    count: tuple[int, int] | None = None
    for index, line in enumerate(section.lines):
        for piece in _pieces(line):
            row, total = _ROW.match(piece), _COUNT.match(piece)
            if row:
                rows.append(_row(index, row))
            elif total:
                count = index, int(total[1])
            elif piece.strip() and not _RULE.match(piece) and not _HEADER.match(piece):
                unread.append(index)
    whole = None if count is None else count[1] == len(rows)
    everything = basics.unfiltered(section.command, "show_gids")
    if count is None and everything and not unread and _is_uncut(section, rows):
        whole = True
    found = list(_observations(section, rows, whole))
    if count is not None and everything:
        found.append(observe(section, count[0], "Host", gid_count=count[1]))
    return Parsed(
        observations=tuple(found), unread=tuple(dict.fromkeys(unread)), complete=bool(whole and count) and everything
    )


def _is_uncut(section: Section, rows: Sequence[_Row]) -> bool:
    """True without the count if the header is above, a prompt below, and no index of a port is left out between."""
    seen: dict[tuple[str, int], int] = {}
    for row in rows:
        if row.index != seen.get((row.dev, row.port), 0):
            return False
        seen[row.dev, row.port] = row.index + 1
    return bool(rows) and section.ended and _HEADER.match(section.lines[0]) is not None


def _pieces(line: str) -> list[str]:
    """The line, or the entries that a copy without line breaks glued together."""
    return _GLUED.split(line) if len(line) < _GLUED_LIMIT else [line]


def _row(line: int, found: re.Match[str]) -> _Row:
    dev, port, index, address, ip, version, netdev = found.group(
        "dev", "port", "index", "gid", "ip", "version", "netdev"
    )
    address = address.lower()
    return _Row(line, dev, int(port), int(index), address, ip or rdma.mapped_ip(address), version, netdev)


def _observations(section: Section, rows: list[_Row], whole: bool | None) -> Iterator[Observation]:  # noqa: FBT001
    ethernet = {(row.dev, row.port) for row in rows if row.netdev or row.ip or row.version == "2"}
    ports: dict[tuple[str, int], int] = {}
    for row in rows:
        place = row.dev, row.port
        ports.setdefault(place, row.line)
        kind = None
        if row.version:
            kind = "RoCE v2" if row.version == "2" else "RoCE v1" if place in ethernet else "IB"
        yield observe(
            section, row.line, "Gid", (*place, row.index), address=row.gid, type=kind, ip=row.ip, netdev=row.netdev
        )
    for place, line in ports.items():
        yield observe(section, line, "Port", place, gids_complete=whole)
