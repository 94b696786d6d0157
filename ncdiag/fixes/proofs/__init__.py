"""One simulation per module: interfaces, GID indices, RDMA devices, GPUDirect RDMA."""
