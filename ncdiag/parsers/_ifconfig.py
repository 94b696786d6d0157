"""``ifconfig`` of net-tools, in the layout of today and of 1.60, and of BSD and macOS.

Format: net-tools lib/interface.c (``ife_print_long``) and its translations (po/de_DE, fr_FR, es_ES, it_IT). Today:
``eth0: flags=4163<UP,...>  mtu 1500`` with indented ``inet``, ``inet6``, ``ether`` lines. Up to 1.60: ``eth0      Link
encap:Ethernet  HWaddr ...`` with ``inet addr:`` and a line of flags. ``ifconfig -s`` and ``netstat -i`` print a row an
interface (``print_iface_table``): name, MTU, counters and letters for the flags.
"""

from __future__ import annotations

import re

from ncdiag.base.patterns import lazy_regex
from ncdiag.formats.basics import number
from ncdiag.parsers._interface import Draft, prefix_length

ANCHOR = r"[\w.@:-]{1,64}: flags=\w+<[\w,]*>\s|[\w.@:-]{1,64}\s+Link encap:\S|Kernel Interface table\s*$|Iface\s+MTU\s"
TABLE_HEADER = lazy_regex(r"\s*(?:Kernel Interface table\s*$|Iface\s+MTU\s)")
TABLE_ROW = lazy_regex(
    r"\s*(?P<name>[\w.@:-]{1,64})\s+(?P<mtu>\d{2,6})(?:\s+\d{1,20}){8,9}\s+(?P<flags>[A-Za-z]{1,12})\s*$"
)
"""Letters as in lib/interface.c (``ife_print_short``): U up, R running, L loopback, m master, P point to point."""
HEADER = lazy_regex(r"\s*(?P<name>[\w.@:-]{1,64}): flags=\w+<(?P<flags>[\w,]{0,300})>(?P<rest>.*)$")
OLD_HEADER = lazy_regex(r"\s*(?P<name>[\w.@:-]{1,64})\s+Link encap:(?P<rest>\S.*)$")
BODY = lazy_regex(
    r"\s*(?:inet6? |inet6-Adresse|Direc\. inet|Direcci\u00f3n inet6|adr inet6|indirizzo inet|ether |loop "
    r"|infiniband |tunnel |ppp |unspec |sit |slip |RX |TX |device |collisions:|Interrupt:"
    r"|Memory:|options=|nd6 options=|media: |status: |groups: |UP |BROADCAST |POINTOPOINT |NOARP |LOOPBACK |MULTICAST "
    r"|Infiniband hardware address can be incorrect|UNSPEC |txqueuelen)"
)
_OLD_FLAGS = lazy_regex(r"\s*(?P<flags>(?:[A-Z0-9\u00c1-\u00da]+ ){1,20}) ?MTU:(?P<mtu>\d{1,9})")
_OLD_INET = lazy_regex(
    r"\s*(?:inet (?:addr|adr|Adresse)|Direc\. inet|indirizzo inet):\s?(?P<ip>[\w.]{1,40})"
    r"(?:\s+P-t-P:(?P<peer>[\w.]{1,40}))?(?:\s+(?:Bcast|Difus\.):[\w.]{0,40})?"
    r"(?:\s+(?:Mask|Masque|Maske|M\u00e1sc|Maschera):(?P<mask>[\d.]{1,40}))?"
)
_OLD_INET6 = lazy_regex(
    r"\s*(?:inet6[- ](?:addr|Adresse)|adr inet6|Direcci\u00f3n inet6|indirizzo inet6):\s*"
    r"(?P<ip>[0-9a-fA-F:.x]+)/(?P<length>\d{1,3})"
)
_SPANISH = {"ACTIVO": "UP", "FUNCIONANDO": "RUNNING", "BUCLE": "LOOPBACK"}
"""The one translation of net-tools that translates flags."""
_KINDS = {"infiniband": "ipoib", "loop": "loopback", "tunnel": "tunnel", "ppp": "tunnel", "sit": "tunnel"}
_OLD_KINDS = (
    ("Local Loopback", "loopback"), ("Lokale Schleife", "loopback"), ("Boucle locale", "loopback"),
    ("Bucle local", "loopback"), ("Loopback locale", "loopback"), ("InfiniBand", "ipoib"),
    ("Point-to-Point", "tunnel"), ("IPIP Tunnel", "tunnel"),
    ("IPv6-in-IPv4", "tunnel"),
)  # fmt: skip


def header(line: int, found: re.Match[str]) -> Draft:
    """An interface from ``name: flags=...``."""
    draft = Draft(line, found["name"])
    draft.flags(found["flags"].split(","), "RUNNING")
    mtu = re.search(r"\bmtu (\d{1,9})", found["rest"])
    draft.set("mtu", number(mtu[1]) if mtu else None)
    return draft


def old_header(line: int, found: re.Match[str]) -> Draft:
    """An interface from ``name  Link encap:...``."""
    draft = Draft(line, found["name"])
    draft.set("_old", value=True)
    kinds = [kind for text, kind in _OLD_KINDS if found["rest"].startswith(text)]
    draft.set("kind", kinds[0] if kinds else None)
    mac = re.search(
        r"(?:HWaddr|Hardware Adresse|direcci\u00f3nHW|IndirizzoHW) ([0-9A-Fa-f]{2}(?::[0-9A-Fa-f]{2}){5,19})",
        found["rest"],
    )
    draft.set("mac", mac[1].lower() if mac else None)
    return draft


def table_row(line: int, found: re.Match[str]) -> Draft:
    """An interface from a row of the table."""
    draft = Draft(line, found["name"], body=1)
    letters = found["flags"]
    draft.set("mtu", number(found["mtu"]))
    draft.set("up", "U" in letters)
    draft.set("running", "R" in letters)
    draft.set("kind", "loopback" if "L" in letters else None)
    draft.set("_link_only", value=True)
    return draft


def body(draft: Draft, line: str) -> bool:
    """Take a line below the header; False when it says nothing that ``ifconfig`` prints."""
    if not line.strip():
        return True
    if not BODY.match(line) and not (draft.fields.get("_old") and line[0].isspace()):
        return False
    draft.body += 1
    if not _old(draft, line):
        _new(draft, line.split())
    return True


def _old(draft: Draft, line: str) -> bool:
    flags, inet, inet6 = _OLD_FLAGS.match(line), _OLD_INET.match(line), _OLD_INET6.match(line)
    if flags:
        draft.flags((_SPANISH.get(flag, flag) for flag in flags["flags"].split()), "RUNNING")
        draft.set("mtu", number(flags["mtu"]))
    elif inet:
        draft.address(inet["ip"], prefix_length(inet["mask"]) if inet["mask"] else None, inet["peer"])
    elif inet6:
        draft.address(inet6["ip"], number(inet6["length"]))
    return bool(flags or inet or inet6)


def _new(draft: Draft, words: list[str]) -> None:
    first, second = words[0], words[1] if len(words) > 1 else ""
    if first in {"inet", "inet6"}:
        values = dict(zip(words[2::2], words[3::2], strict=False))
        length = number(values.get("prefixlen", "")) if first == "inet6" else prefix_length(values.get("netmask", ""))
        if "/" in second:  # net-tools 2.10 on some distributions, and BSD with -f
            second, _, bits = second.partition("/")
            length = number(bits)
        draft.address(second, length, values.get("destination") or values.get("-->"))
    elif first in _KINDS:
        draft.set("kind", _KINDS[first])
    elif first == "ether":
        draft.set("mac", second.lower() or None)
