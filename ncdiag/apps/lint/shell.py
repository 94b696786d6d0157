"""Find the variables that shell scripts and command lines set, their scope, and the commands that they start.

Recognised: export, declare -x, setenv, unset, assignments, variables before a command, ``env``, ``sudo``, the
options by which launchers and container tools set variables, quoted scripts (``bash -c '...'``, ``ssh host '...'``),
and here-documents that write an nccl.conf.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import msgspec

from ncdiag.apps.lint import masks, pairs
from ncdiag.apps.lint.model import Document, Edit, Place, Quoting, Setting
from ncdiag.apps.lint.starts import Inherited, started, wraps_shell
from ncdiag.apps.lint.vocabulary import sets_variables
from ncdiag.apps.lint.words import Command, Word, commands
from ncdiag.base.patterns import lazy_regex
from ncdiag.facts.observe import Observation

_EXPORTING = {"export", "declare", "typeset", "readonly", "local"}
_OPENING = {"if": "fi", "case": "esac", "for": "done", "while": "done", "until": "done", "select": "done", "{": "}"}
_SKIPPED = {"then", "else", "elif", "do", "!", "time", "{", "while", "until", "if"}
_CONF_FILE = lazy_regex(r"nccl[\w-]*\.conf$|\.nccl\.conf$")
_REFERENCE = lazy_regex(r"\$(?:(?P<braces>\{))?(?P<name>[A-Za-z_]\w{0,100})(?(braces)\})")
_PRINTING = {"echo", "printf", "export", "declare", "local", "readonly", "typeset"}
_QUOTED = lazy_regex(r"\"(?:[^\"\\]|\\.)*\"|'[^']*'", re.DOTALL)
_LITERAL = lazy_regex(r"<<-?[ \t]*[\"'\\]")
"""A here-document in which nothing is expanded."""
_SCRIPT_FILE = lazy_regex(r"\.(?:sh|bash|sbatch|slurm|pbs|job)$")
_TEXTS = 200
"""Maximum number of texts of a script that are kept because they may become part of a command."""
_ECHOED = lazy_regex(r"(?:^|\\n|(?<=\n)|(?<=[\"']))(?P<name>[A-Za-z_]\w*)=(?P<value>(?:(?!\\n)[^\n])*)")
_DEPTH = 4
_NESTED = 200
"""Maximum depth of nested blocks."""
_CONDITION = 200
"""Maximum length of a condition."""
CONF_GROUP = 1_000_000
"""Added to the group of a script for the nccl.conf that it writes; the groups of a manifest are below it."""


class _State(msgspec.Struct):
    """The state of the shell while its text is parsed."""

    document: Document
    group: int
    exported: dict[str, None] = {}
    assigned: dict[str, str | None] = {}
    branches: list[tuple[str, str]] = []
    exports_all: bool = False
    expanded: bool = False
    """True within double quotes or an unquoted here-document."""
    in_front: bool = False
    """True if the text becomes part of a command, so that assignments in it reach the command."""
    texts: dict[str, list[Place]] = {}
    """Texts assigned to a variable that set other variables: options and commands that are assembled first."""

    @property
    def branch(self) -> str:
        return next((text for word, text in reversed(self.branches) if word in {"if", "case"}), "")


def read(document: Document, place: Place, group: int = 0) -> None:
    """Parse a stretch of shell text into the document."""
    state = _State(document, group)
    _read(state, place, 0)
    _settle_exports(state)


def _read(state: _State, place: Place, depth: int) -> None:
    piped: list[Word] = []
    text = state.document.script or state.document.text
    for command in commands(text, place.start, place.end, expanded=state.expanded):
        for inside in (place for word in command.words for place in word.commands if depth < _DEPTH):
            if sets_variables(state.document.text[inside.start : inside.end]):
                _read(_inner(state), inside, depth + 1)
        words = _without_keywords(state, list(command.words))
        if words:
            _command(state, words, depth)
        for body in command.bodies:
            _body(state, body, command, depth)
        if _CONF_FILE.search(command.target):
            for word in [*piped, *words]:
                _echoed(state, word)
        piped = words[1:] if command.behind == "|" and words and words[0].raw in {"echo", "printf"} else []


def _inner(state: _State, quoted: Place | None = None) -> _State:
    """The state of a nested shell; ``quoted``: the place between the quotes that contain its text."""
    expanded = quoted is not None and state.document.text[quoted.start - 1 : quoted.start] == '"'
    return _State(
        state.document, state.group, dict(state.exported), dict(state.assigned), texts=state.texts, expanded=expanded
    )


def _without_keywords(state: _State, words: list[Word]) -> list[Word]:
    """The words of the simple command; keywords that open or close a block change the state."""
    position = 0
    while position < len(words):
        first = words[position].raw
        if state.branches and first == _OPENING[state.branches[-1][0]]:
            state.branches.pop()
            return []
        if first in _OPENING and len(state.branches) < _NESTED:
            at = state.document.lines_around(words[position].at)
            start = words[position].at.start
            state.branches.append((first, state.document.text[start : min(at.end, start + _CONDITION)]))
            if first in {"for", "case", "select"}:
                return []
        if first not in _SKIPPED:
            break
        position += 1
    return words[position:]


def _command(state: _State, words: list[Word], depth: int) -> None:
    prefix: list[Setting] = []
    position = 0
    while position < len(words):
        found = pairs.assigned(state.document, words[position], state.group)
        if found is None:
            break
        prefix.append(found)
        position += 1
    rest = words[position:]
    if not rest:
        for setting in prefix:
            exported = setting.name in state.exported or state.exports_all or state.in_front
            _assign(state, setting)
            _keep(state, setting)
            _add(state, setting, "local" if exported else "shell", words)
        return
    for setting in prefix:
        _add(state, setting, "local", words)
    _run(state, rest, [setting.name for setting in prefix], depth)


def _run(state: _State, rest: list[Word], prefix: Sequence[str], depth: int) -> None:
    """Process a command with the variables set only for it."""
    name = rest[0].raw.rsplit("/", 1)[-1]
    if name not in _PRINTING and depth < _DEPTH:
        _put_together(state, rest, depth)
    if name in _EXPORTING:
        _export(state, rest, name)
    elif name in {"setenv", "unset"}:
        _set_or_unset(state, rest, name)
    elif name == ":":
        for word in rest[1:]:
            _default(state, word)
    elif name == "set":
        flags = [word.raw for word in rest[1:]]
        state.exports_all = "-a" in flags or (state.exports_all and "+a" not in flags)
    else:
        _start(state, rest, prefix, depth)


def _assign(state: _State, setting: Setting) -> None:
    """Store a value for later references; one of several, or in a branch, is unknown."""
    known = setting.name not in state.assigned and not state.branches
    state.assigned[setting.name] = setting.value if known else None


def _keep(state: _State, setting: Setting) -> None:
    """Store the places of quoted texts that set variables when they become part of a command."""
    text = state.document.text
    for found in _QUOTED.finditer(text, setting.value_at.start, setting.value_at.end):
        if len(state.texts) >= _TEXTS:
            break
        inner = text[found.start() + 1 : found.end() - 1]
        if sets_variables(inner) or any(each["name"] in state.texts for each in _REFERENCE.finditer(inner)):
            state.texts.setdefault(setting.name, []).append(Place(found.start() + 1, found.end() - 1))


def _put_together(state: _State, words: list[Word], depth: int) -> None:
    """Parse the texts whose variables are among the words of a command (``$OPTIONS program``, ``eval "$command"``)."""
    for number, word in enumerate(words):
        found = _REFERENCE.fullmatch(word.raw)
        if found is None or (number and words[number - 1].raw == "--export"):
            continue
        for place in state.texts.pop(found["name"], ()):
            inner = _inner(state, place)
            inner.exported, inner.in_front = state.exported, True
            _unescape(state.document, place)
            _read(inner, place, depth + 1)


def _unescape(document: Document, place: Place) -> None:
    """Mask the escapes in a double-quoted text in the shell text of the document."""
    text = document.script or document.text
    inside = text[place.start : place.end]
    if '\\"' in inside:
        document.script = masks.applied(text, [(place.start, masks.quoted_in_shell(inside))])


def _start(state: _State, words: list[Word], prefix: Sequence[str], depth: int) -> None:
    """Process the start of a program: variables set by options, variables passed on, and scripts in its words."""
    everywhere = list(pairs.optional(state.document, words, state.group))
    for setting in everywhere:
        _add(state, setting, "all", words)
    own = tuple(setting.name for setting in everywhere)
    has = Inherited(state.assigned, tuple(state.exported), tuple(prefix))
    before = len(state.document.launches)
    launches: list[Observation] = []
    for each, observations in started(state.document, words, has, own):
        each.branch, each.group = state.branch, state.group
        state.document.launches.append(each)
        launches += observations
    state.document.observations += launches
    if depth < _DEPTH:
        for word in words[1:]:
            if word.inner is not None and wraps_shell(words, word):
                if word.escaped:
                    _unescape(state.document, word.inner)
                _read(_inner(state, word.inner), word.inner, depth + 1)
    state.document.assign(launches, state.document.launches[before:])


def _export(state: _State, words: list[Word], verb: str) -> None:
    flags = {letter for word in words[1:] if word.raw.startswith("-") for letter in word.raw[1:]}
    passes_on = verb == "export" or (verb in {"declare", "typeset"} and "x" in flags)
    if "n" in flags and verb == "export":
        return
    names = [word for word in words[1:] if not word.raw.startswith("-")]
    for word in names:
        setting = pairs.assigned(state.document, word, state.group)
        name = setting.name if setting else word.raw
        if passes_on:
            state.exported[name] = None
        if setting:
            _assign(state, setting)
            _keep(state, setting)
            _add(state, setting, "local" if passes_on else "shell", words, alone=len(names) == 1)


def _default(state: _State, word: Word) -> None:
    """``: "${NAME:=VALUE}"`` assigns the value if the variable has none (POSIX.1-2017, Shell, section 2.6.2)."""
    setting = pairs.default(state.document, word, state.group)
    if setting is not None:
        exported = setting.name in state.exported or state.exports_all
        _assign(state, setting)
        _add(state, setting, "local" if exported else "shell", [word, word], alone=False)


def _set_or_unset(state: _State, words: list[Word], verb: str) -> None:
    if verb == "unset":
        for word in words[1:]:
            state.exported.pop(word.raw, None)
    elif len(words) > 2 and words[1].text:  # noqa: PLR2004  (setenv NAME VALUE)
        at = Place(words[2].at.start, words[2].at.end)
        setting = Setting(name=words[1].text, value=words[2].text, name_at=words[1].at, value_at=at, group=state.group)
        state.exported[setting.name] = None
        _add(state, setting, "local", words, alone=True)


def _add(state: _State, setting: Setting, reaches: str, words: list[Word], *, alone: bool | None = None) -> None:
    """Add a setting; if it is a separate statement, its removal is that of the statement."""
    removal = setting.removal
    whole = alone if alone is not None else len(words) == 1
    if whole and reaches != "all":
        removal = _statement(state, Place(words[0].at.start, words[-1].at.end))
    end = setting.value_at.end
    if state.document.form == "shell" and state.document.text[end : end + 1] == "\r" and setting.value is not None:
        # in a script with Windows line ends, the shell takes the carriage return as part of the word
        setting = msgspec.structs.replace(
            setting, value=f"{setting.value}\r", value_at=Place(setting.value_at.start, end + 1)
        )
    changed: dict[str, Any] = {"reaches": reaches, "removal": removal, "branch": state.branch}
    if state.in_front:  # within quotes, and a word of an unknown command
        changed["removal"] = setting.removal if len(words) > 1 else None
        changed["quoting"] = "bare" if setting.quoting == "shell" else setting.quoting
    state.document.settings.append(msgspec.structs.replace(setting, **changed))


def _statement(state: _State, at: Place) -> Edit:
    """Remove a statement: its whole line if it is alone on it and in no block, else replace it by ``:``."""
    text = state.document.text
    lines = state.document.lines_around(at)
    alone = not text[lines.start : at.start].strip() and not text[at.end : lines.end].strip()
    if alone and not state.branches and state.document.form == "shell":
        return Edit(lines.start, min(lines.end + 1, len(text)), "")
    return Edit(at.start, at.end, ":")


def _settle_exports(state: _State) -> None:
    """``A=1`` and later ``export A``: the assignment reaches the commands."""
    settings = state.document.settings
    for number, setting in enumerate(settings):
        if setting.group == state.group and setting.reaches == "shell" and setting.name in state.exported:
            settings[number] = msgspec.structs.replace(setting, reaches="local")


def _echoed(state: _State, word: Word) -> None:
    """``echo NCCL_DEBUG=INFO >> /etc/nccl.conf``: the words are lines of the file."""
    at = word.inner or word.at
    quoting: Quoting = "raw" if word.inner and not word.escaped else "none"
    for found in _ECHOED.finditer(state.document.text[at.start : at.end]):
        state.document.settings.append(
            Setting(
                name=found["name"], value=found["value"] if word.text is not None else None, quoting=quoting,
                name_at=Place(at.start + found.start("name"), at.start + found.end("name")),
                value_at=Place(at.start + found.start("value"), at.start + found.end("value")),
                group=state.group + CONF_GROUP,
            )
        )  # fmt: skip


def _body(state: _State, body: Place, command: Command, depth: int) -> None:
    """Process a here-document: an nccl.conf that is written, or a script for a shell."""
    from ncdiag.apps.lint.lines import read_conf

    if _CONF_FILE.search(command.target):
        read_conf(state.document, body, state.group + CONF_GROUP)
        return
    written = _SCRIPT_FILE.search(command.target) is not None
    shell = bool(command.words) and not command.target and wraps_shell(list(command.words), None)
    if depth < _DEPTH and (written or shell):
        text = state.document.text
        announced = text[text.rfind("\n", 0, max(body.start - 1, 0)) + 1 : body.start]
        expanded = _LITERAL.search(announced) is None
        _read(_State(state.document, state.group, expanded=expanded), body, depth + 1)
