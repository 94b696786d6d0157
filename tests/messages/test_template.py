"""Templates with typed holes."""

from __future__ import annotations

import pytest
from linear import assert_linear_time

from ncdiag.messages.template import HOLES, Hole, compile_parts, gave_up, parse, whole_words, written


@pytest.mark.parametrize(
    ("hole", "text", "value"),
    [
        ("int", "-12", -12),
        ("int", "+3", 3),
        ("hex", "0x1b000", 0x1B000),
        ("hex", "1b000", 0x1B000),
        ("float", "12.5", 12.5),
        ("word", "IBV_WC_RETRY_EXC_ERR(12)", "IBV_WC_RETRY_EXC_ERR(12)"),
        ("addr", "10.0.0.1<45678>", "10.0.0.1<45678>"),
        ("addr", "fe80::1%eth0<0>", "fe80::1%eth0<0>"),
        ("addr", "node-7<4321>", "node-7<4321>"),
        ("addr", "10.0.0.1:45678", "10.0.0.1:45678"),
        ("ip", "fe80::1%eth0", "fe80::1%eth0"),
        ("gid", "::ffff:10.0.0.1", "::ffff:10.0.0.1"),
        ("name", "mlx5_0+mlx5_1", "mlx5_0+mlx5_1"),
        ("text", "Connection refused", "Connection refused"),
        ("quoted", "'out of memory'", "out of memory"),
        ("quoted", '"mlx5_0"', "mlx5_0"),
    ],
)
def test_every_type_of_hole_reads_its_values(hole: str, text: str, value: object) -> None:
    found = compile_parts(parse(f"before {{x:{hole}}} after")).fullmatch(f"before {text} after")
    assert found is not None
    assert HOLES[hole].convert(found["x"]) == value


@pytest.mark.parametrize(
    ("hole", "text"),
    [("int", "x1"), ("hex", "0xg"), ("float", "1.2.3"), ("addr", "10.0.0.1"), ("ip", "eth0"), ("quoted", "bare")],
)
def test_a_hole_refuses_other_texts(hole: str, text: str) -> None:
    assert compile_parts(parse(f"before {{x:{hole}}} after")).fullmatch(f"before {text} after") is None


def test_braces_are_escaped_by_doubling_the_opening_one() -> None:
    assert parse("channel{{Lo..Hi}={{{low:int}}") == ("channel{Lo..Hi}={", Hole("low", "int"), "}")


@pytest.mark.parametrize("text", ["{x}", "{x:integer}", "{X:int}", "{x:int", "{a:int} {a:int}", "{a:int}{", "{}"])
def test_malformed_templates_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"hole|\{"):
        parse(text)


def test_only_words_that_touch_no_hole_index_a_template() -> None:
    assert whole_words(parse("remoteGids{gid:gid} hca {hca:name}:{port:int} mlx{n:int}_x end")) == ["hca", "end"]


def test_a_text_hole_in_the_middle_ends_where_the_rest_fits() -> None:
    found = compile_parts(parse("failed {what:text}, error {code:int} in {place:text}")).match(
        "failed a, b, error 3 in c, d"
    )
    assert found is not None
    assert found.groupdict() == {"what": "a, b", "code": "3", "place": "c, d"}


def test_hostile_texts_take_linear_time() -> None:
    pattern = compile_parts(parse("a {b:text} to {c:text} by {d:text} with {e:word}={f:word} end"))
    assert pattern.match("a " + " to by with =" * 300) is None
    for size in (40, 2000):  # within the limit of a hole, and beyond it
        assert_linear_time(pattern.match, lambda count: "a " + " to by with =" * count, size)


@pytest.mark.parametrize(
    "text", ["call failed : Broken pipe", "call failed: Broken pipe", "call  failed :  Broken pipe"]
)
def test_a_blank_before_a_colon_may_be_missing_or_too_many(text: str) -> None:
    for template in ("call failed : {error:text}", "call failed: {error:text}"):
        found = compile_parts(parse(template)).match(text)
        assert found
        assert found["error"] == "Broken pipe"


def test_a_blank_before_a_colon_behind_a_hole_is_not_part_of_the_hole() -> None:
    found = compile_parts(parse("returned {error:text} : {name:word}")).match("returned no such file : libx.so")
    assert found
    assert found["error"] == "no such file"


@pytest.mark.parametrize(
    ("template", "text", "matched", "rest"),
    [
        ("rank {x:int} left", "rink 12 left", "r", "ank {x:int} left"),
        ("rank {x:int} left", "rank one left", "rank ", "{x:int} left"),
        ("rank {x:int} left", "rank 12 left us", "rank 12 left", ""),
        ("rank {x:int} left", "", "", "rank {x:int} left"),
        ("{x:int} ranks", "some ranks", "", "{x:int} ranks"),
        (
            "call to {f:name}: {e:text}, retrying {n:int} times",
            "call to bind: no, retrying ten",
            "call to bind: no, retrying ",
            "{n:int} times",
        ),
        ("call to {f:name}: {e:text}, retrying", "call to bind: no retry", "call to bind: ", "{e:text}, retrying"),
        ("struct {{ {x:int} }", "struct [ 1 }", "struct ", "{{ {x:int} }"),
    ],
)
def test_a_text_that_does_not_match_leaves_the_template_somewhere(
    template: str, text: str, matched: str, rest: str
) -> None:
    assert compile_parts(parse(template)).fullmatch(text) is None
    assert gave_up(parse(template), text) == (len(matched), rest)


def test_a_template_is_written_as_it_was_read() -> None:
    text = "a {{b} {x:int} and {y:text}"
    assert written(parse(text)) == text
