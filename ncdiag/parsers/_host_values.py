"""One value of each host, as a command prints it that runs on many: the host that differs from most others.

Tools: loops over ``ssh``, ``pdsh``, ``clush`` (``-b`` folds hosts with one output), ``dshbak -c``, ``pssh``, Ansible's
``shell`` and ``command`` modules (callback ``minimal``), ``salt``. Each host has its name before the value on one line,
or on a line of its own above it. Only what follows such a command is read, up to an empty line or a prompt, and nothing
of a command that shows how busy a host is, its clock or its names.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Sequence

from ncdiag.base.patterns import lazy_regex
from ncdiag.base.spans import span
from ncdiag.facts.fold import unfold_hosts
from ncdiag.facts.observe import Observation

_ON_MANY = lazy_regex(
    r"\b(?:pdsh|clush|pssh|parallel-ssh|ansible|salt|dsh)\s+\S|\bfor\s+\w+\s+in\b"
    r"|\bxargs\b.{0,200}\bssh\b"
)
_LOOP, _DONE = lazy_regex(r"\bfor\s+\w+\s+in\b"), lazy_regex(r"\bdone\b")
_REMOTE = lazy_regex(r"\b(?:ssh|rsh|docker|kubectl)\b")
_PROMPT = lazy_regex(r"\s*(?:\S{0,80}[$#%>]\s+\S|```)")
_HOST = r"(?=[\w.-]*[A-Za-z])[A-Za-z0-9][\w.-]{0,62}"
_SET = rf"{_HOST}(?:\[[\d,-]{{1,200}}\][\w.-]{{0,40}})?"
_FOLDED = rf"{_SET}(?:,{_SET}){{0,64}}"
_ROW = lazy_regex(rf"\s*(?P<host>{_HOST})\s?(?:[:=|,]|\s-)?\s+(?P<value>\S.{{0,200}}?)\s*$")
_ANSIBLE = lazy_regex(rf"(?P<host>{_HOST}) \| (?:CHANGED|SUCCESS|FAILED|[A-Z]{{4,12}})!? \| rc=\d{{1,3}} >>\s*$")
_ALONE = lazy_regex(rf"\s*(?:[=\-*#]{{2,20}}\s)?(?P<hosts>{_FOLDED})(?:\s\(\d{{1,5}}\))?:?(?:\s[=\-*#]{{2,20}})?\s*$")
_RULE = lazy_regex(r"\s*[-=]{3,80}\s*$")
_NUMBERED = lazy_regex(r"\d")
_LINES, _LONGEST, _COMMANDS, _LOOP_LINES, _SHOWN = 2000, 300, 20, 8, 8
"""Lines of an output, characters of a line, commands of a paste, lines of a loop, and odd hosts that are reported."""
_FEWEST, _USUAL = 3, 2 / 3
"""Hosts below which none is odd, and the share of hosts that have the usual value at least."""
_MEMLOCK = "limit memlock"
_THINGS: tuple[tuple[str, str, str], ...] = (
    (r"ulimit\s+-\w*l|max locked memory|memlock", _MEMLOCK, "high"),
    (r"ulimit\s+-\w*n\b", "limit nofile", "medium"),
    (r"/mtu\b|\bmtu\b", "MTU", "high"),
    (r"driver_version|/proc/driver/nvidia/version|modinfo\b.{0,40}\bnvidia", "GPU driver", "high"),
    (r"nvidia-smi\s+(?:-L|--list-gpus).{0,20}\bwc\b|query-gpu=count", "number of GPUs", "high"),
    (r"ofed_info", "OFED release", "high"),
    (r"/sys/class/infiniband/\S{0,80}/(?:rate|state|phys_state|link_layer)|ibstat\b", "RDMA port", "high"),
    (r"fw_ver|firmware", "firmware", "high"),
    (r"/dev/shm", "shared memory", "high"),  # noqa: S108  (what a command shows)
    (r"nccl", "NCCL", "high"),
    (r"\bnvcc\b|cuda", "CUDA", "high"),
    (r"uname\s+-\w*r", "kernel", "medium"),
)
"""What a command shows, how it is called, and whether a difference stops jobs (high) or slows them at most."""
_VARIES = lazy_regex(
    r"\b(?:date|uptime|loadavg|temperature|utilization|power\.draw|clocks?\.|memory\.(?:used|free)|ps|top|who|free|pids?"
    r"|hostname\s+-[iIf]|addr|timedatectl|chronyc|md5sum\s+/tmp)\b"
)
"""What differs between healthy hosts."""
_COMPILED = tuple((lazy_regex(f"(?i){pattern}"), name, weight) for pattern, name, weight in _THINGS)
_INNER = lazy_regex(
    r"\bssh\b(?:\s+-\S+){0,8}\s+\S{0,80}\$\{?\w+\}?\S{0,80}\s+(?P<inner>\S.{0,200}?)\s*(?:;\s*done\b.*|\)[\"']?\s*;.*)?$"
)
_WRAPPED = lazy_regex(
    r"\b(?:pdsh|clush|pssh|parallel-ssh|dsh)\s+(?:-\S{1,80}\s+(?:[\w.\[\],-]{1,200}\s+)?){0,6}(?P<inner>[A-Za-z/'\"].{0,200})$"
)
_NEXT = lazy_regex(r"\s*(?:;|&&)\s*")
_NAMES = lazy_regex(r"\$?\(?\bhostname(?:\s+-s)?\b\)?\s*[;:]?|\becho\b(?:\s+-n)?")


def read(source: str, lines: Sequence[tuple[int, str]]) -> list[Observation]:
    """The hosts that differ, of each command of a paste that ran on many hosts, by its numbered lines."""
    starts = [place for place, (_, line) in enumerate(lines) if _ON_MANY.search(line[:_LONGEST])][:_COMMANDS]
    return [one for place in starts for one in _of_command(source, lines, place)]


def _of_command(source: str, lines: Sequence[tuple[int, str]], place: int) -> Iterator[Observation]:
    command, begin = _command(lines, place)
    if _LOOP.search(command) and not _REMOTE.search(command):
        return
    output = []
    for number, line in lines[begin : begin + _LINES]:
        if not line.strip() or len(line) > _LONGEST or _PROMPT.match(line):
            break
        output.append((number, line))
    blocks = _blocks(output)
    parts = _commands(command)
    if rows := _rows(output):
        tables = [(command, rows)]
    elif len(parts) > 1 and blocks and all(len(lines) == len(parts) for lines in blocks.values()):
        tables = [(part, {host: lines[index] for host, lines in blocks.items()}) for index, part in enumerate(parts)]
    else:
        tables = [(command, {host: _joined(lines) for host, lines in blocks.items()})]
    for part, values in tables:
        if len(values) >= _FEWEST and not _VARIES.search(part):
            yield from _odd(source, part, values)


def _command(lines: Sequence[tuple[int, str]], place: int) -> tuple[str, int]:
    """The command that begins here, a loop up to its end, and the place behind it."""
    text, end = lines[place][1][:_LONGEST], place + 1
    while _LOOP.search(text) and not _DONE.search(text) and end < min(len(lines), place + _LOOP_LINES):
        text, end = f"{text} {lines[end][1].strip()[:_LONGEST]}", end + 1
    return text, end


Value = tuple[str, int, str]
"""A value of a host, and the number and text of the line that shows it."""
Values = dict[str, Value]
"""By host."""


def _commands(command: str) -> list[str]:
    """The commands that run on each host, one after the other, without those that print its name."""
    found = _INNER.search(command) or _WRAPPED.search(command)
    inner = found["inner"].strip(" \"'") if found else ""
    parts = [part.strip(" \"'") for part in _NEXT.split(inner)]
    return [part for part in parts if _NAMES.sub("", part).strip(" \"'$();-=")]


def _joined(lines: Sequence[Value]) -> Value:
    """All lines of a host as one value; the last of them shows it."""
    return " / ".join(value for value, _, _ in lines), *lines[-1][1:]


def _rows(output: Sequence[tuple[int, str]]) -> Values:
    """``gpu01 unlimited``, ``gpu01: 9000``: host and value on one line; nothing unless all lines are so."""
    found: Values = {}
    for number, line in output:
        row = None if _ANSIBLE.match(line) else _ROW.match(line)
        if row is None or row["host"] in found:
            return {}
        found[row["host"]] = row["value"], number, line
    return found if all(map(_NUMBERED.search, found)) else {}


def _blocks(output: Sequence[tuple[int, str]]) -> dict[str, list[Value]]:
    """Lines below the line of their host, or of several: Ansible, clush -b, dshbak -c, loops with ``hostname``."""
    found: dict[str, list[Value]] = {}
    hosts: tuple[str, ...] = ()
    titled = any(_ANSIBLE.match(line) for _, line in output)
    for number, line in output:
        named = _ANSIBLE.match(line)
        alone = None if titled else _ALONE.match(line)
        if named or (alone and _NUMBERED.search(alone["hosts"]) and _is_host(alone["hosts"], found)):
            hosts = (named["host"],) if named else tuple(unfold_hosts(alone["hosts"])) if alone else ()
        elif hosts and not _RULE.match(line):
            for host in hosts:
                found.setdefault(host, []).append((line.strip(), number, line))
    return found


def _is_host(text: str, found: Collection[str]) -> bool:
    """May the line be the name of a host, and no value? Hosts of one job have a stem in common, and come once."""
    stem = _stem(text)
    return text not in found and (not found or any(_stem(host) == stem for host in found))


def _stem(name: str) -> str:
    return name[: found.start()] if (found := _NUMBERED.search(name)) else name


def _odd(source: str, command: str, values: Values) -> Iterator[Observation]:
    counted = Counter(value for value, _, _ in values.values())
    usual, others = counted.most_common(1)[0]
    if others < max(_USUAL * len(values), 2) or others == len(values):
        return
    thing, weight = _thing(command)
    odd = [(host, *held) for host, held in values.items() if held[0] != usual]
    usual = _readable(thing, usual)
    for host, printed, number, line in odd[:_SHOWN]:
        value = _readable(thing, printed)
        text = f"{host} differs from {others} other hosts: {thing} is {value}, there {usual} [{weight}]"
        told = {"odd_host": host, "others": others, "thing": thing, "value": value, "usual": usual, "weight": weight}
        fields = {
            "event": "host-differs",
            "origin": "ncdiag",
            "kind": "fact",
            "text": text,
            "order": number,
            "count": 1,
        }
        yield Observation(entity="Event", host=host, span=span(source, number, line), fields={**fields, "fields": told})


def _readable(thing: str, value: str) -> str:
    """A value with its unit: shells count locked memory in KiB."""
    return f"{value} KiB" if thing == _MEMLOCK and value.isdecimal() else value


def _thing(command: str) -> tuple[str, str]:
    """What the command shows of a host, and the weight of a difference."""
    for pattern, name, weight in _COMPILED:
        if pattern.search(command):
            return name, weight
    found = _INNER.search(command) or _WRAPPED.search(command)
    inner = found["inner"] if found else "" if _ON_MANY.search(command) else command
    inner = _NAMES.sub("", inner).strip(" \"'$();")
    return f"the output of {inner[:60]}" if inner else "the output", "medium"
