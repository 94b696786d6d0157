"""Recognise what surrounds the output of a tool in a paste.

Shell prompts with the echoed command, file headings, quoting, launcher prefixes.
"""

from __future__ import annotations

import functools
import re

import msgspec

from ncdiag.base.patterns import lazy_regex
from ncdiag.text.sections.described import described

_HOSTNAME = r"[A-Za-z0-9][\w.-]*"
_CLOCK = r"(?:\[\d\d?:\d\d(?::\d\d)?\]\s*)?"
_USER = (
    rf"(?:[A-Za-z_][\w.-]*[@\u327f](?P<host>{_HOSTNAME})"
    rf"|(?P<only>{_HOSTNAME})(?=:[~/]\S{{0,200}}\s?[$#>%](?:\s|$)))[^\]$#>%]*"
)
_DIRECTORY = r"(?:~\S{0,100}\s+|[\w.-]{1,64}\s+(?=git:))?(?:git:\([^)]{0,64}\)\s+)?(?:[\u2717\u2718\u2714]\s+)?"
_BARE = (
    rf"(?P<bare>[$#%+\u276f]\s+|[~/][\w./-]{{0,100}}\s[$#]\s+|\u279c\s+{_DIRECTORY}"
    r"|[\u2514\u2570]\u2500+[$#%>\u276f\u27a4]?\s+|\$(?=[a-z]))"
)
_NAMED = rf"\[?(?P<named>(?=[\w.-]*[A-Za-z]){_HOSTNAME})\]?:?\s?[$#]\s{{1,4}}"
"""A short prompt that is only a host name: it differs from prose only if a known command follows."""
_PROMPT = lazy_regex(
    rf"{_CLOCK}(?:\([\w.-]+\)\s*)?"  # (base)
    rf"(?:\[?{_USER}\]?\s*[$#%>]\s*|(?:sh|bash|zsh)-[\d.]+[$#]\s*|{_BARE}|{_NAMED})"
    r"(?P<command>[^\s$#%>].*)$"
)
_COMMENTED = lazy_regex(r"#\s+(?:export\s+|setenv\s+|set\s+|-\s+(?:name|key):\s|env:\s)?[A-Za-z_]\w{0,80}\s{0,2}[=:]")
"""A setting after a lone ``#``: almost always a commented line of a script or file, rarely a command typed by root."""
_EMPTY_PROMPT = lazy_regex(rf"{_CLOCK}(?:\([\w.-]+\)\s*)?\[?{_USER}\]?\s*[$#%>]\s*$")
_BARE_END = lazy_regex(r"(?:[~/][\w./-]{0,100}\s)?[$#]$")
_PROMPT_ABOVE = lazy_regex(rf"[\u250c\u256d]\u2500{{0,4}}[(\[]?[\w.-]{{1,64}}[@\u327f](?P<host>{_HOSTNAME})")
"""The first line of a prompt of two lines."""
_HEADER = lazy_regex(
    rf"(?:==> (?P<path>\S+) <==|[=\-#*_]{{2,}}\s*(?:host(?:name)?\s*[:=]?\s*|node\s*[:=]\s*)?(?P<name>{_HOSTNAME})"
    r"(?:\s*[:/]\s*(?P<what>[^=*]+?))?\s*[=\-#*_]{2,}|(?:host(?:name)?|node)\s*[:=]\s*(?P<said>[A-Za-z0-9][\w.-]*))\s*:?$",
    re.IGNORECASE,
)
_RAN_ON = lazy_regex(
    rf"(?P<ansible>{_HOSTNAME}) \| [A-Z]{{4,12}}!? \| rc=\d{{1,3}} >>"
    rf"|\[\d{{1,6}}\] \d\d:\d\d:\d\d \[(?:SUCCESS|FAILURE)\] (?:[\w-]{{1,64}}@)?(?P<pssh>{_HOSTNAME})"
)
"""Headings of ansible and pssh above the output of a host."""
_LABEL = lazy_regex(
    r"[#*_\s]{0,8}(?:(?:on|from)\s)?(?:the\s)?(?P<what>node|host|machine|server|pod|worker|cluster|system|site|computer|vm|instance)\s?(?:#|(?P<dash>(?<!\s)-)|-)?(?P<number>\d{1,4}|[A-D])"
    r"(?:\s(?:outputs?|logs?))?(?:\s\([\w .-]{1,40}\))?\s?[:*_#]{0,6}$",
    re.IGNORECASE,
)
"""``Node 1:``: a hand-written label for one of several machines whose outputs follow."""
_LABEL_ENDS = ":\uff1a*_#"
_NAMED_HOST = r"(?=[\w-]*\d)(?=[\w-]*[A-Za-z])[A-Za-z0-9][A-Za-z0-9-]{1,62}"
_ON_HOST = lazy_regex(
    r"[\s#*_>`(-]{0,8}(?P<words>(?:(?:and|but|now|then|here(?:'s)?|this|that|is|the|same|outputs?|on|from|for|of|node|host"
    r"|machine|server|pod|worker|second|first|other|one)\s){0,6})"
    rf"[`*(\"']{{0,3}}(?P<host>{_NAMED_HOST})[`*)\"']{{0,3}}"
    r"(?P<what>(?:\s(?:kernel|dmesg|syslog|journal|console|logs?|messages|outputs?|stderr|stdout|good|bad|ok|healthy)){1,3}"
    r"|\s\((?:good|bad|ok|healthy|broken|slow|fine|fast|working|failing|same|master|head|worker|rank \d{1,4})\))?"
    r"\s?:[*_`\s]{0,4}$",
    re.IGNORECASE,
)
"""``and gpu-n2:``, ``the same on n3:``, ``n4 kernel:``, ``n5 (good):``: a hand-written phrase with the machine whose
outputs follow.
"""
_RUN_ON = lazy_regex(
    r"[\s#*_>`(-]{0,8}(?=.{0,80}(?:command|script|launch|start|run\b|ran\b|execut))(?:[a-z]{1,12}\s){0,8}?(?:on|at)\s(?:[a-z]{1,8}\s){0,2}"
    rf"`?(?P<host>(?:\d{{1,3}}\.){{3}}\d{{1,3}}|{_NAMED_HOST})`?(?:\s[a-z]{{1,12}}){{0,4}}\s?:[*_`\s]{{0,4}}$"
    r"|\s{0,8}\u5728\s?(?P<there>(?:\d{1,3}\.){3}\d{1,3}"
    rf"|{_NAMED_HOST})\s?[\u4e00-\u9fff]{{0,6}}\u4e0a[\u4e00-\u9fff]{{0,12}}\s?[:\uff1a]\s*$",
    re.IGNORECASE,
)
"""``The command that I run on 10.0.0.4:``, in Chinese as well: the machine on which the lines below were typed."""
NO_HOST = lazy_regex(
    r"(?:rank|step|epoch|stage|phase|part|test|case|run|option|attempt|try|layer|round|job|task|gpu(?!-?(?:0\d|\d{3}|[2-9]\d|1[6-9]))|nic|port|rail|cuda|eth"
    r"|en[ops]\w*|ib|bond|mlx|nvme|device|channel|thread|process|line|page|fig\w*|item|point|question|q|v|h|utf|sha|md|x)"
    r"-?\d[\da-f-]*",
    re.IGNORECASE,
)
"""Words that end in a number and do not name a machine; ``gpu16`` and ``gpu01`` do: no GPU is called so."""
_SYSTEM = [["", name] for name in ("dev", "etc", "proc", "run", "sys", "usr")]
"""First parts of the usual paths of a machine's files: they name no host."""
_DECORATED = lazy_regex(
    r"[\s#*`>=:~-]*(?:output of|command)?[\s:`*]*(?P<command>[A-Za-z][\w./-]*(?: [\w./=|-]+){0,6}?)[\s`*:=~-]*$",
    re.IGNORECASE,
)
_SAYS = lazy_regex(
    r"(?<=\s)(?:is|was|are|only|just|gets?|got|reach\w*|gives?|gave|shows?|says|prints|works?|fails?|hangs?|runs?|between)\b",
    re.IGNORECASE,
)
"""Verbs of a sentence about a command."""
_OUTPUT_ON = lazy_regex(
    r"[\s#*`>-]*(?:output of\s)?`?(?P<command>[A-Za-z][\w./-]*(?: [\w./=|-]+){0,6}?)`?(?:\soutput)?\s(?:on|from)\s"
    rf"(?:(?:the\s)?(?:host|node|machine|server)\s)?`?(?P<host>(?=\S*[\d-]){_HOSTNAME})`?[\s:*`]*$",
    re.IGNORECASE,
)
"""``dmesg on node2:``, above the output of that command on that host."""
_LAUNCHER = lazy_regex(
    r"\[(?:\d+,\d+|[\w.-]+@\d+,\d+)\]<std(?:out|err)>:\s?"  # Open MPI and PRRTE
    r"|\[(?:default|rank|Rank )\d+\]:\s?"  # torchrun, PyTorch
    r"|\((?:\w+ )?(?:rank=\d+ )?pid=\d+(?:, ip=[\d.a-f:]+)?\)\s?"  # Ray
    r"|\[pod/[^\]]+\]\s?"  # kubectl --prefix
    r"|[\w.-]{1,64}\s{1,16}\|(?: |$)"  # docker compose
)
_LEVEL = r"(?:DEBUG|INFO|WARN(?:ING)?|ERROR|CRITICAL|FATAL|NOTICE)"
_TIME = lazy_regex(
    r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d) (?:std(?:out|err) [FP] |[0-9a-f]{2}[OE][ +])?"
    r"|\[?\d{4}[-/]\d\d[-/]\d\d[ T]\d\d:\d\d:\d\d(?:[.,]\d{1,9})?\]?[:,]?\s"  # a program's own log
    rf"(?:\| (?:[\w.:]{{1,64}} \| )?{_LEVEL}\s{{0,8}}\|\s|- (?:[\w.:]{{1,64}} - )?{_LEVEL}\s{{0,8}}-\s"
    rf"|\[(?:[\w.:]{{1,64}}\]\s?\[)?{_LEVEL}\]:?\s|(?:[\w.:]{{1,64}} )?{_LEVEL}:?\s)?"
)
"""A time, and a level, before each line: ``kubectl logs --timestamps``, ``docker logs -t``, the files of the container
runtime (CRI), the log of a GitLab job, Python's logging of a tool's output.
"""
_NO_TAG = (
    r"\d+|(?:\w{1,60}\.){0,8}[A-Z]\w{0,80}(?:Error|Exception|Warning)"
    r"|(?i:trace|debug|info|notice|note|hint|warn(?:ing)?|err(?:or)?|critical|fatal)"
)
"""Words before a colon that are not a host: a rank, the name of an exception, a level."""
_HOST_PREFIX = lazy_regex(rf"(?!(?:{_NO_TAG}): )(?P<host>{_HOSTNAME}): ")
_RANK_LABEL = lazy_regex(r"\s{0,4}\d{1,6}: ")
_FILE_PREFIX = lazy_regex(r"(?:/[\w.@-]{1,64}){2,12}:")
"""The path that ``grep`` prints before each line when it searches several files."""
_RULE = lazy_regex(r"[-=*#~_]{8,}\s*$")
_BANNER_NAME = lazy_regex(rf"(?P<name>{_HOSTNAME})\s*$")
_BANNER_SET = lazy_regex(r"(?P<names>[A-Za-z0-9][\w.\[\],-]{0,200})(?:\s\(\d{1,6}\))?\s*$")
_REMOTE = lazy_regex(r"(?:ssh|kubectl\s+exec|(?:docker|podman|nerdctl)\s+exec)\s")
_WITH_VALUE = frozenset({*(f"-{letter}" for letter in "BbcDEeFIiJLlmnOopQRSuWw"), "--namespace", "--container"})
"""Options of these commands that take the next word as their value (``-n`` of ssh takes none, but is rarely used)."""
_ASKS_NAME = lazy_regex(
    r"(?:/\S{1,40}/)?(?:hostname(?: -[sf]| --(?:short|fqdn|long))?|uname -n|cat /etc/hostname"
    r"|cat /proc/sys/kernel/hostname|hostnamectl(?: hostname| --static))\s*(?:#.*)?$"
)
_QUOTE = lazy_regex(r"(?:> ?)+")
_LINES = 64
"""Lines whose prefixes are remembered: several ask about one line, one after the other."""


class Echo(msgspec.Struct, frozen=True):
    """A command as echoed by a shell: ``host`` from the prompt, None if the prompt names none."""

    command: str
    host: str | None
    certain: bool
    """False after a bare ``#`` or ``$``, which also begin comments and tables, and after a prompt of a single word."""
    typed: bool
    """True if such a prompt is only written to show a command, even an unknown one: of the uncertain prompts, ``$``."""

    @property
    def comment(self) -> str:
        """The shell comment after the command."""
        return self.command.partition(" # ")[2].strip()


def prompt(line: str) -> Echo | None:
    """Parse a prompt that is followed by a command; None if the line is not one."""
    found = _PROMPT.match(line)
    if not found or len(line) > 4096 or _COMMENTED.match(line):  # noqa: PLR2004  (anything longer is data)
        return None
    host = found["host"] or found["only"] or found["named"]
    certain = found["bare"] is None and found["named"] is None
    typed = certain or (found["bare"] or "").startswith("$")
    return Echo(found["command"].strip(), short_host(host) if host else None, certain, typed)


def asks_name(command: str) -> bool:
    """True if the command prints only the name of its host."""
    return _ASKS_NAME.match(command) is not None


def host_name(line: str) -> str | None:
    """The host that such a command printed; None for names that mean the local host."""
    found = _BANNER_NAME.match(line)
    name = short_host(found["name"]) if found else "localhost"
    return None if name.lower() == "localhost" else name


def prompt_above(line: str) -> str | None:
    """The host in the upper line of a two-line prompt (``┌──(root@node1)-[~]``), or None."""
    found = _PROMPT_ABOVE.match(line) if len(line) < 300 else None  # noqa: PLR2004
    return short_host(found["host"]) if found else None


def is_empty_prompt(line: str) -> bool:
    """True for a prompt without a command, which ends the output above it."""
    return _BARE_END.match(line.strip()) is not None or (len(line) < 300 and _EMPTY_PROMPT.match(line) is not None)  # noqa: PLR2004


def is_fence(line: str) -> bool:
    """True if the line begins or ends a Markdown code block."""
    return line.lstrip().startswith(("```", "~~~"))


def is_rule(line: str) -> bool:
    """True for a line of dashes or similar, as dshbak and clush print above and below a host name."""
    return len(line) < 200 and _RULE.match(line) is not None  # noqa: PLR2004


def banner(line: str) -> tuple[str | None] | None:
    """The host between two ruler lines, or the folded set of several (``node[1-4]``); None for no host.

    A word without a digit, a dot or a dash is a heading, not a host.
    """
    if len(line) > 250 or not re.search(r"[\d.-]", line):  # noqa: PLR2004
        return None
    one = _BANNER_NAME.match(line)
    if one:
        return (short_host(one["name"]),)
    several = _BANNER_SET.match(line)
    return (several["names"] if "[" in line or "," in line else None,) if several else None


def remote(command: str) -> tuple[str | None, str]:
    """The host (or pod) of ``ssh HOST COMMAND`` and similar commands, and the command that runs there."""
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
    """(host, title) of a line that only says where the following output comes from; None for any other line.

    Examples: ``==> node1/ibstat.txt <==``, ``=== node1 ===``.
    """
    if len(line) > 200:  # noqa: PLR2004
        return None
    line = line.strip()
    found = _HEADER.match(line)
    if not found:
        host = _labelled(line)
        return (host, None) if host else None
    if found["path"]:
        parts = found["path"].split("/")
        if parts[:2] in _SYSTEM:
            return None, f"cat {found['path']}"
        return (short_host(parts[-2]) if len(parts) > 1 else None), parts[-1].rsplit(".", 1)[0]
    name = found["name"] or found["said"]
    if found["said"] is None and re.fullmatch("[-_]*(?:[A-Z]+|[A-Z][a-z]+)[-_]*", name):
        return None, found["what"] or name  # a heading such as ---TOPO--- or == References ==
    return short_host(name.rstrip("-_")), found["what"]


def _labelled(line: str) -> str | None:
    """The host in a heading of ansible or pssh, or in a hand-written label.

    ``Node 1:`` becomes ``node1``; a name that is written with a dash (``node-1:``) stays.
    """
    ran, label = _RAN_ON.match(line), _LABEL.match(line)
    if ran:
        return short_host(ran["ansible"] or ran["pssh"])
    if label:
        return f"{label['what'].lower()}{label['dash'] or ''}{label['number']}"
    if line[-1:] in _LABEL_ENDS or line[:1] in "#*":  # which few lines have: it costs no call
        return described(line) or _said_host(line)
    return _said_host(line)


def _said_host(line: str) -> str | None:
    """The host in a short phrase that ends in a colon; without a preposition, only a name with a dash."""
    if not line.rstrip("*_` \t").endswith((":", "\uff1a")):
        return None
    if ran := _RUN_ON.match(line):
        return ran["host"] or ran["there"]
    found = _ON_HOST.match(line)
    if (
        found is None
        or NO_HOST.fullmatch(found["host"])
        or not (found["words"] or found["what"] or "-" in found["host"])
    ):
        return None
    return found["host"]


def title(line: str) -> str | None:
    """The command, if the line consists of one alone, perhaps decorated as a heading (``## nvidia-smi topo -m:``)."""
    found = _DECORATED.match(line) if len(line) < 120 else None  # noqa: PLR2004
    return found["command"].strip() if found and not _SAYS.search(line) else None


def command_after_label(line: str) -> tuple[str, str] | None:
    """(host, command) of ``server A: ibdev2netdev``, a label with one command after it; None for any other line."""
    label, colon, rest = line.partition(": ") if len(line) < 120 else ("", "", "")  # noqa: PLR2004
    command = title(rest) if colon else None
    host = _labelled(f"{label.strip()}:") if command else None
    return (host, command) if host and command else None


def output_on(line: str) -> tuple[str, str] | None:
    """(command, host) of a heading that names both (``dmesg on node2:``), or None."""
    found = _OUTPUT_ON.match(line) if len(line) < 120 else None  # noqa: PLR2004
    return (found["command"].strip(), short_host(found["host"])) if found else None


def unquote(line: str) -> str:
    """Remove the ``> `` of a quoted mail or ticket."""
    found = _QUOTE.match(line)
    return line[found.end() :] if found else line


class Prefix(msgspec.Struct, frozen=True):
    """What precedes a program's text on a line: ``text`` is the same on each line, after a time if ``timed``.

    ``host`` is the host that it names. A prefix of blanks is an indentation, of which a line may have less.
    """

    text: str
    host: str | None = None
    timed: bool = False

    def removed(self, line: str) -> str | None:
        """The line without the prefix; None if it has another prefix."""
        if not line.strip():
            return line
        if self.timed:
            time = _TIME.match(line)
            if time is None:
                return None
            line = line[time.end() :]
        fixed = self.text.rstrip()
        if not line.startswith(fixed):
            return None
        rest = line[len(fixed) :]
        width = len(self.text) - len(fixed)
        return rest[:width].lstrip() + rest[width:]


@functools.lru_cache(_LINES)
def prefixes(line: str) -> tuple[Prefix, ...]:
    """Candidates for the prefix that a launcher, a log or an indentation added to the line, most certain first."""
    time = _TIME.match(line)
    rest = line[time.end() :] if time else line
    found = [Prefix("", timed=True)] if time else []
    launcher = _LAUNCHER.match(rest)
    if launcher:
        found.append(Prefix(launcher[0], timed=time is not None))
    else:
        labelled, number, path = _HOST_PREFIX.match(rest), _RANK_LABEL.match(rest), _FILE_PREFIX.match(rest)
        if labelled:
            found.append(Prefix(labelled[0], short_host(labelled["host"]), timed=time is not None))
        if number:
            found.append(Prefix(number[0], timed=time is not None))
        if path:
            found.append(Prefix(path[0], timed=time is not None))
    result: list[Prefix] = []
    for prefix in [*([] if time else [Prefix("")]), *found]:
        behind = prefix.removed(line) or ""
        blanks = behind[: len(behind) - len(behind.lstrip())]
        if prefix.text or prefix.timed:
            result.append(prefix)
        if blanks:
            result.append(Prefix(prefix.text + blanks, prefix.host, prefix.timed))
    return tuple(result)


def short_host(name: str) -> str:
    """A host name without its domain, as NCCL prints it (src/misc/utils.cc, getHostName cuts at the first dot)."""
    return name if re.fullmatch(r"[\d.]+", name) else name.split(".", 1)[0]
