"""Determine the form of a file by its name and content, and parse it."""

from __future__ import annotations

import itertools
import os
import re
from collections.abc import Iterator
from pathlib import Path

from ncdiag.apps.lint import dockerfile, lines, manifests, masks, mentions, python, quoted, shell, tables
from ncdiag.apps.lint.model import Document, Form, Place
from ncdiag.apps.lint.releases import release_of
from ncdiag.apps.lint.vocabulary import is_setting
from ncdiag.base.patterns import lazy_regex
from ncdiag.parsers import launch as launch_parser

SIZE_LIMIT = 1 << 20
"""Maximum number of characters of a file."""
SETTINGS_LIMIT = 2000

_NAMES: tuple[tuple[re.Pattern[str], Form], ...] = (
    (lazy_regex(r"(?i)(?:Dockerfile|Containerfile)(?:[._-].*)?$|.*\.(?:dockerfile|containerfile)$"), "dockerfile"),
    (lazy_regex(r"(?:docker-)?compose[\w.-]*\.ya?ml$"), "compose"),
    (lazy_regex(r"(?i).*\.(?:sh|bash|ksh|zsh|sbatch|slurm|slrm|pbs|lsf|bsub|job|csh)$"), "shell"),
    (lazy_regex(r"\.?nccl(?!_tuner)[\w.-]*\.conf$"), "conf"),
    (lazy_regex(r"\.env(?:\..*)?$|.*\.env$"), "env"),
    (lazy_regex(r"(?i)(?:hostfile|hostsfile|machinefile)(?:\..*)?$|.*[._-]hostfile$"), "hostfile"),
    (lazy_regex(r"(?i).*(?:rank_?table|hccl)[\w.-]*\.json$"), "ranktable"),
)
_PYTHON = lazy_regex(r"#!\s*\S*(?:python|env\s+python)[\d.]*\b")
_QUOTED_NAME = lazy_regex(r"[\"']((?:[A-Z]{1,12}_)+[A-Z][A-Z0-9_]*)(?=[\"'=])")
_BARE_NAME = lazy_regex(r"\b((?:[A-Z]{1,12}_)+[A-Z][A-Z0-9_]*)(?=[ \t]*=)")
_STARTER = lazy_regex(
    r"[\"'](?:torchrun|torch\.distributed\.(?:run|launch)|mpirun|mpiexec|srun|deepspeed|accelerate|horovodrun)[\"'\s]"
)
_OBJECT = lazy_regex(r"\s{0,400}(?:\[\s{0,400})?\{\s{0,400}(?:\"|//|/\*)")
_DATA = (".py", ".pyw", ".toml", ".json", ".jsonc", ".ipynb")
_MENTIONS = 2000
"""Maximum number of names in a program or data that are checked before it is skipped."""
_SHEBANG = lazy_regex(r"#!\s*\S*(?:sh|env\s+(?:ba|z|k)?sh)\b")
_BATCH = lazy_regex(r"(?m)^#(?:SBATCH|PBS|BSUB)\s")
_FROM = lazy_regex(r"(?im)^FROM[ \t]+[\w./:$@{}-]+(?:[ \t]+AS[ \t]+\w+)?[ \t]*\r?$")
_MANIFEST = lazy_regex(r"(?m)^(?:- )?apiVersion:[ \t]+\S")
_COMPOSE = lazy_regex(r"(?m)^services:[ \t]*\r?$")
_PAIR = lazy_regex(
    r"\s*(?:(?:export\s+)?(?P<name>[A-Za-z_]\w*)=|setenv\s+(?P<set>[A-Za-z_]\w*)\s"
    r"|:\s+\"?\$\{(?P<default>[A-Za-z_]\w*):?=|(?:export|unset)\s+[A-Za-z_][\w \t]*$)"
)
_STATEMENT = lazy_regex(
    r"(?m)^\s*(?::\s|(?:unset|export|declare\s+-x|setenv|if|for|then|fi|done|source|cd|set)\b)|[;|&`]|\$\("
)
_LAUNCH = lazy_regex(rf"(?m)^(?:{launch_parser.ANCHOR})")
_SKIPPED_FOLDERS = {".git", ".venv", "venv", "node_modules", "__pycache__", ".hg", ".svn", ".tox", "site-packages"}
_FILES = 5000


def form_of(name: str, text: str) -> Form | None:
    """The form of a file; None if lint does not handle such files. ``name`` may be ``-``."""
    base = os.path.basename(name)  # noqa: PTH119  (names of another system's files too)
    for pattern, form in _NAMES:
        if pattern.match(base):
            return "shell" if form == "env" and re.search(r"(?m)^\s*export\s", text) else form
    data = _of_data(base, text)
    if data is not None or base.endswith(_DATA):
        return data
    head = text[:65536]
    if _SHEBANG.match(text) or _BATCH.search(head):
        return "shell"
    if base.endswith((".yaml", ".yml")) or _MANIFEST.search(head) or _COMPOSE.search(head):
        return "compose" if _COMPOSE.search(head) and not _MANIFEST.search(head) else "kubernetes"
    if _FROM.search(head) and re.search(r"(?im)^(?:RUN|ENV|CMD|COPY|ENTRYPOINT|WORKDIR|ARG)\s", head):
        return "dockerfile"
    return _plain(base, head)


def _of_data(base: str, text: str) -> Form | None:
    """The form of a Python program, a TOML or a JSON file that names variables or a launcher."""
    if base.endswith((".py", ".pyw")) or _PYTHON.match(text):
        return "python" if _names(text) else None
    if base.endswith(".toml"):
        return "toml" if _names(text) else None
    if base.endswith((".json", ".jsonc")) or _OBJECT.match(text):
        return "ranktable" if '"server_list"' in text else "json" if _names(text) else None
    return None


def _names(text: str) -> bool:
    """True if a program or data names a launcher, or a variable that lint knows, as a string or before ``=``."""
    found = (
        each for pattern in (_QUOTED_NAME, _BARE_NAME) for each in itertools.islice(pattern.finditer(text), _MENTIONS)
    )
    return _STARTER.search(text) is not None or any(is_setting(each[1]) for each in found)


def _plain(base: str, head: str) -> Form | None:
    """The form of files with other names: lines of pairs, commands."""
    rows = [line for line in head.split("\n") if line.strip() and not line.lstrip().startswith("#")]
    pairs = [line for line in rows if _PAIR.match(line)]
    wanted = any(is_setting(named_in(line)) for line in pairs)
    if rows and len(pairs) == len(rows) and wanted:
        return "env" if base != "-" and not _STATEMENT.search(head) else "shell"
    if base.endswith((".md", ".rst", ".txt", ".log", ".html", ".c", ".cc", ".h", ".go", ".rs")):
        return None
    return "shell" if wanted or _LAUNCH.search(head) or re.search(r"(?m)^\s*export\s+\w+=", head) else None


def named_in(line: str) -> str:
    """The variable that a line sets (``NAME=``, ``export``, ``setenv``, ``: ${NAME:=``); empty for others."""
    found = _PAIR.match(line)
    return (found["name"] or found["set"] or found["default"] or "") if found else ""


def read(source: str, text: str, form: Form) -> Document:
    """Parse a file into a document, without what lint does not handle."""
    document = Document(source=source, text=text[:SIZE_LIMIT], form=form)
    whole = Place(0, len(document.text))
    if form in {"shell", "dockerfile"}:
        document.script = masks.without_templates(document.text)
    if form == "shell":
        shell.read(document, whole)
        _batch_options(document)
    elif form == "dockerfile":
        dockerfile.read(document)
    elif form in {"kubernetes", "compose", "json", "toml"}:
        manifests.read(document)
    elif form == "python":
        document.problem = python.read(document) or ""
    elif form == "conf":
        lines.read_conf(document, whole)
    elif form == "env":
        lines.read_env(document, whole)
    elif form == "process":
        lines.read_process(document)
    elif form == "hostfile":
        tables.read_hostfile(document)
    else:
        tables.read_ranktable(document)
    _read_rest(document)
    document.settings = [s for s in document.settings if is_setting(s.name)][:SETTINGS_LIMIT]
    document.nccl = release_of(document)
    return document


def _read_rest(document: Document) -> None:
    """Add variables in quotes that no form covers, and the lines that were not read."""
    if document.form in {"shell", "dockerfile", "kubernetes", "compose", "json", "toml"}:
        quoted.read(document, {setting.name_at.start for setting in document.settings})
    if document.form != "process":
        known = {setting.name_at.start for setting in document.settings}
        told = {document.line(found.place.start) for found in document.found}
        text = document.script if document.form == "python" and document.script else document.text
        unread = mentions.unread(masks.without_templates(text), known)
        document.unread = tuple(line for line in unread if line not in told)


def _batch_options(document: Document) -> None:
    """The options of ``#SBATCH`` lines."""
    from ncdiag.base.spans import Section
    from ncdiag.parsers import slurm_script

    rows = document.text.split("\n")
    numbers = tuple(number for number, line in enumerate(rows, start=1) if line.startswith("#SBATCH"))
    if numbers:
        kept = tuple(rows[number - 1] for number in numbers)
        section = Section(
            kind="slurm_script", source=document.source, first_line=numbers[0], lines=kept, numbers=numbers
        )
        document.observations += [o for o in slurm_script.parse(section).observations if o.entity == "Launch"]


def files_of(path: Path) -> Iterator[Path]:
    """The files below a folder that may be linted, in a fixed order, without hidden folders and those of tools."""
    count = 0
    for folder, folders, names in os.walk(path):
        folders[:] = sorted(f for f in folders if f not in _SKIPPED_FOLDERS and not f.startswith("."))
        for name in sorted(names):
            count += 1
            if count > _FILES:
                return
            yield Path(folder, name)
