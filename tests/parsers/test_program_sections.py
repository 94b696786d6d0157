"""What programs print, section by section: cut and read as data under fixtures/sections."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from specimens import FIXTURES, assert_reads_in_linear_time, read, sections, specimens
from tenth import tenth

from ncdiag.facts.merge import merge
from ncdiag.facts.model import Benchmark, Event, RankTable, Timeout
from ncdiag.facts.model.base import Fact
from ncdiag.parsers import discover
from ncdiag.text.sections.cut import Cutter

KINDS = (
    "coordination",
    "dmesg", "flight_recorder", "hccl_ranktable", "nccl_tests", "text", "throughput", "torch_watchdog",
    "torchrun_failure", "traceback",
)  # fmt: skip
CASES = specimens(*KINDS)


@pytest.mark.parametrize("path", CASES)
def test_the_observations_fit_the_facts(path: Path) -> None:
    found = [o for s in sections(read(path)) for o in discover()[s.kind].parse(s).observations]
    job = merge(found)
    lists: dict[str, tuple[type[Fact], tuple[Any, ...]]] = {
        "Event": (Event, job.events), "Timeout": (Timeout, job.timeouts), "Benchmark": (Benchmark, job.benchmarks),
        "RankTable": (RankTable, job.rank_tables),
    }  # fmt: skip
    for entity, (fact, facts) in lists.items():
        observed = [o for o in found if o.entity == entity]
        assert len(facts) == len(observed)
        assert all(set(o.fields) <= set(fact.__struct_fields__) for o in observed)
        kept = [{name for name in o.fields if getattr(f, name) is None} for o, f in zip(observed, facts, strict=True)]
        assert not any(kept), kept


@pytest.mark.parametrize("path", CASES)
def test_a_paste_cut_at_any_line_gives_no_other_events(path: Path) -> None:
    lines = read(path)

    def events(upto: int) -> set[str]:
        parsed = (discover()[s.kind].parse(s) for s in sections(lines[:upto]))
        return {o.fields["event"] for p in parsed for o in p.observations if o.entity == "Event"}

    whole = events(len(lines))
    for end in range(len(lines)):
        assert events(end) <= whole | {"torch-last-error"}, end


PIECES = (
    " ", "\t", "0", "a ", "1 ", "[", "{", '"', "/*", "//", "{[", "[1,", "[rank1]:", "what(): ", "Rank 0 ", "at ",
    "NCCL ", "-1 float sum ", "Last error:", "Call to ", "WorkNCCL(", "(pid=1 ", "[E ", "`", "2026-01-01 00:00:00 ",
    "iters: ", "NVRM: Xid (PCI:", "\u201c",
)  # fmt: skip


@pytest.mark.sweep
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "start", ["", "[rank0]:", "# nThread 1 nGpus 1 minBytes 1 maxBytes 1 ", '{ "status":"completed",', "Traceback "]
)
def test_a_long_line_is_read_in_linear_time(kind: str, start: str) -> None:
    for piece in tenth(PIECES, lambda piece: f"{kind}/{start}{piece}"):
        assert_reads_in_linear_time(kind, start, piece)


def test_lines_of_nccl_between_those_of_a_table_do_not_end_it() -> None:
    lines = (FIXTURES / "nccl_tests" / "old-table-two-runs.txt").read_text().splitlines()[:6]
    cutter = Cutter("case.txt", discover())
    cutter.feed([*enumerate(lines[:5], 1), (9, lines[5])])
    (section,) = cutter.finish()
    (run, *_) = discover()[section.kind].parse(section).observations
    assert (section.kind, run.fields["nranks"], run.fields["rows"][0]["size"]) == ("nccl_tests", 2, 8)
