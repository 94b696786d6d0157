"""``ncdiag serve``: a page to paste into, for a team."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ncdiag.base.errors import UsageError
from ncdiag.base.patterns import lazy_regex
from ncdiag.commands._options import application
from ncdiag.commands._output import say, write

if TYPE_CHECKING:
    from ncdiag import diagnose

app = application()

NEEDED = {"starlette": "starlette", "uvicorn": "uvicorn", "python_multipart": "python-multipart"}
"""The packages that the page needs (extra ``web``), by import name."""
_MIB = 1 << 20
_DAY = 86_400
_TOKEN = lazy_regex(r"[A-Za-z0-9_-]{8,200}")


@app.command(
    help="Serve a web page to paste a log or drop files and read the diagnosis in the browser. It listens "
    "only on this machine unless --host is given, its address contains a random token, it loads nothing "
    "from other sites and stores nothing.",
)
def serve(
    *,
    host: Annotated[str, typer.Option(metavar="ADDRESS", help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[
        int, typer.Option(metavar="N", min=0, max=65535, help="Port to listen on (0: any free port).")
    ] = 8765,
    token: Annotated[
        str | None,
        typer.Option(
            metavar="WORD",
            envvar="NCDIAG_SERVE_TOKEN",
            show_default="random",
            show_envvar=True,
            help="Secret token in the address of the page.",
        ),
    ] = None,
    no_token: Annotated[
        bool, typer.Option("--no-token", help="Use no token; only allowed when listening on this machine alone.")
    ] = False,
    name: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="Another name of this host, as a proxy sends it (repeatable)."),
    ] = None,
    keep: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Store all inputs and reports in DIR; the page says so.")
    ] = None,
    upload_limit: Annotated[int, typer.Option(metavar="MIB", min=1, help="Maximum size of one upload, in MiB.")] = 256,
    time_limit: Annotated[
        float, typer.Option(metavar="SECONDS", min=0.1, help="Time limit of one diagnosis, in seconds.")
    ] = 120,
    memory_limit: Annotated[
        int, typer.Option(metavar="MIB", min=512, help="Memory limit of one diagnosis, in MiB.")
    ] = 4096,
    at_once: Annotated[
        int | None,
        typer.Option(
            metavar="N", min=1, show_default="processors", help="Maximum number of diagnoses at once; others wait."
        ),
    ] = None,
    rules: Annotated[
        list[Path] | None, typer.Option(metavar="DIR", help="Also use the rules in this folder (repeatable).")
    ] = None,
    config: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Configuration file: private rules, ignored rules, baseline (default: $NCDIAG_CONFIG or ncdiag.toml).",
        ),
    ] = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print no notes on standard error.")] = False,
) -> int:
    """Serve until Ctrl-C."""
    missing = [package for module, package in NEEDED.items() if importlib.util.find_spec(module) is None]
    if missing:
        msg = f"the page needs packages that are not installed: pip install {' '.join(NEEDED.values())}"
        raise UsageError(msg)
    from ncdiag.apps.web import LOOPBACK, Limits, Settings, server

    if not time_limit <= _DAY:  # NaN is not either
        msg = f"--time-limit must be at most {_DAY} seconds"
        raise UsageError(msg)
    far = host not in LOOPBACK
    settings = Settings(
        host=host, port=port, token="" if no_token else _token(token), names=_names(host, name or ()),
        limits=Limits(
            upload=upload_limit * _MIB, seconds=time_limit, memory=memory_limit * _MIB, at_once=at_once or _processors()
        ),
        keep=_folder(keep), options=_judging(rules, config, quiet=quiet),
    )  # fmt: skip
    if far and no_token:
        msg = f"with --no-token anybody who can reach {host} could use the page; remove --host or --no-token"
        raise UsageError(msg)

    def ready(address: str) -> None:
        write(f"{address}\n", None)
        if not quiet:
            if far:
                say("the page is served without encryption; put a TLS proxy in front of it on a shared network")
            say(
                "anybody with this address can use the page; press Ctrl-C to stop"
                if settings.token
                else ("press Ctrl-C to stop")
            )

    try:
        server.serve(settings, ready, say)
    except KeyboardInterrupt:
        return 0
    return 0


def _token(given: str | None) -> str:
    """The secret in the address: the given one, or a new one of 128 bits."""
    import secrets

    if given is None:
        return secrets.token_urlsafe(16)
    if not _TOKEN.fullmatch(given):
        msg = "a token must have 8 to 200 letters, digits, dashes or underscores (example: 3kTgn5Xh-9sQw)"
        raise UsageError(msg)
    return given


def _names(host: str, more: list[str] | tuple[str, ...]) -> frozenset[str]:
    """The names by which a browser may call the page; any IP address is accepted, too."""
    import socket

    from ncdiag.apps.web import LOOPBACK

    own = {socket.gethostname(), socket.getfqdn()} if host not in LOOPBACK else set()
    return frozenset(name.lower() for name in (*LOOPBACK, host, *own, *more))


def _folder(keep: Path | None) -> Path | None:
    if keep is None:
        return None
    try:
        keep.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        msg = f"cannot write to {keep}: {error.strerror or error}"
        raise UsageError(msg) from None
    return keep.resolve()


def _processors() -> int:
    """The number of processors that this process may use: in a job or a container fewer than the host has."""
    import os

    return len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count() or 1


def _judging(rules: list[Path] | None, config: Path | None, *, quiet: bool) -> diagnose.Options:
    """The options of every analysis; invalid private rules are rejected at the start."""
    from ncdiag import catalogue
    from ncdiag.commands._options import Options

    found = Options(rules=rules, config=config, quiet=quiet).judging()
    if found.rules:
        catalogue.rules(found.rules)
    return found
