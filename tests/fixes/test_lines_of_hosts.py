"""Lines of fixes for hosts, fabrics and schedulers, with values of the input; each with a twin without them."""

from __future__ import annotations

import pytest

from ncdiag.diagnose import diagnose
from ncdiag.report import model
from ncdiag.text import TextSource


def answers(text: str) -> dict[str, model.Finding | model.Suspect]:
    report = diagnose([TextSource.of_bytes("paste", text.encode())])
    shown: tuple[model.Finding | model.Suspect, ...] = (*report.findings, *report.suspects)
    return {found.name: found for found in shown}


def lines_of(text: str, name: str) -> str:
    return "\n".join(line for fix in answers(text)[name].fixes for line in fix.commands.values())


def first_line(text: str) -> str:
    """The lines of the first answer."""
    report = diagnose([TextSource.of_bytes("paste", text.encode())])
    return lines_of(text, report.answers[0])


RCCL = (
    'g4:31:31 [0] /src/init.cc:140 NCCL WARN Missing "iommu=pt" from kernel command line which can lead to system '
    "instablity or hang!\n[rank0]:[E1] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=1, "
    "OpType=ALLREDUCE, NumelIn=1, NumelOut=1, Timeout(ms)=600000) ran for 600021 milliseconds before timing out.\n"
)
KERNELS = "g3 $ cat /proc/cmdline\nBOOT_IMAGE=/vmlinuz-{release} root=/dev/sda2 ro iommu=pt\n"
LACKS = "g4 $ cat /proc/cmdline\nBOOT_IMAGE=/vmlinuz-{release} root=/dev/sda2 ro quiet\n"


@pytest.mark.parametrize(
    ("release", "line"),
    [
        ("6.8.0-45-generic", "sudo update-grub   # on g4, which then has to be restarted"),
        ("5.14.0-503.el9.x86_64", "sudo grubby --update-kernel=ALL --args=iommu=pt   # on g4,"),
        ("6.1.0-27-amd64", "sudo update-grub   # on g4"),
    ],
)
def test_a_word_of_the_kernel_is_written_by_the_tool_of_the_host(release: str, line: str) -> None:
    text = RCCL + KERNELS.format(release=release) + LACKS.format(release=release)
    found = answers(text)["rccl-iommu-pt-missing"]
    assert line in lines_of(text, "rccl-iommu-pt-missing")
    assert not any(fix.workaround for fix in found.fixes)


@pytest.mark.parametrize(
    "release",
    ["6.6.1", "6.8.0-45-generic iommu=soft", "5.14.0-503.el9.x86_64 ostree=/ostree/boot.1/os/1a/0"],
    ids=["no distribution", "another word", "a system of images"],
)
def test_a_word_is_not_written_where_the_tool_is_unknown_or_another_is_set(release: str) -> None:
    text = RCCL + LACKS.format(release=release)
    assert "# on g4" not in lines_of(text, "rccl-iommu-pt-missing")


DARK = (
    "{host} # ibstat mlx5_2\nCA 'mlx5_2'\n\tCA type: MT4129\n\tNumber of ports: 1\n\tPort 1:\n\t\tState: Down\n"
    "\t\tPhysical state: {physical}\n\t\tRate: 10\n\t\tBase lid: 65535\n\t\tSM lid: 0\n\t\tLink layer: InfiniBand\n"
    "(mlx5_0, mlx5_1, mlx5_3: State Active, Rate 400)\n"
)
LEAF = "Switch: 0xfc6a1c0300a81040 MF0;leaf9{evil}:MQM9700/U1:\n" + "".join(
    f'          88   {n}[  ] ==( 4X      106.25 Gbps Active/  LinkUp)==>     {n}    1[  ] "s{n} mlx5_2" ( )\n'
    for n in (3, 4)
)
OFF = '          88   {port}[  ] ==(                Down/Disabled)==>             [  ] "" ( )\n'


@pytest.mark.parametrize(
    ("shown", "line"),
    [
        (
            LEAF.format(evil="") + OFF.format(port=14),
            "sudo ibportstate 88 14 enable   # MF0;leaf9:MQM9700/U1 port 14; only if",
        ),
        ("# smpquery portinfo 31 7\nLinkState:....Down\nPhysLinkState:....Disabled\n", "sudo ibportstate 31 7 enable"),
        (LEAF.format(evil="") + OFF.format(port=14) + OFF.format(port=15), ""),
        (LEAF.format(evil="").replace("mlx5_2", "mlx5_0", 1) + OFF.format(port=14), ""),
        (LEAF.format(evil=""), ""),
        (LEAF.format(evil="$(reboot)`x`") + OFF.format(port=14), "sudo ibportstate 88 14 enable"),
    ],
    ids=["iblinkinfo", "smpquery", "two", "cables of all cards", "none", "a hostile name"],
)
def test_the_disabled_port_of_a_switch_is_enabled(shown: str, line: str) -> None:
    lines = lines_of(DARK.format(host="s9", physical="Polling") + shown, "ib-port-not-active")
    assert line in lines
    assert line or "ibportstate" not in lines
    assert "$(" not in lines


def test_the_disabled_port_of_a_host_is_enabled_there() -> None:
    lines = lines_of(DARK.format(host="s9", physical="Disabled"), "ib-port-not-active")
    assert "sudo mlxlink -d mlx5_2 -p 1 -a UP   # on s9; only if it was not disabled on purpose" in lines


DOMAIN = (
    "root@t1:~# nvidia-imex-ctl -N\nNodes:\nNode #0   - 10.60.1.11   - READY                - Version: 570.86.15\n"
    "Node #1   - 10.60.1.12   - READY                - Version: 570.86.15\n"
    "Node #2   - 10.60.1.13   - {state:<20} - Version: ??????????\n\nDomain State: DEGRADED\n"
)
NODE = "root@t3:~# ip -br -4 a\nlo   UNKNOWN   127.0.0.1/8\nenP5p9s0   UP   {ip}/23\n"
ANSWERS = (
    "root@t1:~# ping -c 2 10.60.1.13\nPING 10.60.1.13 (10.60.1.13) 56(84) bytes of data.\n\n"
    "--- 10.60.1.13 ping statistics ---\n2 packets transmitted, 2 received, 0% packet loss, time 1001ms\n"
)
STOPPED = "root@t3:~# systemctl is-active nvidia-imex\nfailed\n"


@pytest.mark.parametrize(
    ("shown", "line"),
    [
        (
            NODE.format(ip="10.60.1.99") + STOPPED,
            "sed -i 's/^10\\.60\\.1\\.13$/10.60.1.99/' /etc/nvidia-imex/nodes_config.cfg && sudo systemctl restart",
        ),
        (NODE.format(ip="10.60.1.13") + STOPPED, "sudo systemctl restart nvidia-imex   # on t3"),
        (NODE.format(ip="10.60.1.13"), ""),
        (NODE.format(ip="10.60.1.99"), ""),
        (NODE.format(ip="10.60.1.99") + STOPPED + ANSWERS, ""),
        (NODE.format(ip="10.60.1.12"), ""),
        (NODE.format(ip="10.99.1.13"), ""),
        (NODE.format(ip="10.60.1.99") + STOPPED + NODE.format(ip="10.60.1.98").replace("t3", "t4"), ""),
    ],
    ids=[
        "a new address",
        "a service that is down",
        "nothing known",
        "a bystander",
        "the old one answers",
        "a listed one",
        "another network",
        "two",
    ],
)
def test_the_node_of_the_rack_that_is_not_ready_is_put_right(shown: str, line: str) -> None:
    text = DOMAIN.format(state="UNAVAILABLE") + shown
    lines = lines_of(text, "nvlink-imex-domain-degraded")
    assert line in lines
    assert line or "systemctl restart" not in lines


CARDS = "root@h6:~# ibv_devinfo\n" + "".join(
    f"hca_id:\t{name}\n\t\tport:\t1\n\t\t\tstate:\t\t\tPORT_{state}\n\t\t\tlink_layer:\t\t{layer}\n"
    for name, state, layer in (
        ("ibp1", "ACTIVE (4)", "{up}"), ("ibp2", "ACTIVE (4)", "{up}"), ("ibp3", "DOWN (1)", "{down}"),
    )
)  # fmt: skip
ALL_MST = (
    "root@h6:~# mst status -v\nConnectX7(rev:0)        /dev/mst/mt4129_pciconf1   9a:00.0   ibp3    net-eth3    0\n"
)


@pytest.mark.parametrize(
    ("up", "down", "asked", "line"),
    [
        ("InfiniBand", "Ethernet", "ibp3", "sudo mlxconfig -d ibp3 set LINK_TYPE_P1=1   # on h6; then restart it"),
        ("Ethernet", "InfiniBand", "9a:00.0", "sudo mlxconfig -d 9a:00.0 set LINK_TYPE_P1=2   # on h6"),
        ("InfiniBand", "Ethernet", "/dev/mst/mt4129_pciconf1", "-d /dev/mst/mt4129_pciconf1 set LINK_TYPE_P1=1"),
    ],
)
def test_a_port_gets_the_link_type_of_its_siblings(up: str, down: str, asked: str, line: str) -> None:
    kind = "ETH(2)" if down == "Ethernet" else "IB(1)"
    text = ALL_MST + f"root@h6:~# mlxconfig -d {asked} q\n        LINK_TYPE_P1      {kind}\n"
    text += CARDS.format(up=up, down=down) + "The job is slow, a card has no link.\n"
    assert line in first_line(text)


@pytest.mark.parametrize(
    ("function", "number"),
    [("", None), ("9a:00.0", 1), ("9a:00.1", 2), ("9a:00.2", None)],
)
def test_the_number_of_a_port_in_the_firmware_is_that_of_its_function(function: str, number: int | None) -> None:
    path = f"/dev/mst/mt4123_pciconf0{function.removeprefix('9a:00').replace('.0', '')}"
    text = (
        f"root@h6:~# mst status -v\nConnectX6(rev:0)   {path}   {function}   ibp3    net-eth3    0\n"
        if function
        else ""
    )
    text += "root@h6:~# mlxconfig -d ibp3 q\n" + "".join(f"        LINK_TYPE_P{n}      ETH(2)\n" for n in (1, 2))
    text += CARDS.format(up="InfiniBand", down="Ethernet") + "The job is slow, a card has no link.\n"
    lines = lines_of(text, "rdma-port-type-wrong")
    assert ("-d ibp3 set" in lines) == (number is not None)
    assert number is None or f"-d ibp3 set LINK_TYPE_P{number}=1" in lines
    assert "-y" not in lines


PINNED = "c7:10:12 [0] misc/ibvwrap.cc:190 NCCL WARN Call to ibv_create_cq failed with error Cannot allocate memory\n"
TASK = "me@submit$ srun -w c7 bash -c 'ulimit -l'\n65536\n"
DAEMON = "root@c7# systemctl show slurmd -p LimitMEMLOCK\nLimitMEMLOCK={limit}\n"
CONFIG = (
    "$ scontrol show config | grep Propagate\nPropagateResourceLimits = {on}\nPropagateResourceLimitsExcept = {off}\n"
)


@pytest.mark.parametrize(
    ("on", "off", "limit", "line"),
    [
        ("ALL", "(null)", "infinity", "PropagateResourceLimitsExcept=MEMLOCK   # in slurm.conf"),
        ("CORE,MEMLOCK", "NOFILE", "infinity", "ResourceLimitsExcept=NOFILE,MEMLOCK   # in slurm.conf"),
        ("ALL", "MEMLOCK", "infinity", ""),
        ("CORE", "(null)", "infinity", ""),
        ("ALL", "(null)", "131072", "LimitMEMLOCK=infinity\\n"),
    ],
    ids=["all limits", "some limits", "kept back", "not passed on", "the daemon has it"],
)
def test_slurm_does_not_pass_on_the_limit_of_a_login(on: str, off: str, limit: str, line: str) -> None:
    text = PINNED + TASK + DAEMON.format(limit=limit) + CONFIG.format(on=on, off=off)
    lines = lines_of(text, "memlock-too-low")
    assert line in lines
    assert ("LimitsExcept" in line) == ("PropagateResourceLimits" in lines)


UNIT = "s2# systemctl cat fit\n# /etc/systemd/system/fit.service\n[Service]\nExecStart=/opt/fit.py\n{line}\n"
NO_INTERFACE = "s2:40:51 [0] bootstrap.cc:112 NCCL WARN Bootstrap : no socket interface found\n"
NO_CARD = "RuntimeError: CUDA error: no CUDA-capable device is detected\n"


@pytest.mark.parametrize(
    ("line", "log", "change"),
    [
        ("RestrictAddressFamilies=AF_INET AF_UNIX", NO_INTERFACE, "AF_INET6 AF_NETLINK\\n"),
        ("RestrictAddressFamilies=~AF_PACKET AF_NETLINK", NO_INTERFACE, "AF_INET6 AF_NETLINK\\n"),
        ("PrivateNetwork=true", NO_INTERFACE, "PrivateNetwork=no\\n"),
        ("PrivateDevices=yes", "s2 log:\n" + NO_CARD, "PrivateDevices=no\\n"),
        ("DevicePolicy=closed\nDeviceAllow=/dev/null rw", "s2 log:\n" + NO_CARD, "DeviceAllow=char-nvidia* rw\\n"),
    ],
)
def test_a_unit_is_opened_by_a_drop_in_of_its_own(line: str, log: str, change: str) -> None:
    lines = first_line(UNIT.format(line=line) + log)
    assert change in lines
    assert "/etc/systemd/system/fit.service.d/zz-nccl.conf" in lines
    assert "this stops everything that it runs" in lines
    assert "DevicePolicy" not in lines


@pytest.mark.parametrize("runs", ["/usr/sbin/chronyd $OPTIONS", "/usr/bin/python3 /opt/stats/main.py --port 9400"])
def test_a_unit_that_runs_no_job_is_left_alone(runs: str) -> None:
    text = UNIT.format(line="PrivateDevices=yes").replace("fit", "keeper").replace("/opt/keeper.py", runs)
    assert "unit-hides-devices" not in answers(text + "s2 log:\n" + NO_CARD)


@pytest.mark.parametrize(
    ("line", "log"),
    [
        ("RestrictAddressFamilies=AF_INET AF_NETLINK", NO_INTERFACE),
        ("RestrictAddressFamilies=~AF_PACKET", NO_INTERFACE),
        ("RestrictAddressFamilies=AF_INET\nRestrictAddressFamilies=\nPrivateNetwork=no", NO_INTERFACE),
        ("PrivateDevices=yes", NO_INTERFACE),
    ],
)
def test_a_unit_that_hides_nothing_of_it_is_left_alone(line: str, log: str) -> None:
    assert "unit-hides-devices" not in answers(UNIT.format(line=line) + log)


ALLOCATION = (
    "x1:7:8 [1] include/alloc.h:118 NCCL WARN Cuda failure 2 'out of memory'\n"
    "x1:7:8 [1] include/alloc.h:186 NCCL WARN Failed to CUDA calloc {size} bytes\n"
)
SET = "x1:7:7 [1] NCCL INFO {name} set by environment to {value}.\n"


@pytest.mark.parametrize(
    ("name", "value", "is_removed"),
    [
        ("NCCL_BUFFSIZE", 268435456, True),
        ("NCCL_MIN_NCHANNELS", 64, True),
        ("NCCL_BUFFSIZE", 8388608, False),
        ("NCCL_MIN_NCHANNELS", 16, False),
    ],
)
def test_a_setting_that_uses_up_the_memory_of_the_gpu_is_removed(name: str, value: int, *, is_removed: bool) -> None:
    text = SET.format(name=name, value=value) + ALLOCATION.format(size=value)
    assert any(fix.unset == (name,) for fix in answers(text)["cuda-out-of-memory"].fixes) == is_removed


OF_PYTORCH = (
    "[rank1]: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 1 has a total capacity of "
    "79.15 GiB of which 1.20 GiB is free. Of the allocated memory {held} GiB is allocated by PyTorch, and 0.10 GiB is "
    "reserved by PyTorch but unallocated.\n"
)


@pytest.mark.parametrize(("held", "is_removed"), [("9.50", True), ("76.01", False)])
def test_a_setting_stays_where_pytorch_holds_the_memory(held: str, *, is_removed: bool) -> None:
    text = SET.format(name="NCCL_BUFFSIZE", value=268435456) + OF_PYTORCH.format(held=held)
    found = answers(text)["cuda-out-of-memory"]
    assert any(fix.unset == ("NCCL_BUFFSIZE",) for fix in found.fixes) == is_removed
    assert ("NCCL_BUFFSIZE" in found.title) == is_removed


ORDINAL = "RuntimeError: CUDA error: invalid device ordinal\n"


@pytest.mark.parametrize(
    ("options", "line"),
    [
        ("--ntasks-per-node=4 --gpus-per-task=a100:1", "#SBATCH --gpus-per-node=a100:4   # in place of"),
        ("--ntasks-per-node=2 --gpus-per-task=2", "#SBATCH --gpus-per-node=4   # in place of"),
        ("--ntasks-per-node=4 --gpus-per-node=4 --gpu-bind=single:1", "srun --gpu-bind=none ..."),
        ("--ntasks=8 --ntasks-per-gpu=1", "srun --gpu-bind=none ..."),
        ("--ntasks-per-node=4 --gpus-per-node=4", ""),
        ("--ntasks-per-node=4 --gpus-per-node=4 --gpu-bind=none", ""),
    ],
)
def test_tasks_that_slurm_binds_to_one_gpu_are_given_all(options: str, line: str) -> None:
    text = f"#!/bin/bash\n#SBATCH {options}\nsrun python t.py\n" + ORDINAL
    lines = lines_of(text, "launcher-rank-mapping-wrong")
    assert line in lines
    assert line or ("gpu-bind" not in lines and "#SBATCH" not in lines)


LISTS = "".join(
    f"#  Rank  0 Group  0 Pid   {pid} on       u1 device  0 [0x18] NVIDIA H100 80GB HBM3\n#\n" for pid in (91, 94)
)
TYPES = "$ srun --mpi=list\nMPI plugin types are...\n\tnone\n\t{kind}\n"


@pytest.mark.parametrize(
    ("kind", "more", "line"),
    [
        ("pmix", "", "srun --mpi=pmix ..."),
        ("pmi2", "export I_MPI_DEBUG=5\n", "srun --mpi=pmi2 ..."),
        ("cray_shasta", "", ""),
        ("cray_shasta\n\tpmi2", "", ""),
        ("cray_shasta\n\tpmi2", "export MPICH_GPU_SUPPORT_ENABLED=1\n", "srun --mpi=cray_shasta ..."),
    ],
)
def test_tasks_that_are_each_alone_are_given_the_pmi_that_slurm_has(kind: str, more: str, line: str) -> None:
    run = "$ srun -N 1 --ntasks-per-node=2 --mpi=none ./all_reduce_perf -b 1M -e 1G -f 2 -g 1\n"
    found = answers(TYPES.format(kind=kind) + more + run + LISTS)["launcher-nccl-tests-without-mpi"]
    lines = "\n".join(line for fix in found.fixes for line in fix.commands.values())
    assert line in lines
    assert line or "--mpi=" not in lines


WAITED = (
    "  min_nodes        : 2\ntorch.distributed.elastic.rendezvous.api.RendezvousTimeoutError\n"
    '  Normal  Pulled  1m  kubelet  Successfully pulled image "reg.example.org/fit:3" in {time}\n'
)


@pytest.mark.parametrize(
    ("time", "seconds"),
    [("1h2m3.5s (1h3m0s including waiting)", "7800"), ("6m0.1s", "1200"), ("41.2s", None), ("9999999h", None)],
)
def test_hosts_wait_for_one_whose_image_is_pulled_for_long(time: str, seconds: str | None) -> None:
    lines = lines_of(WAITED.format(time=time), "launcher-rendezvous-incomplete")
    assert (f"--rdzv_conf=join_timeout={seconds}" if seconds else "nc -zv") in lines
    assert ("join_timeout" in lines) == (seconds is not None)


DESCRIBED = (
    "$ kubectl describe pod {pod}\nEvents:\n"
    '  Normal  Pulled  1m  kubelet  Successfully pulled image "reg.example.org/fit:3" in 11m20.5s\n\n'
    "$ kubectl logs fit-0\ntorchrun --nnodes 2 --rdzv_endpoint b:2379 --rdzv_backend {options} t.py\n"
    "torch.distributed.elastic.rendezvous.api.RendezvousTimeoutError\n"
)


@pytest.mark.parametrize(
    ("pod", "options", "line"),
    [
        ("fit-1", "c10d", "--rdzv_conf=join_timeout=1800   # option"),
        (
            "fit-1",
            "etcd-v2 --rdzv_conf=read_timeout=9,join_timeout=5",
            "--rdzv_conf=read_timeout=9,join_timeout=1800   #",
        ),
        (
            "fit-1",
            "etcd-v2 --rdzv-conf is_host=1",
            "--rdzv_conf=is_host=1,join_timeout=1800   # option of torchrun on every host; is",
        ),
        ("fit-1", "etcd", "--rdzv_conf=timeout=1800   # option"),
        ("fit-1", "c10d --rdzv_conf=$KEYS", ""),
        ("fit-1", "own", ""),
        ("eval-3", "c10d", ""),
    ],
)
def test_hosts_wait_for_a_pod_of_the_job_in_the_words_of_the_back_end(pod: str, options: str, line: str) -> None:
    lines = lines_of(DESCRIBED.format(pod=pod, options=options), "launcher-rendezvous-incomplete")
    assert line in lines
    assert line or "timeout" not in lines


GIVEN = (
    "q2:5:6 [0] NCCL INFO NCCL_TOPO_FILE set by environment to {path}\n"
    "q2:5:6 [0] NCCL INFO GPU Direct RDMA Disabled for GPU 200000 / HCA 1 (distance 8 > 4)\n"
    "q2$ nvidia-smi -L\nGPU 0: NVIDIA {model} (UUID: GPU-6f2b9f0e-2a51-11ef-9d3a-0242ac120002)\n"
)


@pytest.mark.parametrize(
    ("path", "model", "value"),
    [
        ("/opt/microsoft/ndv4-topo.xml", "H100 80GB HBM3", "/opt/microsoft/ndv5-topo.xml"),
        ("/shared/azure/ndv5-topo.xml", "A100-SXM4-40GB", "/shared/azure/ndv4-topo.xml"),
        ("/opt/topology/p4d-24xl-topo.xml", "H100 80GB HBM3", None),
        ("/opt/microsoft/ndv5-topo.xml", "A100 80GB PCIe", None),
    ],
)
def test_the_topology_file_is_that_of_the_machine(path: str, model: str, value: str | None) -> None:
    found = answers(GIVEN.format(path=path, model=model))["topo-file-wrong-machine"]
    assert {fix.env.get("NCCL_TOPO_FILE") for fix in found.fixes} - {None} == ({value} if value else set())
    assert any("NCCL_TOPO_FILE" in fix.unset for fix in found.fixes)


def test_the_file_of_the_own_type_is_kept() -> None:
    text = GIVEN.format(path="/opt/microsoft/ndv5-topo.xml", model="H200")
    found = answers(text).get("topo-file-wrong-machine")
    assert found is None or isinstance(found, model.Suspect)


ACROSS = (
    "b1:40:51 [0] NCCL INFO NET/IB : Using [0]rdma0:1/RoCE [1]rdma1:1/RoCE [RO]; OOB eth0:10.9.0.5<0>\n"
    "b1:40:51 [0] NCCL INFO NCCL_PXN_DISABLE set by environment to {pxn}.\n"
    "b1:40:51 [0] misc/ibvwrap.cc:265 NCCL WARN Call to ibv_modify_qp failed with 110 Connection timed out, on dev "
    "rdma0:1, curr state INIT, next state RTR, local GID index 3, local GID ::ffff:10.1.0.5, remote GID ::ffff:{ip}\n"
)


@pytest.mark.parametrize(
    ("pxn", "ip", "is_removed"), [("1", "10.1.7.6", True), ("0", "10.1.7.6", False), ("1", "10.1.0.6", False)]
)
def test_pxn_is_allowed_again_where_connections_leave_their_rail(pxn: str, ip: str, *, is_removed: bool) -> None:
    report = diagnose([TextSource.of_bytes("paste", ACROSS.format(pxn=pxn, ip=ip).encode())])
    fixes = [fix for found in report.findings for fix in found.fixes]
    assert any(fix.unset == ("NCCL_PXN_DISABLE",) for fix in fixes) == is_removed


MIXED = (
    "b1:40:51 [0] NCCL INFO NET/IB : Using {cards} [RO]; OOB eth0:10.9.0.5<0>\n"
    "b1:40:51 [0] NCCL INFO comm 0x7f rank 0 nranks 16 cudaDev 0 busId 1000 - Init START\n"
    "b1:40:51 [0] misc/ibvwrap.cc:265 NCCL WARN Call to ibv_modify_qp failed with 110 Connection timed out, on dev "
    "{failed}:1, curr state INIT, next state RTR, local GID index 3, local GID ::ffff:10.1.0.5, remote GID "
    "::ffff:10.1.0.6\n"
)


@pytest.mark.parametrize(
    ("layers", "failed", "value"),
    [
        ("roce0:RoCE roce1:RoCE roce2:RoCE roce3:RoCE mlx5_0:RoCE", "mlx5_0", "=roce0,roce1,roce2,roce3"),
        ("mlx5_0:IB mlx5_1:IB mlx5_2:RoCE mlx5_3:IB mlx5_4:IB", "mlx5_2", "=mlx5_0,mlx5_1,mlx5_3,mlx5_4"),
        ("roce0:RoCE roce1:RoCE roce2:RoCE roce3:RoCE mlx5_0:RoCE", "roce2", None),
        ("roce0:RoCE roce1:RoCE mlx5_0:RoCE", "mlx5_0", None),
    ],
)
def test_cards_of_another_kind_are_left_out_if_one_of_them_failed(layers: str, failed: str, value: str | None) -> None:
    cards = " ".join(f"[{n}]{card.replace(':', ':1/')}" for n, card in enumerate(layers.split()))
    report = diagnose([TextSource.of_bytes("paste", MIXED.format(cards=cards, failed=failed).encode())])
    offered = {fix.env.get("NCCL_IB_HCA") for found in report.findings for fix in found.fixes}
    assert offered - {None} == ({value} if value else set())


NO_NVML = "trainer-1  | m4:18:19 [0] misc/nvmlwrap.cc:66 NCCL WARN Failed to open libnvidia-ml.so.1\n"
NO_CUDA = "ImportError: libcuda.so.1: cannot open shared object file: No such file or directory\n"
SERVICE = "services:\n  trainer:\n    image: train:1\n    environment:\n      NVIDIA_DRIVER_CAPABILITIES: {parts}\n\n"


@pytest.mark.parametrize(
    ("parts", "log", "value"),
    [
        ("compute", NO_NVML, "compute,utility"),
        ("compute,video", NO_NVML, "compute,video,utility"),
        ("utility", NO_CUDA, "utility,compute"),
        ("all", NO_NVML, None),
        ("compute,utility", NO_NVML, None),
        ("compute;reboot", NO_NVML, None),
    ],
)
def test_a_container_asks_for_the_part_of_the_driver_that_it_lacks(parts: str, log: str, value: str | None) -> None:
    found = answers(SERVICE.format(parts=parts) + log).get("cuda-not-initialized")
    fixes = found.fixes if found is not None else ()
    assert {fix.env.get("NVIDIA_DRIVER_CAPABILITIES") for fix in fixes} - {None} == ({value} if value else set())


TWICE = "p-2:10:11 [0] init.cc:722 NCCL WARN Duplicate GPU detected : rank 8 and rank 0 both on CUDA device 1b000\n"
IDS = "p-{n}:10:11 [0] NCCL INFO NCCL_HOSTID set by environment to {value}\n"
PODS = (
    "It runs in Kubernetes.\n        env:\n        - name: NCCL_HOSTID   # for NVLink\n          {value}\n"
    "        - name: NCCL_DEBUG\n          value: INFO\n"
)


@pytest.mark.parametrize(
    ("shown", "line"),
    [
        (PODS.format(value="value: shared"), "fieldPath: spec.nodeName"),
        (IDS.format(n=1, value="a") + IDS.format(n=2, value="a"), "export NCCL_HOSTID=$(hostname)"),
        (PODS.format(value="valueFrom: {fieldRef: {fieldPath: spec.nodeName}}"), ""),
        (
            "We docker run one container for each GPU.\n\n" + IDS.format(n=1, value="a") + IDS.format(n=2, value="a"),
            "unset NCCL_HOSTID",
        ),
        (IDS.format(n=1, value="a") + IDS.format(n=2, value="b"), ""),
        (IDS.format(n=1, value="a"), ""),
    ],
)
def test_each_machine_gets_a_host_id_of_its_own(shown: str, line: str) -> None:
    lines = lines_of(shown + TWICE, "launcher-duplicate-gpu")
    assert line in lines
    assert line or "NCCL_HOSTID" not in lines


FULL = (
    "k1:50:547 [5] misc/shmutils.cc:87 NCCL WARN Error: failed to extend /dev/shm/nccl-X to 33030532 bytes, error: No "
    "space left on device (28)\nroot@k1:~# df -h /dev/shm\nFilesystem      Size  Used Avail Use% Mounted on\n"
    "tmpfs           {size}  {size}     0 100% /dev/shm\n"
)
LISTED = "-mmin +60 ! -exec fuser -s {} ';' -ls"
HELD = "root@k1:~# ls -l /dev/shm | head -3\n-rw------- 1 {owner} ml   12582912 Nov 28 22:58 {name}\n"


@pytest.mark.parametrize(
    ("shown", "which"),
    [
        (
            HELD.format(owner="user7", name="torch_401_1_0"),
            "-type f -name 'torch_*' -mmin +60 ! -exec fuser -s {} ';' -delete",
        ),
        (
            HELD.format(owner="user7", name="psm_aa") + "-rw------- 1 user7 ml 1 Nov 28 22:58 nccl-b\n",
            "-type f \\( -name 'nccl-*' -o -name 'psm_*' \\) -mmin +60",
        ),
        (HELD.format(owner="user7", name="tokens_0.bin"), f"-type f {LISTED}"),
        (
            HELD.format(owner="user7", name="nccl-b") + "-rw------- 1 user7 ml 1 Nov 28 22:58 words.npy\n",
            f"-type f {LISTED}",
        ),
        (
            "We docker run four containers.\n\n" + HELD.format(owner="user7", name="plasma_a"),
            f'-type f {LISTED}"   # on the host',
        ),
        ("", f"-type f {LISTED}"),
    ],
)
def test_what_ended_programs_left_in_memory_is_removed(shown: str, which: str) -> None:
    lines = lines_of(FULL.format(size="252G") + shown, "shm-too-small")
    assert which in lines
    assert ("-delete" in lines) == (LISTED not in lines)
    assert "command -v fuser && find /dev/shm" in lines
    assert "docker" not in lines


def test_a_small_memory_is_made_larger_and_nothing_is_removed() -> None:
    lines = lines_of(FULL.format(size="64M") + HELD.format(owner="user7", name="torch_401_1_0"), "shm-too-small")
    assert "--shm-size" in lines
    assert "-delete" not in lines


TAKEN = "python3: can't open file '/srv/{name}': [Errno 2] No such file or directory\n"


@pytest.mark.parametrize(
    ("launch", "name", "line"),
    [
        ("srun torchrun --nnodes 2 --rdzv_endpoint $first:29500 t.py\n", "192.168.7.2:29500", "first=${first%% *}"),
        ("torchrun --nnodes 2 --master_addr=${MAIN} t.py\n", "192.168.7.2", "MAIN=${MAIN%% *}"),
        ('torchrun --nnodes 2 --master_addr="$MAIN" t.py\n', "192.168.7.2", ""),
        ("torchrun --nnodes 2 --master_addr=$MAIN t.py\n", "t.py", ""),
    ],
)
def test_the_first_of_two_addresses_is_kept(launch: str, name: str, line: str) -> None:
    lines = "\n".join(
        each for found in answers(launch + TAKEN.format(name=name)).values()
        for fix in found.fixes for each in fix.commands.values()
    )  # fmt: skip
    assert line in lines
    assert line or "%% *" not in lines


TUNNEL = (
    "v1$ ip -br a\nlo    UNKNOWN 127.0.0.1/8\neth0  UP      {below}\n{name}   UNKNOWN 10.9.0.1/24\n"
    "v1$ ip link show eth0; ip link show {name}\n"
    "2: eth0: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu {outer} qdisc fq_codel state UP mode DEFAULT group default\n"
    "5: {name}: <POINTOPOINT,NOARP,UP,LOWER_UP> mtu {inner} qdisc noqueue state UNKNOWN mode DEFAULT group default\n"
    "v1$ ping -c2 -M do -s 1400 10.9.0.2 | tail -2\n2 packets transmitted, 0 received, 100% packet loss, time 1013ms\n"
    "v1$ ping -c2 -M do -s 1200 10.9.0.2 | tail -2\n2 packets transmitted, 2 received, 0% packet loss, time 1001ms\n"
    "v1:3320:3511 [0] NCCL INFO NET/Socket : Using [0]{name}:10.9.0.1<0>\nThe first all-reduce hangs on two hosts.\n"
)


@pytest.mark.parametrize(
    ("name", "below", "outer", "inner", "line"),
    [
        (
            "wg1",
            "192.168.4.2/24",
            1400,
            1420,
            "sudo ip link set dev wg1 mtu 1340   # on v1; and MTU = 1340 in /etc/wire",
        ),
        ("wg1", "2001:db8::2/64", 1500, 1480, "sudo ip link set dev wg1 mtu 1420   # on v1"),
        ("vxlan7", "192.168.4.2/24", 1450, 1450, "sudo ip link set dev vxlan7 mtu 1400   # on v1"),
        ("wg1", "192.168.4.2/24", 1500, 1420, ""),
        ("wg1", "192.168.4.2/24", 9001, 8980, "sudo ip link set dev wg1 mtu 1228   # on v1"),
    ],
    ids=["over IPv4", "over IPv6", "VXLAN", "it fits", "much less passed"],
)
def test_a_tunnel_fits_into_the_packets_below(name: str, below: str, outer: int, inner: int, line: str) -> None:
    lines = lines_of(TUNNEL.format(name=name, below=below, outer=outer, inner=inner), "path-mtu-too-small")
    assert line in lines
    assert line or "ip link set dev" not in lines


PORTS = "root@r1:~# ip -br -4 a\nlo UNKNOWN 127.0.0.1/8\neth1  UP  10.7.0.4/16\neth2  UP  10.7.0.5/16\n"
LOST = (
    "r1:10:20 [0] transport/net_ib.cc:1400 NCCL WARN NET/IB : Got completion from peer 10.7.1.21<3233> with status=12 "
    "opcode=0 len=0 vendor err 129 (Recv) localGid ::ffff:10.7.0.4 remoteGids ::ffff:10.7.1.21 hca mlx5_0\n"
)
NO_PATH = (
    "r1:40:51 [0] misc/ibvwrap.cc:265 NCCL WARN Call to ibv_modify_qp failed with 110 Connection timed out, on dev "
    "mlx5_1:1, curr state INIT, next state RTR, local GID index 3, local GID ::ffff:10.7.0.5, remote GID "
    "::ffff:10.7.0.9\n"
)


@pytest.mark.parametrize(
    ("shown", "is_set"),
    [
        ("root@r1:~# sysctl net.ipv4.conf.all.arp_ignore\nnet.ipv4.conf.all.arp_ignore = 0\n", True),
        ("adm$ clush -w r1,r2 sysctl net.ipv4.conf.all.arp_ignore\nr1: net.ipv4.conf.all.arp_ignore = 0\n", True),
        ("root@r1:~# sysctl net.ipv4.conf.all.arp_ignore\nnet.ipv4.conf.all.arp_ignore = 1\n", False),
    ],
)
def test_each_card_answers_for_its_own_addresses(shown: str, *, is_set: bool) -> None:
    found = answers(PORTS + shown + NO_PATH).get("socket-multi-nic-same-subnet")
    lines = "\n".join(line for fix in (found.fixes if found else ()) for line in fix.commands.values())
    assert ("eth1.arp_ignore=1\\nnet.ipv4.conf.eth1.arp_announce=2\\n" in lines and "# on r1" in lines) == is_set
    assert (
        "sudo ip neigh flush to 10.7.0.4; sudo ip neigh flush to 10.7.0.5   # then, on its peers" in lines
    ) == is_set
    assert "conf.all.arp" not in lines
    assert "flush all" not in lines


def test_a_program_that_ended_by_itself_was_not_lost_to_the_default_of_arp() -> None:
    shown = "root@r1:~# sysctl net.ipv4.conf.all.arp_ignore\nnet.ipv4.conf.all.arp_ignore = 0\n"
    text = PORTS + shown + LOST + "[rank9]: KeyError: 'words'\n"
    assert "socket-multi-nic-same-subnet" in answers(PORTS + shown + LOST)
    report = diagnose([TextSource.of_bytes("paste", text.encode())])
    assert report.answers[0] == "rank-crashed-first"


PART = (
    "      Worker:\n        replicas: 2\n        template:\n          spec:\n            nodeSelector:\n"
    "              node.kubernetes.io/instance-type: {machine}\n            containers:\n            - name: fit\n"
    "              resources:\n                limits:\n                  nvidia.com/gpu: 8\n"
    "                  vpc.amazonaws.com/efa: {asked}\n\nall_reduce is slow between the nodes\n"
)


@pytest.mark.parametrize(
    ("machine", "asked", "line"),
    [
        ("p5.48xlarge", 4, "requests and limits: vpc.amazonaws.com/efa: 32."),
        ("p4d.24xlarge", 1, "requests and limits: vpc.amazonaws.com/efa: 4."),
        ("p4d.24xlarge", 4, ""),
    ],
)
def test_a_part_of_a_manifest_asks_for_all_cards_of_the_machine(machine: str, asked: int, line: str) -> None:
    found = answers(PART.format(machine=machine, asked=asked)).get("k8s-efa-count")
    texts = "\n".join(fix.text for fix in (found.fixes if found else ()))
    assert line in texts
    assert line or "efa: 4." not in texts


ALL_REDUCE = (
    "(VllmWorker rank=1 pid=40) ERROR RuntimeError: CUDA error: invalid argument\n"
    '(VllmWorker rank=1 pid=40) ERROR   File "/v/custom_all_reduce.py", line 200, in register_graph_buffers\n'
)


@pytest.mark.parametrize(
    ("options", "kept"),
    [
        ("expandable_segments:True", "=expandable_segments:False"),
        (
            "max_split_size_mb:64,expandable_segments:True,garbage_collection_threshold:0.8",
            "=max_split_size_mb:64,garbage_collection_threshold:0.8,expandable_segments:False",
        ),
    ],
)
def test_the_other_options_of_the_allocator_stay(options: str, kept: str) -> None:
    assert kept in lines_of(f"export PYTORCH_CUDA_ALLOC_CONF={options}\n" + ALL_REDUCE, "gdr-expandable-segments")


@pytest.mark.parametrize(("name", "word"), [("PyTorch", "PYTORCH"), ("TensorFlow", "TENSORFLOW"), ("", "")])
def test_horovod_is_built_for_the_framework_that_is_shown(name: str, word: str) -> None:
    text = f"{name} training with Horovod on 4 V100 GPUs is slow.\n\n$ horovodrun --check-build\nHorovod v0.28.1:\n\n"
    text += "Available Tensor Operations:\n    [ ] NCCL\n    [X] MPI\n    [X] Gloo\n"
    text += "$ horovodrun -np 4 python train.py\n"
    lines = lines_of(text, "horovod-built-without-nccl")
    assert (f"HOROVOD_WITH_{word}=1 pip" in lines) == bool(word)
    assert lines.count("HOROVOD_WITH_") == (2 if word else 0)
