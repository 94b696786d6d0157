"""Secrets in the arguments of programs, without a name that suggests a secret.

The options are from the manuals of the programs; ``--password x`` and similar options of all programs are recognised in
`ncdiag.formats.secrets.pairs`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ncdiag.base.patterns import lazy_regex
from ncdiag.formats.secrets.names import Promise, is_value, looks_random
from ncdiag.formats.secrets.pairs import value_at
from ncdiag.formats.secrets.signed import Signed
from ncdiag.formats.secrets.tokens import Span

__all__ = ["commands"]

_FLAGS: dict[str, str] = {
    "sshpass": "p", "docker|podman|nerdctl|buildah|skopeo|crane|helm|oras|apptainer|singularity|ctr|img|finch": "p",
    "mysql|mysqldump|mysqladmin|mariadb|mariadb-dump|mysqlimport"
    "|mycli": "p=", "mongo|mongosh|mongodump|mongorestore": "p",
    "az|oc|twine|poetry|evil-winrm|racadm|redfishtool|rdesktop|psexec|cqlsh|clickhouse-client|influx|pssh"
    "|ilorest": "p",
    "ipmitool|ipmi-power|ipmipower|ipmi-sensors|mosquitto_pub|mosquitto_sub|sqlcmd|bcp|zip|unzip|iscsiadm"
    "|idracadm": "P",
    "bmc-info": "p", "redis-cli|valkey-cli": "a", "ldapsearch|ldapadd|ldapmodify|ldapwhoami|ldappasswd"
        "|ldapdelete": "w",
    "7z|7za|7zr|rar|unrar": "p=", "gpg|gpg2|openssl|cryptsetup|keytool|x11vnc|vncserver|freerdp|xfreerdp": "k",
    "snmpget|snmpwalk|snmpset|snmpbulkwalk"
    "|snmptrap": "cAX", "ssh-keygen|dropbearkey": "NPp", "useradd|usermod|adduser|grub-mkpasswd": "p",
    "tower-cli|awx": "p", "cadaver|ftp|lftp|ncftp|nxc|crackmapexec"
        "|netexec": "p", "jfrog|jf": "p",
    "bw|lpass|op": "p", "kadmin|kinit": "w",
    "turnadmin|turnserver|coturn": "p", "nvsm|nvfwupd|nvdebug": "p", "redis-benchmark": "a",
    "sftp|scp|plink|pscp|putty": "pw=", "smbmap|smbcacls": "p",
}  # fmt: skip
"""Programs and the letters of options whose value is a secret; ``=``: only if it is joined to the letter."""
_LETTERS = {name: flags for names, flags in _FLAGS.items() for name in names.split("|") if flags}
_PROGRAM = Signed(rf"(?:^|(?<=[\s/|;&(\"'`\[$+,>=]))(?P<program>{'|'.join(map(re.escape, _LETTERS))})(?=[\s\"',])")
_PAIR_OPTIONS = lazy_regex(
    r"(?<![\w-])(?:-[sSkvLifgGI]{0,6}u|--user|-U|--proxy-user|-a|--auth|--creds|--src-creds|--dest-creds|--credentials|--http-user"
    r"|--basic-auth|--userpass|-user)"
    r"(?:[ \t=]{1,4}|[\"'],\s?)?[\"']?(?P<user>[^\s:\"'%/=]{0,80})[:%](?P<secret>[^\s\"'|;]{2,400})"
)
"""``curl -u kim:x``, ``curl -sku kim:x``, ``smbclient -U kim%x``, ``skopeo --creds kim:x``."""
_USER_PAIR = Signed(
    r"(?<![\w.-])\w{0,40}(?:USER|USERPASS|LOGIN|AUTH|CREDS)\s?=\s?[\"']?[A-Za-z_][\w.@-]{0,40}:(?P<secret>[^\s\"'|;:/]{6,200})"
    r"|\blftp\b.{0,80}\s-u\s?[\"']?[\w.@-]{1,40},(?P<other>[^\s\"'|;,]{3,200})"
)
"""``ETCDCTL_USER=kim:x``, ``lftp -u kim,x``."""
_PAIRED = Signed(
    r"\b(?:curl|wget|https?|xh|smbclient|rpcclient|skopeo|podman|buildah|rclone|hey|ab|siege|lftp"
    r"|crane|ffuf|restic|minio|artifactory|mcli|podman-remote|rpcclient|aria2c|rest|hurl|httpie|elasticdump|es)\b"
    r"|--\w*(?:creds|credentials|auth|userpass)\b"
)
_SAID = Signed(
    r"\b(?:login|logon|authtoken|add-authtoken|set-token|set_token|setToken|auth:token|token:set|set-api-key"
    r"|api-key|apikey|api_key|authkey|configure|init|key|activate"
    r"|with-token|--with-token|auth|redeem|register|unlock|unseal|join|--key|-key|-token|secret-key"
    r"|account)[ \t]{1,4}(?:--relogin[ \t]|set[ \t]|add[ \t]|-\w[ \t])?[\"']?(?P<secret>[\w.+/=~:-]{16,2000})"
)
"""``wandb login x``, ``ngrok authtoken x``, ``vault operator unseal x``: followed by a random word."""
_LOGIN = Signed(
    r"\b(?:(?:wandb|vault|comet|swanlab|neptune|clearml|ngc|pulumi|fly|hf"
    r"|huggingface-cli)[ \t]+login|authtoken|add-authtoken|set[ \t]api-key|api-key[ \t]set"
    r"|apikey[ \t]set)[ \t]{1,4}(?:--?\w[\w-]*[ \t]){0,3}[\"']?(?P<secret>[^\s\"'-][^\s\"']{4,400})"
)
_PLACES = Signed(
    r"\b(?:requirepass|masterauth|rabbitmqctl[ \t]+(?:add_user|change_password|authenticate_user)[ \t]+\S{1,80}"
    r"|(?:mc|mcli)[ \t]+(?:alias[ \t]+set|config[ \t]+host[ \t]+add)[ \t]+\S{1,80}[ \t]+\S{1,200}(?:[ \t]+\S{1,200})?"
    r"|htpasswd[ \t]+-\w*b\w*(?:[ \t]+-\w+)*(?:[ \t]+(?!-)\S{1,200}){1,2}|wpa_passphrase[ \t]+\S{1,80}"
    r"|radtest[ \t]+\S{1,80}"
    r"|net[ \t]+use[ \t]+(?:\S{1,80}[ \t]+)?(?=\S+[ \t]+/user)|(?:zkCli|addauth)[ \t]+digest[ \t]+\w{1,60}:?"
    r"|vncpasswd|rootpw(?:[ \t]+--plaintext)?|ldappasswd.{0,80}-s"
    r"|user[ \t]+set[ \t]+password[ \t]+\d{1,3}|changeme"
    r"|(?:git[ \t]+)?config(?:[ \t]+--?\w+)*[ \t]+\S{0,60}(?:token|secret|password|extraheader)"
    r"|remote[ \t]+modify(?:[ \t]+--?\w+)*[ \t]+\S{1,60}[ \t]+(?:password|secret_access_key|access_key_id"
    r"|connection_string|sas_token|account_key)"
    r"|config[ \t]+(?:--?\w+[ \t]+)*(?:set[ \t]+|add[ \t]+)?(?:--?\w+[ \t]+)*\S{0,80}(?:[Tt]oken|[Pp]assword"
    r"|[Ss]ecret|[Kk]ey)\S{0,80}|configure[ \t]+set(?:[ \t]+--?\S+)*[ \t]+\S{0,40}(?:key|token|secret)\S{0,40}"
    r"|http-basic\S{0,80}[ \t]+\S{1,80}|pypi-token\S{1,60}|(?:USER|user)[ \t]+\S{1,60}[ \t]+(?:PASS|pass)"
    r"|AUTH(?:[ \t]+(?:default|LOGIN|PLAIN))?|SETUSER[ \t]+\S{1,60}[ \t]+on[ \t]+>?|hmset[ \t]+\S+"
    r"|IDENTIFIED[ \t]+(?:WITH[ \t]+\S{1,60}[ \t]+)?BY(?:[ \t]+PASSWORD)?|WITH[ \t]+(?:ENCRYPTED[ \t]+)?PASSWORD"
    r"|identified[ \t]+(?:with[ \t]+\S{1,60}[ \t]+)?by(?:[ \t]+password)?|with[ \t]+(?:encrypted[ \t]+)?password"
    r"|MIT-MAGIC-COOKIE-1|XDM-AUTHORIZATION-1|(?:ro|rw)(?:community|user)6?|snmp-server[ \t]+community"
    r"|snmp-server[ \t]+host[ \t]+\S{1,60}(?:[ \t]+version[ \t]+\w+)?|community"
    r"|(?:password|secret|key|auth-password|encrypted-password|md5|sha|aes|passwd|key-string"
    r"|authentication-key[ \t]+\d{1,6})[ \t]+(?:\d{1,2}|md5|sha|sha256|des|aes|encrypted|level[ \t]+\d+|cipher"
    r"|simple|hash|clear|ciphertext)|(?:tacacs|radius)-server[ \t]+(?:host[ \t]+\S{1,60}[ \t]+)?key(?:[ \t]+\d)?"
    r"|key-chain.{0,60}key-string|ip[ \t]+ospf[ \t]+(?:message-digest-key[ \t]+\d+[ \t]+md5|authentication-key)"
    r"|neighbor[ \t]+\S{1,60}[ \t]+password(?:[ \t]+\d)?"
    r"|spawn.{0,80};[ \t]*send|expect[ \t]+-re.{0,80}send|(?<![\w-])-pass(?:in|out)?|(?<![\w-])--?passw\w*"
    r"|--passphrase(?:-fd)?|passwd[ \t]+--stdin|crypto[ \t]+isakmp[ \t]+key|iwconfig[ \t]+\S{1,20}[ \t]+key"
    r"|nmcli.{0,200}[ \t]password|/pass|/password|/pw)[ \t:]{1,4}(?:s:)?"
)
"""Text before a secret that only its position identifies: commands, SQL and configurations of switches."""
_LITERALS = Signed(
    r"(?<![\w-])(?:-b|--cookie)[ =][\"']?[\w.-]{1,60}=|--from-literal[= ][\"']?[\w.-]{1,80}="
    r"|\bvault[ \t]+(?:kv[ \t]+)?(?:put|write|patch)[ \t]+\S{1,200}(?:[ \t]+[\w.-]{1,60}=)"
    r"|\bpass(?=:[^\s/])(?<=[ =\"']pass):|--env-secret[= ]\w+=|--set(?:-string)?[= ][\w.]{0,60}(?:[Pp]ass|[Tt]oken"
    r"|[Ss]ecret|[Kk]ey)\w*=|set-password[ \t]+\S+[ \t]+|/p:|\bsend(?:[ \t]+--)?[ \t]+(?=\"[^\"]+\\[rn])"
    r"|--passphrase[ =]|otpauth://\S{0,100}secret=",
    signs=(
        "-b",
        "--cookie",
        "--from-literal",
        "vault",
        "pass:",
        "--env-secret",
        "--set",
        "set-password",
        "/p:",
        "send",
        "--passphrase",
        "otpauth",
    ),
)
_MORE = lazy_regex(r"(?<=[ \t])[\w.-]{1,60}=")
_WRITERS = Signed(
    r"\b(?:echo|printf|print|write-output"
    r"|Write-Host)\b(?P<args>(?:[^|<>;&]|&(?!&)){1,4000})(?P<to>[|<>]{1,2})(?P<rest>.{0,200})",
    re.IGNORECASE,
)
_TAKERS = lazy_regex(
    r"stdin|--with-token|\bsudo\b.{0,40}-\w*S|\bpasswd\b|chpasswd|smbpasswd|\bgpg\b|openssl|\bkinit\b|cryptsetup"
    r"|\blogin\b|token|secret|passw|cred|netrc|pgpass|htpasswd|\.key\b|/key\b|munge|api.?key|vncpasswd|ssh-add"
    r"|--batch|registry|\bauth\b",
    re.IGNORECASE,
)
_HERE = Signed(r"(?P<before>.{0,200})<<<[ \t]{0,4}(?=\S)")
_WORD = lazy_regex(r"\"(?:\\.|[^\"\\])*\"|'[^']*'|[^\s\"']+")
_SUDO = lazy_regex(
    r"\bsudo\b|\bkinit\b|passw|login|token|secret|\bgpg\b|cryptsetup|--with|stdin|\bsu\b"
    r"|auth",
    re.IGNORECASE,
)


_USM_USER = Signed(r"\bsnmp\S{0,20}[ \t](?P<settings>.{1,400})")
_USM_KEY = lazy_regex(
    r"(?<![\w-])(?:auth|priv)(?:entication|acy)?(?:-protocol)?[ \t]+"
    r"(?:md5|sha\S{0,6}|3?des|aes\S{0,6})[ \t]+(?P<secret>\S{4,200})"
)
"""The user of SNMP version 3 in the configuration of a switch: ``auth sha x priv aes-128 y``."""
_COOKIES = Signed(r"\"cookies\":\s{0,4}\[(?P<list>[^\]]{1,20000})\]")
_COOKIE = lazy_regex(r"\"value\":\s{0,4}\"(?P<secret>[^\"]{4,4000})\"")
"""The cookies of a request that a browser recorded: the value of each, whatever its name."""


def commands(line: str) -> Iterator[Span]:
    """The spans of secrets among the arguments of commands in the line."""
    yield from _options(line)
    for found in _BOTH_QUOTED.finditer(line):
        if is_value(found["secret"], Promise.LIKELY):
            yield found.span("secret")
    if _PAIRED.search(line):
        for found in _PAIR_OPTIONS.finditer(line):
            if not re.match(r"\$\{?\w|//|\d{1,5}$", found["secret"]):
                yield found.span("secret")
    for found in _USER_PAIR.finditer(line):
        group = found.lastgroup or "secret"
        if is_value(found[group], Promise.LIKELY):
            yield found.span(group)
    yield from _logins(line)
    for place in _ends(line):
        span = value_at(line, place)
        if is_value(line[slice(*span)], Promise.PASSWORD) and not line[slice(*span)].startswith("--"):
            yield span
    yield from _several(line)
    yield from _piped(line)


def _several(line: str) -> Iterator[Span]:
    """The secrets of texts that have one or more."""
    for outer, inner in ((_USM_USER, _USM_KEY), (_COOKIES, _COOKIE)):
        for around in outer.finditer(line):
            yield from (found.span("secret") for found in inner.finditer(line, around.start(), around.end()))


def _logins(line: str) -> Iterator[Span]:
    """The argument of ``login`` and similar commands, unless it is a host."""
    for found in _SAID.finditer(line):
        if looks_random(found["secret"]) and not _ADDRESS.match(found["secret"]):
            yield found.span("secret")
    for found in _LOGIN.finditer(line):
        if is_value(found["secret"], Promise.LIKELY) and not _SERVER.match(found["secret"]):
            yield found.span("secret")


_ADDRESS = lazy_regex(r"[\w.-]+/[\w./:-]+$|[\w-]+(?:\.[\w-]+)+(?::\d+)?(?:/|$)|\w+://")
_SERVER = lazy_regex(r"\w+://|[a-z0-9-]+(?:\.[a-z0-9-]+){2,}$")
_BOTH_QUOTED = Signed(
    r"(?i:auth|login|credentials?|creds|basicauth|connect|userpass)\w{0,20}[\"']?\s?(?:[=:(]"
    r"|=>)\s?[(\[]?\s?[\"'][^\"']{0,80}[\"']\s?,\s?[\"'](?P<secret>[^\"']{3,400})[\"']\s?[)\]]"
)
"""``auth=("kim", "x")``, as libraries for HTTP and mail take them."""


def _ends(line: str) -> Iterator[int]:
    """The ends of texts that precede a secret."""
    for found in _PLACES.finditer(line):
        yield found.end()
    more = True
    for found in _LITERALS.finditer(line):
        yield found.end()
        if more and found[0].startswith("vault"):
            yield from (each.end() for each in _MORE.finditer(line, found.end()))
            more = False


def _options(line: str) -> Iterator[Span]:
    """``-p x`` and ``-px`` of programs with such an option for a secret."""
    programs = list(_PROGRAM.finditer(line))
    for number, found in enumerate(programs):
        end = programs[number + 1].start() if number + 1 < len(programs) else len(line)
        letters = _LETTERS[found["program"]]
        glued, letters = letters.endswith("="), letters.rstrip("=")
        if (
            letters == "p"
            and found["program"]
            in {
                "docker",
                "podman",
                "nerdctl",
                "helm",
                "az",
                "oc",
                "ctr",
                "singularity",
                "apptainer",
            }
            and "login" not in line[found.end() : end]
        ):
            continue
        form = re.compile(
            rf"(?<=[\s\"'])-(?:{letters if letters == 'pw' else f'[{letters}]'})"
            + (r"(?=[^\s\d,]|\d\S)" if glued and letters != "pw" else r"(?:[\"'],\s?|[ \t=]{0,4})(?=[^\s-]|-\w*\d)")
        )
        for flag in form.finditer(line, found.end(), end):
            span = value_at(line, flag.end())
            if is_value(line[slice(*span)], Promise.PASSWORD):
                yield span


def _piped(line: str) -> Iterator[Span]:
    """Text piped to a program that reads a secret, or to a file that stores one."""
    for found in _WRITERS.finditer(line):
        if not _TAKERS.search(found["rest"].split("|")[0] if found["to"] != "|" else found["rest"]):
            continue
        for word in _WORD.finditer(found["args"]):
            text = word[0].strip("\"'")
            if (
                text.startswith("-")
                or re.fullmatch(r"(?:%s|%b|\\n|\d|&)+", text)
                or not is_value(text, Promise.PASSWORD)
            ):
                continue
            start = found.start("args") + word.start()
            user = re.match(r"[\"']?[a-z_][\w.-]{0,40}:(?=\S)", word[0])
            yield start + (user.end() if user else word[0][0] in "\"'"), start + len(word[0]) - (word[0][-1] in "\"'")
    for found in _HERE.finditer(line):
        after = line[found.end() : found.end() + 4000]
        if _SUDO.search(found["before"]) or _SUDO.search(after):
            span = value_at(line, found.end())
            if is_value(line[slice(*span)], Promise.PASSWORD):
                yield span
