"""Find the commands that start ranks, containers or remote programs, and the shell variables that they pass on.

Sources: Open MPI mpirun(1) (-x), MPICH hydra (passes on the environment by default), Slurm srun(1) (--export), sudo(8)
(env_reset), ssh(1) (SendEnv), docker run and kubectl exec references.
"""

from __future__ import annotations

import functools
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import msgspec

from ncdiag.apps.lint.model import Document, Started
from ncdiag.apps.lint.words import Word
from ncdiag.base.patterns import lazy_regex
from ncdiag.base.spans import Section
from ncdiag.facts.observe import Observation
from ncdiag.formats.launch_words import read_command
from ncdiag.formats.launchers import CONTAINERS, find
from ncdiag.nccl import environment
from ncdiag.parsers import hostfile as hostfile_parser
from ncdiag.parsers import launch as launch_parser

_SHELLS = {"bash", "sh", "dash", "zsh", "ksh", "su", "ssh", "eval", "pdsh", "clush", "parallel-ssh", "pssh"}
_SCRIPT_RUNNERS = {"bash", "sh", "dash", "zsh", "ksh"}
"""Shells whose arguments are a script and its arguments, unless -c comes first."""
_BATCH = {"sbatch", "qsub", "bsub"}
_REMOTE = {"ssh", "pdsh", "clush", "pssh", "parallel-ssh"}
_WRAPPERS = {"time", "nohup", "exec", "command", "stdbuf", "nice", "ionice", "numactl", "timeout", "unbuffer", "nsys"}
_SUDO_VALUES = {"-u", "-g", "-h", "-p", "-C", "-T", "-U", "-r", "-t"}
_HYDRA = {"-genv", "-env", "-genvall", "-ppn", "-perhost", "-genvlist", "-envlist", "-bootstrap", "-launcher", "-hosts"}
_OPEN_MPI = {"mpirun", "orterun", "prterun"}
_REFERENCE = lazy_regex(r"\$(?:\{(\w{1,100})\}|(\w{1,100}))")
_FILE_LIMIT = 1 << 20


class Inherited(msgspec.Struct, frozen=True):
    """The state of the shell when it starts a command: values, exported names, names set before the command."""

    values: Mapping[str, str | None]
    exported: Sequence[str]
    prefix: Sequence[str]

    @property
    def names(self) -> tuple[str, ...]:
        """The variables in the environment of the command."""
        return tuple(dict.fromkeys([*self.exported, *self.prefix]))

    def expanded(self, text: str) -> str:
        """The text with variables expanded whose values are known from the script."""

        def value(found: re.Match[str]) -> str:
            known = self.values.get(found[1] or found[2])
            return known if known is not None else found[0]

        return _REFERENCE.sub(value, text[:4096]) if "$" in text else text


def started(
    document: Document, words: Sequence[Word], has: Inherited, own: Sequence[str]
) -> Iterator[tuple[Started, list[Observation]]]:
    """Each program of the command that passes on less than everything, or starts ranks; with its launches.

    ``own`` are the names that the command's options set.
    """
    raws = [has.expanded(word.raw) for word in words]
    observed = False
    position = 0
    for _ in range(8):  # sudo docker run ... srun ... torchrun
        place, position = _next(raws, position)
        if place is None:
            return
        program, at, behind = place
        launch = find(raws, at)
        observations: list[Observation] = []
        if launch is not None:
            command, position = read_command(raws, launch)
            passed = _passed(program, command.forwarded, own, raws[at:position])
            rest = raws[at:]
            if not observed:
                observations = _launches(document, words, raws[at:], has)
                observed = True
        else:
            position = behind
            passed = _wrapper_passes(program, raws[at:behind])
            rest = raws[at:]
        yield Started(
            program=program, at=words[at].at, behind=_offset(words, at, launch), words=tuple(rest),
            inherited=has.names if passed is not None else (), passed=passed,
        ), observations  # fmt: skip


def _offset(words: Sequence[Word], at: int, launch: tuple[str, object, int] | None) -> int:
    """The offset at which options of the program can be inserted: after its name."""
    behind = launch[2] if launch is not None else at + 1
    return words[min(behind, len(words)) - 1].at.end


def _next(raws: list[str], position: int) -> tuple[tuple[str, int, int] | None, int]:
    """((name, position, start of arguments) of the next relevant program, position to continue from)."""
    while position < len(raws):
        name = raws[position].rsplit("/", 1)[-1]
        if name == "sudo":
            return (name, position, _behind_sudo(raws, position + 1)), position
        if name in _REMOTE:
            return (name, position, len(raws)), position
        if name == "env":
            position += 1
            while position < len(raws) and ("=" in raws[position] or raws[position].startswith("-")):
                position += 1
            continue
        found = find(raws, position)
        if found is not None:
            return (found[0], position, found[2]), position
        if name == "kubectl" and "exec" in raws[position + 1 : position + 4]:
            return ("kubectl exec", position, len(raws)), position
        if name not in _WRAPPERS and "=" not in name:
            break
        position += 1
        while position < len(raws) and (raws[position].startswith("-") or raws[position][:1].isdigit()):
            position += 1
    return None, position


def _behind_sudo(raws: list[str], position: int) -> int:
    while position < len(raws) and (raws[position].startswith("-") or "=" in raws[position]):
        position += 2 if raws[position] in _SUDO_VALUES else 1
    return min(position, len(raws))


def _wrapper_passes(program: str, raws: Sequence[str]) -> tuple[str, ...] | None:
    """The names that sudo, ssh or kubectl exec pass on; None: all."""
    if program == "sudo":
        if any(re.match(r"-[A-Za-z]*E|--preserve-env$", word) for word in raws[1:]):
            return None
        listed = [word.partition("=")[2] for word in raws if word.startswith("--preserve-env=")]
        own = (word.partition("=")[0] for word in raws[1:] if "=" in word)
        return (*",".join(listed).split(","), *own)
    if any(word.startswith(("SendEnv", "-oSendEnv", "SetEnv", "-oSetEnv")) for word in raws):
        return None
    return ()


def _passed(program: str, forwarded: Sequence[str], own: Sequence[str], raws: Sequence[str]) -> tuple[str, ...] | None:
    if program in CONTAINERS:
        return None if any(word.startswith("--env-file") for word in raws) else (*forwarded, *own)
    if program == "srun":
        exports = [raws[i + 1] for i, word in enumerate(raws[:-1]) if word == "--export"]
        exports += [word.partition("=")[2] for word in raws if word.startswith("--export=")]
        if not exports or "ALL" in exports[-1].split(","):
            return None
        return (*forwarded, *own)
    return None


def _launches(document: Document, words: Sequence[Word], raws: list[str], has: Inherited) -> list[Observation]:
    """The launches in the command, with the variables and hosts that only the script knows."""
    line = document.line(words[0].at.start)
    text = " ".join(_written(document, word, raw) for word, raw in zip(words[-len(raws) :], raws, strict=True))
    section = Section(kind="launch", source=document.source, first_line=line, lines=(text,))
    found = []
    for observation in launch_parser.parse(section).observations:
        if observation.entity == "Launch":
            found.append(_completed(document, observation, has))
        elif observation.key == ("MASTER_ADDR",) and "MASTER_ADDR" not in text:
            found.append(observation)  # an option that is passed on as this variable
    return found


def _is_read(name: str) -> bool:
    """True if NCCL or one of its plugins reads the variable: build systems have some with the same prefix."""
    known = environment.variables().get(name)
    return known is not None and known.owner in {"nccl", "nccl-plugin", "ofi-nccl"}


def _written(document: Document, word: Word, raw: str) -> str:
    """A word as the launch parser should read it; an unquoted variable is expanded to separate words."""
    split = document.text[word.at.start : word.at.start + 1] == "$"
    return raw if split or re.fullmatch(r"[\w@%+=:,./$-]+", raw) else shlex.quote(raw)


def _completed(document: Document, observation: Observation, has: Inherited) -> Observation:
    fields = dict(observation.fields)
    program = fields.get("program")
    inherits = list(has.prefix)
    if _HYDRA & set(str(fields.get("text", "")).split()):
        fields.pop("prefix_env", None)
        inherits = []
    elif program in _OPEN_MPI and not is_batch(document.text):
        inherits += has.exported
    prefix = {name: has.values.get(name) or "" for name in inherits if _is_read(name)}
    if prefix and program in {*_OPEN_MPI, "mpiexec"}:
        fields["prefix_env"] = {**prefix, **fields.get("prefix_env", {})}
    name = fields.get("hostfile")
    if isinstance(name, str) and "hosts" not in fields:
        hosts = _hosts_of(document.source, name)
        if hosts:
            fields["hosts"] = hosts
    return msgspec.structs.replace(observation, fields=fields)


@functools.lru_cache(maxsize=1)  # called for every launch of a script
def is_batch(text: str) -> bool:
    """True if a batch system runs the script: its launcher passes the environment to the other hosts."""
    return re.search(r"(?m)^#(?:SBATCH|PBS|BSUB|\$)\s|SLURM_|PBS_NODEFILE|LSB_", text) is not None


def _hosts_of(source: str, name: str) -> object:
    """The hosts of a hostfile next to the script; None if it cannot be read."""
    try:
        path = Path(source).parent / name
        if not path.is_file() or path.stat().st_size > _FILE_LIMIT:
            return None
        lines = tuple(path.read_text(encoding="utf-8", errors="replace").splitlines())
    except (OSError, ValueError):
        return None
    section = Section(kind="hostfile", source=str(path), first_line=1, lines=lines, command=f"cat {name}")
    found = hostfile_parser.ROWS.parse(section).observations
    return found[0].fields.get("hosts") if found else None


def wraps_shell(words: Sequence[Word], word: Word | None) -> bool:
    """True if a quoted word (None: the command's input) is shell text or options of a launcher."""
    names = [each.raw.rsplit("/", 1)[-1] for each in words]
    if word is None:
        return any(name in _SHELLS for name in names[:4]) or names[0] in _BATCH
    if re.match(r"--?(?:mpi-args|launcher[_-]args)\b", word.raw):
        return True
    number = next((i for i, each in enumerate(words) if each is word), 0)
    before = words[number - 1].raw if number else ""
    if re.fullmatch(r"-[a-z]{0,6}c", before):
        return any(name in _SHELLS for name in names[:number])
    return names[0] in _SHELLS - _SCRIPT_RUNNERS or (names[0] == "sudo" and any(name in _REMOTE for name in names[1:4]))
