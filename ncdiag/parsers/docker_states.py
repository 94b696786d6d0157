"""How containers ended: ``docker ps -a``, ``docker wait``, ``docker inspect -f``, also of podman and nerdctl.

Sources of the formats: docker/cli cli/command/formatter/container.go, cli/command/container/wait.go; moby
daemon/container/state.go (``Exited (139) 2 minutes ago``, units of go-units). ``echo $?`` prints the same number.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from ncdiag.base.patterns import lazy_regex
from ncdiag.base.spans import Section
from ncdiag.formats.shell import without_secrets
from ncdiag.parsers import _docker_json
from ncdiag.parsers._rows import Reading, Row, Rows, first_line

KIND = "docker_states"
_TOOLS = ("docker", "podman", "nerdctl")
_LISTS = (
    "compose ps",
    "compose ps -a",
    "ps",
    "ps -a",
    "ps -al",
    "ps -la",
    "ps -l",
    "ps --all",
    "container ls",
    "container ls -a",
)
_NUMBERS = ("wait", "container wait", "inspect", "container inspect")
COMMANDS: tuple[str, ...] = (
    *(f"{tool} {what}" for tool in _TOOLS for what in (*_LISTS, *_NUMBERS)),
    "echo $?",
)  # fmt: skip
ANCHOR = r"CONTAINER ID[ ]{1,80}IMAGE[ ]{1,120}COMMAND[ ]{1,80}\S|NAME[ ]{1,80}IMAGE[ ]{1,120}COMMAND[ ]{1,80}SERVICE\b"
_ID = r"[0-9a-f]{12}(?:[0-9a-f]{52})?"
_NAME = r"[A-Za-z0-9][\w.-]{0,100}"
_STATE = (
    r"(?:Exited|Restarting) \((?P<code>\d{1,3})\) "
    r"(?P<ago>(?:About |Less than )?(?:an?|\d{1,4}) (?:second|minute|hour|day|week|month|year)s?)(?: ago)?"
)
_ROW = rf"{_ID} .{{0,400}}?{_STATE}(?:\s.{{0,200}}?)?\s(?P<name>{_NAME})\s*$"
_OF_COMPOSE = rf"(?P<name>{_NAME}) {{1,80}}\S.{{0,400}}?\s{_STATE}(?:\s.{{0,200}})?$"
_FAULTS = frozenset(128 + number for number in (4, 5, 6, 7, 8, 11))
"""Exit codes by SIGILL, SIGTRAP, SIGABRT, SIGBUS, SIGFPE and SIGSEGV."""
_STOPPED = frozenset({0, 130, 143})
_KILLED = 137
"""That of ``docker stop`` too, where a program does not end by itself within ten seconds."""
_OLD = lazy_regex(r"day|week|month|year")
_MOST = 2000


class _States(Reading):
    """An event for the container that ended by a fault of its own; a list of a machine also has others that ended."""

    def __init__(self, section: Section) -> None:
        """No container has ended."""
        super().__init__(without_secrets(section))
        self.json: list[str] = []
        self.command = section.command or ""
        self.ended: list[tuple[int, int, str, bool]] = []

    def row(self, found: re.Match[str]) -> None:
        """A container that ended, when, and with which code."""
        self.ended.append((self.index, int(found["code"]), found["name"], _OLD.search(found["ago"]) is None))

    def number(self, found: re.Match[str]) -> bool:
        """The exit code alone; False after a command that prints other numbers."""
        code, words = int(found["code"]), self.command.split()
        if words[:1] == ["echo"]:
            name = "" if code in _FAULTS else None
        else:
            name = words[-1] if "wait" in words or "ExitCode" in self.command else None
        if name is not None and code not in _STOPPED:
            self._ended(self.index, code, name)
        return "wait" in words or "ExitCode" in self.command or words[:1] == ["echo"]

    def inspected(self, _: re.Match[str]) -> None:
        """A line of what ``inspect`` prints about the whole container."""
        self.json.append(self.line)

    def _inspect(self) -> None:
        """How the container was started, and how it ended."""
        for container in _docker_json.containers("\n".join(self.json)):
            name, (code, is_short) = _docker_json.name_of(container), _docker_json.state(container)
            fields = _docker_json.launch(container)
            if fields:
                self.observe(
                    "Launch",
                    at=self._place("HostConfig"),
                    program="docker run",
                    text=f"docker inspect {name}".strip(),
                    **fields,
                )
            if is_short or (code is not None and code not in _STOPPED):
                self._ended(self._place("ExitCode"), code or _KILLED, name, is_short=is_short)

    def _place(self, key: str) -> int:
        """The first line with this key."""
        return next((index for index, line in enumerate(self.section.lines) if f'"{key}"' in line), 0)

    def end(self) -> None:
        """Faults that are new count; of the others, the only container that ended."""
        if self.json:
            self._inspect()
        alone = len(self.ended) == 1
        for index, code, name, is_new in self.ended:
            if (code in _FAULTS and (is_new or alone)) or (alone and is_new and code not in _STOPPED):
                self._ended(index, code, name)

    def _ended(self, index: int, code: int, name: str, *, is_short: bool = False) -> None:
        event = "container-oom-killed" if is_short else "worker-killed" if code == _KILLED else "worker-failed"
        fields = {"exit_code": code, **({"container": name} if name else {})}
        self.observe(
            "Event", at=index, event=event, origin="launcher", kind="cause" if is_short else "symptom", count=1,
            text=self.section.lines[index][:400].strip(), order=self.section.number(index), fields=fields,
        )  # fmt: skip


def _of_inspect(lines: Sequence[str], line: str) -> bool:
    """Does the line go on with the JSON that the section began with?"""
    first = first_line(lines, line)
    return first.startswith(("[", "{")) and (not lines or not lines[-1].startswith("]"))


ROWS = Rows(
    _States,
    Row(r"(?:[\[{]\s*$|[\]}],?\s*$|\s{2,}[\"{}\[\]].*$|\s{2,}-?\d.*$)", _States.inspected, belongs=_of_inspect),
    Row(ANCHOR),
    Row(_ROW, _States.row),
    Row(rf"{_ID} .{{1,600}}$"),
    Row(_OF_COMPOSE, _States.row),
    Row(rf"{_NAME} {{1,80}}\S.{{0,400}}?\s(?:Up|Exited|Created|Paused|Restarting)\b.{{0,200}}$"),
    Row(r"(?P<code>\d{1,3})\s*$", _States.number),
    most=_MOST,
)
