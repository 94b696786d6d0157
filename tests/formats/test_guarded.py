"""The alternatives of expensive patterns are tried only in lines that contain a literal that they require."""

from __future__ import annotations

import gc
import re

import pytest
from generate.kinds import KINDS, text
from linear import assert_linear_time

from ncdiag.base import programs
from ncdiag.formats import guarded
from ncdiag.formats.guarded import guarded_regex, split
from ncdiag.formats.literals import Literals, required
from ncdiag.parsers import discover

OWN = """our job hangs\nmy node\nany idea?\nit still fails
If you see this, set the variable\nWIR haben das gleiche Problem
n1:5:6 [0] misc/socket.cc:50 NCCL WARN Connect to 10.0.0.1<1> failed: Connection refused\nthe port is down
srun: error: n2: task 3: Exited with exit code 137\nwe tried NCCL_P2P_DISABLE=1, and it works now\nsaving the checkpoint
RuntimeError: CUDA error: an illegal memory access\nit was fixed last week, but now it is back
status: IBV_WC_RETRY_EXC_ERR
检查之后还是报错，请问怎么解决\n[12] = -5 (Operation not permitted)\n"""


def patterns() -> list[guarded._Guarded]:
    for parser in discover().values():
        assert parser.kind
    return [found for found in gc.get_objects() if type(found) is guarded._Guarded]


def test_a_guarded_pattern_finds_what_the_whole_pattern_finds() -> None:
    lines = [line for kind in KINDS for line in (OWN + text(kind, 60)).split("\n")]
    matched = set()
    held = patterns()
    for pattern in held:
        whole = programs.compile_once(pattern.pattern, pattern._flags)
        for line in lines:
            expected, found = whole.search(line), pattern.search(line)
            assert (expected and expected.span()) == (found and found.span()), (pattern.pattern, line)
            if found:
                matched.add(pattern.pattern)
    assert len(held) > 20
    assert len(matched) > len(held) // 3


def test_few_alternatives_are_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    pattern = guarded_regex(r"\brefused\b|\bunable\sto\b|\b[a-z]{3,9}\sfailed\b")
    tried = []
    compiled = guarded._Guarded._compiled

    def counted(self: guarded._Guarded, at: int) -> re.Pattern[str]:
        tried.append(at)
        return compiled(self, at)

    monkeypatch.setattr(guarded._Guarded, "_compiled", counted)
    lines = [line for kind in KINDS for line in text(kind, 60).split("\n")]
    assert not any(map(pattern.search, lines))
    assert not tried
    assert pattern.search("the connection was refused")
    assert tried == [0]


@pytest.mark.parametrize(
    ("pattern", "near", "hit"),
    [
        (r"\b(?:we|our)\s\w+\s(?:failed|hangs)\b", "it failed", "our job failed"),  # a word of each group
        (r"\b[A-Z]{2,9}_(?:ERR|FAIL)\b", "an error of DATA", "DATA_ERR"),  # the letters as they are
        (r"(?i)\bin\sthe\send\b", "the job in the queue", "In the end"),  # a word that few lines have
        (r"\bis it so[?\uff1f]", "is it so", "is it so?"),  # a mark
        (r"\u6211(?!\u4eec)", "I", "\u6211"),  # one Chinese character
    ],
)
def test_an_alternative_is_tried_where_all_that_it_requires_is(
    monkeypatch: pytest.MonkeyPatch, pattern: str, near: str, hit: str
) -> None:
    tried = []
    compiled = guarded._Guarded._compiled
    monkeypatch.setattr(
        guarded._Guarded, "_compiled", lambda self, at: tried.append(at) or compiled(self, at)  # type: ignore[func-returns-value]
    )  # fmt: skip
    guard = guarded_regex(pattern)
    assert guard.search(near) is None
    assert not tried
    assert guard.search(hit)
    assert tried == [0]


def test_literals_of_any_case_are_not_required_in_one() -> None:
    assert required(r"Port (?i:down)", in_case=True) == (frozenset({"Port "}),)
    assert required(r"(?i)Port down", in_case=True) == ()


def test_all_matches_are_those_of_the_whole_pattern() -> None:
    pattern = r"\bfail(?:ed|s)?\b|\ba failed \w+|\b\d+ errors?\b"
    text = "it fails, a failed link, 3 errors, failed"
    whole, guard = re.compile(pattern), guarded_regex(pattern)
    assert [each.span() for each in guard.finditer(text)] == [each.span() for each in whole.finditer(text)]
    assert [bool(guard.match(each)) for each in (text, "failed", "no")] == [False, True, False]


def test_the_first_of_several_matches_is_found() -> None:
    pattern = guarded_regex(r"refused|(?<=a )failure|a \w+")
    found = pattern.search("it has a failure, and was refused")
    assert found is not None
    assert found[0] == "a failure"
    assert pattern.search("refused, then a failure")[0] == "refused"  # type: ignore[index]


def test_a_pattern_that_is_defined_later_is_found_as_well() -> None:
    assert guarded_regex("first").search("first and second")
    assert guarded_regex("second").search("first and second")


@pytest.mark.parametrize(
    ("pattern", "verbose", "parts"),
    [
        ("a|b", False, ["a", "b"]),
        ("(?:a|b)|[|)]|c", False, ["(?:a|b)", "[|)]", "c"]),
        (r"\||[^]|]|d", False, [r"\|", "[^]|]", "d"]),
        (r"[\]|]|#|e", False, [r"[\]|]", "#", "e"]),
        ("a # (one | two\n|b", True, ["a # (one | two\n", "b"]),
        ("", False, [""]),
    ],
)
def test_a_pattern_falls_into_its_alternatives(pattern: str, verbose: bool, parts: list[str]) -> None:
    assert split(pattern, verbose=verbose) == parts


def test_groups_keep_their_numbers() -> None:
    found = guarded_regex(r"(x1)|port (\d+)").search("port 7")
    assert found is not None
    assert found[2] == "7"
    assert re.compile(r"(x1)|port (\d+)").search("port 7")[2] == found[2]  # type: ignore[index]


def test_a_word_that_comes_again_is_looked_up_once() -> None:
    held = Literals[int]()
    for number in range(200):
        held.add(number, {f"down {number * '.'}x", f"link {number * '.'}x"})
    assert_linear_time(held.owners, lambda size: "the link was down for and " * size, 500)
