"""The command line: finds the commands in ``ncdiag/commands``, runs one, and reports errors as one sentence.

A command is a module with a ``typer`` app; it is imported only when it is called, and imports its dependencies only
when it runs. Exit codes: 0 nothing at or above ``--fail-on``, 1 findings, 2 usage, 3 nothing understood, 4 output
cannot be written, 5 internal error, 130 interrupted, 141 closed pipe.
"""

from __future__ import annotations

import atexit
import gc
import itertools
import os
import pkgutil
import sys
from collections.abc import Sequence
from typing import Annotated, Any

import typer
import typer.core

from ncdiag import commands
from ncdiag.base.errors import CLOSED_PIPE, INTERNAL, INTERRUPTED, DefinitionError, NcdiagError
from ncdiag.base.version import __version__
from ncdiag.commands._arguments import meant, wants_state, wants_status_line
from ncdiag.commands._examples import FIRST, described, examples
from ncdiag.commands._options import application
from ncdiag.commands._output import say, unknown, write
from ncdiag.language import ENGLISH, from_environment, is_english, speak, speaking


class Commands(typer.core.TyperGroup):
    """The commands, each imported from ``ncdiag.commands`` on first use."""

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ANN401, ARG002  (typer's signature)
        """Names of all commands."""
        return command_names()

    def get_command(self, ctx: Any, cmd_name: str) -> Any:  # noqa: ANN401, ARG002
        """The command with that name, or None."""
        if cmd_name not in command_names():
            return None
        import importlib

        command = typer.main.get_command(importlib.import_module(f"{commands.__name__}.{cmd_name}").app)
        command.name = cmd_name
        return described(command, cmd_name)


def command_names() -> list[str]:
    """The modules of ``ncdiag.commands`` except those whose name begins with an underscore."""
    return sorted(m.name for m in pkgutil.iter_modules(commands.__path__) if not m.name.startswith("_"))


app = application(
    cls=Commands,
    no_args_is_help=True,
    name="ncdiag",
    help="Find the root cause of an NCCL failure. 'ncdiag FILE' is short for 'ncdiag triage FILE'.",
    epilog=examples(
        "ncdiag my.log                       # a log, a paste, a bundle, a folder",
        "kubectl logs trainer-0 | ncdiag     # the output of any command",
        "ncdiag check                        # this host",
        "ncdiag explain NCCL_IB_GID_INDEX    # a variable, log line, code or rule",
        "ncdiag help lint                    # the options of one command",
        'eval "$(ncdiag completion bash)"    # shell completion; also zsh and fish',
    ),
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(wanted: bool) -> None:  # noqa: FBT001  (typer's callback)
    if wanted:
        write(f"ncdiag {__version__}\n", None)
        raise typer.Exit


@app.callback()
def options(
    *,
    version: Annotated[
        bool, typer.Option("--version", "-V", callback=_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    """Parse the options before the command."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command line and return its exit code; errors are printed as one sentence, never raised.

    Without ``argv`` the arguments of the process are used, and process-wide settings are changed.
    """
    if argv is None:
        _without_collector()
    arguments = list(sys.argv[1:] if argv is None else argv)
    with speaking(ENGLISH):  # the language that a command chooses, also for its errors, is reset afterwards
        return _run(arguments)


def _run(arguments: list[str]) -> int:
    completing = _COMPLETING in os.environ
    try:
        if completing:
            _register_shells()
        else:
            arguments = meant(arguments, command_names())
        code = typer.main.get_command(app).main(arguments, prog_name="ncdiag", standalone_mode=False)
    except KeyboardInterrupt:
        return _unknown("interrupted", arguments) if wants_state(arguments) else INTERRUPTED
    except SystemExit as ended:  # shell completion has ended, or typer met a closed pipe while it printed help
        return int(ended.code or 0) if completing else _hush()
    except Exception as error:  # noqa: BLE001  (the last line of defence: no traceback for the user)
        return _failed(error, arguments)
    return code if isinstance(code, int) else 0


_NAME = "ncdiag"
_COMPLETING = "_NCDIAG_COMPLETE"
"""The variable by which a shell requests completions of a word (`ncdiag.commands.completion`)."""


def _register_shells() -> None:
    from typer._completion_classes import completion_init  # typer calls it only for its own option

    completion_init()


def _without_collector() -> None:
    """Switch off the cyclic garbage collector: facts and rules have no cycles; it takes up to a third of the time."""
    gc.disable()
    atexit.register(gc.freeze)  # else the interpreter would collect once more at exit


def _failed(error: Exception, arguments: Sequence[str]) -> int:
    """Print an error as one sentence and return the exit code; for a monitoring plugin that of UNKNOWN."""
    if os.environ.get("NCDIAG_DEBUG") == "1":
        import traceback

        traceback.print_exception(error)
    if isinstance(error, BrokenPipeError):
        return _hush()
    if wants_state(arguments):
        usage = getattr(error, "format_message", None)
        return _unknown(usage() if usage else str(error), arguments)
    if is_english():
        speak(_language(arguments))
    if isinstance(error, NcdiagError):
        say(str(error), lines=isinstance(error, DefinitionError))
        return error.exit_code
    usage = getattr(error, "format_message", None)  # typer's own errors; their class moved between releases
    if usage is not None:
        command = getattr(getattr(error, "ctx", None), "command_path", None) or _command(arguments)
        if not usage():
            say(f"no arguments given; '{command} --help' lists the options")
        elif type(error).__name__ == "NoArgsIsHelpError":
            sys.stderr.write(FIRST if command == _NAME else usage() + "\n")
        else:
            say(f"{' '.join(usage().split()).rstrip('.')} (see '{command} --help')")
        return int(getattr(error, "exit_code", 2))
    say(f"internal error: {type(error).__name__}: {error}; please report it (NCDIAG_DEBUG=1 prints the traceback)")
    return INTERNAL


def _command(arguments: Sequence[str]) -> str:
    """The command of a line whose options could not be parsed: typer does not report it in that case."""
    return f"ncdiag {arguments[0]}" if arguments and arguments[0] in command_names() else "ncdiag"


def _language(arguments: Sequence[str]) -> str:
    """The language for errors before a command sets its language: that of ``--lang``, else that of the locale."""
    asked = [word.partition("=")[2] or following for word, following in itertools.pairwise([*arguments, ""])
             if word == "--lang" or word.startswith("--lang=")]  # fmt: skip
    return asked[-1] if asked else from_environment()


def _unknown(sentence: str, arguments: Sequence[str]) -> int:
    return unknown(sentence, in_line=wants_status_line(arguments))


def _hush() -> int:
    """The reader closed the pipe: keep the interpreter from reporting an error when it flushes at exit."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.close(nowhere)
    return CLOSED_PIPE
