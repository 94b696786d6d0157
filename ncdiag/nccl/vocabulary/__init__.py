"""Derived facts that several areas of rules share and that depend on how NCCL chooses."""
