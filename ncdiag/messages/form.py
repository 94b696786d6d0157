"""The form of a message file: what it says of each event once, and one line for each wording.

.. code-block:: toml

    origin = "nccl"                           # the program that prints these lines
    quiet = true                              # its INFO lines are normal ones, unless an event says otherwise

    [event.ib-async-error]
    kind = "symptom"                          # cause | echo | harmless | fact | symptom
    category = "link"                         # of a failure: what kind of thing failed (categories.toml)
    meaning = "The driver reported that a port changed its state."
    next = "Check the counters of the port."
    WARN = [                                  # the wordings, by the level at which they are printed
        "NET/IB : Got async event : {what:text} || >=2.3,<2.20 || net_ib.cc",
        { text = "NET/IB: event {what:text} || >=2.20", sample = "NET/IB: event port error" },
    ]
    lines = ["Got async event {what:text}"]   # wordings of programs without levels, or printed at any

A wording is its text, the releases of NCCL or RCCL that print it (absent: any) and the source file that does, with
``||`` between them. The file only decides between messages that match equally well. A wording that says more is a table
on one line: ``kind``, ``meaning``, ``next`` or ``quiet`` where they differ from the event's, ``exact`` where other
programs say the same words, so that the punctuation counts, and ``sample``, a line where the values in the holes are
worth seeing. The holes are described in `ncdiag.messages.template`.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from ncdiag.base.errors import DefinitionError
from ncdiag.messages.message import About, Kind, Message
from ncdiag.messages.place import Place, expected

LEVELS = ("WARN", "INFO", "TRACE", "CALL", "VERSION", "ATTN", "ABORT", "DIAG", "RAS", "STDERR", "STDOUT")
"""The keys of lists of wordings that are printed at one level; RAS, STDERR and STDOUT are outputs of ncclras."""
LINES = "lines"
"""The key of the list of wordings that may be printed at any level."""
_TALK = {"INFO", "TRACE", "CALL", "VERSION"}
"""Levels of messages about progress, as opposed to problems."""
_ABOUT = tuple(field.encode_name for field in msgspec.structs.fields(About))
_PARTS = 3
"""The parts of a wording: text, releases, source file."""


class Table(NamedTuple):
    """What a file says about an event as a whole, and where it says so."""

    file: str
    line: int
    event: str
    about: About


class File(NamedTuple):
    """The content of a message file: event tables, and messages with their line numbers.

    ``wrong`` are the errors in it.
    """

    tables: list[Table]
    messages: list[tuple[int, Message]]
    wrong: list[DefinitionError]


class _Top(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A message file as written, decoded from TOML."""

    origin: str
    quiet: bool = False
    event: dict[str, dict[str, Any]] = {}


class _Wording(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A wording as written: its text, and the keys in which it differs from its event."""

    text: str
    kind: Kind | None = None
    meaning: str = ""
    next: str = ""
    quiet: bool | None = None
    sample: str = ""
    exact: bool = False


def read(path: Path) -> File:
    """Read a message file. An error in one event or wording is recorded in ``File.wrong``; the others are read."""
    from ncdiag.base import toml

    text = path.read_text(encoding="utf-8")
    found = File([], [], [])
    with _noting(found.wrong):
        top = Place(str(path), text.splitlines()).convert(toml.definition(text, str(path)), _Top)
        for event, place in _places(str(path), text, top.event):
            with _noting(found.wrong):
                _Event(event, place, top).read(found)
    return found


@contextlib.contextmanager
def _noting(wrong: list[DefinitionError]) -> Iterator[None]:
    """Record a DefinitionError in ``wrong`` instead of raising it, so that reading continues."""
    try:
        yield
    except DefinitionError as error:
        wrong.append(error)


def _places(file: str, text: str, events: dict[str, dict[str, Any]]) -> Iterator[tuple[str, Place]]:
    """Yield each event with the lines of its table."""
    lines = text.splitlines()
    headers = [number for number, line in enumerate(lines) if line.startswith("[")]
    of = {re.sub(r'^\[event\."?|"?\].*', "", lines[number]): number for number in headers}
    for event in events:
        start = of.get(event, 0)
        end = next((number for number in headers if number > start), len(lines))
        yield event, Place(file, lines[start:end], start + 1)


class _Event(NamedTuple):
    """Reads the table of one event."""

    name: str
    place: Place
    top: _Top

    def read(self, found: File) -> None:
        """Add the table and the messages of the event to ``found``."""
        lists: dict[str, list[object]] = {}
        said: dict[str, object] = {}
        for key, value in self.top.event[self.name].items():
            if key in {*LEVELS, LINES}:
                if not isinstance(value, list):
                    self.place.refuse(f"{key} is a list of wordings", key, f'write {key} = ["..."]')
                lists[key] = value
            elif key in _ABOUT:
                said[key] = value
            else:
                hint = expected(key, [*_ABOUT, *LEVELS, LINES])
                self.place.refuse(f"unknown key {key!r} in [event.{self.name}]", key, hint)
        if not any(lists.values()):
            hint = f'write WARN = ["..."], or {LINES} = ["..."] for any level'
            self.place.refuse(f"the table [event.{self.name}] has no wording", hint=hint)
        about = self.place.convert(said, About)
        found.tables.append(Table(self.place.file, self.place.first, self.name, about))
        for key, wordings in lists.items():
            for wording in wordings:
                with _noting(found.wrong):
                    found.messages.append(self._message(wording, key, about))

    def _message(self, wording: object, key: str, about: About) -> tuple[int, Message]:
        data = {"text": wording} if isinstance(wording, str) else wording
        written = data.get("text") if isinstance(data, dict) else None
        own = self.place.convert(data, _Wording, key, written if isinstance(written, str) else "")
        text, *more = (part.strip() for part in own.text.split("||"))
        if len(more) >= _PARTS:
            self.place.refuse("this wording has more than three parts", key, "text || releases || file", own.text)
        versions, file = [*more, "", ""][: _PARTS - 1]
        level = None if key == LINES else key
        quiet = next((said for said in (own.quiet, about.quiet) if said is not None), self.top.quiet and level in _TALK)
        return self.place.line(key, own.text), Message(
            event=self.name, text=text, origin=self.top.origin, level=level, versions=versions,
            kind=own.kind or about.kind, meaning=own.meaning or about.meaning, next=own.next or about.next,
            sample=own.sample, file=file or None, quiet=quiet, exact=own.exact,
        )  # fmt: skip
