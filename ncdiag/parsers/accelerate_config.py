"""Configurations of Hugging Face accelerate: what ``accelerate config`` stores, and what ``accelerate env`` prints.

Sources: accelerate 0.20 to 1.x, commands/config/config_args.py (ClusterConfig: YAML or JSON, the keys) and
commands/env.py (``- key: value``, indented; older releases print the dict of Python). People paste the files of several
machines one below the other, under headings of their own; each becomes a launch of its own.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from ncdiag.base.patterns import lazy_regex
from ncdiag.base.spans import Section
from ncdiag.facts.observe import Observation, Parsed

KIND = "accelerate_config"
COMMANDS: tuple[str, ...] = (
    "accelerate env", "accelerate config", "cat default_config.yaml",
    "cat ~/.cache/huggingface/accelerate/default_config.yaml",
)  # fmt: skip
_FIELDS = {
    "machine_rank": "node_rank", "num_machines": "nnodes", "num_processes": "np", "main_process_ip": "master_addr",
    "main_process_port": "master_port",
}  # fmt: skip
"""Keys that say how the job starts, and the fields of a launch that they fill; ``num_processes`` is of all machines."""
_ADDRESS = "master_addr"
_OWN = (
    "compute_environment|distributed_type|machine_rank|num_machines|main_process_ip|main_process_port"
    "|main_training_function|downcast_bf16|rdzv_backend|same_network|deepspeed_multinode_launcher|tpu_use_cluster"
)
"""Keys that no other tool's files have, as far as they are at the beginning of a line."""
_HEADING = (
    r"[ \t#*`-]{0,8}(?i:(?:root|main|head|master|worker|slave)[ _-]?)?(?P<what>(?i:node|machine|host|server|worker))"
    r"[ #_(-]{0,3}(?P<number>\d{1,4})\)?[ \t:=-]{0,4}"
)
"""``Node 1:{``, ``Root node(0) - {``: a person's heading for the file of one of the machines."""
_LEAD = r"[ \t]{0,24}(?:[-*][ \t]+)?\{?[ \t]*"
ANCHOR = rf"{_LEAD}[\"']?(?:{_OWN})[\"']?[ \t]{{0,4}}:(?:[ \t]|$)|- `Accelerate` (?:default config|config passed):"
FREQUENT = dict.fromkeys(
    ("host", "machine", "node", "server", "worker"),
    "a heading of one machine's settings: its number and a brace follow",
)
ANCHOR += rf"|{re.sub('[?]P<[a-z]+>', '?:', _HEADING)}\{{[ \t]*$"

_KEY = lazy_regex(r"[ \t]{0,24}(?:[-*][ \t]+)?\{?[ \t]*[\"']?(?P<key>[a-z][a-z0-9_]{1,60})[\"']?[ \t]{0,4}:(?:[ \t]|$)")
_PAIR = lazy_regex(
    rf"\b(?P<key>{'|'.join(_FIELDS)})[\"']?[ \t]{{0,4}}:[ \t]{{0,8}}"
    r"[\"']?(?P<value>[\w.:-]{1,200})[\"']?[ \t]*(?:[,}#]|$)"
)
_MACHINE = lazy_regex(rf"{_HEADING}\{{?[ \t]*$")
_REST = lazy_regex(r"[ \t]*(?:[{}\[\],]+|#.*|---|- `Accelerate` .*|```\w*)?[ \t]*$")
_PROGRAM = "accelerate config"
_TEXT = 400


def continues(lines: Sequence[str], line: str) -> bool:
    """Keys with values, brackets, headings of machines, and an empty line between two files."""
    if not line.strip():
        return bool(lines[-1].strip())
    return any(pattern.match(line) for pattern in (_KEY, _REST, _MACHINE))


def parse(section: Section) -> Parsed:
    """A launch for each configuration: a key that comes again, or a heading, begins another."""
    unread = [i for i, line in enumerate(section.lines) if not any(p.match(line) for p in (_KEY, _REST, _MACHINE))]
    return Parsed(observations=tuple(_launches(section)), unread=tuple(unread))


def _launches(section: Section) -> Iterator[Observation]:
    host, start, fields = section.host, 0, dict[str, Any]()
    for index, line in enumerate(section.lines):
        machine = _MACHINE.match(line)
        if machine:
            yield from _launch(section, start, host, fields)
            host, fields = f"{machine['what'].lower()}{int(machine['number'])}", {}
            continue
        for found in _PAIR.finditer(line[:4096]):
            name = _FIELDS[found["key"]]
            if name in fields:
                yield from _launch(section, start, host, fields)
                host, fields = section.host, {}
            if not fields:
                start = index
            fields[name] = found["value"]
    yield from _launch(section, start, host, fields)


def _launch(section: Section, index: int, host: str | None, said: dict[str, str]) -> Iterator[Observation]:
    fields = {name: value if name == _ADDRESS else int(value) for name, value in said.items() if _fits(name, value)}
    if not fields:
        return
    text = section.lines[index].strip()[:_TEXT]
    named = {"host": host} if host else {}
    yield Observation(
        entity="Launch",
        span=section.span(index),
        standing="manifest",
        fields={"program": _PROGRAM, "text": text, **named, **fields},
    )


def _fits(name: str, value: str) -> bool:
    """``null`` and ``None`` tell nothing, nor does a count of -1 (to be told on the command line)."""
    return value not in {"null", "None"} if name == _ADDRESS else value.isdecimal() and len(value) < 10  # noqa: PLR2004
