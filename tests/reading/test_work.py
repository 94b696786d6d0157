"""The work for a text grows with its length, whatever kind of text it is, and each line is read a few times at most."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest
from linear import calls

from ncdiag.diagnose import diagnose
from ncdiag.text import TextSource
from ncdiag.text.reading import one
from ncdiag.text.sections.line import Line

FEW, TIMES = 220, 4
"""The lines of the shorter text, and how much longer the other one is."""
MANY = 2000
"""Lines of a text so long that what is read of each block, to find what surrounds it, matters little."""
SLACK = 1.25
"""Work may grow by this much more than the text: tables of names that fill up."""
READ = 4
"""How often each line may be read on average, of which once for the answer, the rest to find what surrounds it."""
WORDS = "tensor gradient layer pipeline queue batch tokenizer encoder worker cache shard replica bucket stage".split()  # noqa: SIM905

KINDS = {
    "diff": "{sign}    self.{a} = {b}({c}, n={i})",
    "key=value": "spark.{a}.{b}.{i}={c}",
    "dotted names": "{a}.{i}: {b} {c}",
    "access log": '10.0.{j}.{k} - - [01/May/2024:00:{m:02}:{s:02} +0000] "GET /{a}/{i} HTTP/1.1" 200 {i} "-" "{b}"',
    "HTML table": "<tr><td>{i}</td><td>{a}</td><td>{b} {c}</td></tr>",
    "sacct": "{i:>9} {a:>12} {b:>10} {k:>6}  COMPLETED      0:{j} ",
    "Markdown table": "| {i} | {a} | {b} {c} | {k}.{j} |",
    "journald JSON": '{{"_HOSTNAME": "n{j}", "PRIORITY": "6", "MESSAGE": "{a} {b} took {i} ms", "_PID": "{k}"}}',
    "syslog": "May  1 09:{m:02}:{s:02} n{j} {a}[{k}]: {b} {c} of request {i} is done",
    "syslog without padding": "May 1 9:{m}:{s} n{j} {a}[{k}]: {b} {c} {i}",
    "Spark log": "17/06/09 20:{m:02}:{s:02} INFO {a}.{b}: Finished {c} {i} in stage {j}.0 in {k} ms",
    "prompts": "user@n{j}:~/{a}$ ls {b}/{c}_{i}",
    "mail": "> {a} {b} was {i} when the {c} of the {a} was sent",
    "list of packages": "{a}-{b}-{c}   {j}.{k}.{i}",
    "environment": "{A}_{B}_{i}=/opt/{c}/{j}",
    "kernel log": "[{i:>5}.{k:06}] {a} {b}: {c} at 0x{i:08x}",
    "SQL": "INSERT INTO {a} VALUES ({i}, '{b}', '{c}', {k});",
    "hexdump": "{i:08x}  {k:02x} {j:02x} {m:02x} {s:02x} 00 ff {k:02x} {j:02x}  |{a:.8}|",
    "attributes": "        {a} {b:<20} : {i} {c}",
    "CSV": "{i},{a},{b},{c},{k}.{j}",
    "colours": "\x1b[3{j}m{a}\x1b[0m {b} {i} \x1b[1m{c}\x1b[0m",
    "notebook": '   "{a} = {b}({i})  # {c}\\n",',
    "sbatch": "export NCCL_{A}{i}={k}",
    "launch lines": "srun --ntasks={i} python {a}.py --{b} {c}",
    "tcpdump": "09:{m:02}:{s:02}.{i:06} IP 10.0.{j}.{k}.22 > 10.0.0.1.{i}: Flags [P.], seq {i}:{k}, ack 1, length {j}",
    "progress": "{a}:  {j}%|###   | {i}/{k} [00:{m:02}<00:{s:02}, {j}.{k}it/s]",
    "sentences": "The {a} of {b} {i} is not what I want, and the {c} is {k}.",
}  # fmt: skip


def text(form: str, size: int) -> str:
    """A text of lines of one form, of which no two are the same."""
    return "".join(f"{form.format(**values(number))}\n" for number in range(size))


def values(i: int) -> dict[str, Any]:
    """What the lines of a text differ in: words and numbers."""
    a, b, c = (WORDS[(i * step + step) % len(WORDS)] for step in (1, 3, 5))
    numbers = {"i": i, "j": i % 7, "k": i * 37 % 251, "m": i // 60 % 60, "s": i % 60}
    return {"a": a, "b": b, "c": c, "A": a.upper(), "B": b.upper(), "sign": " +-"[i % 3], **numbers}


def judged(given: str) -> object:
    return diagnose([TextSource.of_bytes("x", given.encode())])


@pytest.mark.sweep
@pytest.mark.parametrize("kind", KINDS)
def test_the_work_grows_with_the_text(kind: str) -> None:
    judged(text(KINDS[kind], FEW - 1))  # compiles, imports and fills tables
    short, long = (calls(judged, text(KINDS[kind], size)) for size in (FEW, TIMES * FEW))
    assert long <= SLACK * TIMES * short, f"{long / short:.1f} times the calls for {TIMES} times the text"


@pytest.mark.parametrize("kind", KINDS)
def test_each_line_is_read_a_few_times(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[int] = []
    reader: Callable[..., Any] = one._read_lines

    def count(source: object, lines: Sequence[Line], *rest: object, **named: object) -> object:
        read.append(len(lines))
        return reader(source, lines, *rest, **named)

    monkeypatch.setattr(one, "_read_lines", count)
    judged(text(KINDS[kind], MANY))
    assert sum(read) <= READ * MANY
