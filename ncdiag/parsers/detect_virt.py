"""``systemd-detect-virt``: whether the machine is virtual, or the place a container.

Source of the words: systemd src/basic/virt.c (virtualization_table); on bare metal it prints ``none``. With ``-v`` it
looks for virtual machines alone, with ``-c`` for containers alone.
"""

from __future__ import annotations

from typing import Any

from ncdiag.base.patterns import lazy_regex
from ncdiag.parsers._rows import Reading, Row, Rows, at_start

KIND = "detect_virt"
COMMANDS: tuple[str, ...] = ("systemd-detect-virt",)
ANCHOR = r"(?!)"  # a single word: only its command says what it is

_VM = frozenset({
    "kvm", "amazon", "qemu", "bochs", "xen", "uml", "vmware", "oracle", "microsoft", "zvm", "parallels", "bhyve", "qnx",
    "acrn", "powervm", "apple", "sre", "google", "vm-other",
})  # fmt: skip
_CONTAINER = frozenset({
    "systemd-nspawn", "lxc-libvirt", "lxc", "openvz", "docker", "podman", "rkt", "wsl", "proot", "pouch",
    "container-other",
})  # fmt: skip
_WORDS = _VM | _CONTAINER | {"none"}
_NOT_FOR_VM = lazy_regex(r"\s(?:-[cr]\b|--(?:container|chroot|private-users|cvm)\b)")


class _Answer(Reading):
    """``virtual_machine``, ``in_container`` and ``in_wsl`` as far as the word says; one word is all there is.

    A container is named in place of the machine below it; where none is named there may still be one, which left no
    mark (Kubernetes).
    """

    words = 0

    def word(self, _: object) -> None:
        """The answer."""
        self.words += 1
        word, looks_for_vm = self.line.strip(), _NOT_FOR_VM.search(self.section.command or "") is None
        fields: dict[str, Any] = {
            "virtual_machine": True if word in _VM else False if word == "none" and looks_for_vm else None,
            "in_container": True if word in _CONTAINER - {"wsl"} else None,
            "in_wsl": True if word == "wsl" else None,
        }
        if any(value is not None for value in fields.values()):
            self.observe("Host", **fields)

    def end(self) -> None:
        """Nothing where no command says what the word is, or more is below it."""
        if not self.section.command or self.unread or self.words > 1:
            self.found_nothing()


ROWS = Rows(_Answer, Row(lambda line: line.strip() in _WORDS, _Answer.word, belongs=at_start))
