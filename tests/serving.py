"""Pages of ``ncdiag serve`` that really run, and programs that ask them."""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import signal
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import psutil

BOUNDARY = "------------------------between"


class Answer(NamedTuple):
    """What the server answered."""

    status: int
    headers: Mapping[str, str]
    text: str


class Served:
    """A page that runs: its address, its process and the folder in which it puts what it gets."""

    def __init__(self, process: subprocess.Popen[str], url: str, temporary: Path) -> None:
        self.process, self.url, self.temporary = process, url, temporary
        self._parts = urlsplit(url)

    def ask(
        self, path: str | None = None, body: bytes | None = None, headers: Mapping[str, str] | None = None
    ) -> Answer:
        """GET the page, or another path of the server; with a body, POST it."""
        link = http.client.HTTPConnection(self._parts.hostname or "", self._parts.port or 0, timeout=600)
        with contextlib.closing(link):
            link.request("GET" if body is None else "POST", path or self._parts.path, body, dict(headers or {}))
            answer = link.getresponse()
            return Answer(answer.status, dict(answer.headers.items()), answer.read().decode())

    @contextlib.contextmanager
    def begin(self, text: str, headers: Mapping[str, str] | None = None) -> Iterator[http.client.HTTPResponse]:
        """Send the form, and read the answer as it comes."""
        link = http.client.HTTPConnection(self._parts.hostname or "", self._parts.port or 0, timeout=600)
        with contextlib.closing(link):
            kind = {"Content-Type": f"multipart/form-data; boundary={BOUNDARY}", "Accept": "text/html"}
            link.request("POST", self._parts.path, form({"text": text}, {}), {**kind, **(headers or {})})
            yield link.getresponse()

    def send(
        self, text: str = "", files: Mapping[str, bytes] | None = None, headers: Mapping[str, str] | None = None,
        query: str = "", **fields: str,
    ) -> Answer:  # fmt: skip
        """Send the form as a browser does."""
        body = form({"text": text, **fields}, files or {})
        kind = {"Content-Type": f"multipart/form-data; boundary={BOUNDARY}", "Accept": "text/html"}
        return self.ask(f"{self._parts.path}{query}", body, {**kind, **(headers or {})})

    def report(self, text: str = "", files: Mapping[str, bytes] | None = None, **fields: str) -> dict[str, Any]:
        """The report as JSON."""
        answer = self.send(text, files, None, "", format="json", **fields)
        assert answer.status == 200, answer.text
        found: dict[str, Any] = json.loads(answer.text)
        return found

    def left(self) -> list[Path]:
        """What is in the server's temporary folder, without the folder that it holds while it runs."""
        return list(self.temporary.glob("ncdiag-serve-*/*"))

    def workers(self) -> list[psutil.Process]:
        """The processes of analyses: those that the fork server started."""
        own = psutil.Process(self.process.pid)
        return [child for helper in own.children() for child in helper.children()]


def form(fields: Mapping[str, str], files: Mapping[str, bytes]) -> bytes:
    """A body of multipart/form-data (RFC 7578)."""
    parts = [
        f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n'.encode() + value.encode()
        for name, value in fields.items()
    ]
    parts += [
        f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="file"; filename="{name}"\r\n'
        f"Content-Type: application/octet-stream\r\n\r\n".encode()
        + data
        for name, data in files.items()
    ]
    return b"\r\n".join([*parts, f"--{BOUNDARY}--\r\n".encode()])


@contextlib.contextmanager
def served_by(program: list[str], temporary: Path, *options: str | Path) -> Iterator[Served]:
    """A page of ``ncdiag serve`` on a free port, until the block ends."""
    command = [*program, "serve", "--port", "0", *map(str, options)]
    env = {**os.environ, "TMPDIR": str(temporary)}
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=env, stdin=subprocess.DEVNULL
    ) as process:
        assert process.stdout is not None
        url = process.stdout.readline().strip()
        assert url, process.stderr and process.stderr.read()
        try:
            yield Served(process, url, temporary)
        finally:
            process.send_signal(signal.SIGTERM)
            try:
                _, said = process.communicate(timeout=60)
            except subprocess.TimeoutExpired:
                process.kill()
                raise
    assert [line for line in said.splitlines() if not line.startswith("ncdiag: ")] == []
    assert list(temporary.iterdir()) == []
