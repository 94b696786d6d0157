"""An open of an RDMA device that failed with ENOENT, which may hide a refused permission."""

from __future__ import annotations

import pytest

from ncdiag.diagnose import view_of
from ncdiag.knowledge.container.verbs_files import open_may_hide_permission
from ncdiag.text.reading.job import facts_of

FAILED = "[root@n4 ~]# ibv_devinfo -d mlx5_2\nFailed to open device\nibv_open_device: No such file or directory\n"
FILES = "[root@n4 ~]# ls /dev/infiniband\nrdma_cm  uverbs0  uverbs1\n"


@pytest.mark.parametrize(
    ("text", "hides"),
    [
        (FAILED, True),
        (FAILED + FILES, False),
        (FAILED.replace("No such file or directory", "Cannot allocate memory"), False),
    ],
)
def test_an_error_of_the_second_try_may_hide_that_of_the_first(text: str, hides: bool) -> None:
    view = view_of(facts_of({"text": [text]}))
    assert any(open_may_hide_permission(host, view) for host in view.job.hosts) is hides
