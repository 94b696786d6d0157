"""What reaches the GPUs or RDMA devices, and from where: ``nvidia-smi works on the host, not in the container``.

A statement is a tool, a place and whether it worked. The tool and the place hold for what follows until others are
named. A line that runs a tool (``$ docker run ... nvidia-smi``, ``>>> torch.cuda.is_available()``) is one with what it prints.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from ncdiag.base.patterns import lazy_regex
from ncdiag.parsers.user_text.moods import SEGMENTS, holds, split_question, without_quotes

_FLAGS = re.IGNORECASE | re.VERBOSE


class Access(NamedTuple):
    """A tool (`nvidia-smi`, `cuda`, `rocm-smi`, `rocm`, `npu-smi`, `npu`, `rdma`, `program`), its place, its success.

    The place is `host`, `container`, `job`, `root` or `user`; empty where none is named. A `program` may use any GPU.
    """

    tool: str
    place: str
    works: bool


_TOOLS = lazy_regex(
    r"""(?P<nvidia_smi>\bnvidia[\s_-]?smi\b | \bnvml\b(?!\w) | \bnvtop\b | \bnvidia\sdriver\s(?=works|is\sfine))
    | (?P<cuda>\bdevice_?query\b | \bcuda\s?(?:samples?|programs?|calls?|apps?|applications?|code|tests?)?(?=\s|$|[,.])
        (?!\s?\d|\s(?:errors?|versions?|graphs?|kernels?|driver|runtime|streams?|memory|toolkit|oom))
        | \btorch\.cuda\.\w+ | \bbandwidthTest\b | \bcuInit\b | \bcudaGetDeviceCount\b)
    | (?P<rocm_smi>\b(?:rocm|amd)-?smi\b) | (?P<rocm>\brocminfo\b | \bclinfo\b | \bhip(?:\s(?:programs?|samples?))?\b(?!\s?\d))
    | (?P<npu_smi>\bnpu-smi\b) | (?P<npu>\btorch[._]npu\b\S* | \bacl\.init\b | \bnpus?\b)
    | (?P<rdma>\bibv_(?:devinfo|devices|\w+pingpong)\b | \bibstat(?:us)?\b | \bshow_gids\b | \bfi_info\b
        | \bib_(?:write|read|send)_(?:bw|lat)\b | \b(?:rdma|infiniband|ib)\s?(?:devices?|cards?|nics?|hcas?|tests?)?\b | \bucx_info\b)
    | (?P<program>\b(?:py)?torch\b(?![._-]\w) | \btensorflow\b | \bis_available\b | \bjax\b | \bgpus?\b | \bcupy\b | \bollama\b | \bvllm\b
        | 显卡)""",
    _FLAGS,
)
_BOX = r"(?:containers?|docker|pods?|podman|enroot|pyxis|singularity|apptainer|lx[cd]|k8s|kubernetes|k3s|compose|images?)"
_PLACES = lazy_regex(
    rf"""(?P<container>\b(?:in|inside|into|within|from|under|via|through|using|for|with)\s(?:of\s)?(?:\S+\s){{0,3}}?{_BOX}\b
        | \b(?:docker|podman|nerdctl|kubectl|ctr)\s(?:exec|run)\b | \b{_BOX}(?:'s)?\s(?:\w+\s)?(?:can|could|cannot|does|doesn|do|don|did|sees?|has|have|gets?
        |are|is)\b | ^\W*(?:in|inside)?\s?(?:the\s|my\s)?(?:containers?|docker|pods?)\s?: | 容器|docker\s?(?:内|里|中))
    | (?P<host>\b(?:on|from|at|in)\s(?:the\s|my\s|our\s|both\s|all\s|a\s|its\s|each\s)?(?:\S+\s){{0,2}}?(?:hosts?|servers?|bare[\s-]?metal|host[\s-]?machines?
        |physical\smachines?|(?:gpu\s|worker\s|compute\s)?nodes?|machines?|host\ssystem)\b | \boutside\b | \bbare[\s-]?metal\b | \bhost\s(?:itself|side)\b
        | \bhost\s(?:can|sees?|has|shows?|lists?)\b | ^\W*(?:on\s)?(?:the\s)?host\s?: | \bdirectly\b(?!\sfrom) | \bssh\b | 宿主机|物理机|主机|裸机)
    | (?P<root>\b(?:as|by)\s(?:the\s)?root\b | \b(?:with|using|under|needs?)\ssudo\b | ^\W*sudo\s | \broot\suser\b | root\s?用户)
    | (?P<user>\bas\s(?:an?\s|the\s|my\s)?(?:\S+\s){{0,2}}?users?\b | \bwithout\s(?:sudo|root)\b | \bnon-?root\b | \b(?:normal|regular|ordinary|unprivileged
        |other)\susers?\b | 普通用户)
    | (?P<job>\b(?:in|inside|within|under|via|through|with|from|using)\s(?:an?\s|the\s|my\s|our\s)?(?:slurm|srun|sbatch|salloc|pbs|lsf|batch|interactive
        |job|allocation)(?:\s(?:jobs?|scripts?|steps?|sessions?|allocations?))?\b(?!\.))""",
    _FLAGS,
)
_NO_HARM = lazy_regex(r"\b(?:no|without|any)\s(?:\w+\s)?(?:problems?|errors?|issues?|trouble)\b|\bnot\sonly\b|没有?问题|没报错", re.IGNORECASE)
_ILL = lazy_regex(
    r"""\b(?:not|\w+n'?t|cannot|unable|fail(?:s|ed|ing|ure)?|failded|errors?|false|no|never|none|nothing|unknown|unavailable|missing|empty
      |denied|refused|crash(?:es|ed)?|broken|hangs?|invalid|zero|unsupported)\b | (?:不|无法|失败|没|报错)""",
    _FLAGS,
)
_WELL = lazy_regex(
    r"""\b(?:work(?:s|ed|ing)?|fine|ok(?:ay)?|success\w*|succeed\w*|normal(?:ly)?|correct(?:ly)?|shows?|shown|lists?|listed|sees?|seen|see
      |detect(?:s|ed)?|finds?|found|displays?|displayed|visible|recogni[sz]e[sd]?|true|outputs?|usable|available|runs?\s(?=fine|ok|well|there|too|normally|inside|outside|on|in|as|with)
      |access(?:es|ible)?|good|perfect\w*|passe[sd])\b | (?:正常|可以|能|成功|没问题|能看到)""",
    _FLAGS,
)
_PARTS = lazy_regex(
    rf"""{SEGMENTS.pattern} | ,\s?(?:and\s)?(?=(?:in|inside|on|outside|when|with|as|from|within|nvidia|rocm|rocm|torch|the\scontainer|it\b))
    | \sand\s(?=(?:\w+\s){{0,2}}(?:cannot|can't|fails?|doesn't|does\snot|not)\b) | ，""",
    _FLAGS,
)
_OTHERWISE = lazy_regex(
    r"\b(?:nccl|rccl|out\sof\smemory|oom|illegal|nans?|hang\w*|stuck|slow\w*|time-?outs?|performance|bandwidth|deadlock\w*|launch|loss|accuracy|speed"
    r"|crash\w*|converge\w*|training)\b|训练|卡住",
    re.IGNORECASE,
)
"""Trouble of a program that has its GPUs."""
_IT = lazy_regex(r"\b(?:it|this|that|the\s(?:same|command|tool|output))\b|^\W*(?:not\b|works?\b|fails?\b)|\bsame\b", re.IGNORECASE)
_REACHES = lazy_regex(r"\b(?:see|sees|detect\w*|find|found|access\w*|recogni\w+|available|is_available|visible|use|uses|using|no)\b|[看找用]", re.IGNORECASE)
_SOMETIMES = lazy_regex(r"\b(?:if|unless|until|when(?:ever)?\s(?:you|one)|upon|after|before|once|afterwards?|later|first|then|sometimes|while)\b", re.IGNORECASE)
"""Words that make a success or failure one of a time, which other facts cover."""
_CHEAP = lazy_regex(
    r"smi|cuda|nvml|torch|gpu|rocm|hip|npu|ibv|ibstat|rdma|infiniband|\bib|tensorflow|available|jax|query|docker|container|pod|host|slurm|root|sudo"
    r"|true|false|显卡|容器|work|fail|\bnot\b",
    re.IGNORECASE,
)
_QUOTED = lazy_regex(r"[\"“`][^\"”`]{0,200}\b(?:error|fail(?:ed|s)?|no|not|cannot|denied|unable|couldn't)\b[^\"”`]{0,200}[\"”`]", re.IGNORECASE)
"""A message of a failure that somebody quotes."""
_PHRASE = lazy_regex(r"(?:Failed to (?:initialize|start) (?:NVML|nvml with error): )?could not load NVML library\S*|Failed to initialize NVML: \w+ \w+", re.IGNORECASE)
"""Messages that are events of their own."""
_MESSAGE = lazy_regex(r"^\W*\d{4}[-/]\d\d[-/]\d\d|^\W*[EWIF]\d{4} |^\W*(?:time=|level=|\[\s?(?:info|warn|error))", re.IGNORECASE)
"""What programs print; it happened where it says, not where people were before."""
_NEAR = 4
"""Lines over which a tool and a place hold."""
_RUN = lazy_regex(
    r"""^\s*(?:\S*(?:[$\#%]|>>>|\]:)\s*|\w[\w.-]*@[\w.-]+:\S*[$\#]\s*|>>>\s*)?(?P<command>(?:(?:sudo|docker|podman|nerdctl|nvidia-docker|kubectl|ctr|srun|enroot|singularity|apptainer|python3?)\b.{1,200}?)?
    (?:nvidia-smi|rocminfo|rocm-smi|npu-smi|ibv_devinfo|ibv_devices|ibstat|(?:print\s?\()?torch\.cuda\.is_available\(\)|deviceQuery)\S*(?:\s-?-?\w+)?)\W*$""",
    _FLAGS,
)
_PRINTED = lazy_regex(
    r"""^\W*(?:(?P<well>True | \|?\sNVIDIA-SMI\s\d.* | GPU\s\d+:\s.* | hca_id:.* | Result\s=\sPASS)
    | (?P<ill>False | Failed\sto\sinitialize\sNVML.* | NVIDIA-SMI\s(?:has\sfailed|couldn).* | No\sdevices\swere\sfound.* | .*executable\sfile\snot\sfound.*
        | .*nvidia-smi.*command\snot\sfound.* | .*command\snot\sfound.*nvidia-smi.* | No\sIB\sdevices\sfound.* | Failed\sto\sopen\sdevice.* | Unable\sto\sopen\s/dev/kfd.*
        | ROCk\smodule\sis\sNOT.* | dcmi\s(?:module|model)\sinitialize\sfailed.* | Result\s=\sFAIL.* | cudaGetDeviceCount\sreturned.*))\W*$""",
    _FLAGS,
)
_RUNS = lazy_regex(r"-smi|rocminfo|ibv_dev|ibstat|is_available\(|deviceQuery")
_SAYS = lazy_regex(
    r"\b(?P<who>(?:py)?torch|tensorflow|jax|cuda|nvidia-smi|rocm-smi|rocminfo|it|which|program|container|ibv_devinfo)\s(?:says?|said|claims?|states|suggests)\b(?:\sthat)?",
    re.IGNORECASE,
)
"""A program that says something is no hearsay."""
_WAIT = 6
"""Lines after a command among which its output begins."""
_LONGEST = 400


class AccessReader:
    """Reads line after line; the tool and the place named last hold for the next lines."""

    def __init__(self) -> None:
        """Nothing was named."""
        self._tool, self._place, self._age = "", "", 0
        self._run: tuple[str, str] | None = None
        self._left = 0

    def prose(self, sentence: str) -> Iterator[Access]:
        """What the sentence of a person says."""
        if not _CHEAP.search(sentence):
            return
        whole = re.sub(r"\s+", " ", sentence)
        said, asked = split_question(without_quotes(_QUOTED.sub(" an error ", _PHRASE.sub("; ", whole))))
        if asked:
            return
        said = re.sub(r"[\"'`“”]", " ", said).strip() if said.count("'") != 1 else said
        said = _SAYS.sub(r"\g<who> reports", said[:_LONGEST])
        for part in _PARTS.split(said):
            if part and holds(part):
                yield from self._part(part)

    def _part(self, part: str) -> Iterator[Access]:
        tools = _tools(part)
        if _MESSAGE.search(part):
            self._place = ""
        places = list(dict.fromkeys(m.lastgroup or "" for m in _PLACES.finditer(part)))
        if tools:
            self._tool, self._age = tools[0], 0
        elif not (places or _IT.search(part)):
            return
        told = _told(part)
        if places and (tools or told is not None):
            self._place, self._age = places[0], 0
        if told is False and self._tool in {"program", "cuda", "rdma"} and _OTHERWISE.search(part):
            return
        if told is None or _SOMETIMES.search(part) or not self._tool:
            return
        for tool in tools or [self._tool]:
            if tool == "program" and told is False and not _REACHES.search(part):
                continue
            for place in places or [self._place]:
                yield Access(tool, place, told)

    def line(self, text: str) -> Access | None:
        """What a line prints of the tool that one of the lines before it ran."""
        if self._age >= _NEAR:
            self._tool = self._place = ""
        self._age += 1
        if len(text) > _LONGEST:
            return None
        if self._run is not None and (printed := _PRINTED.match(text)):
            tool, place = self._run
            self._run = None
            return Access(tool, place, printed["well"] is not None)
        self._left -= 1
        if self._left < 0:
            self._run = None
        if _RUNS.search(text) and (run := _RUN.match(text)):
            command = run["command"]
            tools = _tools(command)
            if tools:
                self._run, self._left = (tools[-1], _where(text, command)), _WAIT
        return None


def _tools(text: str) -> list[str]:
    found = dict.fromkeys(m.lastgroup or "" for m in _TOOLS.finditer(text))
    if len(found) > 1:
        found.pop("program", None)
    if {"nvidia_smi", "cuda"} <= found.keys() and "cuda" in found and re.search(r"cuda\s(?:version|driver)", text, re.IGNORECASE):
        found.pop("cuda")
    return [name.replace("_", "-") for name in found]


def _told(part: str) -> bool | None:
    """Did it work? None where the words do not say so."""
    plain = _NO_HARM.sub(" fine ", part)
    if _ILL.search(plain):
        return False
    return True if _WELL.search(plain) else None


def _where(text: str, command: str) -> str:
    if re.match(r"(?:sudo\s)?(?:docker|podman|nerdctl|nvidia-docker|kubectl|ctr|enroot|singularity|apptainer)\b", command):
        return "container"
    if command.startswith("srun"):
        return "container" if "container" in command else "job"
    if re.search(r"\broot@[0-9a-f]{12}:", text):
        return "container"
    return "root" if command.startswith("sudo") else ""
