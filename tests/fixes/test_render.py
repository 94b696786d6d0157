from __future__ import annotations

import shlex
import shutil
import subprocess

import pytest

from ncdiag.diagnose import diagnose
from ncdiag.fixes.render import Change, launchers, preferred, render
from ncdiag.report import digest, renderer
from ncdiag.text.sources.files import TextSource

PROGRAMS = {"export": "true", "torchrun": "torchrun", "srun": "srun", "horovodrun": "horovodrun"}
SHOW = {"export": '; printf %s "$NCCL_X"'}
"""What makes a line print the variable, where no stand-in for the launcher does."""
ODD = ("=bond0", "^lo,docker0", "a b", "it's", "$HOME", "`id`", "~x", "", "10.0.0.0/8", 'say "x"', "a\nb", "\\")


K8S = """\
env:
- name: NCCL_IB_HCA
  value: "mlx5_0,mlx5_1"
# remove them from env; where the image sets them, begin the command with:
command: ["env", "-u", "NCCL_ALGO"]"""


def test_launchers_are_found_by_folder() -> None:
    expected = {"docker", "export", "mpirun", "srun", "torchrun", "horovodrun", "deepspeed", "k8s", "nccl.conf"}
    assert expected == set(launchers())


def test_lines() -> None:
    env, unset = {"NCCL_SOCKET_IFNAME": "=bond0"}, ("NCCL_IB_GID_INDEX",)
    change = Change(env=env, unset=unset, shm_size="8g", memlock_unlimited=True)
    assert render(change, ["export", "mpirun", "docker", "nosuch"]) == {
        "export": "unset NCCL_IB_GID_INDEX; export NCCL_SOCKET_IFNAME='=bond0'",
        "mpirun": "env -u NCCL_IB_GID_INDEX mpirun -x NCCL_SOCKET_IFNAME='=bond0' ...",
        "docker": "docker run -e NCCL_SOCKET_IFNAME='=bond0' -e NCCL_IB_GID_INDEX= "
        "--shm-size=8g --ulimit memlock=-1 ...",
    }
    assert render(Change(shm_size="8g"), ["docker", "export", "srun"]) == {"docker": "docker run --shm-size=8g ..."}
    assert render(Change()) == {}


def test_what_a_line_passes_itself_is_taken_out_of_it() -> None:
    """``env -u`` does not reach what stands behind ``-x``."""
    passed = {"NCCL_NET_GDR_LEVEL": "0"}
    both = Change(unset=("NCCL_NET_GDR_LEVEL", "NCCL_ALGO"), passed=passed)
    assert render(both, ["mpirun"]) == {"mpirun": "env -u NCCL_ALGO mpirun ...  # without -x NCCL_NET_GDR_LEVEL=0"}
    assert render(Change(env={"NCCL_NET_GDR_LEVEL": "PXB"}, passed=passed), ["mpirun"]) == {
        "mpirun": "mpirun -x NCCL_NET_GDR_LEVEL=PXB ..."
    }


def test_a_container_empties_only_what_nccl_then_takes_for_unset() -> None:
    """An empty NCCL_NET names no network and ends initialisation (src/init.cc), an empty number is passed over."""
    change = Change(unset=("NCCL_NET", "NCCL_IB_TIMEOUT", "NCCL_HOSTID", "LD_LIBRARY_PATH"))
    assert render(change, ["docker"]) == {
        "docker": "docker run -e NCCL_IB_TIMEOUT= ..."
        " IMAGE env -u NCCL_NET -u NCCL_HOSTID -u LD_LIBRARY_PATH PROGRAM ..."
    }
    assert render(change, ["k8s"])["k8s"].splitlines() == [
        "env:", "- name: NCCL_IB_TIMEOUT", '  value: ""',
        "# remove them from env; where the image sets them, begin the command with:",
        'command: ["env", "-u", "NCCL_NET", "-u", "NCCL_HOSTID", "-u", "LD_LIBRARY_PATH"]',
    ]  # fmt: skip


def test_names_that_are_none_are_left_out() -> None:
    assert render(Change(env={"A B": "1", "$(id)": "2", "OK": "x\0y"}, unset=("; rm -rf /",))) == {}


@pytest.mark.parametrize("value", ODD)
def test_a_shell_gets_the_value_unchanged(value: str) -> None:
    lines = render(Change(env={"NCCL_X": value}))
    for shell in filter(None, map(shutil.which, ("sh", "bash", "zsh"))):
        for launcher, program in PROGRAMS.items():
            script = f'{program}() {{ printf %s "$NCCL_X"; }}; ' + lines[launcher]
            done = subprocess.run([shell, "-c", script + SHOW.get(launcher, "")], capture_output=True, text=True,
                                  check=True)  # fmt: skip
            assert done.stdout == value
    assert shlex.split(lines["mpirun"])[2] == shlex.split(lines["docker"])[3] == f"NCCL_X={value}"


@pytest.mark.parametrize(
    ("launcher", "line"),
    [
        ("srun", "env -u NCCL_ALGO NCCL_IB_HCA=mlx5_0,mlx5_1 srun --export=ALL ..."),
        ("horovodrun", "env -u NCCL_ALGO NCCL_IB_HCA=mlx5_0,mlx5_1 horovodrun ..."),
        ("torchrun", "unset NCCL_ALGO\nexport NCCL_IB_HCA=mlx5_0,mlx5_1\ntorchrun ..."),
        (
            "deepspeed",
            "printf '%s\\n' NCCL_IB_HCA=mlx5_0,mlx5_1 >> ~/.deepspeed_env\nenv -u NCCL_ALGO deepspeed ...",
        ),
        ("k8s", K8S),
    ],
)
def test_a_change_in_each_launcher(launcher: str, line: str) -> None:
    change = Change(env={"NCCL_IB_HCA": "mlx5_0,mlx5_1"}, unset=("NCCL_ALGO",))
    assert render(change, [launcher]) == {launcher: line}


def test_a_conf_file_has_lines_of_nccl_only() -> None:
    assert render(Change(env={"NCCL_ALGO": "Ring", "NCCL_NET": "IB"}), ["nccl.conf"]) == {
        "nccl.conf": "NCCL_ALGO=Ring\nNCCL_NET=IB"
    }
    for change in (
        Change(env={"NCCL_ALGO": "Ring", "UCX_TLS": "tcp"}),
        Change(env={"NCCL_ALGO": "Ring"}, unset=("NCCL_NET",)),
        Change(env={"NCCL_ALGO": "Ring\nNCCL_NET=Socket"}),
        Change(env={"NCCL_ALGO": "x" * 2000}),
    ):
        assert render(change, ["nccl.conf"]) == {}


def test_deepspeed_gets_no_value_that_its_shell_would_read() -> None:
    assert "deepspeed" in render(Change(env={"NCCL_SOCKET_IFNAME": "^lo,docker0"}))
    for value in ("a b", "$(id)", "x;y", "it's", "a\nb"):
        assert "deepspeed" not in render(Change(env={"NCCL_X": value}))


def test_a_manifest_gets_memory_and_locks() -> None:
    lines = render(Change(shm_size="8g", memlock_unlimited=True, env={"NCCL_X": 'a"$(HOST)'}), ["k8s"])["k8s"]
    assert 'value: "a\\"$$(HOST)"' in lines
    assert "sizeLimit: 8Gi" in lines
    assert 'add: ["IPC_LOCK"]' in lines


def test_launchers_of_the_input_come_first() -> None:
    usual = ["export", "mpirun", "docker"]
    assert preferred([])[:3] == usual
    assert preferred(["srun", "torchrun", "srun", "unheard-of"])[:5] == ["srun", "torchrun", *usual]
    assert sorted(preferred(["docker run"])) == sorted(launchers())


def test_tags_before_the_lines_show_the_launcher() -> None:
    tags = {
        "mpirun": ["[1,3]<stdout>:", "[prterun-n9-1234@1,0]<stderr>:", "[job-7@1,0,n1:42]<stdout>:"],
        "srun": ["12:"],
        "torchrun": ["[default0]:"],
        "k8s": ["[pod/trainer-0/main]"],
    }
    for launcher, forms in tags.items():
        for form in forms:
            assert preferred([], [form])[0] == launcher, form
            assert preferred(["deepspeed"], [form])[:2] == ["deepspeed", launcher]
    assert preferred([], ["(RayWorker pid=12)", "box python[12]:", "trainer-0 main"]) == preferred([])


def test_the_report_shows_the_launcher_whose_tags_the_log_has() -> None:
    lines = [
        "n1:7:7 [0] NCCL INFO NCCL_IB_HCA set to mlx5_0",
        "n1:7:7 [0] NCCL INFO NCCL_IB_DISABLE set by environment to 1.",
        "n1:7:7 [0] NCCL INFO Using network Socket",
    ]
    text = "".join(f"3: {line}\n" for line in lines)
    report = diagnose([TextSource.of_bytes("paste", text.encode())])
    fix = next(fix for finding in report.findings for fix in finding.fixes if fix.commands)
    assert next(iter(fix.commands)) == "srun"


def test_the_report_shows_three_launchers_and_json_all() -> None:
    text = "$ srun -N 2 --export=ALL,NCCL_IB_DISABLE=1 torchrun --nproc_per_node 8 train.py\n"
    report = diagnose([TextSource.of_bytes("paste", text.encode())])
    fix = next(fix for finding in report.findings for fix in finding.fixes if fix.commands)
    assert list(fix.commands)[:3] == ["srun", "torchrun", "export"]
    assert len(fix.commands) > digest.SHOWN_LAUNCHERS
    shown = {launcher for launcher, _ in digest.paste_lines(fix)}
    assert shown == {"srun", "torchrun", "export"}
    assert "horovodrun" in renderer("json")(report, width=80, colour=False)
    assert "horovodrun" not in renderer("text")(report, width=80, colour=False)


def test_a_variable_to_unset_is_named_by_its_setting() -> None:
    report = diagnose([TextSource.of_bytes("paste", b"export NCCL_SOKET_IFNAME=eth0\n")])
    fix = next(fix for finding in report.findings for fix in finding.fixes if fix.unset)
    assert fix.unset == ("NCCL_SOKET_IFNAME",)
    assert fix.commands["export"] == "unset NCCL_SOKET_IFNAME"
