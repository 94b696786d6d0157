"""What the user's interface and device lists leave on a host."""

from __future__ import annotations

from ncdiag.facts.model import Host, Job, Port, Setting
from ncdiag.facts.scalars import Version
from ncdiag.facts.view import View, derived
from ncdiag.nccl.on_host.in_force import CONF
from ncdiag.nccl.selection.names import NameList


@derived
def variables_told(job: Job, view: View) -> tuple[str, ...]:
    """The NCCL variables of which anything is known, looked up once for all hosts."""
    return tuple(sorted({s.name for s in job.settings if s.name.startswith("NCCL_")}))


@derived
def conf_settings_told(job: Job, view: View) -> tuple[Setting, ...]:
    """What the conf files set, as far as they were seen, looked up once for all hosts."""
    return tuple(s for s in job.settings if s.origin == CONF and s.is_set and s.text is not None)


def hca_list(host: Host, view: View) -> NameList | None:
    """The list of NCCL_IB_HCA that is in force on the host."""
    setting = view.setting(host, "NCCL_IB_HCA")
    if setting is None or not setting.is_set or not setting.text:
        return None
    version = view.version(host)
    return NameList.parse(setting.text, version.low if version and version.known else Version(2, 30, 7))


@derived
def should_be_used(port: Port, view: View) -> bool | None:
    """Is the port one that the job means to use.

    Named by NCCL_IB_HCA, equal to ports that are active, or is none active?
    """
    host = view.host(port.host)
    if host is None:
        return None
    wanted = hca_list(host, view)
    if wanted is not None and wanted.items and not wanted.exclude:
        return wanted.admits(port.hca, port.number)
    others = [p for d in host.hcas for p in d.ports if (p.hca, p.number) != (port.hca, port.number)]
    active = [p for p in others if p.state == "active"]
    if any(p.hca == port.hca for p in active):
        return False  # the other port of the same card carries the link
    if not active:
        return None if any(p.state is None for p in others) else True
    alike = [p for p in active if p.link_layer == port.link_layer]
    if any(p.rate_gbps == port.rate_gbps for p in alike if p.rate_gbps):
        return True
    return None if any(None in {p.rate_gbps, port.rate_gbps} for p in alike) else False
