"""``dcgmi diag`` and ``dcgmi health --check``: what DCGM finds wrong with GPUs and switches, as tables and as JSON.

Source of the formats: NVIDIA/DCGM dcgmi/Diag.cpp (v2.x, v3.3.9: ``Fail - GPU: 3`` beside the test; v4.x: a line for
each entity, ``GPU3: Fail``), dcgmi/Health.cpp and DcgmiOutput.cpp. A message that is too long for its cell goes on in
the cells below, in ``diag`` cut anywhere, in ``health`` between words.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from ncdiag.base.patterns import lazy_regex
from ncdiag.base.spans import Section
from ncdiag.facts.observe import Observation, Parsed
from ncdiag.formats import decoded
from ncdiag.parsers import _dcgmi_json
from ncdiag.parsers._dcgmi_json import DIAG, HEALTH, RESULTS, check
from ncdiag.parsers._rows import Reading, Row, Rows, never

KIND = "dcgmi"
COMMANDS: tuple[str, ...] = ("dcgmi diag", "dcgmi health")
_KEY = r'[ \t]*"DCGM Diagnostic"\s?:[ \t]*\{?[ \t]*$'
ANCHOR = (
    r"Successfully ran diagnostic for group\.|\| Diagnostic[ ]{5,40}\| Result[ ]{5,80}\||Health Monitor Report[ \t]*$"
    r"|\| Health Monitor Report[ ]{5,90}\||[|+]-----  (?:Metadata|Deployment|Hardware|Integration|Stress)  -"
    rf"|{_KEY}"
)

_JSON = lazy_regex(r"\s*\{?\s*$|" + _KEY)
_CELLS = r"\s*\|(?P<left>[^|]{3,80})\|(?P<right>.{3,160})\|\s*$"
_RESULT = lazy_regex(
    r"(?:(?P<part>[A-Za-z]{2,20})(?P<id>\d{1,4}): )?(?P<result>Pass|Fail|Warn|Skip|Not Run)"
    r"(?: - (?:All|GPUs?: (?P<gpus>\d[\d, ]{0,200})))?\s*$"
)
_MESSAGE = lazy_regex(r"(?P<kind>Warning|Info)(?:: \w{1,24})?$")
_DRIVER = "Driver Version Detected"
_OVERALL = lazy_regex(r"\| Overall Health:?\s+(?:\|\s+)?(?P<health>Healthy|Warning|Failure)\s")
_NODE = lazy_regex(r"(?P<indent>\s{0,12})(?:-> )?(?P<label>\S.{0,40})$")
_OLD_PART = lazy_regex(r"(?P<kind>GPU|NvSwitch) ID: (?P<id>\d{1,4})$")
_OLD_SYSTEM = lazy_regex(r"(?P<system>.{2,30}?): (?P<health>Warning|Failure) - (?P<text>.{0,120})")
_LEFT_OUT = "Not Run"
_TEXT = 400


class _Test:
    """A test of ``diag``: its own results, those of entities, and what was said about them."""

    def __init__(self, name: str, index: int) -> None:
        self.name, self.index = name, index
        self.own: list[tuple[int, str, tuple[int, ...]]] = []
        self.entities: list[tuple[int, str, str, int]] = []
        self.text = ""


class _Diag(Reading):
    """The table of ``dcgmi diag``: the checks, and the driver's version."""

    def __init__(self, section: Section) -> None:
        """No test has begun."""
        super().__init__(section)
        self._tests: list[_Test] = []
        self._driver: tuple[int, str] | None = None
        self._in_warning = False

    def cells(self, cells: re.Match[str]) -> None:
        """A row with two cells."""
        left, right = cells["left"].strip(), cells["right"].strip()
        result, message = _RESULT.match(right), _MESSAGE.match(left)
        if result and not message:
            self._result(left, result)
        elif message:
            self._in_warning = message["kind"] == "Warning"
            self._add(cells["right"], "; ")
        elif not left:
            self._add(cells["right"], "")
        elif left.startswith(_DRIVER):
            self._driver = self.index, right

    def _result(self, name: str, found: re.Match[str]) -> None:
        self._in_warning = False
        if name:
            self._tests.append(_Test(name, self.index))
        if not self._tests or found["result"] == _LEFT_OUT:
            return
        result = RESULTS[found["result"].lower()]
        if found["part"]:
            self._tests[-1].entities.append((self.index, result, found["part"], int(found["id"])))
        else:
            gpus = tuple(map(int, re.findall(r"\d{1,4}", found["gpus"] or "")))
            self._tests[-1].own.append((self.index, result, gpus))

    def _add(self, cell: str, between: str) -> None:
        """Take a piece of a message: ``cell`` with the blanks at its ends, which show where a long one was cut."""
        if self._in_warning and self._tests and len(self._tests[-1].text) < _TEXT:
            held = self._tests[-1].text
            self._tests[-1].text = (held.rstrip() + between if held and between else held) + cell[1:-1]

    def end(self) -> None:
        """The checks, then the driver's version."""
        for test in self._tests:
            self.found += _checks(self.section, test)
        if self._driver:
            self.observe("Host", at=self._driver[0], driver=self._driver[1])


def _checks(section: Section, test: _Test) -> Iterator[Observation]:
    """Results of entities where there are such; GPUs with the same result are one check."""
    text = " ".join(test.text.split())[:_TEXT]
    gpus: dict[str, tuple[int, list[int]]] = {}
    for index, result, part, number in test.entities:
        if part == "GPU":
            gpus.setdefault(result, (index, []))[1].append(number)
        else:
            yield check(section, index, DIAG, test.name, result, text, part=f"{part} {number}")
    for result, (index, numbers) in gpus.items():
        yield check(section, index, DIAG, test.name, result, text, gpus=tuple(numbers))
    seen = {result for _, result, _, _ in test.entities}
    for index, result, concerned in test.own:
        if result not in seen and (not seen or result in {"fail", "warn"}):
            yield check(section, index, DIAG, test.name, result, text, gpus=concerned)


class _Health(Reading):
    """The tree of ``dcgmi health --check``: below a kind of device its number, below that its systems."""

    def __init__(self, section: Section) -> None:
        """No device has begun."""
        super().__init__(section)
        self._overall: tuple[int, str] | None = None
        self._kind, self._number = "", ""
        self._systems: list[tuple[int, str, str, str, str]] = []
        self._texts: list[str] = []

    def overall(self, found: re.Match[str]) -> None:
        """The health of the whole."""
        self._overall = self.index, found["health"]

    def cells(self, cells: re.Match[str]) -> None:
        """A row with two cells."""
        left, right = cells["left"].rstrip()[1:], cells["right"].strip()
        node, old, system = _NODE.match(left), _OLD_PART.match(left), _OLD_SYSTEM.match(right)
        if old:
            self._kind, self._number = old["kind"], old["id"]
        elif not left and system:
            self._system(system["system"], system["health"], system["text"])
        elif not left:
            if self._texts:
                self._texts[-1] += f" {right}"
        elif node and "-> " not in left:
            self._kind, self._number = node["label"].strip(), ""
        elif node and node["label"].isdecimal():
            self._number = node["label"]
        elif right.lower() in RESULTS:
            self._system(left.split("-> ", 1)[-1].strip(), right, "")

    def _system(self, name: str, health: str, text: str) -> None:
        self._systems.append((self.index, self._kind, self._number, name, RESULTS[health.lower()]))
        self._texts.append(text)

    def end(self) -> None:
        """A check for each system of each device; one for the whole where no device is named."""
        for (index, kind, number, name, result), text in zip(self._systems, self._texts, strict=True):
            gpus = (int(number),) if kind == "GPU" and number.isdecimal() else ()
            part = None if gpus else f"{kind} {number}".strip() or None
            self.found.append(
                check(self.section, index, HEALTH, name, result, text.strip()[:_TEXT], gpus=gpus, part=part)
            )
        if self._overall and not self._systems:
            result = RESULTS[self._overall[1].lower()]
            self.found.append(check(self.section, self._overall[0], HEALTH, "overall", result, ""))


_FRAME: tuple[Row[Reading], ...] = (
    Row(r"\s*[|+]"),
    Row(r"Successfully ran diagnostic|Health Monitor Report\s*$", belongs=never),
)
_DIAG_ROWS = Rows(_Diag, Row(_CELLS, _Diag.cells), *_FRAME)
_HEALTH_ROWS = Rows(_Health, Row(_OVERALL.pattern, _Health.overall), Row(_CELLS, _Health.cells), *_FRAME)


def continues(lines: Sequence[str], line: str) -> bool:
    """The rows of a table, below its title; of JSON what belongs to the object."""
    if _JSON.match(lines[0]):
        return not decoded.closed(lines[-1], line) and decoded.is_line(line)
    return _DIAG_ROWS.continues(lines, line)


def parse(section: Section) -> Parsed:
    """A check for each result of a test (``pass``, ``skip``, ``warn``, ``fail``) with the GPUs that had it."""
    if section.lines and _JSON.match(section.lines[0]):
        return _dcgmi_json.parse(section)
    return (_HEALTH_ROWS if any(map(_is_health, section.lines[:4])) else _DIAG_ROWS).parse(section)


def _is_health(line: str) -> bool:
    return "Health Monitor Report" in line or _OVERALL.match(line) is not None
