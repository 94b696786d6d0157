"""A type of facts says in its class what merging, judging and asking need to know of it; no table elsewhere does."""

from __future__ import annotations

import ast
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from specimens import specimens

from ncdiag.base.spans import Span
from ncdiag.facts.merge import merge
from ncdiag.facts.model import Hca, Host, Job, Launch, Port, Rank, Setting
from ncdiag.facts.model.declared import declared, is_closed, observed
from ncdiag.facts.model.marks import IF_UNSET, WHOLE
from ncdiag.facts.observe import Observation
from ncdiag.parsers import discover
from ncdiag.text.reading.job import facts_of

PACKAGE = Path(__file__).resolve().parents[2] / "ncdiag"
TYPES = set(observed())
MERGED = {name for found in observed().values() for name in found.merges}
CLOSED = {name for found in observed().values() for name in found.closings}
LISTS = {
    "text/reading/one.py": "which of them people write down without having done it",
    "machine/bundle.py": "which of them a tool without a text may answer with",
    "text/reading/mentions.py": "which of them say what happened, and a document only mentions",
    "text/sections/undress.py": "names of two of them",
    "apps/explaining/conditions.py": "where a step of a condition leads",
}
"""Modules that list types of facts for another reason than to say what they are."""

FAN = '''class Fan(Fact, frozen=True, kw_only=True):
    """A fan."""

    KEY = ("tray", "slot")

    host: HostName
    tray: int
    slot: int
    speeds: Annotated[tuple[int, ...], UNION] = ()
    maker: str | None = None


class Alarm(Fact, frozen=True, kw_only=True):
    """An alarm: each is one of its own."""

    text: str


class Host('''
USE = """
import sys
from ncdiag.base import errors
from ncdiag.engine.evaluate import judge
from ncdiag.engine.load import load_text
from ncdiag.facts.merge import merge
from ncdiag.facts.observe import Observation
from ncdiag.facts.view import View
from ncdiag.base.spans import Span

def seen(entity, key=(), **fields):
    return Observation(entity=entity, key=key, fields=fields, span=Span("x", 1))

RULE = '''
code = "NCD999"
name = "fans"
area = "env"
title = "t"
why = "w"
severity = "error"
role = "cause"
each = { h = "job.hosts", f = "h.fans" }
when = ["count(s for s in f.speeds) > 2"]
'''
first, again = seen("Fan", (1, 2), speeds=[1, 2]), seen("Fan", (1, 2), speeds=[2, 3], maker="m")
job = merge([first, again, seen("Fan", (1, 3)), seen("Alarm", text="a"), seen("Alarm", text="a")])
host = job.hosts[0]
fired = judge([load_text(RULE)], View(job))[0].outcome
print([(f.host, f.tray, f.slot, f.speeds, f.maker) for f in host.fans], len(job.alarms), len(job.conflicts), fired)
print(judge([load_text(RULE)], View(merge([seen("Host", complete=["fans"])])))[0].outcome)
print(judge([load_text(RULE)], View(merge([seen("Host", complete=["lsmod"])])))[0].outcome)
"""


def seen(entity: str, *key: Any, host: str | None = None, **fields: Any) -> Observation:  # noqa: ANN401
    return Observation(entity=entity, key=key, host=host, fields=fields, span=Span("x", 1))


def test_a_new_type_is_one_class_and_a_field_of_its_owner(tmp_path: Path) -> None:
    copy = tmp_path / "ncdiag"
    shutil.copytree(PACKAGE, copy, ignore=shutil.ignore_patterns("__pycache__"))
    model = copy / "facts" / "model" / "job.py"
    text = model.read_text().replace("class Host(", FAN, 1)
    text = text.replace(
        "    nvml_error: ", '    fans: Annotated[tuple[Fan, ...], closed_by("fans")] = ()\n    nvml_error: ', 1
    )
    text = text.replace("    nranks: ", "    alarms: Open[Alarm] = ()\n    nranks: ", 1)
    model.write_text(text)
    env = {**os.environ, "PYTHONPATH": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", USE], env=env, cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.stderr == ""
    fans = [("unnamed-host", 1, 2, (1, 2, 3), "m"), ("unnamed-host", 1, 3, (), None)]
    assert done.stdout.splitlines() == [f"{fans} 2 0 fired", "clear", "unknown"]


def tables(text: str) -> Iterator[tuple[int, set[str]]]:
    """Literals that list types of facts, and constants that list fields by how they merge or what closes them.

    A text to each field is one for people.
    """
    tree = ast.parse(text)
    constants = [node.value for node in tree.body if isinstance(node, ast.Assign | ast.AnnAssign) and node.value]
    constant = {id(part) for value in constants for part in ast.walk(value) if _is_list(part)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Dict | ast.Set | ast.List | ast.Tuple):
            words = set(_words(node))
            listed = id(node) in constant and len(words) > 1 and (words <= MERGED or words <= CLOSED)
            if listed or len(words & TYPES) > 1:
                yield node.lineno, words


def _is_list(node: ast.AST) -> bool:
    texts = isinstance(node, ast.Dict) and all(isinstance(item, ast.Constant) for item in node.values)
    return isinstance(node, ast.Dict | ast.Set) and not texts


def _words(node: ast.Dict | ast.Set | ast.List | ast.Tuple) -> Iterator[str]:
    """The texts in a literal and in tuples within it; of a dictionary its keys, and the types among its values."""
    items = [item for item in node.keys if item] if isinstance(node, ast.Dict) else node.elts
    for item in items:
        if isinstance(item, ast.Tuple):
            yield from _words(item)
        elif isinstance(item, ast.Constant) and isinstance(item.value, str):
            yield item.value
    for item in node.values if isinstance(node, ast.Dict) else ():
        if isinstance(item, ast.Constant) and item.value in TYPES:
            yield item.value


def test_no_table_elsewhere_governs_types_of_facts() -> None:
    found: dict[str, set[str]] = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        name, text = path.relative_to(PACKAGE).as_posix(), path.read_text(encoding="utf-8")
        quoted = set(re.findall(r'"(\w+)"', text)) & (TYPES | MERGED | CLOSED)
        if not name.startswith("facts/model/") and name not in LISTS and len(quoted) > 1:
            found |= {f"{name}:{line}": words for line, words in tables(text)}
    assert found == {}


@pytest.mark.parametrize(
    "text",
    [
        'KEYS = {"Port": ("hca", "number"), "Hca": ("name",)}',
        'LISTS = {"Event", "Launch"}',
        'TABLES = frozenset({("Launch", "env"), ("Rank", "transports")})',
        'UNIONS = {"addresses", "slaves"}',
        'KINDS = {"gpus": frozenset({"nvidia_smi"}), "modules": frozenset({"lsmod"})}',
    ],
)
def test_a_table_is_seen(text: str) -> None:
    assert list(tables(text))


def test_every_fact_of_a_host_knows_its_host() -> None:
    for name, found in observed().items():
        if found.kind in declared(Host).collections.values():
            assert (found.host, "host" in found.fields) == ("some", True), name


def test_every_key_names_fields_and_begins_with_that_of_the_owner() -> None:
    for name, found in observed().items():
        names = {field for part in found.key or () for field in ([part] if isinstance(part, str) else part)}
        assert names <= found.fields, name
        for part in found.collections.values():
            if part.KEY is not None and found.key is not None:
                assert len(part.KEY) >= len(found.key), (name, part)


def test_what_closes_a_collection() -> None:
    assert is_closed(Host(name="a", complete=frozenset({"lsmod"})), "modules")
    assert not is_closed(Host(name="a", complete=frozenset({"lsmod"})), "gpus")
    assert is_closed(Host(name="a"), "services")
    assert is_closed(Job(complete=frozenset({"ranks"})), "ranks")
    assert not is_closed(Job(), "ranks")
    assert is_closed(Job(), "conflicts")
    assert not is_closed(Hca(host="a", name="m"), "ports")
    assert is_closed(Port(host="a", hca="m", number=1, gids_complete=True), "gids")
    assert not is_closed(Port(host="a", hca="m", number=1), "gids")


def test_what_a_missing_value_means() -> None:
    assert declared(Launch).marked[WHOLE] == ("env", "mca")
    assert declared(Setting).marked[IF_UNSET] == ("text", "number")
    assert "transports" in declared(Rank).marked[WHOLE]


def test_section_kinds_that_close_a_collection_do_so() -> None:
    """Each kind that a parser reads has a specimen that shows its collection whole."""
    parsers = discover()
    for field, closing in declared(Host).closings.items():
        for kind in sorted(closing.kinds & parsers.keys()):
            whole = (facts_of({kind: [Path(param.values[0]).read_text()]}) for param in specimens(kind))
            assert any(is_closed(host, field) for job in whole for host in job.hosts), (field, kind)


def test_parts_belong_to_owners_that_nothing_else_told_of() -> None:
    gid = seen("Gid", "mlx5_0", 1, 3, host="a", address="fe80::1")
    (host,) = merge([gid, seen("Port", "mlx5_0", 2, host="a", state="active")]).hosts
    assert [(port.number, len(port.gids)) for hca in host.hcas for port in hca.ports] == [(1, 1), (2, 0)]


def test_a_gpu_is_known_by_its_number_or_its_bus_id() -> None:
    (host,) = merge([seen("Gpu", 3, host="a"), seen("Gpu", "0000:17:00.0", host="a")]).hosts
    assert [(gpu.index, gpu.bus_id) for gpu in host.gpus] == [(3, None), (None, "0000:17:00.0")]


def test_counts_add_up_and_leave_the_readings_alone() -> None:
    one = seen("Rank", 7, 0, host="a", transports={"SHM": 1})
    again = seen("Rank", 7, 0, host="a", transports={"SHM": 2, "P2P": 1})
    for _ in range(2):
        (rank,) = merge([one, again]).ranks
        assert rank.transports == {"SHM": 3, "P2P": 1}


def test_what_no_type_has_is_left_out_with_its_place() -> None:
    (host,) = merge([seen("Host", host="a", drivr="1", driver="2"), seen("Hots", host="b")]).hosts
    assert (host.driver, sorted(host.provenance)) == ("2", ["", "driver"])
