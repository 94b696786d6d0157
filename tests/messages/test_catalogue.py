"""The message files prove themselves: samples, unique events, hole types, speed."""

from __future__ import annotations

from pathlib import Path

import pytest
from linear import again, assert_linear, cpu_seconds

from ncdiag.base.errors import DefinitionError
from ncdiag.messages.load import Message, load_messages
from ncdiag.messages.match import Matcher, full_matcher

MESSAGES = load_messages(samples=False)
SLOWEST = 20


def named(message: Message) -> str:
    return f"{message.origin}:{message.event}:{message.text[:40]}"


@pytest.mark.parametrize("origin", sorted({message.origin for message in MESSAGES}))
def test_every_sample_is_read_as_its_own_event(origin: str) -> None:
    wrong = []
    for message in (each for each in MESSAGES if each.origin == origin):
        found = full_matcher().match(message.sample, origin, message.level)
        if found is None or found.event != message.event:
            wrong.append(f"{named(message)} is read as {found.event if found else None}")
    assert wrong == []


def test_every_sample_fits_its_text_whole() -> None:
    assert len(load_messages()) == len(MESSAGES)


def test_one_hole_name_has_one_type_in_all_files() -> None:
    assert full_matcher().hole_types()["peer"] == "addr"


def test_every_event_says_what_it_means() -> None:
    assert [named(m) for m in MESSAGES if not m.meaning] == []


def test_hostile_texts_take_linear_time() -> None:
    """Of all messages those that take longest with a long tail are looked at, and texts of nothing but a tail."""
    matcher = Matcher(MESSAGES)

    def look(text: str) -> None:
        matcher.match(text)
        matcher.find(text)

    def seconds(message: Message) -> float:
        look(message.sample)  # compiles the patterns
        return cpu_seconds(look, message.sample + " : " * 500)

    for message in sorted(MESSAGES, key=seconds)[-SLOWEST:]:
        assert_linear(look, again(" : ", message.sample), 300)
    for piece in ("1 ", ": ", "=0", "a(", "' ", "/x"):
        assert_linear(look, again(piece), 500)


BAD = {
    "unknown hole": ('text = "a {x:integer} word"', "is not a hole"),
    "no word": ('text = "{x:text}"', "no word outside its holes"),
    "sample": ('text = "a {x:int} word"\nsample = "a b word"', "the sample does not match"),
    "no sample": ('text = "a word"', "no sample"),
    "unknown key": ('text = "a word"\nsample = "a word"\nlevle = "WARN"', "levle"),
    "bad versions": ('text = "a word"\nsample = "a word"\nversions = "from 2.4"', "not a version condition"),
    "no release": (
        'text = "a word"\nsample = "a word"\nversions = ">=2.2"',
        "releases of NCCL, and this is a line of 'mine'",
    ),
}


@pytest.mark.parametrize(("body", "reason"), BAD.values(), ids=BAD)
def test_a_wrong_message_is_refused_with_its_place(tmp_path: Path, body: str, reason: str) -> None:
    (tmp_path / "mine.toml").write_text(f'origin = "mine"\n\n[[message]]\nevent = "e"\nkind = "fact"\n{body}\n')
    with pytest.raises(DefinitionError, match=reason) as caught:
        load_messages(tmp_path)
    assert "mine.toml" in str(caught.value)


def test_all_wrong_samples_are_told_at_once_each_with_a_caret_where_the_text_gave_up(tmp_path: Path) -> None:
    message = '[[message]]\nevent = "e"\nkind = "fact"\ntext = "{}"\nsample = "{}"\n'
    texts = [("rank {x:int} left", "rank 12 came"), ("all is well", "all is well"), ("a word", "a word more")]
    (tmp_path / "mine.toml").write_text('origin = "mine"\n' + "".join(message.format(*each) for each in texts))
    with pytest.raises(DefinitionError) as caught:
        load_messages(tmp_path)
    file = tmp_path / "mine.toml"
    assert str(caught.value).splitlines() == [
        f"{file}:2: the sample does not match", "    rank 12 came", "            ^",
        "  help: the text goes on with: left",
        f"{file}:12: the sample does not match", "    a word more", "          ^", "  help: the text ends here",
    ]  # fmt: skip


def test_the_same_text_twice_is_refused(tmp_path: Path) -> None:
    message = '[[message]]\nevent = "{}"\nkind = "fact"\ntext = "a word"\nsample = "a word"\n'
    (tmp_path / "mine.toml").write_text('origin = "mine"\n' + message.format("one") + message.format("two"))
    with pytest.raises(DefinitionError, match="the event 'one' has the same text"):
        load_messages(tmp_path)


def test_a_table_without_messages_is_refused(tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text('origin = "mine"\n[event.gone]\nkind = "fact"\n')
    with pytest.raises(DefinitionError, match="has no message"):
        load_messages(tmp_path)
