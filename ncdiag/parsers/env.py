"""Environments: ``env`` dumps, ``export`` lines, traces, bare NAME=value lines, Dockerfiles, ``os.environ``, YAML maps.

Only variables of NCCL, of frameworks and of launchers are kept; secrets never are.

A whole dump (eight variables or more, PATH or HOME among them) makes the variables that are not in it known to be
unset.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from string import ascii_lowercase

from ncdiag.base.patterns import lazy_regex
from ncdiag.base.spans import Section
from ncdiag.facts.observe import Observation, Parsed, Standing, observe
from ncdiag.formats.basics import is_elision, unfiltered
from ncdiag.formats.shell import KEPT_PATTERN, is_kept, is_variable, unquoted, without_secrets, words
from ncdiag.nccl.judgement.names import of_name
from ncdiag.parsers import launch, nccl_conf
from ncdiag.parsers.user_text.moods import is_withdrawn

KIND = "env"
COMMANDS: tuple[str, ...] = (
    "env",
    "printenv",
    "export",
    "export -p",
    "declare -x",
    "declare -p",
    "set",
    "environ",
    "environment",
)
_LEAD = r"[ \t]{0,24}(?:\+{1,3}[ \t]+)?"
_VERB = r"(?:export|declare -x|typeset -x|setenv|ENV|unset|set)"
_VALUE = r"(?:\"[^\"]*\"|'[^']*'|[^\s\"';&|]*)"
_NO_VALUE = (
    r"(?:[$&*!|>?<~({\[@%]|-+(?![\d\w])|(?<!PLUGIN: )(?<!PLUGIN: [\"'])[nN]one\b"
    r"|(?i:null|nil|unset|undefined|undef|unknown|default|empty|optional|required|ignored|deprecated|n/a|sets"
    r"|(?:en|dis)ables|controls|specifies|selects)\b(?![-_.:,\d])"
    r"|\w+[/|][\w/|]+[\"']?[ \t]*(?:#|$))"
)
"""What stands in place of a value in YAML: a reference, a template, the mark of a block, a word that it has none.

A table of explanations has the choices (``0/1``) and verbs there.
"""
_SCALAR = r"(?:\"[^\"]*\"|'[^']*'|[^\s\"'#]{1,200}(?<![.:,;]))"
"""The value of a map in YAML; what ends like a sentence is none."""
_USUAL = (
    r"(?:SHELL|PATH|HOME|HOSTNAME|USER|LOGNAME|PWD|OLDPWD|LANG|TERM|SHLVL|LS_COLORS|MAIL|EDITOR|VIRTUAL_ENV|CONDA_\w+"
    r"|XDG_\w+|SSH_\w+|PYTHON\w*|DEBIAN_FRONTEND)"
)
ANCHOR = (
    rf"{_LEAD}{_VERB}[ \t]+(?:-[gx][ \t]+)?{KEPT_PATTERN}(?:[= ]|[ \t]*$)"
    rf"|{_LEAD}(?:[-*•][ \t]+)?{KEPT_PATTERN}[ \t]?=[ \t]?{_VALUE},?[ \t]*(?:[#(;].*)?$"
    rf"|{_LEAD}{KEPT_PATTERN}={_VALUE}(?<=,)[ \t]+[A-Z]\w{{1,60}}=\S"
    rf"|{_LEAD}{KEPT_PATTERN}={_VALUE}(?:[ \t]+[A-Z]\w{{1,60}}={_VALUE}){{1,60}}[ \t]*$"
    rf"|{_USUAL}=\S*[ \t]*$"
    rf"|{_LEAD}[\"']{KEPT_PATTERN}[\"'][ \t]?:[ \t]?[\"'][^\"']{{0,400}}[\"'],?[ \t]*$"
    rf"|{_LEAD}(?!\w{{0,60}}_ERROR_(?!HANDLING)){KEPT_PATTERN}:[ \t]+{_SCALAR}[ \t]*(?:#.*)?$"
    rf"|echo[ \t]+\"?\$\{{?{KEPT_PATTERN}\}}?\"?[ \t]*$"
    rf"|{_LEAD}os\.environ(?:\[|\.setdefault\()[\"']{KEPT_PATTERN}[\"']"
)
STRUCTURE = " \t*+-•\"'" + ascii_lowercase
FREQUENT = {"set ": "how csh and fish set a variable"}

_ASSIGNMENT = lazy_regex(r"\s*(?:\+{1,3}\s+)?(?P<name>[A-Za-z_][\w.%()]{0,120})=(?P<value>.*)$")
_EXPORT = lazy_regex(
    r"\s*(?:\+{1,3}\s+)?(?P<verb>export|declare -x|typeset -x|ENV|set)\s+(?:-[gx]\s+)?"
    r"(?P<rest>[A-Za-z_]\w*(?:[= ].*)?)$"
)
_SETENV = lazy_regex(r"\s*(?:setenv|ENV)\s+(?P<name>[A-Za-z_]\w{0,120})\s+(?P<value>\S.*)$")
_UNSET = lazy_regex(r"\s*(?:\+{1,3}\s+)?unset\s+(?P<names>[A-Za-z_][\w ]{0,300})$")
_PYTHON = lazy_regex(
    rf"\s*os\.environ(?:\[|\.setdefault\()[\"'](?P<name>{KEPT_PATTERN})[\"'](?:\]\s*="
    rf"|,)\s*(?:str\()?(?P<value>\"[^\"]*\"|'[^']*'|\d+)"
)
_BARE = lazy_regex(
    rf"\s*(?:\+{{1,3}}\s+)?(?:[-*•]\s+)?(?P<name>{KEPT_PATTERN})\s?=\s?(?P<value>{_VALUE}),?\s*(?:[#(;].*)?$"
)
_LISTED = lazy_regex(r"\s*(?:[A-Za-z_]\w{0,120}=(?:\"[^\"]*\"|'[^']*'|[^\s\"']*),?\s+){1,60}[A-Za-z_]\w{0,120}=\S+\s*$")
_ITEM = lazy_regex(r"(?P<name>[A-Za-z_]\w{0,120})=(?P<value>\"[^\"]*\"|'[^']*'|[^\s\"']*)(?:\s|,\s|$)")
_OF_A_RANK = frozenset({"RANK", "LOCAL_RANK", "NODE_RANK", "GROUP_RANK", "OMPI_COMM_WORLD_RANK", "SLURM_PROCID"})
"""What each rank has a value of its own for."""
_JSON = lazy_regex(r"\s*[\"'](?P<name>[A-Z_a-z]\w{0,120})[\"']\s?:\s?[\"'](?P<value>[^\"']{0,400})[\"'],?\s*$")
_MAP = lazy_regex(
    r"\s*(?P<name>(?!\w{0,60}_ERROR_(?!HANDLING))[A-Z][A-Z0-9]{0,30}_[A-Z0-9_]{1,80}):"
    rf"(?:\s+(?:['\"]?{_NO_VALUE}.*|(?P<value>{_SCALAR})\s*(?:#.*)?))?$"
)
"""A member of a map in YAML, which may have no value."""
_TRACED = lazy_regex(r"\s*\+{1,3}\s+[A-Za-z_]\w*=")
_FUNCTION_END = lazy_regex(r"\}$|[ \t]+\S")
_LAUNCH = lazy_regex(launch.ANCHOR)
_WHOLE = 8
_REMARK = lazy_regex(r"\s(?:#|//|\()(?P<said>[^#]{1,400})$")
_ADDRESSES = lazy_regex(r"\s*[\da-fA-F:.]{4,45}(?:\s[\da-fA-F:.]{4,45}){1,40}\s*$")
"""A list of addresses, as ``hostname -I`` prints it."""
_ASKED = lazy_regex(r"(?:printenv[ \t]+|echo[ \t]+\"?\$\{?)(?P<name>[A-Za-z_]\w{0,120})\}?\"?$")


def continues(lines: Sequence[str], line: str) -> bool:
    """Assignments in any of the forms, comments between them, the body of an exported shell function."""
    if is_elision(line) or (_form(line) and not _LAUNCH.match(line) and not line.startswith("BOOT_IMAGE=")):
        return True
    if not lines or not line.strip():
        return False
    if len(lines) == 1 and _ASKED.match(lines[0].strip()):
        return " " not in line.strip() or _ADDRESSES.match(line) is not None
    inside = any("%%=" in text for text in lines[-40:]) and _FUNCTION_END.match(line)
    return bool(inside) or (line.lstrip().startswith("#") and bool(_EXPORT.match(lines[-1])))


def _form(line: str) -> bool:
    forms = (_EXPORT, _ASSIGNMENT, _SETENV, _UNSET, _PYTHON, _BARE, _JSON, _MAP)
    return len(line) < (1 << 16) and any(form.match(line) for form in forms)


def parse(section: Section) -> Parsed:
    """A setting for each variable that is kept; the last value of a name counts, as it would in a shell."""
    if section.source.endswith(".conf"):
        return nccl_conf.parse(section)
    section = without_secrets(section)
    found: dict[str, Observation] = {}
    names: dict[str, str] = {}
    unread: list[int] = []
    elided = exported = False
    for index, line in enumerate(section.lines):
        elided = elided or is_elision(line)
        read = list(_settings(line))
        exported = exported or bool(re.match(r"\s*(?:export|ENV|setenv|os\.)", line))
        for name, value, how in read:
            names[name] = value or ""
            if is_variable(name) and not (_is_assigned(section, line) and _is_own(name)):
                found[name] = _setting(section, index, name, value, how)
        if not read and line.strip() and not _form(line) and not continues(section.lines[:index], line):
            unread.append(index)
    printed = _printed(section, found)
    found.update(printed)
    unread = [] if printed else unread
    plain = unfiltered(section.command, "env") or unfiltered(section.command, "printenv") if section.command else True
    whole = len(names) >= _WHOLE and bool({"PATH", "HOME"} & set(names)) and not (elided or exported) and plain
    return _as_of(section, found, names, unread, whole=whole)


def _as_of(
    section: Section, found: dict[str, Observation], names: dict[str, str], unread: list[int], *, whole: bool
) -> Parsed:
    """Give a whole dump its host: HOSTNAME; under Slurm only what slurmd says, for HOSTNAME is that of the login."""
    slurm = any(name.startswith("SLURM_") for name in names)
    host = names.get("SLURMD_NODENAME") or (None if slurm else names.get("HOSTNAME"))
    if not whole or section.host or not host or not re.fullmatch(r"[A-Za-z][\w.-]{0,120}", host):
        return Parsed(observations=tuple(found.values()), unread=tuple(unread), complete=whole)
    named = [Observation(entity=o.entity, key=o.key, span=o.span, host=host, fields=o.fields) for o in found.values()]
    seen = observe(section, 0, "Host", host=host, complete=["env"])
    return Parsed(observations=(*named, seen), unread=tuple(unread))


def _setting(section: Section, index: int, name: str, value: str | None, how: str) -> Observation:
    # the output of $(...) is not known before it runs: a value that is shown elsewhere takes precedence
    standing: Standing = "live" if how == "shell" and "$(" not in (value or "") else "manifest"
    return observe(
        section, index, "Setting", (name,), standing=standing, is_set=value is not None, text=value, origin=how
    )


def _settings(line: str) -> Iterator[tuple[str, str | None, str]]:
    """(name, value or None for unset, origin) of a line; nothing where its remark says that it is not set so."""
    remark = _REMARK.search(line)
    if remark and is_withdrawn(remark["said"]):
        return
    if unset := _UNSET.match(line):
        yield from ((name, None, "shell") for name in unset["names"].split())
    elif python := _PYTHON.match(line):
        yield python["name"], unquoted(python["value"]), "launcher"
    elif pair := _JSON.match(line) or _MAP.match(line):
        yield from ((pair["name"], unquoted(value), "manifest") for value in [pair["value"]] if value is not None)
    elif export := _EXPORT.match(line):
        yield from _exported(export["rest"], line, "manifest" if export["verb"] == "ENV" else "shell")
    elif setenv := _SETENV.match(line):
        yield setenv["name"], unquoted(setenv["value"]), "manifest" if "ENV " in line else "shell"
    elif _LISTED.match(line):
        listed = ((item["name"], item["value"].rstrip(",")) for item in _ITEM.finditer(line))
        yield from ((name, unquoted(value), "shell") for name, value in listed if name not in _OF_A_RANK)
    elif bare := _BARE.match(line):
        yield bare["name"], unquoted(bare["value"]), "shell"
    elif (dump := _ASSIGNMENT.match(line)) and not (is_kept(dump["name"]) and _is_prose(dump["value"])):
        yield dump["name"], unquoted(dump["value"]), "shell"


def _exported(rest: str, line: str, how: str) -> Iterator[tuple[str, str | None, str]]:
    """``A=1 B=2`` up to a comment or the next command; ``ENV NAME value`` of a Dockerfile."""
    if "=" not in rest.split(maxsplit=1)[0]:
        old = _SETENV.match(line)
        if old:
            yield old["name"], unquoted(old["value"]), how
        return
    for word in words(rest):
        name, equals, value = word.partition("=")
        if not equals or not name.isidentifier():
            break
        yield name, value, how


def _is_assigned(section: Section, line: str) -> bool:
    """True if a line is the trace of a shell that assigns a variable and does not export it, or was typed as such."""
    return bool(_TRACED.match(line)) or (line == section.command and bool(_BARE.match(line)))


def _is_own(name: str) -> bool:
    """True if NCCL does not read the variable, nor anybody else that is known: it is a script's own."""
    verdict = of_name(name)
    return verdict is not None and verdict.fault == "unread"


def _is_prose(value: str) -> bool:
    """True if a value has several words and no quotes: a sentence about the variable, or a command behind it.

    Names that differ in their digits alone are a list, though not one that NCCL can read.
    """
    parts = value.split()
    listed = len({re.sub(r"\d+", "", part) for part in parts}) == 1 and all(re.search(r"\d", part) for part in parts)
    return len(parts) > 1 and value.strip()[:1] not in "\"'" and not listed


def _printed(section: Section, found: dict[str, Observation]) -> dict[str, Observation]:
    """``printenv NAME`` and ``echo $NAME``: the only line is the value. An empty line of ``echo`` is not a value."""
    asked = _ASKED.match((section.command or "").strip())
    lines = [line for line in section.lines if line.strip() and line != section.command]
    if found or asked is None or len(lines) != 1:
        return {}
    name, value = asked["name"], lines[0].strip()
    if not is_kept(name) or (" " in value and not _ADDRESSES.match(value)):
        return {}
    return {name: _setting(section, section.lines.index(lines[0]), name, value, "shell")}
