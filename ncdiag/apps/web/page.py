"""The HTML around an answer: the form, status messages, downloads. Everything inserted is escaped here.

The answer itself is written by `ncdiag.report.html`; scripts are only files of ``static``.
"""

from __future__ import annotations

import base64
import functools
from collections.abc import Mapping
from html import escape
from pathlib import Path
from string import Template

from ncdiag.apps.web.settings import Settings
from ncdiag.apps.web.uploads import WINDOW
from ncdiag.apps.web.words import LANGUAGES, words
from ncdiag.apps.web.worker import FILES, Outcome
from ncdiag.base.version import __version__
from ncdiag.language import TAGS
from ncdiag.report.html.page import STYLE

STATIC = Path(__file__).parent / "static"
_KINDS = {".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}
_TITLES = {"markdown": "Markdown", "json": "JSON", "html": "HTML"}
_TYPES = {"markdown": "text/markdown", "json": "application/json", "html": "text/html"}
_DOWNLOAD_LIMIT = 1_400_000
"""Maximum size in bytes of a download inside the page; browsers limit addresses to 2 MiB, and base64 adds a third."""
_MIB = 1 << 20


def statics() -> dict[str, tuple[bytes, str]]:
    """The files that the page loads, by name, each with its type; includes the style sheet of the answer."""
    found = {path.name: path for path in STATIC.iterdir() if path.suffix in _KINDS}
    found["answer.css"] = STYLE
    return {name: (path.read_bytes(), _KINDS[path.suffix]) for name, path in found.items()}


@functools.cache
def _template() -> Template:
    return Template((STATIC / "page.html").read_text(encoding="utf-8"))


class Page:
    """The page in one language, for one request."""

    def __init__(self, settings: Settings, language: str) -> None:
        self._settings, self.language = settings, language
        self.words = said(settings, language)

    def whole(self, *, result: str = "", status: str = "", text: str = "", redact: bool = False) -> str:
        """The whole page; ``result`` is HTML, ``status`` a sentence, ``text`` the pasted text."""
        before, after = self.halves(text=text, redact=redact, status=status)
        return before + result + after

    def halves(
        self, *, text: str = "", redact: bool = False, status: str = "", window: Mapping[str, str] | None = None
    ) -> tuple[str, str]:  # fmt: skip
        """(part before the result, part after it), so that the first can be sent while the user waits.

        ``window`` holds what was written into the fields of `WINDOW`.
        """
        mark = "\0"
        promise = "kept" if self._settings.keep else "privacy"
        written = _template().substitute(
            {word: escape(sentence) for word, sentence in self.words.items()},
            language=self.language, tag=TAGS[self.language], languages=self._languages(),
            language_title=escape(self.words["language"]), limit=self._settings.limits.upload,
            version=escape(__version__), promise=promise,
            promise_text=escape(self.words[promise]), redacted=" checked" if redact else "",
            status=escape(status), text=escape(text.replace(mark, "")), result=mark,
            **{f"{name}_value": escape((window or {}).get(name, "").replace(mark, "")) for name in WINDOW},
        )  # fmt: skip
        before, _, after = written.partition(mark)
        return before, after

    def _languages(self) -> str:
        links = []
        for code, name in LANGUAGES.items():
            current = ' aria-current="true"' if code == self.language else ""
            tag = TAGS[code]
            links.append(f'<a href="./?lang={code}" lang="{tag}" hreflang="{tag}" data-to="{code}"{current}>{name}</a>')
        return "".join(links)

    def result(self, outcome: Outcome) -> str:
        """The outcome of an analysis as HTML."""
        sentence = outcome.sentence or (self.words[outcome.word] if outcome.word else "")
        if sentence:
            return self.failure(sentence)
        return self._downloads(outcome) + outcome.answer + self._pictures(outcome.pictures) + outcome.shown

    def _pictures(self, drawn: str) -> str:
        """The pictures, folded, because the answer comes first."""
        if "<svg" not in drawn:
            return ""
        title = escape(self.words["pictures"])
        return f'<details class="card pictures"><summary><h2>{title}</h2></summary>{drawn}</details>'

    def failure(self, sentence: str) -> str:
        """A sentence in place of an answer."""
        heading = escape(self.words["failed"])
        return f'<section class="card error" role="alert"><h2>{heading}</h2><p>{escape(sentence)}</p></section>'

    def note(self, sentence: str) -> str:
        """A sentence above the answer."""
        return f'<p class="quiet note">{escape(sentence)}</p>'

    def _downloads(self, outcome: Outcome) -> str:
        """Links that contain the files, so that the server need not store them."""
        links, left_out = [], []
        for name in FILES:
            data = outcome.files.get(name, "").encode()
            if len(data) > _DOWNLOAD_LIMIT:
                left_out.append(_TITLES[name])
            elif data:
                address = f"data:{_TYPES[name]};charset=utf-8;base64,{base64.b64encode(data).decode()}"
                links.append(f'<a class="button" download="ncdiag.{FILES[name]}" href="{address}">{_TITLES[name]}</a>')
        note = self.words["too_long_to_download"].format(names=", ".join(left_out)) if left_out else ""
        label = escape(self.words["download"])
        parts = [f'<div class="downloads" role="group" aria-label="{label}"><span>{label}</span>', *links]
        parts += [f'<span class="quiet">{escape(note)}</span>'] if note else []
        return "".join([*parts, "</div>"])


def said(settings: Settings, language: str) -> Mapping[str, str]:
    """The sentences in a language, with the limits of this page filled in."""
    limits = settings.limits
    known = {"limit": f"{max(1, limits.upload // _MIB)} MiB", "seconds": f"{limits.seconds:g}"}
    found = dict(words(language))
    for word in ("files_hint", "too_large", "too_slow"):
        found[word] = found[word].format(**known)
    return found
