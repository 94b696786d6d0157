"""Scalar types of the facts: NCCL versions, bus ids, addresses.

Comparisons of values that may be ranges are three-valued: True, False or None (unknown).
"""

from __future__ import annotations

import functools
import ipaddress
import re

import msgspec

from ncdiag.base.patterns import lazy_regex

_VERSION = lazy_regex(r"(\d+)\.(\d+)(?:\.(\d+))?")


class Version(msgspec.Struct, frozen=True, order=True):
    """A release such as 2.18.3; the patch number of ``2.18`` is 0."""

    major: int
    minor: int
    patch: int = 0

    @classmethod
    def parse(cls, text: str) -> Version | None:
        """Parse ``2.18.3``, ``2.18.3+cuda12.1``, ``2.20.5rc1``, ``v2.4``; None when the text contains no version."""
        found = _VERSION.search(text)
        return cls(int(found[1]), int(found[2]), int(found[3] or 0)) if found else None

    @classmethod
    def from_code(cls, code: int) -> Version:
        """Decode ncclGetVersion's number: 21803 is 2.18.3, 2708 is 2.7.8 (nccl.h, NCCL_VERSION macro)."""
        if code < 10000:  # noqa: PLR2004  (NCCL_VERSION used two digits fewer up to 2.8)
            return cls(code // 1000, code % 1000 // 100, code % 100)
        return cls(code // 10000, code % 10000 // 100, code % 100)

    def __str__(self) -> str:
        return f"{self.major}.{self.minor}.{self.patch}"


OLDEST = Version(2, 0, 0)
NEWEST = Version(99, 0, 0)


class VersionRange(msgspec.Struct, frozen=True):
    """What is known about a version: ``low <= version <= high``. An exact version has ``low == high``.

    ``text`` is the version as printed (``2.18.3+cuda12.1``), empty when only the wording of a log limits the range.
    """

    low: Version
    high: Version
    text: str = ""

    @classmethod
    def exact(cls, text: str) -> VersionRange | None:
        """The range that holds one printed version; None when the text contains none."""
        version = Version.parse(text)
        return cls(version, version, text) if version else None

    @property
    def known(self) -> bool:
        """True when exactly one version is possible."""
        return self.low == self.high

    def intersect(self, other: VersionRange) -> VersionRange | None:
        """The intersection of both ranges; None when it is empty."""
        low, high = max(self.low, other.low), min(self.high, other.high)
        return VersionRange(low, high, self.text or other.text) if low <= high else None

    def less(self, other: Version) -> bool | None:
        """Is the version smaller than ``other``? None when the range contains smaller and other versions."""
        return True if self.high < other else False if self.low >= other else None

    def equal(self, other: Version) -> bool | None:
        """Is it that version? None when the range contains this version and others."""
        if self.known:
            return self.low == other
        return None if self.low <= other <= self.high else False

    def __str__(self) -> str:
        if self.known:
            return str(self.low)
        if self.high == NEWEST:
            return f"{self.low} or later"
        return f"at most {self.high}" if self.low == OLDEST else f"{self.low} to {self.high}"


_CONSTRAINT = lazy_regex(r"\s*(>=|<=|==|!=|<|>)\s*(\d+\.\d+(?:\.\d+)?)\s*$")


class Constraint(msgspec.Struct, frozen=True):
    """A condition on a version written ``>=2.4,<2.21``; the empty text admits every version."""

    parts: tuple[tuple[str, Version], ...] = ()

    @classmethod
    def parse(cls, text: str) -> Constraint:
        """Parse comma-separated comparisons; raises ValueError for one that is not valid."""
        parts = []
        for item in filter(None, (piece.strip() for piece in text.split(","))):
            found = _CONSTRAINT.match(item)
            version = Version.parse(found[2]) if found else None
            if found is None or version is None:
                msg = f"{item!r} is not a version condition (example: '>=2.4,<2.21')"
                raise ValueError(msg)
            parts.append((found[1], version))
        return cls(tuple(parts))

    def admits(self, version: VersionRange | Version | None) -> bool | None:
        """Three-valued: True for every possible version, False for none, None for some or when unknown."""
        if not self.parts:
            return True
        if version is None:
            return None
        if isinstance(version, Version):
            version = VersionRange(version, version)
        results = [_compare(version, op, bound) for op, bound in self.parts]
        return False if False in results else None if None in results else True


def _compare(version: VersionRange, op: str, bound: Version) -> bool | None:
    less, equal = version.less(bound), version.equal(bound)
    if op == "<":
        return less
    if op == ">=":
        return None if less is None else not less
    if op == "==":
        return equal
    if op == "!=":
        return None if equal is None else not equal
    if version.known:
        return version.low <= bound if op == "<=" else version.low > bound
    inside = True if version.high <= bound else False if version.low > bound else None
    return inside if op == "<=" else None if inside is None else not inside


_BUS_ID = lazy_regex(r"^(?:([0-9a-fA-F]{4,8}):)?([0-9a-fA-F]{2}):([0-9a-fA-F]{2})(?:\.([0-7]))?$")


def bus_id(text: str) -> str | None:
    """Normalise ``00000000:1B:00.0``, ``1b:00.0`` to ``0000:1b:00.0``; None when it is not a PCI address."""
    found = _BUS_ID.match(text.strip())
    if not found:
        return None
    domain = int(found[1] or "0", 16)
    return f"{domain:04x}:{found[2]}:{found[3]}.{found[4] or 0}".lower()


def nccl_bus_id(number: int) -> str:
    """Decode NCCL's number (``busId 1b000``).

    Domain, bus, device, function as nibbles (src/misc/utils.cc, busIdToInt64).
    """
    return f"{number >> 20:04x}:{number >> 12 & 0xFF:02x}:{number >> 4 & 0xFF:02x}.{number & 0xF}"


@functools.lru_cache(maxsize=1 << 14)
def ip_address(text: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    """Parse an IP address without its ``%zone`` and brackets; None when the text is not an address."""
    try:
        return ipaddress.ip_address(text.split("%", 1)[0].strip("[]"))
    except ValueError:
        return None


def in_network(ip: str, network: str) -> bool | None:
    """Is ``ip`` inside ``network`` (``10.0.0.0/8``)? None when one of them is not an address."""
    address, net = ip_address(ip), _ip_network(network)
    return None if address is None or net is None else address.version == net.version and address in net


@functools.lru_cache(maxsize=1 << 10)
def _ip_network(text: str) -> ipaddress.IPv4Network | ipaddress.IPv6Network | None:
    """Parse a network; None when the text is not one."""
    try:
        return ipaddress.ip_network(text, strict=False)
    except ValueError:
        return None


_RDMA_RESOURCE = lazy_regex(
    r"rdma/|[\w.-]+/(?:\w*(?:hca|hostdev|rdma|roce|sriov|mlnx|ib_|efa)\w*)|vpc\.amazonaws\.com/efa$", re.IGNORECASE
)


def is_rdma_resource(name: str) -> bool:
    """True for a name under which a device plugin of Kubernetes offers RDMA devices (``rdma/hca``)."""
    return _RDMA_RESOURCE.match(name) is not None
