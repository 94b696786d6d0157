"""Reports of tests for programs, in XML, JSON and TAP, of tests that all passed, with what the tests printed.

JUnit and its relatives (pytest, Surefire, googletest, CTest), NUnit, xUnit.net and TRX count failures in attributes or
mark each test; so do the reports of pytest, Jest, Mocha, googletest and CTRF, and the events of ``go test -json``,
``cargo test`` and pytest-reportlog, in JSON. A report with one test that failed is a report of that failure.
"""

from __future__ import annotations

import bisect
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec

from ncdiag.base.patterns import lazy_regex

_ROOT = lazy_regex(
    r"\s{0,80}(?:<\?xml[^>]{0,200}\?>\s{0,80})?"
    r"<(?P<name>testsuites?|test-run|test-results|assembl(?:ies|y)|TestRun|Testing)(?=[\s>])"
)
_SOME_ROOT = lazy_regex(r"<(?:test[-s]|assembl|TestRun|Testing)")
_CDATA = lazy_regex(r"<!\[CDATA\[.*?(?:\]\]>|\Z)", re.DOTALL)
_TAG = lazy_regex(r"""<(?P<name>[A-Za-z][\w:.-]{0,60})(?P<rest>(?:[^<>"']|"[^"<]{0,4000}"|'[^'<]{0,4000}'){0,4000})>""")
_COUNTS = lazy_regex(r"""\s(?:failures?|failed|errors?|timeout|aborted)\s?=\s?["'](?P<n>\d{1,9})["']""", re.IGNORECASE)
_OUTCOME = lazy_regex(r"""\s(?:result|outcome|status|success)\s?=\s?["'](?P<word>\w{1,20})["']""", re.IGNORECASE)
_WENT_WRONG = frozenset({"failure", "error"})
"""Elements of a test that failed; ``errors`` is a list, which may be empty."""

_GOOD = frozenset({"pass", "passed", "ok", "success", "successful", "true"})
_BAD = frozenset({"fail", "failed", "failure", "error", "errored", "broken", "crashed", "timeout", "aborted", "false"})

_OUTCOMES = frozenset({"outcome", "status", "result", "event", "action", "state"})
_FAILURES = lazy_regex(
    r"(?:num)?_?(?:(?:total)?_?(?:fail(?:ed|ures?)?|errors?|errored|unexpected|broken))_?(?:tests?(?:suites?)?|count)?",
    re.IGNORECASE,
)
_EXITS = frozenset({"exitcode", "exitstatus"})
_FORMS = (
    frozenset({"action", "package"}), frozenset({"action", "importpath"}),  # go test -json
    frozenset({"exitcode", "summary", "tests"}),  # pytest-json-report
    frozenset({"$report_type"}),  # pytest-reportlog
    frozenset({"numtotaltests", "numfailedtests"}),  # Jest
    frozenset({"tests", "failures", "testsuites"}),  # googletest
)  # fmt: skip
"""Keys of the outermost object by which a report, or an event of one, is known."""
_EVENTS = frozenset({"suite", "test", "bench", "doctest"})
"""Types of the events of ``cargo test -- --format json``."""
_INNER = (("stats", frozenset({"passes", "failures"})), ("summary", frozenset({"tests", "passed", "failed"})))
"""What Mocha, and CTRF below ``results``, call the object with the numbers."""
_MARKED = lazy_regex(
    r'"(?:Action|type|exitcode|\$report_type|numTotalTests|testsuites|stats|summary)"\s?:', re.IGNORECASE
)
_DEEPEST = 12

_VERSION = lazy_regex(r"TAP version \d{1,3}\s*$")
_PLAN = lazy_regex(r"1\.\.(?P<n>[1-9]\d{0,6})\s*$")
_SOME_PLAN = lazy_regex(r"^1\.\.\d{1,7}\s*$", re.MULTILINE)
_POINT = lazy_regex(r"(?P<not>not )?ok\b(?: +\d{1,7})?(?P<rest>.*)")
_EXCUSED = lazy_regex(r".*#\s?(?:todo|skip)", re.IGNORECASE)
_BAIL = lazy_regex(r"Bail out!")


def reports(lines: Sequence[str]) -> Iterator[tuple[int, int]]:
    """The first and last index of each report in which all tests passed."""
    text = "\n".join(lines)  # one search instead of one for each line
    if _SOME_ROOT.search(text):
        yield from _xml(lines)
    if _MARKED.search(text):
        yield from _json(lines)
    if _SOME_PLAN.search(text):
        yield from _tap(lines)


def _xml(lines: Sequence[str]) -> Iterator[tuple[int, int]]:
    begin, name = -1, ""
    for index, line in enumerate(lines):
        if begin < 0 and (found := _ROOT.match(line)):
            begin, name = index, found["name"]
        if begin >= 0 and f"</{name}>" in line:
            if _all_passed_in_xml("\n".join(lines[begin : index + 1])):
                yield begin, index
            begin = -1


def _all_passed_in_xml(text: str) -> bool:
    """True if its elements count or mark tests, and none that failed."""
    passed = False
    for tag in _TAG.finditer(_CDATA.sub("", text)):
        rest = tag["rest"]
        words = {found["word"].lower() for found in _OUTCOME.finditer(rest)}
        if tag["name"] in _WENT_WRONG or words & _BAD or any(int(found["n"]) for found in _COUNTS.finditer(rest)):
            return False
        passed = passed or tag["name"] == "testcase" or bool(words & _GOOD)
    return passed


def _json(lines: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Reports of one object, on one line or indented, and events on consecutive lines."""
    closings = defaultdict[str, list[int]](list)
    for index, line in enumerate(lines):
        if line.strip().rstrip(",") == "}":
            closings[line.rstrip().rstrip(",")].append(index)
    events: list[Mapping[str, Any]] = []
    begin, ends = 0, {-1}
    for index, line in enumerate([*lines, ""]):
        value = _decoded(line) if line.lstrip().startswith("{") and _MARKED.search(line) else None
        if value is not None and _is_event(value):
            begin = begin if events else index
            events.append(value)
            continue
        if events and _verdict(events) is True and _verdict(events[-1]) is True:
            yield begin, index - 1
        events = []
        if value is not None and _is_report(value) and _verdict(value) is True:
            yield index, index
        last = _end(closings, line, index)
        if last not in ends:  # of objects that end on one line, the outermost
            ends.add(last)
            value = _decoded("\n".join(lines[index : last + 1]))
            if value is not None and _is_report(value) and _verdict(value) is True:
                yield index, last


def _end(closings: Mapping[str, Sequence[int]], line: str, index: int) -> int:
    """The line that closes an indented object which begins on this line; -1 if none does."""
    if line.strip() != "{":
        return -1
    found = closings.get(line.rstrip().replace("{", "}"), ())
    place = bisect.bisect_right(found, index)
    return found[place] if place < len(found) else -1


def _decoded(text: str) -> Mapping[str, Any] | None:
    """The object that a text is in JSON; None if it is none."""
    try:
        return msgspec.json.decode(text.encode("utf-8", "replace"), type=dict[str, Any])
    except (ValueError, RecursionError):
        return None


def _keys(value: Mapping[str, Any]) -> set[str]:
    return {key.lower() for key in value}


def _is_event(value: Mapping[str, Any]) -> bool:
    keys = _keys(value)
    return any(form <= keys for form in _FORMS[:2]) or "$report_type" in keys or (
        value.get("type") in _EVENTS and "event" in value
    )  # fmt: skip


def _is_report(value: Mapping[str, Any]) -> bool:
    keys = _keys(value)
    if any(form <= keys for form in _FORMS):
        return True
    results = value.get("results")
    held: Mapping[str, Any] = results if isinstance(results, dict) else value
    return any(isinstance(inner := held.get(name), dict) and form <= _keys(inner) for name, form in _INNER)


def _verdict(value: Any, depth: int = 0) -> bool | None:  # noqa: ANN401
    """False if a part of a report says that something failed, True if one says that all passed, else None."""
    if depth > _DEEPEST:
        return None
    if isinstance(value, list):
        said = [_verdict(each, depth + 1) for each in value]
    elif isinstance(value, dict):
        said = [_said(key, each) for key, each in value.items()]
        said += [_verdict(each, depth + 1) for each in value.values() if isinstance(each, list | dict)]
    else:
        return None
    return False if False in said else True if True in said else None


def _said(key: str, value: Any) -> bool | None:  # noqa: ANN401
    """What one field says of its tests."""
    name = key.lower()
    if isinstance(value, str) and name in _OUTCOMES:
        return True if value.lower() in _GOOD else False if value.lower() in _BAD else None
    if isinstance(value, bool):
        return value if name == "success" else None
    if isinstance(value, int) and (name in _EXITS or _FAILURES.fullmatch(key)):
        return value == 0
    return None


def _tap(lines: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Streams of TAP in which the plan is kept: the points that it announces, and all of them well."""
    begin, planned, points, last = -1, 0, 0, -1
    for index, line in enumerate(lines):
        if plan := _PLAN.match(line):
            begin = index if begin < 0 else begin
            planned, last = int(plan["n"]), index
        elif _VERSION.match(line):
            begin, planned, points = index, 0, 0
        elif begin >= 0 and (point := _POINT.match(line)):
            if point["not"] and not _EXCUSED.match(point["rest"]):
                return
            points, last = points + 1, index
        elif _BAIL.match(line):
            return
        if begin >= 0 and points and points == planned:
            yield begin, last
            begin, planned, points = -1, 0, 0
