"""Determine which lines may contain something to replace, once for all lines that differ only in digits."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import overload

from ncdiag.base.patterns import lazy_regex
from ncdiag.formats.by_shape import ByWord
from ncdiag.formats.secrets.chance import doubtful, may_hold_token

__all__ = ["ADDRESS", "LONG", "NAME", "REVIEW", "SECRET", "ZEROS", "Lines", "Shapes"]

SECRET, NAME, ADDRESS, LONG, REVIEW = 1, 2, 4, 8, 16
ZEROS = bytes.maketrans(b"123456789", b"000000000")
_REMEMBERED = 1 << 16
_SECRET = lazy_regex(
    r"\x1b|\^\[|pass|pwd|\baccount\b"
    r"|docker(?:config|cfg)|\bpw|pw\b|secret|token|key|cred|cookie|auth|jwt|bearer|basic|psk|\bpin\b|_pin|otp|pat\b"
    r"|sas\b|sid\b|sig\b|signature|salt|dsn"
    r"|conn(?:ection)?[_-]?str|community|mnemonic|unlock|kennwort|senha|contrase|парол|密|口令|パス|비밀|암호|haslo|heslo|wachtw"
    r"|losenord|://|@|\$\w+\$"
    r"|\{s?sha|\{crypt|\{md|hook|stdin|<<<|identified|-----begin|private-lines|splunk|ssws"
    r"|genie|negotiate|ntlm|oauth|hawk"
    r"|digest|\bsudo\b|munge|kinit|openssl|gpg|[?&;]\w{1,40}=|/p:|\bsend\b"
    r"|hmac|nonce"
    r"|\b(?:curl|wget|https?|docker|podman|nerdctl|mysql\w*|mariadb|mongo\w*|redis-cli|ldap\w+|ipmi\S*|7z|zip|unzip"
    r"|rar|snmp\w+|vault|wandb|ngc|mc|mcli"
    r"|rabbitmqctl|htpasswd|wpa_\w+|az|oc|twine|poetry|racadm|sqlcmd|mosquitto_\w+|x?freerdp|smb\w+|rpcclient"
    r"|skopeo|cryptsetup|useradd|usermod|nmcli"
    r"|expect|spawn|kubeadm|uuidgen|pwgen|mungekey|aws|gcloud|git|ngrok|vnc\w+|x00vnc|sftp|scp|plink|pscp"
    r"|ftp|lftp|evil-winrm|helm|influx|pssh)\b",
    re.IGNORECASE,
)
"""In a word of each line that may contain a secret, or else the line has one of `_SECRETS`, which go over blanks."""
_SECRETS = tuple(
    (signs, lazy_regex(form, re.IGNORECASE))
    for signs, form in (
        (("use",), r"\buse\s|\bnet use\b"),
        (("log",), r"log.?[io]n"),
        (("code",), r"(?:\dfa|mfa|recovery|backup|verification|one-time|security|activation|invite|access)[ -]?code"),
        (("code",), r"code\s?[:=]\s?0000"),
        (("data",), r"data[\"']?:\s*\{?\s*$"),
        ((":", "="), r"\b(?:u(?:se?r)?|id)\s?[:=]|user\s?="),
        ((":",), r"\A[a-z_][\w.-]{1,40}:\S{8,80}$|:(?:0000|\*):[^:\s]+:[^:\s]+:\S+\s*$"),
    )
)
"""Forms, each with literals in lower case, one of which is in all that it matches of ASCII."""
_RUN = lazy_regex(r"[^\s\"'`,;<>()|&]{12,4000}")
_WORD = lazy_regex(r"[A-Za-z0-9+/_=-]{20,400}")
_ADDRESS = lazy_regex(
    r"0\.0{1,3}\.0{1,3}\.0|::|(?:[0-9a-f]{1,4}:){5}|[0-9a-f]{16}|(?:[0-9a-f]{4}:){3}[0-9a-f]{4}"
    r"|[0-9a-f]{8}-[0-9a-f]{4}-|(?:[0-9a-f]{2}-){5}"
    r"|[0-9a-f]{4}\.[0-9a-f]{4}\.[0-9a-f]{4}|serial|\bs/?n\b|ip-0",
    re.IGNORECASE,
)
_TAGS = lazy_regex(r"service tag|asset tag|GID: ", re.IGNORECASE)
"""What the line of an address has that has no such word."""


class Lines(Sequence[str]):
    """The lines of a buffer, cut out and decoded on access: few lines of most buffers are looked at."""

    def __init__(self, buffer: bytes, shapes: Sequence[bytes]) -> None:
        """``shapes`` are those of all its lines: they have the same lengths."""
        self._buffer, self._shapes = buffer, shapes
        self._ends: list[int] | None = None

    def __len__(self) -> int:
        return len(self._shapes)

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> list[str]: ...
    def __getitem__(self, index: int | slice) -> str | list[str]:
        if isinstance(index, slice):
            return [self[place] for place in range(*index.indices(len(self)))]
        return self.raw(index).decode("utf-8", "surrogateescape")

    def raw(self, index: int) -> bytes:
        """The bytes of a line, without the line end."""
        begin, end = self._place(range(len(self))[index])
        return self._buffer[begin:end]

    def _place(self, index: int) -> tuple[int, int]:
        """Where a line begins and ends in the buffer."""
        if self._ends is None:
            self._ends = list(itertools.accumulate(map(len, self._shapes)))
        return (self._ends[index - 1] if index else 0) + index, self._ends[index] + index

    def joined(self, changed: Mapping[int, str]) -> bytes:
        """All lines, with ``changed`` ones replaced."""
        pieces, done = [], 0
        for index in sorted(changed):
            begin, end = self._place(index)
            pieces += [self._buffer[done:begin], changed[index].encode("utf-8", "surrogateescape")]
            done = end
        return b"".join([*pieces, self._buffer[done:]])


class _Known(dict[bytes, int]):
    """What is known of shapes: looked up by code in C, and computed for a new one."""

    def __init__(self, of: Callable[[str], int]) -> None:
        self._of = of

    def __missing__(self, shape: bytes) -> int:
        found = self[shape] = self._of(shape.decode("utf-8", "surrogateescape"))
        return found


class Shapes:
    """A cache of what lines may contain by their shape, which is the line with every digit replaced by 0.

    The patterns for secrets, names and addresses depend on whether there is a digit, never on which, if a shape
    decides.
    """

    def __init__(self, names: Callable[[str], bool] = lambda _: False) -> None:
        """``names`` says for a shape whether it may contain a name."""
        self._names = names
        self._known = _Known(self._of)

    def flags(self, buffer: bytes) -> tuple[Lines, list[bytes], list[tuple[int, int]]]:
        """The lines of a buffer, their shapes, and (line, flags) of those that may contain SECRET, NAME, ...

        A buffer is copied once, and cut into lines once; nothing is done in Python for a line whose shape is known to
        contain nothing.
        """
        shapes = buffer.translate(ZEROS).split(b"\n")
        if len(self._known) > _REMEMBERED:
            self._known.clear()
        found = bytes(map(self._known.__getitem__, shapes))
        flags = list(zip(itertools.compress(itertools.count(), found), filter(None, found), strict=True))
        return Lines(buffer, shapes), shapes, flags

    def any(self, shapes: Iterable[bytes]) -> bool:
        """True if a line with one of these shapes may contain something."""
        return any(map(self._known.__getitem__, shapes))

    def _of(self, shape: str) -> int:
        found = _WORDS.together(shape)
        if not found & SECRET and _goes_over_blanks(shape):
            found |= SECRET
        if not found & ADDRESS and _TAGS.search(shape):
            found |= ADDRESS
        return found | (NAME if self._names(shape) else 0)


def _of_word(word: str) -> int:
    """The flags of a word of a shape: no run, word or address has a blank."""
    found = LONG if any(map(may_hold_token, _RUN.findall(word))) else 0
    found |= SECRET if _SECRET.search(word) else 0
    found |= ADDRESS if _ADDRESS.search(word) else 0
    return found | (REVIEW if any(map(doubtful, _WORD.findall(word))) else 0)


_WORDS = ByWord(_of_word)


def _goes_over_blanks(shape: str) -> bool:
    """True if the shape has one of the forms of `_SECRETS`."""
    low = shape.lower()
    plain = low.isascii()  # other letters may count as s or k in any case
    return any(
        form.search(shape) for signs, form in _SECRETS if not plain or any(map(low.__contains__, signs))
    )  # fmt: skip
