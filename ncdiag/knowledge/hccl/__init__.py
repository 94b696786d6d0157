"""Huawei's HCCL: its errors, rank tables and host network, and the way to the NPUs."""
