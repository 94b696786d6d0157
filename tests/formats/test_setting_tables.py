"""Tables that explain settings, and tables of what somebody has set: only in the second is anything set."""

from __future__ import annotations

import pytest
from linear import assert_linear

from ncdiag.diagnose import diagnose
from ncdiag.formats.blocks.setting_tables import setting_tables
from ncdiag.text.sources.files import TextSource

EXPLAINED = (
    """| Variable | Meaning | Default | Example |
| --- | --- | --- | --- |
| NCCL_IB_DISABLE | turns InfiniBand off | 0 | 1 |
| NCCL_SOCKET_IFNAME | the network interface | eth0 | lo |
""",
    """Variable              Meaning                  Default   Example

NCCL_IB_DISABLE       turns InfiniBand off     0         1
NCCL_SOCKET_IFNAME    the network interface    eth0      lo
""",
    """| Setting | What it does |
| --- | --- |
| `NCCL_IB_DISABLE=1` | turns InfiniBand off |
""",
    """Name\tDefault\tExample value
NCCL_IB_DISABLE\t0\t1
""",
    """| 变量名 | 说明 | 默认值 | 示例 |
| --- | --- | --- | --- |
| NCCL_IB_DISABLE | 关闭 InfiniBand | 0 | 1 |
""",
    """| Variable | Beschreibung | Standardwert |
| --- | --- | --- |
| NCCL_IB_DISABLE | schaltet InfiniBand ab | 1 |
""",
)
SET = (
    """| Variable | Value |
| --- | --- |
| NCCL_IB_DISABLE | 1 |
""",
    """| Variable | node1 | node2 |
| --- | --- | --- |
| NCCL_IB_DISABLE | 1 | 0 |
""",
    """| Variable | Default | Ours |
| --- | --- | --- |
| NCCL_IB_DISABLE | 0 | 1 |
""",
    """| Name | Value | Why |
| --- | --- | --- |
| NCCL_IB_DISABLE | 1 | the cards are broken |
""",
)


@pytest.mark.parametrize("text", EXPLAINED)
def test_a_table_that_explains(text: str) -> None:
    lines = text.split("\n")
    assert list(setting_tables(lines)) == [(0, max(at for at, line in enumerate(lines) if line))]
    assert suspects(f"{text}\nOur jobs over InfiniBand are slow.\n").isdisjoint({"env-ib-disable"})


@pytest.mark.parametrize("text", SET)
def test_a_table_of_what_is_set(text: str) -> None:
    assert list(setting_tables(text.split("\n"))) == []
    assert "env-ib-disable" in suspects(f"{text}\nOur jobs over InfiniBand are slow.\n")


def test_another_table() -> None:
    assert list(setting_tables(["| Name | Description |", "| --- | --- |", "| Mira | runs the cluster |"])) == []


def suspects(text: str) -> set[str]:
    return {each.name for each in diagnose([TextSource.of_bytes("x", text.encode())]).suspects}


def test_the_cost_of_headings_is_linear_in_their_number() -> None:
    """Each line of a text may be a heading: the rows below each of them are not all judged."""
    assert_linear(lambda lines: list(setting_tables(lines)), lambda count: ["name | default"] * count, 500)
