"""Pods of a manifest against the machines that they take, and proxies of a service mesh in their way."""

from __future__ import annotations

EFA = {
    "p4d.24xlarge": (4, 8), "p4de.24xlarge": (4, 8), "p5.48xlarge": (32, 8), "p5e.48xlarge": (32, 8),
    "p5en.48xlarge": (16, 8), "p6-b200.48xlarge": (8, 8),
}  # fmt: skip
"""EFA devices and GPUs of instance types (Amazon EC2 user guide, network cards)."""
