"""Which cells a line lights, and that lines of healthy programs light none."""

from __future__ import annotations

import pytest

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
    ],
)
def test_healthy_twins_light_nothing(line: str) -> None:
    assert cells(line) == set()


def test_the_innermost_of_a_chain_wins() -> None:
    line = "mpirun: ssh failed: connection closed: ssh: Could not resolve hostname node-b: Name or service not known"
    assert said(line, vocabulary()).reasons == ("not-found",)


def test_a_fixed_string_wins_over_its_words() -> None:
    assert said("bind: Address already in use, wrong", vocabulary()).reasons == ("busy",)


def test_words_have_boundaries() -> None:
    assert cells("the rebusying of nvlinked cards") == set()


def test_a_longer_spelling_wins() -> None:
    assert said("the GID index is invalid", vocabulary()).objects == ("gid-index",)
