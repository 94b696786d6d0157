"""The options that the judging commands share, declared in one place."""

from __future__ import annotations

import dataclasses
import enum
import functools
import inspect
import typing
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ncdiag.commands import _complete

if TYPE_CHECKING:
    from ncdiag import diagnose
    from ncdiag.apps.watching import Mode
    from ncdiag.text import Window


class Least(str, enum.Enum):
    """The lowest severity of findings that are shown. An enumeration, because old releases of typer lack literals."""

    error = "error"
    warning = "warning"
    info = "info"


class FailOn(str, enum.Enum):
    """The lowest severity of findings that make the program fail."""

    error = "error"
    warning = "warning"
    info = "info"
    never = "never"


class ExitStyle(str, enum.Enum):
    """What the exit codes mean: ncdiag's own, or the states of a monitoring plugin."""

    ncdiag = "ncdiag"
    nagios = "nagios"


class StackMode(str, enum.Enum):
    """Which stacks are taken of a job that hangs: of Python, also of compiled code, written by itself, or none."""

    never = "never"
    auto = "auto"
    native = "native"
    faulthandler = "faulthandler"

    def of_a_running_job(self) -> Mode:
        """The mode for a job that ncdiag did not start; raises UsageError if such a job cannot have it."""
        if self is StackMode.faulthandler:
            from ncdiag.base.errors import UsageError

            msg = "--stacks faulthandler is for ncdiag run: only a job that it starts can register faulthandler"
            raise UsageError(msg)
        mode: Mode = self.value
        return mode


class Language(str, enum.Enum):
    """The language of the texts; names and codes stay as they are."""

    en = "en"
    zh = "zh"


Lang = Annotated[
    Language | None,
    typer.Option("--lang", show_default="from the locale", help="Language of the report (environment: NCDIAG_LANG)."),
]


def language_of(asked: Language | None) -> str:
    """The language of texts for people: the requested one, else that of the locale, if ncdiag has it."""
    from ncdiag import language

    return asked.value if asked is not None else language.from_environment()


@dataclasses.dataclass(frozen=True)
class Options:
    """The options that every judging command accepts."""

    format: Annotated[
        str | None,
        typer.Option(
            "--format", metavar="FORMAT", show_default="text", autocompletion=_complete.formats,
            help="Report format: text, html, json, markdown, sarif, junit, prometheus, github or nagios.",
        ),
    ] = None  # fmt: skip
    output: Annotated[Path | None, typer.Option("--output", "-o", metavar="FILE", help="Write the report to FILE.")] = (
        None
    )
    select: Annotated[
        list[str] | None, typer.Option(metavar="RULE", help="Use only this rule (code or name; repeatable).")
    ] = None
    ignore: Annotated[
        list[str] | None, typer.Option(metavar="RULE", help="Skip this rule (code or name; repeatable).")
    ] = None
    min_severity: Annotated[Least, typer.Option(help="Lowest severity of the findings to show.")] = Least.info
    fail_on: Annotated[FailOn, typer.Option(help="Exit with code 1 if a finding has at least this severity.")] = (
        FailOn.error
    )
    exit_style: Annotated[
        ExitStyle | None,
        typer.Option(
            show_default="ncdiag",
            help="Meaning of the exit code. nagios: 0 OK, 1 WARNING, 2 CRITICAL, 3 UNKNOWN (implied by "
            "--format nagios).",
        ),
    ] = None
    nccl: Annotated[
        str | None, typer.Option(metavar="VERSION", help="NCCL version of the job, if the input does not show it.")
    ] = None
    rules: Annotated[
        list[Path] | None, typer.Option(metavar="DIR", help="Also use the rules in this folder (repeatable).")
    ] = None
    config: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Configuration file: private rules, ignored rules, baseline (default: $NCDIAG_CONFIG or ncdiag.toml).",
        ),
    ] = None
    redact: Annotated[
        bool, typer.Option("--redact", help="Replace names, addresses and serial numbers with placeholders.")
    ] = False
    show_secrets: Annotated[
        bool, typer.Option("--show-secrets", help="Quote lines with the passwords, keys and tokens in them.")
    ] = False
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="Print the whole report instead of one screen.")] = (
        False
    )
    brief: Annotated[bool, typer.Option("--brief", help="Print one line per finding.")] = False
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print no notes on standard error.")] = False
    no_color: Annotated[bool, typer.Option("--no-color", help="Print without colours.")] = False
    lang: Lang = None

    @property
    def answers_in(self) -> str:
        """The format: the requested one, else that of the exit style."""
        return self.format or ("nagios" if self.exit_style is ExitStyle.nagios else "text")

    @property
    def is_plugin(self) -> bool:
        """True if the exit codes are those of a monitoring plugin; its status line is useless without them."""
        return self.exit_style is ExitStyle.nagios or self.answers_in == "nagios"

    @property
    def language(self) -> str:
        """The language of the answer; for formats for programs only the option counts, not the locale."""
        from ncdiag.report import SPOKEN

        return language_of(self.lang or (None if self.answers_in in SPOKEN else Language.en))

    def judging(self) -> diagnose.Options:
        """The options for the diagnosis itself."""
        import datetime as dt

        from ncdiag import diagnose
        from ncdiag.base import config
        from ncdiag.commands._output import say

        site = config.load(self.config)
        if not self.config and not self.quiet and (foreign := config.passed_over()):
            say(f"{foreign} belongs to another user and was not used (--config {foreign} uses it)")
        today = dt.datetime.now(tz=dt.timezone.utc).date()
        left_out = site.left_out(today)
        return diagnose.Options(
            select=tuple(self.select or site.select),
            ignore=(*(self.ignore or ()), *(item.rule for item in left_out)),
            left_out=tuple(item.told(site.file) for item in left_out if site.file),
            nccl=self.nccl,
            rules=(*site.packs(), *(self.rules or ())),
            expired=site.expired(today),
            language=self.language,
            show_secrets=self.show_secrets,
        )

    def good_state(self) -> Path | None:
        """The baseline that the configuration names."""
        from ncdiag.base import config

        return config.load(self.config).good_state()


Since = Annotated[
    str | None,
    typer.Option(
        "--since",
        metavar="TIME",
        help="Read only log lines from this time on: 2026-05-03 03:10, May 3 03:10, 03:10, -10min, today.",
    ),
]
Until = Annotated[
    str | None, typer.Option("--until", metavar="TIME", help="Read only log lines up to this time (as --since).")
]
Compared = Annotated[
    str | None,
    typer.Option(
        "--window",
        metavar="DURATION",
        help="Show the first thing that differs from the time before: of the last 10m, or those after --since or "
        "before --until, from the 10m before them.",
    ),
]
"""Options of the commands that read logs; `window_of` reads them."""
OF_TIME = ("--since", "--until", "--window")


def window_of(since: str | None, until: str | None, compared: str | None = None) -> Window | None:
    """The window of time that the options name, None if they name none. Raises UsageError."""
    if not (since or until or compared):
        return None
    from ncdiag.base.errors import UsageError
    from ncdiag.text import window_of as read

    try:
        return read(since, until, compared)
    except ValueError as error:
        raise UsageError(str(error)) from None


Pid = Annotated[
    int | None,
    typer.Option("--pid", metavar="N", min=1, help="Use the environment and limits of this running process."),
]
AskNccl = Annotated[
    bool | None,
    typer.Option(
        "--ask-nccl/--no-nccl",
        help="Load the installed NCCL and ask which interface it picks (default: yes, unless --pid is given).",
    ),
]
Deltas = Annotated[
    bool, typer.Option("--deltas", help="Read the counters twice, 2 seconds apart, and show the increase.")
]
"""Options shared by the commands that inspect a machine."""


def packs(folders: Iterable[Path] | None) -> tuple[Path, ...]:
    """The folders of private rules: those of the configuration, then those of the command line."""
    from ncdiag.base import config

    return (*config.load().packs(), *(folders or ()))


def application(**settings: Any) -> typer.Typer:  # noqa: ANN401  (typer's own settings)
    """A typer app without features that slow down the start or change text: markup, pretty tracebacks, completion."""
    return typer.Typer(rich_markup_mode=None, pretty_exceptions_enable=False, add_completion=False, **settings)


def shared(command: Callable[..., int]) -> Callable[..., int]:
    """Give a command one command line option for each field of `Options`, in place of its parameter ``options``."""
    hints = typing.get_type_hints(Options, include_extras=True)
    own = [p for p in inspect.signature(command, eval_str=True).parameters.values() if p.name != "options"]
    added = [
        inspect.Parameter(f.name, inspect.Parameter.KEYWORD_ONLY, default=f.default, annotation=hints[f.name])
        for f in dataclasses.fields(Options)
    ]

    @functools.wraps(command)
    def run(**given: Any) -> int:  # noqa: ANN401
        options = Options(**{f.name: given.pop(f.name) for f in dataclasses.fields(Options)})
        return command(**given, options=options)

    parameters = [p.replace(kind=inspect.Parameter.KEYWORD_ONLY) for p in own] + added
    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {p.name: p.annotation for p in parameters}
    del run.__wrapped__  # else typer would use the parameters of ``command``
    return run
