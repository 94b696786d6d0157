"""NCCL_HOSTID, by which NCCL decides which ranks are on one machine: does it join machines that are not one?"""

from __future__ import annotations

from ncdiag.facts.derived import derived
from ncdiag.facts.model import Event, Setting
from ncdiag.facts.view import View
from ncdiag.facts.vocabulary.launches import POD
from ncdiag.facts.vocabulary.platforms import platforms

_VARIABLE = "NCCL_HOSTID"
_DUPLICATE = "duplicate-gpu"
_MANIFEST = "manifest"


@derived
def joining_host_id(event: Event, view: View) -> str:
    """The one value of NCCL_HOSTID that pods of a manifest, or several hosts, have as a GPU seems to be used twice."""
    if event.event != _DUPLICATE:
        return ""
    of_all = [each for each in view.job.settings if _is_literal(each) and each.origin == _MANIFEST]
    if of_all and POD in platforms(view.job, view):
        view.note(of_all[0])
        return of_all[0].text or ""
    held = [
        each for host in view.job.hosts if (each := view.setting(host, _VARIABLE)) is not None and _is_literal(each)
    ]
    if len(held) > 1 and len({each.text for each in held}) == 1:
        view.note(held[0])
        view.note(held[1])
        return held[0].text or ""
    return ""


def _is_literal(setting: Setting) -> bool:
    text = setting.text or ""
    return setting.name == _VARIABLE and setting.is_set is True and bool(text) and not set("$`") & set(text)
