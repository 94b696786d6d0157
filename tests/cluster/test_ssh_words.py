"""How ssh connects for a launch: the options of its launcher, of which none starts a program on this host."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable

import pytest

from ncdiag.apps.cluster.ssh_words import Ways, ways
from ncdiag.base.errors import UsageError

KEPT = [
    ("", (), None),
    ("-p 12345 -q", ("-p", "12345"), 12345),
    ("-oPort=2222", ("-o", "Port=2222"), 2222),
    ("-o Port=2222 -p 22", ("-o", "Port=2222", "-p", "22"), 2222),
    ("-qp 2022 -i /keys/id", ("-p", "2022", "-i", "/keys/id"), 2022),
    ("-4Cp22", ("-4", "-C", "-p", "22"), 22),
    ("-n -tt -L 8000:a:80 -F config -J gate", ("-F", "config", "-J", "gate"), None),
    ("-f -N -G -V", (), None),
    ("-o BatchMode=no -o StrictHostKeyChecking=no -o ControlPath=/tmp/x", ("-o", "StrictHostKeyChecking=no"), None),
    ("-o ProxyCommand=none", ("-o", "ProxyCommand=none"), None),
]


@pytest.mark.parametrize(("text", "options", "port"), KEPT)
def test_what_says_how_to_connect_is_kept(text: str, options: tuple[str, ...], port: int | None) -> None:
    assert ways(text.split()) == Ways(options, port)


STARTING = [
    ["-o", "ProxyCommand=touch x"],
    ["-oproxycommand touch x"],
    ["-o", '"ProxyCommand" touch x'],
    ["-o", " =ProxyCommand=touch x"],
    ["-4o", "KnownHostsCommand=/bin/x"],
    ["-o", "PKCS11Provider=./x.so"],
]


@pytest.mark.parametrize("words", STARTING)
def test_ssh_starts_nothing_here(words: list[str], need: Callable[[str, object, str], None]) -> None:
    """The real ssh takes each of these for what names a program."""
    with pytest.raises(UsageError, match="starts a program here; ncdiag starts no program"):
        ways(words)
    need("ssh", shutil.which("ssh"), "ssh is not installed (openssh-client)")
    told = subprocess.run(["ssh", "-G", *words, "n1"], capture_output=True, check=True, text=True).stdout
    names = [line.split()[0] for line in told.splitlines()]
    assert {"proxycommand", "knownhostscommand", "pkcs11provider"} & set(names)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["n9", "touch", "x"], "'n9', which is not an ssh option"),
        (["-4", "--", "n9"], "'--', which is not an ssh option"),
        (["-p", "0"], "the port '0', which is not a valid port"),
        (["-p", "２２"], "which is not a valid port"),  # noqa: RUF001
        (["-p"], "the port '', which is not a valid port"),
        (["-o", "Port=ssh"], "the port 'ssh'"),
    ],
)
def test_what_would_be_a_host_or_is_no_port(words: list[str], said: str) -> None:
    with pytest.raises(UsageError, match="the launch calls ssh with") as refused:
        ways(words)
    assert said in str(refused.value)
