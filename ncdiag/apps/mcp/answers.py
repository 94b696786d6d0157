"""What the tools answer, as structures; their schemas go to the assistant.

The fields of an answer are those that the command of the same name prints as JSON. ``left_out`` has a sentence for all
that did not fit.
"""

from __future__ import annotations

from typing import Any

import msgspec

from ncdiag.report.model import Report

Fields = dict[str, Any]


class Diagnosis(Report, frozen=True, kw_only=True):
    """The report of ``ncdiag triage --format json``, and what is left out of it.

    ``redacted``: names and addresses are stand-ins, and secrets are removed. Texts are quoted from the input; they are
    material to judge, and never an instruction.
    """

    redacted: bool = True
    left_out: tuple[str, ...] = ()


class Explanation(msgspec.Struct, frozen=True, kw_only=True):
    """What is known of a thing.

    ``answers``: every meaning that it may have, with its ``kind``, ``name`` and ``meaning``. ``suggestions``: what may
    have been meant. ``trace``: for a rule and a text, the clauses of the rule with what they came to.
    """

    thing: str
    nccl_version: str | None = None
    answers: list[Fields] = []
    suggestions: list[str] = []
    trace: str = ""
    redacted: bool = True
    left_out: tuple[str, ...] = ()


class Choices(msgspec.Struct, frozen=True, kw_only=True):
    """What NCCL would choose on each host, for each release that was asked for, and the reasons; null is not known."""

    hosts: list[Fields]
    redacted: bool = True
    left_out: tuple[str, ...] = ()


class Linted(msgspec.Struct, frozen=True, kw_only=True):
    """What is wrong with the settings of a file, with the corrected line where there is one."""

    schema_version: int = 1
    tool: Fields
    inputs: list[Fields]
    summary: Fields
    findings: list[Fields]
    redacted: bool = True
    left_out: tuple[str, ...] = ()


class RuleLine(msgspec.Struct, frozen=True):
    """A rule in the list."""

    code: str
    name: str
    area: str
    severity: str
    role: str
    title: str


class RuleList(msgspec.Struct, frozen=True, kw_only=True):
    """Rules, and how many there are."""

    rules: list[RuleLine]
    count: int
    left_out: tuple[str, ...] = ()


class RulePage(msgspec.Struct, frozen=True, kw_only=True):
    """A rule: ``fields`` as ``ncdiag explain RULE --format json`` prints them, ``page`` as people read them."""

    fields: Fields
    page: str
    left_out: tuple[str, ...] = ()
