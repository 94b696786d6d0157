"""Checks of where ranks meet: addresses, ports, the number of each node, and launchers that start each other."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from ncdiag.apps.lint import nesting
from ncdiag.apps.lint.findings import finding
from ncdiag.apps.lint.model import Document, Finding, Setting
from ncdiag.apps.lint.nesting import launches
from ncdiag.base.patterns import lazy_regex
from ncdiag.facts.scalars import ip_address

_HIGHEST, _FREE = 65535, 1024
_TORCH = {"torchrun", "torch.distributed.run", "torch.distributed.launch"}
"""Programs of PyTorch that share their options (torch/distributed/run.py)."""
_MEETING = ("RANK", "WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT")
"""What init_method env:// reads (torch/distributed/rendezvous.py)."""
_ELSEWHERE = lazy_regex(r"env_file|envFile|kubeflow\.org|SLURM_PROCID|OMPI_COMM_WORLD_RANK")
_BY_TASK = lazy_regex(r"\$\{?SLURM_(?:NTASKS|NPROCS|STEP_NUM_TASKS)\b")
_SPREADS = lazy_regex(
    r"\b(?:srun|mpirun|mpiexec|orterun|prterun|pdsh|clush|parallel(?=\s+-)|ssh|scontrol\s+exec|ray)\b"
)
"""What starts commands on the other nodes of a job."""
_INTERFACES = {"NCCL_SOCKET_IFNAME", "GLOO_SOCKET_IFNAME", "NCCL_OOB_NET_IFNAME"}
_LOOPBACK = lazy_regex(r"=?lo(?:,lo)*,?")


def check(document: Document) -> Iterator[Finding]:
    """Findings on where the ranks of one container or script meet; the document contains only that."""
    for setting in document.settings:
        if setting.value is None or setting.name not in {"MASTER_PORT", "MASTER_ADDR"} or not setting.value:
            continue
        wrong = _port_problem(setting.value) if setting.name == "MASTER_PORT" else _address_problem(setting.value)
        name = "master-port-invalid" if setting.name == "MASTER_PORT" else "master-address-invalid"
        if wrong:
            yield finding(name, setting.value_at, variable=setting.name, what=f"{setting.name}={setting.value} {wrong}")
    yield from _root_address(document)
    ports = {s.value for s in document.settings if s.name == "MASTER_PORT" and s.value and not s.branch}
    for launch in launches(document):
        port = launch.get("master_port")
        if port is not None and _port_problem(str(port)):
            what = f"The port {port} {_port_problem(str(port))}"
            yield finding("master-port-invalid", launch["_place"], what=what)
        elif port is not None and ports and str(port) not in ports:
            what = f"{launch['program']} is given the port {port}, MASTER_PORT says {', '.join(sorted(ports))}"
            yield finding("rendezvous-differs", launch["_place"], variable="MASTER_PORT", what=what)
        if launch.get("program") in _TORCH and "kubeflow.org" not in document.text:
            yield from _torch(document, launch)
        elif launch.get("program") == "accelerate launch" and launch.get("nnodes", 1) > 1:
            yield from () if _has_rendezvous(document, launch) else [_without(launch, launch["nnodes"])]
    yield from _incomplete(document)
    yield from _loopback(document)


def _without(launch: dict[str, Any], count: int) -> Finding:
    what = f"{launch['program']} starts {count} hosts without a rendezvous address"
    return finding("rendezvous-missing", launch["_place"], what=what)


def _torch(document: Document, launch: dict[str, Any]) -> Iterator[Finding]:
    """How torchrun is started on several hosts: with an address, with the number of each node, once on each host.

    It takes each option from a variable as well (PET_NODE_RANK), and none from MASTER_ADDR.
    """
    options = nesting.options(launch)
    variables = {s.name: s.value or "" for s in document.settings} | dict(launch.get("env", {}))
    given = {name[4:].lower(): value for name, value in variables.items() if name.startswith("PET_")} | options.given
    count = launch.get("nnodes") or (nesting.hosts(document) if given.get("nnodes", "").startswith("$") else 1)
    around = nesting.tasks_per_host(document, launch)
    if around is not None and around[1] > 1 and _starts_several(launch, given, around[1] * (count or 1)):
        outer, tasks = around
        what = f"{outer} starts {tasks} copies of {launch['program']} on each host, and each starts a process per GPU"
        yield finding("launcher-in-each-task", launch["_place"], what=what)
    nodes = nesting.batch_nodes(document)
    if around is None and nodes > 1 and not _SPREADS.search(document.text):
        what = f"{launch['program']} runs on the first of {nodes} nodes only: nothing here starts it on the others"
        yield finding("launcher-on-first-node", launch["_place"], what=what)
    if not options.is_whole or not count or count < 2 or "standalone" in given:  # noqa: PLR2004  (several hosts)
        return
    is_static = given.get("rdzv_backend", "static") == "static"
    if "rdzv_endpoint" not in given and not (is_static and "master_addr" in given):
        if "MASTER_ADDR" not in variables:
            yield _without(launch, count)
            return
        what = f"{launch['program']} does not read MASTER_ADDR: each of {count} hosts waits at its own address"
        yield finding("rendezvous-unread", launch["_place"], variable="MASTER_ADDR", what=what)
    elif is_static and "node_rank" not in given:
        what = f"{launch['program']} starts {count} hosts without --node_rank: each of them is node 0"
        yield finding("node-rank-missing", launch["_place"], what=what)


def _starts_several(launch: dict[str, Any], given: dict[str, str], tasks: int) -> bool:
    """True if a launch starts several processes, and does not count the tasks as its nodes."""
    each = given.get("nproc_per_node", "1")
    if launch.get("nnodes") == tasks or _BY_TASK.search(given.get("nnodes", "")):
        return False
    return not each.isdigit() or int(each[:9]) > 1


def _incomplete(document: Document) -> Iterator[Finding]:
    """A program that is started without a launcher needs all variables of env://, and some are named nowhere."""
    if document.form not in {"compose", "json", "toml"} or _ELSEWHERE.search(document.text):
        return
    if any(launch.get("program") not in {"docker compose", "kubernetes"} for launch in launches(document)):
        return
    missing = [name for name in _MEETING if not _names(document, name)]
    groups: dict[int, list[Setting]] = {}
    for setting in document.settings:
        if setting.name in _MEETING and setting.value and setting.reaches != "shell":
            groups.setdefault(setting.group, []).append(setting)
    for settings in groups.values():
        names = sorted({setting.name for setting in settings})
        if missing and len(names) > 1:
            what = f"{' and '.join(names)} are set without {' and '.join(missing)}"
            yield finding("rendezvous-incomplete", settings[0].name_at, variable=names[0], what=what)


def _names(document: Document, name: str) -> bool:
    return re.search(rf"(?<![A-Z_]){name}\b", document.text) is not None


def _loopback(document: Document) -> Iterator[Finding]:
    """The loopback interface reaches no other host."""
    for setting in document.settings:
        if setting.name not in _INTERFACES or setting.value is None or not _LOOPBACK.fullmatch(setting.value[:200]):
            continue
        count = nesting.hosts(document)
        launched = any(launch.get("program") != "docker compose" for launch in launches(document))
        if (count or 1) > 1:
            what = f"{setting.name}={setting.value} keeps {count} hosts apart: lo reaches no other host"
            yield finding("loopback-chosen", setting.value_at, variable=setting.name, what=what)
        elif not launched:
            what = f"{setting.name}={setting.value} works on one host alone: lo reaches no other host"
            yield finding("loopback-chosen", setting.value_at, variable=setting.name, what=what, severity="info")


def _root_address(document: Document) -> Iterator[Finding]:
    """NCCL_COMM_ID needs a port, and an address that the other hosts can reach (src/bootstrap.cc)."""
    several = any(
        launch.get("nnodes", 1) > 1 or len({str(host) for host in launch.get("hosts", ())}) > 1
        for launch in launches(document)
    )
    for setting in document.settings:
        if setting.name != "NCCL_COMM_ID" or not setting.value:
            continue
        host, _, port = setting.value.rpartition(":")
        address = ip_address(host.strip("[]"))
        local = host == "localhost" or (address is not None and address.is_loopback)
        wrong = "" if port.isdigit() and host else "names no port, and NCCL takes port 0"
        wrong = wrong or ("sends every host to itself" if local and several else "")
        if wrong:
            what = f"NCCL_COMM_ID={setting.value} {wrong}"
            yield finding("master-address-invalid", setting.value_at, variable=setting.name, what=what)


def _has_rendezvous(document: Document, launch: dict[str, Any]) -> bool:
    text = f"{launch.get('text', '')} {' '.join(launch.get('env', {}))}"
    settled = any(s.name in {"MASTER_ADDR", "PET_MASTER_ADDR", "PET_RDZV_ENDPOINT"} for s in document.settings)
    return settled or re.search(r"rdzv|master|main_process_ip|config_file|MASTER_ADDR", text) is not None


def _port_problem(text: str) -> str:
    text = text.strip()
    if not text.isascii() or not text.isdigit():
        return "is not a number"
    if int(text[:9]) > _HIGHEST:
        return f"is above {_HIGHEST}"
    return f"is below {_FREE}, which needs root" if 0 < int(text) < _FREE else ""


def _address_problem(text: str) -> str:
    if "://" in text or "/" in text:
        return "is a URL or path, not a host name"
    if ":" in text and ip_address(text.strip("[]")) is None:
        return "holds a port, which belongs in MASTER_PORT"
    return "lists several hosts" if "," in text else ""
