"""Relations between read facts: each in several domains, and beside each the same facts where they fit."""

from __future__ import annotations

import pytest

from ncdiag.diagnose import look
from ncdiag.nccl.vocabulary.relations.table import relations

_HALF = "time   algbw   busbw #wrong     "
HEAD = f"#       size         count      type   redop    root     {_HALF}{_HALF}\n"
ROW = (
    "   134217728      33554432     float     sum      -1    20000 {0:>7} {1:>7}      0    20000 {0:>7} {1:>7}      0\n"
)
RESULT = "# Avg bus bandwidth    : 3.94\n#\n"
INIT = (
    "{host}:{pid}:{pid} [0] NCCL INFO ncclCommInitRank comm 0x55{pid} rank {rank} nranks {n} cudaDev {dev} "
    "nvmlDev {dev} busId {bus} commId {comm} - Init {state}\n"
)
GIDS = "$ show_gids\nDEV     PORT    INDEX   GID                                     IPv4            VER     DEV\n"
GID = "mlx5_0  1       {0}       0000:0000:0000:0000:0000:ffff:0a07:000b 10.7.0.11       v2      net1\n"
LOCAL = "mlx5_0  1       0       fe80:0000:0000:0000:e4ea:71ff:feb9:4970                 v2      net1\n"
PORT = (
    "[root@{host} ~]# ibstat\nCA 'mlx5_0'\n\tCA type: MT4129\n\tNumber of ports: 1\n"
    "\tNode GUID: 0x946dae0300b1000{guid}\n"
    "\tPort 1:\n\t\tState: {state}\n\t\tPhysical state: LinkUp\n\t\tRate: 400\n\t\tBase lid: {lid}\n\t\tSM lid: {sm}\n"
    "\t\tLink layer: {layer}\n"
)
STATUS = (
    "[root@{} ~]# ibstatus\nInfiniband device 'mlx5_0' port 1 status:\n\tdefault gid:\t {}:946d:ae03:00b1:000{}\n"
    "\tbase lid:\t 0x{}\n\tsm lid:\t\t 0x1\n\tstate:\t\t 4: ACTIVE\n\tphys state:\t 5: LinkUp\n"
    "\trate:\t\t 400 Gb/sec (4X NDR)\n\tlink_layer:\t InfiniBand\n"
)
LINKS = "$ rdma link\nlink mlx5_0/1 state ACTIVE netdev {}\nlink mlx5_1/1 state ACTIVE netdev ens1\n"


MPI = "$ mpirun -np 2 -H n1:1,n2:1 --mca btl_tcp_if_include {} hostname\n"
ADDRESS = "{}$ ip -br a\nlo     UNKNOWN  127.0.0.1/8\n{}   UP   10.1.0.4/24\n"


def using(count: int, version: str = "2.14.3") -> str:
    """The line with NCCL's devices."""
    names = " ".join(f"[{n}]mlx5_{n}:1/RoCE" for n in range(count))
    return f"NCCL version {version}+cuda12.4\nn1:41:51 [0] NCCL INFO NET/IB : Using {names}; OOB eno1:10.1.0.4<0>\n"


OWN, OTHER = "fe80:0000:0000:0000", "fec0:0000:0000:0a01"
WATCHDOG = (
    "[rank2]:[E ProcessGroupNCCL.cpp:587] [Rank 2] Watchdog caught collective operation timeout: "
    "WorkNCCL(OpType=BROADCAST, Timeout(ms)=1800000) ran for 1802157 milliseconds before timing out.\n"
)
LOOKUP = "[W724 18:22:{0} socket.cpp:200] [c10d] The hostname of the client socket cannot be retrieved. err=-3\n"
REFUSED = (
    "n1:40:51 [0] misc/socket.cc:484 NCCL WARN socketStartConnect: Connect to {0}<40815> failed : No route to host\n"
)
MISUSED = "NCCL error: invalid usage\n"
SERVED = "$ CUDA_VISIBLE_DEVICES=0,1 vllm serve m --tensor-parallel-size 2\n"
LISTED = "n1 $ nvidia-smi -L\nGPU 0: NVIDIA H100 80GB HBM3 (UUID: GPU-1)\n"
NODES = "We have 2 nodes with 8 GPUs each.\n\n"
CHANNEL = "n1:40:51 [6] NCCL INFO Channel 00 : {0} via {1}\n"
ONE_EACH = "$ mpirun -np 2 -H 10.6.0.7:1,10.6.0.8:1 python t.py\n"
OLD_CHANNEL = "n1:40:51 [0] INFO 0 -> 1 via P2P/IPC\n"
SHARED = "n1:40:40 [0] NCCL INFO Channel 00 : 0[0] -> 1[1] via SHM\n"
OLD = "NCCL version 2.4.8+cuda10.2\nn1:4:5 [0] NCCL INFO nranks 2\n"
CAPABILITY = "n1:4:5 [0] NCCL INFO Using 256 threads, Min Comp Cap 8, Trees disabled\n"
NVCC = "Cuda compilation tools, release 12.1, V12.1.105\n"
TEST = "$ mpirun -np 2 -H n1,{0} ./all_reduce_perf -g 8\n"
DEVICES = "#  Rank  0 Group  0 Pid {0:>6} on {1} device  0 [0x0f] NVIDIA A100-SXM4-40GB\n"
HELLO = "Hello world from processor n1, rank {} out of {} processors\n"
GREETS = "Hello, World! I am process {} of {} on n1.\n"
STOPPED = 'Traceback (most recent call last):\n  File "/w/t.py", line 4, in <module>\n    {}\n'
JAX = 'jax.distributed.initialize(coordinator_address="{}", num_processes=4, process_id=0)'
TORCH = 'dist.init_process_group("nccl", init_method="tcp://{}:2345", world_size=4, rank=0)'
NOT_THERE = (
    "jaxlib.xla_extension.XlaRuntimeError: DEADLINE_EXCEEDED: Barrier timed out. Barrier_id: PjRT_Client_Connect. "
    "Timed out task names:\n/job:jax_worker/replica:0/task:1\n/job:jax_worker/replica:0/task:3\n"
)
JOINED = "RuntimeError: Timed out after 1801 seconds waiting for clients. 1/4 clients joined.\n"
UNREADY = "It cannot start.\n\nnot ready endpoints:['{0}:6070', '{0}:6071']\n"
FIRST_ELSEWHERE = """\
a1 $ ip -br -4 a show eth2
eth2  UP  10.9.1.4/24
a2 $ ip -br -4 a show eth2
eth2  UP  10.9.1.5/24
a1 $ torchrun --nnodes=2 --node_rank=0 --master_addr=10.9.1.5 t.py
"""
UNMET = "DistNetworkError: The client socket has timed out after 60s while trying to connect to ({}, 12910).\n"
PADDLE = 'python3 -m paddle.distributed.launch --ips="10.6.0.7,10.6.0.8" --gpus 0,1 train.py\n'
ENDED = "`Trainer.fit` stopped: `max_epochs=3` reached.\n"
DONE = "Training completed. Do not forget to share your model on huggingface.co/models =)\n"
ALONE = (
    "[E ProcessGroupNCCL.cpp:616] [Rank {}] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=812, "
    "OpType=ALLREDUCE, NumelIn=1, NumelOut=1, Timeout(ms)=600000) ran for 600074 milliseconds before timing out.\n"
)
SAVING = "2026-03-02 10:00:13 INFO saving checkpoint to /ckpt\n"
SAVED = "2026-03-02 10:11:40 INFO {}\n"
GAVE_UP = "[E302 {}.1 ProcessGroupNCCL.cpp:616] " + ALONE.format(3).partition("] ")[2]
KILLED = "[n2:07211] Signal: Segmentation fault (11)\nexitcode : -11 (pid: 7211)\n"
QUIET = "silent-past-idle-limit"
CLOSED = "n1:40:51 [0] misc/socket.cc:76 NCCL WARN socketProgress: Connection closed by remote peer n2<51234>\n"
BROKEN = "wc->status == IBV_WC_SUCCESS. 12 vs 0. Send for slot 0: transport retry counter exceeded\n"


def init(
    rank: int, *, host: str = "n1", n: int = 2, bus: str = "1b000", comm: str = "0x77aa", state: str = "START"
) -> str:
    return INIT.format(host=host, pid=40 + rank, rank=rank, n=n, dev=rank, bus=bus, comm=comm, state=state)


def port(
    host: str = "n1", lid: int = 7, sm: int = 1, *, guid: int = 1, state: str = "Active", layer: str = "InfiniBand"
) -> str:
    return PORT.format(host=host, lid=lid, sm=sm, guid=guid, state=state, layer=layer)


def found(text: str) -> set[str]:
    view, _ = look(text)
    return {relation.what for relation in relations(view.job, view)}


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        # results against processes: summaries, device lists, communicators, the ratio of two bandwidths, one table
        (f"$ mpirun -np 2 -H n1,n2 ./all_reduce_perf -g 8\n{RESULT}{RESULT}", "alone"),
        (f"$ mpirun -np 2 -H n1,n2 ./a.out\n{init(0, n=1, comm='0x1')}{init(0, n=1, comm='0x2', host='n2')}", "alone"),
        (f"$ mpirun -np 16 -H n1:8,n2:8 ./all_reduce_perf -g 1\n{HEAD}{ROW.format('100.00', '175.00')}", "alone"),
        (f"{HEAD}{ROW.format('4.85', '8.5')}{ROW.format('4.52', '7.9')}{RESULT}{RESULT}", "alone"),
        # processes against GPUs: variables of two vendors, a container, a scheduler
        ("$ CUDA_VISIBLE_DEVICES=0,1 torchrun --nproc_per_node=4 t.py", "more-than-gpus"),
        ("$ mpirun -np 8 -x HIP_VISIBLE_DEVICES=0,1,2,3 ./all_reduce_perf -g 1", "more-than-gpus"),
        ("$ docker run --gpus 2 --rm img torchrun --nproc_per_node=8 t.py", "more-than-gpus"),
        (f"$ mpirun -np 4 ./all_reduce_perf -g 2\n{LISTED}", "more-than-gpus"),
        ("$ sbatch -N 2 -n 8 --ntasks-per-node=8 t.sh", "fewer-tasks"),
        ("#SBATCH --ntasks=1\n#SBATCH --ntasks-per-node=2\nsrun python t.py", "fewer-tasks"),
        # programs of one job
        (f"{SERVED}$ accelerate launch --num_processes 2 t.py\n{MISUSED}", "gpus-shared"),
        (f"{SERVED}$ CUDA_VISIBLE_DEVICES=1,2 vllm serve b --port 2\n{MISUSED}", "gpus-shared"),
        # places
        ("$ torchrun --nnodes=2 --node_rank=1 --nproc_per_node=8 --master_addr=%h t.py", "place-no-address"),
        ("n1: cd /w; python -m deepspeed.launcher.launch --node_rank=0 --master_addr=/etc/motd t.py", "place-is-path"),
        ("$ accelerate launch --num_machines 2 --machine_rank 1 --main_process_ip /tmp/ip t.py", "place-is-path"),
        ("n1: python -m deepspeed.launcher.launch --master_addr= --master_port=1 t.py", "place-no-address"),
        ("It hangs at once.\n\n$ mpirun -np 2 -H n1,n2 -x NCCL_DEBUG=INFO ./all_reduce_perf -g 8\n", "silent-nccl"),
        # who meets: lists of devices, hello programs under three launchers, tasks that did not come, one side of two
        (f"{DEVICES.format(41, 'n1')}{DEVICES.format(42, 'n1')}{DEVICES.format(77, 'n2')}", "alone"),
        (f"$ mpirun -np 2 -H n1,n2 ./hello\n{HELLO.format(0, 1) * 2}", "says-alone"),
        (f"$ mpiexec -n 2 python -m mpi4py.bench helloworld\n{GREETS.format(0, 1) * 2}", "says-alone"),
        ("$ srun -n 2 python t.py\n" + "initializing ddp: GLOBAL_RANK: 0, MEMBER: 1/1\n" * 2, "says-alone"),
        (STOPPED.format(JAX.format("localhost:1234")) + NOT_THERE, "others-not-started"),
        (STOPPED.format(TORCH.format("localhost")) + JOINED, "others-not-started"),
        (f"$ export MASTER_ADDR=localhost\n{JOINED}", "others-not-started"),
        (f"{UNREADY.format('10.6.0.8')}The command that I run on 10.6.0.7:\n{PADDLE}", "one-side-started"),
        (f"{UNREADY.format('10.6.0.8')}在 10.6.0.7 上执行的命令：\n{PADDLE}", "one-side-started"),
        (ENDED + ALONE.format(0), "first-waits-alone"),
        (DONE + ALONE.format(0), "first-waits-alone"),
        (f"{PADDLE}\n{PADDLE.replace('10.6.0.7,10.6.0.8', '10.6.0.8,10.6.0.7')}", "lists-differ"),
        (FIRST_ELSEWHERE, "first-is-elsewhere"),
        (f"n2$ NODE_RANK=1 python fit.py\n{UNMET.format('127.0.0.1')}", "seeks-itself"),
        # addresses
        (f"init_method=tcp://10.40.8.72:59759\n{REFUSED.format('10.40.12.78')}", "peer-elsewhere"),
        (f"$ mpirun -np 2 -H 10.40.8.72,10.40.8.73 ./a.out\n{REFUSED.format('172.30.0.4')}", "peer-elsewhere"),
        (MPI.format("ens6") + ADDRESS.format("n1", "enp9"), "mpi-interface-missing"),
        # tables and numbers
        (init(0) + init(1), "bus-id-twice"),
        (NODES + CHANNEL.format("6[6] -> 10[2]", "P2P/IPC"), "ipc-across-hosts"),
        (init(0) + init(1, host="n2", bus="2b000") + SHARED, "ipc-across-hosts"),
        # by the slots of the line, of NCCL 2.1 and later
        (ONE_EACH + OLD_CHANNEL, "ipc-across-hosts"),
        (f"$ mpirun -np 1 -H 10.6.0.7:1 python t.py\n{ONE_EACH}{OLD_CHANNEL}", "ipc-across-hosts"),
        ("$ horovodrun -np 2 -H n1:1,n2:1 t.py\n" + CHANNEL.format("0[0] -> 1[0]", "P2P/CUMEM"), "ipc-across-hosts"),
        (f"The pods hang.\n\n{GIDS}{GID.format(6)}{GID.format(7)}", "gids-start-late"),
        (f"{GIDS}{LOCAL}{GID.format(1)}$ ./bench\n{BROKEN}", "first-gid-link-local"),
        # LIDs of one port, of one port and its subnet manager, and of two hosts; subnet prefixes of two hosts
        (port(lid=0), "port-without-lid"),
        (port(lid=65535), "port-without-lid"),
        (port(sm=0), "port-without-manager"),
        (port("n1", guid=1) + port("n2", guid=2), "lid-twice"),
        (port("n1", 7) + port("n2", 8), "guid-twice"),
        (port("n1") + port("n2", state="Initializing"), "guid-twice"),
        (LINKS.format("eno1") + using(3), "onboard-listed"),
        (using(16), "list-full"),
        (using(32, "2.21.5"), "list-full"),
        (STATUS.format("n1", OWN, 1, 7) + STATUS.format("n2", OTHER, 2, 8), "subnets-apart"),
        # values
        (f"It hangs while evaluation on rank 0 takes 45 minutes.\n\n{WATCHDOG}", "longer-than-limit"),
        (f"卡住了，主进程预处理数据需要2小时。\n\n{WATCHDOG}", "longer-than-limit"),
        # told work: saving, data, a download, a compilation, an evaluation with a limit that is told, too
        (f"Saving takes about 35 minutes on our storage.\n\n{WATCHDOG}", "longer-than-limit"),
        (f"The main process downloads the model (about 40 min), the others die.\n\n{WATCHDOG}", "longer-than-limit"),
        (f"Rank 0 is prepping the data, and it takes longer than 40 minutes.\n\n{WATCHDOG}", "longer-than-limit"),
        (f"torch.compile takes half an hour on rank 0.\n\n{WATCHDOG}", "longer-than-limit"),
        (f"We evaluate on rank 0 only, which takes 2 hours.\n\n{WATCHDOG}", "longer-than-limit"),
        ("A save takes 12 minutes, and all other ranks time out after 10 minutes.", "longer-than-limit"),
        # work in logs: by its printed length, by a bar, by its beginning and end, by its beginning alone
        (SAVED.format("saved checkpoint in 687.2 s") + ALONE.format(3), "longer-than-limit"),
        (f"Running tokenizer: 100%|##| 9/9 [15:12<00:00, 1.1 examples/s]\n{ALONE.format(3)}", "longer-than-limit"),
        (SAVING + SAVED.format("checkpoint written") + GAVE_UP.format("10:10:15"), "longer-than-limit"),
        (SAVING + GAVE_UP.format("10:10:15"), "longer-than-limit"),
        # pauses against idle limits: told, by the default of a product, by a log, by the pause up to which it works
        (f"Rank 0 preprocesses for 6 minutes.\nThe VPN gateway drops idle connections after 300 s.\n\n{CLOSED}", QUIET),
        (f"The ranks pause for 10 minutes.\nThe firewall has an idle timeout of 5 min.\n\n{CLOSED}", QUIET),
        (f"The store is behind a Network Load Balancer.\n{SAVING}{SAVED.format('checkpoint written')}{CLOSED}", QUIET),
        (f"All runs on Azure, behind a NAT gateway.\nAn evaluation takes 5 minutes.\n\n{CLOSED}", QUIET),
        (f"The job works if checkpoints take less than 4 minutes.\nSaving takes 9 minutes now.\n\n{CLOSED}", QUIET),
        ("".join(map(LOOKUP.format, ("08.90", "18.92", "28.93"))), "at-resolver-interval"),
        ("".join(map(LOOKUP.format, ("08.90", "13.92", "18.93"))), "at-resolver-interval"),
        (OLD + CAPABILITY, "gpu-newer-than-cuda"),
        ("CUDA Version 10.1.243\nlibnccl-2.9.9-1+cuda11.3.x86_64\n", "library-for-other-cuda"),
        (f"{NVCC}ii  libnccl2  2.15.5-1+cuda11.8  amd64\n", "library-for-other-cuda"),
        ("Registration does not work: 90 GB works, 100 GB fails.", "starts-at-gigabytes"),
        ("It fails above 64 GiB of buffers.", "starts-at-gigabytes"),
    ],
)  # fmt: skip
def test_a_relation_is_found(text: str, kind: str) -> None:
    assert kind in found(text)


@pytest.mark.parametrize(
    "text",
    [
        f"{TEST.format('n2')}{RESULT}{TEST.format('n3')}{RESULT}",
        f"$ mpirun -np 16 -H n1:8,n2:8 ./all_reduce_perf -g 1\n{HEAD}{ROW.format('100.00', '187.50')}",
        f"{HEAD}{ROW.format('4.85', '8.5')}{RESULT}{HEAD}{ROW.format('4.52', '7.9')}{RESULT}",
        "$ CUDA_VISIBLE_DEVICES=0,1,2,3 torchrun --nproc_per_node=4 t.py",
        "$ mpirun -np 16 --hostfile hosts -x CUDA_VISIBLE_DEVICES=0,1,2,3 ./all_reduce_perf -g 1",
        "$ docker run --gpus all --rm img torchrun --nproc_per_node=8 t.py",
        "$ srun -N 1 -n 4 --ntasks-per-node=8 python t.py",
        "$ srun -N 2 -n 16 --ntasks-per-node=8 python t.py",
        "#SBATCH --ntasks=8\n#SBATCH --ntasks-per-node=4\nsrun python t.py",
        "$ srun -N 2 --ntasks-per-node=8 python t.py",
        f"{SERVED}$ CUDA_VISIBLE_DEVICES=2,3 torchrun t.py\n{MISUSED}",
        "$ torchrun --nnodes=2 --node_rank=1 --nproc_per_node=8 --master_addr=$HEAD t.py",
        "$ torchrun --nnodes=2 --node_rank=1 --nproc_per_node=8 --master_addr=<ip of node 0> t.py",
        "$ torchrun --nnodes=2 --node_rank=1 --nproc_per_node=8 --master_addr=fd00::7 t.py",
        f"It hangs.\n\n$ mpirun -np 2 -H n1,n2 -x NCCL_DEBUG=INFO ./all_reduce_perf\n{init(0)}{init(1, bus='2b000')}",
        f"{DEVICES.format(41, 'n1')}{RESULT}{DEVICES.format(42, 'n1')}{RESULT}",
        f"{DEVICES.format(41, 'n1')}{HEAD}{ROW.format('4.85', '0.00')}{DEVICES.format(42, 'n1')}",
        f"$ mpirun -np 2 -H n1,n2 ./hello\n{HELLO.format(0, 2)}{HELLO.format(1, 2)}",
        f"n2$ NODE_RANK=1 python fit.py\n[rank0]: {UNMET.format('127.0.0.1')}",
        f"n2$ ip -br -4 a\ndocker0 UP 10.9.1.5/24\n{FIRST_ELSEWHERE.replace('1.4/', '1.5/')}",
        f"$ ./hello\n{HELLO.format(0, 1)}$ ./hello\n{HELLO.format(0, 1)}",
        STOPPED.format(JAX.format("n1:1234")) + NOT_THERE,
        ENDED + ALONE.format(0) + ALONE.format(1),
        ENDED + ALONE.format(1),
        ALONE.format(0) + ENDED,
        STOPPED.format(TORCH.format("10.40.8.72")) + JOINED,
        f"{UNREADY.format('10.6.0.7')}The command that I run on 10.6.0.7:\n{PADDLE}",
        f"{UNREADY.format('10.6.0.8')}{PADDLE}",
        f"{PADDLE}\n{PADDLE}",
        f"init_method=tcp://10.40.8.72:59759\n{REFUSED.format('10.40.9.78')}",
        init(0) + init(1, host="n2"),
        init(0) + init(1, bus="2b000"),
        init(0, state="COMPLETE") + init(1, state="COMPLETE"),
        NODES + CHANNEL.format("6[6] -> 5[5]", "P2P/IPC"),
        # two ranks on each host, by the slots or by an order that the line asks for; another line with both on one
        "$ mpirun -np 4 -H n1:2,n2:2 python t.py\n" + OLD_CHANNEL,
        "$ mpirun -np 4 -H n1:2,n2:2 --map-by node python t.py\n" + CHANNEL.format("1[1] -> 2[0]", "P2P/IPC"),
        f"$ mpirun -np 2 -H 10.6.0.7:2 python t.py\n{OLD_CHANNEL}{ONE_EACH}",
        ONE_EACH + OLD_CHANNEL.replace("P2P/IPC", "NET/Socket/0"),
        "$ mpirun -np 4 -H n1:1,n2:3 python t.py\n" + CHANNEL.format("2[1] -> 3[2]", "P2P/IPC"),
        f"{GIDS}{GID.format(6)}{GID.format(7)}",
        f"{GIDS}{LOCAL}{GID.format(1)}",
        # ports of Ethernet, of no link, of a healthy host; two pods of one machine; rails of one host; one subnet
        port(lid=0, sm=0, layer="Ethernet"),
        port(lid=65535, sm=0, state="Down"),
        port(lid=0xBFFF),
        port("n1") + port("n2"),
        LINKS.format("ens0") + using(3),
        LINKS.format("eno1") + using(2),
        using(16, "2.21.5"),
        using(15),
        MPI.format("ens6,enp9") + ADDRESS.format("n1", "enp9"),
        MPI.format("10.1.0.0/24") + ADDRESS.format("n1", "enp9"),
        MPI.format("ens6") + ADDRESS.format("n7", "enp9"),
        port("n1", guid=1) + port("n2", guid=2).replace("mlx5_0", "mlx5_1"),
        port("n1", guid=1) + port("n2", sm=3, guid=2),
        port("n1", guid=1) + port("n2", lid=8, guid=2),
        STATUS.format("n1", OWN, 1, 7) + STATUS.format("n2", OWN, 2, 8),
        STATUS.format("n1", OWN, 1, 7) + STATUS.format("n1", OTHER, 2, 8).replace("mlx5_0", "mlx5_1"),
        f"It hangs while evaluation on rank 0 takes 5 minutes.\n\n{WATCHDOG}",
        f"It hangs after 45 minutes.\n\n{WATCHDOG}",
        # a limit that is longer than the pause, no connection that broke, work that a time limit explains
        f"Rank 0 preprocesses for 6 minutes.\nThe VPN gateway drops idle connections after 900 s.\n\n{CLOSED}",
        "Rank 0 preprocesses for 6 minutes.\nThe VPN gateway drops idle connections after 300 s.\n",
        f"An evaluation takes 5 minutes.\nThe store is behind a Network Load Balancer.\n\n{CLOSED}",
        f"An evaluation takes 5 minutes.\nAll runs on Azure.\n\n{CLOSED}",
        f"Rank 0 preprocesses for 6 minutes.\nThe VPN gateway drops idle connections after 300 s.\n\n{KILLED}{CLOSED}",
        f"The job works if checkpoints take less than 9 minutes.\nSaving takes 4 minutes now.\n\n{CLOSED}",
        f"We save a checkpoint every 45 minutes.\n\n{WATCHDOG}",
        f"Saving takes less than 45 minutes and works.\n\n{WATCHDOG}",
        f"It hangs for 45 minutes while saving.\n\n{WATCHDOG}",
        f"An hour ago the evaluation was fine.\n\n{WATCHDOG}",
        "The job crashes after 2 minutes, and an evaluation takes 5 minutes.",
        f"Map: 100%|##| 9/9 [00:12<00:00, 1.1 examples/s]\n{ALONE.format(3)}",
        f"Epoch 1: 100%|##| 9/9 [15:12<00:00, 1.1 it/s]\n{ALONE.format(3)}",
        SAVING + GAVE_UP.format("11:40:15") + SAVED.format("checkpoint written"),
        SAVING + "2026-03-02 10:00:20 step 12\n2026-03-02 10:00:21 step 13\n" + GAVE_UP.format("10:10:30"),
        SAVING.replace("INFO", "[rank3] INFO") + GAVE_UP.format("10:10:15"),
        "".join(map(LOOKUP.format, ("08.90", "08.92", "08.93"))),
        "CUDA Version 11.1.105\nlibnccl-2.9.9-1+cuda11.3.x86_64\n",
        "Registration does not work: 64 KB works, 128 KB fails.",
    ],
)
def test_facts_that_fit_give_none(text: str) -> None:
    assert found(text) == set()


SLOW = "Training is slow and the GPUs are idle.\n"
TRAINING = "torchrun --nproc_per_node={0} train.py --num_workers {1}\n"
QUOTED = "`python -m torch.distributed.launch \\\n--nproc_per_node=8 train.py \\\n--num_workers {0}`\n"
LSCPU = "$ lscpu\nArchitecture:          x86_64\nCPU(s):                {0}\nThread(s) per core:    2\n\n"


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (f"We have 48 CPU cores in each machine.\n{TRAINING.format(8, 24)}", True),
        (f"We use 32 cpu and 8 gpu.\n{QUOTED.format(32)}", True),
        (f"{LSCPU.format(64)}{SLOW}{TRAINING.format(8, 32)}", True),
        (f"Each node has 64 vCPUs.\nI set num_workers to 32 in the data loader.\n{TRAINING.format(8, '$N')}", True),
        (f"We have 48 CPU cores in each machine.\n{TRAINING.format(8, 4)}", False),
        (f"We have 48 CPU cores in each machine.\n{TRAINING.format(1, 24)}", False),
        (f"{SLOW}{TRAINING.format(8, 32)}", False),
        (f"Each task has 4 cpus per task.\n{TRAINING.format(8, 32)}", False),
        (f"The card has 6912 CUDA cores.\n{TRAINING.format(8, 32)}", False),
        (f"Would 32 cpus be enough?\n{TRAINING.format(8, 32)}", False),
    ],
)
def test_loader_workers_of_a_host_against_its_processors(text: str, found: bool) -> None:
    view, _ = look(f"{SLOW}\n{text}")
    assert ("loaders-over-cpus" in {each.what for each in relations(view.job, view)}) is found
