"""What surrounds a tool's output in a paste.

Shell prompts with the echoed command, file headers, quoting, launcher tags.
"""

from __future__ import annotations

import re

import msgspec

_HOSTNAME = r"[A-Za-z0-9][\w.-]*"
_CLOCK = r"(?:\[\d\d?:\d\d(?::\d\d)?\]\s*)?"
_PROMPT = re.compile(
    rf"{_CLOCK}(?:\([\w.-]+\)\s*)?"  # (base)
    rf"(?:\[?[A-Za-z_][\w.-]*@(?P<host>{_HOSTNAME})[: ]?[^\]$#>%]*\]?\s*[$#%>]\s*"
    r"|(?:sh|bash|zsh)-[\d.]+[$#]\s*|(?P<bare>[$#%+\u276f\u279c]\s+|\$(?=[a-z])))"
    r"(?P<command>[^\s$#%>].*)$"
)
_EMPTY_PROMPT = re.compile(
    rf"{_CLOCK}(?:\([\w.-]+\)\s*)?\[?[A-Za-z_][\w.-]*@{_HOSTNAME}[: ]?[^\]$#>%]*\]?\s*[$#%>]\s*$"
)
_HEADER = re.compile(
    rf"(?:==> (?P<path>\S+) <==|[=\-#*_]{{2,}}\s*(?:host(?:name)?\s*[:=]?\s*|node\s*[:=]\s*)?(?P<name>{_HOSTNAME})"
    r"(?:\s*[:/]\s*(?P<what>[^=*]+?))?\s*[=\-#*_]{2,}|(?:host(?:name)?|node)\s*[:=]\s*(?P<said>[A-Za-z0-9][\w.-]*))\s*:?$",
    re.IGNORECASE,
)
_DECORATED = re.compile(
    r"[\s#*`>=:~-]*(?:output of|command)?[\s:`*]*(?P<command>[A-Za-z][\w./-]*(?: [\w./=|-]+){0,6}?)[\s`*:=~-]*$",
    re.IGNORECASE,
)
_LAUNCHER = re.compile(
    r"\[(?:\d+,\d+|[\w.-]+@\d+,\d+)\]<std(?:out|err)>:\s?"  # Open MPI and PRRTE
    r"|\[(?:default|rank|Rank )\d+\]:\s?"  # torchrun, PyTorch
    r"|\((?:\w+ )?(?:rank=\d+ )?pid=\d+(?:, ip=[\d.a-f:]+)?\)\s?"  # Ray
    r"|\[pod/[^\]]+\]\s?"  # kubectl --prefix
    r"|\d{4}-\d\d-\d\dT[\d:.]+(?:Z|[+-][\d:]+) std(?:out|err) [FP] "  # CRI
)
_HOST_PREFIX = re.compile(rf"(?P<host>{_HOSTNAME}): ")
_RANK_LABEL = re.compile(r"\s{0,4}\d{1,6}: ")
_RULE = re.compile(r"[-=*#~_]{8,}\s*$")
_BANNER_NAME = re.compile(rf"(?P<name>{_HOSTNAME})\s*$")
_BANNER_SET = re.compile(r"[A-Za-z0-9][\w.\[\],-]{0,200}(?:\s\(\d{1,6}\))?\s*$")
_REMOTE = re.compile(r"(?:ssh|kubectl\s+exec|(?:docker|podman|nerdctl)\s+exec)\s")
_WITH_VALUE = frozenset({*(f"-{letter}" for letter in "BbcDEeFIiJLlmnOopQRSuWw"), "--namespace", "--container"})
"""Options of these that take the next word (``-n`` of ssh takes none, and nobody types it before a tool)."""
_QUOTE = re.compile(r"(?:> ?)+")


class Echo(msgspec.Struct, frozen=True):
    """A command as a shell echoed it: ``host`` from the prompt, None where the prompt names none."""

    command: str
    host: str | None
    certain: bool
    """False for a bare ``#`` or ``$``, which also begins comments and tables."""


def prompt(line: str) -> Echo | None:
    """Read a prompt with a command behind it."""
    found = _PROMPT.match(line)
    if not found or len(line) > 4096:  # noqa: PLR2004  (a prompt line; anything longer is data)
        return None
    host = found["host"]
    return Echo(found["command"].strip(), short_host(host) if host else None, found["bare"] is None)


def is_empty_prompt(line: str) -> bool:
    """A prompt at which nothing was typed ends the output above it."""
    return len(line) < 300 and _EMPTY_PROMPT.match(line) is not None  # noqa: PLR2004


def is_fence(line: str) -> bool:
    """The beginning or end of a block of code in Markdown."""
    return line.lstrip().startswith(("```", "~~~"))


def is_rule(line: str) -> bool:
    """A line of dashes or the like alone, as it stands above and below a name in dshbak's and clush's output."""
    return len(line) < 200 and _RULE.match(line) is not None  # noqa: PLR2004


def banner(line: str) -> tuple[str | None] | None:
    """The host between two rules; (None,) where several hosts share the output (``node[1-4] (4)``), None for no name.

    A word without a digit, a dot or a dash is a heading and no host.
    """
    if len(line) > 250 or not re.search(r"[\d.-]", line):  # noqa: PLR2004
        return None
    one = _BANNER_NAME.match(line)
    if one:
        return (short_host(one["name"]),)
    return (None,) if _BANNER_SET.match(line) else None


def remote(command: str) -> tuple[str | None, str]:
    """The host (or pod) on which ``ssh HOST COMMAND`` and the like run, and the command there."""
    if len(command) > 4096 or not _REMOTE.match(command):  # noqa: PLR2004
        return None, command
    words = command.split()
    program, rest = (words[0], words[1:]) if words[0] == "ssh" else (words[0], words[2:])
    place, skip = "", False
    for index, word in enumerate(rest):
        if skip or word.startswith("-"):
            skip = not skip and word in _WITH_VALUE
        elif not place:
            place = word
        else:
            there = " ".join(rest[index:]).strip("\"'")
            name = re.fullmatch(_HOSTNAME, place.rpartition("@")[2].removeprefix("pod/"))
            return (short_host(name[0]) if name and program in {"ssh", "kubectl"} else None), there
    return None, command


def header(line: str) -> tuple[str | None, str | None] | None:
    """A line that only says whose or what output follows (``==> node1/ibstat.txt <==``, ``=== node1 ===``).

    (host, what).
    """
    if len(line) > 200:  # noqa: PLR2004
        return None
    found = _HEADER.match(line.strip())
    if not found:
        return None
    if found["path"]:
        parts = found["path"].split("/")
        return (short_host(parts[-2]) if len(parts) > 1 else None), parts[-1].rsplit(".", 1)[0]
    name = found["name"] or found["said"]
    if found["said"] is None and name.strip("-_").isupper() and name.strip("-_").isalpha():
        return None, found["what"] or name  # a heading such as ---TOPO---: a word, no machine
    return short_host(name.rstrip("-_")), found["what"]


def title(line: str) -> str | None:
    """A line that consists of a command alone, perhaps decorated as a heading (``## ibstat``, ``nvidia-smi topo.

    -m:``).
    """
    found = _DECORATED.match(line) if len(line) < 120 else None  # noqa: PLR2004
    return found["command"].strip() if found else None


def unquote(line: str) -> str:
    """Remove the ``> `` of a quoted mail or ticket."""
    found = _QUOTE.match(line)
    return line[found.end() :] if found else line


def prefixes(line: str) -> list[tuple[str, str | None]]:
    """Prefixes that a launcher may have put before the text, each with the host it names: candidates, longest first."""
    found = _LAUNCHER.match(line)
    if found:
        return [(found[0], None)]
    result: list[tuple[str, str | None]] = []
    labelled = _HOST_PREFIX.match(line)
    if labelled:
        result.append((labelled[0], short_host(labelled["host"])))
    number = _RANK_LABEL.match(line)
    if number:
        result.append((number[0], None))
    return result


def short_host(name: str) -> str:
    """A host name without its domain, as NCCL prints it (src/misc/utils.cc, getHostName cuts at the first dot)."""
    return name if re.fullmatch(r"[\d.]+", name) else name.split(".", 1)[0]
