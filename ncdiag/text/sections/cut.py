"""Cut a mixture of pasted outputs into typed sections.

The cutter receives only the lines that the NCCL log scanner does not take. Each parser declares how a section of its
kind begins (``ANCHOR``, or an echoed command of ``COMMANDS``) and whether the next line still belongs to it
(``continues``). Other lines become sections of kind ``text`` for the message catalogue; each line is in one section.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping
from typing import Literal

import msgspec

from ncdiag.base.spans import Section
from ncdiag.facts.fold import unfold_hosts
from ncdiag.parsers import Parser
from ncdiag.text.sections import bare_names, kubectl, prompt
from ncdiag.text.sections.described import described
from ncdiag.text.sections.kinds import SHORT, kinds_of
from ncdiag.text.sections.opened import Open, near

TEXT_LIMIT = 64 << 20
"""Maximum number of characters outside NCCL lines that are cut line by line; lines beyond it are only counted."""
SHORTEST = 128
"""Minimum number of characters charged for a line: the cost of a line hardly depends on its length."""
TEXT_SECTION_LINES = 5000
_SOON = 5
"""Maximum distance in lines between a heading and the output it announces, unless the heading is a sentence."""
_ALIKE = 64
"""Maximum number of hosts of a folded set to each of which its output is attributed."""
_NO_PREFIX = prompt.Prefix("")


class Cutter:
    """Splits lines into sections: feed the lines in order, then call `finish`.

    ``skipped_lines`` counts the lines beyond ``TEXT_LIMIT``. ``announcing`` maps the numbers of lines that a shell
    echoed, or that name the command whose output follows, to the comment after the command: nobody wrote the rest of
    such a line.
    """

    def __init__(
        self, source: str, parsers: Mapping[str, Parser], host: str | None = None, *, keeps: bool = True
    ) -> None:
        """``host`` is the host that the source's name suggests, if any. Unless ``keeps``, sections are discarded."""
        self.source, self.parsers = source, parsers
        self.sections: list[Section] = []
        self.announcing: dict[int, str] = {}
        self.skipped_lines = 0
        self._kinds, self._keeps = kinds_of(tuple(parsers.values())), keeps
        self._open: Open | None = None
        self._parked: dict[str, Open] = {}
        self._host = host
        self._around: tuple[str | None] | None = None  # the host before the output of ``kubectl describe``
        self._is_other = False  # the last command describes no pod and no node
        self._text: Open | None = None
        self._room = TEXT_LIMIT
        self._last_number = 0
        self._rule = 0
        self._held: tuple[int, str] | None = None
        self._above = 0, ""  # the last line of text
        self._names = 0  # the line of a command that prints the host's name

    def feed(self, lines: Iterable[tuple[int, str]]) -> None:
        """Read (line number, text) pairs in rising order; a gap in the numbers means that other text was in between."""
        for number, line in lines:
            if self._room <= 0:
                self.skipped_lines += 1
                continue
            self._room -= max(len(line) + 1, SHORTEST)
            if number != self._last_number + 1 and not self._spans_gaps():
                self._close()
            self._last_number = number
            self._take(number, line)

    def _spans_gaps(self) -> bool:
        """True if the open section may continue after NCCL log lines."""
        return self._open is not None and self.parsers[self._open.kind].interleaved

    @property
    def is_open(self) -> bool:
        """True if the next line may belong to the previous ones, whatever it contains."""
        return self._open is not None or self._held is not None or 0 < self._last_number in {self._rule, self._names}

    def alone(self, line: str) -> Literal["text", "nothing", "begins"]:
        """Classify a single line without context. Only for a cutter that reads nothing else."""
        self.feed([(self._last_number + 2, line)])
        begins, is_text = self.is_open or self._host is not None, self._text is not None
        self._open, self._parked, self._held, self._rule, self._host, self._text = None, {}, None, 0, None, None
        self._room, self._around, self._names = TEXT_LIMIT, None, 0
        return "begins" if begins else "text" if is_text else "nothing"

    def finish(self) -> list[Section]:
        """Close the open section and return all sections in the order in which they began."""
        self._release()
        if self._open is not None and not self._open.lines:
            self._open = None  # the input ends after an echoed command: cut off, not an empty output
        self._close()
        self._flush_text()
        self.sections = [each for section in self.sections for each in _of_each_host(section)]
        self.sections.sort(key=lambda section: section.first_line)
        return self.sections

    def _take(self, number: int, raw: str) -> None:
        line = prompt.unquote(raw) if raw.startswith(">") else raw
        if not self._banner(number, line):
            self._read(number, line)

    def _banner(self, number: int, line: str) -> bool:
        """Recognise a host name between two ruler lines as a heading; the name is held back until the second ruler."""
        if self._held and (self._held[0] != number - 1 or not prompt.is_rule(line)):
            self._release()
        if prompt.is_rule(line):
            named = prompt.banner(self._held[1]) if self._held else None
            self._held, self._rule = None, number
            if named is None:
                return False
            self._rule = 0
            self._close()
            self._at_host(named[0])
            return True
        if self._rule == number - 1 and prompt.banner(line):
            self._held = number, line
            return True
        return False

    def _release(self) -> None:
        """Process the line that was held back."""
        if self._held:
            (number, line), self._held = self._held, None
            self._read(number, line)

    def _read(self, number: int, line: str) -> None:
        if self._goes_on(number, line) or self._names_host(number, line):
            return
        if self._kinds.is_plain(line):
            self._add_text(number, line)
            return
        bare = line.strip()
        if not bare or prompt.is_fence(line):
            return
        echo = prompt.prompt(bare)
        if echo and self._open_echo(number, echo, prompt.Prefix(line[: len(line) - len(line.lstrip())])):
            return
        if prompt.is_empty_prompt(bare):
            return
        above, pod = prompt.prompt_above(bare), None if self._is_other else kubectl.described(line)
        if above:
            self._at_host(above)
        elif pod:
            self._around = self._around or (self._host,)
            self._at_host(pod)
        elif not (self._open_anchor(number, line) or self._open_tagged(number, line) or self._heading(number, line)):
            self._add_text(number, line)
            if not echo:  # a command that is not known announces what follows, each time
                self._kinds.remember_plain(line)

    def _goes_on(self, number: int, line: str) -> bool:
        """Add the line to the open section, or to another host's; close what is open if it belongs to neither."""
        section = self._open
        if section is not None:
            if self._continue(section, number, line) or self._other_begins(section, number, line):
                return True
            if section.command is not None and not self.parsers[section.kind].launched:
                section.ended = prompt.is_empty_prompt(line) or prompt.prompt(line) is not None
            self._close()
        return False

    def _continue(self, section: Open, number: int, line: str) -> bool:
        """Add the line to the open section if it belongs there."""
        text = section.prefix.removed(line)
        if text is None or prompt.is_fence(text):
            return False
        if not section.lines and not text.strip():
            return True  # between an echoed command and its output
        if section.lines:
            if not self._belongs(section, text):
                return False
        elif not self._is_output(section, text):
            return self._is_tagged(section, number, line)
        section.add(number, text)
        return True

    def _is_output(self, section: Open, line: str) -> bool:
        """True if the line is the first output of an echoed command: it does not begin another section."""
        echo, kind = prompt.prompt(line), self._kinds.of_line(line)
        # a line that begins with # may be the first line of the output
        if echo and kind != section.kind and (echo.certain or not self._is_comment(section, line, echo)):
            return False
        if prompt.is_empty_prompt(line) and not self.parsers[section.kind].continues(("",), line):
            return False  # a lone # may be a comment in the output
        if kind is None:
            return self._kinds.tag(line, section.kind) is None
        return kind == section.kind or self.parsers[section.kind].continues(("",), line)

    def _is_comment(self, section: Open, line: str, echo: prompt.Echo) -> bool:
        """True if the line is a comment in the command's output, not a root prompt."""
        command, kind = self._kinds.of_command(echo.command), self._kinds.of_line(echo.command)
        told = command is None and kind in {None, section.kind}
        return line.startswith("#") and told and self.parsers[section.kind].continues(("",), line)

    def _is_tagged(self, section: Open, number: int, line: str) -> bool:
        """Handle a command that ran on another host, whose output may have that host before each line."""
        prefix = self._kinds.tag(line, section.kind)
        text = prefix.removed(line) if prefix else None
        if prefix is None or text is None:
            return False
        section.prefix, section.host = prefix, prefix.host or section.host
        section.add(number, text)
        return True

    def _other_begins(self, section: Open, number: int, line: str) -> bool:
        """Handle interleaved outputs of several hosts or ranks: continue or begin the section of this line's tag."""
        if not section.lines or not section.prefix.text.strip():
            return False
        tags = [prefix for prefix in prompt.prefixes(line) if prefix.text.strip()]
        for prefix in tags:
            other = self._parked.get(prefix.text.strip())
            text = other.prefix.removed(line) if other else None
            if other and text is not None and self._belongs(other, text):
                self._park(section, other)
                other.add(number, text)
                return True
        begun = self._kinds.tag(line, section.kind)
        if begun is None or begun.text.strip() in {section.prefix.text.strip(), *self._parked}:
            return False
        self._park(section, None)
        self._begin(section.kind, number, begun.removed(line) or "", begun.host, section.command, begun)
        return True

    def _park(self, section: Open, instead: Open | None) -> None:
        """Set the open section aside; it continues with the next line that has its tag."""
        self._parked[section.prefix.text.strip()] = section
        self._open = instead
        if instead:
            del self._parked[instead.prefix.text.strip()]

    def _belongs(self, section: Open, line: str) -> bool:
        return self.parsers[section.kind].continues(section.lines, line)

    def _open_tagged(self, number: int, line: str) -> bool:
        """Open a section at a heading after a time, or a command echoed after a tag or a time (``set -x`` in a log)."""
        for prefix in prompt.prefixes(line) if len(line) < SHORT else []:
            if prefix.timed and self._heading(number, prefix.removed(line) or "", prefix):
                return True
            echo = prompt.prompt(prefix.removed(line) or "") if prefix.text.strip() or prefix.timed else None
            if echo and (
                (echo.certain and echo.host)
                or self._kinds.of_command(prompt.remote(echo.command)[1])
                or (prefix.timed and self._kinds.of_line(echo.command))
            ):
                opened = self._open_echo(number, echo, prefix)
                if self._open:
                    self._open.host = prefix.host or self._open.host
                return opened
        return False

    def _names_host(self, number: int, line: str) -> bool:
        """True if the line is the output of a command that prints the name of the host."""
        name = prompt.host_name(line.strip()) if 0 < self._names == number - 1 else None
        if name is not None:
            self._at_host(name)
        return name is not None

    def _open_echo(self, number: int, echo: prompt.Echo, indent: prompt.Prefix) -> bool:
        """Open a section after an echoed command, or for a command line that is a section (a launch, an export)."""
        if prompt.asks_name(echo.command):
            self._names = number
            self.announcing[number] = ""
            return True
        around, self._around = self._around, None
        self._is_other = kubectl.describes_other(echo.command)
        if echo.certain and echo.host:
            self._at_host(echo.host)
        elif around:
            self._at_host(around[0])
        if pod := kubectl.logged(echo.command):
            self._around = (self._host,)
            self._at_host(pod)
        is_line_of = self._kinds.of_line(echo.command)
        there, command = prompt.remote(echo.command)
        kind = self._kinds.of_command(command)
        is_whole = kind in {None, is_line_of}
        launched = kind is not None and self.parsers[kind].launched
        announces = is_line_of is None and echo.typed if kind is None else not launched
        if announces:
            self.announcing[number] = echo.comment
        if is_line_of is not None and (is_whole or launched):
            self._begin(is_line_of, number, echo.command, echo.host, echo.command, indent)
            if is_whole or echo.command.rstrip().endswith("\\"):
                return True
            self._close()  # the launch line of a test also announces the test's table
        if kind is not None:
            self._below_label(kind, number)
            self._open = Open(kind, there or echo.host or self._host, command, indent)
            self._open.numbers.append(number)
            return True
        return echo.certain

    def _open_anchor(self, number: int, line: str) -> bool:
        kind = self._kinds.of_line(line)
        if kind is not None:
            self._below_label(kind, number)
            self._begin(kind, number, line, None, None, prompt.Prefix(""))
            return True
        for prefix in prompt.prefixes(line):
            rest = prefix.removed(line) or ""
            kind = self._kinds.of_line(rest)
            if kind is not None:
                self._begin(kind, number, rest, prefix.host, None, prefix)
                return True
        return False

    def _heading(self, number: int, line: str, prefix: prompt.Prefix = _NO_PREFIX) -> bool:
        """Process a heading that names a host or announces a command; it is part of no section."""
        after = prompt.command_after_label(line)
        head = after if after and self._kinds.of_command(after[1]) else prompt.header(line)
        if head and (head[0] or head[1]):
            host, what = head
            kind = self._kinds.of_command(what) if what else None
            if host and self._kinds.of_command(host) is None:
                self._at_host(host)
            elif host:
                kind = self._kinds.of_command(host)
            if kind:
                self._open = Open(kind, self._host, what or host, prefix)
                self._open.heading = number
            elif described(line):
                self._add_text(number, line)  # it also says how the run below it did
            return True
        there = prompt.output_on(line)
        name = there[0] if there else prompt.title(line)
        kind = self._kinds.of_command(name) if name else None
        if there and kind:
            self._at_host(there[1])
        if kind is None:
            return False
        self._open = Open(kind, self._host, None, prefix)
        self._open.title, self._open.heading = name, number
        return True

    def _below_label(self, kind: str, number: int) -> None:
        """Set the host if the last line of text is its bare name, and the output of a command follows it at once."""
        if (line := near(self._above, number)) and bare_names.may_be_above(self.parsers[kind]):
            self._at_host(bare_names.host_of(line) or self._host)

    def _at_host(self, host: str | None) -> None:
        """Set the host of the lines that follow."""
        if host != self._host:
            self._flush_text()
            self._host = host

    def _begin(  # noqa: PLR0913, PLR0917  (all that an opened section knows)
        self, kind: str, number: int, line: str, host: str | None, command: str | None, prefix: prompt.Prefix
    ) -> None:
        self._open = Open(kind, host or self._host, command, prefix)
        self._open.above = near(self._above, number)
        self._open.add(number, line)

    def _close(self) -> None:
        ended = [*self._parked.values(), *([self._open] if self._open else [])]
        self._open, self._parked = None, {}
        for section in ended:
            self._end(section)

    def _end(self, section: Open) -> None:
        if not self._keeps or (not section.lines and section.command is None):
            return
        if section.heading and any(self._kinds.of_line(line) == section.kind for line in section.lines[:_SOON]):
            self.announcing[section.heading] = ""
        if (ended := section.section(self.source)) is not None:
            self.sections.append(ended)

    def _add_text(self, number: int, line: str) -> None:
        self._above = number, line
        if self._text is None:
            self._text = Open("text", self._host, None, prompt.Prefix(""))
        self._text.add(number, line)
        if len(self._text.lines) >= TEXT_SECTION_LINES:
            self._flush_text()

    def _flush_text(self) -> None:
        text, self._text = self._text, None
        ended = text.section(self.source) if text and self._keeps else None
        if ended is not None:
            self.sections.append(ended)


def _of_each_host(section: Section) -> list[Section]:
    """The section of each host of a folded set (``node[1-4]``), all of which printed it; text is of no single host."""
    if section.host is None or not ("[" in section.host or "," in section.host):
        return [section]
    names = [] if section.kind == "text" else list(itertools.islice(unfold_hosts(section.host), _ALIKE))
    hosts: list[str | None] = [*names] or [None]
    return [msgspec.structs.replace(section, host=host and prompt.short_host(host)) for host in hosts]
