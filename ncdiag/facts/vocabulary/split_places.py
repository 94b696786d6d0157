"""A variable with two addresses, which the shell splits: the second one becomes the program that a launcher starts."""

from __future__ import annotations

import posixpath

from ncdiag.base.patterns import lazy_regex
from ncdiag.facts.derived import derived
from ncdiag.facts.model import Event
from ncdiag.facts.scalars import ip_address
from ncdiag.facts.view import View

_FIELDS = ("missing_command", "file_path", "path")
_PORT = lazy_regex(r":\d{1,5}$")
_USES = lazy_regex(
    r"(?:--(?:rdzv[-_]endpoint|master[-_]addr)|MASTER_ADDR)[=\s](?P<mark>[\"']?)\$\{?(?P<name>[A-Za-z_]\w{0,60})\}?"
)
_ASKED = "meeting-place-asked"


@derived
def address_as_program(event: Event, view: View) -> str:
    """The address, with its port, that was taken for a program or a script; empty for any other name."""
    for field in _FIELDS:
        name = posixpath.basename(str(event.fields.get(field) or "").strip("\"'`"))
        if ip_address(_PORT.sub("", name)) is not None:
            return name
    return ""


def split_variable(view: View) -> str:
    """The variable that holds the place where ranks meet, as the launch uses it without quotes; empty: none."""
    used = {
        found["name"] for each in view.job.launches if (found := _USES.search(each.text or "")) and not found["mark"]
    }
    asked = {str(each.fields.get("variable")) for each in view.job.events if each.event == _ASKED}
    names = used & asked or used
    return names.pop() if len(names) == 1 else ""
