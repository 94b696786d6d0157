"""Remove what loggers, runtimes, launchers and mailers print before each line of a program.

Times, levels, labels of processes, quotes, bullets and comment signs.

Formats: RFC 3339, RFC 3164 and RFC 5424 (syslog); systemd's ``journalctl -o short`` and its siblings; glog, klog and
absl; Python's logging, loguru and vLLM's logger; kubernetes/kubectl (``logs --prefix``, ``--timestamps``) and the CRI
log format; stern's default template (stern/stern, cmd/cmd.go); docker compose; Open MPI, PRRTE, Hydra and Horovod;
``srun --label``; torchrun's tee with its templates (torch/distributed/elastic/agent/server/local_elastic_agent.py);
Ray's and SkyPilot's ``(name pid=1, ip=10.0.0.1)``; pdsh, clush and fabric.
"""

from __future__ import annotations

import bisect
import itertools
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import datetime, timezone
from typing import Any

import msgspec

from ncdiag.base.patterns import lazy_regex
from ncdiag.formats.line_kinds import printed_behind_label, printed_by
from ncdiag.text.sections.line import Line, block_ends
from ncdiag.text.sections.prompt import short_host

_MONTH = r"(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)"
_CLOCK = r"\d\d:\d\d:\d\d(?:[.,]\d{1,9})?"
_ZONE = r"(?: ?(?:Z|UTC|GMT|[+-]\d\d:?\d\d))?"
_LOOSE_CLOCK = r"\d{1,2}:\d{1,2}:\d{1,2}(?:[.,]\d{1,9})?"
"""Also without leading zeros, after a date."""
_ISO = rf"(?P<date>\d{{4}}[-/]\d\d[-/]\d\d)[T ](?P<clock>{_CLOCK})(?P<zone>{_ZONE})"
_DAY = r"(?:(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun),? )?"
_BSD = rf"{_DAY}{_MONTH} {{1,2}}\d{{1,2}} (?:\d{{4}} )?{_LOOSE_CLOCK}(?: [A-Z]{{3,4}})?(?: \d{{4}})?"
_DATE = rf"(?:\d{{1,2}}/{_MONTH}/\d{{4}}[: ]|\d{{1,2}}[/.]\d{{1,2}}[/.]\d{{2,4}},? )"
_EPOCH = r"(?P<epoch>1\d{9}(?:\.\d{1,9})?|1\d{12}|1\d{15}|1\d{18})"
_END = r"(?: |\t|$)"
_SEPARATED = rf"[:,]?(?: [-|])?{_END}"
_HOST = r"[A-Za-z0-9][\w.-]{0,120}"
_NUMBERED_HOST = r"(?=[\w.-]{0,120}[\d-])[A-Za-z][\w.-]{0,120}"
_POD = r"[a-z0-9][a-z0-9.-]{0,120}-[a-z0-9.-]{1,40}"
_UPPER = r"(?:TRACE|DEBUG|INFO|NOTICE|WARN(?:ING)?|ERR(?:OR)?|CRITICAL|FATAL|SUCCESS)"
_LEVEL = rf"(?:{_UPPER}|trace|debug|info|notice|warn(?:ing)?|err(?:or)?|critical|fatal)"
_PLACE = r"[\w./<>-]{1,128}:\d{1,6}(?::[\w.<>-]{1,80})?"
_OF_GLOG = {"E": "E", "F": "F", "C": "F", "W": "W"}
"""Levels that are kept, as glog letters: error, fatal or critical, and warning."""
_UNITS = {10: 1, 13: 10**3, 16: 10**6, 19: 10**9}
"""The number of digits of a present-day epoch time, and the units per second that it implies."""
_OF_PROCESS = lazy_regex(r":\d{1,10}:\d{1,10} ")
"""The text that NCCL prints after the host name."""
_DIGITS, _WORD = lazy_regex(r"\d+"), lazy_regex(r"[^\W\d_]{2,}\W+(?:\S+\W+){2}")
"""A number; some words, as a message has them and a value does not."""
_EXCEPTION = lazy_regex(r"(?:[A-Za-z_]\w{0,60}\.){0,8}[A-Z]\w{0,80}(?:Error|Exception|Interrupt): \S")
"""The last line of a traceback."""
_NEARLY_ALL, _MOST = 9, 1
"""Lines with a head required per line without it in a block: for a doubtful head, and for any other."""
_LOGGED = 2
"""Minimum number of lines of a log behind the heads of a block."""


class Head(msgspec.Struct, frozen=True):
    """A kind of text at the start of each line of a block, such as a time or the label of a process.

    Groups of the pattern: ``host``; ``label``, which identifies processes whose lines are interleaved; ``date``,
    ``clock`` and ``zone``, or ``epoch``; ``level``; ``fact``, kept unchanged because it names a rank or a process.

    ``doubtful``: comments, lists and sentences begin the same way, so nearly all lines of a block must have it, and
    settings and commands after it are ignored. ``alone``: in addition, the text must consist of little else, or the
    block have lines behind the head that begin as those of a log.
    ``again``: a label must occur more than once, or several be before one text, or one with a number before an
    exception alone, because words and numbers often precede colons. ``proven``: NCCL must print the same host name in
    the line. ``sure``: nothing else has this form. ``contained``: the label is a container.
    """

    name: str
    pattern: re.Pattern[str]
    doubtful: bool = False
    alone: bool = False
    again: bool = False
    proven: bool = False
    sure: bool = False
    contained: bool = False

    def blocks(self, lines: Sequence[Line]) -> list[tuple[int, int]]:
        """(start, end) of each block of lines of which most (if doubtful: nearly all) begin with the head."""
        found = [self.pattern.match(line.text) for line in lines]
        if not any(found):
            return []
        share = _NEARLY_ALL if self.doubtful else _MOST
        blocks = block_ends(lines, [each is not None for each in found], share)
        around = _Around(lines) if self.alone and blocks else None
        return [
            (start, end)
            for start, end in blocks
            if (
                not self.again
                or _come_again([each["label"] for each in found[start:end] if each])
                or _is_same_behind([each for each in found[start:end] if each])
            )
            and (not self.proven or any(each and _is_proven(each) for each in found[start:end]))
            and (around is None or around.is_alone(start, end) or self._is_on_log(lines[start:end]))
        ]

    def _is_on_log(self, lines: Iterable[Line]) -> bool:
        """True if two lines or more begin behind the head as those of a log do."""
        heads = ((line.text, self.pattern.match(line.text)) for line in lines)
        bare = (text[head.end() :] for text, head in heads if head)
        logged = (text for text in bare if printed_by(text) or printed_behind_label(text))
        return len(list(itertools.islice(logged, _LOGGED))) == _LOGGED

    def is_on_any(self, lines: Iterable[Line]) -> bool:
        """True if one of these lines begins with the head."""
        return any(self.pattern.match(line.text) for line in lines)

    def removed(self, lines: Iterable[Line]) -> list[Line]:
        """The lines without the head. Lines of several labels are grouped by label, in order of first appearance."""
        bare = [self._removed(line) for line in lines]
        groups: dict[str, list[Line]] = {label: [] for label, line in bare if label is not None}
        if len(groups) < 2:  # noqa: PLR2004  (one program prints all)
            return [line for _, line in bare]
        held = next(iter(groups))
        for label, line in bare:
            held = held if label is None else label
            groups[held].append(msgspec.structs.replace(line, stream=f"{line.stream}\t{held}"))
        return [line for group in groups.values() for line in group]

    def _removed(self, line: Line) -> tuple[str | None, Line]:
        """The label and the line without the head; the unchanged line if it has none."""
        found = self.pattern.match(line.text)
        if found is None:
            return None, line
        groups = found.groupdict()
        host = short_host(groups["host"]) if groups.get("host") else line.host
        head = line.head + _kept(groups)
        container = groups["label"] if self.contained else line.container
        return groups.get("label"), Line(line.number, line.text[found.end() :], head, line.stream, host, container)


def _is_proven(found: re.Match[str]) -> bool:
    """True if the NCCL line after the label begins with the same host name."""
    name = short_host(found["label"])
    at = found.end()
    return found.string.startswith(name, at) and _OF_PROCESS.match(found.string, at + len(name)) is not None


def _come_again(labels: Sequence[str]) -> bool:
    return 2 * len(set(labels)) <= len(labels)


def _is_same_behind(found: Sequence[re.Match[str]]) -> bool:
    """True if each of several labels is before the same text, up to numbers: what fails on all ranks or hosts.

    A single one may be that of a rank or host with a number before an exception; a name without one may be a word.
    """
    if len(found) == 1:
        each = found[0]
        return _DIGITS.search(each["label"]) is not None and _EXCEPTION.match(each.string, each.end()) is not None
    texts = Counter(_DIGITS.sub("0", each.string[each.end() :]) for each in found)
    return len(found) > 1 and 2 * len(texts) <= len(found) and all(_WORD.search(text) for text in texts)


class _Around:
    """The lines of a text, for the question of how many surround a block; linear in the text, whatever is asked."""

    def __init__(self, lines: Sequence[Line]) -> None:
        self._filled = [0, *itertools.accumulate(bool(line.text.strip()) for line in lines)]
        self._fences = [-1, *(index for index, line in enumerate(lines) if line.is_fence), len(lines)]

    def is_alone(self, start: int, end: int) -> bool:
        """True if nearly all lines of the text, or of the surrounding Markdown code block, are in the block."""
        first = self._fences[bisect.bisect_left(self._fences, start) - 1] + 1
        last = self._fences[bisect.bisect_left(self._fences, end)]
        others = self._count(first, start) + self._count(end, last)
        return others * _NEARLY_ALL <= self._count(start, end)

    def _count(self, start: int, end: int) -> int:
        return self._filled[end] - self._filled[start]


def _kept(groups: dict[str, Any]) -> str:
    """The part of a head that is kept: its time, in one format, and the text that names a rank."""
    kept = ""
    if groups.get("date"):
        zone = groups["zone"].strip()
        zone = "Z" if zone in {"UTC", "GMT"} else zone
        kept = f"{groups['date'].replace('/', '-')}T{groups['clock'].replace(',', '.')}{zone} "
    elif groups.get("epoch"):
        kept = _of_epoch(groups["epoch"])
    level = next((text for name, text in groups.items() if text and name.startswith("level")), "").upper()
    if level[:1] in _OF_GLOG:
        kept += f"[{_OF_GLOG[level[0]]} -:0] "
    return kept + (f"{groups['fact'].strip()} " if groups.get("fact") else "")


def _of_epoch(digits: str) -> str:
    whole, _, fraction = digits.partition(".")
    seconds = int(whole) / _UNITS[len(whole)] + float(f"0.{fraction or 0}")
    time = datetime.fromtimestamp(seconds, timezone.utc)
    return f"{time:%Y-%m-%dT%H:%M:%S}.{time.microsecond:06d}Z "


def _head(name: str, pattern: str, **more: bool) -> Head:
    return Head(name, lazy_regex(pattern, re.ASCII), **more)


_PROCESS = rf"(?P<label>(?P<host>{_HOST}) [\w./@-]{{1,64}}\[\d{{1,9}}\]):{_END}"
_PROGRAM = rf"(?P<label>(?P<host>{_HOST}) [\w./@-]{{1,64}}(?:\[\d{{1,9}}\])?):{_END}"
_KERNEL = rf"{_HOST} kernel: "
"""Kernel lines keep their syslog prefix, because the parser of kernel messages reads it."""
_PRIORITY = r"(?:<\d{1,3}>)?"
_KERNEL_ISO = rf"(?={_ISO.replace('?P<', '?P<kernel_')} {_KERNEL})"
_KERNEL_BSD = rf"(?={_BSD} {_KERNEL})"
_SENDER = rf"(?P<label>(?P<host>{_HOST}) \S{{1,48}} \S{{1,128}})"
_STERN = rf"(?P<label>(?P<host>{_POD}) [a-z0-9][a-z0-9-]{{0,62}})(?: [|>\u203a])?{_END}"

HEADS = (
    _head("quote", r"[ ]{0,3}> ?"),
    _head("syslog", rf"{_PRIORITY}{_ISO} (?!{_KERNEL}){_PROCESS}|{_KERNEL_ISO}", sure=True),
    _head("journal", rf"{_PRIORITY}{_BSD} (?!{_KERNEL}){_PROCESS}|{_KERNEL_BSD}", sure=True),
    _head("journal of a program", rf"{_PRIORITY}{_BSD} (?!{_KERNEL}){_PROGRAM}|{_KERNEL_BSD}"),
    _head("syslog 5424", rf"<\d{{1,3}}>1 {_ISO} {_SENDER} \S{{1,32}} (?:-|\[[^\]]{{0,400}}\]){_END}", sure=True),
    _head("container runtime", rf"{_ISO} (?:std(?:out|err) [FP]{_END}|[0-9a-f]{{2}}[OE](?:\+|{_END}))", sure=True),
    _head("stamp", rf"\[?{_ISO}\]?{_SEPARATED}"),
    _head("stamp in words", rf"\[?{_BSD}\]?{_SEPARATED}"),
    _head("stamp of days", rf"\[?{_DATE}{_LOOSE_CLOCK}(?: ?[AP]M)?(?: [+-]\d{{4}})?\]?{_SEPARATED}"),
    _head("epoch", rf"\[?{_EPOCH}\]?{_SEPARATED}"),
    _head("clock", rf"\[?(?:{_CLOCK}|\d{{1,2}}:\d\d(?= ?[AP]M))(?: ?[AP]M)?\]?{_SEPARATED}"),
    _head("uptime", rf"\[ {{0,8}}\d{{1,9}}\.\d{{3,9}}\]{_END}"),
    _head(
        "glog",
        rf"(?P<level>[DIWEF])\d{{4,8}} (?:{_CLOCK}|\d\d:\d\d:\d{{10}}\.\d{{1,9}}) +\d{{1,9}} {_PLACE}\]{_END}",
    ),
    _head(
        "level",
        rf"(?:\| )?(?P<level_1>{_UPPER}) {{0,8}}\| (?:[\w.<>]{{1,80}}:[\w.<>]{{1,80}}(?::\d{{1,6}})? - )?"
        rf"|(?:- )?(?:[\w.]{{1,80}} - )?(?P<level_2>{_UPPER}) -{_END}|(?P<level_3>{_UPPER}):[\w.]{{1,80}}:\s?"
        rf"|(?:\[[\w./:-]{{1,100}}\] ?)?\[ ?(?P<level_4>{_LEVEL}) {{0,4}}\]:?\s?(?:\[{_PLACE}\]\s?)?"
        rf"|(?P<level_5>{_UPPER}) \d\d-\d\d {_CLOCK} (?:\[{_PLACE}\]|{_PLACE}\]){_END}",
    ),
    _head("place", rf"\[{_PLACE}\]:?{_END}", doubtful=True),
    _head("bare level", rf"(?P<level>{_LEVEL}):?[ \t]{{1,8}}", doubtful=True),
    _head("thread", r"[(\[](?=[\w -]{0,40}[Tt]hread)[\w -]{1,60}[)\]] "),
    _head("pipeline", r"##\[[a-z]{3,12}\] ?", sure=True),
    _head("kubectl", rf"\[pod/(?P<label>(?P<host>{_HOST})/[\w.-]{{1,120}})\] ?", sure=True),
    _head("kubetail", rf"\[(?P<label>(?P<host>{_POD}) [a-z0-9-]{{1,64}})\]{_END}", again=True),
    _head("stern", _STERN, again=True, doubtful=True),
    _head("stern of all namespaces", rf"[a-z0-9][a-z0-9-]{{0,62}} {_STERN}", again=True, doubtful=True),
    _head("compose", rf"(?P<label>[\w.-]{{1,64}}(?:@(?P<host>{_HOST}))?) {{1,16}}\|{_END}", again=True, contained=True),
    _head("mpirun",
          r"(?P<label>(?P<fact>\[(?:(?:\d{1,9}|[\w.-]{1,64}@\d{1,9}),)?\d{1,9}\]<std(?:out|err|diag)>:))\s?",
          sure=True),
    _head("torchrun",
          r"(?P<label>(?P<fact>\[(?:[Rr]ank:? ?|[A-Za-z_][\w-]{0,30})\d{1,6}(?:[|/-]\d{1,6}){0,2}\]:?))\s?"),
    _head("Hydra", rf"\[(?P<label>\d{{1,6}})\]{_END}(?!NCCL )", again=True),
    _head("srun", rf" {{0,4}}(?P<label>\d{{1,6}}):{_END}", again=True),
    _head("Ray",
          r"(?P<label>(?P<fact>\((?:[^()]{0,100}[ ,])?pid=\d{1,9}(?:, ?ip=(?P<host>[\d.a-fA-F:]{3,45}))?[^()]{0,60}\)"
          r"|\((?:raylet|gcs_server|autoscaler)[^()]{0,60}\)))\s?",
          sure=True),
    _head("host", rf"(?P<label>(?P<host>{_HOST})):{_END}", again=True, proven=True, sure=True),
    _head("pdsh", rf" {{0,8}}(?P<label>(?P<host>{_NUMBERED_HOST})):{_END}", again=True),
    _head("parallel", rf"(?P<label>(?P<host>{_NUMBERED_HOST}))\t", again=True),
    _head("fabric", rf"\[(?P<label>(?P<host>{_HOST}))\] (?:out|err):{_END}"),
    _head("name", rf"(?P<label>[A-Za-z][\w.-]{{0,60}}):{_END}", again=True, doubtful=True),
    _head("stream", rf"\[?std(?:out|err)\]?(?: [|>])?:?{_END}"),
    _head("bullet", r"[ ]{0,4}(?:[-*+\u2022\u2023\u25aa\u25e6\u00b7]|\(?\d{1,3}[.)])(?: {1,3}|\t|$)", doubtful=True),
    _head("comment", r"[ ]{0,8}(?:#{1,3}|/{2,3}|\*|--|;{1,2}|%|!|@?REM|\+|\"|')(?: |\t|$)", doubtful=True, alone=True),
    _head("added", r"\+(?![+ ])", doubtful=True, alone=True),
)  # fmt: skip
"""All kinds of heads, most certain first."""
