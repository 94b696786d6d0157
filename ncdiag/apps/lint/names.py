"""Checks of names: the verdicts of `ncdiag.nccl.judgement`, with places and edits."""

from __future__ import annotations

import re
from collections.abc import Iterator

import msgspec

from ncdiag.apps.lint import values
from ncdiag.apps.lint.edits import putting
from ncdiag.apps.lint.findings import finding
from ncdiag.apps.lint.model import Document, Edit, Finding, Setting
from ncdiag.facts.scalars import VersionRange
from ncdiag.nccl.judgement.names import is_foreign, of_name
from ncdiag.nccl.judgement.verdict import NameVerdict
from ncdiag.nccl.spelling import distance

_GUIDE = ("https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/env.html",)
_SILENT = "NCCL reads the variables that it knows and does not report others."
_RECIPES = "Old settings are still copied, and NCCL does not report a variable that it does not read."
_RULES = {
    "misspelt": ("NCD601", "env-unknown-variable", _SILENT, _GUIDE),
    "unread": ("NCD608", "env-variable-unread", _SILENT, _GUIDE),
    "removed": ("NCD615", "env-variable-without-effect", _RECIPES, ()),
}
"""The rules that find the same in facts; lint also knows the place."""
_READ = r"(?:\$\{{?|environ(?:\.get)?[\[(][\"']|getenv\([\"']){name}\b"
_BEFORE = 300
"""Maximum number of characters before the use of a variable that show its purpose."""
_CHECKS = {
    "neighbour-misspelt": "neighbour-variable-misspelt", "of-others": "variable-of-others",
    "too-new": "variable-too-new", "deprecated": "variable-deprecated", "undocumented": "variable-undocumented",
}  # fmt: skip


def check(document: Document, version: VersionRange | None) -> Iterator[Finding]:
    """Faults of the names of the document's settings."""
    for setting in document.settings:
        verdict = of_name(setting.name, version) if setting.reaches != "shell" else None
        if verdict is not None and not _is_own(document, setting, verdict):
            yield from _found(document, setting, verdict, version)


def _is_own(document: Document, setting: Setting, verdict: NameVerdict) -> bool:
    """True if the script itself reads a variable that no program reads.

    A variable whose name resembles one of NCCL must be used for more than being passed on or printed under its name.
    """
    name = re.escape(setting.name)
    if verdict.fault == "unread":
        return re.search(_READ.format(name=name), document.text) is not None
    if verdict.fault not in {"misspelt", "neighbour-misspelt"}:
        return False
    for found in re.finditer(_READ.format(name=name), document.text):
        start = document.text.rfind("\n", 0, found.start()) + 1
        before = document.text[max(start, found.start() - _BEFORE) : found.start()]
        if not re.search(rf"\b{name}=[\"']?$|\b(?:echo|printf|export)\b", before):
            return True
    return False


def _found(
    document: Document, setting: Setting, verdict: NameVerdict, version: VersionRange | None
) -> Iterator[Finding]:
    place, name, check = setting.name_at, setting.name, _CHECKS.get(verdict.fault)
    edits: tuple[Edit, ...] = ()
    fixable = False
    if verdict.fault in {"misspelt", "neighbour-misspelt"}:
        near = list(verdict.near)
        edits = _renaming(setting, near)
        if edits and near and not _fits(document, setting, near[0], version):
            edits = ()
        ours = name.startswith("NCCL_") and not (near and near[0].startswith("NCCL_"))
        fixable = bool(edits and near) and not ours
    elif verdict.fault == "deprecated" and is_foreign(name) and _fits(document, setting, verdict.near[0], version):
        edits = _renaming(setting, list(verdict.near[:1]))
    elif verdict.fault == "removed":
        edits = (setting.removal,) if setting.removal else ()
        fixable = bool(edits) and not verdict.mild
    if check is not None:
        yield finding(check, place, what=verdict.what, variable=name, versions=verdict.versions, edits=edits,
                      fixable=fixable)  # fmt: skip
        return
    code, rule, reason, references = _RULES[verdict.fault]
    advice = "Remove it." if verdict.fault != "misspelt" else "" if edits else _advice(list(verdict.near))
    yield Finding(
        code=code, name=rule, severity="info" if verdict.mild else "warning", place=place, message=verdict.what,
        reason=reason, advice=advice, variable=name, versions=verdict.versions, edits=edits, fixable=fixable,
        references=references,
    )  # fmt: skip


def _advice(near: list[str]) -> str:
    return f"Remove it, or give {near[0]} a valid value." if near else "Remove it."


def _fits(document: Document, setting: Setting, name: str, version: VersionRange | None) -> bool:
    """True if the value is valid for the intended variable, and that is not already set next to it."""
    same = _switches_off(setting.name) == _switches_off(name)
    renamed = msgspec.structs.replace(setting, name=name, value=setting.value if same else "1")
    taken = any(other.name == name and other.group == setting.group for other in document.settings)
    return not taken and not any(values.of_setting(document, renamed, version))


def _renaming(setting: Setting, near: list[str]) -> tuple[Edit, ...]:
    """Replace the wrong name if there is one right name with the same meaning; remove it if there is none.

    If one enables what the other disables, the value is inverted as well.
    """
    place = setting.name_at
    if not near:
        return (setting.removal,) if setting.removal is not None else ()
    if len(near) > 1 and not _plainly_nearer(setting.name, near):
        return ()
    renamed = Edit(place.start, place.end, near[0])
    if _switches_off(setting.name) == _switches_off(near[0]):
        return (renamed,)
    turned = {"0": "1", "1": "0"}.get(setting.value or "")
    return (renamed, *putting(setting, turned)) if turned and putting(setting, turned) else ()


def _switches_off(name: str) -> bool:
    return "DISAB" in name


def _plainly_nearer(name: str, near: list[str]) -> bool:
    first, second = (distance(name.upper(), other, 3) or 0 for other in near[:2])
    return first < second
