"""The JSON schemas of the output for programs, generated from its types.

They describe ``schema_version`` 1: fields may be added, so a reader must ignore fields that it does not know.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any

import msgspec

from ncdiag.base.errors import UsageError
from ncdiag.facts.model import Job
from ncdiag.report.model import Difference, Report

DIALECT = "https://json-schema.org/draft/2020-12/schema"
NAMED: Mapping[str, type[msgspec.Struct]] = {"report": Report, "diff": Difference, "facts": Job}
"""The types with a schema: the answers of the judging commands, of ``ncdiag diff`` and of ``ncdiag facts``."""


def schema(name: str) -> dict[str, Any]:
    """The schema of one of `NAMED`, in the dialect of JSON Schema 2020-12. Raises UsageError for another name."""
    if name not in NAMED:
        msg = f"there is no schema {name!r}; the schemas are {', '.join(NAMED)}"
        raise UsageError(msg)
    return {"$schema": DIALECT, "$id": f"urn:ncdiag:schema:{name}:1", **of_type(NAMED[name])}


def of_type(answer: type[msgspec.Struct]) -> dict[str, Any]:
    """The schema of a type: its own keywords at the top, the types that it refers to in ``$defs``.

    A docstring is the description of its type. ``schema_version`` is required and has a single allowed value.
    """
    made = _described(msgspec.json.schema(answer))
    parts = made["$defs"]
    own = parts.pop(made["$ref"].rpartition("/")[2])
    if version := own["properties"].get("schema_version"):
        version["const"] = version.pop("default")
        own["required"] = ["schema_version", *own["required"]]
    return {**own, "$defs": parts} if parts else own


def _described(part: Any) -> Any:  # noqa: ANN401  (JSON values)
    """The schema with descriptions without the indentation and markup of docstrings."""
    if isinstance(part, dict):
        return {
            name: inspect.cleandoc(held).replace("``", "`")
            if name == "description" and isinstance(held, str) else _described(held)
            for name, held in part.items()
        }  # fmt: skip
    return [_described(item) for item in part] if isinstance(part, list | tuple) else part
