"""Programs, rules, alerts and diffs in a text: what they name, they print only when they run."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from ncdiag.base.patterns import lazy_regex
from ncdiag.formats.blocks.own_trouble import is_present
from ncdiag.formats.line_kinds import is_printed, kind_of, printed_by

_LONGEST = 2000

_DEFINES = lazy_regex(
    r"\s*(?:#!\s?/\S*/(?:env )?\w*sh\b|(?:async )?def \w+\(|class \w+.*[:{]$|import \w[\w., ]*(?: as \w+)?;?$"
    r"|from [\w.]+ import |#include\s*[<\"]|package \w+;?$"
    r"|func (?:\(|\w+\()|(?:var|const|let|static|public|private|typedef|struct|enum|fn|impl|use)\s.*[({;=]\s*$"
    r"|(?:static |const |inline )*[\w:*&<>]+ \*?\w+\([^)]*\) ?\{$|import \("
    r"|(?:pre_|post_)?tasks:$|handlers:$|(?:- )?(?:ansible|community)\.\w+\.\w+:"
    r"|\[{1,2}[a-z][\w.-]*(?:\.\"[^\"]*\")?\]{1,2}$|(?:- )?alert: \w|(?:code|title|pattern|regex) = [\"'])"
)
_STATEMENT = lazy_regex(
    r"\s*(?:#!|(?:if|while|until|for|elif)\b.*;\s?(?:then|do)$|(?:fi|done|esac|else|then|do)$|case .* in$"
    r"|echo\s|printf\s|exit \d|set -|(?:local|readonly|declare|export|unset|trap|source) |shift$"
    r"|\[\[? .* \]\]?(?: (?:&&|\|\|) .*)?$|\(\( .* \)\)(?: (?:&&|\|\|) .*)?$|[\w-]+\(\) ?\{"
    r"|[\w\"*|-]+\)\s.*;;$|def |class |import |from \S+ import |return\b|(?:if|for|while|with|elif|else|try"
    r"|except|finally|switch|case)\b.*[:{]$"
    r"|raise |assert |@\w+|#include|[\w.>-]+(?:\[[^\]]*\])?(?:: \w+)? ?[+*/-]?= ?\S|[\w.>:-]+\(.*\)?[;,]?$"
    r"|[{}\[\]();,]+$|//|/\*|\*/?\s|# |\"\"\""
    r"|(?:const |static |var |let |auto )|[frbuL]{0,2}[\"'].*[\"'][,;)]*$|\[{1,2}[\w.\"' -]+\]{1,2}$"
    r"|[\w.\"-]+ = |(?:- )?[\w.-]+:(?:$| [\"'|>])|(?:- )?(?:alert|expr|for|description|runbook\w*|severity"
    r"|name|record): \S|\}.*\{$|\"\"\".*)"
)
_COMMENT = lazy_regex(r"\s*(?:#(?!!)|//|--\s|;)\s?")
_TRIPLE = lazy_regex(r"\"{3}|'{3}")
_QUERY = lazy_regex(r"\"(?:expr|query|rawSql|rawQuery)\"\s{0,4}:\s{0,4}\"")
_PLACE = lazy_regex(r"\{\{-? ?[$.]?[A-Za-z][\w.]{0,60}(?: ?\| ?[\w .:'\"()-]{1,60})? ?-?\}\}")
"""A query of a dashboard, and where a template puts a value."""
_INDENT = frozenset(" \t")
_STATEMENTS, _OTHERS, _LONGEST_TEXT = 4, 2, 200
"""Minimum number of statements of a program, and maximum numbers of other lines among them and of lines of a text."""
_DIFF = lazy_regex(r"diff --git \S|--- \S+.*|\+\+\+ \S|@@ -\d")
_OF_DIFF = lazy_regex(r"[ +@\\-]|diff |index [0-9a-f]|(?:new|deleted) file|similarity |rename |\t?$")


def sources(lines: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Programs, rules and alerts, and diffs. A traceback is not a program."""
    yield from _diffs(lines)
    yield from _dashboards(lines)
    begin = last = quoted = -1
    strong = defines = others = 0
    for index, line in enumerate(lines):
        text = line[:_LONGEST].rstrip()
        if quoted >= 0:  # in a text of several lines
            quoted = -1 if _TRIPLE.search(text) or index - quoted > _LONGEST_TEXT else quoted
            last = index
            continue
        opens = len(_TRIPLE.findall(text)) % 2 == 1
        if _is_code(lines, index, text) or (begin >= 0 and opens):
            if begin < 0:
                begin, strong, defines = index, 0, 0
            last, others, strong = index, 0, strong + 1
            defines += _DEFINES.match(text) is not None
            quoted = index if opens else -1
        elif begin >= 0 and text:
            neutral = text[:1] in _INDENT and printed_by(text) is None
            last += neutral and index == last + 1 and not is_printed(text)
            others += not neutral
            if others > _OTHERS or (not neutral and kind_of(text) in {"log", "command"}):
                yield from _program(lines, begin, last, strong, defines)
                begin, others = -1, 0
    yield from _program(lines, begin, last, strong, defines)


def _dashboards(lines: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Panels in JSON, with the queries that look for messages."""
    asked = [index for index, line in enumerate(lines) if _QUERY.search(line[:_LONGEST])]
    panels = [index for index, line in enumerate(lines[: asked[-1] + 1]) if '"panels"' in line] if asked else []
    if panels:
        yield panels[0], asked[-1]


def templates(lines: Sequence[str], indexes: Iterable[int]) -> Iterator[tuple[int, int]]:
    """Those of the lines that have a place for a value: a program fills it before it prints the line."""
    return ((index, index) for index in indexes if "{{" in lines[index] and _PLACE.search(lines[index][:_LONGEST]))


def _program(lines: Sequence[str], begin: int, last: int, strong: int, defines: int) -> Iterator[tuple[int, int]]:
    if begin >= 0 and defines and strong >= _STATEMENTS:
        yield _without_reports(lines, begin, last)


def _without_reports(lines: Sequence[str], begin: int, last: int) -> tuple[int, int]:
    """The lines of a program without comments above and below it in which somebody says what goes wrong now."""
    end = last
    while end > begin and (not lines[end].strip() or _COMMENT.match(lines[end])):
        end -= 1
    if any(is_present(_COMMENT.sub("", line, count=1)) for line in lines[end + 1 : last + 1]):
        last = end
    first = begin
    while first < last and (not lines[first].strip() or _COMMENT.match(lines[first])):
        first += 1
    if any(is_present(_COMMENT.sub("", line, count=1)) for line in lines[begin:first]):
        begin = first
    return begin, last


def _is_code(lines: Sequence[str], index: int, text: str) -> bool:
    """True for a statement or a definition; the lines of a traceback quote some."""
    if not text or not (_STATEMENT.match(text) or _DEFINES.match(text)) or (kind_of(text) == "log" and '"' not in text):
        return False
    return not (index and lines[index - 1].lstrip().startswith('File "'))


def _diffs(lines: Sequence[str]) -> Iterator[tuple[int, int]]:
    index = 0
    while index < len(lines):
        if _DIFF.match(lines[index]) and any(line.startswith("@@ -") for line in lines[index : index + 6]):
            end = index
            while end + 1 < len(lines) and _OF_DIFF.match(lines[end + 1]) and not lines[end + 1].startswith("-- "):
                end += 1
            while end > index and not lines[end].strip():
                end -= 1
            yield index, end
            index = end
        index += 1
