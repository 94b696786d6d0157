"""Reports: the formats are the modules of this folder that have ``render``."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable

from ncdiag.base.errors import UsageError

Renderer = Callable[..., str]
"""``render(report, *, width, colour, detail, fail_on)``: the whole output, ending in a newline.

``width``, ``colour`` and ``detail`` are for text alone; ``fail_on`` is the least severity that makes the run fail, or
``never``. A format takes what it needs and ignores the rest.
"""
WITH_FACTS = frozenset({"html"})
"""Formats that draw from facts: their ``render`` takes ``view`` and ``lines`` (`ncdiag.report.html`) as well."""
FOR_PEOPLE = frozenset({"text", "markdown"})
"""Formats in the encoding of the terminal; the others are UTF-8, whatever the locale says."""
SPOKEN = FOR_PEOPLE | {"html"}
"""Formats in the language of the locale; a format for programs is in another one only where it is asked for."""


def formats() -> list[str]:
    """Names of the formats, found by importing every module of this folder."""
    return [module.name for module in pkgutil.iter_modules(__path__) if _renderer_of(module.name)]


def renderer(name: str) -> Renderer:
    """The renderer of a format; only its own module is imported. Raises UsageError for a name that is none."""
    known = {module.name for module in pkgutil.iter_modules(__path__)}
    found = _renderer_of(name) if name in known else None
    if found is None:
        msg = f"there is no format {name!r}; the formats are {', '.join(formats())}"
        raise UsageError(msg)
    return found


def _renderer_of(name: str) -> Renderer | None:
    """The function ``render`` that a module defines itself; one that it imported is something else."""
    module = importlib.import_module(f"{__name__}.{name}")
    found: Renderer | None = getattr(module, "render", None)
    return found if found is not None and found.__module__ == module.__name__ else None
