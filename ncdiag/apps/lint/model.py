"""Types of lint: documents with settings at exact places, and findings with the edits that fix them."""

from __future__ import annotations

import bisect
from collections.abc import Sequence
from typing import Literal

import msgspec

from ncdiag.base.severity import Severity
from ncdiag.facts.observe import Observation
from ncdiag.facts.scalars import Version, VersionRange

Form = Literal[
    "shell", "dockerfile", "kubernetes", "compose", "json", "toml", "python", "env", "conf", "hostfile", "ranktable",
    "process",
]  # fmt: skip
Quoting = Literal["shell", "bare", "raw", "yaml", "compose", "none"]
"""How a value is written at its place: as a shell word, as a word that may need no quotes, unchanged, as a YAML scalar,
as a YAML scalar after ``NAME=``; ``none``: nothing can be written there.
"""


class Place(msgspec.Struct, frozen=True, order=True):
    """A stretch of a document's text: offsets of its first character and of the one after its last."""

    start: int
    end: int


class Edit(msgspec.Struct, frozen=True, order=True):
    """Replace a stretch by ``text``."""

    start: int
    end: int
    text: str


class Setting(msgspec.Struct, frozen=True, kw_only=True):
    """A variable with the value assigned at one place.

    ``value`` is what the process gets, None if it is computed at run time (``$NAME``). ``value_at`` includes quotes.
    ``removal`` removes the setting and keeps the syntax valid, None if that is not possible. ``group`` numbers the
    environments of a document: a container, a script. ``reaches``: ``all`` ranks that are started, the ``local``
    process and its children, or only the ``shell`` (assigned and never exported). ``branch`` is the condition of the
    enclosing ``if`` or ``case``, empty outside of any.
    """

    name: str
    value: str | None
    name_at: Place
    value_at: Place
    removal: Edit | None = None
    quoting: Quoting = "shell"
    group: int = 0
    reaches: Literal["all", "local", "shell"] = "local"
    branch: str = ""


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    """A fault at a place. ``reason`` explains it, ``versions`` are the affected releases of NCCL (empty: all).

    ``edits`` correct the text; ``fixable`` if they change only what has no effect or cannot be intended, so that
    ``--fix`` applies them. ``advice`` says what to do if no edit can.
    """

    code: str
    name: str
    severity: Severity
    message: str
    place: Place
    reason: str = ""
    versions: str = ""
    variable: str | None = None
    edits: tuple[Edit, ...] = ()
    fixable: bool = False
    advice: str = ""
    references: tuple[str, ...] = ()


class Started(msgspec.Struct, kw_only=True):
    """A command that starts something on other hosts, as another user or in a container.

    ``program`` is that of `ncdiag.formats.launchers`, or ``sudo``, ``ssh``; ``at`` is the place of its word, ``behind``
    the offset of its options, None if nothing can be inserted. ``inherited`` are variables of the shell that it has and
    ``passed`` the names that it passes on; None: all. ``branch`` is the enclosing condition and ``group`` the number of
    its environment, as of a setting.
    """

    program: str
    at: Place
    behind: int | None
    words: Sequence[str] = ()
    inherited: tuple[str, ...] = ()
    passed: tuple[str, ...] | None = ()
    branch: str = ""
    group: int = 0


class Environment(msgspec.Struct, frozen=True):
    """The lines of a container, a service or a ConfigMap, from 1, with the number of its environment.

    ``config_map`` is the name of a ConfigMap, empty for others.
    """

    group: int
    first: int
    last: int
    config_map: str = ""


class Document(msgspec.Struct, kw_only=True):
    """One file as parsed by lint.

    ``observations`` are launches, rank tables and other facts from the parsers; ``images`` are names of containers,
    ``nccl`` the version named in the file. ``found`` are findings of the parser: those that only the syntax shows.
    ``unread`` are lines that seem to set a variable of NCCL but were not understood. ``script`` is the text for the
    shell parser, of the same length: without templates and without YAML's additions to a command. ``unknown`` are lines
    that set one to a value known only at run time; ``problem``: why the file could not be read. ``begins`` are the
    first lines of the second and further documents of a YAML file. ``is_excerpt``: the text is a part of a page for
    people, and the rest of the page is blank.
    """

    source: str
    text: str
    form: Form
    settings: list[Setting] = []
    observations: list[Observation] = []
    launches: list[Started] = []
    images: list[str] = []
    found: list[Finding] = []
    nccl: VersionRange | None = None
    script: str = ""
    unread: tuple[int, ...] = ()
    unknown: tuple[int, ...] = ()
    environments: list[Environment] = []
    begins: list[int] = []
    is_excerpt: bool = False
    problem: str = ""
    _starts: list[int] = []
    _commands: dict[int, Started] = {}

    @property
    def is_understood(self) -> bool:
        """False for a file that seems to set variables of NCCL, none of which was understood."""
        return not self.unread or bool(self.settings or self.found)

    def assign(self, observations: Sequence[Observation], commands: Sequence[Started]) -> None:
        """Assign to each launch of a command line its command; both are ordered from the outside in.

        A line may start a program twice (``mpirun ... mpirun ...``), and the parser of launches may find one in words
        that are arguments for the parser of commands: a launch belongs to the next command with its program.
        """
        position = 0
        for observation in observations:
            programs = [each.program for each in commands[position:]]
            if observation.entity == "Launch" and observation.fields.get("program") in programs:
                position += programs.index(observation.fields["program"]) + 1
                self._commands[id(observation)] = commands[position - 1]

    def command_of(self, launch: Observation) -> Started | None:
        """The command of a launch; None for a container of a manifest, or if only its line is known."""
        return self._commands.get(id(launch))

    def line(self, offset: int) -> int:
        """The number of the line, from 1, in which an offset lies."""
        if not self._starts:
            self._starts = [0, *(index + 1 for index, letter in enumerate(self.text) if letter == "\n")]
        return bisect.bisect_right(self._starts, offset)

    def column(self, offset: int) -> int:
        """The column of an offset in its line, from 1."""
        return offset - self._starts[self.line(offset) - 1] + 1

    def line_place(self, number: int) -> Place:
        """The stretch of a line without its end; the first line for an invalid number."""
        self.line(0)
        start = self._starts[number - 1] if 0 < number <= len(self._starts) else 0
        end = self.text.find("\n", start)
        return Place(start, len(self.text) if end < 0 else end)

    def lines_around(self, place: Place) -> Place:
        """The stretch extended to whole lines."""
        start = self.text.rfind("\n", 0, place.start) + 1
        end = self.text.find("\n", max(place.end - 1, place.start))
        return Place(start, len(self.text) if end < 0 else end)

    def versions(self, asked: Version | None) -> VersionRange | None:
        """The release to judge by: that of the user, else that of the file; None for all."""
        return VersionRange(asked, asked) if asked is not None else self.nccl
