"""The provider of libfabric as a condition: the plugin's line decides, then FI_PROVIDER."""

from __future__ import annotations

import pytest
from defects.test_entries import led

NAME = "libfabric-queued-doorbell"
RELEASE = "n1:40:40 [0] NCCL INFO NET/OFI Using Libfabric version 2.5"
CHOSEN = "n1:40:40 [0] NCCL INFO NET/OFI Selected provider is {}, fabric is {} (found 4 nics)"


@pytest.mark.parametrize(
    ("lines", "leads"),
    [
        ([RELEASE, CHOSEN.format("efa", "efa-direct")], True),
        ([RELEASE, "export FI_PROVIDER=efa"], True),
        ([RELEASE, CHOSEN.format("cxi", "cxi")], False),
        ([RELEASE, CHOSEN.format("cxi", "cxi"), "export FI_PROVIDER=efa"], False),
        ([RELEASE, "export FI_PROVIDER=^tcp"], False),
        ([RELEASE], False),
        ([RELEASE.replace("2.5", "1.21"), CHOSEN.format("efa", "efa-direct")], False),
    ],
)
def test_the_provider_that_the_plugin_chose_decides(lines: list[str], leads: bool) -> None:
    text = "The job hangs. We use NCCL GIN.\n\n" + "\n".join(lines) + "\n"
    assert (NAME in led(text)) is leads


def test_a_hang_over_efa_alone_is_no_defect_of_libfabric() -> None:
    text = f"The job hangs.\n\n{RELEASE.replace('2.5', '2.3')}\n{CHOSEN.format('efa', 'efa-direct')}\n"
    assert not {name for name in led(text) if name.startswith("libfabric")}
