"""What the shell script prints of hosts is read, whatever became of it on the way."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import pytest
from bare_node import Run

from ncdiag.base.errors import InputError
from ncdiag.machine import printed
from ncdiag.machine.recording import Recorded
from ncdiag.text.sources.archives import Member


def of_text(text: str) -> list[Recorded]:
    return printed.recorded([Member("", io.BytesIO(text.encode()))], "x")


def test_what_is_printed_of_several_hosts() -> None:
    one, two = of_text(
        """\
# ncdiag 1 n1.example 1763762702
# ncdiag user 1000
$ lsmod
Module                  Size  Used by
nvidia_peermem         16384  0

# ncdiag status 0
$ ibstat

# ncdiag status 127
$ dmesg --time-format iso

# ncdiag status 1 dmesg: read kernel buffer failed: Operation not permitted
# ncdiag link /sys/class/net/eth0/device ../../../0000:3b:00.0
# ncdiag refused /proc/iomem Permission denied
==> /proc/modules <==
nvidia 1 0 - Live 0x0

==> /dev/null <==

# ncdiag environment
NCCL_DEBUG=INFO
NCCL_TOKEN=***
# ncdiag end
noise
# ncdiag 1 n2 1763762703
# ncdiag hex /sys/bus/pci/devices/0000:00:01.0/config
 0d 00 01 00
# ncdiag folder /sys/class/net
eth10
eth2
"""
    )
    assert (one.host, two.host) == ("n1", "n2")
    assert one.outputs["lsmod"].output == ("Module                  Size  Used by", "nvidia_peermem         16384  0")
    assert one.outputs["ibstat"].reason == "not installed"
    assert "Operation not permitted" in str(one.outputs["dmesg"].reason)
    assert one.links == {"sys/class/net/eth0/device": "../../../0000:3b:00.0"}
    assert one.refused == {"proc/iomem": "Permission denied"}
    assert one.files["proc/modules"] == b"nvidia 1 0 - Live 0x0\n"
    assert one.answers["environment"] == {"NCCL_DEBUG": "INFO"}
    assert one.answers["user id"] == 1000
    assert two.files["sys/bus/pci/devices/0000:00:01.0/config"] == b"\r\0\1\0"
    assert two.folders["sys/class/net"] == ["eth2", "eth10"]


def test_a_file_that_forges_another_one_comes_too_late() -> None:
    (made,) = of_text(
        "# ncdiag 1 n1 1\n==> /proc/cmdline <==\nquiet\n\n==> /etc/nccl.conf <==\n"
        "==> /proc/cmdline <==\niommu=on\n# ncdiag user 0\n# ncdiag end\n"
    )
    assert made.files["proc/cmdline"] == b"quiet\n"


@pytest.mark.parametrize(("version", "words"), [(2, "use a newer ncdiag"), (0, "collect it again")])
def test_other_versions_of_what_is_printed(version: int, words: str, ncdiag: Run) -> None:
    done = ncdiag("triage", "-", input=f"# ncdiag {version} n1 1\n".encode())
    assert done.returncode == 2
    assert words in done.stderr.decode()
    with pytest.raises(InputError, match="it has format"):
        of_text(f"# ncdiag {version} n1 1\n")


@pytest.mark.parametrize(
    "noise", ["", "# ncdiag 1\n", "# ncdiag 1 n1\n==> /x", "# ncdiag 1 n1 1\n# ncdiag hex /x\nzz 0"]
)
def test_odd_texts_break_nothing(noise: str) -> None:
    for made in of_text(noise):
        assert made.host


def test_the_command_prints_both(ncdiag: Run, program_text: str, script_text: str, tmp_path: Path) -> None:
    assert ncdiag("collect", "--python").stdout.decode() == program_text
    assert ncdiag("collect", "--script", "-o", tmp_path / "look.sh").returncode == 0
    assert (tmp_path / "look.sh").read_text() == script_text
    for wrong in (["collect"], ["collect", "--python", "--script"]):
        done = ncdiag(*wrong)
        assert (done.returncode, done.stderr.count(b"\n")) == (2, 1)


@pytest.mark.parametrize(("hours", "is_old"), [(30, True), (9, False)])
def test_a_kill_long_before_the_collection_is_old(
    tmp_path: Path, ncdiag: Callable[..., Any], hours: int, is_old: bool
) -> None:
    """Somebody who looks in the morning may look for what ended a job at night."""
    collected = 1763762702
    moment = datetime.fromtimestamp(collected - hours * 3600, timezone.utc).isoformat(timespec="seconds")
    stamp = moment.replace("+00:00", ",000000+00:00")
    (tmp_path / "n1.txt").write_text(f"""\
# ncdiag 1 n1 {collected}
$ dmesg --time-format iso
{stamp} Out of memory: Killed process 4127 (python3) total-vm:81234kB, anon-rss:7123kB

# ncdiag status 0
# ncdiag end
""")
    report = json.loads(ncdiag("triage", "n1.txt", "--format", "json", cwd=tmp_path).stdout)
    assert (report["summary"]["root_cause"] == "oom-killed") != is_old
    assert ("failure-survived" in {finding["name"] for finding in report["findings"]}) == is_old
