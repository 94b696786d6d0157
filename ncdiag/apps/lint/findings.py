"""The checks that lint adds to the rules, as data: codes, names, severities and reasons (`checks.toml`)."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any

import msgspec

from ncdiag.apps.lint.model import Finding, Place
from ncdiag.base.severity import Severity

TABLE = Path(__file__).with_name("checks.toml")


class Check(msgspec.Struct, frozen=True, kw_only=True):
    """One check. ``what`` is the message if a finding has none; ``advice`` is printed if nothing is fixed.

    ``no_effect``: the setting that it reports does nothing.
    """

    code: str
    name: str
    severity: Severity
    reason: str
    what: str = ""
    advice: str = ""
    references: tuple[str, ...] = ()
    no_effect: bool = False


_RULES_OF_NO_EFFECT = frozenset({
    "env-unknown-variable", "env-variable-unread", "env-variable-without-effect", "env-not-propagated",
})  # fmt: skip


@functools.cache
def checks() -> dict[str, Check]:
    """All checks by name."""
    from ncdiag.base import toml

    raw = toml.loads(TABLE.read_text(encoding="utf-8"))
    return {name: msgspec.convert({"name": name, **fields}, Check) for name, fields in raw.items()}


def has_no_effect(name: str) -> bool:
    """True if the check or rule with this name reports a setting that does nothing."""
    known = checks().get(name)
    return known.no_effect if known is not None else name in _RULES_OF_NO_EFFECT


def finding(name: str, place: Place, **fields: Any) -> Finding:  # noqa: ANN401  (fields of a Finding)
    """A finding of the check with this name. ``what`` is the message, ``reason`` is added to the check's own."""
    check = checks()[name]
    variable = fields.get("variable") or ""
    what = str(fields.pop("what", "") or check.what.replace("{variable}", variable))
    reason = " ".join(f"{fields.pop('reason', '')} {check.reason}".split())
    return Finding(
        code=check.code, name=name, severity=fields.pop("severity", check.severity), message=what, place=place,
        reason=reason, advice=fields.pop("advice", "") or check.advice, references=check.references, **fields,
    )  # fmt: skip
