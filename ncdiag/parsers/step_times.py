"""Times that a training program prints: of each rank, or of a step and of its data.

Lines of ranks are ``rank 3: fwd 210.1 ms allreduce 188.0 ms``: names of parts of a step, each with a number.
Lines of steps have the time of the step and that of its data, as PyTorch's examples/imagenet/main.py (``Time  0.351 (
0.612)  Data  0.201 ( 0.410)``) and torchvision's references (``time: 0.3542  data: 0.2133``) print them.
"""

from __future__ import annotations

import re

from ncdiag.base.patterns import lazy_regex
from ncdiag.formats.step_parts import sort_of
from ncdiag.parsers._rows import Reading, Row, Rows

KIND = "step_times"
COMMANDS: tuple[str, ...] = ()
_TIME = r"\d{1,7}(?:\.\d{1,6})?"
_WORD = (
    r"(?:step|iter(?:ation)?|batch|fwd|forward|bwd|backward|data|load(?:er|ing)?|comm(?:unication)?|opt(?:imizer)?"
    r"|compute|wait|sync|all[-_]?reduce|all[-_]?gather|reduce[-_]?scatter|grads?|params?|time|elapsed)"
)
_PART = rf"{_WORD}(?:[-_ /]{_WORD}){{0,3}}"
_VALUE = rf"(?:[ ]{{1,4}}|[ ]?[:=][ ]{{0,4}})(?P<value>{_TIME})(?:[ ]?(?P<unit>ms|us|s))?(?![\w.])"
_PAIR = rf"{_PART}{re.sub('[?]P<[a-z]+>', '?:', _VALUE)}"
_BETWEEN = r"(?:[,;|][ ]{0,4}|[ ]{1,4}(?:[,;|][ ]{0,4})?)"
_RANK = rf"\[?[Rr]ank[ =:#]?[ ]{{0,4}}\d{{1,6}}\]?:?(?i:{_BETWEEN}{_PAIR}){{1,8}}\s*$"
_OF_STEP = rf"(?:(?:step|batch|iter)[ _])?[Tt]ime(?:/(?:step|iter|batch))?:?[ ]{{1,4}}{_TIME}(?:[ ]?m?s)?"
_OF_DATA = rf"[Dd]ata(?:[ _](?:[Tt]ime|load(?:ing)?))?:?[ ]{{1,4}}{_TIME}(?:[ ]?m?s)?"
_STEP = rf"(?:\S.{{0,160}}[ \t\]|])?{_OF_STEP}(?![\w.]).{{0,40}}?[ \t]{_OF_DATA}(?:[ \t,;]|$)"
ANCHOR = rf"(?:{_RANK}|{_STEP})"
SIGNS = ("rank", " data", "\tdata")
FREQUENT = {" data": "the name that both programs print for the time that the next batch takes"}
_PAIRS = lazy_regex(rf"(?P<part>{_PART}){_VALUE}", re.IGNORECASE)
_SECONDS = {"s": 1.0, "ms": 1e-3}
_IS_TIME = lazy_regex(
    r"time|elapsed|fwd|forward|bwd|backward|comm|wait|sync|compute|all[-_]?reduce|all[-_]?gather|reduce[-_]?scatter",
    re.IGNORECASE,
)
"""Names whose number is a time without a unit."""
_NUMBER = lazy_regex(r"\[?[Rr]ank[ =:#]?[ ]{0,4}(\d{1,6})\]?:?")
_STEP_TIMES = lazy_regex(
    ".*?"
    + _OF_STEP.replace(_TIME, f"(?P<whole>{_TIME})").replace("m?s)", "(?P<of_whole>m?s))")
    + r"(?![\w.]).{0,40}?[ \t]"
    + _OF_DATA.replace(_TIME, f"(?P<data>{_TIME})").replace("m?s)", "(?P<of_data>m?s))")
    + r"(?=[ \t,;]|$)"
)


class _Times(Reading):
    """A `StepPart` for each part of a rank, and for the data of each step."""

    def of_rank(self, found: re.Match[str]) -> None:
        """``rank 3: fwd 210.1 allreduce 188.0``."""
        number = _NUMBER.match(found[0])
        rest = found[0][number.end() :] if number else ""
        for part in _PAIRS.finditer(rest):
            name = " ".join(part["part"].split())
            if part["unit"] is None and not _IS_TIME.search(name):
                continue  # a counter: step 100, batch 32, params 250000
            self.observe(
                "StepPart", tool="the log", part=name, sort=sort_of(name), value=float(part["value"]),
                unit=part["unit"] or "", rank=int(number[1]) if number else None,
            )  # fmt: skip

    def of_step(self, found: re.Match[str]) -> bool:
        """``step 100 time/step 2.51s data 1.88s``."""
        times = _STEP_TIMES.match(found[0])
        if times is None:
            return False
        whole, data = (float(times[name]) * _SECONDS[times[f"of_{name}"] or "s"] for name in ("whole", "data"))
        if data > whole:
            return False  # a number of samples, or of tokens
        self.observe("StepPart", tool="the log", part="data", sort="data", value=data, whole=whole, unit="s")
        return True


ROWS = Rows(_Times, Row(_RANK, _Times.of_rank), Row(rf"{_STEP}.*$", _Times.of_step))
