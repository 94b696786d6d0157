"""The command line that a host runs: its installed ncdiag, or a program that is sent.

It is one argument for a shell of any kind, needs no file and leaves none behind.
"""

from __future__ import annotations

import base64
import json
import shlex
import sys
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ncdiag.agent.wrap import MARK
from ncdiag.machine import remote

NONE = f"{MARK} - none"
"""The line of a host on which nothing can be run."""

_PYTHONS = "python3 python python3.12 python3.11 python3.10 python3.9 python3.8 python3.6 /usr/libexec/platform-python"
_NEW = '$p -c "import sys;sys.exit(sys.version_info<(3,6))"'


def installed(seconds: float, job: str = "", stacks: str = "auto") -> str:
    """Run the ncdiag that is at the same path as this one (a shared installation), or in PATH.

    ``job`` is the name of a job whose processes it examines, ``stacks`` which stacks it takes of them.
    """
    words = f" {shlex.quote(job)} {stacks}" if job else ""
    options = f" --job {shlex.quote(job)} --stacks {stacks}" if job else ""
    python, package = shlex.quote(sys.executable), shlex.quote(str(Path(__file__).parent))
    same = f"[ -x {python} ] && [ -d {package} ] && exec {python} -m ncdiag.apps.cluster.worker {seconds:g}{words}"
    other = f'[ -x "$n" ] && exec "$n" check --partial --wrapped {seconds:g}{options}'
    places = '"$(command -v ncdiag)" "$HOME/.local/bin/ncdiag"'
    return _shell(f'{same}; for n in {places}; do {other}; done; echo "{NONE} ncdiag"; exit 127')


def pushed(seconds: float) -> str:
    """Send the inspecting program: one for the host's Python (3.6 or newer), and one for its shell if there is none."""
    start = f"import base64,zlib;exec(zlib.decompress(base64.b64decode('{_packed(remote.python_program())}'),47))"
    lines = _quoted(f'{{print "{MARK}", h, NR - 1, $0}} END {{print "{MARK}", h, "end", NR}}')
    wrap = f'gzip -c | base64 | awk -v h="${{NCDIAG_HOST:-$(hostname)}}" "{lines}"'
    return _shell(
        f"for p in {_PYTHONS}; do command -v $p >/dev/null 2>&1 && {_NEW} && "
        f'exec $p -c "{start}" --wrapped {seconds:g}; done; '
        "for p in base64 gzip awk; do command -v $p >/dev/null 2>&1 || "
        f'{{ echo "{NONE} Python, nor $p for the shell"; exit 127; }}; done; '
        f"echo {_packed(remote.shell_script())} | base64 -d | gzip -dc | sh -s 2>/dev/null | {wrap}"
    )


_AGENT = (
    "addresses", "run", "libraries", "wrap", "probe/ways", "probe/needs", "probe/bandwidth", "probe/server",
    "probe/client", "probe/rails", "probe/main",
)  # fmt: skip
"""The modules of `ncdiag.agent` that test the connections of a host, each after those that it imports."""


def agent(plan: Mapping[str, Any]) -> str:
    """Send the connection tests for the host's Python: `ncdiag.agent.probe.main.probe` with this plan."""
    program = "\n\n".join([*remote.joined(_AGENT), f"sys.exit(probe(json.loads({json.dumps(json.dumps(plan))})))\n"])
    start = f"import base64,zlib;exec(zlib.decompress(base64.b64decode('{_packed(program)}'),47))"
    return _shell(
        f"for p in {_PYTHONS}; do command -v $p >/dev/null 2>&1 && {_NEW} && "
        f'exec $p -c "{start}"; done; echo "{NONE} Python"; exit 127'
    )


def _packed(text: str) -> str:
    """The text as gzip in base64, for Python and for ``gzip``."""
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    return base64.b64encode(packer.compress(text.encode()) + packer.flush()).decode("ascii")


def _shell(script: str) -> str:
    """The script for ``sh``, whatever the user's shell is."""
    return f"exec sh -c {shlex.quote(script)}"


def _quoted(text: str) -> str:
    """Text quoted for a place between double quotes."""
    return "".join(f"\\{letter}" if letter in '\\"$`' else letter for letter in text)
