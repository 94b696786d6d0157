"""Numbers of errno in a line: ``err -110``, ``Unknown error -12 (-12)``, ``returned -22``, ``errno=113``.

Kernels, verbs and libfabric return an errno with a minus, and often print only the number. Other libraries have
negative codes of their own, and Python returns the signal that ended a process with a minus: their lines are left out.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from ncdiag.base.patterns import lazy_regex

_NUMBER = lazy_regex(
    r"(?:(?<![a-z0-9])(?:[a-z0-9]\w{0,20}_)?(?P<name>errno|err|errors?|ret|retval|rc|status|return(?:s|ed)?|fail(?:s|ed|ure)?"
    r"|code)(?:\s(?:with|code|value|number|error|status)){0,2}|(?P<chinese>错误码?|返回(?:值|码)?))"
    r"[ \t]?[:=(\[\uff1a]{0,2}[ \t]?(?P<minus>-)?(?P<number>\d{1,3})"
    r"(?![\w%]|\.\d|[ \t]?(?:[nmu]?s|sec|ppm|ppb|db|dbm|c|mv)\b)"
)
_OTHERS = lazy_regex(
    r"\b(?:exit\w*|\w*signal\w*|returncode|return[ _]code|died|killed|terminated|ompi\w*|orte\w*|opal\w*|prte\w*"
    r"|pmix?\w*|mpi_\w+|instead of|ucx|uc[pst]_\w+|getaddrinfo|getnameinfo|gai\w*|nixl\w*|psm\d?\w*|opencl)\b"
)
"""Lines of libraries with other negative codes, and of processes that ended."""
_AGAIN = lazy_regex(r"\b(?:retr(?:y|ies|ied|ying)|again|repeat(?:s|ed|ing)?|re-?poll(?:s|ed|ing)?)\b|重试")
_TRANSIENT = frozenset({4, 11, 16, 105})
"""EINTR, EAGAIN, EBUSY and ENOBUFS: a caller that tries again is healthy."""
_SIGNALS = frozenset({6, 9, 11, 15})
"""Numbers that are a signal, unless the line calls them an error."""
_ERRORS = frozenset({"errno", "err", "error", "errors"})
_GENERAL = 1
"""``-1`` only says that a call failed."""


class Numbered(NamedTuple):
    """An errno in a line, with the characters where it begins and where its number begins."""

    begin: int
    place: int
    number: int
    negative: bool


def errnos(text: str) -> Iterator[Numbered]:
    """The numbers of a line in lower case that are an errno."""
    found = [each for each in _NUMBER.finditer(text) if each["minus"] or each["name"] == "errno"]
    if not found or _OTHERS.search(text):
        return
    again = _AGAIN.search(text) is not None
    for each in found:
        number, negative = int(each["number"]), each["minus"] is not None
        is_signal = negative and number in _SIGNALS and each["name"] not in _ERRORS
        if not is_signal and not (negative and number == _GENERAL) and not (again and number in _TRANSIENT):
            yield Numbered(each.start(), each.start("number"), number, negative)
