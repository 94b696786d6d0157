"""How a job was started: what its launch lines and the first words of its ranks say."""

from __future__ import annotations

MPI_PROGRAMS = ("mpirun", "mpiexec", "orterun", "prterun")
