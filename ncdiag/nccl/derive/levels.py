"""Limits of distance: what NCCL_NET_GDR_LEVEL and NCCL_P2P_LEVEL leave, and what NCCL does without them."""

from __future__ import annotations

from ncdiag.facts.model import Job, Rank, Setting, TopoCpu
from ncdiag.facts.scalars import Version
from ncdiag.facts.view import View, derived
from ncdiag.nccl import paths, versions
from ncdiag.nccl.selection import p2p

GDR_LEVEL, P2P_LEVEL, P2P_DISABLE = "NCCL_NET_GDR_LEVEL", "NCCL_P2P_LEVEL", "NCCL_P2P_DISABLE"
_MANY = 8
"""GPUs of a host that are taken for granted where they were not counted: two would make a difference."""
_ECHO = "log echo"
_ECHOED_APART = Version(2, 23)
"""Before, NCCL_P2P_DISABLE=1 is echoed as ``NCCL_P2P_LEVEL set by environment to LOC`` (src/graph/paths.cc:218)."""


@derived
def p2p_is_disabled(setting: Setting, view: View) -> bool:
    """True if the variable switches peer access off: NCCL_P2P_DISABLE=1, or NCCL_P2P_LEVEL that is LOC."""
    return (setting.name == P2P_DISABLE and setting.number == 1) or (
        setting.name == P2P_LEVEL and setting.effective == "LOC"
    )


def _set_by(setting: Setting, view: View) -> Setting | None:
    """The setting that stands behind one that switches peer access off; None where a log leaves it open."""
    version = view.version(setting)
    if setting.origin != _ECHO or setting.name == P2P_DISABLE or (version is not None and version.low >= _ECHOED_APART):
        return setting
    return next((s for s in view.job.settings if s.origin != _ECHO and view.get(s, "p2p_is_disabled")), None)


@derived
def p2p_variable(setting: Setting, view: View) -> str:
    """The variable that switches peer access off; nothing where it is not known which of the two does."""
    found = _set_by(setting, view)
    return found.name if found is not None else ""


@derived
def p2p_switch(setting: Setting, view: View) -> str:
    """``NCCL_P2P_DISABLE=1``: what switches peer access off, as far as it can be told."""
    found = _set_by(setting, view)
    return f"{found.name}={found.text}" if found is not None else f"{P2P_DISABLE}=1 or {P2P_LEVEL}=LOC"


@derived
def p2p_switch_told(job: Job, view: View) -> str:
    """The same for the job; nothing where nothing does."""
    found = next((s for s in job.settings if view.get(s, "p2p_is_disabled")), None)
    return view.get(found, "p2p_switch") if found is not None else ""


@derived
def limits_p2p(rank: Rank, view: View) -> bool | None:
    """True if NCCL_P2P_LEVEL leaves peer access to some distance and not to all."""
    setting = view.setting(rank, P2P_LEVEL)
    if setting is None or setting.is_set is None:
        return None
    if not setting.is_set or setting.valid is False:
        return False
    return None if setting.effective is None else setting.effective not in {"LOC", "SYS"}


@derived
def unset_widens_p2p(rank: Rank, view: View) -> bool:
    """True if NCCL's own limit is known to reach farther than NCCL_P2P_LEVEL.

    The default hangs on the release, the processor and the number of GPUs (`ncdiag.nccl.selection.p2p`).
    """
    setting, host, version = view.setting(rank, P2P_LEVEL), view.host(rank.host), view.version(rank)
    if setting is None or host is None or not isinstance(setting.effective, str):
        return False
    processor = TopoCpu(arch=host.cpu_arch, vendor=host.cpu_vendor)
    gpus = len(host.gpus) or _MANY
    mine = setting.effective

    def widens(exact: Version) -> bool | None:
        default, _ = p2p.level({}, exact, processor, gpus)
        if default is None:  # every default reaches as far as PXB
            return paths.is_within("PXB", mine, exact) is False
        return paths.is_within(default, mine, exact) is False

    return versions.agreed(version, p2p.CHANGES, widens) is True
