"""Check requests: the address by which the page was called, the token in its path, and the origin of a form.

It also adds headers to every answer that keep a browser from loading, running or disclosing anything.
"""

from __future__ import annotations

import ipaddress
import secrets

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse, RedirectResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ncdiag.apps.web.settings import Settings
from ncdiag.base.patterns import lazy_regex

HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
        "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    "Cache-Control": "no-store",
}

_HOST = lazy_regex(r"(?:\[(?P<six>[0-9A-Fa-f:.]{2,45})\]|(?P<name>[A-Za-z0-9_.-]{1,253}))(?::[0-9]{1,5})?")


class Guard:
    """Passes on permitted requests, with the token removed from the path."""

    def __init__(self, app: ASGIApp, settings: Settings) -> None:
        self._app, self._settings = app, settings

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or refuse it."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(HEADERS)
            await send(message)

        headers = Headers(scope=scope)
        token, _, rest = scope["path"].removeprefix("/").partition("/")
        if not self._is_name_of_ours(headers.get("host", "")):
            refused = "This host name is not allowed. Use the address that 'ncdiag serve' printed.\n"
            await PlainTextResponse(refused, 421)(scope, receive, with_headers)
        elif self._settings.token and not secrets.compare_digest(token.encode(), self._settings.token.encode()):
            refused = "The token is missing from the address. Use the whole address that 'ncdiag serve' printed.\n"
            await PlainTextResponse(refused, 403)(scope, receive, with_headers)
        elif self._settings.token and scope["path"] == f"/{token}":
            await RedirectResponse(f"/{token}/")(scope, receive, with_headers)
        elif scope["method"] not in {"GET", "HEAD"} and not self._is_from_here(headers):
            refused = "This form was sent from another site.\n"
            await PlainTextResponse(refused, 403)(scope, receive, with_headers)
        else:
            path = f"/{rest}" if self._settings.token else scope["path"]
            await self._app({**scope, "path": path, "raw_path": path.encode()}, receive, with_headers)

    def _is_name_of_ours(self, host: str) -> bool:
        """True for an IP address or a known name, which exclude other sites' names for this address (DNS rebinding).

        Nothing but a port may follow it, of any number: tunnels and proxies listen on others.
        """
        found = _HOST.fullmatch(host)
        if found is None:
            return False
        if found["six"]:
            return _is_address(found["six"], 6)
        name = found["name"].lower()
        return name in self._settings.names or _is_address(name, 4)

    def _is_from_here(self, headers: Headers) -> bool:
        """True if the request comes from this page, or from a program. Browsers may hide the origin of a form.

        They then report whether it is their own (`Sec-Fetch-Site`), but only to addresses that they trust: others need
        the token, which no other page knows. An origin that they name is that of the page: its host and port, by https
        if a proxy encrypts.
        """
        sites, origins, host = headers.getlist("sec-fetch-site"), headers.getlist("origin"), headers.get("host")
        if sites not in ([], ["same-origin"], ["none"]):
            return False
        if origins == ["null"]:
            return bool(sites or self._settings.token)
        return origins in ([], [f"http://{host}"], [f"https://{host}"])


def _is_address(text: str, version: int) -> bool:
    try:
        return ipaddress.ip_address(text).version == version
    except ValueError:
        return False
