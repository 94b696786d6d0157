"""An address that a launcher took for its program, since the shell split the value of a variable."""

from __future__ import annotations

import posixpath

from ncdiag.base.patterns import lazy_regex
from ncdiag.facts.derived import derived
from ncdiag.facts.model import Event
from ncdiag.facts.scalars import ip_address
from ncdiag.facts.view import View

_FIELDS = ("missing_command", "file_path", "path")
_PORT = lazy_regex(r":\d{1,5}$")


@derived
def address_as_program(event: Event, view: View) -> str:
    """The address, with its port, that was taken for a program or a script; empty for any other name."""
    for field in _FIELDS:
        name = posixpath.basename(str(event.fields.get(field) or "").strip("\"'`"))
        if ip_address(_PORT.sub("", name)) is not None:
            return name
    return ""
