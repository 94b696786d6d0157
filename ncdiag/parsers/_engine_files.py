"""Two numbers of which one does not divide the other, in a traceback through an engine: a degree of parallelism.

The helper of Megatron-LM, vLLM, SGLang and TensorRT-LLM (``ensure_divisibility``) names only the numbers, and so does
many a data loader: the frames above the line tell them apart.
"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from ncdiag.base.patterns import lazy_regex
from ncdiag.base.spans import Section
from ncdiag.facts.observe import Observation, Parsed
from ncdiag.parsers import _context

_BARE = lazy_regex(
    r"(?:AssertionError|ValueError|RuntimeError): (?P<whole>\d{1,9}) is not divisible by (?P<part>\d{1,9})\.?"
)
_ENGINES = lazy_regex(
    r"File \"[^\"]{0,300}\b(?:megatron\w*|mindspeed\w*|vllm\w*|sglang|tensorrt_llm|deepspeed|fairscale|nemo"
    r"|neuronx_distributed|text_generation_server|tensor_parallel|model_parallel|parallel_state)[/.]"
)
"""A frame in the code of an engine, or in a module for parallelism."""
_HEADER = "Traceback (most recent call last):"
_EVENT, _EXCEPTION = "parallel-size-indivisible", "python-exception"


def judged(section: Section, read: Parsed) -> Parsed:
    """The same with the exceptions that say that a degree does not divide as that event."""
    found = dict(_indivisible(section))
    if not found:
        return read
    return msgspec.structs.replace(read, observations=tuple(_named(seen, found) for seen in read.observations))


def _named(seen: Observation, found: dict[int, dict[str, int]]) -> Observation:
    numbers = found.get(seen.span.line)
    if seen.entity != "Event" or numbers is None or seen.fields.get("event") != _EXCEPTION:
        return seen
    said = {"event": _EVENT, "origin": "launcher", "kind": "cause", "fields": numbers}
    return msgspec.structs.replace(seen, fields=seen.fields | said)


def _indivisible(section: Section) -> Iterator[tuple[int, dict[str, int]]]:
    """The lines of such exceptions below frames of an engine, with their numbers."""
    is_engine = False
    for index, line in enumerate(section.lines):
        if _HEADER in line:
            is_engine = False
        elif (bare := _BARE.fullmatch(_context.split(line)[1].strip())) is not None:
            if is_engine:
                yield section.number(index), {"dimension_size": int(bare["whole"]), "parallel_size": int(bare["part"])}
        else:
            is_engine = is_engine or _ENGINES.search(line) is not None
