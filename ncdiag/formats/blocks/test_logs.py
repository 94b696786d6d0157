"""Logs of tests that passed, with what the tests printed on purpose."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from ncdiag.base.patterns import lazy_regex
from ncdiag.formats.blocks.test_reports import reports

_LONGEST = 2000

_SUITES = (
    (
        "test session starts",
        lazy_regex(r"=+ test session starts =+"),
        lazy_regex(r"=+ (?!.*\b(?:failed|errors?)\b).*\b\d+ passed\b.*=+\s*$"),
        lazy_regex(r"=+ .*\b(?:failed|errors?)\b.* in .*=+\s*$"),
    ),
    ("] Running ", lazy_regex(r"\[=+\] Running \d+"), lazy_regex(r"\[  PASSED  \]"), lazy_regex(r"\[  FAILED  \]")),
    (
        "=== RUN",
        lazy_regex(r"=== RUN\s"),
        lazy_regex(r"ok\s+\S+\s+(?:[\d.]+s|\(cached\))|PASS\s*$"),
        lazy_regex(r"\s*--- FAIL|FAIL\b"),
    ),
    (
        "Test project ",
        lazy_regex(r"Test project \S"),
        lazy_regex(r"Total Test time|100% tests passed"),
        lazy_regex(r"[1-9]\d?% tests passed, [1-9]|.*\*\*\*Failed"),
    ),
    (
        "running ",
        lazy_regex(r"running \d+ tests?\s*$"),
        lazy_regex(r"test result: ok\."),
        lazy_regex(r"test result: FAILED|test .* FAILED"),
    ),
    (
        "...",
        lazy_regex(r"test_\w+ \([\w.]+\) \.\.\. |\.{3,}[.sxE]*$"),
        lazy_regex(r"OK(?: \(.*\))?\s*$"),
        lazy_regex(r"FAILED \("),
    ),
    (
        "##teamcity[test",
        lazy_regex(r"##teamcity\[test(?:Suite)?Started "),
        lazy_regex(r"##teamcity\[test(?:Suite)?Finished "),
        lazy_regex(r"##teamcity\[(?:testFailed|buildProblem) "),
    ),
)
"""A literal of how the log of each runner of tests begins, how it does, says that all passed, and that some did not."""
_TESTS = r"\b(?:tests?|cases?|checks?|specs?|suites?|assertions?|examples?|scenarios?)\b"
_FAILED = r"(?:not ok|fail(?:ed|ures?|ing|s)?|errors?|errored|broken)"
_ALL_PASSED = lazy_regex(
    rf"(?!.*\b[1-9]\d* {_FAILED}\b)(?!.*\b{_FAILED}\W{{1,3}}[1-9])"
    rf"(?:(?=.*{_TESTS}).*(?:\b(?:0|no|zero) {_FAILED}\b|\b{_FAILED}\W{{1,3}}0\b|\b\d+ (?:passed|ok)\W+\d+ total\b)"
    rf"|.*\ball (?:\d+ |the )?(?:\w+ )?{_TESTS} (?:have |were )?(?:passed|ok|successful)\b"
    r"|100% tests passed\b"
    r"|=* ?(?:\d+ \w+, ){0,6}\d+ passed\b[\w, ]{0,120} in \d[\d.:]*\s?m?s\b)",
    re.IGNORECASE,
)
"""The line below the log of tests of any runner that counts them, and none that failed."""
_PASSES = lazy_regex(
    r"\W{0,8}(?:ok|pass(?:ed)?|success(?:ful)?)\b\W{0,3}\s\W{0,3}\w(?!.*\d (?:passed|failed))|\s*[\u2713\u2714\u2705]\s"
    r"|.*[^\s.:]\s?(?:\.{2,80}|:{1,2})\s?(?:ok|pass(?:ed)?)\W{0,3}(?:\([\d.]+ ?m?s\)\s*)?$"
    r"|(?:\S+::\S+\s+)?passed(?:\s+\[ {0,2}\d{1,3}%\])?\s*$"
    r"|\s*\d+/\d+ Test\s+#\d+: .* Passed +[\d.]+ sec\s*$",
    re.IGNORECASE,
)
_FAILS = lazy_regex(
    r"\W{0,8}(?:not ok|fail(?:ed|ure)?)\b\W{0,3}\s\W{0,3}\w|\s*[\u2717\u2718\u274c]\s"
    r"|.*[^\s.:]\s?(?:\.{2,80}|:{1,2})\s?fail(?:ed)?\W{0,3}(?:\([\d.]+ ?m?s\)\s*)?$"
    r"|(?:\S+::\S+\s+)?(?:failed|error)(?:\s+\[ {0,2}\d{1,3}%\])?\s*$"
    r"|\s*\d+/\d+ Test\s+#\d+: .*\*\*\*",
    re.IGNORECASE,
)
"""The line of one test that passed, and of one that failed."""
_SAY_THAT = ("ok", "pass", "success", "\u2713", "\u2714", "\u2705")
"""One of these is in each line of a test that passed."""
_PASSED = 2
_TIME = lazy_regex(r"\[?\d{4}-\d\d-\d\d[T ][\d:.,]{8,20}(?:Z|[+-]\d\d:?\d\d)?\]? ")


def tests(lines: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Logs of tests that all passed, with what the tests printed."""
    whole = [_TIME.sub("", line, count=1) for line in lines]
    bare = [line[:_LONGEST] for line in whole]
    text = "\n".join(bare)
    for literal, start, passed, failed in _SUITES:
        if literal not in text:
            continue
        begin, end = -1, -1
        for index, line in enumerate(bare):
            if begin < 0 and start.match(line):
                begin = index
            elif begin >= 0 and failed.match(line):
                begin, end = -1, -1
                break
            elif begin >= 0 and passed.match(line):
                end = index
        if end > begin >= 0:
            yield begin, end
    yield from reports(whole)
    yield from _of_any_runner(bare)


def _of_any_runner(lines: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Logs in which several tests pass, none fails, and a line below counts them: each from its first paragraph on."""
    passing = [any(map(line.lower().__contains__, _SAY_THAT)) and _PASSES.match(line) is not None for line in lines]
    if sum(passing) < _PASSED:
        return
    begin, passed = 0, 0
    for index, line in enumerate(lines):
        if _ALL_PASSED.match(line):
            if passed >= _PASSED:
                yield begin, index
            begin, passed = index + 1, 0
        elif _FAILS.match(line):
            return
        elif passing[index]:
            if not passed:
                while index > begin and lines[index - 1].strip():  # what the first test printed is above its line
                    index -= 1  # noqa: PLW2901
                begin = index
            passed += 1
