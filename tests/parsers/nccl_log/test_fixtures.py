"""Logs and what is read from them, as data under fixtures/sections/nccl_log (`--update` writes the expected files)."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec
import pytest

from ncdiag.parsers.nccl_log import Scanner

FIXTURES = Path(__file__).resolve().parents[3] / "fixtures" / "sections" / "nccl_log"
CASES = sorted(FIXTURES.glob("*.txt"))


def shown(path: Path) -> Iterator[str]:
    """An observation a line: its line in the log, entity, host, key, fields."""
    scanner = Scanner(path.name)
    scanner.feed(path.read_bytes())
    parsed = scanner.finish()
    yield json.dumps({"unread": parsed.unread})
    for o in parsed.observations:
        row = {"at": o.span.line, "entity": o.entity, "host": o.host, "key": o.key, **msgspec.to_builtins(o.fields)}
        yield json.dumps(row)


@pytest.mark.parametrize("path", CASES, ids=[path.stem for path in CASES])
def test_fixture(path: Path, expect: Callable[[Path, str], None]) -> None:
    expect(path.with_suffix(".json"), "\n".join(shown(path)) + "\n")
