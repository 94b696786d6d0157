"""Reports: each module of this folder with a function ``render`` is a format."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable

from ncdiag.base.errors import UsageError

Renderer = Callable[..., str]
"""``render(report, *, width, colour, detail, fail_on)``: the whole output, ending in a newline.

``width``, ``colour`` and ``detail`` are only for text; ``fail_on`` is the lowest severity that makes the run fail, or
``never``. A format uses what it needs and ignores the rest.
"""
WITH_FACTS = frozenset({"html"})
"""Formats that draw from facts: their ``render`` also takes ``view`` and ``lines`` (`ncdiag.report.html`)."""
FOR_PEOPLE = frozenset({"text", "markdown"})
"""Formats in the encoding of the terminal; the others are always UTF-8."""
SPOKEN = FOR_PEOPLE | {"html"}
"""Formats in the language of the locale; those for programs are English unless another language is requested."""


def formats() -> list[str]:
    """Names of the formats, found by importing every module of this folder."""
    return [module.name for module in pkgutil.iter_modules(__path__) if _renderer_of(module.name)]


def renderer(name: str) -> Renderer:
    """The renderer of a format; only its own module is imported. Raises UsageError for an unknown name."""
    known = {module.name for module in pkgutil.iter_modules(__path__)}
    found = _renderer_of(name) if name in known else None
    if found is None:
        msg = f"there is no format {name!r}; the formats are {', '.join(formats())}"
        raise UsageError(msg)
    return found


def _renderer_of(name: str) -> Renderer | None:
    """The function ``render`` if the module defines it; an imported function does not count."""
    module = importlib.import_module(f"{__name__}.{name}")
    found: Renderer | None = getattr(module, "render", None)
    return found if found is not None and found.__module__ == module.__name__ else None
