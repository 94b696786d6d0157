# ruff: noqa: INP001  (mkdocs loads it by its path)
"""Hooks of mkdocs for pages outside docs/: those from the root of the repository, and generated ones.

Generated are a page for each rule and each variable, and the reference of facts. Codes of rules in docs/
(`` `NCD101` ``) become links.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from mkdocs.structure.files import File

from ncdiag import catalogue
from ncdiag.apps.explaining import facts, rule_pages, variable_pages

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import Files

PAGES = {"README.md": "index.md", "CHANGELOG.md": "changelog.md", "CONTRIBUTING.md": "contributing.md",
         "contrib/README.md": "contrib.md"}  # fmt: skip
"""Files outside docs/, and the pages that they become."""

_LINK = re.compile(r"\[([^\]]+)\]\((?!https?:|#|mailto:)([^)\s#]+)(#[^)\s]*)?\)")
_CODE = re.compile(r"`(NCD\d+)`")


def generated() -> Iterator[tuple[str, str]]:
    """(path, Markdown) of each page that is generated from definitions."""
    rules = catalogue.rules_with_examples()
    for folder, pages in (("rules", rule_pages.texts(rules)), ("variables", variable_pages.texts(rules))):
        yield from ((f"{folder}/{name}", text) for name, text in pages.items())
    yield "facts.md", facts.page()


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages that are not in docs/."""
    root = Path(config.config_file_path).parent
    for name, page in PAGES.items():
        text = (root / name).read_text(encoding="utf-8")
        files.append(File.generated(config, page, content=moved(text, root / name, root, page)))
    for page, text in generated():
        files.append(File.generated(config, page, content=text))
    return files


def on_page_markdown(markdown: str, page: object, config: MkDocsConfig, files: Files) -> str:
    """Convert links to files outside docs/ into links to their pages, and codes into links to rules."""
    uri = str(getattr(page, "file").src_uri)  # noqa: B009  (mkdocs publishes no type for it)
    root = Path(config.config_file_path).parent
    if not (root / "docs" / uri).is_file():
        return markdown
    return with_rules(moved(markdown, root / "docs" / uri, root, uri), uri, {file.src_uri for file in files})


def moved(text: str, place: Path, root: Path, page: str) -> str:
    """The text of the file at ``place`` with the links that ``page`` needs.

    A link to a file without a page becomes a name.
    """
    up = "../" * page.count("/")

    def change(link: re.Match[str]) -> str:
        target = (place.parent / link[2]).resolve()
        name = target.relative_to(root.resolve()).as_posix()
        if name in PAGES:
            return f"[{link[1]}]({up}{PAGES[name]}{link[3] or ''})"
        if name.startswith("docs/"):
            return f"[{link[1]}]({up}{name.removeprefix('docs/')}{link[3] or ''})"
        return f"{link[1]} (`{name}`)"

    return _LINK.sub(change, text)


def with_rules(text: str, page: str, pages: set[str]) -> str:
    """The text of ``page`` with a link for each code that has a page among ``pages``."""
    up = "../" * page.count("/")
    return _CODE.sub(
        lambda code: f"[{code[1]}]({up}{path})" if (path := f"rules/{code[1]}.md") in pages else code[0], text
    )
