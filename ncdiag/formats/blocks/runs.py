"""Which lines of a text are the log of one run: several with the prefix of a process, and ids, times, ranks that agree.

An example in a document has one such line or two; the log of a run is a run's log wherever it is pasted. So is what MPI
explains between two rules of dashes.
"""

from __future__ import annotations

import itertools
import operator
import re
import textwrap
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence

from ncdiag.base.patterns import lazy_regex
from ncdiag.formats.blocks.examples import fenced
from ncdiag.formats.line_kinds import (
    LABEL,
    is_item,
    is_sentence,
    is_title,
    kind_of,
    printed_behind_label,
    printed_by,
)  # fmt: skip

_NEEDED, _ALONE = 3, 2
"""Minimum number of log lines of a run: in an example (indented or in a code block), and in a separate paragraph."""
_APART, _HELP = 2, 40
"""Maximum number of other lines between two lines of a run, and below a rule."""
_RULE = lazy_regex(r"\s*(?:\S{1,40}: )?-{60,}\s*$")
_EXPLAINS = lazy_regex(r".*\b(?:ORTE|PRTE|MPI\w*|mpirun|mpiexec|prterun|orted)\b")
_ADDED = lazy_regex(r"^[+-](?![+-]{2} )")
_TYPED = lazy_regex(r"\s{0,8}(?:\(\w[\w.-]{0,30}\) )?\[?[\w.-]{1,40}@[\w.-]{1,60}[: ][^$#\n]{0,60}[$#] \S")
"""A command behind a prompt that names a user and a host; a document shows commands behind a bare ``$``."""
_TRACED_COMMAND = lazy_regex(r"\+{1,3} (?=[\w./-]{2,60} (?:\S{1,200} ){0,12}-{1,2}[A-Za-z])\S")
"""A command with options in the trace of a script (``set -x``); a list has such a line, too, but hardly two."""
_SHOWS = lazy_regex(
    r"(?:sudo )?(?:git (?:-\S+ )*(?:log|show|diff|blame)\b|man \w|info \w|apropos |strings |pydoc "
    r"|(?:cat|less|more|head|tail|sed|bat|[ez]?grep)\s.*\w\.(?:md|rst|adoc|tex|html?|py|sh|c|cc|cpp|cu"
    r"|h|hpp|go|rs|java|js|ts|proto|po)\b(?!.*\|\s*(?:bash|sh|python)))"
)
"""A command that shows what a source, a document or a program contains."""
_RULED = "rule", ""
_BREAK, _QUOTE = "\\n", '\\"'
"""The end of a line and a quotation mark in a string of JSON."""
_FIELD = lazy_regex(r"[\s{\[]{0,40}\"[\w .-]{1,60}\":\s{0,4}[\[{]?\s{0,4}\"")
_OPENS, _CLOSES = ("/*", "(*", "{-"), ("*/", "*)", "-}")
"""Marks around a comment of several lines, in C and its kin, Prolog, ML and Haskell."""
_PARTS = lazy_regex(
    r"Traceback \(most recent call last\)|(?P<frame>File \".{1,300}\", line \d)"
    r"|(?:^|\s)[\w.]{1,80}(?:Error|Exception|Warning)\b"
)
"""The parts of a traceback: its head, a frame, and the exception."""
_TRACEBACK, _TRACED = "Traceback (most recent call last)", ("traceback", "")
_LAUNCHER = lazy_regex(
    r"(?:slurmstepd(?:-[\w.-]{1,60})?|srun|slurmd|slurmctld|salloc|sbatch|prun|mpirun|mpiexec(?:\.\w+)?|orterun|prterun|jsrun|aprun"
    r"|flux-job): (?=\S)"
)
"""What the launcher of a job says about its tasks."""
_LAUNCHED = "launcher", ""
_CLOCK = lazy_regex(r"(?<!\d)\d\d:\d\d(?=:\d\d)")
"""The hour and the minute at which a line was printed."""
_INNER = lazy_regex(r"(?<![\w.:/-])([\w.-]{1,80}:\d+):\d+ \[\S{1,4}\] (?=\S{1,60}:\d+ NCCL |NCCL )")
"""The process that printed a line of NCCL, wherever the line begins."""
_HEAD, _SHORT_HEAD = 240, 60
"""Maximum number of characters in front of such a line that are compared, and in which a time is searched."""
_COMMENT = lazy_regex(r"(\s{0,8}(?:#|//|--|;|%|\*|!|REM\b|\||>{1,3}|\.\\\"|[\"'](?= )))(?:\s|$)")
_MARKED = lazy_regex(r"\s*(?:[<{}`~#/|*;]|--|\]\]|\\)")
_DIGITS = lazy_regex(r"\d+")
_ABOVE = 5
"""Number of lines, the title among them, below which no output is the first thing that is shown."""
_FAR, _TELLING = 40, 8
"""Maximum number of lines between two log lines with the same prefix; a shorter prefix than this may mark a comment."""

Sign = tuple[str, str]
"""The sort of prefix that a line of a log has, and the process that it names, if any."""


def of_run(lines: Sequence[str]) -> list[bool]:
    """For each line: does it belong to the log of a run, or to a fenced block with one?

    Lines are read without what is around them: the first sign in a diff, the mark or the indentation of a comment, the
    name of a host or task. A field of JSON that contains several lines is one line here.
    """
    found = _labelled_or_bare(lines)
    for index, line in enumerate(lines):
        if not found[index] and line.count(_BREAK) >= _NEEDED and _FIELD.match(line):
            found[index] = any(_of_run(line.replace(_QUOTE, '"').split(_BREAK)))
    for first, last in _block_comments(lines):
        inside = textwrap.dedent("\n".join(lines[first : last + 1])).split("\n")
        found[first : last + 1] = map(operator.or_, found[first : last + 1], of_run(inside))
    for first, last in _beginning_alike(lines, _COMMENT):
        inside = _without(_COMMENT, lines[first : last + 1])
        runs = _to_paragraphs(inside, _labelled_or_bare([line.removeprefix(" ") for line in inside], is_example=True))
        found[first : last + 1] = map(operator.or_, found[first : last + 1], runs)
    return found


def _labelled_or_bare(lines: Sequence[str], *, is_example: bool = False) -> list[bool]:
    """The same for lines that may have the name of a host or task in front of them."""
    found = _of_run(lines, is_example=is_example)
    for first, last in _beginning_alike(lines, LABEL):
        runs = _of_run(_without(LABEL, lines[first : last + 1]))
        found[first : last + 1] = map(operator.or_, found[first : last + 1], runs)
    return found


def _without(head: re.Pattern[str], lines: Iterable[str]) -> list[str]:
    return [line[found.end(1) :] if (found := head.match(line)) else line for line in lines]


def _to_paragraphs(lines: Sequence[str], runs: Sequence[bool]) -> list[bool]:
    """Runs with the rest of their paragraphs, but for sentences: who quotes a log in a comment leaves a line empty."""
    paragraphs = list(itertools.accumulate(not line.strip() for line in lines))
    held = {paragraph for paragraph, run in zip(paragraphs, runs, strict=True) if run}
    return [
        run or (paragraph in held and bool(line.strip()) and not is_sentence(line))
        for paragraph, line, run in zip(paragraphs, lines, runs, strict=True)
    ]


def _block_comments(lines: Sequence[str]) -> Iterator[tuple[int, int]]:
    """The first and last index of the lines between the marks of each comment of several lines."""
    begin, closes = -1, ""
    for index, line in enumerate(lines):
        mark = next((at for at, opens in enumerate(_OPENS) if line.startswith(opens)), -1) if begin < 0 else -1
        if mark >= 0 and _CLOSES[mark] not in line:
            begin, closes = index, _CLOSES[mark]
        elif begin >= 0 and closes in line:
            if index - begin > _NEEDED:
                yield begin + 1, index - 1
            begin = -1


def _beginning_alike(lines: Sequence[str], pattern: re.Pattern[str]) -> Iterator[tuple[int, int]]:
    """The first and last index of each block of lines that begin so, and most of them with the same."""
    heads = [found[1].strip() if (found := pattern.match(line)) else "" for line in lines]
    for is_headed, places in itertools.groupby(range(len(lines)), key=lambda at: bool(heads[at])):
        held = list(places)
        if is_headed and 2 * max(Counter(heads[at] for at in held).values()) > max(len(held), 2 * _ALONE):
            yield held[0], held[-1]


def _of_run(lines: Sequence[str], *, is_example: bool = False) -> list[bool]:
    """The same for lines as they are; with ``is_example``, all of them are in one."""
    signs = [_sign(_ADDED.sub("", line, count=1)) for line in lines]
    blocks = fenced(lines)
    fences = frozenset(at for block in blocks for at in block)
    found = [False] * len(lines)
    for group in _groups(lines, signs, fences):
        if _is_run(group, lines, signs, fences, is_example=is_example):
            found[group[0] : group[-1] + 1] = [True] * (group[-1] + 1 - group[0])
    _add_adjacent(found, lines)
    for first, last in _sessions(lines):
        found[first : last + 1] = [True] * (last + 1 - first)
    for first, last in _dressed(lines, signs):
        found[first : last + 1] = [True] * (last + 1 - first)
    for first, last in blocks:
        if any(found[first:last]):
            found[first:last] = [True] * (last - first)
    rules = [index for index, sign in enumerate(signs) if sign == _RULED]
    if rules and not found[rules[-1]] and any(map(_EXPLAINS.match, lines[rules[-1] : rules[-1] + _APART + 2])):
        end = min(len(lines), rules[-1] + _HELP)  # cut off before the rule that ends it
        found[rules[-1] : end] = [True] * (end - rules[-1])
    return found


def _add_adjacent(found: list[bool], lines: Sequence[str]) -> None:
    """Add to each run the lines right above and below it that nobody wrote: its output has lines without a prefix."""
    for indexes in (range(len(lines)), range(len(lines) - 1, -1, -1)):
        left = 0
        for index in indexes:
            if found[index]:
                left = _APART
            elif left and lines[index].strip() and not _is_written(lines[index]):
                found[index], left = True, left - 1
            else:
                left = 0


def _is_written(line: str) -> bool:
    """True for a sentence, an item, a title, a comment and markup."""
    forms = (is_sentence, is_item, is_title, _MARKED.match)
    return any(form(line) for form in forms)


def _sign(line: str) -> Sign | None:
    if _RULE.match(line):
        return _RULED
    if _LAUNCHER.match(line):
        return _LAUNCHED
    return printed_by(line) or printed_behind_label(line) or (_TRACED if line.lstrip().startswith(_TRACEBACK) else None)


def _groups(lines: Sequence[str], signs: Sequence[Sign | None], fences: frozenset[int]) -> Iterator[list[int]]:
    """The indexes of lines of logs that are close to each other; a fence is between none."""
    group: list[int] = []
    for index, line in enumerate(lines):
        if index in fences or (group and index - group[-1] > (_HELP if signs[group[-1]] == _RULED else _APART) + 1):
            yield group
            group = []
        if signs[index] is not None or (
            group and all(each.strip() for each in lines[group[-1] : index]) and kind_of(line) == "log"
        ):
            group.append(index)
    yield group


def _dressed(lines: Sequence[str], signs: Sequence[Sign | None]) -> Iterator[tuple[int, int]]:
    """The logs of processes in comments, cells, strings and behind heads: each line has the same in front of it.

    A string of several lines is one line here.
    """
    found, head = list[int](), ""
    processes = Counter[str]()
    for index, line in enumerate([*lines, ""]):
        here = _inner(line) if index < len(lines) and signs[index] is None else []
        if len(here) >= _NEEDED and _agree(Counter(process for _, process in here)):
            yield index, index
        shape = _DIGITS.sub("0", here[0][0].strip()) if here else ""
        goes_on = found and shape == head and index - found[-1] <= _FAR
        if here and goes_on and len(head) < _TELLING:  # a mark of a comment is on each of its lines
            goes_on = all(each.lstrip().startswith(head) for each in lines[found[-1] : index])
        if index == len(lines) or (here and not goes_on):
            if len(found) >= _NEEDED and _agree(processes):
                yield _with_head(lines, found[0], found[-1])
            found, head, processes = [], shape, Counter()
        if here:
            found.append(index)
            processes[here[0][1]] += 1


def _agree(processes: Counter[str]) -> bool:
    """True if two lines or more are of one process."""
    return max(processes.values()) >= _ALONE


def _inner(line: str) -> list[tuple[str, str]]:
    """What is in front of each line of a process in a line, and the process."""
    inside = list(_INNER.finditer(line)) if "NCCL" in line else []
    begins = [0, *(each.end() for each in inside)]
    return [
        (line[max(begin, each.start() - _HEAD) : each.start()], each[1])
        for begin, each in zip(begins, inside, strict=False)
    ]


def _with_head(lines: Sequence[str], first: int, last: int) -> tuple[int, int]:
    """A block with the lines behind it that begin as all of its lines do."""
    shapes = [_DIGITS.sub("0", line) for line in lines[first : last + 1]]
    start = "".join(letters[0] for letters in itertools.takewhile(_is_one, zip(*shapes, strict=False)))
    while start.strip() and last + 1 < len(lines) and _DIGITS.sub("0", lines[last + 1]).startswith(start):
        last += 1
    return first, last


def _is_one(letters: Sequence[str]) -> bool:
    return len(set(letters)) == 1


def shown(lines: Sequence[str]) -> Iterator[tuple[int, int]]:
    """The first and last index of what each command shows of a source, a document or a program."""
    yield from ((first, last) for first, last in _typed(lines) if _is_shown(lines[first]))


def starts_at_prompt(lines: Sequence[str]) -> bool:
    """True if somebody at the prompt of a named host shows an output right below the title and the first sentences."""
    above = (sum(bool(line.strip()) for line in lines[:first]) for first, _ in _sessions(lines))
    return next(above, _ABOVE) < _ABOVE


def _sessions(lines: Sequence[str]) -> Iterator[tuple[int, int]]:
    """The commands that somebody typed on a named host, with the output below each, up to an empty line."""
    yield from ((first, last) for first, last in _typed(lines) if last > first and not _is_shown(lines[first]))


def _is_shown(line: str) -> bool:
    typed = _TYPED.match(line)
    return typed is not None and _SHOWS.match(line[typed.end() - 1 :]) is not None


def _typed(lines: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Each typed command with the lines up to the next one or to an empty line."""
    begin = -1
    traced = {index for index, line in enumerate(lines) if _TRACED_COMMAND.match(line)}
    for index, line in enumerate(lines):
        is_typed = _TYPED.match(line) is not None or (index in traced and len(traced) > 1)
        if begin >= 0 and (is_typed or not line.strip()):
            yield begin, index - 1
            begin = -1
        if is_typed:
            begin = index
    if begin >= 0:
        yield begin, len(lines) - 1


def _is_run(
    group: Sequence[int],
    lines: Sequence[str],
    signs: Sequence[Sign | None],
    fences: Collection[int],
    *,
    is_example: bool,
) -> bool:
    launched = sum(signs[index] == _LAUNCHED for index in group)
    if len(group) < _ALONE or set(map(signs.__getitem__, group)) <= {None, _LAUNCHED}:
        return launched >= _NEEDED and not _is_alone(lines, group[0], fences)
    if launched >= _NEEDED and not _is_alone(lines, group[0], fences):
        return True
    known = [sign for index in group if (sign := signs[index]) not in {None, _LAUNCHED}]
    sorts, processes = Counter(sort for sort, _ in known), Counter(process for _, process in known if process)
    if sorts[_RULED[0]] >= _ALONE:
        return True
    is_example = is_example or lines[group[0]][:1] in {" ", "\t"} or group[0] - 1 in fences
    ends_in_traceback = sorts[_TRACED[0]] > 0
    if ends_in_traceback and _is_around_a_traceback(lines[index] for index in group):
        return True
    needed = _NEEDED if is_example and not ends_in_traceback else _ALONE
    agrees = processes.total() < needed or max(processes.values()) >= _ALONE
    if not is_example and len(sorts) > 1 and not processes and _is_of_one_minute(lines[index] for index in group):
        return True
    return agrees and max(sorts.values()) >= needed


def _is_alone(lines: Sequence[str], first: int, fences: Collection[int]) -> bool:
    """True for an example that shows what a launcher says, and nothing that the program printed above it."""
    if lines[first][:1] in {" ", "\t"}:
        return True
    begin = first
    while begin > 0 and lines[begin - 1].strip() and begin - 1 not in fences:
        begin -= 1
    above = [line for line in lines[begin:first] if kind_of(line) != "command" and not _is_written(line)]
    return begin - 1 in fences and len(above) < _ALONE


def _is_of_one_minute(lines: Iterable[str]) -> bool:
    """True if several lines have the time of a clock, and all of these the same hour and minute."""
    clocks = [found[0] for line in lines if (found := _CLOCK.search(line[:_SHORT_HEAD]))]
    return len(clocks) >= _ALONE and len(set(clocks)) == 1


def _is_around_a_traceback(lines: Iterable[str]) -> bool:
    """True if a log has a traceback with a frame, and a line of another part of the program or of the launcher.

    A page that explains an error shows its traceback alone.
    """
    forms = [_PARTS.search(line) for line in lines if kind_of(line) == "log" or _PARTS.search(line)]
    return any(form and form["frame"] for form in forms) and not all(forms)
