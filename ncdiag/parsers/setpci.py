"""``setpci -s DEVICE ECAP_ACS+0x6.w``: the control word of Access Control Services of PCIe devices.

Source of the format: pciutils setpci.c prints the register in hexadecimal; of several devices one a line, which scripts
often put after the address. Bits of the word (PCI Express Base Specification, ACS Control Register): 0 source
validation, 1 translation blocking, 2 peer request redirect, 3 completion redirect, 4 upstream forwarding, 5 egress
control, 6 direct translated.
"""

from __future__ import annotations

import re

from ncdiag.base.patterns import lazy_regex
from ncdiag.base.spans import Section
from ncdiag.facts.scalars import bus_id
from ncdiag.parsers._rows import Reading, Row, Rows, not_understood

KIND = "setpci"
COMMANDS: tuple[str, ...] = ("setpci",)
ANCHOR = r"[0-9a-f]{2}:[0-9a-f]{2}\.[0-7][ :]{1,4}ECAP_ACS\S* ?="

_ACS = lazy_regex(r"(?i)ECAP_ACS\+(?:0x)?0?6(?:\.w)?\b(?!=)")
_DEVICE = lazy_regex(r"\s-s\s?(?P<device>(?:[0-9a-f]{4}:)?[0-9a-f]{2}:[0-9a-f]{2}\.[0-7])")
_NAMES = ("SrcValid", "TransBlk", "ReqRedir", "CmpltRedir", "UpstreamFwd", "EgressCtrl", "DirectTrans")
"""The names that lspci gives the bits, from the lowest."""
_REDIRECTS = 0b1100
_MOST = 2000


class _Words(Reading):
    """The controls of each device whose address is known; of words without one, ``acs_redirects`` of the host."""

    def __init__(self, section: Section) -> None:
        """The command says which register was read, and perhaps of which device."""
        super().__init__(section)
        command = section.command or ""
        self.is_acs = _ACS.search(command) is not None
        named = _DEVICE.search(command)
        self.device = named["device"] if named else None
        self.words: list[tuple[int, bool]] = []

    def word(self, found: re.Match[str]) -> bool:
        """A word, after the address of its device where there is one; a value of another register is not read."""
        if not (self.is_acs or found["acs"]):
            return False
        word, device = int(found["word"], 16), found["device"] or self.device
        redirects = bool(word & _REDIRECTS)
        address = bus_id(device) if device is not None else None
        if address is None:
            self.words.append((self.index, redirects))
            return True
        controls = " ".join(f"{name}{'+' if word >> bit & 1 else '-'}" for bit, name in enumerate(_NAMES))
        self.observe("PciDevice", (address,), acs_controls=controls, acs_redirects=redirects)
        return True

    def end(self) -> None:
        """Of words without a device the first that redirects, else the first."""
        if self.words:
            index, on = next((each for each in self.words if each[1]), self.words[0])
            self.observe("Host", at=index, acs_redirects=on)


ROWS = Rows(
    _Words,
    Row(
        r"(?:(?P<device>(?:[0-9a-f]{4}:)?[0-9a-f]{2}:[0-9a-f]{2}\.[0-7])[ :]{1,4}(?P<acs>ECAP_ACS\S{0,12}? ?= ?)?)?"
        r"(?P<word>[0-9a-f]{4})\s*$",
        _Words.word,
    ),
    Row(r"setpci: ", not_understood),
    most=_MOST,
)
