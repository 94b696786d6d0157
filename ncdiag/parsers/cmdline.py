"""``/proc/cmdline``: the kernel's command line, and what it says about the IOMMU.

Source: Linux Documentation/admin-guide/kernel-parameters.txt (``iommu=``, ``intel_iommu=``, ``amd_iommu=``,
``iommu.passthrough=``).
"""

from __future__ import annotations

from collections.abc import Sequence

from ncdiag.base.spans import Section
from ncdiag.facts.observe import Observation, Parsed, observe
from ncdiag.formats.shell import without_secrets

KIND = "cmdline"
COMMANDS: tuple[str, ...] = ("cat /proc/cmdline", "/proc/cmdline", "cmdline", "proc_cmdline")
ANCHOR = r"[ \t]*(?:BOOT_IMAGE=\S|/proc/cmdline:|Command line: )"

_LIMIT = 4096


def continues(lines: Sequence[str], line: str) -> bool:
    """One line is all there is; behind an echoed command it is taken when it has the words of a kernel line."""
    return not any(text.strip() for text in lines) and _is_kernel_line(line)


def parse(section: Section) -> Parsed:
    """The line of the host, and whether the IOMMU translates: None when the line leaves it to the kernel's default."""
    section = without_secrets(section)
    found: list[Observation] = []
    unread: list[int] = []
    for index, line in enumerate(section.lines):
        if _is_kernel_line(line) and not found:
            text = line[:_LIMIT].strip()
            for label in ("/proc/cmdline:", "Command line:"):
                text = text.removeprefix(label).strip()
            found.append(observe(section, index, "Host", kernel_command_line=text, iommu_translating=translating(text)))
        elif line.strip():
            unread.append(index)
    return Parsed(observations=tuple(found), unread=tuple(unread))


def _is_kernel_line(line: str) -> bool:
    words = line.split()
    return any(
        word.startswith(("BOOT_IMAGE=", "root=", "initrd=", "console=")) or word in {"ro", "quiet"}
        for word in words[:64]
    )


def translating(text: str) -> bool | None:
    """Whether the IOMMU translates device addresses; False when off or passed through, None when the line is silent."""
    on = False
    for word in text.split():
        name, _, value = word.partition("=")
        values = value.split(",")
        if name in {"iommu", "intel_iommu", "amd_iommu"} and {"off", "pt"} & set(values):
            return False
        if word in {"iommu.passthrough=1", "iommu.passthrough=on"}:
            return False
        on = on or (name in {"intel_iommu", "amd_iommu", "iommu"} and bool({"on", "force"} & set(values)))
        on = on or word in {"iommu.passthrough=0", "iommu=nopt"}
    return True if on else None
