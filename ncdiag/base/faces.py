"""The face of a package: the names that other packages may import from it, each imported when it is first used."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any


def exported(package: str, places: Mapping[str, Sequence[str]]) -> Callable[[str], Any]:
    """A ``__getattr__`` for a package (PEP 562) that imports each name of ``places`` when it is first used.

    ``places`` lists by module, named from the package on (``"reading.many"``), what is taken from it: functions,
    classes, constants, or modules of a folder. Under ``""`` are modules of the package itself. Any other name raises
    AttributeError, as in every module.
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
