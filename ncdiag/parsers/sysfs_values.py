"""Files of /sys of RDMA ports and interfaces, as ``cat``, ``grep`` and loops of the shell show them.

Source of the format: Linux Documentation/ABI/stable/sysfs-class-infiniband and ABI/testing/sysfs-class-net (a file
has one line with one value). ``cat`` prints values without names: those of the named files, in the order of the
command; people write the folder of a second one as ``...``. ``grep -H .`` and ``head`` put the path before the value. A
pattern such as ``gids/*`` names no file, so its values are not read.
"""

from __future__ import annotations

import itertools
import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Any

from ncdiag.base.patterns import lazy_regex
from ncdiag.base.spans import Section
from ncdiag.formats import basics, rdma
from ncdiag.parsers._rows import Reading, Row, Rows

KIND = "sysfs_values"
COMMANDS: tuple[str, ...] = ()
EVENTS: dict[str, dict[str, str]] = {"roce-gid-empty": {"hca": "str", "port": "int", "gid_index": "int"}}
"""The event of an empty entry, and the types of its fields."""
_FOLDER = r"/sys/class/(?:infiniband|net)/"
_LOOP = r"for \w{1,20} in [\w .{}$()-]{1,120}; ?do "
ANCHOR = (
    rf"(?:sudo )?cat {_FOLDER}\S|{_LOOP}(?:sudo )?cat {_FOLDER}\S{{1,200}} ?; ?done"
    rf"|{_FOLDER}(?!\S{{1,80}}/pkeys/)[\w./@-]{{3,160}}:[ \t]{{0,4}}[\w.].{{0,80}}$"
)

_COMMAND = r"(?:sudo )?cat (?P<paths>(?:/sys/class/|\.{3}/)\S.{0,2000})$"
_IN_LOOP = (
    r"for (?P<name>\w{1,20}) in (?P<items>[\w .{}$()-]{1,120}?) ?; ?do (?:sudo )?cat (?P<paths>\S{1,200}?) ?; ?done"
)
_NAMED = rf"(?P<path>{_FOLDER}[\w./@-]{{3,160}}):\s{{0,4}}(?P<value>\S.{{0,80}}?)\s*$"
_REFUSED = r"cat: \S{1,200}: [A-Z][\w ]{3,60}$"
_VALUE = r"\s*(?P<value>[\w./:]{1,60}(?: [\w/]{1,20})?(?: \([\w ]{1,20}\))?)\s*$"
_SEQUENCE = lazy_regex(r"\{(\d{1,3})\.\.(\d{1,3})\}|\$\(seq (\d{1,3}) (\d{1,3})\)")
_CHOICE = lazy_regex(r"\{([\w,.-]{1,200})\}")
_PORT = lazy_regex(r"/sys/class/infiniband/([\w.-]{1,64})/ports/(\d{1,3})/(\S{1,80})$")
_DEVICE = lazy_regex(r"/sys/class/infiniband/([\w.-]{1,64})/device/numa_node$")
_INTERFACE = lazy_regex(r"/sys/class/net/([\w.@-]{1,64})/(mtu|speed|operstate)$")
_COUNTERS = ("counters/", "hw_counters/")
_FIELDS = {
    "state": ("state", rdma.port_state), "phys_state": ("physical_state", rdma.physical_state),
    "rate": ("rate_gbps", basics.quantity), "lid": ("lid", basics.number), "sm_lid": ("sm_lid", basics.number),
    "link_layer": ("link_layer", rdma.link_layer),
}  # fmt: skip
"""Files of a port: the field of `Port` and how it is read."""
_TYPES = {"RoCE v2": "RoCE v2", "IB/RoCE v1": "RoCE v1"}
_MOST_FILES = 256


def _expanded(text: str) -> list[str]:
    """The words of the shell with their braces and sequences written out, at most 256."""
    words = text.split()
    for _ in range(3):
        pairs = ((word, _SEQUENCE.search(word) or _CHOICE.search(word)) for word in words)
        nested = ([word] if found is None else _alternatives(word, found) for word, found in pairs)
        words = list(itertools.islice(itertools.chain.from_iterable(nested), _MOST_FILES))
    return words


def _alternatives(word: str, found: re.Match[str]) -> Iterator[str]:
    ends = [end for end in found.groups() if end is not None]
    items = ends[0].split(",") if len(ends) == 1 else map(str, range(int(ends[0]), int(ends[1]) + 1))
    return (word[: found.start()] + item + word[found.end() :] for item in items)


def _items(text: str) -> list[str]:
    """What a loop goes over."""
    sequence = _SEQUENCE.fullmatch(text.strip())
    return list(_alternatives("", sequence)) if sequence and not sequence.start() else _expanded(text)


def _files(line: str, last: str) -> list[str] | None:
    """The files that a command of this line prints, a value each; None for another line. ``last``: the file before."""
    loop, command = re.match(_IN_LOOP, line), re.match(_COMMAND, line)
    if loop:
        name = re.compile(rf"\$(?:{loop['name']}\b|\{{{loop['name']}\}})")
        return [file for item in _items(loop["items"]) for file in _expanded(name.sub(item, loop["paths"]))][
            :_MOST_FILES
        ]
    if command is None:
        return None
    files = _expanded(command["paths"].partition("|")[0].partition(";")[0])
    return [_whole(file, last) for file in files]


def _whole(file: str, last: str) -> str:
    """``.../np_cnp_sent`` after a file in ``hw_counters`` is in the same folder."""
    return f"{last.rpartition('/')[0]}/{file.removeprefix('.../')}" if file.startswith(".../") else file


class _Values(Reading):
    """Values by file; those of one port, interface or table become one observation."""

    def __init__(self, section: Section) -> None:
        """No command was read."""
        super().__init__(section)
        self.waiting: list[str] = []
        self.last, self.alone = "", False
        self.fields: dict[tuple[str, tuple[str | int, ...]], dict[str, Any]] = defaultdict(dict)
        self.first: dict[tuple[str, tuple[str | int, ...]], int] = {}

    def command(self, _: re.Match[str]) -> None:
        """Values of these files follow."""
        files = _files(self.line.strip(), self.last) or []
        self.waiting = [] if any(set(file) & set("*?$") for file in files) else files
        self.last, self.alone = files[-1] if files else self.last, len(files) == 1

    def refused(self, _: re.Match[str]) -> bool:
        """A file has no value."""
        self.waiting = self.waiting[1:]
        return True

    def named(self, found: re.Match[str]) -> bool:
        """A path with its value."""
        return self._keep(found["path"], found["value"])

    def value(self, found: re.Match[str]) -> bool:
        """The value of the next file; False where no file is left."""
        file, self.waiting = (self.waiting or [""])[0], self.waiting[1:]
        return self._keep(file, found["value"])

    def end(self) -> None:
        """One observation of each entity. A partition table counts where more than its first entry was read."""
        for (entity, key), fields in self.fields.items():
            keys = fields.pop("pkeys", {})
            table = rdma.pkey_table(keys) if len(keys) > 1 and 0 in keys else None
            if fields or table:
                self.observe(entity, key, at=self.first[entity, key], pkeys=table, **fields)

    def _of(self, entity: str, *key: str | int) -> dict[str, Any]:
        self.first.setdefault((entity, key), self.index)
        return self.fields[entity, key]

    def _keep(self, file: str, value: str) -> bool:
        port, device, interface = _PORT.match(file), _DEVICE.match(file), _INTERFACE.match(file)
        if port:
            return self._of_port(port[1], int(port[2]), port[3], value)
        if device and (node := basics.number(value)) is not None:
            self._of("Hca", device[1])["numa_node"] = node
        elif interface and interface[2] == "operstate":
            self._of("Interface", interface[1])["operstate"] = value.lower()
        elif interface and value.isdecimal():
            field = {"mtu": "mtu", "speed": "speed_mbps"}[interface[2]]
            self._of("Interface", interface[1])[field] = int(value)
        else:
            return False
        return True

    def _empty(self, fields: dict[str, Any]) -> None:
        """Who asks for one entry alone means to use it."""
        self.observe(
            "Event", event="roce-gid-empty", origin="rdma", kind="cause", text=self.line.strip(),
            order=self.section.number(self.index), count=1, fields=fields,
        )  # fmt: skip

    def _of_port(self, hca: str, number: int, file: str, value: str) -> bool:
        folder, _, name = file.rpartition("/")
        if file.startswith(_COUNTERS) and value.isdecimal():
            self._of("Port", hca, number).setdefault("counters", {})[name] = int(value)
        elif file in _FIELDS:
            field, read = _FIELDS[file]
            self._of("Port", hca, number)[field] = read(value)
        elif folder == "pkeys" and name.isdecimal():
            self._of("Port", hca, number).setdefault("pkeys", {})[int(name)] = value
        elif folder == "gids" and name.isdecimal() and (address := rdma.gid(value)):
            if address not in rdma.EMPTY_GIDS:
                self._of("Gid", hca, number, int(name)).update(address=address, ip=rdma.mapped_ip(address))
            elif self.alone and int(name):
                self._empty({"hca": hca, "port": number, "gid_index": int(name)})
        elif folder == "gid_attrs/types" and name.isdecimal() and value in _TYPES:
            self._of("Gid", hca, number, int(name))["type"] = _TYPES[value]
        elif folder == "gid_attrs/ndevs" and name.isdecimal():
            self._of("Gid", hca, number, int(name))["netdev"] = value
        else:
            return False
        return True


def _left(lines: Sequence[str], _line: str) -> bool:
    """A value belongs while the last command above has files without one."""
    last, since, files = "", 0, list[str]()
    for line in lines:
        named = _files(line.strip(), last)
        since = since + 1 if named is None else 0
        files, last = (files, last) if named is None else (named, (named or [last])[-1])
    return since < len(files)


ROWS = Rows(
    _Values,
    Row(_IN_LOOP, _Values.command),
    Row(_COMMAND, _Values.command),
    Row(_NAMED, _Values.named),
    Row(_REFUSED, _Values.refused, belongs=_left),
    Row(_VALUE, _Values.value, belongs=_left),
    most=_MOST_FILES,
    longest=4096,
)
