"""Run a job from start to end, for `ncdiag run`."""

from __future__ import annotations

import gc
import os
import signal
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from ncdiag.apps.watching import (
    End,
    Hang,
    Job,
    Mode,
    Outputs,
    Progress,
    Session,
    handlers,
    launch,
    place,
    settings,
    torch,
)  # fmt: skip
from ncdiag.base.errors import NcdiagError, contained
from ncdiag.commands._options import Options
from ncdiag.commands._output import say
from ncdiag.commands._watching import Answer, Diagnoses

SILENCE = 300.0
"""Seconds without output before a diagnosis: less than PyTorch's timeout of 10 minutes, more than most compilations."""
_TICK = 0.25
_INTERRUPTED = 60.0
"""Seconds that a job may take to end after Ctrl-C; launchers give their workers 30 (torchrun)."""
_DRAIN = 2.0
"""Seconds to wait for output of processes that outlive the job."""


class Runner:
    """Starts the job, reads its output, and shows the diagnosis."""

    def __init__(
        self, argv: Sequence[str], options: Options, silence: float | None, grace: float | None, logs: Path | None,
        *, stacks: Mode,
    ) -> None:  # fmt: skip
        """``silence``: seconds, None for the default; ``grace``: seconds, None: a job that hangs is not ended.

        ``stacks``: which stacks are taken of a job that hangs.

        Raises NotStartedError, and UsageError for invalid options.
        """
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)  # if it is ignored, the exit status of a child is lost
        self._options, self._grace, self._stacks = options, grace, stacks
        self._is_default = silence is None
        self._progress = Progress(SILENCE if silence is None else silence)
        self._diagnoses = Diagnoses(options, sys.stderr, self._not_seen)
        self._environment = _own_environment()
        self._fault, self._stops = "", 0
        self._stopped_after: float | None = None
        self._hang: Hang | None = None
        self._handlers: handlers.Handlers | None = None
        self._start(argv, logs)

    def _not_seen(self) -> list[str]:
        return self._session.not_seen()

    def _start(self, argv: Sequence[str], logs: Path | None) -> None:
        first = launch.plan(argv, (), self._environment)
        self._place = place.choose(logs, elsewhere=first.elsewhere)
        made = settings.settings(self._environment, self._place.begin, torch.names(argv, self._environment))
        self._environment |= made.given
        if handlers.are_wanted(self._stacks):
            self._handlers = handlers.Handlers()
            self._environment |= self._handlers.variables(self._environment)
        plan = launch.plan(argv, tuple(made.given), self._environment)
        notes = [*made.notes, *plan.notes, *([f"not read: {self._place.note}"] if self._place.note else [])]
        if plan.queues:
            notes.append("sbatch only submits the job and exits; put 'ncdiag run --' inside the batch script")
        self._tell(notes)
        outputs = Outputs()
        self._tell(outputs.notes)
        try:
            self._job = Job(plan.argv, self._environment, outputs.actions, outputs.follow_size)
        except BaseException:
            outputs.started()
            outputs.close()
            self._remove()
            raise
        outputs.started()
        self._session = Session(argv, outputs, made, self._place, self._options.output)

    def _tell(self, notes: Sequence[str]) -> None:
        for note in notes if not self._options.quiet else ():
            say(note)

    def run(self) -> int:
        """Watch until the job has ended; returns its exit code, or the negative number of the signal that ended it."""
        gc.enable()  # a process that runs for days does collect cycles
        try:
            while not self._job.wait(_TICK):
                self._watch(self._turn)
            self._finish()
        finally:
            self._diagnoses.give_up()
            self._job.release()
            self._remove()
        return self._job.code or 0

    def _remove(self) -> None:
        """Remove what is not kept."""
        self._place.remove()
        if self._handlers is not None:
            self._handlers.remove()

    def _turn(self) -> bool:
        if self._session.read() or self._stops != self._job.stops:
            self._progress.seen()
            self._stops = self._job.stops
        self._look_at_silence()
        self._take(self._diagnoses.done())
        return True

    def _watch(self, step: Callable[[], bool]) -> bool:
        """Execute a step. A bug of ncdiag ends the watching, not the job."""
        if self._fault:
            return False
        try:
            return step()
        except NcdiagError as error:
            self._fault = str(error)
        except Exception as error:  # noqa: BLE001  (the job must not suffer from it)
            self._fault = f"internal error: {contained(error, 'the job could not be watched')}"
        say(f"{self._fault}; the job continues, but is no longer watched")
        self._session.outputs.close()
        return False

    def _look_at_silence(self) -> None:
        """Start a diagnosis of a job that hangs. A terminal may be waiting for a person, unless NCCL is active."""
        if self._is_default and self._session.outputs.has_terminal and not self._session.is_nccl_seen:
            return
        if not self._diagnoses.is_running and self._progress.is_stuck():
            self._hang = hang = Hang.of(self._job.pid, self._progress.silent_for, self._stacks, self._handlers)
            self._tell(hang.stacks.notes)
            self._diagnoses.begin(lambda: self._session.items(self._environment, hang=hang))

    def _take(self, answer: Answer | None) -> None:
        """Show the diagnosis of a job that hangs, unless it repeats the last one, and end the job if requested.

        If the job has printed again in the meantime, it does not hang: its next silence is judged anew.
        """
        if answer is None or not self._progress.is_told:
            return
        told = "" if answer.is_understood else f"; {answer.fault or 'nothing read so far shows why'}"
        hint = "it continues" if self._grace is None else "stopping it"
        with self._session.outputs.aside():
            say(f"the job has printed nothing for {self._progress.silent_for:.0f} s{told}; {hint}")
            if answer.is_understood and answer.cause != self._diagnoses.shown:
                self._diagnoses.show_quietly(answer)
        if self._grace is not None:
            self._stopped_after = self._progress.silent_for
            self._keep()
            self._job.end(self._grace)

    def _keep(self) -> None:
        """Keep what is lost when the job is ended, in a folder that is named."""
        try:
            folder = self._session.keep(self._hang)
        except OSError as error:
            self._tell([f"nothing of the job could be kept before stopping it: {error.strerror}: {error.filename}"])
            return
        self._tell([f"kept before stopping it: states, stacks, the end of its output, logs and dumps in {folder}"])

    def _finish(self) -> None:
        """Read the rest and show the final diagnosis, if it is informative."""
        self._diagnoses.give_up()  # the final diagnosis includes that of a hang
        self._drain()
        self._job.release()
        if self._fault:
            return
        code = self._job.code or 0
        end = End(code, self._job.pid, self._stopped_after)
        try:
            hang = self._hang if self._stopped_after is not None else None
            answer = self._diagnoses.judged(self._session.items(self._environment, end=end, hang=hang))
        except KeyboardInterrupt:
            say("interrupted; the job had already ended")
            return
        except NcdiagError as error:
            say(str(error))
            return
        except Exception as error:  # noqa: BLE001  (the exit code is that of the job all the same)
            say(f"internal error: {contained(error, 'the job could not be diagnosed')}")
            return
        how = end.text
        is_news = answer.cause != (self._diagnoses.shown or "") or self._diagnoses.shown is None
        is_interrupted = bool(code) and time.monotonic() - self._job.interrupted < _INTERRUPTED
        is_fault = answer.is_known if is_interrupted else answer.is_worth  # KeyboardInterrupt is not a fault
        is_asked = is_fault or (code and answer.is_understood and not is_interrupted)
        if self._options.output is not None or (is_asked and is_news):
            self._diagnoses.show_quietly(answer)
        if not self._options.quiet:
            if is_interrupted:
                how = how.replace("the job ", "the job was interrupted and ", 1)
            say(f"{how}; {self._told(answer, is_fault=is_fault, is_news=is_news)}")

    def _told(self, answer: Answer, *, is_fault: bool, is_news: bool) -> str:
        if answer.cause and not is_news:
            return "its root cause is the one printed above"
        printed, logs = (sum(source.size for source in sources) for sources in self._session.read_apart())
        kept = f"in {self._session.kept}" if self._session.kept else "not kept (--logs DIR keeps them)"
        where = f"{logs:,} bytes of NCCL's logs, {kept}" if logs else "NCCL wrote no log"
        lost = ", the rest arrived too fast" if self._session.outputs.has_lost else ""
        unread = f", not its {' and '.join(self._session.outputs.unread)}" if self._session.outputs.unread else ""
        read = f"read {printed:,} bytes of its output{lost}{unread}"
        fault = "" if is_fault else "no fault found; "
        return f"{fault}{read}; {where}"

    def _drain(self) -> None:
        """Read until the output has ended or is silent for a while: the job may have left a process running."""
        last = time.monotonic()
        while not self._session.outputs.is_at_end and time.monotonic() < last + _DRAIN:
            if self._watch(self._session.read):
                last = time.monotonic()
            else:
                time.sleep(0.01)
        self._watch(lambda: self._session.read(all_of_it=True))


def _own_environment() -> dict[str, str]:
    """The environment with which ncdiag was started: in the C locale, Python adds LC_CTYPE to it (PEP 538)."""
    environment = dict(os.environ)
    try:
        started = Path("/proc/self/environ").read_bytes()
    except OSError:
        return environment
    if not started.startswith(b"LC_CTYPE=") and b"\0LC_CTYPE=" not in started:
        environment.pop("LC_CTYPE", None)
    return environment
