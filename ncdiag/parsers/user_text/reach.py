"""The words in which people say that a tool reached a GPU or RDMA device, and where: tools, places, outcomes."""

from __future__ import annotations

import re

from ncdiag.base.patterns import lazy_regex
from ncdiag.parsers.user_text.moods import SEGMENTS

_FLAGS = re.IGNORECASE | re.VERBOSE
TOOLS = lazy_regex(
    r"""(?P<nvidia_smi>\bnvidia[\s_-]?smi\b | \bnvml\b(?!\w) | \bnvtop\b)
    | (?P<cuda>\bdevice_?query\b | \btorch\.cuda\.\w+ | \bbandwidthTest\b | \bcuInit\b | \bcudaGetDeviceCount\b
        | \bcuda\s?(?:samples?|programs?|calls?|apps?|applications?|code|tests?)?(?=\s|$|[,.])
          (?!\s?\d|\s(?:errors?|versions?|graphs?|kernels?|driver|runtime|streams?|memory|toolkit|oom)))
    | (?P<rocm_smi>\b(?:rocm|amd)-?smi\b)
    | (?P<rocm>\brocminfo\b | \bclinfo\b | \bhip(?:\s(?:programs?|samples?))?\b(?!\s?\d))
    | (?P<npu_smi>\bnpu-smi\b)
    | (?P<npu>\btorch[._]npu\b\S* | \bacl\.init\b | \bnpus?\b)
    | (?P<rdma>\bibv_(?:devinfo|devices|\w+pingpong)\b | \bibstat(?:us)?\b | \bshow_gids\b | \bfi_info\b
        | \bib_(?:write|read|send)_(?:bw|lat)\b | \bucx_info\b
        | \b(?:rdma|infiniband|ib)\s?(?:devices?|cards?|nics?|hcas?|tests?)?\b)
    | (?P<program>\b(?:py)?torch\b(?![._-]\w) | \btensorflow\b | \bis_available\b | \bjax\b | \bgpus?\b | \bcupy\b
        | \bollama\b | \bvllm\b | 显卡)""",
    _FLAGS,
)
_BOX = (
    r"(?:containers?|docker|pods?|podman|enroot|pyxis|singularity|apptainer|lx[cd]|k8s|kubernetes|k3s|compose|images?)"
)
PLACES = lazy_regex(
    rf"""(?P<container>
          \b(?:in|inside|into|within|from|under|via|through|using|for|with)\s(?:of\s)?(?:\S+\s){{0,3}}?{_BOX}\b
        | \b(?:docker|podman|nerdctl|kubectl|ctr)\s(?:exec|run)\b
        | \b{_BOX}(?:'s)?\s(?:\w+\s)?(?:can|could|cannot|does|doesn|do|don|did|sees?|has|have|gets?|are|is)\b
        | ^\W*(?:in|inside)?\s?(?:the\s|my\s)?(?:containers?|docker|pods?)\s?: | 容器 | docker\s?(?:内|里|中))
    | (?P<host>
          \b(?:on|from|at|in)\s(?:(?:the|my|our|both|all|a|its|each)\s)?(?:\S+\s){{0,2}}?(?:hosts?|servers?
            |bare[\s-]?metal|host[\s-]?machines?|physical\smachines?|(?:gpu\s|worker\s|compute\s)?nodes?|machines?
            |host\ssystem)\b
        | \boutside\b | \bbare[\s-]?metal\b | \bhost\s(?:itself|side|can|sees?|has|shows?|lists?)\b | \bssh\b
        | ^\W*(?:on\s)?(?:the\s)?host\s?: | \bdirectly\b(?!\sfrom) | 宿主机 | 物理机 | 主机 | 裸机)
    | (?P<root>\b(?:as|by)\s(?:the\s)?root\b | \b(?:with|using|under|needs?)\ssudo\b | ^\W*sudo\s | \broot\suser\b
        | root\s?用户)
    | (?P<user>\bas\s(?:an?\s|the\s|my\s)?(?:\S+\s){{0,2}}?users?\b | \bwithout\s(?:sudo|root)\b | \bnon-?root\b
        | \b(?:normal|regular|ordinary|unprivileged|other)\susers?\b | 普通用户)
    | (?P<job>\b(?:in|inside|within|under|via|through|with|from|using)\s(?:an?\s|the\s|my\s|our\s)?
          (?:slurm|srun|sbatch|salloc|pbs|lsf|batch|interactive|job|allocation)
          (?:\s(?:jobs?|scripts?|steps?|sessions?|allocations?))?\b(?!\.))""",
    _FLAGS,
)
NO_HARM = lazy_regex(
    r"\b(?:no|without|any)\s(?:\w+\s)?(?:problems?|errors?|issues?|trouble)\b|\bnot\sonly\b|没有?问题|没报错",
    re.IGNORECASE,
)
ILL = lazy_regex(
    r"""\b(?:not|\w+n'?t|cannot|unable|fail\w*|errors?|false|no|never|none|nothing|unknown|unavailable|missing|empty
      |denied|refused|crash(?:es|ed)?|broken|hangs?|invalid|zero|unsupported)\b | (?:不|无法|失败|没|报错)""",
    _FLAGS,
)
WELL = lazy_regex(
    r"""\b(?:work(?:s|ed|ing)?|fine|ok(?:ay)?|success\w*|succeed\w*|normal(?:ly)?|correct(?:ly)?|shows?|shown|lists?
      |listed|sees?|seen|detect(?:s|ed)?|finds?|found|displays?|displayed|visible|recogni[sz]e[sd]?|true|outputs?
      |usable|available|access(?:es|ible)?|good|perfect\w*|passe[sd]
      |runs?\s(?=fine|ok|well|there|too|normally|inside|outside|on|in|as|with))\b
    | (?:正常|可以|能|成功|没问题)""",
    _FLAGS,
)
PARTS = lazy_regex(
    rf"""{SEGMENTS.pattern}
    | ,\s?(?:and\s)?(?=(?:in|inside|on|outside|when|with|as|from|within|nvidia|rocm|torch|the\scontainer|it\b))
    | \sand\s(?=(?:\w+\s){{0,2}}(?:cannot|can't|fails?|doesn't|does\snot|not)\b) | \uff0c""",
    _FLAGS,
)
OTHERWISE = lazy_regex(
    r"""\b(?:nccl|rccl|out\sof\smemory|oom|illegal|nans?|hang\w*|stuck|slow\w*|time-?outs?|performance|bandwidth
      |deadlock\w*|launch|loss|accuracy|speed|crash\w*|converge\w*|training)\b | 训练 | 卡住""",
    _FLAGS,
)
"""Trouble of a program that has its GPUs."""
SAME = lazy_regex(
    r"\b(?:it|this|that|the\s(?:same|command|tool|output))\b|^\W*(?:not|works?|fails?)\b|\bsame\b", re.IGNORECASE
)
"""Words for the tool of the sentence before."""
REACHES = lazy_regex(
    r"\b(?:see|sees|detect\w*|find|found|access\w*|recogni\w+|available|is_available|visible|use|uses|using|no)\b"
    r"|[看找用]",
    re.IGNORECASE,
)
"""What a program does with a GPU that it reaches."""
SOMETIMES = lazy_regex(
    r"\b(?:if|unless|until|when(?:ever)?\s(?:you|one)|upon|after|before|once|afterwards?|later|first|then|sometimes"
    r"|while)\b",
    re.IGNORECASE,
)
"""Words that make a success or failure one of a time, which other facts cover."""
CHEAP = lazy_regex(
    r"smi|cuda|nvml|torch|gpu|rocm|hip|npu|ibv|ibstat|rdma|infiniband|\bib|tensorflow|available|jax|query|docker"
    r"|container|pod|host|slurm|root|sudo|true|false|显卡|容器|work|fail|\bnot\b",
    re.IGNORECASE,
)
QUOTED = lazy_regex(
    r"[\"\u201c`][^\"\u201d`]{0,200}\b(?:error|fail(?:ed|s)?|no|not|cannot|denied|unable|couldn't)\b"
    r"[^\"\u201d`]{0,200}[\"\u201d`]",
    re.IGNORECASE,
)
"""A message of a failure that somebody quotes."""
PHRASE = lazy_regex(
    r"(?:Failed to (?:initialize|start) (?:NVML|nvml with error): )?could not load NVML library\S*"
    r"|Failed to initialize NVML: \w+ \w+",
    re.IGNORECASE,
)
"""Messages that are events of their own."""
LOGGED = lazy_regex(
    r"^\W*\d{4}[-/]\d\d[-/]\d\d|^\W*[EWIF]\d{4} |^\W*(?:time=|level=|\[\s?(?:info|warn|error))", re.IGNORECASE
)
"""A line of a log; it happened where it says, not where people were before."""
SAYS = lazy_regex(
    r"""\b(?P<who>(?:py)?torch|tensorflow|jax|cuda|nvidia-smi|rocm-smi|rocminfo|it|which|program|container|ibv_devinfo)
    \s(?:says?|said|claims?|states|suggests)\b(?:\sthat)?""",
    _FLAGS,
)
"""A program that says something is no hearsay."""
RUNS = lazy_regex(r"-smi|rocminfo|ibv_dev|ibstat|is_available\(|device_count\(|deviceQuery")
RUN = lazy_regex(
    r"""^\s*(?:\S*(?:[$\#%]|>>>|\]:)\s*|\w[\w.-]*@[\w.-]+:\S*[$\#]\s*|>>>\s*)?
    (?P<command>
      (?:(?:sudo|docker|podman|nerdctl|nvidia-docker|kubectl|ctr|srun|enroot|singularity|apptainer|python3?)\b.{1,200}?)?
      (?:nvidia-smi|rocminfo|rocm-smi|npu-smi|ibv_devinfo|ibv_devices|ibstat|deviceQuery
        |(?:print\s?\()?torch\.cuda\.(?:is_available|device_count)\(\))\S*(?:\s-?-?\w+)?)\W*$""",
    _FLAGS,
)
"""A line that runs a tool."""
PRINTED = lazy_regex(
    r"""^\W*(?:(?:it\s)?(?:prints?|returns?|gives?|says?|shows?|outputs?)\s)?(?:
      (?P<well>True | [1-9]\d? | \|?\sNVIDIA-SMI\s\d.* | GPU\s\d+:\s.* | hca_id:.* | Result\s=\sPASS)
    | (?P<ill>False(?=\W*$|\.\s) | 0(?=\W*$|\.\s).* | Failed\sto\sinitialize\sNVML.*
        | NVIDIA-SMI\s(?:has\sfailed|couldn).*
        | No\sdevices\swere\sfound.* | .*executable\sfile\snot\sfound.* | .*nvidia-smi.*command\snot\sfound.*
        | .*command\snot\sfound.*nvidia-smi.* | No\sIB\sdevices\sfound.* | Failed\sto\sopen\sdevice.*
        | Unable\sto\sopen\s/dev/kfd.* | ROCk\smodule\sis\sNOT.* | dcmi\s(?:module|model)\sinitialize\sfailed.*
        | Result\s=\sFAIL.* | cudaGetDeviceCount\sreturned.*))\W*$""",
    _FLAGS,
)
"""What a tool prints when it reaches its device, or does not."""
CONTAINED = lazy_regex(r"(?:sudo\s)?(?:docker|podman|nerdctl|nvidia-docker|kubectl|ctr|enroot|singularity|apptainer)\b")
IN_CONTAINER = lazy_regex(r"\broot@[0-9a-f]{12}:")
CUDA_RELEASE = lazy_regex(r"cuda\s(?:version|driver)", re.IGNORECASE)
