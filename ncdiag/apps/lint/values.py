"""Checks of values: the verdicts of `ncdiag.nccl.judgement`, with places and edits that fix them."""

from __future__ import annotations

from collections.abc import Iterator

from ncdiag.apps.lint.edits import putting
from ncdiag.apps.lint.findings import finding
from ncdiag.apps.lint.model import Document, Edit, Finding, Setting
from ncdiag.base.patterns import lazy_regex
from ncdiag.facts.scalars import VersionRange
from ncdiag.nccl.judgement.values import Written, of_value
from ncdiag.nccl.judgement.verdict import ValueVerdict

_ROCM = lazy_regex(r"(?i)(?<![a-z])(?:rocm|rccl|mi[23]\d\dx?(?![a-z\d])|gfx9\d[\da-f])")


def check(document: Document, version: VersionRange | None) -> Iterator[Finding]:
    """Faults of the values of the document's settings."""
    for setting in document.settings:
        if setting.reaches != "shell":
            yield from of_setting(document, setting, version)


def of_setting(document: Document, setting: Setting, version: VersionRange | None) -> Iterator[Finding]:
    """Faults of one value."""
    if setting.value is None:
        return
    verdict = of_value(setting.name, setting.value, version, _written(document, setting))
    if verdict is None or (verdict.fault == "empty" and document.form == "process"):
        return
    if verdict.fault == "out-of-range" and _is_for_rccl(document):
        return
    edits = _edits(setting, verdict)
    empty = verdict.fault in {"empty", "empty-counts"}
    yield finding(
        f"value-{verdict.fault}", setting.name_at if empty else setting.value_at, variable=setting.name, edits=edits,
        fixable=bool(edits) and verdict.fault != "out-of-range", what=verdict.what, reason=verdict.why,
        versions=verdict.versions, **({"severity": "info"} if verdict.mild else {}),
    )  # fmt: skip


def _is_for_rccl(document: Document) -> bool:
    """True if the file is for AMD's library, which has different limits (MAXCHANNELS of its src/include/device.h)."""
    return _ROCM.search(document.text) is not None


def _edits(setting: Setting, verdict: ValueVerdict) -> tuple[Edit, ...]:
    if verdict.right is not None:
        return putting(setting, verdict.right)
    return (setting.removal,) if verdict.fault == "out-of-range" and setting.removal else ()


def _written(document: Document, setting: Setting) -> Written:
    """How the value is written in the document."""
    if document.form == "env":
        return "env file"
    if setting.quoting == "raw":
        return "conf"
    return "shell" if _shell_expands(document, setting) else "process"


def _shell_expands(document: Document, setting: Setting) -> bool:
    """True if a shell replaces ``~`` by the home directory, because it follows ``=`` without quotes."""
    return setting.quoting == "shell" and document.form in {"shell", "kubernetes", "compose"} and (
        document.text[setting.value_at.start : setting.value_at.start + 1] == "~"
    )  # fmt: skip
