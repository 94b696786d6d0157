"""Huawei's HCCL: its errors, rank tables and host network."""
