"""Results of NCCL and errors of CUDA in the words of programs that do not name the library as NCCL does."""

from __future__ import annotations

import pytest

from ncdiag.parsers import _cuda, _results


@pytest.mark.parametrize(
    ("line", "result"),
    [
        ("comm.cpp:75] Check failed: ncclCommInitRank(comm, n, id, rank) : unhandled system error (2)", "system"),
        ("a.core.EnforceNotMet: unhandled cuda error at [/src/platform/nccl_helper.h:93]", "cuda"),
        ("ops_impl.InternalError: unhandled system error", "system"),
        ("kv.h:285: Check failed: e == ncclSuccess (2 vs. 0) : unhandled cuda error", "cuda"),
        ("Assertion failed: Failed, NCCL error comm.cpp:90 'unknown result code'", "unknown"),
        ("what():  NCCL error: remote process exited or there was a network error", "remote"),
        ("[rank1] nccl_ops.cc:12 ncclGroupEnd() failed: invalid usage", "usage"),
    ],
)
def test_a_result_is_found_in_any_frame(line: str, result: str) -> None:
    found = _results.failure(line)
    assert found is not None
    assert result in found


@pytest.mark.parametrize(
    "line",
    [
        "I think it is an unhandled system error of some kind",
        "ValueError: invalid argument",
        "the page on unhandled cuda error does not help",
        "bind: invalid argument (22)",
        "NCCL INFO Channel 00 : 0 1 2 3",
        "ib_core: internal error recovery at dev.cpp:12",
    ],
)
def test_prose_and_other_libraries_are_no_result(line: str) -> None:
    assert _results.failure(line) is None


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("  what():  Error (drv.cpp:298): system not yet initialized", "cudaErrorSystemNotReady"),
        (
            "[memory.cpp:41] Check failed: no kernel image is available for execution on the device",
            "cudaErrorNoKernelImageForDevice",
        ),
        ("thrust::system_error: Check failed: an illegal memory access was encountered", "cudaErrorIllegalAddress"),
    ],
)
def test_an_error_of_cuda_is_told_by_its_text_alone(line: str, name: str) -> None:
    assert _cuda.failure(line) == name


@pytest.mark.parametrize(
    "line",
    [
        "what():  out of memory",  # host memory as well
        "note: an illegal memory access was encountered",
        "error: operation not supported",  # a text of the C library
        "what():  the system is not yet initialized",
    ],
)
def test_shared_and_other_texts_are_none_of_cuda(line: str) -> None:
    assert _cuda.failure(line) is None
