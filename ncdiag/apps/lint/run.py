"""Lint as a whole: parse, check, sort; and apply fixes until nothing fixable is left."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Sequence
from pathlib import Path

import msgspec

from ncdiag import catalogue
from ncdiag.apps.lint import conflicts, forms, names, passing, rules, surroundings, values
from ncdiag.apps.lint.edits import applied
from ncdiag.apps.lint.jobs import containers, jobs
from ncdiag.apps.lint.model import Document, Edit, Finding
from ncdiag.base.severity import SEVERITIES
from ncdiag.engine.schema import Rule
from ncdiag.facts.scalars import Version, VersionRange
from ncdiag.language import ENGLISH

_ROUNDS = 12
_LATE = {"variable-not-passed-on", "env-not-propagated"}
"""Fixed after the names and values of the variables to be passed on are right."""
_TOLD_BETTER = {"hccl-env-invalid": "value-out-of-range"}
"""Rules that overlap with a check that also knows the place; their other findings are kept."""


class Options(msgspec.Struct, frozen=True, kw_only=True):
    """The user's options: the release to judge by, codes or names of findings to keep or to leave out.

    ``rules`` are folders of private rules; with ``one_job`` the documents are compared. ``language``: of the texts.
    """

    nccl: Version | None = None
    select: frozenset[str] = frozenset()
    ignore: frozenset[str] = frozenset()
    rules: tuple[Path, ...] = ()
    one_job: bool = False
    language: str = ENGLISH


class Result(msgspec.Struct, frozen=True):
    """A document and its findings, sorted by place; ``nccl`` is the release it was judged for, None for all."""

    document: Document
    findings: tuple[Finding, ...]
    nccl: VersionRange | None = None


def lint(documents: Iterable[Document], options: Options) -> list[Result]:
    """Judge documents; with ``one_job`` they are files of the hosts of one job and are compared."""
    book = _rules(options.rules, options.language)
    documents = list(documents)
    found = {id(document): _found(document, options, book) for document in documents}
    if options.one_job:
        for document, finding in conflicts.between_hosts(documents):
            found[id(document)].append(finding)
    return [
        Result(document, _sorted(document, found[id(document)], options), document.versions(options.nccl))
        for document in documents
    ]


@functools.cache
def _rules(folders: tuple[Path, ...], language: str) -> tuple[Rule, ...]:
    """The shipped rules and those of private folders, cached."""
    return catalogue.localised(catalogue.rules(folders), language, folders)


def _found(document: Document, options: Options, book: Sequence[Rule]) -> list[Finding]:
    version: VersionRange | None = document.versions(options.nccl)
    found = list(document.found)
    for check in (names.check, values.check, conflicts.check, passing.check, surroundings.check):
        found += check(document, version)
    for part in containers(document):
        found += surroundings.of_container(part)
    for job in jobs(document):
        found += rules.check(job, version, book)
    return found


def _sorted(document: Document, found: Iterable[Finding], options: Options) -> tuple[Finding, ...]:
    """Sorted by line and severity, without duplicates, filtered by the options."""
    kept: dict[tuple[str, int, str], Finding] = {}
    found = list(found)
    told = {(each.name, document.line(each.place.start)) for each in found}
    for each in found:
        words = {each.code, each.name}
        if (_TOLD_BETTER.get(each.name), document.line(each.place.start)) in told:
            continue
        if words & options.ignore or (options.select and not words & options.select):
            continue
        if each.edits and applied(document.text, each.edits) == document.text:
            each = msgspec.structs.replace(each, edits=(), fixable=False)  # noqa: PLW2901  (the same, less its edits)
        kept.setdefault((each.code, each.place.start, each.message), each)
    return tuple(
        sorted(
            kept.values(), key=lambda f: (document.line(f.place.start), SEVERITIES.index(f.severity), f.place, f.code)
        )
    )


def mended(document: Document, options: Options) -> str:
    """The text with everything fixable fixed: linted repeatedly until nothing fixable is left."""
    for _ in range(_ROUNDS):
        (result,) = lint([document], options)
        fixable = [found for found in result.findings if found.fixable]
        early = [found for found in fixable if found.name not in _LATE]
        edits = _compatible(found.edits for found in early or fixable)
        text = applied(document.text, edits)
        if text == document.text:
            break
        document = forms.read(document.source, text, document.form)
    return document.text


def _compatible(groups: Iterable[tuple[Edit, ...]]) -> list[Edit]:
    """The edits of findings that do not overlap; the others wait for the next round."""
    taken: list[Edit] = []
    for group in groups:
        if all(edit.end < other.start or edit.start > other.end for edit in group for other in taken):
            taken += group
    return taken
