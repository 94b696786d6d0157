"""The public module for the errors that ``ncdiag.triage``, ``parse`` and ``check`` raise."""

from __future__ import annotations

from ncdiag.base.errors import DefinitionError, InputError, NcdiagError, UsageError

__all__ = ["DefinitionError", "InputError", "NcdiagError", "UsageError"]
