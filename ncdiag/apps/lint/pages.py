"""Pages for people: each command, setting and file in them as a document, at its place in the page.

A fenced block (CommonMark 0.31, section 4.5) is parsed in the form that its info string or its content shows; outside
of fences, commands that start a job or set a variable are parsed, with their continuation lines.
"""

from __future__ import annotations

from collections.abc import Iterator

from ncdiag.apps.lint import forms
from ncdiag.apps.lint.model import Document, Form
from ncdiag.apps.lint.vocabulary import is_setting
from ncdiag.base.patterns import lazy_regex
from ncdiag.parsers import launch as launch_parser

_FENCE = lazy_regex(r"[ \t>]{0,12}(?P<fence>`{3,20}|~{3,20})[ \t]*(?P<info>[\w.+-]{0,30})[^`\n]*$")
_PROMPT = lazy_regex(r"[ \t>]{0,12}(?:[\w.@-]{1,60}(?::[\w~/.-]{0,80})?)?[$#%][ \t]+")
_LAUNCH = lazy_regex(launch_parser.ANCHOR)
_SHELL = ("sh", "bash", "zsh", "shell", "console", "shell-session", "shellsession", "sh-session", "terminal")
_INFO: dict[str, str] = {
    **dict.fromkeys(_SHELL, "-"),
    "yaml": "x.yaml", "yml": "x.yaml", "dockerfile": "Dockerfile", "docker": "Dockerfile", "json": "x.json",
    "jsonc": "x.json", "toml": "x.toml", "python": "x.py", "py": "x.py", "env": ".env", "dotenv": ".env",
}  # fmt: skip
"""File names for the languages of fences."""
_OPTION = lazy_regex(r"\s*-{1,2}\w|.*\\\s*$|\s+\S*/\w+_perf\b")
"""What may follow an empty line within a command: an option, a continuation, a program of nccl-tests."""
_EMPTY = -1
_LIMIT = 50
"""Maximum number of documents of one page."""


def documents(source: str, text: str) -> list[Document]:
    """The parts of the page that lint can parse."""
    rows = text[: forms.SIZE_LIMIT].split("\n")
    found: list[Document] = []
    for name, lines in _pieces(rows):
        excerpt = _only(rows, lines)
        form = _form(name, excerpt.strip("\n"))
        document = forms.read(source, excerpt, form) if form is not None else None
        if document is not None and (document.settings or document.launches or document.found or document.unread):
            document.is_excerpt = True
            found.append(document)
        if len(found) == _LIMIT:
            break
    return found


def _form(name: str, text: str) -> Form | None:
    form = forms.form_of(name, text)
    return "shell" if form is None and name == "-" else form


def _only(rows: list[str], lines: dict[int, int]) -> str:
    """These lines at their places, each from the given column on; other lines are empty."""
    first, last = min(lines), max(lines)
    kept = [_row(rows[at], lines.get(at)) for at in range(first, last + 1)]
    return "\n" * first + "\n".join([*kept, ""])


def _row(row: str, inset: int | None) -> str:
    if inset is None:
        return ""
    return "\\" if inset == _EMPTY else " " * inset + row[inset:]


def _pieces(lines: list[str]) -> Iterator[tuple[str, dict[int, int]]]:
    """(file name of the same form, lines) of each block of the page."""
    number = start = 0
    while number < len(lines):
        fence = _FENCE.match(lines[number])
        if not fence:
            number += 1
            continue
        yield from _commands(lines, start, number)
        end = _end(lines, number, fence["fence"])
        name = _INFO.get(fence["info"].lower(), "" if fence["info"] else "-")
        if name and end > number + 1:
            yield name, {at: _prompt(lines[at]) if name == "-" else 0 for at in range(number + 1, end)}
        else:
            yield from _commands(lines, number + 1, end)
        number = start = end + 1
    yield from _commands(lines, start, len(lines))


def _commands(lines: list[str], start: int, end: int) -> Iterator[tuple[str, dict[int, int]]]:
    """The commands among lines of prose; adjacent ones are one script."""
    number = start
    while number < end:
        piece: dict[int, int] = {}
        while number < end and _is_command(lines[number]):
            piece[number] = _prompt(lines[number])
            number += 1
            while number < end and _goes_on(lines, piece, number):
                piece[number] = 0 if lines[number].strip() else _EMPTY
                number += 1
        if piece:
            yield "-", piece
        else:
            number += 1


def _goes_on(lines: list[str], piece: dict[int, int], number: int) -> bool:
    """True if a line continues the previous command; pages may have empty lines within a command."""
    before = number - 1
    if piece[before] == _EMPTY:
        return _OPTION.match(lines[number]) is not None
    following = lines[number + 1] if number + 1 < len(lines) else ""
    return lines[before].rstrip().endswith("\\") and (lines[number].strip() != "" or bool(_OPTION.match(following)))


def _end(lines: list[str], start: int, fence: str) -> int:
    """The index of the line that closes a fence, or of the end of the page."""
    for number in range(start + 1, len(lines)):
        text = lines[number].strip(" \t>\r")
        if len(text) >= len(fence) and not text.strip(fence[0]):
            return number
    return len(lines)


def _prompt(line: str) -> int:
    """The width of a prompt in columns."""
    found = _PROMPT.match(line)
    return found.end() if found and _starts(line[found.end() :]) else 0


def _is_command(line: str) -> bool:
    found = _PROMPT.match(line)
    return _starts(line[found.end() :] if found else line)


def _starts(line: str) -> bool:
    """True if a line starts a job or sets a variable that lint knows."""
    return _LAUNCH.match(line) is not None or is_setting(forms.named_in(line))
