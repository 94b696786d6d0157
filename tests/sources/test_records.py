"""What container runtimes and Ray put around lines."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ncdiag.text.sources import records
from ncdiag.text.sources.files import TextSource, open_sources
from ncdiag.text.sources.records import unpacked, without_repeats

TIME = "2026-03-02T04:11:09.1Z"


def record(log: str) -> str:
    return f'{{"log":"{log}","stream":"stderr","time":"{TIME}"}}'


@pytest.mark.parametrize(
    ("written", "text"),
    [
        (r"a -\u003e b \u003c0\u003e \u0026\n", "a -> b <0> &"),
        (r"say \"so\" \\ \t.\n", 'say "so" \\ \t.'),
        (r"\u001b[33mred\u001b[0m\n", "\x1b[33mred\x1b[0m"),
        (r"one\ntwo\r\n", "one two"),
        (r"\ud800 half a pair\n", None),
        ("", ""),
    ],
)
def test_records(written: str, text: str | None) -> None:
    line = record(written)
    expected = line if text is None else f"{TIME} stderr F {text}"
    assert unpacked(f"before\n{line}\nafter\n".encode()).decode() == f"before\n{expected}\nafter\n"


@pytest.mark.parametrize(
    "line",
    [
        '{"msg": "step 10 of 90", "time": "2026-03-02T04:11:09Z", "rank": 3}',
        '{"msg": "  step 10\\u0041", "time": "2026-03-02T04:11:09Z", "n": 4}',
        '{"msg": "2026-03-02T04:11:09Z", "time": "2026-03-02T04:11:09Z"}',
        '{"msg": "took 1709352669 s", "ts": 1709352669}',
        '{"log": "a 1 stdout F 2", "stream": "stdout"}',
        '{"log": "line 7", "stream": "stderr", "time": "yesterday 3"}',
        '{"log": "line 7", "stream": "stderr", "time": [1, 2]}',
        '{"MESSAGE": "up 12", "_HOSTNAME": "n7", "_COMM": "sshd", "_PID": "812", "timestamp": "2026-03-02T04:11:09Z"}',
    ],
)
def test_records_that_differ_in_digits_alone_are_read_as_if_each_came_first(line: str) -> None:
    other = line.translate(str.maketrans("1234567", "2345671"))
    records._plans.clear()
    fresh = unpacked(other.encode())
    records._plans.clear()
    assert unpacked(line.encode()) != line.encode()
    assert unpacked(other.encode()) == fresh


@pytest.mark.parametrize(
    "line", ['{"log":"cut off', '{"log":3,"stream":"stdout"}', '{"log":"x"}', '{"log":"' + "[" * 9999]
)
def test_what_is_no_record_stays(line: str) -> None:
    assert unpacked(line.encode()) == line.encode()


@pytest.mark.parametrize(
    ("record", "line"),
    [
        (  # journalctl -o json
            {
                "__REALTIME_TIMESTAMP": "1772424669500000",
                "_HOSTNAME": "n3",
                "_COMM": "python3",
                "_PID": "77",
                "MESSAGE": "x",
            },
            "2026-03-02T04:11:09.500000Z n3 python3[77]: x",
        ),
        (  # fluentd with the names of Kubernetes
            {"time": TIME, "stream": "stdout", "log": "x", "kubernetes": {"pod_name": "w-0", "container_name": "main"}},
            f"{TIME} w-0 main[0]: x",
        ),
        ({"timestamp": TIME, "textPayload": "x"}, f"{TIME} stdout F x"),
        ({"ts": 1772424669.5, "msg": "x"}, "2026-03-02T04:11:09.500000Z stdout F x"),
        ({"@timestamp": "now", "message": "x", "stream": "stderr"}, "stderr F x"),
        ({"time": TIME, "host": "no host", "message": "x"}, f"{TIME} stdout F x"),
        ({"time": TIME, "message": ["x"]}, None),
    ],
)
def test_records_of_collectors(record: dict[str, object], line: str | None) -> None:
    written = json.dumps(record)
    assert unpacked(f"{written}\n".encode()).decode() == f"{written if line is None else line}\n"


def test_a_file_of_records_keeps_its_lines(tmp_path: Path) -> None:
    path = tmp_path / "container-json.log"
    path.write_text("".join(record(rf"\u001b[1mline {n}\u001b[0m\n") + "\n" for n in range(5)))
    (source,) = open_sources([str(path)])
    assert isinstance(source, TextSource)
    assert b"".join(source.buffers()).decode() == "".join(f"{TIME} stderr F line {n}\n" for n in range(5))


def test_records_with_a_field_on_each_line() -> None:
    listed = [{"timestamp": 1772424669100, "message": text} for text in ('a "b"\n', "c <0>")]
    lines = json.dumps({"events": listed}, indent=4).splitlines()
    found = unpacked("\n".join(lines).encode()).decode().splitlines()
    assert [after for before, after in zip(lines, found, strict=True) if before != after] == ['a "b"', "c <0>"]


def test_texts_without_a_time_stay_in_their_document() -> None:
    document = json.dumps({"checks": [{"message": "passed"}]}, indent=2).encode()
    assert unpacked(document) == document


def test_records_of_a_list() -> None:
    lines = ["[", record("a") + ",", record("b"), "]"]
    expected = ["[", f"{TIME} stderr F a", f"{TIME} stderr F b", "]"]
    assert unpacked("\n".join(lines).encode()).decode().splitlines() == expected


def test_repetitions_of_ray() -> None:
    text = b"(W pid=1) x [repeated 7x across cluster] (Ray deduplicates logs by default.)\n(W pid=1) y\n"
    assert without_repeats(text) == (b"(W pid=1) x\n(W pid=1) y\n", 7)
    assert without_repeats(b"[repeated 7 times]\n") == (b"[repeated 7 times]\n", 0)
