"""Fixes that follow from the input: what worked there, and the tests that isolate a fault."""

from __future__ import annotations

import itertools

import pytest

from ncdiag.cells.vocabulary import vocabulary
from ncdiag.diagnose import diagnose
from ncdiag.facts.model import Job, Rank
from ncdiag.facts.scalars import VersionRange
from ncdiag.facts.view import View
from ncdiag.fixes.switches import SWITCHES, change, switch_of
from ncdiag.nccl import environment
from ncdiag.report import model
from ncdiag.text.sources.files import TextSource

CRASH = "[rank3]: torch.AcceleratorError: CUDA error: an illegal memory access was encountered\n"
REFUSED = """\
gpu01:4411:4411 [0] NCCL INFO NCCL version 2.21.5+cuda12.4
gpu01:4411:4420 [0] NCCL INFO Using network {net}
gpu01:4411:4420 [0] NCCL INFO comm 0x55d1c2a0 rank 0 nranks 2 cudaDev 0 busId 1a000 - Init COMPLETE
gpu01:4411:4431 [0] net_ib.cc:1724 NCCL WARN NET/IB : Got completion from peer 10.8.0.12<41233> with status=10\
 opcode=0 len=0 vendor err 136 (Recv) localGid ::ffff:10.8.0.11 remoteGids::ffff:10.8.0.12 hca mlx5_0
"""
WORKED = "It worked with this change"
WITHOUT_PART, WITHOUT_SETTINGS = "Test: run once without RDMA", "Test: run once without these settings"


def added(text: str, name: str, begin: str) -> list[model.Fix]:
    """The fixes of an answer whose sentence begins so."""
    report = diagnose([TextSource.of_bytes("job.txt", text.encode())])
    answers: list[model.Finding | model.Suspect] = [*report.findings, *report.suspects]
    return [fix for each in answers if each.name == name for fix in each.fixes if fix.text.startswith(begin)]


class TestWhatWorked:
    def test_a_setting_with_which_it_worked_is_kept(self) -> None:
        text = f"Training crashes after some steps. With NCCL_LAUNCH_MODE=GROUP it works.\n\n{CRASH}"
        fixes = added(text, "cuda-illegal-access", WORKED)
        assert [(fix.env, fix.workaround) for fix in fixes] == [({"NCCL_LAUNCH_MODE": "GROUP"}, True)]

    def test_a_setting_without_which_it_worked_is_removed(self) -> None:
        text = f"Training crashes after some steps. Without NCCL_CHUNK_SIZE it works.\n\n{CRASH}"
        fixes = added(text, "cuda-illegal-access", WORKED)
        assert [fix.unset for fix in fixes] == [("NCCL_CHUNK_SIZE",)]

    @pytest.mark.parametrize(
        "told",
        [
            "With NCCL_LAUNCH_MODE=GROUP it crashes as well.",
            "With NCCL_DEBUG=INFO it works.",
            "With CUDA_VISIBLE_DEVICES=0 it works.",
        ],
    )
    def test_what_failed_prints_more_or_runs_less_is_not_offered(self, told: str) -> None:
        assert not added(f"Training crashes after some steps. {told}\n\n{CRASH}", "cuda-illegal-access", WORKED)

    def test_what_one_run_has_and_the_failing_one_not_is_still_to_be_set(self) -> None:
        text = (
            "The test hangs after init on two RTX 4090, at 100% utilization. It works with NCCL_P2P_DISABLE=1.\n\n"
            "$ NCCL_P2P_DISABLE=1 ./all_reduce_perf -b 8 -e 128M -f 2 -g 2\n"
        )
        fixes = added(text, "p2p-hang-after-init", "Test: run once without peer access")
        assert [fix.env for fix in fixes] == [{"NCCL_P2P_DISABLE": "1"}]

    def test_what_all_failing_runs_have_is_not_offered(self) -> None:
        text = (
            "The test hangs after init on two RTX 4090, at 100% utilization, even with NCCL_P2P_DISABLE=1.\n\n"
            "$ NCCL_P2P_DISABLE=1 ./all_reduce_perf -b 8 -e 128M -f 2 -g 2\n"
        )
        assert not added(text, "p2p-hang-after-init", "Test: run once without peer access")

    @pytest.mark.parametrize(
        ("told", "expected"), [("does not help", []), ("was not tried", [{"NCCL_P2P_DISABLE": "1"}])]
    )
    def test_what_was_tried_in_vain_is_not_offered(self, told: str, expected: list[dict[str, str]]) -> None:
        text = f"Copies between two RTX 4090 hang: ACS is enabled on the PCIe switch. NCCL_P2P_DISABLE=1 {told}.\n"
        fixes = added(text, "pci-acs-enabled", "Until then, or as a test: disable peer access")
        assert [fix.env for fix in fixes] == expected


class TestWithoutAPart:
    def test_the_part_of_the_failing_line_is_left_out_once(self) -> None:
        fixes = added(REFUSED.format(net="IB"), "ib-completion-remote-access", WITHOUT_PART)
        assert [fix.env for fix in fixes] == [{"NCCL_IB_DISABLE": "1"}]

    def test_a_plugin_that_ignores_the_variable_is_left_out_too(self) -> None:
        (fix,) = added(REFUSED.format(net="IBext_v8"), "ib-completion-remote-access", WITHOUT_PART)
        assert fix.env == {"NCCL_IB_DISABLE": "1", "NCCL_IBEXT_DISABLE": "1"}

    def test_the_launcher_of_the_input_comes_first(self) -> None:
        text = f"$ srun -N 2 --ntasks-per-node=1 ./all_reduce_perf -g 1\n{REFUSED.format(net='IB')}"
        (fix,) = added(text, "ib-completion-remote-access", WITHOUT_PART)
        assert next(iter(fix.commands.items())) == ("srun", "NCCL_IB_DISABLE=1 srun --export=ALL ...")

    def test_not_what_was_tried_in_vain(self) -> None:
        text = f"With NCCL_IB_DISABLE=1 it fails, too.\n\n{REFUSED.format(net='IB')}"
        assert not added(text, "ib-completion-remote-access", WITHOUT_PART)

    def test_not_where_the_answer_sets_a_variable_itself(self) -> None:
        report = diagnose([TextSource.of_bytes("job.txt", REFUSED.format(net="IB").encode())])
        other = next(each for each in report.suspects if each.name == "gdr-transfer-broken")
        assert [fix.env for fix in other.fixes if fix.env] == [{"NCCL_NET_GDR_LEVEL": "LOC"}]

    @pytest.mark.parametrize(("version", "expected"), [("2.22.3", {}), ("2.23.4", {"NCCL_IB_ECE_ENABLE": "0"})])
    def test_only_what_the_release_reads(self, version: str, expected: dict[str, str]) -> None:
        view = View(Job(ranks=(Rank(host="n1", rank=0, nccl_version=VersionRange.exact(version)),)))
        switch = switch_of("rdma-ece")
        assert switch is not None
        assert change(switch, view) == expected

    def test_every_switch_is_for_known_parts_and_variables(self) -> None:
        things = [thing for switch in SWITCHES for thing in switch.objects]
        assert set(things) <= vocabulary().objects.keys()
        assert len(things) == len(set(things))
        assert set(itertools.chain(*(switch.env for switch in SWITCHES))) <= environment.variables().keys()


class TestWithoutItsSettings:
    LAUNCH = (
        "$ mpirun -np 16 -x NCCL_COMM_SPLIT_SHARE_RESOURCES=1 -x NCCL_SOCKET_IFNAME=bond0 -x NCCL_DEBUG=WARN ./train\n"
    )

    def test_what_the_network_needs_and_what_only_prints_stays(self) -> None:
        (fix,) = added(self.LAUNCH + CRASH, "cuda-illegal-access", WITHOUT_SETTINGS)
        assert fix.unset == ("NCCL_COMM_SPLIT_SHARE_RESOURCES",)
        assert next(iter(fix.commands)) == "mpirun"

    def test_a_part_that_is_switched_off_already_stays_off(self) -> None:
        text = f"$ mpirun -np 16 -x NCCL_P2P_DISABLE=1 ./train\n{CRASH}"
        assert not added(text, "cuda-illegal-access", WITHOUT_SETTINGS)

    def test_not_for_a_cause_that_is_proved(self) -> None:
        text = f"{self.LAUNCH}n1:12:12 [0] NCCL INFO NCCL version 2.21.5+cuda12.4\nBus error (core dumped)\n"
        text += "n1:12:40 [0] include/shm.h:28 NCCL WARN Call to posix_fallocate failed : No space left on device\n"
        report = diagnose([TextSource.of_bytes("job.txt", text.encode())])
        assert any(each.role == "cause" and each.confidence in {"certain", "likely"} for each in report.findings)
        causes = [each for each in report.findings if each.role == "cause"]
        assert not [fix for each in causes for fix in each.fixes if fix.text.startswith(WITHOUT_SETTINGS)]
