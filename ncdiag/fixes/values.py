"""``best.*``: the values of fixes, computed from facts.

Each is a function in a module of `ncdiag.fixes.best`, registered under its name with `best`. If a value cannot be
computed, the result says why, and which command's output would settle it.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec

from ncdiag.base.spans import Span
from ncdiag.facts.view import View

Bindings = Mapping[str, Any]
"""The facts bound to the rule's names."""


class Value(msgspec.Struct, frozen=True, kw_only=True):
    """A computed value.

    ``text`` None: it cannot be computed; ``ask_for`` are the commands whose output would settle it. ``reason`` says in
    a sentence what it is based on, ``spans`` are the lines. A value that holds for known hosts and may not hold for
    unseen ones has both a text and something to ask for.
    """

    text: str | None = None
    reason: str = ""
    spans: tuple[Span, ...] = ()
    ask_for: tuple[str, ...] = ()

    def __str__(self) -> str:
        return self.text or ""


Compute = Callable[[View, Bindings], Value]
_REGISTRY: dict[str, Compute] = {}
_LOADED: list[bool] = []


def best(function: Compute) -> Compute:
    """Register ``def name(view: View, bindings: Bindings) -> Value`` as ``best.name``."""
    name = getattr(function, "__name__", "")
    if name in _REGISTRY:
        msg = f"best.{name} is defined twice"
        raise ValueError(msg)
    _REGISTRY[name] = function
    return function


def registry() -> Mapping[str, Compute]:
    """All computations by name; imports the modules of `ncdiag.fixes.best` on first use."""
    if not _LOADED:
        package = importlib.import_module("ncdiag.fixes.best")
        for module in pkgutil.iter_modules(package.__path__):
            importlib.import_module(f"{package.__name__}.{module.name}")
        _LOADED.append(True)
    return _REGISTRY


class Values:
    """The values for one job, each computed once for the same bound facts: fills ``{best.NAME}``."""

    def __init__(self, view: View, rules: Sequence[Any] = ()) -> None:
        """Store the job's view, and the rules that may object to a fix (`ncdiag.report.objections`).

        ``rest_of``: what of the outputs of a request is not in the input; all of it until it is set. ``names``: what
        the commands of the input write, by the word that stands for it in a fix.
        """
        self.view, self.rules = view, rules
        self.rest_of: Callable[[str], str] = str
        self.names: Mapping[str, frozenset[str]] = {}
        self._cache: dict[tuple[str, tuple[int, ...]], tuple[tuple[Any, ...], Value]] = {}

    def __call__(self, name: str, bindings: Bindings) -> str | None:
        """The text of ``best.name``; None if it cannot be computed."""
        return self.compute(name, bindings).text

    def compute(self, name: str, bindings: Bindings) -> Value:
        """``best.name`` with its reason; raises KeyError for an unknown name."""
        bound = tuple(bindings[key] for key in sorted(bindings))
        key = name, tuple(map(id, bound))
        if key not in self._cache:  # the facts are kept alive, so that their ids stay unique
            self._cache[key] = bound, registry()[name](self.view, bindings)
        return self._cache[key][1]


def bound(bindings: Bindings, kind: type[Any]) -> Any:  # noqa: ANN401
    """The first bound fact of a type; None if the rule binds none."""
    return next((fact for fact in bindings.values() if isinstance(fact, kind)), None)
