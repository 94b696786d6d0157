"""Print the choices that NCCL would make, as a table for people and as JSON."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import msgspec

from ncdiag.base.patterns import lazy_regex
from ncdiag.facts.fold import fold_hosts
from ncdiag.language import cells, phrase, say
from ncdiag.nccl.on_host.predicting import GIVES_UP, Chosen, Prediction

_ROWS = (
    ("bootstrap interface", "bootstrap_interface"), ("socket interfaces", "socket_interfaces"), ("network", "net"),
    ("RDMA ports", "ib_devices"), ("GID index", "gid"), ("GPUDirect RDMA", "gdr"), ("nearest NICs", "nics"),
    ("between GPUs", "local"),
)  # fmt: skip
_WORDS = {field: words for words, field in _ROWS}
_UNKNOWN = "not known"
NONE = "none"
"""The word for a choice of nothing."""
_ANSWERS = lazy_regex(r"(?:^|(?<= ))(?:not known|none|yes|no)(?=,|$)")
"""The words of `cell` that are not names."""


def as_text(predictions: Sequence[Prediction]) -> str:
    """A table per host with one column per release, the ranks that differ, and the reasons."""
    by_host: dict[str, list[Prediction]] = {}
    for one in predictions:
        by_host.setdefault(one.host, []).append(one)
    return "\n".join("".join(f"{line}\n" for line in _told(found)) for found in by_host.values())


def _told(found: Sequence[Prediction]) -> Iterator[str]:
    yield found[0].host
    unknown = say("NCCL of an unknown version")
    rows = [("", [f"NCCL {one.nccl_version}" if one.nccl_version else unknown for one in found])]
    rows += [(say(words), [_said(one.chosen, field) for one in found]) for words, field in _ROWS]
    widths = [max(cells.width(texts[column]) for _, texts in rows) for column in range(len(found))]
    for words, texts in rows:
        shown = "  ".join(cells.pad(text, width) for text, width in zip(texts, widths, strict=True))
        yield f"  {cells.pad(words, 20)} {shown}".rstrip()
    for one in found:
        for rank in one.ranks:
            differing = say(", ").join(
                f"{say(words)} {_said(rank.chosen, field)}" for words, field in _ROWS
                if getattr(rank.chosen, field) != getattr(one.chosen, field)
            )  # fmt: skip
            yield f"  rank {rank.rank}{say(': ')}{differing}{_with(one, found)}"
    if any(one.known_defects for one in found):
        yield "  " + say("known defects")
        met = dict.fromkeys(text for one in found for text in one.known_defects)
        yield from (f"    {phrase(text)}" for text in met)
    for heading, lines in (("why", _why(found)), (_UNKNOWN, _open(found))):
        if lines:
            yield "  " + say(heading)
            yield from (f"    {line}" for line in lines)


class _Step(NamedTuple):
    """A step of a choice: ``text`` without the options considered, and ``releases`` in which it was taken."""

    choice: str
    text: str
    rule: str
    releases: tuple[str, ...]


def _why(found: Sequence[Prediction]) -> list[str]:
    """The steps that decided; those that are equal for several choices, devices or releases are one line."""
    choices: dict[str, list[str]] = {}
    for choice, line in _steps(found, decided=True):
        choices.setdefault(line, []).append(say(_WORDS.get(choice, choice)))
    return [say(", ").join(dict.fromkeys(names)) + say(": ") + line for line, names in choices.items()]


def _open(found: Sequence[Prediction]) -> list[str]:
    """What the input does not show, without the source line in which NCCL asks for it."""
    return list(dict.fromkeys(line for _, line in _steps(found, decided=False)))


def _steps(found: Sequence[Prediction], *, decided: bool) -> Iterator[tuple[str, str]]:
    """(choice, sentence) of each step, or of each unknown; one for all devices and releases that are alike."""
    taken: dict[tuple[str, str, str, str], dict[str, str]] = {}
    for one in found:
        for step in one.chosen.reasons:
            if decided is (step.rule == _UNKNOWN):
                continue
            sources = taken.setdefault((step.choice, step.about, step.text, step.rule), {})
            sources[_with(one, found)] = step.source
    alike: dict[_Step, dict[str, str]] = {}
    for (choice, about, text, rule), sources in taken.items():
        said = text.replace(about, _ABOUT) if about else text
        only = tuple(sources) if len(sources) < len(found) else ()
        alike.setdefault(_Step(choice, said, rule, only), {})[about] = [*sources.values()][-1]
    for told, devices in alike.items():
        names = _folded([*devices])
        about = f"{phrase(names)}{say(': ')}" if names else ""
        text = phrase(told.text.replace(_ABOUT, names))
        if decided:
            by = say("; ").join(dict.fromkeys(phrase(word) for word in (told.rule, [*devices.values()][-1]) if word))
            text = say("{text} ({note})", text=text, note=by)
        yield told.choice, f"{about}{text}{''.join(told.releases)}"


_ABOUT = "\0"


def _folded(names: Sequence[str]) -> str:
    """The devices (``mlx5_0:1``) or interfaces as one name: ``mlx5_[0-7]:1``."""
    split = [name.partition(":") for name in names]
    if len({(colon, port) for _, colon, port in split}) > 1:
        return ", ".join(names)
    return fold_hosts(name for name, _, _ in split) + "".join(split[0][1:])


def is_told(answer: Chosen, field: str) -> bool:
    """False if the choice, or a part of it, is unknown."""
    return _UNKNOWN not in cell(answer, field)


def _with(one: Prediction, found: Sequence[Prediction]) -> str:
    return f" [{one.nccl_version}]" if len(found) > 1 else ""


def _said(answer: Chosen, field: str) -> str:
    return _ANSWERS.sub(lambda found: say(found[0]), cell(answer, field))


def cell(answer: Chosen, field: str) -> str:
    """A field of `Chosen` for people: unknown is spelled out, and nothing is a dash."""
    value = getattr(answer, field)
    if field == "bootstrap_interface" and value is None:
        return NONE if any(step.text.startswith(GIVES_UP) for step in answer.reasons) else _UNKNOWN
    if value is None:
        return _UNKNOWN
    if field in _WORDED:
        return _WORDED[field](value) or "-"
    return value if isinstance(value, str) else ", ".join(value) or NONE


_YES = {True: "yes", False: "no", None: _UNKNOWN}


def _pairs(transports: Mapping[str, str | None]) -> str:
    """``P2P``, or ``P2P 12, SHM 16`` if pairs differ."""
    counts = Counter(transport or _UNKNOWN for transport in transports.values())
    if len(counts) == 1:
        return next(iter(counts))
    return ", ".join(f"{transport} {count}" for transport, count in counts.items())


_WORDED: dict[str, Callable[[dict[str, Any]], str]] = {
    "gid": lambda held: ", ".join(f"{port} {_UNKNOWN if i is None else i}" for port, i in held.items()),
    "gdr": lambda held: ", ".join(f"{port} {_YES[verdict.enabled]}" for port, verdict in held.items()),
    "nics": lambda held: ", ".join(f"{gpu} {'+'.join(names)}" for gpu, names in held.items()),
    "local": _pairs,
}
"""Formatters for fields with a value per port, GPU or pair."""


def as_json(predictions: Sequence[Prediction]) -> dict[str, object]:
    """The predictions with the field names of ``--format json``."""
    return {"hosts": [_flat(one) for one in predictions]}


def _flat(one: Prediction) -> dict[str, object]:
    fields = _promised(one.chosen)
    ranks = [{"rank": each.rank, **_promised(each.chosen)} for each in one.ranks]
    reasons = fields.pop("reasons")
    return {
        "host": one.host,
        "nccl_version": one.nccl_version,
        **fields,
        "ranks": ranks,
        "reasons": reasons,
        "known_defects": list(one.known_defects),
    }


def _promised(answer: Chosen) -> dict[str, object]:
    """The fields of the JSON form; NICs and local transports are only in its reasons."""
    fields: dict[str, object] = msgspec.to_builtins(answer)
    return {name: value for name, value in fields.items() if name not in {"nics", "local"}}
