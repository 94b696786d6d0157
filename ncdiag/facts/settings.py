"""Fill in how NCCL reads each variable: its number, the value in force, the default of that version, and validity."""

from __future__ import annotations

import msgspec

from ncdiag.facts.model import Host, Job, Rank, Setting
from ncdiag.facts.scalars import VersionRange
from ncdiag.facts.view import Resolve, View


def resolved(job: Job, resolve: Resolve) -> Job:
    """Return the job with number, effective, default and valid of all its settings filled in by ``resolve``."""
    view = View(job)
    filled: dict[int, tuple[VersionRange | None, Setting]] = {}
    """Results by the id of the setting: the same setting object may belong to a host and to the job."""

    def fill(setting: Setting, version: VersionRange | None) -> Setting:
        text = setting.text if setting.is_set is not False else None
        if text is None and setting.is_set is not False:
            return setting
        before = filled.get(id(setting))
        if before is None or before[0] != version:
            before = version, msgspec.structs.replace(setting, **resolve(setting.name, text, version))
            filled[id(setting)] = before
        return before[1]

    def of_rank(rank: Rank) -> Rank:
        version = view.version(rank)
        return msgspec.structs.replace(rank, settings={n: fill(s, version) for n, s in rank.settings.items()})

    def of_host(host: Host) -> Host:
        version = view.version(host)
        return msgspec.structs.replace(
            host, settings={n: fill(s, version) for n, s in host.settings.items()},
            conf_settings={n: fill(s, version) for n, s in host.conf_settings.items()},
        )  # fmt: skip

    return msgspec.structs.replace(
        job, ranks=tuple(of_rank(r) for r in job.ranks), hosts=tuple(of_host(h) for h in job.hosts),
        settings=tuple(fill(s, view.version(s)) for s in job.settings),
    )  # fmt: skip
