"""Parsers, one module a tool output, found by folder. `_template.py` shows what a module must have."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Mapping, Sequence
from functools import cache

import msgspec

from ncdiag.errors import DefinitionError
from ncdiag.facts.observe import Parsed
from ncdiag.spans import Section


class Parser(msgspec.Struct, frozen=True):
    """What the cutter and the pipeline use of a parser module (see ``_template.py``)."""

    kind: str
    commands: tuple[str, ...]
    anchor: str
    continues: Callable[[Sequence[str], str], bool]
    parse: Callable[[Section], Parsed]
    interleaved: bool = False
    """NCCL log lines may stand between the lines of a section (``INTERLEAVED = True`` in the module)."""


@cache
def discover() -> Mapping[str, Parser]:
    """All parsers by kind, ``text`` (the parser of what no section claimed) among them.

    Packages are not line parsers.
    """
    found = {}
    for info in pkgutil.iter_modules(__path__):
        if info.name.startswith("_") or info.ispkg:
            continue
        module = importlib.import_module(f"{__name__}.{info.name}")
        missing = [name for name in ("KIND", "COMMANDS", "ANCHOR", "continues", "parse") if not hasattr(module, name)]
        if missing or info.name != module.KIND:
            reason = f"lacks {', '.join(missing)}" if missing else f"has KIND {module.KIND!r}"
            raise DefinitionError(reason, file=f"ncdiag/parsers/{info.name}.py", hint="see ncdiag/parsers/_template.py")
        interleaved = getattr(module, "INTERLEAVED", False)
        found[info.name] = Parser(
            module.KIND, module.COMMANDS, module.ANCHOR, module.continues, module.parse, interleaved
        )
    return found
