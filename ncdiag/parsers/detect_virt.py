"""``systemd-detect-virt``: whether the machine is virtual, or the place a container.

Source of the words: systemd src/basic/virt.c (virtualization_table); on bare metal it prints ``none``. With ``-v`` it
looks for virtual machines alone, with ``-c`` for containers alone.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from ncdiag.base.spans import Section
from ncdiag.facts.observe import Parsed, observe

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
_NOT_FOR_VM = re.compile(r"\s(?:-[cr]\b|--(?:container|chroot|private-users|cvm)\b)")


def continues(lines: Sequence[str], line: str) -> bool:
    """One word is all there is."""
    return not any(text.strip() for text in lines) and line.strip() in _WORDS


def parse(section: Section) -> Parsed:
    """``virtual_machine``, ``in_container`` and ``in_wsl`` as far as the word says.

    A container is named in place of the machine below it; where none is named there may still be one, which left no
    mark (Kubernetes).
    """
    words = [(index, line.strip()) for index, line in enumerate(section.lines) if line.strip()]
    if len(words) != 1 or words[0][1] not in _WORDS or not section.command:
        return Parsed(unread=tuple(index for index, _ in words))
    index, word = words[0]
    looks_for_vm = _NOT_FOR_VM.search(section.command) is None
    fields: dict[str, Any] = {
        "virtual_machine": True if word in _VM else False if word == "none" and looks_for_vm else None,
        "in_container": True if word in _CONTAINER - {"wsl"} else None,
        "in_wsl": True if word == "wsl" else None,
    }
    known = any(value is not None for value in fields.values())
    return Parsed(observations=(observe(section, index, "Host", **fields),) if known else ())
