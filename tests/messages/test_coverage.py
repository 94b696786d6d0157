"""Every line that NCCL can print is known: each format string, filled in with plausible values, is in the catalogue.

The format strings are read from ``nccl/log_messages*.json`` of the shared specimens (releases v1.2.1 to v2.30.7 from
the sources, 2.31.2 and 2.32.3 from the binaries). Two lists beside this file say what is left out, a line each with a
tab and the reason: ``exempt.txt`` (format strings without a word of their own, pieces of JSON and tables) and
``not_log_lines.txt`` (strings of the binaries that are no lines of a log).
"""

from __future__ import annotations

import json
from collections import defaultdict
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from format_strings import CONVERSION, instances

from ncdiag.messages.explained import full_matcher
from ncdiag.messages.message import Message
from ncdiag.messages.template import compile_parts, literal_length, parse, words

HERE = Path(__file__).parent
FILES = ("log_messages.json", "log_messages_2.29+.json")
COMPLETE = {"WARN", "ATTN", "ABORT", "DIAG"}
"""Levels of which every format string needs a meaning."""
TALK = {"INFO", "unknown"}
"""Levels of which `ENOUGH` of the format strings have to be recognised."""
ENOUGH = 0.95
DIAG_HEAD = "%s:%d NCCL DIAG "


class Template(NamedTuple):
    """A format string: ``group`` is the source folder or file that printed it, ``level`` as the specimens name it."""

    text: str
    level: str
    group: str


def listed(name: str) -> dict[str, str]:
    """A list beside this file: the format string (a line break written as ``\\n``) and the reason."""
    lines = (HERE / name).read_text(encoding="utf-8").splitlines()
    pairs = (line.split("\t") for line in lines if line and not line.startswith("# "))
    return {pair[0]: pair[1] for pair in pairs}


def key(template: str) -> str:
    """How the lists write a format string."""
    return template.strip().replace("\\", "\\\\").replace("\n", "\\n").replace("\t", "\\t")


def group_of(entry: dict[str, Any]) -> str:
    path = entry.get("path") or entry.get("file") or entry.get("component") or "binary"
    return "/".join(path.removeprefix("src/").split("/")[:2]) if "/" in path else path


@pytest.fixture(scope="module")
def templates(shared: Path) -> list[Template]:
    """All format strings of the two files."""
    paths = [shared / "nccl" / name for name in FILES]
    if not all(path.is_file() for path in paths):
        pytest.skip(f"no {' and '.join(FILES)} among the shared specimens")
    entries = [entry for path in paths for entry in json.loads(path.read_text(encoding="utf-8"))["messages"]]
    return [Template(entry["template"], entry["level"], group_of(entry)) for entry in entries]


def recognised(template: Template) -> Message | None:
    """The message that matches a whole instance of the template and says half of its words or more; else None."""
    text = template.text.strip().removeprefix(DIAG_HEAD)
    said = len("".join(words(CONVERSION.sub(" ", text.split("\n")[0]))))
    for level in (template.level if template.level in COMPLETE | {"INFO"} else None, None):
        for line in instances(text):
            found = full_matcher().match(line, {"nccl"}, level)
            if found is None:
                continue
            parts = parse(found.message.text.strip())
            whole = compile_parts(parts).fullmatch(line) is not None
            if whole and found.message.meaning and 2 * literal_length(parts) >= said:
                return found.message
    return None


@pytest.fixture(scope="module")
def outcome(templates: list[Template]) -> dict[Template, Message | None]:
    """What became of every template that counts, printed by level and by source."""
    left_out = listed("exempt.txt").keys() | listed("not_log_lines.txt").keys()
    counted = [t for t in templates if t.level in COMPLETE | TALK and key(t.text) not in left_out]
    return {template: recognised(template) for template in counted}


def shares(outcome: dict[Template, Message | None], attribute: str) -> dict[str, tuple[int, int]]:
    """Recognised and all, by level or group."""
    counts: dict[str, list[int]] = defaultdict(lambda: [0, 0])
    for template, message in outcome.items():
        count = counts[getattr(template, attribute)]
        count[0] += message is not None
        count[1] += 1
    return {name: (known, total) for name, (known, total) in sorted(counts.items())}


def missing(outcome: dict[Template, Message | None], levels: set[str]) -> list[str]:
    return [
        f"{t.level} {t.group}: {key(t.text)}" for t, message in outcome.items() if message is None and t.level in levels
    ]


def test_every_warning_has_a_meaning(
    outcome: dict[Template, Message | None], capsys: pytest.CaptureFixture[str]
) -> None:
    with capsys.disabled():
        told = ", ".join(f"{name} {known} of {total}" for name, (known, total) in shares(outcome, "level").items())
        print(f"\n[catalogue: {told}]")  # noqa: T201
    lacking = missing(outcome, COMPLETE)
    assert lacking == [], f"{len(lacking)} format strings without a meaning"


@pytest.mark.parametrize("level", sorted(TALK))
def test_nearly_all_other_lines_are_recognised(outcome: dict[Template, Message | None], level: str) -> None:
    known, total = shares(outcome, "level")[level]
    assert known >= ENOUGH * total, "\n".join(missing(outcome, {level}))


def test_lists_name_only_format_strings_that_exist(templates: list[Template]) -> None:
    existing = {key(template.text) for template in templates}
    for name in ("exempt.txt", "not_log_lines.txt"):
        assert sorted(listed(name).keys() - existing) == []


def test_no_format_string_with_words_is_exempt(templates: list[Template]) -> None:
    exempt = listed("exempt.txt")
    talking = [
        key(t.text)
        for t in templates
        if t.level in COMPLETE and key(t.text) in exempt and len(words(CONVERSION.sub(" ", t.text))) > 1
    ]
    assert [text for text in talking if not text.startswith(DIAG_HEAD)] == []
