"""The options of launchers that matter to NCCL: the field of a Launch that each sets, and the words it takes.

Sources: Open MPI 3 to 5 mpirun(1), MPICH hydra mpiexec -help, Horovod horovod/runner/launch.py, PyTorch
torch/distributed/run.py, Slurm srun(1), DeepSpeed launcher/runner.py, Hugging Face accelerate commands/launch.py,
PaddlePaddle distributed/launch/context/args_envs.py, MindSpore parallel/cluster/run.py, Docker ``docker run``
reference. Dashes are not distinguished: pastes turn ``--mca`` into ``-mca`` or a typographic dash.
"""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from ncdiag.base.patterns import lazy_regex


class Launcher(msgspec.Struct, frozen=True):
    """The syntax of a launcher: ``options`` map a name to a field, ``flags`` take no value, ``values`` one."""

    options: Mapping[str, str]
    flags: frozenset[str] = frozenset()
    values: frozenset[str] = frozenset()
    sets: Mapping[str, str] = {}
    """The variable that an option sets on all ranks: ``A`` to its value, ``A=1`` to 1, ``A*MiB`` from MiB to bytes."""
    value_by_default: bool = False
    """True if an unknown option takes a value (``docker run``); otherwise this depends on the next word."""


def _set(text: str) -> frozenset[str]:
    return frozenset(text.split())


_MPI = Launcher(
    options={
        "np": "np", "n": "np", "c": "np", "H": "hosts", "host": "hosts", "hosts": "hosts", "x": "x", "mca": "mca",
        "gmca": "mca",
        "prtemca": "mca", "pmixmca": "mca", "N": "nproc_per_node", "npernode": "nproc_per_node",
        "ppn": "nproc_per_node",
        "perhost": "nproc_per_node", "env": "env_pair", "genv": "env_pair", "envlist": "forward_list",
        "genvlist": "forward_list",
        "hostfile": "hostfile", "machinefile": "hostfile", "default-hostfile": "hostfile", "f": "hostfile",
        "map-by": "map_by", "wdir": "workdir", "wd": "workdir", "launcher": "agent", "bootstrap": "agent",
    },
    flags=_set(
        "allow-run-as-root oversubscribe nooversubscribe report-bindings tag-output display-map display-allocation v "
        "verbose q "
        "quiet nolocal novm bynode bycore byslot bind-to-core bind-to-socket bind-to-none use-hwthread-cpus "
        "merge-stderr-to-stdout "
        "timestamp-output enable-recovery genvall envall envnone genvnone display-topo do-not-launch xterm noprefix mxm"
    ),
    values=_set(
        "bind-to rank-by cd path prefix output-filename stdin app am tune rf rankfile display timeout "
        "pernode tmpdir tv "
        "iface rmk cpu-set launch-agent plm output report-uri personality"
    ),
)  # fmt: skip
_HOROVOD = Launcher(
    options={
        "np": "np", "num-proc": "np", "H": "hosts", "hosts": "hosts", "hostfile": "hostfile", "mpi-args": "mpi_args",
        "network-interface": "network", "network-interfaces": "network", "nics": "network",
        "p": "ssh_port", "ssh-port": "ssh_port", "i": "ssh_key", "ssh-identity-file": "ssh_key",
        "host-discovery-script": "ignored",
    },
    flags=_set("gloo mpi jsrun verbose disable-cache mpi-threads-disable check-build tcp"),
    values=_set("min-np max-np slots-per-host start-timeout output-filename log-level"),
    sets={
        "fusion-threshold-mb": "HOROVOD_FUSION_THRESHOLD*MiB", "cycle-time-ms": "HOROVOD_CYCLE_TIME",
        "cache-capacity": "HOROVOD_CACHE_CAPACITY", "timeline-filename": "HOROVOD_TIMELINE",
        "hierarchical-allreduce": "HOROVOD_HIERARCHICAL_ALLREDUCE=1",
        "no-hierarchical-allreduce": "HOROVOD_HIERARCHICAL_ALLREDUCE=0",
        "hierarchical-allgather": "HOROVOD_HIERARCHICAL_ALLGATHER=1",
        "no-hierarchical-allgather": "HOROVOD_HIERARCHICAL_ALLGATHER=0", "autotune": "HOROVOD_AUTOTUNE=1",
        "no-stall-check": "HOROVOD_STALL_CHECK_DISABLE=1", "num-nccl-streams": "HOROVOD_NUM_NCCL_STREAMS",
        "stall-check-warning-time-seconds": "HOROVOD_STALL_CHECK_TIME_SECONDS",
        "stall-check-shutdown-time-seconds": "HOROVOD_STALL_SHUTDOWN_TIME_SECONDS",
    },
)  # fmt: skip
_TORCH = Launcher(
    options={
        "nnodes": "nnodes", "nproc_per_node": "nproc_per_node", "node_rank": "node_rank", "master_addr": "master_addr",
        "master_port": "master_port", "rdzv_endpoint": "endpoint",
    },
    flags=_set("standalone use_env no_python m module run_path no-use-env"),
    values=_set(
        "rdzv_backend rdzv_id rdzv_conf max_restarts monitor_interval start_method role log_dir "
        "redirects tee t r local_addr"
    ),
)  # fmt: skip
_SLURM = Launcher(
    options={
        "n": "np", "ntasks": "np", "N": "nnodes", "nodes": "nnodes", "ntasks_per_node": "nproc_per_node", "w": "hosts",
        "nodelist": "hosts", "export": "export", "container_image": "image", "D": "workdir", "chdir": "workdir",
        "gres": "gpus_per_node", "gpus_per_node": "gpus_per_node",
    },
    flags=_set(
        "l label overlap exclusive u unbuffered K v Q quiet verbose pty no_container_mount_home O "
        "overcommit contiguous s h"
    ),
    values=_set(
        "p partition A account t time J job_name c cpus_per_task G gpus gpus_per_task mem "
        "cpu_bind mem_bind mpi o "
        "output e error q qos x exclude C constraint distribution m container_mounts container_name "
        "container_workdir "
        "reservation jobid wait kill_on_bad_exit k"
    ),
)  # fmt: skip
_DEEPSPEED = Launcher(
    options={
        "num_gpus": "nproc_per_node", "num_nodes": "nnodes", "master_addr": "master_addr", "master_port": "master_port",
        "hostfile": "hostfile", "H": "hostfile", "node_rank": "node_rank", "ssh_port": "ssh_port", "launcher": "agent",
        "include": "include", "i": "include", "exclude": "exclude", "e": "exclude",
    },
    flags=_set(
        "no_local_rank no_python module force_multi no_ssh_check no_ssh save_pid "
        "enable_each_rank_log bind_cores_to_rank"
    ),
    values=_set(
        "launcher_args autotuning elastic_training min_elastic_nodes max_elastic_nodes"
    ),
)  # fmt: skip
_ACCELERATE = Launcher(
    options={
        "num_processes": "np", "num_machines": "nnodes", "machine_rank": "node_rank", "main_process_ip": "master_addr",
        "main_process_port": "master_port", "deepspeed_hostfile": "hostfile",
    },
    flags=_set("multi_gpu use_deepspeed use_fsdp same_network cpu no_python m module debug tpu quiet rdzv_standalone"),
    values=_set("config_file mixed_precision dynamo_backend gpu_ids deepspeed_config_file zero_stage rdzv_backend"),
)  # fmt: skip
_DOCKER = Launcher(
    options={
        "e": "x", "env": "x", "shm-size": "shm_size", "ipc": "ipc", "net": "network", "network": "network",
        "ulimit": "ulimit", "cpus": "cpus",
        "device": "device", "privileged": "privileged", "gpus": "gpus", "cap-add": "cap_add", "hostname": "ignored",
    },
    flags=_set(
        "i t d it ti itd dit td di rm privileged init read-only no-healthcheck oom-kill-disable P publish-all detach "
        "interactive tty "
        "sig-proxy disable-content-trust q quiet help dti tid nv nvccli writable contain cleanenv fakeroot"
    ),
    value_by_default=True,
)  # fmt: skip
_PADDLE = Launcher(
    options={
        "ips": "hosts", "cluster_node_ips": "hosts", "nnodes": "nnodes", "nproc_per_node": "nproc_per_node",
        "rank": "node_rank", "master": "endpoint",
    },
    flags=_set("with_gloo"),
    values=_set(
        "gpus devices xpus npus log_dir log_level log_overwrite run_mode job_id host port started_port nic max_restart "
        "elastic_level elastic_timeout node_ip selected_gpus servers workers server_num worker_num trainers trainer_num"
    ),
)  # fmt: skip
_MINDSPORE = Launcher(
    options={
        "worker_num": "np", "local_worker_num": "nproc_per_node", "master_addr": "master_addr",
        "master_port": "master_port", "node_rank": "node_rank",
    },
    values=_set("log_dir join cluster_time_out bind_core tail_worker_log rank_table_file worker_log_name"),
)  # fmt: skip
_NCCL_TESTS = Launcher(options={"g": "ignored", "ngpus": "ignored"}, value_by_default=True)

NCCL_TESTS = (
    r"(?:all_reduce|all_gather|alltoall|alltoallv|broadcast|gather|hypercube|reduce|reduce_scatter|scatter|sendrecv)"
    r"_perf(?:_mpi)?"
)

_BY_NAME = {
    **dict.fromkeys(("mpirun", "mpiexec", "mpiexec.hydra", "mpiexec.mpich", "orterun", "prterun"), _MPI),
    "horovodrun": _HOROVOD, "torchrun": _TORCH, "torch.distributed.run": _TORCH, "torch.distributed.launch": _TORCH,
    "torch.distributed.elastic": _TORCH, "srun": _SLURM, "salloc": _SLURM, "sbatch": _SLURM,
    "deepspeed": _DEEPSPEED, "accelerate launch": _ACCELERATE,
    "paddle.distributed.launch": _PADDLE, "fleetrun": _PADDLE, "msrun": _MINDSPORE,
    **dict.fromkeys(("docker run", "podman run", "nvidia-docker run", "nerdctl run"), _DOCKER),
}  # fmt: skip
CONTAINERS = frozenset({"docker run", "podman run", "nvidia-docker run", "nerdctl run"})
_TWO_WORDS = frozenset({"docker", "podman", "nvidia-docker", "nerdctl", "accelerate"})
_PYTHON = lazy_regex(r"python[\d.]*$")
_TEST = lazy_regex(rf"{NCCL_TESTS}$")


def find(words: list[str], start: int) -> tuple[str, Launcher, int] | None:
    """The launcher whose command is at ``words[start]``: its name, its options and the index of its arguments."""
    if start >= len(words):
        return None
    name = words[start].rsplit("/", 1)[-1]
    behind = words[start + 1 : start + 4]
    if name in _TWO_WORDS:
        skip = 1 if behind[:1] == ["container"] else 0
        name, start = f"{name} {''.join(behind[skip : skip + 1])}", start + skip + 1
    elif _PYTHON.match(name) and "-m" in behind:
        start += 2 + behind.index("-m")
        name = words[start] if start < len(words) else ""
    launcher = _BY_NAME.get(name) or (_NCCL_TESTS if _TEST.match(name) else None)
    return (name, launcher, start + 1) if launcher else None
