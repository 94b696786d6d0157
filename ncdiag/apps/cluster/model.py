"""Types of requests to many hosts, and of their answers."""

from __future__ import annotations

from collections.abc import Callable

import msgspec


class Answer(msgspec.Struct, frozen=True):
    """The answer of a host: its ``data``, or the ``problem`` why there is none, as part of a sentence.

    ``said`` are the last lines that ssh or the host also printed. An answer without a ``host`` has those of a launcher,
    which may be from any host. ``by`` is the means that was used: ``ssh``, ``srun``, ``mpirun``, ``kubectl``.
    """

    host: str
    data: bytes = b""
    problem: str = ""
    said: tuple[str, ...] = ()
    by: str = ""

    @property
    def silence(self) -> str:
        """The line that reports that the host did not answer, with the reason."""
        by = f" by {self.by}" if self.by else ""
        return f"ncdiag: {self.host} gave no answer to the sweep{by}: {self.problem}"


class Wish(msgspec.Struct, frozen=True, kw_only=True):
    """Parameters of a request. ``seconds`` is the timeout per host, ``fanout`` the number of hosts in parallel.

    ``options`` are passed to ssh, or to srun, mpirun or kubectl if one of these is used. ``tell`` is called with the
    number of hosts that have answered, ``begin`` with the number of hosts before the first is contacted; it raises an
    error to prevent that. ``here`` are names of this host, which needs no ssh.
    ``job`` names a running job whose processes each host examines; ``stacks`` says which stacks it takes.
    """

    seconds: float = 60.0
    fanout: int = 64
    options: str = ""
    tell: Callable[[int], None] = lambda _: None
    begin: Callable[[int], None] = lambda _: None
    here: frozenset[str] = frozenset()
    job: str = ""
    stacks: str = "auto"
