"""Errors of CUDA and HIP that a program prints in words of its own around them.

What an error is called is CUDA's (`ncdiag.nccl.reasons`): ``cudaErrorNoDevice``, ``CUDA_ERROR_NO_DEVICE``, 100, or "no
CUDA-capable device is detected". How a program puts it is its own affair: ``CUDA error at main.cu:4 code=100(...)``,
``GPUassert: ...``, ``Triton Error [CUDA]: ...``.
"""

from __future__ import annotations

from ncdiag.base.patterns import lazy_regex
from ncdiag.formats.guarded import guarded_regex
from ncdiag.nccl import reasons
from ncdiag.parsers._signs import Signs

EVENT = "program-cuda-failure"
_SIGNS = Signs(
    "cuda", "hiperror", "hip ", "gpuassert", "cuinit", "cudevice", "cuctx", "cumem", "cuipc", "cumulticast", "culaunch",
    "custream",
)  # fmt: skip
"""One of these is in every line that the patterns know: they are tried on few others."""
_FRAMES = Signs("what():", "error (", "error:", "assert", "check failed")
_FRAME = guarded_regex(
    r"what\(\):|\b(?:[Ee]rror|ERROR) ?\(\S{1,120}:\d{1,6}\)|\bassert\w*\b|\b[Cc]heck failed"
    r"|\b\w*(?:Error|Exception): "
)
"""What programs without CUDA's name in the line print before an error."""
_WORDS = 4
"""Words from which CUDA's text for an error is its own and none of the C library's."""
_NAME = lazy_regex(
    r"\b(?:(?:cuda|hip)Error[A-Z]\w{2,60}|CUDA_ERROR_[A-Z_]{3,60})\b(?!\s*(?:[=!]=|\)\s*(?:\{|return)|:\s*$|;))"
)
_PUT = guarded_regex(
    r"(?:CUDA|[Cc]uda|HIP)"
    r"(?: ?(?:[Rr]untime|RT|[Dd]river|API|api|[Ll]ibrary|[Cc]all|[Ii]nit(?:iali[sz]ation)?|kernel))*"
    r" ?(?:[Ee]rror|ERROR|[Ff]ailure|FAILURE|[Ff]ailed)\b"
    r"|\bTriton Error \[(?:CUDA|HIP)\]|\b[Gg][Pp][Uu][Aa]ssert\b"
    r"|\bcu(?:da[A-Z]|Init|Device|Ctx|Mem|Ipc|Multicast|Launch|Stream)\w{0,40}"
    r"(?:\(\w{0,20}\))? (?:returned|failed)\b(?: with)?"
)
"""How programs begin to tell of an error of CUDA; what it is is behind."""
_CODE = lazy_regex(
    r"\W{1,3}(?:code|error|returned|status)?\W{0,2}(\d{1,3})\b"
    r"(?![.:%]\d| (?:attempts|of|out|retries|seconds|tests|times)\b)"
    r"|.{0,120}?\bcode ?= ?(\d{1,3})\b"
)
NO_FAILURES = frozenset({
    "cudaErrorNotReady", "cudaErrorPeerAccessAlreadyEnabled", "cudaErrorCudartUnloading",
    "cudaErrorProfilerAlreadyStarted", "cudaErrorProfilerAlreadyStopped",
})  # fmt: skip
"""Answers that programs expect: of a query whether work is done, and of what was done before."""


def failure(text: str) -> str | None:
    """The name of the error of CUDA (``cudaErrorNoDevice``) of which a line tells; None where it tells of none."""
    if not _SIGNS.stand_in(text):
        return _by_text_alone(text) if _FRAMES.stand_in(text) else None
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


def _by_text_alone(text: str) -> str | None:
    """The error whose text is all that follows the colon of an error: ``what():  Error (a.cpp:8): invalid device``."""
    said = text.rpartition(": ")[2].strip(" '\".)")
    if len(said.split()) < _WORDS or _FRAME.search(text) is None:
        return None
    reason = reasons.of_cuda_text(said)
    return _failing(reason)


def _failing(reason: reasons.Reason | None) -> str | None:
    name = reason.name if reason is not None else None
    return name if name and name.startswith("cuda") and name not in NO_FAILURES else None
