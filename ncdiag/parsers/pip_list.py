"""Lists of Python packages: ``pip freeze``, ``pip list``, ``conda list``, and these in PyTorch's collect_env.

They name the NCCL library that PyTorch loads from its wheel, the release of PyTorch with the CUDA in it, and those of
other frameworks that call NCCL.
Source of the format: pip, _internal/commands/list.py and freeze.py; conda, cli/main_list.py; torch/utils/collect_env.py
(``[pip3] torch==2.5.1``).
"""

from __future__ import annotations

import re

from ncdiag.base.patterns import lazy_regex
from ncdiag.base.spans import Section
from ncdiag.parsers._rows import BLANK, ELISION, Reading, Row, Rows

KIND = "pip_list"
COMMANDS: tuple[str, ...] = (
    "pip list", "pip freeze", "pip3 list", "pip3 freeze", "python -m pip list", "python -m pip freeze",
    "python3 -m pip list", "python3 -m pip freeze", "uv pip list", "uv pip freeze", "conda list", "mamba list",
)  # fmt: skip
_TOOL = r"\[(?:pip3?|conda)\][ \t]+"
_OF = rf"[ \t]{{0,4}}(?:{_TOOL})?"
_VERSION = r"(?P<version>\d{1,4}(?:\.\d{1,6}){1,4}[\w.+-]{0,40})"
_NUMBERS = _VERSION.replace("?P<version>", "?:")
ANCHOR = (
    rf"{_OF}nvidia-[a-z-]{{2,30}}-cu1[1-9](?:==|[ \t]+){_NUMBERS}(?:[ \t]|$)"
    rf"|{_OF}(?:torch==|torch[ \t]{{2,40}}){_NUMBERS}(?:[ \t]|$)"
)
STRUCTURE = " \tnt["
_NCCL = lazy_regex(r"nvidia-nccl-cu1[1-9]|nccl")
_RELEASE = lazy_regex(r"\d{1,3}\.\d{1,3}(?:\.\d{1,3})?")
_BUILT = lazy_regex(r"\+cu(\d{2})(\d)\b")
_LISTS = lazy_regex(r"\b(?:freeze|list)\b")
_RESOLVED = lazy_regex(r"nvidia-(?!nccl)[a-z-]{2,30}-cu1[1-9]")
"""Libraries that pip installs for PyTorch, and nobody writes into a file of requirements."""
_FRAMEWORKS = {
    "pytorch": lazy_regex(r"(?:py)?torch"), "cupy": lazy_regex(r"cupy(?:-cuda\d\dx)?"),
    "horovod": lazy_regex(r"horovod"), "deepspeed": lazy_regex(r"deepspeed"),
    "lightning": lazy_regex(r"(?:pytorch-)?lightning"),
}  # fmt: skip
_FEWEST = 2
_MOST = 2000


class _Packages(Reading):
    """The packages that decide how ranks talk to each other; a second NCCL leaves open which one is loaded."""

    def __init__(self, section: Section) -> None:
        """No package was read."""
        super().__init__(section)
        self.nccl: dict[str, int] = {}
        self.frameworks: list[tuple[int, dict[str, str]]] = []
        self.resolved: set[str] = set()
        self.is_installed = bool(_LISTS.search(section.command or ""))

    def package(self, found: re.Match[str]) -> bool:
        """One package with its version; False for one that a message may know."""
        name, version = found["name"].lower().replace("_", "-"), found["version"]
        release = _RELEASE.match(version)
        if release is None:
            return False
        self.is_installed = self.is_installed or found["wanted"] is None or found["of"] is not None
        if _RESOLVED.fullmatch(name):
            self.resolved.add(name)
        if _NCCL.fullmatch(name):
            self.nccl.setdefault(release[0], self.index)
            return True
        framework = next((each for each, names in _FRAMEWORKS.items() if names.fullmatch(name)), None)
        if framework is None:
            return False
        built = _BUILT.search(version) if framework == "pytorch" else None
        cuda = {"cuda": f"{built[1]}.{built[2]}"} if built else {}
        self.frameworks.append((self.index, {framework: release[0]} | cuda))
        return True

    def end(self) -> None:
        """The only release of NCCL, and those of frameworks, unless the list may be one of what somebody wants."""
        if not self.is_installed and len(self.resolved) < _FEWEST:
            return
        for at, frameworks in self.frameworks:
            self.observe("Host", at=at, standing="manifest", frameworks=frameworks)
        if len(self.nccl) == 1:
            [(version, at)] = self.nccl.items()
            self.observe("Host", at=at, standing="manifest", nccl_version=version)


ROWS = Rows(
    _Packages,
    Row(
        rf"[ \t]{{0,4}}(?P<of>{_TOOL})?(?P<name>[A-Za-z][\w.-]{{1,60}})(?:(?P<wanted>==)|[ \t]+){_VERSION}"
        r"(?:[ \t].{0,300})?$",
        _Packages.package,
    ),
    Row(r"\s{0,4}(?:Package\s+Version|-{3,60}\s+-{3,60}|# (?:packages in environment|Name)\b)"),
    Row(rf"{_OF}[A-Za-z][\w.-]{{1,60}} @ \S{{1,300}}$"),
    Row(rf"{_OF}-e \S"),
    BLANK,
    ELISION,
    most=_MOST,
)
