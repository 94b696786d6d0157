"""``srun --mpi=list``: the kinds of PMI for which Slurm has a plugin.

Source of the format: Slurm src/interfaces/mpi.c (mpi_g_slurmstepd..., _log_env; ``MPI plugin types are...`` since
20.11, before ``srun: MPI types are...``) and src/plugins/mpi/pmix (``specific pmix plugin versions available``).
"""

from __future__ import annotations

import re

from ncdiag.base.spans import Section
from ncdiag.parsers._rows import Reading, Row, Rows

KIND = "slurm_mpi"
COMMANDS: tuple[str, ...] = ()
_HEAD = r"(?:srun: )?MPI (?:plugin )?types are\.\.\.\s*$"
ANCHOR = r"(?:srun: )?MPI (?:plugin )?types are\.\.\.[ \t]*$"
_TYPE = r"(?:srun: |\s{1,8})(?P<type>none|openmpi|cray_shasta|pmi2|pmix(?:_v\d)?)\s*$"
_MORE = r"(?:srun: |\s{0,8})specific pmix plugin versions available: (?P<types>[\w, ]{1,80})$"


class _Types(Reading):
    """``slurm_mpi_types`` of the host."""

    def __init__(self, section: Section) -> None:
        """No kind was read yet."""
        super().__init__(section)
        self.types: list[str] = []

    def one(self, found: re.Match[str]) -> None:
        """A kind."""
        self.types.append(found["type"])

    def more(self, found: re.Match[str]) -> None:
        """Releases of PMIx that a plugin exists for."""
        self.types += found["types"].replace(",", " ").split()

    def end(self) -> None:
        """All of them as one observation."""
        if self.types:
            self.observe("Host", at=0, slurm_mpi_types=self.types)


ROWS = Rows(_Types, Row(_HEAD), Row(_TYPE, _Types.one), Row(_MORE, _Types.more), most=40)
continues, parse = ROWS.continues, ROWS.parse
