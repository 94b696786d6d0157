"""Names of weights in a checkpoint and in a model, which differ by a prefix alone where one of the two is wrapped."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from typing import NamedTuple

from ncdiag.base.patterns import lazy_regex
from ncdiag.facts.derived import derived, derived_of
from ncdiag.facts.model import Event
from ncdiag.facts.view import View
from ncdiag.facts.vocabulary.outcome import went_on
from ncdiag.facts.vocabulary.tracebacks import events_above

_MISSING, _EXTRA = "state-dict-missing", "state-dict-unexpected"
_KEY = lazy_regex(r"""["']([\w.-]{1,300})["']""")
_WRAPPERS = ("module.", "_orig_mod.", "_fsdp_wrapped_module.", "_forward_module.", "_checkpoint_wrapped_module.")
"""What DDP and DataParallel, torch.compile, FSDP, Lightning with DeepSpeed, and checkpointing put into names."""
_NEAR = 4
"""The list of missing names is at most this many lines above that of the unexpected ones."""
_SHARE = 0.9
"""The share of the names that have to agree: a list that was cut ends within a name."""


class Names(NamedTuple):
    """The part of the names that only one side has; is that the checkpoint, and do the names begin with it?"""

    prefix: str
    in_checkpoint: bool
    leads: bool


@derived
def differing_prefix(event: Event, view: View) -> str:
    """The part by which the names of the checkpoint and of the model differ, ``module.``; empty for others."""
    found = _names(event, view)
    return found.prefix if found else ""


@derived_of(_EXTRA)
def prefix_is_saved(event: Event, view: View) -> bool:
    """Does the checkpoint have the prefix, and the model not?"""
    found = _names(event, view)
    return found is not None and found.in_checkpoint


@derived
def renaming(event: Event, view: View) -> str:
    """The statement that removes the prefix from the names of a checkpoint; empty where the model has it."""
    found = _names(event, view)
    if found is None or not found.in_checkpoint:
        return ""
    name = f'k.removeprefix("{found.prefix}")' if found.leads else f'k.replace("{found.prefix}", "")'
    return f"state = {{{name}: v for k, v in state.items()}}"


def _names(event: Event, view: View) -> Names | None:
    if event.event != _EXTRA:
        return None
    extra = _keys(event.fields.get("extra_keys"))
    missing = _keys(event.fields.get("missing_keys"))
    if not missing:
        above = events_above(event, view, _MISSING, _NEAR)
        if not above or went_on(event, view):
            return None
        view.note(above[0])
        missing = _keys(above[0].fields.get("missing_keys"))
    return _compared(extra, missing, in_checkpoint=True) or _compared(missing, extra, in_checkpoint=False)


def _keys(listed: object) -> list[str]:
    return _KEY.findall(str(listed or ""))


def _compared(longer: list[str], shorter: list[str], *, in_checkpoint: bool) -> Names | None:
    """What the names of the first list have more than those of the second."""
    if not longer or not shorter:
        return None
    for prefix in _candidates(longer[0], shorter):
        bare = [name.removeprefix(prefix) for name in longer if name.startswith(prefix)]
        if _agree(bare, shorter):
            return Names(prefix, in_checkpoint, leads=True)
    for prefix in _WRAPPERS:
        inner = re.compile(rf"(?<![^.]){re.escape(prefix)}")
        bare = [inner.sub("", name) for name in longer if inner.search(name)]
        if _agree(bare, shorter):
            return Names(prefix, in_checkpoint, leads=False)
    return None


def _candidates(name: str, shorter: Collection[str]) -> Iterator[str]:
    """Possible prefixes: what precedes a name of the other side in the first name."""
    parts = name.split(".")
    for count in range(1, len(parts)):
        if ".".join(parts[count:]) in shorter:
            yield ".".join(parts[:count]) + "."


def _agree(bare: Collection[str], others: Collection[str]) -> bool:
    common = len(set(bare) & set(others))
    return common > 0 and common >= _SHARE * min(len(bare), len(others)) and len(bare) >= _SHARE * len(others)
