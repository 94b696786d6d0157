"""The tree is the architecture: imports go one way, modules stay small, nothing lies undiscovered."""

from __future__ import annotations

import ast
import importlib
import pkgutil
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

PROJECT = Path(__file__).resolve().parent.parent
PACKAGE = PROJECT / "ncdiag"
MODULES = sorted(PACKAGE.rglob("*.py"))
PARTS = {path.relative_to(PACKAGE).parts[0].removesuffix(".py") for path in MODULES}
MAX_LINES = 400

FACTS = {"bare", "spans", "patterns", "errors", "grades", "compiled", "toml", "language", "products", "facts"}
KNOWLEDGE = FACTS | {"nccl", "messages"}
READING = KNOWLEDGE | {"formats", "parsers", "sections", "sources", "reading"}
ALLOWED = {
    "bare": set(),
    "spans": set(),
    "patterns": set(),
    "errors": set(),
    "grades": set(),
    "compiled": set(),
    "toml": {"errors"},
    "language": {"compiled", "errors", "toml"},
    "products": {"compiled", "toml"},
    "config": {"errors", "toml"},
    "facts": {"spans", "patterns", "errors", "products"},
    "nccl": FACTS,
    "messages": FACTS | {"nccl"},
    "knowledge": KNOWLEDGE,
    "formats": KNOWLEDGE,
    "parsers": KNOWLEDGE | {"formats"},
    "sections": {"spans", "patterns", "errors", "formats", "parsers"},
    "sources": FACTS | {"parsers"},
    "reading": KNOWLEDGE | {"parsers", "sections", "sources"},
    "machine": READING,
    "cluster": READING | {"machine"},
    "watching": READING | {"machine"},
    "explaining": READING | {"differential", "engine", "knowledge"},
    "api": READING | {"machine", "diagnose", "report"},
    "catalogue": KNOWLEDGE | {"comparing", "engine", "fixes", "formats", "looks", "machine", "parsers"},
    "engine": KNOWLEDGE | {"knowledge"},
    "fixes": KNOWLEDGE | {"engine"},
    "differential": KNOWLEDGE | {"engine"},
    "report": KNOWLEDGE | {"catalogue", "engine", "fixes", "differential", "looks"},
    "looks": KNOWLEDGE | {"engine", "report"},
    "comparing": KNOWLEDGE | {"engine", "report"},
    "assistant": {"cli", "errors", "machine", "report"},
    "redact": READING | {"machine", "report"},
    "serve": READING | {"diagnose", "machine", "redact", "report", "toml"},
    "lint": READING | {"catalogue", "engine", "fixes", "report", "diagnose"},
    "diagnose": READING | {"catalogue", "comparing", "differential", "engine", "fixes", "looks", "report"},
}
"""What each part of ncdiag may import besides itself; commands and cli may import everything."""


_MODULE = re.compile(r"ncdiag(?:\.\w+)+")


def imports(path: Path) -> Iterator[str]:
    """Names of the parts of ncdiag that a module imports, at any depth of its code."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module == "ncdiag":
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, f"{path} has a relative import"
            yield from _part(node.module or "")
        elif isinstance(node, ast.Import):
            for alias in node.names:
                yield from _part(alias.name)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and _MODULE.fullmatch(node.value):
            yield from _part(node.value)  # a module that importlib is to import


def _part(module: str) -> list[str]:
    return module.split(".")[1:2] if module.startswith("ncdiag.") else []


def project_files() -> list[Path]:
    """Files that belong to the project: tracked, or new and not ignored."""
    try:
        listed = subprocess.run(
            ["git", "ls-files", "-co", "--exclude-standard", "-z"], cwd=PROJECT, capture_output=True, check=True
        )
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("no git checkout")
    return [PROJECT / name for name in listed.stdout.decode().split("\0") if name and (PROJECT / name).is_file()]


def test_imports_go_one_way() -> None:
    wrong = {}
    for path in MODULES:
        part = path.relative_to(PACKAGE).parts[0].removesuffix(".py")
        if part not in {"__init__", "__main__", "cli", "commands"}:
            assert part in ALLOWED, f"{part} is a new part of ncdiag: say in this test what it may import"
            wrong[str(path.relative_to(PACKAGE))] = (set(imports(path)) & PARTS) - ALLOWED[part] - {part}
    assert {path: names for path, names in wrong.items() if names} == {}


def _module(path: Path) -> str:
    return ".".join(path.relative_to(PROJECT).with_suffix("").parts).removesuffix(".__init__")


def _imported(path: Path, *, at_once: bool = False) -> Iterator[str]:
    """Dotted names that a module imports, down to what it imports from a module; ``at_once``: when it is imported."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for node in tree.body if at_once else ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("ncdiag"):
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def test_no_module_imports_itself_over_others() -> None:
    modules = {_module(path): path for path in MODULES}
    arrows = {
        name: {found if found in modules else found.rpartition(".")[0] for found in _imported(path, at_once=True)}
        for name, path in modules.items()
    }
    while True:  # what imports nothing that is left is in no circle
        loose = {name for name, to in arrows.items() if not to & arrows.keys() - {name}}
        if not loose:
            break
        arrows = {name: to for name, to in arrows.items() if name not in loose}
    assert arrows == {}


def test_private_names_stay_in_their_package() -> None:
    """``commands`` belongs to ``cli``, which finds its modules."""
    wrong = []
    for path in MODULES:
        own = _module(path)
        for name in _imported(path):
            parts = name.split(".")
            private = next((i for i, part in enumerate(parts) if part.startswith("_") and part != "__version__"), None)
            owner = ".".join(parts[:private]) if private else ""
            if owner and not f"{own}.".startswith(f"{owner}.") and (own, owner) != ("ncdiag.cli", "ncdiag.commands"):
                wrong.append((own, name))
    assert wrong == []


def test_the_walk_sees_imports_inside_functions() -> None:
    assert "report" in set(imports(PACKAGE / "__init__.py"))


def test_modules_are_small() -> None:
    lines = {path: len(path.read_text(encoding="utf-8").splitlines()) for path in MODULES}
    assert {str(path.relative_to(PACKAGE)): count for path, count in lines.items() if count >= MAX_LINES} == {}


def test_rules_are_data() -> None:
    rules = PROJECT / "rules"
    assert {p.suffix for p in rules.rglob("*") if p.is_file()} == {".toml"}


def names(folder: str, suffix: str = ".py") -> set[str]:
    """Files of a folder of the package that somebody should discover."""
    return {p.stem for p in (PACKAGE / folder).glob(f"*{suffix}") if not p.name.startswith("_")}


TYPED = ("reading", "sources", "redact", "machine/inputs.py", "commands/_judge.py", "commands/_interrupt.py")
"""Where texts, machines and what cannot be read are told apart: by their types."""


def _sniffs(tree: ast.Module) -> Iterator[str]:
    """Code that asks an object what it has, or that leaves open what it is."""
    for node in ast.walk(tree):
        match node:
            case ast.Call(func=ast.Name(id="hasattr")) | ast.Call(func=ast.Name(id="getattr"), args=[_, _, _]):
                yield ast.unparse(node)
            case ast.FunctionDef(name="__getattr__" | "__getattribute__"):
                yield f"def {node.name}"
            case ast.Subscript(
                value=ast.Name(id="Iterable" | "Iterator" | "Sequence" | "list"), slice=ast.Name(id="Any")
            ):
                yield ast.unparse(node)


def test_sources_are_told_apart_by_their_types() -> None:
    paths = [path for path in MODULES if path.relative_to(PACKAGE).as_posix().startswith(TYPED)]
    assert {path.relative_to(PACKAGE).parts[0] for path in paths} == {name.partition("/")[0] for name in TYPED}
    found = {
        path.relative_to(PACKAGE).as_posix(): list(_sniffs(ast.parse(path.read_text(encoding="utf-8"))))
        for path in paths
    }
    assert {path: sniffs for path, sniffs in found.items() if sniffs} == {}


@pytest.mark.parametrize(
    "code",
    ["hasattr(item, 'buffers')", "getattr(item, 'size', None)", "def __getattr__(self, name): ...", "a: Iterable[Any]"],
)
def test_the_search_for_sniffs_finds_one(code: str) -> None:
    assert len(list(_sniffs(ast.parse(code)))) == 1


def test_every_parser_is_discovered() -> None:
    from ncdiag.parsers import discover

    assert set(discover()) == names("parsers")


def test_every_command_is_discovered() -> None:
    from ncdiag.cli import command_names

    assert set(command_names()) == names("commands")
    for name in command_names():
        assert hasattr(importlib.import_module(f"ncdiag.commands.{name}"), "app")


def test_every_report_module_is_a_format_or_serves_one() -> None:
    from ncdiag.report import formats

    used = {
        alias.name if node.module == "ncdiag.report" else (node.module or "").rpartition(".")[2]
        for path in MODULES
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("ncdiag.report")
        for alias in node.names
    }
    assert {"text", "json", "markdown"} <= set(formats())
    folders = {path.parent.name for path in (PACKAGE / "report").glob("*/__init__.py")}
    assert names("report") | (folders & set(formats())) == set(formats()) | (used & names("report"))


def test_every_module_imports() -> None:
    for module in pkgutil.walk_packages([str(PACKAGE)], "ncdiag."):
        if not module.name.endswith(("__main__", "._template")):
            importlib.import_module(module.name)


FOREIGN = re.compile("/" + r"work/|/" + r"root/\w|shared/" + r"exam|\.lib" + "rary/")
"""Paths of one machine have no place in the project."""


def test_no_path_of_one_machine_stands_in_the_project() -> None:
    found = []
    for path in project_files():
        text = path.read_bytes().decode("utf-8", "replace")
        found += [f"{path.relative_to(PROJECT)}: {m[0]}" for m in FOREIGN.finditer(text)]
    assert not found


def test_public_names_resolve() -> None:
    import ncdiag

    for name in ncdiag.__all__:
        assert getattr(ncdiag, name) is not None
    with pytest.raises(AttributeError):
        _ = ncdiag.nonsense


def test_the_map_names_every_part() -> None:
    rows = (PROJECT / "docs" / "architecture.md").read_text(encoding="utf-8").split("## The way")[0]
    named = {name.partition("/")[0] for name in re.findall(r"`([\w/]+)`", rows)}
    assert PARTS - {"__init__", "__main__"} <= named
