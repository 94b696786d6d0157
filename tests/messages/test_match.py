# ruff: noqa: E501  (messages are as long as they are)
"""Which event does a text tell."""

from __future__ import annotations

import re

import msgspec
import pytest

from ncdiag.base.errors import DefinitionError
from ncdiag.messages.match import Index, Matcher
from ncdiag.messages.message import Message
from ncdiag.messages.template import Part, compile_parts

MESSAGES = (
    Message(event="call-failed", text="Call to {call:name} failed : {error:text}", origin="nccl", kind="symptom"),
    Message(event="connect-failed", text="Call to connect failed : {error:text}", origin="nccl", level="WARN", kind="symptom"),
    Message(event="shm-too-small", text="Error: failed to extend {path:word} to {size:int} bytes", origin="nccl", kind="cause"),
    Message(
        event="shm-full", text="Error: failed to extend {path:word} to {size:int} bytes, error: {error:text} ({errno:int})",
        origin="nccl", kind="cause",
    ),
    Message(event="torch-connect", text="Call to connect failed : {error:text}", origin="torch", kind="echo"),
)  # fmt: skip


@pytest.fixture(scope="module")
def matcher() -> Matcher:
    return Matcher(MESSAGES)


def test_the_message_with_most_literal_text_wins(matcher: Matcher) -> None:
    found = matcher.match("Call to connect failed : Connection refused", "nccl")
    assert found is not None
    assert (found.event, found.fields) == ("connect-failed", {"error": "Connection refused"})


def test_a_message_that_fits_the_whole_text_wins(matcher: Matcher) -> None:
    found = matcher.match("Error: failed to extend /mnt/nccl-Ab to 33030532 bytes, error: No space left on device (28)")
    assert found is not None
    assert found.event == "shm-full"
    assert found.fields == {
        "path": "/mnt/nccl-Ab",
        "size": 33030532,
        "error": "No space left on device",
        "errno": 28,
    }


def test_what_follows_a_message_does_not_hide_it(matcher: Matcher) -> None:
    found = matcher.match("Error: failed to extend /mnt/nccl-Ab to 4096 bytes [repeated 7x across cluster]")
    assert found is not None
    assert (found.event, found.fields["size"]) == ("shm-too-small", 4096)


def test_a_match_does_not_end_inside_a_word(matcher: Matcher) -> None:
    assert matcher.match("Error: failed to extend /dev/shm/x to 4096 bytesize") is None


def test_origin_and_level_narrow_the_choice(matcher: Matcher) -> None:
    text = "Call to connect failed : Connection refused"
    torch, info, several = (
        matcher.match(text, "torch"),
        matcher.match(text, "nccl", "INFO"),
        matcher.match(text, {"torch"}),
    )
    assert torch is not None
    assert info is not None
    assert several is not None
    assert (torch.event, info.event, several.event) == ("torch-connect", "call-failed", "torch-connect")
    assert matcher.match(text, "mpi") is None


def test_find_looks_anywhere_and_match_only_at_the_start(matcher: Matcher) -> None:
    text = "Last error: Call to connect failed : Connection refused"
    assert matcher.match(text, "nccl") is None
    found = matcher.find(text, "nccl")
    assert found is not None
    assert found.event == "connect-failed"


@pytest.mark.parametrize("text", ["", "   ", "\x00\xff", "{", "nothing known", "Call to", "é" * 10000])
def test_other_texts_match_nothing(matcher: Matcher, text: str) -> None:
    assert matcher.match(text) is None


def test_of_messages_that_fit_alike_the_first_wins() -> None:
    first = Message(event="first", text="gamma {what:name} delta", kind="fact")
    second = Message(event="second", text="gamma delta {what:name}", kind="fact")
    for messages, event in (([first, second], "first"), ([second, first], "second")):
        found = Matcher(messages).match("gamma delta delta")
        assert found is not None
        assert found.event == event


def test_a_compiled_index_finds_the_same(matcher: Matcher) -> None:
    index = msgspec.msgpack.decode(msgspec.msgpack.encode(Index.of(MESSAGES)), type=Index)
    text = "Error: failed to extend /mnt/nccl-Ab to 33030532 bytes, error: No space left on device (28)"
    assert Matcher(index).match(text) == matcher.match(text) is not None
    assert {number for numbers in index.words.values() for number in numbers} == set(range(len(MESSAGES)))


def test_a_pattern_is_compiled_only_for_a_text_with_all_words(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled: list[object] = []

    def compiling(parts: tuple[Part, ...]) -> re.Pattern[str]:
        compiled.append(parts)
        return compile_parts(parts)

    monkeypatch.setattr("ncdiag.messages.match.compile_parts", compiling)
    matcher = Matcher(MESSAGES)
    assert matcher.match("failed to extend the stay") is None
    assert matcher.find("bytes failed to extend") is None
    assert not compiled
    assert matcher.match("Call to connect failed : Connection refused") is not None
    assert compiled


def test_one_hole_name_has_one_type() -> None:
    first = Message(event="a", text="alpha {n:int}", kind="fact")
    assert Matcher([first, Message(event="b", text="beta {n:hex}", kind="fact")]).hole_types() == {"n": "int"}
    with pytest.raises(DefinitionError, match=r"'n' is word in \[event.b\] and int in \[event.a\]"):
        Matcher([first, Message(event="b", text="beta {n:word}", kind="fact")]).hole_types()
