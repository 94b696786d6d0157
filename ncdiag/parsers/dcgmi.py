"""``dcgmi diag`` and ``dcgmi health --check``: what DCGM finds wrong with GPUs and switches, as tables and as JSON.

Source of the formats: NVIDIA/DCGM dcgmi/Diag.cpp (v2.x, v3.3.9: ``Fail - GPU: 3`` beside the test; v4.x: a line for
each entity, ``GPU3: Fail``), dcgmi/Health.cpp and DcgmiOutput.cpp. A message that is too long for its cell goes on in
the cells below, in ``diag`` cut anywhere, in ``health`` between words.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from ncdiag.base.spans import Section
from ncdiag.facts.observe import Observation, Parsed, observe
from ncdiag.formats import decoded
from ncdiag.parsers import _dcgmi_json
from ncdiag.parsers._dcgmi_json import DIAG, HEALTH, RESULTS, check

KIND = "dcgmi"
COMMANDS: tuple[str, ...] = ("dcgmi diag", "dcgmi health")
_KEY = r'[ \t]*"DCGM Diagnostic"\s?:[ \t]*\{?[ \t]*$'
ANCHOR = (
    r"Successfully ran diagnostic for group\.|\| Diagnostic[ ]{5,40}\| Result[ ]{5,80}\||Health Monitor Report[ \t]*$"
    r"|\| Health Monitor Report[ ]{5,90}\||[|+]-----  (?:Metadata|Deployment|Hardware|Integration|Stress)  -"
    rf"|{_KEY}"
)

_TITLE = re.compile(r"Successfully ran diagnostic|Health Monitor Report\s*$")
_JSON = re.compile(r"\s*\{?\s*$|" + _KEY)
_CELLS = re.compile(r"\|(?P<left>[^|]{3,80})\|(?P<right>.{3,160})\|\s*$")
_RESULT = re.compile(
    r"(?:(?P<part>[A-Za-z]{2,20})(?P<id>\d{1,4}): )?(?P<result>Pass|Fail|Warn|Skip|Not Run)"
    r"(?: - (?:All|GPUs?: (?P<gpus>\d[\d, ]{0,200})))?\s*$"
)
_MESSAGE = re.compile(r"(?P<kind>Warning|Info)(?:: \w{1,24})?$")
_DRIVER = re.compile(r"Driver Version Detected")
_OVERALL = re.compile(r"\| Overall Health:?\s+(?:\|\s+)?(?P<health>Healthy|Warning|Failure)\s")
_NODE = re.compile(r"(?P<indent>\s{0,12})(?:-> )?(?P<label>\S.{0,40})$")
_OLD_PART = re.compile(r"(?P<kind>GPU|NvSwitch) ID: (?P<id>\d{1,4})$")
_OLD_SYSTEM = re.compile(r"(?P<system>.{2,30}?): (?P<health>Warning|Failure) - (?P<text>.{0,120})")
_LEFT_OUT = "Not Run"
_TEXT = 400


def continues(lines: Sequence[str], line: str) -> bool:
    """The rows of a table, below its title; of JSON what belongs to the object."""
    if _JSON.match(lines[0]):
        return not decoded.closed(lines[-1], line) and decoded.is_line(line)
    return line.lstrip()[:1] in {"|", "+"} and line.strip() != ""


def parse(section: Section) -> Parsed:
    """A check for each result of a test (``pass``, ``skip``, ``warn``, ``fail``) with the GPUs that had it."""
    if section.lines and _JSON.match(section.lines[0]):
        return _dcgmi_json.parse(section)
    reader: _Health | _Diag = _Health(section) if any(map(_is_health, section.lines[:4])) else _Diag(section)
    unread = [i for i, line in enumerate(section.lines) if not reader.take(i, line) and _is_foreign(line)]
    return Parsed(observations=tuple(reader.observations()), unread=tuple(unread))


def _is_health(line: str) -> bool:
    return "Health Monitor Report" in line or _OVERALL.match(line) is not None


def _is_foreign(line: str) -> bool:
    return line.strip() != "" and line.lstrip()[:1] not in {"|", "+"} and not _TITLE.match(line)


class _Test:
    """A test of ``diag``: its own results, those of entities, and what was said about them."""

    def __init__(self, name: str, index: int) -> None:
        self.name, self.index = name, index
        self.own: list[tuple[int, str, tuple[int, ...]]] = []
        self.entities: list[tuple[int, str, str, int]] = []
        self.text = ""


class _Diag:
    """The table of ``dcgmi diag``."""

    def __init__(self, section: Section) -> None:
        self._section = section
        self._tests: list[_Test] = []
        self._driver: tuple[int, str] | None = None
        self._telling = False

    def take(self, index: int, line: str) -> bool:
        """Read a row; False when it is none with two cells."""
        cells = _CELLS.match(line.strip())
        if cells is None:
            return False
        left, right = cells["left"].strip(), cells["right"].strip()
        result, message = _RESULT.match(right), _MESSAGE.match(left)
        if result and not message:
            self._result(index, left, result)
        elif message:
            self._telling = message["kind"] == "Warning"
            self._tell(cells["right"], "; ")
        elif not left:
            self._tell(cells["right"], "")
        elif _DRIVER.match(left):
            self._driver = index, right
        return True

    def _result(self, index: int, name: str, found: re.Match[str]) -> None:
        self._telling = False
        if name:
            self._tests.append(_Test(name, index))
        if not self._tests or found["result"] == _LEFT_OUT:
            return
        result = RESULTS[found["result"].lower()]
        if found["part"]:
            self._tests[-1].entities.append((index, result, found["part"], int(found["id"])))
        else:
            gpus = tuple(map(int, re.findall(r"\d{1,4}", found["gpus"] or "")))
            self._tests[-1].own.append((index, result, gpus))

    def _tell(self, cell: str, between: str) -> None:
        """Take a piece of a message: ``cell`` with the blanks at its ends, which show where a long one was cut."""
        if self._telling and self._tests and len(self._tests[-1].text) < _TEXT:
            held = self._tests[-1].text
            self._tests[-1].text = (held.rstrip() + between if held and between else held) + cell[1:-1]

    def observations(self) -> Iterator[Observation]:
        """The checks, and the driver's version."""
        for test in self._tests:
            yield from _checks(self._section, test)
        if self._driver:
            yield observe(self._section, self._driver[0], "Host", driver=self._driver[1])


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
    told = {result for _, result, _, _ in test.entities}
    for index, result, concerned in test.own:
        if result not in told and (not told or result in {"fail", "warn"}):
            yield check(section, index, DIAG, test.name, result, text, gpus=concerned)


class _Health:
    """The tree of ``dcgmi health --check``: below a kind of device its number, below that its systems."""

    def __init__(self, section: Section) -> None:
        self._section = section
        self._overall: tuple[int, str] | None = None
        self._kind, self._number = "", ""
        self._found: list[tuple[int, str, str, str, str]] = []
        self._texts: list[str] = []

    def take(self, index: int, line: str) -> bool:
        """Read a row; False when it is none of the tree."""
        overall, cells = _OVERALL.match(line), _CELLS.match(line.strip())
        if overall:
            self._overall = index, overall["health"]
        elif cells:
            self._row(index, cells["left"].rstrip()[1:], cells["right"].strip())
        return overall is not None or cells is not None

    def _row(self, index: int, left: str, right: str) -> None:
        node, old, system = _NODE.match(left), _OLD_PART.match(left), _OLD_SYSTEM.match(right)
        if old:
            self._kind, self._number = old["kind"], old["id"]
        elif not left and system:
            self._system(index, system["system"], system["health"], system["text"])
        elif not left:
            if self._texts:
                self._texts[-1] += f" {right}"
        elif node and "-> " not in left:
            self._kind, self._number = node["label"].strip(), ""
        elif node and node["label"].isdecimal():
            self._number = node["label"]
        elif right.lower() in RESULTS:
            self._system(index, left.split("-> ", 1)[-1].strip(), right, "")

    def _system(self, index: int, name: str, health: str, text: str) -> None:
        self._found.append((index, self._kind, self._number, name, RESULTS[health.lower()]))
        self._texts.append(text)

    def observations(self) -> Iterator[Observation]:
        """A check for each system of each device; one for the whole where no device is named."""
        for (index, kind, number, name, result), text in zip(self._found, self._texts, strict=True):
            gpus = (int(number),) if kind == "GPU" and number.isdecimal() else ()
            part = None if gpus else f"{kind} {number}".strip() or None
            yield check(self._section, index, HEALTH, name, result, text.strip()[:_TEXT], gpus=gpus, part=part)
        if self._overall and not self._found:
            yield check(self._section, self._overall[0], HEALTH, "overall", RESULTS[self._overall[1].lower()], "")
