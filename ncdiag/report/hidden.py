"""Hide the secrets of the input in a report: it is judged with them, and written without."""

from __future__ import annotations

import functools
from collections.abc import Container, Mapping
from typing import Any, TypeVar, cast

import msgspec

from ncdiag.formats.secrets.hiding import Hiding
from ncdiag.report.differences import Change, Comparison
from ncdiag.report.model import Complaint, Conflict, Evidence, Look, Part, Report, Told

T = TypeVar("T")
_KEPT = frozenset(
    {"source", "code", "name", "formerly", "references", "kind", "host", "hosts", "ranks", "key", "area"}
    | {"severity", "role", "confidence", "verdict", "root_cause", "explained_by", "consequences", "answers"}
    | {"tool", "label", "launcher", "speaks_for", "weight", "status", "scope", "risk", "likelihood", "strength"}
)
"""Fields of reports without texts of the input, apart from names, which a report shows."""
_QUOTES = (Evidence, Told, Complaint, Conflict, Look, Change, Comparison)
"""Parts that quote the input. Other texts of a report are of rules: with a value of the input only if a line has it."""


def hidden(value: T, hiding: Hiding) -> T:
    """The structure (a report, a difference, facts) with ``***`` for each secret in its texts.

    Names of fields, keys of tables, places and numbers are unchanged, and so are parts without a secret, which are
    the same objects.
    """
    walk = _Walk(hiding, _KEPT if isinstance(value, Part) else frozenset())
    return cast("T", walk.of(value, quoted=hiding.found or not isinstance(value, Report)))


def hidden_lines(lines: Mapping[tuple[str, int], str], hiding: Hiding) -> dict[tuple[str, int], str]:
    """Lines by source and number, without their secrets."""
    places = sorted(lines)
    return dict(zip(places, hiding.lines([lines[place] for place in places]), strict=True))


class _Walk:
    """Visits all texts of a structure; a text that occurs often is searched once."""

    def __init__(self, hiding: Hiding, kept: Container[str]) -> None:
        """``kept`` are names of fields that are not visited."""
        self._kept = kept
        self._text = functools.cache(hiding.text)

    def of(self, value: Any, *, quoted: bool) -> Any:  # noqa: ANN401  (what a report is made of)
        """The value without secrets, the same object if it holds none. ``quoted``: it may quote the input."""
        if isinstance(value, str):
            return self._text(value) if quoted else value
        if isinstance(value, msgspec.Struct):
            return self._part(value, quoted=quoted or isinstance(value, _QUOTES))
        if isinstance(value, tuple | list):
            made = type(value)(self.of(item, quoted=quoted) for item in value)
            return made if any(a is not b for a, b in zip(made, value, strict=True)) else value
        if isinstance(value, dict):
            table = {name: self.of(item, quoted=quoted) for name, item in value.items()}
            return table if any(table[name] is not item for name, item in value.items()) else value
        return value

    def _part(self, part: msgspec.Struct, *, quoted: bool) -> msgspec.Struct:
        changed = {}
        for name in part.__struct_fields__:
            if name not in self._kept and (held := getattr(part, name)):
                new = self.of(held, quoted=quoted)
                if new is not held:
                    changed[name] = new
        return msgspec.structs.replace(part, **changed) if changed else part
