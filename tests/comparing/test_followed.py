"""A paste with the outputs of several hosts, of which one is named as the one that the trouble follows."""

from __future__ import annotations

import pytest

from ncdiag.diagnose import diagnose
from ncdiag.text.sources.files import TextSource

GENERAL = {"troubled-host-differs", "troubled-host-differs-in-detail"}


def found(text: str) -> dict[str, str]:
    """The names and titles of what is found in a paste."""
    report = diagnose([TextSource.of_bytes("paste.txt", text.encode())])
    return {finding.name: finding.title for finding in report.findings}


OUTPUTS = """\

{0}:
$ ulimit -l
{2}
{1}:
$ ulimit -l
{3}
"""


@pytest.mark.parametrize(
    "said",
    [
        "Any job that includes st-05 hangs, all jobs without it finish.",
        "It hangs as soon as st-05 joins.",
        "All nodes are fine except st-05.",
    ],
)
def test_what_is_different_on_the_host_that_the_trouble_follows(said: str) -> None:
    names = found(said + OUTPUTS.format("st-05", "st-06", "64", "unlimited"))
    assert names["troubled-host-differs"] == (
        "The trouble follows st-05, where limit memlock is 64 KiB; it is unlimited on st-06"
    )


@pytest.mark.parametrize(
    ("said", "values"),
    [
        ("Any job that includes st-05 hangs.", ("unlimited", "unlimited")),  # alike
        ("The jobs on st-05 and st-06 hang.", ("64", "unlimited")),  # the trouble follows none of them
        ("Any job that includes st-07 hangs.", ("64", "unlimited")),  # of which nothing is shown
    ],
)
def test_a_difference_counts_where_the_trouble_follows_its_host(said: str, values: tuple[str, str]) -> None:
    assert not GENERAL & found(said + OUTPUTS.format("st-05", "st-06", *values)).keys()


def test_labels_say_which_host_is_the_bad_one() -> None:
    names = found("One of two nodes hangs.\n" + OUTPUTS.format("Bad node", "Good node", "64", "unlimited"))
    assert names["troubled-host-differs"].startswith("The trouble follows bad-node, ")


def test_a_loop_over_hosts_shows_the_value_of_each_command() -> None:
    text = """\
The bandwidth falls to a tenth as soon as n3 takes part.

$ for h in n1 n2 n3; do echo "== $h"; ssh $h "cat /proc/cmdline; cat /sys/module/nvidia/version"; done
== n1
root=/dev/sda1 ro iommu=pt
570.86.15
== n2
root=/dev/sda1 ro iommu=pt
570.86.15
== n3
root=/dev/sda1 ro iommu=pt
560.35.03
"""
    assert found(text)["troubled-host-differs-in-detail"] == (
        "The trouble follows n3, where the output of cat /sys/module/nvidia/version is 560.35.03; "
        "it is 570.86.15 on 2 other hosts"
    )
