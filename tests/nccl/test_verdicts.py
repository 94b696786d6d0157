"""The verdicts of Meta's analyzer of hangs are explained, and what this tool can give is found under their names."""

from __future__ import annotations

from ncdiag.nccl import terms

VERDICTS = (
    "JOB_STUCK_OUTSIDE_NCCL", "JOB_STUCK_IN_NCCL_INITIALIZATION", "JOB_STUCK_IN_NCCL_WITH_INACTIVE_RANKS",
    "JOB_STUCK_IN_NCCL_RANK_NOT_JOIN", "JOB_CONTAINS_COLL_DEADLOCK", "JOB_CONTAINS_COLL_METADATA_MISMATCH",
    "NETWORK_PERF_SLOWNESS", "CHECKSUM_MISMATCH", "IB_COMPLETION_ERROR", "CUDA_NVLINK_UNCORRECTABLE_ERROR",
    "JOB_PODS_UNREACHABLE", "JOB_RANK_PROCESS_DEAD", "JOB_COMM_DUMP_MISSING",
)  # fmt: skip
"""comms/analyzer/if/NCCLAnalyzerVerdict.thrift of meta-pytorch/torchcomms, without those that name no fault."""


def test_every_verdict_has_one_meaning() -> None:
    found = {name: [term.meaning for term in terms.named(name)] for name in VERDICTS}
    assert {name: len(meanings) for name, meanings in found.items() if len(meanings) != 1} == {}
