"""One simulation a module: interfaces, GID indices, RDMA devices, GPUDirect RDMA."""
