"""Pictures of jobs in which almost everything differs."""

from __future__ import annotations

from pages import Reader

from ncdiag import diagnose
from ncdiag.report.html.context import Context
from ncdiag.report.html.element import write
from ncdiag.report.html.pictures import ranks
from ncdiag.text.sources.files import TextSource

RANKS = 40


def test_values_of_ranks_that_are_not_listed_are_counted() -> None:
    lines = [
        f"n1:{rank}:{rank} [0] NCCL INFO comm 0x{rank:x} rank {rank} nranks {RANKS} cudaDev 0 nvmlDev 0 busId 4f000 "
        f"commId 0x9 - Init START\nn1:{rank}:{rank} [0] NCCL INFO NCCL_NET_GDR_LEVEL set by environment to {rank}.\n"
        for rank in range(RANKS)
    ]
    found = diagnose.diagnosed([TextSource.of_bytes("job.log", "".join(lines).encode())])
    drawn = ranks.draw(found.view, Context(found.report))
    shown = " ".join(Reader(write(drawn)).text.split())
    assert "E 4: rank 4 F 5: rank 5" in shown
    assert "F and 28 more values" in shown
