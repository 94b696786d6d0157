"""The first screen names things in words: hosts without a name, and the findings beside the first."""

from __future__ import annotations

from ncdiag.diagnose import diagnose
from ncdiag.report import model, renderer
from ncdiag.text import TextSource

ACS = """
$ cat /proc/cmdline
BOOT_IMAGE=/vmlinuz-6.8 root=/dev/sda1 intel_iommu=on
$ dmesg
[  101.500000] DMAR: DRHD: handling fault status reg 3
[  101.500100] DMAR: [DMA Write NO_PASID] Request device [3b:00.0] fault addr 0xfe000000 [fault reason 0x05] PTE Write access is not set
$ nvidia-smi
Unable to determine the device handle for GPU 0000:3B:00.0: Unknown Error
"""
MEMLOCK = """
$ ulimit -l
64
NCCL WARN Call to ibv_reg_mr failed with error Cannot allocate memory
"""


def screen(text: str) -> tuple[str, model.Report]:
    found = diagnose([TextSource.of_bytes("log", text.encode())])
    return renderer("text")(found, width=80, detail="screen"), found


def test_further_findings_are_shown_by_their_titles() -> None:
    text, found = screen(ACS)
    lead, *others = found.findings
    assert "Also found: " in text
    assert not any(f"Also found: {each.name}" in text for each in others)
    told = text[text.index("Also found: ") :].splitlines()[0].removeprefix("Also found: ")
    assert any(each.title.startswith(told.partition(" ...")[0].partition(" and ")[0]) for each in others)
    assert lead.name not in told


def test_a_host_that_no_line_names_is_this_host() -> None:
    for text in (ACS, MEMLOCK):
        shown, found = screen(text)
        assert found.summary.hosts == "unnamed-host"
        assert "unnamed-host" not in shown
        assert "Read: this host, " in shown
    assert not any("unnamed-host" in fix.scope for each in found.findings for fix in each.fixes)
