"""Follow logs until Ctrl-C, for `ncdiag watch`."""

from __future__ import annotations

import contextlib
import gc
import io
import os
import select
import sys
import time
from collections.abc import Iterator, Sequence

import msgspec

from ncdiag.apps.watching import PIECE, Files, Mode, Progress, jobs, stacks, standing
from ncdiag.base.errors import InputError, UsageError
from ncdiag.commands._interrupt import interruptible
from ncdiag.commands._options import Options
from ncdiag.commands._output import say
from ncdiag.commands._watching import Answer, Diagnoses
from ncdiag.formats.stamps import DAY
from ncdiag.report import period
from ncdiag.text import Growing, Item, Stop, TextSource, Window

_TICK = 0.5
_SETTLED = 1.0
"""Seconds without new lines before a diagnosis: a failure prints many lines."""
_PATIENCE = 10.0
"""Seconds after which a log that never pauses is diagnosed."""


class Watcher:
    """Follows files, or one pipe."""

    def __init__(
        self, paths: Sequence[str], options: Options, silence: float, window: Window | None = None, *,
        mode: Mode = "auto", ends: Window | None = None,
    ) -> None:  # fmt: skip
        """``window``: read only lines in this window of time; ``mode``: which stacks are taken of a job that hangs.

        ``ends``: the window at the end of the logs that is compared with the time before it, for each diagnosis.

        Raises InputError for a path that does not exist, UsageError for invalid options.
        """
        if ends is not None and "-" in paths:
            msg = (
                "--window reads the ends of the logs again, and '-' is a pipe: give files, or 'ncdiag triage --window'"
            )
            raise UsageError(msg)
        self._quiet, self._silence = options.quiet, silence
        self._pipe = Growing("-", window=window) if "-" in paths else None
        but = [str(options.output)] if options.output is not None else []
        self._files = Files([path for path in paths if path != "-"], but=but, must_exist=True, window=window)
        self._paths, self._ends = paths, ends
        self._diagnoses = Diagnoses(options, sys.stdout, list, self._changed)
        self._progress = Progress(silence)
        self._told, self._is_silent = 0, False
        self._mode, self._states = mode, ""
        self._stacks = stacks.Stacks()
        self._first_told = self._last_told = 0.0
        self._refused: set[str] = set()
        self._until = _end_of(window)

    def watch(self) -> int:
        """Watch until Ctrl-C, or the end of the pipe; returns the exit code."""
        gc.enable()  # a process that runs for days does collect cycles
        if not self._quiet:
            say(self._announced())
        with interruptible(quiet=True) as stop:
            while not stop.happened and self.turn(stop) and (self._pipe or not self._is_over()):
                pass
            while self._files.read():  # what came since the last turn
                pass
        self._diagnoses.give_up()
        answer = self._diagnoses.judged(self._items())
        if self._diagnoses.shown is None or answer.cause != self._diagnoses.shown:
            self._diagnoses.show(answer)
        elif not self._quiet:
            say("nothing new since the last diagnosis")
        return answer.code

    def _announced(self) -> str:
        """What is followed, and when something is printed."""
        if self._is_over() and self._pipe is None:
            return "--until is past, and no later line is read: the logs are diagnosed once"
        self._files.read()
        count = len(self._files.sources) + (self._pipe is not None)
        what = "following 1 log" if count == 1 else f"following {count} logs"
        if empty := self._files.without_files():
            what += f" ({', '.join(empty)}: no file yet, which is read when it appears)"
        when = f"a failure is reported when it appears, a hang after {self._silence:.0f} s without a new line"
        if not self._silence:
            when = "a failure is reported when it appears"
        then = "; then the processes of this host that write them are examined" if self._silence else ""
        return f"{what}; {when}{then}; Ctrl-C ends with the diagnosis"

    def _is_over(self) -> bool:
        """Is the window past, so that no line of it can be written? What a pipe still has is read to its end."""
        return self._until is not None and time.time() > self._until + _SETTLED

    def turn(self, stop: Stop) -> bool:
        """Read new data, and show a new diagnosis; False at the end of the pipe."""
        goes_on = self._read(stop)
        self._look(time.monotonic())
        answer = self._diagnoses.done()
        if answer is not None:
            self._take(answer)
        return goes_on

    def _read(self, stop: Stop) -> bool:
        """Read new data, or wait for a moment; False at the end of the pipe."""
        taken, is_over = self._files.read(), False
        for path in self._files.refused.keys() - self._refused:
            say(f"{path}: {self._files.refused[path]}")
            self._refused.add(path)
        if self._pipe is not None:
            piece = self._next_piece(0 if taken else _TICK)
            is_over = piece == b""
            self._pipe.feed(piece or b"")
            taken += len(piece or b"")
        elif not taken and not stop.happened:
            time.sleep(_TICK)
        if taken:
            self._progress.seen()
        return not is_over

    @staticmethod
    def _next_piece(seconds: float) -> bytes | None:
        """New data from standard input; None if there is none, empty at its end."""
        try:
            handle = sys.stdin.fileno()
            ready, _, _ = select.select([handle], [], [], seconds)
            return os.read(handle, PIECE) if ready else None
        except (AttributeError, io.UnsupportedOperation, ValueError):
            return b""

    def _sources(self) -> list[Growing]:
        own = [self._pipe] if self._pipe is not None else []
        return [source for source in (*own, *self._files.sources) if source.size]

    def _items(self) -> Iterator[Item]:
        sources = self._sources()
        yield from (source.reading() for source in sources)
        if self._progress.is_told and any(source.has_nccl for source in sources):
            text = standing.silence(standing.LOGS_SILENT, self._progress.silent_for)
            yield TextSource.of_bytes("ncdiag watch", f"{text}\n{self._states}".encode("utf-8", "replace"))
            if self._stacks.text:
                yield TextSource.of_bytes("py-spy dump", self._stacks.text.encode("utf-8", "replace"))

    def _changed(self) -> period.Window | None:
        """What differs at the end of the logs from the time before it; the logs are read there once more."""
        if self._ends is None:
            return None
        from ncdiag.diagnose import period_of
        from ncdiag.machine.inputs import inputs
        from ncdiag.text import File, Windows

        windows = Windows(self._ends)
        try:
            windows.files([item for item in inputs(self._paths) if isinstance(item, File)])
        except InputError:  # a glob without a file yet, or a file that is gone
            return None
        found = period_of(windows.seen())
        return None if found is None else msgspec.structs.replace(found, text="", since=None, until=None)

    def _look(self, now: float) -> None:
        """Start a diagnosis if something was printed and the log pauses, or if nothing was printed for long."""
        told = sum(source.told for source in self._sources())
        if told != self._told:
            self._told, self._last_told = told, now
            self._first_told = self._first_told or now
        settled = now - self._last_told >= _SETTLED or now - self._first_told >= _PATIENCE
        if self._first_told and settled and self._diagnoses.is_due:
            self._first_told = 0.0
            self._diagnoses.begin(self._items)
        has_log = self._pipe is not None or bool(self._files.sources)
        if has_log and not self._is_over() and not self._diagnoses.is_running and self._progress.is_stuck():
            if not self._quiet:
                say(f"the logs did not grow for {self._progress.silent_for:.0f} s")
            self._is_silent = True
            self._examine()
            self._diagnoses.begin(self._items)

    def _examine(self) -> None:
        """Read what the processes do that write the logs on this host; what could not be read is said."""
        files = self._files.identities
        with contextlib.suppress(AttributeError, OSError, ValueError):  # no standard input
            files |= {(status.st_dev, status.st_ino) for status in [os.fstat(sys.stdin.fileno())] if self._pipe}
        pids = jobs.writing(files)
        self._states = "".join(f"{line}\n" for line in standing.standing(pids))
        self._stacks = stacks.take(pids, self._mode)
        for note in self._stacks.notes if not self._quiet else ():
            say(note)

    def _take(self, answer: Answer) -> None:
        """Show a root cause other than the last one shown; after a silence, also that there is none."""
        if answer.fault:
            say(answer.fault)
        is_wanted = answer.cause or (self._is_silent and answer.is_understood)
        self._is_silent = False
        if is_wanted and answer.cause != self._diagnoses.shown:
            self._diagnoses.show_quietly(answer)


def _end_of(window: Window | None) -> float | None:
    """When the window ends, in seconds since the epoch; a moment without a zone is in that of this machine."""
    until = window.until if window is not None else None
    if window is None or until is None or until.yearless:
        return None
    zone = window.local if until.zone is None else until.zone
    wall = until.wall
    if until.clock:  # a time of today
        wall += (window.now + zone) // DAY * DAY
    return wall - zone
