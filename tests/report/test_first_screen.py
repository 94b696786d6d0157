"""The first screen names things in words: hosts without a name, and the findings beside the first."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec
import pytest
from tenth import PROJECT, tenth

from ncdiag.diagnose import diagnose
from ncdiag.report import model, renderer
from ncdiag.text import TextSource

ACS = """
$ cat /proc/cmdline
BOOT_IMAGE=/vmlinuz-6.8 root=/dev/sda1 intel_iommu=on
$ dmesg
[  101.500000] DMAR: DRHD: handling fault status reg 3
[  101.500100] DMAR: [DMA Write] Request device [3b:00.0] fault addr 0xfe000000 [fault reason 05] PTE Write
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


BESIDE = """
n1:7:7 [0] NCCL INFO Bootstrap : Using docker0:172.17.0.1<0>
n1:7:9 [0] NCCL WARN socketStartConnect: Connect to 172.17.0.1<41000> failed : Connection refused
n2:7:7 [0] NCCL INFO Bootstrap : Using eth0:10.0.0.2<0>
"""


def test_a_host_without_a_name_beside_others_is_that_of_its_file() -> None:
    sources = [TextSource.of_bytes("job.log", BESIDE.encode()), TextSource.of_bytes("logs/b.txt", MEMLOCK.encode())]
    found = diagnose(sources)
    assert found.summary.hosts == "n[1-2]"
    placed = [each for each in found.findings if each.hosts == "unnamed-host"]
    shown = renderer("text")(found, width=80)
    assert placed
    assert "\n  the host of b.txt" in shown
    assert "this host" not in shown


@pytest.mark.sweep
def test_no_text_shows_the_key_of_a_host_without_a_name() -> None:
    shown = []
    specimens = sorted((PROJECT / "fixtures" / "sections").glob("*/*.txt"))
    for path in tenth(specimens, lambda path: f"{path.parent.name}/{path.stem}", one_in=3):
        found = diagnose([TextSource.of_bytes(path.name, path.read_bytes())])
        texts = [
            *sentences(found),
            *(renderer(form)(found) for form in ("text", "html", "markdown", "github", "junit")),
        ]
        shown += [
            f"{path}: {text[max(0, at - 60) : at + 40]}" for text in texts if (at := text.find("unnamed-host")) >= 0
        ]
    assert not shown, "\n".join(shown)


def sentences(value: Any) -> Iterator[str]:  # noqa: ANN401
    """The texts in a report, except quoted lines and the keys of hosts."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        yield from sentences(tuple(value.values()))
    elif isinstance(value, tuple):
        yield from (text for item in value for text in sentences(item))
    elif isinstance(value, msgspec.Struct) and not isinstance(value, model.Evidence):
        fields = [name for name in value.__struct_fields__ if name not in {"host", "hosts"}]
        yield from (text for name in fields for text in sentences(getattr(value, name)))


P2P = """
4x RTX 4090 in one box: training hangs after init, all GPUs at 100% util. One GPU works. No error.
n1:7:9 [0] NCCL INFO Channel 00/0 : 0[0] -> 1[1] via P2P/direct pointer
n1:7:9 [0] NCCL INFO comm 0x5581 rank 0 nranks 4 cudaDev 0 busId 7000 - Init COMPLETE
"""


def test_a_fix_after_a_long_label_is_not_cut() -> None:
    text, found = screen(P2P)
    [fix] = [each.fixes[0] for each in found.suspects if each.name == "p2p-hang-after-init"]
    assert fix.workaround
    label = text[text.index("(a workaround that hides the fault): ") :]
    assert " ".join(fix.text.split()).rstrip(".") in " ".join(label.split())


HOSTS = ("n3", "n4", "n5")
SILENT = """
ncdiag: n3 gave no answer to the sweep by ssh: ssh failed: ssh: connect to host n3 port 22: Connection refused
ncdiag: n4 gave no answer to the sweep by ssh: ssh failed: ssh: connect to host n4 port 22: Connection refused
ncdiag: n5 gave no answer to the sweep by ssh: it did not answer within 8 s
"""


def folded() -> model.Report:
    """A report of a sweep in which n3, n4 and n5 did not answer."""
    found = diagnose([TextSource.of_bytes("sweep", SILENT.encode())])
    named = [msgspec.structs.replace(each, hosts=host) for each, host in zip(found.findings, HOSTS, strict=True)]
    assert {each.name for each in named} == {"host-unanswered"}
    return msgspec.structs.replace(found, findings=tuple(named))


def look(status: model.Status, what: str, host: str, nhosts: int, why: str) -> model.Look:
    return model.Look(area="limits", what=what, status=status, host=host, nhosts=nhosts, why=why, seen="64 KiB")


def test_of_many_hosts_those_that_fail_and_those_that_did_not_answer_are_named() -> None:
    found = folded()
    looks = (
        look("PASS", "open files", "n[1-2,6-17]", 14, ""),
        look("WARN", "clock", "n[1-2]", 2, "not synchronised"),
        look("FAIL", "locked memory", "n[6-16]", 11, "too little for RDMA"),
        look("FAIL", "locked memory", "n17", 1, "nothing at all"),
    )
    shown = renderer("text")(msgspec.structs.replace(found, looks=looks), width=80, detail="screen").splitlines()
    assert [line for line in shown if line.startswith("No answer: ")] == [
        "No answer: n[3-4]: ssh: connect to host <host> port 22: Connection refused",
        "No answer: n5: it did not answer within 8 s",
    ]
    rows = [
        "FAIL  locked memory on n[6-16]: too little for RDMA; seen 64 KiB",
        "FAIL  locked memory on n17: nothing at all; seen 64 KiB",
        "WARN  clock on n[1-2]: not synchronised; seen 64 KiB",
    ]
    failed = [line.strip() for line in shown if line.startswith(("  FAIL", "  WARN"))]
    assert failed
    assert failed == rows[: len(failed)]
    assert len(failed) == len(rows) or f"        {len(rows) - len(failed)} more, with -v" in shown
    assert not any(line.startswith("Also found: A host that was asked") for line in shown)
    assert len(shown) <= 23


def test_many_values_of_a_check_are_one_line_with_its_hosts() -> None:
    looks = tuple(look("FAIL", "locked memory", f"n{n}", 1, f"only {n} pages") for n in range(6, 18))
    shown = renderer("text")(msgspec.structs.replace(folded(), looks=looks), width=80, detail="screen")
    assert "FAIL  locked memory on n[6-17]: only 6 pages; seen 64 KiB; 11 other values" in shown


def test_a_fix_is_not_cut() -> None:
    shown, found = screen(MEMLOCK)
    first = " ".join(shown[shown.index("Fix: ") :].split("\n    ")[0].split())
    assert found.findings[0].fixes[0].text.removesuffix(".") in first


def test_the_warning_of_a_workaround_comes_before_its_text() -> None:
    _, found = screen(MEMLOCK)
    lead = found.findings[0]
    fix = msgspec.structs.replace(lead.fixes[0], workaround=True)
    lead = msgspec.structs.replace(lead, fixes=(fix,))
    shown = renderer("text")(msgspec.structs.replace(found, findings=(lead,)), width=80, detail="screen")
    assert "Fix (a workaround that hides the fault): Lift the limit" in shown


def test_the_way_round_is_beside_an_upgrade() -> None:
    text = (
        "The job hangs in its first all_reduce.\n\n$ nvidia-smi -L\nGPU 0: NVIDIA GB300 (UUID: GPU-1)\n\n"
        "n1:40:40 [0] NCCL INFO NCCL version 2.28.7+cuda13.0\n"
        "n1:40:41 [0] NCCL INFO NCCL_NET_GDR_LEVEL set by environment to LOC\n"
    )
    shown, _ = screen(text)
    assert shown.index("Use a release that has the fix") < shown.index("unset NCCL_NET_GDR_LEVEL")


def test_the_cards_that_mscclpp_can_use_are_beside_the_repair_of_a_port() -> None:
    ports = "".join(
        f"CA '{name}'\n\tNumber of ports: 1\n\tPort 1:\n\t\tState: {state}\n\t\tPhysical state: {physical}\n"
        "\t\tRate: 400\n\t\tLink layer: InfiniBand\n"
        for name, state, physical in (
            ("mlx5_0", "Active", "LinkUp"), ("mlx5_1", "Down", "Polling"), ("mlx5_2", "Active", "LinkUp"),
        )
    )  # fmt: skip
    stack = 'Thread 41 (active): "MainThread"\n    make_connection ({}/comm.py:142)\n    <module> (run.py:38)\n'
    shown, _ = screen(f"It hangs.\n{stack.format('mscclpp')}\n$ ibstat\n{ports}")
    assert "export MSCCLPP_HCA_DEVICES=mlx5_0,mlx5_2" in shown
    shown, _ = screen(f"It hangs.\n{stack.format('mylib')}\n$ ibstat\n{ports}")
    assert "MSCCLPP" not in shown
