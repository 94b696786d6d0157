"""What is asked of many hosts, and what each of them answers."""

from __future__ import annotations

from collections.abc import Callable

import msgspec


class Answer(msgspec.Struct, frozen=True):
    """What came back from a host: its ``data``, or the ``problem`` why there is none, a part of a sentence.

    ``said`` are the last lines that ssh or the host printed beside it. An answer without a ``host`` has those of a
    launcher, which may be of any host. ``by`` is what carried the question: ``ssh``, ``srun``, ``mpirun``, ``kubectl``.
    """

    host: str
    data: bytes = b""
    problem: str = ""
    said: tuple[str, ...] = ()
    by: str = ""

    @property
    def silence(self) -> str:
        """The line that says that there is no answer, and why."""
        by = f" by {self.by}" if self.by else ""
        return f"ncdiag: {self.host} gave no answer to the sweep{by}: {self.problem}"


class Wish(msgspec.Struct, frozen=True, kw_only=True):
    """How to ask. ``seconds`` is the time of one host, ``fanout`` how many are asked at once.

    ``options`` go to ssh, or to srun, mpirun or kubectl where one of these carries the question. ``tell`` is called
    with the number of hosts that have answered. ``here`` are those that are this host itself, which needs no ssh.
    """

    seconds: float = 60.0
    fanout: int = 64
    options: str = ""
    tell: Callable[[int], None] = lambda _: None
    here: frozenset[str] = frozenset()
