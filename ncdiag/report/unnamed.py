"""What a report calls the hosts: their number, and the one that no line names."""

from __future__ import annotations

from typing import Any

import msgspec

from ncdiag.facts.assemble_hosts import UNNAMED
from ncdiag.facts.fold import unfold_hosts
from ncdiag.language import counted, say
from ncdiag.report.model import Evidence, Report

_IDENTIFIERS = frozenset({"host", "hosts", "source"})
"""Fields that hold the host's key instead of a sentence."""


def unnamed(report: Report) -> str:
    """The word for the host: ``this host``; beside hosts with names ``the host of FILE``, if one input shows it."""
    if report.summary.hosts in {"", UNNAMED}:
        return say("this host")
    files = {item.source for found in report.findings if found.hosts == UNNAMED for item in found.evidence}
    if len(files) == 1:
        return say("the host of {file}", file=files.pop().rpartition("/")[2])
    return say("a host without a name")


def named(hosts: str, report: Report) -> str:
    """Folded host names, with a word for one that no line names."""
    return hosts.replace(UNNAMED, unnamed(report)) if UNNAMED in hosts else hosts


def number_of_hosts(report: Report) -> str:
    """``2 hosts``: as many as there are names; ``1 of 64 hosts`` of a job whose other hosts the input does not show.

    NCCL's count of nodes is another number where host ids, containers or NVLink join or part hosts.
    """
    known, total = report.summary, report.summary.nhosts or 0
    names = sum(1 for _ in unfold_hosts(known.hosts)) if UNNAMED not in known.hosts else 0
    explained = report.communicators is not None and report.communicators.nodes
    if names and (names >= total or explained):
        return counted(names, "host")
    return say("{n} of {things}", n=names, things=counted(total, "host")) if names else counted(total, "host")


def renamed(text: str, called: str) -> str:
    """A sentence with ``called`` for the host that no line names; ``on`` and ``of`` this host are left out."""
    if UNNAMED not in text:
        return text
    for short in ("on", "of"):
        beside = "" if called == say("this host") else f" {short} {called}"
        text = text.replace(f" {short} {UNNAMED}", beside)
    text = text.replace(f"host {UNNAMED}", called).replace(UNNAMED, called)
    return text[:1].upper() + text[1:] if text.startswith(f"{called} ") else text


def spoken_of(report: Report) -> Report:
    """The report with a word for the host that no line names in every sentence; its key stays in ``hosts``."""
    changed: Report = _walked(report, unnamed(report))
    return changed


def _walked(value: Any, called: str) -> Any:  # noqa: ANN401  (any part of a report)
    """The same value with each text replaced, except quoted lines and identifiers."""
    if isinstance(value, str):
        return renamed(value, called)
    if isinstance(value, tuple):
        return tuple(_walked(item, called) for item in value)
    if isinstance(value, dict):
        return {key: _walked(item, called) for key, item in value.items()}
    if not isinstance(value, msgspec.Struct) or isinstance(value, Evidence):
        return value
    fields = {name: getattr(value, name) for name in value.__struct_fields__ if name not in _IDENTIFIERS}
    return msgspec.structs.replace(value, **{name: _walked(held, called) for name, held in fields.items()})
