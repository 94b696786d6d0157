"""How to get a log worth pasting, by launcher (``logs.toml``): for ``ncdiag explain logging`` and docs/logging.md."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from ncdiag.base import toml

TABLE = Path(__file__).with_name("logs.toml")
WORDS = ("logging", "log", "logs")
"""Words that request it, alone or with the name of a launcher: ``logging srun``."""


_HEAD = """# How to get a useful log

<!-- made from ncdiag/apps/explaining/logs.toml; pytest tests/cli/test_logging.py --update writes it -->

`ncdiag explain logging` prints a summary, `ncdiag explain "logging srun"` the part for one launcher.
"""
_TAIL = """
## Data from the hosts

The log shows what NCCL did; data from the host shows what it could choose from:

```shell
ncdiag collect -o "$(hostname -s).tar.gz"                     # with ncdiag
ssh NODE python3 - < look.py > NODE.tar.gz                    # without: ncdiag collect --python > look.py
ncdiag triage job.log ./*.tar.gz                              # diagnoses logs and hosts together
```

## Before you share a log

```shell
ncdiag redact job.log > public.log
ncdiag redact node7.tar.gz -o public.tar.gz
```

Host and user names, addresses and serial numbers are replaced with placeholders, so the log can still be diagnosed;
secrets are removed. Redaction is best effort: review the result. `--review` lists words to check.

## Nothing is sent anywhere

ncdiag opens a connection only if that is the purpose of the command: `probe` and `check --nodes` connect to the hosts
that you name, through the program that you choose (ssh, srun, mpirun, kubectl). `check`, `collect` and `predict` ask
the installed NCCL which interface it picks, unless `--no-nccl` is given; NCCL then listens on a port of this host.
ncdiag sends no telemetry and looks nothing up. `tests/cli/test_no_network.py` runs the commands under strace and fails
on every connection and every packet sent.
"""


class Way(msgspec.Struct, frozen=True):
    """The steps for one launcher; ``set`` and ``gather`` are lines to paste."""

    name: str
    short: str
    also: tuple[str, ...]
    form: str
    set: str
    files: str
    gather: str
    notes: tuple[str, ...]
    source: str


class Book(msgspec.Struct, frozen=True):
    """The whole table."""

    about: str
    set: str
    facts: tuple[str, ...]
    source: str
    way: tuple[Way, ...]


@functools.cache
def book() -> Book:
    """The table."""
    return msgspec.convert(toml.loads(TABLE.read_text(encoding="utf-8")), Book)


def names() -> Iterator[str]:
    """The valid questions."""
    yield WORDS[0]
    yield from (f"{WORDS[0]} {word}" for way in book().way for word in (way.name.lower(), *way.also))


def asked(text: str) -> tuple[str, str, dict[str, Any]] | None:
    """(name, meaning, details) for ``logging`` or ``logging LAUNCHER``; None for other words."""
    word, _, launcher = " ".join(text.lower().split()).partition(" ")
    if word not in WORDS:
        return None
    if not launcher:
        widest = max(len(way.name) for way in book().way)
        short = "".join(f"{way.name:{widest}}  {way.short}\n" for way in book().way)
        more = "'ncdiag explain \"logging srun\"' shows all lines for one launcher and where its output goes"
        return "logging", book().about, {"set": book().set, "by launcher": short, "more": more}
    found = next((way for way in book().way if launcher in {way.name.lower(), *way.also}), None)
    if found is None:
        return None
    details = {"set": found.set, "files": found.files, "gather": found.gather, "note": " ".join(found.notes)}
    return f"logging, {found.name}", book().about, {key: value for key, value in details.items() if value}


def page() -> str:
    """docs/logging.md."""
    return "\n".join([_HEAD, *_general(), *(line for way in book().way for line in _section(way))]) + _TAIL


def _general() -> Iterator[str]:
    yield from (book().about, "", "```shell", book().set.strip(), "```", "")
    yield from (f"- {fact}" for fact in book().facts)
    yield from ("", f"Source: {book().source}", "")


def _section(way: Way) -> Iterator[str]:
    yield from (f"## {way.name}", "", f"```{way.form}", way.set.strip(), "```", "")
    yield from (f"Output: {_escaped(way.files)}", "")
    yield from ("```shell", way.gather.strip(), "```", "")
    yield from (f"- {_escaped(note)}" for note in way.notes)
    yield from ("", f"Source: {way.source}", "") if way.notes else (f"Source: {way.source}", "")


def _escaped(text: str) -> str:
    return text.replace("<", "\\<")
