"""The programs that inspect a node without ncdiag, generated from ``collectors.toml``: for its Python or its shell.

`python_program` puts the modules of `ncdiag.agent` and the table into one file; it writes a bundle like that of
``ncdiag collect``. `shell_script` puts the table into ``script.sh``; its output is parsed by `ncdiag.machine.printed`.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from ncdiag.agent import hide, libraries
from ncdiag.base.patterns import lazy_regex
from ncdiag.base.version import __version__
from ncdiag.machine import printed, sysfs
from ncdiag.machine.bundle import FORMAT
from ncdiag.machine.command import Command, collectors
from ncdiag.machine.live import DEADLINE
from ncdiag.machine.patterns import every, expanded, listed

_MODULES = ("hide", "ask", "run", "addresses", "libraries", "look", "pack", "place", "wrap", "main")
"""The modules of `ncdiag.agent`, each after those that it imports."""

_HEAD = f'''"""Inspects this host and writes the result as one archive: for `ncdiag check --from`, `parse`, `triage`.

Made by `ncdiag collect --python` (ncdiag {__version__}); Python 3.6 or newer, nothing else. It changes nothing.

    ssh NODE python3 - < THIS_FILE > NODE.tar.gz
    python3 THIS_FILE -o NODE.tar.gz
"""
'''
_PLACE = lazy_regex(r"@(?P<name>[A-Z]+)@")
_OWN_IMPORT = lazy_regex(r"^from ncdiag\.agent\..*\n", re.MULTILINE)
_DOCSTRING = lazy_regex(r'\A"""(?P<text>.*?)"""\n', re.DOTALL)


def table() -> dict[str, Any]:
    """The argument of `ncdiag.agent.main.main`: the patterns of files by the name of their reader, and the commands."""
    declared = collectors()
    return {
        "ncdiag": __version__,
        "format": FORMAT,
        "deadline": DEADLINE,
        "readers": {reader.what: expanded(reader.reads) for reader in declared.reader},
        "commands": [_command(command) for command in declared.command],
    }


def _command(command: Command) -> dict[str, Any]:
    """A command, with the path whose existence says that files replace it."""
    told = sysfs.EXPECTED[command.unless][1] if command.unless in sysfs.EXPECTED else ""
    return {
        "name": command.name, "argv": command.argv, "limit": command.limit, "told": told,
        "needs": [need.strip("/") for need in command.needs],
    }  # fmt: skip


def python_program() -> str:
    """A Python file that inspects a node: the modules of `ncdiag.agent`, then the table."""
    titled = joined(_MODULES, lambda text: _DOCSTRING.sub(lambda found: _comment(found["text"]), text))
    told = json.dumps(json.dumps(table(), separators=(",", ":")))
    last = f"TABLE = json.loads({_wrapped(told)})\n\nif __name__ == '__main__':\n    sys.exit(main(TABLE))\n"
    return "\n\n".join([_HEAD, *titled, last])


def joined(names: Sequence[str], changed: Callable[[str], str] = lambda text: text) -> list[str]:
    """The sources of modules of `ncdiag.agent`, each after those that it imports, without imports of each other."""
    folder = Path(__file__).parents[1] / "agent"
    return [changed(_OWN_IMPORT.sub("", (folder / f"{name}.py").read_text(encoding="utf-8"))) for name in names]


def _comment(text: str) -> str:
    return "".join(f"# {line}".rstrip() + "\n" for line in text.strip().splitlines())


def _wrapped(literal: str) -> str:
    """A string literal wrapped to a readable line length."""
    parts = re.findall(r"(?:\\.|[^\\]){1,110}", literal[1:-1])
    return "\n" + "\n".join(f'    "{part}"' for part in parts) + "\n"


def shell_script() -> str:
    """A POSIX shell program whose output `ncdiag.machine.printed` parses."""
    told = table()
    commands = {command.name: command for command in collectors().command}
    values = {
        "VERSION": __version__,
        "FORMAT": str(printed.FORMAT),
        "DEADLINE": f"{DEADLINE:.0f}",
        "START": "\n".join(_start(command) for command in told["commands"]),
        "SHOW": "\n".join(f"    show {name} {shlex.quote(command.line)}" for name, command in commands.items()),
        "FILES": "\n".join(f"    {line}" for line in _reading()),
        "FOLDERS": "\n".join(libraries.SYSTEM_FOLDERS),
        "LIBRARIES": libraries.LIBRARIES,
        "PLUGINS": libraries.PLUGINS,
        "KEPT": hide.KEPT_PATTERN.replace("(?:", "("),
        "HIDE": " \\\n    ".join(f"-e {shlex.quote(expression)}" for expression in _hiding()),
    }
    template = Path(__file__).with_name("script.sh").read_text(encoding="utf-8")
    return _PLACE.sub(lambda found: values[found["name"]], template)


def _start(command: dict[str, Any]) -> str:
    words = " ".join(map(shlex.quote, command["argv"]))
    line = f"start {command['name']} {command['limit']:g} {words}"
    needs = " ".join(f"/{path}" for path in command["needs"])
    return f"if there {needs}; then {line}; fi" if needs else line


def _reading() -> Iterator[str]:
    """The calls that read all entries of the table; configuration files, which any user may write, come last."""
    yield from (
        f"folders /{folder.replace('@process', 'self')}" for folder in sorted(listed()) if "@group" not in folder
    )
    for pattern in every():
        path = "/" + pattern.replace("@process", "self")
        if "@group" in path:
            before, _, behind = path.partition("/@group/")
            yield f"groups {before} {behind}"
        elif not path.endswith("/"):
            yield f"files {path}"
    yield 'files /etc/nccl.conf "$HOME/.nccl.conf" "$NCCL_CONF_FILE"'


def _hiding() -> Iterator[str]:
    """Sed expressions for `ncdiag.agent.hide.hide_secrets`, as far as basic regular expressions can do it."""
    yield f"s#://[^/@[:space:]]\\{{1,200\\}}@#://{hide.HIDDEN}@#g"
    shielded = {name: name.replace(word, f"{word[0]}@{word[1:]}")
                for name in hide.HARMLESS_NAMES for word in hide.SECRET_WORDS if word in name}  # fmt: skip
    yield from (f"s/{name}/{shield}/g" for name, shield in shielded.items())
    for word in hide.SECRET_WORDS:
        letters = "".join(f"[{letter}{letter.lower()}]" for letter in word)
        name = f"[A-Za-z0-9_-]*{letters}[A-Za-z0-9_-]*"
        for value in ('"[^"]*"', "'[^']*'", "[^[:space:]\"'][^[:space:]\"']*"):
            yield f"s/\\({name} \\{{0,1\\}}[=:] \\{{0,1\\}}\\){value}/\\1{hide.HIDDEN}/g"
        yield f"s/\\(--*{name} \\)[^[:space:]][^[:space:]]*/\\1{hide.HIDDEN}/g"
    yield from (f"s/{shield}/{name}/g" for name, shield in shielded.items())
