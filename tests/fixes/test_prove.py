"""What is said of many hosts at once."""

from __future__ import annotations

from ncdiag.fixes.proofs.outcome import HostProof
from ncdiag.fixes.prove import _joined


def picks(host: str, address: str, interface: str = "eth0") -> HostProof:
    return HostProof(host, "proved", f"with this, NCCL 2.18.3 on {host} picks {interface} ({address})")


def test_hosts_of_which_the_same_is_true_are_told_together() -> None:
    proof = _joined([picks(f"n{number}", f"10.0.0.{number}") for number in range(1, 200)])
    assert proof.text == "with this, NCCL 2.18.3 on n[1-199] picks eth0"
    assert len(proof.hosts) == 199


def test_one_that_differs_stands_apart() -> None:
    proof = _joined([picks("n1", "10.0.0.1"), picks("n2", "fe80::1%eth1", "eth1"), picks("n3", "10.0.0.3")])
    assert proof.text == (
        "with this, NCCL 2.18.3 on n[1,3] picks eth0; with this, NCCL 2.18.3 on n2 picks eth1 (fe80::1%eth1)"
    )


def test_an_address_that_all_have_stays() -> None:
    assert _joined([picks(name, "127.0.0.1", "lo") for name in "ab"]).text.endswith("on a,b picks lo (127.0.0.1)")


def test_what_to_paste_is_asked_once() -> None:
    missing = [
        HostProof(name, "not-simulated", f"{name}'s GID tables were not seen", (f"show_gids (on {name})",))
        for name in ("n1", "n2", "n3")
    ]
    asked = HostProof(
        "", "not-simulated", "nothing of others was seen", ("ip addr (on the other hosts)", "env | grep NCCL")
    )
    assert _joined(missing).text == "n[1-3]'s GID tables were not seen: paste `show_gids` (on n[1-3])"
    assert _joined([asked]).text.endswith("paste `ip addr` (on the other hosts) and `env | grep NCCL`")
