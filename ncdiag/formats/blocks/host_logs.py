"""Logs of hosts without a trace of a job, with no GPU, RDMA, MPI or training in them, and lines of ssh servers."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence

from ncdiag.base.patterns import lazy_regex
from ncdiag.formats.blocks.service_logs import service_log
from ncdiag.formats.blocks.stretches import stretches
from ncdiag.formats.guarded import guarded_regex

_LEAST = 5
_LONGEST = 2000
_SHARE = 0.9
_LINE = lazy_regex(
    r"(?:- \d{9,10} \d{4}\.\d\d\.\d\d \S+ )?(?:<\d{1,3}>)?(?:[A-Z][a-z]{2} {1,2}\d{1,2} \d\d:\d\d:\d\d"
    r"|\d{4}-\d\d-\d\dT[\d:.+Z-]+) "
    r"(?P<host>[\w.@/#-]{1,80}) (?P<text>.*)"
)
_TRACE = guarded_regex(
    r"gpu|nvidia|nvrm|\bxid\b|cuda|nccl|rdma|\bmlx|infiniband|\bib\d|\bib_(?!sm)|\bmpi|\bopal|\borte|torch"
    r"|\btrain|slurm|srun|python|\brank\b"
    r"|\bpt_|amdgpu|rocm|\bhccl|\bucx|roce\b|\bgdr|peermem|deepspeed|horovod|jax|tensorflow|vllm|\bray\b|kubelet"
    r"|docker|containerd|pcieport"
    r"|\baer\b|mce:|edac|iommu|hugepage",
    re.IGNORECASE,
)
"""Words of machines that train, and of what may be their fault."""
_CORRECTED = lazy_regex(r"(?i)\bcorrected\b")
_OF_A_DESK = lazy_regex(
    r"(?:iwlwifi|ath\d\w{0,9}|rtw\w{0,8}|rtl\w{0,8}|brcm\w{1,8}|b43|wl|mt7\w{2,6}|rtsx_pci|snd_\w{1,20}|sdhci\w{0,8}|i915|xhci_hcd)"
    r" (?P<device>(?:[0-9a-f]{4,5}:)?[0-9a-f]{2}:[0-9a-f]{2}\.\d)",
    re.IGNORECASE,
)
"""The driver of a wireless card, of a card reader or of sound, and its device."""
_OF_A_SCREEN = lazy_regex(
    r"nvidia-(?:modeset|drm)\b.*\b(?:EDID|display device|HDMI|DVI|DP-\d|monitor)\b", re.IGNORECASE
)
"""What the driver says of a screen: a machine with one need not train."""
_SERVES = guarded_regex(
    r"\bnfs|lustre|\bmmfs|gpfs|\bceph|beegfs|\bweka|\bopensm|\bufm\b|\bswitch|\bport\b(?! \d)|\blink(?!s?\.)|ethernet\d"
    r"|\bpfc\b|\becn\b|\bbgp\b|transceiver|optic|\bfabric|\bntp|chrony|\bdhcp|\bnamed\[|dnsmasq|\bpower\b|\bpdu\b|temperature"
    r"|\bbmc\b|ipmi",
    re.IGNORECASE,
)
"""Words of storage, networks and power, on which machines that train depend, though nothing trains there."""
_SERVICE = guarded_regex(
    r"\b(?:postfix|dovecot|exim|sendmail|imap|nginx|apache2?|httpd|haproxy|varnish|squid|traefik|php|tomcat|java|ruby"
    r"|mysqld?|mariadbd?|postgres|redis|mongod|memcached|elasticsearch|kafka|zookeeper|rabbitmq|hadoop|hdfs|hbase|cassandra"
    r"|smbd|nmbd|vsftpd|proftpd|openvpn|asterisk|cupsd?|gdm|sddm|gnome|plasma|firefox|chrome|jenkins|gitlab|grafana)\b",
    re.IGNORECASE,
)
"""What runs on machines for other things: mail, pages, databases, desktops."""
_PROGRAMS = (
    r"(?:postfix|amavis|dovecot|exim|sendmail|opendkim|spamd|rspamd|clamd|nginx|apache2?|httpd|haproxy|varnish\w*|squid|traefik"
    r"|mysqld?|mariadbd?|postgres\w*|redis\w*|mongod)\b"
)
_CARRIES = lazy_regex(rf"{_PROGRAMS}\S{{0,40}}:\s")
"""Programs that log what others sent them: the subject of a mail, a request, a statement."""
_SERVERS = guarded_regex(rf"sshd|{_PROGRAMS}")
"""A name of a server, which few lines have."""
_NAME = lazy_regex(r"[A-Za-z][\w-]{1,60}(?:\.[\w-]{1,60}){0,8}")
_NUMBER = lazy_regex(r"\d+")
_SERVED = lazy_regex(
    r"sshd(?:-session|-auth)?(?:\[\d+\])?: .*(?:kex_(?:exchange|protocol)|ssh_dispatch|banner exchange"
    r"|[Cc]onnection (?:closed|reset)|[Ii]nvalid user|Failed (?:password|publickey)|authentication (?:attempts|failure)"
    r"|before authentication|[Dd]isconnect|Unable to negotiate|Bad protocol)"
)
"""What an ssh server logs about its clients: any host on a public network is scanned. The client of a launcher
complains in the output of the job."""

Line = re.Match[str] | None
"""A line as the log of a host: its ``host`` and ``text``."""


def other_systems(lines: Sequence[str]) -> Iterator[tuple[int, int]]:
    """The logs of hosts without a trace of a job, and each line of any host that is about clients of its servers."""
    yield from foreign_log(lines)
    for index, line in enumerate(lines):
        found = _LINE.match(line[:_LONGEST]) if _SERVERS.search(line[:_LONGEST]) else None
        if found and any(form.match(found["text"]) for form in (_SERVED, _CARRIES)):
            yield index, index


def foreign_log(lines: Sequence[str]) -> Iterator[tuple[int, int]]:
    """The first and last index of each stretch of the log of a host or a server that has nothing to do with a job."""
    yield from _host_log(lines)
    yield from service_log(lines, _TRACE)


def _host_log(lines: Sequence[str]) -> Iterator[tuple[int, int]]:
    """The stretches of a text that are logs of hosts that are not those of the rest, and have no trace of a job."""
    found = [_LINE.match(line[:_LONGEST]) for line in lines]
    written = sum(bool(line.strip()) for line in lines)
    logged = sum(each is not None for each in found)
    if logged < _LEAST:
        return
    hosts = {each["host"] for each in found if each is not None}
    rest = [line for line, each in zip(lines, found, strict=True) if each is None]
    if logged < _SHARE * written and any(host in line for host in hosts for line in rest):
        return
    spared = {on["device"] for each in found if each and (on := _OF_A_DESK.search(each["text"][:_LONGEST]))}
    traced = {each["host"] for each in found if each is not None and _is_trace(each["text"], spared)}
    others = hosts - traced
    if traced:
        others = set(_unrelated(others, traced, found))
    yield from stretches(index for index, each in enumerate(found) if each is not None and each["host"] in others)


def _is_trace(text: str, spared: Collection[str]) -> bool:
    """True if a line is of a machine that may train; not for corrected errors of the ``spared`` devices."""
    if _CORRECTED.search(text) and any(device in text for device in spared):
        return False
    return _TRACE.search(text) is not None and _OF_A_SCREEN.search(text) is None


def _unrelated(hosts: Collection[str], traced: Collection[str], lines: Sequence[Line]) -> Iterator[str]:
    """Those of some hosts in a common log on which machines that train do not depend, as far as it shows.

    They run something else, and are none of them: not a host whose name differs in its number alone, nor one that their
    lines name.
    """
    families = {_NUMBER.sub("#", host) for host in traced}
    told = {
        name for each in lines if each is not None and each["host"] in traced for name in _NAME.findall(each["text"])
    }
    serving = {each["host"] for each in lines if each is not None and _SERVES.search(each["text"])}
    others = {each["host"] for each in lines if each is not None and _SERVICE.search(each["text"])}
    for host in others.intersection(hosts):
        is_near = _NUMBER.sub("#", host) in families or _TRACE.search(host) or host in told
        if not is_near and host not in serving:
            yield host
