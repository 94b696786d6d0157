"""The public names of a package: other packages import them from it, and each is loaded on first use."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any


def exported(package: str, places: Mapping[str, Sequence[str]]) -> Callable[[str], Any]:
    """A ``__getattr__`` for a package (PEP 562) that imports each name of ``places`` on first use.

    ``places`` maps a module, named relative to the package (``"reading.many"``), to the names to take from it:
    functions, classes, constants, or modules of a folder. The key ``""`` lists modules of the package itself. Any other
    name raises AttributeError, as in every module.
    """
    found = {name: place for place, names in places.items() for name in names}

    def find(name: str) -> Any:  # noqa: ANN401
        if name not in found:
            msg = f"module {package!r} has no attribute {name!r}"
            raise AttributeError(msg)
        home = f"{package}.{found[name]}".rstrip(".")
        if home != package and hasattr(module := importlib.import_module(home), name):
            return getattr(module, name)
        return importlib.import_module(f"{home}.{name}")

    return find
