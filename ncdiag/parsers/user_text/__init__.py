"""What people tell in their own words beside what programs print: what they tried and what came of it.

A small grammar over words that it knows, in English and Chinese. Whatever it cannot parse tells nothing.
"""

from __future__ import annotations

import bisect
import itertools
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ncdiag.base.patterns import lazy_regex
from ncdiag.base.spans import Section
from ncdiag.facts.model.told import RELEASED
from ncdiag.facts.observe import Observation, observe
from ncdiag.parsers._prose import is_prose
from ncdiag.parsers.user_text import (
    access,
    apart,
    cards,
    context,
    followed,
    hosts,
    idle,
    in_use,
    labels,
    lengths,
    listed,
    loads,
    measures,
    outages,
    planes,
    settings,
    sizes,
    states,
    tables,
    titles,
    trials,
    unharmed,
    wants,
)
from ncdiag.parsers.user_text.contrast import Trial, settled
from ncdiag.parsers.user_text.naming import Change
from ncdiag.parsers.user_text.paragraphs import Expected, is_heading, joined, may_end, sentences
from ncdiag.parsers.user_text.trials import Found, Reader, outcome_of

if TYPE_CHECKING:
    from ncdiag.parsers.user_text.rates import Rate

EVENTS = {"outage-reported": {"outage_seconds": "float"}}
"""Names and fields of events that are derived from what people say (`ncdiag.knowledge.ib.outages`)."""
_KINDS = frozenset({"text", "launch", "env"})
"""Sections in which a person may have written a line."""
_LONGEST, _NOTE = 1000, 240
_WRITTEN, NOTES = 400, 2000
"""Lines that a person writes: what holds more is a book. Lines that may be notes, of which so many are read."""
_LETTERS = 200
"""Characters of a line that a person writes, on average."""
_KEPT = 400
_ALIKE, _ALIKE_NOTES = 16, 32
"""Sentences that differ in digits alone, and notes that differ in words alone, from which on a program prints them."""
_ROW = 7
"""Words of a line from which on its form is that of a row."""
_DIGITS, _WORDS = lazy_regex(r"\d+"), lazy_regex(r"\w+")
_CHEAP = lazy_regex(
    r"work|help|fix|solv|hang|stuck|connect|complet|finish|train|start|broke|slow|rid of|avoid|reproduc|surviv|fine"
    r"|same|still|fail|crash|tried|try|\bno\b|ok|error|differ|gone|away|disappear"
    r"|succe|run|_[A-Z]|slow|fast"
    r"|[\u3400-\u9fff]|good|bad|yes|did|unchanged|nowhere|nothing|trick|cured|doubl|tripl|halv|improv|boost"
    r"|through|\d|: ",
    re.IGNORECASE,
)
_LOG = lazy_regex(
    r"\s*(?:\[|<|\{|:::|\+ |\$ |#!|//|/\*|at |File \"|Traceback|[\w./-]+\.\w+:\d+|\d+: |\d{4}-\d\d-\d\d|\w+\(|\S+\.py\b"
    r"|rank \d+: |(?:INFO|WARN(?:ING)?|ERROR|DEBUG|FATAL|CRITICAL|NOTE)\b|[EWI]\d{4}"
    r"|[A-Za-z_.]+(?:Error|Exception|Warning)\b:)"
)
_PRINTED = lazy_regex(r"=|--|::|\w\.\w{1,5}:\d|\b(?i:error|warning):?\s|[{}<>|]|^\s*[a-z][\w./-]{1,40}: |^\+")
"""Signs of a program's line or a command."""
_ASSIGNED = lazy_regex(r"\b[A-Z][A-Z0-9_]{3,40}=\S+")
_ITEM = lazy_regex(r"\s*(?:> ?)*\s*(?:[*+\u2022-]|\d{1,2}[.)])\s")
_NCCL = lazy_regex(r"\b[nr]ccl\b", re.IGNORECASE)
_OTHER_LIBRARY = lazy_regex(
    r"torch|tensorflow|vllm|sglang|jax|horovod|megatron|deepspeed|paddle|plugin|\bmpi|ofed|\bucx|rocm\s\d",
    re.IGNORECASE,
)
_TYPED = lazy_regex(
    r"[^$#%>\n]{0,80}[$#%>]\s{1,4}(?:sudo\s)?(?:(?P<slurm>sinfo|squeue|scontrol|sacct|sacctmgr|sbatch|srun)|kubectl|oc)\s"
)
_RELEASES = frozenset({"nccl-version", "driver-branch", "framework-version"})


def read(sections: Iterable[Section]) -> list[Observation]:
    """The trials, contexts, wishes and rates that the lines of these sections tell."""
    lines = [(s, i) for s in sections if s.kind in _KINDS for i in range(len(s.lines))]
    lines.sort(key=lambda place: place[0].number(place[1]))
    found: list[tuple[Found, int]] = []
    measured: list[tuple[measures.Measure, int]] = []
    others: list[Observation] = []
    written = [_written(section, index) for section, index in lines]
    others += _quoted(lines)
    others += _schedulers(written, lines)
    others += _listings(written, lines)
    chosen = _chosen(written)
    if not chosen:
        return others
    from ncdiag.parsers.user_text.rates import RateReader  # with its patterns, which no log of programs alone needs

    unit = _only_unit(chosen)
    reader, rates = Reader(unit), RateReader()
    said: dict[int, list[str]] = {}
    releases = hosts.Releases()
    for first, line, offsets, is_sentence in chosen:
        section, index = lines[first]
        spoken = section.kind == "text" and (is_sentence or not _PRINTED.search(_ASSIGNED.sub("", line)))
        is_item = _ITEM.match(line) is not None
        others += _rates(rates.read(line, first), section, index)
        others += _complaints(titles.behind(line), section, index) if section.kind == "launch" else []
        for at, sentence in sentences(line):
            trials = [*reader.read(sentence, is_item=is_item), *apart.read(sentence)]
            found += [(trial, first + bisect.bisect(offsets, at + trial.at) - 1) for trial in trials]
            measured += [(each, first + bisect.bisect(offsets, at + each.at) - 1) for each in reader.measures]
            others += _others(sentence, section, index, trials) if spoken else []
            if spoken:
                releases.read(sentence, first + bisect.bisect(offsets, at) - 1)
                said.setdefault(first + bisect.bisect(offsets, at) - 1, []).append(sentence)
    listing = states.Listing()
    for line, (section, index) in zip(written, lines, strict=True):
        others += _labels(line, section, index)
        if cpus := sizes.shown(line):
            others.append(observe(section, index, "Context", kind="cpu-count", value=cpus, text=line[:_KEPT]))
        others += [
            observe(section, index, "Context", kind="state", value=s, text=line[:_KEPT]) for s in listing.read(line)
        ]
    told, rated = _of_tables(tables.rows(written), unit)
    found += told
    measured += rated
    found += [(Found(change, outcome, 0), index) for change, outcome, index in measures.compared(measured)]
    others += _accesses(written, said, lines)
    others += [_of_host(lines[place], *told) for *told, place in releases.differing()]
    return [*(_observed(trial, *lines[trial.index]) for trial in settled(found)), *others]


def _schedulers(written: Sequence[str], lines: Sequence[tuple[Section, int]]) -> list[Observation]:
    """The scheduler whose commands somebody typed, once for each."""
    first: dict[str, int] = {}
    for place, line in enumerate(written):
        if (typed := _TYPED.match(line)) is not None:
            first.setdefault("slurm" if typed["slurm"] else "kubernetes", place)
    return [
        observe(*lines[place], "Context", kind="orchestrator", value=name, text=written[place][:_KEPT], told=False)
        for name, place in first.items()
    ]


def _listings(written: Sequence[str], lines: Sequence[tuple[Section, int]]) -> Iterator[Observation]:
    """The files and folders of hosts that listings show."""
    for path, place in listed.read(written):
        yield _of_host(lines[place], lines[place][0].host, "files", (path,))
    for path, place in listed.mapped(written):
        yield _of_host(lines[place], lines[place][0].host, "mapped_files", (path,))
    for path, owner, place in listed.folders(written):
        yield _of_host(lines[place], lines[place][0].host, "folders", {path: owner})
    for path, group, place in listed.devices(written):
        yield _of_host(lines[place], lines[place][0].host, "device_groups", {path: group})


def _quoted(lines: Sequence[tuple[Section, int]]) -> list[Observation]:
    """The launch lines that people quote in a sentence."""
    told = [(s, index) for s, index in lines[:NOTES] if s.kind == "text"]
    if not any(map(" ".join(s.lines[index] for s, index in told).__contains__, _QUOTES)):
        return []
    from ncdiag.parsers.launch import may_quote, quoted

    spans = [(section, index) for section, index in told if may_quote(section.lines[index])]
    return [observation for section, index in spans for observation in quoted(section, index)]


_QUOTES = ("`", " -", "=")
"""What a line has that quotes a command."""


def _of_tables(
    rows: Iterable[tables.Row], unit: str
) -> tuple[list[tuple[Found, int]], list[tuple[measures.Measure, int]]]:  # fmt: skip
    """The trials and the rates of tables; of one without a known change, its conditions in their own words."""
    found: list[tuple[Found, int]] = []
    measured: list[tuple[measures.Measure, int]] = []
    for _, table in itertools.groupby(rows, key=lambda row: row.table):
        told: list[tuple[Found, int]] = []
        unknown: list[tuple[Found, int]] = []
        for row in table:
            reader = Reader(unit)
            for sentence in row.sentences:
                told += [(trial, row.at) for trial in reader.read(sentence, is_item=True)]
                measured += [(each, row.at) for each in reader.measures]
            outcomes = {outcome_of(sentence[len(row.name) :]) for sentence in row.sentences} - {""}
            if len(outcomes) == 1:
                change = Change(f'"{row.name}"')
                unknown += [(Found(change, outcome, 0), row.at) for outcome in outcomes]
        if not told and {each.outcome for each, _ in unknown} == {"works", "fails"}:
            told = unknown
        found += told
    return found, measured


def _only_unit(chosen: Iterable[tuple[int, str, list[int], bool]]) -> str:
    """What a release without a name is of, if people name NCCL and nothing else that has such releases."""
    text = "\n".join(line for _, line, _, _ in chosen)
    return "nccl" if _NCCL.search(text) and not _OTHER_LIBRARY.search(text) else ""


def _chosen(lines: Sequence[str]) -> list[tuple[int, str, list[int], bool]]:
    """The lines that a person may have written, as `joined` gives them, and whether each is a sentence.

    None of a book: it is told from its length before anything of it is read.
    """
    chosen: list[tuple[int, str, list[int], bool]] = []
    expected, prose, notes, letters = Expected(), 0, 0, 0
    alike: Counter[str] = Counter()
    for first, line, offsets in joined(lines):
        if len(line) > _LONGEST or expected.holds(line):
            continue
        is_sentence = is_prose(line)
        if is_sentence:
            prose, letters = prose + len(offsets), letters + len(line)
            if prose > _WRITTEN or letters > _WRITTEN * _LETTERS:
                return []
        elif notes < NOTES and _is_note(line):
            notes += 1
        else:
            continue
        form = (_DIGITS if is_sentence else _WORDS).sub("0", " ".join(line.split()))
        alike[form] += 1
        if alike[form] > (_ALIKE if is_sentence else _ALIKE_NOTES):
            continue
        chosen.append((first, line, offsets, is_sentence))
    return chosen


def _written(section: Section, index: int) -> str:
    """A line as it was written; of a setting with what was taken for a label before it."""
    return section.lines[index] if section.kind == "text" else f"{section.prefix}{section.lines[index]}"


class Notes:
    """Decides which lines of a text may be notes of a person: the first ones, and of one form only the first few.

    Rows of a table differ in their words alone, and a program prints them. Forms of few words are not counted: people
    write them as well.
    """

    def __init__(self) -> None:
        """No line was seen yet."""
        self._left = NOTES
        self._alike: Counter[str] = Counter()

    def may_be(self, line: str, *, counts: bool = True) -> bool:
        """True if the line may be a note; unless it ``counts``, later lines of its form are not affected."""
        self._left -= 1
        if self._left < 0:
            return False
        form = _WORDS.sub("0", " ".join(line.split()))
        self._alike[form] += counts
        return self._alike[form] <= _ALIKE_NOTES or form.count("0") < _ROW


def may_tell(line: str, *, notes: bool) -> bool:
    """May the line, be it beside others, tell what a person tried, has or wants? ``notes``: be it in a few words."""
    if len(line) > _LONGEST:
        return False
    if is_prose(line) or is_heading(line) or may_end(line):
        return True
    if not notes or not _is_note(line):
        return False
    said = [sentence for _, sentence in sentences(line)]
    if trials.may_tell(said) and any(map(Reader().read, said)):
        return True
    if _PRINTED.search(line):
        return False
    from ncdiag.parsers.user_text.rates import RateReader

    return any(any(context.read(s)) or any(wants.read(s)) or any(RateReader().read(s)) for s in said)


def _is_note(line: str) -> bool:
    return len(line) <= _NOTE and _CHEAP.search(line) is not None and not (_LOG.match(line) or '": ' in line)


def _others(sentence: str, section: Section, index: int, trials: Sequence[Found]) -> list[Observation]:
    """What the sentence says of the place, and what it wants; a release that was tried is not a context."""
    text = section.lines[index][:_KEPT]
    tried = any(
        trial.outcome != "fails"
        and (trial.change.unit in RELEASED or trial.change.label.startswith(("newer-", "older-")))
        for trial in trials
    )
    outage = outages.read(sentence)
    host = followed.read(sentence)
    stated = [] if trials else states.read(sentence)
    part: dict[str, Any] = {"in_part": True} if stated and states.is_in_part(sentence) else {}
    made = [(trial.change.label, trial.outcome) for trial in trials]
    given = settings.misnamed(made) if trials else settings.read(sentence)
    return [
        *(
            []
            if outage is None
            else [observe(section, index, "Context", kind="outage", value=f"{outage:g}", text=text)]
        ),
        *(
            observe(section, index, "Context", kind=k, value=v, text=text)
            for k, v in context.read(sentence)
            if not (tried and k in _RELEASES)
        ),
        *([] if host is None else [observe(section, index, "Context", kind="troubled-host", value=host, text=text)]),
        *(observe(section, index, "Context", kind="state", value=s, **part, text=text) for s in stated),
        *(
            observe(section, index, "Context", kind="state", value=s, text=text)
            for s in (*loads.read(sentence), *unharmed.read(sentence), *idle.read(sentence))
        ),
        *(observe(section, index, "Context", kind="release", value=r, text=text) for r in in_use.read(sentence)),
        *(
            observe(section, index, "Context", kind=k, value=v, text=text)
            for k, v in (*sizes.read(sentence), *planes.read(sentence), *cards.read(sentence))
        ),
        *(
            observe(section, index, "Setting", (name,), standing="manifest", is_set=True, text=value, origin="launcher")
            for name, value in given
        ),
        *(observe(section, index, "Want", what=what, text=text) for what in wants.read(sentence)),
        *(
            observe(section, index, "Duration", of=t.of, seconds=t.seconds, text=text)
            for t in (*lengths.read(sentence), lengths.of_product(sentence))
            if t is not None
        ),
    ]


def _complaints(said: str, section: Section, index: int) -> list[Observation]:
    """What is said behind a command."""
    if not said:
        return []
    from ncdiag.parsers._complaints import find  # it imports parts of this package

    what = find(said)
    return [] if what is None else [observe(section, index, "Complaint", what=what, text=section.lines[index][:_KEPT])]


def _rates(found: Iterable[Rate], section: Section, index: int) -> list[Observation]:
    text = section.lines[index][:_KEPT]
    return [observe(section, index, "ToldRate", of=r.of, gbps=r.gbps, count=r.links, text=text) for r in found]


def _accesses(
    written: Sequence[str], said: Mapping[int, Sequence[str]], lines: Sequence[tuple[Section, int]]
) -> Iterator[Observation]:
    """What reaches the GPUs and RDMA devices, in the order of the lines."""
    reader = access.AccessReader()
    for number, line in enumerate(written):
        seen = reader.line(line)
        found = [] if seen is None else [seen]
        found += [each for text in said.get(number, ()) for each in reader.prose(text)]
        for each in dict.fromkeys(found):
            yield observe(*lines[number], "Access", **each._asdict(), text=line[:_KEPT])


def _labels(line: str, section: Section, index: int) -> list[Observation]:
    """The label of a run that the line is, told by the last of its lines."""
    label = labels.read(line)
    if label is None:
        return []
    text = section.lines[index][:_KEPT]
    return [observe(section, index, "RunLabel", conditions=label.conditions, well=label.well, text=text)]


def _of_host(line: tuple[Section, int], host: str | None, field: str, value: object) -> Observation:
    section, index = line
    return Observation(entity="Host", host=host, span=section.span(index), fields={field: value})


def _observed(trial: Trial, section: Section, index: int) -> Observation:
    outcome = {"same": "unchanged", "other": "other-error"}.get(trial.outcome, trial.outcome)
    text = section.lines[index][:_KEPT]
    fields: dict[str, Any] = {"release": trial.release} if trial.release else {}
    return observe(section, index, "Trial", change=trial.change, outcome=outcome, **fields, text=text)
