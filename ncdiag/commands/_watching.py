"""Shared by ``run`` and ``watch``: repeated diagnoses, shown when they contain something new."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Callable, Iterable
from typing import TextIO

import msgspec

from ncdiag.apps.watching import Judging
from ncdiag.base.errors import OutputError, UsageError
from ncdiag.commands._judge import exit_code, public, rendered
from ncdiag.commands._options import Options
from ncdiag.commands._output import say, write
from ncdiag.language import speak
from ncdiag.report import FOR_PEOPLE, renderer
from ncdiag.report.period import Window
from ncdiag.text import Item

_FAILED = frozenset({"root-cause", "failed-cause-not-here"})
_REST = (0, 1, 3, 9)
"""Pauses after the first, second, ... diagnosis, as multiples of its duration.

If there is always something new, diagnoses take at most a tenth of a processor.
"""


class Answer(msgspec.Struct, frozen=True):
    """A rendered report. ``cause`` identifies its root cause; empty if nothing failed."""

    cause: str
    text: str
    code: int
    is_worth: bool
    """True if it contains a warning, an error or a failure."""
    is_understood: bool
    is_known: bool = False
    """True if it names a root cause."""
    fault: str = ""
    """Why there is no report."""


_NONE = Answer("", "", 0, is_worth=False, is_understood=False)
_FAILED_COPY = msgspec.structs.replace(_NONE, fault="the diagnosis failed (NCDIAG_DEBUG=1 shows where)")


class Diagnoses:
    """Makes diagnoses, one at a time, and shows those with another root cause than the last one shown."""

    def __init__(
        self, options: Options, stream: TextIO, not_seen: Callable[[], list[str]],
        ends: Callable[[], Window | None] = lambda: None,
    ) -> None:  # fmt: skip
        """``stream`` receives the reports unless a file does. Raises UsageError for invalid options.

        ``ends``: what changed at the end of the logs, for each report.

        From now on the command uses the language of the options.
        """
        speak(options.language)
        if options.is_plugin:
            msg = "this command cannot run as a monitoring plugin: its exit code has another meaning"
            raise UsageError(msg)
        renderer(options.answers_in)
        self._options, self._stream, self._not_seen, self._ends = options, stream, not_seen, ends
        self._asked = options.judging()
        self._running: Judging | None = None
        self._begun = self._next = 0.0
        self._count = -1
        self._fault = ""
        self.shown: str | None = None

    def judged(self, items: Iterable[Item]) -> Answer:
        """A diagnosis in this process."""
        from ncdiag.diagnose import diagnose

        left_out = (*self._asked.left_out, *self._not_seen())
        report = diagnose(items, msgspec.structs.replace(self._asked, left_out=left_out))
        report = msgspec.structs.replace(report, window=self._ends() or report.window)
        shown, more = public(report, self._options)
        worst = {finding.severity for finding in report.findings}
        first = report.findings[0] if report.findings else None
        failed = report.summary.verdict in _FAILED
        cause = f"{report.summary.root_cause or (first.name if first else '?')}" if failed else ""
        text = rendered(shown, self._options, self._stream, **more)
        is_worth = failed or bool(worst & {"error", "warning"})
        is_understood = report.summary.verdict != "nothing-understood"
        is_known = report.summary.verdict == "root-cause"
        return Answer(cause, text, exit_code(report, self._options.fail_on), is_worth, is_understood, is_known)

    def begin(self, items: Callable[[], Iterable[Item]]) -> None:
        """Start a diagnosis in a fork of the process, unless one is running. Raises DefinitionError."""
        if self._running is None:
            from ncdiag import catalogue

            catalogue.rules(self._asked.rules)  # else each fork would have to load them
            self._begun = time.monotonic()
            try:
                self._running = Judging(lambda: msgspec.json.encode(self.judged(items())))
            except OSError as error:  # no process or no memory: there may be later
                self._fault = error.strerror or ""

    @property
    def is_due(self) -> bool:
        """True if another diagnosis may be started."""
        return self._running is None and time.monotonic() >= self._next

    @property
    def is_running(self) -> bool:
        """True if a diagnosis is running."""
        return self._running is not None

    def done(self, *, wait: bool = False) -> Answer | None:
        """The result of the diagnosis that was started, once it is complete; one that failed only says so."""
        if self._fault:
            fault, self._fault = f"the diagnosis could not start: {self._fault}", ""
            return msgspec.structs.replace(_NONE, fault=fault)
        if self._running is None:
            return None
        data = self._running.result(wait=wait)
        if data is None:
            return None
        self._running = None
        now = time.monotonic()
        self._count = min(self._count + 1, len(_REST) - 1)
        self._next = now + _REST[self._count] * (now - self._begun)
        return msgspec.json.decode(data, type=Answer) if data else _FAILED_COPY

    def give_up(self) -> None:
        """Cancel the running diagnosis."""
        if self._running is not None:
            self._running.give_up()
            self._running = None

    def show(self, answer: Answer) -> None:
        """Write it to the file of ``--output``, or append it to the stream."""
        is_for_people, output = self._options.answers_in in FOR_PEOPLE, self._options.output
        apart = "\n" if is_for_people and output is None and self.shown is not None else ""
        self.shown = answer.cause
        if output is not None or self._stream is sys.stdout:
            write(apart + answer.text, output, encoding=None if is_for_people else "utf-8")
            return
        with contextlib.suppress(OSError, ValueError, AttributeError):  # a closed standard error is ignored
            self._stream.write(apart + answer.text)
            self._stream.flush()

    def show_quietly(self, answer: Answer) -> None:
        """Like `show`, but an error in writing the report does not stop the watching."""
        try:
            self.show(answer)
        except OutputError as error:
            say(str(error))
