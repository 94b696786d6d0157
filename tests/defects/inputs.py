"""An input for each entry of the tables of defects: its release, condition, signature, and complaint in words.

The lines are written by hand for each kind of condition; which of them an input needs follows from the entry.
"""

from __future__ import annotations

from collections.abc import Iterator

from ncdiag.facts.scalars import Version
from ncdiag.nccl.defects.entries import FRAMEWORKS, Condition, Defect

COMPLAINTS = {
    "hangs": "The job hangs.", "crashes": "Every run crashes with a segmentation fault.",
    "wrong-results": "The results are wrong.", "slow": "Training is slow.", "fails": "The job fails with an error.",
    "fails-at-init": "It fails during initialization.", "memory-grows": "It leaks memory with every step.",
    "not-used": "SHARP is not used.",
}  # fmt: skip
GPUS = {
    "volta": "Tesla V100-SXM2-32GB", "turing": "Tesla T4", "ampere": "NVIDIA A100-SXM4-80GB", "ada": "NVIDIA L40S",
    "hopper": "NVIDIA H100 80GB HBM3", "blackwell": "NVIDIA B200", "grace-blackwell": "NVIDIA GB200",
    "workstation-blackwell": "NVIDIA GeForce RTX 5090",
    "grace": "NVIDIA GH200 480GB", "cubemesh": "Tesla V100-SXM2-32GB",
    "amd-cdna": "AMD Instinct MI300X", "mi300": "AMD Instinct MI300X", "mi350": "AMD Instinct MI350X",
    "mi200": "AMD Instinct MI250X", "rdna4": "AMD Radeon AI PRO R9700", "geforce-ada": "NVIDIA GeForce RTX 4090",
    "spark": "NVIDIA GB10", "b100": "NVIDIA B100 PCIe", "b40": "NVIDIA B40", "h800": "NVIDIA H800",
}  # fmt: skip
OTHER_GPU = "NVIDIA RTX A6000"
"""A GPU of none of these families."""
CPUS = {"arm": "The hosts have aarch64 processors.", "amd": "The hosts have AMD EPYC processors."}
USES = {
    "cuda-graphs": "We use CUDA graphs.", "comm-split": "We call ncclCommSplit.",
    "split-share": "The config has splitShare=1.", "comm-shrink": "We call ncclCommShrink.",
    "comm-abort": "We call ncclCommAbort.", "comm-destroy": "We call ncclCommDestroy.",
    "nonblocking": "We use non-blocking communicators.", "symmetric-memory": "We use symmetric memory.",
    "user-buffers": "We use registered buffers.", "copy-engine": "We use copy engine collectives.",
    "gin": "We use NCCL GIN.", "gdaki": "We use GDAKI.", "ras-client": "We run ncclras every minute.",
    "profiler": "We use a profiler plugin.", "tuner": "We use a tuner plugin.",
    "alltoall": "We use all-to-all.", "send-recv": "We use pipeline parallelism.", "collnet": "We use CollNet.",
    "nvls": "We use NVLS.", "mnnvl": "We use MNNVL.", "pxn": "We use PXN.",
    "gpus-per-process": "We use ncclCommInitAll.", "nic-fusion": "We use NIC fusion.", "fp8": "We reduce fp8.",
    "bfloat16": "We reduce bfloat16.", "average": "We use ncclAvg.", "unload": "The program uses dlclose.",
    "dmabuf": "We use DMA-BUF.", "many-communicators": "There are 52 communicators.",
    "shared-gpu": "We run several ranks on one GPU.", "checkpoint-restore": "We use cuda-checkpoint.",
    "device-id": "We pass device_id.", "deepep": "We use DeepEP.",
    "bond": "The cards have bonded ports.", "ainic": "The cards are AMD Pollara NICs.",
    "one-sided": "We call ncclPutSignal.", "sequence-parallel": "We use sequence parallelism.",
    "tensor-parallel": "We use tensor parallelism.", "tutel": "We use Tutel.",
    "all-reduce-fetch": "The config has stage3_use_all_reduce_for_fetch_params.",
    "decoupled-checkpoint": "We use decoupled checkpoints.", "nvme-offload": "We use NVMe offload.",
    "leaf-modules": "We use z3_leaf_modules.", "tensorflow-2-4": "We use TensorFlow 2.4.",
    "rich-progress": "We use RichProgressBar.", "torchelastic": "We use torchelastic.",
    "sigterm": "The scheduler sends SIGTERM.", "dtensor": "We use DTensor.",
    "sync-module-states": "We pass sync_module_states.", "full-state-dict": "We save a full_state_dict.",
    "sharded-optimizer": "We call load_sharded_optimizer_state_dict.", "mpi-backend": "We use the MPI backend.",
}  # fmt: skip
CUMEM = "n1:40:40 [0] NCCL INFO NCCL_CUMEM_ENABLE set by environment to 1."
VALUES = {"set": "n1:5", "*/*": "/opt/libnccl-net.so", "*,*": "one,two", "LOC|0": "LOC", "*TUNING*|*ALL*": "TUNING"}
SIZES = {">=80": (96, 24), ">=256": (256, 32), "==2": (2, 1), "==1": (1, 1)}
"""Ranks and hosts of a job with such a number of ranks."""
EVENTS = {
    "torch-watchdog-timeout": "[rank0]:[E ProcessGroupNCCL.cpp:563] [Rank 0] Watchdog caught collective operation "
    "timeout: WorkNCCL(SeqNum=7, OpType=ALLREDUCE, NumelIn=1, NumelOut=1, Timeout(ms)=600000) ran for 600042 "
    "milliseconds before timing out.",
    "failover-state-broken": "n1:40:50 [0] p2p_resiliency.cc:9 NCCL WARN NET/IB: Attempting to repost an unused "
    "request (id=17).",
    "ipc-socket-failed": "n1:40:50 [0] misc/ipcsocket.cc:57 NCCL WARN UDS: Binding to socket "
    "/tmp/nccl-socket-0-6ba1fce3 failed : Address already in use (98)",
    "topology-first-card-missing": "n1:40:50 [0] graph/topo.h:9 NCCL WARN Could not find NET with id 0",
    "xml-limit-exceeded": "n1:40:50 [0] graph/xml.h:9 NCCL WARN Error : too many XML nodes (max 256)",
    "nvls-refuses-shared-gpu": "n1:40:50 [0] init.cc:9 NCCL WARN Multiple ranks detected using the same GPU on this "
    'node and NCCL_NVLS_ENABLE has been set to "1". At this time multiple ranks per gpu is incompatible with NVLS.',
    "ofi-topology-failed": "n1:40:50 [0] nccl_ofi_topo.cpp:9 NCCL WARN NET/OFI Failed to group NICs",
    "deepep-timeout": "[rank12]: RuntimeError: DeepEP error: timeout (dispatch CPU)",
    "ofi-tuner-refused": "n1:40:50 [0] nccl_ofi_tuner_init_v1:9 NCCL WARN NET/OFI The tuner plugin can not be loaded "
    "when explicitly choosing an algorithm or protocol with NCCL_ALGO/NCCL_PROTO",
    "ofi-init-failed": "n1:40:50 [0] NCCL INFO NET/OFI aws-ofi-nccl initialization failed",
}
"""A line of each message that is the first of a signature."""
DRIVER = """[root@n1 ~]# nvidia-smi -q
==============NVSMI LOG==============

Timestamp                                 : Mon Mar  4 10:00:00 2024
Driver Version                            : {release}
CUDA Version                              : 12.2

Attached GPUs                             : 2
GPU 00000000:0F:00.0
    Product Name                          : {gpu}
GPU 00000000:2D:00.0
    Product Name                          : {gpu}
"""
XID = """[root@n1 ~]# dmesg
[ 4711.123456] NVRM: Xid (PCI:0000:0f:00): {xid}, pid=1234, name=python, Timeout waiting for RPC from GSP!
"""
REFUSED = """[root@n1 ~]# nvidia-smi topo -p2p r
 \tGPU0\tGPU1
 GPU0\tX\tNS
 GPU1\tNS\tX

Legend:

  X    = Self
  OK   = Status Ok
  NS   = Not supported
"""
WRONG_COPIES = "Values are all zeros after I move a tensor to the second of my two GPUs.\n"
STACK = """Thread 1 (Thread 0x7f0000000001 (LWP 40)):
{frames}
#9  0x00007f63aca44e65 in start_thread () from /usr/lib64/libpthread.so.0
"""
FRAME = "#{number}  0x00007f63abd2f727 in {function} () from /usr/lib/libnccl.so.2"


def _gpu(host: str, model: str) -> str:
    return f"\n[root@{host} ~]# nvidia-smi -L\nGPU 0: {model} (UUID: GPU-6f2e8a4c-0c1d-4b7e-9a51-3d2f1e0b9c8a)\n"


MIXED = {
    "gpus": (_gpu("n1", GPUS["ampere"]), _gpu("n2", GPUS["hopper"])),
    "cpus": tuple(
        f"[root@{host} ~]# uname -a\nLinux {host} 5.15.0 #1 SMP {arch} {arch} {arch} GNU/Linux\n"
        for host, arch in (("n1", "x86_64"), ("n2", "aarch64"))
    ),
    "layers": ("n1:40:40 [0] NCCL INFO NET/IB : Using [0]mlx5_0:1/IB [1]mlx5_1:1/RoCE [RO]; OOB eth0:10.0.0.1<0>",),
}
STEPS = ("step 1 loss 2.31", "step 2 loss 2.28", "step 3 loss 2.25", "Training finished successfully")


def text_of(defect: Defect, release: str, *, meets: bool = True, complaint: str = "") -> str:
    """A report of a job on this release; with ``meets``, it also meets the condition and shows the signature.

    ``complaint`` is what goes wrong in place of what the entry causes.
    """
    said = _said(defect.when) if meets else ()
    parts = [" ".join((COMPLAINTS[complaint or defect.complaint], *said)), "", *_release(defect, release, meets=meets)]
    if meets:
        parts += [*_condition(defect.when, defect.product), *_signature(defect)]
    return "\n".join(parts) + "\n"


def healthy(defect: Defect) -> str:
    """A log of a job with the release and the condition of the entry that makes steps until its end."""
    parts = [" ".join(_said(defect.when)), "", *_release(defect, defect.since, meets=True)]
    return "\n".join([*parts, *_condition(defect.when, defect.product), *STEPS]) + "\n"


def outside(defect: Defect) -> str:
    """A release that does not have the defect: the one with the fix, else one before the first with the defect."""
    if defect.high is not None:
        return defect.fixed
    low = defect.low
    assert low is not None
    return str(Version(low.major, low.minor - 1, 3))


def _release(defect: Defect, release: str, *, meets: bool) -> Iterator[str]:
    if defect.product == "driver":
        families = defect.when.gpus
        yield DRIVER.format(release=release, gpu=GPUS[families[0]] if families and meets else OTHER_GPU)
    elif defect.product == "pytorch":
        yield f"- PyTorch version: {release}+cu126"
    elif defect.product in FRAMEWORKS:
        yield "torch==2.6.0+cu126\nnvidia-nvtx-cu12==12.6.77\nnvidia-cublas-cu12==12.6.4.1"
        yield f"{defect.product}=={release}"
    elif defect.product == "aws-ofi-nccl":
        yield f"n1:40:40 [0] NCCL INFO NET/OFI Initializing aws-ofi-nccl {release}"
    elif defect.product == "libfabric":
        yield f"n1:40:40 [0] NCCL INFO NET/OFI Using Libfabric version {release.rpartition('.')[0]}"
    elif defect.product == "nvshmem":
        yield f"nvidia-nvshmem-cu12=={release}"
    elif defect.product == "rocm":
        yield f"ROCm version : {release}.0-20-9428210"
    elif defect.product == "rccl":
        yield f"n1:40:40 [0] NCCL INFO RCCL version {release}+hip6.4 HEAD:0d2c4fd"
        yield f"RCCL version : {release}-HEAD:0d2c4fd"
    else:
        whole = release if release.count(".") > 1 else f"{release}.5"
        yield f"n1:40:40 [0] NCCL INFO NCCL version {whole}+cuda12.2"


def _condition(when: Condition, product: str) -> Iterator[str]:
    yield from _size(when)
    if when.gpus and product != "driver":
        yield _gpu("n1", GPUS[when.gpus[0]])
    yield from MIXED.get(when.mixed, ())
    if when.layer or when.rdma_ports:
        listed = " ".join(f"[{n}]mlx5_{n}:1/RoCE" for n in range(40 if when.rdma_ports else 1))
        yield f"n1:40:40 [0] NCCL INFO NET/IB : Using {listed} [RO]; OOB eth0:10.0.0.1<0>"
    yield from (f"n1:40:50 [0] NCCL INFO Channel 00/0 : 0[0] -> 1[1] via {name}" for name in when.transports)
    if when.provider:
        yield f"n1:40:40 [0] NCCL INFO NET/OFI Selected Provider is {when.provider}"
    if "cumem" in when.uses:
        yield CUMEM
    yield from (f"\nexport {name}={_value(wanted)}" for name, wanted in when.variables.items())


def _size(when: Condition) -> Iterator[str]:
    ranks, hosts = SIZES.get(when.ranks, {">=2": (2, 2), ">32": (40, 40)}.get(when.hosts, (2, 1)))
    if when.ranks or when.hosts:
        comm = "n1:40:50 [0] NCCL INFO comm 0x5581 rank 0"
        yield f"{comm} nRanks {ranks} nNodes {hosts} localRanks 1 localRank 0 MNNVL 0"
        yield f"{comm} nranks {ranks} cudaDev 0 nvmlDev 0 busId f000 commId 0x51a1 - Init COMPLETE"
    if when.ranks_a_host == "uneven":
        yield "$ mpirun -np 15 -H n1:7,n2:8 ./train"


def _said(when: Condition) -> Iterator[str]:
    """What a person says of the job."""
    yield from (USES[name] for name in when.uses if name != "cumem")
    yield from (CPUS[name] for name in when.cpus)
    if when.container:
        yield "It runs in a docker container."
    if when.links_down:
        yield "One NVLink is down."


def _value(wanted: str) -> str:
    return VALUES.get(wanted, wanted.lstrip("=>"))


def _signature(defect: Defect) -> Iterator[str]:
    shows = defect.shows
    if shows.events:
        yield EVENTS[shows.events[0]]
    elif shows.frames:
        functions = shows.frames[0].replace("\\w*", "X").split(" < ")
        frames = [FRAME.format(number=number, function=function) for number, function in enumerate(functions)]
        yield STACK.format(frames="\n".join(frames))
    if shows.xid is not None:
        yield XID.format(xid=shows.xid)
    if shows.peers_refused:
        yield REFUSED
    if shows.peers_wrong:
        yield WRONG_COPIES
