"""Which derived facts a rule asks for, found in its compiled program without knowing their types."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from ncdiag.engine.tree import Path


def derived_steps(tree: object) -> Iterator[str]:
    """The names of all derived facts in a program or a part of one."""
    if isinstance(tree, Path):
        yield from (step.name for step in tree.steps if step.kind == "derived")
    elif isinstance(tree, msgspec.Struct):
        yield from (name for part in tree.__struct_fields__ for name in derived_steps(getattr(tree, part)))
    elif isinstance(tree, dict):
        yield from (name for part in tree.values() for name in derived_steps(part))
    elif isinstance(tree, tuple):
        yield from (name for part in tree for name in derived_steps(part))
