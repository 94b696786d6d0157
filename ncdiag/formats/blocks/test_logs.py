"""Logs of tests that passed, with what the tests printed on purpose."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ncdiag.base.patterns import lazy_regex

_LONGEST = 2000

_SUITES = (
    (
        lazy_regex(r"=+ test session starts =+"),
        lazy_regex(r"=+ (?!.*\b(?:failed|errors?)\b).*\b\d+ passed\b.*=+\s*$"),
        lazy_regex(r"=+ .*\b(?:failed|errors?)\b.* in .*=+\s*$"),
    ),
    (lazy_regex(r"\[=+\] Running \d+"), lazy_regex(r"\[  PASSED  \]"), lazy_regex(r"\[  FAILED  \]")),
    (
        lazy_regex(r"=== RUN\s"),
        lazy_regex(r"ok\s+\S+\s+(?:[\d.]+s|\(cached\))|PASS\s*$"),
        lazy_regex(r"\s*--- FAIL|FAIL\b"),
    ),
    (
        lazy_regex(r"Test project \S"),
        lazy_regex(r"Total Test time|100% tests passed"),
        lazy_regex(r"[1-9]\d?% tests passed, [1-9]|.*\*\*\*Failed"),
    ),
    (
        lazy_regex(r"running \d+ tests?\s*$"),
        lazy_regex(r"test result: ok\."),
        lazy_regex(r"test result: FAILED|test .* FAILED"),
    ),
    (
        lazy_regex(r"test_\w+ \([\w.]+\) \.\.\. |\.{3,}[.sxE]*$"),
        lazy_regex(r"OK(?: \(.*\))?\s*$"),
        lazy_regex(r"FAILED \("),
    ),
)
"""How the log of each runner of tests begins, says that all passed, and says that some did not."""
_TIME = lazy_regex(r"\[?\d{4}-\d\d-\d\d[T ][\d:.,]{8,20}(?:Z|[+-]\d\d:?\d\d)?\]? ")


def tests(lines: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Logs of tests that all passed, with what the tests printed."""
    bare = [_TIME.sub("", line[:_LONGEST], count=1) for line in lines]
    for start, passed, failed in _SUITES:
        begin, end = -1, -1
        for index, text in enumerate(bare):
            if begin < 0 and start.match(text):
                begin = index
            elif begin >= 0 and failed.match(text):
                begin, end = -1, -1
                break
            elif begin >= 0 and passed.match(text):
                end = index
        if end > begin >= 0:
            yield begin, end
