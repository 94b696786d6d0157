"""Lines of program text to events: the message catalogue applied to a line, to what it quotes and what it passes on."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any

import msgspec

from ncdiag.base.patterns import lazy_regex
from ncdiag.base.spans import Section
from ncdiag.facts.model import FAILURES
from ncdiag.facts.observe import Observation, observe
from ncdiag.facts.vocabulary.waits import WAITS
from ncdiag.formats import clouds
from ncdiag.formats.guarded import guarded_regex
from ncdiag.formats.mentions import is_mention
from ncdiag.messages.loose import shape
from ncdiag.messages.match import Match, Matcher, default_matcher
from ncdiag.messages.message import Message
from ncdiag.messages.template import compile_parts, literal_length, parse
from ncdiag.parsers import _completions, _context, _cuda, _results

EVENTS = {
    "python-exception": {"exception": "str", "error": "str", "process_group": "str", "aside": "int", "asserted": "str"},
    "torch-last-error": {"error": "str"},
}
"""Events that are told by the form of a line, and the types of their fields."""
PROGRAMS = frozenset({"torch", "mpi", "kernel", "cuda", "launcher", "libfabric", "hccl", "rdma", "rpc"})
"""Origins whose messages are found anywhere in a line."""
LIBRARIES = frozenset({"nccl", "rccl", "plugin"})
"""Origins whose messages count only behind ``NCCL WARN``, behind ``Last error:``, or when they are the whole text."""
_BARE = "bare"
"""Origin of the texts that count only as a whole line, however short."""

_MARKED = guarded_regex(
    r"(?:(?P<file>[\w./-]{1,128}):(?P<line>\d{1,6}) )?NCCL (?P<level>WARN|INFO|ERROR)\s+(?P<text>\S.*)"
)
_OLD_MARKED = guarded_regex(  # up to 2.4 the lines of some wrappers lacked the word NCCL
    r"(?:^|\s)(?P<file>[\w./-]{1,128}\.(?:cu|cc|h)):(?P<line>\d{1,6}) (?P<level>WARN)\s+(?P<text>\S.*)"
)
_QUOTED = lazy_regex(r"\"([^\"]{12,300})\"|`([^`]{12,300})`|\u201c([^\u201d]{12,300})\u201d")
_EXCEPTION = lazy_regex(r"((?:[A-Za-z_]\w{0,60}\.){0,8}[A-Z]\w{0,80}(?:Error|Exception|Exit|Interrupt))(?:: ?(.*))?$")
_XID = "gpu-xid"
_CAUSED = lazy_regex(r"\bcaused by previous Xid (\d{1,4})\b")
"""The end of the line of a channel that was torn down: Xid 45 of the open kernel modules."""
_CERTAIN = 18
"""Letters in the words of a failure that are in order, from which it is told from prose."""
_TELLING = 30
"""Literal characters from which an NCCL message is told from prose even when other text is behind it."""
_PASSED_ON = frozenset({"cause", "symptom", "echo"})
_DEPTH = 3
"""Messages within messages."""
_ONCE = frozenset({"slurm-job-completed"})
"""Events of which one holds the jobs of all its lines, in ``step``: a list of the accounting has thousands."""
_APART = frozenset({"rank-announced", "c10d-reverse-lookup", "evaluation-begun"})
"""Events of which each line is one, for it matters what, or how much time, is between two that are alike."""
_ANSWERS = "program-serves"
"""The event that servers print for each request."""
_PEERS = ("peer", "peer_address", "peer_host", "peer_rank")


class Found(msgspec.Struct):
    """An event of a line, before it is given a rank and counted."""

    event: str
    origin: str
    kind: str | None
    fields: dict[str, Any]
    level: str | None = None
    file: str | None = None
    line: int | None = None


def find(text: str) -> list[Found]:
    """All events of one line without its prefixes; empty when no program printed it, or it only mentions a message."""
    matcher = default_matcher()
    if not matcher.can_match(text):
        return by_form(text)
    return [] if is_mention(text) else _reported(matcher, text)


def _reported(matcher: Matcher, text: str) -> list[Found]:
    """The events of a line that has words of some message."""
    marked = _MARKED.search(text) or _OLD_MARKED.search(text)
    if marked:
        known = _library(matcher, marked)
        if known:
            return [known]
    match = matcher.find(text, PROGRAMS)
    if match:
        return [_found(match), *_passed_on(matcher, match), *_caused_by(match)]
    whole = matcher.match(text, LIBRARIES)
    if whole and (_is_whole(whole.message, text) or _weight(whole.message) >= _TELLING):
        return [_found(whole)]
    bare = matcher.match(text, _BARE)
    if bare and bare.message.text == text.rstrip(".! "):
        return [msgspec.structs.replace(_found(bare), origin="app")]
    return by_form(text) or _quoted(matcher, text) or _by_words(matcher, text)


def by_form(text: str) -> list[Found]:
    """An error of CUDA, a result of NCCL, a failed completion or step of RDMA, whatever words are around it."""
    if result := _results.failure(text):
        return [Found(_results.EVENT, "torch", "symptom", {"result": result})]
    if error := _cuda.failure(text):
        return [Found(_cuda.EVENT, "cuda", "symptom", {"cuda_error": error})]
    if status := _completions.status(text):
        return [Found(_completions.EVENT, "rdma", "symptom", {"status": status})]
    from ncdiag.parsers import _verbs  # its patterns cost more than those of all others here, and few lines ask

    if failed := _verbs.failure(text):
        return [Found(failed.event, "rdma", "symptom", failed.fields)]
    return []


def in_warning(text: str) -> Found | None:
    """What a warning of libfabric or of a plugin, which the catalogue does not know as a whole, tells in its midst."""
    match = default_matcher().find(text, "libfabric")
    return _found(match) if match is not None else next(iter(by_form(text)), None)


def _by_words(matcher: Matcher, text: str) -> list[Found]:
    """A failure whose words are in the line in order: retyped, shortened, or told by a person in passing."""
    match = matcher.match_loosely(text, PROGRAMS | LIBRARIES, anchored=False)
    if match is None or match.message.kind not in FAILURES or _letters(match.message) < _CERTAIN:
        return []
    return [_found(match)]


def last_error(text: str) -> list[Found]:
    """The text behind PyTorch's ``Last error:``, which is the last WARN of NCCL."""
    match = default_matcher().match(text, LIBRARIES) or default_matcher().find(text, PROGRAMS)
    if match:
        return [_found(match)]
    return [Found("torch-last-error", "torch", "symptom", {"error": text[:400]})]


def exception(text: str) -> Found | None:
    """The last line of a Python traceback, when the catalogue knows nothing better about it."""
    found = _EXCEPTION.match(text[:2000])
    if not found:
        return None
    return Found("python-exception", "python", "symptom", {"exception": found[1], "error": (found[2] or "")[:400]})


def _library(matcher: Matcher, marked: re.Match[str]) -> Found | None:
    match = matcher.match(marked["text"], LIBRARIES, level=marked["level"], file=marked["file"])
    if match is None:
        return None
    found = _found(match)
    found.level, found.file = marked["level"], marked["file"]
    found.line = int(marked["line"]) if marked["line"] else None
    return found


def _found(match: Match) -> Found:
    message = match.message
    return Found(match.event, message.origin, message.kind, dict(match.fields), level=message.level)


def _passed_on(matcher: Matcher, match: Match, depth: int = _DEPTH) -> list[Found]:
    """The messages of other programs that a message carries in its hole ``inner``, which may carry one themselves."""
    inner = match.fields.get("inner")
    if not depth or not isinstance(inner, str) or not inner.strip():
        return []
    deeper = matcher.find(inner, PROGRAMS) or matcher.match(inner, LIBRARIES)
    if deeper is None:
        return by_form(inner)
    told = [_found(deeper)] if deeper.message.kind in _PASSED_ON and deeper.event != match.event else []
    return told + _passed_on(matcher, deeper, depth - 1)


def _caused_by(match: Match) -> list[Found]:
    """The Xid that a line names as the cause of its own; the driver may have printed it out of sight."""
    found = _CAUSED.search(str(match.fields.get("detail", ""))) if match.event == _XID else None
    if found is None:
        return []
    return [msgspec.structs.replace(_found(match), fields={"pci": match.fields.get("pci"), "xid": int(found[1])})]


def _quoted(matcher: Matcher, text: str) -> list[Found]:
    """Messages that a person quotes word for word, in quotation marks or backticks."""
    result = []
    for found in _QUOTED.finditer(text):
        said = next((part for part in found.groups() if part), "").strip()
        match = matcher.match(said, PROGRAMS) or matcher.match(said, LIBRARIES)
        if match and _is_whole(match.message, said):
            result.append(_found(match))
    return result


@lru_cache(maxsize=512)
def _pattern(text: str) -> re.Pattern[str]:
    return compile_parts(parse(text))


@lru_cache(maxsize=512)
def _weight_of(text: str) -> int:
    return literal_length(parse(text))


@lru_cache(maxsize=512)
def _letters_of(text: str) -> int:
    return shape(parse(text)).letters


def _letters(message: Message) -> int:
    return _letters_of(message.text)


def _weight(message: Message) -> int:
    return _weight_of(message.text)


def _is_whole(message: Message, text: str) -> bool:
    """Tell whether the message says all of ``text``, in enough words of its own."""
    if _weight(message) < _TELLING // 2:
        return False
    pattern, bare = _pattern(message.text), text.rstrip(" .")
    return any(pattern.fullmatch(form) for form in (text, bare, bare + "."))


class Collector:
    """Gathers the events of a section and counts those that repeat; gives the observations in order of first sight."""

    def __init__(self, section: Section) -> None:
        """Start empty."""
        self._section = section
        self._events: dict[tuple[Any, ...], Observation] = {}
        self._others: list[Observation] = []
        self._row: list[tuple[Any, ...]] = []
        """The first and the last event of those before the next that are alike, and mean that a server answers."""
        self._alike: list[Any] = []
        self._turns: dict[tuple[Any, ...], int] = {}
        self.counted = 0
        """The number of lines with a counter so far, by which a wait before a step differs from one after it."""

    def add(self, index: int, found: Found, context: _context.Context, text: str) -> None:
        """Take one event of ``section.lines[index]``."""
        fields = {name: value for name, value in found.fields.items() if name != "inner"}
        rank = _integer(fields.get("rank"), context.rank)
        host = fields.get("on_host") or context.host
        if context.process_group:
            fields["process_group"] = context.process_group
        shown = text[:400]
        values = tuple(sorted((k, str(v)) for k, v in fields.items()))
        told = ("", ()) if found.event in _ONCE else (shown, values)
        key = found.event, found.origin, rank, host, told, index if found.event in _APART else None
        if found.event in WAITS:
            key = self._turn(key)
        held = self._events.get(key)
        if held is not None:
            again = {"count": held.fields["count"] + 1}
            if found.event in _ONCE and "step" in fields:
                again["fields"] = held.fields["fields"] | {"step": f"{held.fields['fields']['step']} {fields['step']}"}
            self._events[key] = msgspec.structs.replace(held, fields={**held.fields, **again})
            self._row = []
            return
        self._continue_row(key, [found.event, rank, host, values])
        peer = next((fields[name] for name in _PEERS if name in fields), None)
        self._events[key] = observe(
            self._section, index, "Event", host=self._section.host or host, event=found.event, origin=found.origin,
            kind=found.kind, level=found.level, text=shown, rank=rank, pid=_integer(fields.get("pid"), context.pid),
            time=context.time, order=self._section.number(index), peer=None if peer is None else str(peer),
            file=found.file, line=found.line, count=1, fields=fields,
        )  # fmt: skip
        self._others += _facts(self._section, index, found, context)

    def _turn(self, key: tuple[Any, ...]) -> tuple[Any, ...]:
        """The key of a wait: its lines before a counter are one event, and those after the last counter another one."""
        if self._turns.setdefault(key, self.counted) == self.counted:
            return key
        last = (*key, "last")
        if self._turns.get(last) != self.counted:
            self._turns[last] = self.counted
            self._events.pop(last, None)
        return last

    def _continue_row(self, key: tuple[Any, ...], alike: list[Any]) -> None:
        """Take a new event; of consecutive answers of a server with the same values, keep the first and the last."""
        if alike[0] != _ANSWERS:
            self._row = []
        elif self._alike == alike and self._row:
            if len(self._row) > 1:
                del self._events[self._row[1]]
            self._row[1:] = [key]
        else:
            self._row, self._alike = [key], alike

    def holds(self, event: str) -> bool:
        """True if an event of this name was found."""
        return any(key[0] == event for key in self._events)

    def observations(self) -> tuple[Observation, ...]:
        """Events first, then the other facts that some of them carry."""
        return (*self._events.values(), *self._others)


def _integer(value: Any, default: int | None) -> int | None:  # noqa: ANN401
    return value if isinstance(value, int) else default


def _facts(section: Section, index: int, found: Found, context: _context.Context) -> list[Observation]:
    """Facts of the host that an event tells besides."""
    fields, by_default = _of_host(found)
    host = section.host or context.host
    if not fields:
        return []
    return [observe(section, index, "Host", host=host, standing="default" if by_default else "live", **fields)]


def _of_host(found: Found) -> tuple[dict[str, Any], bool]:
    """Fields of the host, and whether others know them better."""
    version = found.fields.get("nccl_version")
    if isinstance(version, str) and version[:1].isdigit():
        return {"nccl_version": version.rstrip(".,;")}, False
    if found.event == "iommu-domain" and found.fields.get("domain_type") in {"Translated", "Passthrough"}:
        # the kernel prints its default on machines without an IOMMU as well: the groups in /sys know better
        return {"iommu_translating": found.fields["domain_type"] == "Translated"}, True
    if found.event == "machine-named":
        # the kernel joins the names, and cuts them where they hold a slash: their files know better
        return clouds.booted(str(found.fields["machine"])), True
    if found.event == "kernel-started":
        return {"kernel_release": found.fields["kernel_release"]}, False
    # only an IOMMU that translates raises a fault
    return {"iommu-fault": {"iommu_translating": True}, "hypervisor-detected": {"virtual_machine": True}}.get(
        found.event, {}
    ), False
