"""A message that somebody says does no harm: it keeps no cause of a failure among the suspects."""

from __future__ import annotations

import pytest

from ncdiag import catalogue
from ncdiag.diagnose import look
from ncdiag.engine.exclusion import Scene, unharmed

MESSAGE = "[n1:4127] PMIX ERROR: PMIX_ERR_UNREACH in file gds_shmem.c at line 97\n"
BROKEN, SLOW = "mpi-broken", "perf-below-fabric"


def excluded(text: str) -> set[str]:
    """Which of two rules the text excludes: one about jobs that fail, one about slow jobs."""
    view, _ = look(MESSAGE + text)
    scene = Scene(view)
    return {rule.name for rule in catalogue.rules() if rule.name in {BROKEN, SLOW} and unharmed(rule, scene)}


@pytest.mark.parametrize(
    "text",
    [
        "This does not seem to prevent our job from finishing.",
        "I see it once for each rank. It doesn't stop the training from running.",
        "We get these lines on all nodes, but they do not keep the benchmark from completing.",
        "These warnings do not affect the training.",
        "Despite these messages, everything works.",
        "My job completes normally in spite of the errors.",
        "这个报错不影响训练。",
    ],
)
def test_nothing_that_makes_a_job_fail_is_suspected(text: str) -> None:
    assert excluded(text) == {BROKEN}


@pytest.mark.parametrize(
    "text",
    [
        "Setting another interface does not affect the job.",
        "I set OMPI_MCA_gds=hash. It doesn't affect the results.",
        "That does not prevent my job from hanging.",
        "Does this prevent the job from finishing?",
        "The old release printed it as well. It should not prevent the job from finishing.",
        "This does not prevent the job from starting up. Then our job hangs.",
        "It does not prevent the job from finishing any more.",
        "Our job fails despite these messages.",
        "This does not prevent our job from running, but it crashes after an hour.",
    ],
)
def test_nothing_is_said_of_an_end(text: str) -> None:
    assert excluded(text) == set()
