"""Batch scripts, manifests of Kubernetes and kernel parameters: read as data under fixtures/sections."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from examples import examples
from hypothesis import given
from hypothesis import strategies as st
from linear import assert_linear_time
from specimens import any_line, lines_of, parsed, read, sections, specimens
from tenth import tenth

from ncdiag.agent.hide import hide_secrets
from ncdiag.base.spans import Section
from ncdiag.facts.merge import merge
from ncdiag.formats.yaml import Node, load
from ncdiag.parsers import discover

KINDS = ("k8s_manifest", "slurm_script", "sysctl")
CASES = specimens(*KINDS)
LINES = lines_of(*KINDS)


@pytest.mark.parametrize("path", CASES)
def test_the_observations_fit_the_facts(path: Path) -> None:
    """A field that the fact type does not take is dropped by the merger in silence: here it is not."""
    for section in sections(read(path)):
        for o in parsed(section).observations:
            job = merge([o])
            facts: Any = {"Setting": job.settings, "Launch": job.launches, "Host": job.hosts}[o.entity]
            for name, value in o.fields.items():
                held = getattr(facts[0], name)
                if not isinstance(held, tuple) or name != "hosts":
                    assert (list(held) if isinstance(held, tuple) else held) == value, (o, name)
                assert held is not None


@pytest.mark.parametrize("path", CASES)
def test_no_secret_is_kept(path: Path) -> None:
    assert "hf_abcdef" not in repr([o for s in sections(read(path)) for o in parsed(s).observations])


def plain(node: Node) -> object:
    if isinstance(node.value, dict):
        return {key: plain(value) for key, value in node.value.items()}
    return [plain(item) for item in node.value] if isinstance(node.value, list) else node.value


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("a: 1\nb:\n  c: no\n  d: 012", {"a": "1", "b": {"c": "no", "d": "012"}}),
        ("a:\n- x\n- y: 1\n  z: 2\n-\n  w: 3", {"a": ["x", {"y": "1", "z": "2"}, {"w": "3"}]}),
        ("a:\n  - - 1\n    - 2\n  - 3", {"a": [["1", "2"], "3"]}),
        ("a: [1, 'b, c', {d: \"e\"}]", {"a": ["1", "b, c", {"d": "e"}]}),
        ('a: {b: [c], "d": e} # note', {"a": {"b": ["c"], "d": "e"}}),
        ("a: \"x # y\\n\" # note\nb: 'it''s'", {"a": "x # y\n", "b": "it's"}),
        ("a: |\n  one\n    two\n\n  three\nb: 1", {"a": "one\n  two\n\nthree", "b": "1"}),
        ("a: >-\n  one\nb: http://x:80/y", {"a": "one", "b": "http://x:80/y"}),
        ("a:\nb: 1", {"a": "", "b": "1"}),
        ("k8s.io/name: v\n'q k': w", {"k8s.io/name": "v", "q k": "w"}),
        ("a: 1\na: 2", {"a": "1"}),
        ("", {}),
        ("- a: 1\n- b", [{"a": "1"}, "b"]),
        ("a: [1, 2", {"a": ["1", "2"]}),
        ("a: [\n  1, # one\n  {b: '2 ]'},\n]\nc: 3", {"a": ["1", {"b": "2 ]"}], "c": "3"}),
        ("a: mpirun -n 2\n  ./train\nb: 1", {"a": "mpirun -n 2 ./train", "b": "1"}),
        ("- run it\n    twice\n- b", ["run it twice", "b"]),
        ("a: \"x\n  y # z\"\nb: 'it''s\n  two'", {"a": "x y # z", "b": "it's two"}),
        ("- 'x -n 2\n    # y '\n- b", ["x -n 2 # y ", "b"]),
        ("a: &x\n  b: !!str 1\nc: *x", {"a": {"b": "1"}, "c": "*x"}),
    ],
)
def test_the_subset_of_yaml(text: str, value: object) -> None:
    root, unread = load(text.split("\n"))
    assert plain(root) == value
    assert not unread


def test_what_is_no_yaml_is_told() -> None:
    root, unread = load(["a: 1", "what is this", "b:", "  c: 2", "    stray: 1", "d: 3"])
    assert plain(root) == {"a": "1", "b": {"c": "2"}, "d": "3"}
    assert unread == [1, 4]
    root, unread = load(['a: "open', "  b: 1", "c: 2"])
    assert plain(root) == {"a": "open", "c": "2"}
    assert unread == [1]


def test_places_are_those_of_the_lines() -> None:
    root, _ = load(["# note", "a:", "", "- b: x", "  c: |", "    one", "    two"])
    (item,) = root.items("a")
    assert [item.line, item.pairs()["b"].line, item.pairs()["c"].line] == [3, 3, 5]


garbage = st.one_of(
    st.sampled_from(LINES),
    any_line(60),
    st.builds(
        lambda line, at, text: line[:at] + text + line[at:],
        st.sampled_from(LINES),
        st.integers(0, 60),
        any_line(5) | st.sampled_from(['"', "'", "{", "}", "[", "]", "- ", ": ", "|", "#", "9" * 20]),
    ),
)


@pytest.mark.parametrize("kind", KINDS)
@examples(80)
@given(lines=st.lists(garbage, min_size=1, max_size=20))
def test_garbage_never_raises(kind: str, lines: list[str]) -> None:
    result = discover()[kind].parse(Section(kind=kind, source="x", first_line=1, lines=tuple(lines)))
    assert all(0 <= index < len(lines) for index in result.unread)
    assert all(1 <= o.span.line <= len(lines) for o in result.observations)
    merge(result.observations)


@pytest.mark.sweep
@pytest.mark.parametrize(
    "piece", tenth(["- ", "a: ", "[", "{a: ", "- - ", "a", '"', " ", "a:\n", "- a:\n", "a: |\n"], repr)
)
def test_repetition_takes_linear_time(piece: str) -> None:
    assert_linear_time(parse, lambda size: f"apiVersion: v1\nspec: {piece * size}".split("\n"), 3_000)


def test_depth_takes_linear_time() -> None:
    """The text itself grows with the square of the depth: of 200 spaces at most, so that it does not."""
    assert_linear_time(parse, lambda size: [" " * (depth % 200) + "a:" for depth in range(size)], 1_000)


def parse(lines: list[str]) -> None:
    discover()["k8s_manifest"].parse(Section(kind="k8s_manifest", source="x", first_line=1, lines=tuple(lines)))


@pytest.mark.parametrize(
    ("line", "shown"),
    [
        ("- key: cloud.google.com/gke-accelerator", "- key: cloud.google.com/gke-accelerator"),
        ('key: "nvidia.com/gpu"', 'key: "nvidia.com/gpu"'),
        ("key: s3cr3t/of.mine", "key: ***"),
        ("key: nvidia.com/gpu/s3cr3t", "key: ***"),
        ("api_key: nvidia.com/gpu", "api_key: ***"),
    ],
)
def test_the_name_of_a_label_is_no_secret(line: str, shown: str) -> None:
    assert hide_secrets(line) == shown
