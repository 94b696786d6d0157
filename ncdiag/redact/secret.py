"""Secrets in a text: what is removed, wherever it stands, and nowhere kept."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ncdiag.bare.hide import HIDDEN, hide_secrets, is_secret
from ncdiag.sources.model import Text

_JSON = re.compile(r"(?P<lead>\"(?P<name>[A-Za-z_]\w{0,100})\"\s?:\s?)\"[^\"]{1,4000}\"")
_NAMED = re.compile(r"\s*-?\s*\{?\s*[\"']?name[\"']?\s?:\s*[\"']?(?P<name>\w{1,100})")
_VALUE = re.compile(r"(?P<lead>\bvalue[\"']?\s?:\s*)(?:\"[^\"]*\"|'[^']*'|[^\s\"'].*$)")
_TOKENS = re.compile(
    r"\b(?:AKIA|ASIA)[0-9A-Z]{16}\b|\b(?:hf|ghp|gho|ghs|github_pat|glpat|sk|xox[abprs]|nvapi)[-_][A-Za-z0-9_-]{16,200}"
    r"|\beyJ[\w-]{8,2000}\.[\w-]{8,4000}(?:\.[\w-]{4,2000})?"
)
_BEARER = re.compile(
    r"(?P<lead>\b(?:Authorization:\s{1,4}(?:\w{1,20}\s{1,4})?|(?:Bearer|Basic)\s{1,4}))[^\s\"']{6,4000}", re.IGNORECASE
)
_PEM = re.compile(r"-----(?P<what>BEGIN|END) [A-Z ]{0,40}PRIVATE KEY-----")


class Secrets:
    """Removes them line by line; a private key and a manifest's ``value:`` are told by the lines before."""

    def __init__(self) -> None:
        """At the beginning of a text."""
        self._inside_key = self._secret_name = False

    def removed(self, line: str) -> str:
        """The line without its secrets."""
        pem = _PEM.search(line)
        if pem or self._inside_key:
            self._inside_key = pem["what"] == "BEGIN" if pem else True
            return HIDDEN
        named = _NAMED.match(line)
        was_secret, self._secret_name = self._secret_name, named is not None and is_secret(named["name"])
        if was_secret or self._secret_name:
            line = _VALUE.sub(rf'\g<lead>"{HIDDEN}"', line)
        line = _JSON.sub(lambda m: f'{m["lead"]}"{HIDDEN}"' if is_secret(m["name"]) else m[0], line)
        line = _BEARER.sub(rf"\g<lead>{HIDDEN}", line)
        return hide_secrets(_TOKENS.sub(HIDDEN, line))


class WithoutSecrets(Text):
    """A source whose secrets are removed while it is read, so that none is taken for a name."""

    def __init__(self, source: Text) -> None:
        """``source`` may be read again later, with its secrets."""
        self.name, self.notes = source.name, source.notes
        self._source = source

    def buffers(self) -> Iterator[bytes]:
        """The buffers of the source without secrets; as many lines as before."""
        secrets = Secrets()
        for buffer in self._source.buffers():
            lines = buffer.decode("utf-8", "replace").split("\n")
            yield "\n".join(map(secrets.removed, lines)).encode()
