"""The line of a fix does no harm: it hides no files, overwrites no value, stops nothing unannounced, runs no input."""

from __future__ import annotations

import shlex

import pytest

from ncdiag.diagnose import diagnose
from ncdiag.fixes.render import Change, render
from ncdiag.report import model
from ncdiag.text import TextSource


def shell(text: str, name: str) -> str:
    report = diagnose([TextSource.of_bytes("paste", text.encode())])
    shown: tuple[model.Finding | model.Suspect, ...] = (*report.findings, *report.suspects)
    found = [each for each in shown if each.name == name]
    assert found
    return "\n".join(line for each in found for fix in each.fixes for line in fix.commands.values())


STALE = "OSError: [Errno 116] Stale file handle: '{path}'\n"


@pytest.mark.parametrize(
    ("path", "word"),
    [
        ("/sets/audio/part-7.flac", "/sets/audio/part-7.flac"),
        ("/sets/Our Audio/part 7.flac", "'/sets/Our Audio/part 7.flac'"),
        ("/sets/x; halt", "<path>"),
        ("/sets/$(halt)/x", "<path>"),
        ("/sets/`halt`/x", "<path>"),
        ("/sets/x > y", "<path>"),
        ("/sets/x | sh", "<path>"),
    ],
)
def test_a_path_of_the_input_is_one_word_or_left_out(path: str, word: str) -> None:
    lines = shell(STALE.format(path=path), "storage-unreachable")
    assert f"timeout 5 stat {word}\n" in lines
    assert "halt" not in lines


NAMED = (
    ("Permissions 0644 for '{path}' are too open.\n", "ssh-setup-incomplete", "chmod 600 {word}"),
    (
        "RuntimeError: unable to mmap 12 bytes from file <{path}>: No such device (19)\n",
        "model-file-not-mappable", "findmnt -T {word}",
    ),
    ("PermissionError: [Errno 13] Permission denied: '{path}'\n", "cache-folder-not-writable", "ls -ld {word}"),
    (
        "ImportError: {path}.so: failed to map segment from shared object: Operation not permitted\n",
        "temporary-folder-noexec", "findmnt -T {word}",
    ),
)  # fmt: skip


@pytest.mark.parametrize(("line", "name", "command"), NAMED)
def test_a_command_names_the_path_that_was_refused(line: str, name: str, command: str) -> None:
    path = "/data/.cache/huggingface"
    suffix = ".so" if "{path}.so" in line else ""
    assert command.format(word=path + suffix) in shell(line.format(path=path), name)


@pytest.mark.parametrize(("line", "name", "command"), NAMED)
def test_a_path_that_a_shell_would_run_is_left_out(line: str, name: str, command: str) -> None:
    lines = shell(line.format(path="/data/.cache/$(halt)"), name)
    assert command.format(word="<path>") in lines
    assert "halt" not in lines


NO_FILE = (
    "v3:17:66 [0] NCCL INFO NCCL_TOPO_FILE set by environment to {path}\n"
    "v3:17:66 [0] graph/xml.cc:392 NCCL WARN Could not open XML topology file {path} : No such file or directory\n"
)
DOCKER = "$ docker run --gpus all -v /sets:/sets img:2 torchrun t.py\n"
POD = "$ kubectl logs w-0\n"


@pytest.mark.parametrize(
    "folder", ["/usr/local/lib", "/usr/local/cuda", "/usr/bin", "/workspace", "/app/conf", "/opt/nvidia"]
)
def test_a_mount_hides_no_folder_that_an_image_may_have(folder: str) -> None:
    text = NO_FILE.format(path=f"{folder}/topo.xml")
    assert f"-v {folder}/topo.xml:{folder}/topo.xml:ro" in shell(DOCKER + text, "topo-file-not-loaded")
    assert f"hostPath: {{path: {folder}/topo.xml, type: File}}" in shell(POD + text, "topo-file-not-loaded")


def test_a_folder_of_hosts_is_mounted_whole() -> None:
    text = NO_FILE.format(path="/opt/microsoft/vm-topo.xml")
    assert "-v /opt/microsoft:/opt/microsoft:ro" in shell(DOCKER + text, "topo-file-not-loaded")


def test_a_file_that_no_listing_shows_is_looked_for_first() -> None:
    text, listed = NO_FILE.format(path="/srv/hw/topo.xml"), "$ ls /srv/hw/topo.xml\n/srv/hw/topo.xml\n"
    assert "first see" in shell(DOCKER + text, "topo-file-not-loaded")
    assert "first see" not in shell(DOCKER + text + listed, "topo-file-not-loaded")


@pytest.mark.parametrize(
    ("mounts", "kept"),
    [
        ("/a:/a,/s/$USER:/w", "/a:/a,/s/$USER:/w,{more} "),
        ("/a:/a,${HOME}/x:/x", "/a:/a,${{HOME}}/x:/x,{more} "),
        ('"/a:/a,$PWD:/w"', '"/a:/a,$PWD:/w,{more}" '),
        ('"/a:/a,$(pwd):/w"', "<the present mounts>,{more} "),
    ],
)
def test_the_mounts_of_a_launch_stay_whole(mounts: str, kept: str) -> None:
    launch = f"srun --container-image=a.sqsh --container-mounts={mounts} python t.py\n"
    lines = shell(launch + NO_FILE.format(path="/srv/hw/topo.xml"), "topo-file-not-loaded")
    assert f"--container-mounts={kept.format(more='/srv/hw:/srv/hw:ro')}" in lines


ELSEWHERE = "b1:~$ ls -l /opt/microsoft/vm-topo.xml\n-rw-r--r-- 1 root root 9 Mar  3 03:12 /opt/microsoft/vm-topo.xml\n"


def test_a_file_of_the_host_is_named_only_where_the_container_has_it() -> None:
    text = NO_FILE.format(path="/conf/vm-topo.xml") + ELSEWHERE
    lines = shell(DOCKER + text, "topo-file-not-loaded")
    assert "-v /opt/microsoft/vm-topo.xml:/conf/vm-topo.xml:ro" in lines
    assert "NCCL_TOPO_FILE=/opt" not in lines
    mounted = DOCKER.replace("-v /sets:/sets", "-v /opt/microsoft:/opt/microsoft")
    assert "NCCL_TOPO_FILE=/opt/microsoft/vm-topo.xml" in shell(mounted + text, "topo-file-not-loaded")
    assert "NCCL_TOPO_FILE=/opt/microsoft/vm-topo.xml" in shell("torchrun t.py\n" + text, "topo-file-not-loaded")


PLUGIN = (
    "n1:40:40 [0] NCCL INFO NCCL_NET_PLUGIN set by environment to ofi\n"
    "n1:40:40 [0] NCCL INFO NET/Plugin : Plugin load (libnccl-net-ofi.so) returned 2 : libnccl-net-ofi.so: cannot open "
    "shared object file: No such file or directory\nn1:40:51 [0] NCCL INFO Using network Socket\n"
    "$ find / -name 'libnccl-net*.so'\n/sw/ofi/lib/libnccl-net-ofi.so\n"
)


def test_the_library_path_of_a_container_is_not_made_of_that_of_its_host() -> None:
    assert "/sw/ofi/lib" not in shell(DOCKER + PLUGIN, "plugin-not-loaded")


def test_variables_of_a_path_list_stay_variables() -> None:
    launch = "LD_LIBRARY_PATH=/sw/x/lib:$HOME/lib torchrun --nproc_per_node=8 t.py\n"
    assert 'LD_LIBRARY_PATH="/sw/ofi/lib:/sw/x/lib:$HOME/lib"' in shell(launch + PLUGIN, "plugin-not-loaded")


def test_a_container_expands_its_own_variables() -> None:
    lines = render(Change(env={"LD_LIBRARY_PATH": "/x:$LD_LIBRARY_PATH", "NCCL_A": "1"}, unset=("FI_B",)))
    words = shlex.split(lines["docker"])
    assert words[:4] == ["docker", "run", "-e", "NCCL_A=1"]
    assert 'LD_LIBRARY_PATH="/x:$LD_LIBRARY_PATH" exec "$0" "$@"' in words
    assert 'value: "/x:$LD' not in lines["k8s"]
    assert 'exec \\"$0\\"' in lines["k8s"]


FULL = (
    "n1$ torchrun t.py\nOSError: [Errno 28] No space left on device: '/tmp/tmpq/x.bin'\nn1$ df -h\n"
    "Filesystem      Size  Used Avail Use% Mounted on\n/dev/sda1        50G   50G     0 100% /\n"
    "{name}           500G  100G  400G  20% {path}\nn1$ ls -ld {path}\n"
    "drwxrwxrwt 3 root root 4096 Mar  3 03:12 {path}\n"
)


@pytest.mark.parametrize(
    ("name", "path", "is_offered"),
    [
        ("/dev/sdb1", "/scratch", True), ("tmpfs", "/dev/shm", False), ("tmpfs", "/run", False),  # noqa: S108
        ("tmpfs", "/scratch", False), ("/dev/sdb1", "/dev/pool", False),
    ],
)  # fmt: skip
def test_files_do_not_go_to_the_memory_of_the_job(name: str, path: str, *, is_offered: bool) -> None:
    assert (f"TMPDIR={path}" in shell(FULL.format(name=name, path=path), "storage-full")) == is_offered


LIMIT = (
    "n2:10:12 [0] misc/ibvwrap.cc:190 NCCL WARN Call to ibv_reg_mr failed with error Cannot allocate memory\n"
    "n2$ ulimit -l\n64\n"
)
UNIT = "n2$ systemctl cat {unit}\n# /etc/systemd/system/{unit}.service\n[Service]\nExecStart={runs}\n{more}\n"
STOPS = "this stops everything that it runs"


@pytest.mark.parametrize(
    ("more", "stops"),
    [("KillMode=process", False), ("KillMode=control-group", True), ("KillMode=mixed", True), ("Restart=always", True)],
)
def test_a_restart_of_a_unit_that_ends_its_processes_says_so(more: str, *, stops: bool) -> None:
    lines = shell(UNIT.format(unit="slurmd", runs="/usr/sbin/slurmd -D", more=more) + LIMIT, "memlock-too-low")
    assert "systemctl restart slurmd" in lines
    assert (STOPS in lines) == stops


@pytest.mark.parametrize("value", ["process", "control-group"])
def test_show_prints_what_ends_with_a_unit(value: str) -> None:
    shown = f"n2$ systemctl show slurmd -p KillMode -p LimitMEMLOCK\nKillMode={value}\nLimitMEMLOCK=65536\n"
    assert (STOPS in shell(shown + LIMIT, "memlock-too-low")) == (value != "process")


@pytest.mark.parametrize(
    ("unit", "runs", "more"),
    [
        ("card-stats", "/usr/bin/python3 /opt/stats/main.py --port 9400", "Restart=always"),
        ("card-exporter", "/opt/card-exporter", "LimitMEMLOCK=65536"),
        ("sampling", "/usr/bin/telegraf", "LimitMEMLOCK=64K"),
    ],
)
def test_a_unit_beside_the_job_is_left_alone(unit: str, runs: str, more: str) -> None:
    assert "systemctl restart" not in shell(UNIT.format(unit=unit, runs=runs, more=more) + LIMIT, "memlock-too-low")


LINKS = (
    "root@{host}:~# ip addr\n2: {below}: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu {under} qdisc mq state UP group 0\n"
    "3: {name}@{below}: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu {mtu} qdisc noqueue state UP group default qlen 9\n"
    "    inet 10.8.0.{n}/24 scope global {name}\n"
)


def _links(under: int, name: str = "bond1.30") -> str:
    sizes = [(9000, 9000), (9000, 9000), (under, 1500)]
    return "".join(
        LINKS.format(host=f"k{n}", below="bond1", under=below, name=name, mtu=mtu, n=n)
        for n, (below, mtu) in enumerate(sizes, 1)
    )


def test_the_interface_below_a_vlan_gets_the_larger_mtu_first() -> None:
    line = "sudo ip link set dev {} mtu 9000   # on k3; and in its configuration"
    above, below = line.format("bond1.30"), line.format("bond1")
    assert f"{below}\n{above}" in shell(_links(1500), "socket-mtu-mismatch")
    lines = shell(_links(9000), "socket-mtu-mismatch")
    assert above in lines
    assert below not in lines


def test_the_mtu_of_ip_over_infiniband_is_not_set() -> None:
    text = "".join(
        f"root@k{n}:~# ip addr\n4: ib0: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu {mtu} qdisc mq state UP qlen 256\n"
        f"    inet 10.8.0.{n}/24 scope global ib0\n"
        for n, mtu in ((1, 65520), (2, 65520), (3, 2044))
    )
    assert "ip link set" not in shell(text, "socket-mtu-mismatch")


MEETS = (
    "$ torchrun --nnodes 2 --nproc_per_node 8 --node_rank 1 --master_addr localhost --master_port 29544 t.py\n"
    "k2: torch.distributed.DistNetworkError: The client socket has timed out after 60s while trying to connect to "
    "(localhost, 29544).\nk1:~$ ss -ltnp\nState  Recv-Q Send-Q Local Address:Port Peer Address:Port Process\n"
    'LISTEN 0      4096         0.0.0.0:29544      0.0.0.0:*  users:(("{program}",pid=81,fd=7))\n'
    "k1:~$ ip -br addr\nlo UNKNOWN 127.0.0.1/8\neno1  UP  10.8.0.1/24\n"
)


@pytest.mark.parametrize(
    ("program", "is_met"), [("jupyter-lab", False), ("nginx", False), ("python3", True), ("pt_main_thread", True)]
)
def test_the_port_of_another_program_is_no_rendezvous(program: str, *, is_met: bool) -> None:
    lines = shell(MEETS.format(program=program), "launcher-master-addr-localhost")
    assert ("10.8.0.1" in lines) == is_met


OLDER = (
    "m1:7:7 [0] NCCL INFO NCCL version 2.26.2+cuda12.8\n"
    "m1:7:8 [0] init.cc:729 NCCL WARN Mismatched NCCL version detected : rank 0 version 22602 rank 4 version 22304\n"
    "m2:7:7 [0] NCCL INFO comm 0x5 rank {rank} nranks 8 cudaDev 0 busId 1b000 commId 0x9 - Init START\n"
)


@pytest.mark.parametrize(
    ("rank", "more", "where"),
    [
        (4, "", "m2"),
        (1, "", "the host of rank 4"),
        (4, "m2:7:7 [0] NCCL INFO NCCL version 2.26.2+cuda12.8\n", "the host of rank 4"),
    ],
    ids=["it holds the rank", "it holds another", "it has the newer one"],
)
def test_the_older_wheel_is_replaced_where_its_rank_is(rank: int, more: str, where: str) -> None:
    assert f"   # on {where}\n" in shell(OLDER.format(rank=rank) + more, "version-nccl-mismatch")


OF_A_HUB = (
    "OSError: We couldn't connect to 'https://huggingface.co' to load this file, couldn't find it in the cached files "
    "and it looks like {name} is not the path to a directory containing a file named config.json.\n"
)
OF_A_SET = (
    "' thrown while requesting HEAD https://huggingface.co/datasets/org/corpus/resolve/main/part-0.parquet\n"
    "[rank1]: huggingface_hub.errors.LocalEntryNotFoundError: An error happened while trying to locate the file on the "
    "Hub and we cannot find the requested files in the local cache.\n"
)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (OF_A_HUB.format(name="org/small-model"), "org/small-model"),
        (OF_A_HUB.format(name="--local-dir/home"), "<model>"),
        (OF_A_HUB.format(name="../home"), "<model>"),
        (OF_A_SET, "org/corpus --repo-type dataset"),
    ],
)
def test_a_name_of_a_hub_is_no_option_and_has_its_type(text: str, words: str) -> None:
    assert f"huggingface-cli download {words}   #" in shell(text, "model-hub-unreachable")


EACH_ALONE = (
    "$ mpirun -np 2 -H {hosts} ./all_reduce_perf -b 8 -e 32G -g 8\n"
    "# nThread 1 nGpus 8 minBytes 8 maxBytes 34359738368 step: 2(factor) warmup iters: 5 iters: 20 agg iters: 1 "
    "validation: 1 graph: 0\n#\n# Using devices\n"
    "#  Rank  0 Group  0 Pid  40521 on  n1 device  0 [0x1b] NVIDIA A100-SXM4-40GB\n"
    "# nThread 1 nGpus 8 minBytes 8 maxBytes 34359738368 step: 2(factor) warmup iters: 5 iters: 20 agg iters: 1 "
    "validation: 1 graph: 0\n#\n# Using devices\n"
    "#  Rank  0 Group  0 Pid  40522 on  {second} device  0 [0x1b] NVIDIA A100-SXM4-40GB\n"
    "n1: Test CUDA failure common.cu:1020 'out of memory'\n"
)


@pytest.mark.parametrize(
    ("hosts", "second", "cause"),
    [("n1,n2", "n2", "cuda-out-of-memory"), ("n1:2", "n1", "launcher-nccl-tests-without-mpi")],
)
def test_tests_that_are_each_alone_use_up_only_a_gpu_that_they_share(hosts: str, second: str, cause: str) -> None:
    text = EACH_ALONE.format(hosts=hosts, second=second)
    assert diagnose([TextSource.of_bytes("paste", text.encode())]).summary.root_cause == cause
