"""Answers about a named thing: a variable, a code, a word, a path or a line of a log."""

from __future__ import annotations

import builtins
import difflib
import re
from collections.abc import Iterable, Iterator
from typing import Any

import msgspec

from ncdiag.apps.explaining import lines, logs, releases
from ncdiag.apps.explaining.nearby import message_near
from ncdiag.base.patterns import lazy_regex
from ncdiag.cells.reading import UNKNOWN
from ncdiag.cells.vocabulary import library_codes, vocabulary
from ncdiag.facts.scalars import OLDEST, Version, VersionRange
from ncdiag.messages.explained import full_matcher
from ncdiag.nccl import codes, environment, paths, reasons, terms
from ncdiag.nccl.environment import Variable
from ncdiag.nccl.judgement import words
from ncdiag.nccl.judgement.names import of_name
from ncdiag.nccl.judgement.values import of_value

_VARIABLE = lazy_regex(r"[A-Z][A-Z0-9]*_[A-Z0-9_]+")
_CODE = lazy_regex(
    r"(?P<kind>sxid|xid|status|completion|vendor(?: err(?:or)?)?|result|ncclresult_t|errno)\s*[:=#]?\s*"
    r"(?P<number>0x[0-9a-f]{1,4}|\d{1,5})",
    re.IGNORECASE,
)
_KINDS = {"status": "completion", "ncclresult_t": "result", "vendor err": "vendor", "vendor error": "vendor"}
_NUMBER = lazy_regex(r"-?(?:0x[0-9a-fA-F]{1,4}|\d{1,5})")
_PORT = lazy_regex(r"(?i)(?:(?:tcp|udp) )?port (?=\d{2,5}$)")
_PATH = lazy_regex(r"[~/][\w./:@-]{1,200}")
_CUDA_ERROR = lazy_regex(
    r"(?:cuda\s?(?:error|failure|runtime error)|cudaError_t|CUresult|error)\s?[:=(#]?\s?(?P<number>[1-9]\d{2,3})\)?",
    re.IGNORECASE,
)
_ENDED = lazy_regex(
    r"(?:process )?(?:exit(?:ed)?[ _-]?(?:with )?(?:code|status)?|return ?code|rc)\s?[:=]?\s{0,8}(?P<code>-?\d{1,3})",
    re.IGNORECASE,
)
_SPACE = lazy_regex(r".*::|FI_EFA_ERR_|EFA_IO_COMP_STATUS_")
"""What stands before the name of a code in the tables of libraries."""
_WORDS = {
    "result": "NCCL result", "completion": "ibverbs completion status", "vendor": "mlx5 vendor error", "xid": "Xid",
    "sxid": "SXid", "errno": "errno",
}  # fmt: skip
_FACT = lazy_regex(r"[A-Z][A-Za-z]{2,40}(?:\.[a-z]\w{0,60})?")
_EVENT = lazy_regex(r"[a-z0-9]+(?:-[a-z0-9]+)+")
_READ: dict[bool | None, str] = {True: "read", False: "not read", None: "not in all of these"}
_ALIKE, _ALIKE_ON_HOST = "all ranks need the same value", "the ranks of one host need the same value"
_FREE = "ranks may have different values"
_NEAR, _MANY = 0.72, 3
_SHORTEST = 4
"""Letters with which a known name may be begun."""


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    """What is known about a thing.

    ``kind`` is its type (``variable``, ``NCCL result``, ``path type``, ``file``, ``message`` ...), ``details`` are
    further facts by label; the labels are also the keys of JSON.
    """

    kind: str
    name: str
    meaning: str
    details: dict[str, Any] = {}


def answers_to(thing: str, version: Version | VersionRange | None = None) -> tuple[Answer, ...]:
    """All meanings of the text, most likely first; empty if nothing is known.

    ``version`` is the NCCL release whose defaults and numbers are given.
    """
    text = thing.strip()
    found = [
        *_logging(text),
        *_releases(text),
        *_variable(text, version),
        *_codes(text),
        *_cuda(text),
        *_terms(text, version),
        *_places(text),
        *_facts(text),
    ]
    said = tuple(found) or tuple(_message(text)) or tuple(_exception(text))
    return said or tuple(_near(text, version)) or tuple(_library_codes(text))


def _exception(text: str) -> Iterator[Answer]:
    """An exception that Python itself has."""
    known = getattr(builtins, text, None)
    if isinstance(known, type) and issubclass(known, BaseException) and known.__doc__:
        meaning = f"{known.__doc__.splitlines()[0].rstrip('.')}. The traceback above it names the line of the program."
        yield Answer(kind="exception of Python", name=text, meaning=meaning)


def _near(text: str, version: Version | VersionRange | None) -> Iterator[Answer]:
    """The known name that begins with the text, if it is the only one or a term; else a message that it begins."""
    names = _names() if len(text) >= _SHORTEST else ()
    begun = sorted({name for name in names if _begins(name, text)}, key=len)
    if begun and (len(begun) == 1 or terms.named(begun[0])):
        yield from answers_to(begun[0], version)
        return
    message = message_near(text)
    if message is not None:
        details = {"is": message.kind, "a line of it": message.example, "next": message.next}
        kept = {name: value for name, value in details.items() if value}
        yield Answer(kind="message", name=message.event, meaning=message.meaning, details=kept)


def _begins(name: str, text: str) -> bool:
    """Does the name begin with the text, and go on? A number is not the beginning of another one."""
    rest = name[len(text) :]
    return name.lower().startswith(text.lower()) and rest != "" and not (text[-1:].isdigit() and rest[0].isdigit())


def suggestions(thing: str, others: Iterable[str] = ()) -> tuple[str, ...]:
    """Similar names among everything that can be explained, and ``others``."""
    known: dict[str, str] = {}
    if "." in thing and _FACT.fullmatch(thing.strip()):
        from ncdiag.apps.explaining import facts

        others = (*others, *facts.names())
    for name in (*others, *_names()):
        known.setdefault(name.lower(), name)
    near = difflib.get_close_matches(thing.strip().lower()[:200], known, n=_MANY, cutoff=_NEAR)
    return tuple(known[name] for name in near)


def _names() -> Iterator[str]:
    yield from logs.names()
    yield from environment.variables()
    yield from environment.table().misspelt
    for kind, table in codes.codes().items():
        if kind in _WORDS:
            yield from (word for code in table.values() for word in (code.name, code.said) if word)
            yield from (f"{_WORDS[kind]} {number}" for number in table if kind in {"xid", "sxid", "errno"})
    yield from (word for term in terms.terms() for word in (term.name, *term.also))
    yield from (place.path for place in terms.places())
    yield from dict.fromkeys(message.event for message in full_matcher().messages())


def _variable(text: str, version: Version | VersionRange | None) -> Iterator[Answer]:
    name, given, value = text.removeprefix("$").partition("=")
    known = environment.variables().get(name)
    if known is None and not _VARIABLE.fullmatch(name):
        return
    wrong = of_name(name, version)
    if known is not None:
        details = dict(_of_variable(known, version)) | (_of_text(name, value, version) if given else {})
        yield Answer(kind="variable", name=name, meaning=f"{known.means}.", details=details)
    elif wrong is None and (program := environment.reader(name)) is not None:
        yield Answer(kind="variable", name=name, meaning=f"NCCL does not read it but another program: {program}.")
    elif wrong is not None or name.startswith("NCCL_"):
        why = environment.table().misspelt.get(name)
        meaning = f"NCCL has no such variable{f' ({why.why})' if why else ''}; setting it has no effect."
        near = list(environment.suggest(name)[:_MANY])
        details = {"did you mean": near} if near else {}
        yield Answer(kind="unknown variable", name=name, meaning=meaning, details=details)


def _logging(text: str) -> Iterator[Answer]:
    """How to get a log, for all launchers or for one."""
    asked = logs.asked(text) if text.partition(" ")[0].lower() in logs.WORDS else None
    if asked is not None:
        name, meaning, details = asked
        yield Answer(kind="how to", name=name, meaning=meaning, details=details)


def _releases(text: str) -> Iterator[Answer]:
    """The known defects of a release of NCCL or of what it works with."""
    found = releases.release(text)
    if found is not None:
        name, meaning, details = found
        yield Answer(kind="release", name=name, meaning=meaning, details=details)


def _facts(text: str) -> Iterator[Answer]:
    """A type of facts, or one of its fields (``Host``, ``Host.sees_no_gpu``), as rules name them."""
    if not _FACT.fullmatch(text):
        return
    from ncdiag.apps.explaining import facts  # imports all derived fields, of which most answers know nothing

    kind, field = facts.fact_types().get(text), facts.field(text)
    details: dict[str, Any]
    if kind is not None:
        found = facts.fields(text)
        stored = [f"{one.name}: {one.type}" for one in found if not one.is_derived]
        derived = [f"{one.name}: {one.meaning}" for one in found if one.is_derived]
        details = {"fields": stored, "derived fields": derived} if derived else {"fields": stored}
        yield Answer(kind="fact", name=text, meaning=facts.meaning(kind), details=details)
    elif field is not None:
        details = {"type": field.type, "worked out in": field.module} if field.is_derived else {"type": field.type}
        what = field.meaning or facts.meaning(facts.fact_types()[field.owner])
        yield Answer(kind="derived field" if field.is_derived else "field", name=text, meaning=what, details=details)


def _of_text(name: str, text: str, version: Version | VersionRange | None) -> dict[str, Any]:
    """The effect of a value that was given with the variable, and what was probably intended."""
    wrong, read = of_value(name, text, version), environment.resolve(name, text, version)
    found: dict[str, Any] = {"this value": f"read as {read.effective}" if read.effective is not None else None}
    if wrong is not None:
        found |= {
            "this value": f"{wrong.what}. {wrong.why}".rstrip(),
            "meant": wrong.right,
            "holds for": wrong.versions,
        }
    return {label: value for label, value in found.items() if value}


def _of_variable(known: Variable, version: Version | VersionRange | None) -> Iterator[tuple[str, Any]]:
    default = known.default_at(version)
    history = ", ".join(f"{_shown(value)} ({_since(since)})" for since, value in known.defaults)
    yield "type", known.type
    yield "read by", "NCCL" if known.owner == environment.OURS else known.owner
    if version is not None:
        yield "in this release", _READ[known.exists_at(version)]
    yield "default", _shown(default) if default is not None or len(known.defaults) <= 1 else history
    if len(known.defaults) > 1 and default is not None:
        yield "default by release", history
    if known.unset:
        yield "if unset", known.unset
    if known.owner == environment.OURS:
        yield "history", _history(known)
    for label, value in (
        ("values", _values(known, version)), ("empty", _of_nothing(known)),
        ("use instead", known.renamed), ("risk", _risk(known)), ("agreement", _agreement(known)),
        ("because", known.agree_why), ("related", list(known.related)),
    ):  # fmt: skip
        if value:
            yield label, value


def _values(known: Variable, version: Version | VersionRange | None) -> str:
    """The values that the variable accepts; for levels those of the release, if known."""
    if known.type == "level" and isinstance(version, Version) and version >= paths.NAMED_LEVELS:
        there = [level for level in words.LEVELS if paths.parse_level(level, version)]
        return f"{', '.join(there)} in upper case; or the old numbers 0 LOC, 1 PIX, 2 PXB, 3 PHB, 4 and more SYS"
    ranged = "{} to {}".format(*known.bounds) if known.bounds else ", ".join(map(str, known.choices))
    return known.accepts or ", ".join(known.words) or ranged


def _agreement(known: Variable) -> str | None:
    """Whether ranks need the same value; None if unknown."""
    if known.agree is None:
        return None
    return _FREE if not known.agree else _ALIKE_ON_HOST if known.agree_on_host else _ALIKE


def _of_nothing(known: Variable) -> str:
    """The effect of an empty value; nothing if unknown."""
    if known.empty:
        return f"an empty value {known.empty}{f' ({known.empty_at})' if known.empty_at else ''}"
    return "an empty value has the same effect as unset" if known.empty_is_unset else ""


def _history(known: Variable) -> str:
    """The releases that read it."""
    if known.until is None:
        return f"since {_release(known.since)}" if known.since else "in every release"
    first = f"since {_release(known.since)}" if known.since else "from the beginning"
    return f"{first}, removed in {_release(known.until)}"


def _since(version: Version) -> str:
    return "at first" if version <= OLDEST else f"{_release(version)} and later"


def _release(version: Version) -> str:
    """A minor release without its patch number, because none has the patch 0."""
    return str(version).removesuffix(".0") if version.patch == 0 else str(version)


def _shown(default: int | str | None) -> str:
    return "unset or computed at run time" if default in {None, ""} else str(default)


def _risk(known: Variable) -> str:
    """The risks of setting it."""
    parts = [known.effect]
    if not known.documented and known.owner == environment.OURS:
        parts.append("The user guide does not name it: it may change or disappear without notice.")
    if known.experimental:
        parts.append("The user guide lists it under debugging; do not use it in production.")
    return " ".join(part for part in parts if part)


def _codes(text: str) -> Iterator[Answer]:
    found = _CODE.fullmatch(text)
    if found:
        word = found["kind"].lower()
        entry = codes.code(_KINDS.get(word, word), int(found["number"], 0))
        entries: Iterable[codes.Code] = (entry,) if entry is not None else ()
    elif _NUMBER.fullmatch(text):
        known = terms.named(text)  # a port, say: no SXid of which the table has the thousand alone
        entries = [code for code in codes.of_number(abs(int(text, 0))) if not known or codes.is_listed(code)]
    else:
        entries = codes.named(text)
    for code in entries:
        details = {"number": code.number, **({"in messages": code.said} if code.said else {})}
        yield Answer(kind=_WORDS[code.kind], name=code.name, meaning=code.meaning, details=details)


def _cuda(text: str) -> Iterator[Answer]:
    """An error of CUDA, by its number or its name."""
    numbered = _CUDA_ERROR.fullmatch(text)
    if numbered:
        reason = reasons.of_cuda(int(numbered["number"]))
    else:
        reason = reasons.errors().names.get(text) if text.startswith(("cudaError", "CUDA_ERROR_")) else None
    if reason is not None and reason.name:
        means = reasons.groups().get(reason.group or "", "")
        number = next((n for n, each in reasons.errors().cuda.items() if each.name == reason.name), None)
        details: dict[str, Any] = {"number": number} if number is not None else {}
        said = next((words for words, each in reasons.errors().cuda_texts.items() if each.name == reason.name), "")
        details |= {"in messages": said} if said else {}
        meaning = f"It failed because {means}." if means else f"CUDA says: {said}."
        yield Answer(kind="CUDA error", name=reason.name, meaning=meaning, details=details)


def _library_codes(text: str) -> Iterator[Answer]:
    """The name of a code in the table of a library (`UCS_ERR_REJECTED`), which says little more than its reason."""
    known = library_codes()
    table, reason = known.codes.get(_SPACE.sub("", text), (-1, ""))
    if table >= 0:
        name, released = known.tables[table]
        meaning = f"It means: {vocabulary().reasons[reason]}." if reason != UNKNOWN else "It does not say why."
        yield Answer(kind=f"code of {name}", name=text, meaning=meaning, details={"table": released})


def _terms(text: str, version: Version | VersionRange | None) -> Iterator[Answer]:
    ended = _ENDED.fullmatch(text)
    if ended:
        text = f"exitcode {ended['code']}" if ended["code"].startswith("-") else f"exit code {ended['code']}"
    for term in terms.named(_PORT.sub("", text)):
        details: dict[str, Any] = {"also": list(term.also)} if term.also else {}
        number = paths.path_number(term.name, version) if term.kind == "path type" else None
        if number is not None and version is not None:
            details["number"] = number
        yield Answer(kind=term.kind, name=term.name, meaning=term.meaning, details=details)


def _places(text: str) -> Iterator[Answer]:
    place = terms.place(text) if _PATH.fullmatch(text) else None
    if place is not None:
        yield Answer(kind="file", name=place.path, meaning=place.why, details={"holds": place.holds})


def _message(text: str) -> Iterator[Answer]:
    """A line of a log, or the name that an event has in the catalogue."""
    told = lines.line(text)
    if told.event is not None:
        details: dict[str, Any] = {
            "is": told.kind, "level": told.level, "fields": told.fields, "next": told.next,
            "printed by NCCL": told.versions,
        }  # fmt: skip
        kept = {name: value for name, value in details.items() if value}
        yield Answer(kind="message", name=told.event, meaning=told.meaning, details=kept)
    elif _EVENT.fullmatch(text):
        same = [message for message in full_matcher().messages() if message.event == text]
        for message in same[:1]:
            details = {"is": message.kind, "next": message.next, "texts": [m.text for m in same[:_MANY]]}
            yield Answer(
                kind="event", name=text, meaning=message.meaning, details={k: v for k, v in details.items() if v}
            )
