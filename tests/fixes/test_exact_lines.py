"""The lines of a fix are the exact ones where the input shows the values; where it does not, nothing is made up."""

from __future__ import annotations

import pytest

from ncdiag.diagnose import diagnose
from ncdiag.report import container_options, model
from ncdiag.text import TextSource

MEMLOCK = "n2:10:12 [0] misc/ibvwrap.cc:190 NCCL WARN Call to ibv_create_cq failed with error Cannot allocate memory\n"
LIMIT = "root@n2:~# ulimit -l\n64\n"
UNIT = "root@n2:~# systemctl show ray-node -p LimitMEMLOCK -p LimitNOFILE\nLimitNOFILE=524288\nLimitMEMLOCK=8388608\n"
SHM = (
    "w-0:50:547 [5] misc/shmutils.cc:72 NCCL WARN Error: failed to extend /dev/shm/nccl-tX0 to 9637892 bytes\n"
    "# df -h /dev/shm\nFilesystem      Size  Used Avail Use% Mounted on\n"
    "shm              64M   64M     0 100% /dev/shm\n"
)
TIMEOUT = (
    "[rank3]:[E1010 00:28:14.77 ProcessGroupNCCL.cpp:616] [Rank 3] Watchdog caught collective operation timeout: "
    "WorkNCCL(SeqNum=1, OpType=ALLREDUCE, NumelIn=1, NumelOut=1, Timeout(ms)=1800000) ran for 1800031 milliseconds "
    "before timing out.\nRank 0 preprocesses the data set for an hour while the others wait in the barrier.\n"
)
DRIVER = (
    "RuntimeError: The NVIDIA driver on your system is too old (found version 12040). Please update your GPU driver.\n"
)
MANAGER = (
    "root@n7:~# nvidia-smi --query-gpu=driver_version --format=csv,noheader\n{driver}\n"
    "Nov 23 01:37:50 n7 nv-fabricmanager[28]: fabric manager NVIDIA GPU driver interface version 550.90.07 don't match "
    "with driver version {driver}. Please update with matching NVIDIA driver package.\n"
)
NETS = (
    "n1:40:51 [0] NCCL INFO Using network IB\n"
    "n1:40:51 [0] NCCL INFO comm 0x55 rank 0 nranks 2 cudaDev 0 busId 1b000 commId 0x9a1 - Init START\n"
    "n2:40:51 [0] NCCL INFO NCCL_IB_DISABLE set by environment to {value}.\n"
    "n2:40:51 [0] NCCL INFO Using network Socket\n"
    "n2:40:51 [0] NCCL INFO comm 0x56 rank 1 nranks 2 cudaDev 0 busId 1b000 commId 0x9a1 - Init START\n"
)
COMPOSE = """services:
  trainer:
    image: registry.example.org/train:1
    command: torchrun train.py
    deploy: {resources: {reservations: {devices: [{driver: nvidia, count: all, capabilities: [gpu]}]}}}

"""
POD = "It runs in Kubernetes.\n"


def fixes(text: str, name: str) -> tuple[model.Fix, ...]:
    report = diagnose([TextSource.of_bytes("paste", text.encode())])
    shown: tuple[model.Finding | model.Suspect, ...] = (*report.findings, *report.suspects)
    [found] = [each for each in shown if each.name == name]
    return found.fixes


def shell(text: str, name: str) -> str:
    return "\n".join(line for fix in fixes(text, name) for line in fix.commands.values())


def test_a_limit_is_lifted_in_the_unit_that_starts_the_processes() -> None:
    lines = shell(UNIT + LIMIT + MEMLOCK, "memlock-too-low")
    assert "LimitMEMLOCK=infinity" in lines
    assert "sudo systemctl restart ray-node" in lines
    assert "systemctl restart" not in shell(LIMIT + MEMLOCK, "memlock-too-low")


@pytest.mark.parametrize(
    "shown",
    [
        UNIT.replace("LimitMEMLOCK=8388608", "LimitMEMLOCK=infinity"),
        UNIT.replace("LimitMEMLOCK=8388608\n", ""),
        UNIT.replace("ray-node", "docker slurmd"),
        UNIT.replace("ray-node", "user-1000.slice"),
        UNIT.replace("ray-node", "sshd"),
    ],
    ids=["it is lifted", "another limit", "two units", "a slice", "logins"],
)
def test_a_unit_is_restarted_only_for_a_limit_of_its_own_that_is_lower(shown: str) -> None:
    assert "systemctl restart" not in shell(shown + LIMIT + MEMLOCK, "memlock-too-low")


def test_the_value_of_an_option_is_no_unit() -> None:
    shown = "root@n2:~# systemctl show -p LimitMEMLOCK slurmd\nLimitMEMLOCK=8388608\n"
    assert "sudo systemctl restart slurmd" in shell(shown + LIMIT + MEMLOCK, "memlock-too-low")


@pytest.mark.parametrize(
    ("shown", "line", "other"),
    [
        ("", "docker run --shm-size=", "emptyDir"),
        (COMPOSE, 'shm_size: "', "docker run"),
        (POD, "emptyDir: {medium: Memory, sizeLimit: ", "docker run"),
    ],
)
def test_options_of_a_container_are_in_the_words_of_what_starts_it(shown: str, line: str, other: str) -> None:
    lines = fixes(shown + SHM, "shm-too-small")[0].commands["shell"]
    assert line in lines
    assert other not in lines


@pytest.mark.parametrize(
    ("command", "lines"),
    [
        ("docker run --ulimit nofile=8:9 ...", "ulimits: {nofile: {soft: 8, hard: 9}}"),
        ("docker run --device=/dev/a --device /dev/b ...", 'devices: ["/dev/a:/dev/a", "/dev/b:/dev/b"]'),
        ("docker run --device nvidia.com/gpu=all ...", 'devices: ["nvidia.com/gpu=all"]'),
        ("docker run --net=host --pid=host ...", "network_mode: host\npid: host"),
        ("docker run --gpus all --ipc=host ...", ""),
        ("docker run --name 'a ...", ""),
        ("ls /dev", ""),
    ],
)
def test_a_command_becomes_lines_of_compose_if_all_of_it_can_be_said(command: str, lines: str) -> None:
    assert container_options._translated(command, is_pod=False) == lines


def test_what_a_pod_cannot_say_is_left_in_the_command() -> None:
    command = "docker run --device=/dev/infiniband --cap-add=IPC_LOCK ..."
    assert container_options._translated(command, is_pod=True) == ""


def test_a_version_of_the_input_is_no_shell_code() -> None:
    text = MANAGER.format(driver="550.127.05; reboot")
    assert "reboot" not in shell(text, "nvlink-fabric-manager-version")


def test_a_program_without_python_is_given_no_numbers() -> None:
    duplicate = (
        "n1:10:11 [0] init.cc:722 NCCL WARN Duplicate GPU detected : rank 1 and rank 0 both on CUDA device 1b000\n"
    )
    assert "OMPI_COMM_WORLD_LOCAL_RANK" in shell("mpirun -np 2 python t.py\n" + duplicate, "launcher-duplicate-gpu")
    assert "LOCAL_RANK=" not in shell("mpirun -np 2 ./all_reduce_perf\n" + duplicate, "launcher-duplicate-gpu")


def test_a_group_of_the_host_is_given_by_its_number() -> None:
    """Its name has another number in the image, or none."""
    text = "Unable to open /dev/kfd read-write: Permission denied\nRuntimeError: No HIP GPUs are available\n"
    assert '--group-add "$(stat -c %g /dev/kfd)"' in shell(text, "rccl-container-devices-missing")
    row = "crw-rw---- 1 0 {} 511,   0 Apr  9 06:11 /dev/kfd\n"
    assert "--group-add 993 " in shell(text + row.format(993), "rccl-container-devices-missing")
    assert "--group-add render" not in shell(text + row.format("render"), "rccl-container-devices-missing")


@pytest.mark.parametrize(
    ("launch", "line"),
    [
        ("torchrun run.py --output_dir out --per_device_train_batch_size 2\n", "--ddp_timeout 7200"),
        ("torchrun pretrain.py --tensor-model-parallel-size 2\n", "--distributed-timeout-minutes 120"),
        ("torchrun own.py --output_dir out --num_train_epochs 2\n", "init_process_group("),
        ("accelerate launch own.py --per_device_train_batch_size 2 --output_dir out\n", "InitProcessGroupKwargs("),
        ("accelerate launch run.py --do_train --per_device_train_batch_size 2\n", "--ddp_timeout 7200"),
        ("accelerate launch train.py\n", "InitProcessGroupKwargs(timeout=datetime.timedelta(seconds=7200))"),
        ("torchrun train.py\n", 'init_process_group("nccl", timeout=datetime.timedelta(seconds=7200))'),
    ],
)
def test_a_longer_limit_is_the_option_of_the_trainer(launch: str, line: str) -> None:
    assert line in shell(launch + TIMEOUT, "collective-straggler-late")


def test_a_build_of_pytorch_fits_the_driver() -> None:
    assert "https://download.pytorch.org/whl/cu126" in shell(DRIVER, "cuda-driver-too-old")
    older = DRIVER.replace("12040", "11040")
    assert "https://download.pytorch.org/whl/cu118" in shell(older, "cuda-driver-too-old")


def test_the_package_of_fabric_manager_has_the_version_of_the_driver() -> None:
    lines = shell(MANAGER.format(driver="550.127.05"), "nvlink-fabric-manager-version")
    assert "nvidia-fabricmanager-550=550.127.05-1" in lines
    assert "apt-get install" not in shell(MANAGER.format(driver="580.65.06"), "nvlink-fabric-manager-version")


def test_a_variable_that_only_one_host_has_is_removed_there() -> None:
    name = "net-type-differs-between-ranks"
    assert any(fix.unset == ("NCCL_IB_DISABLE",) and "n2" in fix.scope for fix in fixes(NETS.format(value="1"), name))
    assert not any(fix.unset for fix in fixes(NETS.format(value="0"), name))


TABLE = (
    "DEV\tPORT\tINDEX\tGID\t\t\t\t\tIPv4  \t\tVER\tDEV\n---\t----\t-----\t---\t\t\t\t\t------------  \t---\t---\n"
    "mlx5_0\t1\t2\t0000:0000:0000:0000:0000:ffff:c0a8:0107\t192.168.1.7  \tv1\tens1\n"
    "mlx5_0\t1\t3\t0000:0000:0000:0000:0000:ffff:c0a8:0107\t192.168.1.7  \tv2\tens1\n"
    "mlx5_0\t1\t6\t0000:0000:0000:0000:0000:ffff:0a14:0007\t10.20.0.7  \tv1\tens1.20\n"
    "mlx5_0\t1\t7\t0000:0000:0000:0000:0000:ffff:0a14:0007\t10.20.0.7  \tv2\tens1.20\nn_gids_found=4\n"
)
GID = (
    "n1:70:71 [0] NCCL INFO Bootstrap : Using {interface}<0>\n"
    "n1:70:72 [0] NCCL INFO NET/IB : Using [0]mlx5_0:1/RoCE [RO]; OOB {interface}<0>\n"
    "n1:70:72 [0] NCCL INFO NCCL_IB_GID_INDEX set by environment to 3.\n"
    "n1:70:73 [0] transport/net_ib.cc:1696 NCCL WARN NET/IB : Got completion from peer 10.20.0.9<52611> with status=12 "
    "opcode=0 len=0 vendor err 129 (Send) localGid ::ffff:192.168.1.7 remoteGids::ffff:192.168.1.9\n"
)


def test_the_index_that_failed_is_not_offered_again() -> None:
    text = f"$ show_gids mlx5_0\n{TABLE}" + GID.format(interface="ens1.20:10.20.0.7")
    report = diagnose([TextSource.of_bytes("paste", text.encode())])
    shown: tuple[model.Finding | model.Suspect, ...] = (*report.findings, *report.suspects)
    offered = {fix.env.get("NCCL_IB_GID_INDEX") for found in shown for fix in found.fixes}
    assert "7" in offered
    assert "3" not in offered


FILE = (
    "root@n2:~# systemctl cat {unit}\n# /usr/lib/systemd/system/{unit}.service\n[Unit]\nDescription=node daemon\n"
    "[Service]\nExecStart=/usr/sbin/{program}\nLimitNOFILE=131072\n{limit}\n[Install]\nWantedBy=multi-user.target\n"
)
DROP_IN = "# /etc/systemd/system/slurmd.service.d/20-limits.conf\n[Service]\nLimitMEMLOCK={value}\n"
SLURMD = FILE.format(unit="slurmd", program="slurmd -D", limit="KillMode=process")


@pytest.mark.parametrize(
    "shown",
    [
        SLURMD,
        SLURMD + DROP_IN.format(value="64M"),
        FILE.format(unit="pbs", program="pbs_mom", limit="LimitMEMLOCK=64K:128K"),
        FILE.format(unit="jobs-agent", program="ray start --block", limit="Restart=always"),
        "root@n2:~# cat /proc/$(pidof -s slurmd)/limits\nMax locked memory         65536      65536      bytes\n",
        "root@n2:~# prlimit -l -p $(pgrep kubelet)\nMEMLOCK max locked-in-memory address space 8388608 8388608 bytes\n",
    ],
    ids=["a file without it", "a drop-in", "a soft limit", "a file that starts ray", "of its process", "prlimit"],
)
def test_the_limit_of_a_unit_is_read_from_its_file_or_its_process(shown: str) -> None:
    lines = shell(shown + LIMIT + MEMLOCK, "memlock-too-low")
    assert "sudo systemctl restart" in lines
    assert "LimitMEMLOCK=infinity\\n" in lines


@pytest.mark.parametrize(
    "shown",
    [
        SLURMD + DROP_IN.format(value="infinity"),
        FILE.format(unit="opensm", program="opensm-launch", limit=""),
        SLURMD + FILE.format(unit="kubelet", program="kubelet", limit=""),
    ],
    ids=["lifted by a drop-in", "a unit that starts no job", "two units"],
)
def test_a_unit_that_has_no_lower_limit_or_starts_no_job_is_left_alone(shown: str) -> None:
    assert "systemctl restart" not in shell(shown + LIMIT + MEMLOCK, "memlock-too-low")


def test_a_restart_that_ends_processes_says_so() -> None:
    assert "this stops everything that it runs" in shell(UNIT + LIMIT + MEMLOCK, "memlock-too-low")
    assert "this stops everything that it runs" not in shell(SLURMD + LIMIT + MEMLOCK, "memlock-too-low")


def test_a_fix_that_follows_from_the_values_needs_no_trial() -> None:
    assert not any(fix.workaround for fix in fixes(SHM, "shm-too-small"))
    assert not any(fix.workaround for fix in fixes(SLURMD + LIMIT + MEMLOCK, "memlock-too-low"))


def test_a_pod_does_not_share_the_memory_of_its_host() -> None:
    assert "hostIPC" not in shell(POD + SHM, "shm-too-small")


LINK_LOCAL = "".join(
    f"{host}:40:4{n} [0] NCCL INFO Bootstrap : Using usb0:169.254.3.1<0>\n" for n, host in enumerate(("w1", "w2"))
) + (
    "w2:40:41 [0] NCCL INFO Call to connect returned Connection refused, retrying\n"
    "w2:40:41 [0] misc/socket.cc:516 NCCL WARN socketPollConnect: exceeded retries (20000)\n"
)
LISTED = "$ ip -br -4 addr\nlo     UNKNOWN  127.0.0.1/8\nusb0   UP  169.254.3.1/16\n{rest}"


@pytest.mark.parametrize(
    ("rest", "value"),
    [
        ("ens9f0  UP  10.7.1.2/24\n", "=ens9f0"),
        ("eno1  UP  10.0.0.12/24\nib0  UP  10.7.1.2/24\n$ getent hosts w1\n10.7.1.1  w1\n", "=ib0"),
        ("eno1  UP  10.0.0.12/24\nib0  UP  10.7.1.2/24\n", None),
        ("eno1  UP  10.0.0.12/24\nib0  UP  10.7.1.2/24\n$ getent hosts w1\n127.0.1.1  w1\n", None),
    ],
    ids=["the only one", "that of the name", "two", "a name of itself"],
)
def test_a_listing_below_no_prompt_names_the_interface(rest: str, value: str | None) -> None:
    text = "NCCL version 2.21.5+cuda12.4\n" + LINK_LOCAL + LISTED.format(rest=rest)
    assert [fix.env.get("NCCL_SOCKET_IFNAME") for fix in fixes(text, "socket-ipv4-link-local")] == [value]


LOST = "{head}[9421.10] pcieport 0000:5a:01.0: AER: Uncorrected (Fatal) error received: 0000:5a:01.0\n"
SINFO = "$ sinfo -N -n w4\nw4 idle none\n"


@pytest.mark.parametrize(
    ("text", "name", "line"),
    [
        (LOST.format(head="w4 kernel:\n") + SINFO, "pcie-link-lost", "scontrol update NodeName=w4 State=DRAIN"),
        (LOST.format(head="w4 dmesg:\n") + "it is a Slurm cluster\n", "pcie-link-lost", "scontrol update NodeName=w4"),
        (LOST.format(head="w4 kernel:\n"), "pcie-link-lost", ""),
        (LOST.format(head="") + SINFO, "pcie-link-lost", ""),
        (
            LOST.format(head="w4 kernel:\n")
            + "$ scontrol show node w4\n   State=IDLE+DRAIN\n   Reason=bad link [root@2026-01-02T03:04:05]\n",
            "pcie-link-lost", "scontrol update",
        ),
    ],
    ids=["a typed command", "a sentence", "no scheduler", "no host", "another node's reason"],
)  # fmt: skip
def test_a_faulty_host_is_taken_out_of_service_by_the_scheduler_that_is_shown(text: str, name: str, line: str) -> None:
    lines = shell(text, name)
    assert line in lines
    assert line or "scontrol" not in lines


def test_a_host_that_is_out_of_service_is_not_taken_out_again() -> None:
    text = LOST.format(head="w4 kernel:\n") + (
        "$ sinfo -R\nREASON               USER      TIMESTAMP           NODELIST\n"
        "pcie fatal error     root      2026-01-02T03:04:05 w4\n"
    )
    assert "scontrol update" not in shell(text, "pcie-link-lost")


def test_a_node_of_slurm_is_restarted_after_its_jobs() -> None:
    text = "k3:21:22 [0] misc/nvmlwrap.cc:104 NCCL WARN nvmlInit_v2() failed: Driver/library version mismatch\n"
    name = "cuda-driver-lib-mismatch"
    assert "scontrol reboot ASAP nextstate=RESUME" in shell("$ squeue -w k3\nJOBID USER\n" + text, name)
    assert "sudo reboot" in shell(text, name)
    assert "apt-mark hold $(dpkg -l | awk '/^ii +(lib)?nvidia-/ {print $2}')" in shell(text, name)


TOPOLOGY = (
    "v3:17:66 [0] NCCL INFO NCCL_TOPO_FILE set by environment to /srv/hw/box8-topo.xml\n"
    "v3:17:66 [0] graph/xml.cc:392 NCCL WARN Could not open XML topology file /srv/hw/box8-topo.xml : No such file or "
    "directory\n"
)
XML = "-rw-r--r-- 1 root root 3117 Jan 22  2024 {path}\n"
ON_HOST = "$ ls -l /srv/hw\ntotal 12\n" + XML.format(path="box8-topo.xml") + XML.format(path="box4-topo.xml")


@pytest.mark.parametrize(
    ("launch", "line"),
    [
        (
            "srun --container-image=a.sqsh --container-mounts=/d:/d python t.py\n",
            "srun --container-mounts=/d:/d,/srv/hw:/srv/hw:ro",
        ),
        ("srun --container-image=a.sqsh python t.py\n", "srun --container-mounts=/srv/hw:/srv/hw:ro"),
        ("$ docker run --gpus all -v /d:/d train:1 torchrun t.py\n", "docker run -v /srv/hw:/srv/hw:ro"),
        (POD, "volumeMounts: [{name: topology, mountPath: /srv/hw, readOnly: true}]"),
    ],
    ids=["pyxis", "pyxis without mounts", "docker", "a pod"],
)
def test_a_topology_file_of_the_host_is_mounted_by_what_starts_the_container(launch: str, line: str) -> None:
    found = fixes(launch + TOPOLOGY + ON_HOST, "topo-file-not-loaded")
    assert line in "\n".join(value for fix in found for value in fix.commands.values())
    assert not any(fix.unset for fix in found)


def test_a_mount_that_is_there_is_not_added() -> None:
    launch = "srun --container-image=a.sqsh --container-mounts=/srv/hw:/srv/hw python t.py\n"
    assert "--container-mounts" not in shell(launch + TOPOLOGY, "topo-file-not-loaded")


@pytest.mark.parametrize(
    ("shown", "value"),
    [
        (
            "$ ls -l /opt/vm\n" + XML.format(path="box8_topo.xml") + XML.format(path="box4_topo.xml"),
            "/opt/vm/box8_topo.xml",
        ),
        ("$ find / -name '*topo*.xml'\n/usr/share/hw/topo-flat.xml\n", "/usr/share/hw/topo-flat.xml"),
        ("/opt/vm:\n" + XML.format(path="box2-topo.xml") + XML.format(path="box4-topo.xml"), None),
        ("$ docker exec c ls -l /opt/vm\n" + XML.format(path="box8-topo.xml"), None),
    ],
    ids=["another spelling", "the only one", "two others", "in a container"],
)
def test_a_topology_file_with_another_path_is_named(shown: str, value: str | None) -> None:
    found = fixes(TOPOLOGY + shown, "topo-file-not-loaded")
    assert {fix.env.get("NCCL_TOPO_FILE") for fix in found} - {None} == ({value} if value else set())


PLUGIN = (
    "n1:40:40 [0] NCCL INFO NCCL_NET_PLUGIN set by environment to ofi\n"
    "n1:40:40 [0] NCCL INFO NET/Plugin : Plugin load (libnccl-net-ofi.so) returned 2 : libnccl-net-ofi.so: cannot open "
    "shared object file: No such file or directory\nn1:40:51 [0] NCCL INFO Using network Socket\n"
)
FOUND = "$ find / -name 'libnccl-net*.so'\n/usr/local/ofi/lib/libnccl-net.so\n/usr/local/ofi/lib/libnccl-net-ofi.so\n"


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("mpirun -np 32 -x LD_LIBRARY_PATH=/a:/b ./t\n" + PLUGIN + FOUND, "/usr/local/ofi/lib:/a:/b"),
        ("srun ./t\n" + PLUGIN + FOUND, "/usr/local/ofi/lib:$LD_LIBRARY_PATH"),
        ("srun ./t\n" + PLUGIN + FOUND + "/opt/old/lib/libnccl-net.so\n", None),
        ("srun ./t\n" + PLUGIN, None),
    ],
    ids=["beside what is passed on", "beside the shell's", "two folders", "no listing"],
)
def test_the_folder_of_the_plugin_is_the_one_that_is_listed(text: str, value: str | None) -> None:
    found = {fix.env.get("LD_LIBRARY_PATH") for fix in fixes(text, "plugin-not-loaded")}
    assert value in found if value else not any(path and "/usr/local/ofi" in path for path in found)


START = (
    "export MASTER_ADDR=localhost MASTER_PORT=29611 NNODES=2 NCCL_SOCKET_IFNAME=eth2\n"
    "torchrun --nnodes=$NNODES {how} t.py\n"
)
WAITS = "[W] [c10d] The client socket has failed to connect to [localhost]:29611 (errno: 111 - Connection refused).\n"
REACHED = "root@b2:~# nc -vz {ip} 29611\nConnection to {ip} 29611 port [tcp/*] succeeded!\n"
LISTENS = (
    "root@b1:~# ss -ltn\nState  Recv-Q Send-Q Local Address:Port Peer Address:Port\nLISTEN 0      2048   *:29611 *:*\n"
    "root@b1:~# ip -br -4 a\nlo  UNKNOWN  127.0.0.1/8\neth0  UP  192.0.2.7/26\neth2  UP  10.3.0.7/24\n"
)


@pytest.mark.parametrize(
    ("shown", "value"),
    [
        (REACHED.format(ip="10.3.0.7"), "10.3.0.7"),
        (REACHED.format(ip="10.3.0.7") + REACHED.format(ip="10.3.0.9"), None),
        (REACHED.format(ip="127.0.0.1"), None),
        (LISTENS, "10.3.0.7"),
        (LISTENS.replace("29611", "29612"), None),
    ],
    ids=["it answers", "two answer", "it answers itself", "it listens", "another port listens"],
)
def test_the_address_of_the_rendezvous_is_where_its_port_answers(shown: str, value: str | None) -> None:
    found = fixes(START.format(how="--master_addr=$MASTER_ADDR") + WAITS + shown, "launcher-master-addr-localhost")
    assert found[0].env == {"MASTER_ADDR": value}


@pytest.mark.parametrize(
    ("how", "line"),
    [
        ("--master_addr=$MASTER_ADDR", "torchrun --master_addr=10.3.0.7 ..."),
        ("--rdzv-backend c10d --rdzv-endpoint $MASTER_ADDR:29611", "torchrun --rdzv_endpoint=10.3.0.7:29611 ..."),
    ],
)
def test_torchrun_takes_the_address_as_the_option_that_it_is_started_with(how: str, line: str) -> None:
    """Its workers get MASTER_ADDR from it, whatever the shell exports."""
    text = START.format(how=how) + WAITS + REACHED.format(ip="10.3.0.7")
    assert fixes(text, "launcher-master-addr-localhost")[0].commands["torchrun"] == line


NODES = (
    "$ kubectl describe node w1\nName:               w1\nAllocatable:\n  cpu:                 64\n"
    "  nvidia.com/gpu:      8\n{offered}\n"
)
NO_DEVICES = (
    "p-0:71:96 [0] NCCL INFO NET/IB : No device found.\np-0:71:96 [0] NCCL INFO Using network Socket\n"
    "$ kubectl exec p-0 -- ls /dev/infiniband\nls: cannot access '/dev/infiniband': No such file or directory\n"
)


def test_a_pod_asks_for_a_resource_also_where_its_nodes_were_not_seen() -> None:
    lines = shell(POD + NO_DEVICES, "container-no-infiniband-devices")
    assert "resources: {limits: {<RDMA resource>: 1}}" in lines
    assert "--device" not in lines


@pytest.mark.parametrize(
    ("offered", "item"),
    [
        ("  rdma/hca_shared_devices: 63\n  rdma/old: 0", "rdma/hca_shared_devices: 1"),
        ("  nvidia.com/mlnx_sriov_rdma: 8", "nvidia.com/mlnx_sriov_rdma: 8"),
        ("  vpc.amazonaws.com/efa: 32", "vpc.amazonaws.com/efa: 32"),
        ("  rdma/a: 4\n  rdma/b: 4", ""),
        ("  example.com/fpga: 2", ""),
    ],
)
def test_a_pod_asks_for_the_resource_that_its_nodes_offer(offered: str, item: str) -> None:
    lines = shell(NO_DEVICES + NODES.format(offered=offered), "container-no-infiniband-devices")
    assert (f"limits: {{{item}}}, requests: {{{item}}}" in lines) if item else ("resources:" not in lines)


COMPLETION = (
    "{host}:12:13 [0] NCCL INFO NET/IB : Using [0]mlx5_0:1/IB [RO]; OOB ib0:10.3.0.1<0>\n"
    "{host}:12:13 [0] transport/net_ib.cc:1909 NCCL WARN NET/IB : Got completion from peer 10.3.0.2<50122> with "
    "status=12 opcode=0 len=0 vendor err 129 (Send)\n"
)
KEYS = "/sys/class/infiniband/mlx5_0/ports/1/pkeys/"
LOOPS = {
    "in a text": f'for i in 0 1 2 3; do echo "[$i] $(cat {KEYS}$i)"; done\n'
    "[0] 0x7fff\n[1] 0x000a\n[2] 0x0000\n[3] 0x8021\n",
    "behind a number": f'for i in {{0..3}}; do echo -n "$i: "; cat {KEYS}$i; done\n'
    "0: 0x7fff\n1: 0x000a\n2: 0x0000\n3: 0x8021\n",
    "on one line": f"for d in mlx5_0; do echo $d $(cat {KEYS.replace('mlx5_0', '$d')}{{0,1,2,3}}); done\n"
    "mlx5_0 0x7fff 0x000a 0x0000 0x8021\n",
}


@pytest.mark.parametrize("loop", LOOPS.values(), ids=LOOPS)
def test_values_that_a_loop_of_the_shell_prints_are_read(loop: str) -> None:
    text = "".join(COMPLETION.format(host=host) + f"root@{host}:~# {loop}" for host in ("c1", "c2"))
    report = diagnose([TextSource.of_bytes("paste", text.encode())])
    offered = {fix.env.get("NCCL_IB_PKEY") for found in report.findings for fix in found.fixes}
    assert "3" in offered


def test_another_output_than_the_loop_prints_is_not_taken_for_it() -> None:
    loop = next(iter(LOOPS.values())).replace("[1] ", "[7] ")
    report = diagnose([TextSource.of_bytes("paste", f"{COMPLETION.format(host='c1')}root@c1:~# {loop}".encode())])
    offered = {fix.env.get("NCCL_IB_PKEY") for found in report.findings for fix in found.fixes}
    assert offered <= {None}


GDR = "n{n}:6:7 [0] NCCL INFO NET/IB : GPU Direct RDMA {state} for HCA 0 'mlx5_0'\n"


@pytest.mark.parametrize(
    ("grep", "is_named"),
    [("'^nvidia|^ib_core'", True), ("'^nvidia_uvm|^gdrdrv'", False), ("-w '^nvidia'", False), ("-v '^nvidia'", False)],
)
def test_a_module_that_a_search_for_beginnings_would_show_is_known_not_to_be_loaded(
    grep: str, *, is_named: bool
) -> None:
    text = (
        GDR.format(n=1, state="Disabled")
        + GDR.format(n=2, state="Enabled")
        + (f"root@n1:~# lsmod | grep -E {grep}\nnvidia_uvm           6651904  16\nnvidia              54095872  460\n")
    )
    report = diagnose([TextSource.of_bytes("paste", text.encode())])
    assert any(found.name == "gdr-peermem-not-loaded" for found in report.findings) == is_named


def test_an_index_that_all_ports_have_is_named_beside_the_choice_of_nccl() -> None:
    release = "NCCL version {}+cuda12.4\n"
    text = f"$ show_gids mlx5_0\n{TABLE}" + GID.format(interface="ens1.20:10.20.0.7").replace("to 3", "to 2")
    for version in ("2.20.5", "2.27.5"):
        offered = {fix.env.get("NCCL_IB_GID_INDEX") for fix in fixes(release.format(version) + text, "roce-gid-wrong")}
        assert "7" in offered
    alone = text.replace("\tv2\t", "\tv1\t")
    assert not any(fix.env for fix in fixes(release.format("2.27.5") + alone, "roce-gid-wrong"))


def test_the_platform_decides_where_no_launch_line_is_seen() -> None:
    text = f"$ show_gids mlx5_0\n{TABLE}" + GID.format(interface="ens1.20:10.20.0.7").replace("to 3", "to 2")
    for said, first in (("$ kubectl get pods\n", "k8s"), ("$ squeue -u me\n", "srun"), ("", "export")):
        fix = next(fix for fix in fixes(said + text, "roce-gid-wrong") if fix.env)
        assert next(iter(fix.commands)) == first


CARD = (
    "[root@{host} ~]# ip addr show dev eth4\n"
    "5: eth4: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu {mtu} qdisc mq state UP group default qlen 1000\n"
    "    inet 10.9.0.{n}/24 scope global eth4\n"
)
ONE, TWO, LARGE = CARD.format(host="s1", mtu=4200, n=1), CARD.format(host="s2", mtu=1500, n=2), "mtu 4200   # on s2"
OVERSIZE = "[root@s2 ~]# ethtool -S eth4\nNIC statistics:\n     rx_oversize_pkts_phy: {count}\n"
PING = (
    "[root@s1 ~]# ping -M do -s {size} -c 2 10.9.0.3\nPING 10.9.0.3 (10.9.0.3) {size}(4200) bytes of data.\n"
    "--- 10.9.0.3 ping statistics ---\n2 packets transmitted, {received} received, 0% packet loss, time 1ms\n"
)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (ONE + TWO + CARD.format(host="s3", mtu=4200, n=3), LARGE),
        (ONE + TWO + OVERSIZE.format(count=7), LARGE),
        (ONE + TWO + PING.format(size=4172, received=2), LARGE),
        (ONE + TWO, ""),
        (ONE + TWO + OVERSIZE.format(count=0), ""),
        (ONE + TWO + PING.format(size=4172, received=0), ""),
        (ONE + TWO + CARD.format(host="s3", mtu=1500, n=3), ""),
    ],
    ids=[
        "most hosts",
        "a counter",
        "a ping",
        "nothing",
        "a counter of 0",
        "a lost ping",
        "most hosts have the smaller one",
    ],
)
def test_a_larger_mtu_is_written_where_the_network_is_shown_to_carry_it(text: str, line: str) -> None:
    report = diagnose([TextSource.of_bytes("paste", text.encode())])
    lines = "\n".join(fix.commands.get("shell", "") for found in report.findings for fix in found.fixes)
    assert (f"sudo ip link set dev eth4 {line}" in lines) if line else ("ip link set dev" not in lines)


FULL = "[rank2]: OSError: [Errno {errno}: '{path}'\n"
QUOTA = FULL.format(errno="122] Disk quota exceeded", path="/work1/kim/run7/step10")
ROOM = (
    "$ df -h\nFilesystem      Size  Used Avail Use% Mounted on\n/dev/md0         95G   40G   55G  42% /\n"
    "nfs1:/work1     220T  131T   90T  60% /work1\n/dev/md7         28T  3.1T  {room}  12% /fast\n"
)
OWN = "$ ls -ld /fast/{name}\ndrwxr-xr-x  3 {name} users  4096 Nov 27 17:41 /fast/{name}\n"
COMMON = "drwxrwxrwt 14 root root 4096 Nov 27 17:40 /fast/all\n"
SAVES = "srun python t.py --save-to=/work1/kim/run7 --steps 9\n"
CACHE = FULL.format(errno="28] No space left on device", path="/tmp/torchinductor_kim/tmpk2")  # noqa: S108


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (
            SAVES + QUOTA + ROOM.format(room="25T") + OWN.format(name="kim"),
            "--save-to /fast/kim   # in place of /work1/kim/run7",
        ),
        (SAVES + QUOTA + ROOM.format(room="25T") + COMMON, "--save-to /fast/all"),
        (
            CACHE + ROOM.format(room="25T") + OWN.format(name="kim") + COMMON,
            "export TORCHINDUCTOR_CACHE_DIR=/fast/kim ",
        ),
        (SAVES + QUOTA + ROOM.format(room="1.0G") + OWN.format(name="kim"), ""),
        (SAVES + QUOTA + ROOM.format(room="25T") + OWN.format(name="lee"), ""),
        (SAVES + QUOTA + OWN.format(name="kim"), ""),
    ],
    ids=["an option", "a common folder", "a variable", "no room", "of somebody else", "no file systems"],
)
def test_files_go_to_a_folder_of_the_user_on_a_file_system_with_room(text: str, line: str) -> None:
    lines = shell(text, "storage-full")
    assert line in lines
    assert line or "/fast" not in lines


FAR = "n1:6:7 [0] NCCL INFO GPU Direct RDMA Disabled for GPU 6000 / HCA 0 (distance {distance} > {limit})\n"
SET = "n1:6:7 [0] NCCL INFO NCCL_NET_GDR_LEVEL set by environment to {}\n"


@pytest.mark.parametrize(
    ("text", "value"),
    [
        (GDR.format(n=1, state="Enabled") + FAR.format(distance=6, limit=4), "PHB"),
        (FAR.format(distance=8, limit=5), None),
        ("NCCL version 2.27.7+cuda12.8\n" + FAR.format(distance=8, limit=5), "PHB"),
        (SET.format("PXB") + FAR.format(distance=6, limit=4), None),
    ],
    ids=["the default shows the numbering", "two numberings", "the release", "another limit"],
)
def test_a_distance_has_the_name_of_the_numbering_whose_default_is_the_limit(text: str, value: str | None) -> None:
    launch = "torchrun --nnodes 2 --nproc-per-node 4 --node-rank 0 --master-addr 10.1.0.5 t.py\n"
    report = diagnose([TextSource.of_bytes("paste", (launch + text).encode())])
    offered = {fix.env.get("NCCL_NET_GDR_LEVEL") for found in report.findings for fix in found.fixes}
    assert (value in offered) if value else (offered <= {None})


MISMATCH = (
    "m1:7:7 [0] NCCL INFO NCCL version 2.26.2+cuda12.8\n"
    "m1:7:8 [0] init.cc:729 NCCL WARN Mismatched NCCL version detected : rank 0 version {first} rank 4 "
    "version {second}\n"
)


@pytest.mark.parametrize(
    ("first", "second", "line"),
    [
        (22602, 22304, "pip install nvidia-nccl-cu12==2.26.2   # on the host of rank 4"),
        (22304, 22602, "pip install nvidia-nccl-cu12==2.26.2   # on the host of rank 0"),
        (2804, 2708, ""),
    ],
)
def test_the_wheel_is_that_of_the_later_release_in_the_line_of_nccl(first: int, second: int, line: str) -> None:
    text = MISMATCH.format(first=first, second=second) + "root@m2:~# nvidia-smi -L\nGPU 0: H100 (UUID: GPU-1)\n"
    lines = shell(text, "version-nccl-mismatch")
    assert (line in lines) if line else ("pip install" not in lines)


FILES = "n2:10:12 [0] misc/socket.cc:726 NCCL WARN ncclSocketInit: Socket creation failed : Too many open files\n"


@pytest.mark.parametrize(
    ("start", "is_login"),
    [
        ("$ docker run --gpus all --network host train:7 torchrun train.py\n", False),
        ("$ srun -N2 python train.py\n", True),
        ("$ mpirun -np 16 ./train\n", True),
    ],
)
def test_the_limits_of_a_login_are_offered_where_a_login_may_start_the_job(start: str, is_login: bool) -> None:
    assert ("limits.conf" in shell(start + FILES, "nofile-too-low")) is is_login


THREADS = "n2: OpenBLAS blas_thread_init: pthread_create failed for thread 9 of 64: Resource temporarily unavailable\n"
TASKS = (
    "root@n2:~# systemctl cat tune.service\n# /etc/systemd/system/tune.service\n[Service]\n{}"
    "ExecStart=/opt/bin/torchrun t.py\n"
)


@pytest.mark.parametrize(("limit", "is_lifted"), [("TasksMax=2048\n", True), ("TasksMax=infinity\n", False)])
def test_a_limit_of_tasks_is_lifted_in_its_unit(limit: str, is_lifted: bool) -> None:
    assert ("TasksMax=infinity" in shell(TASKS.format(limit) + THREADS, "threads-exhausted")) is is_lifted


TWICE = "n{0}:7:9 [0] init.cc:943 NCCL WARN Duplicate GPU detected : rank 0 and rank 8 both on CUDA device 1a000\n"
HOSTS = "$ cat hosts.txt\nn1 slots=64\nn2 slots=64\n$ mpirun -np {} --hostfile hosts.txt python train.py\n"


@pytest.mark.parametrize(
    ("processes", "hosts", "line"),
    [(16, (1,), "ppr:8:node"), (15, (1,), "ppr:<GPUs of the host>:node"), (16, (1, 2), "ppr:<GPUs of the host>:node")],
)
def test_ranks_that_the_first_host_got_alone_are_spread_evenly(
    processes: int, hosts: tuple[int, ...], line: str
) -> None:
    seen = "".join(map(TWICE.format, hosts))
    assert line in shell(HOSTS.format(processes) + seen, "launcher-duplicate-gpu")


PODS = (
    "My PyTorchJob does not start, any idea?\n$ kubectl get pods\n"
    "NAME            READY   STATUS    RESTARTS   AGE\n"
    "bert-master-0   1/1     Running   0          12m\nbert-worker-0   0/1     {state}   0          12m\n"
)


def test_the_pod_that_is_not_started_is_named() -> None:
    found = fixes(PODS.format(state="Pending"), "k8s-pod-not-started")
    assert [line for fix in found[:1] for line in fix.commands.values()] == ["kubectl describe pod bert-worker-0"]
    ended = fixes(PODS.format(state="Evicted"), "k8s-pod-not-started")
    lines = [line for fix in ended[:1] for line in fix.commands.values()]
    assert lines == ["kubectl describe pod bert-worker-0\nkubectl logs bert-worker-0 --previous"]
    report = diagnose([TextSource.of_bytes("paste", PODS.format(state="Running").encode())])
    assert "k8s-pod-not-started" not in report.answers[:1]


@pytest.mark.parametrize(
    ("shown", "line"),
    [
        ("accelerate launch python src/train.py \\\n    --epochs 3", "accelerate launch src/train.py --epochs 3"),
        ("torchrun --nproc_per_node=4 /opt/bin/python3 -u train.py", "torchrun --nproc_per_node=4 train.py"),
    ],
)
def test_a_launch_line_is_printed_without_the_interpreter(shown: str, line: str) -> None:
    assert shell(f"Each rank ends with exit code 2.\n{shown}\n", "launcher-starts-interpreter") == line


def test_a_shell_as_the_script_has_no_line_of_its_own() -> None:
    assert shell("It fails.\ndeepspeed --num_gpus=8 bash pretrain.sh\n", "launcher-starts-interpreter") == ""
