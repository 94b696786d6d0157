"""A fact that a candidate contradicts excludes it, and the report lists it with the line."""

from __future__ import annotations

import pytest

from ncdiag import catalogue
from ncdiag.base import errors
from ncdiag.diagnose import diagnose, look
from ncdiag.engine.exclusion import OF_FINDINGS, Scene, cures, excluded
from ncdiag.engine.load import load_text
from ncdiag.engine.schema import Rule
from ncdiag.engine.traces import PLATFORMS, needed
from ncdiag.report.model import Report
from ncdiag.text import TextSource

RULE = """
code = "SITE100"
name = "{name}"
area = "{area}"
severity = "error"
role = "cause"
title = "A cause"
why = "For a reason."

[suspect]
text = "a cause"
complaints = [{complaints}]

[[sign]]
text = "it says alpha"
says = ["alpha"]
"""
SLOW, FAILING, CORRUPTING = ("slow", "not-used"), ("fails", "hangs"), ("wrong-results",)
GDR_ON = """\
n1:40:51 [0] NCCL INFO NET/IB : GPU Direct RDMA Enabled for HCA 0 'mlx5_0'
n1:40:51 [0] NCCL INFO NET/IB : GPU Direct RDMA {} for HCA 1 'mlx5_1'
"""
ONE_GPU = """\
# nThread 1 nGpus 1 minBytes 8 maxBytes 134217728 step: 2(factor) warmup iters: 5 iters: 20 agg iters: 1 validation: 1
#
# Using devices
#  Rank  0 Group  0 Pid  23421 on         n1 device  0 [0x17] NVIDIA A100-SXM4-40GB
{}#
#                                                              out-of-place                       in-place
#       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   busbw #wrong
#        (B)    (elements)                               (us)  (GB/s)  (GB/s)            (us)  (GB/s)  (GB/s)
"""
SECOND = "#  Rank  1 Group  0 Pid  23421 on         n1 device  1 [0x31] NVIDIA A100-SXM4-40GB\n"


def rule(area: str = "site", complaints: tuple[str, ...] = FAILING, name: str = "a-cause") -> Rule:
    return load_text(RULE.format(area=area, name=name, complaints=", ".join(f'"{what}"' for what in complaints)))


def because(text: str, candidate: Rule) -> str:
    """Why the text excludes the rule; empty if it does not."""
    view, words = look(text)
    reason = excluded(candidate, Scene(view, words.has_word))
    return reason.text if reason else ""


def triage(text: str) -> Report:
    return diagnose([TextSource.of_bytes("paste", text.encode())])


@pytest.mark.parametrize(
    ("told", "complaints", "is_excluded"),
    [
        ("Our training hangs after ten steps. Why?", SLOW, True),
        ("Our training crashes with a segmentation fault. Why?", SLOW, True),
        ("Our training hangs after ten steps. Why?", FAILING, False),
        ("Our training hangs. Our training is very slow before. Why?", SLOW, False),
        ("Our training is much slower than before. Why?", SLOW, False),
        ("My all_reduce gives wrong results on two nodes. Why?", SLOW, True),
        ("My all_reduce gives wrong results on two nodes. Why?", ("cannot-start", "fails-at-init"), True),
        ("My all_reduce gives wrong results on two nodes. Why?", CORRUPTING, False),
        ("My all_reduce gives wrong results on two nodes. Why?", FAILING, False),
        ("Which release of NCCL comes with CUDA 12?", SLOW, False),
    ],
)
def test_a_cause_of_other_trouble_is_excluded(told: str, complaints: tuple[str, ...], is_excluded: bool) -> None:
    assert bool(because(told, rule(complaints=complaints))) is is_excluded


@pytest.mark.parametrize(
    ("told", "area", "is_excluded"),
    [
        ("It fails even on one node.", "roce", True),
        ("It fails even on one node.", "socket", True),
        ("It fails even on one node.", "p2p", False),
        ("It works on one node, it fails on two nodes. We use RoCE.", "roce", False),
        ("NCCL_IB_DISABLE=1 did not help. We use RoCE.", "roce", True),
        ("NCCL_IB_DISABLE=1 helped. We use RoCE.", "roce", False),
        ("Even with one GPU it fails.", "p2p", True),
        ("It fails with gloo as well.", "p2p", True),
        ("With gloo it works.", "p2p", False),
    ],
)
def test_a_part_without_which_it_fails_is_excluded(told: str, area: str, is_excluded: bool) -> None:
    assert bool(because(told, rule(area))) is is_excluded


@pytest.mark.parametrize(
    ("told", "name", "is_excluded"),
    [
        ("With NCCL_IB_DISABLE=1 it works, without it hangs.", "env-ib-disable", True),
        ("NCCL_IB_DISABLE=1: works. NCCL_IB_DISABLE=0: hangs.", "env-ib-disable", True),
        ("With NCCL_IB_DISABLE=1 it hangs.", "env-ib-disable", False),
        ("With NCCL_IB_DISABLE=0 it works, it hangs with NCCL_IB_DISABLE=1.", "env-ib-disable", False),
        ("With NCCL_IB_DISABLE=1 it works. It is very slow.", "env-ib-disable", False),  # the switch makes it slow
        ("With NCCL_SHM_DISABLE=1 it works, without it crashes.", "env-shm-disable", True),
        ("With NCCL_SHM_DISABLE=1 it works, without it crashes.", "env-ib-disable", False),
    ],
)
def test_a_switch_with_which_it_works_is_not_the_cause(told: str, name: str, is_excluded: bool) -> None:
    (blamed,) = (each for each in catalogue.rules() if each.name == name)
    view, _ = look(told)
    assert (excluded(blamed, Scene(view), [cures]) is not None) is is_excluded


@pytest.mark.parametrize(
    ("text", "name", "area", "is_excluded"),
    [
        ("Our cluster hangs at init.", "cloud-aws-few-nics", "cloud", True),
        ("Our p4d instances hang at init.", "cloud-aws-few-nics", "cloud", False),
        ("#SBATCH -C pascal", "roce-pfc-not-enabled", "roce", True),
        ("mlx5_0 port 1 is active", "roce-pfc-not-enabled", "roce", False),
        ("Our cluster hangs at init.", "launcher-slurm-no-srun", "launcher", True),
        ("srun: job 5 queued and waiting for resources", "launcher-slurm-no-srun", "launcher", False),
        ("Our A100 hang.", "rccl-iommu-pt-missing", "gpu", True),
        ("Our MI250X hang.", "rccl-iommu-pt-missing", "gpu", False),
        ("kubectl apply -f job.yaml", "launcher-ssh-unreachable", "launcher", True),
        ("mpirun -np 2 hostname", "launcher-ssh-unreachable", "launcher", False),
        ("./all_reduce_perf -g 1", "launcher-nccl-tests-without-mpi", "launcher", False),
    ],
)
def test_a_platform_that_nothing_shows_excludes_its_causes(
    text: str, name: str, area: str, is_excluded: bool
) -> None:  # fmt: skip
    assert because(text, rule(area, name=name)).startswith("nothing in the input shows") is is_excluded


def test_each_platform_is_needed_by_a_shipped_rule() -> None:
    assert {platform for each in catalogue.rules() for platform in needed(each)} == set(PLATFORMS)


@pytest.mark.parametrize(("verdict", "is_excluded"), [("Enabled", True), ("Disabled", False)])
def test_what_leaves_gpudirect_unused_is_excluded_where_every_card_uses_it(verdict: str, is_excluded: bool) -> None:
    assert bool(because(GDR_ON.format(verdict), rule("gdr", SLOW))) is is_excluded
    assert not because(GDR_ON.format(verdict), rule("gdr", FAILING))


@pytest.mark.parametrize(("second", "is_excluded"), [("", True), (SECOND, False)])
def test_paths_between_gpus_are_excluded_where_there_is_one(second: str, is_excluded: bool) -> None:
    assert bool(because(ONE_GPU.format(second), rule("p2p", ("hangs",)))) is is_excluded


def test_a_finding_of_other_trouble_is_a_note_that_is_listed_as_ruled_out() -> None:
    told = "NCCL_P2P_DISABLE=1 python train.py --gpus 4\nOur training {}. Why?\n"
    hanging, slow = triage(told.format("hangs after ten steps")), triage(told.format("is much slower than before"))
    (out,) = (found for found in hanging.ruled_out if found.name == "env-p2p-disable")
    assert out.evidence[0].line == 2
    assert [found.role for found in slow.findings if found.name == "env-p2p-disable"] == ["cause"]
    assert not any(found.name for found in slow.ruled_out)


def test_findings_are_not_excluded_for_words_that_are_not_in_the_input() -> None:
    assert excluded(rule(name="cloud-aws-few-nics"), Scene(look("alpha")[0]), OF_FINDINGS) is None


@pytest.mark.parametrize(
    ("line", "excludes"),
    [
        ("RuntimeError: DataLoader worker (pid 4821) is killed by signal: Segmentation fault.", True),
        ("RuntimeError: DataLoader worker (pid 4821) is killed by signal: Bus error.", False),
        ("slurmstepd: error: n1 [0] pmixp_client_v2.c: task 3: Killed by signal 11", True),
        ("mpirun noticed that process rank 3 exited on signal 15 (Terminated).", False),
        ("mpirun noticed that process rank 3 with PID 77 on node n1 exited on signal 11 (Segmentation fault).", True),
        ("exitcode  : -11 (pid: 4821)", True),
        ("exitcode  : -6 (pid: 4821)", False),
    ],
)
def test_another_signal_excludes_what_ends_processes_by_its_own(line: str, excludes: bool) -> None:
    full = next(rule for rule in catalogue.rules() if rule.name == "shm-too-small")
    assert (because(line, full) == "SIGSEGV ended the process, not SIGBUS") == excludes


@pytest.mark.parametrize(
    ("text", "name", "area", "is_excluded"),
    [
        ("Our two RTX 4090 hang.", "links-down", "nvlink", True),
        ("Our two 3090 hang.", "links-down", "nvlink", False),
        ("Our eight A100 hang.", "cuda-mig-on", "cuda", False),
        ("Our eight V100 hang.", "cuda-mig-on", "cuda", True),
        ("Our two RTX 4090 hang.", "module-not-loaded", "gdr", True),
        ("Our two RTX 4090 hang.", "gdr-unsupported-hardware", "gdr", False),
        ("Our two RX 7900 XTX hang.", "rccl-xgmi-link-missing", "gpu", True),
        ("Our two MI300X hang.", "rccl-xgmi-link-missing", "gpu", False),
        ("Our two MI210 hang.", "rccl-xgmi-link-missing", "gpu", False),
        ("Our two MI300X hang.", "links-down", "nvlink", True),
        ("Our GPUs hang.", "links-down", "nvlink", False),
    ],
)
def test_what_no_gpu_of_the_job_can_do_is_excluded(text: str, name: str, area: str, *, is_excluded: bool) -> None:
    assert ("cannot do" in because(f"{text}\n", rule(area, name=name))) is is_excluded


def test_a_bug_in_one_mechanism_costs_only_that_mechanism(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(_rule: Rule, _scene: Scene) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(errors, "strict", False)
    view, words = look("Results are wrong: the sums differ on each run.")
    slow = rule(complaints=SLOW)
    scene = Scene(view, words.has_word)
    assert excluded(slow, scene, (broken, *OF_FINDINGS)) == excluded(slow, scene, OF_FINDINGS) is not None
    assert [fault.partition(" (")[0] for fault in view.faults] == ["SITE100 could not be excluded by 'broken'"]


@pytest.mark.parametrize(
    ("text", "is_excluded"),
    [
        ("all_reduce_perf over the 8 GPUs of one node hangs on gpu-01, the same command on gpu-02 works.", True),
        ("It crashes within a single node already.", True),
        ("It works on one node and hangs with two nodes.", False),
        ("The job on one node is slow.", False),
    ],
)
def test_a_failure_on_one_host_excludes_the_network_between_hosts(text: str, is_excluded: bool) -> None:
    reason = because(text, rule(area="ib"))
    assert ("excludes the network between hosts" in reason) is is_excluded
    assert not because(text, rule(area="p2p"))


@pytest.mark.parametrize(
    ("value", "is_excluded"),
    [("NCCL_IB_TIMEOUT=22", True), ("NCCL_IB_TIMEOUT=20", True), ("NCCL_IB_TIMEOUT=13", False), ("", False)],
)
def test_a_variable_that_is_set_otherwise_excludes_the_fault_of_its_value(value: str, is_excluded: bool) -> None:
    retries = "the retries of ib_timeout are exhausted after hours: transport retry counter exceeded\n"
    report = diagnose([TextSource.of_bytes("paste", f"Our job fails.\n{retries}{value} NCCL_DEBUG=INFO\n".encode())])
    reasons = [each.because for each in report.ruled_out if each.name == "ib-timeout-too-small"]
    assert any("the input sets NCCL_IB_TIMEOUT=" in reason for reason in reasons) == is_excluded


@pytest.mark.parametrize(
    ("line", "is_excluded"),
    [
        (
            "DistBackendError: NCCL error in: /c10d/NCCLUtils.hpp:268, ncclSystemError: System call",
            True,
        ),
        (
            "DistStoreError: Timed out after 601 seconds waiting for clients. 1/2 clients joined.",
            False,
        ),
        ("the job prints nothing", False),
    ],
)
def test_a_failure_of_nccl_excludes_the_rendezvous_before_it(line: str, is_excluded: bool) -> None:
    met = "NCCL reports a failure, which comes after the rendezvous"
    candidate = next(each for each in catalogue.rules(()) if each.name == "launcher-rendezvous-unreachable")
    assert (because(f"Training fails.\n{line}\n", candidate) == met) == is_excluded


NETS = {
    "sockets": ("n1:40:51 [0] NCCL INFO Using network Socket\n", False),
    "InfiniBand": ("n1:40:51 [0] NCCL INFO Using network IB\n", True),
    "one of each": ("n1:40:51 [0] NCCL INFO Using network IB\nn2:40:51 [0] NCCL INFO Using network Socket\n", False),
    "EFA": ("NCCL INFO NET/OFI Selected Provider is efa (found 4 nics)\n", True),
    "another provider": ("NCCL INFO NET/OFI Selected Provider is tcp (found 4 nics)\n", False),
    "unknown": ("", False),
}


@pytest.mark.parametrize(("log", "is_excluded"), NETS.values(), ids=NETS)
def test_rdma_in_use_excludes_what_leaves_a_slow_job_without_it(log: str, is_excluded: bool) -> None:
    for name in ("container-no-infiniband-devices", "cloud-aws-efa-not-used", "ib-driver-not-loaded"):
        candidate = next(each for each in catalogue.rules(()) if each.name == name)
        assert (
            because(f"Training between the nodes is very slow.\n{log}", candidate) == "RDMA is in use"
        ) == is_excluded
        assert because(f"Training between the nodes crashes.\n{log}", candidate) != "RDMA is in use"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("Our two DGX Spark hang after init.", "each of these machines has one GPU"),
        ("Our two DGX Spark and a server with RTX 4090 cards hang after init.", ""),
        ("Our two servers hang after init.", ""),
    ],
)
def test_nothing_is_between_the_gpus_of_machines_that_have_one(text: str, reason: str) -> None:
    assert because(text, rule("p2p")) == reason
    assert because(text, rule("shm")) == ""


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("It hangs. firewalld is inactive on both nodes.", "the firewall is said to be off"),
        ("It hangs. The firewall is disabled on all hosts.", "the firewall is said to be off"),
        ("It hangs. firewalld is inactive on node101 and node102.", "the firewall is said to be off"),
        ("It hangs. firewalld is inactive on node1, nobody looked on node2.", ""),
        ("It hangs. ufw is disabled on the master.", ""),
        ("It hangs. The firewall is on.", ""),
        ("It hangs. Is the firewall off?", ""),
        ("It hangs on AWS. The firewall is off.", ""),  # a security group may filter
    ],
)
def test_a_firewall_that_is_off_stops_nothing(text: str, reason: str) -> None:
    suspect = next(each for each in catalogue.rules() if each.name == "socket-firewall-ephemeral-ports")
    assert because(text, suspect) == reason
