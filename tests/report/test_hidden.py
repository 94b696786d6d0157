"""No secret of the input is in a report, in any format, unless its user asks for it; everything else is unchanged."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from in_process import run
from linear import assert_linear

from ncdiag.diagnose import Options, diagnosed, hiding_of
from ncdiag.formats.secrets.hiding import Hiding
from ncdiag.report import formats
from ncdiag.report.hidden import hidden, hidden_lines
from ncdiag.text import TextSource

SECRETS = ("quokka7Lantern", "b7d1e3a95c2f4086d1a7c3e5f9b20846a1c3e5d7", "hf_Kq7Zt2Wm9Xb4Rn6Vc8Ls3Pd5")
PASTE = f"""\
$ TRACKER_API_KEY={SECRETS[1]} mpirun -H a:8,b:8 -np 16 -x DB_PASSWORD={SECRETS[0]} ./train --hub-token {SECRETS[2]}
train7:101:220 [0] NCCL INFO Bootstrap : Using eth0:10.4.0.7<0>, {SECRETS[0]} refused
train7:101:220 [0] misc/ibvwrap.cc:262 NCCL WARN Call to ibv_reg_mr failed, job db://ann:{SECRETS[0]}@store/x
train7:101:220 [0] NCCL INFO TRACKER_API_KEY set by environment to {SECRETS[1]}
RuntimeError: NCCL error: unhandled system error, token={SECRETS[2]}
words that nobody reads, api_key: {SECRETS[1]}
"""


@pytest.fixture
def paste(tmp_path: Path) -> Path:
    path = tmp_path / "job.log"
    path.write_text(PASTE, encoding="utf-8")
    return path


def shown(*words: str) -> str:
    made = run(*words, env={**os.environ, "LC_ALL": "C.UTF-8"})
    return (made.stdout + made.stderr).decode()


@pytest.mark.parametrize("form", formats())
def test_no_format_shows_a_secret(form: str, paste: Path) -> None:
    for detail in ("-v", "--brief"):
        text = shown("triage", detail, "--format", form, str(paste))
        assert text
        assert [secret for secret in SECRETS if secret in text] == []
    assert "train7" in shown("triage", "-v", str(paste))


def test_who_must_see_them_can(paste: Path) -> None:
    text = shown("triage", "-v", "--show-secrets", str(paste))
    assert SECRETS[0] in text
    assert SECRETS[2] in text


def test_places_and_answers_are_the_same(paste: Path) -> None:
    plain, with_secrets = (
        json.loads(shown("triage", *more, "--format", "json", str(paste))) for more in ((), ("--show-secrets",))
    )
    assert _without_texts(plain) == _without_texts(with_secrets)
    assert plain != with_secrets
    sarif, raw = (
        json.loads(shown("triage", *more, "--format", "sarif", str(paste)))["runs"][0]["results"]
        for more in ((), ("--show-secrets",))
    )
    assert sarif
    for one, other in zip(sarif, raw, strict=True):
        assert one["partialFingerprints"] == other["partialFingerprints"]
        places = [
            [{**at["physicalLocation"]["region"], "snippet": ""} for at in each["locations"]] for each in (one, other)
        ]
        assert places[0] == places[1]


def _without_texts(value: object) -> object:
    if isinstance(value, dict):
        return {name: _without_texts(held) for name, held in value.items()}
    return [_without_texts(held) for held in value] if isinstance(value, list) else isinstance(value, str) or value


@pytest.mark.parametrize("words", [("facts",), ("facts", "--unread"), ("parse", "--each")])
def test_other_commands_hide_them_too(words: tuple[str, ...], paste: Path) -> None:
    text = shown(*words, str(paste))
    assert "job.log" in text
    assert [secret for secret in SECRETS if secret in text] == []


def test_what_another_line_says_of_a_line_holds_wherever_it_is_quoted() -> None:
    body = "MIIEowIBAAKCAQEAt7Qm"
    lines = [
        "-----BEGIN RSA PRIVATE KEY-----",
        body,
        "-----END RSA PRIVATE KEY-----",
        "$ cat /run/token",
        "moss-92-Fern",
    ]
    hiding = Hiding(lines)
    assert hiding.text(body) == "***"
    assert hiding.text("moss-92-Fern") == "***"
    assert hidden_lines({("x", 7): body, ("x", 8): "all well"}, hiding) == {("x", 7): "***", ("x", 8): "all well"}


def test_a_report_without_a_secret_is_the_same_object() -> None:
    case_of = [TextSource.of_bytes("x", b"gpu1:1:2 [0] NCCL WARN Call to ibv_reg_mr failed\n")]
    found = diagnosed(case_of, Options(show_secrets=True))
    assert hidden(found.report, hiding_of(found.case)) is found.report


def test_a_long_text_is_searched_in_linear_time() -> None:
    """Ordinary lines are searched too, and each with a secret is looked up among the others."""

    def lines(count: int) -> list[str]:
        return [line for number in range(count) for line in PASTE.replace("quokka7", f"quokka{number}").splitlines()]

    assert_linear(Hiding, lines, 20)
