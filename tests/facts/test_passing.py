"""Variables that a shell exports, and launchers that do not pass them to other hosts."""

from __future__ import annotations

import pytest

from ncdiag.facts.view import View
from ncdiag.nccl.vocabulary.relations.passing import not_passed_on
from ncdiag.text.reading.job import facts_of

EXPORT = "export NCCL_SOCKET_IFNAME=ens5\nexport GLOO_SOCKET_IFNAME=ens5\n"


@pytest.mark.parametrize(
    ("line", "lost"),
    [
        ("mpirun -np 16 -H n1:8,n2:8 --map-by slot python t.py", ["NCCL_SOCKET_IFNAME", "GLOO_SOCKET_IFNAME"]),
        ("mpirun -np 16 -H n1:8,n2:8 -x NCCL_SOCKET_IFNAME python t.py", ["GLOO_SOCKET_IFNAME"]),
        ("mpirun -np 8 -H n1:8 --map-by slot python t.py", []),
        ("mpirun -np 16 -hosts n1,n2 -ppn 8 python t.py", []),
        ("deepspeed --hostfile=hosts t.py", ["GLOO_SOCKET_IFNAME"]),
        ("srun -N 2 -n 16 python t.py", []),
        ("torchrun --nnodes=2 --nproc_per_node=8 t.py", []),
    ],
)
def test_what_a_launcher_does_not_pass_on(line: str, lost: list[str]) -> None:
    job = facts_of({"text": [EXPORT + line]})
    said = " ".join(found.text for found in not_passed_on(job, View(job)))
    assert [name for name in ("NCCL_SOCKET_IFNAME", "GLOO_SOCKET_IFNAME") if name in said] == lost


def test_what_is_exported_after_the_launch_is_not_its_loss() -> None:
    job = facts_of({"text": ["mpirun -np 16 -H n1:8,n2:8 --map-by slot python t.py\n" + EXPORT]})
    assert not list(not_passed_on(job, View(job)))
