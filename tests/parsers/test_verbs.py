"""Failed steps of RDMA in the words of many programs, and lines that only look like them."""

from __future__ import annotations

from typing import Any

import pytest

from ncdiag.base.spans import Section
from ncdiag.parsers import _completions, _events, _verbs, perftest

EMPTY = " GID: 00:00:00:00:00:00:00:00:00:00:00:00:00:00:00:00"
TOLD: dict[str, list[tuple[str, dict[str, Any]]]] = {
    "ib-modify-qp-failed": [
        ("Failed to modify QP 274 to RTR", {"next_state": "RTR"}),
        ("Failed to modify QP to INIT, ret=22", {"next_state": "INIT", "errno": 22}),
        ("Failed to modify QP to RTS", {"next_state": "RTS"}),
        ("Failed to modify QP to RTR: errno=110 (Connection timed out)", {"next_state": "RTR", "errno": 110}),
        ("ibv_modify_qp RTR failed, rc=22 (Invalid argument)", {"errno": 22, "next_state": "RTR"}),
        ("Unable to set qp to state R2R with errno 110.", {"errno": 110, "next_state": "RTR"}),
        ("[EP IBGDA] init2rtr failed for QP 3", {"next_state": "RTR"}),
        ("ibv_modify_qp init2rtr for dct failed.", {"next_state": "RTR"}),
        ("error modifying QP to RTS: Invalid argument", {"next_state": "RTS", "error": "Invalid argument"}),
        (
            "mlx5_0: ibv_modify_qp(UMR QP 0x1a2) failed to modify to RTR: Connection timed out",
            {"next_state": "RTR", "hca": "mlx5_0"},
        ),
        (
            "Failed to modify QP to RTR, check mtu, gid, peer lid, peer qp num: Connection timed out [110]",
            {"next_state": "RTR", "errno": 110},
        ),
        (
            "[Handshake] Failed to modify QP to RTR, check mtu, gid, peer lid, peer qp num: No such device [19]",
            {"errno": 19},
        ),
        ("ibv_modify_qp failed (errno 110)", {"errno": 110}),
        (
            "Failed to modify queue pair to RTR state: No route to host",
            {"error": "No route to host", "next_state": "RTR"},
        ),
        ("could not transition queue pair to RTS: Invalid argument", {"next_state": "RTS"}),
        ("Failed to modify Ctrl QP to RTR", {"next_state": "RTR"}),
    ],
    "ib-reg-mr-failed": [
        ("Couldn't allocate MR", {}),
        ("Couldn't allocate MR with error=14", {"errno": 14}),
        ("failed to create mr", {}),
        ("Couldn't register GPU MR", {"memory": "gpu"}),
        ("registering a memory region of 64 MiB failed: no such device", {"error": "No such device"}),
        ("ibv_reg_mr failed", {}),
        ("ibv_exp_reg_mr(address=0x7f32c0000000, length=64, access=0xf) failed: Bad address", {"error": "Bad address"}),
        (
            "failed to register address 0x7f3200 mem_type bit 0x2 length 64 on md[5]=mlx5_0: Input/output error",
            {"memory": "gpu"},
        ),
        ("ibv_reg_mr: Bad address", {"error": "Bad address"}),
        ("ibv_reg_mr(address=0x7f32c0000000, length=1048576, access=0xf) failed: Bad address", {}),
        (
            "failed to register address 0x7f32c0000000 (cuda) length 64 on md[4]=mlx5_0: Input/output error",
            {"memory": "gpu"},
        ),
        ("ibv_reg_dmabuf_mr failed (errno=95: Operation not supported)", {"errno": 95, "memory": "gpu"}),
        ("Failed to register memory 0x7f32c0000000: Bad address [14]", {"errno": 14}),
        ("Failed to register memory region 0x7f32c0000000: Bad address [14]", {"errno": 14}),
        ("RdmaContext: failed to register memory with rdma device mlx5_2: Cannot allocate memory", {"hca": "mlx5_2"}),
        ("Unable to register MR of 4096 bytes: Cannot allocate memory", {}),
    ],
    "ib-create-failed": [
        ("Failed to create QP.", {}),
        ("Unable to create QP.", {}),
        ("Couldn't create CQ", {}),
        ("qp creation failed", {}),
        ("Failed to create completion queue: Cannot allocate memory", {"error": "Cannot allocate memory"}),
        ("ibv_create_cq failed (errno 12)", {"errno": 12}),
        ("ibv_create_cq for recv_cq failed.", {}),
        ("Failed to create QP: Cannot allocate memory [12]", {"errno": 12}),
    ],
    "ib-open-device-failed": [
        ("ibv_open_device failed for mlx5_3", {"hca": "mlx5_3"}),
        ("open_device failed for IB device at index 2", {}),
        ("ibv_open_device(mlx5_1) failed: Permission denied", {"hca": "mlx5_1"}),
    ],
    "ib-query-gid-failed": [
        ("Failed to query GID 3 on mlx5_0: No data available", {"gid_index": 3, "hca": "mlx5_0"}),
        ("[EP IBGDA] No suitable GID on mlx5_4", {"hca": "mlx5_4"}),
        ("No valid GID found for device mlx5_4", {"hca": "mlx5_4"}),
        ("[EP IBGDA] ibv_query_gid failed", {}),
        ("can't read sgid of index 3", {"gid_index": 3}),
        ("Failed to query ibv gid attributes", {}),
    ],
    "rdma-no-device": [
        ("RdmaTransport: No available RNIC", {}),
        ("no active IB device found, exiting", {}),
        ("no active IB device that supports GPU-initiated communication is found, exiting...", {}),
        ("Unable to find the Infiniband/RoCE device", {}),
        ("No RDMA devices found on this host", {}),
        ("ibv_get_device_list failed", {}),
        ("Failed to get RDMA devices list, ibdev_list null", {}),
        ("no HCA was detected", {}),
        ("Failed to get IB devices list", {}),
    ],
    "rdma-cm-failed": [
        ("cma event RDMA_CM_EVENT_ADDR_ERROR, error -19", {"errno": 19, "cm_event": "ADDR_ERROR"}),
        ("cma event RDMA_CM_EVENT_REJECTED, error 8", {"cm_event": "REJECTED"}),
        ("cma event RDMA_CM_EVENT_UNREACHABLE, error -110", {"errno": 110}),
        ("rdma_resolve_addr: No such device", {"cm_event": "resolve_addr"}),
        ("rdma_connect: Connection refused", {"cm_event": "connect"}),
        ("rdma_resolve_addr(src=10.0.0.1:0, dst=10.0.0.2:18515) failed (-1): Cannot assign requested address", {}),
    ],
}
COMPLETIONS = {
    "Failed status 12: wr_id 0 syndrom 0x81": 12,
    "cq completion failed status 12": 12,
    "Poll send CQ error status=12 qp 0 credit=1 scredit=0": 12,
    "ibv_poll_cq failed, status: 12": 12,
    "Notification completion failed: 12": 12,
    "CQE error: transport retry counter exceeded": 12,
    "WC error: remote access error": 10,
    "Worker: Process failed for slice (opcode: 0, local_nic: mlx5_0): transport retry counter exceeded": 12,
    "Transport retry count exceeded on mlx5_0:1/RoCE (synd 0x15 vend 0x81 hw_synd 0/0)": 12,
}
NOTHING = [
    'grep -n "Failed to modify QP to RTR" *.log',
    "NCCL INFO Call to ibv_create_qp: 2 queue pairs for a connection",
    "ibv_reg_dmabuf_mr failed (errno=95: Operation not supported), falling back to ibv_reg_mr",
    "ibv_create_qp failed with sl 8, errno: 22. Retrying with default sl.",
    "No RDMA devices found, falling back to TCP",
    'if (ibv_modify_qp(qp, &attr, flags)) { fprintf(stderr, "Failed to modify QP to RTR\\\\n"); }',
    "ibv_dereg_mr failed",
    "cudaHostRegister failed: invalid argument",
    "Failed to register shared memory",
    "Failed to register memory",
    "Failed to unregister memory region: 3",
    "[destroy] ibv_modify_qp->ERR failed (ret=22)",
    "no groups found for gid 1001",
    "failed to get gid for user nobody",
    "cannot find name for group ID 1000",
    "Failed to set memory limit in queue",
    "Registered 12 memory regions, 0 failed",
    "Successfully modified QP to RTR",
    "Why does ibv_reg_mr fail with 14?",
    "What should I do if ibv_modify_qp fails with 110?",
    "failed to create queue 'celery': connection refused",
    "Failed to create task queue",
    "rabbitmq: cannot create queue on broker",
    "Failed to allocate memory for request",
    "could not find a device to run on",
    "Failed to find device cuda:3",
    "error: no CUDA devices found",
    "no IB error counters were raised",
    "GID table has 8 entries",
    "nvidia-smi: No devices were found",
    "Error in request: invalid credit",
    "I have no RDMA nic, only TCP",
    "Using RDMA device mlx5_0, gid index 3",
    "Failed to open file for reading",
    "unable to register user: name taken",
    "Failed to register model with memory cache",
    "could not connect to the register",
    "Failed to create CPU backend",
    "job failed: rdma 0 errors",
    "ibv_reg_mr works, ibv_modify_qp too",
    "Failed to set up environment, qps limited to 10 requests",
    "failed: QPS dropped to 0",
    "Cannot change qps of the load generator",
]


@pytest.mark.parametrize("event", TOLD)
def test_a_failed_step_is_told_by_any_words(event: str) -> None:
    for line, fields in TOLD[event]:
        told = _verbs.failure(line)
        assert told is not None, line
        assert told.event == event, line
        assert told.fields | fields == told.fields, line


def test_a_failed_completion_is_told_by_any_words() -> None:
    assert {line: _completions.status(line) for line in COMPLETIONS} == COMPLETIONS


def test_what_only_looks_like_it() -> None:
    assert [line for line in NOTHING if _verbs.failure(line) or _completions.status(line)] == []


def test_what_ucx_passes_on_is_judged_as_well() -> None:
    found = _events.find("UCX  ERROR ibv_reg_mr(address=0x7f32c0000000, length=64, access=0xf) failed: Bad address")
    assert [told.event for told in found] == ["ucx-error", "ib-reg-mr-failed"]


HEAD = (
    "                    RDMA_Write BW Test",
    " Dual-port       : OFF\t\tDevice         : mlx5_2",
    " Link type       : Ethernet",
    " GID index       : 1",
    " local address: LID 0000 QPN 0x0112 PSN 0x5e1f4a RKey 0x1fffbd VAddr 0x007f0b00010000",
)
LOCAL = " GID: 254:128:00:00:00:00:00:00:14:66:161:255:254:74:124:32"


def of_test(*lines: str) -> list[dict[str, Any]]:
    section = Section(kind="perftest", source="x", first_line=1, lines=lines)
    assert all(perftest.continues(lines[:index], line) for index, line in enumerate(lines) if index)
    return [o.fields for o in perftest.parse(section).observations if o.entity == "Event"]


def test_the_head_of_a_test_tells_of_the_queue_that_failed() -> None:
    (event,) = of_test(*HEAD, LOCAL, "Failed to modify QP 274 to RTR")
    assert event["event"] == "ib-modify-qp-failed"
    assert event["fields"] == {
        "hca": "mlx5_2", "gid_index": 1, "link_layer": "Ethernet", "local_gid": "fe80::e42:a1ff:fe4a:7c20",
        "next_state": "RTR",
    }  # fmt: skip


def test_an_empty_gid_counts_where_one_is_needed() -> None:
    empty = of_test(*HEAD, EMPTY)
    assert [(event["event"], event["fields"]["side"]) for event in empty] == [("roce-gid-empty", "local")]
    by_lid = [line.replace("Ethernet", "IB").replace("LID 0000", "LID 0x11") for line in HEAD]
    assert of_test(*by_lid, EMPTY) == []


def test_memory_of_a_gpu_is_told_by_the_test() -> None:
    (event,) = of_test("initializing CUDA", *HEAD, "Couldn't allocate MR with error=14")
    assert (event["fields"]["memory"], event["fields"]["errno"]) == ("gpu", 14)
