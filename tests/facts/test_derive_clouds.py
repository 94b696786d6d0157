"""Clouds, pods, HCCL's interface and AMD's mesh: what follows from pasted text, beyond the examples of the rules."""

from __future__ import annotations

import pytest

from ncdiag.facts.model import Job
from ncdiag.facts.view import View
from ncdiag.knowledge.gpu.boards import xgmi_gap
from ncdiag.knowledge.hccl.network import hccl_interface_fault, hccl_ports
from ncdiag.nccl import environment
from ncdiag.text.reading.job import facts_of


def view_of(**sections: str) -> View:
    return View(facts_of({kind: (text,) for kind, text in sections.items()}, "n1"), environment.resolve_fields)


def job_of(**sections: str) -> Job:
    return view_of(**sections).job


@pytest.mark.parametrize(
    ("text", "cloud", "instance_type", "machine"),
    [
        ("Amazon EC2 p5.48xlarge/", "aws", "p5.48xlarge", "Amazon EC2 p5.48xlarge"),
        ("Google Google Compute Engine/Google Compute Engine", "gcp", None, "Google Google Compute Engine"),
        ("Microsoft Corporation Virtual Machine/Virtual Machine", None, None, "Microsoft Corporation Virtual Machine"),
        ("Googleplex Box 1/X", None, None, "Googleplex Box 1"),
        ("Supermicro SYS-420GP/X12", None, None, "Supermicro SYS-420GP"),
    ],
)
def test_the_kernel_names_the_machine(text: str, cloud: str | None, instance_type: str | None, machine: str) -> None:
    (host,) = job_of(dmesg=f"[    0.000000] DMI: {text}, BIOS 1.0 10/16/2017").hosts
    assert (host.cloud, host.instance_type, host.machine) == (cloud, instance_type, machine)


def test_the_firmware_itself_is_believed_before_the_kernel_s_line() -> None:
    (host,) = job_of(
        dmesg="[    0.000000] DMI: Acme X1/B2 extended/B, BIOS 1.0 10/16/2017",
        dmi="[root@n1 ~]# hostnamectl\n Static hostname: n1\n Hardware Vendor: Acme\n  Hardware Model: X1/B2 extended",
    ).hosts
    assert host.machine == "Acme X1/B2 extended"


POD = """apiVersion: v1
kind: Pod
metadata:
  name: p
  {labels}: {{{pairs}}}
spec:
  hostNetwork: {network}
  containers:
  - name: train
    image: registry.example.org/train:7
    resources: {{limits: {{nvidia.com/gpu: 8}}}}
"""


@pytest.mark.parametrize(
    ("labels", "pairs", "network", "mesh"),
    [
        ("labels", 'sidecar.istio.io/inject: "true"', "false", "sidecar.istio.io/inject"),
        ("annotations", "linkerd.io/inject: ingress", "false", "linkerd.io/inject"),
        ("annotations", "linkerd.io/inject: disabled", "false", ""),
        ("labels", 'sidecar.istio.io/inject: "true"', "true", ""),
        ("annotations", 'linkerd.io/inject: enabled, config.linkerd.io/skip-inbound-ports: "1-65535"', "false", None),
        ("labels", "app: train", "false", None),
    ],
)
def test_a_mesh_that_takes_the_connections_of_a_pod(labels: str, pairs: str, network: str, mesh: str | None) -> None:
    (launch,) = job_of(k8s_manifest=POD.format(labels=labels, pairs=pairs, network=network)).launches
    assert launch.mesh == mesh


INTERFACES = """[root@n1 ~]# ip addr
1: lo: <LOOPBACK,UP,LOWER_UP> mtu 65536 qdisc noqueue state UNKNOWN group default qlen 1000
    link/loopback 00:00:00:00:00:00 brd 00:00:00:00:00:00
    inet 127.0.0.1/8 scope host lo
2: eth10: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1500 qdisc mq state UP group default qlen 1000
    link/ether 0c:42:a1:00:00:02 brd ff:ff:ff:ff:ff:ff
    inet 10.1.2.4/24 scope global eth10
"""


@pytest.mark.parametrize(
    ("value", "fits"),
    [
        ("eth", True), ("=eth10", True), ("=eth1,eth10", True), ("^docker", True), ("^=eth1", True),
        ("=eth1", False), ("enp,bond", False), ("^eth,lo", False), ("^=eth10,lo", False),
    ],
)  # fmt: skip
def test_interfaces_that_fit_hccl_s_filter(value: str, fits: bool) -> None:
    view = view_of(interfaces=INTERFACES, env=f"[root@n1 ~]# export HCCL_SOCKET_IFNAME={value}")
    assert (hccl_interface_fault(view.job.hosts[0], view) == "") is fits


@pytest.mark.parametrize(
    ("variables", "ports"),
    [
        ("export HCCL_IF_BASE_PORT=50000", "50000-50015"),
        ("export HCCL_IF_BASE_PORT=50000\nexport HCCL_HOST_SOCKET_PORT_RANGE=61000-61050", "61000-61050"),
        ("export HCCL_HOST_SOCKET_PORT_RANGE=auto", "60000-60015"),
        ("export HCCL_IF_BASE_PORT=many", "60000-60015"),
    ],
)
def test_ports_of_hccl_s_set_up(variables: str, ports: str) -> None:
    view = view_of(env=variables)
    assert hccl_ports(view.job, view) == ports


TABLE = """[root@n1 ~]# rocm-smi --showtopo --showproductname
============================ ROCm System Management Interface ============================
====================================== Product Info ======================================
{models}
=============================== Link Type between two GPUs ===============================
       GPU0         GPU1         GPU2
GPU0   0            {a}         {b}
GPU1   {a}         0            {c}
GPU2   {b}         {c}         0
================================== End of ROCm SMI Log ===================================
"""


@pytest.mark.parametrize(
    ("kinds", "gap"),
    [("XGMI XGMI XGMI", ""), ("XGMI PCIE XGMI", "GPU0 and GPU2"), ("PCIE PCIE PCIE", "")],
)
def test_pairs_of_a_mesh_without_a_link(kinds: str, gap: str) -> None:
    a, b, c = kinds.split()
    models = "\n".join(f"GPU[{n}]\t\t: Card Series: \t\tAMD Instinct MI355X" for n in range(3))
    view = view_of(rocm_smi=TABLE.format(models=models, a=a, b=b, c=c))
    assert xgmi_gap(view.job.hosts[0], view) == gap
