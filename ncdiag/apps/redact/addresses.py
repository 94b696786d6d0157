"""Stand-ins for addresses, GUIDs, UUIDs and serial numbers that keep their length and the structure of networks.

Bits are changed from the left, each depending on the preceding ones and a key, so that two addresses that share a
prefix of any length share one afterwards (the Crypto-PAn scheme). A bit is kept if changing it would change the length
of the written number: 8 and 12 are in one /21, so 8 may become 9, but not 12.
"""

from __future__ import annotations

import hashlib
import ipaddress
import re
import secrets
from collections.abc import Callable
from functools import lru_cache

from ncdiag.base.patterns import lazy_regex
from ncdiag.formats.by_shape import ByShape

__all__ = ["Addresses"]

_V4 = lazy_regex(
    r"(?<![A-Za-z0-9_.])(?<!\d-)(?P<ip>(?:\d{1,3}\.){3}\d{1,3})(?P<mask>/\d{1,2}(?![\d.]))?(?![A-Za-z0-9_]|\.\d|\+"
    r"|-\d|-[a-z])"
)
_RELEASE = lazy_regex(
    r"(?:[=<>~!]=|(?<![A-Za-z])(?i:version|release|cudnn|driver|firmware|fw|ofed|toolkit|nccl|rccl|libs?\w*|ucx"
    r"|hpcx|doca|build|v|r|rev|revision|tensorrt|cublas|cusparse|cufft|package|tag)[ :=(-]{0,3}|-cu\d\d[- =]{1,3})\Z"
)
"""Text before a number of four parts that is a version."""
_V6 = lazy_regex(
    r"(?:(?<![\w:.])|(?<=Gids)"
    r"|(?<=Gid)(?!s))(?P<lead>(?!\w{0,12}Gid)(?=[\w.-]{0,15}[g-zG-Z_.-])[A-Za-z][\w.-]{0,15}:"
    r")?"  # eth0:fe80::1, as printed by NCCL
    r"(?P<ip>[0-9a-fA-F]{0,4}(?::[0-9a-fA-F]{0,4}){2,7}(?:(?:\d{1,3}\.){3}\d{1,3})?)(?P<mask>/\d{1,3})?(?![\w:])"
)
_MAC = lazy_regex(
    r"(?<![\w:])(?:(?:[0-9a-fA-F]{2}[:-]){5}[0-9a-fA-F]{2}"
    r"|[0-9a-fA-F]{4}\.[0-9a-fA-F]{4}\.[0-9a-fA-F]{4})(?![\w:.])"
)
_IPOIB = lazy_regex(
    r"(?<![\w:])(?P<head>(?:[0-9a-fA-F]{2}:){12})(?P<guid>(?:[0-9a-fA-F]{2}:){7}[0-9a-fA-F]{2})(?![\w:])"
)
_DECIMAL_GID = lazy_regex(r"(?<=GID: )(?:\d{2,3}:){15}\d{2,3}(?![\w:])")
"""A GID as printed by perftest, each byte in decimal."""
_GUID = lazy_regex(
    r"(?<![\w:])(?P<zero>0[xX])?(?P<hex>[0-9a-fA-F]{16})(?![\w:])"
    r"|(?<![\w:])(?:[0-9a-fA-F]{4}:){3}[0-9a-fA-F]{4}(?![\w:])"
)
_UUID = lazy_regex(r"(?:(?<![\w-])|(?<=GPU-)|(?<=MIG-))[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}(?![\w-])")
_SERIAL = lazy_regex(
    r"(?P<label>(?<![A-Za-z])(?:(?:Serial(?:[ _-]?(?:Number|No\.?)|#)?|Service Tag|Asset Tag)[\"']?"
    r"\s{0,40}[:=|]\s{0,20}[\"']?|Serial (?:Number |No\.? )?"
    r"(?=\d{8}|(?-i:(?=(?:[A-Z]*\d){4})[A-Z0-9]{8,30}\b))|(?:SN|S/N)[\"']?[ :=]{1,4}[\"']?))"
    r"(?P<value>(?=[A-Z]*\d)[A-Z0-9]{6,30})\b",
    re.IGNORECASE,
)
_DASHED = lazy_regex(r"(?<![\w-])ip-(?P<ip>\d{1,3}(?:-\d{1,3}){3})(?![\w-])")
"""The host name that a cloud derives from an address."""
_SPLIT_OCTETS = frozenset({100, 169, 172, 192, 198, 203})
"""First octets with special sub-ranges (RFC 1918, 3927, 6598, 5737): their second octet is kept, too."""
_TAIL, _SMALL = 0xFFFFFF, 4
_NO_DEVICE = lazy_regex(
    r"(?:\b|_)(?:comm|commId|commHash|opCount|handle|addr|ptr|hash|checksum|magic|commit|digest|buf|buff|stream)\W{1,3}\Z"
)


@lru_cache(maxsize=512)
def _may_swap(prefix: int, bit: int) -> bool:
    """True if swapping the halves of 0 to 255 that share the bits above ``bit`` makes no number longer."""
    low, size = prefix << (bit + 1), 1 << bit
    return all(len(str(low + i)) == len(str(low + size + i)) for i in range(size))


class Addresses:
    """Replaces the addresses of a line; ``mapping`` maps originals to stand-ins, ``used`` has the originals by kind."""

    def __init__(self, key: bytes | None, mapping: dict[str, str], used: dict[str, set[str]]) -> None:
        """``key``: that of an earlier run, to get the same stand-ins."""
        self.key = key or secrets.token_bytes(16)
        self.mapping, self.used = mapping, used
        self._replaced: tuple[tuple[re.Pattern[str], Callable[[re.Match[str]], str]], ...] = (
            (_DECIMAL_GID, self._decimal_gid), (_IPOIB, self._ipoib), (_V6, self._v6), (_MAC, self._mac),
            (_GUID, self._guid), (_V4, self._v4), (_DASHED, self._dashed), (_UUID, self._uuid), (_SERIAL, self._serial),
        )  # fmt: skip
        """The forms in the order in which they are replaced, and what replaces them."""
        self._forms = ByShape([form for form, _ in self._replaced])

    def cleaned(self, line: str) -> str:
        """The line with stand-ins for addresses, GUIDs, UUIDs and serial numbers."""
        done = 0
        while wanted := [number for number in self._forms.among(line) if number >= done]:
            form, made = self._replaced[wanted[0]]
            line, done = form.sub(made, line), wanted[0] + 1
        return line

    def _stand_in(self, original: str, made: str, kind: str) -> str:
        if original != made:
            self.mapping.setdefault(original, made)
            self.used.setdefault(kind, set()).add(original)
        return made

    def random(self, what: str, bits: int) -> int:
        """A number of ``bits`` bits that depends on the key and a text."""
        digest = hashlib.blake2b(what.encode(), key=self.key, digest_size=8).digest()
        return int.from_bytes(digest, "big") & ((1 << bits) - 1)

    def _v4(self, found: re.Match[str]) -> str:
        text = found["ip"]
        octets = [int(part) for part in text.split(".")]
        if max(octets) > 255 or any(len(p) > 1 and p[0] == "0" for p in text.split(".")):  # noqa: PLR2004
            return found[0]
        if not found["mask"] and _RELEASE.search(found.string[max(0, found.start() - 24) : found.start()]):
            return found[0]
        mask = int(found["mask"][1:]) if found["mask"] else 32
        made = ".".join(map(str, int.to_bytes(self._address(bytes(octets), mask), 4, "big")))
        return self._stand_in(text, made, "IPv4 address") + (found["mask"] or "")

    def _dashed(self, found: re.Match[str]) -> str:
        octets = [int(part) for part in found["ip"].split("-")]
        if max(octets) > 255:  # noqa: PLR2004
            return found[0]
        made = "-".join(map(str, int.to_bytes(self._address(bytes(octets)), 4, "big")))
        return "ip-" + self._stand_in(found["ip"], made, "IPv4 address")

    def _address(self, octets: bytes, mask: int = 32) -> int:
        """An IPv4 address with its middle octets changed, each bit depending on the preceding ones (keeps subnets)."""
        number = int.from_bytes(octets, "big")
        first = octets[0]
        if first in {0, 127} or first >= 224 or octets[:2] == b"\xa9\xfe":  # noqa: PLR2004  (this host, loopback, multicast, masks, link-local)
            return number
        start = 16 if first in _SPLIT_OCTETS else 8
        made, sure = number, True
        for place in range(start, _end_of_network(octets, mask, start)):
            bit = 7 - place % 8
            if _may_swap(octets[place // 8] >> (bit + 1), bit):
                change = (
                    self.random(f"v4 {place} {number >> (32 - place)}", 1) | sure
                )  # the first always: nothing stays
                made, sure = made ^ change << (31 - place), False
        return made

    def _v6(self, found: re.Match[str]) -> str:
        text = found["ip"]
        groups = text.split(":")
        if "::" not in text and (len(groups) != 8 or "" in groups):  # noqa: PLR2004  (all groups of an address)
            return found[0]
        try:
            address = ipaddress.IPv6Address(text)
        except ValueError:
            return found[0]
        number = int(address)
        made = self.number6(number, int(found["mask"][1:]) if found["mask"] else 128)
        if made == number:
            return found[0]
        style = all(len(group) == 4 for group in groups) and len(groups) == 8  # noqa: PLR2004
        new = ipaddress.IPv6Address(made)
        shown = new.exploded if style else new.compressed
        if "." in text:
            shown = f"::ffff:{ipaddress.IPv4Address(made & 0xFFFFFFFF)}"
        made_text = self._stand_in(text, shown.upper() if text.isupper() else shown, "IPv6 address")
        return (found["lead"] or "") + made_text + (found["mask"] or "")

    def _decimal_gid(self, found: re.Match[str]) -> str:
        octets = [int(part) for part in found[0].split(":")]
        if max(octets) > 255:  # noqa: PLR2004
            return found[0]
        made = self.number6(int.from_bytes(bytes(octets), "big")).to_bytes(16, "big")
        return self._stand_in(found[0], ":".join(f"{octet:02d}" for octet in made), "IPv6 address")

    def number4(self, number: int, mask: int = 32) -> int:
        """An IPv4 address or network as a number."""
        return self._address(number.to_bytes(4, "big"), mask)

    def number6(self, number: int, mask: int = 128) -> int:
        """An IPv6 address or network as a number."""
        beyond = (1 << max(0, 128 - mask)) - 1
        made = self._number6(number)
        return made if number & beyond else made & ~beyond

    def _number6(self, number: int) -> int:
        if number >> 32 == 0xFFFF:  # noqa: PLR2004  (an IPv4 address in a GID)
            return number & ~0xFFFFFFFF | self._address((number & 0xFFFFFFFF).to_bytes(4, "big"))
        prefix, identifier = number >> 64, number & ((1 << 64) - 1)
        if prefix >> 60 in {2, 3} or prefix >> 57 == 0x7E:  # noqa: PLR2004  (global, unique local fc00::/7)
            changed = prefix
            if prefix >> 57 == 0x7E:  # noqa: PLR2004  (its low byte belongs to the site: RFC 4193)
                low = 0x100 | (prefix >> 48 & 0xFF)
                changed ^= (self._below_first(low, "v6 site") | 0x80) << 48
            for place in (2, 1, 0):
                group = prefix >> (16 * place) & 0xFFFF
                before = prefix >> (16 * (place + 1))
                changed ^= self._below_first(group, f"v6 {place} {before}") << (16 * place)
            prefix = changed
        elif prefix >> 54 != 0xFE80 >> 6 or prefix & ((1 << 54) - 1):
            return number  # loopback, multicast and similar
        return prefix << 64 | self._identifier(identifier)

    def _below_first(self, group: int, what: str) -> int:
        """The change of a hexadecimal number below its first bit, so that its length is kept."""
        change = 0
        for bit in range(group.bit_length() - 2, -1, -1):
            change |= self.random(f"{what} {bit} {group >> (bit + 1)}", 1) << bit
        return change

    def _identifier(self, number: int) -> int:
        """64 bits of a GUID or interface identifier: the vendor's 24 bits are kept, 16 of the last 24 change."""
        return number & ~_TAIL | self._tail(number >> 40 & 0xFDFFFF, number & _TAIL)

    def _tail(self, vendor: int, tail: int) -> int:
        """Bits 8 to 23 of a number assigned by the vendor.

        The last byte is kept, so that neighbours stay neighbours.
        """
        if vendor == 0 or tail in {0, _TAIL}:
            return tail
        high, low = tail >> 16, tail >> 8 & 0xFF
        if high < _SMALL and low < _SMALL:  # too few bits to change without making the number longer
            return tail ^ (self.random(f"tail {vendor}", 16) | 0x8000) << 8
        high ^= self._below_first(high, f"tail {vendor}")
        if low:
            free = (1 << (low.bit_length() - 1)) - 1
            low ^= self.random(f"tail {vendor} {low.bit_length()}", 8) & free
        return high << 16 | low << 8 | tail & 0xFF

    def _mac(self, found: re.Match[str]) -> str:
        digits = re.sub("[:.-]", "", found[0])
        number = int(digits, 16)
        if number in {0, (1 << 48) - 1} or (digits.isdecimal() and "." in found[0]):
            return found[0]
        made = number & ~_TAIL | self._tail(number >> 24 & 0xFDFFFF, number & _TAIL)
        return self._stand_in(found[0], _like(found[0], f"{made:012x}"), "MAC address")

    def _ipoib(self, found: re.Match[str]) -> str:
        guid = int(found["guid"].replace(":", ""), 16)
        made = _like(found["guid"], f"{self._identifier(guid):016x}")
        return found["head"] + self._stand_in(found["guid"], made, "GUID")

    def _guid(self, found: re.Match[str]) -> str:
        if self._names_no_device(found):
            return found[0]
        digits = (found["hex"] or found[0]).replace(":", "")
        if digits.startswith(("000055", "000056", "00007f", "ffff")):
            return found[0]  # an address in the memory of a process or of the kernel
        if digits.isdecimal() and not found["zero"] and ":" not in found[0]:
            return found[0]  # a count or a time
        made = f"{self._identifier(int(digits, 16)):016x}"
        zero = found["zero"] or ""
        return self._stand_in(found[0], zero + _like(found[0][len(zero) :], made), "GUID")

    @staticmethod
    def _names_no_device(found: re.Match[str]) -> bool:
        """True if the preceding word shows that this is a communicator's number, a hash or a memory address."""
        return _NO_DEVICE.search(found.string[max(0, found.start() - 16) : found.start()]) is not None

    def _uuid(self, found: re.Match[str]) -> str:
        if self._names_no_device(found):
            return found[0]
        high, low = (self.random(f"uuid {part} {found[0].lower()}", 64) for part in "ab")
        return self._stand_in(found[0], _like(found[0], f"{high:016x}{low:016x}"), "UUID")

    def _serial(self, found: re.Match[str]) -> str:
        number = self.random(f"serial {found['value']}", 40)
        made = f"{number:013d}".ljust(len(found["value"]), "0")[: len(found["value"])]
        return found["label"] + self._stand_in(found["value"], made, "serial number")


def _end_of_network(octets: bytes, mask: int, start: int) -> int:
    """The number of network bits of an IPv4 address: 24, or fewer if it is a network or a broadcast address."""
    number, end = int.from_bytes(octets, "big"), 24
    if mask < 32:  # noqa: PLR2004
        return end if number & ((1 << (32 - mask)) - 1) else min(end, mask)
    while end > start and octets[end // 8 - 1] in {0, 255} and all(o == octets[3] for o in octets[end // 8 - 1 :]):
        end -= 8
    return end


def _like(text: str, digits: str) -> str:
    """Hexadecimal digits with the separators and the case of a text."""
    rest = iter(digits.upper() if re.search("[A-F]", text) else digits)
    return "".join(next(rest, "0") if letter not in ":.-" else letter for letter in text)
