"""What people and collect_env say of their software: ``NCCL version: 2.18.1``, ``- GPU: 2 x NVIDIA A100``, ``OS: ...``.

Source of the format: PyTorch's torch/utils/collect_env.py (``PyTorch version:``, ``OS:``, ``Nvidia driver version:``,
``GPU 0: ...``) and the issue templates of NCCL, vLLM and others, which ask for the same in a list.
"""

from __future__ import annotations

import re
from typing import Any

from ncdiag.base.patterns import lazy_regex
from ncdiag.parsers._rows import Reading, Row, Rows

KIND = "env_report"
COMMANDS: tuple[str, ...] = ("collect_env", "python -m torch.utils.collect_env")
_KEY = (
    r"(?:NCCL|RCCL|GPUs?|GPU model|OS|Operating [Ss]ystem|Kernel|(?:NVIDIA|Nvidia|nvidia|GPU)? ?[Dd]river"
    r"|Py[Tt]orch|pytorch|[Tt]orch|CUDA|CUDA [Tt]oolkit|Python|Libc|GCC version)"
)
_LEAD = r"[ \t]{0,8}(?:[-*\u2022][ \t]+)?(?:\*\*)?"
_NOT_A_MESSAGE = (
    r"(?!.{0,200}\b(?i:fail(?:s|ed|ure|ing)?|errors?|warn(?:ing)?|unhandled|unable|cannot|could not|unknown symbol"
    r"|completion|out of memory|timed? ?out|denied|refused|no such|not (?:found|supported|permitted)|no \w{2,20} found"
    r"|link (?:is )?(?:down|up))\b)"
)
"""People put the name of a program before what it printed: ``NCCL: Call to ibv_modify_qp failed``."""
ANCHOR = (
    rf"{_LEAD}{_KEY}(?: (?:[Vv]ersion|runtime|library))?(?:\*\*)?[ \t]?:(?:\*\*)?[ \t]+{_NOT_A_MESSAGE}\S"
    rf"|{_LEAD}(?:\w{{1,20}} )?NCCL (?:version|runtime|library)[ \t]?:[ \t]+\d"
    rf"|{_LEAD}GPU \d{{1,2}}: (?:NVIDIA|Tesla|GeForce|Quadro|AMD|Radeon) (?!.{{0,200}}\(UUID)"
)
STRUCTURE = " \t*-•cdgklnoprt"

_BELONGS = (
    rf"{ANCHOR}|{_LEAD}(?:GPU \d{{1,2}}: (?!.*\(UUID)"
    r"|(?:Is debug build|Is CUDA available|Is XNNPACK available|CUDA used to build PyTorch|ROCM used to build PyTorch"
    r"|cuDNN version|CUDA runtime version|GPU models and configuration|Python platform|Python version|Clang version"
    r"|CMake version|Libc version|HIP runtime version|MIOpen runtime version)[ \t]?:)"
)
_ASKED = lazy_regex(_BELONGS)
_LINE = rf"{_LEAD}(?P<key>[A-Za-z][\w .()/]{{1,40}}?)(?:\*\*)?[ \t]?:(?:\*\*)?[ \t]+(?P<value>\S.{{0,200}}?)[ \t]*$"
_NCCL = lazy_regex(r"v?(?P<version>\d{1,2}\.\d{1,3}\.\d{1,3})(?![\d.])")
_DRIVER = lazy_regex(r"(?P<version>\d{3}\.\d{2,3}(?:\.\d{2,3})?)(?![\d.])")
_RELEASE = lazy_regex(r"v?\d{1,3}\.\d{1,3}(?:\.\d{1,3})?")
_COUNTED = lazy_regex(r"(?P<count>\d{1,3})\s?[x\u00d7*]\s?(?P<model>\S.{0,80})$")
_WSL = lazy_regex(r"\bWSL(?:[ -]?2)?\b|microsoft-standard")
_PYTORCH = frozenset({"pytorch", "pytorch version", "torch", "torch version"})
_BUILT = lazy_regex(r"\+cu(\d{2})(\d)\b")
_CUDAS = {"cuda used to build pytorch": "cuda", "cuda toolkit": "cuda toolkit", "cuda toolkit version": "cuda toolkit"}
_OF_TOOLKIT = lazy_regex(r"CUDA Version (\d{1,2}\.\d{1,2})\.\d{1,4}$")
"""The text of a toolkit's version.txt."""
"""The CUDA in a framework decides; a toolkit beside it need not be used."""
_MOST_GPUS = 32


class _Report(Reading):
    """Versions of NCCL, the driver and PyTorch, GPU models, and whether it is WSL."""

    def line_of(self, told: re.Match[str]) -> None:
        """What one line says; most say nothing that is kept."""
        key, value = told["key"].lower(), told["value"].strip("*` ")
        if "nccl" in key.split() and (version := _NCCL.match(value)):
            self._host(nccl_version=version["version"])
        elif "driver" in key and (version := _DRIVER.match(value)):
            self._host(driver=version["version"])
        elif key in _PYTORCH and (release := _RELEASE.match(value)):
            built = _BUILT.search(value)
            cuda = {"cuda": f"{built[1]}.{built[2]}"} if built else {}
            self._host(frameworks={"pytorch": release[0].removeprefix("v")} | cuda)
        elif key == "cuda" and (toolkit := _OF_TOOLKIT.match(value)):
            self._host(frameworks={"cuda toolkit": toolkit[1]})
        elif key in _CUDAS and (release := _RELEASE.match(value)):
            self._host(frameworks={_CUDAS[key]: release[0].removeprefix("v")})
        elif key in {"os", "operating system", "kernel", "python platform"} and _WSL.search(value):
            self._host(in_wsl=True)
        elif key.startswith("gpu"):
            self._gpus(key, value)

    def end(self) -> None:
        """Lines of people are not expected to be understood."""
        self.unread.clear()

    def _host(self, **fields: Any) -> None:  # noqa: ANN401
        self.observe("Host", standing="manifest", **fields)

    def _gpus(self, key: str, value: str) -> None:
        """``GPU 0: NAME`` of collect_env, ``2 x NAME`` of people; a name alone is that of the first one."""
        number = key.removeprefix("gpu").strip()
        counted = _COUNTED.match(value)
        if number.isdecimal() and int(number) < _MOST_GPUS:
            self._gpu(int(number), value)
        elif counted and key in {"gpu", "gpus", "gpu model"}:
            for place in range(min(int(counted["count"]), _MOST_GPUS)):
                self._gpu(place, counted["model"])
        elif key in {"gpu", "gpu model"}:
            self._gpu(0, value)

    def _gpu(self, number: int, model: str) -> None:
        name = re.split(r"[,(]", model, maxsplit=1)[0].strip()
        self.observe("Gpu", (number,), standing="manifest", model=name)


ROWS = Rows(
    _Report,
    Row(_LINE, _Report.line_of, belongs=lambda _, line: _ASKED.match(line) is not None),
    Row(_BELONGS),
)
