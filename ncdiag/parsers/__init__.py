"""Parsers, one module a tool output, found by folder. `_template.py` shows what a module must have."""

from __future__ import annotations

import importlib
import itertools
import pkgutil
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from types import ModuleType
from typing import TYPE_CHECKING, Any

import msgspec

from ncdiag.base import compiled
from ncdiag.base.errors import DefinitionError
from ncdiag.base.spans import Section
from ncdiag.facts.observe import Observation, Parsed
from ncdiag.formats.hints import Hints
from ncdiag.formats.literals import Found, beginnings

if TYPE_CHECKING:
    from ncdiag.parsers._silent import Silence as Silence


class Parser(msgspec.Struct, frozen=True, eq=False):
    """What the cutter and the pipeline use of a parser module (see ``_template.py``), which is imported on first use.

    ``interleaved``: NCCL log lines may be between the lines of a section (``INTERLEAVED = True`` in the module).
    ``launched``: its commands start a job, which is told by the launch line itself (``LAUNCHED = True``).
    ``beginnings``: the letters with which such a line begins; none for any (`ncdiag.formats.literals`).
    ``found_by``: literals of at least 4 characters and first characters that find every such line, whatever the
    alternative of the anchor (`ncdiag.formats.anchors`).
    """

    kind: str
    commands: tuple[str, ...]
    anchor: str
    interleaved: bool = False
    launched: bool = False
    beginnings: frozenset[str] = frozenset()
    found_by: Found = Found()

    def continues(self, lines: Sequence[str], line: str) -> bool:
        """Does the next line still belong to the section that these lines began?"""
        found: bool = _reader(self.kind, "continues").continues(lines, line)
        return found

    def parse(self, section: Section) -> Parsed:
        """The section to observations."""
        found: Parsed = _reader(self.kind, "parse").parse(section)
        return found


def hints() -> tuple[Hints, ...]:
    """The tables of literals by which sentences are searched for complaints."""
    from ncdiag.parsers import _complaints  # with what reads sentences, which not every input has
    from ncdiag.parsers.user_text import forms

    return _complaints.HINTS, forms.HINTS, forms.SUBJECTS


@cache
def discover() -> Mapping[str, Parser]:
    """All parsers by kind, ``text`` (the parser of what no section claimed) among them.

    Packages are not line parsers.
    """
    return {parser.kind: parser for parser in compiled.load("parsers", _sources(), build, tuple[Parser, ...])}


def leftovers(section: Section, indices: Sequence[int]) -> Parsed:
    """What the message catalogue makes of lines that the section's own parser does not know."""
    from ncdiag.parsers import _program  # the catalogue, which most outputs never need

    return _program.leftovers(section, indices)


def counters(section: Section) -> Parsed:
    """How far a program was, by lines that have a counter and say nothing else."""
    from ncdiag.parsers import _program

    return _program.counters(section)


def silent(line: str, *, notes: bool) -> Silence | None:
    """How a line of a program's text says nothing; None where it says something. ``notes``: a person's few words do."""
    from ncdiag.parsers import _silent

    return _silent.silent(line, notes=notes)


def named_in_sentences(observations: Iterable[Observation], lines: Sequence[str]) -> Iterator[int]:
    """The indexes of the lines that name the message of their event in the middle of a sentence."""
    from ncdiag.parsers._in_sentences import in_sentences

    return in_sentences(observations, lines)


def odd_hosts(source: str, lines: Sequence[tuple[int, str]]) -> list[Observation]:
    """The hosts whose value differs from most others, of each command of a paste that ran on many."""
    from ncdiag.parsers import _host_values

    return _host_values.read(source, lines)


def is_eventless(line: str) -> bool:
    """True if no program reports an event or progress with the line, whatever people may say in it."""
    from ncdiag.parsers import _silent

    return _silent.is_eventless(line)


def with_other_numbers(line: str) -> list[str]:
    """A line of a program's text with other numbers, which it may have where it says something."""
    from ncdiag.parsers import _silent

    return list(dict.fromkeys(_silent.with_other_numbers(line)))


def leads(line: str) -> bool:
    """Does the line announce what the next one says?"""
    from ncdiag.parsers import _program

    return _program.expects(line)


def build() -> tuple[Parser, ...]:
    """The parsers as their modules describe them; DefinitionError for a module that is not a parser."""
    names = [info.name for info in pkgutil.iter_modules(__path__) if not info.name.startswith("_") and not info.ispkg]
    return tuple(map(_described, names))


def _described(name: str) -> Parser:
    module = _module(name)
    words = ["KIND", "COMMANDS", "ANCHOR", *(() if hasattr(module, "ROWS") else ("continues", "parse"))]
    missing = [word for word in words if not hasattr(module, word)]
    reason = f"lacks {', '.join(missing)}" if missing else _flaw(module, name)
    if reason:
        raise DefinitionError(reason, file=f"ncdiag/parsers/{name}.py", hint="see ncdiag/parsers/_template.py")
    flags = (getattr(module, "INTERLEAVED", False), getattr(module, "LAUNCHED", False))
    anchor = module.ANCHOR
    return Parser(
        module.KIND, module.COMMANDS, anchor, *flags,
        beginnings=beginnings(anchor), found_by=_found_by(module),
    )  # fmt: skip


def _flaw(module: ModuleType, name: str) -> str:
    """What is wrong with a complete module; empty when nothing is."""
    if name != module.KIND:
        return f"has KIND {module.KIND!r}"
    try:
        groups = re.compile(module.ANCHOR).groups
    except re.error as error:
        return f"has an ANCHOR that is not a regular expression: {error}"
    if groups:
        return "has an ANCHOR with a capturing group"
    lacking = _found_by(module).lacking
    return f"has an ANCHOR of which neither SIGNS nor STRUCTURE finds {lacking[0][:120]!r}" if lacking else ""


def _found_by(module: ModuleType) -> Found:
    from ncdiag.formats.anchors import found_by

    return found_by(module.ANCHOR, getattr(module, "SIGNS", ()), getattr(module, "STRUCTURE", ""))


@cache
def _reader(kind: str, function: str) -> Any:  # noqa: ANN401  (a module has no type that says what is in it)
    """What has the function ``continues`` or ``parse``: the module, which takes precedence, or its ROWS."""
    module = _module(kind)
    return module if hasattr(module, function) else module.ROWS


@cache
def _module(kind: str) -> ModuleType:
    return importlib.import_module(f"{__name__}.{kind}")


def _sources() -> Iterator[str]:
    """The files that say what the parsers are; those of the agent say which variables are kept."""
    folders = (compiled.PACKAGE / name for name in ("parsers", "formats", "agent"))
    return itertools.chain.from_iterable(compiled.files(folder, ".py") for folder in folders)
