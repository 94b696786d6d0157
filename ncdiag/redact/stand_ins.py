"""Stand-ins: the same for the same thing, made so that what a diagnosis rests on stays as it is."""

from __future__ import annotations

import hashlib
import ipaddress
import re
import secrets
from collections.abc import Iterable, Mapping

from ncdiag.formats.launch_words import expanded
from ncdiag.redact.secret import Secrets
from ncdiag.sections import prompt

_V4 = re.compile(r"(?<![\w.-])(?P<ip>(?:\d{1,3}\.){3}\d{1,3})(?P<mask>/\d{1,2})?(?![\w]|\.\d)")
_V6 = re.compile(
    r"(?<![\w:.])(?P<lead>(?=[\w.-]{0,15}[g-zG-Z_.-])[A-Za-z][\w.-]{0,15}:)?"  # eth0:fe80::1, as NCCL writes it
    r"(?P<ip>[0-9a-fA-F]{0,4}(?::[0-9a-fA-F]{0,4}){2,7}(?:(?:\d{1,3}\.){3}\d{1,3})?)(?P<mask>/\d{1,3})?(?![\w:])"
)
_MAC = re.compile(r"(?<![\w:])(?:[0-9a-fA-F]{2}[:-]){5}[0-9a-fA-F]{2}(?![\w:])")
_IPOIB = re.compile(
    r"(?<![\w:])(?P<head>(?:[0-9a-fA-F]{2}:){12})(?P<guid>(?:[0-9a-fA-F]{2}:){7}[0-9a-fA-F]{2})(?![\w:])"
)
_DECIMAL_GID = re.compile(r"(?<=GID: )(?:\d{2,3}:){15}\d{2,3}(?![\w:])")
"""A GID as perftest prints it, byte for byte in decimal."""
_GUID = re.compile(
    r"(?<![\w:])(?P<zero>0[xX])?(?P<hex>[0-9a-fA-F]{16})(?![\w:])|(?<![\w:])(?:[0-9a-fA-F]{4}:){3}[0-9a-fA-F]{4}(?![\w:])"
)
_UUID = re.compile(r"(?<![\w-])[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}(?![\w-])")
_GPU_UUID = re.compile(r"(?<=GPU-)[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}(?![\w-])")
_SERIAL = re.compile(r"(?P<label>Serial(?: Number|#)?\s{0,40}[:=]\s{0,4})(?P<value>[A-Z0-9]{6,30})\b", re.IGNORECASE)
_HOME = re.compile(r"(?P<lead>/(?:home|Users|mnt/home|data/home|nfs/home)/|~)(?P<user>[A-Za-z_][\w.-]{0,40})")
_AT = re.compile(
    r"(?<![\w.%+-])(?P<user>[A-Za-z_][\w.+-]{0,60})@(?P<host>[A-Za-z0-9][\w-]{0,80}(?:\.[\w-]{1,80}){0,8})"
)
_DOMAIN = re.compile(r"\.[A-Za-z]{2,12}$")
_SSH = re.compile(r"\b(?:ssh|scp|rsync|sftp|pdsh|mosh)\s")
_USER = re.compile(r"(?P<lead>\b(?:USER|LOGNAME|SUDO_USER|USERNAME|SLURM_JOB_USER)=)(?P<user>[A-Za-z_][\w.-]{0,40})")
_HOST_VARIABLE = re.compile(
    r"\b(?:HOSTNAME|HOST|MASTER_ADDR|SLURMD_NODENAME|SLURM_(?:SUBMIT_HOST|TOPOLOGY_ADDR|LAUNCH_NODE_IPADDR))="
    r"(?P<host>[A-Za-z][\w-]{1,80}(?:\.[\w-]{1,80}){0,8})(?![\w(])"
)
_LABEL = re.compile(r"(?P<host>(?!nvidia-)[a-z][a-z0-9]{0,40}(?:-[a-z0-9]{1,40}){0,6}-\d{1,6}): ")
"""What launchers put before the lines of each host; with a dash and a number, so that no device is taken for one."""
_BRACKET = re.compile(r"(?<![\w.-])[A-Za-z][\w.-]{0,60}\[[\d,-]{1,200}\][\w.-]{0,60}")

_KEPT_USERS = frozenset({"root", "nobody", "git", "ubuntu", "user", "admin", "ec2-user", "azureuser", "slurm"})
_KEPT_HOSTS = frozenset({"localhost", "unnamed-host", "github.com"})
_WORDS = frozenset(
    {"abi", "all", "any", "auto", "crypto", "cuda", "debug", "default", "dev", "error", "fs", "gpu", "host", "info"}
    | {"kernel", "mpi", "nccl", "net", "node", "none", "proc", "rank", "sys", "unknown", "user", "vm", "warn"}
)
"""Host names that would be taken for words of the text, among them the first words of sysctls."""
_SPLIT_OCTETS = frozenset({100, 169, 172, 192, 198, 203})
"""First octets of which a part is special (RFC 1918, 3927, 6598, 5737): their second octet stays too."""
_TAIL = 0xFFFFFF


class Redactor:
    """Cleans texts of one case; all of them with the same stand-ins. ``mapping`` says what became what."""

    def __init__(
        self, hosts: Iterable[str] = (), key: bytes | None = None, mapping: Mapping[str, str] | None = None
    ) -> None:
        """``hosts``: names that are known to be hosts; ``key`` and ``mapping``: of an earlier run, to go on with it."""
        self.mapping = dict(mapping or {})
        self.key = key or secrets.token_bytes(16)
        self._hosts = {name: made for name, made in self.mapping.items() if re.fullmatch(r"host\d+", made)}
        self._users = {name: made for name, made in self.mapping.items() if re.fullmatch(r"user\d+", made)}
        self._secrets = Secrets()
        self.know(hosts)

    def text(self, text: str) -> str:
        """The text cleaned line by line; it has as many lines as before."""
        self.learn(text.split("\n"))
        self.begin()
        return self.part(text)

    def path(self, text: str) -> str:
        """A path of a machine's file: only the user in whose home it is gets a stand-in."""
        return _HOME.sub(lambda m: m["lead"] + self._user(m["user"]), f"/{text}")[1:]

    def begin(self) -> None:
        """What follows is another text."""
        self._secrets = Secrets()

    def part(self, text: str) -> str:
        """The next lines of a text from which names were learnt already; as many lines as before."""
        return "\n".join(map(self._line, text.split("\n")))

    def know(self, hosts: Iterable[str]) -> None:
        """Take names that are known to be hosts."""
        for name in hosts:
            self._host(name)
        self.learn(())

    def learn(self, lines: Iterable[str]) -> None:
        """Take the names of users and hosts from lines that are to be cleaned, or go with them."""
        for line in lines:
            self._find_names(line)
        self._known_hosts, self._known_users = _words_of(self._hosts), _path_parts(self._users)

    def _line(self, line: str) -> str:
        line = self._secrets.removed(line)
        line = _BRACKET.sub(self._host_list, line)
        if self._known_hosts:
            line = self._known_hosts.sub(lambda m: self._hosts[m["name"]], line)
        line = _AT.sub(self._at, line)
        line = _HOME.sub(lambda m: m["lead"] + self._user(m["user"]), line)
        line = _USER.sub(lambda m: m["lead"] + self._user(m["user"]), line)
        line = self._known_users.sub(lambda m: self._user(m[0]), line) if self._known_users else line
        line = _DECIMAL_GID.sub(self._decimal_gid, line)
        line = _IPOIB.sub(self._ipoib, line)
        line = _V6.sub(self._v6, line)
        line = _MAC.sub(self._mac, line)
        line = _GUID.sub(self._guid, line)
        line = _V4.sub(self._v4, line)
        line = _UUID.sub(self._uuid, _GPU_UUID.sub(self._uuid, line))
        return _SERIAL.sub(self._serial, line)

    def _stand_in(self, original: str, made: str) -> str:
        if original != made:
            self.mapping.setdefault(original, made)
        return made

    def _random(self, what: str, bits: int) -> int:
        digest = hashlib.blake2b(what.encode(), key=self.key, digest_size=8).digest()
        return int.from_bytes(digest, "big") & ((1 << bits) - 1)

    # names

    def _host(self, name: str) -> str:
        """The stand-in of a host name; addresses, words and what stands for no host stay."""
        short = name.split(".", 1)[0]
        if short.lower() in _KEPT_HOSTS | _WORDS or name in _KEPT_HOSTS or not re.match(r"[A-Za-z0-9]", short):
            return name
        if short.isdecimal() or len(short) < 2:  # noqa: PLR2004  (addresses, single letters)
            return name
        if short not in self._hosts:
            self._hosts[short] = self._stand_in(short, f"host{len(self._hosts) + 1}")
        return self._hosts[short]

    def _host_list(self, found: re.Match[str]) -> str:
        """``gpu[07-08]`` to the stand-ins of the hosts that it names, when they are known."""
        names = [name.split(".", 1)[0] for name in expanded(found[0])]
        known = all(name in self._hosts for name in names)
        return ",".join(self._hosts[name] for name in names) if known and names else found[0]

    def _find_names(self, line: str) -> None:
        """Users of paths and variables, users and hosts of prompts and of ssh."""
        for pattern in (_HOME, _USER):
            for found in pattern.finditer(line):
                self._user(found["user"])
        for found in _HOST_VARIABLE.finditer(line):
            self._host(found["host"])
        if labelled := _LABEL.match(line):
            self._host(labelled["host"])
        if "@" in line and (prompt.prompt(line) or prompt.is_empty_prompt(line) or _SSH.search(line)):
            for found in _AT.finditer(line):
                self._user(found["user"])
                self._host(found["host"])

    def _user(self, name: str) -> str:
        if name in _KEPT_USERS or name in self._users.values():
            return name
        if name not in self._users:
            self._users[name] = self._stand_in(name, f"user{len(self._users) + 1}")
        return self._users[name]

    def _at(self, found: re.Match[str]) -> str:
        """``user@host`` of a prompt or of a mail address; ``veth0@if7`` stays."""
        host = found["host"]
        if host in self._hosts.values() or _V4.fullmatch(host):
            return f"{self._user(found['user'])}@{host}"
        if _DOMAIN.search(host):
            return f"{self._user(found['user'])}@example.com"
        return found[0]

    # addresses

    def _v4(self, found: re.Match[str]) -> str:
        text = found["ip"]
        octets = [int(part) for part in text.split(".")]
        if max(octets) > 255 or any(len(p) > 1 and p[0] == "0" for p in text.split(".")):  # noqa: PLR2004
            return found[0]
        mask = int(found["mask"][1:]) if found["mask"] else 32
        made = ".".join(map(str, int.to_bytes(self._address(bytes(octets), mask), 4, "big")))
        return self._stand_in(text, made) + (found["mask"] or "")

    def _address(self, octets: bytes, mask: int = 32) -> int:
        """An IPv4 address with its middle octets changed, bit by bit by what stands before (subnets stay subnets)."""
        number = int.from_bytes(octets, "big")
        first = octets[0]
        if first in {0, 127} or first >= 224 or octets[:2] == b"\xa9\xfe":  # noqa: PLR2004  (this host, loopback, multicast, masks, link-local)
            return number
        start = 16 if first in _SPLIT_OCTETS else 8
        made = number
        for bit in range(start, _end_of_network(octets, mask, start)):
            prefix = number >> (32 - bit)
            made ^= self._random(f"v4 {bit} {prefix}", 1) << (31 - bit)
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
        made_text = self._stand_in(text, shown.upper() if text.isupper() else shown)
        return (found["lead"] or "") + made_text + (found["mask"] or "")

    def _decimal_gid(self, found: re.Match[str]) -> str:
        octets = [int(part) for part in found[0].split(":")]
        if max(octets) > 255:  # noqa: PLR2004
            return found[0]
        made = self.number6(int.from_bytes(bytes(octets), "big")).to_bytes(16, "big")
        return self._stand_in(found[0], ":".join(f"{octet:02d}" for octet in made))

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
            for place in (2, 1, 0):
                group = prefix >> (16 * place) & 0xFFFF
                if group:
                    before = prefix >> (16 * (place + 1))
                    prefix ^= self._random(f"v6 {place} {before}", 15) << (16 * place)
        elif prefix >> 54 != 0xFE80 >> 6 or prefix & ((1 << 54) - 1):
            return number  # loopback, multicast and the like
        return prefix << 64 | self._identifier(identifier)

    def _identifier(self, number: int) -> int:
        """64 bits of a GUID or interface identifier: the vendor's 24 bits stay, 16 of the last 24 change."""
        return number & ~_TAIL | self._tail(number >> 40 & 0xFDFFFF, number & _TAIL)

    def _tail(self, vendor: int, tail: int) -> int:
        """Bits 8 to 23 of a number that the vendor gave; the last byte stays, so that neighbours stay neighbours."""
        if vendor == 0 or tail in {0, _TAIL}:
            return tail
        return tail ^ self._random(f"tail {vendor}", 16) << 8

    def _mac(self, found: re.Match[str]) -> str:
        digits = re.sub("[:-]", "", found[0])
        number = int(digits, 16)
        if number in {0, (1 << 48) - 1}:
            return found[0]
        made = number & ~_TAIL | self._tail(number >> 24 & 0xFDFFFF, number & _TAIL)
        return self._stand_in(found[0], _like(found[0], f"{made:012x}"))

    def _ipoib(self, found: re.Match[str]) -> str:
        guid = int(found["guid"].replace(":", ""), 16)
        return found["head"] + self._stand_in(found["guid"], _like(found["guid"], f"{self._identifier(guid):016x}"))

    def _guid(self, found: re.Match[str]) -> str:
        digits = (found["hex"] or found[0]).replace(":", "")
        if digits.startswith(("00007f", "ffff")):
            return found[0]  # an address in the memory of a process or of the kernel
        if digits.isdecimal() and not found["zero"] and ":" not in found[0]:
            return found[0]  # a count or a time
        made = f"{self._identifier(int(digits, 16)):016x}"
        return self._stand_in(found[0], (found["zero"] or "") + _like(found[0][len(found["zero"] or "") :], made))

    def _uuid(self, found: re.Match[str]) -> str:
        high, low = (self._random(f"uuid {part} {found[0].lower()}", 64) for part in "ab")
        return self._stand_in(found[0], _like(found[0], f"{high:016x}{low:016x}"))

    def _serial(self, found: re.Match[str]) -> str:
        number = self._random(f"serial {found['value']}", 40)
        return found["label"] + self._stand_in(found["value"], f"{number:013d}"[: len(found["value"])])


def _end_of_network(octets: bytes, mask: int, start: int) -> int:
    """How many bits of an IPv4 address stand for networks: 24, less where it is a network or a broadcast address."""
    number, end = int.from_bytes(octets, "big"), 24
    if mask < 32:  # noqa: PLR2004
        return end if number & ((1 << (32 - mask)) - 1) else min(end, mask)
    while end > start and octets[end // 8 - 1] in {0, 255} and all(o == octets[3] for o in octets[end // 8 - 1 :]):
        end -= 8
    return end


def _like(text: str, digits: str) -> str:
    """Hexadecimal digits with the separators and the case of a text."""
    rest = iter(digits.upper() if re.search("[A-F]", text) else digits)
    return "".join(next(rest, "0") if letter not in ":-" else letter for letter in text)


def _words_of(names: Mapping[str, str]) -> re.Pattern[str] | None:
    """The names as words, with the domain behind them; longest first."""
    listed = "|".join(re.escape(name) for name in sorted(names, key=len, reverse=True))
    domain = r"(?:\.[A-Za-z][\w-]{0,60}){0,6}"
    return re.compile(rf"(?<![\w.-])(?P<name>{listed})(?![\w-])(?!\.\w+/){domain}(?![\w-])") if listed else None


def _path_parts(names: Mapping[str, str]) -> re.Pattern[str] | None:
    """The names as parts of paths."""
    listed = "|".join(re.escape(name) for name in sorted(names, key=len, reverse=True))
    return re.compile(rf"(?<=/)(?:{listed})(?=[/\s:,;'\")]|$)") if listed else None
