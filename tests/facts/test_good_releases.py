"""The release that is offered as a fix worked with the job itself, and knows its GPUs."""

from __future__ import annotations

import pytest

from ncdiag.diagnose import look
from ncdiag.knowledge.version.good_releases import good_release

TEXTS = {
    "With NCCL 2.26.2 it hangs. With NCCL 2.21.5 it works.": "NCCL 2.21.5",
    "With NCCL 2.26.2 it hangs. With NCCL 2.10.3 it works.": "",
    "With NCCL 2.26.2 it hangs. On the machine of a friend it works with NCCL 2.21.5.": "",
    "It hangs with NCCL 2.26.2. On another server it works with NCCL 2.21.5.": "",
}


@pytest.mark.parametrize(("said", "release"), TEXTS.items(), ids=TEXTS)
def test_release_that_worked_with_the_job(said: str, release: str) -> None:
    view, _ = look(f"We train on 4x H100. {said}\n")
    assert good_release(view.job, view) == release
