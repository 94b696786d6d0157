"""The message files prove themselves: examples, unique events, hole types, speed."""

from __future__ import annotations

import re
from functools import partial
from pathlib import Path

import msgspec
import pytest
from linear import again, assert_linear_time, cpu_seconds

from ncdiag.base.errors import DefinitionError
from ncdiag.messages.explained import full_matcher
from ncdiag.messages.form import read
from ncdiag.messages.load import load_messages
from ncdiag.messages.match import Matcher, default_matcher
from ncdiag.messages.message import Message
from ncdiag.messages.template import example, parse

MESSAGES = load_messages(samples=False)
SLOWEST = 20


def named(message: Message) -> str:
    return f"{message.origin}:{message.event}:{message.text[:40]}"


@pytest.mark.parametrize("origin", sorted({message.origin for message in MESSAGES}))
def test_every_example_is_read_as_its_own_event(origin: str) -> None:
    wrong = []
    for message in (each for each in MESSAGES if each.origin == origin):
        found = full_matcher().match(message.example, origin, message.level)
        if found is None or found.event != message.event:
            wrong.append(f"{named(message)} is read as {found.event if found else None}")
    assert wrong == []


def test_every_example_fits_its_text_whole() -> None:
    assert len(load_messages()) == len(MESSAGES)


def test_a_sample_is_written_only_where_it_says_more_than_the_types_of_the_holes() -> None:
    made = {named(message): example(parse(message.text)) for message in MESSAGES}
    assert [named(message) for message in MESSAGES if message.sample == made[named(message)]] == []
    assert sum(bool(message.sample) for message in MESSAGES) < len(MESSAGES) / 8


def test_one_hole_name_has_one_type_in_all_files() -> None:
    assert full_matcher().hole_types()["peer"] == "addr"


def test_what_only_explain_shows_is_loaded_by_explain_alone() -> None:
    kept = [
        msgspec.structs.replace(message, meaning="", next="", sample="") for message in MESSAGES if not message.quiet
    ]
    assert list(default_matcher().messages()) == kept
    assert list(full_matcher().messages()) == list(MESSAGES)


def test_every_event_says_what_it_means() -> None:
    assert [named(m) for m in MESSAGES if not m.meaning] == []


def test_hostile_texts_take_linear_time() -> None:
    """Of all messages those that take longest with a long tail are looked at, and texts of nothing but a tail."""
    matcher = Matcher(MESSAGES)

    def look(text: str) -> None:
        matcher.match(text)
        matcher.find(text)

    def seconds(message: Message) -> float:
        look(message.example)  # compiles the patterns
        return cpu_seconds(look, message.example + " : " * 500)

    for message in sorted(MESSAGES, key=seconds)[-SLOWEST:]:
        assert_linear_time(look, again(" : ", message.example), 300)
    for piece in ("1 ", ": ", "=0", "a(", "' ", "/x"):
        assert_linear_time(look, again(piece), 500)


HEAD = 'origin = "mine"\n\n[event.e]\n'
BAD = {
    "unknown hole": ('kind = "fact"\nlines = ["a {x:integer} word"]', 5, "is not a hole"),
    "no word": ('kind = "fact"\nWARN = ["{x:text}"]', 5, "no word outside its holes"),
    "sample": ('kind = "fact"\nWARN = [{ text = "a {x:int} word", sample = "a b word" }]', 5, "sample does not match"),
    "unknown key": ('kind = "fact"\nWARM = ["a word"]', 5, "'WARM'.*did you mean 'WARN'.*known: kind,.* lines"),
    "unknown key of a wording": (
        'kind = "fact"\nWARN = [\n  "a word",\n  { text = "two words", knid = "fact" },\n]',
        7, "unknown key 'knid'.*did you mean 'kind'.*known: text, kind, meaning, next, quiet, sample",
    ),
    "unknown kind": ('kind = "faKt"\nWARN = ["a word"]', 4, "kind: .*'faKt'.*known: cause, echo, harmless, fact"),
    "unknown kind of a wording": (
        'WARN = [\n  { text = "a word", kind = "faKt" },\n]', 5, "known: cause, echo, harmless, fact, symptom",
    ),
    "no text": ('kind = "fact"\nWARN = [{ sample = "a word" }]', 5, "missing required field `text`"),
    "no wording": ('kind = "fact"', 3, r"has no wording.*lines = "),
    "an empty list": ('kind = "fact"\nlines = []', 3, "has no wording"),
    "no list": ('kind = "fact"\nlines = "a word"', 5, r"lines is a list of wordings.*write lines = "),
    "no string": ('kind = "fact"\nlines = ["a word", 7]', 5, "expected `object`, got `int`"),
    "no kind": ('lines = ["a word"]', 4, "the event 'e' has no kind"),
    "bad versions": ('kind = "fact"\nlines = ["a word || from 2.4"]', 5, "not a version condition"),
    "four parts": ('kind = "fact"\nlines = ["a word || >=2.4 || a.cc || b.cc"]', 5, "more than three parts"),
    "no release": ('kind = "fact"\nlines = ["a word || >=2.2"]', 5, "are those of NCCL, and this is a line of 'mine'"),
    "no TOML": ('kind = "fact"\nlines = [', 5, "this is not valid TOML"),
}  # fmt: skip


@pytest.mark.parametrize(("body", "line", "reason"), BAD.values(), ids=BAD)
def test_a_wrong_message_is_refused_with_its_line_and_the_allowed_words(
    tmp_path: Path, body: str, line: int, reason: str
) -> None:
    (tmp_path / "mine.toml").write_text(f"{HEAD}{body}\n")
    with pytest.raises(DefinitionError) as caught:
        load_messages(tmp_path)
    said = str(caught.value)
    assert said.startswith(f"{tmp_path / 'mine.toml'}:{line}: ")
    assert re.search(reason, said, re.DOTALL), said


def test_the_keys_of_a_file_are_refused_with_the_allowed_words(tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text('origin = "mine"\n[[message]]\nevent = "e"\ntext = "a word"\n')
    with pytest.raises(DefinitionError, match=r"unknown key 'message'(.|\n)*known: origin, quiet, event"):
        load_messages(tmp_path)


def test_all_that_is_wrong_is_reported_at_once_and_the_rest_is_read(tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text(
        'origin = "mine"\n[event.e]\nkind = "fakt"\nlines = ["a word"]\n'
        '[event.f]\nkind = "fact"\nlines = ["a word", { txet = "no" }, "it \\"quotes\\" {x:in}"]\n'
    )
    with pytest.raises(DefinitionError) as caught:
        load_messages(tmp_path)
    assert re.findall(r"mine.toml:(\d+)", str(caught.value)) == ["3", "7", "7"]
    assert [message.text for _, message in read(tmp_path / "mine.toml").messages] == ["a word", 'it "quotes" {x:in}']


def test_all_wrong_samples_are_told_at_once_each_with_a_caret_where_the_text_gave_up(tmp_path: Path) -> None:
    texts = [("rank {x:int} left", "rank 12 came"), ("all is well", "all is well"), ("a word", "a word more")]
    wordings = "".join(f'    {{ text = "{text}", sample = "{sample}" }},\n' for text, sample in texts)
    (tmp_path / "mine.toml").write_text(f'{HEAD}kind = "fact"\nlines = [\n{wordings}]\n')
    with pytest.raises(DefinitionError) as caught:
        load_messages(tmp_path)
    file = tmp_path / "mine.toml"
    assert str(caught.value).splitlines() == [
        f"{file}:6: the sample does not match", "    rank 12 came", "            ^",
        "  help: the text goes on with: left",
        f"{file}:8: the sample does not match", "    a word more", "          ^", "  help: the text ends here",
    ]  # fmt: skip


def test_the_same_text_twice_is_refused(tmp_path: Path) -> None:
    event = '[event.{}]\nkind = "fact"\nlines = ["a word"]\n'
    (tmp_path / "mine.toml").write_text('origin = "mine"\n' + event.format("one") + event.format("two"))
    with pytest.raises(DefinitionError, match="the event 'one' has the same text"):
        load_messages(tmp_path)


def test_a_wording_says_only_what_differs_from_its_event(tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text(
        'origin = "nccl"\nquiet = true\n[event.e]\nkind = "symptom"\nmeaning = "It failed."\nnext = "Look."\n'
        'WARN = ["a word || >=2.4,<2.8 || init.cc", "a word here || || net.cc"]\n'
        'INFO = ["a word", { text = "another word || >=2.4", kind = "fact", quiet = false, sample = "another word" }]\n'
        'lines = ["some words"]\n'
    )
    event = partial(Message, event="e", origin="nccl", kind="symptom", meaning="It failed.", next="Look.", quiet=False)
    assert load_messages(tmp_path) == (
        event(text="a word", level="WARN", versions=">=2.4,<2.8", file="init.cc"),
        event(text="a word here", level="WARN", file="net.cc"),
        event(text="a word", level="INFO", quiet=True),
        event(text="another word", level="INFO", versions=">=2.4", kind="fact", sample="another word"),
        event(text="some words"),
    )
