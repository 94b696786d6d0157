"""The launches of a document with their commands, and how they contain each other."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import msgspec

from ncdiag.apps.lint.model import Document, Place, Started
from ncdiag.base.patterns import lazy_regex
from ncdiag.facts.observe import Observation
from ncdiag.facts.vocabulary.launches import tasks_on_each

_SPREADING = ("srun", "mpirun", "mpiexec", "orterun", "prterun")
_BATCH = ("sbatch", "salloc")
_OPTION = lazy_regex(r"--?([A-Za-z][\w-]*)(=?)(.*)", re.DOTALL)
_ARGUMENTS = 200
"""Maximum number of words of a command that are read as its options."""


class Options(msgspec.Struct, frozen=True):
    """The options before a launcher's program, with ``_`` for ``-`` in their names; the value is empty for a flag.

    ``is_whole`` is false where a shell variable may add options.
    """

    given: dict[str, str]
    is_whole: bool


def launches(document: Document) -> Iterator[dict[str, Any]]:
    """The fields of each launch, with ``_place`` and ``_command`` (None if only its line is known)."""
    for observation in document.observations:
        if observation.entity == "Launch":
            command = document.command_of(observation)
            yield {**observation.fields, "_place": launch_place(document, observation), "_command": command}


def launch_place(document: Document, observation: Observation) -> Place:
    """The place of a launch: the word of its program if known, else its line."""
    command = document.command_of(observation)
    return command.at if command is not None else document.line_place(observation.span.line)


def options(launch: dict[str, Any]) -> Options:
    """The options of a launcher up to the program that it starts."""
    command: Started | None = launch["_command"]
    words = list(command.words if command is not None else str(launch.get("text", "")).split())[1:_ARGUMENTS]
    given: dict[str, str] = {}
    waiting = ""
    for word in words:
        found = _OPTION.fullmatch(word)
        if found is not None:
            waiting = found[1].replace("-", "_")
            given[waiting] = found[3]
            waiting = "" if found[2] else waiting
        elif waiting:
            given[waiting], waiting = word, ""
        elif word.startswith("$"):
            return Options(given, is_whole=False)
        elif word == launch.get("script"):
            break
    return Options(given, is_whole=True)


def hosts(document: Document) -> int | None:
    """The largest number of hosts that a launch of the document names; None if none names a number."""
    counts = [launch.get("nnodes") or len({_host(each) for each in launch.get("hosts") or ()})
              for launch in launches(document)]  # fmt: skip
    return max(filter(None, counts), default=None)


def batch_nodes(document: Document) -> int:
    """The number of nodes that the options of a batch script ask for; 1 if they name none."""
    return max((each.get("nnodes") or 1 for each in launches(document) if each.get("program") == "sbatch"), default=1)


def _host(entry: Any) -> str:  # noqa: ANN401  (a mapping or a name)
    return str(entry.get("name")) if isinstance(entry, dict) else str(entry)


def tasks_per_host(document: Document, inner: dict[str, Any]) -> tuple[str, int] | None:
    """(outer launcher, number of copies of a launch that it starts on each host); None if not known or without one.

    srun takes what its own options leave open from those of sbatch.
    """
    command: Started | None = inner["_command"]
    text = " ".join(command.words) if command is not None else str(inner.get("text", ""))
    batch = next((each for each in launches(document) if each.get("program") in _BATCH), {})
    for outer in launches(document):
        around: Started | None = outer["_command"]
        if outer.get("program") in _SPREADING and around is not None and text in " ".join(around.words[1:]):
            tasks = _tasks(outer) or (_tasks({**batch, **_known(outer)}) if outer["program"] == "srun" else None)
            return (str(outer["program"]), tasks) if tasks else None
    return None


def _known(launch: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in launch.items() if value is not None}


def _tasks(launch: dict[str, Any]) -> int | None:
    hosts = launch.get("nnodes") or len({_host(one) for one in launch.get("hosts") or ()})
    return tasks_on_each(launch.get("nproc_per_node"), launch.get("np"), hosts)
