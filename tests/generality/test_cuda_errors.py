"""An error of CUDA is judged by what it is, whoever prints it and however: name, number or words."""

from __future__ import annotations

import pytest
from judged import findings
from tenth import tenth

from ncdiag.diagnose import diagnose
from ncdiag.nccl import reasons
from ncdiag.parsers import _cuda
from ncdiag.report.model import Report
from ncdiag.text.sources.files import TextSource

WORDINGS = (
    "n1:40:51 [0] init.cc:900 NCCL WARN Cuda failure '{text}'",
    "n1:40:51 [0] init.cc:900 NCCL WARN Cuda failure {number} '{text}'",
    "RuntimeError: CUDA error: {text}",
    "torch.AcceleratorError: CUDA error: {text}",
    "n1: Test CUDA failure common.cu:892 '{text}'",
    "tool.runtime.CUDARuntimeError: {name}: {text}",
    'CUDA error at main.cu:41 code={number}({name}) "cudaMalloc(&p, n)"',
    "GPUassert: {text} main.cu 41",
    "RuntimeError: Triton Error [CUDA]: {text}",
    "cudaGetDeviceCount returned {number}\n-> {text}",
    "cuDeviceGetCount() failed with error {number}",
    "Unable to load libcuda.so.570.10: cuda driver library init failure: {number}",
)
OF_DRIVER = (
    "{driver}: {text}",
    "E0000 00:00:1730.1 40 executor.cc:1040] INTERNAL: CUDA error: Failed call to cuInit: {driver}: {text}",
    "tool.driver.CudaAPIError: [{number}] Call to cuMemcpyDtoH results in {driver}",
)  # fmt: skip
ALSO = {217: "p2p-not-supported-hardware"}
"""Answers that say the same: CUDA_ERROR_PEER_ACCESS_UNSUPPORTED names the hardware."""
ANSWERS = {
    2: "cuda-out-of-memory", 35: "cuda-driver-too-old", 46: "cuda-compute-mode-exclusive", 100: "cuda-not-initialized",
    101: "launcher-rank-mapping-wrong", 209: "cuda-arch-not-supported", 214: "xid-ecc-contained",
    217: "p2p-enable-failed", 220: "xid-fatal", 222: "cuda-driver-too-old", 500: "cuda-arch-not-supported",
    700: "cuda-illegal-access", 702: "cuda-illegal-access", 710: "cuda-illegal-access", 711: "p2p-too-many-peers",
    714: "cuda-illegal-access", 715: "cuda-illegal-access", 716: "cuda-illegal-access", 718: "cuda-illegal-access",
    719: "cuda-illegal-access", 802: "nvlink-fabric-manager-down", 803: "cuda-driver-lib-mismatch",
    804: "cuda-driver-too-old",
}  # fmt: skip
"""Errors of which a rule knows the cause, by number. Any other is answered by what it is called."""
HARMLESS = (
    "CUDA error: no error",
    "cuda driver library init failure: 0",
    "CUDA call failed 2 times, then the device was there",
    "cudaStreamQuery returned cudaErrorNotReady, polling again",
    "    if (status == cudaErrorNoDevice) return 0;",
    "      case CUDA_ERROR_OUT_OF_MEMORY:",
    "cudaDeviceEnablePeerAccess: cudaErrorPeerAccessAlreadyEnabled",
    "export CUDA_LAUNCH_BLOCKING=1  # shows where a CUDA error comes from",
    "#define CUDA_CHECK(x) do { cudaError_t err = (x); } while (0)",
    "Compiled with TORCH_USE_CUDA_DSA to enable device-side assertions.",
)
PARTS = 5
"""Parts in which all errors are asked, side by side."""


def judged(text: str) -> Report:
    return diagnose([TextSource.of_bytes("log", f"{text}\n".encode())])


def told(number: int) -> tuple[str, str, str]:
    """What the error is called by the runtime, in words and by the driver; an unknown one is an empty string."""
    known = reasons.errors()
    name = known.cuda[number].name or ""
    words = next((text for text, reason in known.cuda_texts.items() if reason.name == name), "")
    driver = (word for word, reason in known.names.items() if word.startswith("CUDA_ERROR_") and reason.name == name)
    return name, words, next(driver, "")


@pytest.mark.sweep
@pytest.mark.parametrize("number", tenth(ANSWERS))
def test_the_answer_is_that_of_the_error(number: int) -> None:
    name, words, driver = told(number)
    for wording in (*WORDINGS, *(OF_DRIVER if driver else ())):
        text = wording.format(number=number, name=name, text=words, driver=driver)
        assert judged(text).answers[0] in {ANSWERS[number], ALSO.get(number)}, text


@pytest.mark.sweep
@pytest.mark.parametrize("part", range(PARTS))
def test_no_error_is_met_with_silence(part: int) -> None:
    silent = []
    for number in tenth(sorted(reasons.errors().cuda)[part::PARTS]):
        name, words, driver = told(number)
        for wording in (*WORDINGS[:7], *(OF_DRIVER if driver else ())):
            text = wording.format(number=number, name=name, text=words, driver=driver)
            if words and name not in _cuda.NO_FAILURES:
                silent += [] if any(found.severity != "info" for found in findings(f"{text}\n")) else [text]
    assert silent == []


@pytest.mark.parametrize("line", HARMLESS)
def test_what_is_no_error_is_none(line: str) -> None:
    assert [finding.name for finding in judged(line).findings if finding.severity != "info"] == []
