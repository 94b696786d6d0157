"""What the tests of jobs that hang share."""

from __future__ import annotations

import os
import signal
import uuid
from collections.abc import Iterator

import pytest
from processes import left_running, running


@pytest.fixture
def mark() -> Iterator[str]:
    """A word in the environment of a job; nothing that carries it is left when the test ends."""
    word = uuid.uuid4().hex
    yield word
    for pid in running(word):
        os.kill(pid, signal.SIGKILL)
    assert left_running(word) == []
