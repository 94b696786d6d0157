"""What kubectl shows: the pod or machine whose output follows a command, or a description."""

from __future__ import annotations

from ncdiag.base.patterns import lazy_regex
from ncdiag.text.sections.prompt import prefixes, short_host

_DESCRIBED = lazy_regex(r"Name:\s{3,40}(?P<name>[a-z0-9][a-z0-9.-]{0,252})\s*$")
"""The first line of ``kubectl describe``."""
_KUBECTL = frozenset({"kubectl", "oc"})
_BARE_GLOBALS = frozenset({"-A", "--all-namespaces", "--insecure-skip-tls-verify", "--match-server-version"})
"""Options of kubectl without a value; the others before the verb have one (``kubectl options``)."""
_GLOBALS_LENGTH = 16
_MACHINE = lazy_regex(r"-|(?:po|pods?|no|nodes?)(?:/|$)")
_LOGS = lazy_regex(r"(?:po|pods?)/(?P<pod>[a-z0-9][a-z0-9.-]{0,252})$|(?P<name>[a-z0-9][a-z0-9.-]{0,252})$")
_OF_LOGS = frozenset({
    "-c", "--container", "--since", "--since-time", "--tail", "--limit-bytes", "--max-log-requests", "-n",
    "--namespace", "--pod-running-timeout", "--context", "--cluster", "--kubeconfig",
})  # fmt: skip
"""Options of ``kubectl logs`` that take the next word as their value."""
_PODS = frozenset({"po", "pod", "pods"})
_SELECTS = ("-l", "--selector", "--all-pods")


def without_globals(words: list[str]) -> list[str]:
    """The words of a command without the options of kubectl that stand before its verb: ``kubectl -n ml get pods``."""
    if words[0] not in _KUBECTL:
        return words
    at = 1
    while at < len(words) and words[at].startswith("-"):
        at += 1 if "=" in words[at] or words[at] in _BARE_GLOBALS else 2
    return [words[0], *words[at:]]


def describes_other(command: str) -> bool:
    """Is it ``kubectl describe`` of something that is no machine of the job, such as a service or a policy?"""
    words = without_globals(command.split()[:_GLOBALS_LENGTH] or [""])
    return words[1:2] == ["describe"] and len(words) > 2 and not _MACHINE.match(words[2])  # noqa: PLR2004


def described(line: str) -> str | None:
    """The pod or node whose ``kubectl describe`` output begins with this line, also in a log with heads, or None."""
    if "Name:" not in line or len(line) >= 300:  # noqa: PLR2004
        return None
    texts = (line, *(prefix.removed(line) or "" for prefix in prefixes(line)))
    found = next(filter(None, map(_DESCRIBED.match, texts)), None)
    return short_host(found["name"]) if found else None


def logged(command: str) -> str | None:
    """The pod that ``kubectl logs`` or ``kubectl describe pod`` prints; None for another command, and for several."""
    words = without_globals(command.split("|", maxsplit=1)[0].split()[:_GLOBALS_LENGTH] or [""])
    if words[1:2] == ["describe"] and words[2:3] and (words[2] in _PODS or words[2].partition("/")[0] in _PODS):
        words[1:3] = ["logs", *words[2:3]] if "/" in words[2] else ["logs"]
    if words[0] not in _KUBECTL or words[1:2] != ["logs"] or any(word.startswith(_SELECTS) for word in words):
        return None
    skip = False
    for word in words[2:]:
        if skip or word.startswith("-"):
            skip = not skip and word in _OF_LOGS
            continue
        found = _LOGS.match(word)
        return short_host(found["pod"] or found["name"]) if found else None
    return None
