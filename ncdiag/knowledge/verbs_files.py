"""Device files of RDMA cards that exist and cannot be opened, although the message says that they do not exist."""

from __future__ import annotations

from ncdiag.base.patterns import lazy_regex
from ncdiag.facts.derived import derived
from ncdiag.facts.model import Event, Host
from ncdiag.facts.view import View

_ABSENT = lazy_regex(r"(?i)open(?:ing)?(?:_| (?:the )?)device\b.{0,80}\bno such file or directory")
"""A failure of ibv_open_device, or of a program's own words for it, with ENOENT."""


def _failed(host: Host, view: View) -> Event | None:
    return next((e for e in view.job.events if e.host in {host.name, None} and _ABSENT.search(e.text)), None)


@derived
def open_hides_permission(host: Host, view: View) -> bool | None:
    """Did opening a card fail with "No such file or directory" although its file exists?

    Where a file cannot be opened, rdma-core tries the same device by its number under /dev/char and reports the error
    of that (util/open_cdev.c). A container has no such folder, so that a refused permission looks like a missing file.
    """
    failed = _failed(host, view)
    if failed is None:
        return False
    if host.infiniband_devices is None:
        return None
    view.note(failed)
    view.note(host, "infiniband_devices")
    return any(name.startswith("uverbs") for name in host.infiniband_devices)


@derived
def verbs_files_text(host: Host, view: View) -> str:
    """The device files that exist: ``/dev/infiniband/uverbs0``, or their number."""
    names = [name for name in host.infiniband_devices or () if name.startswith("uverbs")]
    return f"/dev/infiniband/{names[0]}" if len(names) == 1 else f"the {len(names)} files /dev/infiniband/uverbs*"
