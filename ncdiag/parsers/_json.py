"""Values of a decoded JSON text, where anything may stand in place of what is expected."""

from __future__ import annotations

from typing import Any


def tables(value: Any) -> list[dict[str, Any]]:  # noqa: ANN401
    """The objects of a list; nothing of what is no list."""
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def table(value: Any) -> dict[str, Any]:  # noqa: ANN401
    """An object; an empty one in place of anything else."""
    return value if isinstance(value, dict) else {}


def text(value: Any) -> str | None:  # noqa: ANN401
    """A string; None in place of anything else."""
    return value if isinstance(value, str) else None
