"""Tell processes of two containers apart that have one name in NCCL's lines: one host name, and one process id in each.

Containers that use the network of their node print the node's name, and each has process ids of its own. The label of
the container in front of the lines (kubectl, docker compose, stern) says which is which: it becomes the host.
"""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Sequence

import msgspec

from ncdiag.base.patterns import lazy_regex
from ncdiag.text.sections.line import Line

_PROCESS = lazy_regex(r"(?<![\w.-])(?P<host>[A-Za-z][\w.-]{0,63}):(?P<pid>\d{1,10}):\d{1,10} \[\S{1,4}\] ")
_LABEL = lazy_regex(
    r"\s{0,8}(?!rank|default|std)(?P<label>(?=[\w./@-]{0,100}[\d-])[a-z][\w./@-]{0,100})(?: [\w.-]{1,64})?"
    r"\s{0,16}[:|>]?\s{1,2}$"
)
"""A label of a container or host that is still on the line: short texts keep one that carries no information."""
_RANK = lazy_regex(r"\brank (\d{1,7}) nranks (\d{1,7})\b")
_LONGEST = 400

Process = tuple[str, str]
"""A host name and a process id."""


def told_apart(lines: Sequence[Line]) -> tuple[list[Line], dict[int, str]]:
    """The lines, with the container as the host of processes that have a twin in another one; and the original texts.

    The texts are those of the changed lines, by their numbers. Processes that print the same rank are not twins: the
    output of one container is shown twice.
    """
    places: dict[Process, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    held: list[tuple[int, str, str, int, int]] = []
    for index, line in enumerate(lines):
        found = _PROCESS.search(line.text, 0, _LONGEST) if "NCCL" in line.text else None
        place = _place(line, found.start()) if found else None
        if found and place:
            ranks = places[found["host"], found["pid"]][place]
            ranks.update(" of ".join(each) for each in _RANK.findall(line.text[:_LONGEST]))
            held.append((index, place, found["host"], *found.span("host")))
    hosts = {host for (host, _), of in places.items() if _are_twins(list(of.values()))}
    before: dict[int, str] = {}
    changed = list(lines)
    for index, place, host, start, end in held if hosts else ():
        text = lines[index].text
        if host in hosts and place != host:
            before[lines[index].number] = text
            changed[index] = msgspec.structs.replace(lines[index], text=f"{text[:start]}{place}{text[end:]}")
    return changed, before


def _place(line: Line, end: int) -> str | None:
    """The container that printed the line: by the label that was removed, or by one that is still there."""
    place = line.container or line.host
    if place or not end:
        return place
    label = _LABEL.match(line.text[:end])
    return label["label"] if label else None


def _are_twins(ranks: Sequence[set[str]]) -> bool:
    """True if there are several, and each says which rank it is, no two the same, or none says it.

    Where only some say it, the lines of one process may have been dealt out to several labels.
    """
    if len(ranks) < 2 or any(ranks) != all(ranks):  # noqa: PLR2004
        return False
    return all(one.isdisjoint(other) for one, other in itertools.combinations(ranks[:64], 2))
