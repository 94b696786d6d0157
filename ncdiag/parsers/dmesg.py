"""The kernel's log: ``dmesg`` (plain, -T, -d, -e, --decode, --time-format iso), ``journalctl -k``, kern.log and syslog.

Prefix formats: util-linux sys-utils/dmesg.c; systemd's short and short-iso output; RFC 3164 heads of rsyslog; Talos'
``talosctl dmesg``; records of /dev/kmsg, ``priority,number,microseconds,flags;text`` (the kernel's
Documentation/ABI/testing/dev-kmsg).
"""

from __future__ import annotations

from collections.abc import Sequence
from string import ascii_lowercase

from ncdiag.base.patterns import lazy_regex
from ncdiag.base.spans import Section
from ncdiag.facts.observe import Parsed
from ncdiag.parsers import _kernel, _program

KIND = "dmesg"
COMMANDS = ("dmesg", "journalctl")
ANCHOR = (
    r"(?:<\d{1,3}>)?\[\s{0,8}\d{1,9}\.\d{6}(?: <\s{0,8}[\d.]{1,16}>)?\] |\[\s{0,8}\+\d{1,9}\.\d{6}\] "
    r"|\[[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d \d{4}(?: <\s{0,8}[\d.]{1,16}>)?\] "
    r"|\[[A-Z][a-z]{2}\s{0,2}\d{1,2} \d\d:\d\d\] "
    r"|(?:kern|user|daemon|auth|syslog|authpriv)\s{0,6}:(?:emerg|alert|crit|err|warn|notice|info|debug)\s{0,4}: "
    r"|\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:,\d{6}[+-]\d\d:\d\d "
    r"|[.,]?\d{0,9}[+-]\d\d:?\d\d [\w.-]{1,64} [\w.-]{1,48}(?:\[\d{1,9}\])?: )"
    r"|kern:\s{1,8}(?:emergency|alert|critical|error|warning|notice|info|debug): \[\d{4}-\d\d-\d\dT[\d:.]{8,20}Z\]: "
    r"|[A-Z][a-z]{2}\s{1,2}\d{1,2} \d\d:\d\d:\d\d [\w.-]{1,64} [\w./@-]{1,64}(?:\[\d{1,9}\])?: "
    r"|\d{1,3},\d{1,12},\d{1,16},[-c+][^;\s]{0,40};"
)
STRUCTURE = "<[0" + ascii_lowercase

_HEAD = lazy_regex(ANCHOR)
_MORE = lazy_regex(r"\s{8,60}\S")
"""Further lines of a message of several, which dmesg indents by the width of the time."""


def continues(lines: Sequence[str], line: str) -> bool:
    """Lines with a kernel log's head, further lines of one message, and single blank lines between them."""
    if _HEAD.match(line) or (_MORE.match(line) and lines[-1].strip()):
        return True
    return not line.strip() and bool(lines[-1].strip())


def parse(section: Section) -> Parsed:
    """The events of the catalogue and faults by their form; what else a kernel says is known and of no matter."""
    return _program.read(section, lambda line: any(p.match(line) for p in (_HEAD, _MORE)), _kernel.find)
