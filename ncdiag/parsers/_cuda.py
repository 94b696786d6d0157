"""Errors of CUDA and HIP that a program prints in words of its own around them.

What an error is called is CUDA's (`ncdiag.nccl.reasons`): ``cudaErrorNoDevice``, ``CUDA_ERROR_NO_DEVICE``, 100, or "no
CUDA-capable device is detected". How a program puts it is its own affair: ``CUDA error at main.cu:4 code=100(...)``,
``GPUassert: ...``, ``Triton Error [CUDA]: ...``.
"""

from __future__ import annotations

from ncdiag.base.patterns import lazy_regex
from ncdiag.nccl import reasons
from ncdiag.parsers._signs import Signs

EVENT = "program-cuda-failure"
_SIGNS = Signs("cuda", "hiperror", "hip ", "gpuassert")
"""One of these is in every line that the patterns know: they are tried on few others."""
_NAME = lazy_regex(
    r"\b(?:(?:cuda|hip)Error[A-Z]\w{2,60}|CUDA_ERROR_[A-Z_]{3,60})\b(?!\s*(?:[=!]=|\)\s*(?:\{|return)|:\s*$|;))"
)
_PUT = lazy_regex(
    r"(?:CUDA|Cuda|HIP)(?: ?(?:runtime|Runtime|RT|driver|Driver|API|kernel))* ?(?:[Ee]rror|ERROR|[Ff]ailure|FAILURE)\b"
    r"|\bTriton Error \[(?:CUDA|HIP)\]|\b[Gg][Pp][Uu][Aa]ssert\b|\bcuda[A-Z]\w{3,40} (?:returned|failed)\b"
)
"""How programs begin to tell of an error of CUDA; what it is is behind."""
_CODE = lazy_regex(
    r"\W{1,3}(?:code|error|returned|status)?\W{0,2}(\d{1,3})\b(?![.:%]\d)|.{0,120}?\bcode ?= ?(\d{1,3})\b"
)
NO_FAILURES = frozenset({
    "cudaErrorNotReady", "cudaErrorPeerAccessAlreadyEnabled", "cudaErrorCudartUnloading",
    "cudaErrorProfilerAlreadyStarted", "cudaErrorProfilerAlreadyStopped",
})  # fmt: skip
"""Answers that programs expect: of a query whether work is done, and of what was done before."""


def failure(text: str) -> str | None:
    """The name of the error of CUDA (``cudaErrorNoDevice``) of which a line tells; None where it tells of none."""
    if not _SIGNS.stand_in(text):
        return None
    known = reasons.errors().names
    for found in _NAME.finditer(text):
        if found[0] in known:
            return _failing(known[found[0]])
    put = _PUT.search(text)
    if put is None:
        return None
    rest = text[put.end() :]
    code = _CODE.match(rest)
    number = int(code[1] or code[2]) if code else 0
    return _failing(reasons.of_text(rest, cuda=True)) or _failing(reasons.of_cuda(number))


def _failing(reason: reasons.Reason | None) -> str | None:
    name = reason.name if reason is not None else None
    return name if name and name.startswith("cuda") and name not in NO_FAILURES else None
