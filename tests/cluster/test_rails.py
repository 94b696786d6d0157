"""One host measures against another, over real connections of the probe."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

from ncdiag.agent.probe.bandwidth import Receiver
from ncdiag.agent.probe.client import Asker
from ncdiag.agent.probe.rails import Rails
from ncdiag.agent.probe.server import Server

PORT = {"hca": "mlx5_0", "port": 1, "layer": "InfiniBand", "rate": 400.0, "gid": None}


def test_a_partner_that_is_busy_has_not_failed() -> None:
    """It serves somebody else for as long as we could wait: nothing is known of the way to it."""
    server = Server()
    listening = server._bound("127.0.0.1", 0)
    server.receiver = Receiver([PORT], 1, None)
    server.receiver.meet("n3")
    threading.Thread(target=server.serve, daemon=True).start()
    server.tell("secret")

    def ways(_: Any) -> Iterator[tuple[str, dict[str, Any]]]:  # noqa: ANN401
        yield "127.0.0.1", {"address": "127.0.0.1", "ports": [listening]}

    plan = {"seconds": 0.2, "half": 1.0, "whole": 2.0}
    own = {"host": "n1", "rdma": [PORT]}
    peer = {"host": "n2", "rdma": [PORT], "carries": True}
    rails = Rails(plan, own, Asker("secret", {server.token: "n2"}), ways)
    assert list(rails.lines([(peer, True)], Receiver([PORT], 1, None))) == [
        "probe n1 mlx5_0:1 -> n2 mlx5_0:1 at 127.0.0.1: ib_write_bw not tried: n2 was busy with another host"
    ]
