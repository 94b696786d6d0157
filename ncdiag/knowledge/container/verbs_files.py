"""Device files of RDMA cards that exist and may not be opened, which the error of rdma-core hides.

Where a file cannot be opened, rdma-core tries the same device by its number under /dev/char and reports the error of
that (util/open_cdev.c). A container has no such folder, so that a refused permission looks like a missing file.
"""

from __future__ import annotations

from collections.abc import Iterator

from ncdiag.base.patterns import lazy_regex
from ncdiag.facts.derived import derived, derived_of
from ncdiag.facts.model import Event, Host
from ncdiag.facts.view import View

_ABSENT = lazy_regex(
    r"(?i)open(?:ing)?(?:_| (?:the )?)device\b.{0,80}\b(?:no such file or directory|ENOENT|errno[ =:]{1,3}2\b)"
)
"""A failure of ibv_open_device, or of a program's own words for it, with ENOENT."""
_REFUSED, _NOT_OPENED = "device-file-refused", "ib-open-device-failed"
_VERBS = "uverbs"


def _failed(host: Host, view: View) -> Event | None:
    """A refused file, or else the first failure to open a card with ENOENT, that the host printed.

    Lines that name no host are of the one on which NCCL could not open a card, or of any.
    """
    failed = view.remembered(
        ("open failed",),
        lambda: [e for e in view.job.events if _ABSENT.search(e.text) or (e.event == _REFUSED and _file_of(e))],
    )
    own = _not_opened(view)
    names: set[str | None] = {each.name for each in _alike(host, view)}
    if host.name in own or not own:
        names.add(None)
    mine = [event for event in failed if event.host in names]
    if any(each.infiniband_closed for each in _alike(host, view)):
        mine += [*view.events_on(host.name, [_NOT_OPENED])]
    return next((event for event in mine if event.event == _REFUSED), mine[0] if mine else None)


def _file_of(event: Event) -> str:
    """The refused file of a card, ``uverbs1``; empty for another one."""
    name = str(event.fields.get("device_file", ""))
    return name if name.startswith(_VERBS) else ""


def _not_opened(view: View) -> set[str]:
    """The hosts on which NCCL could not open a card."""
    return view.remembered(
        ("cards not opened",),
        lambda: {event.host for event in view.job.events if event.event == _NOT_OPENED and event.host},
    )


def _is_shell(host: Host, view: View) -> bool:
    """Is it a name under which only commands were run, such as that of a pod? NCCL may call the machine otherwise."""
    printed = view.remembered(
        ("hosts of NCCL's lines",), lambda: {event.host for event in view.job.events if event.origin == "nccl"}
    )
    return host.name not in printed and not view.ranks_on(host.name)


def _alike(host: Host, view: View) -> Iterator[Host]:
    """The host, and what the only one on which NCCL could not open a card is called by commands."""
    yield host
    if _not_opened(view) == {host.name}:
        yield from (each for each in view.job.hosts if each is not host and _is_shell(each, view))


def _is_told_by_another(host: Host, view: View) -> bool:
    own = _not_opened(view)
    return len(own) == 1 and host.name not in own and _is_shell(host, view)


@derived
def open_hides_permission(host: Host, view: View) -> bool | None:
    """Did opening a card fail with "No such file or directory" although its file exists, or is its file refused?"""
    failed = None if _is_told_by_another(host, view) else _failed(host, view)
    if failed is None:
        shown = any(each.infiniband_devices is not None for each in _alike(host, view))
        return None if host.name in _not_opened(view) and not shown else False
    known = [each for each in _alike(host, view) if each.infiniband_devices is not None]
    for event in view.events_on(host.name, [_NOT_OPENED]):
        if event.host == host.name and "hca" in event.fields:
            view.note(event)
    view.note(failed)
    for each in known:
        view.note(each, "infiniband_devices")
    if failed.event == _REFUSED:
        return True
    return any(name.startswith(_VERBS) for each in known for name in each.infiniband_devices or ()) if known else None


@derived
def open_may_hide_permission(host: Host, view: View) -> bool:
    """Did opening a card fail with ENOENT, by an event or a complaint, and no list shows whether its file exists?"""
    if any(each.infiniband_devices is not None for each in _alike(host, view)):
        return False
    said = next((each for each in view.job.complaints if _ABSENT.search(each.text)), None)
    failed = said or _failed(host, view)
    if failed is not None:
        view.note(failed)
    return failed is not None


@derived
def verbs_files_text(host: Host, view: View) -> str:
    """The device files that are refused, or else that exist: ``/dev/infiniband/uverbs0``, or their number."""
    refused = view.remembered(
        ("refused files",), lambda: [_file_of(event) for event in view.job.events if event.event == _REFUSED]
    )
    closed = [name for each in _alike(host, view) for name in each.infiniband_closed or ()]
    every = [name for each in _alike(host, view) for name in each.infiniband_devices or ()]
    found = [*dict.fromkeys(filter(None, refused))] or closed or every
    names = [name for name in found if name.startswith(_VERBS)]
    return f"/dev/infiniband/{names[0]}" if len(names) == 1 else f"the {len(names)} files /dev/infiniband/uverbs*"


@derived
def unopened_card(host: Host, view: View) -> str:
    """The card that NCCL could not open, ``the RDMA card mlx5_1``, or ``an RDMA card``."""
    names = {str(e.fields["hca"]) for e in view.events_on(host.name, [_NOT_OPENED]) if "hca" in e.fields}
    return f"the RDMA card {min(names)}" if len(names) == 1 else "an RDMA card"


_SKIPPED, _UNSCHEDULABLE = "rdma-card-skipped", "pod-unschedulable"
_OF_RDMA_CARDS = frozenset({"umad", "uverbs"})
"""Files that the plugin asks for after rdma_cm (or issm), which it does not find for a card without RDMA either."""


@derived_of(_SKIPPED)
def is_card_incomplete(event: Event, view: View) -> bool:
    """Does a card with RDMA lack a device file on the node: by the file, or since no pod gets the resource?"""
    if event.fields.get("rdma_file") in _OF_RDMA_CARDS:
        return True
    waiting = view.remembered(("pod without an RDMA card",), lambda: _waiting(view))
    if waiting is not None:
        view.note(waiting)
    return waiting is not None


def _waiting(view: View) -> Event | None:
    """A pod that waits for an RDMA card."""
    return next((e for e in view.events_named(_UNSCHEDULABLE) if "Insufficient rdma" in e.text), None)
