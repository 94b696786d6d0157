"""Plugins of NCCL and RCCL: whether they load, and whether they are the ones that the machine needs."""
