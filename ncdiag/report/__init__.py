"""Reports: the formats are the modules of this folder that have ``render(report, *, width, colour) -> str``."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable

from ncdiag.errors import UsageError

Renderer = Callable[..., str]
"""``render(report, *, width, colour)``: the whole output, ending in a newline."""


def formats() -> list[str]:
    """Names of the formats, found by importing every module of this folder."""
    modules = [module.name for module in pkgutil.iter_modules(__path__)]
    return [name for name in modules if hasattr(importlib.import_module(f"{__name__}.{name}"), "render")]


def renderer(name: str) -> Renderer:
    """The renderer of a format; only its own module is imported. Raises UsageError for a name that is none."""
    if name in {module.name for module in pkgutil.iter_modules(__path__)}:
        found: Renderer | None = getattr(importlib.import_module(f"{__name__}.{name}"), "render", None)
        if found:
            return found
    msg = f"there is no format {name!r}; the formats are {', '.join(formats())}"
    raise UsageError(msg)
