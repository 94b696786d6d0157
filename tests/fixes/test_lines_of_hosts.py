"""Lines of fixes for hosts, fabrics and schedulers, with values of the input; each with a twin without them."""

from __future__ import annotations

import pytest

from ncdiag.diagnose import diagnose
from ncdiag.report import model
from ncdiag.text import TextSource


def answers(text: str) -> dict[str, model.Finding | model.Suspect]:
    report = diagnose([TextSource.of_bytes("paste", text.encode())])
    shown: tuple[model.Finding | model.Suspect, ...] = (*report.findings, *report.suspects)
    return {found.name: found for found in shown}


def lines_of(text: str, name: str) -> str:
    return "\n".join(line for fix in answers(text)[name].fixes for line in fix.commands.values())


def first_line(text: str) -> str:
    """The lines of the first answer."""
    report = diagnose([TextSource.of_bytes("paste", text.encode())])
    return lines_of(text, report.answers[0])


RCCL = (
    'g4:31:31 [0] /src/init.cc:140 NCCL WARN Missing "iommu=pt" from kernel command line which can lead to system '
    "instablity or hang!\n[rank0]:[E1] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=1, "
    "OpType=ALLREDUCE, NumelIn=1, NumelOut=1, Timeout(ms)=600000) ran for 600021 milliseconds before timing out.\n"
)
KERNELS = "g3 $ cat /proc/cmdline\nBOOT_IMAGE=/vmlinuz-{release} root=/dev/sda2 ro iommu=pt\n"
LACKS = "g4 $ cat /proc/cmdline\nBOOT_IMAGE=/vmlinuz-{release} root=/dev/sda2 ro quiet\n"


@pytest.mark.parametrize(
    ("release", "line"),
    [
        ("6.8.0-45-generic", "sudo update-grub   # on g4, which then has to be restarted"),
        ("5.14.0-503.el9.x86_64", "sudo grubby --update-kernel=ALL --args=iommu=pt   # on g4,"),
        ("6.1.0-27-amd64", "sudo update-grub   # on g4"),
    ],
)
def test_a_word_of_the_kernel_is_written_by_the_tool_of_the_host(release: str, line: str) -> None:
    text = RCCL + KERNELS.format(release=release) + LACKS.format(release=release)
    found = answers(text)["rccl-iommu-pt-missing"]
    assert line in lines_of(text, "rccl-iommu-pt-missing")
    assert not any(fix.workaround for fix in found.fixes)


@pytest.mark.parametrize("release", ["6.6.1", "6.8.0-45-generic iommu=soft"], ids=["no distribution", "another word"])
def test_a_word_is_not_written_where_the_tool_is_unknown_or_another_is_set(release: str) -> None:
    text = RCCL + LACKS.format(release=release)
    assert "# on g4" not in lines_of(text, "rccl-iommu-pt-missing")
