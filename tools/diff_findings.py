# ruff: noqa: INP001, S603, S607, T201  (a script beside the package that runs git and prints)
"""List what the findings of this tree add, lose and reorder against those of another commit.

Usage: python tools/diff_findings.py BASE [--jobs N] [--brief]     or     make diff BASE=commit

Judged are the examples of all rules, the fixtures and, where they lie beside the project, the shared specimens: support
cases, the corpus, audited inputs and outputs of real jobs. Each input is judged by both trees, which read the same
files; the answers of a commit are kept in .cache/diff and asked for once.
"""

from __future__ import annotations

import argparse
import concurrent.futures
import hashlib
import json
import os
import subprocess
import sys
import tarfile
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

PROJECT = Path(__file__).resolve().parent.parent
CACHE = PROJECT / ".cache" / "diff"
Answers = dict[str, list[list[str]]]
"""The answers to each input in the order of the report: name, severity and role of each finding."""

ASK = """
import json, sys
try:
    from ncdiag import triage
except ImportError:  # before there was a public name for it
    from ncdiag.diagnose import diagnose
    from ncdiag.sources.files import open_sources
    def triage(path):
        return diagnose(open_sources([path]))
for line in sys.stdin:
    path = line.rstrip("\\n")
    try:
        report = triage(path)
        found = [[f.name, f.severity, f.role] for f in report.findings]
        found.append(["verdict", report.summary.verdict, ""])
    except Exception as error:
        found = [["crash", type(error).__name__, str(error)[:200]]]
    print(json.dumps(found), flush=True)
"""


def inputs(scratch: Path) -> dict[str, Path]:
    """The inputs by the name under which their differences are shown; texts inside other files go into ``scratch``."""
    found = dict(_examples(scratch / "examples"))
    for folder in ("cases", "healthy", "roots"):
        found |= {f"fixtures/{folder}/{path.name}": path for path in sorted((PROJECT / "fixtures" / folder).iterdir())}
    shared = Path(os.environ.get("NCDIAG_SHARED") or PROJECT.parent / "shared")
    for folder in ("cases", "corpus", "audit"):
        for path in sorted((shared / folder).rglob("*")):
            if path.is_file() and path.suffix not in {".json", ".md"}:
                found[f"{folder}/{path.relative_to(shared / folder)}"] = path
    if (shared / "wild" / "jobs.tar.xz").is_file():
        found |= _jobs(shared / "wild" / "jobs.tar.xz", CACHE / "jobs")
    return found


def _examples(folder: Path) -> Iterator[tuple[str, Path]]:
    """The examples of the rules of this tree, each as the text that `ncdiag.reading.job.facts_of` makes of it."""
    from ncdiag.catalogue import names, rules_dir
    from ncdiag.engine.load import load_folder

    folder.mkdir(parents=True, exist_ok=True)
    for rule in load_folder(rules_dir(), names()):
        for number, example in enumerate(rule.examples):
            texts = [text.strip("\n") for found in example.sections.values() for text in found]
            heading = [f"=== {example.host} ==="] if example.host else []
            path = folder / f"{rule.name}-{number}.txt"
            path.write_text("\n".join([*heading, *texts]) + "\n", encoding="utf-8")
            yield f"rules/{rule.name}: {example.name}", path


def _jobs(archive: Path, folder: Path) -> dict[str, Path]:
    if not folder.is_dir():
        with tarfile.open(archive) as packed:
            packed.extractall(folder, filter="data")
    return {f"wild/{path.name}": path for path in sorted(folder.rglob("*.log")) + sorted(folder.rglob("*.txt"))}


def answers(tree: Path, paths: list[Path], jobs: int) -> list[list[list[str]]]:
    """What the ncdiag of ``tree`` says of each path."""
    env = {**os.environ, "PYTHONPATH": str(tree), "PYTHONHASHSEED": "0"}
    parts = [paths[number::jobs] for number in range(jobs)]

    def ask(part: list[Path]) -> list[list[list[str]]]:
        text = "".join(f"{path}\n" for path in part)
        done = subprocess.run(
            [sys.executable, "-c", ASK], input=text, env=env, cwd=tree, capture_output=True, text=True, check=True
        )
        return [json.loads(line) for line in done.stdout.splitlines()]

    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        found = list(pool.map(ask, parts))
    return [found[number % jobs][number // jobs] for number in range(len(paths))]


def of_commit(base: str, asked: dict[str, Path], jobs: int) -> Answers:
    """The answers of a commit, from .cache/diff where they were asked for before."""
    commit = subprocess.run(
        ["git", "rev-parse", "--verify", f"{base}^{{commit}}"], cwd=PROJECT, check=True, capture_output=True, text=True
    ).stdout.strip()
    kept = CACHE / f"{commit}.json"
    known: dict[str, Any] = json.loads(kept.read_text(encoding="utf-8")) if kept.is_file() else {}
    keys = {
        name: hashlib.sha256(path.read_bytes()).hexdigest()[:20] if path.is_file() else name
        for name, path in asked.items()
    }
    missing = [name for name, key in keys.items() if key not in known]
    if missing:
        with tempfile.TemporaryDirectory() as folder:
            tree = Path(folder) / "tree"
            subprocess.run(["git", "worktree", "add", "--quiet", "--detach", tree, commit], cwd=PROJECT, check=True)
            try:
                found = answers(tree, [asked[name] for name in missing], jobs)
            finally:
                subprocess.run(["git", "worktree", "remove", "--force", tree], cwd=PROJECT, check=True)
        known |= {keys[name]: answer for name, answer in zip(missing, found, strict=True)}
        CACHE.mkdir(parents=True, exist_ok=True)
        kept.write_text(json.dumps(known), encoding="utf-8")
    return {name: known[key] for name, key in keys.items()}


def difference(before: list[list[str]], after: list[list[str]]) -> list[str]:
    """What is lost, added, judged otherwise and told in another order, a line each."""
    old, new = _known(before), _known(after)
    lines = [f"- {_said(old[name])}" for name in old if name not in new]
    lines += [f"+ {_said(new[name])}" for name in new if name not in old]
    lines += [f"~ {_said(old[name])} -> {_said(new[name])}" for name in old if name in new and old[name] != new[name]]
    order = [name for name in old if name in new]
    if order != [name for name in new if name in old]:
        lines.append(f"> {', '.join(name for name in new if name in old)}")
    return lines


def _known(found: list[list[str]]) -> dict[str, list[str]]:
    known: dict[str, list[str]] = {}
    for entry in found:
        known.setdefault(entry[0], entry)
    return known


def _said(entry: list[str]) -> str:
    return f"{entry[0]} ({', '.join(word for word in entry[1:] if word)})"


def main() -> None:
    """Print the differences by input, then how often each finding was lost and added."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("base", help="the commit to compare with")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--brief", action="store_true", help="the totals only")
    parser.add_argument("--only", default="", help="inputs whose name begins with this")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        asked = {name: path for name, path in inputs(Path(scratch)).items() if name.startswith(args.only)}
        before = of_commit(args.base, asked, args.jobs)
        after = dict(zip(asked, answers(PROJECT, list(asked.values()), args.jobs), strict=True))
    totals: Counter[str] = Counter()
    changed = 0
    for name in asked:
        lines = difference(before[name], after[name])
        changed += bool(lines)
        totals.update(line for line in lines if not line.startswith(">"))
        if lines and not args.brief:
            print(name, *lines, sep="\n    ")
    for line, count in sorted(totals.items(), key=lambda item: (-item[1], item[0])):
        print(f"{count:5d} {line}")
    print(f"{changed} of {len(asked)} inputs are answered otherwise than by {args.base}")


if __name__ == "__main__":
    main()
