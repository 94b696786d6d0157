"""Fields that only events of some names can have: the others are not asked."""

from __future__ import annotations

from ncdiag.engine.fields import events_with
from ncdiag.facts.model import Event, Job
from ncdiag.facts.view import View
from ncdiag.knowledge import registry
from ncdiag.messages.vocabulary.xids import is_fatal_sxid

CONFINED = {name: field.events for (owner, name), field in registry().items() if field.events is not None}


def test_other_events_do_not_have_the_field() -> None:
    view = View(Job())
    fatal = Event(event="nvswitch-sxid", origin="kernel", text="", fields={"detail": "Fatal, Link 03"})
    assert is_fatal_sxid(fatal, view) is True
    assert is_fatal_sxid(Event(event="gpu-xid", origin="kernel", text=""), view) is False
    assert events_with("is_fatal_sxid") == frozenset({"nvswitch-sxid"})
    assert events_with("is_out_of_space") is None


def test_the_names_are_those_of_events() -> None:
    from ncdiag import catalogue

    known = catalogue.names().events
    assert [field for field, names in CONFINED.items() if not names] == []
    assert {field: names - known for field, names in CONFINED.items() if names - known} == {}
