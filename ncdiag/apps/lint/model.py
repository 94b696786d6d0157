"""What lint reads and what it says: documents with settings at exact places, findings with the edits that fix them."""

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
"""How a value is written where it stands: as a shell word, as a word that may need no quotes, as it is, as a scalar of
YAML, as a scalar of YAML behind ``NAME=``; ``none``: nothing can be written there."""


class Place(msgspec.Struct, frozen=True, order=True):
    """A stretch of a document's text: offsets of its first character and of the one behind its last."""

    start: int
    end: int


class Edit(msgspec.Struct, frozen=True, order=True):
    """Put ``text`` in the place of a stretch."""

    start: int
    end: int
    text: str


class Setting(msgspec.Struct, frozen=True, kw_only=True):
    """A variable with the value that it is given at one place.

    ``value`` is what the process gets, None when that is made at run time (``$NAME``). ``value_at`` covers quotes.
    ``removal`` takes the setting out and leaves the syntax whole, None where that cannot be told. ``group`` numbers
    the environments of a document: a container, a script. ``reaches``: ``all`` ranks that are started, the ``local``
    process and its children, or the ``shell`` alone (assigned and never exported). ``branch`` is the condition of the
    ``if`` or ``case`` around it, empty outside of any.
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
    """Something wrong at a place. ``reason`` tells why, ``versions`` for which releases of NCCL (empty: all).

    ``edits`` make the corrected text; ``fixable`` when they change only what has no effect or cannot be meant, so that
    ``--fix`` applies them. ``advice`` says what to do where no edit can.
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

    ``program`` is that of `ncdiag.formats.launchers`, or ``sudo``, ``ssh``; ``at`` is the place of its word,
    ``behind`` where its options begin, None where nothing can be put in. ``inherited`` are variables of the shell that
    it has and ``passed`` the names that it hands on; None: all. ``branch`` is the condition around it and ``group`` the
    number of its environment, as of a setting.
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
    """The lines of a container, a service or a ConfigMap, from 1, with the number of the environment that it has.

    ``config_map`` is the name of a ConfigMap, empty for what starts something.
    """

    group: int
    first: int
    last: int
    config_map: str = ""


class Document(msgspec.Struct, kw_only=True):
    """One file as lint reads it.

    ``observations`` are launches, rank tables and whatever else the parsers made of it; ``images`` are names of
    containers, ``nccl`` the version that the file itself tells. ``found`` are findings of the reader: things that only
    the syntax shows. ``unread`` are lines that seem to set a variable of NCCL in a way that was not read. ``script`` is
    the text as the shell should see it, of the same length: without templates, without what YAML adds to a command.
    ``unknown`` are lines that set one to what only the run of the program tells; ``problem``: why the file could not be
    read at all. ``begins`` are the first lines of the second and further documents of a YAML file. ``is_excerpt``: the
    text is a part of a page for people, and all else of it is blank.
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
        """False for a file that seems to set variables of NCCL, of which none was read."""
        return not self.unread or bool(self.settings or self.found)

    def assign(self, observations: Sequence[Observation], commands: Sequence[Started]) -> None:
        """Note which command each launch of a command line is; both stand from the outside in.

        A line may start a program twice (``mpirun ... mpirun ...``), and the parser of launches may find one in words
        that the reader of commands takes for arguments: a launch is the next command with its program.
        """
        position = 0
        for observation in observations:
            programs = [each.program for each in commands[position:]]
            if observation.entity == "Launch" and observation.fields.get("program") in programs:
                position += programs.index(observation.fields["program"]) + 1
                self._commands[id(observation)] = commands[position - 1]

    def command_of(self, launch: Observation) -> Started | None:
        """The command that a launch is; None for a container of a manifest, or when only its line is known."""
        return self._commands.get(id(launch))

    def line(self, offset: int) -> int:
        """The number of the line, from 1, in which an offset lies."""
        if not self._starts:
            self._starts = [0, *(index + 1 for index, letter in enumerate(self.text) if letter == "\n")]
        return bisect.bisect_right(self._starts, offset)

    def column(self, offset: int) -> int:
        """Its place in that line, from 1."""
        return offset - self._starts[self.line(offset) - 1] + 1

    def line_place(self, number: int) -> Place:
        """The stretch of a line without its end; the first line for numbers that the text does not have."""
        self.line(0)
        start = self._starts[number - 1] if 0 < number <= len(self._starts) else 0
        end = self.text.find("\n", start)
        return Place(start, len(self.text) if end < 0 else end)

    def lines_around(self, place: Place) -> Place:
        """The stretch grown to whole lines."""
        start = self.text.rfind("\n", 0, place.start) + 1
        end = self.text.find("\n", max(place.end - 1, place.start))
        return Place(start, len(self.text) if end < 0 else end)

    def versions(self, asked: Version | None) -> VersionRange | None:
        """The release to judge by: what the user said, else what the file tells; None for all."""
        return VersionRange(asked, asked) if asked is not None else self.nccl
