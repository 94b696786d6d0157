"""Which cells a line lights, and that lines of healthy programs light none."""

from __future__ import annotations

from pathlib import Path

import pytest

from ncdiag import nccl
from ncdiag.base import toml
from ncdiag.cells.reading import said
from ncdiag.cells.vocabulary import vocabulary


def cells(line: str) -> set[tuple[str, str]]:
    return set(said(line, vocabulary()).cells())


@pytest.mark.parametrize(
    ("line", "cell"),
    [
        ("ibv_modify_qp failed with error Invalid argument", ("qp-modify", "invalid")),
        ("RuntimeError: CUDA error: out of memory", ("gpu-memory", "exhausted")),
        ("ucp_context: no usable transports/devices (asked rc_mlx5)", ("ucx-transport", "not-found")),
        ("srun: error: Unable to create step for job 7: Invalid generic resource (gres) specification",
         ("slurm-step", "invalid")),
        ("nvidia-fabricmanager.service: inactive (dead)", ("fabric-manager", "down")),
        ("cudaErrorPeerAccessUnsupported: peer access is not supported between these two devices",
         ("gpu-peer-access", "unsupported")),
        ("FI_EFA: not enough memory registration resources, ENOMEM", ("efa", "exhausted")),
        ("NVLink 3 of GPU 2 is down", ("nvlink", "down")),
        ("fi_mr_reg of a pool: Unknown error -12 (-12)", ("memory-region", "exhausted")),
        ("efadrv: fi_domain failed, ret -19", ("libfabric", "not-found")),
        ("mlx5_core 0000:3b:00.0: CREATE_MKEY failed, err(-110)", ("rdma-driver", "timed-out")),
        ("ibv_modify_qp returned -22.", ("qp-modify", "invalid")),
        ("socket to the peer, errno: -113", ("socket", "unreachable")),
        ("socket to the peer: failed with error code -104", ("socket", "reset")),
        ("ibv_reg_mr \u9519\u8bef\u7801\uff1a-14", ("memory-region", "invalid")),
        ("socket [Errno 98]", ("socket", "busy")),
    ],
)  # fmt: skip
def test_a_line_names_its_cause(line: str, cell: tuple[str, str]) -> None:
    assert cell in cells(line)


@pytest.mark.parametrize(
    "line",
    [
        "no Xid, ECC or NVLink errors in dmesg",
        "0 NVLink errors, 0 link flaps",
        "# Out of bounds values : 0 OK",
        "NVLink errors: 0",
        "  --rdzv-timeout SECONDS  time out of the rendezvous",
        "usage: srun [--timeout T] [--no-kill]",
        "-timeout 30",
        "ECC is fine and the driver is not corrupted",
        "the store never timed out",
        "without any retry exceeded or timeout in the RDMA transport",
        "fi_send of the endpoint returned -11, tried again 3 times",
        "ibv_poll_cq returned -16, will retry",
        "rank 3 behind the socket returned -11",
        "the socket returned -1",
        "the GPU ended with exit status -9",
        "the clock of the socket returned -110 ns",
        "ucp_ep of the socket returned -12",
        "socket 3: ret -12.5",
        "ret -12 of pmix_server_setup on the socket",
    ],
)
def test_healthy_twins_light_nothing(line: str) -> None:
    assert cells(line) == set()


def test_the_innermost_of_a_chain_wins() -> None:
    line = "mpirun: ssh failed: connection closed: ssh: Could not resolve hostname node-b: Name or service not known"
    assert said(line, vocabulary()).reasons == ("not-found",)


def test_a_fixed_string_wins_over_its_words() -> None:
    assert said("bind: Address already in use, wrong", vocabulary()).reasons == ("busy",)


def test_a_negative_number_is_not_the_status_of_a_completion() -> None:
    assert "wc-retry" in said("ibv_poll_cq gave an error 12", vocabulary()).objects
    assert "wc-retry" not in said("ibv_poll_cq gave an error -12", vocabulary()).objects


def test_numbers_of_errno_mean_what_their_texts_say() -> None:
    words = vocabulary()
    path = Path(nccl.__file__).parent / "strerror.toml"
    for name, (number, texts) in toml.loads(path.read_text(encoding="utf-8")).items():
        reason = words.errnos.get(number)
        assert reason is None or said(texts[0], words).reasons in {(reason,), ()}, name


def test_words_have_boundaries() -> None:
    assert cells("the rebusying of nvlinked cards") == set()


def test_a_longer_spelling_wins() -> None:
    assert said("the GID index is invalid", vocabulary()).objects == ("gid-index",)
