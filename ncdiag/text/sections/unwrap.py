"""Join lines that a terminal, a mailer or a chat wrapped at its width.

Tables also have lines of equal length, and prose has long ones, so the results are guesses: the caller keeps the guess
that can be understood best (`ncdiag.text.sections.undress`). A joined line has the number of its first part.
"""

from __future__ import annotations

import enum
import itertools
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence

import msgspec

from ncdiag.base.patterns import lazy_regex
from ncdiag.text.sections.line import Line

NARROWEST, WIDEST = 40, 250
"""Widths of terminals, mails and tickets."""
ENOUGH = 3
"""Minimum number of lines that end at a width before it is taken for the width of the whole text."""
FEW = 2
"""The smaller minimum, used where there is further evidence and none against it."""
_WIDTHS, _OFTEN = 3, 5
"""Number of widths that are tried, and minimum number of lines for a width other than that of the longest line."""
_SOUND = 3
"""Required ratio of lines of a width that continue on the next line to those that do not."""
_ALIKE = 10
"""Characters at the start that lines of one program have in common."""
_BEGINNING, _ALIKE_BUT_NUMBERS = 64, 16
"""Characters at the start in which one stands for each number, and those that lines of several ranks have in common."""
_NUMBER, _LETTER = lazy_regex(r"\s*\d+"), lazy_regex(r"[A-Za-z]")
_COLUMNS = 3
"""Minimum number of columns that rows of a table have in common."""
_LONGEST = 24
"""Maximum number of pieces of one line."""
_PLACES, _FOLLOWING = 120, 6
"""Maximum number of positions that are tried one by one, and of lines that an NCCL line may fill at each."""

_MARK = lazy_regex(r"NCCL (?:INFO|WARN|ATTN|TRACE|CALL) ")
_OWN = lazy_regex(
    r"\s*$|[\w.-]{1,64}:\d{1,10}:\d{1,10} \["
    r"|NCCL (?:INFO|WARN) |\[?\d{4}-\d\d-\d\d|```|~~~|[$#>] |\[?[\w.-]{1,64}@[\w.-]{1,64}"
    r"|[\w.-]{1,64}\[\d{1,10}\]: |Traceback |\s+File \""
    r"|(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) {1,2}\d{1,2} \d{1,2}:\d",
    re.ASCII,
)
"""Beginnings of lines that do not continue another line."""
_OWN_NCCL = lazy_regex(
    r"[^\n]{0,120}?[\w.-]{1,64}:\d{1,10}:\d{1,10} [^\n]{0,160}?NCCL (?:INFO|WARN|TRACE|CALL) "
    r"|[^\n]{0,40}NCCL version \d",
    re.ASCII,
)
"""The same for NCCL's lines."""

_GAP = lazy_regex(r"(?<=\S) {2,}")
_HANGING = lazy_regex(r"(?: {2,80}|\t{1,4} {0,8})\S")
_WITHIN = lazy_regex(r" ?[A-Za-z0-9:]")
"""How a line continues after a break at an arbitrary position."""


class Reach(enum.IntEnum):
    """How well the lengths of lines fit the assumption that they were wrapped.

    ANY: any width; FULL: nearly the longest line; EXACT: exactly the longest; WITHIN: exactly another width, which also
    happens by chance.
    """

    ANY = 0
    FULL = 1
    EXACT = 2
    WITHIN = 3


Whole = tuple[int, int, Line]
"""Lines that may be one: (start, end, joined line)."""


def guesses(lines: Sequence[Line]) -> Iterator[tuple[list[Whole], Reach]]:
    """Yield guesses which lines to join: broken anywhere at one width, between words at the longest, or at any width.

    Each with a measure of how well the lengths fit. If all breaks are at one width, the second guess is left out.
    """
    hard: set[tuple[int, int]] = set()
    widest = max((len(line.text) for line in lines), default=0)
    own = [_is_own(line.text) for line in lines]
    for width in _widths(lines, own):
        chains = list(_chains(lines, _at_width(lines, own, width)))
        hard.update(chains)
        yield _whole(lines, chains, ""), Reach.EXACT if width == widest else Reach.WITHIN
    hard = hard if len(hard) >= FEW else set()
    full = _at_words(lines, own, widest) if NARROWEST <= widest <= WIDEST else {}
    for starts in (full, dict.fromkeys(index for index in full if _is_nccl(lines[index]))):
        chains = list(_chains(lines, full, starts))
        if not hard.issuperset(chains):
            yield _whole(lines, chains, " "), Reach.FULL
    begun = {start for start, _ in hard}
    places = [place for place in _windows(lines) if place[0] not in begun]
    yield [whole for place in places for glue in ("", " ") for whole in _whole(lines, [place], glue)], Reach.ANY


def _whole(lines: Sequence[Line], places: Iterable[tuple[int, int]], glue: str) -> list[Whole]:
    return [(start, end, _glued(lines[start:end], glue)) for start, end in places]


def _widths(lines: Sequence[Line], own: Sequence[bool]) -> list[int]:
    """At most three line lengths at which nearly all lines continue on the next one, if they were wrapped there."""
    wide: Counter[int] = Counter()
    going_on: Counter[int] = Counter()
    for line, begins in zip(lines, own[1:], strict=False):
        width = len(line.text)
        if NARROWEST <= width <= WIDEST:
            wide[width] += 1
            going_on[width] += not begins
    widest = max((len(line.text) for line in lines), default=0)
    return [
        width
        for width, count in going_on.most_common(_WIDTHS)
        if count and count * (_SOUND + 1) >= wide[width] * _SOUND and (width == widest or count >= _OFTEN)
    ]


def _windows(lines: Sequence[Line]) -> list[tuple[int, int]]:
    """(start, end) of lines of no known origin in which an NCCL line may continue, whatever the width, or indented.

    Empty if there are too many, because then a program prints between NCCL's lines.
    """
    places: list[tuple[int, int]] = []
    for index in [index for index, line in enumerate(lines) if _is_nccl(line)]:
        for end in range(index + 2, min(len(lines), index + _FOLLOWING) + 1):
            if _begins(lines[end - 1]):
                break
            if _are_full(lines[index:end]) or _hang(lines[index:end]):
                places.append((index, end))
        if len(places) > _PLACES:
            return []
    return places


def joined(lines: Sequence[Line], wholes: Iterable[Whole]) -> list[Line]:
    """The lines, joined at each of these places; a place that overlaps an earlier one is skipped."""
    result: list[Line] = []
    at = 0
    for start, end, whole in wholes:
        if start >= at:
            result += [*lines[at:start], whole]
            at = end
    return [*result, *lines[at:]]


def breaks_a_phrase(lines: Sequence[Line]) -> bool:
    """True if a line ends within a word, or before a blank at the start of the next line."""
    return any(
        line.text[-1:].isalnum() and _WITHIN.match(following.text) is not None
        for line, following in itertools.pairwise(lines)
    )


def is_log(lines: Sequence[Line]) -> bool:
    """True if most lines are NCCL's."""
    return 2 * sum(map(_is_nccl, lines)) > sum(bool(line.text.strip()) for line in lines)


def _is_nccl(line: Line) -> bool:
    return "NCCL " in line.text and _MARK.search(line.text) is not None


def _is_own(text: str) -> bool:
    """True if a line with this text does not continue another line."""
    return _OWN.match(text) is not None or ("NCCL " in text and _OWN_NCCL.match(text) is not None)


def _begins(line: Line) -> bool:
    """True if the line does not continue in another line."""
    return line.is_fence or _is_nccl(line) or _is_own(line.text)


def _is_alike(line: Line, other: Line) -> bool:
    """True if both begin with the same words, as lines of one program do: then neither continues the other.

    Lines of several ranks begin alike but for their numbers, and are often of one width.
    """
    if line.text[:_ALIKE] == other.text[:_ALIKE]:
        return True
    begin, other_begin = (_NUMBER.sub("0", each.text[:_BEGINNING])[:_ALIKE_BUT_NUMBERS] for each in (line, other))
    if begin == other_begin and _LETTER.search(begin):
        return True
    return ("  " in line.text or "\t" in line.text) and _has_columns_of(line.text, other.text)


def _has_columns_of(text: str, other: str) -> bool:
    """True if the columns of both lines end at the same places, or are parted by as many tabs: both are rows."""
    tabs = text.count("\t")
    if tabs >= _COLUMNS and tabs == other.count("\t"):
        return True
    ends, others = ({gap.start() for gap in _GAP.finditer(each[:WIDEST])} for each in (text, other))
    return len(ends & others) >= _COLUMNS


def _is_full(line: Line, following: Line, width: int) -> bool:
    """True if the first word of the following line would not have fitted on this line."""
    return _has_no_room(line.text, following.text, width) and not _begins(following)


def _has_no_room(text: str, following: str, width: int) -> bool:
    """True if a line with this text has the width, or the first word of the following line would exceed it."""
    room = width - len(text)
    if not room:
        return True
    return len(following) >= room and len(next(iter(following.split(None, 1)), "")) >= room


def _are_full(lines: Sequence[Line]) -> bool:
    """True if all lines reach their common width."""
    width = max(len(line.text) for line in lines)
    return width <= WIDEST and all(_is_full(line, following, width) for line, following in itertools.pairwise(lines))


def _hang(lines: Sequence[Line]) -> bool:
    """True if all lines but the first are indented, as a person or a formatter breaks a long message."""
    return not _HANGING.match(lines[0].text) and all(_HANGING.match(line.text) for line in lines[1:])


def _at_width(lines: Sequence[Line], own: Sequence[bool], width: int) -> dict[int, None]:
    """The indexes of the lines of this width that the next line may continue, in order."""
    wide = [index for index, line in enumerate(lines[:-1]) if len(line.text) == width]
    return dict.fromkeys(index for index in wide if not own[index + 1] and not lines[index + 1].is_fence)


def _at_words(lines: Sequence[Line], own: Sequence[bool], width: int) -> dict[int, None]:
    """The indexes of the lines that the next line may continue if they were broken between words, in order."""
    pairs = enumerate(itertools.pairwise([line.text for line in lines]))
    full = [index for index, (text, following) in pairs if _has_no_room(text, following, width)]
    after = ((index, lines[index + 1]) for index in full if not own[index + 1])
    return dict.fromkeys(index for index, line in after if not line.is_fence and not _is_nccl(line))


def _chains(
    lines: Sequence[Line], breaks: Collection[int], starts: Iterable[int] | None = None
) -> Iterator[tuple[int, int]]:
    """(start, end) of the runs of lines that may be one: the lines at ``breaks`` may go on in the next.

    ``starts``: the first lines of runs, in order; None for any.
    """
    end = 0
    for index in breaks if starts is None else starts:
        if index < end:
            continue
        end = index + 1
        while end - 1 in breaks and end < index + _LONGEST and not _is_alike(lines[index], lines[end]):
            end += 1
        if end > index + 1:
            yield index, end


def _glued(lines: Sequence[Line], glue: str) -> Line:
    """One line from several; between words, blanks around the break are dropped."""
    if len(lines) == 1:
        return lines[0]
    texts = [line.text for line in lines]
    text = glue.join((texts[0].rstrip(), *(text.strip() for text in texts[1:]))) if glue else "".join(texts)
    return msgspec.structs.replace(lines[0], text=text)
