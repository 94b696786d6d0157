"""The values of all compared items, for the hosts of a job and for the job as a whole."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from fnmatch import fnmatchcase
from functools import cache
from operator import attrgetter
from typing import Any, NamedTuple

from ncdiag.checks.compared import Item, book
from ncdiag.comparing import runs
from ncdiag.comparing.readers import READERS, counted, distinct, folded, shown
from ncdiag.engine.fields import read
from ncdiag.facts.model import Host
from ncdiag.facts.model.declared import is_closed
from ncdiag.facts.view import View

JOB = ""
"""Used in place of a host for the job as a whole."""


class Subject(NamedTuple):
    """What is compared: the index of its item in the book, and the name of the device or variable (empty for none)."""

    number: int
    name: str

    @property
    def item(self) -> Item:
        """The entry of the book."""
        return book().item[self.number]


Groups = dict[str, list[str]]
"""Hosts by value; a host without a value is in no group."""
Table = dict[Subject, Groups]

_DEVICES: dict[str, tuple[str, str]] = {
    "gpus": ("gpus", "index"), "hcas": ("hcas", "name"), "ports": ("hcas", "hca"), "interfaces": ("interfaces", "name"),
    "limits": ("limits", "name"), "services": ("services", "name"), "modules": ("modules", "name"),
}  # fmt: skip
"""The collection of the host that must be complete, and the field that names a device."""
_GIB = 1 << 30
_HERE = "loaded"
Reader = Callable[[Host, View], Iterable[tuple[str, str]]]


def of_hosts(view: View) -> Table:
    """The values of every host, in the order of the job's hosts. A host is in at most one group per item."""
    table: Table = {}
    for number, item in enumerate(book().item):
        if item.run:
            continue
        reader, wanted = _reader(item), _filter(item)
        by_name: dict[str, Groups] = {}
        for host in view.job.hosts:
            for name, value in _once(reader(host, view)).items():
                by_name.setdefault(name, {}).setdefault(value, []).append(host.name)
        table |= {Subject(number, name): groups for name, groups in by_name.items() if wanted(name)}
    fill(table, view, tuple(table))
    return table


def _once(shown: Iterable[tuple[str, str]]) -> dict[str, str]:
    """One value for each name: several values of one name are joined."""
    found = list(shown)
    values = dict(found)
    if len(values) == len(found):
        return values
    several: dict[str, list[str]] = {}
    for name, value in found:
        several.setdefault(name, []).append(value)
    return {name: distinct(own) for name, own in several.items()}


def fill(table: Table, view: View, subjects: Iterable[Subject]) -> None:
    """Put hosts with complete collections that lack what others have into a separate group; idempotent."""
    for number, item in enumerate(book().item):
        if item.absent:
            mine = [subject for subject in subjects if subject.number == number]
            closed = [host.name for host in view.job.hosts if is_closed(host, item.seen_with)] if mine else []
            for subject in mine:
                have = {host for hosts in table.get(subject, {}).values() for host in hosts}
                lacking = [host for host in closed if host not in have]
                if lacking:
                    table.setdefault(subject, {})[item.absent] = lacking


def of_run(view: View) -> Table:
    """The values of the job as a whole."""
    return {
        Subject(number, name): {value: [JOB]}
        for number, item in enumerate(book().item) if item.run
        for name, value in _once(runs.READERS[item.read](view)).items()
    }  # fmt: skip


def _filter(item: Item) -> Callable[[str], bool]:
    if not item.only and not item.without:
        return lambda _: True

    @cache
    def wanted(name: str) -> bool:
        inside = not item.only or any(fnmatchcase(name, pattern) for pattern in item.only)
        return inside and not any(fnmatchcase(name, pattern) for pattern in item.without)

    return wanted


def _reader(item: Item) -> Reader:
    if item.read:
        return READERS[item.read]
    if not item.of:
        return _of_host(item)
    if item.how == "names":
        return _names(item)
    return _each(item) if item.how == "each" else _together(item)


def _of_host(item: Item) -> Reader:
    """A field of the host itself, by key if it is a table."""
    text = _text(item)

    def reader(host: Host, view: View) -> Iterator[tuple[str, str]]:
        value = read(host, item.value, view)
        if isinstance(value, dict):
            yield from ((name, text(each)) for name, each in value.items())
        elif value is not None:
            yield "", text(value)

    return reader


def _devices(item: Item) -> Callable[[Host, View], Iterable[Any]]:
    if item.of == "ports":
        found: Callable[[Host], Iterable[Any]] = lambda host: (port for hca in host.hcas for port in hca.ports)  # noqa: E731
    else:
        found = attrgetter(_DEVICES[item.of][0])
    if not item.where:
        return lambda host, _: found(host)
    return lambda host, view: (device for device in found(host) if read(device, item.where, view))


def _each(item: Item) -> Reader:
    """A value per device; without a field, the existence of the device."""
    devices, text, name = _devices(item), _text(item), attrgetter(_DEVICES[item.of][1])
    take = attrgetter(item.value) if item.value else lambda _: _HERE
    numbered = item.of == "ports"

    def reader(host: Host, view: View) -> Iterator[tuple[str, str]]:
        for device in devices(host, view):
            value = take(device)
            if value is not None:
                called = str(name(device))
                yield (f"{called}/{device.number}" if numbered and device.number != 1 else called), text(value)

    return reader


def _together(item: Item) -> Reader:
    """The number of devices per value, or only the values; nothing if one is unknown."""
    devices, take, text = _devices(item), attrgetter(item.value), _text(item)
    join = counted if item.how == "counted" else distinct

    def reader(host: Host, view: View) -> Iterator[tuple[str, str]]:
        values = [take(device) for device in devices(host, view)]
        known = [text(value) for value in values if value is not None]
        if known and len(known) == len(values):
            yield "", join(known)

    return reader


def _names(item: Item) -> Reader:
    """The names of the devices, if the host's list is complete."""
    devices, (field, key) = _devices(item), _DEVICES[item.of]
    name = attrgetter(key)

    def reader(host: Host, view: View) -> Iterator[tuple[str, str]]:
        if is_closed(host, field):
            yield "", folded(map(name, devices(host, view))) or "none"

    return reader


def _text(item: Item) -> Callable[[Any], str]:
    """Formats a value as text, with a cache."""

    def text(value: Any) -> str:  # noqa: ANN401  (the value of any field)
        if item.unit == "GiB":
            return f"{value / _GIB:.4g} GiB"
        told = shown(value)
        return f"{item.words.get(told, told)} {item.unit}".rstrip()

    remembered = cache(text)

    def of(value: Any) -> str:  # noqa: ANN401
        try:
            return remembered(value)
        except TypeError:  # not hashable
            return text(value)

    return of
