"""Files that programs fetch from a model hub at start: of which model, and whether the hub was to be asked at all."""

from __future__ import annotations

import re

from ncdiag.base.patterns import lazy_regex
from ncdiag.facts.derived import derived, derived_of
from ncdiag.facts.model import Event
from ncdiag.facts.view import View
from ncdiag.facts.vocabulary.outcome import is_open_failure
from ncdiag.messages.vocabulary.exceptions import EXCEPTION, is_own_exception

_FAILED, _AGAIN, _NAME = "hub-unreachable", "hub-asked-again", "name-unresolved"
_MODEL = r"\.(?:co|com|cn)/(?:(?P<kind>dataset|space)s/)?(?P<name>\w[\w.-]{0,95}/\w[\w.-]{0,95})/resolve/"
_LOOKS_LIKE = r"it looks like (?P<name>\w[\w.-]{0,95}/\w[\w.-]{0,95}) is not the path"


_HUGGING_FACE = r"huggingface\.co|\bhf\.co|hf-mirror\.com"
_HUBS = lazy_regex(
    rf"{_HUGGING_FACE}|modelscope\.cn|download\.pytorch\.org|openaipublic\.blob\.core\.windows\.net"
    r"|dl\.fbaipublicfiles\.com|raw\.githubusercontent\.com|storage\.googleapis\.com|(?<![\w.-])pypi\.org"
    r"|files\.pythonhosted\.org|ngc\.nvidia\.com"
)
"""Public hosts from which programs fetch models, vocabularies and data."""
_NO_WAY = lazy_regex(
    r"(?i)max retries exceeded|network is unreachable|timed? ?out|name or service|name resolution|connection refused"
    r"|no route to host|unable to connect to proxy|tunnel connection failed|failed to establish"
)
"""Why a request got no answer; a status of HTTP is one."""
_ANSWERED = lazy_regex(
    r"\b(?:401|403|404|410|429|50[0234]) (?:Client|Server) Error\b|RepositoryNotFoundError|RevisionNotFoundError"
    r"|EntryNotFoundError: 404|GatedRepo|gated repo|BadRequestError|Too Many Requests"
)
"""The hub was reached, and refused."""
_SENDS = lazy_regex(r"/upload/|\bPUT\b|uploadType=")
"""A request that brings something to the host."""
_OF_FILES = lazy_regex(
    r"(?i)load|fetch|token|offline|cache|vocab|connect|model|weights|resolve|hub\b|network|url|http|retries|\bfiles?\b"
)
"""Words of an exception that passes on that a file could not be fetched."""


@derived_of(_FAILED, EXCEPTION, _NAME)
def is_hub_unreachable(event: Event, view: View) -> bool:
    """Did a program end because it did not reach a public host from which it wanted a file?"""
    asked = _HUBS.search(event.text) is not None and _NO_WAY.search(event.text) is not None
    if event.event != _FAILED and not (asked and "ConnectionPool(host=" in event.text):
        return False
    if not is_open_failure(event, view) or _SENDS.search(event.text) is not None:
        return False
    exceptions = [other for other in view.job.events if other.event == EXCEPTION and other is not event]
    if any(_ANSWERED.search(other.text) and (_HUBS.search(other.text) or "Repo" in other.text) for other in exceptions):
        return False
    return event.event == _FAILED or not any(_ended_by(other, event, view) for other in exceptions)


def _ended_by(other: Event, event: Event, view: View) -> bool:
    """Did the same process go on after the failed request, and end by an exception about something else?"""
    if other.rank != event.rank or other.order <= event.order or _OF_FILES.search(other.text) is not None:
        return False
    return bool(is_own_exception(other, view))


@derived
def is_of_other_hub(event: Event, view: View) -> bool:
    """Is the host another one than Hugging Face's, whose variables do not apply?"""
    return _HUBS.search(event.text) is not None and re.search(_HUGGING_FACE, event.text) is None


@derived_of(_FAILED)
def is_offline_on_purpose(event: Event, view: View) -> bool:
    """Was the library told not to ask the hub?"""
    return "outgoing traffic has been disabled" in event.text


@derived
def hub_model(event: Event, view: View) -> str:
    """The model of the file for huggingface-cli, ``org/model``; a placeholder where no line names it.

    The tool takes a name for that of a model, unless it is told the type: ``org/corpus --repo-type dataset``.
    """
    found = _model(event, view)
    if found is None:
        return "<model>"
    kind = found.groupdict().get("kind")
    return f"{found['name']} --repo-type {kind}" if kind else found["name"]


@derived
def of_hub_file(event: Event, view: View) -> str:
    """The model of the file, or else the host, as the end of a sentence, ``: org/model``; empty where none is named."""
    host = _HUBS.search(event.text)
    found = _model(event, view)
    named = found["name"] if found is not None else host[0] if host is not None else ""
    return f": {named}" if named else ""


def _model(event: Event, view: View) -> re.Match[str] | None:
    named = re.search(_LOOKS_LIKE, event.text) or re.search(_MODEL, event.text)
    if named is not None:
        return named
    for asked in view.job.events:
        found = re.search(_MODEL, asked.text) if asked.event == _AGAIN else None
        if found is not None:
            view.note(asked)
            return found
    return None
