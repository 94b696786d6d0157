"""What the input names is written into the commands of a fix; with several candidates, or none, the word remains."""

from __future__ import annotations

import pytest

from ncdiag.diagnose import diagnose
from ncdiag.report import model
from ncdiag.text import TextSource

XID = "[Tue Mar  3 01:58:11 2026] NVRM: Xid (PCI:0000:9a:00): 94, pid=7, name=python3, Contained: SM (0x1). RST: No"
REFUSED = "ssh: connect to host {host} port 22: Connection refused"
RENDEZVOUS = (
    "torchrun --nnodes=3 --rdzv_backend=c10d --rdzv_endpoint={host}:29411 train.py\n"
    "torch.distributed.elastic.rendezvous.api.RendezvousTimeoutError"
)
PENDING = (
    "LAST SEEN   TYPE      REASON             OBJECT          MESSAGE\n"
    "3m          Warning   FailedScheduling   pod/{host}-0    0/4 nodes are available: 4 Insufficient nvidia.com/gpu."
)
ORDINAL = "0: RuntimeError: CUDA error: invalid device ordinal\n"
LIST = "$ nvidia-smi -L\n" + "".join(
    f"GPU {n}: NVIDIA H100 80GB HBM3 (UUID: GPU-0a1b2c3d-0000-4000-8000-00000000000{n})\n" for n in range(4)
)
HELD = (
    "[rank1]: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 1 has a total capacity of "
    "79.15 GiB of which 1.02 GiB is free. Process 4171 has 60.00 GiB memory in use. Including non-PyTorch memory, this "
    "process has 18.00 GiB memory in use. Of the allocated memory 16.00 GiB is allocated by PyTorch."
)
FULL = (
    "OSError: [Errno 28] No space left on device: '/data/run/a.pt'\n$ df -h\n"
    "Filesystem      Size  Used Avail Use% Mounted on\n/dev/sda2        90G   20G   70G  23% /\n"
    "srv1:/vol/data   40T   40T     0 100% /data"
)
CHANGED = "Host key for {host} has changed and you have requested strict checking."
STARTED = (
    "srun --nodes=3 python train.py\n"
    "ValueError: Error initializing torch.distributed using env:// rendezvous: "
    "environment variable RANK expected, but not set"
)
TORCHRUN = "torchrun --nnodes=3 --nproc_per_node=<GPUs> --rdzv_backend=c10d --rdzv_endpoint=<first host>:29500 train.py"
LOGIN = "ada@{host}: Permission denied (publickey,password)."


def fix(text: str, name: str) -> model.Fix:
    report = diagnose([TextSource.of_bytes("log", f"{text}\n".encode())])
    [found] = [each for each in report.findings if each.name == name]
    return found.fixes[0]


@pytest.mark.parametrize(
    ("text", "rule", "command"),
    [
        (XID, "xid-ecc-contained", "nvidia-smi --gpu-reset -i 0000:9a:00.0"),
        (REFUSED, "launcher-ssh-unreachable", "ssh -o BatchMode=yes n4 true"),
        (RENDEZVOUS, "launcher-rendezvous-incomplete", "nc -zv n4 29411"),
        (PENDING, "scheduler-refuses", "kubectl describe pod n4-0"),
        (HELD, "cuda-out-of-memory", "kill 4171"),
        (FULL, "storage-full", "df -h /data"),
        (CHANGED, "launcher-ssh-not-passwordless", "ssh-keygen -R n4"),
        (LOGIN, "launcher-ssh-not-passwordless", "ssh-copy-id n4"),
        (STARTED, "launcher-variables-missing", TORCHRUN),
    ],
)
def test_what_the_input_names_is_in_the_command(text: str, rule: str, command: str) -> None:
    assert command in fix(text.format(host="n4"), rule).commands["shell"].splitlines()


KILLED = "Name:         {pod}\nContainers:\n  mt:\n    Last State:     Terminated\n      Reason:       OOMKilled\n"
BELOW = (
    "Switch: 0xfc6a1c0300aa0001 leaf-a:\n"
    '         14    9[  ] ==( 2X        53.125 Gbps Active/  LinkUp)==>      22    1[  ] "n2 mlx5_0" ( Could be 4X)'
)
REFUSES = "srun: error: Unable to create step for job {job}: Memory required by task is not available"


@pytest.mark.parametrize(
    ("text", "rule", "command"),
    [
        (f"$ kubectl get pods -n a1\n{KILLED.format(pod='mt-0')}", "oom-killed", "kubectl -n a1 describe pod mt-0"),
        (f"Namespace:    b2\n{KILLED.format(pod='mt-0')}", "oom-killed", "kubectl -n b2 describe pod mt-0"),
        (BELOW, "fabric-link-below-ability", "ibportstate 14 9 query"),
        (BELOW, "fabric-link-below-ability", "mlxlink -d lid-14 -p 9 -m"),
        (f"#SBATCH --partition=h100\n{REFUSES.format(job=77)}", "scheduler-refuses", "scontrol show partition h100"),
    ],
)
def test_what_commands_and_labels_of_the_input_write_is_in_the_command(text: str, rule: str, command: str) -> None:
    assert command in fix(text, rule).commands["shell"].splitlines()


@pytest.mark.parametrize(
    ("text", "rule", "command"),
    [
        (
            f"$ kubectl get pods -n a\n$ kubectl get pods -n b\n{KILLED.format(pod='mt-0')}",
            "oom-killed",
            "describe pod mt-0",
        ),
        (BELOW + BELOW[34:].replace(" 9[", "11["), "fabric-link-below-ability", "ibportstate <lid> <port> query"),
    ],
)
def test_of_two_names_none_is_written(text: str, rule: str, command: str) -> None:
    assert any(line.endswith(command) for line in fix(text, rule).commands["shell"].splitlines())


def test_a_process_of_the_job_itself_is_not_to_be_killed() -> None:
    own = "n4:4171:4180 [0] NCCL INFO Bootstrap : Using eth0:10.0.0.4<0>"
    text = f"{own}\n{HELD}\n"
    [found] = [
        f for f in diagnose([TextSource.of_bytes("log", text.encode())]).findings if f.name == "cuda-out-of-memory"
    ]
    assert not any("kill " in line for each in found.fixes for line in each.commands.values())


def test_a_host_is_no_pod_where_nothing_speaks_of_pods() -> None:
    line = "Oct  4 10:00:00 n9 kernel: Out of memory: Killed process 4171 (python3) total-vm:1kB, anon-rss:1kB"
    assert "kubectl describe pod <pod>" in fix(line, "oom-killed").commands["shell"]
    assert "kubectl describe pod n9" in fix(f"It runs in Kubernetes.\n{line}", "oom-killed").commands["shell"]


def test_of_several_hosts_none_is_taken() -> None:
    both = "\n".join(REFUSED.format(host=host) for host in ("n4", "n5"))
    assert "ssh -o BatchMode=yes <the other host> true" in fix(both, "launcher-ssh-unreachable").commands["shell"]


def test_a_hostile_name_is_not_written_into_a_command() -> None:
    [head, row] = PENDING.splitlines()
    shell = fix(f"{head}\n{row.replace('{host}', '$(reboot)')}", "scheduler-refuses").commands["shell"]
    assert "reboot" not in shell


@pytest.mark.parametrize(
    ("launched", "shown", "left_out"),
    [
        ("srun python train.py\n", "srun --ntasks-per-node=4 ...", "torchrun"),
        ("#!/bin/bash\n#SBATCH --nodes=2\nsrun python train.py\n", "srun --ntasks-per-node=4 ...", "torchrun"),
        ("mpirun -np 8 python train.py\n", "mpirun --map-by ppr:4:node ...", "srun"),
        ("torchrun --nproc_per_node=8 train.py\n", "torchrun --nproc_per_node=4 ...", "srun"),
    ],
)
def test_the_line_is_for_the_launcher_of_the_input(launched: str, shown: str, left_out: str) -> None:
    shell = fix(f"{launched}{ORDINAL}{LIST}", "launcher-rank-mapping-wrong").commands["shell"]
    assert shown in shell.splitlines()
    assert left_out not in shell


def test_the_number_of_gpus_is_taken_from_a_list_alone() -> None:
    part = "The host has this GPU, among others: NVIDIA H100 80GB HBM3"
    shell = fix(f"srun python train.py\n{ORDINAL}{part}", "launcher-rank-mapping-wrong").commands["shell"]
    assert "srun --ntasks-per-node=<GPUs of the host> ..." in shell


def test_a_kill_in_a_pod_is_not_answered_with_a_line_for_slurm() -> None:
    killed = (
        "oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),cpuset=cri-containerd-5a.scope,mems_allowed=0,"
        "oom_memcg=/kubepods.slice/kubepods-burstable.slice,task=python3,pid=4171,uid=0"
    )
    shell = fix(killed, "oom-killed").commands["shell"]
    assert "kubectl" in shell
    assert "sbatch" not in shell


def test_the_only_host_of_a_finding_is_the_scope_of_its_fix() -> None:
    line = "Oct  4 10:00:00 n9 kernel: Out of memory: Killed process 4171 (python3) total-vm:1kB, anon-rss:1kB"
    assert fix(line, "oom-killed").scope == "host n9"
    assert fix(line.partition("kernel: ")[2], "oom-killed").scope == "the host concerned"
