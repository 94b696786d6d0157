"""Which names announce a secret, and which values are not secrets: the same for every grammar of pairs."""

from __future__ import annotations

import functools
import itertools
import re
from enum import IntEnum

from ncdiag.base.patterns import lazy_regex

__all__ = ["Promise", "is_value", "looks_random", "promise"]


class Promise(IntEnum):
    """What a name says about its value: nothing, secret if it looks random, secret."""

    NONE = 0
    RANDOM = 1
    LIKELY = 2
    KEY = 3
    PASSWORD = 4


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_WORD = lazy_regex(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^\x00-\x7f\W\d_]+")
_PASSWORD = _words(
    """
    password passwords passwd passphrase passcode pwd passwort kennwort senha contrasena contraseña пароль 密码 密碼
    パスワード psk passkey mnemonic unlock pw requirepass masterauth storepass keypass passin passout wachtwoord
    losenord haslo heslo
    """
)
_SECRET = _words(
    """
    secret secrets credential credentials cred creds apikey apikeys jwt bearer cookie authorization authtoken
    accesstoken apitoken secretkey accesskey privatekey authkey sharedkey masterkey accountkey appkey subkey pat
    privkey sessionkey community userpass dbpass passwordhash encryptedpassword connectionstring connstr dsn
    xsrf csrf dockerconfigjson dockercfg
    """
)
_GLUED = lazy_regex(
    r"(?:password|passwd|passphrase|passwort|secret|(?:secret|api|access|private|auth|master|account|shared|signing"
    r"|sas"
    r"|ssh|license|encryption|app|user|client)keys?|(?:auth|access|api|refresh|id|bearer|session|user|bot|sas|hf"
    r"|csrf|gh"
    r"|git|oauth|login|security|deploy|pypi)tokens?|(?:db|my|pg|user|admin|root|smtp|mail|ldap|mq|sql|redis|proxy"
    r"|login"
    r"|bmc|ipmi|key|store|ftp)(?:pass|pwd|pw))\Z"
)
_TELLS_OF_IT = _words(
    """
    file files path paths dir name names type size sizes length len count ttl counts expiry expires expiration
    timeout alg algorithm scheme policy mode enabled required method version index idx ref provider issuer url
    uri endpoint host port age limit rate budget dim dims usage lifetime rotation manager store field column
    prompt label labels format mapping map selector error errors class server domain template mount volume
    volumes strength hint location engine cache interval state status authentication attempts retries checker
    broker source init checking algorithms exchange
    """
)
"""Last words of names about a secret that is not the value: ``password_file``, ``secretName``, ``token_ttl``."""
_KEPT_BEFORE_TOKEN = _words(
    """
    bos eos pad unk sep cls mask eot eod special image vision start end stop next prev first last new think per
    by im sos audio video decoder encoder begin prompt output input max min num n total each sample modality
    text time seconds ms us loss batch expert experts per global micro padding unknown generated training train
    drop vocab current previous word added
    """
)
_KEPT_BEFORE_KEY = _words(
    """
    dispatch cache sort primary foreign public pub partition query map dict hot group row object bucket routing index
    config tmp lookup mr ib p r l env rank q store barrier register hash host state sorting join unique missing
    unexpected key param option label attribute shortcut keyboard metric tensor weight layer for module topology
    memory remote local kv mkey dataset of any no the a this tag toleration match node path trust gpg graph
    monitor plot loss batch idempotency use ctrl arrow enter escape gid num n max attn attention value prompt
    text
    """
)
_SECRET_BEFORE_KEY = _words(
    """
    api access secret private auth signing sign encryption crypt master account aes storage shared service ssh
    license app application client subscription session deploy hmac rsa cipher admin webhook consumer project
    functions host user wandb ngc openai hf munge vault fernet recovery backup root token jwt cookie psk licence
    gpgpass comet dd datadog clearml kaggle anthropic stripe sas connection authentication write read ingest
    integration ccm tsig rndc wireguard preshared
    """
)
_PASSES = _words(
    """
    forward backward first second one two single num multi n by prefill
    """
)
_OFTEN_NAMES = lazy_regex(
    r"(?:.*\.(?:py|cc|cpp|cu|h|sh|go|rs|js|md|txt|log|so)|pwd|oldpwd|keyerror|.*key(?:word|board|frame|point|note|pad)s?|.*token(?:iz|is).*|.*compass|.*bypass"
    r"|.*monkey"
    r"|passthrough|passive|passed|passing|passes|nccl_ib_pkey|.*pkeys?|.*[rl]key|.*mkey|secretkeyref|secretref"
    r"|secrets?name"
    r"|imagepullsecrets|configmapkeyref|fi_mr_.*|.*_mr_key_size|authorized_keys|known_hosts|ssh_auth_sock|xauthority"
    r"|gpg_agent_info|cookiejar|passengers?|.*_key_value.*|.*num_key.*|public_?key|pubkey|ecdsa.*|ed25519.*)\Z"
)
_NOTHING = lazy_regex(
    r"(?:[*•x.…#_-]{3,}|<[^<>]{0,80}>|\[[A-Za-z_ ]{0,40}\]|\$\{[^}]{0,200}\}?|\$(?:[A-Z_][A-Z0-9_]*|[a-z_]+"
    r"|\([^)]{0,200}\)?)"
    r"|\{\{.{0,200}\}\}|%[A-Za-z_]+%|%\(.{0,60}|%s|\{[a-z_.]{0,60}\}|@[\w./-]+|\(?(?:hidden|redacted|masked|removed"
    r"|filtered)\)?"
    r"|(?:os\.)?(?:environ|getenv).*|(?:args|self|cfg|config|opts?|settings|params|ctx|kwargs)\.[\w.]+"
    r"|secretKeyRef:?|valueFrom:?"
    r"|Optional\[.*|Union\[.*|str|bytes|string|SecretStr|int|bool|float|char|object|dict|list|Any|-)\Z",
    re.IGNORECASE,
)
_WORDS = _words(
    """
    true false yes no none null nil undefined required optional incorrect invalid wrong expired missing empty
    not set unset correct needed too in stored being a an the only on at by for from to of and or with was is
    are be ok okay failed failure denied unknown default auto enabled disabled never still used unused found
    changed same what it that this your my our their his must should will can cannot may has have if when as via
    per authentication interactive prompt plain plaintext basic bearer digest ntlm negotiate error value
    readable rejected accepted provided supplied unavailable available absent present verification mismatch
    protected revoked valid ready there here already now mounted ignored stale old new also just mandatory
    mapped kept safe hidden public lost file host key name type string number list map object any all munge but
    so
    falsch abgelaufen leer anders dasselbe gleich richtig unbekannt bekannt noch nicht hier gesetzt ge\u00e4ndert
    faux vide mal expir\u00e9 perdu inconnu chang\u00e9 incorrecta inv\u00e1lida inv\u00e1lido incorreta
    vac\u00eda vazia caducada expirada distinta la mesma verlopen verkeerd leeg onjuist onbekend hetzelfde
    """
)
_PATH = lazy_regex(
    r"(?:~|\.{1,2})?/[\w.@{}$-]+(?:/[\w.@{}$-]+)+/?\Z|(?:~|\.{1,2})/[\w.-]+\Z|[A-Za-z]:[\\/].+\Z"
    r"|/[a-z]+[\w-]*\.[a-z]{1,5}\Z|file://.+\Z"
)
_NUMBER = lazy_regex(
    r"-?(?:\d{1,9}(?:\.\d+){0,3}|0[xX][0-9a-fA-F]{1,8}|\d+(?:\.\d+)?(?:[eE][-+]?\d+|[KMGTkmgt]i?[bB]?"
    r"|%|ms|s))\Z"
)
_NUMBERED_WORDS = lazy_regex(r"[A-Za-z]+\d{0,4}(?:[-_.:/ ](?:[A-Za-z]+\d{0,4}|\d{1,5}))*\Z")
_PLAIN = lazy_regex(r"(?:[A-Za-z][a-z]*|[A-Z]{2,18})(?:[-_./ ][A-Za-z]?[a-z]*){0,12}\Z")


@functools.lru_cache(maxsize=1 << 14)
def promise(name: str) -> Promise:
    """What the name of a variable, option, field or header announces."""
    words = [word.lower() for word in _WORD.findall(name)]
    low = name.lower().strip("-_./")
    if not words or _OFTEN_NAMES.match(low) or _OFTEN_NAMES.match("".join(words)):
        return Promise.NONE
    last, before = words[-1], words[-2] if len(words) > 1 else ""
    while last.isdecimal() and len(words) > 1:
        words.pop()
        last, before = words[-1], words[-2] if len(words) > 1 else ""
    named = _of_last(last, before, upper=name.isupper())
    if named:
        return named
    if last in _TELLS_OF_IT:
        return Promise.NONE
    whole = "".join(words)
    if last in {"id", "ids"}:
        sure = whole.endswith(("accesskeyid", "secretid"))
        return Promise.KEY if sure else Promise.RANDOM if _holds(words[:-1]) else Promise.NONE
    return _holds(words)


def _of_last(last: str, before: str, *, upper: bool) -> Promise:  # noqa: PLR0911  (one for each word)
    """What the last word alone announces."""
    if last in _PASSWORD or (before == "pass" and last in {"phrase", "word", "code", "key"}):
        return Promise.PASSWORD
    if last == "pass":
        return Promise.NONE if before in _PASSES else Promise.PASSWORD if before else Promise.LIKELY
    if last in {"pin", "otp", "totp", "salt", "auth", "sas", "sig", "signature", "hmac", "passcodes", "nonce", "sid"}:
        return Promise.LIKELY if last in {"pin", "otp", "totp", "auth", "salt", "sas"} else Promise.RANDOM
    if last == "token":
        return Promise.NONE if before in _KEPT_BEFORE_TOKEN else Promise.KEY if before else Promise.LIKELY
    if last == "tokens":
        return Promise.KEY if before in {"api", "auth", "access", "secret", "bearer"} else Promise.NONE
    if last in {"key", "keys"}:
        if before in _SECRET_BEFORE_KEY and last == "key":
            return Promise.KEY
        return Promise.RANDOM if not before or before in _KEPT_BEFORE_KEY else Promise.KEY if upper else Promise.LIKELY
    return Promise.NONE


def _holds(words: list[str]) -> Promise:
    """What a word anywhere in a name announces."""
    if not _PASSWORD.isdisjoint(words):
        return Promise.PASSWORD
    if not _SECRET.isdisjoint(words):
        return Promise.KEY
    if any(map(_GLUED.search, words)):
        return Promise.PASSWORD if "pass" in "".join(words) else Promise.KEY
    pairs = itertools.pairwise(words)
    if any(last in {"key", "token"} and before in _SECRET_BEFORE_KEY for before, last in pairs):
        return Promise.KEY
    return Promise.NONE


def is_value(value: str, promised: Promise) -> bool:  # noqa: PLR0911  (one for each promise)
    """True if this is a secret, given what the name announces."""
    text = value.strip()
    if not promised or _NOTHING.match(text) or not any(map(str.isalnum, text)):
        return False
    low = text.lower().rstrip(".,;:!?)")
    if not low or low in _WORDS:
        return False
    if promised is Promise.PASSWORD:
        return not (_PATH.match(text) and text.count("/") > 1) and "***" not in text
    if _NUMBER.match(text) or _PATH.match(text) or "***" in text:
        return False
    if promised is Promise.KEY:
        return len(text) > 2  # noqa: PLR2004  (a letter or two are no key)
    if promised is Promise.LIKELY:
        return len(text) >= 20 or (len(text) >= 5 and not _PLAIN.match(text))  # noqa: PLR2004
    return looks_random(text)


def looks_random(text: str) -> bool:
    """True if nobody would have typed it: long, of letters and digits."""
    mixed = any(map(str.isdigit, text)) and any(map(str.isalpha, text))
    return mixed and len(text) >= 16 and text[0] != "/" and " " not in text and not _NUMBERED_WORDS.match(text)  # noqa: PLR2004
