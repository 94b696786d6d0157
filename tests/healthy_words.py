"""Words and lines of healthy logs that hold no secret and name nobody: they stay as they are."""

from __future__ import annotations

import random
from collections.abc import Iterator

from ncdiag.nccl.environment import table

LINES = """\
max_tokens=4096
num_tokens: 123456
tokens per second: 1234.5
tokens/s 881.2
pad_token_id: 0
eos_token: </s>
bos_token='<s>'
special tokens have been added
tokenizer: GPT2BPETokenizer
ssh -o StrictHostKeyChecking=accept-new -o HostKeyAlgorithms=ssh-rsa n1
--tokenizer-type GPT2BPETokenizer
--vocab-size 50257
AutoTokenizer.from_pretrained
KeyError: 'model.layers.0'
KeyboardInterrupt
Missing key(s) in state_dict: "module.head.weight"
num_key_value_heads=8
attn.key.weight torch.Size([4096, 4096])
query_key_value.bias
key_padding_mask=None
sort_keys=True
primary_key: id
cache_key: step_1000
forward pass: 12.3 ms
backward pass 8.1 ms
pass 1 of 3
PASS
passed: 10, failed: 0
bypass=1
passthrough mode
compass
monkeypatch
Permission denied (publickey,password).
Host key verification failed.
password authentication failed for user
The password is required
password is incorrect
the token is invalid
the token is expired
the key is missing
secret is mounted
secretName: nccl-certs
secretKeyRef:
imagePullSecrets:
serviceAccountName: trainer
password_file: /etc/x
PWD=/workspace/run
OLDPWD=/workspace
SSH_AUTH_SOCK=/tmp/ssh-a/agent.1
pin_memory=True
pin_memory: false
loss scale: 1.0
key for value worker_0
store_based_barrier_key:1
Waiting in store based barrier to initialize process group for rank: 2, key: store_based_barrier_key:2 (world_size=8)
TCPStore key init_
rkey 0x1a2b lkey 0x1c00
NCCL_IB_PKEY=0x8001
FI_EFA_USE_DEVICE_RDMA=1
FI_MR_KEY_SIZE=8
CUDA_VISIBLE_DEVICES=0,1,2,3
LD_LIBRARY_PATH=/usr/local/cuda/lib64:/opt/amazon/efa/lib
author: somebody
authentication: none
AuthType: munge
AuthType=auth/munge
CredType=cred/munge
session started
cookie_jar is empty
mlx5_0 mlx5_bond_0 bond0.100 veth5a3f@if12 ib0 eth0 docker0 GPU0
0000:3b:00.0 0000:af:00.1 00000000:17:00.0
comm 0x55d0a1b2c3d4 rank 0 nranks 16 cudaDev 0 nvmlDev 0 busId 17000 commId 0x7e1f0c42a1b2c3d4 - Init COMPLETE
commHash 1234567890123456
/opt/venv/lib/python3.11/site-packages/torch/distributed/distributed_c10d.py
/usr/lib/x86_64-linux-gnu/libnccl.so.2.21.5
/usr/local/cuda-12.4/targets/x86_64-linux/lib/libcudart.so.12.4.127
libcudnn.so.8.9.2.26
nvidia-nccl-cu12==2.21.5
torch==2.4.0+cu124
NCCL version 2.21.5+cuda12.4
ncclDevKernel_AllReduce_Sum_f32_RING_LL
void cutlass::Kernel2<cutlass_80_tensorop_s16816gemm_f16_256x128_32x3_nn_align8>
_ZN4c10d16ProcessGroupNCCL8WorkNCCL15checkTimeoutE
sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x64
std::vector c10::Error
NVIDIA H100 80GB HBM3
A100-SXM4-40GB
ConnectX-7 MT2910
sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08
nvcr.io/nvidia/pytorch:24.01-py3
nvidia.com/gpu: 8
kubernetes.io/hostname
rdma/hca_shared_devices_a: 1
mpirun -np 16 --bind-to none -mca pml ob1 -mca btl ^openib ./all_reduce_perf -b 8 -e 8G -f 2 -g 1
torchrun --nnodes=2 --nproc_per_node=8 --rdzv_backend=c10d --rdzv_id=100 train.py
srun --ntasks-per-node=8 --gpus-per-node=8 --export=ALL --mpi=pmix python train.py
docker run --gpus all --ipc=host --ulimit memlock=-1 --shm-size=64g -p 8888:8888 image
python train.py --lr 1e-4 --global-batch-size 512 --seq-length 4096 -p 4
git checkout -b fix/nccl-timeout
mysql: command not found
2026-03-02 05:30:08,786 INFO step 19808
[2026-03-02 05:30:08] iteration 19808/ 500000 | lm loss: 1.941240E+00 | grad norm: 0.034 |
"""
WORDS = """\
auto none all Ring Tree CollNet NVLS LL LL128 Simple INFO WARN TRACE VERSION ABORT SYS PHB PXB PIX NODE NV18 IB RoCE
Socket P2P SHM GDRDMA CUMEM DMABUF PCI/IPC NET/IB/0/GDRDMA NET/Socket/1 send recv rank nranks busId cudaDev channel
allreduce allgather reducescatter broadcast barrier watchdog heartbeat timeout checkpoint iteration epoch loss grad
norm tokenizer tokens keyboard keypoint keynote monkey donkey turkey hockey passage passive passenger compassion
secretary accredited credible incredible author authority authentic cookiecutter pinned pinning spinning saltwater
"""


def healthy() -> Iterator[str]:
    """More than 2,000 of them: settings of NCCL with values, hashes, numbers of communicators, addresses of devices."""
    chance = random.Random(3)
    yield from LINES.splitlines()
    yield from WORDS.split()
    for name in sorted(name for name in table().variables if not name.endswith(("ADDR", "HOSTID"))):
        yield f"{name}={chance.choice(('0', '1', '22', 'mlx5_0:1', '=eth0', 'INFO', '0x8001', '/etc/nccl/topo.xml'))}"
        yield f"export {name}={chance.choice(('0', '5', '^docker,lo', 'Ring', 'LL128', '1048576'))}"
        yield f"NCCL INFO {name} set by environment to {chance.randrange(9)}."
    for _ in range(400):
        yield f"{chance.getrandbits(160):040x}"
        yield f"commit {chance.getrandbits(160):040x}"
        yield f"commId 0x{chance.getrandbits(64):016x}"
        yield f"0000:{chance.randrange(256):02x}:{chance.randrange(32):02x}.{chance.randrange(8)}"
