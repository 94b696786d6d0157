"""Load all messages from a folder of message files; `ncdiag.messages.form` describes the files."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from ncdiag.base.errors import DefinitionError
from ncdiag.facts.scalars import Constraint
from ncdiag.messages.message import Message
from ncdiag.messages.template import compile_parts, gave_up, parse, whole_words

if TYPE_CHECKING:
    from ncdiag.messages.form import File, Table

FOLDER = Path(__file__).parent
"""The folder of ncdiag's own message files."""
CATEGORIES = "categories.toml"
_RELEASED = {"nccl", "rccl"}
"""Origins whose release is a fact, so that the versions of a wording can be compared with it."""


def message_files(folder: Path = FOLDER) -> list[Path]:
    """Return the message files in a folder and its subfolders, in a fixed order."""
    return sorted(path for path in folder.rglob("*.toml") if path.name != CATEGORIES)


def load_messages(folder: Path | None = None, *, samples: bool = True) -> tuple[Message, ...]:
    """Return the messages of the ``*.toml`` files in ``folder`` (default: ncdiag's own), in order of files and lines.

    ``samples`` also checks that every message matches its own example, which compiles every pattern: for tests, not for
    each start. Raises one DefinitionError with file, line and help for all errors together.
    """
    messages: list[Message] = []
    wrong: list[DefinitionError] = []
    seen: dict[tuple[str, str, str | None], str] = {}
    for path in message_files(folder or FOLDER):
        file = _read(path)
        wrong += file.wrong
        for line, message in file.messages:
            key = message.origin, message.text, message.level
            flaw = _flaw(message, samples=samples)
            if key in seen:
                flaw = _Flaw(f"the event {seen[key]!r} has the same text", message.text)
            if flaw:
                wrong.append(DefinitionError(**flaw._asdict(), file=str(path), line=line))
            seen.setdefault(key, message.event)
            messages.append(message)
    if wrong:
        raise wrong[0] if len(wrong) == 1 else DefinitionError("\n".join(map(str, wrong)))
    return tuple(messages)


@functools.cache
def own_messages() -> tuple[Message, ...]:
    """Return ncdiag's own messages, loaded once since this takes hundreds of milliseconds.

    For code that compiles them.
    """
    return load_messages(samples=False)


def event_tables(folder: Path = FOLDER) -> Iterator[Table]:
    """Yield the event tables of the files; an event may have a table in several files."""
    for path in message_files(folder):
        yield from _read(path).tables


def _read(path: Path) -> File:
    from ncdiag.messages import form  # like TOML, only where definitions are read

    return form.read(path)


class _Flaw(NamedTuple):
    """An error in a message: the parts of a `DefinitionError`."""

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
        return _Flaw(f"releases are those of NCCL, and this is a line of {message.origin!r}", message.text, hint=hint)
    if not whole_words(parts):
        hint = "a message is found by a literal word that touches no hole"
        return _Flaw("the text has no word outside its holes", message.text, hint=hint)
    if message.kind is None:
        reason = f"the event {message.event!r} has no kind, neither in its table nor in this wording"
        return _Flaw(reason, message.text)
    return _flaw_of_example(message) if samples else None


def _flaw_of_example(message: Message) -> _Flaw | None:
    shown, parts = message.example, parse(message.text)
    if compile_parts(parts).fullmatch(shown) is not None:
        return None
    column, rest = gave_up(parts, shown)
    hint = f"the text goes on with: {rest}" if rest else "the text ends here"
    return _Flaw("the sample does not match", shown, column, hint)
