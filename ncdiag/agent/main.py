"""The program of a bare node: look at it for a limited time and give back a bundle (`ncdiag.machine.bundle`).

Nothing is judged here. What needs more than a Python (GPUs by NVML, a question to the NCCL library) is told as missing;
outputs of programs are in where they can.
"""

import argparse
import json
import os
import socket
import sys
import threading
import time
from typing import Any, Callable, Dict, List, Mapping, Optional, Tuple

from ncdiag.agent.addresses import addresses
from ncdiag.agent.ask import clock_status, conf_files, environment_of, kept, sizes
from ncdiag.agent.hide import lines_without_secrets
from ncdiag.agent.libraries import PLUGINS, found, versions
from ncdiag.agent.look import Record, matches, variables
from ncdiag.agent.pack import packed
from ncdiag.agent.place import place
from ncdiag.agent.run import Ran, reason, run
from ncdiag.agent.wrap import leave_with_caller, own_name, wrapped

NO_NVML = "NVML was not queried: this data was collected by a program that uses only Python"
_GRACE = 1.0  # seconds for what was stopped at the deadline to say so
_USAGE, _CANNOT_WRITE, _CLOSED_PIPE = 2, 4, 141


class Look:
    """A look at this machine: what each thread of it brought, and when it has to end."""

    def __init__(self, table: Dict[str, Any], environ: Mapping[str, str], pid: Optional[int], deadline: float) -> None:
        """``table`` is what `ncdiag.machine.remote` renders; ``deadline`` in the clock of time.monotonic."""
        self.table, self.environ, self.known, self.deadline = table, environ, variables(pid), deadline
        self.records: Dict[str, Record] = {}
        self.failures: Dict[str, str] = {}
        self.answers: Dict[str, Any] = {"process": pid, "list of GPUs": ([], NO_NVML)}
        self.programs: Dict[str, Ran] = {}

    def take(self) -> None:
        """Files and answers first, then the programs that these leave something to tell."""
        jobs = {what: self._reader(what, patterns) for what, patterns in self.table["readers"].items()}
        jobs.update({what: self._answer(what, question) for what, question in self._questions().items()})
        now = time.monotonic()
        self._all(jobs, now + (self.deadline - now) / 2)  # one that is stuck leaves the programs their time
        wanted = [command for command in self.table["commands"] if self._makes_sense(command)]
        self._all({command["name"]: self._program(command) for command in wanted}, self.deadline + _GRACE)

    def _questions(self) -> Dict[str, Callable[[], Any]]:
        return {
            "addresses": addresses,
            "environment": lambda: dict(self.environ),
            "size of /dev/shm": sizes,
            "clock status": clock_status,
            "user id": os.geteuid,
            "NCCL libraries": lambda: list(map(os.path.realpath, found(os.environ))),
            "NCCL plugins": lambda: found(os.environ, PLUGINS),
            "versions of NCCL libraries": lambda: versions(map(os.path.realpath, found(os.environ))),
        }

    def _reader(self, what: str, patterns: List[str]) -> Callable[[], Any]:
        def job() -> None:
            record = Record(self.known)
            record.take(patterns)
            self.records[what] = record

        return job

    def _answer(self, what: str, question: Callable[[], Any]) -> Callable[[], Any]:
        def job() -> None:
            self.answers[what] = question()

        return job

    def _makes_sense(self, command: Dict[str, Any]) -> bool:
        """Whether there is what it tells of, and no file has told it already."""
        seen = Record(self.known)
        there = [
            os.path.lexists("/" + path)
            for pattern in command["needs"]
            for path in matches(pattern, seen.names, seen.known)
        ]
        if command["needs"] and not any(there):
            return False
        path = command["told"]
        return not any(path in {*record.folders, *record.present} - {*record.refused} for record in self._done())

    def _program(self, command: Dict[str, Any]) -> Callable[[], Any]:
        def job() -> None:
            left = max(0.1, min(command["limit"], self.deadline - time.monotonic()))
            self.programs[command["name"]] = run(command["argv"], left)

        return job

    def _all(self, jobs: Dict[str, Callable[[], Any]], end: float) -> None:
        """Run all of them side by side; one that is stuck is left behind, one that fails stops none."""
        threads = {}
        for what, job in jobs.items():
            threads[what] = threading.Thread(target=self._guarded, args=(what, job), daemon=True)
            threads[what].start()
        for what, thread in threads.items():
            thread.join(max(0.0, end - time.monotonic()))
            if thread.is_alive():
                self.failures[what] = "no answer in time"

    def _guarded(self, what: str, job: Callable[[], Any]) -> None:
        try:
            job()
        except Exception as error:  # noqa: BLE001  (one that fails does not stop the others)
            self.failures[what] = f"{type(error).__name__}: {error}"

    def _done(self) -> List[Record]:
        return list(self.records.values())

    def members(self, started: float) -> List[Tuple[str, bytes]]:
        """The files of the bundle, its manifest first. What was left behind may still come in: it is too late."""
        done, programs, outputs = self._done(), {}, []
        for name, ran in sorted(dict(self.programs).items()):
            output = lines_without_secrets(ran.output)
            texts = [
                data.decode("utf-8", "replace").splitlines() for data in (lines_without_secrets(ran.errors), output)
            ]
            programs[name] = {"status": ran.status, "reason": reason(ran, texts[0][::-1] + texts[1])}
            outputs.append((f"commands/{name}.txt", output))
        manifest: Dict[str, Any] = {
            "format": self.table["format"],
            "ncdiag": self.table["ncdiag"],
            "host": socket.gethostname(),
            "started": started,
            "seconds": round(time.time() - started, 3),
            "replies": True,
            "answers": dict(self.answers),
            "programs": programs,
            "failures": dict(self.failures),
            "present": sorted({path for record in done for path in record.present}),
        }
        for kind in ("folders", "links", "refused"):
            manifest[kind] = {path: value for record in done for path, value in getattr(record, kind).items()}
        files = {path: data for record in done for path, data in record.files.items()}
        first = ("manifest.json", json.dumps(manifest, indent=1, ensure_ascii=False).encode("utf-8", "replace"))
        return [first] + [(f"tree/{path}", data) for path, data in sorted(files.items())] + outputs


def main(table: Dict[str, Any], arguments: Optional[List[str]] = None) -> int:
    """Look and write; the exit code is 0, 2 for what cannot be asked for, 4 when the bundle cannot be written."""
    started, clock = time.time(), time.monotonic()
    parser = argparse.ArgumentParser(description="Inspect this host and write the result as one archive.")
    parser.add_argument("-o", "--output", default="-", metavar="BUNDLE.tar.gz", help="the archive (standard output)")
    parser.add_argument("--pid", type=int, metavar="N", help="environment and limits of this running process")
    parser.add_argument("--wrapped", type=float, metavar="SECONDS", help="print it as lines for a sweep of many hosts")
    parser.add_argument("--deadline", type=float, default=table["deadline"], metavar="SECONDS", help="for everything")
    options = parser.parse_args(arguments)
    try:
        if options.wrapped is not None:
            leave_with_caller(options.wrapped)
        elif options.output == "-" and (sys.stdout is None or sys.stdout.isatty()):
            return _say("an archive cannot be written to a terminal; name a file with -o", _USAGE)
        environ = kept(os.environ) if options.pid is None else environment_of(options.pid)
    except OSError as error:
        return _say(f"cannot read the environment of process {options.pid}: {error.strerror}", _USAGE)
    look = Look(table, environ, options.pid, clock + options.deadline)
    look.table["readers"]["nccl.conf"] = conf_files(environ)
    look.take()
    try:
        data = packed(look.members(started), started)
        if options.wrapped is not None:
            sys.stdout.writelines(wrapped(data, own_name()))
            sys.stdout.flush()
        elif options.output == "-":
            sys.stdout.buffer.write(data)
            sys.stdout.buffer.flush()
        else:
            place([data], options.output)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # or the interpreter complains when it ends
        return _CLOSED_PIPE
    except OSError as error:
        return _say(f"cannot write {options.output}: {error.strerror or error}", _CANNOT_WRITE)
    return 0


def _say(sentence: str, code: int) -> int:
    sys.stderr.write(f"ncdiag: {sentence}\n")
    return code
