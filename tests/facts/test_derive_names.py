"""Names of hosts that did not resolve, and reasons why a host has no GPU driver."""

from __future__ import annotations

import pytest

from ncdiag.facts.model import Event, Gpu, Host, Job, Launch
from ncdiag.facts.model.records import LaunchHost
from ncdiag.facts.view import View
from ncdiag.knowledge.gpu.driver import driver_fault
from ncdiag.knowledge.launcher.names import alike_name


@pytest.mark.parametrize(
    ("name", "alike"),
    [
        ("localhos", "localhost"),  # the last letter is lost
        ("compute-onee", "compute-one"),  # one too many
        ("compute-oen", "compute-one"),  # two exchanged
        ("compute-ane", "compute-one"),
        ("compute2", ""),  # another host
        ("compute-one", ""),  # known
        ("gpu", ""),  # too short to compare
        ("storage", ""),
    ],
)
def test_a_misspelt_name_is_compared_with_those_of_the_launch_line(name: str, alike: str) -> None:
    launch = Launch(
        program="mpirun", text="mpirun", hosts=(LaunchHost(name="compute-one"), LaunchHost(name="compute1"))
    )
    event = Event(event="name-unresolved", origin="launcher", kind="cause", text="", fields={"peer_host": name})
    job = Job(launches=(launch,), events=(event,))
    assert alike_name(event, View(job)) == alike


def told(event: str, **fields: str) -> Event:
    return Event(event=event, origin="kernel", kind="cause", text="", order=1, fields=dict(fields))


@pytest.mark.parametrize(
    ("events", "fault"),
    [
        ((told("gpu-driver-absent"),), "absent"),
        ((told("gpu-driver-absent"), told("module-unsigned", module="nvidia")), "unsigned"),
        ((told("module-unsigned", module="zfs"),), None),
        ((told("module-not-found", module="nvidia_470_uvm"), told("gpu-driver-absent")), "not-built"),
        ((told("module-symbol", module="nvidia_peermem"),), None),  # the driver itself is loaded
        ((), None),
    ],
)
def test_the_most_exact_reason_without_a_driver_counts(events: tuple[Event, ...], fault: str | None) -> None:
    host = Host(name="a")
    assert driver_fault(host, View(Job(hosts=(host,), events=events))) == fault


def test_a_host_that_lists_its_gpus_has_a_driver() -> None:
    host = Host(name="a", driver="550.54.15", gpus=(Gpu(host="a", index=0),))
    assert not driver_fault(host, View(Job(hosts=(host,), events=(told("gpu-driver-absent"),))))
