"""What a trial with a variable says of the causes whose fixes set it: one mechanism for all suspects.

A fix that works around a fault, tried and working, is strong evidence for that fault; tried in vain it speaks against
it, and rules it out where the fix would have hidden the fault.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from ncdiag.engine.schema import Fix, Rule, Sign

_PRINTS = re.compile(r"_(?:DEBUG|REPORT|TRACE|DUMP)(?:_|$)")
"""What is in the name of a variable that prints more and changes nothing else (NCCL, PyTorch, Gloo)."""


def labels(fix: Fix) -> Iterator[str]:
    """How a trial of the fix is called: ``NCCL_P2P_DISABLE=1``, or the name alone where its value is computed.

    A variable that only prints more tries nothing.
    """
    for name, value in fix.env.items():
        if name != "*" and not _PRINTS.search(name):
            yield name if "{" in value or not value else f"{name}={value}"
    yield from (f"unset {name}" for name in fix.unset if "{" not in name)


def signs(rule: Rule, cured: Iterable[str], in_vain: Iterable[str]) -> Iterator[tuple[Sign, str]]:
    """The signs that trials give, each with the label of its trial."""
    helped, failed = set(cured), set(in_vain)
    for fix in rule.fixes:
        for label in labels(fix):
            if label in helped:
                yield Sign(text=f"it works with {label}", strength="strong", group="trial"), label
            elif label in failed:
                text = f"{label} does not help"
                if fix.workaround:
                    yield Sign(text=text, strength="decisive", against=True, group="trial"), label
                else:
                    yield Sign(text=text, strength="strong", against=True, group="trial"), label
