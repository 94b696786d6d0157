"""Which variables are set, and under which names PyTorch reads them."""

from __future__ import annotations

import glob
import tempfile
from pathlib import Path

import pytest

from ncdiag.apps.watching import place, torch
from ncdiag.apps.watching.settings import pattern_of, settings

OLD = torch.Names(
    "TORCH_NCCL_TRACE_BUFFER_SIZE", "TORCH_NCCL_DUMP_ON_TIMEOUT", "TORCH_NCCL_DEBUG_INFO_TEMP_FILE",
    "TORCH_NCCL_DEBUG_INFO_PIPE_FILE",
)  # fmt: skip


def test_a_percent_sign_of_the_folder_is_not_expanded(tmp_path: Path) -> None:
    folder = tmp_path / "50%host[1]"
    folder.mkdir()
    made = settings({"HOME": str(tmp_path)}, f"{folder}/", OLD)
    assert made.given["NCCL_DEBUG_FILE"] == f"{tmp_path}/50%%host[1]/nccl.%h.%p.log"
    log = folder / "nccl.gpu-a01.2201.log"
    log.touch()
    assert glob.glob(made.logs[0]) == [str(log)]  # noqa: PTH207  (an absolute pattern)


@pytest.mark.parametrize(
    ("value", "pattern"), [("a.%h.%p", "a.*.*"), ("a%%h", "a%h"), ("a%x%", "a%x%"), ("[a]*?", "[[]a][*][?]")]
)
def test_patterns_of_logs(value: str, pattern: str) -> None:
    assert pattern_of(value) == pattern


def test_what_a_configuration_file_sets_stays(tmp_path: Path) -> None:
    (tmp_path / ".nccl.conf").write_text("NCCL_DEBUG=WARN\nNCCL_DEBUG_FILE=/var/log/nccl.%h\n")
    made = settings({"HOME": str(tmp_path)}, "/x/", OLD)
    assert not {"NCCL_DEBUG", "NCCL_DEBUG_FILE"} & made.given.keys()
    assert made.logs == ("/var/log/nccl.*",)
    assert made.own_log == "/var/log/nccl.%h"
    assert made.notes == ("NCCL_DEBUG=WARN, NCCL_DEBUG_FILE=/var/log/nccl.%h is already set and was not changed",)


def test_what_nccl_prints_to_the_output_is_left_as_it_is(tmp_path: Path) -> None:
    made = settings({"HOME": str(tmp_path), "NCCL_DEBUG": "INFO"}, "/x/", OLD)
    assert [name for name in made.given if name.startswith("NCCL")] == []
    assert (made.logs, made.printed) == ((), True)


@pytest.mark.parametrize("level", ["", "INFO"])
def test_an_empty_name_of_a_log_is_none(tmp_path: Path, level: str) -> None:
    own = {"NCCL_DEBUG_FILE": "", **({"NCCL_DEBUG": level} if level else {})}
    made = settings({"HOME": str(tmp_path), **own}, "/x/", OLD)
    assert (made.given.get("NCCL_DEBUG_FILE"), made.printed) == (
        (None, True) if level else ("/x/nccl.%h.%p.log", False)
    )


def test_dumps_are_looked_for_where_the_person_wants_them(tmp_path: Path) -> None:
    made = settings({"HOME": str(tmp_path), "TORCH_FR_DUMP_TEMP_FILE": "/data/fr_"}, "/x/", OLD)
    assert made.dumps == "/data/fr_"
    assert not {"TORCH_FR_DUMP_TEMP_FILE", "TORCH_NCCL_DEBUG_INFO_TEMP_FILE"} & made.given.keys()


@pytest.mark.parametrize(
    ("folder", "newer"),
    [
        ("lib/python3.11/site-packages", False),
        ("lib/python3.12/dist-packages", True),
        ("lib64/python3.9/site-packages", True),
    ],
)
def test_the_headers_of_pytorch_say_which_names_it_reads(tmp_path: Path, folder: str, newer: bool) -> None:
    headers = tmp_path / folder / "torch/include/torch/csrc/distributed/c10d"
    headers.mkdir(parents=True)
    names = '{"TORCH_FR_BUFFER_SIZE", "TORCH_NCCL_TRACE_BUFFER_SIZE"}' if newer else '{"TORCH_NCCL_TRACE_BUFFER_SIZE"}'
    (headers / "FlightRecorder.hpp").write_text(f"max_entries_ = getCvarInt({names}, 2000);\n")
    program = tmp_path / "bin" / "torchrun"
    program.parent.mkdir()
    program.touch(mode=0o755)
    found = torch.names(["torchrun", "train.py"], {"PATH": str(program.parent)})
    assert found.size == ("TORCH_FR_BUFFER_SIZE" if newer else "TORCH_NCCL_TRACE_BUFFER_SIZE")
    assert found.on_timeout == "TORCH_NCCL_DUMP_ON_TIMEOUT"


def test_on_other_hosts_the_folder_exists(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A local folder is not on other hosts, where NCCL would print to the job's output: a file in /tmp can be made."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(place, "_is_shared", lambda _: False)
    chosen = place.choose(None, elsewhere=True)
    assert Path(chosen.begin).parent == tmp_path
    assert "other hosts" in chosen.note
    (tmp_path / "other").touch()
    Path(f"{chosen.begin}nccl.a.1.log").touch()
    chosen.remove()
    assert [path.name for path in tmp_path.iterdir()] == ["other"]


def test_a_private_folder_goes_away_and_one_that_was_asked_for_stays(tmp_path: Path) -> None:
    private, kept = place.choose(None, elsewhere=False), place.choose(tmp_path / "logs", elsewhere=True)
    assert Path(private.begin).stat().st_mode & 0o777 == 0o700
    for chosen in (private, kept):
        chosen.remove()
    assert (Path(private.begin).exists(), Path(kept.begin).exists(), kept.note) == (False, True, "")
