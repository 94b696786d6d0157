"""The reasons of errors: one group, whatever number, name, wording or language a program printed."""

from __future__ import annotations

import errno
import os
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import tomllib

from ncdiag.nccl import reasons

FOLDER = Path(reasons.__file__).parent


def table(name: str) -> dict[str, Any]:
    return tomllib.loads((FOLDER / f"{name}.toml").read_text(encoding="utf-8"))


def test_every_text_of_the_table_is_found_alone_and_within_a_line() -> None:
    wrong = []
    for name, (number, texts) in table("strerror").items():
        for text in texts:
            lines = [text, f"{text}.", f" {text.upper() if text.isascii() else text}", f"{number} ({text})"]
            lines += [f"connect to 10.0.0.1<5000> failed : {text}, retrying"] if len(text) > 15 else []
            wrong += [line for line in lines if (found := reasons.of_text(line)) is None or found.name != name]
    assert wrong == []


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("No route to", "EHOSTUNREACH"), ("Connection refu", "ECONNREFUSED"), ("Connection timed", "ETIMEDOUT"),
        ("Resource temporarily", "EAGAIN"), ("Cannot allocate mem", "ENOMEM"), ("No such file o", "ENOENT"),
        ("Connection re", None), ("No such", None), ("Network is", None), ("No", None), ("Too", None),
        ("No route to be found", None),
    ],
)  # fmt: skip
def test_a_text_that_was_cut_means_the_only_error_that_begins_so(text: str, name: str | None) -> None:
    found = reasons.of_text(text)
    assert (found.name if found else None) == name


def test_the_numbers_are_those_of_this_system() -> None:
    for name, (number, texts) in table("strerror").items():
        assert getattr(errno, name) == number
        assert reasons.of_errno(number) == reasons.of_errno(-number) == reasons.of_text(os.strerror(number))
        assert texts


def test_every_cuda_error_is_found_by_number_name_and_words() -> None:
    twice = {"cudaErrorInvalidSource"}  # has the words of cudaErrorInvalidKernelImage
    for number, (name, text) in table("cuda")["error"].items():
        found = reasons.of_cuda(int(number))
        assert found is not None
        assert found.name == name
        assert reasons.of_text(name) == found
        assert reasons.of_text(f"RuntimeError: {name}: {text}") == found
        assert name in twice or reasons.of_text(text, cuda=True) == found


def test_a_code_stands_in_one_group_and_exists() -> None:
    said, cuda = table("strerror"), table("cuda")["error"]
    seen: Counter[tuple[str, object]] = Counter()
    for name, entry in table("reasons")["reason"].items():
        assert not entry["means"].endswith("."), name
        for kind, codes in entry.items():
            if kind not in {"means", "tcp"}:
                seen.update((kind, code) for code in codes)
        assert set(entry.get("errno", ())) <= {*said, "ETIME", "ENONET"}, name
        assert {str(number) for number in entry.get("cuda", ())} <= set(cuda), name
    assert [code for code, count in seen.items() if count > 1] == []


@pytest.mark.parametrize(
    ("text", "group"),
    [
        ("OSError: [Errno 28] No space left on device: '/dev/shm/nccl-x'", "no-space"),
        ("The client socket has failed to connect (errno: 113 - No route to host)", "unreachable"),
        ("socket error ECONNRESET", "reset"),
        ("CUDA_ERROR_SYSTEM_NOT_READY", "fabric-not-ready"),
        ("Cuda failure 802", "fabric-not-ready"),
        ("CUDA error 2", "no-memory"),
        ("Resource temporarily unavailable (os error 11)", "not-ready"),
    ],
)
def test_an_error_inside_a_line(text: str, group: str) -> None:
    found = reasons.of_text(text)
    assert found is not None
    assert found.group == group


@pytest.mark.parametrize(
    "text",
    ["", "the broken pipeline was repaired", "all good", "EVERYTHING is ERROR free", "step 110 of 113", "ENV set"],
)
def test_prose_is_no_error(text: str) -> None:
    assert reasons.of_text(text) is None


def test_every_status_and_signal_has_a_group() -> None:
    assert {n for n in range(1, 24) if reasons.of_completion(n) is None} == set()
    assert reasons.of_completion(0) is None
    assert reasons.of_signal(9) == reasons.Reason("killed", "SIGKILL")
