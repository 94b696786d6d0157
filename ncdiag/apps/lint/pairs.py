"""Extract settings from the words of a shell command: assignments, and options that set variables.

Sources: Open MPI mpirun(1) (-x), MPICH hydra (-genv, -env), Slurm srun(1) (--export), docker run (-e, --env),
env(1), sudo(8).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from ncdiag.apps.lint.findings import finding
from ncdiag.apps.lint.model import Document, Edit, Place, Setting
from ncdiag.apps.lint.vocabulary import is_setting
from ncdiag.apps.lint.words import Word
from ncdiag.base.patterns import lazy_regex

ASSIGNMENT = lazy_regex(r"(?P<name>[A-Za-z_]\w{0,120})\+?=(?P<value>.*)", re.DOTALL)
_WRITTEN = lazy_regex(r"[A-Za-z_]\w*\+?=")
_NAME = lazy_regex(r"\w+")
_DEFAULT = lazy_regex(r"\"?\$\{\w{1,120}:?[-=](?P<value>[^$`{}\"'\\\r\n]+)\}\"?")
_ASSIGNING = lazy_regex(r"\"?\$\{(?P<name>[A-Za-z_]\w{0,120}):?=(?P<value>[^$`{}\"'\\\r\n]+)\}\"?")
_CONTINUED = lazy_regex(r"\\\r?\n")
_LISTED = lazy_regex(r"(?:^|,)([A-Za-z_]\w*)=([^,]*)")
_CUT = lazy_regex(r"\b([A-Z][A-Z0-9_]*)=([^,=]+(?:,(?![A-Z][A-Z0-9_]*(?:,|$)|[A-Za-z_]\w*=)[^,=]+)+)")
"""A value with commas that are not followed by the name of a variable."""
_TAKES_PAIR = {"-x", "-e", "--env", "-env", "--environment"}
_TAKES_TWO = {"-genv", "-env", "--genv"}
_FORWARDS = {"-x", "-e", "--env"}
_OTHERS = {"echo", "printf", "sed", "grep", "egrep", "perl", "awk", "ssh", "cmake", "make"}
"""Programs whose -e and -x do not set variables."""


def default_of(text: str) -> str | None:
    """The default in ``${NAME:-VALUE}``; None for other texts and an empty default."""
    found = _DEFAULT.fullmatch(text)
    return found["value"] if found else None


def default(document: Document, word: Word, group: int) -> Setting | None:
    """``${NAME:=VALUE}``, which assigns the value if the variable has none; None for other words."""
    found = _ASSIGNING.fullmatch(document.text, word.at.start, word.at.end)
    if found is None:
        return None
    return Setting(
        name=found["name"], value=found["value"], name_at=Place(found.start("name"), found.end("name")), group=group,
        value_at=Place(found.start("value"), found.end("value")), quoting="bare",
    )  # fmt: skip


def assigned(document: Document, word: Word, group: int) -> Setting | None:
    """``NAME=VALUE`` as a separate word; None for other words."""
    if not ASSIGNMENT.match(word.raw) or not _WRITTEN.match(document.text, word.at.start, word.at.end):
        return None
    return _setting(document, word, word.at.start, Edit(word.at.start, word.at.end, ""), group)


def optional(document: Document, words: Sequence[Word], group: int) -> Iterator[Setting]:
    """Variables set by options and wrappers: ``-x A=1``, ``--env=A=1``, ``-genv A 1``, ``--export=ALL,A=1``.

    A name that is passed on without a value (``-x NAME``) is a setting without a value.
    """
    name = words[0].raw.rsplit("/", 1)[-1]
    if name in _OTHERS:
        return
    for number, word in enumerate(words):
        if (number == 0 and name == "sudo") or word.raw.rsplit("/", 1)[-1] == "env":
            yield from _wrapped(document, words[number:], group)
    for number, word in enumerate(words[1:], start=1):
        before = words[number - 1]
        removal = Edit(before.at.start, word.at.end, "")
        if before.raw in _FORWARDS and is_setting(word.raw):
            yield _named(document, word, word, removal, group)
        elif before.raw in _TAKES_PAIR and ASSIGNMENT.match(word.raw):
            yield from _one_or_more(document, word, removal, group, listed=name == "torchx")
        elif before.raw in _TAKES_TWO and number + 1 < len(words) and is_setting(word.raw):
            value = words[number + 1]
            yield _named(document, word, value, Edit(before.at.start, value.at.end, ""), group)
        elif word.raw.startswith(("--env=", "-e=")) and ASSIGNMENT.match(word.raw.partition("=")[2]):
            start = document.text.find("=", word.at.start) + 1
            yield _setting(document, word, start, Edit(word.at.start, word.at.end, ""), group)
        elif word.raw.startswith("--export=") or before.raw == "--export":
            yield from _listed(document, word, group)


def _one_or_more(document: Document, word: Word, removal: Edit, group: int, *, listed: bool) -> Iterator[Setting]:
    """``A=1``; torchx takes ``A=1,B=2``."""
    if listed:
        yield from _pairs(document, word, group)
    else:
        yield _setting(document, word, word.at.start, removal, group)


def _wrapped(document: Document, words: Sequence[Word], group: int) -> Iterator[Setting]:
    """The assignments between ``env`` or ``sudo`` and the program."""
    for word in words[1:]:
        found = assigned(document, word, group)
        if found is not None:
            yield found
        elif not word.raw.startswith("-"):
            return


def _named(document: Document, name: Word, value: Word, removal: Edit, group: int) -> Setting:
    """A name and its value as two words; if both are the same word, a name without a value."""
    forwarded = name is value
    return Setting(
        name=name.raw, value=None if forwarded else value.text, name_at=name.at, value_at=value.at, group=group,
        quoting="none" if forwarded else "shell", removal=grown(document.text, removal),
    )  # fmt: skip


def _listed(document: Document, word: Word, group: int) -> Iterator[Setting]:
    """``--export=ALL,A=1,B=2``: a comma ends a value unless srun sees quotes (find_quote_token in Slurm's srun)."""
    yield from _pairs(document, word, group)
    written = document.text[word.at.start : word.at.end]
    if word.text is None or set("'\"\\") & set(written):
        return
    cut = [found for found in _CUT.finditer(written) if is_setting(found[1])]
    if cut:
        mended = _CUT.sub(lambda found: f"{found[1]}='{found[2]}'" if is_setting(found[1]) else found[0], written)
        document.found.append(
            finding("value-cut-at-comma", Place(word.at.start + cut[0].start(), word.at.start + cut[0].end()),
                    variable=cut[0][1], what=f"--export ends the value of {cut[0][1]} at the first comma",
                    edits=(Edit(word.at.start, word.at.end, f'"{mended}"'),), fixable=True)
        )  # fmt: skip


def _pairs(document: Document, word: Word, group: int) -> Iterator[Setting]:
    """The settings of a comma-separated list, after ``--export=`` or alone."""
    written = document.text[word.at.start : word.at.end]
    if word.text is None or set("'\"\\") & set(written):
        return
    start = written.find("=") + 1 if written.startswith("--export=") else 0
    offset = word.at.start + start
    for found in _LISTED.finditer(written[start:]):
        yield Setting(
            name=found[1], value=found[2], group=group,
            name_at=Place(offset + found.start(1), offset + found.end(1)),
            value_at=Place(offset + found.start(2), offset + found.end(2)),
            removal=Edit(offset + found.start(), offset + found.end(), "") if found.start() else None,
        )  # fmt: skip


def _setting(document: Document, word: Word, start: int, removal: Edit, group: int) -> Setting:
    """The setting ``NAME=VALUE`` that begins at ``start`` within a word; a quote may come before the name."""
    text = document.text
    shift = 1 if text[start] in "'\"" else 0
    name = _NAME.match(text, start + shift)
    end_of_name = name.end() if name else start
    stop = word.at.end - shift
    value = word.text.partition("=")[2] if word.text is not None else None
    if value is not None and word.raw.startswith(("--env=", "-e=")):
        value = value.partition("=")[2]
    place = Place(min(text.find("=", end_of_name, word.at.end) + 1 or stop, stop), stop)
    default = _DEFAULT.match(text, place.start, place.end) if value is None else None
    if default is not None and name and default.end() == place.end:
        return Setting(
            name=name[0], value=default["value"], name_at=Place(start + shift, end_of_name), group=group,
            value_at=Place(default.start("value"), default.end("value")), removal=grown(text, removal), quoting="bare",
        )  # fmt: skip
    return Setting(
        name=name[0] if name else "", value=value, name_at=Place(start + shift, end_of_name), group=group,
        value_at=place, removal=grown(text, removal), quoting="none" if shift else "shell",
    )  # fmt: skip


def grown(text: str, edit: Edit) -> Edit:
    """The removal extended by the following blanks, or to the whole line if only its continuation mark is left."""
    start, end = edit.start, edit.end
    while text[end : end + 1] in {" ", "\t"}:
        end += 1
    begin = start
    while begin and text[begin - 1] in " \t":
        begin -= 1
    alone = begin == 0 or text[begin - 1] == "\n"
    continued = _CONTINUED.match(text, end)
    if alone and continued and begin:
        return Edit(begin, continued.end(), "")
    at_end = text[end : end + 1] in {"", "\n", "\r"}
    return Edit(begin if at_end and not alone else start, end, "")
