"""What a launch needs, by its text: hosts, ssh as its launcher calls it, the place where ranks meet, processes."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from ncdiag.apps.cluster.launching import Asked, _paths, asked
from ncdiag.base.errors import UsageError
from ncdiag.facts.vocabulary.launch_plan import Plan, plan_of
from ncdiag.text.reading.job import job_of

SBATCH = """\
#!/bin/bash
#SBATCH --nodes=3
#SBATCH --nodelist=gpu[07-09]
#SBATCH --ntasks-per-node=8
#SBATCH --gres=gpu:a100:4
export MASTER_ADDR=$(scontrol show hostnames "$SLURM_JOB_NODELIST" | head -n 1)
export MASTER_PORT=29511
srun python train.py
"""


def read(text: str, nodes: str | None = None, **environment: str) -> Asked:
    return asked(text, nodes, environment)


def plan(text: str, nodes: str | None = None, **environment: str) -> Plan:
    return read(text, nodes, **environment).plan


HOSTS: list[tuple[str, str | None, dict[str, str], tuple[str, ...]]] = [
    ("mpirun -np 4 -H a1:2,b1:2 python t.py", None, {}, ("a1", "b1")),
    ("mpirun --host a1,a1,b1 ./bench", None, {}, ("a1", "b1")),
    ("mpiexec.hydra -hosts a1,b1 -ppn 2 ./bench", None, {}, ("a1", "b1")),
    ("horovodrun -np 2 -H a1:1,b1:1 python t.py", None, {}, ("a1", "b1")),
    ("srun -w gpu[1-2] python t.py", None, {}, ("gpu1", "gpu2")),
    ("mpirun -H a1,b1 ./bench", "c[1-2]", {}, ("c1", "c2")),
    ("torchrun --nnodes 2 --master_addr a1 t.py", "a[1-2]", {}, ("a1", "a2")),
    ("torchrun --nnodes 2 --rdzv_endpoint a1:29400 t.py", None, {"SLURM_JOB_NODELIST": "a[1-2]"}, ("a1", "a2")),
]


@pytest.mark.parametrize(("text", "nodes", "environment", "hosts"), HOSTS)
def test_hosts(text: str, nodes: str | None, environment: dict[str, str], hosts: tuple[str, ...]) -> None:
    assert plan(text, nodes, **environment).hosts == hosts


SSH = [
    ("mpirun -H a1,b1 ./x", ()),
    ("mpirun -H a1,b1 --mca plm_rsh_args '-p 12345 -q' ./x", ("-p", "12345", "-q")),
    ("mpirun -H a1,b1 --prtemca plm_ssh_args -oPort=2222 ./x", ("-oPort=2222",)),
    ("OMPI_MCA_plm_rsh_args='-p 2022' mpirun -H a1,b1 ./x", ("-p", "2022")),
    ("mpirun -H a1,b1 --mca plm_rsh_agent srun ./x", None),
    ("mpirun -H a1,b1 --mca plm slurm ./x", None),
    ("mpiexec.hydra -launcher slurm -hosts a1,b1 ./x", None),
    ("horovodrun -p 2223 -i /keys/id -np 2 -H a1:1,b1:1 python t.py", ("-p", "2223", "-i", "/keys/id")),
    ("srun -w a1,b1 python t.py", None),
]


@pytest.mark.parametrize(("text", "options"), SSH)
def test_ssh(text: str, options: tuple[str, ...] | None) -> None:
    assert plan(text).ssh == options


DOUBTFUL = [
    ("mpirun -H a1,user@b1 ./x", "not understood: user@b1"),
    ("mpirun -H '[fe80::1],b1' ./x", "not understood: fe80::1"),
    ("mpirun -H -oProxyCommand=x,b1 ./x", "not understood: -oProxyCommand=x"),
    ("mpirun -H a1,$MORE ./x", "not understood: $MORE"),
    ("mpirun -H $HOSTS ./x", "not understood: $HOSTS"),
    ("srun -w n[1-9999999] ./x", "not understood: n[1-9999999]"),
    ("srun -w n[1-4 ./x", "not understood: n[1-4"),
    ("mpirun -H a1,b1 ./x && mpirun -H c1,d1 ./y", "several commands start processes"),
    ("mpirun -H a1 ./x : -H c1 ./y", "several programs with a colon between them"),
]


@pytest.mark.parametrize(("text", "said"), DOUBTFUL)
def test_hosts_that_may_not_be_all_are_asked_for(text: str, said: str) -> None:
    with pytest.raises(UsageError) as refused:
        read(text)
    assert said in str(refused.value)
    assert "give them with --nodes" in str(refused.value)
    assert plan(text, "e1,e2").hosts == ("e1", "e2")
    assert plan(text, SLURM_JOB_NODELIST="e[1-2]").hosts == ("e1", "e2")


STEPS = [
    ("#SBATCH -w n[1-4]\nsrun -w n1 ray start --head\nsrun -w n[2-4] ray start\n", ("n1", "n2", "n3", "n4")),
    ('#SBATCH -w n[1-4]\nip=$(srun -N1 -n1 -w "$head" hostname)\nsrun python t.py\n', ("n1", "n2", "n3", "n4")),
    ("#SBATCH -w n[1-4]\nsrun -w n[1-2] python t.py\n", ("n1", "n2")),
    ("srun -w n1 hostname\nsrun python t.py\n", None),
]


@pytest.mark.parametrize(("text", "hosts"), STEPS)
def test_steps_of_a_batch_script(tmp_path: Path, text: str, hosts: tuple[str, ...] | None) -> None:
    script = tmp_path / "job.sbatch"
    script.write_text(f"#!/bin/bash\n{text}")
    if hosts is None:
        with pytest.raises(
            UsageError, match="several commands start processes, and not all on the hosts of srun -w n1"
        ):
            read(str(script))
    else:
        assert plan(str(script)).hosts == hosts


UNREAD = [
    ("accelerate launch --config_file two.yaml t.py", ("the configuration two.yaml of accelerate",)),
    ("mpirun -H a1,b1 -rf ranks ./x", ("the rank file ranks",)),
    ("mpirun -H a1,b1 ./x; rm -rf ranks", ()),
    ("mpirun -H a1,b1 -np 1 ./x : -np 2 ./y", ("the programs that mpirun starts after a colon",)),
    ("torchrun --nnodes 2 --master_addr a1 --master_port 99999 t.py", ("a1 port 99999, where the ranks are to meet",)),
    ("torchrun --nnodes 2 --master_addr -oX t.py", ("-oX port 29500, where the ranks are to meet",)),
    ("torchrun --nnodes 2 --rdzv-endpoint=localhost:0 t.py", ()),
]


@pytest.mark.parametrize(("text", "unread"), UNREAD)
def test_what_nobody_reads_is_told(text: str, unread: tuple[str, ...]) -> None:
    found = plan(text, "a1,b1")
    assert (found.unread, found.place) == (unread, None)


def test_a_configuration_of_accelerate(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "two.yaml").write_text(
        "compute_environment: LOCAL_MACHINE\ndistributed_type: MULTI_GPU\nmachine_rank: 0\n"
        "main_process_ip: b1\nmain_process_port: 29555\nnum_machines: 2\nnum_processes: 16\n"
    )
    monkeypatch.chdir(tmp_path)
    found = plan("accelerate launch --config_file two.yaml t.py", "a1,b1")
    assert (found.launcher, found.place, found.unread) == ("accelerate launch", ("b1", 29555), ())
    own = plan("accelerate launch --config_file two.yaml --main_process_ip a1 t.py", "a1,b1")
    assert own.place == ("a1", 29555)


CONTAINED = [
    ("docker run --rm img:1 torchrun --nnodes 2 /w/t.py", True),
    ("docker exec c1 torchrun --nnodes 2 /w/t.py", True),
    ("srun singularity exec --nv i.sif torchrun --nnodes 2 /w/t.py", True),
    ("kubectl exec -n x pod-0 -- torchrun --nnodes 2 /w/t.py", True),
    ("mpirun -H a1,b1 singularity exec --nv i.sif python /w/t.py", False),
    ("torchrun --nnodes 2 /w/t.py", False),
]


@pytest.mark.parametrize(("text", "contained"), CONTAINED)
def test_files_of_a_container_are_not_looked_for_on_its_host(text: str, *, contained: bool) -> None:
    assert plan(text, "a1,b1").contained is contained


@pytest.mark.parametrize("by", ["ssh head", "kubectl exec launcher --"])
def test_what_logs_in_from_another_place_is_tried_there(by: str) -> None:
    with pytest.raises(UsageError, match=f"{by.split(maxsplit=1)[0]} starts mpirun in another place"):
        read(f"{by} mpirun --hostfile /etc/mpi/hostfile ./x")


QUOTED = [
    "ssh a1 'torchrun --nnodes 2 --master_addr a1 t.py'",
    'bash -c "torchrun --nnodes 2 --master_addr a1 t.py"',
    'srun -N2 bash -c "torchrun --nnodes 2 --master_addr a1 t.py"',
]


@pytest.mark.parametrize("text", QUOTED)
def test_a_launch_between_quotes(text: str) -> None:
    found = plan(text, "a1,b1")
    assert (found.place, found.script) == (("a1", 29500), "t.py")


MEETING = [
    ("torchrun --nnodes 2 --rdzv_endpoint=[fe80::1]:29400 t.py", ("fe80::1", 29400)),
    ("torchrun --nnodes 2 --master_addr a1 --master_port 29511 t.py", ("a1", 29511)),
    ("torchrun --nnodes 2 --master_addr a1 t.py", ("a1", 29500)),
    ("torchrun --nnodes 2 --rdzv_backend c10d --rdzv_endpoint a1 t.py", ("a1", 29400)),
    ("accelerate launch --num_machines 2 --main_process_ip a1 t.py", ("a1", 29500)),
    ("mpirun -H a1,b1 -x MASTER_ADDR=b1 -x MASTER_PORT=29511 python t.py", ("b1", 29511)),
    ("mpirun -H a1,b1 -x MASTER_ADDR=b1 python t.py", None),
    ("mpirun -H a1,b1 ./bench", None),
    ("srun torchrun --nnodes 2 --rdzv_endpoint $HEAD:29500 t.py", None),
]


@pytest.mark.parametrize(("text", "place"), MEETING)
def test_where_the_ranks_meet(text: str, place: tuple[str, int] | None) -> None:
    assert plan(text, "a1,b1").place == place


PROCESSES = [
    ("mpirun -np 16 -H a1:8,b1:8 ./x", {"a1": 8, "b1": 8}),
    ("mpirun -np 10 -H a1:8,b1:8 ./x", {"a1": 8, "b1": 2}),
    ("mpirun -np 10 --map-by node -H a1:8,b1:8 ./x", {"a1": 5, "b1": 5}),
    ("mpirun -N 4 -H a1:64,b1:64 ./x", {"a1": 4, "b1": 4}),
    ("mpirun --map-by ppr:2:node -H a1,b1 ./x", {"a1": 2, "b1": 2}),
    ("srun -n 16 -w a1,b1 python t.py", {"a1": 8, "b1": 8}),
    ("srun --ntasks-per-node 1 -w a1,b1 torchrun --nproc_per_node 8 t.py", {"a1": 8, "b1": 8}),
    ("mpirun -H a1,b1 ./x", {}),
]


@pytest.mark.parametrize(("text", "slots"), PROCESSES)
def test_processes_on_each_host(text: str, slots: dict[str, int]) -> None:
    assert plan(text).slots == slots


def test_a_batch_script(tmp_path: Path) -> None:
    script = tmp_path / "job.sbatch"
    script.write_text(SBATCH)
    found = plan(str(script))
    assert found.hosts == ("gpu07", "gpu08", "gpu09")
    assert found.place == ("gpu07", 29511)
    assert (found.ssh, found.gpus_per_node, set(found.slots.values())) == (None, 4, {8})
    assert (found.executable, found.script) == ("python", "train.py")


def test_a_batch_script_that_is_submitted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "job.sh").write_text(SBATCH)
    monkeypatch.chdir(tmp_path)
    found = plan("sbatch --nodes=2 --nodelist=gpu[01-02] job.sh")
    assert (found.hosts, found.place, found.script) == (("gpu01", "gpu02"), ("gpu01", 29511), "train.py")


def test_a_secret_is_not_kept() -> None:
    found = read("mpirun -H a1,b1 -x WANDB_API_KEY=0123456789abcdef ./x")
    assert "0123456789abcdef" not in found.text
    assert "WANDB_API_KEY=" in found.text


def test_somebody_has_to_name_hosts_or_a_launch(ncdiag: Callable[..., subprocess.CompletedProcess[bytes]]) -> None:
    done = ncdiag("probe")
    assert (done.returncode, done.stdout) == (2, b"")
    assert b"no hosts were given: use --nodes, or --launch" in done.stderr


def test_a_file_of_hosts_beside_the_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "my.hosts").write_text("worker-0 slots=4\nworker-1 slots=2\nworker-2 slots=4\n")
    monkeypatch.chdir(tmp_path)
    found = read("deepspeed --hostfile my.hosts --exclude worker-1@worker-2:0 t.py")
    assert found.plan.hosts == ("worker-0", "worker-2")
    assert found.plan.place == ("worker-0", 29500)
    assert (found.plan.source, found.plan.slots) == ("the file of hosts", {"worker-0": 4, "worker-2": 4})
    assert plan("mpirun --hostfile my.hosts ./x").hosts == ("worker-0", "worker-1", "worker-2")
    assert plan("my.hosts").hosts == ("worker-0", "worker-1", "worker-2")
    assert plan("my.hosts").ssh == ()


def test_what_is_saved_is_the_same_launch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from ncdiag.text.reading.one import read_source
    from ncdiag.text.sources.files import TextSource

    (tmp_path / "hosts").write_text("a1\nb1\n")
    monkeypatch.chdir(tmp_path)
    for text in ("mpirun --hostfile hosts -np 2 python t.py", "hosts"):
        found = read(text)
        again = job_of([read_source(TextSource.of_bytes("saved", found.text.encode()))])
        assert plan_of(again) == found.plan


def test_a_file_that_is_no_file_of_hosts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "hosts").write_text("a1 slots=4\nb1; reboot\n")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UsageError, match="hosts, line 2: not a valid line of a hostfile"):
        read("mpirun --hostfile hosts ./x")


@pytest.mark.parametrize("name", ["a" * 300, "a/" * 3000 + "b"])
def test_a_name_that_no_file_can_have(name: str) -> None:
    with pytest.raises(UsageError, match="which does not exist here"):
        read(f"mpirun --hostfile {name} ./x")
    assert plan(f"mpirun -H a1,b1 python {name}.py").hosts == ("a1", "b1")
    assert plan(f"accelerate launch --config_file {name} t.py", "a1,b1").hosts == ("a1", "b1")
    assert _paths(plan(f"mpirun -H a1,b1 python {name}.py")) == []


def test_two_files_of_hosts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "two").write_text("a1\nb1\n")
    (tmp_path / "job.sh").write_text("mpirun --hostfile two ./x\nmpirun --hostfile all ./y\n")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UsageError, match="several files of hosts are named: two, all"):
        read("job.sh")
    assert plan("job.sh", "e1").hosts == ("e1",)


REFUSED = [
    ("env A=b mpirun -H a1,b1 ./x", "no launch was recognised"),
    ('mpirun -H a1,b1 "./x', "no closing quotation"),
    ("torchrun --nnodes 2 --master_addr a1 t.py", "give them with --nodes"),
    ("srun -N 2 python t.py", "give them with --nodes"),
    ("mpirun --hostfile nowhere ./x", "the hostfile nowhere, which does not exist here"),
    ("python train.py", "no launch was recognised"),
    ("nowhere.sbatch", "no such file, and not a launch command"),
]


@pytest.mark.parametrize(("text", "said"), REFUSED)
def test_what_nobody_can_know_is_asked_for(text: str, said: str) -> None:
    with pytest.raises(UsageError) as refused:
        read(text)
    assert said in str(refused.value)
