"""Parse the output of the program of ``ncdiag collect --script`` into the machine on which it ran.

::

    # ncdiag 1 node7 1763762702          format, host, seconds since 1970: begins a host
    # ncdiag user 0
    $ nvidia-smi -L                      followed by the output of the program
    # ncdiag status 0                    its exit status
    # ncdiag folder /sys/class/net       followed by the entries of the folder
    # ncdiag link PATH TARGET            also: present PATH, refused PATH REASON
    ==> /proc/modules <==                followed by the content of a file, as head(1) prints it
    # ncdiag hex PATH                    the same in hexadecimal digits
    # ncdiag environment                 also: libraries, plugins
    # ncdiag end
"""

from __future__ import annotations

import itertools
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import Any

from ncdiag.agent.ask import kept
from ncdiag.agent.hide import file_without_secrets, hide_secrets
from ncdiag.agent.look import natural
from ncdiag.base.errors import InputError
from ncdiag.base.patterns import lazy_regex
from ncdiag.machine.command import CommandResult, clean_lines, table
from ncdiag.machine.recording import Recorded
from ncdiag.text import BROKEN, Member, reason_of

FORMAT = 1
"""Version of the format; it rises when an older reader would misunderstand a text."""

SIZE_LIMIT = 64 << 20
"""Maximum size of a text in bytes."""

_MARK = lazy_regex(r"# ncdiag (?P<what>\w+)(?: (?P<rest>.*))?$")
_FILE = lazy_regex(r"==> (?P<path>/\S+) <==$")
_COMMAND = lazy_regex(r"\$ (?P<line>\S.*)$")
_INTERFACE = lazy_regex(r"\d{1,9}: (?P<name>[^\s:@]{1,64})[:@]")
_ADDRESS = lazy_regex(
    r"\s{4}(?P<family>inet6?) (?P<ip>[0-9a-f.:]{2,45})(?: peer (?P<peer>[0-9a-f.:]{2,45}))?/(?P<len>\d{1,3})"
)
_KILLED, _ABSENT = ("124", "137"), "127"


def recorded(members: Iterable[Member], name: str) -> list[Recorded]:
    """The machines in a text, which may contain several, one after the other. Raises InputError."""
    lines = clean_lines(_content(members, name))
    starts = [index for index, line in enumerate(lines) if (found := _MARK.match(line)) and found["what"].isdecimal()]
    return [_machine(lines[first:end], name) for first, end in itertools.pairwise([*starts, len(lines)])]


def _content(members: Iterable[Member], name: str) -> bytes:
    parts, size = [], 0
    try:
        for member in members:
            while member.reader is not None and (part := member.reader.read(1 << 20)):
                size += len(part)
                parts.append(part)
                if size > SIZE_LIMIT:
                    raise InputError(f"cannot read {name}: it has more than {SIZE_LIMIT >> 20} MiB")  # noqa: EM102, TRY003
    except BROKEN as error:
        msg = f"cannot read {name}: {reason_of(error)}"
        raise InputError(msg) from None
    return b"".join(parts)


def _machine(lines: tuple[str, ...], name: str) -> Recorded:
    version, _, rest = lines[0].removeprefix("# ncdiag ").partition(" ")
    if int(version[:9]) != FORMAT:
        hint = (
            "use a newer ncdiag" if int(version[:9]) > FORMAT else ("collect it again with `ncdiag collect --script`")
        )
        msg = f"cannot read {name}: it has format {version}, but this ncdiag reads format {FORMAT}; {hint}"
        raise InputError(msg)
    words = rest.split()
    made = Recorded(host=(words or [name])[0].split(".", 1)[0])
    told: dict[str, list[str]] = {}
    for what, key, body in _parts(lines[1:]):
        _take(made, what, key.lstrip("/") if what != "command" else key, body)
        told.setdefault(what, body)
    pairs = (line.partition("=") for line in told.get("environment", ()))
    made.answers |= {
        "process": None,
        "time": int(words[1][:12]) if len(words) > 1 and words[1].isdecimal() else None,
        "environment": kept({variable: value for variable, equals, value in pairs if equals}),
        "NCCL libraries": told.get("libraries", []),
        "NCCL plugins": told.get("plugins", []),
    }
    return made


def _parts(lines: Iterable[str]) -> Iterator[tuple[str, str, list[str]]]:
    """(kind, name, lines) of everything that was printed; of several with one name, the first is used."""
    seen: set[tuple[str, str]] = set()
    body: list[str] = []
    what, key = "", ""
    for line in (*lines, "# ncdiag end"):
        begun = _begun(line)
        if begun is None:
            body.append(line)
            continue
        if body and not body[-1]:
            body.pop()
        if what == "status" or (what and (what, key) not in seen):
            seen.add((what, key))
            yield what, key, body
        (what, key), body = begun, []
        if what == "end":
            return


def _begun(line: str) -> tuple[str, str] | None:
    """(kind, name) of a line that begins a part, else None."""
    if found := _MARK.match(line):
        return found["what"], found["rest"] or ""
    if found := _FILE.match(line):
        return "file", found["path"]
    return ("command", found["line"]) if (found := _COMMAND.match(line)) else None


def _take(made: Recorded, what: str, key: str, body: list[str]) -> None:
    path, _, rest = key.partition(" ")
    if what == "file" and path not in made.refused:
        text = "\n".join(body)
        made.files[path] = file_without_secrets(path, f"{text}\n".encode() if text else b"")
    elif what == "hex":
        digits = re.sub(r"[^0-9a-f]", "", "".join(body))
        made.files[path] = bytes.fromhex(digits[: len(digits) & ~1])
    elif what == "folder":
        made.folders[path] = sorted((entry for entry in body if entry), key=natural)
    elif what == "link":
        made.links[path] = rest
    elif what == "present":
        made.present.append(path)
    elif what == "refused":
        made.refused[path] = rest
        made.files.pop(path, None)
    elif what == "user" and path.isdecimal():
        made.answers["user id"] = int(path[:9])
    elif what == "command":
        _keep_output(made, key, body)
    elif what == "status":
        _set_status(made, path, rest)


def _keep_output(made: Recorded, line: str, body: list[str]) -> None:
    name = next((command.name for command in table() if command.line == line), None)
    if name is None:
        return
    made.outputs[name] = CommandResult(tuple(map(hide_secrets, body)), 0)
    if name == "ip_addr":
        made.answers["addresses"] = _addresses(body)


def _set_status(made: Recorded, status: str, said: str) -> None:
    """Store how the program ended whose output precedes this line."""
    name = next(reversed(made.outputs), None)
    if name is None or status == "0" or not status.isdecimal():
        return
    reason = f"exit status {status[:3]}" + (f": {hide_secrets(said)[:200]}" if said else "")
    if status in _KILLED:
        reason = "no answer in time"
    elif status == _ABSENT:
        reason = "not installed"
    code = None if status in {*_KILLED, _ABSENT} else int(status[:3])
    made.outputs[name] = CommandResult(made.outputs[name].output, code, reason)


def _addresses(lines: Iterable[str]) -> dict[str, list[dict[str, Any]]] | None:
    """Addresses from the output of ``ip addr``, IPv4 first; None if there are none."""
    found: dict[str, dict[str, list[dict[str, Any]]]] = {"inet": defaultdict(list), "inet6": defaultdict(list)}
    name = ""
    for line in lines:
        if begun := _INTERFACE.match(line):
            name = begun["name"]
        elif address := _ADDRESS.match(line):
            told = {"ip": address["ip"], "prefix_len": int(address["len"]), "peer": address["peer"]}
            found[address["family"]][name].append({field: value for field, value in told.items() if value is not None})
    names = dict.fromkeys((*found["inet"], *found["inet6"]))
    return {name: [*found["inet"][name], *found["inet6"][name]] for name in names} or None
