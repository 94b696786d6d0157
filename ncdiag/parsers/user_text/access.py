"""What reaches the GPUs or RDMA devices, and from where: ``nvidia-smi works on the host, not in the container``.

A statement is a tool, a place and whether it worked. The tool and the place hold for what follows until others are
named. A line that runs a tool (``$ docker run ... nvidia-smi``, ``>>> torch.cuda.is_available()``) is one with what it
prints.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from ncdiag.parsers.user_text import reach
from ncdiag.parsers.user_text.moods import holds, split_question, without_quotes


class Access(NamedTuple):
    """A tool (`nvidia-smi`, `cuda`, `rocm-smi`, `rocm`, `npu-smi`, `npu`, `rdma`, `program`), its place, its success.

    The place is `host`, `container`, `job`, `root` or `user`; empty where none is named. A `program` may use any GPU.
    """

    tool: str
    place: str
    works: bool


_VAGUE = frozenset({"program", "cuda", "rdma"})
"""Tools that fail for many reasons; the others only query the device."""
_NEAR, _WAIT = 4, 6
"""Lines over which a tool and a place hold, and after a command among which its output begins."""
_LONGEST = 400


class AccessReader:
    """Reads line after line; the tool and the place named last hold for the next lines."""

    def __init__(self) -> None:
        """Nothing was named."""
        self._tool, self._place, self._age = "", "", 0
        self._run: tuple[str, str] | None = None
        self._left = 0

    def prose(self, sentence: str) -> Iterator[Access]:
        """What the sentence of a person says."""
        if not reach.CHEAP.search(sentence):
            return
        plain = reach.PHRASE.sub("; ", re.sub(r"\s+", " ", sentence))
        said, asked = split_question(without_quotes(reach.QUOTED.sub(" an error ", plain)))
        if asked:
            return
        said = re.sub(r"[\"'`\u201c\u201d]", " ", said).strip() if said.count("'") != 1 else said
        said = reach.SAYS.sub(r"\g<who> reports", said[:_LONGEST])
        for part in reach.PARTS.split(said):
            if part and holds(part):
                yield from self._part(part)

    def _part(self, part: str) -> Iterator[Access]:
        tools = _tools(part)
        if reach.LOGGED.search(part):
            self._place = ""
        places = list(dict.fromkeys(m.lastgroup or "" for m in reach.PLACES.finditer(part)))
        if tools:
            self._tool, self._age = tools[0], 0
        elif not (places or reach.SAME.search(part)):
            return
        told = _told(part)
        if places and (tools or told is not None):
            self._place, self._age = places[0], 0
        if told is None or not self._tool or reach.SOMETIMES.search(part):
            return
        if told or self._tool not in _VAGUE or not reach.OTHERWISE.search(part):
            for tool in tools or [self._tool]:
                if told or tool != "program" or reach.REACHES.search(part):
                    yield from (Access(tool, place, told) for place in places or [self._place])

    def line(self, text: str) -> Access | None:
        """What a line prints of the tool that one of the lines before it ran."""
        if self._age >= _NEAR:
            self._tool = self._place = ""
        self._age += 1
        if len(text) > _LONGEST:
            return None
        if self._run is not None and (printed := reach.PRINTED.match(text)):
            (tool, place), self._run = self._run, None
            return Access(tool, place, printed["well"] is not None)
        self._left -= 1
        if self._left < 0:
            self._run = None
        if reach.RUNS.search(text) and (run := reach.RUN.match(text)) and (tools := _tools(run["command"])):
            self._run, self._left = (tools[-1], _where(text, run["command"])), _WAIT
        return None


def _tools(text: str) -> list[str]:
    found = dict.fromkeys(m.lastgroup or "" for m in reach.TOOLS.finditer(text))
    if len(found) > 1:
        found.pop("program", None)
    if "nvidia_smi" in found and "cuda" in found and reach.CUDA_RELEASE.search(text):
        found.pop("cuda")
    return [name.replace("_", "-") for name in found]


def _told(part: str) -> bool | None:
    """Did it work? None where the words do not say so."""
    plain = reach.NO_HARM.sub(" fine ", part)
    if reach.ILL.search(plain):
        return False
    return True if reach.WELL.search(plain) else None


def _where(text: str, command: str) -> str:
    if reach.CONTAINED.match(command) or reach.IN_CONTAINER.search(text):
        return "container"
    if command.startswith("srun"):
        return "container" if "container" in command else "job"
    return "root" if command.startswith("sudo") else ""
