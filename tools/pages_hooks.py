# ruff: noqa: INP001  (mkdocs loads it by its path)
"""What mkdocs adds to the pages of docs/: pages from the root of the repository, and one for each variable."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from mkdocs.structure.files import File

from ncdiag import catalogue
from ncdiag.apps.explaining import variable_pages

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import Files

PAGES = {"README.md": "index.md", "CHANGELOG.md": "changelog.md", "CONTRIBUTING.md": "contributing.md",
         "contrib/README.md": "contrib.md"}  # fmt: skip
"""Files outside docs/, and the pages that they become."""

_LINK = re.compile(r"\[([^\]]+)\]\((?!https?:|#|mailto:)([^)\s#]+)(#[^)\s]*)?\)")


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages that are not in docs/."""
    root = Path(config.config_file_path).parent
    for name, page in PAGES.items():
        text = (root / name).read_text(encoding="utf-8")
        files.append(File.generated(config, page, content=_moved(text, root / name, root, page)))
    for name, text in variable_pages.texts(catalogue.rules(())).items():
        files.append(File.generated(config, f"variables/{name}", content=text))
    return files


def on_page_markdown(markdown: str, page: object, config: MkDocsConfig, **_: object) -> str:
    """Turn the links of a page in docs/ to files outside into links to the pages that these became."""
    uri = str(getattr(page, "file").src_uri)  # noqa: B009  (mkdocs publishes no type for it)
    root = Path(config.config_file_path).parent
    if uri in PAGES.values() or uri.startswith(("rules/", "variables/")):
        return markdown
    return _moved(markdown, root / "docs" / uri, root, uri)


def _moved(text: str, place: Path, root: Path, page: str) -> str:
    """The text of the file at ``place`` with the links that ``page`` needs; what is no page becomes a name."""
    up = "../" * page.count("/")

    def moved(link: re.Match[str]) -> str:
        target = (place.parent / link[2]).resolve()
        name = target.relative_to(root.resolve()).as_posix()
        if name in PAGES:
            return f"[{link[1]}]({up}{PAGES[name]}{link[3] or ''})"
        if name.startswith("docs/"):
            return f"[{link[1]}]({up}{name.removeprefix('docs/')}{link[3] or ''})"
        return f"{link[1]} (`{name}`)"

    return _LINK.sub(moved, text)
