"""Words for the kernel's command line, written by the tool of the host's distribution.

Sources: grubby(8) of Red Hat and Fedora, update-grub(8) of Debian and Ubuntu, Linux kernel-parameters.txt.
"""

from __future__ import annotations

from collections.abc import Iterator

from ncdiag.base.patterns import lazy_regex
from ncdiag.facts.assemble_hosts import UNNAMED
from ncdiag.facts.fold import fold_hosts
from ncdiag.facts.model import Event, Host
from ncdiag.facts.view import View
from ncdiag.fixes.values import Bindings, Value, best

_BY_GRUBBY = lazy_regex(r"(?i)red hat|rhel|rocky|alma|centos|fedora|oracle linux|amazon|\.(?:el|fc)\d|\.amzn\d")
_BY_GRUB = lazy_regex(r"(?i)ubuntu|debian|-generic\b|\+deb\d|-amd64\b")
_BY_IMAGE = lazy_regex(r"(?i)\bostree\b|core ?os|silverblue|bottlerocket|flatcar|talos|atomic host")
"""Systems whose words are part of their image, or of what their cluster says: what a tool adds is lost, or refused."""
_LINES = (
    (_BY_GRUBBY, "sudo grubby --update-kernel=ALL --args={word}"),
    (_BY_GRUB, "sudo sed -i 's/^GRUB_CMDLINE_LINUX=\"/&{word} /' /etc/default/grub && sudo update-grub"),
)
_MISSING = "rccl-kernel-setting-missing"
_ASK = ("cat /proc/cmdline", "uname -r")


@best
def pass_iommu_through(view: View, bindings: Bindings) -> Value:
    """The line that lets the IOMMU pass transfers through, for the hosts whose kernel lacks it."""
    hosts = [host for host in view.job.hosts if _lacks(host, bindings, view)]
    if not hosts:
        return Value(reason="no host was shown whose command line lacks it", ask_for=_ASK)
    lines = {_line(host, view) for host in hosts}
    line = lines.pop() if len(lines) == 1 else ""
    names = sorted({host.name for host in hosts} - {UNNAMED})
    if not line:
        return Value(reason="the distribution of the hosts was not seen", ask_for=_ASK)
    where = f"on {fold_hosts(names)}, which then has to be restarted" if names else "then restart the host"
    return Value(text=f"{line}   # {where}", reason="their command lines have no such word")


def _lacks(host: Host, bindings: Bindings, view: View) -> bool:
    """Was the command line of the host shown without the word, or has RCCL said so of this host or of the finding's?"""
    shown = host.kernel_command_line
    if shown is not None:
        return host.iommu_translating is not False and "iommu=" not in shown.replace("amd_iommu=", "")
    concerned = {getattr(fact, "host", None) or getattr(fact, "name", None) for fact in bindings.values()}
    return host.name in concerned and any(_says_so(event, host) for event in view.job.events)


def _says_so(event: Event, host: Host) -> bool:
    return event.event == _MISSING and event.fields.get("setting") == "iommu=pt" and event.host == host.name


def _line(host: Host, view: View) -> str:
    """The line for the distribution; empty if it was not seen."""
    word = "iommu.passthrough=1" if host.cpu_arch == "aarch64" else "iommu=pt"
    texts = " ".join(_signs(host, view))
    if _BY_IMAGE.search(texts):
        return ""
    return next((line.format(word=word) for pattern, line in _LINES if pattern.search(texts)), "")


def _signs(host: Host, view: View) -> Iterator[str]:
    """The texts that show the distribution: its name, and the release of its kernel."""
    yield from filter(None, (host.os_release, host.kernel_release, host.kernel_command_line))
    kernels = (event for event in view.job.events if event.event == "kernel-version" and event.host == host.name)
    yield from (str(event.fields.get("kernel")) for event in kernels)
