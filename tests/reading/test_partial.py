"""What was read in several places and put together is judged as what was read in one."""

from __future__ import annotations

import io
import itertools
import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest
from examples import examples
from hypothesis import given
from hypothesis import strategies as st
from specimens import FIXTURES

from ncdiag.base.errors import InputError
from ncdiag.diagnose import diagnose
from ncdiag.machine.host import apart, look, machines_in
from ncdiag.machine.inputs import inputs
from ncdiag.text.reading import partial
from ncdiag.text.reading.case import Case
from ncdiag.text.reading.many import read_all
from ncdiag.text.reading.model import Item, Reading
from ncdiag.text.reading.one import read_source
from ncdiag.text.sources.archives import Member
from ncdiag.text.sources.files import TextSource
from ncdiag.text.sources.model import Unreadable

Run = Callable[..., subprocess.CompletedProcess[bytes]]
CASES = sorted((FIXTURES.parent / "cases").iterdir())
LOGS = [path for folder in CASES for path in sorted(folder.iterdir()) if path.suffix == ".log"]


def read(path: Path) -> Reading:
    return read_source(TextSource.of_bytes(path.name, path.read_bytes()))


def lines(*readings: Reading | Unreadable) -> bytes:
    return b"".join(partial.written(Case(readings)))


def back(data: bytes) -> list[partial.Part]:
    return list(partial.read(data.splitlines(keepends=True), "x"))


@pytest.mark.parametrize("folder", sorted(FIXTURES.iterdir()), ids=lambda path: path.name)
def test_facts_survive(folder: Path) -> None:
    readings = [read(path) for path in sorted(folder.rglob("*")) if path.suffix == ".txt"]
    for reading in readings:
        (again,) = back(lines(reading))
        assert isinstance(again, Reading)
        assert Case((again,)).job() == Case((reading,)).job()
        assert msgspec.structs.replace(again, observations=()) == msgspec.structs.replace(reading, observations=())


@examples(60)
@given(data=st.data())
def test_any_grouping_gives_the_report_of_one_place(data: st.DataObject) -> None:
    logs = data.draw(st.lists(st.sampled_from(LOGS), min_size=1, max_size=4, unique=True))
    readings = [read(path) for path in logs]
    borders = sorted(data.draw(st.sets(st.integers(1, len(readings)))) | {0, len(readings)})
    groups = [lines(*readings[begin:end]) for begin, end in itertools.pairwise(borders)]
    merged: list[Item] = [part for group in groups for part in back(group)]
    again: list[Item] = [*back(b"".join(partial.written(read_all(merged))))]
    whole = diagnose(readings)
    assert diagnose(merged) == whole
    assert diagnose(again) == whole
    assert diagnose(back(b"".join(groups))) == whole


def test_a_machine_is_judged_elsewhere_as_beside_others_here(tmp_path: Path) -> None:
    roots = [tmp_path / name for name in ("a", "b")]
    for root in roots:
        (root / "etc").mkdir(parents=True)
        (root / "sys/class/net").mkdir(parents=True)
        (root / "proc/net").mkdir(parents=True)
        (root / "etc/hostname").write_text("node1\n")
    seen = [look(root) for root in roots]
    file = tmp_path / "both.part"
    file.write_bytes(b"".join(b"".join(partial.written(Case((), (machine,)))) for machine in seen))
    there = apart(machines_in(file))
    here = apart(seen)
    assert [machine.host for machine in there] == ["node1", "node1#2"]
    assert read_all(there).job() == read_all(here).job()


def test_files_of_one_name_on_several_hosts_are_told_apart() -> None:
    """Each host has its own /var/log/nccl.log; what is cited of them names the host, however often they are joined."""
    log = CASES[-1] / "nccl.log"
    readings = [read_source(TextSource.of_bytes("/var/log/nccl.log", log.read_bytes())) for _ in "ab"]
    parts = [
        part for host, reading in zip(("n1", "n2"), readings, strict=True)
        for part in back(b"".join(partial.written(Case((reading,)), host)))
    ]  # fmt: skip
    again = back(b"".join(partial.written(read_all(parts), "n3")))
    for found in (parts, again):
        case = read_all(found)
        names = ["n1:/var/log/nccl.log", "n2:/var/log/nccl.log"]
        assert [reading.source for reading in case.readings] == names
        cited = [{seen.span.source for seen in reading.observations} for reading in case.readings]
        assert cited == [{name} for name in names]
    alone = read_all(back(b"".join(partial.written(Case((readings[0],)), "n1"))))
    assert [reading.source for reading in alone.readings] == ["/var/log/nccl.log"]


def test_a_damaged_line_costs_itself_alone() -> None:
    readings = [read(path) for path in LOGS[:3]]
    head, *texts = lines(*readings).splitlines(keepends=True)
    found = back(head + texts[0] + texts[1][:-20] + b"\n" + texts[2] + b'{"text":7}\n{}\n' + b"[" * 100_000)
    assert [type(part) for part in found] == [Reading, Unreadable, Reading, Unreadable, Unreadable, Unreadable]
    assert [part.source for part in found if isinstance(part, Reading)] == [LOGS[0].name, LOGS[2].name]


def test_a_line_of_wrong_types_is_unreadable() -> None:
    (head, text) = lines(read(LOGS[0])).splitlines(keepends=True)
    entry = json.loads(text)
    both = json.dumps({**entry, "unreadable": {"name": "x", "reason": "gone"}}).encode()
    entry["text"]["observations"][0]["fields"]["complete"] = 7
    for line in (json.dumps(entry).encode(), both):
        assert [type(part) for part in back(head + line)] == [Unreadable]


class Breaking(io.BytesIO):
    """Ends with an error, as an archive does whose end is missing."""

    def read(self, size: int | None = -1, /) -> bytes:
        piece = super().read(size)
        if not piece:
            msg = "the end is missing"
            raise EOFError(msg)
        return piece


def test_a_stream_that_breaks_between_two_lines_is_said() -> None:
    found = partial.of_members([Member("", Breaking(lines(read(LOGS[0]))))], "x")
    assert [type(part) for part in found] == [Reading, Unreadable]


def test_a_newer_format_is_refused() -> None:
    head = json.dumps({"ncdiag_partial": partial.FORMAT + 1, "ncdiag": "9.1"}, separators=(",", ":")).encode()
    with pytest.raises(InputError, match=r"ncdiag 9\.1 wrote it in a newer format"):
        back(head + b"\n")


def test_a_name_that_is_no_utf8_is_kept_as_far_as_it_can_be() -> None:
    reading = msgspec.structs.replace(read(LOGS[0]), source="rank\udcff\udce4.log")
    (again,) = back(lines(reading, Unreadable("\udcff", "gone")))[:1]
    assert isinstance(again, Reading)
    assert again.source == "rank\ufffd\ufffd.log"
    assert again.observations == read(LOGS[0]).observations


def test_the_program_merges(ncdiag: Run, tmp_path: Path) -> None:
    logs = LOGS[:3]
    parts = [tmp_path / f"{number}.part" for number in range(3)]
    for log, part in zip(logs, parts, strict=True):
        assert ncdiag("parse", log, "--partial", "-o", part).returncode == 0
    both = tmp_path / "both"
    assert ncdiag("parse", *parts[:2], "--partial", "-o", both).returncode == 0
    whole = ncdiag("parse", *logs, "--format", "json")
    merged = ncdiag("parse", both, parts[2], "--format", "json")
    piped = ncdiag("parse", "-", "--format", "json", input=b"".join(part.read_bytes() for part in parts))
    assert merged.stdout == piped.stdout == whole.stdout
    assert merged.returncode == piped.returncode == whole.returncode
    assert ncdiag("parse", logs[0], "--partial", "--each").returncode == 2
    assert ncdiag("parse", logs[0], "--partial", "--redact").returncode == 2
    nothing = tmp_path / "empty.log"
    nothing.write_text("")
    assert ncdiag("parse", nothing, "--partial", "-o", tmp_path / "none").returncode == 3


def test_what_cannot_be_read_is_said_by_the_one_who_judges(tmp_path: Path) -> None:
    case = Case((Unreadable("gone.log", "no such file"), read(LOGS[0])))
    file = tmp_path / "x.part"
    file.write_bytes(b"".join(partial.written(case)))
    report = diagnose(inputs([str(file)]))
    assert [item.source for item in report.inputs] == ["gone.log", LOGS[0].name]
