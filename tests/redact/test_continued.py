"""A secret of a command that goes on behind a backslash is hidden with both of its parts."""

from __future__ import annotations

import pytest

from ncdiag.diagnose import diagnose
from ncdiag.report.json import render
from ncdiag.text import TextSource

PARTS = "hG5wTq81ZbKc0Lm4Xr7Y", "pD2vNs96JfUe3Aq8Wt1B"


def told(text: str) -> str:
    return render(diagnose([TextSource.of_bytes("paste", text.encode())]))


@pytest.mark.parametrize("indent", ["", "   ", "> "])
def test_both_parts_of_a_continued_secret_are_hidden(indent: str) -> None:
    first, second = PARTS
    report = told(f"docker run --gpus all -e WANDB_API_KEY={first}\\\n{indent}{second} lab/train:7 python fit.py\n")
    assert first not in report
    assert second not in report
    assert "lab/train:7" in report


@pytest.mark.parametrize("joint", [" \\\n", " \\\n    ", "\\\n    ", " \\\n> "])
def test_words_of_a_continued_command_stay_apart(joint: str) -> None:
    assert "lab/train:7" in told(f"docker run --gpus all -e NCCL_DEBUG=INFO{joint}lab/train:7 python fit.py\n")


@pytest.mark.parametrize("joint", ["\\\n", " \\\n"])
def test_an_option_begins_a_word_where_the_indentation_is_lost(joint: str) -> None:
    assert "lab/train:7" in told(f"docker run --gpus all{joint}--ipc=host lab/train:7 python fit.py\n")
