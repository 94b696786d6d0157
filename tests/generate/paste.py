"""Writes what a person pastes who asks for help: of both nodes what tools print, then the end of the job's log.

The transfers of one node fail with link-local GIDs; names and addresses are those of `generate.healthy`. As a program,
in ``tests``: ``python -m generate.paste LINES``.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator

from generate import large

_GPUS = 8
_CA = """\
CA 'mlx5_{number}'
	CA type: MT4129
	Number of ports: 1
	Firmware version: 28.41.1000
	Hardware version: 0
	Node GUID: 0x{guid:016x}
	System image GUID: 0x{guid:016x}
	Port 1:
		State: Active
		Physical state: LinkUp
		Rate: 400
		Base lid: 0
		LMC: 0
		SM lid: 0
		Capability mask: 0x00010000
		Port GUID: 0x{guid:016x}
		Link layer: Ethernet
"""
_LEGEND = """
Legend:

  X    = Self
  SYS  = Connection traversing PCIe as well as the SMP interconnect between NUMA nodes (e.g., QPI/UPI)
  NODE = Connection traversing PCIe as well as the interconnect between PCIe Host Bridges within a NUMA node
  PIX  = Connection traversing at most a single PCIe bridge
  NV#  = Connection traversing a bonded set of # NVLinks

NIC Legend:

"""
_ENV = """\
SHELL=/bin/bash
HOSTNAME={host}
PWD=/workspace
HOME=/root
MASTER_ADDR=10.61.4.21
MASTER_PORT=29500
NODE_RANK={node}
WORLD_SIZE=16
NCCL_DEBUG=INFO
NCCL_SOCKET_IFNAME=bond0
NCCL_IB_GID_INDEX=0
CUDA_HOME=/usr/local/cuda
LD_LIBRARY_PATH=/usr/local/cuda/lib64
PATH=/usr/local/bin:/usr/bin:/bin
"""


def paste(lines: int) -> str:
    """So many lines; the log takes what the outputs leave, and its beginning is missing where that is too little."""
    outputs = "Two nodes, and it dies with the first all-reduce. What I have:\n" + "".join(map(_outputs, range(2)))
    room = lines - outputs.count("\n") - 1
    job = large.large("2.27.7", "roce", nodes=2, gpus=_GPUS, channels=8, faults=("gid",))
    log = list(large.lines(job))
    if not 0 < room <= len(log):
        msg = f"a paste has {lines - room + 1} to {lines - room + len(log)} lines"
        raise ValueError(msg)
    return f"{outputs}{_prompt(0)}tail -n {room} job.log\n" + "\n".join(log[-room:]) + "\n"


def _prompt(node: int) -> str:
    return f"[root@trn-{node + 11} ~]# "


def _outputs(node: int) -> str:
    guids = (0xB8CEF60300D10000 + 0x1000 * node + 0x10 * number for number in range(_GPUS))
    ibstat = "".join(_CA.format(number=number, guid=guid) for number, guid in enumerate(guids))
    topology = "\n".join(_matrix()) + "\n" + _LEGEND + "".join(f"  NIC{n}: mlx5_{n}\n" for n in range(_GPUS))
    env = _ENV.format(host=f"trn-{node + 11}", node=node)
    outputs = {"ibstat": ibstat, "nvidia-smi topo -m": topology, "env": env}
    return "".join(f"{_prompt(node)}{command}\n{output}" for command, output in outputs.items())


def _matrix() -> Iterator[str]:
    """The matrix of the tool: each GPU has a NIC behind its own PCIe switch."""
    names = [f"GPU{n}" for n in range(_GPUS)] + [f"NIC{n}" for n in range(_GPUS)]
    yield "\t" + "\t".join(names) + "\tCPU Affinity\tNUMA Affinity\tGPU NUMA ID"
    for row, name in enumerate(names):
        levels = [_level(row, column) for column in range(len(names))]
        numa = row // (_GPUS // 2)
        cpus = f"{48 * numa}-{48 * numa + 47}\t{numa}\t\tN/A" if row < _GPUS else "\t\t\t"
        yield "\t".join([name, *levels, cpus])


def _level(row: int, column: int) -> str:
    if row == column:
        return " X "
    if max(row, column) < _GPUS:
        return "NV18"
    a, b = row % _GPUS, column % _GPUS
    if a == b:
        return "PIX"
    return "NODE" if a // (_GPUS // 2) == b // (_GPUS // 2) else "SYS"


if __name__ == "__main__":
    sys.stdout.write(paste(int(sys.argv[1])))
