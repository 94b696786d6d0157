"""Lists of names that do not say what was meant: prefixes that fit more, carets in the middle, lost defaults."""

from __future__ import annotations

from ncdiag.facts.model import Host, Setting
from ncdiag.facts.scalars import Version
from ncdiag.facts.view import View
from ncdiag.nccl.selection.names import NameList

_NEWEST = Version(2, 30, 7)


def list_of(host: Host, name: str, view: View) -> tuple[Setting, NameList] | None:
    """The setting and what it lists; None where it is not known to be set."""
    setting = view.setting(host, name)
    if setting is None or not setting.is_set or not setting.text:
        return None
    version = view.version(host)
    return setting, NameList.parse(setting.text, version.low if version and version.known else _NEWEST)
