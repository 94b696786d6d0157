"""Code blocks are found by the marks of the markup that a text is in."""

from __future__ import annotations

import pytest

from ncdiag.formats.blocks.examples import fenced

FORMS = {
    "Markdown": ("```text", "```"),
    "Markdown with tildes": ("~~~", "~~~"),
    "LaTeX": (r"\begin{lstlisting}", r"\end{lstlisting}"),
    "HTML": ("<pre>", "</pre>"),
    "Jira": ("{noformat}", "{noformat}"),
    "forum": ("[code]", "[/code]"),
    "Org": ("#+BEGIN_SRC sh", "#+END_SRC"),
}


@pytest.mark.parametrize(("begin", "end"), FORMS.values(), ids=FORMS)
def test_a_block_is_found_from_its_first_mark_to_its_last(begin: str, end: str) -> None:
    lines = ["text", begin, "output", end, "text", begin, "output", "output", end]
    assert fenced(lines) == [(1, 3), (5, 8)]


def test_a_rule_is_a_block_of_asciidoc_below_its_attributes_only() -> None:
    assert fenced(["[source,bash]", "----", "output", "----"]) == [(1, 3)]
    assert fenced(["title", "----", "output", "----"]) == []


def test_a_block_on_one_line_ends_there() -> None:
    assert fenced(["<pre>output</pre>", "text", "</pre>"]) == [(0, 0)]


def test_a_long_block_of_markdown_does_not_shift_the_next() -> None:
    lines = ["```", *["output"] * 1000, "```", "text", "```", "output", "```"]
    assert fenced(lines) == [(0, 1001), (1003, 1005)]


@pytest.mark.parametrize("begin", ["```", "<pre>", r"\begin{verbatim}"])
def test_a_block_without_an_end_is_none(begin: str) -> None:
    assert fenced(["text", begin, "output"]) == []


@pytest.mark.parametrize("text", ["```first\nlast\n```", "```first line\nlast```", "```\nfirst\nlast ```"])
def test_a_fence_on_the_line_of_a_text_begins_and_ends_a_block(text: str) -> None:
    lines = text.split("\n")
    assert fenced([*lines, "text", "```", "output", "```"]) == [(0, len(lines) - 1), (len(lines) + 1, len(lines) + 3)]


def test_a_block_between_two_fences_on_one_line_ends_there() -> None:
    assert fenced(["```output```", "text", "```"]) == [(0, 0)]
