# ruff: noqa: INP001, T201  (a script beside the package that prints)
"""List what a clone of NCCL knows of fixed defects and the tables (ncdiag/nccl/defects) do not.

Usage: python tools/defects.py CLONE     or     make defects NCCL=CLONE

CLONE is a clone of https://github.com/NVIDIA/nccl with its tags (bare or not). Printed are

* releases that are not in the table of releases,
* sentences that report a fix in the messages of tags, as far as ``tools/defects.toml`` does not say which entry is
  about them, or why none is; each with the line to add there,
* entries whose ``code`` is not first in the source of the release that ``since`` names.

The script ends with 1 if it prints any.
"""

from __future__ import annotations

import argparse
import hashlib
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from ncdiag.base import toml
from ncdiag.facts.scalars import Version
from ncdiag.nccl.defects.entries import version_of
from ncdiag.nccl.defects.table import tables

OLDEST = Version(2, 8, 3)
"""The first release whose notes are compared."""
_TAG = re.compile(r"v(2\.\d+\.\d+)-\d+")
_FIX = re.compile(r"\b(?:fix(?:e[sd])?|work(?:s|ed)?\s?around|prevents?)\b", re.IGNORECASE)
_ITEM = re.compile(
    r"\n\s*[-*]\s+|\n\n|(?<=[.)])\n(?=[A-Z])"
    r"|\n(?=(?:Fix|Work|Various|Add|Improve|Make|Handle|Resource|Revert|Allow)\w* )"
)
"""What separates the items of a message: bullets, empty lines, ends of sentences, and lines that begin with a verb."""
READ = Path(__file__).with_suffix(".toml")
"""The sentences that somebody compared with the tables: by release, the stamp of each with the entry, or why none."""


def run(clone: str, *arguments: str) -> str:
    """The output of git in the clone; empty where it fails."""
    done = subprocess.run(  # noqa: S603  (git, with arguments of this script)
        ["git", "-C", clone, *arguments],  # noqa: S607
        capture_output=True, text=True, errors="replace", check=False,
    )  # fmt: skip
    return done.stdout


def releases(clone: str) -> dict[str, str]:
    """The tag of each release, the oldest first."""
    found = {match[1]: tag for tag in run(clone, "tag").split() if (match := _TAG.fullmatch(tag))}
    return dict(sorted(found.items(), key=lambda pair: version_of(pair[0])))


def fixes(message: str) -> Iterator[str]:
    """The sentences of a message that report a fix, each in one line."""
    for item in _ITEM.split(message):
        sentence = " ".join(item.split())
        if _FIX.search(sentence):
            yield sentence


def stamp(sentence: str) -> str:
    """A short key of the sentence, which keeps its text out of the project."""
    return hashlib.sha256(sentence.encode()).hexdigest()[:8]


def unlisted(clone: str, tags: Mapping[str, str], read: Mapping[str, Mapping[str, str]]) -> Iterator[tuple[str, str]]:
    """Release and sentence of each reported fix that nobody compared with the tables."""
    before = ""
    for release, tag in tags.items():
        if version_of(release) >= OLDEST:
            known = read.get(release, {})
            yield from ((release, said) for said in reported(clone, before, tag) if stamp(said) not in known)
        before = tag


def reported(clone: str, before: str, tag: str) -> list[str]:
    """The fixes that the message of a tag reports; where it only points to a page, those of its commits."""
    told = list(fixes(run(clone, "log", "-1", "--format=%B", tag)))
    subjects = run(clone, "log", "--no-merges", "--format=%s%n", f"{before}..{tag}", "--", "src") if before else ""
    return told or list(fixes(f"\n{subjects}"))


def lost(read: Mapping[str, Mapping[str, str]]) -> Iterator[str]:
    """A line for each stamp that names an entry which the tables do not have."""
    names = {defect.name for defect in tables().defects}
    for release, stamps in read.items():
        yield from (f"{release}: {key}: no entry is called {name!r}" for key, name in stamps.items()
                    if name not in names and not name.startswith("none"))  # fmt: skip


def wrong_origins(clone: str, tags: Mapping[str, str]) -> Iterator[str]:
    """A line for each entry whose text in the source does not begin with its first release."""
    for defect in tables().defects:
        if defect.product == "nccl" and defect.code and defect.low is not None:
            first = next((release for release, tag in tags.items() if _has(clone, tag, defect.code)), None)
            expected = next((release for release in tags if version_of(release) >= defect.low), None)
            if first is None or expected is None or version_of(first) > version_of(expected):
                yield f"{defect.name}: since {defect.since}, but {defect.code!r} is first in {first or 'no release'}"


def _has(clone: str, tag: str, text: str) -> bool:
    return bool(run(clone, "grep", "-l", "-F", "-e", text, tag, "--", "src"))


def main(arguments: Sequence[str]) -> int:
    """Print all differences; 1 if there are any."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("clone", help="a clone of NVIDIA/nccl with its tags")
    clone = parser.parse_args(arguments).clone
    tags = releases(clone)
    if not tags:
        print(f"{clone} is not a clone of NVIDIA/nccl with its tags")
        return 2
    published, read = tables().releases, toml.loads(READ.read_text(encoding="utf-8"))
    found = [
        *(f"{release}: not in the table of releases" for release in tags if release not in published),
        *(f'{release}: {sentence}\n    {stamp(sentence)} = ""' for release, sentence in unlisted(clone, tags, read)),
        *lost(read),
        *wrong_origins(clone, tags),
    ]
    for line in found:
        print(line)
    print(f"{len(tags)} releases, {len(tables().defects)} entries, {len(found)} to look at")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
