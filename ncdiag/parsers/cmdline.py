"""``/proc/cmdline``: the kernel's command line, and what it says about the IOMMU.

Source: Linux Documentation/admin-guide/kernel-parameters.txt (``iommu=``, ``intel_iommu=``, ``amd_iommu=``,
``iommu.passthrough=``).
"""

from __future__ import annotations

from ncdiag.base.spans import Section
from ncdiag.formats.shell import without_secrets
from ncdiag.parsers._rows import Reading, Row, Rows, at_start

KIND = "cmdline"
COMMANDS: tuple[str, ...] = ("cat /proc/cmdline", "/proc/cmdline", "cmdline", "proc_cmdline")
ANCHOR = r"[ \t]*(?:BOOT_IMAGE=\S|/proc/cmdline:|Command line: )"

_LIMIT = 4096


class _Line(Reading):
    """The line of the host, and whether the IOMMU translates: None when the line leaves it to the kernel's default."""

    def __init__(self, section: Section) -> None:
        """The line may have secrets, which are left out."""
        super().__init__(without_secrets(section))

    def kernel_line(self, _: object) -> bool:
        """One line is all there is."""
        if self.found:
            return False
        text = self.line[:_LIMIT].strip()
        for label in ("/proc/cmdline:", "Command line:"):
            text = text.removeprefix(label).strip()
        self.observe("Host", kernel_command_line=text, iommu_translating=translating(text))
        return True


def _is_kernel_line(line: str) -> bool:
    """True for the words of a kernel's line, by which it is known after an echoed command."""
    words = line.split()
    return any(
        word.startswith(("BOOT_IMAGE=", "root=", "initrd=", "console=")) or word in {"ro", "quiet"}
        for word in words[:64]
    )


ROWS = Rows(_Line, Row(_is_kernel_line, _Line.kernel_line, belongs=at_start))


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
