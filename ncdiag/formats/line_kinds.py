"""The kind of a line (log, command, prose, table, code, quoted), and what in it are names and not words.

Both depend on the form of the line alone. Whatever has no form of a program, a table or a quotation is prose. Kinds of
blocks and texts (`ncdiag.formats.blocks.kinds`) are made of the kinds of their lines.
"""

from __future__ import annotations

import functools
from typing import Literal

from ncdiag.base.patterns import lazy_regex

Kind = Literal["log", "command", "prose", "table", "code", "quoted"]
_LONGEST, _SHORT, _REMEMBERED = 2000, 40, 1 << 15
"""Maximum number of characters checked in a line, or in its indentation; maximum number of lines in the cache."""
_LOG = lazy_regex(
    r"\s*(?:\S{1,80}:\d+:\d+ \[\d+\] |\[ {0,8}[^\]\s]{0,40}\d[^\]]{0,60}\]|\(\w+ pid=|[EWIF]\d{4} "
    r"|\[[EWIF] \w+\.(?:cpp|cc|h|hpp|cu):\d+\]|\d{4}-\d\d-\d\dT?"
    r"|(?:\S{1,80} ){3}\[\d\d/[A-Z][a-z]{2}/\d{4}:"  # a web server's requests
    r"|\d\d:\d\d:\d\d|\d{1,5}: |(?:[A-Z][a-z]{2} ){1,2}\s?\d{1,2} \d\d:\d\d|(?:NCCL|RCCL) (?:INFO|WARN)\b"
    r"|(?:INFO|WARN(?:ING)?|ERROR|DEBUG|FATAL|CRITICAL|TRACE)\b[ :\[]|libfabric:\d|\S+:\d+ NCCL |kernel: |NVRM: "
    r"|[\w./-]+\.(?:cc|cpp|cu|c|h|hpp|py|go):\d+|Traceback |File \"|\w+(?:\.\w+)*(?:Error|Exception|Warning): "
    r"|what\(\):|terminate called|#\d+ +0x|\w+: (?:error|warning|fatal): "
    r"|Abort\(-?\d+\) on node \d|\w{1,60}\(\d{1,5}\)\.{1,40}:|MPI\w{1,60}\(\d{1,5}\): )"  # an error stack of MPICH
)
_LEVEL = lazy_regex(r"\b(?:NCCL|RCCL) (?:INFO|WARN|TRACE)\b|<(?:warn|info|error)>|^\S+ (?:WARN|INFO|ERROR) ")
_COMMAND = lazy_regex(
    r"\s*(?:\(\w+\) )?(?:[\w.-]+@[\w.-]+:?[^$#\n]{0,60}[$#] |[$%] (?=\S)|\+ |#!|(?:export|sudo|docker|podman|kubectl"
    r"|mpirun|mpiexec|srun|sbatch|torchrun|deepspeed|python3?|bash|sh|pip|conda|ssh|make|git|cd|apt(?:-get)?|modprobe"
    r"|nvidia-smi|helm|accelerate|horovodrun|ray|vllm|ib_\w+_bw|ibstat)\s+(?:-|/|\.|\w+[=/.-]|(?:run|install|exec"
    r"|apply|topo|serve|launch)\b)|#SBATCH|[A-Z][A-Z0-9_]{2,40}=\S|\./\S+ |-{1,2}\w[\w-]*[= ]\S+(?: \\)?$|-x \w+)"
)
_CONTINUED = lazy_regex(r"\\\s*$")
_TABLE = lazy_regex(
    r"\s*(?:\|.*\||[+=_-]{6,}|(?:\S+\s{2,}){3,}\S+\s*$|#?\s+\d+\s+\d+\s+\w+|[^\t\n]{0,80}\t[^\t\n]{0,80}\t)"
)
_CODE = lazy_regex(
    r"\s*(?:def |class |import |from \S+ import |return\b|if .*:$|for .* in .*:$|with .*:$|elif |else:|try:|except\b"
    r"|@\w+|#include|int main|[\w.]+\(.*\)[;:]?$|\w+ = |[\w.\"'-]+: [\w\"'\[{./-]\S*$|- name: |[{}\[\]();,]+$"
    r"|\"[\w./-]+\": |//|/\*|\w+\s?[+*/-]?=\s?\w+\()"
)
_QUOTED = lazy_regex(r"\s*>{1,3} ")
_SENTENCE = lazy_regex(r"(?<![^\W\d_])(?:[^\W\d_]+[',;:]? ){4}[^\W\d_]|[\u3040-\u30ff\u3400-\u9fff]{6}")
"""Five words in a row, or six Chinese or Japanese characters."""
_ITEM = lazy_regex(r"\s{0,8}(?:[-*+\u2022]|\d{1,2}[.)])\s+\S")
_TITLE = lazy_regex(
    r"#{1,6} \S|\d{1,2}(?:\.\d{1,2}){1,3} [^\d\s].{0,40}$"
    r"|[A-Z\u00c0-\u00de\u0400-\u042f\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3][^.?!;={}<>|]{2,70}:?$"
)
_PROCESS = lazy_regex(
    r"(?:\d\d:\d\d:\d\d(?:[.,]\d{1,9})? )?"
    r"(?:(?:\[[^\]\s]{1,40}\]:?\s?(?:<std(?:out|err)>:)?)?(?P<host>[\w.-]{1,80}):(?P<pid>\d+):\d+ \[\S{1,4}\] "
    r"|(?:\[[EWIF]\d{0,4} [^\]\s]{1,60}\] |\S*)\[(?P<rank>[Rr]ank ?\d+)\]"
    r"|(?P<time>(?:\S+ )?\[?(?:\d{4}[-/.]\d\d[-/.]\d\d|[A-Z][a-z]{2} [ \d]\d)[T ,]"
    r"\d\d:\d\d:\d\d)|(?P<kernel>\[ {0,8}\d+\.\d{6}\])|(?P<actor>\(\w+ pid=\d+)"
    r"|(?P<glog>[EWIF]\d{4} |\[[EWIF](?:\d{3,4} [\d:.]{8,20})? \w{1,60}\.(?:cpp|cc|h|hpp|cu):\d+\]))"
)
LABEL = lazy_regex(r"(\s{0,8}\[?[\w.-]{1,40}\]?: ) {0,60}(?=\S)")
"""The name of a host or the number of a task in front of a line."""
_QUOTATION = lazy_regex(r"\"[^\"]{0,400}\"|`[^`]{0,400}`|\u201c[^\u201d]{0,400}\u201d|\u300c[^\u300d]{0,400}\u300d")
_CELLS = lazy_regex(r"\"[;,\t|]\"(?:[^\"]{0,400}\"[;,\t|]\"){2}")
"""Cells of a table that are in quotation marks, four at least."""
_NAMES = lazy_regex(
    r"\b(?:https?|ftp)://\S+|^(?:\[[^\]\s]{0,40}\]\s?(?:<std(?:out|err)>:)?)?[\w.-]{1,80}:\d+:\d+ (?=\[\d+\])"
    r"|(?<![\w.-])[\w.-]{1,64}@[\w.-]{1,64}:\S{0,200}[$#]"
)
"""Addresses of pages, the host and the process in front of a line, and a prompt."""
_SETTING = lazy_regex(
    r"\s*(?:export |declare -x |-x |-e )?\s*[A-Z][A-Z0-9_]{2,60}=(?:\"[^\"]*\"|'[^']*'|[^\s\"']*)(?:\s*\\|;)?\s*"
)
_COMMENTED = lazy_regex(
    r"\s*#(?:(?:export\s)?[A-Za-z_][A-Za-z0-9_]{2,60}=(?:\"[^\"]*\"|'[^']*'|[^\s\"']+)\s*;?\s*\\?\s*$"
    r"|\s{0,8}--?[A-Za-z][\w-]{1,60}[= ]\S+\s?\\?\s*$"
    r"|(?:export|mpirun|mpiexec|srun|torchrun|deepspeed|accelerate|horovodrun|python3?)\s\S)"
)
"""A setting, an option or a command of a script after a comment sign, without a blank: titles and prompts have one."""
_OF_NAMES = ("://", " [", "@")
"""One of these is in each of them."""


@functools.lru_cache(_REMEMBERED)
def kind_of(line: str) -> Kind:
    """The kind of a line."""
    line = line[:_LONGEST]
    if _LOG.match(line) or _LEVEL.search(line):
        return "log"
    if _COMMAND.match(line) or _CONTINUED.search(line):
        return "command"
    if _QUOTED.match(line):
        return "quoted"
    if _TABLE.match(line):
        return "table"
    return "code" if _CODE.match(line) else "prose"


def is_setting(line: str) -> bool:
    """True if the line gives a variable a value, and says nothing else: what it says is a fact, and not an opinion."""
    return _SETTING.fullmatch(line[:_LONGEST]) is not None


def is_commented_out(line: str) -> bool:
    """True for a line of a script that was commented out: what it sets or starts is just not so."""
    return "#" in line[:_SHORT] and _COMMENTED.match(line[:_LONGEST]) is not None


def without_names(line: str) -> str:
    """The line with blanks for what in it is only a name: a host ``ib-vm-43`` is not a virtual machine."""
    return _NAMES.sub(" ", line) if any(map(line.__contains__, _OF_NAMES)) else line


def without_quotations(line: str) -> str:
    """The line with blanks for what it quotes, between quotation marks or backticks; the cells of a row stay."""
    line = line[:_LONGEST]
    may_be_row = '";"' in line or '","' in line or '"\t"' in line or '"|"' in line
    return line if may_be_row and _CELLS.search(line) else _QUOTATION.sub(" ", line)


@functools.lru_cache(_REMEMBERED)
def is_printed(line: str) -> bool:
    """True if the line begins as one that a program printed; a sentence may name such a line further on."""
    return _LOG.match(line[:_LONGEST]) is not None


@functools.lru_cache(_REMEMBERED)
def is_sentence(line: str) -> bool:
    """True if a person wrote the line, as far as its form says: prose or a quotation, with five words in a row."""
    return kind_of(line) in {"prose", "quoted"} and _SENTENCE.search(line[:_LONGEST]) is not None


def is_item(line: str) -> bool:
    """True if the line is an item of a list: it begins with a bullet or a number."""
    return _ITEM.match(line) is not None


def is_title(line: str) -> bool:
    """True if the line may be a heading: one of Markdown, or a few words that begin with a capital, without a stop."""
    return kind_of(line) == "prose" and _TITLE.match(line) is not None


def printed_by(line: str) -> tuple[str, str] | None:
    """Who printed a line of a log, as its prefix says: the sort of prefix, and the process in it if it names one.

    None if the line has no such prefix.
    """
    found = _PROCESS.match(line.lstrip()[:_LONGEST])
    if found is None:
        return None
    if found["pid"]:
        return "process", f"{found['host']}:{found['pid']}"
    return found.lastgroup or "process", ""


def printed_behind_label(line: str) -> tuple[str, str] | None:
    """The same behind the name of a host or the number of a task, which srun -l, pdsh and others put in front."""
    label = LABEL.match(line)
    return printed_by(line[label.end() :]) if label else None
