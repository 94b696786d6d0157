"""How a job was started: what its launch lines and the first words of its ranks say."""

from __future__ import annotations

from ncdiag.facts.model import RankTable, Setting
from ncdiag.facts.view import View, derived

MPI_PROGRAMS = ("mpirun", "mpiexec", "orterun", "prterun")


def _rank_count(view: View) -> Setting | None:
    """RANK_SIZE is HCCL's own variable, WORLD_SIZE that of PyTorch."""
    found = (view.setting(view.job, name) for name in ("RANK_SIZE", "WORLD_SIZE"))
    return next((setting for setting in found if setting is not None and setting.is_set), None)


@derived
def rank_size_differs(table: RankTable, view: View) -> bool | None:
    """Does the number of ranks in the environment differ from the devices of the table?"""
    setting = _rank_count(view)
    text = (setting.text or "").strip() if setting is not None else ""
    if not text.isdecimal() or not table.devices:
        return None
    if setting is not None:
        view.note(setting)
    return int(text) != len(table.devices)


@derived
def rank_size(table: RankTable, view: View) -> str:
    """The number of ranks in the environment, for people."""
    setting = _rank_count(view)
    return (setting.text if setting is not None else None) or "?"


@derived
def device_count(table: RankTable, view: View) -> int:
    """The number of devices in the table, for people."""
    return len(table.devices)
