"""What ``run`` and ``watch`` share: a diagnosis now and then, shown where it says something new."""

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
from ncdiag.text import Item

_FAILED = frozenset({"root-cause", "failed-cause-not-here"})
_REST = (0, 1, 3, 9)
"""Times as long as a diagnosis took that pass until the next one, after the first, the second and so on.

Where there is always something new they cost a tenth of a processor at most.
"""


class Answer(msgspec.Struct, frozen=True):
    """A report, rendered. ``cause`` tells reports on the same root cause from others; empty where nothing failed."""

    cause: str
    text: str
    code: int
    is_worth: bool
    """Is there a warning or an error in it, or a failure?"""
    is_understood: bool
    is_known: bool = False
    """Is a root cause named?"""
    fault: str = ""
    """Why there is no report."""


_NONE = Answer("", "", 0, is_worth=False, is_understood=False)
_FAILED_COPY = msgspec.structs.replace(_NONE, fault="the diagnosis failed (NCDIAG_DEBUG=1 shows where)")


class Diagnoses:
    """Makes diagnoses, one at a time, and shows those of another root cause than the last one shown."""

    def __init__(self, options: Options, stream: TextIO, not_seen: Callable[[], list[str]]) -> None:
        """``stream`` gets the reports unless a file does. Raises UsageError for options that make no sense.

        From now on the command speaks the language of the options.
        """
        speak(options.language)
        if options.is_plugin:
            msg = "this command cannot run as a monitoring plugin: its exit code has another meaning"
            raise UsageError(msg)
        renderer(options.answers_in)
        self._options, self._stream, self._not_seen = options, stream, not_seen
        self._asked = options.judging()
        self._running: Judging | None = None
        self._begun = self._next = 0.0
        self._count = -1
        self._fault = ""
        self.shown: str | None = None

    def judged(self, items: Iterable[Item]) -> Answer:
        """A diagnosis here and now."""
        from ncdiag.diagnose import diagnose

        left_out = (*self._asked.left_out, *self._not_seen())
        report = diagnose(items, msgspec.structs.replace(self._asked, left_out=left_out))
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
        """Begin a diagnosis in a copy of the process, unless one is under way. Raises DefinitionError."""
        if self._running is None:
            from ncdiag import catalogue

            catalogue.rules(self._asked.rules)  # each copy would have to load them
            self._begun = time.monotonic()
            try:
                self._running = Judging(lambda: msgspec.json.encode(self.judged(items())))
            except OSError as error:  # no process or no memory is left: there may be later
                self._fault = error.strerror or ""

    @property
    def is_due(self) -> bool:
        """May a further one be begun?"""
        return self._running is None and time.monotonic() >= self._next

    @property
    def is_running(self) -> bool:
        """Is one under way?"""
        return self._running is not None

    def done(self, *, wait: bool = False) -> Answer | None:
        """The diagnosis that was begun, once it is made; one that failed says no more than that."""
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
        """Nobody waits for the one that is under way."""
        if self._running is not None:
            self._running.give_up()
            self._running = None

    def show(self, answer: Answer) -> None:
        """Write it to the file of ``--output``, or to the stream, below the one before."""
        is_for_people, output = self._options.answers_in in FOR_PEOPLE, self._options.output
        apart = "\n" if is_for_people and output is None and self.shown is not None else ""
        self.shown = answer.cause
        if output is not None or self._stream is sys.stdout:
            write(apart + answer.text, output, encoding=None if is_for_people else "utf-8")
            return
        with contextlib.suppress(OSError, ValueError, AttributeError):  # a closed standard error is nobody's loss
            self._stream.write(apart + answer.text)
            self._stream.flush()

    def show_quietly(self, answer: Answer) -> None:
        """The same, where a report that cannot be written must not end what goes on."""
        try:
            self.show(answer)
        except OutputError as error:
            say(str(error))
