"""What somebody tried is no event before the trouble."""

from __future__ import annotations

import pytest

from ncdiag.base.spans import Span
from ncdiag.engine.phrases import phrase, shared
from ncdiag.suspects.attempts import attempts
from ncdiag.suspects.wording import Wording

UPDATED = phrase("updat* ... driver !tried", {})
ITEM = "- updating the driver"


def spans(text: str) -> list[Span]:
    return [Span("paste", number, line) for number, line in enumerate(text.split("\n"), 1)]


@pytest.mark.parametrize(
    "heading",
    [
        "What I've tried:", "**Things we tried so far**", "Steps taken", "### Already tried", "I tried the following:",
        "Attempts:", "Troubleshooting done so far:", "尝试过的方法：",
    ],
)  # fmt: skip
def test_an_item_below_a_heading_of_attempts(heading: str) -> None:
    text = f"{heading}\n\n{ITEM}\n  which took an hour\n\nThe update of the driver was last week."
    assert [span.line for span in attempts(spans(text))] == [3, 4]
    late = Wording(spans(f"{heading}\n\n{ITEM}\n\nAfter updating the driver it began."), shared([], {}))
    assert [span.line for span in late.find([UPDATED])] == [5]


@pytest.mark.parametrize(
    "text",
    [
        f"What changed last week:\n{ITEM}",
        f"I tried to train with two nodes.\n{ITEM}",
        f"Things to be done:\nnothing\n{ITEM}",
        f"What I tried:\nnothing\n{ITEM}",
    ],
)
def test_other_lists_are_of_no_attempts(text: str) -> None:
    assert [span.line for span in Wording(spans(text), shared([], {})).find([UPDATED])] == [text.count("\n") + 1]
