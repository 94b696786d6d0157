"""What people say of the place where a job runs: cloud, container, orchestrator, GPUs, framework."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ncdiag.base.patterns import lazy_regex
from ncdiag.parsers.user_text.moods import holds, segments, split_question, without_quotes
from ncdiag.parsers.user_text.words import Lexer, Token, Word

_COUNT = r"(?:\d{1,3}|one|two|four|eight|pair\sof)"
_MODEL = (
    r"(?:a10g?|a16|a30|a40|a100|a800|h20|h100|h200|h800|gh200|b100|b200|b300|gb200|gb300|l4|l20|l40s?|v100(?:-pcie)?"
    r"|p100|p40|p4|t4|m40|k80|mi\d{2,3}x?|(?:rtx\s?)?(?:a[4-6][05]00|[2-5]0[6-9]0(?:\s?ti)?)(?:\s?(?:d|super))?"
    r"|(?:quadro\s)?rtx\s(?:pro\s)?[4-8]000(?:\sada)?|quadro\s[a-z]{1,3}\d{4}|gtx\s?(?:9[6-8]0|10[5-8]0|16[5-6]0)(?:\s?ti)?"
    r"|(?:10[78]0\s?ti)|titan\s?(?:rtx|xp?|v)|(?:radeon\s)?rx\s?\d{3,4}(?:\s?xtx?)?|radeon\s(?:pro\s)?(?:vii|w\d{4})|w[67][89]00x?"
    r"|(?:radeon\s)?(?:ai\s)?(?:pro\s)?r9[67]00)"
)
_FEATURES = {
    "cuda-graphs": r"cuda\s?-?graphs?|graph\scaptures?|cudagraphs?",
    "comm-split": r"ncclcommsplit|comm(?:unicator)?[\s_-]?split(?:s|ting)?|split\scommunicators?",
    "split-share": r"split_?share|nccl_comm_split_share_resources",
    "comm-shrink": r"ncclcommshrink|comm(?:unicator)?[\s_-]?shrink(?:s|ing)?|shr[iu]nk\scommunicators?",
    "comm-abort": r"ncclcommabort|comm[\s_-]?aborts?|abort(?:s|ed|ing)?\s(?:the\s|a\s)?communicators?",
    "comm-destroy": r"ncclcomm(?:destroy|finalize)"
    r"|destroy(?:s|ed|ing)?\s(?:the\s|a\s)?(?:communicators?|process\sgroups?)",
    "nonblocking": r"non-?blocking\s(?:communicators?|mode|init\w*)",
    "symmetric-memory": r"symmetric\s(?:memory|windows?|kernels?|buffers?)|symm[\s_-]?mem|ncclcommwindowregister",
    "user-buffers": r"(?:user\s)?buffer\sregistration|registered\s(?:user\s)?buffers?|ncclcommregister",
    "copy-engine": r"copy[\s-]engines?(?:\scollectives?)?|zero-?sm\scollectives?|nccl_cta_policy_zero",
    "gin": r"(?:nccl\s)?gin|gpu-initiated\snetworking|ncclgin\w*|gin\.\w+|wait_?(?:signal|counter)",
    "gdaki": r"gdaki",
    "ras-client": r"ncclras|ras\s(?:client|status|query|queries|report)",
    "profiler": r"profiler\splugins?|nccl_profiler_plugin|nccl\sinspector",
    "tuner": r"tuner\splugins?|nccl_tuner_plugin",
    "alltoall": r"all-?\s?to-?\s?allv?|alltoallv?(?:_perf(?:_mpi)?)?|all_to_all\w*|expert\sparallel\w*",
    "send-recv": r"ncclsend|ncclrecv|send/recv|send\sand\s(?:recv|receive)|batch_isend_irecv|pipeline\sparallel\w*",
    "collnet": r"collnet\w*|ib\ssharp|sharp",
    "nvls": r"nvls|nvlink\ssharp",
    "mnnvl": r"mnnvl|nvl72",
    "pxn": r"pxn",
    "gpus-per-process": r"ncclcomminitall|one\sprocess\s(?:drives|for|with)\s(?:all|several|multiple)\sgpus"
    r"|single-?\s?process,?\smulti-?\s?gpu",
    "nic-fusion": r"nic\sfusion|merged\snics|fused\snics",
    "fp8": r"fp8|float8\w*|e4m3|e5m2",
    "bfloat16": r"bf16|bfloat16",
    "average": r"ncclavg|reduceop\.avg",
    "unload": r"dlclose|unload(?:s|ed|ing)?\s(?:the\s)?libnccl\S*",
    "dmabuf": r"dma-?_?buf",
    "many-communicators": r"(?:many|dozens\sof|fifty|hundreds\sof|[2-9]\d|\d{3,5})\s(?:nccl\s)?"
    r"(?:communicators|process\sgroups)",
    "shared-gpu": r"(?:several|two|multiple)\sranks\s(?:on|per)\s(?:one|each|the\ssame)\sgpu",
    "checkpoint-restore": r"ncclcheckpointrestore|cuda-checkpoint|checkpoint/restore",
    "device-id": r"device_id",
    "deepep": r"deep_?ep",
    "sequence-parallel": r"sequence[\s-]parallel\w*|ulysses",
    "tensor-parallel": r"tensor[\s-]parallel\w*",
    "all-reduce-fetch": r"(?:stage3_)?use_all_reduce_for_fetch_params",
    "tutel": r"(?:use_)?tutel",
    "decoupled-checkpoint": r"decoupled[\s_]?checkpoint\w*|fastpersist",
    "nvme-offload": r"nvme[\s-]offload\w*|offload(?:s|ed|ing)?\s(?:\w+\s){0,2}to\snvme|aio_handle\w*|zero-infinity",
    "leaf-modules": r"leaf\smodules?|(?:set_)?z3_leaf_modules?",
    "tensorflow-2-4": r"(?:tensorflow|tf)\s?v?2\.4(?:\.\d)?",
    "rich-progress": r"rich\s?progress\s?bar",
    "torchelastic": r"torch\s?elastic|torch\.distributed\.run",
    "sigterm": r"sigterm",
    "dtensor": r"dtensors?|device[\s_]?mesh(?:es)?",
    "sync-module-states": r"sync_module_states",
    "full-state-dict": r"full_state_dict|_gather_state_dict|gathered?\sstate_?dicts?",
    "sharded-optimizer": r"load_sharded_optimizer_state_dict|sharded\soptimizer\sstates?",
    "mpi-backend": r"mpi\sbackend|backend=[\"']?mpi[\"']?",
    "one-sided": r"nccl(?:put|wait)signal|one-sided\s(?:operations?|communication)",
}
"""Features of NCCL by name (`ncdiag/nccl/defects/words.toml`), as people write them."""
LEXER = Lexer(
    "words-of-places",
    (
        Word("mesh", "istio", "istio", "istio"),
        Word("mesh", "linkerd", "linkerd"),
        Word("mesh", "consul", r"consul\sconnect"),
        *(Word("cni", name, name, name) for name in ("calico", "cilium", "flannel", "multus", "weave")),
        *(Word("operator", name, name) for name in ("mpi-operator", "kubeflow", "volcano", "kueue", "gpu-operator",
                                                     "network-operator", "kuberay", "training-operator")),
        Word("cloud", "aws", r"aws|amazon|ec2|sagemaker|eks|parallelcluster"),
        Word("cloud", "gcp", r"gcp|google\scloud|gke"),
        Word("cloud", "azure", r"azure|aks", ""),
        Word("cloud", "oci", r"oci|oracle\scloud"),
        Word("cloud", "alibaba", r"alibaba|aliyun", "阿里云"),
        Word("cloud", "tencent", r"tencent(?:\scloud)?", "腾讯云"),
        Word("cloud", "huawei", r"huawei\scloud", "华为云"),
        *(Word("cloud", name, name) for name in ("runpod", "coreweave", r"lambda\slabs", "vast.ai")),
        Word("instance-type", "",
             r"[a-z]{1,3}\d[a-z]{0,3}(?:-[a-z]{1,2}\d{3})?\.(?:\d{1,3}xlarge|xlarge|metal)|a[23]-(?:high|mega|ultra)gpu-\d{1,2}g"
             r"|(?:standard_)?n[dcv]\d{1,3}\w{0,12}_v\d|bm\.gpu[\w.]{0,20}"),
        Word("vm", "vm", r"vms?|virtual\smachines?|guest", "虚拟机"),
        Word("vm", "proxmox", "proxmox"),
        Word("vm", "esxi", r"esxi|vmware"),
        Word("vm", "kvm", r"kvm|qemu"),
        Word("vm", "hyper-v", "hyper-v"),
        Word("passthrough", "passthrough", r"(?:gpu\s|pci\s)pass-?through|(?<!iommu\s)pass-?through|vfio", "直通"),
        Word("wsl", "wsl", r"wsl2?", "WSL2?"),
        Word("gpu-model", "", rf"(?:(?:nvidia|geforce|tesla|amd)\s){{0,2}}{_MODEL}s?(?![\d]|-(?!\d\dg|pcie|sxm)|\.\d)",
             "(?:A100|A800|H100|H800|H20|4090|3090|V100|L20|L40S?)"),
        Word("gpu-count", "",
             rf"{_COUNT}(?:\s?x)?(?=\s(?:(?:nvidia|geforce|tesla|amd)\s){{0,2}}{_MODEL}s?\b)|{_COUNT}\sgpus?(?=\s(?:each|per\s|in\s(?:each|every"
             rf"|one)))",
             "[248一两四八]\\s?张\\s?(?=[AHVL]\\d)|[248一两四八]张?卡(?=机|服务器|节点|[AHVL]\\d|\\d090)"),
        Word("host-count", "",
             r"(?:two|three|four|eight|[2-9]|\d{2,4})\s(?:nodes|hosts|machines|servers)(?=\s(?:with|of|each)|\W*$|,)",
             "(?:[2-9两三四八]|\\d{2,4})\\s?台(?=[\\w\\s]{0,12}(?:机器|服务器|节点|主机|机))"),
        Word("machine", "workstation",
             r"workstations?|desktops?|(?:gaming\s|home\s|my\s)pc|(?:mining|gpu)\srigs?|tower"),
        Word("machine", "board", r"hgx|dgx(?!\sspark)"),
        Word("machine", "spark", r"dgx\sspark|gb10"),
        Word("machine", "amd",
             r"amd\s(?:\w+\s)?(?:gpus?|cards?)|(?:gpus?|cards?)\samd|rocm(?:-smi)?|radeon|instinct|rocminfo|vega"),
        Word("machine", "ascend", r"ascend|atlas|npus?|910[abc]\d?", "昇腾"),
        Word("processor", "amd-cpu", r"epyc|threadripper|amd\s(?:cpus?|processors?)"),
        Word("processor", "arm-cpu",
             r"aarch64|arm64|neoverse|grace\s(?:cpus?|processors?)|arm\s(?:cpus?|processors?|hosts?|nodes?|servers?|machines?)"),
        Word("processor", "intel-cpu", r"xeons?|intel\s(?:cpus?|processors?)"),
        *(Word("feature", name, words) for name, words in _FEATURES.items()),
        Word("slot", "riser", r"(?:usb\s)?risers?(?:\s(?:cards?|cables?))?|mining\s(?:boards?|motherboards?)"),
        Word("slot", "narrow-slot",
             r"x[14]\s(?:pci-?e?\s)?(?:slots?|pci-?e?|lanes?)|pci-?e?\sx[14]\b|chipset\s(?:slots?|lanes?)"),
        Word("network", "infiniband", r"infiniband|ib\s(?:cluster|fabric|network|cards?|switch\w*)"),
        Word("network", "roce", r"roce(?:v[12])?"),
        Word("network", "ainic", r"(?:amd\s)?ai-?nics?|pollara\w*|pensando\s(?:nics?|pollara\w*)|ionic_\d"),
        Word("network", "gigabit",
             r"gigabit(?:\sethernet)?|1\s?gbe|1\s?g(?:bit)?(?:\sethernet|/s\sethernet)|1000\s?mbit\S*"),
        Word("network", "bond", r"mlx5_bond_\d|bond(?:ed|ing)\s(?:ports?|interfaces?|nics?)|lacp"),
        Word("network", "wireless", r"wi-?fi|wlan|wireless"),
        Word("network", "internet",
             r"(?:over|across)\sthe\sinternet|behind\s(?:a\s)?(?:nat|router)|different\sproviders|at\shome"),
        Word("networks", "several-networks",
             r"(?:two|2|several|multiple|three|different)\snetworks"
             r"|(?:two|2|several|multiple)\s(?:nics|network\s(?:cards|interfaces|adapters))(?=\s(?:each|per))"
             r"|management\s(?:and|network)|wi-?fi\sand|and\s(?:an?\s)?(?:ib|wi-?fi)\s(?:interface|network)"),
        Word("storage", "network-storage",
             r"nfs|lustre|gpfs|ceph(?:fs)?|beegfs|efs|s3|nas|(?:shared|network|parallel)\s(?:file\s?systems?|storage|dis[kc]|drive)"),
        Word("storage", "hard-disk", r"hdds?|hard\s(?:dis[kc]s?|drives?)|spinning\sdisks?"),
        Word("nvlink-bridge", "nvlink-bridge", r"nvlink\sbridges?"),
        Word("nvswitch", "nvswitch", r"nvswitch(?:es)?"),
        Word("driver-branch", "driver", r"drivers?\s(?:version\s|branch\s)?v?\d{3}(?:\.\d+){0,2}",
             r"驱动\s?(?:版本\s?)?\d{3}(?:\.\d+){0,2}"),
        Word("cuda-toolkit", "cuda", r"cuda\stoolkit:?\s(?:version:?\s)?v?\d{1,2}\.\d"),
        Word("nccl-version", "nccl", r"nccl\s(?:version\s)?v?2\.\d{1,2}(?:\.\d{1,2})?"),
        Word("framework", "pytorch", r"(?:py)?torch(?:\sv?\d+\.\d+(?:\.\d+)?)?", "pytorch"),
        *(Word("framework", name, name, name) for name in ("vllm", "deepspeed", "megatron", "jax", "tensorflow",
             "horovod", "sglang",
                                                           "tensorrt-llm", "axolotl", "paddle", "mindspore",
             "fairseq", "nemo")),
        *(Word("launcher", name, name, name) for name in ("torchrun", "mpirun", "srun", "accelerate", "horovodrun")),
        Word("container", "docker-snap",
             r"docker\s(?:(?:is|was)\s)?(?:installed\s)?(?:from|via|with|as|by|through|using)\s(?:an?\s|the\s)?snap(?:\sstore)?"
             r"|snap(?:'s)?\s(?:version\sof\s|package\sof\s)?docker|docker(?:'s)?\ssnap"),
        *(Word("container", name, name, name) for name in ("docker", "podman", "enroot", "pyxis", "lxc", "apptainer")),
        Word("container", "singularity", r"singularity(?=\s(?:image|container|exec|run))"),
        Word("orchestrator", "kubernetes", r"kubernetes|k8s|k3s|rke2|openshift|eks|gke|aks|pods?", "k8s|kubernetes"),
        Word("orchestrator", "slurm", r"slurm|sbatch|salloc", "slurm|sbatch|salloc"),
        Word("orchestrator", "pbs", r"pbs(?:pro)?"),
        Word("orchestrator", "lsf", "lsf"),
        Word("orchestrator", "nomad", "nomad"),
        Word("orchestrator", "ray", r"ray(?=\s(?:cluster|actor|worker|train)s?)"),
    )
)  # fmt: skip
_ALSO = {
    "eks": ("orchestrator", "kubernetes"),
    "gke": ("orchestrator", "kubernetes"),
    "aks": ("orchestrator", "kubernetes"),
}
_DENIED = lazy_regex(
    r"(?:\b(?:no|none|any|not|without|never|instead\sof|outside(?:\sof)?|neither|nor|than|isn't|don't|dropped"
    r"|removed)\s(?:\w+\s){0,3}|n't\s(?:\w+\s){0,3}"
    r"|\b(?:mov|migrat|upgrad|downgrad|updat|switch|chang|went)\w*\s(?:\w+\s)?from\s(?:\w+\s)?"
    r"|\bno\slonger\s(?:\w+\s){0,3}|(?:没有?|不|未)(?:使?用|在|是)?\s?)$",
    re.IGNORECASE,
)
_DENIED_BEHIND = lazy_regex(
    r"\s(?:is|are|was|were)(?:n't|\snot)\b|\s(?:available|supported|enabled|found|installed|used)\s?[:=]\s?(?:False|No|0)\b"
    r"|没有|不用",
    re.IGNORECASE,
)
OTHERS = lazy_regex(
    r"\b(?:people|others|(?:some|every|any)(?:one|body)(?:\selse)?|(?:a|my)\s(?:friend|colleague)|the\s(?:reporter"
    r"|poster|guide|readme|tutorial)|option|support(?:s"
    r"|ed)?)\b"
    r"|\b(?:was|were|ran|had)\b.*\blast\s(?:year|month|week|spring|summer|autumn|winter)\b"
    r"|\b(?:once|formerly|previously|used\sto|in\sthe\spast|years?\sago)\b.*\b(?:ran|run|was|were|had|have|use[d]?)\b"
    r"|不再|之前|以前|他们|教程|楼上",
    re.IGNORECASE,
)
"""What a sentence says of others, or of another time."""
_RELEASE = lazy_regex(r"\d+(?:\.\d+){0,3}")
_NUMBERS = {
    "pair": "2",
    "one": "1",
    "two": "2",
    "three": "3",
    "four": "4",
    "eight": "8",
    "一": "1",
    "两": "2",
    "三": "3",
    "四": "4",
    "八": "8",
}


def read(sentence: str) -> list[tuple[str, str]]:
    """Kind and value of each thing that the sentence says of the place."""
    said, asked = split_question(without_quotes(sentence))
    if asked or OTHERS.search(said):
        return []
    return list(
        dict.fromkeys(
            found
            for _, part in segments(said)
            if holds(part)
            for token in LEXER.tokens(part)
            if token.kind != "break"
            and not _DENIED.search(part[: token.start])
            and not _DENIED_BEHIND.match(part, token.end)
            for found in _values(token)
        )
    )


def _values(token: Token) -> Iterator[tuple[str, str]]:
    text = token.text.lower()
    if token.kind == "gpu-model":
        model = re.sub(r"^(?:(?:nvidia|geforce|tesla|amd)\s)+|(?<=[\da-z])s$(?<!l40s)", "", text)
        model = re.sub(r"^(?:rtx\s?)(?=a[4-6][05]00)|(?<=^rtx)(?=\d)", lambda found: " " if not found[0] else "", model)
        yield token.kind, f"rtx {model}" if re.match(r"[2-5]0[6-9]0", model) else model.replace("-", " ")
    elif token.kind == "instance-type":
        yield token.kind, text.removeprefix("standard_")
    elif token.kind in {"gpu-count", "host-count"}:
        first = re.match(r"\d+|[a-z]+|[\u3400-\u9fff]", text)
        number = _NUMBERS.get(first[0], first[0]) if first else ""
        yield token.kind, f"{number} {'gpus' if token.kind == 'gpu-count' else 'hosts'}"
    elif token.kind in {"driver-branch", "nccl-version", "cuda-toolkit"}:
        release = _RELEASE.findall(text)[0]
        yield token.kind, f"{token.value} {release.partition('.')[0] if token.value == 'driver' else release}"
    else:
        yield token.kind, token.value
        releases = _RELEASE.findall(text) if token.kind == "framework" else []
        yield from (("framework-version", f"{token.value} {release}") for release in releases)
        if text in _ALSO:
            yield _ALSO[text]
