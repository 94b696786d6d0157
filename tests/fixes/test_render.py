from __future__ import annotations

import shlex
import shutil
import subprocess

import pytest

from ncdiag.fixes.render import Change, launchers, render

ODD = ("=bond0", "^lo,docker0", "a b", "it's", "$HOME", "`id`", "~x", "", "10.0.0.0/8", 'say "x"', "a\nb", "\\")


def test_launchers_are_found_by_folder() -> None:
    assert {"docker", "export", "mpirun"} <= set(launchers())


def test_lines() -> None:
    env, unset = {"NCCL_SOCKET_IFNAME": "=bond0"}, ("NCCL_IB_GID_INDEX",)
    change = Change(env=env, unset=unset, shm_size="8g", memlock_unlimited=True)
    assert render(change, ["export", "mpirun", "docker", "nosuch"]) == {
        "export": "unset NCCL_IB_GID_INDEX; export NCCL_SOCKET_IFNAME='=bond0'",
        "mpirun": "env -u NCCL_IB_GID_INDEX mpirun -x NCCL_SOCKET_IFNAME='=bond0' ...",
        "docker": "docker run -e NCCL_SOCKET_IFNAME='=bond0' -e NCCL_IB_GID_INDEX= "
        "--shm-size=8g --ulimit memlock=-1 ...",
    }
    assert render(Change(shm_size="8g")) == {"docker": "docker run --shm-size=8g ..."}
    assert render(Change()) == {}


def test_names_that_are_none_are_left_out() -> None:
    assert render(Change(env={"A B": "1", "$(id)": "2", "OK": "x\0y"}, unset=("; rm -rf /",))) == {}


@pytest.mark.parametrize("value", ODD)
def test_a_shell_gets_the_value_unchanged(value: str) -> None:
    lines = render(Change(env={"NCCL_X": value}))
    for shell in filter(None, map(shutil.which, ("sh", "bash", "zsh"))):
        script = lines["export"] + '; printf %s "$NCCL_X"'
        done = subprocess.run([shell, "-c", script], capture_output=True, text=True, check=True)
        assert done.stdout == value
    assert shlex.split(lines["mpirun"])[2] == shlex.split(lines["docker"])[3] == f"NCCL_X={value}"
