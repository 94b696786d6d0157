"""A variable with two addresses, which the shell splits: the second one becomes the program that a launcher starts."""

from __future__ import annotations

from ncdiag.base.patterns import lazy_regex
from ncdiag.facts.view import View

_USES = lazy_regex(
    r"(?:--(?:rdzv[-_]endpoint|master[-_]addr)|MASTER_ADDR)[=\s](?P<mark>[\"']?)\$\{?(?P<name>[A-Za-z_]\w{0,60})\}?"
)
_ASKED = "meeting-place-asked"


def split_variable(view: View) -> str:
    """The variable that holds the place where ranks meet, as the launch uses it without quotes; empty: none."""
    used = {
        found["name"] for each in view.job.launches if (found := _USES.search(each.text or "")) and not found["mark"]
    }
    asked = {str(each.fields.get("variable")) for each in view.job.events if each.event == _ASKED}
    names = used & asked or used
    return names.pop() if len(names) == 1 else ""
