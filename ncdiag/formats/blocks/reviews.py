"""Reviews of code: comments on places in a program, and words by which reviewers decide."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ncdiag.base.patterns import lazy_regex
from ncdiag.formats.blocks.stretches import end_of_paragraph
from ncdiag.formats.line_kinds import is_printed

_LONGEST = 400
_PLACE = lazy_regex(
    r"(?:\W{0,6}[\w.-]{1,30}\W{0,3} (?:commented )?on |\W{0,6})[\w./+-]{1,120}\.[a-z]\w{0,4}"
    r"(?:\W{1,3}(?:at )?lines? ?|:|#L)\d{1,6}(?:[-\u2013]L?\d{1,6})?\W{0,3}\s*$"
    r"|\s{0,4}(?:PS\d{1,3}, )?Line \d{1,6}: \S|In [\w./+-]{1,120}\.[a-z]\w{0,4}:\s*$"
)
"""The line that names the place of a comment, or a comment with its line."""
_DECIDED = lazy_regex(
    r".*\b(?:LGTM|[Aa]pproved|[Rr]equested changes|(?:Code-Review|Verified) ?[+-]\d|nit:|Reviewers?:"
    r"|Reviewed-by:|[Rr]eviewed\b|Merged by|Submitted as)"
)
_HUNK = lazy_regex(r"@@ -\d{1,7}(?:,\d{1,7})? \+\d")
_COMMENTED = lazy_regex(
    r"@?[\w-]{1,39}(?: \(.{1,30}\))? (?:commented|replied|suggested changes)\b[^.:]{0,60}$"
    r"|[^\W\d_][\w. -]{1,40} @[\w.-]{1,39} \u00b7 [^.:]{3,40}$"
)
_REVIEWED = lazy_regex(
    r"(?:\W{0,4}LGTM\b|.*\b(?:approved these changes|requested changes|left (?:a )?(?:review )?comments?"
    r"|marked this conversation as resolved|approved this merge request|resolved all threads)\b)"
)
"""A hunk of a diff, the head of a comment on it, and what only reviews of a change have."""
_PLACES = 2
_APART = 12
"""Maximum number of lines between places and the names of the reviewers above, or what they decided below."""


def _conversations(lines: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Comments below a hunk, with the decision of a reviewer: the page of a change on GitHub and its kin."""
    hunks = [index for index, line in enumerate(lines) if _HUNK.match(line[:_LONGEST])]
    decided = [index for index, line in enumerate(lines) if _REVIEWED.match(line[:_LONGEST])]
    if not hunks or not decided:
        return
    last = end_of_paragraph(lines, decided[-1])
    said = [index for index in range(hunks[0], last + 1) if _COMMENTED.match(lines[index][:_LONGEST])]
    if len(said) >= _PLACES and not any(map(is_printed, lines[hunks[0] : last + 1])):
        yield max(0, hunks[0] - 1), last


def reviews(lines: Sequence[str]) -> Iterator[tuple[int, int]]:
    """The review in a text, from its reviewers or its first place to its last comment or decision."""
    yield from _conversations(lines)
    places = [index for index, line in enumerate(lines) if _PLACE.match(line[:_LONGEST])]
    if len(places) < _PLACES:
        return
    near = range(max(0, places[0] - _APART), min(len(lines), places[-1] + _APART))
    decided = [index for index in near if _DECIDED.match(lines[index][:_LONGEST])]
    between = lines[places[0] : max(places[-1], decided[-1])] if decided else ()
    if decided and not any(is_printed(line) and not _PLACE.match(line) for line in between):
        first = min(places[0], decided[0])
        while first > 0 and lines[first - 1].strip():
            first -= 1
        last = end_of_paragraph(lines, max(places[-1], decided[-1]))
        yield first, end_of_paragraph(lines, last, gap=1) if last == places[-1] else last
