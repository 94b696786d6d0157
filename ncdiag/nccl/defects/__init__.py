"""Known defects of releases: of NCCL, RCCL, network plugins, libfabric, PyTorch and the NVIDIA driver.

The tables are the TOML files beside this module, one per product; the head of ``nccl.toml`` explains the keys. `table`
reads them, and `entries` has their types.
"""
