"""Platforms that rules presume, and the words that show them in an input.

A rule presumes a platform by a word of its name (``cloud-aws-few-nics``) or by its area.
"""

from __future__ import annotations

from collections.abc import Iterator

from ncdiag.engine.schema import Rule

PLATFORMS = {
    "AWS": r".*aws.*|amazon.*|ec2|.*efa.*|p[3-6](?:d|dn|de|en)?|g[456]n?|eks|sagemaker.*|.*libfabric.*|.*ofi|trn\d.*",
    "Azure": r".*azure.*|az.*hpc.*|hpcx?|n[cdv]\w*v\d|mlx5_an\d|aznhc.*|microsoft",
    "Google Cloud": r".*gcp.*|google.*|gke.*|.*tcpxo?.*|fastrak.*|a[234]|gvnic|gib",
    "GPUs of AMD": r".*amd.*|.*rocm.*|.*rccl.*|hip.*|mi\d{2,3}\w?|radeon|gfx\d.*|xgmi|instinct|hsa.*"
    r"|(?:\d{4})?xtx?|rx\d{4}\w*|w[67][5-9]00x?|kfd|rocr|miopen\w*|renderd\d+",
    "NPUs": r".*hccl.*|.*npu.*|ascend.*|cann|hccn.*|\u6607|910\w?|davinci\w*|dcmi\w*|acl(?:rt|nn|op)\w*",
    "Kubernetes": r".*k8s.*|.*kube.*|pods?|eks|gke|aks|helm|openshift|svc|cluster_local|namespaces?|operator"
    r"|deployments?|containers?|docker.*|\u5bb9|statefulsets?|daemonsets?|configmaps?|multus|kueue|volcano|networkpolic(?:y|ies)"
    r"|crictl|containerd|jobsets?|pytorchjobs?|mpijobs?|trainjobs?|ray(?:jobs?|clusters?)|leaderworkersets?|istio.*|linkerd.*"
    r"|(?:crashloop|imagepull)backoff|oomkilled",
    "Slurm": r".*slurm.*|srun|sbatch|salloc|pyxis|enroot|gres|squeue|sinfo|scontrol|sacct|scancel|munged?"
    r"|(?:task)?(?:prolog|epilog)",
    "ssh": r"ssh.*|mpirun|mpiexec.*|.*horovod.*|orted?|prted?|deepspeed|pdsh|.*hostfile|plm.*"
    r"|rsh|passwords?|publickey|authorized_keys|known_hosts|id_(?:rsa|ed25519)|.*mpi.*worker.*",
    "WSL": r"wsl.*|microsoft|windows",
    "Windows": r"windows.*|win\d+|.*libuv.*|msmpi",
    "MPI": r".*mpi.*|orte\w*|prte\w*|.*pmix.*|srun|.*horovod.*|ucx.*|hcoll.*|btl.*",
    "RDMA": r".*rdma.*|roce.*|infiniband|ib|ib_.*|ib[a-z]*\d.*|.*ibv.*|ibstat.*|mlx.*|.*hca.*|.*gdr.*|gpudirect.*"
    r"|.*efa.*|.*libfabric.*|.*ofi.*|ucx.*|connectx.*|cx\d.*|bluefield.*|hsn.*|bnxt.*|mellanox|slingshot|.*verbs.*|qps?|qp_.*"
    r"|pkeys?|p_key.*|.*gids?|gid_.*|subnet|opensm|nics?|.*sharp.*|broadcom|.*peer_?mem.*|rails?|.*nvshmem.*|deepep.*|switch.*"
    r"|.*ofed.*|nccl_ib.*|ibext.*|lids?|qsfp\w*|\u7f51"
    r"|ib(?:ping|netdiscover|linkinfo|queryerrors|diagnet|hosts|switches|tracert)|perfquery|saquery|sminfo|perftest|rping"
    r"|[hnefxq]dr(?:\d{3})?|pfc|mlnx.*|dcqcn|ecn|cnps?|dscp|lossless|lossy|irdma.*|hw_counters|leafs?"
    r"|spines?|uplinks?|osfp\w*|(?:node_?|port_?)?guids?",
}
"""For each platform the pattern of a whole word, in lower case; any such word shows it, whatever else it says."""
_BY_WORD = {
    "aws": "AWS", "azure": "Azure", "gcp": "Google Cloud", "rccl": "GPUs of AMD", "amdgpu": "GPUs of AMD",
    "hccl": "NPUs", "k8s": "Kubernetes", "slurm": "Slurm", "ssh": "ssh", "wsl": "WSL", "windows": "Windows",
    "mpi": "MPI",
}  # fmt: skip
_BY_AREA = {"ib": "RDMA", "roce": "RDMA"}
_LACKS = frozenset({"without", "no"})
"""Words of a name before the word of a platform that the job should have."""


def needed(rule: Rule) -> Iterator[str]:
    """The platforms without which the rule cannot be the cause."""
    words = rule.name.split("-")
    for before, word in zip(["", *words], words, strict=False):
        if word in _BY_WORD and before not in _LACKS:
            yield _BY_WORD[word]
    if rule.area in _BY_AREA:
        yield _BY_AREA[rule.area]


CAPABILITIES = {"nvlink": "NVLink", "nvls": "NVLink SHARP", "mig": "MIG", "gdr": "GPUDirect RDMA", "xgmi": "xGMI"}
"""What a GPU can do, by the word in names of rules (`ncdiag.base.capabilities`)."""
_BY_NAME = frozenset({"nvls", "mig", "xgmi"})
_IS_LACK = frozenset({"unsupported", "unavailable", "supported", "needed"})
"""Words of names of rules about what a GPU cannot do."""

_BETWEEN_GPUS = "p2p-"
"""How names of rules about copies between GPUs begin, which ACS and the IOMMU redirect without GPUDirect RDMA."""


def capabilities_needed(rule: Rule) -> Iterator[str]:
    """What the GPUs must be able to do, by its name and its area, for the rule to be the cause."""
    words = frozenset(rule.name.split("-"))
    if words & _IS_LACK:
        return
    alone = not any(name.startswith(_BETWEEN_GPUS) for name in rule.explains)
    yield from (what for what in CAPABILITIES if (what == rule.area and alone) or what in words & _BY_NAME)
