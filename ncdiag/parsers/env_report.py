"""What people and collect_env say of their software: ``NCCL version: 2.18.1``, ``- GPU: 2 x NVIDIA A100``, ``OS: ...``.

Source of the format: PyTorch's torch/utils/collect_env.py (``PyTorch version:``, ``OS:``, ``Nvidia driver version:``,
``GPU 0: ...``) and the issue templates of NCCL, vLLM and others, which ask for the same in a list.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from ncdiag.base.spans import Section
from ncdiag.facts.observe import Observation, Parsed, observe

KIND = "env_report"
COMMANDS: tuple[str, ...] = ("collect_env", "python -m torch.utils.collect_env")
_KEY = (
    r"(?:NCCL|RCCL|GPUs?|GPU model|OS|Operating [Ss]ystem|Kernel|(?:NVIDIA|Nvidia|nvidia|GPU)? ?[Dd]river"
    r"|Py[Tt]orch|pytorch|[Tt]orch|CUDA|CUDA [Tt]oolkit|Python|Libc|GCC version)"
)
_LEAD = r"[ \t]{0,8}(?:[-*\u2022][ \t]+)?(?:\*\*)?"
ANCHOR = (
    rf"{_LEAD}{_KEY}(?: (?:[Vv]ersion|runtime|library))?(?:\*\*)?[ \t]?:(?:\*\*)?[ \t]+\S"
    rf"|{_LEAD}(?:\w{{1,20}} )?NCCL (?:version|runtime|library)[ \t]?:[ \t]+\d"
)
STRUCTURE = " \t*-•cdgklnoprt"

_BELONGS = re.compile(
    rf"{ANCHOR}|{_LEAD}(?:GPU \d{{1,2}}: (?!.*\(UUID)"
    r"|(?:Is debug build|Is CUDA available|Is XNNPACK available|CUDA used to build PyTorch|ROCM used to build PyTorch"
    r"|cuDNN version|CUDA runtime version|GPU models and configuration|Python platform|Python version|Clang version"
    r"|CMake version|Libc version|HIP runtime version|MIOpen runtime version)[ \t]?:)"
)
_LINE = re.compile(
    rf"{_LEAD}(?P<key>[A-Za-z][\w .()/]{{1,40}}?)(?:\*\*)?[ \t]?:(?:\*\*)?[ \t]+(?P<value>\S.{{0,200}}?)[ \t]*$"
)
_NCCL = re.compile(r"v?(?P<version>\d{1,2}\.\d{1,3}\.\d{1,3})(?![\d.])")
_DRIVER = re.compile(r"(?P<version>\d{3}\.\d{2,3}(?:\.\d{2,3})?)(?![\d.])")
_RELEASE = re.compile(r"v?\d{1,3}\.\d{1,3}(?:\.\d{1,3})?")
_COUNTED = re.compile(r"(?P<count>\d{1,3})\s?[x\u00d7*]\s?(?P<model>\S.{0,80})$")
_WSL = re.compile(r"\bWSL(?:[ -]?2)?\b|microsoft-standard")
_PYTORCH = frozenset({"pytorch", "pytorch version", "torch", "torch version"})
_BUILT = re.compile(r"\+cu(\d{2})(\d)\b")
_CUDAS = {"cuda used to build pytorch": "cuda", "cuda toolkit": "cuda toolkit", "cuda toolkit version": "cuda toolkit"}
"""The CUDA in a framework decides; a toolkit beside it need not be used."""
_MOST_GPUS = 32


def continues(lines: Sequence[str], line: str) -> bool:
    """Lines that begin with one of the things that are asked for."""
    return _BELONGS.match(line) is not None


def parse(section: Section) -> Parsed:
    """Versions of NCCL, the driver and PyTorch, GPU models, and whether it is WSL."""
    found: list[Observation] = []
    for index, line in enumerate(section.lines):
        told = _LINE.match(line)
        if told:
            found += _told(section, index, told["key"].lower(), told["value"].strip("*` "))
    return Parsed(observations=tuple(found))


def _told(section: Section, index: int, key: str, value: str) -> Iterator[Observation]:
    fields: dict[str, Any] = {}
    if "nccl" in key.split() and (version := _NCCL.match(value)):
        fields["nccl_version"] = version["version"]
    elif "driver" in key and (version := _DRIVER.match(value)):
        fields["driver"] = version["version"]
    elif key in _PYTORCH and (release := _RELEASE.match(value)):
        built = _BUILT.search(value)
        fields["frameworks"] = {"pytorch": release[0].removeprefix("v")} | (
            {"cuda": f"{built[1]}.{built[2]}"} if built else {}
        )
    elif key in _CUDAS and (release := _RELEASE.match(value)):
        fields["frameworks"] = {_CUDAS[key]: release[0].removeprefix("v")}
    elif key in {"os", "operating system", "kernel", "python platform"} and _WSL.search(value):
        fields["in_wsl"] = True
    elif key.startswith("gpu"):
        yield from _gpus(section, index, key, value)
    if fields:
        yield observe(section, index, "Host", standing="manifest", **fields)


def _gpus(section: Section, index: int, key: str, value: str) -> Iterator[Observation]:
    """``GPU 0: NAME`` of collect_env, ``2 x NAME`` of people; a name alone stands for the first one."""
    number = key.removeprefix("gpu").strip()
    counted = _COUNTED.match(value)
    if number.isdecimal() and int(number) < _MOST_GPUS:
        yield _gpu(section, index, int(number), value)
    elif counted and key in {"gpu", "gpus", "gpu model"}:
        for place in range(min(int(counted["count"]), _MOST_GPUS)):
            yield _gpu(section, index, place, counted["model"])
    elif key in {"gpu", "gpu model"}:
        yield _gpu(section, index, 0, value)


def _gpu(section: Section, index: int, number: int, model: str) -> Observation:
    name = re.split(r"[,(]", model, maxsplit=1)[0].strip()
    return observe(section, index, "Gpu", (number,), standing="manifest", model=name)
