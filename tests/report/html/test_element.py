"""The builder of elements: text stays text, and what acts cannot be built."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pages import Reader

from ncdiag.report.html.element import element, is_address, link, write
from ncdiag.report.sanitize import one_line


@given(st.text(), st.text())
def test_any_text_is_read_back_as_it_is(text: str, other: str) -> None:
    page = Reader(write(element("p", text, title=other)))
    assert [tag.name for tag in page.tags] == ["p"]
    assert "".join(data for _, data in page.texts) == one_line(text)
    assert page.tags[0].attributes == {"title": one_line(other)}


@pytest.mark.parametrize("tag", ["script", "img", "iframe", "form", "p onload=x", "P", "", "use", "foreignObject"])
def test_an_element_that_acts_is_refused(tag: str) -> None:
    with pytest.raises(ValueError, match="not allowed"):
        element(tag)


@pytest.mark.parametrize("name", ["onclick", "src", "style", "x y", "srcdoc", "Onclick"])
def test_an_attribute_that_acts_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match="not allowed"):
        element("p", **{name: "x"})


@pytest.mark.parametrize(
    "address",
    [
        "javascript:alert(1)", "data:text/html,x", "//example.net", "/a", "https://a b", 'https://a/"', "https://a/\n",
        "#a b", "mailto:a@b", "HTTPS://a", "https://\u0430.example/", "https://user@host/", " https://a",
    ],
)  # fmt: skip
def test_a_link_leads_to_the_page_or_the_web(address: str) -> None:
    assert link("text", address) == "text"
    with pytest.raises(ValueError, match="not allowed"):
        element("a", "text", href=address)


def test_links_that_are_allowed() -> None:
    assert write(link("a", "#line-3")) == '<a href="#line-3">a</a>'
    address = "https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/env.html#nccl-ib-gid-index"
    assert is_address(address)
    assert write(link("a", address)) == f'<a href="{address}" rel="noopener noreferrer">a</a>'


def test_a_style_sheet_cannot_end_early() -> None:
    assert write(element("style", "a > b {}")) == "<style>a > b {}</style>"
    with pytest.raises(ValueError, match="markup"):
        write(element("style", "</style><script>"))


def test_what_is_not_given_is_left_out() -> None:
    assert (
        write(element("input", type="radio", checked=True, disabled=False, id=None)) == '<input type="radio" checked>'
    )
    assert write(element("rect", x=1.5, y=2.0, stroke_width=1)) == '<rect x="1.5" y="2" stroke-width="1"></rect>'
