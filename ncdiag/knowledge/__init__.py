"""Derived facts about faults, one module or folder for each area of `rules/`.

Derived facts that several areas share are in the vocabulary packages of the facts, of the messages and of NCCL.
"""

from __future__ import annotations

import functools
import importlib
import pkgutil
from collections.abc import Mapping

from ncdiag.facts.derived import registered
from ncdiag.facts.view import Derived

PACKAGES = ("ncdiag.facts.vocabulary", "ncdiag.messages.vocabulary", "ncdiag.nccl.vocabulary", "ncdiag.knowledge")
"""Folders whose modules define derived facts."""


@functools.cache
def registry() -> Mapping[tuple[str, str], Derived]:
    """Return all derived facts by (fact type, name); imports their modules on first use."""
    for package in map(importlib.import_module, PACKAGES):
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            importlib.import_module(module.name)
    return registered()
