"""Network namespaces, which the fixture ``namespace`` of tests/nccl makes, and the whole program inside one."""

from __future__ import annotations

import json
import os
import subprocess

from processes import until

from ncdiag.facts.model import Address, Interface

Wire = tuple[str, str, str, tuple[str, ...]]
"""Name, kind (veth, bridge or lo), state (up, dark or down) and addresses of an interface."""


class Namespace:
    """A network namespace with interfaces of its own; ``inside`` before a command runs it there."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.far = f"{name}far"
        self.inside = ("ip", "netns", "exec", name)

    def build(self, *interfaces: Wire) -> None:
        """Make the interfaces in this order."""
        sysctl = "net.ipv6.conf.default.addr_gen_mode=1"  # no link-local addresses but those that are asked for
        subprocess.run([*self.inside, "sysctl", "-qw", sysctl], check=True, capture_output=True)
        batch = ["link set lo up"]
        far = []
        for number, (name, kind, state, addresses) in enumerate(interfaces):
            if kind == "lo":
                continue
            if kind == "veth":
                batch.append(f"link add {name} type veth peer name p{number} netns {self.far}")
                if state == "up":
                    far.append(f"link set p{number} up")
            else:
                batch.append(f"link add {name} type bridge")
            batch += [f"addr add {address} dev {name}{' nodad' if ':' in address else ''}" for address in addresses]
            if state != "down":
                batch.append(f"link set {name} up")
        self._ip(self.name, batch)
        self._ip(self.far, far)
        lit = {name for name, kind, state, _ in interfaces if kind == "veth" and state == "up"}
        until(lambda: lit <= {found.name for found in self.interfaces() if found.operstate == "up"})

    @staticmethod
    def _ip(namespace: str, lines: list[str]) -> None:
        text = "\n".join(lines)
        subprocess.run(["ip", "-n", namespace, "-batch", "-"], input=text, text=True, check=True, capture_output=True)

    def interfaces(self) -> tuple[Interface, ...]:
        """What `ip -j addr` says inside, in the kernel's order."""
        done = subprocess.run(["ip", "-n", self.name, "-j", "addr"], check=True, capture_output=True, text=True)
        return tuple(
            Interface(
                host=self.name, name=link["ifname"], ifindex=link["ifindex"],
                up="UP" in link["flags"], operstate=link["operstate"].lower(),
                addresses=tuple(Address(a["local"], a["prefixlen"]) for a in link["addr_info"]),
            )
            for link in json.loads(done.stdout) if link
        )  # fmt: skip


def ran(
    space: Namespace, program: list[str], *words: str, env: dict[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """The program inside a namespace, on a host of the namespace's name."""
    named = ("unshare", "-u", "sh", "-c", f'hostname {space.name} && exec "$@"', "sh")
    return subprocess.run(
        [*space.inside, *named, *program, *words], capture_output=True, text=True, check=False,
        env={**os.environ, "LD_LIBRARY_PATH": "", **(env or {})},
    )  # fmt: skip
