"""Register derived facts: functions of a fact and of the job around it, computed at most once for each fact.

Code calls the function itself, ``clock_problem(host, view)``; rules refer to it by type and name.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from ncdiag.facts import model
from ncdiag.facts.view import Derived, View

E = TypeVar("E", bound=model.Fact)
T = TypeVar("T")
Truth = TypeVar("Truth", bool, "bool | None")

_REGISTRY: dict[tuple[str, str], Derived] = {}


def derived(function: Callable[[E, View], T]) -> Callable[[E, View], T]:
    """Register ``def name(entity: Type, view: View) -> T`` as the derived field ``name`` of fact type ``Type``.

    The function returns None for unknown. Its annotations, which are text here because they are postponed, give the
    types that the condition language checks. The returned function has the same signature and caches its results in the
    view.
    """
    found = _registered(function)

    @functools.wraps(function)
    def asked(entity: E, view: View) -> T:
        return view.computed(entity, found)  # type: ignore[no-any-return]

    return asked


def derived_of(*events: str) -> Callable[[Callable[[model.Event, View], Truth]], Callable[[model.Event, View], Truth]]:
    """Register a yes-or-no field of events that is computed for events with these names alone, and is False for others.

    Rules visit only these events, however many others a log holds.
    """

    def register(function: Callable[[model.Event, View], Truth]) -> Callable[[model.Event, View], Truth]:
        found = _registered(function, events=frozenset(events))

        @functools.wraps(function)
        def asked(event: model.Event, view: View) -> Truth:
            return view.computed(event, found)  # type: ignore[no-any-return]

        return asked

    return register


def derived_for(
    *variables: str,
) -> Callable[[Callable[[model.Setting, View], Truth]], Callable[[model.Setting, View], Truth]]:
    """Register a yes-or-no field of settings that is computed for these variables alone, and is False for others.

    Rules visit only their settings, however many others a script has.
    """

    def register(function: Callable[[model.Setting, View], Truth]) -> Callable[[model.Setting, View], Truth]:
        found = _registered(function, variables=frozenset(variables))

        @functools.wraps(function)
        def asked(setting: model.Setting, view: View) -> Truth:
            return view.computed(setting, found)  # type: ignore[no-any-return]

        return asked

    return register


def registered() -> Mapping[tuple[str, str], Derived]:
    """Return the derived facts of all imported modules by (fact type, name); `ncdiag.knowledge` imports all of them."""
    return _REGISTRY


def _registered(
    function: Callable[..., Any], *, events: frozenset[str] | None = None, variables: frozenset[str] | None = None
) -> Derived:
    owner = str(next(iter(function.__annotations__.values()))).rpartition(".")[2]
    name = function.__name__
    if (owner, name) in _REGISTRY or name in getattr(model, owner).__struct_fields__:
        msg = f"{owner}.{name} is defined twice"
        raise ValueError(msg)
    found = _REGISTRY[owner, name] = Derived(name, function, events, variables)
    return found
