"""A paste keeps its first answer in other clothes; a healthy one gains none, and no host is invented."""

from __future__ import annotations

import base64
import json
import math
import re
from pathlib import Path

import pytest
from generate.clothes import CLOTHES
from linear import assert_linear_time
from tenth import FULL, at_least, tenth

from ncdiag import triage
from ncdiag.diagnose import diagnose
from ncdiag.report.model import Report
from ncdiag.text import TextSource
from ncdiag.text.clothes import encodings, taken_off
from ncdiag.text.clothes.columns import apart
from ncdiag.text.clothes.off import DEPTH, ROOM
from ncdiag.text.reading.model import Reading
from ncdiag.text.reading.one import read_source

FIXTURES = Path(__file__).resolve().parents[2] / "fixtures"
KEPT = 0.98
"""Share of the dressed texts that keep their first answer."""
IN_TURN = 3
"""Of the dressed texts a whole sweep takes one in so many: of each text some in each class of clothes."""
LOST = {("columns", "cut at 79"), ("columns", "cut at 120"), ("characters", "upper case")}
"""What cannot be recovered; a note says so."""
PAIRS = [
    (folder, group, name)
    for kind in ("cases", "healthy")
    for folder in sorted((FIXTURES / kind).iterdir())
    for group, dresses in CLOTHES.items()
    for name in dresses
    if (group, name) not in LOST
]
LOG = """\
[ada@ib-n4 ~]$ ulimit -l
64
ib-n4:900:900 [0] NCCL INFO Bootstrap : Using eno1:10.4.0.14<0>
ib-n4:900:917 [0] NCCL INFO NET/IB : No device found.
ib-n4:900:917 [0] NCCL INFO NET/Socket : Using [0]eno1:10.4.0.14<0>
ib-n4:900:917 [0] NCCL INFO Using network Socket
"""


def text_of(folder: Path) -> str:
    """All inputs of a fixture as one text."""
    paths = sorted(path for path in folder.iterdir() if path.name != "case.toml")
    return "".join(path.read_text().removesuffix("\n") + "\n" for path in paths)


def report(data: bytes) -> Report:
    return diagnose([TextSource.of_bytes("paste", data)])


def first(found: Report) -> str | None:
    """The first finding or likely suspect."""
    findings = [each.name for each in found.findings if each.severity != "info"]
    return next(
        iter(findings + [each.name for each in found.suspects if each.likelihood in {"very likely", "likely"}]), None
    )


class Answers:
    """The first answers to texts. One that is read as a text before it, line for line, has the answer of that."""

    def __init__(self) -> None:
        self._known: list[tuple[Reading, str | None]] = []

    def of(self, data: bytes) -> str | None:
        read = read_source(TextSource.of_bytes("paste", data))
        for other, answer in self._known:
            if other == read:
                return answer
        answer = first(report(data))
        self._known.append((read, answer))
        return answer


@pytest.mark.sweep
@pytest.mark.parametrize("half", range(2))  # for two workers
def test_the_first_answer_stays(half: int) -> None:
    pairs = tenth(PAIRS, lambda pair: f"{pair[0].name}/{pair[2]}", one_in=IN_TURN)
    lost, tried = [], 0
    for folder in sorted({folder for folder, _, _ in pairs}, key=lambda folder: folder.name)[half::2]:
        answers, text = Answers(), text_of(folder)
        plain = answers.of(text.encode())
        for group, name in [pair[1:] for pair in pairs if pair[0] == folder]:
            tried += 1
            if answers.of(CLOTHES[group][name](text)) != plain:
                lost.append(f"{folder.name}: {name}")
    assert tried >= at_least(1000 if FULL else 1000 // IN_TURN - 50)
    expected = (1 - KEPT) * tried
    assert len(lost) <= expected + (0 if FULL else 2 * math.sqrt(expected)), lost  # a part may have more than its share


@pytest.mark.parametrize("name", [f"{group}/{name}" for group, dresses in CLOTHES.items() for name in dresses])
def test_no_host_is_invented(name: str) -> None:
    group, _, dress = name.partition("/")
    found = read_source(TextSource.of_bytes("paste", CLOTHES[group][dress](LOG)))
    hosts = {each.host for each in found.observations if each.host}
    assert {host.lower() for host in hosts} <= {"ib-n4", "gpu1"}  # gpu1 wrote the syslog


@pytest.mark.parametrize(("group", "name"), sorted(LOST - {("columns", "cut at 120")}))
def test_what_is_lost_is_said(group: str, name: str) -> None:
    text = text_of(FIXTURES / "cases" / "roce-gid-3-old") + text_of(FIXTURES / "cases" / "veth")
    _, notes = taken_off(CLOTHES[group][name](text).decode())
    words = "lines end at column 79: paste the file instead" if group == "columns" else "all letters are capitals"
    assert any(words in note for note in notes), notes
    assert not any(words in note for note in taken_off(text)[1])


def test_lines_that_each_rank_prints_in_full_are_not_cut() -> None:
    line = "gpu07:410{n}:420{n} [{n}] NCCL INFO comm 0x55d0c81a{n}f30 rank {n} nranks 8 busId {n}b000 - Init {end}\n"
    text = "".join(line.format(n=n, end=end) for n in range(8) for end in ("START", "COMPLETE"))
    assert taken_off(text)[1] == ()


def pane(host: str, width: int, length: int | None = None) -> list[str]:
    """A terminal of ``width`` columns with the log of one host, and lines cut at ``length`` columns."""
    lines = [
        f"{host}:{4100 + rank}:{4200 + rank} [{rank}] NCCL INFO NET/Socket : Using [0]bond0:10.6.0.{rank + 3}<0> [RO]"
        for rank in range(8)
    ] + ["step 10 loss 2.1", "step 20 loss 2.0"]
    return [line[:length].ljust(width) for line in lines]


def beside(*panes: list[str]) -> str:
    return "".join("\u2502".join(lines).rstrip() + "\n" for lines in zip(*panes, strict=True))


@pytest.mark.parametrize(
    ("text", "widths"),
    [
        (beside(pane("gn1", 62, 62), pane("gn2", 64, 64)), [62, 64]),
        (beside(pane("gn1", 100), pane("gn2", 64, 64)), [64]),
        (beside(pane("gn1", 37, 37), pane("gn2", 100)), [37]),
        (beside(pane("gn1", 50, 50), pane("gn2", 50, 50), pane("gn3", 48, 48)), [50, 48]),
        (beside(pane("gn1", 100), pane("gn2", 100)), []),
    ],
    ids=["both", "right", "left", "three", "none"],
)
def test_each_pane_of_a_screen_that_is_cut_is_said(text: str, widths: list[int]) -> None:
    bare, notes = taken_off(text)
    said = [note for note in notes if note.startswith("lines end at")]
    assert said == [f"lines end at column {width}: paste the file instead" for width in widths]
    assert "\u2502" not in bare


@pytest.mark.parametrize(
    "text",
    [
        '{"apiVersion": "v1", "kind": "Pod", "spec": {"args": ["-c", "export A=1\\nexport B=2\\npython t.py\\n"]}}\n',
        '{"args": ["--lr", "0.1", "--epochs", "7"], "env": ["NCCL_DEBUG=INFO", "NCCL_IB_HCA=mlx5_0", "A=b"]}\n',
        "index, name, memory.used [MiB]\n0, NVIDIA H100, 17 MiB\n1, NVIDIA H100, 18 MiB\n2, NVIDIA H100, 9 MiB\n",
        "| variable | value |\n|---|---|\n| NCCL_DEBUG | INFO |\n| NCCL_IB_HCA | mlx5_0 |\n| A | b |\n",
        'printf("one\\n");\nprintf("two\\n");\nprintf("three\\n");\n',
        "see https://grafana.example.org/explore?left=%7B%22a%22%3A%20%22b%20c%20d%20e%22%7D\n",
        "-----BEGIN CERTIFICATE-----\n"
        + base64.encodebytes(bytes(range(256))).decode()
        + "-----END CERTIFICATE-----\n",
        "NCCL_DEBUG=INFO\nNCCL_IB_HCA==mlx5_0\nA=3D\n",
        '{"name": "' + "\u00e4" * 120 + '"}\n',
        "".join(f"2026-03-02 04:11:{second:02d} {second}\n" for second in (9, 7, 12, 10, 13)),
        "".join(
            f'{n}: ab.cd.SafetensorError: Os {{ code: 28, kind: Full, message: "No space left" }}\n' for n in range(8)
        ),
        "mpirun -np 4 \\\n  -H n1:2,n2:2 \\\n  -x A=1 \\\n  -x B=1 \\\n  ./train\n",
    ],
)
def test_what_only_resembles_clothes_stays(text: str) -> None:
    assert taken_off(text) == (text, ())


def test_layers_come_off_to_a_depth_and_a_size() -> None:
    deep = LOG
    for _ in range(DEPTH + 2):
        deep = base64.encodebytes(deep.encode()).decode()
    assert "NCCL" not in taken_off(deep)[0]
    once = base64.encodebytes(json.dumps({"log": json.dumps({"log": LOG})}).encode()).decode()
    assert taken_off(once)[0].strip() == LOG.strip()
    long = json.dumps({"log": "a line of it\n" * (ROOM // 12)})
    assert taken_off(long)[0] == long


def test_the_numbers_of_lines_stay_where_they_can() -> None:
    for group, name in (
        ("cells", "CSV"),
        ("cells", "SQL"),
        ("cells", "MySQL"),
        ("prefixes", "diff"),
        ("cells", "psql"),
    ):
        text, notes = taken_off(CLOTHES[group][name](LOG).decode())
        dressed = CLOTHES[group][name](LOG).decode().split("\n")
        for number, line in enumerate(text.split("\n")):
            assert line.strip() in dressed[number] or "''" in dressed[number]
        assert notes == ()
        assert [line for line in text.split("\n") if "NCCL" in line] == [
            line for line in LOG.split("\n") if "NCCL" in line
        ]


def test_a_source_file_that_a_diff_adds_is_a_source_file() -> None:
    program = 'import sys\n\n\ndef main():\n    print("NVRM: Xid (PCI:0000:3b:00): 79, GPU has fallen off the bus.")\n'
    assert first(report(CLOTHES["prefixes"]["diff"](program * 3))) is None


def test_a_note_says_whose_numbers_these_are(tmp_path: Path) -> None:
    path = tmp_path / "mail.txt"
    path.write_bytes(CLOTHES["encodings"]["base64 in one line"](LOG))
    (given,) = triage([path]).inputs
    assert any(note.startswith("encoded text: the numbers of lines") for note in given.notes)


@pytest.mark.parametrize("piece", ["$ ", "ab ", "- | "])
def test_one_endless_line_is_split_into_columns_in_linear_time(piece: str) -> None:
    few = ["n1:1:2 [0] NCCL INFO Connected all rings"] * 5
    assert_linear_time(apart, lambda size: "\n".join([*few, piece * size]), 10_000)


@pytest.mark.parametrize("piece", [r"\\\"", r"\\\'", r"\\\"\\\'", r"b'a\n' \\\""])
def test_a_line_of_marks_behind_backslashes_is_searched_for_strings_once(
    piece: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = f'["log\\n{piece * 500}'
    asked: list[int] = []
    literal = encodings._LITERAL

    class Counted:
        def match(self, text: str, at: int) -> re.Match[str] | None:
            found = literal.match(text, at)
            asked.append(len(text) - at if found is None else found.end() - at)
            return found

    spans = [found.span() for found in literal.finditer(text)]
    monkeypatch.setattr(encodings, "_LITERAL", Counted())
    assert [found.span() for found in encodings._strings(text)] == spans
    assert sum(asked) <= 3 * len(text)
