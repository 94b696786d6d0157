"""The differential lab: made-up networks and settings, the real library's choice against the predicted one.

NCDIAG_LAB_CASES says how many cases (50 unless given; ``make lab`` asks for 1,000 a release), NCDIAG_LAB_SEED which.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from namespaces import Namespace, Wire

from ncdiag.facts.scalars import Version
from ncdiag.nccl import library
from ncdiag.nccl.selection import settings as conf
from ncdiag.nccl.selection import sockets

pytestmark = [pytest.mark.lab, pytest.mark.root, pytest.mark.timeout(3000)]

CASES = int(os.environ.get("NCDIAG_LAB_CASES") or "50")
SEED = int(os.environ.get("NCDIAG_LAB_SEED") or "1")
PER_NETWORK = 25 if CASES > 100 else 10


class Answer(NamedTuple):
    """What the library did with one case."""

    interface: str | None
    address: str | None
    result: int
    log: str


_RUNNER = """
import ctypes, json, os, resource, sys, tempfile
resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
library = ctypes.CDLL(sys.argv[1])
code = ctypes.c_int(0)
library.ncclGetVersion(ctypes.byref(code))
print(json.dumps(code.value), flush=True)
for line in sys.stdin:
    with tempfile.TemporaryFile() as log:
        child = os.fork()
        if not child:
            os.dup2(log.fileno(), 1)
            os.dup2(log.fileno(), 2)
            os.environ.update(json.loads(line))
            result = library.ncclGetUniqueId(ctypes.create_string_buffer(4096))
            ctypes.CDLL(None).fflush(None)
            os._exit(result & 127)
        status = os.waitpid(child, 0)[1]
        log.seek(0)
        print(json.dumps([os.waitstatus_to_exitcode(status), log.read().decode("utf-8", "replace")]), flush=True)
"""
"""Loads the library once and forks for every case: NCCL reads a variable only once in a process."""

NAMES = (
    "eth0", "eth1", "eth10", "eno1", "ens5", "enp65s0f0np0", "ib0", "ib1", "ibmgmt", "ibp3s0", "bond0", "bond0.100",
    "docker0", "docker_gwbridge", "br-3f2a9c1b7d4e", "veth5a3f1c2", "veth0", "cni0", "flannel.1", "cali8e2f0a1b2c3",
    "virbr0", "virbr1", "vlan100", "tun0", "wg0", "lowpan0", "local0", "podman0", "lxcbr0", "vxlan.calico", "usb0",
    "kube-bridge", "z", "e9",
)  # fmt: skip


def network(rng: random.Random) -> tuple[Wire, ...]:
    """One to six interfaces in any order."""
    chosen = rng.sample(NAMES, rng.randint(1, 6))
    return tuple(
        (name, rng.choice(("veth", "veth", "bridge")), rng.choice(("up", "up", "up", "dark", "down")),
         tuple(addresses(rng, number)))
        for number, name in enumerate(chosen)
    )  # fmt: skip


def addresses(rng: random.Random, number: int) -> Iterator[str]:
    """None, one or several addresses; those of IPv6 may be link-local."""
    kinds = rng.choice(("4", "4", "4", "", "6", "L", "46", "4L", "44", "64", "L6"))
    for place, kind in enumerate(kinds):
        if kind == "4":
            yield f"10.{number + 1}.{place}.{rng.randint(1, 250)}/{rng.choice((16, 24, 30))}"
        else:
            yield f"{'fe80' if kind == 'L' else f'fd00:{number + 1}'}::{number + 1}:{rng.randint(1, 999):x}/64"


def settings(rng: random.Random, wires: tuple[Wire, ...]) -> dict[str, str]:
    """Variables, right ones and wrong ones."""
    found = {}
    if rng.random() < 0.8:
        found["NCCL_SOCKET_IFNAME"] = names(rng, [wire[0] for wire in wires])
    if rng.random() < 0.3:
        found["NCCL_SOCKET_FAMILY"] = rng.choice(("AF_INET", "AF_INET6", "AF_INET6", "ipv6", "AF_INET ", ""))
    if rng.random() < 0.2:
        found["NCCL_COMM_ID"] = comm_id(rng, wires)
    return found


def names(rng: random.Random, there: list[str]) -> str:
    """A list of names in one of the forms that people write."""
    pool = [*there, *there, "lo", "docker", "eth", "eth1", "ib", "bond", "veth", "br-", "v", "nothere0"]
    items = [rng.choice(pool) for _ in range(rng.choice((1, 1, 2, 3, 18)))]
    items = [item[: rng.randint(1, len(item))] if rng.random() < 0.2 else item for item in items]
    sign = rng.choice(("", "", "", "=", "=", "^", "^", "^=", "=^", "!", "^^"))
    text = sign + ",".join(items)
    odd = rng.random()
    if odd < 0.05:
        return rng.choice(("", "^", "=", "^=", ",", "e", "*", "eth*", "^,", ",lo", "lo,,", "=lo"))
    if odd < 0.10:
        return f"{text} "
    if odd < 0.15:
        return f'"{text}"'
    if odd < 0.20:
        return f"{text},^{rng.choice(there)}"
    return f"{text}:{rng.randint(0, 70000)}" if odd < 0.25 else text


def comm_id(rng: random.Random, wires: tuple[Wire, ...]) -> str:
    """An address in or beside the subnets, or nonsense."""
    held = [(name, address) for name, _, _, listed in wires for address in listed]
    odd = rng.random()
    if odd < 0.15 or not held:
        return rng.choice(("127.0.0.1:1234", "10.99.0.1:1", ":1", "[fd00::", "[10.1.0.1]:5", "[::1]:77", "0.0.0.0:1"))
    name, address = rng.choice(held)
    ip = address.split("/", maxsplit=1)[0]
    if ":" not in ip:
        return f"{ip.rpartition('.')[0]}.{rng.randint(1, 254)}:{rng.randint(1, 65535)}"
    zone = rng.choice((f"%{name}", "", "%lo")) if ip.startswith("fe80") else ""
    return f"[{ip.rpartition(':')[0]}:9{zone}]:4000"


def placed(rng: random.Random, wanted: dict[str, str], folder: Path, number: int) -> dict[str, str]:
    """The settings as an environment: some of them in a conf file, with the traps of its syntax."""
    if not wanted or rng.random() < 0.75:
        return wanted
    folder = folder / str(number)
    folder.mkdir()
    inside = dict(rng.sample(sorted(wanted.items()), rng.randint(1, len(wanted))))
    lines = ["# a comment", *(f"{name}={value}" for name, value in inside.items())]
    end = rng.choice(("\n", "\n", "\n", "\r\n"))
    if rng.random() < 0.2:
        lines.insert(1, "export NCCL_SOCKET_IFNAME=lo")
    kept = {name: value for name, value in wanted.items() if name not in inside or rng.random() < 0.2}
    where = rng.choice(("NCCL_CONF_FILE", "HOME"))
    file = folder / (".nccl.conf" if where == "HOME" else "job.conf")
    file.write_text(end.join(lines) + end, newline="")
    return {**kept, where: str(folder if where == "HOME" else file)}


def in_force(environment: dict[str, str], version: Version) -> dict[str, str]:
    """The settings that the release reads from the environment and the conf file."""
    path = conf.user_file(environment, "/nonexistent", version)
    assert path is not None
    files = [(path, Path(path).read_bytes().decode())] if Path(path).is_file() else []
    return {name: source.value for name, source in conf.effective(environment, files, version).items()}


def asked(space: Namespace, path: Path, environments: list[dict[str, str]]) -> tuple[Version, list[Answer]]:
    """What the library answers inside the namespace, case by case."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith("NCCL_")}
    clean |= {"NCCL_DEBUG": "INFO", "NCCL_DEBUG_SUBSYS": "INIT,BOOTSTRAP,ENV,NET"}
    done = subprocess.run(
        [*space.inside, sys.executable, "-I", "-c", _RUNNER, str(path)], check=True, text=True, capture_output=True,
        input="".join(json.dumps(one) + "\n" for one in environments), env=clean, timeout=600,
    )  # fmt: skip
    first, *rest = map(json.loads, done.stdout.splitlines())
    return Version.from_code(first), [answer(result, log) for result, log in rest]


def answer(result: int, log: str) -> Answer:
    found = library._BOOTSTRAP.search(log)
    return Answer(found[1] if found else None, found[2].split("%")[0] if found else None, result, log)


def disagreement(choice: sockets.Choice, real: Answer) -> str:
    """What differs between prediction and library; empty when they agree."""
    if not choice.known:
        return "the prediction is not certain"
    if real.result < 0:
        return f"the library died with signal {-real.result}"
    if choice.error is not None:
        return "" if real.interface is None and real.result and choice.error in real.log else "an error was predicted"
    predicted = choice.interfaces[0]
    return "" if (predicted.name, predicted.address) == (real.interface, real.address) else "another interface"


def test_the_library_agrees_in_every_case(
    namespace: Callable[[], Namespace], nccl_library: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rng = random.Random(SEED)
    seen: set[str] = set()
    wrong: list[str] = []
    errors = networks = 0
    version = None
    while len(seen) < CASES:
        wires = network(rng)
        space = namespace()
        space.build(*wires)
        networks += 1
        wanted = [placed(rng, settings(rng, wires), tmp_path, networks * 1000 + n) for n in range(PER_NETWORK)]
        environments = list({json.dumps([wires, one], sort_keys=True): one for one in wanted}.values())
        interfaces = space.interfaces()
        version, answers = asked(space, nccl_library, environments)
        assert len(answers) == len(environments)
        for environment, real in zip(environments, answers, strict=True):
            seen.add(json.dumps([wires, environment], sort_keys=True))
            choice = sockets.bootstrap(interfaces, in_force(environment, version), version)
            errors += choice.error is not None
            if problem := disagreement(choice, real):
                wrong.append(
                    f"{problem}: {wires} {environment}\n  predicted {choice.names or choice.error or choice.possible}"
                    f", the library: {real.interface} {real.address}, result {real.result}\n  {real.log[-600:]}"
                )
    with capsys.disabled():
        print(  # noqa: T201  (the lab's report)
            f"\nlab: NCCL {version}: {len(seen)} cases in {networks} networks, seed {SEED}: {len(wrong)} disagreements "
            f"({errors} cases in which NCCL finds no interface)"
        )
    assert not wrong, "\n".join(wrong[:5])
    assert 0 < errors < len(seen) / 2, "the cases are lopsided"
