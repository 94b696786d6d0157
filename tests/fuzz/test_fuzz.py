"""Hostile inputs on the whole program: the same ones in every run; ``NCDIAG_FUZZ=random`` tries more and others."""

from __future__ import annotations

import io
import random
import tarfile
from pathlib import Path

import pytest
from examples import examples
from fuzz import campaign, inputs, work
from hypothesis import given, settings
from hypothesis import strategies as st

from ncdiag.apps.redact import Redactor, searched
from ncdiag.formats.secrets.remover import Begun

LONG = not settings().derandomize

seeds = st.integers(0, 2**32)
logs = st.sampled_from(campaign.HEALTHY)


@given(seed=seeds)
@examples(80)
def test_a_damaged_healthy_log_stays_silent(seed: int) -> None:
    campaign.run("harmless", seed)


@given(seed=seeds)
@examples(30)
def test_files_lost_or_cut_stay_silent(seed: int) -> None:
    campaign.run("files", seed)


@given(log=logs, begin=st.floats(0, 1), length=st.floats(0, 1))
@examples(60)
def test_a_healthy_log_cut_at_any_two_bytes_stays_silent(log: bytes, begin: float, length: float) -> None:
    first = int(begin * len(log))
    campaign.expect_silence(campaign.judged(log[first : first + int(length * len(log))]))


@given(seed=seeds)
@examples(30)
def test_output_of_tools_cut_between_lines_stays_silent(seed: int) -> None:
    campaign.run("capture_cut", seed)


@given(seed=seeds)
@examples(50)
def test_changed_bytes_are_survived(seed: int) -> None:
    campaign.run("rough", seed)


@given(seed=seeds)
@examples(20)
def test_several_texts_line_by_line_are_survived(seed: int) -> None:
    campaign.run("mixed", seed)


@given(seed=seeds)
@examples(15)
def test_depth_and_length_are_survived(seed: int) -> None:
    campaign.run("deep", seed)


@given(seed=seeds)
@examples(25)
def test_archives_are_survived(seed: int) -> None:
    campaign.run("packed", seed)


@given(seed=seeds)
@examples(25)
def test_any_text_is_read_with_a_limited_number_of_operations(seed: int) -> None:
    campaign.run("reading", seed)


@given(seed=seeds)
@examples(15)
def test_a_secret_in_any_text_is_removed_with_a_limited_number_of_operations(seed: int) -> None:
    campaign.run("redacting", seed)


@given(data=st.binary(max_size=3000))
@examples(60)
def test_any_bytes_are_survived(data: bytes) -> None:
    campaign.judged(data)


@given(
    messages=st.lists(
        st.tuples(
            st.sampled_from(["n1:1:2 [0] NCCL INFO ", "n1:1:2 [0] NCCL WARN ", "", "[rank0]: ", "$ ", "NCCL version "]),
            st.sampled_from([
                "Bootstrap : Using ", "NET/IB : Using [0]", "comm 0x1 rank ", "Channel 00/01 : ", "Trees [0] ", "GID ",
                "NCCL_IB_GID_INDEX set by environment to ", "mlx5_0:1/", "Got completion from peer ", "busId ",
                "mpirun -x ",
            ]),
            st.text(max_size=60),
        ),
        max_size=12,
    )
)  # fmt: skip
@examples(60)
def test_known_beginnings_with_any_rest_are_survived(messages: list[tuple[str, str, str]]) -> None:
    campaign.judged("\n".join("".join(parts) for parts in messages).encode("utf-8", "surrogatepass"))


@pytest.mark.parametrize("number", range(3 if LONG else 1))
def test_a_small_file_that_unpacks_to_very_much_is_stopped(number: int, tmp_path: Path) -> None:
    name, data = list(inputs.bombs())[number] if LONG else next(inputs.bombs())
    before = campaign.resident()
    report = campaign.judged_file(data, tmp_path, 384 << 20)
    assert any("expands" in note for item in report.inputs for note in item.notes), name
    assert campaign.resident() - before < campaign.MIB_KEPT


def test_an_archive_of_odd_members_tells_of_them(tmp_path: Path) -> None:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as tar:
        for name, kind in (("pipe", tarfile.FIFOTYPE), ("../../up", tarfile.SYMTYPE), ("null", tarfile.CHRTYPE)):
            member = tarfile.TarInfo(name)
            member.type, member.linkname = kind, "/etc/passwd"
            tar.addfile(member)
        log = campaign.HEALTHY[0]
        member = tarfile.TarInfo("a.log")
        member.size = len(log)
        tar.addfile(member, io.BytesIO(log))
    report = campaign.judged_file(out.getvalue(), tmp_path, len(log))
    assert report.summary.nranks == 8
    assert not any("root:" in words for item in report.inputs for words in item.notes)


def _redact_some() -> None:
    """Texts of a few seeds: not each has a secret that the second search alone would leave."""
    for seed in range(12):
        work.redacting(random.Random(seed))


def test_the_fuzzer_sees_too_many_operations_and_what_a_second_search_would_find(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with pytest.raises(AssertionError, match="operations for 4 bytes"):
        work._checked(lambda text: [len(text) for _ in range(work.LEAST + 1000)], b"text")
    monkeypatch.setattr(searched.Searched, "begun", lambda *_: Begun())
    monkeypatch.setattr(searched.Searched, "at", lambda *_: None)
    monkeypatch.setattr(Redactor, "_before", lambda *_: searched.Buffer(0, 0, 1, {}, 0, None, Begun()))
    with pytest.raises(AssertionError):
        _redact_some()


def test_the_fuzzer_sees_what_it_looks_for() -> None:
    chance = random.Random(0)
    log = campaign.HEALTHY[0] + b"n1:1:1 [0] NCCL INFO Bootstrap : Using veth5a3f1c2:172.29.0.14<0>\n"
    with pytest.raises(campaign.IllError):
        campaign.expect_silence(campaign.judged(log))
    with pytest.raises(campaign.IllError):
        campaign._check_time(10.0, 1000)
    assert sorted(inputs.shuffled(log, chance).splitlines()) == sorted(log.splitlines())
