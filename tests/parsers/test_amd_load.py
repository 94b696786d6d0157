# ruff: noqa: E501  (lines of tools are as long as they are)
"""The load and power of AMD GPUs in the tables of rocm-smi and amd-smi of several releases."""

from __future__ import annotations

import pytest

from ncdiag.text.reading.job import job_of
from ncdiag.text.reading.one import read_source
from ncdiag.text.sources.files import TextSource

ROCM_6 = """============================ ROCm System Management Interface ============================
====================================== Concise Info ======================================
Device  Node  IDs              Temp        Power     Partitions          SCLK     MCLK    Fan  Perf  PwrCap  VRAM%  GPU%
              (DID,     GUID)  (Junction)  (Socket)  (Mem, Compute, ID)
==========================================================================================
0       2     0x74a1,   28851  45.0\N{DEGREE SIGN}C      312.0W    NPS1, SPX, 0        2105Mhz  900Mhz  0%   auto  750.0W  88%    100%
1       3     0x74a1,   51499  36.0\N{DEGREE SIGN}C      141.0W    NPS1, SPX, 0        132Mhz   900Mhz  0%   auto  750.0W  88%    0%
==========================================================================================
"""
ROCM_5 = """======================= ROCm System Management Interface =======================
================================= Concise Info =================================
GPU  Temp (DieEdge)  AvgPwr  SCLK     MCLK     Fan  Perf  PwrCap  VRAM%  GPU%
0    45.0c           312.0W  1700Mhz  1600Mhz  0%   auto  560.0W   88%   100%
1    36.0c           91.0W   800Mhz   1600Mhz  0%   auto  560.0W   88%   0%
================================================================================
"""
ROCM_VALUES = (
    "============================ ROCm System Management Interface ============================\n"
    "GPU[0]\t\t: GPU use (%): 100\n"
    "GPU[0]\t\t: Current Socket Graphics Package Power (W): 312.0\n"
    "GPU[0]\t\t: GPU Memory Read/Write Activity (%): 0\n"
    "GPU[1]\t\t: GPU use (%): 0\n"
)
MONITOR_6 = """GPU  POWER  GPU_TEMP  MEM_TEMP  GFX_UTIL  GFX_CLOCK  MEM_UTIL  MEM_CLOCK  VRAM_USED  VRAM_TOTAL
  0  312 W     45 \N{DEGREE SIGN}C     38 \N{DEGREE SIGN}C     100 %   2105 MHz       0 %    900 MHz  170285 MB   196592 MB
  1  141 W     36 \N{DEGREE SIGN}C     33 \N{DEGREE SIGN}C       0 %    132 MHz       0 %        N/A  170285 MB   196592 MB
"""
MONITOR_7 = """GPU  XCP  POWER  PWR_CAP  GPU_T  MEM_T  GFX_CLK  GFX%  MEM%  VRAM_USAGE
  0    0  312 W    750 W  45 \N{DEGREE SIGN}C  38 \N{DEGREE SIGN}C  2105 MHz  100 %   0 %  166.3/192.0 GB
  1    0  141 W    750 W  36 \N{DEGREE SIGN}C  33 \N{DEGREE SIGN}C   132 MHz    0 %   0 %  166.3/192.0 GB
"""
SUMMARY_7 = """+------------------------------------------------------------------------------+
| AMD-SMI 26.0.0+37d158ab      amdgpu version: 6.14.14  ROCm version: 7.0.0    |
|-------------------------------------+----------------------------------------|
| BDF                        GPU-Name | Mem-Uti   Temp   UEC       Power-Usage |
| GPU  HIP-ID  OAM-ID  Partition-Mode | GFX-Uti    Fan               Mem-Usage |
|=====================================+========================================|
| 0000:05:00.0    AMD Instinct MI300X | 0 %      45 \N{DEGREE SIGN}C   0           312/750 W |
|   0       0       7        SPX/NPS1 | 100 %      N/A        170285/196592 MB |
|-------------------------------------+----------------------------------------|
| 0000:26:00.0    AMD Instinct MI300X | 0 %      36 \N{DEGREE SIGN}C   0           141/750 W |
|   1       1       6        SPX/NPS1 | 0 %        N/A        170285/196592 MB |
+-------------------------------------+----------------------------------------+
"""


@pytest.mark.parametrize(
    ("text", "limit", "memory"),
    [
        (ROCM_6, 750, None), (ROCM_5, 560, None), (ROCM_VALUES, None, 0), (MONITOR_6, None, 0), (MONITOR_7, 750, 0),
        (SUMMARY_7, 750, 0),
    ],
)  # fmt: skip
def test_the_load_of_each_gpu_is_read(text: str, limit: int | None, memory: int | None) -> None:
    job = job_of([read_source(TextSource.of_bytes("out.txt", text.encode()))])
    (host,) = job.hosts
    busy, idle = host.gpus
    assert (busy.index, busy.load_percent, busy.power_watts) == (0, 100, 312)
    assert (busy.power_limit_watts, busy.memory_activity_percent) == (limit, memory)
    assert (idle.index, idle.load_percent) == (1, 0)


def test_the_last_row_of_a_repeated_table_counts() -> None:
    rows = MONITOR_6 + MONITOR_6.split("\n", 1)[1].replace("100 %", " 42 %")
    job = job_of([read_source(TextSource.of_bytes("out.txt", rows.encode()))])
    assert [gpu.load_percent for gpu in job.hosts[0].gpus] == [42, 0]
