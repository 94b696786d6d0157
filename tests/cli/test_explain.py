# ruff: noqa: E501  (log lines are as long as they are)
"""``ncdiag explain``: everything that it knows, in text and JSON, and what it says of things that it does not know."""

from __future__ import annotations

import json
import shlex
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ncdiag.apps.explaining import answers_to
from ncdiag.commands._examples import EXAMPLES

Run = Callable[..., subprocess.CompletedProcess[bytes]]


@pytest.fixture
def explained(ncdiag: Run) -> Callable[..., list[dict[str, Any]]]:
    def run(*arguments: str) -> list[dict[str, Any]]:
        done = ncdiag("explain", *arguments, "--format", "json")
        assert done.returncode == 0, done.stderr
        told = json.loads(done.stdout)
        assert set(told) == {"thing", "nccl_version", "answers", "suggestions"}
        assert all({"kind", "name", "meaning"} <= set(answer) for answer in told["answers"])
        return list(told["answers"])

    return run


@pytest.mark.parametrize(
    ("thing", "kind", "name"),
    [
        ("NCCL_SOCKET_IFNAME", "variable", "NCCL_SOCKET_IFNAME"),
        ("NCCL_IB_HCA=mlx5_0", "variable", "NCCL_IB_HCA"),
        ("GLOO_SOCKET_IFNAME", "variable", "GLOO_SOCKET_IFNAME"),
        ("NCCL_SOKET_IFNAME", "unknown variable", "NCCL_SOKET_IFNAME"),
        ("UCS_ERR_REJECTED", "code of UCX ucs_status_string", "UCS_ERR_REJECTED"),
        ("FI_EFA_ERR_PEER_ABORTED", "code of EFA efa_strerror", "FI_EFA_ERR_PEER_ABORTED"),
        ("mscclpp::InvalidUsage", "code of MSCCL++ ErrorCode", "mscclpp::InvalidUsage"),
        ("NCCL_CTRAN_ENABLE", "variable", "NCCL_CTRAN_ENABLE"),
        ("RCCL_AINIC_ROCE", "variable", "RCCL_AINIC_ROCE"),
        ("ncclSystemError", "NCCL result", "ncclSystemError"),
        ("unhandled system error", "NCCL result", "ncclSystemError"),
        ("IBV_WC_RETRY_EXC_ERR", "ibverbs completion status", "IBV_WC_RETRY_EXC_ERR"),
        ("status 12", "ibverbs completion status", "IBV_WC_RETRY_EXC_ERR"),
        ("vendor err 129", "mlx5 vendor error", "0x81"),
        ("vendor 0x81", "mlx5 vendor error", "0x81"),
        ("errno 111", "errno", "ECONNREFUSED"),
        ("Connection refused", "errno", "ECONNREFUSED"),
        ("EMFILE", "errno", "EMFILE"),
        ("Xid 79", "Xid", "GPU has fallen off the bus"),
        ("xid: 94", "Xid", "contained ECC error"),
        ("SXid 20034", "SXid", "NVSWITCH_ERR_HW_DLPL_LTSSM_FAULT_UP"),
        ("sxid 12040", "SXid", "egress of a port"),
        ("25999", "term", "debug server"),
        ("port 25999", "term", "debug server"),
        ("TCP port 28028", "term", "RAS"),
        ("udp port 4791", "term", "RoCE"),
        ("25998", "SXid", "link interface"),
        ("UET", "term", "Ultra Ethernet"),
        ("GB300 NVL72", "term", "NVL72"),
        ("packet spraying", "term", "packet spraying"),
        ("copy-engine all-gather", "term", "copy-engine all-gather"),
        ("nvsentinel", "term", "NVSentinel"),
        ("Cluster Readiness Engine", "term", "Cluster Readiness Engine"),
        ("health validation", "term", "Health Validation"),
        ("SDC", "term", "silent data corruption"),
        ("rank not joined", "term", "JOB_STUCK_IN_NCCL_RANK_NOT_JOIN"),
        ("network slow", "term", "NETWORK_PERF_SLOWNESS"),
        ("PXN", "path type", "PXN"),
        ("NODE", "topology level", "NODE"),
        ("NV18", "topology level", "NV"),
        ("/sys/class/infiniband/mlx5_3/ports/1/gid_attrs/types/3", "file",
         "/sys/class/infiniband/<dev>/ports/<n>/gid_attrs/types/<i>"),
        ("/etc/nccl.conf", "file", "/etc/nccl.conf"),
        ("GPUDirect RDMA", "term", "GDR"),
        ("Subnet Manager", "term", "Subnet Manager"),
        ("SIGBUS", "term", "SIGBUS"),
        ("exit code 137", "term", "SIGKILL"),
        ("exitcode -11", "term", "SIGSEGV"),
        ("RANK", "variable", "RANK"),
        ("OMPI_MCA_btl_tcp_if_include", "variable", "OMPI_MCA_btl_tcp_if_include"),
        ("NCD101", "rule", "socket-virtual-ifname"),
        ("socket-virtual-ifname", "rule", "socket-virtual-ifname"),
        ("n1:1:2 [0] NCCL INFO Bootstrap : Using eth0:10.0.0.1<0>", "message", "bootstrap-interface"),
        ("ib-completion-error", "event", "ib-completion-error"),
    ],
)  # fmt: skip
def test_things(explained: Callable[..., list[dict[str, Any]]], thing: str, kind: str, name: str) -> None:
    first = explained(thing)[0]
    assert (first["kind"], first["name"]) == (kind, name)
    assert first["meaning"]


def test_a_bare_number_has_several_meanings(explained: Callable[..., list[dict[str, Any]]]) -> None:
    of_two = ["ncclSystemError", "IBV_WC_LOC_QP_OP_ERR", "ENOENT", "push buffer broken"]
    assert [answer["name"] for answer in explained("2")] == of_two
    assert {answer["kind"] for answer in explained("12")} == {"ibverbs completion status", "errno", "Xid"}


def test_what_is_chosen_where_the_default_says_nothing(explained: Callable[..., list[dict[str, Any]]]) -> None:
    (threads,) = explained("NCCL_SOCKET_NTHREADS")
    assert threads["default"] == "0"
    assert "AWS" in threads["if_unset"]
    assert explained("NCCL_IB_TIMEOUT")[0]["default"] == "14 (at first), 18 (2.14 and later), 20 (2.23 and later)"
    assert explained("NCCL_AGG_CHANNEL_SIZE")[0]["history"] == "since 2.10, removed in 2.20"
    assert explained("NCCL_THREAD_THRESHOLD")[0]["history"] == "from the beginning, removed in 2.5"
    assert "if_unset" not in explained("NCCL_IB_DISABLE")[0]


@pytest.mark.parametrize(("version", "default", "read"), [("2.18.3", "0", "read"), ("2.21.5", "-1", "read")])
def test_a_variable_in_a_release(
    explained: Callable[..., list[dict[str, Any]]], version: str, default: str, read: str
) -> None:
    (told,) = explained("NCCL_IB_GID_INDEX", "--nccl", version)
    assert (told["default"], told["in_this_release"]) == (default, read)
    assert "2.21" in told["default_by_release"]


def test_all_that_there_is_about_a_variable(explained: Callable[..., list[dict[str, Any]]]) -> None:
    (told,) = explained("NCCL_ALGO")
    assert told["agreement"] == "all ranks need the same value"
    assert "NCCL_PROTO" in told["related"]
    assert "do not use it in production" in told["risk"]
    assert told["because"]
    assert told["history"] == "since 2.5"
    (gone,) = explained("NCCL_MAX_NRINGS", "--nccl", "2.30.7")
    assert gone["use_instead"]


def test_a_path_type_has_another_number_in_each_release(explained: Callable[..., list[dict[str, Any]]]) -> None:
    numbers = [explained("PXB", "--nccl", version)[0]["number"] for version in ("2.7.8", "2.18.3", "2.30.7")]
    assert numbers == [3, 4, 5]


@pytest.mark.parametrize(
    ("thing", "near"),
    [("chanel", "channel"), ("ncclSytemError", "ncclSystemError"), ("socket-virtual-ifnam", "socket-virtual-ifname"),
     ("/sys/class/infiniband/<dev>/ports/<n>/stat", "/sys/class/infiniband/<dev>/ports/<n>/state"),
     ("Xid 780", "Xid 78"), ("ECONREFUSED", "ECONNREFUSED"), ("PXBB", "PXB")],
)  # fmt: skip
def test_what_may_have_been_meant(ncdiag: Run, thing: str, near: str) -> None:
    done = ncdiag("explain", thing)
    assert done.returncode == 2
    assert near in done.stderr.decode()
    machine = ncdiag("explain", thing, "--format", "json")
    assert machine.returncode == 2
    assert near in json.loads(machine.stdout)["suggestions"]


@pytest.mark.parametrize(
    ("thing", "kind", "name"),
    [
        ("NET/IB : Got completion from peer 10.0.0.2 with error 12", "message", "ib-completion-error"),
        ("Bootstrap : no socket", "message", "no-socket-interface"),
        ("RendezvousTimeoutError", "message", "torch-store-timeout"),
        ("Watchdog caught collective operation timeout", "term", "NCCL watchdog"),
        ("GPUDirect", "term", "GDR"),
        ("DistBackendError", "term", "DistBackendError"),
        ("flight recorder", "term", "flight recorder"),
        ("straggler", "rule", "collective-straggler-late"),
    ],
)
def test_a_part_of_a_line_and_a_word_of_the_field(
    explained: Callable[..., list[dict[str, Any]]], thing: str, kind: str, name: str
) -> None:
    first = explained(thing)[0]
    assert (first["kind"], first["name"]) == (kind, name)


@pytest.mark.parametrize("thing", ["the", "NET/IB : somebody wrote this", "Got lost on the way", "nosuchword"])
def test_words_that_begin_no_message(ncdiag: Run, thing: str) -> None:
    assert ncdiag("explain", thing).returncode == 2


def test_its_own_examples(ncdiag: Run, tmp_path: Path) -> None:
    log = tmp_path / "my.log"
    log.write_text("n1:1:2 [0] NCCL INFO Using network IB\n", encoding="utf-8")
    for example in EXAMPLES["explain"]:
        words = [str(log) if word == log.name else word for word in shlex.split(example, comments=True)]
        assert ncdiag(*words[1:]).returncode == 0, example


def test_text_and_one_object_a_line(ncdiag: Run) -> None:
    text = ncdiag("explain", "errno 110").stdout.decode()
    assert text.startswith("ETIMEDOUT (errno)")
    assert "in messages: Connection timed out" in text
    line = ncdiag("explain", "errno 110", "--format", "jsonl").stdout
    assert line.count(b"\n") == 1
    assert json.loads(line)["answers"][0]["number"] == 110


@pytest.mark.parametrize("thing", ["", " ", "\x1b[31m", "a" * 5000, "0x", "%", "[", "NCCL_", "-", "~", "/"])
def test_nonsense_is_told_plainly(ncdiag: Run, thing: str) -> None:
    done = ncdiag("explain", "--", thing)
    assert done.returncode in {0, 2}
    assert b"Traceback" not in done.stderr
    assert b"\x1b" not in done.stdout + done.stderr


def test_a_version_that_is_none(ncdiag: Run) -> None:
    done = ncdiag("explain", "NCCL_ALGO", "--nccl", "new")
    assert done.returncode == 2
    assert b"is not an NCCL version" in done.stderr


def test_the_lines_of_a_file_are_one_object_each(ncdiag: Run, tmp_path: Path) -> None:
    log = tmp_path / "job.log"
    call = (
        "opCount 9 sendbuff 0x7f00 recvbuff 0x7f40 count 256 datatype 7 op 0 root 0 comm 0x5a0 [nranks=2] stream 0x5d0"
    )
    lines = [
        "n1:1:2 [0] NCCL INFO Using network IB",
        "nothing that a program printed",
        "[2026-03-02 04:11:09] n1:4:5 [0] misc/socket.cc:484 NCCL WARN socketStartConnect: Connect to 10.1.2.4<40815> failed : Connection timed out",
        f"3: n1:1:2 [0] NCCL INFO AllReduce: {call}",
    ]
    log.write_text("".join(f"{line}\n" for line in lines))
    done = ncdiag("explain", "--lines", log, "--format", "jsonl")
    told = [json.loads(line) for line in done.stdout.splitlines()]
    assert [item["text"] for item in told] == lines
    wanted = {"event", "level", "meaning", "kind", "next", "fields", "versions"}
    assert all(wanted <= item.keys() for item in told)
    assert [item["event"] for item in told] == [
        "network-in-use", None, "socket-connect-failed", "collective-called",
    ]  # fmt: skip
    assert told[2]["fields"]["peer"] == "10.1.2.4<40815>"
    assert {item["kind"] for item in told} == {"fact", None, "cause"}
    assert told[3]["versions"] == ">=2.3.7,<2.4 or >=2.4"


@pytest.mark.parametrize(
    ("thing", "told"),
    [
        ("NCCL_IB_DISABLE=true", {"meant": "1"}),
        ("NCCL_NET_GDR_LEVEL=phb", {"meant": "PHB"}),
        ("NCCL_NET=socket", {"this_value": "read as Socket"}),
        ("NCCL_ALGO=", {"holds_for": "<2.24"}),
        ("NCCL_NET", {"empty": "an empty value names no network: initialisation fails"}),
        ("NCCL_IB_TIMEOUT", {"values": "0 to 31", "empty": "an empty value has the same effect as unset"}),
        ("NCCL_P2P_LEVEL", {"agreement": "the ranks of one host need the same value"}),
    ],
)
def test_a_variable_is_told_by_the_book(
    explained: Callable[..., list[dict[str, Any]]], thing: str, told: dict[str, str]
) -> None:
    (answer,) = explained(thing)
    assert {label: answer.get("details", answer).get(label) for label in told} == told


def test_the_levels_are_those_of_the_release(explained: Callable[..., list[dict[str, Any]]]) -> None:
    old, new = (explained("NCCL_P2P_LEVEL", "--nccl", release)[0] for release in ("2.18.3", "2.30.7"))
    assert ["P2C" in one.get("details", one)["values"] for one in (old, new)] == [False, True]


def test_the_json_of_a_rule_says_its_conditions_in_words(
    explained: Callable[..., list[dict[str, Any]]],
) -> None:
    (answer,) = explained("NCD814")
    (clause,) = answer["when"]
    assert answer["conditions"][clause][0].startswith("xgmi_gap: ")


def test_two_rules_and_a_file_show_why_one_comes_first(ncdiag: Run, tmp_path: Path) -> None:
    log = tmp_path / "job.log"
    log.write_text("n1:40:51 [0] NCCL INFO NET/Socket : Using [0]lo:127.0.0.1<0>\nWhy does it hang? It is stuck.\n")
    first = json.loads(ncdiag("triage", str(log), "--format", "json").stdout)["answers"][0]
    printed = ncdiag("explain", first, "ib-sm-not-running", str(log)).stdout.decode()
    sums = next(line for line in printed.splitlines() if line.split()[:1] == ["sum"]).split()[1:]
    assert float(sums[0]) > float(sums[1])
    assert f"{first} comes before ib-sm-not-running" in printed
    assert "Both sums are equal" in ncdiag("explain", first, first, str(log)).stdout.decode()


PARTS = {
    "Call to ibv_reg": "ib-reg-mr-failed", "Duplicate GPU": "duplicate-gpu", "Got completion from peer": "ib-completion-error",
    "NCCL WARN Cuda failure": "cuda-failure", "No plugin found": "plugin-not-found", "Using network": "network-in-use",
    "ibv_create_qp failed": "ib-create-failed", "exitcode: -9": "SIGKILL", "exit 139": "SIGSEGV", "Exit Code: 137": "SIGKILL",
    "exit code 1": "exit code", "returncode=-6": "SIGABRT", "errno 113": "EHOSTUNREACH", "status 12": "IBV_WC_RETRY_EXC_ERR",
    "Xid 79": "GPU has fallen off the bus", "CUDA error 802": "cudaErrorSystemNotReady", "error 802": "cudaErrorSystemNotReady",
    "cudaErrorNoDevice": "cudaErrorNoDevice", "RuntimeError": "RuntimeError", "KeyError": "KeyError",
    "FileNotFoundError": "FileNotFoundError", "DistNetworkError": "DistStoreError", "ulimit -l": "memlock",
    "--shm-size": "SHM", "c10d": "c10d", "rdzv": "rendezvous", "CrashLoopBackOff": "CrashLoopBackOff",
    "FailedScheduling": "FailedScheduling", "NODE_FAIL": "NODE_FAIL", "drained": "drain", "aws-ofi-nccl": "libfabric",
    "mismatched collective": "desync", "nvidia-smi topo": "topology", "OMP_NUM_THREADS": "OMP_NUM_THREADS",
}  # fmt: skip


@pytest.mark.parametrize(("thing", "name"), PARTS.items())
def test_a_part_of_a_message_an_exception_and_a_word_of_the_field(thing: str, name: str) -> None:
    assert [answer.name for answer in answers_to(thing)][:1] == [name]


def test_a_number_is_not_the_beginning_of_another_one() -> None:
    assert all(answer.name != "SIGKILL" for answer in answers_to("exit code 13"))
