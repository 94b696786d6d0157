"""``dmidecode``, ``hostnamectl`` and the files of ``/sys/class/dmi/id``: the machine's maker, and whose cloud it is of.

Source of the format: dmidecode dmidecode.c (``Handle 0x..., DMI type 1``, the name of the structure, indented ``Name:
value``; ``-s keyword`` prints the value alone); systemd src/hostname/hostnamectl.c (``Hardware Vendor: ...``); Linux
drivers/firmware/dmi-id.c (a file each).
"""

from __future__ import annotations

from collections.abc import Sequence

from ncdiag.base.patterns import lazy_regex
from ncdiag.base.spans import Section
from ncdiag.facts.observe import Parsed, observe
from ncdiag.formats import clouds

KIND = "dmi"
_FILES = {"sys_vendor": "vendor", "product_name": "product", "chassis_asset_tag": "tag"}
_KEYWORDS = {"system-manufacturer": "vendor", "system-product-name": "product", "chassis-asset-tag": "tag"}
COMMANDS: tuple[str, ...] = (
    "dmidecode", "hostnamectl", *(f"cat /sys/class/dmi/id/{name}" for name in _FILES),
    *(f"cat /sys/devices/virtual/dmi/id/{name}" for name in _FILES),
)  # fmt: skip
ANCHOR = r"# dmidecode \d|Handle 0x[0-9A-Fa-f]{4}, DMI type \d|[ \t]*Static hostname: \S"

_PLACES = {
    ("System Information", "Manufacturer"): "vendor", ("System Information", "Product Name"): "product",
    ("Chassis Information", "Asset Tag"): "tag", ("", "Hardware Vendor"): "vendor", ("", "Hardware Model"): "product",
    ("", "Static hostname"): "name",
}  # fmt: skip
"""Structure and name of dmidecode (hostnamectl has no structures), and what its value is."""
_HANDLE = lazy_regex(r"Handle 0x[0-9A-Fa-f]{4}, DMI type \d")
_TITLE = lazy_regex(r"[A-Z][\w /().-]{1,60}$")
_PAIR = lazy_regex(r"\s+(?P<name>[A-Z][\w /()-]{0,60}):(?:\s(?P<value>.{0,300}))?$")
_FRAME = lazy_regex(
    r"# dmidecode|Getting SMBIOS|SMBIOS \d|\d+ structures|Table at |Invalid entry|End Of Table|\t\t\S"
    r"|Operating System: "
)
_VALUE = lazy_regex(r"[\w.,()/+ -]{1,60}$")
_LIMIT = 5_000


def continues(lines: Sequence[str], line: str) -> bool:
    """Handles, their indented lines and titles; behind a command that prints one value, that value."""
    if not line.strip():
        return bool(lines)
    if not any(text.strip() for text in lines):
        return True
    if _VALUE.match(lines[0]) and _VALUE.match(line):  # of several files
        return len(lines) < len(_FILES)
    known = any(pattern.match(line) for pattern in (_HANDLE, _PAIR, _FRAME))
    return len(lines) < _LIMIT and (known or (_TITLE.match(line) is not None and bool(_HANDLE.match(lines[-1]))))


def parse(section: Section) -> Parsed:
    """One Host with its cloud, maker, instance type and own name, as far as they are told."""
    asked = iter(_asked(section.command or ""))
    found: dict[str, str] = {}
    unread: list[int] = []
    title, first = "", 0
    for index, line in enumerate(section.lines):
        pair = _PAIR.match(line)
        told = _PLACES.get((title, pair["name"])) if pair else next(asked, None) if line.strip() else None
        if told and told not in found and (value := ((pair["value"] if pair else line) or "").strip()):
            found[told], first = value, first if found else index
        elif _TITLE.match(line) and index and _HANDLE.match(section.lines[index - 1]):
            title = line.strip()
        elif line.strip() and not any(pattern.match(line) for pattern in (_HANDLE, _PAIR, _FRAME)):
            unread.append(index)
    fields = clouds.described(found.get("vendor"), found.get("product"), found.get("tag"))
    fields["called"] = found.get("name")
    known = any(value is not None for value in fields.values())
    return Parsed(observations=(observe(section, first, "Host", **fields),) if known else (), unread=tuple(unread))


def _asked(command: str) -> list[str]:
    """What a command prints that prints values alone, a line each."""
    words = command.split()
    files = [_FILES.get(word.rpartition("/")[2], "") for word in words if "/dmi/id/" in word]
    return files or [_KEYWORDS[word] for word in words if word in _KEYWORDS][:1]
