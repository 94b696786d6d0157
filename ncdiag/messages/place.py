"""Positions in a message file, and errors that name the line and the allowed words."""

from __future__ import annotations

import re
from typing import NamedTuple, NoReturn, TypeVar, get_args

import msgspec

from ncdiag.base.errors import DefinitionError, suggestion

T = TypeVar("T")


class Place(NamedTuple):
    """Consecutive lines of a file; ``first`` is the number of the first line."""

    file: str
    lines: list[str]
    first: int = 1

    def line(self, key: str, text: str = "") -> int:
        """Return the number of the line with this key, or of the next one that contains ``text``.

        Else of the first line.
        """
        pattern = re.compile(rf'[\s"{{,]*{re.escape(key)}"?\s*=')
        at = next((n for n, line in enumerate(self.lines) if pattern.match(line)), 0)
        below = (n for n, line in enumerate(self.lines[at:], at) if text and text in re.sub(r"\\(.)", r"\1", line))
        return self.first + next(below, at)

    def refuse(self, reason: str, key: str = "", hint: str = "", text: str = "") -> NoReturn:
        """Raise the DefinitionError that names the line with this key and text."""
        raise DefinitionError(reason, file=self.file, line=self.line(key, text), hint=hint)

    def convert(self, data: object, kind: type[T], key: str = "", text: str = "") -> T:
        """Convert ``data`` to this struct; raises DefinitionError with the allowed words for a wrong key or value.

        ``key`` and ``text`` find the line of a wording, whose keys are all on one line.
        """
        known = {field.encode_name: field.type for field in msgspec.structs.fields(kind)}  # type: ignore[arg-type]
        for word in data if isinstance(data, dict) else ():
            if word not in known:
                self.refuse(f"unknown key {word!r}", key or word, expected(word, known), text)
        try:
            return msgspec.convert(data, kind)
        except msgspec.ValidationError as error:
            reason, _, where = str(error).partition(" - at ")
            wrong = re.split(r"[.\[]", where.strip("`$."))[0]
            allowed = _words(known.get(wrong))
            hint = f"known: {', '.join(allowed)}" if allowed else ""
            reason = reason[:1].lower() + reason[1:]
            self.refuse(f"{wrong}: {reason}" if wrong else reason, key or wrong, hint, text)


def expected(word: str, known: dict[str, object] | list[str]) -> str:
    """Return a sentence with the allowed word that is most similar, and all allowed words."""
    near, every = suggestion(word, known), f"known: {', '.join(known)}"
    return every if near in {every, ""} or near.startswith("known:") else f"{near} {every}"


def _words(annotation: object) -> list[str]:
    """The words that a type allows: the values of its Literals."""
    return [word for each in get_args(annotation) for word in ([each] if isinstance(each, str) else _words(each))]
