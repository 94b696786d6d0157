"""Score the parsers against a folder of real specimens: does every hand-checked truth come out of the facts?

usage: score_corpus.py ROOT [--kind KIND ...] [--misses]

ROOT holds index.json, a list of {"file", "kind", "truths": {key: value}}. Each file goes through the whole reading
pipeline; the adapter of its kind (``tests/score/<kind>.py``, ``truths(job) -> dict``) turns the merged facts into the
truths' own keys. A truth counts when it is equal exactly; a key that the adapter does not give is a miss. In a list
of records (the ports of a device, the interfaces of a host) a truth tells for each record only the fields that its
file is about: those must be equal, the record may have more. Records with a name are compared by name, others by
position; none may be missing or too many.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import pathlib
import sys
from collections import Counter
from types import ModuleType
from typing import Any

from ncdiag.text.reading.job import job_of
from ncdiag.text.reading.one import read_source
from ncdiag.text.sources.files import TextSource, open_sources

ADAPTERS = pathlib.Path(__file__).parent / "score"


def agrees(truth: Any, value: Any, *, record: bool = False) -> bool:  # noqa: ANN401
    """Is ``value`` what the truth says? ``record``: a truth that is a dict may leave out fields of the value."""
    if isinstance(truth, dict) and isinstance(value, dict) and record:
        return all(key in value and agrees(part, value[key], record=True) for key, part in truth.items())
    if isinstance(truth, list) and isinstance(value, list) and truth and all(isinstance(t, dict) for t in truth):
        if len(truth) != len(value):
            return False
        return all(agrees(t, v, record=True) for t, v in zip(_by_name(truth), _by_name(value), strict=True))
    return bool(truth == value)


def _by_name(records: list[Any]) -> list[Any]:
    names = [r.get("name") if isinstance(r, dict) else None for r in records]
    if None in names or len(set(names)) < len(names):
        return records
    return sorted(records, key=lambda r: str(r["name"]))


def adapter(kind: str) -> ModuleType | None:
    """The adapter module of a kind, None when there is none."""
    path = ADAPTERS / f"{kind}.py"
    if not path.exists():
        return None
    spec = importlib.util.spec_from_file_location(f"score_{kind}", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def facts_for(path: pathlib.Path, kind: str, module: ModuleType) -> dict[str, Any]:
    """The truths' keys as the facts give them.

    An adapter may ask for the sections' lines with ``truths(job, reading)``.
    """
    readings = [read_source(source) for source in open_sources([str(path)]) if isinstance(source, TextSource)]
    del kind
    return dict(module.truths(job_of(readings)))


def main() -> int:
    """Print the share per kind and, last, over all."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("root", type=pathlib.Path)
    options.add_argument("--kind", nargs="*")
    options.add_argument("--misses", action="store_true", help="print each truth that did not come out")
    args = options.parse_args()
    right: Counter[str] = Counter()
    total: Counter[str] = Counter()
    for entry in json.loads((args.root / "index.json").read_text()):
        kind = entry["kind"]
        if args.kind and kind not in args.kind:
            continue
        module = adapter(kind)
        found = facts_for(args.root / entry["file"], kind, module) if module else {}
        for key, truth in entry["truths"].items():
            total[kind] += 1
            value = json.loads(json.dumps(found.get(key, "<no such key>"), default=str))
            if agrees(truth, value):
                right[kind] += 1
            elif args.misses:
                print(f"  {entry['file']}: {key}: want {json.dumps(truth)[:300]} got {json.dumps(value)[:300]}")
    for kind in sorted(total):
        print(f"{kind:18s} {right[kind]:4d} of {total[kind]:4d}  {100 * right[kind] / total[kind]:5.1f}%")
    everything, good = sum(total.values()), sum(right.values())
    print(f"{'all':18s} {good:4d} of {everything:4d}  {100 * good / max(everything, 1):5.1f}%")
    return 0


if __name__ == "__main__":
    sys.exit(main())
