"""The tools: each converts a request to commands, and their output to an answer."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
from anyio import to_thread

from ncdiag.apps.mcp import allowed, answers, asks
from ncdiag.apps.mcp.fit import fitted
from ncdiag.apps.mcp.running import PASTE, Call, Done, Outcome, run
from ncdiag.base.errors import InputError
from ncdiag.report.model import Report
from ncdiag.report.sanitize import clean
from ncdiag.report.text import render

WIDTH = 110


class Settings(NamedTuple):
    """The limits: characters of an incoming text and of an answer, seconds of a call; ``folders`` may be read.

    ``folder`` is a private empty folder of this server.
    """

    folder: Path
    folders: tuple[Path, ...] = ()
    redact: bool = True
    most_in: int = 4 << 20
    most_out: int = 24_000
    seconds: float = 60


class Told(NamedTuple):
    """An answer: as text, and as a structure that conforms to the schema of the tool."""

    text: str
    fields: dict[str, Any]


class Tool(NamedTuple):
    """A tool: the type of its arguments, whose docstring describes it, the type of its answer, and its function."""

    ask: type[asks.Ask]
    answer: type[msgspec.Struct]
    call: Callable[[Any, Settings], Awaitable[Told]]


def tools(settings: Settings) -> dict[str, Tool]:
    """The tools by name; those that read files exist only if a folder is allowed."""
    triage = asks.TriageFiles if settings.folders else asks.Triage
    return {
        "triage": Tool(triage, answers.Diagnosis, _triage),
        "explain": Tool(asks.Explain, answers.Explanation, _explain),
        "predict": Tool(asks.Predict, answers.Choices, _predict),
        "lint": Tool(asks.Lint, answers.Linted, _lint),
        "list_rules": Tool(asks.ListRules, answers.RuleList, _list_rules),
        "show_rule": Tool(asks.ShowRule, answers.RulePage, _show_rule),
    }


def asked(tool: Tool, arguments: object, settings: Settings) -> asks.Ask:
    """The validated arguments. Raises InputError if they violate the schema, or if a text is too long."""
    try:
        ask = msgspec.convert(arguments, tool.ask)
    except msgspec.ValidationError as error:
        msg = f"these arguments are wrong: {error}"
        raise InputError(msg) from error
    length = len(str(getattr(ask, "text", "")))
    if length > settings.most_in:
        msg = (
            f"the text has {length} characters, but the limit is {settings.most_in}; remove the output of other "
            "programs, or run 'ncdiag FILE' in a terminal"
        )
        raise InputError(msg)
    return ask


async def _triage(ask: asks.Triage | asks.TriageFiles, settings: Settings) -> Told:
    named = ask.paths if isinstance(ask, asks.TriageFiles) else []
    if not ask.text and not named:
        msg = "nothing to diagnose: give a text" + (" or paths" if settings.folders else "")
        raise InputError(msg)
    words = ["triage", "--format=json", "--quiet", *_release(ask.nccl)]
    if named:
        paths = await to_thread.run_sync(allowed.files, named, settings.folders, abandon_on_cancel=True)
        if not paths and not ask.text:
            msg = "these paths contain no visible file"
            raise InputError(msg)
        words += [*(["--redact"] if settings.redact else []), "--", *([PASTE] if ask.text else [])]
        found = await run(Call(ask.text, [], None, [words], _named(paths, settings)), settings.folder)
    else:
        found = await _run(ask.text, [], [[*words, PASTE]], settings)
    (done,) = found.done
    fields = _printed(done)
    report = msgspec.convert(fields, Report)
    texts = (render(report, width=WIDTH, detail=detail) for detail in ("whole", "screen", "brief"))
    text = next((text for text in texts if len(text) <= settings.most_out), "")
    return _told(text, {**fields, "redacted": settings.redact}, settings, found.unread)


def _named(paths: Sequence[str], settings: Settings) -> dict[str, str]:
    """The files by their names in the answer, which differ from those of the text and of standard input."""
    names = [allowed.shown(path, settings.folders) for path in paths]
    below = "files/" if any(Path(name).parts[0] in {PASTE, "-"} for name in names) else ""
    return {f"{below}{name}": path for name, path in zip(names, paths, strict=True)}


async def _explain(ask: asks.Explain, settings: Settings) -> Told:
    words: list[str | int] = ["explain", "--quiet", *_release(ask.nccl)]
    commands = [[*words, "--format=json", "--", 0], [*words, "--", 0, *([PASTE] if ask.text else [])]]
    as_json, as_text = (await _run(ask.text, [ask.thing], commands, settings)).done
    fields = _printed(as_json)
    text = as_text.output or as_text.reason
    is_traced = ask.text and any(answer["kind"] == "rule" for answer in fields["answers"])
    return _told(text, {**fields, "trace": text if is_traced else "", "redacted": settings.redact}, settings)


async def _predict(ask: asks.Predict, settings: Settings) -> Told:
    env: list[str | int] = [word for number in range(len(ask.env)) for word in ("--env", number)]
    words = ["predict", "--quiet", *(f"--nccl={each}" for each in ask.nccl), *env]
    commands = [[*words, "--format=json", PASTE], [*words, PASTE]]
    as_json, as_text = (await _run(ask.text, ask.env, commands, settings)).done
    return _told(as_text.output, {**_printed(as_json), "redacted": settings.redact}, settings)


async def _lint(ask: asks.Lint, settings: Settings) -> Told:
    words = ["lint", *_release(ask.nccl), *([f"--as={ask.form}"] if ask.form else [])]
    commands = [[*words, "--format=json", PASTE], [*words, PASTE]]
    as_json, as_text = (await _run(ask.text, [], commands, settings)).done
    return _told(as_text.output, {**_printed(as_json), "redacted": settings.redact}, settings)


async def _list_rules(ask: asks.ListRules, settings: Settings) -> Told:
    (done,) = (await run(Call("", [], None, [["rules", "list", "--format=json"]]), settings.folder)).done
    wanted = ask.words.lower().split()
    held = [
        rule for rule in _printed(done)["rules"]
        if all(word in f"{rule['code']} {rule['area']} {rule['name']} {rule['title']}".lower() for word in wanted)
    ]  # fmt: skip
    text = "".join(f"{rule['code']} {rule['severity']} {rule['name']}: {rule['title']}\n" for rule in held)
    if len(text) > settings.most_out:
        text = "".join(f"{rule['code']} {rule['name']}\n" for rule in held)
    return _told(text, {"rules": held, "count": len(held)}, settings)


async def _show_rule(ask: asks.ShowRule, settings: Settings) -> Told:
    commands = [["rules", "show", "--", ask.rule], ["explain", "--format=json", "--", ask.rule]]
    page, fields = (await run(Call("", [], None, commands), settings.folder)).done
    if not page.output:
        raise InputError(page.reason)
    return _told(page.output, {"fields": _printed(fields)["answers"][0], "page": page.output}, settings)


def _release(release: str | None) -> list[str]:
    return [] if release is None else [f"--nccl={release}"]


async def _run(
    text: str, beside: Sequence[str], commands: Sequence[Sequence[str | int]], settings: Settings
) -> Outcome:
    """Run commands on the text, which is redacted unless the server was started with --no-redact.

    The stand-ins are kept while the server runs, so that a name has the same stand-in in all calls.
    """
    names = str(settings.folder / "names.json") if settings.redact else None
    return await run(Call(text, beside, names, commands), settings.folder)


def _printed(done: Done) -> dict[str, Any]:
    """The JSON output of a command. Raises InputError with its error message if there is none."""
    try:
        found: dict[str, Any] = json.loads(done.output)
    except ValueError as error:
        raise InputError(done.reason or "nothing in this text was recognised") from error
    return found


def _told(text: str, fields: dict[str, Any], settings: Settings, unread: Sequence[str] = ()) -> Told:
    """An answer within the limits, without invisible characters and terminal escapes."""
    kept, cut = fitted(_clean(fields), settings.most_out)
    left_out = [*unread, *cut]
    text = clean(text)
    if len(text) > settings.most_out:
        text = f"{text[: settings.most_out].rpartition(chr(10))[0]}\n... the rest of this text is omitted\n"
    told = "".join(f"Not in the structured answer: {sentence}\n" for sentence in left_out)
    return Told(f"{text}{told}", {**kept, "left_out": left_out})


def _clean(value: Any) -> Any:  # noqa: ANN401  (JSON values)
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, list):
        return [_clean(item) for item in value]
    return {clean(name): _clean(held) for name, held in value.items()} if isinstance(value, dict) else value
