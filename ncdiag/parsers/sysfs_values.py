"""Files of /sys of RDMA ports and interfaces, as ``cat``, ``grep`` and loops of the shell show them.

Source of the format: Linux Documentation/ABI/stable/sysfs-class-infiniband and ABI/testing/sysfs-class-net (a file
has one line with one value). ``cat`` prints values without names: those of the named files, in the order of the
command; people write the folder of a second one as ``...``. ``grep -H .`` puts the path before the value, ``head``
above it, ``==> path <==``; after ``cd`` into a folder, paths are relative to it. A pattern such as ``gids/*`` names no
file, so its values are not read.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from ncdiag.base.patterns import lazy_regex
from ncdiag.base.spans import Section
from ncdiag.formats import basics, rdma
from ncdiag.parsers._rows import Reading, Row, Rows
from ncdiag.parsers._shell_loops import Line, expanded, items, printed, readings
from ncdiag.parsers._traffic import keep_traffic

KIND = "sysfs_values"
COMMANDS: tuple[str, ...] = ()
EVENTS: dict[str, dict[str, str]] = {"roce-gid-empty": {"hca": "str", "port": "int", "gid_index": "int"}}
"""The event of an empty entry, and the types of its fields."""
_FOLDER = r"/sys/class/(?:infiniband|net)/"
_PAUSE = r"(?:sleep \d{1,4}s? ?(?:;|&&) ?)?"
"""Before a command that reads counters once more."""
_LOOP = r"for \w{1,20} in [\w .{}$()-]{1,120}; ?do "
_ECHOES = rf"for \w{{1,20}} in (?:[^;\n]{{1,300}}; ?do echo .{{0,400}}{_FOLDER}|{_FOLDER}[^;\n]{{1,200}}; ?do echo )"
ANCHOR = (
    rf"{_PAUSE}(?:(?:sudo )?cat {_FOLDER}\S|{_LOOP}(?:sudo )?cat {_FOLDER}\S{{1,200}} ?; ?done|{_ECHOES})"
    rf"|{_FOLDER}(?!\S{{1,80}}/pkeys/)[\w./@-]{{3,160}}:[ \t]{{0,4}}[\w.].{{0,80}}$"
    rf"|cd {_FOLDER}\S|==> {_FOLDER}\S{{3,160}} <==$"
)

_IS_ECHO = lazy_regex(_PAUSE + _ECHOES)
_COMMAND = _PAUSE + r"(?:sudo )?cat (?P<paths>(?:/sys/class/|\.{3}/)\S.{0,2000})$"
_IN_LOOP = (
    _PAUSE
    + r"for (?P<name>\w{1,20}) in (?P<items>[\w .{}$()-]{1,120}?) ?; ?do (?:sudo )?cat (?P<paths>\S{1,200}?) ?; ?done"
)
_NAMED = rf"(?P<path>{_FOLDER}[\w./@-]{{3,160}}):\s{{0,4}}(?P<value>\S.{{0,80}}?)\s*$"
_CD = rf"cd (?P<folder>{_FOLDER}[\w./@-]{{1,160}}?)/?(?: ?(?:;|&&) ?\S.{{0,400}})?$"
_RELATIVE = r"(?P<path>[a-z][\w./@-]{2,80}):\s{0,4}(?P<value>\S.{0,80}?)\s*$"
_TITLE = r"==> (?P<path>[\w./@-]{2,160}) <==$"
_REFUSED = r"cat: \S{1,200}: [A-Z][\w ]{3,60}$"
_VALUE = r"\s*(?P<value>[\w./:]{1,60}(?: [\w/]{1,20})?(?: \([\w ]{1,20}\))?)\s*$"
_IS_NAMED, _IS_VALUE, _IS_REFUSED = lazy_regex(_NAMED), lazy_regex(_VALUE), lazy_regex(_REFUSED)
_IS_CD, _IS_RELATIVE, _IS_TITLE = lazy_regex(_CD), lazy_regex(_RELATIVE), lazy_regex(_TITLE)
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


def _files(line: str, last: str) -> list[str] | None:
    """The files that a command of this line prints, a value each; None for another line. ``last``: the file before.

    Commands with a pause between them print the files of each.
    """
    first, *more = readings(line)
    if more:
        named = [_files(piece, last) for piece in (first, *more)]
        return None if None in named else [file for files in named for file in files or ()][:_MOST_FILES]
    loop, command = re.match(_IN_LOOP, line), re.match(_COMMAND, line)
    if loop:
        name = re.compile(rf"\$(?:{loop['name']}\b|\{{{loop['name']}\}})")
        return [file for item in items(loop["items"]) for file in expanded(name.sub(item, loop["paths"]))][:_MOST_FILES]
    if command is None:
        return None
    files = expanded(command["paths"].partition("|")[0].partition(";")[0])
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
        self.last, self.alone, self.folder = "", False, ""
        self.lines: list[Line] = []
        self.fields: dict[tuple[str, tuple[str | int, ...]], dict[str, Any]] = defaultdict(dict)
        self.first: dict[tuple[str, tuple[str | int, ...]], int] = {}

    def command(self, _: re.Match[str]) -> None:
        """Values of these files follow."""
        files = _files(self.line.strip(), self.last) or []
        self.waiting = [] if any(set(file) & set("*?$") for file in files) else files
        self.last, self.alone = files[-1] if files else self.last, len(files) == 1

    def moved(self, found: re.Match[str]) -> None:
        """The folder of relative paths below."""
        self.folder, self.waiting = f"{found['folder']}/", []

    def relative(self, found: re.Match[str]) -> bool:
        """A path in that folder, with its value."""
        return self._keep(self.folder + found["path"], found["value"])

    def titled(self, found: re.Match[str]) -> None:
        """The path of the file whose value is below."""
        path = found["path"]
        self.waiting, self.alone = [path if path.startswith("/") else self.folder + path], False

    def loop(self, _: re.Match[str]) -> None:
        """Lines with values of files follow."""
        self.waiting, self.lines = [], printed(self.line)

    def shown(self, _: re.Match[str]) -> bool:
        """The next line of a loop: the values in it."""
        line = next(iter(self.lines), None)
        read = line.read(self.line) if line is not None else None
        if line is None or read is None:
            return False
        self.lines = self.lines if line.is_open else self.lines[1:]
        kept = [self._keep(file, value) for file, value in read]
        return all(kept)

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
            keep_traffic(self, f"{hca}/{number}", {name: int(value)})
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


def _of_loop(lines: Sequence[str], line: str) -> bool:
    """Does the line have the form that the loop above prints?"""
    heads = [at for at, text in enumerate(lines) if _IS_ECHO.match(text.strip())]
    made = printed(lines[heads[-1]]) if heads else []
    done = len(lines) - heads[-1] - 1 if heads else 0
    if made and made[0].is_open:
        return made[0].read(line) is not None
    return done < len(made) and made[done].read(line) is not None


def _goes_on(lines: Sequence[str], line: str) -> bool:
    """Is it a line of the loop above, a path with its value, or the value of a file that is left?"""
    if _of_loop(lines, line) or _IS_NAMED.match(line) or _IS_TITLE.match(line):
        return True
    if _IS_TITLE.match(lines[-1]):
        return bool(_IS_VALUE.match(line))
    if _IS_RELATIVE.match(line) and any(_IS_CD.match(above.strip()) for above in lines[:_MOST_FILES]):
        return True
    return any(pattern.match(line) for pattern in (_IS_VALUE, _IS_REFUSED)) and _left(lines, line)


ROWS = Rows(
    _Values,
    Row(_IN_LOOP, _Values.command),
    Row(_PAUSE + _ECHOES, _Values.loop),
    Row(_COMMAND, _Values.command),
    Row(r"\s*\S.{0,400}$", _Values.shown, belongs=_goes_on),
    Row(_CD, _Values.moved),
    Row(_TITLE, _Values.titled),
    Row(_NAMED, _Values.named),
    Row(_RELATIVE, _Values.relative),
    Row(_REFUSED, _Values.refused),
    Row(_VALUE, _Values.value),
    most=_MOST_FILES,
    longest=4096,
)
