"""Bandwidth of RDMA ports between two hosts: runs of ``ib_write_bw``, none of which outlives its caller.

The options are those that perftest had in 4.1 already (linux-rdma/perftest, tag V4.1-0.2 of 2017,
src/perftest_parameters.c). Its server listens on all addresses and accepts the first client: it is started for one
caller that has shown the secret of the probe, and ends with that connection.
"""

import contextlib
import os
import random
import select
import shutil
import socket
import subprocess
import threading
import time
from typing import Any, Dict, Iterator, List, Mapping, Optional, Sequence, Set, Tuple

TOOL = "ib_write_bw"
_PATHS = "/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/opt/perftest/bin"
_SIZE, _PAIRS = 1 << 20, 4
"""Message size in bytes and number of queue pairs that nearly reach a healthy port's rate (perftest README)."""
_SETTLE = 3.0
"""Seconds for the tool to become ready, and again for its two sides to connect and to end."""
_LONGEST_WAIT = 1800.0
_OUTPUT = 64 << 10
_DRAWS = 20
_LISTENS = "0A"  # TCP_LISTEN in /proc/net/tcp (include/net/tcp_states.h)
_LEASE = (
    'exec 3<&0; "$@" </dev/null 3<&- & p=$!; {{ cat <&3; {kill} $p; }} >/dev/null 2>&1 & exec 3<&-; '
    "wait $p; s=$?; kill $! 2>/dev/null; exit $s"
)
"""Ends the program when standard input ends, which also happens if this process is killed."""
_KILL, _ASK_FIRST = "kill -9", "kill -15 $p; sleep 2; kill -9"
_GONE = 1.0


def rdma_ports(root: str = "/sys/class/infiniband") -> List[Dict[str, Any]]:
    """The active ports: ``hca``, ``port``, ``layer`` as spelled by the kernel, ``rate`` in Gbit/s and ``gid``.

    ``gid`` is the index of the first RoCE v2 entry with an IPv4 address, as NCCL chooses; None on InfiniBand.
    """
    found = []
    for hca in sorted(_listed(root)):
        for number in sorted(filter(str.isdigit, _listed("{}/{}/ports".format(root, hca))), key=int):
            place = "{}/{}/ports/{}".format(root, hca, number)
            if _word(place, "state").partition(":")[0] == "4":  # IB_PORT_ACTIVE
                layer = _word(place, "link_layer")
                rate = _word(place, "rate").partition(" ")[0]
                found.append({
                    "hca": hca, "port": int(number), "layer": layer,
                    "rate": float(rate) if rate.replace(".", "", 1).isdigit() else None,
                    "gid": _gid(place) if layer == "Ethernet" else None,
                })  # fmt: skip
    return found


def _gid(place: str) -> Optional[int]:
    kinds = sorted(filter(str.isdigit, _listed(place + "/gid_attrs/types")), key=int)
    routable = [kind for kind in kinds if _word(place, "gid_attrs/types/" + kind) == "RoCE v2"]
    by_ipv4 = [kind for kind in routable if _word(place, "gids/" + kind).startswith("0000:0000:0000:0000:0000:ffff:")]
    return int((by_ipv4 or routable)[0]) if routable else None


def _listed(folder: str) -> List[str]:
    with contextlib.suppress(OSError):
        return os.listdir(folder)
    return []


def _word(folder: str, name: str) -> str:
    with contextlib.suppress(OSError), open("{}/{}".format(folder, name), errors="replace") as file:
        return file.read(200).strip()
    return ""


def where(program: str = TOOL) -> Optional[str]:
    """The path of a program; None if it is not installed."""
    return shutil.which(program, path=":".join(filter(None, (os.environ.get("PATH"), _PATHS))))


def command(port: Mapping[str, Any], seconds: int, listening: int) -> List[str]:
    """The command line of both sides, without the address of the server."""
    gid = ["-x", str(port["gid"])] if port.get("gid") is not None else []
    return [
        TOOL, "-d", port["hca"], "-i", str(port["port"]), *gid, "-p", str(listening), "-s", str(_SIZE),
        "-q", str(_PAIRS), "-F", "-D", str(seconds), "--report_gbits",
    ]  # fmt: skip


@contextlib.contextmanager
def near(hca: str, root: str = "/sys") -> Iterator[None]:
    """Programs started in this context run on CPUs of the card's NUMA node, so that their buffers are there, too.

    Otherwise a slow path from memory to the card would look like a slow link.
    """
    before = os.sched_getaffinity(0)
    node = _word("{}/class/infiniband/{}/device".format(root, hca), "numa_node")
    cpus = before & cpus_of(_word("{}/devices/system/node/node{}".format(root, node), "cpulist"))
    try:
        if cpus:
            os.sched_setaffinity(0, cpus)
        yield
    finally:
        os.sched_setaffinity(0, before)


def cpus_of(text: str) -> Set[int]:
    """Parse ``0-3,8`` to the set of numbers."""
    found = set()  # type: Set[int]
    for piece in text.split(","):
        first, _, last = piece.partition("-")
        if first.isdigit() and (last or first).isdigit():
            found |= set(range(int(first), int(last or first) + 1))
    return found


class Held:
    """A program that ends with this object, and with this process however that ends. Raises OSError."""

    def __init__(self, argv: Sequence[str], more: Optional[Mapping[str, str]] = None, *, gently: bool = False) -> None:
        """Start it with ``more`` variables and both outputs merged. ``gently``: send SIGTERM before SIGKILL."""
        self._patience = _GONE + (2 if gently else 0)
        lease = _LEASE.format(kill=_ASK_FIRST if gently else _KILL)
        path = ":".join(filter(None, (os.environ.get("PATH"), _PATHS)))
        self._process = subprocess.Popen(  # noqa: S603  (an argument list)
            ["/bin/sh", "-c", lease, "sh", *argv], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, env=dict(os.environ, PATH=path, LC_ALL="C", **(more or {})),
        )  # fmt: skip

    def close(self) -> None:
        """End it, if it is still running."""
        for stream in (self._process.stdin, self._process.stdout):
            if stream is not None:
                with contextlib.suppress(OSError):
                    stream.close()
        with contextlib.suppress(subprocess.TimeoutExpired):  # a process stuck in the kernel is left alone
            self._process.wait(self._patience)

    def has_ended(self) -> bool:
        """True if it does not run any more."""
        return self._process.poll() is not None

    def said(self, ends: float) -> Tuple[str, Optional[int]]:
        """(output until it ended or ``ends``, exit status); the status is None if it is still running."""
        data, stream = b"", self._process.stdout
        while stream is not None and len(data) < _OUTPUT:
            if not select.select([stream], [], [], max(0.0, ends - time.monotonic()))[0]:
                return data.decode("utf-8", "replace"), None
            part = os.read(stream.fileno(), _OUTPUT)
            if not part:
                break
            data += part
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(max(0.1, ends - time.monotonic()))
        return data.decode("utf-8", "replace"), self._process.poll()


class Receiver:
    """The receiving side: starts a server of the tool for the current partner."""

    def __init__(self, ports: Sequence[Mapping[str, Any]], seconds: int, within: Optional[Sequence[int]]) -> None:
        """``seconds`` of one run; ``within``: the range of ports to listen on, else one is chosen by the kernel."""
        self._ports, self._seconds, self._within = ports, seconds, within
        self._partner = ""
        self._through: Set[str] = set()
        self._changed = threading.Condition()

    def meet(self, host: str) -> None:
        """Make this host the partner; others wait for their turn."""
        with self._changed:
            self._partner = host
            self._changed.notify_all()

    def wait_for(self, host: str, ends: float) -> None:
        """Wait until a host has sent everything to this one, or until ``ends``."""
        with self._changed:
            self._changed.wait_for(lambda: host in self._through, max(0.0, ends - time.monotonic()))

    def serve(self, caller: socket.socket, words: Sequence[str]) -> None:
        """Answer a request until the caller hangs up. Raises OSError and ValueError.

        ``HOST SECONDS HCA PORT`` requests a server, which waits that long; the answer is ``listens N``, ``busy ...`` or
        ``cannot WHY``. ``HOST`` alone: it has sent everything.
        """
        host, rest = words[0], words[1:]
        if not rest:
            with self._changed:
                self._through.add(host)
                self._changed.notify_all()
            return
        with self._changed:
            if not self._changed.wait_for(lambda: self._partner == host, min(float(rest[0]), _LONGEST_WAIT)):
                caller.sendall(b"busy with another host\n")
                return
        port = next((one for one in self._ports if [one["hca"], str(one["port"])] == rest[1:]), None)
        listening = _free(self._within)
        if port is None or listening is None:
            caller.sendall(b"cannot no such port\n")
            return
        with near(port["hca"]):
            server = Held(command(port, self._seconds, listening))
        with contextlib.closing(server) as held:
            why = _ready(held, listening)
            caller.sendall("{}\n".format("cannot " + why if why else "listens {}".format(listening)).encode())
            caller.settimeout(self._seconds + 3 * _SETTLE)
            if not why:
                caller.recv(1)  # it sends nothing more, and hangs up at its end


def _free(within: Optional[Sequence[int]]) -> Optional[int]:
    """A port on which nobody listens; the tool takes it a moment later."""
    for _ in range(_DRAWS):
        port = random.randint(within[0], within[1]) if within else 0  # noqa: S311
        with contextlib.suppress(OSError), socket.socket(socket.AF_INET6 if socket.has_ipv6 else socket.AF_INET) as one:
            one.bind(("", port))
            return int(one.getsockname()[1])
    return None


def _ready(held: Held, port: int) -> str:
    """Wait until it listens; returns the reason if it does not."""
    ends = time.monotonic() + _SETTLE
    while time.monotonic() < ends:
        if port in _listening():
            return ""
        if held.has_ended():
            said, status = held.said(ends)
            return last_words(said) or "it ended with {}".format(status)
        time.sleep(0.05)
    return "it did not listen within {:g} s".format(_SETTLE)


def _listening() -> Iterator[int]:
    """The TCP ports on which a program in this network namespace listens."""
    for table in ("/proc/net/tcp", "/proc/net/tcp6"):
        with contextlib.suppress(OSError), open(table) as file:
            for line in file:
                words = line.split()
                if len(words) > 3 and words[3] == _LISTENS:  # noqa: PLR2004
                    yield int(words[1].rpartition(":")[2], 16)


def sent(port: Mapping[str, Any], seconds: int, listening: int, address: str) -> Tuple[str, str, str]:
    """Run the sending side: (command line, output, reason of a failure or "")."""
    argv = [*command(port, seconds, listening), address]
    try:
        with near(port["hca"]):
            sender = Held(argv)
        with contextlib.closing(sender) as held:
            said, status = held.said(time.monotonic() + seconds + 2 * _SETTLE)
    except OSError as error:
        return " ".join(argv), "", error.strerror or "it did not start"
    if status is None:
        return " ".join(argv), said, "it did not end within {:g} s".format(seconds + 2 * _SETTLE)
    return " ".join(argv), said, "" if status == 0 else last_words(said) or "it ended with {}".format(status)


def last_words(said: str) -> str:
    """The last line that is not blank, short enough for a phrase."""
    lines = [line.strip() for line in said.splitlines() if line.strip(" -*\t")]
    return lines[-1][:200] if lines else ""
