"""Stand-ins for names, with the same length, dashes, number and alphabetical position as the name.

Hosts of one series (``gpu-a07``, ``gpu-a08``) get the same stand-in and keep their numbers, so that sets such as
``gpu-a[07-08]``, sorted lists and line breaks stay valid. Only the letters are replaced, because they name the site.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterable, Iterator, Mapping

from ncdiag.apps.redact.hosts import KEPT_DOMAIN
from ncdiag.base.patterns import lazy_regex
from ncdiag.facts.fold import unfold_hosts
from ncdiag.formats.by_shape import ByShape

__all__ = ["Names"]

_KEPT_USERS = frozenset(
    {"root", "nobody", "git", "ubuntu", "user", "admin", "ec2-user", "azureuser", "slurm", "hg", "centos", "debian"}
)
_KEPT_HOSTS = frozenset({"localhost", "unnamed-host", "github.com"})
_WORDS = frozenset(
    {"abi", "all", "any", "auto", "crypto", "cuda", "debug", "default", "dev", "error", "fs", "gpu", "host", "info"}
    | {"kernel", "mpi", "nccl", "net", "node", "none", "proc", "rank", "sys", "unknown", "user", "vm", "warn", "server"}
    | {"test", "data", "main", "local", "home", "train", "python", "torch", "nvidia", "worker", "master", "launcher"}
)
"""Names that could be words of the text, including the first words of sysctls."""
_DEVICE = lazy_regex(
    r"(?:mlx\d_|eth|ib|en[opsx]|bond|gpu|rank|numa|cpu|nic|hca|lo|veth|br-|docker|cni|tun|tap|efa|rdma|roce|nvme"
    r"|sd[a-z]|node|socket|nvswitch|irdma|bnxt_re|hfi1_|rocep|ibp|hsn|team|vlan|dummy|switch|port|pci|ens|GPU|NIC"
    r"|PXB|PIX)[\d.:]*\Z"
)
_NUMBERED = lazy_regex(r"(?P<series>.*?)(?P<number>000[0-9A-Z]{3}|\d*)\Z", re.DOTALL)
"""A name and the number at its end, which scale sets of a cloud write in base 36 with six digits."""
_CLOUD = lazy_regex(r"ip-\d{1,3}(?:-\d{1,3}){3}\Z")
_CONTAINER = lazy_regex(r"[0-9a-f]{12}")
"""The name that Docker gives a container: random digits, which say nothing of the site and show that it is one."""
_LONG_NUMBER = 5
_DIGITS = "0123456789"
_ALPHABET = "abcdefghijklmnopqrstuvwxyz"
_SHORT = frozenset({"lo", "ib", "em", "en", "no", "of", "in", "is", "it", "or", "on", "to", "if", "id", "io", "ip"})
"""Devices and words that must not be used as stand-ins."""
_STRONG = 5
"""Minimum number of letters of a name that is replaced everywhere, even if joined to other words by a dash."""
_LONG_WORD = 20
"""Minimum number of letters of a name that the text does not have as a word."""
_SETS = 20_000


class Names:
    """The known names, by kind, and their stand-ins."""

    def __init__(
        self,
        mapping: dict[str, str],
        kinds: Mapping[str, str],
        used: dict[str, set[str]],
        number: Callable[[str, int], int],
    ) -> None:
        """``mapping`` and ``kinds`` are those of an earlier run.

        ``number`` computes a pseudo-random number from a text.
        """
        self.mapping, self.kinds, self._used, self._random = mapping, dict(kinds), used, number
        self._series = {
            name: mapping[f"{name}*"] for name, kind in kinds.items() if kind == "series" and f"{name}*" in mapping
        }
        self._hosts: set[str] = {name for name, kind in kinds.items() if kind == "host"}
        self._made: dict[str, dict[str, str]] = {
            kind: {name: mapping[name] for name, of in kinds.items() if of == kind and name in mapping}
            for kind in ("user", "folder", "bucket", "domain", "account")
        }
        self._taken = {*self._series.values(), *(made for table in self._made.values() for made in table.values())}
        self._new: dict[str, None] = {}
        self._forms: list[tuple[re.Pattern[str], Callable[[re.Match[str]], str]]] = []
        self._by_shape = ByShape(())
        self._shape: re.Pattern[str] | None = None
        self._stale = True

    def learn(self, kind: str, name: str) -> None:
        """Add a name of a kind.

        Kinds are ``host`` (with its domain), ``set`` (of hosts), ``domain``, ``user``, ``folder``, ``bucket`` and
        ``account`` (of a cloud).
        """
        if kind == "set":
            for host in itertools.islice(_hosts_of(name), _SETS):
                self.learn("host", host)
        elif kind == "host":
            short, _, domain = name.partition(".")
            if re.fullmatch(r"[\d.]+|\d+", name) or ":" in name:
                return
            self.learn("domain", domain)
            if self._is_host(short):
                self._new[short] = None
                self._stale = True
        elif kind == "domain":
            self._domain(name)
        elif kind == "account" and name.lower() in _WORDS:
            return
        elif (
            name.lower() not in _KEPT_USERS
            and name not in self._made[kind]
            and name not in self._taken
            and len(name) > 1
        ):
            self._make(kind, name)

    def _is_host(self, short: str) -> bool:
        if short.lower() in _KEPT_HOSTS | _WORDS or not re.match(r"[A-Za-z0-9]", short) or short in self._hosts:
            return False
        if _CONTAINER.fullmatch(short):
            return False
        if short.isdecimal() or len(short) < 2 or _DEVICE.match(short) or _CLOUD.match(short):  # noqa: PLR2004  (addresses, single letters)
            return _DEVICE.match(short) is not None and re.match(r"(?:gpu|node|rank|cpu)\d{2,}\Z", short) is not None
        return True

    def _domain(self, name: str) -> None:
        labels = name.split(".")
        if len(labels) < 2 or not labels[-1].isalpha() or KEPT_DOMAIN.match(name):  # noqa: PLR2004
            return
        for label in labels[:-1]:
            if label not in self._made["domain"] and label not in {"co", "ac", "com", "edu", "www"}:
                self._make("domain", label)
        self.kinds[".".join(labels[-2:])] = "suffix"
        self._stale = True

    def _make(self, kind: str, name: str) -> None:
        made = self._shuffled(name) if kind == "account" else self._name(name, kind)
        self._made[kind][name] = self.mapping[name] = made
        self.kinds[name] = kind
        self._stale = True

    def _shuffled(self, name: str) -> str:
        """A name or number with other letters and digits, each of the same kind."""
        number = self._random(f"account {name}", 64)
        is_hex = not re.search("[g-zG-Z]", name) and re.search(r"\d", name)
        kinds = (_DIGITS, _ALPHABET[:6] if is_hex else _ALPHABET, (_ALPHABET[:6] if is_hex else _ALPHABET).upper())
        made = []
        for place, letter in enumerate(name):
            letters = next((kind for kind in kinds if letter in kind), letter)
            made.append(letters[(number >> (place * 5 % 59)) % len(letters)] if len(letters) > 1 else letter)
        return "".join(made)

    def _name(self, name: str, filler: str, codes: itertools.chain[str] | None = None) -> str:
        """An unused name with the length of the given one."""
        start = _ALPHABET.index(filler[0])
        for code in codes or itertools.chain(_ALPHABET[start:], _ALPHABET[:start], _codes(2), _codes(3)):
            made = _filled(name, code, filler)
            if made is not None and made not in self._taken and made != name and made.lower() not in _SHORT:
                self._taken.add(made)
                return made
        made = f"{filler}{len(self._taken)}x"
        self._taken.add(made)
        return made

    def _settle(self) -> None:
        """Assign stand-ins to new hosts, in alphabetical order, and build the patterns."""
        self._stale = False
        numbered = {name: _NUMBERED.match(name) for name in self._new}
        new = sorted({found["series"] for found in numbered.values() if found} - self._series.keys())
        start = _ALPHABET.index("h") if len(new) <= len(_ALPHABET) - _ALPHABET.index("h") else 0
        width = 1 if len(new) <= len(_ALPHABET) else 2
        ordered = iter(_ALPHABET[start:] if width == 1 else _codes(2))
        for series in new:
            rest = itertools.chain(ordered, _ALPHABET, _codes(2), _codes(3))
            made = self._name(series, "host", rest) if series else "h"
            self._series[series] = self.mapping[f"{series}*"] = made
            self.kinds[series] = "series"
        self._hosts |= self._new.keys()
        for name in self._new:
            self.kinds[name], self.mapping[name] = "host", self.host(name)
        self._new = {}
        self._compile()

    def host(self, name: str) -> str:
        """The stand-in for the short name of a host whose series has one."""
        found = _NUMBERED.match(name)
        series, number = (found["series"], found["number"]) if found else (name, "")
        if len(number) >= _LONG_NUMBER and not number.startswith("000"):
            number = str(self._random(f"number {name}", 60)).zfill(len(number))[-len(number) :]
        return self._series[series] + number

    def _compile(self) -> None:
        self._forms = []
        listed = _any(self._series)
        if listed:
            domain = r"(?P<domain>(?:\.[A-Za-z][\w-]{0,60}){1,6})?"
            self._forms.append(
                (
                    re.compile(
                        rf"(?<![A-Za-z0-9])(?P<series>{listed})(?:(?P<set>(?=\[(?P<first>\d{{1,12}})))"
                        rf"|(?P<number>000[0-9A-Z]{{3}}|\d{{0,12}})(?![A-Za-z0-9]){domain})"
                    ),
                    self._host,
                )
            )
        suffixes = _any(name for name, kind in self.kinds.items() if kind == "suffix")
        if suffixes:
            self._forms.append(
                (
                    re.compile(
                        rf"(?<![A-Za-z0-9])(?:[A-Za-z0-9][\w-]{{0,60}}\.){{0,5}}(?:{suffixes}"
                        rf")(?![\w-])"
                    ),
                    lambda m: self._labels(m[0]),
                )
            )
        checks = (("user", self._user), ("folder", self._folder), ("bucket", self._folder), ("account", self._account))
        for kind, check in checks:
            if listed := _any(self._made[kind]):
                self._forms.append((re.compile(rf"(?<![A-Za-z0-9])(?P<name>{listed})(?![A-Za-z0-9])"), check(kind)))
        names = [*self._series, *(name for kind, table in self._made.items() if kind != "domain" for name in table)]
        names += [name for name, kind in self.kinds.items() if kind == "suffix"]
        self._by_shape = ByShape([form for form, _ in self._forms], re.compile)
        zeroed = _any({re.sub(r"\d", "0", name) for name in names if name})
        self._shape = re.compile(zeroed) if zeroed else None

    def may_stand_in(self, shape: str) -> bool:
        """True if a line with this shape (digits read as 0) may contain one of the names."""
        if self._stale:
            self._settle()
        return self._shape is not None and self._shape.search(shape) is not None

    def cleaned(self, line: str) -> str:
        """The line with stand-ins."""
        if self._stale:
            self._settle()
        done = 0
        while wanted := [number for number in self._by_shape.among(line) if number >= done]:
            form, made = self._forms[wanted[0]]
            line, done = form.sub(made, line), wanted[0] + 1
        return line

    def _host(self, found: re.Match[str]) -> str:
        series, number, text = found["series"], found["number"] or "", found.string
        if found["set"] is not None:
            known = not _DEVICE.match(series) or series + found["first"] in self._hosts
            return self._series[series] if known and len(series) > 1 else found[0]
        name = series + number
        if name not in self._hosts and not self._of_series(series, number):
            return found[0]
        end = found.end("number")
        if len(name) < _STRONG or not re.search(r"[\d-]", name) or _DEVICE.match(name):
            before, after = text[found.start() - 1 : found.start()], text[end : end + 1]
            if before in set("_.-") - {""} or after in set("_-") - {""} or re.match(r"\.\w+/", text[end:]):
                return found[0]
        self._used.setdefault("host name", set()).add(name)
        return self.host(name) + (self._labels(found["domain"]) if found["domain"] else "")

    def _of_series(self, series: str, number: str) -> bool:
        """True if this is another host of a series, by its number and because no device has such a name."""
        if len(series) < _STRONG - 1 or not number or _DEVICE.match(series) or series.lower().rstrip("-_") in _WORDS:
            return False
        return "-" in series

    def _labels(self, text: str) -> str:
        """Labels of a domain with stand-ins for the known ones; the last label is unchanged."""
        head, dot, last = text.rpartition(".")
        if not dot:
            return text
        known = self._made["domain"]
        made = []
        for label in head.split("."):
            new = known.get(label)
            if (
                new is None
                and label
                and (found := _NUMBERED.match(label))
                and label in self._hosts
                and found["series"] in self._series
            ):
                new = self.host(label)
            made.append(new or label)
        for label, new in zip(head.split("."), made, strict=True):
            if label != new:
                self._used.setdefault("domain", set()).add(label)
        return ".".join(made) + dot + last

    def _user(self, kind: str) -> Callable[[re.Match[str]], str]:
        def made(found: re.Match[str]) -> str:
            name, text = found["name"], found.string
            before, after = text[found.start() - 1 : found.start()], text[found.end() : found.end() + 1]
            strong = (
                len(name) >= _STRONG
                and name.lower() not in _WORDS
                and before not in set("_.-") - {""}
                and after not in set("_-") - {""}
            )
            if not strong and before not in set("/\\~=") - {""} and after != "@":
                return found[0]
            self._used.setdefault(f"{kind} name", set()).add(name)
            return self._made[kind][name]

        return made

    def _folder(self, kind: str) -> Callable[[re.Match[str]], str]:
        def made(found: re.Match[str]) -> str:
            name, text = found["name"], found.string
            before, after = text[found.start() - 1 : found.start()], text[found.end() : found.end() + 1]
            alone = before in {"/", "\\", "@", '"', "'", "=", ":", " ", ""} and after in {
                "",
                "/",
                "\\",
                '"',
                "'",
                " ",
                ":",
                ",",
                ")",
                ";",
                ".",
            }
            if not alone or (kind == "folder" and before not in {"/", "\\"}) or (before == " " and "-" not in name):
                return found[0]
            self._used.setdefault(f"{kind} name", set()).add(name)
            return self._made[kind][name]

        return made

    def _account(self, kind: str) -> Callable[[re.Match[str]], str]:
        def made(found: re.Match[str]) -> str:
            name, text = found["name"], found.string
            before, after = text[found.start() - 1 : found.start()], text[found.end() : found.end() + 1]
            is_word = name.isalpha() and len(name) < _LONG_WORD
            if is_word and before not in set("=:/\"'") and after != ".":
                return found[0]
            self._used.setdefault("cloud account", set()).add(name)
            return self._made[kind][name]

        return made


def _hosts_of(name: str) -> Iterator[str]:
    """The hosts of a set such as ``gpu-a[07-08],gpu-b1``."""
    for part in re.findall(r"[^,\[\]]{1,200}(?:\[[^\]]{1,400}\][^,\[\]]{0,60})?", name):
        if not _DEVICE.match(part.partition("[")[0]):
            yield from unfold_hosts(part)


def _codes(width: int) -> itertools.chain[str]:
    return itertools.chain("".join(letters) for letters in itertools.product(_ALPHABET, repeat=width))


def _filled(name: str, code: str, filler: str) -> str | None:
    """The name with other letters: a code, then a filler; None if it has fewer letters than the code."""
    letters = itertools.chain(code, itertools.cycle(filler[1:] + filler[:1]))
    if sum(map(str.isalnum, name)) < len(code):
        return None
    return "".join((n.upper() if c.isupper() else n) if c.isalnum() and (n := next(letters)) else c for c in name)


def _any(names: Iterable[str]) -> str:
    """The names as alternatives of a pattern, longest first."""
    listed = sorted((name for name in names if name), key=len, reverse=True)
    return "|".join(map(re.escape, listed))
