"""The answer as a fragment: it says what the text says, and hostile text stays text."""

from __future__ import annotations

import msgspec
import pytest
from examples import examples
from hostile_reports import built
from hypothesis import given
from kept_reports import NAMES, load
from pages import Reader, assert_harmless, assert_headings_in_order

from ncdiag.report import digest, renderer
from ncdiag.report.html import answer
from ncdiag.report.html.context import Cited, Context, Lines
from ncdiag.report.html.element import write
from ncdiag.report.model import Evidence, Report
from ncdiag.report.sanitize import one_line


def written(report: Report, *, cited: Cited | None = None, lines: Lines | None = None) -> str:
    return write(answer.built(Context(report, cited, lines)))


def addresses(report: Report) -> set[str]:
    """The references of the report's rules."""
    found = [each for finding in report.findings for each in finding.references]
    return {one_line(each) for each in (*found, *(each for suspect in report.suspects for each in suspect.references))}


@examples(200)
@given(built(Report))
def test_hostile_texts_stay_texts(report: Report) -> None:
    named = (*(each.name for each in report.suspects), *(each.name for each in report.findings))
    report = msgspec.structs.replace(report, answers=named)  # what a real report names, never nothing
    page = Reader(written(report))
    assert_harmless(page, addresses(report))
    for finding in digest.roots(report):
        assert one_line(finding.title) in page.text


@pytest.mark.parametrize("name", NAMES)
def test_all_that_the_text_says_is_in_it(name: str) -> None:
    report = load(name)
    page = Reader(written(report))
    assert_harmless(page, addresses(report))
    assert_headings_in_order(page)
    text = " ".join(renderer("text")(report, width=10_000).split())
    shown = " ".join(page.text.split())
    assert digest.headline(report) in shown
    wanted = [finding.title for finding in report.findings]
    wanted += [item.text for finding in report.findings for item in finding.evidence]
    fixes = [fix for finding in report.findings for fix in finding.fixes]
    fixes += [fix for suspect in report.suspects for fix in suspect.fixes]
    wanted += [line for fix in fixes for _, line in digest.paste_lines(fix)]
    wanted += [step.text[1:] for step in report.next_steps]
    wanted += [sign.text for suspect in report.suspects for sign in (*suspect.supporting, *suspect.against)]
    wanted += [*report.summary.not_looked_at, digest.not_understood(report), digest.ruled_out(report)]
    assert [words for words in wanted if " ".join(one_line(words).split()) not in shown] == []
    assert [finding.title for finding in digest.roots(report)[:1] if one_line(finding.title)[:60] not in text] == []


def test_the_cause_comes_before_what_was_read() -> None:
    report = load("veth")
    shown = Reader(written(report)).text
    title, version = report.findings[0].title, report.summary.nccl_version
    assert version
    words = (digest.headline(report), title, version, "What to do next", "Not checked", "What was read")
    places = [shown.index(text) for text in words]
    assert places == sorted(places)


def test_a_place_leads_to_the_line_that_is_shown() -> None:
    report = load("veth")

    def cited(item: Evidence) -> str | None:
        return f"#line-{item.line}" if item.line else None

    links = [tag.attributes["href"] for tag in Reader(written(report, cited=cited)).of("a")]
    assert {f"#line-{item.line}" for found in report.findings for item in found.evidence if item.line} <= {*links}


def test_lines_around_a_cited_one_are_shown_with_it() -> None:
    report = load("veth")
    finding = report.findings[0]
    first = finding.evidence[0]
    alone = msgspec.structs.replace(report, findings=(msgspec.structs.replace(finding, evidence=(first,)),))
    lines = {(first.source, first.line + step): f"neighbour {step}" for step in range(-9, 10) if step}
    page = Reader(written(alone, lines=lines))
    shown = [text for _, text in page.texts if text.startswith("neighbour")]
    assert shown == ["neighbour -2", "neighbour -1", "neighbour 1", "neighbour 2"]
    assert [text for tag, text in page.texts if tag.name == "mark"] == [one_line(first.text)]
