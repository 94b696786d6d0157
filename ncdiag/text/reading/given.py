"""Determine which requested outputs are already in the input, and where."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping

import msgspec

from ncdiag.base.patterns import lazy_regex
from ncdiag.parsers import discover
from ncdiag.text.reading.model import Reading
from ncdiag.text.sections.kinds import kinds_of
from ncdiag.text.sections.prompt import prompt

_PLACE = lazy_regex(r"\s*(?:\((?P<inner>[^()]*)\)|,\s(?=(?:on|in|inside|over|where)\s)(?P<told>[^;|]*))$")
"""Where an output is to be taken, at the end of a request: ``(on every host)``, ``, inside the container``."""
_ELSEWHERE = lazy_regex(r"on (?!one host|the host$|that host)")
"""Words of a request for the outputs of several hosts, or of another one."""
_FILTER = lazy_regex(r"\s\|\s.*$")
_SUDO = "sudo "
_HOLE = lazy_regex(r"<[^<>]{1,60}>")
_AROUND = " :#*`$>=-"
"""What is around a command that is the heading of its output."""
_OR, _OUTPUT = "or ", "the output of "
_IN_WORDS = (
    ("the launch command", ("launch", "k8s_manifest", "slurm_script", "compose")),
    ("the docker run line or the manifest", ("launch", "k8s_manifest", "compose")),
    ("the hostfile", ("hostfile",)),
    ("the dump files", ("flight_recorder", "fr_trace")),
    ("the table of throughput", ("throughput",)), ("a table of throughput", ("throughput",)),
)  # fmt: skip
"""Requests in words, and the kinds of section of which each is an answer."""
_OF_CONTAINERS = ("docker inspect", "podman inspect", "nerdctl inspect")
"""Commands that print how a container was started."""
_LOOKS = (
    "kubectl describe", "kubectl get", "dmesg", "df", "lsmod", "ibstat", "ibdev2netdev", "show_gids", "free",
    "ip addr", "ip -br addr", "ip route", "nvidia-smi topo", "nvidia-smi -q", "nvidia-smi -L", "systemctl status",
    "systemctl is-active", "systemctl show", "systemctl cat", "scontrol show", "docker inspect", "env", "lspci",
    "iblinkinfo", "ibqueryerrors", "perfquery", "cat", "coredumpctl info", "sinfo", "sacct", "squeue", "slurmd -C",
    "quota",
)  # fmt: skip
"""Commands that change nothing, by their first words."""

_WHOLE = ("dmesg", "df ")
"""Of these, any output is the whole one."""


class Given(msgspec.Struct, frozen=True):
    """What the input holds: the ``places`` of sections by kind, and of outputs by the command above them.

    ``everywhere``: the kinds that each host of the job shows; ``of_host``: those of each host; ``alone``: the job is of
    one host.
    """

    places: Mapping[str, str] = {}
    commands: Mapping[str, str] = {}
    everywhere: frozenset[str] = frozenset()
    of_host: Mapping[str, frozenset[str]] = {}
    alone: bool = False

    def rest(self, outputs: str) -> str:
        """What of a request (``ip addr; ip route (on every host)``) is not in the input; empty if all of it is."""
        groups, place = _parts(outputs)
        missing = [group for group in groups if not self._places_of(group, place)]
        if len(missing) == len(groups):
            return outputs
        return "; ".join(part for group in missing for part in group) + (place if missing else "")

    def place(self, outputs: str) -> str:
        """Where the first of these outputs is in the input, ``a.txt:4``, if all of them are given; else empty."""
        groups, place = _parts(outputs)
        found = [self._places_of(group, place) for group in groups]
        return min((each[0] for each in found if each), default="") if found and all(found) else ""

    def without_looks(self, lines: str) -> str:
        """Commands, one a line, without those whose outputs are in the input; all of them if one changes something."""
        held = lines.split("\n")
        bare = [line.strip().removeprefix(_SUDO) for line in held]
        if not all(line.startswith(_LOOKS) for line in bare):
            return lines
        return "\n".join(line for line, look in zip(held, bare, strict=True) if not self._of_look(look))

    def _of_look(self, command: str) -> list[str]:
        """The places of the output of a command with its values: of exactly this one, or of one that is whole."""
        base = _FILTER.sub("", command)
        words = {*base.split()}
        exact = [place for told, place in self.commands.items() if words <= {*told.split()}]
        return exact or (self._of_kind(base) if base.startswith(_WHOLE) else [])

    def _places_of(self, group: tuple[str, ...], place: str) -> list[str]:
        """The places of an output, or of one that stands for it (``or``)."""
        told = _places_told(place)
        held = None if self.alone or not any(map(_ELSEWHERE.match, told)) else self.everywhere
        for text in told if held is not None else ():
            held = self.of_host.get(text.removeprefix("on "), held)
        bare = (part.removeprefix(_OR).removeprefix(_OUTPUT) for part in group)
        return next((found for part in bare if (found := self._of(part, held))), [])

    def _of(self, part: str, held: frozenset[str] | None) -> list[str]:
        """The places of an output; ``held``: the kinds of the hosts that it is to be of, None for any."""
        words = next((kinds for text, kinds in _IN_WORDS if part.startswith(text)), ())
        if words:
            held = self.everywhere if " of every " in part and not self.alone else held
            found = [self.places[kind] for kind in words if kind in (self.places if held is None else held)]
            started = (place for told, place in self.commands.items() if told.startswith(_OF_CONTAINERS))
            return found or (list(started)[:1] if "launch" in words else [])
        found = self._of_kind(part, held)
        return found if found or held is not None else self._of_command(part)

    def _of_kind(self, part: str, held: frozenset[str] | None = None) -> list[str]:
        of_command = kinds_of(tuple(discover().values())).of_command
        kinds = {kind for command in part.split(" | ") if (kind := of_command(command))}
        known = self.places.keys() if held is None else held
        return sorted(self.places[kind] for kind in kinds) if kinds and kinds <= known else []

    def _of_command(self, part: str) -> list[str]:
        """The place of the output of this command, with anything in the place of ``<holes>``, whatever filtered it."""
        texts = _HOLE.split(_FILTER.sub("", part.removeprefix(_SUDO)).strip())
        if not texts[0].strip():
            return []
        pattern = re.compile(r"\S+".join(map(re.escape, texts)) + r"(?:\s\|\s.*)?$")
        return [place for command, place in self.commands.items() if pattern.match(command)][:1]


def given(readings: Iterable[Reading], hosts: frozenset[str], nhosts: int | None = None) -> Given:
    """What these readings hold; ``hosts``: the known names of those of the job, ``nhosts``: how many it has."""
    alone = len(hosts) <= 1 and nhosts in {None, 1}
    places: dict[str, str] = {}
    commands: dict[str, str] = {}
    shown: dict[str, set[str]] = defaultdict(set)
    for reading in readings:
        for piece in reading.pieces:
            places.setdefault(piece.kind, f"{reading.source}:{piece.first_line}")
            shown[piece.kind].add(piece.host or "")
        for command, line in _echoed(reading):
            commands.setdefault(command, f"{reading.source}:{line}")
    if len(hosts) == 1:
        shown = {kind: {name or next(iter(hosts)) for name in where} for kind, where in shown.items()}
    of_host = {host: frozenset(kind for kind, where in shown.items() if host in where) for host in hosts}
    everywhere = frozenset.intersection(*of_host.values()) if nhosts in {None, len(hosts)} and of_host else frozenset()
    return Given(places, commands, everywhere, of_host, alone)


def _echoed(reading: Reading) -> Iterator[tuple[str, int]]:
    """The commands above outputs, each with the first line of its output."""
    announced = {span.line for span in reading.announcing}
    for span in reading.announcing:
        if span.line >= reading.lines or span.line + 1 in announced:
            continue
        echo = prompt(span.text.strip())
        yield (echo.command if echo else span.text.strip(_AROUND)).strip().removeprefix(_SUDO), span.line + 1


def _parts(outputs: str) -> tuple[list[tuple[str, ...]], str]:
    """The outputs of a request, those that stand for each other together, and the words for the place of them all."""
    told = _PLACE.search(outputs)
    place = told[0] if told else ""
    groups: list[tuple[str, ...]] = []
    for part in filter(None, (each.strip() for each in outputs.removesuffix(place).split("; "))):
        if part.startswith(_OR) and groups:
            groups[-1] = (*groups[-1], part)
        else:
            groups.append((part,))
    return groups, place


def _places_told(place: str) -> list[str]:
    """The words for places: ``on every host``, ``inside the container``."""
    return [text.strip() for text in place.strip(" (),").split(",")]
