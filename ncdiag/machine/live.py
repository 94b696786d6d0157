"""Inspect a host: files first, commands second, with a reason for everything that could not be read.

`collect` reads this machine (root ``/``) or a recorded tree: a folder with the files of a machine at their usual paths
and, under ``commands/``, outputs named after the entries of ``collectors.toml``. No command is run for a recorded tree.
What fails is unknown and reported with its reason; it is never taken for healthy.
"""

from __future__ import annotations

import os
import re
import socket
import threading
import time
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from ncdiag.agent.ask import conf_files, environment_of, kept
from ncdiag.base.errors import InputError
from ncdiag.base.spans import Section, span
from ncdiag.facts.observe import Observation
from ncdiag.formats.shell import hide_secrets, is_kept, is_variable
from ncdiag.machine import nvml, sysfs, sysfs_pci, sysfs_rdma
from ncdiag.machine.command import Command, CommandResult, clean_lines, run_command, table
from ncdiag.machine.outputs import outputs
from ncdiag.machine.tree import Tree
from ncdiag.parsers import discover

__all__ = ["Collection", "CommandResult", "NotSeen", "collect", "run_command", "settings"]

DEADLINE = 16.0
"""Seconds for a whole collection; with the judgement, ``check`` takes less than 20."""

_GPUS = "list of GPUs"
ACS = "ACS of PCI bridges"
_HEAD = 100  # number of lines in which the output of a failing program must begin as its kind does
_REFUSALS = 8  # maximum number of unreadable files that are named

T = TypeVar("T")


class NotSeen(msgspec.Struct, frozen=True):
    """Something that could not be observed: ``what``, ``why``, and the command whose output would show it, if any."""

    what: str
    why: str
    ask: str = ""


class Collection(msgspec.Struct, frozen=True, kw_only=True):
    """The result of inspecting ``host``: outputs for the parsers, observations of files and libraries, failures."""

    host: str
    sections: list[Section]
    observations: list[Observation]
    not_seen: list[NotSeen]


def collect(  # noqa: PLR0913  (where to look, and what may be left out)
    root: Path = Path("/"), *, kinds: Container[str] | None = None, host: str | None = None,
    environ: Mapping[str, str] | None = None, deadline: float = DEADLINE, tree: Tree | None = None,
    pid: int | None = None, deltas: float = 0.0,
) -> Collection:  # fmt: skip
    """Inspect a host for at most ``deadline`` seconds.

    ``kinds`` are the section kinds to collect (default: those with a parser), ``environ`` the environment to read
    (default: that of this process on the live machine, none for a recorded tree). ``tree`` is read instead of ``root``
    if given: a recording, or a tree that records. ``pid`` names a process whose environment and limits are read instead
    of those of this process; ``deltas`` is the time in seconds between two samples of the counters (0: one sample).
    Raises InputError if ``root`` is not a folder or the process cannot be read.
    """
    if tree is None:
        readable(root)
        tree = Tree(root, host or host_name(root))
    if tree.ask("process", lambda: pid) is not None and environ is None:
        environ = tree.ask("environment", lambda: environment(pid))
    gathering = _Gathering(tree, discover() if kinds is None else kinds, time.monotonic() + deadline)
    gathering.read_files()
    if tree.replies:
        gathering.read_libraries()
        if environ is None:
            environ = tree.ask("environment", environment)
        gathering.run(table())
        gathering.read_again(deltas)
    else:
        gathering.read_recorded(table())
    if environ is not None:
        gathering.observations += settings(tree, environ)
    return gathering.result(environ or {})


def readable(root: Path) -> None:
    """Raise InputError if ``root`` is not a folder."""
    if not root.is_dir():
        msg = f"cannot read {root}: {'it is not a folder' if root.exists() else 'No such file or directory'}"
        raise InputError(msg)


def environment(pid: int | None = None) -> dict[str, str]:
    """The environment variables to judge, without secrets: of this process, or of ``pid`` when it started.

    Raises InputError if they cannot be read.
    """
    if pid is None:
        return kept(os.environ)
    try:
        return environment_of(pid)
    except OSError as error:
        msg = f"cannot read the environment of process {pid}: {_refusal(Path('/proc') / str(pid), error)}"
        raise InputError(msg) from None


def _refusal(place: Path, error: OSError) -> str:
    """Why the process of a folder of /proc cannot be read: it has ended, is a zombie, or belongs to another user."""
    try:
        owner, status = place.stat().st_uid, (place / "status").read_text(errors="replace")
    except OSError:
        return "no process has this number"
    fields = dict(line.split(":", 1) for line in status.splitlines() if ":" in line)
    if fields.get("State", "").strip().startswith("Z"):
        parent = fields.get("PPid", "").strip()
        return f"it has ended and is a zombie, which process {parent}, its parent, has not collected"
    if isinstance(error, PermissionError):
        return f"it belongs to another user (number {owner}): run ncdiag as that user, or as root"
    return f"{error.strerror}"


def host_name(root: Path) -> str:
    """The host name of the machine whose files are under ``root``."""
    if str(root) == "/":
        return socket.gethostname()
    tree = Tree(root, "")
    return tree.text("etc/hostname") or tree.text("proc/sys/kernel/hostname") or root.resolve().name or "recorded"


def settings(tree: Tree, environ: Mapping[str, str]) -> list[Observation]:
    """The variables of NCCL, frameworks and launchers, without those whose names suggest a secret."""
    found = []
    for name, value in sorted(environ.items()):
        if is_kept(name.upper()) or is_variable(name):  # OMPI_MCA_btl_tcp_if_include
            shown = hide_secrets(value)
            where = span("environment", 0, f"{name}={shown}")
            fields = {"is_set": True, "text": shown, "origin": "live"}
            found.append(Observation(entity="Setting", key=(name,), host=tree.host, span=where, fields=fields))
    whole = Observation(entity="Host", host=tree.host, span=span("environment", 0, ""), fields={"complete": ["env"]})
    return [*found, whole]


class _Gathering:
    """A collection in progress."""

    def __init__(self, tree: Tree, kinds: Container[str], deadline: float) -> None:
        self.tree, self.kinds, self.deadline = tree, kinds, deadline
        self.sections: list[Section] = []
        self.observations: list[Observation] = []
        self.reasons: dict[str, list[str]] = {}
        self.asks: dict[str, str] = {}

    def fail(self, what: str, why: str, ask: str = "") -> None:
        """Record that something could not be observed; it may have been recorded before."""
        self.reasons.setdefault(what, [])
        if why not in self.reasons[what]:
            self.reasons[what].append(why)
        if ask:
            self.asks[what] = ask

    def read_files(self) -> None:
        """Run all readers of files, and read the interfaces with their addresses.

        Readers that failed before fail again.
        """
        failed = self.tree.failures
        jobs = {what: _calling(read, self.tree) for what, read in sysfs.readers().items() if what not in failed}
        for found in self._parallel(jobs).values():
            self.observations += found
        failed.update({what: why for what in jobs for why in self.reasons.get(what, ())})
        for what, why in failed.items():
            self.fail(what, why)

    def read_libraries(self) -> None:
        """Read the GPUs by NVML."""
        nothing: tuple[Any, str] = [], "not in the bundle"
        for found, reason in self._parallel({_GPUS: lambda: self.tree.ask(_GPUS, self._gpus) or nothing}).values():
            self.observations += msgspec.convert(found, list[Observation])
            if reason:
                self.fail(_GPUS, reason, "nvidia-smi -L")

    def _gpus(self) -> tuple[Any, str | None]:
        found, reason = nvml.gpus(self.tree)
        return msgspec.to_builtins(found), reason

    def read_again(self, seconds: float) -> None:
        """Take a second sample of the counters after ``seconds`` and record the differences."""
        first = [o for o in self.observations if o.entity == "Port" and "counters" in o.fields]
        again = self.tree.ask("second sample of counters", lambda: sysfs_rdma.sample_again(self.tree, first, seconds))
        for before, after in zip(first, again or (), strict=False):
            counted = {name: after[name] - value for name, value in before.fields["counters"].items() if name in after}
            fields = {"counter_deltas": counted, "sampled_seconds": after.get("seconds")}
            self.observations.append(msgspec.structs.replace(before, fields=fields))

    def run(self, commands: Sequence[Command]) -> None:
        """Run in parallel the commands that files did not replace, then the substitutes of those that failed."""
        failed = self._run([command for command in commands if not command.instead_of])
        others = {c.name: c.instead_of for c in commands if c.instead_of in failed}
        replaced = {others[name] for name in others.keys() - self._run([c for c in commands if c.name in others])}
        for command in commands:
            if command.name in replaced:
                self.reasons.pop(command.why, None)

    def _run(self, commands: Sequence[Command]) -> set[str]:
        """The names of the commands that failed."""
        seen = sysfs.complete(self.observations)
        chosen = []
        for command in commands:
            if command.kind not in self.kinds or command.unless in seen:
                continue
            if not self._makes_sense(command):
                if command.absent:
                    self.fail(command.why, command.absent, command.line)
                continue
            chosen.append(command)
        cancel, left = threading.Event(), self.deadline - time.monotonic()
        jobs = {c.why: _calling(self.tree.output, c, max(0.1, min(c.limit, left)), cancel) for c in chosen}
        try:
            results = self._parallel(jobs, grace=1.0)
        except BaseException:  # Ctrl-C: no program may outlive this one
            cancel.set()
            time.sleep(0.2)
            raise
        taken = {c.name: self._take(c, results[c.why]) for c in chosen if c.why in results}
        return {command.name for command in chosen if not taken.get(command.name)}

    @property
    def _ordinary(self) -> bool:
        """True if the user is not root."""
        return bool(self.tree.ask("user id", lambda: os.geteuid()))  # noqa: PLW0108  (Windows has none to name here)

    def _take(self, command: Command, result: CommandResult) -> bool:
        """Keep the output of a program; False if it failed. A substitute must print something."""
        silent = bool(command.instead_of) and not any(result.output)
        failed = silent or (result.reason is not None and result.status not in command.accept)
        if failed:
            hint = " (it needs root)" if command.root and self._ordinary else ""
            reason = result.reason or "it printed nothing"
            self.fail(command.why, f"{command.argv[0]}: {reason}{hint}", command.line)
        if any(result.output):
            # the output of a failing program is often not of its kind, but its message may be known
            spoiled = failed and result.status is not None and not _looks_like(command.kind, result.output)
            kind = "text" if spoiled else command.kind
            if kind in self.kinds:
                self._section(kind, command.line, result.output, command.line)
        return not failed

    def _section(self, kind: str, source: str, lines: tuple[str, ...], command: str | None = None) -> None:
        section = Section(kind=kind, source=source, first_line=1, lines=lines, host=self.tree.host, command=command)
        self.sections.append(section)

    def read_recorded(self, commands: Sequence[Command]) -> None:
        """Read the outputs that were recorded with a tree."""
        seen = sysfs.complete(self.observations)
        recorded = set()
        for output in outputs(self.tree, self.kinds, seen):
            recorded.add(output.name)
            if output.kind in self.kinds:
                lines = clean_lines(self.tree.data(output.path) or b"")
                self._section(output.kind, self.tree.place(output.path), lines, output.command)
        told = {section.kind for section in self.sections}
        for command in commands:
            wanted = command.kind in self.kinds and command.unless not in seen and not command.instead_of
            missing = command.name not in recorded and command.kind not in told
            if wanted and missing and (command.absent or self._makes_sense(command)):
                self.fail(command.why, f"no commands/{command.name}.txt in the recorded tree", command.line)

    def _makes_sense(self, command: Command) -> bool:
        return not command.needs or any(self.tree.matches(path) for path in command.needs)

    def result(self, environ: Mapping[str, str]) -> Collection:
        """The collection, with what needs earlier results: configuration files, GPUs without NVML, missing parts."""
        self._conf_files(environ)
        told = {section.kind for section in self.sections}
        if "nvml" not in sysfs.complete(self.observations) and not told & {"nvidia_smi_L", "nvidia_smi_q"}:
            found = list(sysfs_pci.nvidia_gpus(self.tree))
            self.observations += found
            if found and _GPUS in self.reasons:
                self.reasons["index, memory and NVLinks of GPUs"] = self.reasons.pop(_GPUS)
        elif "nvidia_smi_L" in told:
            self.reasons.pop(_GPUS, None)
        by_kind = {command.unless: command for command in table() if command.unless}
        for kind, why in sysfs.missing(self.tree, self.observations).items():
            command = by_kind.get(kind)
            if command is None or command.kind not in told:
                self.fail(sysfs.EXPECTED[kind][0], why, command.line if command else "")
        bridges = [o.fields for o in self.observations if o.entity == "PciDevice"]
        if any(f.get("is_bridge") for f in bridges) and not any("acs_controls" in f for f in bridges):
            why = "needs root" if self._ordinary else "the extended configuration space could not be read"
            self.fail(ACS, why, "sudo lspci -vvv")
        for path, why in list(self.tree.refused.items())[:_REFUSALS]:
            if why in {"Permission denied", "Input/output error"}:
                self.fail(self.tree.place(path), why)
        not_seen = [NotSeen(what, "; ".join(why), self.asks.get(what, "")) for what, why in self.reasons.items()]
        return Collection(
            host=self.tree.host, sections=self.sections, observations=self.observations, not_seen=not_seen
        )

    def _conf_files(self, environ: Mapping[str, str]) -> None:
        """Read NCCL's configuration files."""
        if "nccl_conf" not in self.kinds:
            return
        for path in dict.fromkeys(path for place in conf_files(environ) for path in self.tree.matches(place)):
            data = self.tree.data(path)
            if data is not None:
                self._section("nccl_conf", self.tree.place(path), clean_lines(data))

    def _parallel(self, jobs: Mapping[str, Callable[[], T]], grace: float = 0.0) -> dict[str, T]:
        """The results of all jobs that finish in time; the others are recorded as failed.

        A job that hangs is abandoned.
        """
        results: dict[str, T] = {}
        errors: dict[str, str] = {}

        def work(what: str, job: Callable[[], T]) -> None:
            try:
                results[what] = job()
            except Exception as error:  # noqa: BLE001  (one reader that fails does not stop the others)
                errors[what] = f"{type(error).__name__}: {error}"

        threads = {what: threading.Thread(target=work, args=(what, job), daemon=True) for what, job in jobs.items()}
        for thread in threads.values():
            thread.start()
        for what, thread in threads.items():
            thread.join(max(0.0, self.deadline + grace - time.monotonic()))
            if what in errors:
                self.fail(what, errors[what])
            elif what not in results:
                self.fail(what, "no answer in time")
        return {what: results[what] for what in jobs if what in results}


def _looks_like(kind: str, lines: Sequence[str]) -> bool:
    """True if one of the lines begins a section of that kind."""
    parser = discover().get(kind)
    if parser is None or not parser.anchor:
        return False
    return any(re.match(parser.anchor, line) for line in lines[:_HEAD])


def _calling(function: Callable[..., Any], *arguments: Any) -> Callable[[], Any]:  # noqa: ANN401
    """A job that calls the function; a generator is consumed in the job, so that its time counts there."""

    def job() -> Any:  # noqa: ANN401
        result = function(*arguments)
        return list(result) if isinstance(result, Iterator) else result

    return job
