"""Lines that name the cause of their own, and facts of blocks that were pasted without their head."""

from __future__ import annotations

from ncdiag.diagnose import look
from ncdiag.facts.vocabulary.job import differences


def test_the_xid_that_caused_another_is_an_event_of_its_own() -> None:
    line = "NVRM: Xid (PCI:0000:dc:00): 45, pid=181, name=python3, Ch 00000001{0}"
    for tail, numbers in ((" caused by previous Xid 149", [45, 149]), ("", [45]), (" engmask 00000101", [45])):
        view, _ = look(line.format(tail))
        found = [event for event in view.job.events if event.event == "gpu-xid"]
        assert [event.fields["xid"] for event in found] == numbers
        assert {event.fields["pci"] for event in found} == {"0000:dc:00"}


def test_gpus_of_a_report_are_read_without_its_head() -> None:
    view, _ = look("It fails.\n\nGPU models and configuration:\nGPU 0: NVIDIA GeForce RTX 4090\nGPU 1: NVIDIA L40S\n")
    assert [gpu.model for host in view.job.hosts for gpu in host.gpus] == ["NVIDIA GeForce RTX 4090", "NVIDIA L40S"]


def test_a_plugin_that_is_known_by_its_path_differs_from_none() -> None:
    none = "n1:4:5 [0] NCCL INFO NET/Plugin: Could not find: libnccl-net.so. Using internal network plugin.\n"
    path = "{0}:4:5 [0] NCCL INFO Plugin Path : /opt/hpcx/nccl_rdma_sharp_plugin/lib/libnccl-net.so\n"
    for host, plugins in (("n2", True), ("n1", False)):
        view, _ = look(none + path.format(host) if plugins else path.format(host) + path.format("n2"))
        assert any(found.what == "net_plugin" for found in differences(view.job, view)) is plugins


def test_a_program_that_refuses_an_option_has_failed() -> None:
    view, _ = look("Unknown option: /usr/share/nvidia/nvswitch/fabricmanager.cfg\nUsage: start.sh [options]\n")
    assert [event.event for event in view.job.events] == ["failure-words"]
    view, _ = look("An unknown option is ignored.\n")
    assert not view.job.events
