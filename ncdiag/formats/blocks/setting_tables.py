"""Tables that explain settings: what each means, its default, an example value. Nothing in them is set.

A table of what somebody has set has other columns: a value, a host, why it is set.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from ncdiag.base.patterns import lazy_regex
from ncdiag.formats.blocks.stretches import end_of_paragraph
from ncdiag.formats.guarded import guarded_regex

_LONGEST = 400
_JUDGED = 64
"""Maximum number of rows of a table that are judged."""
_BETWEEN = lazy_regex(r"\s*\|\s*|\t+|\s{2,}|</t[hd]>\s*<t[hd][^>]{0,60}>")
_AROUND = lazy_regex(r"</?t[rhd][^>]{0,60}>|[*_`#]+")
_NAME = lazy_regex(
    r"(?:(?:env(?:ironment)?|nccl|config(?:uration)?|runtime)\s)?"
    r"(?:variables?|settings?|options?|parameters?|flags?|keys?|knobs?|envs?|vars?|names?)(?:\snames?)?"
    r"|(?:umgebungs)?variablen?|einstellung(?:en)?"
    r"|\u53d8\u91cf\u540d?|\u73af\u5883\u53d8\u91cf|\u53c2\u6570\u540d?|\u8bbe\u7f6e|\u540d\u79f0",
    re.IGNORECASE,
)
_EXPLAINS = (
    r"(?:short\s)?(?:meanings?|descriptions?|explanations?|purposes?|what\sit\s(?:does|means|is\sfor)|used\sfor"
    r"|default(?:s|\svalues?)?|(?:an?\s|typical\s|sample\s)?examples?(?:\svalues?)?|sample(?:\svalue)?s?"
    r"|(?:allowed|possible|valid|legal|accepted)(?:\svalues?)?|values?\saccepted|choices"
    r"|bedeutung|beschreibung|standard(?:wert)?|vorgabe(?:wert)?|beispiel(?:wert)?e?|m\u00f6gliche\swerte"
    r"|\u542b\u4e49|\u8bf4\u660e|\u63cf\u8ff0|\u4f5c\u7528|\u9ed8\u8ba4\u503c?|\u793a\u4f8b\u503c?|\u4f8b\u5b50|\u53ef\u9009\u503c|\u53d6\u503c\u8303\u56f4)"
)
_EXPLAINED = lazy_regex(_EXPLAINS, re.IGNORECASE)
_BESIDE = lazy_regex(
    r"types?|since|versions?|releases?|units?|range|required|mandatory|notes?|see\salso|scope|category|group|no\.?|#"
    r"|typ|seit|einheit|\u7c7b\u578b|\u7248\u672c|\u5355\u4f4d|\u5907\u6ce8|\u5e8f\u53f7",
    re.IGNORECASE,
)
"""Other columns that such a table may have."""
_HEADED = guarded_regex(_EXPLAINS, re.IGNORECASE)
_RULE = lazy_regex(r"[\s|:=+-]{3,}$")
_SETTING = lazy_regex(r"\W{0,8}(?:export\s)?(?:[A-Z][A-Z0-9]{1,20}_[A-Z0-9_]{2,40}|--?[a-z][\w-]{2,40})\b")


def setting_tables(lines: Sequence[str]) -> Iterator[tuple[int, int]]:
    """The first and last index of each such table, from its heading to the next empty line."""
    end = found = -1  # of the present paragraph, and of the last table
    for index, line in enumerate(lines):
        if "|" not in line and "\t" not in line and "  " not in line and "<t" not in line:
            continue  # most lines, without a call
        if index <= found or len(line) > _LONGEST or not _HEADED.search(line) or not _is_heading(line):
            continue
        end = last = end if index <= end else end_of_paragraph(lines, index)
        rows = _rows(lines, index, last)
        if not rows and last + 2 < len(lines):  # a blank line below the heading
            last = end_of_paragraph(lines, last + 2)
            rows = _rows(lines, index, last)
        if rows and 2 * sum(_SETTING.match(row[:_LONGEST]) is not None for row in rows) >= len(rows):
            found = last
            yield index, last


def _rows(lines: Sequence[str], heading: int, last: int) -> list[str]:
    """The rows below a heading, up to a maximum number of lines: each of many lines may be a heading."""
    below = lines[heading + 1 : min(last, heading + _JUDGED) + 1]
    return [row for row in below if row.strip() and not _RULE.match(row)]


def _is_heading(line: str) -> bool:
    """True if the columns are a name, an explanation of it, and nothing that such a table does not have."""
    cells = [cell for each in _BETWEEN.split(line.strip().strip("|")) if (cell := _AROUND.sub("", each).strip())]
    if len(cells) < 2 or not any(map(_NAME.fullmatch, cells[:2])):  # noqa: PLR2004  (a name, and what explains it)
        return False
    known = (_NAME, _EXPLAINED, _BESIDE)
    return any(map(_EXPLAINED.fullmatch, cells)) and all(any(k.fullmatch(cell) for k in known) for cell in cells)
