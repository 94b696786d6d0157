"""A generated paste of outputs and the end of a log: every piece is read, and the planted fault is named."""

from __future__ import annotations

from collections import Counter

import pytest
from generate.paste import paste

from ncdiag.diagnose import diagnose
from ncdiag.text.sources.files import TextSource


@pytest.mark.parametrize("lines", [700, 1000])
def test_a_paste_is_read_whole_and_its_fault_named(lines: int) -> None:
    report = diagnose([TextSource.of_bytes("paste.txt", paste(lines).encode())])
    read = report.inputs[0]
    assert (read.lines, read.unread_lines) == (lines, 1)
    kinds = Counter(section.kind for section in read.sections)
    assert kinds == {"nccl_log": 1, "ibstat": 2, "topo_m": 2, "env": 2, "text": 1}  # the last: the steps of the program
    assert report.summary.nhosts == 2
    assert report.summary.root_cause == "roce-gid-link-local"


def test_a_length_that_no_paste_has_is_refused() -> None:
    with pytest.raises(ValueError, match="a paste has"):
        paste(100)
