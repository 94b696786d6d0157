"""The tree is the architecture: imports go one way, modules stay small, nothing lies undiscovered."""

from __future__ import annotations

import ast
import importlib
import importlib.util
import pkgutil
import re
import subprocess
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

pytestmark = pytest.mark.xdist_group("layout")  # all modules are parsed once
PROJECT = Path(__file__).resolve().parent.parent
_spec = importlib.util.spec_from_file_location("rooms", PROJECT / "tools" / "rooms.py")
assert _spec is not None
assert _spec.loader is not None
rooms = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(rooms)
PACKAGE = PROJECT / "ncdiag"
MODULES = sorted(PACKAGE.rglob("*.py"))
PARTS = {path.relative_to(PACKAGE).parts[0].removesuffix(".py") for path in MODULES}
MAX_LINES = 400
MAX_ROOMS, MAX_ARROWS = 26, 150


@pytest.fixture(scope="module")
def graph() -> dict[str, set[str]]:
    """The imports of each module of the package."""
    found: dict[str, set[str]] = rooms.graph(PACKAGE)
    return found


def project_files() -> list[Path]:
    """Files that belong to the project: tracked, or new and not ignored."""
    try:
        listed = subprocess.run(
            ["git", "ls-files", "-co", "--exclude-standard", "-z"], cwd=PROJECT, capture_output=True, check=True
        )
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("no git checkout")
    return [PROJECT / name for name in listed.stdout.decode().split("\0") if name and (PROJECT / name).is_file()]


def test_imports_go_one_way(graph: dict[str, set[str]]) -> None:
    found = {rooms.room(name) for name in graph}
    assert found <= set(rooms.ORDER), "a new room: give it a place in ORDER of tools/rooms.py"
    arrows = rooms.arrows(graph)
    assert (rooms.upward(arrows), rooms.circles(graph)) == ([], [])
    assert len(found) <= MAX_ROOMS
    assert len(arrows) <= MAX_ARROWS


def test_the_map_shows_the_graph() -> None:
    text = rooms.PAGE.read_text(encoding="utf-8")
    assert rooms.page(text, rooms.lines(PACKAGE)) == text, "run tools/rooms.py --write and review the difference"


def test_an_upward_import_and_a_circle_are_found(tmp_path: Path) -> None:
    package = tmp_path / "ncdiag"
    for name, text in {
        "__init__.py": "", "base/__init__.py": "", "facts/__init__.py": "",
        "base/errors.py": "def late():\n    from ncdiag.facts import view\n",
        "facts/view.py": "from ncdiag.base.errors import late\nPLACE = 'ncdiag.base.errors'\n",
    }.items():  # fmt: skip
        (package / name).parent.mkdir(parents=True, exist_ok=True)
        (package / name).write_text(text)
    found = rooms.graph(package)
    assert rooms.upward(rooms.arrows(found)) == [("base", "facts")]
    assert rooms.circles(found) == [["ncdiag.base.errors", "ncdiag.facts.view"]]
    assert rooms.lines(package)[0] == "3 rooms, 2 arrows, 1 upward, 1 circles"


def test_folders_are_imported_through_their_faces(graph: dict[str, set[str]]) -> None:
    wrong = [
        (name, target)
        for name, targets in graph.items() for target in targets for face in rooms.FACES
        if target.startswith(f"ncdiag.{face}.") and not name.startswith(f"ncdiag.{face}.") and name != f"ncdiag.{face}"
        and target.removeprefix(f"ncdiag.{face}.") not in _face(face)
    ]  # fmt: skip
    assert wrong == []


def _face(name: str) -> list[str]:
    names: list[str] = importlib.import_module(f"ncdiag.{name}").__all__
    return names


@pytest.mark.parametrize("face", rooms.FACES)
def test_each_name_of_a_face_can_be_imported(face: str) -> None:
    package = importlib.import_module(f"ncdiag.{face}")
    for name in package.__all__:
        found = getattr(package, name)
        inside = importlib.util.find_spec(f"ncdiag.{face}.{name}")
        assert inside is None or found.__name__ == f"ncdiag.{face}.{name}", f"{name} is a module and something else"


def _module(path: Path) -> str:
    return ".".join(path.relative_to(PROJECT).with_suffix("").parts).removesuffix(".__init__")


def _imported(path: Path) -> Iterator[str]:
    """Dotted names that a module imports, down to what it imports from a module."""
    for node in rooms.nodes(path):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("ncdiag"):
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


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


def test_modules_are_small() -> None:
    lines = {path: len(path.read_text(encoding="utf-8").splitlines()) for path in MODULES}
    assert {str(path.relative_to(PACKAGE)): count for path, count in lines.items() if count >= MAX_LINES} == {}


def test_rules_are_data() -> None:
    rules = PROJECT / "rules"
    assert {p.suffix for p in rules.rglob("*") if p.is_file()} == {".toml"}


def names(folder: str, suffix: str = ".py") -> set[str]:
    """Files of a folder of the package that somebody should discover."""
    return {p.stem for p in (PACKAGE / folder).glob(f"*{suffix}") if not p.name.startswith("_")}


TYPED = (
    "text/reading",
    "text/sources",
    "apps/redact",
    "machine/inputs.py",
    "commands/_judge.py",
    "commands/_interrupt.py",
)
"""Where texts, machines and what cannot be read are told apart: by their types."""


def _sniffs(nodes: Iterable[ast.AST]) -> Iterator[str]:
    """Code that asks an object what it has, or that leaves open what it is."""
    for node in nodes:
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
    assert all(any(path.relative_to(PACKAGE).as_posix().startswith(name) for path in paths) for name in TYPED)
    found = {path.relative_to(PACKAGE).as_posix(): list(_sniffs(rooms.nodes(path))) for path in paths}
    assert {path: sniffs for path, sniffs in found.items() if sniffs} == {}


@pytest.mark.parametrize(
    "code",
    ["hasattr(item, 'buffers')", "getattr(item, 'size', None)", "def __getattr__(self, name): ...", "a: Iterable[Any]"],
)
def test_the_search_for_sniffs_finds_one(code: str) -> None:
    assert len(list(_sniffs(ast.walk(ast.parse(code))))) == 1


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
        for node in rooms.nodes(path)
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
    rows = (PROJECT / "docs" / "architecture.md").read_text(encoding="utf-8").split("## The path")[0]
    named = {name.partition("/")[0] for name in re.findall(r"`([\w/]+)`", rows)}
    assert PARTS - {"__init__", "__main__"} <= named


def test_patterns_are_compiled_when_they_are_used() -> None:
    """At module level there is `lazy_regex`: to compile the patterns of all modules takes longer than a short answer.

    The agent runs on hosts without the rest of the package.
    """
    eager = []
    for path in MODULES:
        statements = [] if "agent" in path.parts else ast.parse(path.read_text(encoding="utf-8")).body
        for outer in statements:
            inner = ast.walk(outer) if not isinstance(outer, ast.FunctionDef | ast.ClassDef) else ()
            eager += [
                f"{path.relative_to(PACKAGE)}:{node.lineno}"
                for node in inner
                if isinstance(node, ast.Call) and ast.unparse(node.func) == "re.compile"
            ]
    assert eager == []
