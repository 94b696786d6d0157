"""Complete a command line as typed: ``ncdiag FILE``, ``ncdiag -q FILE``, ``ncdiag help lint``."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Collection, Iterator, Sequence
from itertools import pairwise

from ncdiag.base.errors import InputError, UsageError

_OWN = frozenset({"--version", "-V", "--help", "-h"})
"""Options of the program itself; all others belong to a command."""


def meant(arguments: Sequence[str], commands: Collection[str]) -> list[str]:
    """The arguments with the command first. Raises InputError for a missing file, UsageError for an unknown command."""
    words = list(arguments)
    if not words:
        return ["triage", "-"] if _is_fed() else words
    if words[0] == "help":
        return [*words[1:], "--help"] if len(words) == 1 or words[1] in commands else _refused(words[1], commands)
    if words[0] in commands or words[0] in _OWN:
        return words
    if words[0].startswith("-") and words[0] != "-":
        return _command_first(words, commands)
    if words[0] == "-" or os.path.lexists(words[0]) or _is_glob(words[0]):
        return ["triage", *words]
    return _refused(words[0], commands)


def wants_state(arguments: Sequence[str]) -> bool:
    """True if the exit code is to be a monitoring state; also works if other options are invalid."""
    return "nagios" in {_value(arguments, "--exit-style"), _value(arguments, "--format")}


def wants_status_line(arguments: Sequence[str]) -> bool:
    """True if the answer is to be that of a monitoring plugin, whose reader sees only standard output."""
    return wants_state(arguments) and _value(arguments, "--format") in {"", "nagios"}


def _value(arguments: Sequence[str], option: str) -> str:
    """The last value of the option, empty if it is not given."""
    found = [following for word, following in pairwise(arguments) if word == option]
    found += [word.partition("=")[2] for word in arguments if word.startswith(f"{option}=")]
    return found[-1] if found else ""


def _is_fed() -> bool:
    """True if standard input is a pipe or a file, not a terminal or /dev/null."""
    try:
        mode = os.fstat(sys.stdin.fileno()).st_mode
    except (OSError, ValueError, AttributeError):  # closed, or replaced by an object that is not a file
        return False
    return stat.S_ISFIFO(mode) or stat.S_ISREG(mode) or stat.S_ISSOCK(mode)


def _is_glob(word: str) -> bool:
    return any(character in word for character in "*?[")


def _command_first(words: list[str], commands: Collection[str]) -> list[str]:
    """Move options before the command, or before a file, after it."""
    for place in _positions(words):
        if words[place] in commands and not os.path.lexists(words[place]):
            return [words[place], *words[:place], *words[place + 1 :]]
        break
    else:
        if _is_fed():
            words = [*words, "-"]
    return ["triage", *words]


def _positions(words: Sequence[str]) -> Iterator[int]:
    """Indexes of the words that are neither an option nor the value of one."""
    taking, skip = _taking_a_value(), False
    for place, word in enumerate(words):
        if skip:
            skip = False
        elif word.startswith("-") and word != "-":
            skip = word in taking
        else:
            yield place


def _taking_a_value() -> frozenset[str]:
    """The options of a judging command that take a value as the next word."""
    import dataclasses
    import typing

    from ncdiag.commands._options import OF_TIME, Options

    hints = typing.get_type_hints(Options, include_extras=True)
    found = set(OF_TIME)
    for field in dataclasses.fields(Options):
        kind, declared = typing.get_args(hints[field.name])[:2]
        if kind is not bool:
            found |= {f"--{field.name.replace('_', '-')}", *(declared.param_decls or ())}
    return frozenset(found)


def _refused(word: str, commands: Collection[str]) -> list[str]:
    import difflib

    near = difflib.get_close_matches(word.lower(), sorted(commands), 1, 0.6)
    if os.sep in word or (not near and "." in word):
        msg = f"no such file: {word}"
        raise InputError(msg)
    hint = f"did you mean 'ncdiag {near[0]}'?" if near else "'ncdiag help' lists all commands"
    msg = f"{word!r} is neither a command nor a file; {hint}"
    raise UsageError(msg)
