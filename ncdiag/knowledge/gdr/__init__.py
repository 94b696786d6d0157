"""GPUDirect RDMA and GDRCopy."""
