"""A section does not end before the output of its command does."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator

from specimens import FIXTURES, read, sections

from ncdiag.formats.anchors import branches
from ncdiag.parsers import Parser, discover, silent
from ncdiag.text.sections import prompt
from ncdiag.text.sections.kinds import kinds_of

KINDS = kinds_of(tuple(discover().values()))
CUT = {
    "words that are not a sentence follow": {
        "cgroup_memory/v1", "iperf3/server", "lspci/indentation-lost", "nccl_conf/comments",
        "nvbandwidth/first-release", "nvidia_smi_L/second-only", "taskset/status",
    },
    "the rest of a message, which begins without the head of the log": {"dmesg/raw-level"},
    "another file, or another host, is named between the outputs": {"nccl_conf/more-places", "ufw/plain-and-numbered"},
    "lines that are no interfaces or routes": {"interfaces/not-interfaces", "routes/neighbours-are-none"},
    "lines of the log of NCCL are between those of the table": {"nccl_tests/mpi-tags-debug-between"},
    "outputs of several hosts, commands or files follow each other without a prompt": {
        "fi_info/others", "hostfile/a-certificate", "interfaces/ip-addr-two-hosts", "memory/meminfo",
        "nvidia_smi/no-nvml", "ulimit/tcsh",
    },
    "each object of JSON is a section": {"ncclras/monitor-json"},
}  # fmt: skip
"""Specimens with lines after a section that are not of its kind, and why. Sentences and near misses need no entry."""


def test_a_section_is_the_whole_output_of_its_command() -> None:
    cut: list[tuple[str, str]] = []
    count = 0
    for kind, parser in discover().items():
        for path in sorted((FIXTURES / kind).glob("*.txt")):
            for lines in _outputs(parser, read(path)):
                count += 1
                rest = _rest(kind, lines)
                cut += [(f"{kind}/{path.stem}", rest)] if rest and path.stem != "near-misses" else []
    expected = set[str]().union(*CUT.values())
    assert [pair for pair in cut if pair[0] not in expected] == []
    assert sorted(expected - {name for name, _ in cut}) == []
    assert count > 600


def _outputs(parser: Parser, lines: list[str]) -> Iterator[list[str]]:
    """The outputs of the kind's commands, each with the echoed command, to the next command.

    A specimen without commands is the output of the first of them.
    """
    at = [number for number, line in enumerate(lines) if _is_prompt(line)]
    if not at and parser.commands:
        yield [f"$ {parser.commands[0]}", *lines]
    for begin, end in itertools.pairwise([*at, len(lines)]):
        if _kind(lines[begin]) == parser.kind:
            yield lines[begin:end]


def _is_prompt(line: str) -> bool:
    echo = prompt.prompt(line.strip())
    if line.startswith("$ ") or prompt.is_empty_prompt(line.strip()) or (echo is not None and echo.certain):
        return True
    return _kind(line) is not None and KINDS.of_line(line) is None


def _kind(line: str) -> str | None:
    echo = prompt.prompt(line.strip())
    return KINDS.of_command(prompt.remote(echo.command)[1]) if echo else None


def _rest(kind: str, lines: list[str]) -> str | None:
    """The line of a command's output with which something else begins; None where its section has all lines."""
    last = max((number for number, line in enumerate(lines, 1) if line.strip()), default=0)
    section = next((section for section in sections(lines[:last]) if section.kind == kind), None)
    rest = next((line for line in lines[section.last_line if section else 1 : last] if line.strip()), None)
    if rest is None or silent(rest, notes=True) == "sentence":
        return None
    first = next((line for line in section.lines if line.strip()), "") if section else ""
    return None if _begins_another(kind, first, rest) else rest


def _begins_another(kind: str, first: str, line: str) -> bool:
    """Another kind of output begins with the line, or it begins as the section's first line: of another host or device.

    One that begins in another way is the middle of the output.
    """
    texts = [line, *(prefix.removed(line) or "" for prefix in prompt.prefixes(line))]
    begun = next(((found, text) for text in texts if (found := KINDS.of_line(text))), None)
    if begun is None:
        return False
    ways = [way for way in branches(discover()[kind].anchor) if re.match(way, begun[1])]
    return begun[0] != kind or any(re.match(way, first) for way in ways)
