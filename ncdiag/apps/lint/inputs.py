"""Inputs of lint: files, folders, standard input, a command line, the environment of a process."""

from __future__ import annotations

import re
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path

from ncdiag.apps.lint import forms, mentions, pages
from ncdiag.apps.lint.model import Document, Form
from ncdiag.base.errors import InputError
from ncdiag.base.patterns import lazy_regex
from ncdiag.formats.shell import is_secret

_BINARY = "\x00"
_KNOWN = "the file types that lint reads (choose one with --as FORM)"
_PROSE = (".md", ".rst", ".txt", ".log", ".html")
_SENTENCE = lazy_regex(r"(?m)^\s*(?:[A-Za-z,'-]+ ){4,}[a-z]+[.,:]?\s*$")


def opened(names: Sequence[str], form: Form | None) -> tuple[list[Document], list[str]]:
    """(documents of files, folders and ``-``; notes on what was not read).

    Raises InputError if a file that was named cannot be read. Files of a folder with an unknown form are skipped
    without a note unless they set variables of NCCL.
    """
    documents: list[Document] = []
    notes: list[str] = []
    for name in names:
        path = Path(name)
        if name != "-" and path.is_dir():
            for each in forms.files_of(path):
                text = _text(each)
                if text is not None:
                    found = _document(str(each), text, form)
                    documents += found
                    notes += [] if found else _passed_over(str(each), text)
            continue
        text = (
            sys.stdin.buffer.read(forms.SIZE_LIMIT).decode("utf-8", "surrogateescape") if name == "-" else _named(path)
        )
        found = _document(name, text, form) or ([] if _BINARY in text else pages.documents(_source(name), text))
        if not found:
            notes += _passed_over(name, text) or [_nothing(name, text)]
        elif found[0].is_excerpt:
            notes.append(
                f"{name}: only the commands and settings in this text were checked; 'ncdiag triage' reads the rest"
            )
        documents += found
    notes += [f"{each.source}: {each.problem}, and its settings were not read" for each in documents if each.problem]
    return documents, notes


def _source(name: str) -> str:
    return "<stdin>" if name == "-" else name


def _nothing(name: str, text: str) -> str:
    """The note on a file that was named and has nothing for lint."""
    if _BINARY not in text and (name.endswith(_PROSE) or _SENTENCE.search(text)):
        return f"{name}: a text without launch commands or NCCL settings; 'ncdiag triage {name}' reads logs and reports"
    return f"{name}: no settings or launch commands found; expected {_KNOWN}"


def _passed_over(name: str, text: str) -> list[str]:
    """The note on a file of unknown form that sets variables of NCCL; none for texts for people."""
    lines = () if name.endswith(_PROSE) or _BINARY in text else mentions.unread(text, ())
    return [f"{name}: {mentions.spoken(lines)}: the file is not one of {_KNOWN}"] if lines else []


def _document(name: str, text: str, form: Form | None) -> list[Document]:
    if _BINARY in text:
        return []
    known = form or forms.form_of(name, text)
    return [forms.read(_source(name), text, known)] if known else []


def _text(path: Path) -> str | None:
    """The text of a file of a folder; None if it is too large, binary or unreadable."""
    try:
        if not path.is_file() or path.stat().st_size > forms.SIZE_LIMIT:
            return None
        return path.read_bytes().decode("utf-8", "surrogateescape")
    except OSError:
        return None


def _named(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return file.read(forms.SIZE_LIMIT).decode("utf-8", "surrogateescape")
    except OSError as error:
        msg = f"cannot read {path}: {error.strerror or error}"
        raise InputError(msg) from error


def command(words: Sequence[str]) -> Document:
    """A command line as split by the shell; a single word with blanks is a whole quoted line."""
    text = (
        words[0]
        if len(words) == 1
        else " ".join(word if re.fullmatch(r"[\w@%+=:,./^~*!{}\[\]-]+", word) else shlex.quote(word) for word in words)
    )
    return forms.read("<command>", text + "\n", "shell")


def process(pid: int) -> list[Document]:
    """The environment of a process, and the nccl.conf that it would read, without secrets.

    Raises InputError if the process does not exist or cannot be read, or without /proc (only Linux has it).
    """
    root = Path("/proc", str(pid))
    try:
        raw = (root / "environ").read_bytes()[: forms.SIZE_LIMIT]
    except OSError as error:
        reason = "this system has no /proc" if not Path("/proc/self").exists() else error.strerror or str(error)
        msg = f"cannot read the environment of process {pid}: {reason}"
        raise InputError(msg) from error
    pairs = raw.decode("utf-8", "surrogateescape").split("\x00")
    kept = [pair.replace("\n", "\\n") for pair in pairs if "=" in pair and not is_secret(pair.partition("=")[0])]
    documents = [forms.read(f"process {pid}", "\n".join(kept) + "\n", "process")]
    for name in ("root/etc/nccl.conf",):
        text = _text(root / name)
        if text:
            documents.append(forms.read(f"/proc/{pid}/{name}", text, "conf"))
    return documents
