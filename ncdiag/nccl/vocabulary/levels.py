"""NCCL_NET_GDR_LEVEL, NCCL_P2P_LEVEL and NCCL_P2P_DISABLE, which limit the paths of transfers."""

from __future__ import annotations

from ncdiag.facts.derived import derived, derived_for
from ncdiag.facts.model import Job, Setting
from ncdiag.facts.scalars import Version
from ncdiag.facts.view import View

GDR_LEVEL, P2P_LEVEL, P2P_DISABLE = "NCCL_NET_GDR_LEVEL", "NCCL_P2P_LEVEL", "NCCL_P2P_DISABLE"
_ECHO = "log echo"
_ECHOED_APART = Version(2, 23)
"""Before this release, NCCL_P2P_DISABLE=1 is echoed as a level.

The line is ``NCCL_P2P_LEVEL set by environment to LOC`` (src/graph/paths.cc:218).
"""


@derived_for(P2P_DISABLE, P2P_LEVEL)
def p2p_is_disabled(setting: Setting, view: View) -> bool:
    """Does the variable switch peer access off: NCCL_P2P_DISABLE=1, or NCCL_P2P_LEVEL=LOC?"""
    return (setting.name == P2P_DISABLE and setting.number == 1) or (
        setting.name == P2P_LEVEL and setting.effective == "LOC"
    )


def p2p_setting(setting: Setting, view: View) -> Setting | None:
    """The setting that the user made to switch peer access off; None where a log does not show which one it was."""
    version = view.version(setting)
    if setting.origin != _ECHO or setting.name == P2P_DISABLE or (version is not None and version.low >= _ECHOED_APART):
        return setting
    return view.remembered(("peer access, set by the user",), lambda: _set_by_user(view))


def _set_by_user(view: View) -> Setting | None:
    """The first setting of the user that switches peer access off."""
    return next((s for s in view.job.settings if s.origin != _ECHO and p2p_is_disabled(s, view)), None)


@derived
def p2p_switch(setting: Setting, view: View) -> str:
    """The variable that switches peer access off, ``NCCL_P2P_DISABLE=1``, as far as it is known."""
    found = p2p_setting(setting, view)
    return f"{found.name}={found.text}" if found is not None else f"{P2P_DISABLE}=1 or {P2P_LEVEL}=LOC"


@derived
def p2p_switch_told(job: Job, view: View) -> str:
    """The variable that switches peer access off in the job, ``NCCL_P2P_DISABLE=1``; empty where none does."""
    found = next((s for s in job.settings if p2p_is_disabled(s, view)), None)
    return p2p_switch(found, view) if found is not None else ""
