"""Logs of servers and services that no job consists of: programs in Java, web servers, databases.

Their own formats show them: the class of Java that logs a line, the process and the connection of a web server, the
levels of a database.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from ncdiag.base.patterns import lazy_regex
from ncdiag.formats.blocks.stretches import stretches

_LEAST = 5
_LONGEST = 2000
_SHARE = 0.9
_LEVEL = r"(?:TRACE|DEBUG|INFO|NOTICE|WARN(?:ING)?|ERROR|FATAL|SEVERE)"
_CLASS = r"(?:[a-z][a-z0-9_]{0,40}\.){1,12}[A-Z][\w$]{1,80}"
"""A class of Java, with its package or the first letters of it."""
_SERVICES = (
    # log4j and logback: time, level, thread, class of the logger, in the orders of Hadoop, Spark, Kafka and Spring
    rf"\[?[\d/.-]{{6,10}}[T ][\d:.,]{{6,15}}\S{{0,6}}\s.{{0,12}}\b{_LEVEL}\b.{{0,100}}?\b{_CLASS}\s?[:(\[@-]",
    rf"\[?[\d/.-]{{6,10}}[T ][\d:.,]{{6,15}}.{{0,12}}\b{_LEVEL}\b.{{1,1600}}\({_CLASS}\)\s*$",
    rf"\[[\dT:.,-]{{19,30}}\]\[{_LEVEL}\s*\]\[(?:[a-z]\w{{0,30}}\.){{1,8}}[A-Z]\w{{1,60}}\s*\]",
    rf"[\d-]{{10}} [\d:,.]{{8,13}} - {_LEVEL}\s+\[.{{1,120}}@\d{{1,6}}\] - ",
    r"\s+at (?:[\w$]+\.){1,12}[\w$<>]+\([\w.$ ]+(?::\d+)?\)|Caused by: |\s+\.\.\. \d+ more\s*$",
    # services of OpenStack
    rf"(?:\S{{1,80}} )?[\d-]{{10}} [\d:.]{{8,15}} \d+ {_LEVEL} [a-z_]+(?:\.[a-z_0-9]+){{1,8}} \[(?:req-|None|-)",
)
_THROWN = r"(?:[a-z]\w{0,30}\.){1,12}[A-Z]\w{1,60}(?:Exception|Error)\b|[A-Z]\w{1,60}Exception(?::|$)"
"""An exception, which Java and Python name alike: it belongs to the log of a service beside a line that shows one."""
_CARRIERS = (
    # nginx, Apache httpd, and requests in their common format
    r"\d{4}/\d\d/\d\d \d\d:\d\d:\d\d \[[a-z]{4,6}\] \d+#\d+: ",
    r"\[[A-Z][a-z]{2} [A-Z][a-z]{2} \d\d [\d:.]{8,15} \d{4}\] \[[\w:-]{1,30}\] ",
    r"(?:\S{1,80} )?[\da-fA-F.:]{3,40} \S{1,60} \S{1,60} \[\d\d/[A-Z][a-z]{2}/\d{4}:[\d: +-]{8,15}\] \"",
    # PostgreSQL, MySQL and MariaDB, Redis, MongoDB
    (
        r"[\d-]{10} [\d:.]{8,15} [A-Z]{2,5} (?:\[[\d-]{1,20}\]:? ?)?.{0,80}?\b(?:LOG|ERROR|FATAL|PANIC|STATEMENT|DETAIL"
        r"|HINT|WARNING|CONTEXT):  "
    ),
    r"[\d-]{10}T[\d:.]{8,15}\S{1,6} \d+ \[(?:Note|System|Warning|ERROR|Error)\] \[MY-\d{4,8}\]",
    r"(?:\d{4}-\d\d-\d\d|\d{6}) {1,2}\d{1,2}:\d\d:\d\d (?:\d+ )?\[(?:Note|Warning|ERROR)\] ",
    r"\d{1,10}:[MSCX] \d{1,2} [A-Z][a-z]{2} (?:\d{4} )?[\d:.]{8,15} [#*.-] ",
    r"\{\"t\":\{\"\$date\":\"",
)
"""Services that log what others sent them: a request, a statement. A word in it is no trace of a job on this host."""
_CARRIED = "|".join(f"(?:{form})" for form in _CARRIERS)
_LINE = lazy_regex(
    "|".join(f"(?P<carrier>{form})" if form is _CARRIED else f"(?:{form})" for form in (_CARRIED, *_SERVICES))
    + f"|(?P<thrown>{_THROWN})"
)
"""A line in one of these formats, found by one search."""


def service_log(lines: Sequence[str], trace: re.Pattern[str]) -> Iterator[tuple[int, int]]:
    """The first and last index of each stretch of requests and statements, and of a text that consists of such logs.

    Not of such a text if a line of another service has a ``trace`` of a job: Java is a part of some.
    """
    found = [_LINE.match(line[:_LONGEST]) if line.strip() else None for line in lines]
    carried = [each is not None and each["carrier"] is not None for each in found]
    logged = sum(each is not None for each in found)
    if sum(carried) >= _LEAST:
        yield from stretches(index for index, each in enumerate(carried) if each)
    if logged < _LEAST or logged < _SHARE * sum(bool(line.strip()) for line in lines):
        return
    if all(each is None or each["thrown"] is not None for each in found):
        return
    if not any(trace.search(line[:_LONGEST]) for line, each in zip(lines, carried, strict=True) if not each):
        yield from stretches(index for index, each in enumerate(found) if each)
