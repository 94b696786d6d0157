"""Commands and scripts in YAML: block scalars, quoted and plain ones, lists of words.

They are parsed as shell text once all are known: what YAML adds to them (quotes, escapes, dashes, commas, the line ends
of a scalar) is masked, so that the shell's words keep their places in the file.
"""

from __future__ import annotations

import re
from typing import Literal

import msgspec

from ncdiag.apps.lint import masks
from ncdiag.apps.lint.lines import read_conf, read_env
from ncdiag.apps.lint.model import Document, Place
from ncdiag.apps.lint.scalars import Scalars
from ncdiag.apps.lint.vocabulary import sets_variables
from ncdiag.base.patterns import lazy_regex
from ncdiag.formats.yaml import Node
from ncdiag.parsers import launch as launch_parser

_LAUNCH = lazy_regex(rf"(?m)^[ \t]*(?:{launch_parser.ANCHOR})")
_CONF = lazy_regex(r".*nccl[\w.-]*\.conf$")
_ENV = lazy_regex(r".*\.env$|\.?env$")
_TORCHRUN = "torchrun"
_TORCH_MODULE = lazy_regex(r"torch\.distributed\.(?:run|launch)")
_LIMIT = 500
"""Maximum number of scripts of one file."""


class Script(msgspec.Struct, frozen=True):
    """The place of shell text, and the number of its environment. ``within``: the YAML syntax around it."""

    place: Place
    group: int
    within: Literal["block", "scalar", "words"]


class Scripts:
    """The scripts of a YAML file, with masks for YAML's own characters in them. ``places``: their places."""

    def __init__(self, document: Document, text: str) -> None:
        """``text`` is the file without its templates."""
        self.document, self.bare = document, text
        self.places: list[Script] = []
        self._masks: list[tuple[int, str]] = []

    def text(self) -> str:
        """The file as shell text."""
        return masks.applied(self.bare, self._masks)

    def add(self, node: Node, scalars: Scalars, group: int, *, is_command: bool = False, name: str = "") -> None:
        """Add a scalar that sets variables of NCCL or, as a command, starts a job; ``name``: of the file that it is."""
        text = str(node.value)
        wanted = sets_variables(text) or (is_command and _LAUNCH.search(text))
        if node.column < 0 or not wanted or len(self.places) >= _LIMIT:
            return
        place = self._inside(node, scalars)
        if _CONF.match(name):
            lines = self.bare[place.start : place.end].split("\n")
            indent = min((len(line) - len(line.lstrip(" ")) for line in lines if line.strip()), default=0)
            read_conf(self.document, place, group, indent)
        elif _ENV.match(name):
            read_env(self.document, place, group)
        else:
            self.places.append(Script(place, group, "block" if node.style in {"|", ">"} else "scalar"))

    def words(self, node: Node, scalars: Scalars, group: int) -> None:
        """Add the words of a command in a list; words with blanks are separate scripts."""
        items = [
            item
            for item in node.items()
            if isinstance(item.value, str) and item.column >= 0 and item.value and item.style not in {"|", ">"}
        ]
        for block in node.items():
            if isinstance(block.value, str) and block.style in {"|", ">"}:
                self.add(block, scalars, group, is_command=True)
        scripts = [item for item in items if re.search(r"\s", str(item.value).strip())]
        if not items:
            return
        if scripts and len(items) > 1 and _is_line(items, scripts):
            scripts = []
        for item in scripts:
            self.add(item, scalars, group, is_command=True)
        words = items[: items.index(scripts[0])] if scripts else items
        line = " ".join(str(item.value) for item in words)
        if len(self.places) >= _LIMIT or not (sets_variables(line) or _LAUNCH.search(line)):
            return
        first, last = words[0], words[-1]
        place = Place(scalars.start(first), scalars.whole(last).end)
        kept = {scalars.start(item): item for item in words}
        position = place.start
        for start in sorted(kept):
            self._mask(position, start)
            position = max(position, scalars.whole(kept[start]).end)
        self._mask(position, place.end)
        self.places.append(Script(place, group, "words"))

    def module(self, name: Node, words: Node, scalars: Scalars, group: int) -> None:
        """Add a Python module that starts the ranks, with the list of its arguments below its name."""
        if _TORCH_MODULE.fullmatch(str(name.value)) and name.line <= words.line and name.column >= 0:
            at = scalars.whole(name)
            self._masks.append((at.start, _TORCHRUN.ljust(at.end - at.start)))
            program = Node(name.line, _TORCHRUN, name.column, name.style, name.last)
            self.words(Node(name.line, [program, *words.items()], last=words.last), scalars, group)

    def _mask(self, start: int, end: int) -> None:
        if end > start:
            self._masks.append((start, " " * (end - start)))

    def _inside(self, node: Node, scalars: Scalars) -> Place:
        """The place of a scalar's text; YAML's additions to it are masked."""
        if node.style in {"|", ">"}:
            place = Place(scalars.line(node.line).start, scalars.line(node.last).end)
            if node.style == ">":
                self._masks.append((place.start, masks.folded(self.bare[place.start : place.end])))
            return place
        whole = scalars.whole(node)
        inside = Place(whole.start + 1, max(whole.end - 1, whole.start + 1)) if node.style else whole
        text = self.bare[inside.start : inside.end]
        self._masks.append((inside.start, masks.quoted(text, node.style) if node.style else masks.one_line(text)))
        return inside


def _is_line(items: list[Node], scripts: list[Node]) -> bool:
    """True if items with blanks are options with their values (``-x NCCL_DEBUG=INFO``) of one command."""
    return all(str(item.value).startswith("-") for item in scripts) and len(scripts) < len(items)
