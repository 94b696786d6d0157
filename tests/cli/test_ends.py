"""``--window`` of ``diff`` and ``watch``: what differs at the ends of logs, the first line first."""

from __future__ import annotations

import json
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from ncdiag.commands._beside import case_of
from ncdiag.text import File, Run, differing, open_sources, window_of

Ncdiag = Callable[..., "subprocess.CompletedProcess[bytes]"]
CLOSED = "{host}:7:9 [0] misc/socket.cc:66 NCCL WARN socketProgress: Connection closed by remote peer {host}b<412>"


def lines(host: str, day: int, *, steps: int = 240, saves: int = 240, more: dict[int, str] | None = None) -> str:
    """The log of a run with a step each ten seconds and a save each minute, up to these steps."""

    def written() -> Iterator[str]:
        for step in range(steps):
            stamp = f"2026-05-{day:02} 03:{step // 6:02}:{step % 6}0"
            texts = [more[step]] if more and step in more else []
            texts += [f"step {step} loss 2.{step}", *([f"saved {step}"] if step % 6 == 0 and step <= saves else [])]
            yield from (f"{stamp} {host} {text}" for text in texts)

    return "".join(f"{line}\n" for line in written())


@pytest.fixture
def logs(tmp_path: Path) -> tuple[Path, Path]:
    """A good run; one whose saves stop, whose storage is slow, and which then fails, and goes on for a while."""
    good, bad = tmp_path / "good.log", tmp_path / "bad.log"
    good.write_text(lines("n1", 2))
    failed = f"{CLOSED.format(host='m7')}\n"
    tail = "".join(f"2026-05-03 03:{n:02}:00 m7 cleaning up {n}\n" for n in range(34, 54))
    bad.write_text(lines("m7", 3, steps=200, saves=150, more={190: "storage answers late"}) + failed + tail)
    return good, bad


def changes(done: subprocess.CompletedProcess[bytes]) -> list[tuple[str, str, str]] | None:
    """What differs, with the clock and the last words of its line."""
    found = json.loads(done.stdout).get("lines")
    return found and [(one["what"], one["time"][11:], one["text"].split(" ", 3)[-1][:20]) for one in found]


def test_the_ends_up_to_the_first_failure_are_compared(logs: tuple[Path, Path], ncdiag: Ncdiag) -> None:
    found = changes(ncdiag("diff", *logs, "--window", "10m", "--format", "json"))
    assert found is not None
    assert [(what, text[:8]) for what, _, text in found[:2]] == [("stopped", "saved 15"), ("new", "storage ")]
    assert not any("cleaning" in text or "loss" in text for _, _, text in found)
    for form in ("text", "markdown", "html"):
        shown = ncdiag("diff", *logs, "--window", "10m", "--format", form).stdout.decode()
        assert "storage answers late" in " ".join(shown.split()), form


def test_equal_ends_of_other_hosts_do_not_differ(tmp_path: Path, ncdiag: Ncdiag) -> None:
    one, other = tmp_path / "one.log", tmp_path / "other.log"
    one.write_text(lines("n1", 2))
    other.write_text(lines("gpu-a17", 9, steps=290, saves=290))
    done = ncdiag("diff", one, other, "--window", "10m", "--format", "json")
    assert json.loads(done.stdout)["lines"] == []
    assert "the ends of the two do not differ" in ncdiag("diff", one, other, "--window", "10m").stdout.decode()


def test_what_came_long_before_the_end_is_no_difference(logs: tuple[Path, Path], ncdiag: Ncdiag) -> None:
    found = changes(ncdiag("diff", *logs, "--window", "60s", "--format", "json"))
    assert found is not None
    assert not any("storage" in text for _, _, text in found)


def test_an_asked_time_is_the_end(logs: tuple[Path, Path], ncdiag: Ncdiag) -> None:
    arguments = ("diff", *logs, "--window", "5m", "--until", "03:20", "--format", "json")
    assert json.loads(ncdiag(*arguments).stdout)["lines"] == []


def test_without_the_option_lines_are_not_compared(logs: tuple[Path, Path], ncdiag: Ncdiag) -> None:
    assert json.loads(ncdiag("diff", *logs, "--format", "json").stdout)["lines"] is None


def test_logs_without_stamps_are_named(logs: tuple[Path, Path], tmp_path: Path, ncdiag: Ncdiag) -> None:
    bare = tmp_path / "bare.log"
    bare.write_text(CLOSED.format(host="n1") + "\n")
    done = ncdiag("diff", logs[0], bare, "--window", "10m")
    assert b"the lines at the ends were not compared: one of the two has no file with stamps" in done.stderr


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("diff", "a", "b", "--window", "ten"), "'ten' is not a duration"),
        (("diff", "a", "b", "--jobs", "--window", "10m"), "--jobs compares reports, which have no lines"),
        (("watch", "-", "--window", "10m"), "'-' is a pipe"),
    ],
)
def test_what_is_impossible_is_one_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ncdiag: Ncdiag, words: tuple[str, ...], said: str
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("a", "b"):
        (tmp_path / name).write_text(lines("n1", 2))
    done = ncdiag(*words, input=b"")
    assert done.returncode == 2
    assert said in done.stderr.decode()
    assert done.stderr.count(b"\n") == 1


def test_the_moment_of_a_failure_is_that_of_its_line(logs: tuple[Path, Path]) -> None:
    """A line without a stamp of its own has that of the line above."""
    files = [[each for each in open_sources([str(path)]) if isinstance(each, File)] for path in logs]
    asked = window_of("2026-05-01", None)
    assert asked is not None
    place = next(n for n, line in enumerate(logs[1].read_text().splitlines(), 1) if "NCCL" in line)
    whole = type(asked)(now=time.time())
    found = differing(Run(files[0], whole), Run(files[1], whole, (str(logs[1]), place)), 600.0)
    assert found is not None
    assert found.bounds.written(found.bounds.until) == "2026-05-03 03:33:10"
    assert case_of(logs[1]).texts


def test_watch_compares_the_ends_of_the_logs(
    logs: tuple[Path, Path], ncdiag: Ncdiag, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At Ctrl-C the last minutes of the log are compared with those before them."""
    from ncdiag.commands import _watch

    monkeypatch.setattr(_watch.Watcher, "turn", lambda *_: False)
    report = json.loads(ncdiag("watch", logs[1], "--quiet", "--window", "20m", "--format", "json").stdout)
    found = [(one["what"], one["text"][20:34]) for one in report["window"]["changes"]]
    assert ("new", "m7 cleaning up") in found
    assert report["window"]["text"] == ""
    plain = json.loads(ncdiag("watch", logs[1], "--quiet", "--format", "json").stdout)
    assert plain["window"] is None
