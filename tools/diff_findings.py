# ruff: noqa: INP001, S603, S607, T201  (a script beside the package that runs git and prints)
"""List the additions, losses and changes of this tree's answers relative to another commit.

Usage: python tools/diff_findings.py BASE [--jobs N] [--brief] [--texts] [--only NAME] [--part K/N]
   or: make diff BASE=commit

Compared for each input: the verdict; findings with severity, role, confidence, hosts, ranks, evidence, causes,
consequences and fixes; suspects with likelihood, signs, questions and fixes; the order of all of them; and what was
observed in the input. ``--texts`` also compares every sentence of the report.

Inputs are the examples of all rules, the fixtures and, if they are next to the project, the shared specimens: support
cases, the corpus, audited inputs and outputs of real jobs. Both trees read the same files; the answers of a commit are
cached in .cache/diff.
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
import zlib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

PROJECT = Path(__file__).resolve().parent.parent
CACHE = PROJECT / ".cache" / "diff"
Answer = dict[str, Any]
"""The answer to an input: ``verdict``, ``order``, and by name ``findings``, ``suspects``, ``observed``, ``texts``."""

ASK = r"""
import hashlib, importlib, json, sys

def first(*places):
    # the first of several modules that this tree has: they move between commits
    for module, name in places:
        try:
            return getattr(importlib.import_module(module), name)
        except (ImportError, AttributeError):
            pass
    raise SystemExit("this tree has none of %r" % (places,))

diagnosed = first(("ncdiag.diagnose", "diagnosed"), ("ncdiag.core.diagnose", "diagnosed"))
inputs = first(("ncdiag.machine.inputs", "inputs"))

def places(evidence):
    return [[e["source"], e["line"]] for e in evidence]

def fixes(found):
    parts = ("kind", "scope", "risk", "workaround", "env", "unset", "commands", "applies_to")
    return [{**{p: f.get(p) for p in parts}, "proof": (f.get("proof") or {}).get("state")} for f in found]

def finding(f):
    parts = ("severity", "role", "confidence", "hosts", "ranks", "evidence_count", "explained_by", "consequences")
    return {**{p: f.get(p) for p in parts}, "evidence": places(f["evidence"]), "fixes": fixes(f["fixes"]),
            "not_offered": len(f["not_offered"]), "asks": [a["ask_for"] for a in f["asks"]]}

def suspect(s):
    signs = {side: [[x["strength"], places(x["evidence"])] for x in s[side]] for side in ("for", "against")}
    return {"likelihood": s["likelihood"], **signs, "decide": [q["key"] for q in s["decide"]],
            "open": len(s["open"]), "fixes": fixes(s["fixes"])}

def strings(value, path):
    if isinstance(value, str):
        yield path, value
    elif isinstance(value, dict):
        for key, part in value.items():
            yield from strings(part, "%s.%s" % (path, key) if path else str(key))
    elif isinstance(value, (list, tuple)):
        for number, part in enumerate(value):
            key = part.get("name", number) if isinstance(part, dict) else number
            yield from strings(part, "%s.%s" % (path, key))

def observed(case):
    found = {}
    for reading in case.readings:
        for o in reading.observations:
            fields = sorted((name, str(value)) for name, value in o.fields.items())
            entry = (o.span.line, o.host, [str(part) for part in o.key], o.standing, fields)
            found.setdefault(o.entity, []).append(json.dumps(entry))
        for piece in reading.pieces:
            found.setdefault("section " + piece.kind, []).append("%s-%s" % (piece.first_line, piece.last_line))
        found.setdefault("unread lines", []).append(str(reading.unread_lines))
    return {name: [len(entries), digest(entries)] for name, entries in found.items()}

def digest(entries):
    return hashlib.sha256("\n".join(sorted(entries)).encode("utf-8", "replace")).hexdigest()[:12]

for line in sys.stdin:
    path = line.rstrip("\n")
    try:
        import msgspec
        done = diagnosed(inputs([path]))
        text = json.dumps(msgspec.to_builtins(done.report)).replace(json.dumps(path)[1:-1], "INPUT")
        report = json.loads(text)
        report.pop("tool", None)
        answer = {
            "verdict": report["summary"]["verdict"],
            "order": [f["name"] for f in report["findings"]] + ["?" + s["name"] for s in report["suspects"]],
            "findings": {f["name"]: finding(f) for f in report["findings"]},
            "suspects": {s["name"]: suspect(s) for s in report["suspects"]},
            "observed": observed(done.case),
            "texts": dict(strings(report, "")),
        }
    except Exception as error:
        answer = {"verdict": "crash: %s: %s" % (type(error).__name__, str(error)[:200])}
    print(json.dumps(answer), flush=True)
"""


def inputs(scratch: Path) -> dict[str, Path]:
    """The inputs by the name under which their differences are printed.

    Texts inside other files are written to ``scratch``.
    """
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
    """The examples of the rules of this tree, each as the text that `ncdiag.text.reading.job.facts_of` makes of it."""
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


def answers(tree: Path, paths: list[Path], jobs: int) -> list[Answer]:
    """The answers of the ncdiag of ``tree`` to each path, in the order of ``paths``."""
    env = {**os.environ, "PYTHONPATH": str(tree), "PYTHONHASHSEED": "0", "NCDIAG_LANG": "en"}
    by_size = sorted(range(len(paths)), key=lambda number: -_size(paths[number]))  # so that all end at about one time
    parts = [by_size[number::jobs] for number in range(jobs)]

    def ask(part: list[int]) -> list[Answer]:
        text = "".join(f"{paths[number]}\n" for number in part)
        done = subprocess.run(
            [sys.executable, "-c", ASK], input=text, env=env, cwd=tree, stdout=subprocess.PIPE, text=True, check=True
        )
        return [json.loads(line) for line in done.stdout.splitlines()]

    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        found = list(pool.map(ask, parts))
    by_number: dict[int, Answer] = {}
    for part, told in zip(parts, found, strict=True):
        by_number |= zip(part, told, strict=True)
    return [by_number[number] for number in range(len(paths))]


def _size(path: Path) -> int:
    return path.stat().st_size if path.is_file() else 0


def of_commit(base: str, asked: dict[str, Path], jobs: int) -> dict[str, Answer]:
    """The answers of a commit by input, from .cache/diff if they are cached."""
    commit = subprocess.run(
        ["git", "rev-parse", "--verify", f"{base}^{{commit}}"], cwd=PROJECT, check=True, capture_output=True, text=True
    ).stdout.strip()
    kept = CACHE / f"{commit}-{hashlib.sha256(ASK.encode()).hexdigest()[:8]}.json"
    known: dict[str, Answer] = json.loads(kept.read_text(encoding="utf-8")) if kept.is_file() else {}
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


def difference(before: Answer, after: Answer, *, texts: bool = False) -> Iterator[str]:
    """The differences between two answers, one line each: ``-`` lost, ``+`` added, ``~`` changed, ``>`` reordered."""
    if before["verdict"] != after["verdict"]:
        yield f"~ verdict {before['verdict']} -> {after['verdict']}"
    for part in ("findings", "suspects", "observed", *(["texts"] if texts else [])):
        old, new = before.get(part, {}), after.get(part, {})
        yield from (f"- {part} {name}{_grade(old[name])}" for name in old if name not in new)
        yield from (f"+ {part} {name}{_grade(new[name])}" for name in new if name not in old)
        for name in old:
            if name in new and old[name] != new[name]:
                yield f"~ {part} {name}: {'; '.join(_changes(old[name], new[name]))}"
    was, now = ([name for name in one.get("order", []) if name in two.get("order", [])]
                for one, two in ((before, after), (after, before)))  # fmt: skip
    if was != now:
        yield f"> {', '.join(now)}"


def _grade(entry: Any) -> str:  # noqa: ANN401  (a part of an answer)
    words = [entry.get(key) for key in ("severity", "role", "likelihood")] if isinstance(entry, dict) else []
    return f" ({', '.join(filter(None, words))})" if any(words) else ""


def _changes(old: Any, new: Any, place: str = "") -> Iterator[str]:  # noqa: ANN401
    """The innermost parts that differ, each with its place in the entry."""
    if isinstance(old, dict) and isinstance(new, dict):
        for key in dict.fromkeys([*old, *new]):
            yield from _changes(old.get(key), new.get(key), f"{place}.{key}" if place else str(key))
    elif isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        for number, pair in enumerate(zip(old, new, strict=True)):
            yield from _changes(*pair, f"{place}[{number}]")
    elif old != new:
        yield f"{place} {_short(old)} -> {_short(new)}".strip()


def _short(value: Any) -> str:  # noqa: ANN401
    text = value if isinstance(value, str) else json.dumps(value)
    return text if len(text) <= 160 else f"{text[:157]}..."  # noqa: PLR2004


def _is_of_part(name: str, part: str) -> bool:
    """True if the input belongs to part ``K/N``, the K-th (from 0) of N parts of about equal size.

    Empty: always true.
    """
    number, _, count = part.partition("/")
    return not part or zlib.crc32(name.encode()) % int(count) == int(number)


def main() -> int:
    """Print the differences by input, then the number of each kind. Exit code 1 if there are any."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("base", help="the commit to compare with")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="processes for each tree")
    parser.add_argument("--brief", action="store_true", help="print the totals only")
    parser.add_argument("--texts", action="store_true", help="compare every sentence of the reports as well")
    parser.add_argument("--only", default="", help="inputs whose name begins with this")
    parser.add_argument("--part", default="", metavar="K/N", help="the K-th (from 0) of N parts of the inputs")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        asked = {
            name: path for name, path in inputs(Path(scratch)).items()
            if name.startswith(args.only) and _is_of_part(name, args.part)
        }  # fmt: skip
        before = of_commit(args.base, asked, args.jobs)
        after = dict(zip(asked, answers(PROJECT, list(asked.values()), args.jobs), strict=True))
    totals: Counter[str] = Counter()
    changed = 0
    for name in asked:
        lines = list(difference(before[name], after[name], texts=args.texts))
        changed += bool(lines)
        totals.update(" ".join(line.split()[:3]) for line in lines if not line.startswith(">"))
        if lines and not args.brief:
            print(name, *lines, sep="\n    ")
    for line, count in sorted(totals.items(), key=lambda item: (-item[1], item[0])):
        print(f"{count:5d} {line}")
    print(f"{changed} of {len(asked)} inputs are answered otherwise than by {args.base}")
    return 1 if changed else 0


if __name__ == "__main__":
    sys.exit(main())
