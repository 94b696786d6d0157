"""Hide the secrets of a case wherever its lines are quoted, at a small part of the cost of reading them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from ncdiag.agent.hide import HIDDEN
from ncdiag.base.patterns import lazy_regex
from ncdiag.formats.secrets.chance import in_run
from ncdiag.formats.secrets.layers import as_text, views
from ncdiag.formats.secrets.shapes import ZEROS

__all__ = ["Hiding"]

_WORDS = (
    "pass", "pwd", "pw=", "pw:", " pw ", "secret", "token", "key", "cred", "cookie", "auth", "jwt", "bearer",
    "basic ", "psk", "otp", "pin=", "pin:", " pin ", "pat=", "pat:", " pat ", "_sas", "sas=", "sig=",
    "signature", "salt", "dsn", "connstr", "conn_str", "connectionstring", "connection_string", "community",
    "mnemonic", "unlock", "kennwort", "senha", "wachtw", "rootpw", "contrase", "парол", "密", "口令", "パス", "비밀",
    "암호", "haslo", "heslo", "login", "log in", "hook", "stdin", "<<<", "identified", "-----begin",
    "private-lines", "$6$", "$5$", "$1$", "$2", "$y$", "$apr", "{ssha", "{sha", "{crypt", "dockerc", "sudo",
    "mysql", "redis", "ipmi", "snmp", "wandb", "vault", "data:", "2fa", "mfa", "recovery", "verification",
    "invite", "%3a", "%3d", "\\x3", "hmac", "nonce", "sid=", "munge", "curl", "wget", "ldap", "smb", "zip -",
    "user=", "creds=", "lftp", "mc alias", "mcli ", "rabbitmqctl", "/bot", "-u ", ":5432:", ":3306:", ":*:",
)  # fmt: skip
"""Without one of these, or a run of random characters, a line in lower case holds no secret."""
_MARKS = ("\x1b", "^[", "%2", "%3", "%4")
"""What may stand in the middle of such a word: colours, URL encoding."""
_RUN = lazy_regex(r"(?=[^\s\"'`,;<>()|&]{0,400}\d)[^\s\"'`,;<>()|&]{16,4000}")
_USER = lazy_regex(r"[\w$!*.-][:/%][^\s:@/\"'<>,]{3,120}@[\w*$]|://[^\s/]{3,200}@")
"""A user and a password before a host."""
_LEAST = 4
"""Minimum length of a text that can hold a secret."""


class Hiding:
    """Hides secrets in texts that quote lines of one case.

    What the lines around a line say of it holds wherever it is quoted: the body of a private key, a value on the line
    after its name, and a value whose name another line shows.
    """

    def __init__(self, lines: Iterable[str] = ()) -> None:
        """``lines`` are those of the case, in order."""
        self._known: set[str] = set()
        self._seen: set[str] = set()
        self._hidden: dict[str, str] = {}
        self._pattern: tuple[int, re.Pattern[str] | None] = (0, None)
        given = tuple(lines)
        self.lines(given)
        self._seen.update(given)

    @property
    def found(self) -> bool:
        """True if a secret was hidden in the lines so far."""
        return bool(self._hidden)

    def lines(self, lines: Sequence[str]) -> list[str]:
        """Consecutive lines without their secrets."""
        words = _words_in("\n".join(lines))
        wanted = {index: _shape(line) for index, line in enumerate(lines) if _may_hold(line, words)}
        if not wanted and not self._hidden:
            return list(lines)
        from ncdiag.formats.secrets.remover import Secrets  # most inputs hold no secret

        found = Secrets(None, self._known).searched(lines, wanted)
        made = [self._spread(found.get(index) or self._hidden.get(line, line)) for index, line in enumerate(lines)]
        self._hidden.update((line, new) for line, new in zip(lines, made, strict=True) if line != new)
        return made

    def text(self, text: str) -> str:
        """A text that may quote such lines, without secrets; its number of lines is unchanged."""
        if text in self._hidden:
            return self._hidden[text]
        if len(text) < _LEAST or text in self._seen:
            return text
        return "\n".join(self.lines(text.split("\n"))) if _may_hold(text) else self._spread(text)

    def _spread(self, line: str) -> str:
        """The line without the values that a name announced in another line."""
        if not self._known:
            return line
        if self._pattern[0] != len(self._known):
            listed = "|".join(map(re.escape, sorted(self._known, key=len, reverse=True)))
            self._pattern = len(self._known), re.compile(listed)
        pattern = self._pattern[1]
        return line if pattern is None else pattern.sub(HIDDEN, line)


def _shape(line: str) -> bytes:
    return line.encode("utf-8", "surrogatepass").translate(ZEROS)


def _words_in(text: str) -> tuple[str, ...]:
    """Those of `_WORDS` that are in the text: no line of it has another one."""
    return tuple(filter(text.lower().__contains__, _WORDS))


def _may_hold(line: str, words: tuple[str, ...] = _WORDS) -> bool:
    """True if the line may contain a secret, or begin lines that do; ``words``: those of `_WORDS` that it may have."""
    low = line.lower()
    if any(map(low.__contains__, words)) or ("@" in low and _USER.search(low)):
        return True
    if any(map(line.__contains__, _MARKS)) and any(_may_hold(view.text) for view in views(line)):
        return True
    return any(in_run(run) or ((text := as_text(run)) and _may_hold(text)) for run in _RUN.findall(line))
