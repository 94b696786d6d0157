# ruff: noqa: E501  (log lines are as long as they are)
"""Prefixes of every release and every launcher."""

from __future__ import annotations

import pytest

from ncdiag.parsers.nccl_log.prefix import Prefix, parse_prefix

N = {"host": "node1", "pid": 42, "tid": 43, "dev": 0}

FORMS: dict[str, tuple[str, dict[str, object]]] = {
    "info": ("node1:42:43 [0] ", N),
    "warn to 2.25": ("node1:42:43 [0] misc/socket.cc:311 ", {**N, "file": "misc/socket.cc", "line": 311}),
    "warn 2.26": (
        "[2025-03-14 09:26:53] node1:42:43 [0] init.cc:7 ",
        {**N, "file": "init.cc", "line": 7, "time": 1741944413.0, "has_clock": True},
    ),
    "warn 2.30.7": (
        "[2025-03-14 09:26:53] node1:42:43 [0] init.cc:7 (ncclCommInitRankFunc) ",
        {**N, "file": "init.cc", "line": 7, "time": 1741944413.0, "has_clock": True, "function": "ncclCommInitRankFunc"},
    ),
    "trace": ("node1:42:43 [0] 12.345678 ncclInit:88 ", N),
    "call": ("node1:42:43 ", {"host": "node1", "pid": 42, "tid": 43}),
    "diag": ("node1:42 ", {"host": "node1", "pid": 42}),
    "absolute path": (
        "node1:42:43 [0] /build/x/src/transport/net_ib.cc:99 ",
        {**N, "file": "transport/net_ib.cc", "line": 99},
    ),
    "old sources": ("node1:42:43 [0] include/socket.h:361 ", {**N, "file": "include/socket.h", "line": 361}),
    "garbage device": ("node1:42:43 [-1894217] ", {"host": "node1", "pid": 42, "tid": 43}),
    "large device": ("node1:42:43 [32767] ", {"host": "node1", "pid": 42, "tid": 43}),
    "host with dashes": ("job-3b-worker_0:42:43 [0] ", {**N, "host": "job-3b-worker_0"}),
    "host of digits and dashes": ("10-90-4-1:42:43 [0] ", {**N, "host": "10-90-4-1"}),
    "host is an address": ("10.0.0.4:42:43 [0] ", {**N, "host": "10.0.0.4"}),
    "host hidden by angles": ("<cluster-node>:42:43 [0] ", {**N, "host": "<cluster-node>"}),
    "host hidden by brackets": ("[hostname]:42:43 [0] ", {**N, "host": "[hostname]"}),
    "host hidden by stars": ("****:42:43 [0] ", {**N, "host": "****"}),
    "Open MPI tag": ("[1,3]<stdout>:node1:42:43 [0] ", {**N, "tag": "[1,3]<stdout>:"}),
    "Open MPI 5 tag": ("[prterun-node9-1234@1,0]<stdout>: node1:42:43 [0] ", {**N, "tag": "[prterun-node9-1234@1,0]<stdout>:"}),
    "Horovod": ("[1,3]<stderr>:node1:42:43 [0] ", {**N, "tag": "[1,3]<stderr>:"}),
    "torchrun": ("[default0]:node1:42:43 [0] ", {**N, "tag": "[default0]:"}),
    "srun": ("12: node1:42:43 [0] ", {**N, "tag": "12:"}),
    "Ray": ("(RayWorker pid=1234, ip=10.0.0.2) node1:42:43 [0] ", {**N, "tag": "(RayWorker pid=1234, ip=10.0.0.2)"}),
    "two of them": ("(EngineCore_DP0 pid=7) (RayWorkerWrapper pid=9) node1:42:43 [0] ", {**N, "tag": "(EngineCore_DP0 pid=7) (RayWorkerWrapper pid=9)"}),
    "kubectl": ("[pod/trainer-0/main] node1:42:43 [0] ", {**N, "tag": "[pod/trainer-0/main]"}),
    "stern": ("trainer-0 main node1:42:43 [0] ", {**N, "tag": "trainer-0 main"}),
    "CRI": ("2025-01-01T00:00:00.5Z stdout F node1:42:43 [0] ", {**N, "time": 1735689600.5, "tag": "stdout F"}),
    "journald": ("Jan 01 00:00:00 box python[1234]: node1:42:43 [0] ", {**N, "tag": "Jan 01 00:00:00 box python[1234]:"}),
    "time with a zone": ("2025-01-01T02:00:00+02:00 node1:42:43 [0] ", {**N, "time": 1735689600.0}),
    "time glued to the host": ("2025-05-16T16:39:51.208-07:00ip-10-3-2-5:42:43 [0] ", {**N, "host": "ip-10-3-2-5", "time": 1747438791.208}),
    "another line glued on": ("node0:40:41 [1] NCCL INFO Channel 00/0 : 1[1] -> 2[2] via P2P/CUMEMnode1:42:43 [0] ", N),
    "after a transport with a number": ("0[0] -> 9[1] [send] via NET/IB/0node1:42:43 [0] ", N),
    "after shared memory": ("0[0] -> 9[1] via direct shared memorynode1:42:43 [0] ", N),
    "function of a plugin": ("node1:42:43 [0] find_ofi_provider:612 ", {**N, "file": "find_ofi_provider", "line": 612}),
    "function of a plugin in C++": (
        "node1:42:43 [0] int create_plugin(nccl_plugin**, const char *):271 ",
        {**N, "file": "int create_plugin(nccl_plugin**, const char *)", "line": 271},
    ),
    "cut: device only": (" [3] ", {"dev": 3}),
    "cut: host and device": ("node1 [3] ", {"host": "node1", "dev": 3}),
    "cut: file only": ("misc/ibvwrap.cu:63 ", {"file": "misc/ibvwrap.cu", "line": 63}),
    "nothing": ("", {}),
    "prose": ("I saw this one: ", {}),
}  # fmt: skip


@pytest.mark.parametrize(("text", "parts"), FORMS.values(), ids=FORMS)
def test_prefix(text: str, parts: dict[str, object]) -> None:
    assert parse_prefix(text) == Prefix(**parts)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["n1", "a.b-c_d", "COMPLETEn1", "reSTARTn1", "kernel.cc", "n" * 255])
def test_what_stands_alone_is_read_as_behind_a_tag(name: str) -> None:
    alone, tagged = (parse_prefix(f"{tag}{name}:42:43 [7] ") for tag in ("", "rank-3: "))
    assert (alone.pid, alone.tid, alone.dev) == (42, 43, 7)
    assert (alone.host, alone.pid, alone.tid, alone.dev) == (tagged.host, tagged.pid, tagged.tid, tagged.dev)
