"""Dockerfiles: ENV, what RUN exports (without effect) or writes to an nccl.conf, what CMD starts, the image of FROM.

Format: Dockerfile reference (docs.docker.com/reference/dockerfile).
"""

from __future__ import annotations

import re

from ncdiag.apps.lint import pairs, shell
from ncdiag.apps.lint.findings import finding
from ncdiag.apps.lint.model import Document, Edit, Place, Setting
from ncdiag.apps.lint.words import Word, commands
from ncdiag.base.patterns import lazy_regex
from ncdiag.nccl import environment

_INSTRUCTION = lazy_regex(r"(?m)^[ \t]*(?P<verb>[A-Za-z]{3,11})[ \t]+(?=\S)")
_END = lazy_regex(r"(?<!\\)\r?\n")
_HEREDOC = lazy_regex(r"<<-?[\"']?(\w+)[\"']?")
_PAIR = lazy_regex(r"(?P<name>[A-Za-z_]\w{0,120})=")


def read(document: Document) -> None:
    """Parse the instructions; each RUN is a separate shell."""
    text = document.text
    position, group = 0, 0
    while found := _INSTRUCTION.search(text, position):
        end = _end(text, found.end())
        verb = found["verb"].upper()
        body = Place(found.end(), end)
        if verb == "FROM":
            document.images += [word for word in text[body.start : end].split()[:3] if not word.startswith("--")][:1]
        elif verb == "ENV":
            _env(document, Place(found.start(), end), body)
        elif verb == "RUN":
            group += 1
            _run(document, body, group)
        elif verb in {"CMD", "ENTRYPOINT"} and not text[body.start : end].lstrip().startswith("["):
            shell.read(document, body, 0)
        position = max(end, found.end())


def _end(text: str, start: int) -> int:
    """The end of an instruction: the first line end without backslash or comment, or the end of heredocs."""
    position = start
    while True:
        found = _END.search(text, position)
        end = found.start() if found else len(text)
        line = text[text.rfind("\n", 0, end) + 1 : end]
        if found is None or not line.lstrip().startswith("#"):
            break
        position = found.end()
    mark = _HEREDOC.search(text, start, end)
    if mark:
        close = re.compile(rf"(?m)^[ \t]*{re.escape(mark[1])}[ \t]*\r?$").search(text, end)
        return close.end() if close else end
    return end


def _env(document: Document, whole: Place, body: Place) -> None:
    text = document.text
    words = [word for command in commands(text, body.start, body.end) for word in command.words]
    settings = [word for word in words if _PAIR.match(text, word.at.start)]
    line_end = min(whole.end + 1, len(text))
    if not words:
        return
    if words[0] not in settings:  # the old form, ENV NAME VALUE: the rest of the line is the value
        at = Place(words[1].at.start, whole.end) if len(words) > 1 else Place(whole.end, whole.end)
        value = text[at.start : at.end].rstrip("\r")
        document.settings.append(
            Setting(
                name=words[0].raw, value=None if "$" in value else value, name_at=words[0].at, value_at=at,
                removal=Edit(whole.start, line_end, ""), quoting="raw", reaches="all",
            )
        )  # fmt: skip
        return
    for word in settings:
        document.settings.append(_pair(text, word, Edit(whole.start, line_end, "") if len(settings) == 1 else None))


def _pair(text: str, word: Word, whole: Edit | None) -> Setting:
    found = _PAIR.match(text, word.at.start)
    split = found.end() if found else word.at.end
    removal = whole or pairs.grown(text, Edit(word.at.start, word.at.end, ""))
    return Setting(
        name=word.raw.partition("=")[0], value=word.text.partition("=")[2] if word.text is not None else None,
        name_at=Place(word.at.start, split - 1), value_at=Place(split, word.at.end), removal=removal, reaches="all",
    )  # fmt: skip


def _run(document: Document, body: Place, group: int) -> None:
    before = len(document.settings)
    launches = len(document.launches)
    shell.read(document, body, group)
    if len(document.launches) > launches:
        return
    for setting in document.settings[before:]:
        exported = setting.group == group and setting.reaches == "local" and setting.name.startswith("NCCL_")
        if exported and not _serves(document, setting, body):
            document.found.append(finding("run-export-lost", setting.name_at, variable=setting.name))


def _serves(document: Document, setting: Setting, body: Place) -> bool:
    """True if an export is for the commands after it in the same RUN, such as those of a build."""
    known = environment.variables().get(setting.name)
    if known is not None and known.owner != "contrib":
        return False
    return re.search(r"&&|;|\n", document.text[setting.value_at.end : body.end]) is not None
