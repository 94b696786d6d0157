"""Phrases are found in lines of any dress, and not where they are denied."""

from __future__ import annotations

import pytest
from linear import assert_linear

from ncdiag import catalogue
from ncdiag.base.errors import DefinitionError
from ncdiag.base.spans import Span
from ncdiag.engine import phrases
from ncdiag.engine.phrases import Phrase, phrase, shared
from ncdiag.suspects.wording import Wording

CLASSES = {"hang": ("hang*", "stuck", "never return*", "卡住"), "missing": ("not found", "missing")}


SHARED = shared(["no plugin found"], CLASSES)


def words(*lines: str) -> Wording:
    return Wording((Span("paste", number, line) for number, line in enumerate(lines, 1)), SHARED)


def written(text: str) -> Phrase:
    return phrase(text, CLASSES)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("using network socket", "n1:1:1 [0] NCCL INFO Using network Socket"),
        ("net/ofi ~missing", "NET/OFI: the provider was not found"),
        ("gpu ~hang", "all GPUs are stuck"),
        ("gpu ~hang", "the gpu never returned from it"),
        ("~hang all_reduce", "在 all_reduce 卡住 … 卡住 all_reduce"),
        ("deadlock*", "it is deadlocked"),
        ("init complete ... ~hang", "after Init COMPLETE of all of the ranks of the job it just hangs"),
        ("nccl_p2p_disable=1", "export NCCL_P2P_DISABLE=1"),
        ("connect|connection refused", "Connection to 10.0.0.1 refused"),
        ("not using ib", "it is not using IB"),
        ("socket !ib", "socket it is"),
        ("h100", "a node of 8xH100"),
        ("4090", "two boxes, 2x4090 each"),
        ("1920x1080", "frames of 1920x1080"),
    ],
)
def test_it_is_found(text: str, line: str) -> None:
    assert words("something else", line).find([written(text)])[0].line == 2


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("gpu ~hang", "the gpu works; what I saw later on the other machine was that it hangs"),
        ("refused connection", "connection refused"),
        ("firewall", "it is not the firewall"),
        ("firewall", "there is no firewall here"),
        ("socket !ib", "socket, not IB"),
        ("gpu", "gpudirect"),
        ("net/ofi", "net plugin; ofi later"),
        ("~hang", "这 不 卡住"),
    ],
)
def test_it_is_not_found(text: str, line: str) -> None:
    assert words(line).find([written(text)]) == []


@pytest.mark.parametrize("text", ["", "...", "!ib", "~nothing", "a|", "socket !"])
def test_phrases_that_say_nothing_are_refused(text: str) -> None:
    with pytest.raises(DefinitionError):
        written(text)


def test_lines_that_are_left_out_are_not_found() -> None:
    held = words("no plugin found", "plugin broken", "plugin lost")
    held.leave_out([Span("paste", 2)])
    assert [span.line for span in held.find([written("plugin")])] == [3]


def test_the_search_is_linear() -> None:
    looked_for = [written("~hang a b"), written("a ... a ... a ... ~missing"), written("a a a a b")]

    def search(held: Wording) -> None:
        held.find(looked_for)

    assert_linear(search, lambda size: words(*(f"{'a ' * 40}{number}" for number in range(size))), 200)


def test_a_phrase_is_the_same_after_it_was_written() -> None:
    """The form in which compiled rules hold phrases loses nothing, and their first words are those of the atoms."""
    classes = catalogue.shared().classes
    texts = [text for rule in catalogue.rules() for sign in rule.signs for text in (*sign.says, *sign.also)]
    assert texts
    for text in [*texts, "... ~hang gpu-0|rank ... all_reduce !no-such|~missing !ok"]:
        made = phrase(text, {**classes, **CLASSES})
        assert phrases.read(phrases.written(made)) == made
        first = {run[0] for run in made.atoms[0]}
        found = phrases.heads([phrases.written(made)])
        assert found.words | set(found.others) == first


@pytest.mark.parametrize(
    ("line", "is_full"),
    [
        ("the disk is full", True),
        ("the disk is 100 % full", True),
        ("the disk is 97% full", True),
        ("the disk is full, and 40 % of the runs fail", True),
        ("the disk is 40 % full", False),
        ("the disk is 40% full", False),
        ("the disk is 12.5 percent full", False),
        ("the disk is full at 40 %", False),
        ("the disk is half full", False),
        ("the disk is hardly full", False),
    ],
)
def test_what_is_full_in_part_is_not_full(line: str, is_full: bool) -> None:
    assert bool(words(line).find([written("disk ... full")])) == is_full
