"""Determine which lines may contain something to replace, once for all lines that differ only in digits."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import overload

from ncdiag.base.patterns import lazy_regex
from ncdiag.formats.secrets.chance import doubtful, may_hold_token

__all__ = ["ADDRESS", "LONG", "NAME", "REVIEW", "SECRET", "ZEROS", "Lines", "Shapes"]

SECRET, NAME, ADDRESS, LONG, REVIEW = 1, 2, 4, 8, 16
ZEROS = bytes.maketrans(b"123456789", b"000000000")
_REMEMBERED = 1 << 16
_SECRET = lazy_regex(
    r"\x1b|\^\[|pass|pwd|\baccount\b|\bu(?:se?r)?\s?[:=]|user\s?=|\bid\s?[:=]|\buse\s|(?:\dfa|mfa|recovery|backup|verification"
    r"|one-time|security|activation|invite|access)[ -]?code|code\s?[:=]\s?0000|^[a-z_][\w.-]{1,40}:\S{8,80}$"
    r"|docker(?:config|cfg)|\bpw|pw\b|secret|token|key|cred|cookie|auth|jwt|bearer|basic|psk|\bpin\b|_pin|otp|pat\b"
    r"|sas\b|sid\b|sig\b|signature|salt|dsn"
    r"|conn(?:ection)?[_-]?str|community|mnemonic|unlock|kennwort|senha|contrase|парол|密|口令|パス|비밀|암호|haslo|heslo|wachtw"
    r"|losenord|://|@|log.?[io]n|\$\w+\$"
    r"|\{s?sha|\{crypt|\{md|hook|stdin|<<<|identified|-----begin|private-lines|data[\"']?:\s*\{?\s*$|splunk|ssws"
    r"|genie|negotiate|ntlm|oauth|hawk"
    r"|digest|\bsudo\b|munge|kinit|openssl|gpg|[?&;]\w{1,40}=|/p:|\bsend\b|:(?:0000|\*):[^:\s]+:[^:\s]+:\S+\s*$"
    r"|kind\W{1,4}secret|hmac|nonce"
    r"|\b(?:curl|wget|https?|docker|podman|nerdctl|mysql\w*|mariadb|mongo\w*|redis-cli|ldap\w+|ipmi\S*|7z|zip|unzip"
    r"|rar|snmp\w+|vault|wandb|ngc|mc|mcli"
    r"|rabbitmqctl|htpasswd|wpa_\w+|az|oc|twine|poetry|racadm|sqlcmd|mosquitto_\w+|x?freerdp|smb\w+|rpcclient"
    r"|skopeo|cryptsetup|useradd|usermod|nmcli"
    r"|expect|spawn|kubeadm|uuidgen|pwgen|mungekey|aws|gcloud|git|ngrok|net use|vnc\w+|x00vnc|sftp|scp|plink|pscp"
    r"|ftp|lftp|evil-winrm|helm|influx|pssh)\b",
    re.IGNORECASE,
)
_RUN = lazy_regex(r"[^\s\"'`,;<>()|&]{12,4000}")
_WORD = lazy_regex(r"[A-Za-z0-9+/_=-]{20,400}")
_ADDRESS = lazy_regex(
    r"0\.0{1,3}\.0{1,3}\.0|::|(?:[0-9a-f]{1,4}:){5}|[0-9a-f]{16}|(?:[0-9a-f]{4}:){3}[0-9a-f]{4}"
    r"|[0-9a-f]{8}-[0-9a-f]{4}-|(?:[0-9a-f]{2}-){5}"
    r"|[0-9a-f]{4}\.[0-9a-f]{4}\.[0-9a-f]{4}|serial|service tag|asset tag|\bs/?n\b|ip-0|GID: ",
    re.IGNORECASE,
)


class Lines(Sequence[str]):
    """The lines of a buffer, decoded on access."""

    def __init__(self, raw: list[bytes]) -> None:
        """``raw`` has no line ends."""
        self.raw = raw

    def __len__(self) -> int:
        return len(self.raw)

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> list[str]: ...
    def __getitem__(self, index: int | slice) -> str | list[str]:
        if isinstance(index, slice):
            return [line.decode("utf-8", "surrogateescape") for line in self.raw[index]]
        return self.raw[index].decode("utf-8", "surrogateescape")

    def joined(self, changed: Mapping[int, str]) -> bytes:
        """All lines, with ``changed`` ones replaced."""
        raw = self.raw.copy()
        for index, line in changed.items():
            raw[index] = line.encode("utf-8", "surrogateescape")
        return b"\n".join(raw)


class Shapes:
    """A cache of what lines may contain by their shape, which is the line with every digit replaced by 0.

    The patterns for secrets, names and addresses depend on whether there is a digit, never on which, if a shape
    decides.
    """

    def __init__(self, names: Callable[[str], bool] = lambda _: False) -> None:
        """``names`` says for a shape whether it may contain a name."""
        self._names = names
        self._known: dict[bytes, int] = {}

    def flags(self, buffer: bytes) -> tuple[Lines, list[bytes], list[tuple[int, int]]]:
        """The lines of a buffer, their shapes, and (line, flags) of those that may contain SECRET, NAME, ..."""
        shapes = buffer.translate(ZEROS).split(b"\n")
        if len(self._known) > _REMEMBERED:
            self._known.clear()
        known = self._known
        for shape in set(shapes) - known.keys():
            known[shape] = self._of(shape.decode("utf-8", "surrogateescape"))
        flags = [(index, flag) for index, shape in enumerate(shapes) if (flag := known[shape])]
        return Lines(buffer.split(b"\n")), shapes, flags

    def _of(self, shape: str) -> int:
        long = any(map(may_hold_token, _RUN.findall(shape)))
        found = (LONG if long else 0) | (SECRET if _SECRET.search(shape) else 0)
        found |= ADDRESS if _ADDRESS.search(shape) else 0
        found |= REVIEW if any(map(doubtful, _WORD.findall(shape))) else 0
        return found | (NAME if self._names(shape) else 0)
