"""The message files: what programs print, as data. One ``[[message]]`` is one wording of one event.

.. code-block:: toml

    origin = "nccl"

    [event.ib-async-error]                    # what holds for every wording of an event stands here once
    kind = "symptom"                          # cause | echo | harmless | fact | symptom
    category = "link"                         # of a failure: what kind of thing failed (categories.toml)
    meaning = "The driver reported that a port changed its state."
    next = "Look at the counters of the port."

    [[message]]
    event = "ib-async-error"
    level = "WARN"                            # absent: any level
    text = "NET/IB : Got async event : {what:text}"
    versions = ">=2.3,<2.20"                  # releases of NCCL or RCCL that print it; absent: any
    file = "net_ib.cc"                        # only decides between messages that match equally well
    sample = "NET/IB : Got async event : port error"

The holes of ``text`` are described in `ncdiag.messages.template`.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal, NamedTuple

import msgspec

from ncdiag.base.errors import DefinitionError
from ncdiag.facts.model import What
from ncdiag.facts.scalars import Constraint
from ncdiag.messages.template import compile_parts, gave_up, parse, whole_words

FOLDER = Path(__file__).parent
"""Where ncdiag's own message files are."""

Kind = Literal["cause", "echo", "harmless", "fact", "symptom"]
"""What a message is to a diagnosis. cause: names a fault; symptom: says that something failed, not why; echo: repeats
or passes on a fault told elsewhere; fact: tells a state; harmless: looks alarming and means nothing by itself."""


class About(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What is said once of an event."""

    kind: Kind | None = None
    category: str = ""
    meaning: str = ""
    next: str = ""
    quiet: bool | None = None
    complaint: What | Literal["none"] | None = None


class Message(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """One wording of one event; see the module's docstring.

    ``quiet``: a normal line that changes no fact. It is recognised, explained when asked for, and not an event of a
    job.
    """

    event: str
    text: str
    origin: str = ""
    level: str | None = None
    versions: str = ""
    kind: Kind | None = None
    meaning: str = ""
    next: str = ""
    sample: str = ""
    file: str | None = None
    quiet: bool | None = None

    @property
    def constraint(self) -> Constraint:
        """The releases that carry this wording."""
        return Constraint.parse(self.versions)


class _File(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A file; its ``quiet`` holds for all its INFO messages that do not say otherwise."""

    origin: str
    quiet: bool = False
    message: list[Message] = []
    event: dict[str, About] = {}


CATEGORIES = "categories.toml"


def message_files(folder: Path = FOLDER) -> list[Path]:
    """The message files of a folder and the folders in it, in a fixed order."""
    return sorted(path for path in folder.rglob("*.toml") if path.name != CATEGORIES)


def load_messages(folder: Path | None = None, *, samples: bool = True) -> tuple[Message, ...]:
    """All messages of the ``*.toml`` files of ``folder`` (default: ncdiag's own), completed from their events' tables.

    ``samples`` also proves that every message matches its own sample, which compiles every pattern: wanted for files of
    others and in tests, not at each start. Raises one DefinitionError with file, line and help for each wrong message.
    """
    messages: list[Message] = []
    wrong: list[DefinitionError] = []
    seen: dict[tuple[str, str, str | None], str] = {}
    for path in message_files(folder or FOLDER):
        text = path.read_text(encoding="utf-8")
        for number, message in enumerate(_read(path, text)):
            key = message.origin, message.text, message.level
            flaw = _flaw(message, samples=samples)
            if key in seen:
                flaw = _Flaw(f"the event {seen[key]!r} has the same text", message.text)
            if flaw:
                wrong.append(DefinitionError(**flaw._asdict(), file=str(path), line=_line_of(text, number)))
            seen.setdefault(key, message.event)
            messages.append(message)
    if wrong:
        raise wrong[0] if len(wrong) == 1 else DefinitionError("\n".join(map(str, wrong)))
    return tuple(messages)


@functools.cache
def own_messages() -> tuple[Message, ...]:
    """The messages of ncdiag itself, for those who compile something of them: hundreds of milliseconds, spent once."""
    return load_messages(samples=False)


def event_tables(folder: Path = FOLDER) -> Iterator[tuple[Path, str, About]]:
    """What the files say once of their events: file, name of the event and its table."""
    for path in message_files(folder):
        file = _file(path, path.read_text(encoding="utf-8"))
        for name, about in file.event.items():
            yield path, name, about


def _file(path: Path, text: str) -> _File:
    from ncdiag.base import toml

    try:
        return msgspec.convert(_with_origin(toml.loads(text)), _File)
    except (toml.TOMLDecodeError, msgspec.ValidationError) as error:
        raise DefinitionError(str(error), file=str(path)) from None


def _read(path: Path, text: str) -> list[Message]:
    """The messages of one file, completed from its event tables."""
    file = _file(path, text)
    used = {message.event for message in file.message}
    for name in file.event:
        if name not in used:
            reason = f"the table [event.{name}] has no message"
            raise DefinitionError(reason, file=str(path))
    return [_complete(message, file.event.get(message.event, About()), quiet=file.quiet) for message in file.message]


def _with_origin(data: dict[str, Any]) -> dict[str, Any]:
    """Give every message the origin of its file."""
    messages = data.get("message")
    if isinstance(messages, list):
        for message in messages:
            if isinstance(message, dict):
                message.setdefault("origin", data.get("origin", ""))
    return data


def _complete(message: Message, about: About, *, quiet: bool) -> Message:
    own = message.quiet if message.quiet is not None else about.quiet
    return msgspec.structs.replace(
        message,
        kind=message.kind or about.kind,
        meaning=message.meaning or about.meaning,
        next=message.next or about.next,
        quiet=own if own is not None else quiet and message.level in _TALK,
    )


_TALK = {"INFO", "TRACE", "CALL", "VERSION"}
"""Levels at which a program tells what it does, not what is wrong."""


_RELEASED = {"nccl", "rccl"}
"""Origins whose release the facts know, so that a wording can be held against it."""


class _Flaw(NamedTuple):
    """Why a message cannot work: parts of a `DefinitionError`."""

    reason: str
    text: str
    column: int = 0
    hint: str = ""


def _flaw(message: Message, *, samples: bool) -> _Flaw | None:
    try:
        parts = parse(message.text)
        Constraint.parse(message.versions)
    except ValueError as error:
        return _Flaw(str(error), message.text)
    if message.versions and message.origin not in _RELEASED:
        hint = "say in `meaning` from which release on another program prints it"
        return _Flaw(
            f"`versions` are releases of NCCL, and this is a line of {message.origin!r}", message.text, hint=hint
        )
    if not whole_words(parts):
        hint = "a message is found by a literal word that touches no hole"
        return _Flaw("the text has no word outside its holes", message.text, hint=hint)
    if message.kind is None:
        reason = f"the event {message.event!r} has no kind, neither in the message nor in a table of its event"
        return _Flaw(reason, message.text)
    return _flaw_of_sample(message) if samples else None


def _flaw_of_sample(message: Message) -> _Flaw | None:
    sample, parts = message.sample.strip(), parse(message.text.strip())
    if not sample:
        return _Flaw("the message has no sample", message.text, hint="write one line, by hand, that the text matches")
    if compile_parts(parts).fullmatch(sample) is None:
        column, rest = gave_up(parts, sample)
        hint = f"the text goes on with: {rest}" if rest else "the text ends here"
        return _Flaw("the sample does not match", sample, column, hint)
    return None


def _line_of(text: str, number: int) -> int:
    """Line of the ``number``-th (from 0) message table."""
    seen = -1
    for line, content in enumerate(text.splitlines(), 1):
        seen += content.strip() == "[[message]]"
        if seen == number:
            return line
    return 0
