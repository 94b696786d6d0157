"""Any text is cleaned line by line in linear time, long ones piece by piece; the command and the option."""

from __future__ import annotations

import json
import pathlib
import stat
import subprocess
from collections.abc import Callable

import pytest
from cleaning import KEY, PASTE, clean
from examples import examples
from hypothesis import given
from hypothesis import strategies as st
from linear import assert_linear_time
from tenth import tenth

from ncdiag.apps.redact import cleaned
from ncdiag.text.sources.files import TextSource, open_sources

PIECES = (
    *("1.", "a:", "::", "0:", "f" * 9, "a@", "/home/", "-", "[1,", "a1", "name: X_KEY ", '"K":', "eyJ", " ", "\t"),
    *("\\", "key=", "?a=", "password is ", "vault kv put a b=", "echo a |", "mysql -p ", "://a@", "A1b2", "token: "),
)


@examples(150)
@given(text=st.text(max_size=200), hosts=st.lists(st.text(max_size=8), max_size=3))
def test_any_text_keeps_its_lines(text: str, hosts: list[str]) -> None:
    assert clean(text, *hosts).count("\n") == text.count("\n")


@pytest.mark.sweep
@pytest.mark.parametrize("piece", tenth(PIECES, repr))
def test_repetition_takes_linear_time(piece: str) -> None:
    assert_linear_time(lambda text: clean(text, "h1"), lambda size: piece * size, 1_000)


def test_long_texts_are_cleaned_piece_by_piece(tmp_path: pathlib.Path) -> None:
    """A name that stands at the end is replaced at the beginning, and no piece is the whole."""
    line = "gpu07:812:812 [0] NCCL INFO Bootstrap : Using eth0:10.20.30.7<0>\n"
    path = tmp_path / "long.log"
    path.write_text("gpu07 first\n" + "nothing here, but much of it\n" * 120_000 + line)
    sources = [source for source in open_sources([str(path)]) if isinstance(source, TextSource)]
    (made,), _ = cleaned(sources, KEY)
    pieces = list(made.buffers())
    assert len(pieces) > 2
    assert pieces[0].startswith(b"hos07 first\n")
    assert pieces[-1].endswith(b"<0>\n")
    assert b"".join(pieces).count(b"\n") == 120_002
    assert list(made.buffers()) == pieces, "it can be read again"


def test_a_text_that_can_be_read_once(ncdiag: Callable[..., subprocess.CompletedProcess[bytes]]) -> None:
    done = ncdiag("redact", "-", input=PASTE.encode() * 3)
    assert done.returncode == 0
    assert done.stdout.count(b"\n") == 3 * PASTE.count("\n")
    assert b"gpu07" not in done.stdout


def test_the_command_says_what_it_replaced(ncdiag: Callable[..., subprocess.CompletedProcess[bytes]]) -> None:
    word = "q7x9k2m4n8b3v5c1z6l0w2e4r"
    text = f"{PASTE}export HF_TOKEN=s3cr3tValue9\nrun {word} ended\n".encode()
    done = ncdiag("redact", "--review", "-", input=text)
    assert b"replaced: 4 IPv4" not in done.stderr
    assert b"1 secret" in done.stderr
    assert b"2 host names" in done.stderr
    assert b"redaction is best effort: review the result before you share it" in done.stderr
    assert word.encode() in done.stderr
    assert b"s3cr3t" not in done.stderr + done.stdout
    assert ncdiag("redact", "-q", "-", input=text).stderr == b""


def test_the_option(ncdiag: Callable[..., subprocess.CompletedProcess[bytes]]) -> None:
    shown = ncdiag("triage", "--redact", "--format", "json", input=PASTE.encode()).stdout
    assert json.loads(shown)["schema_version"] == 1
    assert b"gpu07" not in shown


def test_the_command(ncdiag: Callable[..., subprocess.CompletedProcess[bytes]], tmp_path: pathlib.Path) -> None:
    paste, kept = tmp_path / "paste.txt", tmp_path / "map.json"
    paste.write_text(PASTE)
    first = ncdiag("redact", paste, "--map", kept)
    again = ncdiag("redact", paste, "--map", kept, "-o", tmp_path / "out.txt")
    assert (first.returncode, again.returncode) == (0, 0)
    assert (tmp_path / "out.txt").read_bytes() == first.stdout
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    assert "gpu07" in json.loads(kept.read_text())["mapping"]
    assert ncdiag("redact", "-", input=PASTE.encode()).stdout != first.stdout  # another key
    kept.write_text("[]")
    assert ncdiag("redact", paste, "--map", kept).returncode == 2


def test_lines_alike_that_hold_nothing_are_passed_over_and_a_secret_among_them_is_not() -> None:
    lines = [f"step {number} tokens/s: {number * 7 % 9999:.1f}" for number in range(200)]
    lines[150] = "step 150 token: 8f3kQz71mPw0aV5tRb2x"
    text = "\n".join(lines) + "\n"
    made = clean(text).splitlines()
    assert "8f3kQz71mPw0aV5tRb2x" not in made[150]
    assert made[:150] + made[151:] == lines[:150] + lines[151:]
