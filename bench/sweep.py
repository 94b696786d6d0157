"""A sweep of many hosts against ``clush`` on the same hosts, which are network namespaces with an sshd each.

``python bench/sweep.py --hosts 100``; as root, with iproute2 and openssh-server.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path
from time import perf_counter

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))
from hosts import hosts, missing

BIN = Path(sys.executable).parent


def _timed(what: str, line: list[str]) -> float:
    begin = perf_counter()
    done = subprocess.run(line, stdin=subprocess.DEVNULL, capture_output=True, check=False)
    took = perf_counter() - begin
    last = done.stderr.decode("utf-8", "replace").strip().splitlines()[-1:]
    print(f"{what:60}{took:>10.1f}   {' '.join(last)[:60]}")
    return took


def run(count: int, fanout: int) -> None:
    """Print the times, and the sweep as a share of what is asked: 1.3 times clush and one local check."""
    with tempfile.TemporaryDirectory() as folder, hosts(Path(folder), count) as fleet:
        nodes, options = f"n[1-{count}]", fleet.ssh
        print(f"{f'{count} hosts, {fanout} at once':60}{'s':>10}")
        clush = [str(BIN / "clush"), "-f", str(fanout), "-o", options, "-w", nodes, "true"]
        check = [str(BIN / "ncdiag"), "check"]
        sweep = [*check, "--nodes", nodes, "--via", "ssh", "--ssh-options", options, "--fanout", str(fanout)]
        _timed("  (warm) ncdiag check", [*fleet.head, *check])
        bare = _timed("  clush -w ... true", [*fleet.head, *clush])
        local = _timed("  ncdiag check", [*fleet.head, *check])
        whole = _timed("  ncdiag check --nodes ...", [*fleet.head, *sweep])
        print(f"{'  sweep / (1.3 x clush + check)':60}{whole / (1.3 * bare + local):>10.2f}")


def main() -> None:
    """Take the options from the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--hosts", type=int, default=100)
    parser.add_argument("--fanout", type=int, default=64)
    options = parser.parse_args()
    why = missing()
    if why:
        sys.exit(f"no hosts can be made here: {why}")
    run(options.hosts, options.fanout)


if __name__ == "__main__":
    main()
