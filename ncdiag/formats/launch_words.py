"""Convert the words of a launcher's command to the fields of a Launch (`ncdiag.formats.launchers` has the tables)."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import msgspec

from ncdiag.base.patterns import lazy_regex
from ncdiag.facts.fold import MOST_HOSTS, unfold_hosts
from ncdiag.formats.launchers import CONTAINERS, Launcher
from ncdiag.formats.shell import unquoted
from ncdiag.formats.shell import words as split
from ncdiag.formats.units import cpu_quantity, size_bytes

_APPLICATION = lazy_regex(r".*/|python|bash$|sh$|.*\.(?:py|sh)$|.*_perf$")
_HOST = lazy_regex(r"(?P<name>[A-Za-z0-9][\w.-]{0,120})(?:[:@](?P<slots>\d{1,4}))?$")
_IPV4 = r"(?:\d{1,3}\.){3}\d{1,3}(?::\d{1,4})?"
_PPR = lazy_regex(r"ppr:(\d{1,4}):node")
_PIECE = lazy_regex(r"(?:[^,'\"]|'[^']*'|\"[^\"]*\")+")
_JOINED = lazy_regex(r"-(?P<option>[a-zA-Z])(?P<value>\d{1,6})$")  # srun -N2
_MOST_UNREAD, _LONGEST_NAME = 4, 80
_NUMBER = lazy_regex(r"\d{1,9}$")
_KEEPING = frozenset({"mpirun", "mpiexec", "orterun", "prterun", *CONTAINERS})
_SPREADING = frozenset(
    {"mpirun", "mpiexec", "mpiexec.hydra", "mpiexec.mpich", "orterun", "prterun", "horovodrun", "srun", "deepspeed"}
)


class Command(msgspec.Struct):
    """A launcher command with its parsed options; ``fields`` are those of `ncdiag.facts.model.Launch`."""

    program: str
    fields: dict[str, Any] = {}
    env: dict[str, str] = {}
    forwarded: list[str] = []
    hosts: list[dict[str, Any]] = []
    mca: dict[str, str] = {}
    prefix_env: dict[str, str] = {}
    given: list[str] = []

    def started_with(self, before: dict[str, str]) -> None:
        """Add the variables set before the launcher: some pass them on, Open MPI needs -x for each, a container -e."""
        self.prefix_env = before
        if self.program not in _KEEPING:
            self.env = {**before, **self.env}

    @property
    def spreads(self) -> bool:
        """True if it starts processes on other hosts, so that its variables apply there, too."""
        return self.program in _SPREADING


def read_command(words: list[str], place: tuple[str, Launcher, int]) -> tuple[Command, int]:
    """Parse the options from ``words[place[2]]`` on.

    Returns the command and the index of what it starts (or the end).
    """
    name, launcher, position = place
    command = Command(program=name)
    waits = False  # an option that is in no table may have a value
    while position < len(words):
        word = words[position]
        if set(word) <= set(";&|") or word == "#":
            break
        if not word.startswith("-") or word == "-":
            if not waits or _APPLICATION.match(word):
                break
            waits = False
            position += 1
            continue
        option, equals, value = word.lstrip("-").partition("=")
        joined = _JOINED.match(word)
        if joined and joined["option"] in launcher.options:
            option, equals, value = joined["option"], "=", joined["value"]
        known = _known(option, launcher)
        command.given.append(known)
        position += 1
        waits = False
        take = _set if known in launcher.sets else _take
        target = launcher.sets.get(known) or launcher.options.get(known)
        if target is not None:
            position = take(command, target, value if equals else None, words, position)
        elif not equals and known not in launcher.flags:
            if known in launcher.values or (launcher.value_by_default and position < len(words)):
                position += 1
            else:
                waits = True
    if name in CONTAINERS and position < len(words):
        command.fields.setdefault("image", words[position])
        position += 1
    return command, min(position, len(words))


_BY_NAME = {
    "nnodes": ("NNODES",), "node_rank": ("NODE_RANK", "RANK"), "nproc_per_node": ("NPROC_PER_NODE",),
    "master_addr": ("MASTER_ADDR",), "master_port": ("MASTER_PORT",),
}  # fmt: skip
"""Variables in which programs that start torchrun themselves take its options (LlamaFactory, ms-swift, XTuner)."""


def by_environment(command: Command) -> Command:
    """Add what the variables before a program say, where they number a host of several."""
    if "NNODES" in command.env:
        for field, names in _BY_NAME.items():
            value = next((command.env[name] for name in names if name in command.env), "")
            if field == "master_addr" and value and "$" not in value:
                command.fields.setdefault(field, value)
            elif field != "master_addr":
                _number(command, field, value)
    return command


def _known(option: str, launcher: Launcher) -> str:
    """The option as spelled in the tables; PyTorch, Slurm and others treat ``-`` and ``_`` alike."""
    for form in (option, option.replace("-", "_"), option.replace("_", "-")):
        if any(form in names for names in (launcher.sets, launcher.options, launcher.flags, launcher.values)):
            return form
    return option


def _take(command: Command, target: str, value: str | None, words: list[str], position: int) -> int:
    """Apply an option; ``value`` was joined to it with ``=``. Returns the index after the words it used."""
    if target == "privileged":
        command.fields["privileged"] = value != "false"
        return position
    if value is None:
        value = words[position] if position < len(words) else ""
        position += 1
    if target == "mca":
        command.mca[value] = words[position] if position < len(words) else ""
        return position + 1
    if target == "env_pair":
        name, equals, text = value.partition("=")
        if not equals:
            text = words[position] if position < len(words) else ""
            position += 1
        command.env[name] = text
        return position
    if target == "hosts" and (after := _counted_hosts(command, value, words, position)) > position:
        return after
    handler = _HANDLERS.get(target)
    if handler:
        handler(command, value)
    else:
        _number(command, target, value)
    return _apart(command, words, position) if target == "hosts" else position


def _set(command: Command, variable: str, value: str | None, words: list[str], position: int) -> int:
    """Store the environment variable that an option sets, to the option's value or a fixed one. Return the next index.

    ``variable`` has the form of `Launcher.sets`.
    """
    name, fixed, text = variable.partition("=")
    name, _, unit = name.partition("*")
    if not fixed:
        text = value if value is not None else next(iter(words[position : position + 1]), "")
        position += value is None
    if unit:
        text = str(int(text) << 20) if _NUMBER.match(text) else ""
    if text:
        command.env.setdefault(name, text)
    return position


def _number(command: Command, field: str, value: str) -> None:
    """Store a count; ranges (``1:4``), variables and words (``gpu``) are ignored. The first value counts."""
    if _NUMBER.match(value):
        command.fields.setdefault(field, int(value))


def _variable(command: Command, value: str) -> None:
    name, equals, text = value.partition("=")
    if not name.isidentifier():
        return
    if equals:
        command.env[name] = text
    else:
        command.forwarded.append(name)


def _variables(command: Command, value: str) -> None:
    """Parse ``--export=ALL,A=1`` and ``-genvlist A,B``.

    A comma ends an unquoted value: srun takes what follows as another name (find_quote_token in Slurm's src/srun).
    """
    for piece in _PIECE.findall(value[: 1 << 14]):
        name, equals, text = piece.partition("=")
        if equals:
            _variable(command, f"{name}={unquoted(text)}")
        elif piece not in {"ALL", "NONE", "NIL"}:
            _variable(command, piece)


def _hosts(command: Command, value: str) -> None:
    """Parse ``gpu1:8,gpu2:8`` or ``node[01-04]``; repetitions of a host without slots are counted as its slots.

    Words that are not hosts (a variable, ``user@gpu1``, an open bracket) and hosts beyond `MOST_HOSTS` are recorded.
    """
    text = value[: 1 << 14]
    if text != value:
        _not_read(command, value[1 << 14 :])
    if text.count("[") != text.count("]"):
        _not_read(command, text)
        return
    for piece in re.findall(r"[^,\[\]]+(?:\[[^\]]*\][^,\[\]]*)?", text):
        names = list(unfold_hosts(piece.strip(), MOST_HOSTS - len(command.hosts) + 1))
        if not names or len(command.hosts) + len(names) > MOST_HOSTS:
            _not_read(command, piece)
            continue
        for name in names:
            found = _HOST.match(name)
            if not found:
                _not_read(command, name)
                continue
            entry: dict[str, Any] = {"name": found["name"]}
            if found["slots"]:
                entry["slots"] = int(found["slots"])
            same = next((h for h in command.hosts if h["name"] == entry["name"]), None)
            if same is None:
                command.hosts.append(entry)
            else:
                same["slots"] = same.get("slots", 1) + entry.get("slots", 1)


def _counted_hosts(command: Command, value: str, words: list[str], position: int) -> int:
    """Parse ``-hosts 2 gpu1 4 gpu2 4`` of Microsoft MPI and MPICH's smpd: a number of hosts, each with its processes.

    Returns the index after them; ``position`` if the words are not such a list.
    """
    hosts: list[dict[str, Any]] = []
    at = position
    while value.isdecimal() and len(hosts) < min(int(value[:9]), MOST_HOSTS) and at < len(words):
        counted = at + 1 < len(words) and words[at + 1].isdecimal()
        if words[at].isdecimal() or not _HOST.fullmatch(words[at]):
            return position
        if hosts and "slots" in hosts[0] and not counted:
            break  # fewer hosts than their number says: this is the program
        hosts.append({"name": words[at]})
        at += 1
        if at < len(words) and words[at].isdecimal():
            hosts[-1]["slots"] = int(words[at][:9])
            at += 1
    command.hosts += hosts
    return at


_MORE_HOSTS = lazy_regex(rf"(?:{_IPV4}|[A-Za-z0-9][\w.-]{{0,120}}:\d{{1,4}}),?$")
"""A word after a list of hosts that can only be another host: an address, or a name with slots."""


def _apart(command: Command, words: list[str], position: int) -> int:
    """Record the hosts that a blank separates from the list, and which the launcher takes for what it starts.

    Returns the index after them.
    """
    apart = command.fields.setdefault("hosts_apart", [])
    while position < len(words) and len(apart) < MOST_HOSTS:
        after_comma = words[position - 1].endswith(",") and _HOST.match(words[position].rstrip(","))
        if not (_MORE_HOSTS.match(words[position]) or after_comma):
            break
        apart.append(words[position].rstrip(",")[:_LONGEST_NAME])
        position += 1
    if not apart:
        del command.fields["hosts_apart"]
    return position


def _not_read(command: Command, text: str) -> None:
    unread = command.fields.setdefault("hosts_unread", [])
    if len(unread) < _MOST_UNREAD:
        unread.append(text.strip()[:_LONGEST_NAME])


def _mpi_args(command: Command, value: str) -> None:
    """Horovod passes this text to mpirun."""
    from ncdiag.formats.launchers import find

    inner = find(["mpirun", *split(value)], 0)
    if inner:
        passed, _ = read_command(["mpirun", *split(value)], inner)
        command.env.update(passed.env)
        command.mca.update(passed.mca)
        command.forwarded += passed.forwarded


def _map_by(command: Command, value: str) -> None:
    found = _PPR.match(value)
    if found:
        command.fields.setdefault("nproc_per_node", int(found[1]))


def _endpoint(command: Command, value: str) -> None:
    address, _, port = value.rpartition(":") if ":" in value else (value, "", "")
    _master(command, "master_addr", address)
    _master(command, "master_port", port)


def _master(command: Command, field: str, value: str) -> None:
    """Store an address or port, which torchrun and similar launchers pass on as MASTER_ADDR and MASTER_PORT."""
    if value and "$" not in value:
        command.env.setdefault(field.upper(), value)
        if field == "master_addr":
            command.fields.setdefault(field, value)
        else:
            _number(command, field, value)


def _gpus_per_node(command: Command, value: str) -> None:
    """Parse ``gpu:8``, ``gpu:a100:8,nvme:1``, ``a100:8`` or ``8``.

    A word alone means one GPU in --gres, else it is ignored.
    """
    for piece in value.split(","):
        kind, _, rest = piece.partition(":")
        if kind == "gpu" or piece == value:
            _number(command, "gpus_per_node", rest.rpartition(":")[2] if rest else kind)


def _resources(field: str) -> Callable[[Command, str], None]:
    """Parse ``worker-0@worker-1:0,2``: hosts of the file that DeepSpeed includes, or excludes if no GPU is named."""

    def put(command: Command, value: str) -> None:
        pieces = [piece.partition(":") for piece in value.split("@")]
        command.fields[field] = [name for name, _, gpus in pieces if name and not (gpus and field == "exclude")]

    return put


def _ulimit(command: Command, value: str) -> None:
    name, _, limit = value.partition("=")
    if name == "memlock" and limit:
        soft = limit.split(":")[0]
        command.fields["memlock"] = "unlimited" if soft == "-1" else soft


def _shm_size(command: Command, value: str) -> None:
    command.fields["shm_size_bytes"] = size_bytes(value)


def _cpus(command: Command, value: str) -> None:
    command.fields["cpu_limit"] = cpu_quantity(value)


def _master_text(field: str) -> Callable[[Command, str], None]:
    def put(command: Command, value: str) -> None:
        _master(command, field, value)

    return put


def _ignored(command: Command, value: str) -> None:
    """Skip an option that is irrelevant to NCCL."""


def _text(field: str) -> Callable[[Command, str], None]:
    def put(command: Command, value: str) -> None:
        command.fields.setdefault(field, value)

    return put


def _list(field: str) -> Callable[[Command, str], None]:
    def add(command: Command, value: str) -> None:
        command.fields.setdefault(field, []).append(value)

    return add


_HANDLERS: dict[str, Callable[[Command, str], None]] = {
    "x": _variable, "export": _variables, "forward_list": _variables, "hosts": _hosts, "mpi_args": _mpi_args,
    "map_by": _map_by,
    "endpoint": _endpoint, "ulimit": _ulimit, "ipc": _text("ipc"), "network": _text("network"), "image": _text("image"),
    "gpus": _text("gpus"), "hostfile": _text("hostfile"), "device": _list("devices"), "cap_add": _list("cap_add"),
    "shm_size": _shm_size, "cpus": _cpus, "gpus_per_node": _gpus_per_node, "workdir": _text("workdir"),
    "agent": _text("agent"),
    "ssh_key": _text("ssh_key"), "include": _resources("include"), "exclude": _resources("exclude"),
    "master_addr": _master_text("master_addr"),
    "master_port": _master_text("master_port"), "ignored": _ignored,
}  # fmt: skip
