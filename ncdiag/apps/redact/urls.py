"""Secrets in addresses of services: user and password, queries, hooks; and what stands after ``Bearer``."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ncdiag.apps.redact.names import Promise, is_value, promise
from ncdiag.apps.redact.pairs import Span

__all__ = ["schemes", "urls"]

_USER = re.compile(
    r"(?P<scheme>[a-z][a-z0-9+.-]{0,30})?://(?P<user>[^\s\"'<>`]{1,400}"
    r")@(?=[\w\[$%{*.-])",
    re.IGNORECASE,
)
_BARE_USER = re.compile(
    r"(?<![\w./:@-])(?P<user>[A-Za-z_][\w.+-]{0,60})[:/](?P<secret>[^\s:@/\"'<>,]{3,120})@(?!sha\d"
    r"|//)(?=[A-Za-z0-9][\w.-]{1,200}(?::\d{2,5}\b|/|\s|$|[\"',)]))"
)
_QUERY = re.compile(r"[?&;#]|%3[Ff]|%26|&amp;")
_PARAMETER = re.compile(
    r"(?P<name>[A-Za-z_][\w.-]{0,60})(?:=|%3[Dd])(?P<value>(?:[^\s&;#\"'<>`)\]},|\\%]"
    r"|%(?!26)){2,4000})"
)
_QUERY_NAMES = re.compile(
    r"(?:sig|signature|key|code|hmac|auth|st|access|assertion|otp|pass|pwd|ticket|state|nonce"
    r"|x-amz-(?:signature|credential|security-token)|x-goog-(?:signature|credential)|policy|key-pair-id|sv_sig|tok"
    r"|k|t|apik|sid|session)\Z",
    re.IGNORECASE,
)
_HOOK = re.compile(
    r"(?P<lead>(?:hooks\.slack\.com/(?:services|workflows|triggers)|discord(?:app)?\.com/api/(?:v\d+/)?webhooks"
    r"|api\.telegram\.org/(?:file/)?bot|[\w.-]*webhook\.office\.com/webhook\w*"
    r"|outlook\.office(?:365)?\.com/webhook\w*|hooks\.zapier\.com/hooks/catch"
    r"|maker\.ifttt\.com/trigger/\w+/with/key|hc-ping\.com|ntfy\.sh|open\.(?:feishu"
    r"|larksuite)\.\w+/open-apis/bot/v2/hook"
    r"|events\.pagerduty\.com/integration|api\.opsgenie\.com/v1/json/\w+\?apiKey=|chat\.googleapis\.com/v1/spaces"
    r"|logic\.azure\.com\S{0,60}/triggers|betteruptime\.com/api/v1/heartbeat"
    r"|uptime\.betterstack\.com/api/v1/heartbeat"
    r"|in\.(?:logs\.)?\w+\.com/bulk|api\.day\.app|sctapi\.ftqq\.com|api2\.pushdeer\.com"
    r"|(?<=://)[\w.:-]+/(?:[\w.-]+/){0,4}(?:(?:web)?hooks?|incoming|integromat|invite|share|s3-presign|heartbeat"
    r"|ping|key|token|auth|secret|apikey|webhook)s?)/?)(?P<secret>[\w./:@=~%+-]{8,2000})",
    re.IGNORECASE,
)
_SCHEMES = re.compile(
    r"\b(?P<scheme>bearer|basic|apikey|api-key|token|splunk|ssws|geniekey|negotiate|ntlm|oauth|hawk"
    r"|aws4-hmac-sha256|digest|key|pat|jwt|dpop|sharedaccesssignature)(?:[ \t]{1,4}|%20|\+)(?:token=|t="
    r"|key=)?[\"']?(?P<value>[\w.~+/=%-]{8,4000})",
    re.IGNORECASE,
)
_SERVICES = re.compile(
    r"slack|discord|telegram|office|zapier|ifttt|hc-ping|ntfy|feishu|lark|pagerduty|opsgenie|googleapis|azure"
    r"|betteruptime|betterstack|day\.app|ftqq|pushdeer",
    re.IGNORECASE,
)
_LONG_PART = re.compile(r"(?=[\w-]*\d)(?=[\w-]*[A-Za-z])[\w-]{12,}|[\w-]{20,}")
_HOST_AND_PATH = re.compile(r"[\w.-]+:\d{2,5}/|[\w.-]+\.[a-z]{2,6}/")
_NAMING_SCHEMES = frozenset({"ssh", "sftp", "git+ssh", "rsync", "svn+ssh"})
"""Schemes in whose URLs a user without a password is a name and no token."""
_NO_USER = re.compile(r"git|hg|svn|user|username|[A-Z_]+|\$\{?\w+\}?")
_TAG = re.compile(r"\d{1,5}$|v?\d+[.\d]*|latest")
_BEFORE_PARAMETER = re.compile(r"(?:[?&;#]|%3[Ff]|%26)$")
_SURE_SCHEMES = frozenset({"bearer", "splunk", "ssws", "geniekey", "apikey"})
_FEW, _MADE = 5, 16
"""Letters up to which a value may be a word, and from which on it is made by a program."""


def urls(line: str) -> Iterator[Span]:
    """Where the secrets are in the URLs and addresses of the line."""
    if "@" in line:
        yield from _users(line)
    if _QUERY.search(line):
        yield from _queries(line)
    if "/" in line and "." in line:
        for found in _HOOK.finditer(line):
            if _SERVICES.search(found["lead"]) or _LONG_PART.search(found["secret"]):
                yield found.span("secret")


def _users(line: str) -> Iterator[Span]:
    """Users and passwords before the host of a URL, or of an address without a scheme."""
    for found in _USER.finditer(line):
        user = found["user"]
        at = user.rfind("@")
        if at >= 0 and "/" in user[at:]:
            user = user[:at]
        slash = user.find("/")
        path = (slash >= 0 and ":" not in user[:slash]) or _HOST_AND_PATH.match(user)
        by_name = ":" not in user and (found["scheme"] or "").lower() in _NAMING_SCHEMES
        if not path and not by_name and not _NO_USER.fullmatch(user):
            yield found.start("user"), found.start("user") + len(user)
    for found in _BARE_USER.finditer(line):
        if is_value(found["secret"], Promise.LIKELY) and not _TAG.match(found["secret"]):
            yield found.span("secret")


def _queries(line: str) -> Iterator[Span]:
    """The values of parameters whose names promise a secret."""
    for found in _PARAMETER.finditer(line):
        if not _BEFORE_PARAMETER.search(line[max(0, found.start() - 5) : found.start()]):
            continue
        promised, usual = promise(found["name"]), _QUERY_NAMES.match(found["name"])
        if promised or usual:
            sure = (promised >= Promise.KEY or usual) and len(found["value"]) > _FEW
            if is_value(found["value"], Promise.KEY if sure else Promise.LIKELY):
                yield found.span("value")


def schemes(line: str) -> Iterator[Span]:
    """What stands after ``Bearer`` and the other schemes of authorization."""
    for found in _SCHEMES.finditer(line):
        name, value = found["scheme"].lower(), found["value"]
        kinds = sum(any(map(kind, value)) for kind in (str.isdigit, str.isupper, str.islower))
        mixed = any(map(str.isdigit, value)) or kinds > 1 or value.endswith("=")
        encoded = name == "basic" and len(value) % 4 == 0 and not value.isalpha()
        if mixed and (name in _SURE_SCHEMES or len(value) >= _MADE or encoded) and is_value(value, Promise.KEY):
            yield found.span("value")
