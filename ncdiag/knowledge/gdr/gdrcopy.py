"""GDRCopy: whether the kernel refuses its module, gdrdrv, or does not have it."""

from __future__ import annotations

from ncdiag.base.patterns import lazy_regex
from ncdiag.facts.derived import derived_of
from ncdiag.facts.model import Event, Job
from ncdiag.facts.view import View
from ncdiag.facts.vocabulary.outcome import outcome

_GDRDRV = lazy_regex(r"(?:[^\s\"']*/)?gdrdrv(?:\.ko(?:\.[xgz]z|\.zst)?)?(?:/[\w./-]*)?")
"""The module: by its name, by the path of its file, or with the release that DKMS appends."""
_OTHER_REASONS = frozenset({"File exists", "Operation not permitted", "Permission denied"})
"""What a kernel answers that has the module already, or a user or container without the right to load one."""
_ENABLES, _OFF = "NCCL_GDRCOPY_ENABLE", frozenset({"", "0"})


@derived_of("module-not-found", "module-insert-failed", "module-symbol", "dkms-module-not-built")
def is_gdrdrv_unusable(event: Event, view: View) -> bool:
    """Does the line say that the kernel has no usable gdrdrv, and nothing shows that it was loaded afterwards?

    Programs can do without it: a job that ended normally needs it only if somebody complains, or switched GDRCopy on.
    """
    if not _GDRDRV.fullmatch(str(event.fields.get("module", ""))) or event.fields.get("error") in _OTHER_REASONS:
        return False
    if outcome(view.job, view) == "finished" and not _is_asked_for(view.job, view):
        return False
    named = view.host(event.host)
    hosts = view.job.hosts if named is None else (named,)
    return not any(module.name == "gdrdrv" for host in hosts for module in host.modules)


def _is_asked_for(job: Job, view: View) -> bool:
    """Does somebody complain of the job, or did somebody set that NCCL should use GDRCopy?"""
    setting = view.setting(job, _ENABLES)
    return bool(job.complaints) or (setting is not None and (setting.text or "").strip() not in _OFF)
