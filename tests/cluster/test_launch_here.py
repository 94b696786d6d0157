"""A launch on this host alone, under two names: its agents are no program that holds the port of the ranks."""

from __future__ import annotations

import contextlib
import socket
from collections.abc import Iterator

import pytest

from ncdiag.apps.cluster.launching import asked, tried
from ncdiag.apps.cluster.model import Wish
from ncdiag.apps.cluster.probing import Trial


@contextlib.contextmanager
def port(*, held: bool) -> Iterator[int]:
    """A port of this host on which nobody listens, or somebody."""
    with socket.create_server(("", 0)) as server:
        number = int(server.getsockname()[1])
        if not held:
            server.close()
        yield number


@pytest.mark.parametrize("held", [False, True])
def test_the_port_where_the_ranks_meet(*, held: bool) -> None:
    with port(held=held) as number:
        line = f"mpirun -H localhost:1,127.0.0.1:1 -x MASTER_ADDR=localhost -x MASTER_PORT={number} hostname"
        found = asked(line, None, {})
        trial = Trial(seconds=2, wait=60, places=((found.plan.master, number),))
        lines = tried(found, "ssh", trial, Wish()).text.splitlines()
    words = "address already in use" if held else "free"
    for name in ("localhost", "127.0.0.1"):
        assert f"probe {name} is localhost, port {number}: {words}" in lines
