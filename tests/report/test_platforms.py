"""The commands of a fix suit the platform on which the input shows the job to run, and its scope is a phrase."""

from __future__ import annotations

import pytest

from ncdiag.diagnose import diagnose
from ncdiag.report import model, renderer
from ncdiag.text import TextSource

VERBS = (
    "c5:22:29 [0] transport/net_ib.cc:741 NCCL WARN Call to ibv_create_cq failed with error Cannot allocate memory\n"
)
LIMIT = f"{VERBS}$ ulimit -l\n64\n"
C10D = (
    "[c10d] The IPv6 network addresses of ({name}, 29500) cannot be retrieved "
    "(gai error: -2 - Name or service not known)."
)
SSH = "ssh: Could not resolve hostname {name}: Name or service not known"


def screen(text: str) -> tuple[str, model.Report]:
    found = diagnose([TextSource.of_bytes("log", text.encode())])
    return renderer("text")(found, width=80, detail="screen"), found


@pytest.mark.parametrize(
    ("told", "shown", "left_out"),
    [
        ("", ("docker run --ulimit", "slurmd", "limits.conf"), ()),
        ("We submit it with sbatch.\n", ("slurmd", "limits.conf"), ("docker run",)),
        ("The job runs in docker.\n", ("docker run --ulimit",), ("systemctl edit slurmd", "limits.conf")),
        ("Slurm starts it in docker.\n", ("docker run --ulimit", "slurmd", "limits.conf"), ()),
        ("slurmstepd: error: Detected 1 oom_kill event in StepId=7.0.\n", ("slurmd",), ("docker run",)),
    ],
)
def test_commands_of_other_platforms_are_left_out(
    told: str, shown: tuple[str, ...], left_out: tuple[str, ...]
) -> None:  # fmt: skip
    _, report = screen(told + LIMIT)
    [finding] = [each for each in report.findings if each.name == "memlock-too-low"]
    shell = finding.fixes[0].commands["shell"]
    assert all(words in shell for words in shown)
    assert not any(words in shell for words in left_out)


@pytest.mark.parametrize(
    ("line", "name", "word"),
    [(C10D, "trainer-0", "trainer-0"), (SSH, "n7.cluster", "n7.cluster"), (SSH, "<n7>", "<name>")],
)
def test_the_name_that_did_not_resolve_is_in_the_command(line: str, name: str, word: str) -> None:
    _, report = screen(line.format(name=name))
    [finding] = [each for each in report.findings if each.name == "host-name-unresolved"]
    assert f"getent hosts {word}\n" in finding.fixes[0].commands["shell"]


def test_what_to_paste_for_a_value_is_said_without_the_scope_of_the_fix() -> None:
    log = "".join(
        f"n{n}:7:7 [0] NCCL INFO Bootstrap : Using docker0:172.17.0.1<0>\n"
        f"n{n}:7:9 [0] NCCL WARN socketStartConnect: Connect to 172.17.0.1<41000> failed : Connection refused\n"
        for n in (1, 2)
    )
    text, report = screen(log)
    assert report.findings[0].fixes[0].env == {"NCCL_SOCKET_IFNAME": None}
    fix = " ".join(text[text.index("Fix: ") :].partition("\n\n")[0].split())
    assert fix.endswith("Paste the output of ip addr (on n[1-2])")


def test_a_list_of_a_scheduler_names_the_platform() -> None:
    text = (
        "root@hop-12:~# squeue -h\n 9921 gpu sft kim R 4:11:02 8 hop-[5-12]\nroot@hop-12:~# dmesg\n"
        "[Wed Mar  4 02:11:40 2026] NVRM: Xid (PCI:0000:9b:00): 79, pid=8, GPU has fallen off the bus.\n"
    )
    report = diagnose([TextSource.of_bytes("paste", text.encode())])
    shell = report.findings[0].fixes[0].commands["shell"]
    assert "scontrol" in shell
    assert "kubectl" not in shell
