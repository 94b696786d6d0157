"""Kinds of text that people paste and in which nothing of NCCL is: lines of one form, no two of them the same."""

from __future__ import annotations

from typing import Any

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


FAILING = "failed error timeout retry connection socket warning node rank gpu loss model data step config".split()  # noqa: SIM905
"""Words that messages of failures have as well."""


def text(kind: str, size: int, *, failing: bool = False) -> str:
    """A text of this kind with a number of lines.

    ``failing``: most lines have words that messages of failures have, and no two lines the same words in a row.
    """
    form = KINDS[kind]
    return "".join(f"{form.format(**_values(number, failing=failing))}\n" for number in range(size))


def _values(i: int, *, failing: bool) -> dict[str, Any]:
    """What the lines of a text differ in: words and numbers."""
    a, b, c = (WORDS[(i * step + step) % len(WORDS)] for step in (1, 3, 5))
    if failing:
        every = (*WORDS, *FAILING)
        a, b, c = (f"{every[i * step % 29]} {every[i * i * step % 31 % len(every)]}" for step in (7, 11, 13))
    numbers = {"i": i, "j": i % 7, "k": i * 37 % 251, "m": i // 60 % 60, "s": i % 60}
    return {"a": a, "b": b, "c": c, "A": a.upper(), "B": b.upper(), "sign": " +-"[i % 3], **numbers}
