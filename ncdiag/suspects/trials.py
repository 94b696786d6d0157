"""What a trial says of causes: one mechanism for all suspects.

A fix, tried and working, is strong evidence for the fault that it fixes; tried in vain it speaks against it, and rules
it out where the fix would have hidden the fault. What leaves a part of NCCL out tells of all causes in that part.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

import msgspec

from ncdiag.base.patterns import lazy_regex
from ncdiag.engine.schema import Fix, Rule, Sign, Strength

_PRINTS = lazy_regex(r"_(?:DEBUG|REPORT|TRACE|DUMP)(?:_|$)")
"""What is in the name of a variable that prints more and changes nothing else (NCCL, PyTorch, Gloo)."""

_MANY = 5
"""Suspects from which on a fix that all of them offer tells of their class and of none of them."""
_NO_FAILURE = frozenset({"slow", "not-used", "memory-grows"})
"""Complaints of jobs that run: that they run without a part says nothing of it."""


class Part(NamedTuple):
    """A part of NCCL that a trial leaves out: what it is called, and the areas of its rules."""

    name: str
    areas: frozenset[str]
    for_it: bool = True


_RDMA = Part("RDMA", frozenset({"ib", "roce"}))
PARTS = {
    "NCCL_IB_DISABLE=1": _RDMA,
    "NCCL_NET=Socket": _RDMA,
    "one-host": Part("the network between hosts", _RDMA.areas | {"socket", "cloud"}),
    "one-gpu": Part("everything between GPUs", _RDMA.areas | {"p2p", "shm", "nvlink"}, for_it=False),
    "no-container": Part("the container", frozenset({"container"})),
    "gloo": Part("NCCL", _RDMA.areas | {"gdr", "nvlink", "p2p", "plugin", "shm"}, for_it=False),
    "NCCL_P2P_DISABLE=1": Part("peer access", frozenset({"p2p"})),
    "NCCL_SHM_DISABLE=1": Part("shared memory", frozenset({"shm"})),
}
"""What each of these trials leaves out (NCCL user guide, environment variables), as far as its failure tells.

``for_it``: so does its success.
"""


def variables(fix: Fix) -> Iterator[str]:
    """How a run with the fix is called: ``NCCL_P2P_DISABLE=1``, or the name alone where its value is computed.

    A variable that only prints more tries nothing.
    """
    for name, value in fix.env.items():
        if name != "*" and not _PRINTS.search(name):
            yield name if "{" in value or not value else f"{name}={value}"
    yield from (f"unset {name}" for name in fix.unset if "{" not in name)


def labels(fix: Fix) -> Iterator[str]:
    """How runs with the fix are called."""
    yield from variables(fix)
    yield from fix.tried


def offered(rules: Iterable[Rule]) -> Counter[str]:
    """How many suspects offer each fix, by the labels of its runs."""
    suspects = (rule for rule in rules if rule.suspect is not None)
    return Counter(label for rule in suspects for label in {label for fix in rule.fixes for label in labels(fix)})


def signs(
    rule: Rule, cured: Iterable[str], in_vain: Iterable[str], offers: Mapping[str, int]
) -> Iterator[tuple[Sign, str]]:
    """The signs that trials give, each with the label of its trial; ``offers`` are those of all rules."""
    helped, failed = _set(cured), _set(in_vain)
    for fix in rule.fixes:
        for label in labels(fix):
            if label in helped:
                strength: Strength = "strong" if offers.get(label, 0) < _MANY else "moderate"
                yield Sign(text=f"it works with {_words(label)}", strength=strength, group="trial"), label
            elif label in failed:
                sign = Sign(text=f"{_words(label)} does not help", strength="strong", against=True, group="trial")
                yield msgspec.structs.replace(sign, strength="decisive") if fix.workaround else sign, label
    if rule.suspect and set(rule.suspect.complaints) - _NO_FAILURE:
        for label, part in PARTS.items():
            if rule.area in part.areas and label in helped and part.for_it:
                text = f"it works with {_words(label)}, which excludes {part.name}"
                yield Sign(text=text, strength="moderate", group="trial"), label
            elif rule.area in part.areas and label in failed:
                text = f"it also fails with {_words(label)}, which excludes {part.name}"
                yield Sign(text=text, strength="strong", against=True, group="trial"), label


def _set(labels: Iterable[str]) -> set[str]:
    """The labels; a ``..._DISABLE`` that is told without a value was set."""
    told = set(labels)
    return told | {f"{label}=1" for label in told if label.endswith("_DISABLE") and f"{label}=0" not in told}


def _words(label: str) -> str:
    """The label of a told trial as people read it: ``no firewall``; variables as they are."""
    return label if "_" in label else label.replace("-", " ")
