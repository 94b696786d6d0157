"""Degrees of parallelism and batch sizes that do not divide what they must divide, and the values that would."""

from __future__ import annotations

import re
from math import gcd
from typing import NamedTuple

from ncdiag.base.patterns import lazy_regex
from ncdiag.facts.derived import derived, derived_of
from ncdiag.facts.model import Event
from ncdiag.facts.view import View
from ncdiag.facts.vocabulary.outcome import is_open_failure
from ncdiag.messages.vocabulary.exceptions import EXCEPTION, exception_text

_SIZES, _BATCHES = "parallel-size-indivisible", "batch-sizes-unequal"
_DIVIDES = lazy_regex(r"(?i)\b(?:divisible|multiple of)\b")
_DEGREE = lazy_regex(
    r"""(?ix)
    \b(?:tensor|pipeline|expert|context|sequence|model|parameter)[-_ ](?:model[-_ ])?parallel
  | \b(?:[tpecsm]p|mp|sp|ulysses|autoep|model[-_ ]parallel|world|num[-_]shards|infer_tp)[-_ ]size\b
  | \bnum_shards\b | \binfer_tp\b | \btp\*cp\*pp\b | \bsize\ of\ the\ (?:tp|pp|ep)\ group\b
    """
)
"""Words for a degree of parallelism."""
_OTHER = lazy_regex(r"(?i)batch|vocab|image|resolution|pixel|patch|seq(?:uence)?[-_ ]?len|bucket|checkpoint")
"""What programs require to be divisible as well, which no other degree cures."""
_BATCH = lazy_regex(r"(?i)(?<![a-z])batch")
_RANKS = lazy_regex(
    r"(?i)world[-_ ]?size|\b(?:gpus?|ranks|processes|devices)\b|num_processes|n_gpus|data[-_ ]parallel|\bdp[-_ ]size"
)
"""Words for the number of ranks."""
_DIVISOR = lazy_regex(r"(?i)\b(?:divisible by|multiple of)\b(.*)", re.DOTALL)
_OF_EACH = lazy_regex(
    r"(?i)(?:per|each|every)[-_ ](?:of[- ]the[- ])?(?:gpus?|ranks?|devices?|process(?:es)?)\b"
    r"|\b(?:data[-_ ]?)?load(?:er|ing)[-_ ]processes\b"
)
"""What counts on each rank, and processes that are no ranks."""
_NUMBER = lazy_regex(r"(?<![\w.-])\d{1,9}(?![\w.])")
_FLAGS = (
    (r"num_shards", "--num-shard {0}"),
    (r"tensor_model_parallel_size", "--tensor-model-parallel-size {0}"),
    (r"tensor parallel size|attention heads \(", "--tensor-parallel-size {0}"),
    (r"infer_tp", "actor_rollout_ref.rollout.tensor_model_parallel_size={0}"),
    (r"expert parallel size", "ep_size={0}"),
    (r"SP size|sequence parallel size", "sequence_parallel_size={0}"),
)
"""The option for a degree, by the words of the line."""
_PIPELINED = "--tensor-parallel-size"
"""The option of the engine that spreads layers unevenly over pipeline stages, so that any number of them fits."""


_NOUNS = {
    r"(?i)kv[-_ ]?head|key_value_heads": "KV heads", r"(?i)heads?\b": "attention heads", r"(?i)experts": "MoE experts",
    r"(?i)layers": "model layers", r"(?i)world[-_ ]size\W{0,3}\d": "ranks",
}  # fmt: skip
_DEGREES = {
    r"(?i)infer_tp|tensor[-_ ](?:model[-_ ])?parallel|tp[-_]size": "tensor parallel size",
    r"(?i)pipeline[-_ ](?:model[-_ ])?parallel|pp[-_]size": "pipeline parallel size",
    r"(?i)expert[-_ ](?:model[-_ ])?parallel|ep[-_]size": "expert parallel size",
    r"(?i)sequence[-_ ]parallel|\bSP size|ulysses": "sequence parallel size",
    r"(?i)context[-_ ]parallel|cp[-_]size": "context parallel size",
    r"num_shards": "number of shards",
}


class _Ratio(NamedTuple):
    """Two numbers of which the second does not divide the first."""

    whole: int
    part: int


@derived_of(_SIZES, EXCEPTION)
def is_indivisible(event: Event, view: View) -> bool:
    """Did a program end because a degree of parallelism does not divide a number of its model or its job?"""
    if event.event == EXCEPTION:
        error = str(event.fields.get("error", ""))
        if not (_DIVIDES.search(error) and _DEGREE.search(error)) or _OTHER.search(error):
            return False
    return is_open_failure(event, view)


@derived
def indivisible_text(event: Event, view: View) -> str:
    """What does not divide what: ``28 KV heads cannot be divided by 8, the tensor parallel size; 4 divides both``."""
    ratio = _ratio(event)
    if ratio is None:
        return exception_text(event) if event.event == EXCEPTION else event.text
    if "shard_size" in event.fields:
        return f"a shard of {ratio.whole} is not a whole number of blocks of {ratio.part}"
    common = gcd(*ratio)
    fits = f"{common} divides both" if common > 1 else f"the largest number below it that does is {_fitting(ratio)}"
    return f"{_divided(event, ratio)}; {fits}"


def _divided(event: Event, ratio: _Ratio) -> str:
    noun, degree = _named(_NOUNS, event.text), _named(_DEGREES, event.text)
    if noun and degree:
        return f"{ratio.whole} {noun} cannot be divided by {ratio.part}, the {degree}"
    if noun:
        return f"{ratio.whole} {noun} cannot be divided by {ratio.part}"
    if degree:
        return f"{ratio.whole} cannot be divided by {ratio.part}, the {degree}"
    return f"{ratio.whole} cannot be divided by {ratio.part}"


def _named(words: dict[str, str], text: str) -> str:
    return next((name for pattern, name in words.items() if re.search(pattern, text)), "")


@derived
def fitting_degree(event: Event, view: View) -> str:
    """The option with the degree that fits: ``--tensor-parallel-size 4``; empty where the line names none."""
    ratio = _ratio(event)
    option = next((option for words, option in _FLAGS if re.search(words, event.text)), "")
    if ratio is None or not option or "shard_size" in event.fields or re.search(r"(?i)world_size", event.text):
        return ""
    common = gcd(*ratio)
    text = option.format(common if common > 1 else _fitting(ratio))
    if option.startswith(_PIPELINED) and common > 1:
        return f"{text} --pipeline-parallel-size {ratio.part // common}"
    return text


@derived
def shard_factor(event: Event, view: View) -> int:
    """By how much smaller the tensor parallel size must be, that shards are whole blocks; 0 for other lines."""
    ratio = _ratio(event)
    if ratio is None or "shard_size" not in event.fields:
        return 0
    return ratio.part // gcd(*ratio)


@derived
def divides_ranks(event: Event, view: View) -> bool:
    """Is it the number of ranks that the degrees do not divide?"""
    return re.search(r"(?i)world[_ ]size\W{0,3}\d+\W{0,3}(?:is not|must be) divisible", event.text) is not None


@derived
def ranks_that_fit(event: Event, view: View) -> str:
    """The numbers of ranks next to that of the line which the degrees divide: ``4 or 8``; empty where it has none."""
    ratio = _ratio(event)
    if ratio is None:
        return ""
    below = ratio.whole - ratio.whole % ratio.part
    return f"{below} or {below + ratio.part}" if below else f"{ratio.part}"


def _ratio(event: Event) -> _Ratio | None:
    fields = event.fields
    whole = fields.get("dimension_size", fields.get("shard_size"))
    part = fields.get("parallel_size", fields.get("block_size"))
    if not isinstance(whole, int) or not isinstance(part, int):
        numbers = [int(number) for number in _NUMBER.findall(str(fields.get("error", "")))]
        if len(numbers) != 2:  # noqa: PLR2004  (which of more is divided by which, the text does not say)
            return None
        whole, part = numbers
    return _Ratio(whole, part) if part > 0 and whole > 0 and whole % part else None


def _fitting(ratio: _Ratio) -> int:
    """The largest number up to the second that divides the first."""
    return next(number for number in range(min(ratio.part, 1 << 16), 0, -1) if ratio.whole % number == 0)


@derived_of(_BATCHES, EXCEPTION)
def is_batch_unequal(event: Event, view: View) -> bool:
    """Did a program end because its batch sizes do not fit the number of ranks?"""
    if event.event == EXCEPTION:
        error = str(event.fields.get("error", ""))
        divisor = _DIVISOR.search(error)
        if divisor is None or _BATCH.search(error) is None or not _RANKS.search(_OF_EACH.sub("", divisor[1])):
            return False
    return is_open_failure(event, view)


@derived
def batch_text(event: Event, view: View) -> str:
    """The arithmetic: ``256 is not 4 * 8 * 1 = 32; it would fit 8 ranks``; the line where it has no numbers."""
    numbers = _batch(event)
    if numbers is None:
        return exception_text(event) if event.event == EXCEPTION else event.text
    whole, product, factors = numbers
    said = " * ".join(map(str, factors))
    if len(factors) > 1:
        said = f"{said} = {product}"
    if "accumulation" not in event.fields:
        return f"{whole} is not a multiple of {said}"
    ranks = _ranks_of(event)
    unequal = f"{whole} is not {said}"
    return f"{unequal}; it would fit {ranks} ranks" if ranks else unequal


@derived
def counts_one_rank(event: Event, view: View) -> bool:
    """Does the framework count one data-parallel rank, while the batch size was meant for several?"""
    ranks = _ranks_of(event)
    return event.fields.get("parallel_ranks") == 1 and ranks is not None and ranks > 1


@derived
def fitting_batch(event: Event, view: View) -> str:
    """The batch size that fits the other numbers of the line: ``32``, ``24 or 32``; empty where it has none."""
    numbers = _batch(event)
    if numbers is None:
        return ""
    whole, product, _ = numbers
    if "accumulation" in event.fields:
        return str(product)
    below = whole - whole % product
    return f"{below} or {below + product}" if below else str(product)


def _batch(event: Event) -> tuple[int, int, list[int]] | None:
    """The global batch, the product of its factors, and these."""
    fields = event.fields
    whole = fields.get("global_batch")
    names = ("micro_batch", "accumulation", "parallel_ranks", "smallest_batch")
    factors = [value for name in names if isinstance(value := fields.get(name), int)]
    if event.event == EXCEPTION:
        found = [int(number) for number in _NUMBER.findall(str(fields.get("error", "")))]
        whole, factors = (found[0], found[1:]) if len(found) == 2 and found[0] % (found[1] or 1) else (None, [])  # noqa: PLR2004
    if not isinstance(whole, int) or not factors or min(factors) < 1:
        return None
    product = 1
    for factor in factors:
        product *= factor
    return whole, product, factors


def _ranks_of(event: Event) -> int | None:
    """The number of ranks for which the batch sizes are right, if there is one."""
    fields = event.fields
    whole, micro, steps = (fields.get(name) for name in ("global_batch", "micro_batch", "accumulation"))
    if not (isinstance(whole, int) and isinstance(micro, int) and isinstance(steps, int)) or micro * steps < 1:
        return None
    return whole // (micro * steps) if whole % (micro * steps) == 0 else None
