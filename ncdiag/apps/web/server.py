"""The server: its socket, its address, and its run until Ctrl-C or SIGTERM."""

from __future__ import annotations

import asyncio
import logging
import signal
import socket
from collections.abc import Callable

import uvicorn

from ncdiag.apps.web.app import build
from ncdiag.apps.web.settings import Settings
from ncdiag.base.errors import UsageError

_ANY = frozenset({"0.0.0.0", "::"})  # noqa: S104  (compared, not bound)
_LAST_SECONDS = 3
"""Seconds for running analyses to finish when the server is stopped."""


def serve(settings: Settings, ready: Callable[[str], None], note: Callable[[str], None]) -> None:
    """Serve the page until the process is stopped; ``ready`` receives its address, ``note`` error messages.

    Raises UsageError, and KeyboardInterrupt at the end.
    """
    with bound(settings.host, settings.port) as listening:
        ready(address(settings, listening.getsockname()[1]))
        config = uvicorn.Config(
            build(settings, note), http="h11", ws="none", loop="asyncio", lifespan="on", log_level="error",
            access_log=False, server_header=False, proxy_headers=False, timeout_graceful_shutdown=_LAST_SECONDS,
        )  # fmt: skip
        logging.getLogger("python_multipart").setLevel(logging.ERROR)  # invalid requests are not the operator's problem
        signal.signal(signal.SIGTERM, signal.default_int_handler)  # it ends as after Ctrl-C, and cleans up
        logging.getLogger("uvicorn.error").addFilter(_is_news)
        uvicorn.Server(config).run(sockets=[listening])


def _is_news(record: logging.LogRecord) -> bool:
    """False for the message that an analysis was cancelled because the server was stopped."""
    kind = record.exc_info and record.exc_info[0]
    return not (kind and issubclass(kind, asyncio.CancelledError)) and not str(record.msg).startswith("Cancel ")


def bound(host: str, port: int) -> socket.socket:
    """A socket that listens there; port 0 means any free one. Raises UsageError."""
    try:
        family, kind, _, _, place = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[0]
        listening = socket.socket(family, kind)
        try:
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listening.bind(place)
            listening.listen(socket.SOMAXCONN)
        except OSError:
            listening.close()
            raise
    except OSError as error:
        hint = "; --port 0 uses a free port" if port else ""
        msg = f"cannot listen on {host} port {port}: {error.strerror or error}{hint}"
        raise UsageError(msg) from None
    return listening


def address(settings: Settings, port: int) -> str:
    """The address to open, with the token."""
    host = socket.gethostname() if settings.host in _ANY else settings.host
    named = f"[{host}]" if ":" in host else host
    return f"http://{named}:{port}/{settings.token}{'/' if settings.token else ''}"
