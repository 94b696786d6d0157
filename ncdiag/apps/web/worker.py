"""The process of one analysis: it is confined, judges the upload, writes its outcome and ends."""

from __future__ import annotations

import gc
import os
import signal
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path

import msgspec

from ncdiag import diagnose
from ncdiag.apps.web.redacted import Redacted
from ncdiag.apps.web.shown import Shown
from ncdiag.apps.web.uploads import PASTE, WINDOW
from ncdiag.apps.web.words import words
from ncdiag.base.errors import NcdiagError, UsageError
from ncdiag.facts.view import View
from ncdiag.language import speaking
from ncdiag.machine.inputs import inputs
from ncdiag.report import renderer
from ncdiag.report.html.answer import built
from ncdiag.report.html.context import Context
from ncdiag.report.html.element import element, write
from ncdiag.report.html.pictures import pictures
from ncdiag.report.model import Report
from ncdiag.text import Item, Window, open_sources, read_all, window_of

if sys.platform != "win32":
    from ncdiag.machine.confine import confine

INPUT, OUTCOME = "input", "outcome.json"
"""In the folder of an analysis: the upload, and its outcome."""
FILES = {"markdown": "md", "json": "json", "html": "html"}
"""The formats offered for download, with their file extensions."""
_WIDTH = 100
_WRITTEN = 1 << 30
_GRACE = 5.0
"""Seconds after the time limit at which the kernel ends a process that was not ended."""


class Work(msgspec.Struct, frozen=True, kw_only=True):
    """An analysis to do: the ``names`` of the files in its ``folder``, and the choices on the page.

    ``wants``: a single format, empty for the page's answer with all downloads. ``window``: the fields of `WINDOW` that
    were filled in, as for the options of the command line; empty for all of the input.
    """

    folder: str
    names: tuple[str, ...]
    language: str = "en"
    redact: bool = False
    wants: str = ""
    window: dict[str, str] = {}
    options: diagnose.Options = diagnose.DEFAULTS
    seconds: float = 60.0
    memory: int = 4 << 30


class Outcome(msgspec.Struct, kw_only=True):
    """The result: ``answer``, ``pictures`` and the ``shown`` lines as HTML, texts by format; or the failure.

    ``word`` names a sentence of `words.toml`, ``sentence`` is an error message of ncdiag.
    """

    answer: str = ""
    pictures: str = ""
    shown: str = ""
    files: dict[str, str] = {}
    word: str = ""
    sentence: str = ""


def analyse(work: Work) -> None:
    """Judge, and write the `Outcome` into the folder; afterwards the process ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is left to the server
    gc.disable()  # facts and rules have no cycles, and a collection would copy memory shared by the processes
    tempfile.tempdir = work.folder
    os.chdir(Path(work.folder, INPUT))  # sources have the names under which they were sent
    if sys.platform != "win32":  # it has only the parent's time limit
        confine(memory=work.memory, seconds=work.seconds + _GRACE, written=_WRITTEN)
    try:
        outcome = _outcome(work)
    except NcdiagError as error:
        outcome = Outcome(sentence=str(error))
    except MemoryError:
        outcome = Outcome(word="no_memory")
    except Exception as error:  # last resort: no traceback for the user
        if os.environ.get("NCDIAG_DEBUG") == "1":
            raise
        outcome = Outcome(sentence=f"internal error: {type(error).__name__}: {error}; please report it")
    path = Path(work.folder, OUTCOME)
    written = path.with_suffix(".part")
    written.write_bytes(msgspec.json.encode(outcome))
    written.rename(path)  # written atomically


def _outcome(work: Work) -> Outcome:
    """The outcome for the files in the working directory, in the language of the page."""
    with speaking(work.language):
        return _found(work)


def _found(work: Work) -> Outcome:
    redacted = Redacted(work.names) if work.redact else None
    options = msgspec.structs.replace(work.options, language=work.language)
    if work.window:
        options = msgspec.structs.replace(options, window=_window(work))
    view, report = judged(inputs(work.names) if redacted is None else redacted.items(), options)
    shown = Shown(report, open_sources(work.names) if redacted is None else iter(redacted.texts))
    if work.wants:
        return Outcome(files={work.wants: _rendered(work.wants, report, view, shown)})
    said = words(work.language)
    context = Context(report, shown.place, shown.lines)
    answer = write(built(context))
    return Outcome(
        answer=answer,
        pictures=write(element("div", *pictures(view, context))),
        shown=shown.html(said["input"], said["to_answer"], said["left_out"], context.linked),
        files={name: _rendered(name, report, view, shown) for name in ("text", *FILES)},
    )


def _window(work: Work) -> Window | None:
    """The window of time that was asked for on the page. Raises UsageError."""
    try:
        return window_of(*(work.window.get(name) for name in WINDOW))
    except ValueError as error:
        raise UsageError(str(error)) from None


def judged(items: Iterable[Item], options: diagnose.Options) -> tuple[View, Report]:
    """The facts and the report; everything is read in this process, which must not start others."""
    case = read_all(items, processes=1, window=options.window)
    view, report = diagnose.judged(case, diagnose.rules_for(options), options)
    return view, diagnose.written(report, case, options)


def _rendered(name: str, report: Report, view: View, shown: Shown) -> str:
    return renderer(name)(
        report, width=_WIDTH, colour=False, detail="whole", fail_on="never", view=view, lines=shown.lines
    )


def warm_up() -> None:
    """Judge a sample paste, so that the needed code and data are in memory before the first fork."""
    here = Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, PASTE).write_bytes(Path(__file__).with_name("warm.txt").read_bytes())
        os.chdir(folder)
        try:
            _outcome(Work(folder=folder, names=(PASTE,)))
        finally:
            os.chdir(here)
