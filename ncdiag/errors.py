"""The errors that ``ncdiag.triage``, ``parse`` and ``check`` raise, under the name that Python callers import."""

from __future__ import annotations

from ncdiag.base.errors import DefinitionError, InputError, NcdiagError, UsageError

__all__ = ["DefinitionError", "InputError", "NcdiagError", "UsageError"]
