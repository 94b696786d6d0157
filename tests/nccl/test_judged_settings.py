"""What the book says is told of a setting wherever it was seen, and the same as `ncdiag lint` tells of it."""

from __future__ import annotations

import msgspec
import pytest

from ncdiag.apps.lint import forms, values
from ncdiag.facts.model import Setting
from ncdiag.facts.view import View
from ncdiag.knowledge.env.values import p2p_variable
from ncdiag.knowledge.gdr.decisions import forbids_gdr
from ncdiag.knowledge.p2p import unset_widens_p2p
from ncdiag.nccl import environment
from ncdiag.nccl.vocabulary.levels import p2p_is_disabled, p2p_switch
from ncdiag.nccl.vocabulary.values import is_misread, misreading
from ncdiag.text.reading.job import facts_of

NAME, VALUE = "NCCL_SOCKET_IFNAME", "10.4.0.7"
POD = """\
apiVersion: v1
kind: Pod
metadata: {name: t}
spec:
  containers:
  - name: main
    resources: {limits: {nvidia.com/gpu: 8}}
    env:
    - {name: NCCL_SOCKET_IFNAME, value: 10.4.0.7}
"""


def view_of(text: str) -> View:
    return View(facts_of({"paste": [text]}), environment.resolve_fields)


def setting(view: View, name: str = NAME) -> Setting:
    return next(s for s in view.job.settings if s.name == name)


@pytest.mark.parametrize(
    "text",
    [
        f"n1:40:51 [0] NCCL INFO {NAME} set by environment to {VALUE}\n",
        f"n1:40:51 [0] NCCL INFO {NAME} set to {VALUE}\n",
        f"[root@n1 ~]# env\nHOME=/root\n{NAME}={VALUE}\n",
        f"export {NAME}={VALUE}\n",
        f"+ {NAME}={VALUE}\n",
        f"setenv {NAME} {VALUE}\n",
        f"ENV {NAME}={VALUE}\n",
        f'os.environ["{NAME}"] = "{VALUE}"\n',
        f"mpirun -np 16 -H n1:8,n2:8 -x {NAME}={VALUE} ./train\n",
        f"srun -N2 --export=ALL,{NAME}={VALUE} ./train\n",
        f"#!/bin/bash\n#SBATCH -N 2\n#SBATCH --export=ALL,{NAME}={VALUE}\n",
        f"docker run --gpus all -e {NAME}={VALUE} image torchrun train.py\n",
        f"{NAME}={VALUE} torchrun --nnodes 2 train.py\n",
        f"services:\n  t:\n    environment:\n      {NAME}: {VALUE}\n",
        f"[root@n1 ~]# cat /etc/nccl.conf\n{NAME}={VALUE}\n",
        POD,
    ],
)
def test_a_wrong_value_is_told_whatever_its_origin(text: str) -> None:
    view = view_of(text)
    assert is_misread(setting(view), view) is True
    assert misreading(setting(view), view).startswith(f"{NAME}={VALUE} does not mean what it seems to")


def test_lint_and_facts_say_the_same() -> None:
    """Every sample of a wrong value, and one of each other class."""
    samples = [(name, known.sample) for name, found in environment.table().wrong_values.items() for known in found]
    samples += [("NCCL_IB_DISABLE", "yes"), ("NCCL_IB_TIMEOUT", "99"), ("NCCL_NET_GDR_LEVEL", "sys"), ("NCCL_NET", "")]
    samples += [("NCCL_DEBUG", "info"), ("NCCL_IB_TC", "41"), ("NCCL_IB_HCA", "mlx5"), ("NCCL_IB_SL", "")]
    for name, text in samples:
        line = f"export {name}='{text}'\n"
        linted = [f for f in values.check(forms.read("job.sh", line, "shell"), None) if f.severity == "warning"]
        if text.startswith("~"):
            continue  # an exported text does not tell any more whether it stood in quotes
        view = view_of(line)
        found = setting(view, name)
        assert is_misread(found, view) in ({True, None} if linted else {False}), line
        assert [f.message for f in linted] == ([misreading(found, view)] if linted else []), line


@pytest.mark.parametrize("text", ["$IFNAME", "${IFNAME:-eth*}", "<interface>", "{{ .Values.ifname }}", "***", "..."])
def test_a_value_that_comes_later_is_not_judged(text: str) -> None:
    view = view_of(f"docker run --gpus all -e '{NAME}={text}' image torchrun train.py\n")
    assert not any(is_misread(each, view) for each in view.job.settings)


def test_a_device_that_a_host_has_is_no_mistake() -> None:
    named = "export NCCL_IB_HCA=eno1\n"
    listed = "[root@n1 ~]# rdma link\nlink eno1/1 state ACTIVE physical_state LINK_UP netdev ens1\n"
    alone, beside = view_of(named), view_of(named + listed)
    assert is_misread(setting(alone, "NCCL_IB_HCA"), alone) is True
    assert is_misread(setting(beside, "NCCL_IB_HCA"), beside) is False


ECHO = "n1:4:5 [0] NCCL INFO NCCL_P2P_LEVEL set by environment to LOC\n"


@pytest.mark.parametrize(
    ("before", "switch", "variable"),
    [
        ("", "NCCL_P2P_DISABLE=1 or NCCL_P2P_LEVEL=LOC", ""),
        ("n1:4:5 [0] NCCL INFO NCCL version 2.18.3+cuda12.1\n", "NCCL_P2P_DISABLE=1 or NCCL_P2P_LEVEL=LOC", ""),
        ("n1:4:5 [0] NCCL INFO NCCL version 2.23.4+cuda12.6\n", "NCCL_P2P_LEVEL=LOC", "NCCL_P2P_LEVEL"),
        ("export NCCL_P2P_LEVEL=0\n", "NCCL_P2P_LEVEL=0", "NCCL_P2P_LEVEL"),
        ("export NCCL_P2P_DISABLE=1\n", "NCCL_P2P_DISABLE=1", "NCCL_P2P_DISABLE"),
    ],
)
def test_what_an_echo_of_loc_comes_from(before: str, switch: str, variable: str) -> None:
    view = view_of(before + ECHO)
    found = [s for s in view.job.settings if p2p_is_disabled(s, view)]
    assert {(p2p_switch(s, view), p2p_variable(s, view)) for s in found} == {(switch, variable)}


@pytest.mark.parametrize("text", ["NCCL_P2P_DISABLE=true", "NCCL_P2P_DISABLE=2", "NCCL_P2P_LEVEL=loc"])
def test_what_leaves_peer_access_on(text: str) -> None:
    view = view_of(f"export {text}\n")
    assert [p2p_is_disabled(s, view) for s in view.job.settings] == [False]


@pytest.mark.parametrize(
    ("level", "release", "off"),
    [
        ("LOC", "2.18.3", True), ("0", "2.18.3", True), ("NVL", "2.18.3", True), ("C2C", "2.30.7", True),
        ("C2C", "2.18.3", False), ("PIX", "2.18.3", False), ("1", "2.18.3", False), ("nvl", "2.18.3", False),
        ("SYS", "2.30.7", False), ("PHB", "2.5.7", True), ("0", "2.5.7", True), ("2", "2.5.7", False),
    ],
)  # fmt: skip
def test_a_level_nearer_than_any_card_switches_gpudirect_off(level: str, release: str, off: bool) -> None:
    view = view_of(f"NCCL version {release}+cuda12.1\nexport NCCL_NET_GDR_LEVEL={level}\n")
    assert forbids_gdr(setting(view, "NCCL_NET_GDR_LEVEL"), view) is off


@pytest.mark.parametrize(
    ("level", "release", "cpu", "wider"),
    [
        ("PXB", "2.23.4", "", False), ("PIX", "2.23.4", "", True), ("NVL", "2.18.3", "", True),
        ("PXB", "2.18.3", "GenuineIntel", False), ("PXB", "2.18.3", "AuthenticAMD", True),
        ("PHB", "2.18.3", "AuthenticAMD", True), ("PXB", "2.18.3", "", False),
    ],
)  # fmt: skip
def test_whether_nccl_by_itself_reaches_farther(level: str, release: str, cpu: str, wider: bool) -> None:
    text = f"n1:4:5 [0] NCCL INFO NCCL version {release}+cuda12.1\n"
    text += f"n1:4:5 [0] NCCL INFO NCCL_P2P_LEVEL set by environment to {level}\n"
    text += "n1:4:5 [0] NCCL INFO Channel 00 : 0[0] -> 1[1] via SHM/direct/direct\n"
    job = view_of(text).job
    hosts = tuple(msgspec.structs.replace(host, cpu_vendor=cpu or None, cpu_arch="x86_64") for host in job.hosts)
    view = View(msgspec.structs.replace(job, hosts=hosts), environment.resolve_fields)
    assert unset_widens_p2p(view.job.ranks[0], view) is wider
