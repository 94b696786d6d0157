"""Known defects of the releases in use that fit what goes wrong (`ncdiag.nccl.defects`).

A defect applies where its release, its condition and its signature are known to hold, and something goes wrong that it
causes. Those marked as a risk also apply before anything failed.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from ncdiag.facts.derived import derived
from ncdiag.facts.model import Event, Gpu, Host
from ncdiag.facts.scalars import Version, VersionRange
from ncdiag.facts.view import View
from ncdiag.facts.vocabulary.barriers import is_late_at_barrier
from ncdiag.facts.vocabulary.gpus import joins_gpus
from ncdiag.facts.vocabulary.hosts import shows_kernel_log
from ncdiag.facts.vocabulary.outcome import is_failure, went_on
from ncdiag.facts.vocabulary.told import cured_by
from ncdiag.knowledge.version.complaints import (
    NO_CHOICE,
    blames_a_variable,
    ended_on_a_gpu,
    fits,
    is_of_phase,
    is_troubled,
    loses_peer_data,
    never_connected,
)
from ncdiag.knowledge.version.conditions import holds, is_avoided, of_host
from ncdiag.knowledge.version.printed import printed, said_framework
from ncdiag.knowledge.version.stacks import dump_with, shows_functions
from ncdiag.messages.vocabulary.seen import goes_well
from ncdiag.nccl.defects.entries import FRAMEWORKS, LABELS, OPEN, Defect, Product, Signature
from ncdiag.nccl.defects.table import leading, rccl_of

LIBRARIES: tuple[Product, ...] = ("nccl", "rccl", "rocm", *sorted(FRAMEWORKS))
PLUGINS: tuple[Product, ...] = ("aws-ofi-nccl", "libfabric", "nvshmem")
ALL: tuple[Product, ...] = (*LIBRARIES, *PLUGINS, "driver")
_SHOWN = 3
"""The number of defects that a line of the table of checks names."""
_XID = "gpu-xid"
_UNSUPPORTED = "NS"
_ENDS = frozenset({"crashes", "fails", "fails-at-init"})
_FIRST = Version(2, 0, 1)
"""The first release of NCCL that the tables are about: a lower one is a number of something else."""


@derived
def release_defect(host: Host, view: View) -> str | None:
    """A known defect of the NCCL, RCCL or PyTorch release on this host, ``NCCL 2.26.2 stops with ...``.

    Empty for none, None if unknown.
    """
    return _sentence(LIBRARIES, host, view)


@derived
def plugin_defect(host: Host, view: View) -> str | None:
    """A known defect of the network plugin or of libfabric; empty for none, None if unknown."""
    return _sentence(PLUGINS, host, view)


@derived
def avoids_defect(host: Host, view: View) -> str:
    """The assignments with which the release does not meet its known defect, ``NCCL_PROTO=^LL128``; empty for none."""
    found, _ = _found(LIBRARIES, host, view)
    return " ".join(f"{name}={value}" for name, value in found[0].avoid.items()) if found else ""


@derived
def defect_setting(host: Host, view: View) -> str:
    """The variable with which the release meets its known defect; empty if it needs none."""
    found, _ = _found(LIBRARIES, host, view)
    return found[0].unset if found else ""


@derived
def defect_way_round(host: Host, view: View) -> str:
    """What avoids the known defect beside a newer release and variables, as a sentence; empty for nothing."""
    found, _ = _found(LIBRARIES, host, view)
    return found[0].around if found else ""


@derived
def plugin_way_round(host: Host, view: View) -> str:
    """What avoids the known defect of the plugin: ``unset NCCL_ALGO``, or assignments; empty for nothing."""
    found, _ = _found(PLUGINS, host, view)
    if not found:
        return ""
    first = found[0]
    return first.around or (
        f"unset {first.unset}" if first.unset else " ".join(f"{k}={v}" for k, v in first.avoid.items())
    )


@derived
def defect_is_open(host: Host, view: View) -> bool:
    """Does no release have the fix of the known defect of NCCL, RCCL or PyTorch? False without one."""
    found, _ = _found(LIBRARIES, host, view)
    return bool(found) and found[0].fixed == OPEN


@derived
def defect_framework(host: Host, view: View) -> str:
    """The framework with the known defect and the release that has the fix, ``DeepSpeed 0.14.4``; empty for none."""
    found, _ = _found(LIBRARIES, host, view)
    first = found[0] if found else None
    if first is None or first.product not in FRAMEWORKS or first.fixed == OPEN:
        return ""
    return f"{LABELS[first.product]} {first.fixed}"


@derived
def plugin_defect_is_open(host: Host, view: View) -> bool:
    """Does no release have the fix of the known defect of the plugin? False without one."""
    found, _ = _found(PLUGINS, host, view)
    return bool(found) and found[0].fixed == OPEN


@derived
def defect_source(host: Host, view: View) -> str:
    """Where the known defect is described: ``v2.26.2-1, issue 1637``; empty without a defect."""
    found, _ = _found((*LIBRARIES, *PLUGINS), host, view)
    return found[0].source if found else ""


@derived
def driver_defect(host: Host, view: View) -> str | None:
    """A known defect of the driver release with a sign of it, ``Driver 525.85.12 of n1 lets ...``; empty for none.

    None when there may be one: the driver, the GPU or the place of its sign was not shown.
    """
    found, known = _found(("driver",), host, view)
    if not found:
        return "" if known else None
    told = _driver(host)
    view.note(told, "driver")
    return f"Driver {told.driver} of {host.name} {found[0].what} (fixed in {_branch(found[0].fixed)})"


@derived
def driver_defect_is_doubtful(host: Host, view: View) -> bool | None:
    """Did the host get past the phase in which the defect of the driver shows?

    None where NVIDIA only suspects the driver: then nobody has confirmed that the fixed release helps.
    """
    found, _ = _found(("driver",), host, view)
    if not found:
        return False
    if found[0].phase == "init" and any(rank.state == "ready" for rank in view.ranks_on(host.name)):
        return True
    return None if found[0].suspected else False


@derived
def avoids_driver_defect(host: Host, view: View) -> str:
    """The assignments with which NCCL does not meet the known defect of the driver; empty for none."""
    found, _ = _found(("driver",), host, view)
    return " ".join(f"{name}={value}" for name, value in found[0].avoid.items()) if found else ""


def _branch(release: str) -> str:
    """``branch 595`` for ``595.0``, which stands for the first release of a branch."""
    return f"branch {release.removesuffix('.0')}" if release.endswith(".0") else release


@derived
def met_defects(host: Host, view: View) -> tuple[str, ...] | None:
    """Known defects whose release and condition this host meets by its GPUs, processor, cards and settings.

    Each is a sentence as of `release_defect`; whether the job runs into it, the job decides. None without a release.
    """
    releases = {product: version_of(product, host, view) for product in ALL}
    if releases["nccl"] is None and releases["rccl"] is None:
        return None
    return tuple(said(defect, str(releases[defect.product])) for defect in _met(releases, host, view))


def _met(releases: dict[Product, VersionRange | None], host: Host, view: View) -> Iterator[Defect]:
    for product, version in releases.items():
        for defect in leading(product):
            own = of_host(defect.when)
            whole = own == defect.when and own.parts
            if version is not None and whole and defect.covers(version) and holds(own, host, view):
                yield defect


@derived
def defects_shown(host: Host, view: View) -> str | None:
    """The known defects that the host meets: ``2: NCCL 2.26.2 stops with ...``; None without a release."""
    met = met_defects(host, view)
    if met is None:
        return None
    more = f"; and {len(met) - _SHOWN} more" if len(met) > _SHOWN else ""
    return f"{len(met)}: {'; '.join(met[:_SHOWN])}{more}" if met else "none"


@derived
def leading_defects(host: Host, view: View) -> tuple[str, ...]:
    """The names of all known defects that fit the job on this host, the most specific one first."""
    return tuple(defect.name for defect in _found(ALL, host, view)[0])


def _sentence(products: tuple[Product, ...], host: Host, view: View) -> str | None:
    found, known = _found(products, host, view)
    if not found:
        return "" if known else None
    first = found[0]
    return said(first, str(version_of(first.product, host, view)))


def said(defect: Defect, release: str) -> str:
    """The defect as a sentence: ``NCCL 2.26.2 stops with ... (fixed in 2.27.0)``."""
    name = LABELS[defect.product]
    if defect.fixed == OPEN:
        return f"{name} {release} {defect.what} (no release has a fix)"
    return f"{name} {release} {defect.what} (fixed in {defect.fixed})"


def _found(products: tuple[Product, ...], host: Host, view: View) -> tuple[list[Defect], bool]:
    """The defects that apply, the most specific first, and whether all are known to apply or not."""
    verdicts = []
    for product in products:
        version = version_of(product, host, view)
        verdicts += [(defect, applies(defect, version, host, view)) for defect in _in_release(product, version, view)]
    hits = [defect for defect, verdict in verdicts if verdict]
    cures = set(cured_by(view.job, view)) if hits else set()
    hits.sort(key=lambda defect: defect.high or _FIRST, reverse=True)  # the release that mends all of them
    hits.sort(
        key=lambda defect: (
            not _cured(defect, cures), not _is_stuck_in(defect, view), -_weight(defect), not is_of_phase(defect, view)
        )
    )  # fmt: skip
    return hits, all(verdict is not None for _, verdict in verdicts)


def _in_release(product: Product, version: VersionRange | None, view: View) -> Sequence[Defect]:
    """The entries of a product without those that its release is known not to have."""
    if version is None:
        return leading(product)
    return view.remembered(
        ("defects", product, version), lambda: [d for d in leading(product) if d.covers(version) is not False]
    )


def _cured(defect: Defect, cures: set[str]) -> bool:
    return any(f"{name}={value}" in cures for name, value in defect.avoid.items())


def _weight(defect: Defect) -> int:
    """How much a job must have in common with the entry."""
    parts = defect.when
    own = len(parts.parts) + len(parts.uses) + len(parts.variables) - bool(parts.uses) - bool(parts.variables)
    return own + (defect.shows != Signature())


def applies(defect: Defect, version: VersionRange | None, host: Host, view: View) -> bool | None:
    """Does the defect explain the job? The three-valued conjunction of release, complaint, condition and signature.

    Unknown only for a risk and for the driver: of the many others, those that nothing shows would ask about every job.
    """
    covered = defect.covers(version) if version is not None else _may_be_there(defect, host, view)
    if covered is False or not _is_due(defect, view) or is_avoided(defect.avoid, host, view):
        return False
    meets = holds(defect.when, host, view)
    if meets is None and _cured(defect, set(cured_by(view.job, view))):
        meets = True  # what avoids it helps: that is as good as the part of the condition that nothing shows
    shown = _shows(defect.shows, host, view) if meets is not False else False
    if meets is False or shown is False:
        return False
    if covered and meets and shown:
        return True
    return None if defect.risk or defect.product == "driver" else False


def _is_due(defect: Defect, view: View) -> bool:
    if defect.product == "driver" and not defect.shows.frames:
        return True  # its signature is a failure by itself
    if defect.complaint == "hangs" and (ended_on_a_gpu(view) or is_late_at_barrier(view)):
        return False  # the ranks wait for one whose kernel failed, or for one that is known
    if defect.complaint in _ENDS and NO_CHOICE not in defect.shows.events and blames_a_variable(view):
        return False
    names = defect.shows.events
    if _failed_so(names, view) or _is_stuck_in(defect, view):
        return True
    if defect.complaint == "hangs" and not names and never_connected(view):
        return False  # a call ended with the error of a connection: its cause is in the network
    return fits(defect, view) or (defect.risk and not is_troubled(view) and not goes_well(view.job, view))


def _is_stuck_in(defect: Defect, view: View) -> bool:
    """Is a running process in one of the functions in which the defect holds it?"""
    dump = dump_with(defect.stuck_in, view, running=True) if defect.stuck_in else None
    if dump is not None:
        view.note(dump)
    return dump is not None


def version_of(product: Product, host: Host, view: View) -> VersionRange | None:
    """The release of the product on the host; None where it is unknown or not in use."""
    if product in {"nccl", "rccl"}:
        version = view.version(host)
        right = _uses_rccl(host, view) == (product == "rccl")
        if version is None and product == "rccl":  # no rank printed it, but ROCm contains it
            rocm = version_of("rocm", host, view)
            contained = rccl_of(rocm.low) if rocm is not None else None
            return VersionRange.exact(str(contained)) if contained is not None else None
        return version if version is not None and right and not version.less(_FIRST) else None
    if product == "driver":
        text = _driver(host).driver
    elif product in FRAMEWORKS:
        text = (host.frameworks or {}).get(product) or said_framework(product, view)
    else:
        text = printed(product, host, view)
    return VersionRange.exact(text) if text else None


def _may_be_there(defect: Defect, host: Host, view: View) -> bool | None:
    """False where the product is known not to be in use; None where its release is unknown."""
    if defect.product == "driver":
        return None
    if defect.product == "nccl":
        return None if not _uses_rccl(host, view) and view.version(host) is None else False
    return False


def _uses_rccl(host: Host, view: View) -> bool:
    if any(rank.library == "RCCL" for rank in view.ranks_on(host.name)):
        return True
    return any("Instinct" in (gpu.model or "") or (gpu.model or "").startswith("MI") for gpu in host.gpus)


def _driver(host: Host) -> Host | Gpu:
    return host if host.driver else next((gpu for gpu in host.gpus if gpu.driver), host)


def _shows(signature: Signature, host: Host, view: View) -> bool | None:
    """Was one of the signs seen? None where its place was not shown."""
    if signature == Signature():
        return True
    signs = list(_signs(signature, host, view))
    return True if True in signs else None if None in signs else False


def _signs(signature: Signature, host: Host, view: View) -> Iterator[bool | None]:
    if signature.events:
        if (event := next(_events(signature.events, view), None)) is not None:
            view.note(event)  # a failure that a cause cites is not reported once more
        yield event is not None
    if signature.frames:
        yield shows_functions(signature.frames, view)
    if signature.xid is not None:
        yield _has_xid(signature.xid, host, view)
    if signature.peers_refused:
        yield _denies_peers(host, view)
    if signature.peers_wrong:
        yield loses_peer_data(host, view)


def _has_xid(xid: int, host: Host, view: View) -> bool | None:
    """Does the kernel log of the host contain the Xid? None where the log was not shown."""
    event = next((e for e in view.events_on(host.name, [_XID]) if e.fields.get("xid") == xid), None)
    if event is not None:
        view.note(event)
        return True
    return False if shows_kernel_log(host, view) else None


def _denies_peers(host: Host, view: View) -> bool | None:
    """Are there GPUs without peer access? None where that was not shown."""
    pairs = [link for link in host.links if joins_gpus(link)]
    states = [{link.p2p_read, link.p2p_write, link.p2p_status} - {None} for link in pairs]
    if (denied := next((e for e, shown in zip(pairs, states, strict=True) if _UNSUPPORTED in shown), None)) is not None:
        view.note(denied)
        return True
    return False if any(states) else None


def _events(names: Collection[str], view: View) -> Iterator[Event]:
    """The events with these names; all events are gone through only if there is one."""
    if any(name in names for name in view.event_names()):
        yield from (event for event in view.job.events if event.event in names)


def _failed_so(names: Collection[str], view: View) -> bool:
    """Was one of these events a failure after which nothing went on?"""
    return any(is_failure(event, view) and not went_on(event, view) for event in _events(names, view))
