"""The forms of troubles: a subject and what is said of it, numbers that are compared, and sentences without either."""

from __future__ import annotations

from pathlib import Path

import pytest
from linear import assert_linear_time

from ncdiag.diagnose import look
from ncdiag.parsers.user_text import forms, numbers, troubles
from ncdiag.parsers.user_text.forms import counts

SENTENCES = Path(__file__).parent / "user_text" / "forms.txt"


def named(sentence: str) -> set[str]:
    return {form.name for form in forms.read(troubles.claimed(sentence))}


def sentences() -> list[tuple[str, str]]:
    """The sentences of the file, each with the heading that it is under."""
    found, form = [], ""
    for line in SENTENCES.read_text(encoding="utf-8").splitlines():
        if line.startswith("## "):
            form = line[3:]
        elif not line.startswith("#"):
            found.append((line, form))
    return found


def test_a_form_is_read_from_its_subject_and_what_is_said_of_it() -> None:
    missing = [(text, form) for text, form in sentences() if form not in {"none", *named(text)}]
    assert missing == []
    assert {form for _, form in sentences()} >= {form.name for form in forms.FORMS}


def test_what_is_well_has_no_form() -> None:
    well = [text for text, form in sentences() if form == "none"]
    assert len(well) >= 100
    assert [(text, named(text)) for text in well if named(text)] == []


def test_more_gpus_must_gain() -> None:
    assert numbers.slower_with_more("1 GPU: 300 images/s, 4 GPUs: 290 images/s")
    assert not numbers.slower_with_more("1 GPU: 300 images/s, 4 GPUs: 1100 images/s")
    assert numbers.slower_with_more("1 GPU: 3.1 it/s; 2 GPUs: 2.0 it/s; 4 GPUs: 0.9 it/s")
    assert not numbers.slower_with_more("1 GPU: 300 images/s, 2 GPUs: 590 images/s, 4 GPUs: 1100 images/s")
    assert not numbers.slower_with_more("2 GPUs: 300 images/s, 4 GPUs: 290 images/s")
    assert not numbers.slower_with_more("1 GPU: 300 images/s, 4 GPUs: 3 s")


def test_a_form_describes_the_complaint_of_its_sentence_or_is_one() -> None:
    told = look("My job hangs at the end of each epoch.\n")[0].job.complaints
    assert [(each.what, each.form) for each in told] == [("hangs", "epoch-end")]
    told = look("My GPU utilization goes up and down all the time.\n")[0].job.complaints
    assert [(each.what, each.form) for each in told] == [("slow", "gpus-idle")]


def test_a_former_speed_falls_off_within_a_run() -> None:
    assert numbers.sinks("it began at 40 samples/s and was at 11 after two hours")
    assert numbers.sinks("iteration 10 takes 300 ms, iteration 9000 takes 2.5 s")
    assert not numbers.sinks("it began at 40 samples/s and was at 41 after two hours")
    assert not numbers.sinks("one cluster has 40 samples/s, the other one 11")


def test_it_fails_from_a_number_on() -> None:
    assert counts.fails_from("three nodes are fine, five nodes crash")
    assert counts.fails_from("at 96 ranks it trains, at 104 it times out")
    assert not counts.fails_from("one gpu is fine, two gpus crash")
    assert not counts.fails_from("five nodes are fine, three nodes crash")
    assert not counts.fails_from("three nodes are fine, 5 gpus each, one of them hangs")


def test_fewer_gpus_are_seen_than_there_are() -> None:
    assert counts.sees_fewer("the driver lists five gpus, six are in the machine")
    assert not counts.sees_fewer("the driver lists six gpus, six are in the machine")
    assert not counts.sees_fewer("two machines have 4 gpus, and nccl finds the wrong interface")


def test_a_second_form_keeps_the_kind_of_the_complaint() -> None:
    told = look("My job hangs in validation when a batch is empty.\n")[0].job.complaints
    assert {(each.what, each.form) for each in told} == {("hangs", "validating"), ("hangs", "data-dependent")}


def test_a_form_that_says_less_gives_way() -> None:
    assert named("Every few minutes it pauses for ten seconds, then it continues, at random times") == {"pauses"}


def test_a_long_line_is_read_in_linear_time() -> None:
    assert_linear_time(lambda text: list(forms.read(text)), lambda size: "one gpu is slower than 3 s but " * size, 200)


@pytest.mark.parametrize(
    "part",
    [
        "the training stops every few steps for a while and then ",
        "it works with 2 gpus, 3 gpus hang, ",
        "only certain batches where the image has no box hang ",
        "at first 3 it/s, later on 2 it/s, the speed drops to half of the ",
    ],
)
def test_words_that_begin_a_form_are_read_in_linear_time(part: str) -> None:
    ways = forms._patterns()
    assert_linear_time(lambda text: [way.said.search(text) for way in ways], lambda size: part * size, 25)
