"""Hosts that are network namespaces: each with interfaces, a name and an sshd of its own, behind one switch."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from processes import until

SSHD = shutil.which("sshd", path=f"{os.environ.get('PATH', '')}:/usr/sbin") or ""
TOOLS = ("ip", "ssh", "ssh-keygen", "unshare")
NETWORK = "10.77"

_SSHD = """
Port 22
ListenAddress 0.0.0.0
HostKey {folder}/host_key
AuthorizedKeysFile {folder}/key.pub
PidFile none
UsePAM no
StrictModes no
MaxStartups 500
MaxSessions 100
PermitRootLogin yes
PrintMotd no
SetEnv PATH={folder}/bin:{path}
"""
_SSH = """
Host n*
  ProxyCommand none
  User root
  IdentityFile {folder}/key
  StrictHostKeyChecking no
  UserKnownHostsFile /dev/null
  LogLevel ERROR
{names}
"""


class Hosts:
    """``head`` and ``n1`` ... in namespaces; `head` is the prefix of a command line that runs on the head.

    ``before`` gives lines of a shell that each process of a host starts with, in a mount namespace of its own.
    """

    def __init__(self, folder: Path, count: int, before: Callable[[str], str] = lambda _: "") -> None:
        self._before = before
        self.folder, self.names = folder, [f"n{number}" for number in range(1, count + 1)]
        self.tag = f"nc{uuid.uuid4().hex[:6]}"
        self.head = self.inside("head")
        self.ssh = f"-F {folder}/ssh_config"
        self._servers: list[subprocess.Popen[bytes]] = []

    def space(self, host: str) -> str:
        """The namespace of a host."""
        return f"{self.tag}{host}"

    def inside(self, host: str) -> list[str]:
        """What goes in front of a command line for it to run on a host."""
        return [
            "ip",
            "netns",
            "exec",
            self.space(host),
            "unshare",
            "-u",
            "sh",
            "-c",
            f'hostname {host} && {self._before(host)} exec "$@"',
            "sh",
        ]

    def address(self, host: str) -> str:
        """The address of its interface eth0."""
        number = 0 if host == "head" else int(host[1:])
        return f"{NETWORK}.{number // 250}.{number % 250 + 1}"

    def start(self) -> None:
        """Make the namespaces and wires, and start an sshd on each host but the head."""
        for key in ("key", "host_key"):
            _run("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(self.folder / key))
        names = "\n".join(f"Host {name}\n  HostName {self.address(name)}" for name in self.names)
        (self.folder / "bin").mkdir()
        (self.folder / "sshd_config").write_text(_SSHD.format(folder=self.folder, path=os.environ["PATH"]))
        (self.folder / "ssh_config").write_text(_SSH.format(folder=self.folder, names=names))
        Path("/run/sshd").mkdir(mode=0o755, exist_ok=True)
        everyone = ["switch", "head", *self.names]
        _ip([f"netns add {self.space(host)}" for host in everyone])
        for host in everyone[1:]:  # `ip netns exec` puts what is in this folder over the files in /etc
            own = self.etc(host)
            own.mkdir(parents=True)
            shutil.copy("/etc/hosts", own / "hosts")
        switch = ["link add br0 type bridge", "link set br0 up"]
        for place, host in enumerate(everyone[1:]):
            switch.append(f"link add p{place} type veth peer name eth0 netns {self.space(host)}")
            switch += [f"link set p{place} master br0", f"link set p{place} up"]
        _ip(switch, self.space("switch"))
        for host in everyone[1:]:
            address = f"addr add {self.address(host)}/16 dev eth0"
            _ip(["link set lo up", address, "link set eth0 up"], self.space(host))
        for host in self.names:
            self.serve(host)
        for host in self.names:
            up = until(lambda host=host: b":22" in self.run(host, "ss", "-Hltn").stdout)  # type: ignore[misc]
            assert up, f"no sshd on {host}"

    def serve(self, host: str, *words: str, first: str = "true") -> None:
        """Start the sshd of a host, with more options, after a command of a shell."""
        server = [SSHD, "-D", "-e", "-f", str(self.folder / "sshd_config"), *words]
        line = [*self.inside(host), "sh", "-c", f'{first} && exec "$@"', "sh", *server]
        with (self.folder / f"{host}.sshd").open("wb") as log:
            self._servers.append(subprocess.Popen(line, stdin=subprocess.DEVNULL, stdout=log, stderr=log))

    def etc(self, host: str) -> Path:
        """The folder with the files that a host has in place of those in /etc: its ``hosts``."""
        return Path("/etc/netns") / self.space(host)

    @contextlib.contextmanager
    def named(self, **wrong: Mapping[str, str]) -> Iterator[None]:
        """All hosts know each other's names; ``wrong`` has, by host, the addresses that it has for some of them."""
        right = {name: self.address(name) for name in self.names}
        try:
            for host in ("head", *self.names):
                known = {"localhost": "127.0.0.1", **right, **wrong.get(host, {})}
                lines = "".join(f"{address} {name}\n" for name, address in known.items())
                (self.etc(host) / "hosts").write_text(lines)  # in place: it is mounted
            yield
        finally:
            for host in ("head", *self.names):
                (self.etc(host) / "hosts").write_text(Path("/etc/hosts").read_text())

    @contextlib.contextmanager
    def served(self, host: str, *words: str, first: str = "true") -> Iterator[None]:
        """The sshd of a host is another one, with these options, and in mounts that a shell changes ``first``."""
        self._restart(host, *words, first=first)
        try:
            yield
        finally:
            self._restart(host)

    def _restart(self, host: str, *words: str, first: str = "true") -> None:
        for pid in self.pids(host):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        assert until(lambda: not self.pids(host))
        self.serve_again(host, *words, first=first)

    def serve_again(self, host: str, *words: str, first: str = "true") -> None:
        """Start the sshd of a host on which none runs, and wait until it listens: a test may end it at once."""
        self.serve(host, *words, first=first)
        assert until(lambda: b"LISTEN" in self.run(host, "ss", "-ltn").stdout), f"no sshd on {host}"

    def run(self, host: str, *words: str) -> subprocess.CompletedProcess[bytes]:
        """Run a command on a host."""
        return subprocess.run([*self.inside(host), *words], capture_output=True, check=False)

    @contextlib.contextmanager
    def stuck(self, program: str, *names: str) -> Iterator[None]:
        """On these hosts, as long as the context lasts, a program does not come to an end."""
        there, tool = "|".join(names), self.folder / "bin" / program
        real = shutil.which(program)
        tool.write_text(f'#!/bin/bash\ncase $(hostname) in {there}) exec sleep 300;; esac\nexec {real} "$@"\n')
        tool.chmod(0o755)
        try:
            yield
        finally:
            tool.unlink()

    @contextlib.contextmanager
    def changed(self, *names: str, to: Sequence[str], back: Sequence[str]) -> Iterator[None]:
        """On these hosts (or the switch), as long as the context lasts, lines of ``ip`` hold."""
        try:
            for name in names:
                _ip(to, self.space(name))
            yield
        finally:
            for name in names:
                _ip(back, self.space(name), strict=False)

    def bridges(self, *names: str, address: str = "172.17.0.1/16") -> contextlib.AbstractContextManager[None]:
        """A bridge docker0 with one address on all these hosts, and a container's wire on it."""
        to = [
            "link add name docker0 type bridge", "link add name vetha type veth peer name vethb",
            "link set vetha master docker0", "link set vetha up", "link set vethb up", "link set docker0 up",
            f"addr add {address} dev docker0",
        ]  # fmt: skip
        return self.changed(*names, to=to, back=["link del vetha", "link del docker0"])

    @contextlib.contextmanager
    def black_hole(self, host: str, *others: str) -> Iterator[None]:
        """All have jumbo frames, and the port of the switch to ``host`` has not: it drops what is larger."""
        port = f"p{self.names.index(host) + 1}"
        big = ["link set eth0 mtu 9000 gso_max_segs 1"]  # what is segmented later passes whatever its size is
        ports = [f"link set p{place} mtu 9000" for place in range(len(self.names) + 1)]
        small = [f"link set p{place} mtu 1500" for place in range(len(self.names) + 1)]
        normal = ["link set eth0 mtu 1500 gso_max_segs 65535"]
        with (
            self.changed("switch", to=[*ports, f"link set {port} mtu 1500"], back=small),
            self.changed(host, *others, to=big, back=normal),
        ):
            yield

    @contextlib.contextmanager
    def filtered(self, host: str, first: int, last: int) -> Iterator[None]:
        """New connections to these TCP ports of a host are dropped."""
        rule = ["INPUT", "-p", "tcp", "--dport", f"{first}:{last}", "-m", "state", "--state", "NEW", "-j", "DROP"]
        try:
            done = self.run(host, "iptables", "-A", *rule)
            assert done.returncode == 0, done.stderr
            yield
        finally:
            self.run(host, "iptables", "-D", *rule)

    @contextlib.contextmanager
    def rail(self, *names: str) -> Iterator[None]:
        """A second network: eth1 with 10.78.0.x/24 on these hosts."""
        with contextlib.ExitStack() as stack:
            switch = ["link add br1 type bridge", "link set br1 up"]
            stack.enter_context(self.changed("switch", to=switch, back=["link del br1"]))
            for place, name in enumerate(names, 1):
                wire = [
                    f"link add name r{place} type veth peer name eth1 netns {self.space(name)}",
                    f"link set r{place} master br1", f"link set r{place} up",
                ]  # fmt: skip
                stack.enter_context(self.changed("switch", to=wire, back=[f"link del r{place}"]))
                _ip([f"addr add {self.rail_address(name)}/24 dev eth1", "link set eth1 up"], self.space(name))
            yield

    def rail_address(self, host: str) -> str:
        """The address of its interface eth1, where it has one."""
        return f"10.78.0.{int(host[1:])}"

    def pids(self, host: str) -> list[int]:
        """The processes of a host."""
        shown = subprocess.run(["ip", "netns", "pids", self.space(host)], capture_output=True, text=True, check=False)
        return [int(word) for word in shown.stdout.split()]

    def stop(self) -> None:
        """End what runs in the namespaces, and remove them."""
        for host in ("switch", "head", *self.names):
            for pid in self.pids(host):
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
        for server in self._servers:
            server.wait()
        for host in ("switch", "head", *self.names):
            subprocess.run(["ip", "netns", "del", self.space(host)], capture_output=True, check=False)
            shutil.rmtree(self.etc(host), ignore_errors=True)


@contextlib.contextmanager
def hosts(folder: Path, count: int, before: Callable[[str], str] = lambda _: "") -> Iterator[Hosts]:
    """So many hosts, for as long as the context lasts."""
    made = Hosts(folder, count, before)
    try:
        made.start()
        yield made
    finally:
        made.stop()


def missing() -> str:
    """What is missing here to make hosts; empty for nothing."""
    if os.geteuid() != 0:
        return "network namespaces take root"
    if not SSHD:
        return "sshd is not installed (openssh-server)"
    return next((f"{tool} is not installed" for tool in TOOLS if shutil.which(tool) is None), "")


def _run(*words: str) -> None:
    subprocess.run(words, check=True, capture_output=True)


def _ip(lines: Sequence[str], namespace: str = "", *, strict: bool = True) -> None:
    inside = ["-n", namespace] if namespace else []
    force = [] if strict else ["-force"]
    text = "\n".join(lines)
    subprocess.run(["ip", *inside, *force, "-batch", "-"], input=text, text=True, check=strict, capture_output=True)
