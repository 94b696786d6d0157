"""The same message of NCCL in the words of other releases."""

from __future__ import annotations

import functools
import re
from collections import defaultdict
from collections.abc import Iterator

from ncdiag.messages.explained import full_matcher
from ncdiag.messages.message import Message
from ncdiag.messages.template import Hole, compile_parts, parse, words

LINE = re.compile(r"(?P<head>.*?NCCL (?P<level>WARN|INFO) )(?P<text>.+)$")
ALIKE = 0.5
"""Share of the words that two wordings of one message have in common: an event such as a hint has many texts."""


@functools.cache
def _by_event() -> dict[str, list[Message]]:
    found: dict[str, list[Message]] = defaultdict(list)
    for message in full_matcher().messages():
        if message.origin == "nccl":
            found[message.event].append(message)
    return found


def _literal(message: Message) -> list[str]:
    return [word for part in parse(message.text) if isinstance(part, str) for word in words(part)]


def _say_the_same(one: Message, other: Message) -> bool:
    mine, its = _literal(one), _literal(other)
    if mine[:1] != its[:1] and mine[0].isupper() and its[0].isupper():
        return False  # TUNER/Plugin and PROFILER/Plugin
    common = {word.lower() for word in mine} & {word.lower() for word in its}
    return len(common) >= ALIKE * max(len(set(mine)), len(set(its)))


def others(line: str) -> Iterator[str]:
    """A line of a log with its message as other releases print it: with the same values, none more and none less."""
    found = LINE.match(line)
    hit = found and full_matcher().match(found["text"], {"nccl"}, found["level"])
    own = hit and found and compile_parts(parse(hit.message.text.strip())).match(found["text"])
    if not found or not hit or not own:
        return
    values = own.groupdict()
    for message in _by_event()[hit.event]:
        parts = parse(message.text.strip())
        holes = {part.name for part in parts if isinstance(part, Hole)}
        of_level = message.level in {None, found["level"]}
        same = of_level and holes == set(values) and None not in values.values()
        if same and message.text != hit.message.text and _say_the_same(hit.message, message):
            said = "".join(part if isinstance(part, str) else values[part.name] for part in parts)
            yield found["head"] + said + found["text"][own.end() :]
