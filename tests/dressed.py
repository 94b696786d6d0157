"""Secrets of many kinds in many clothes, and the same clothes over harmless values, made anew from a seed.

Clothes are what stands between a name and its value, and what programs, terminals and mailers do to both.
"""

from __future__ import annotations

import base64
import html
import json
import random
import re
import string
from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple
from urllib.parse import quote

_HEX, _WORD = "0123456789abcdef", string.ascii_letters + string.digits
KINDS = """
    TRACKER_API_KEY [h40]
    HF_TOKEN hf_[w34]
    AWS_SECRET_ACCESS_KEY [b40]
    AWS_ACCESS_KEY_ID AKIA[A16]
    DB_PASSWORD typed
    MYSQL_PWD typed
    GITHUB_TOKEN ghp_[w36]
    GITLAB_TOKEN glpat-[w20]
    OPENAI_API_KEY sk-[w48]
    NGC_API_KEY nvapi-[w64]
    SLACK_BOT_TOKEN xoxb-123456789012-[w24]
    SESSION_JWT eyJ[w30].eyJ[w40].[w43]
    AZURE_CLIENT_SECRET [w34]
    MAPS_API_KEY AIza[w35]
    NPM_TOKEN npm_[w36]
    TWINE_PASSWORD pypi-AgEI[w60]
    REGISTRY_PASSWORD typed
    REDIS_PASSWORD typed
    SMTP_PASS typed
    REGISTRY_AUTH [b48]
    CLEARML_API_SECRET_KEY [w50]
    COMET_API_KEY [w25]
    NEPTUNE_API_TOKEN [b80]
    MLFLOW_TRACKING_PASSWORD typed
    SLURM_JWT eyJ[w24].eyJ[w60].[w43]
    KAGGLE_KEY [h32]
    SSH_KEY_PASSPHRASE typed
    MUNGE_KEY [b44]
    VAULT_TOKEN hvs.[w90]
    DD_API_KEY [h32]
    OIDC_CLIENT_SECRET [w40]
    storage.account.key [b88]
"""
"""A name, and a pattern of its value: what a person typed, or a beginning and so many letters of an alphabet."""
TYPED = ("brisk-Otter.41", "Kelp8meadow", "n0rdWind!77", "plumTrain_60", "h4zel.Brook", "cobalt#Fjord9")
TWINS = """
    max_tokens 4096
    tokens_per_second 1234.5
    pad_token_id 50256
    tokenizer_type GPT2BPETokenizer
    num_key_value_heads 8
    NCCL_IB_PKEY 0x8001
    commit 4f1d0c9ab7e35528d6c1f0a2b3948576e0d1c2b3
    commId 0x7e1f0c42a1b2c3d4
    busId 0000:3b:00.0
    node_guid 0xb8cef6030021a4c0
    key_padding_mask None
    sort_keys True
    NCCL_SOCKET_IFNAME eth0
    MASTER_ADDR 10.4.0.7
    secret_name nccl-certs
    password_file /etc/x/y
    token_count 123456
    pin_memory true
    image_sha256 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08
    uuid GPU-5c1f2a9e-0b7d-4c3e-9a51-2f6e8d70b914
"""
"""Names and values that are no secrets."""


class Dressed(NamedTuple):
    """A text, what it is in, and the values in it."""

    clothes: str
    name: str
    value: str
    text: str


def _wrapped(text: str, width: int) -> str:
    return "\n".join(text[place : place + width] for place in range(0, len(text), width))


def _backslashed(name: str, value: str) -> str:
    half = len(value) // 2
    return f"export {name}={value[:half]}\\\n{value[half:]}"


def _soft(text: str) -> str:
    """Quoted-printable with soft line breaks."""
    return _wrapped(text.replace("=", "=3D"), 60).replace("\n", "=\n")


CLOTHES: Mapping[str, Callable[[str, str], str]] = {
    "env": lambda name, value: f"{name}={value}",
    "export": lambda name, value: f'export {name}="{value}"',
    "csv": lambda name, value: f"name,value\n{name},{value}\nCUDA_HOME,/usr/local/cuda",
    "quoted csv": lambda name, value: f'"{name}","{value}","prod"',
    "semicolons": lambda name, value: f"id;setting;content\n1;{name};{value}",
    "csv column": lambda name, value: f"user,host,{name}\nann,gpu-4,{value}",
    "tabs": lambda name, value: f"{name}\t{value}",
    "html cells": lambda name, value: f"<tr><td>{name}</td><td>{html.escape(value)}</td></tr>",
    "html lines": lambda name, value: f'<tr>\n  <td class="k">{name}</td>\n  <td>{html.escape(value)}</td>\n</tr>',
    "html bold": lambda name, value: f"<li><b>{name}</b>: <code>{html.escape(value)}</code></li>",
    "markdown": lambda name, value: f"| {name} | {value} |",
    "markdown code": lambda name, value: f"| `{name}` | `{value}` | set by hand |",
    "markdown column": lambda name, value: f"| user | {name} |\n|---|---|\n| ann | {value} |",
    "plain words": lambda name, value: f"| {' '.join(name.split('_')[-2:])} | {value} |",
    "box": lambda name, value: f"│ {name:40} │ {value} │",
    "psql": lambda name, value: (
        f"         name         |  value\n----------------------+-------\n {name} | {value}\n(1 row)"
    ),
    "psql column": lambda name, value: f" id | {name}\n----+-------\n  1 | {value}",
    "psql record": lambda name, value: f"-[ RECORD 1 ]\nname  | {name}\nvalue | {value}",
    "sql": lambda name, value: f"values {(name, value)!r};",
    "sql columns": lambda name, value: f"(id, user, {name}) VALUES (7, 'ann', '{value}');",
    "xml attribute": lambda name, value: f'<env name="{name}">{html.escape(value)}</env>',
    "dash": lambda name, value: f"* {name} \u2014 {value}",
    "typed": lambda name, value: f"{name} (string): {value}",
    "triple quotes": lambda name, value: f'{name} = """{value}"""',
    "nccl": lambda name, value: f"gpu7:91:91 [0] NCCL INFO {name} set by environment to {value}",
    "set to": lambda name, value: f"2026-02-03 04:05:06 INFO {name} was set to '{value}'",
    "wrapped": lambda name, value: _wrapped(f"[rank0]: export {name}={value}", 40 if len(value) < 30 else 60),
    "continued": lambda name, value: f"export {name}=\\\n{value}",
    "continued inside": _backslashed,
    "continued option": lambda name, value: (
        f"python train.py --{name.lower().replace('_', '-')} \\\n    {value} --lr 1"
    ),
    "url encoded": lambda name, value: f"GET /x%3F{name}%3D{quote(value, safe='')}%26v%3D1",
    "query": lambda name, value: f"GET /x?v=1&{name}={quote(value, safe='')}&w=2 HTTP/1.1",
    "url user": lambda _, value: f"cloning https://ann:{quote(value, safe='')}@git.lab.example/a.git",
    "encoded url": lambda _, value: f"to=https%3A%2F%2Fann%3A{quote(value, safe='')}%40git.lab.example%2Fa.git",
    "database": lambda _, value: f"store = postgresql+psycopg2://ann:{quote(value, safe='')}@db.lab.example:5432/runs",
    "rsync": lambda _, value: f"rsync -a --password-file=<(echo {value}) ann@store::runs /scratch",
    "block scalar": lambda name, value: f"env:\n  {name}: |-\n    {value}\n  OTHER: 1",
    "folded scalar": lambda name, value: f"{name}: >\n  {value}\nnext: 1",
    "yaml": lambda name, value: f"  {name}: {value}  # by hand",
    "json": lambda name, value: json.dumps({"rank": 0, name: value}),
    "json lines": lambda name, value: json.dumps({"rank": 0, name: value}, indent=2),
    "json in json": lambda name, value: json.dumps({"msg": json.dumps({name: value})}),
    "json escapes": lambda name, value: f'{{"cmd": "{name}\\u003d{value} ./train"}}',
    "pairs": lambda name, value: json.dumps([["rank", "0"], [name, value]]),
    "logfmt": lambda name, value: f'level=info key={name} value="{value}" t=1',
    "prompt": lambda _, value: f"Password for 'https://ann@git.lab.example': {value}",
    "login": lambda _, value: (
        f"tracker: Paste an API key from your profile and hit enter, or press ctrl+c to quit: {value}"
    ),
    "sudo": lambda _, value: f"[sudo] password for ann: {value}",
    "colours": lambda name, value: f"\x1b[32m{name}\x1b[0m=\x1b[1;33m{value}\x1b[0m",
    "caret": lambda name, value: f"^[[32m{name}^[[0m = ^[[33m{value}^[[0m",
    "entities": lambda name, value: f"&quot;{name}&quot;&#58; &quot;{html.escape(value)}&quot;",
    "mail": lambda name, value: f"> > {name}={value}",
    "diff": lambda name, value: f"+export {name}={value}",
    "printable": lambda name, value: _soft(f"{name}={value}"),
    "base64": lambda name, value: base64.b64encode(f"{name}={value}\n".encode()).decode(),
    "xml": lambda name, value: f"<property><name>{name}</name><value>{html.escape(value)}</value></property>",
    "columns": lambda name, value: f"{name}          {value}",
    "aligned": lambda name, value: f"NODE    USER   {name}   RACK\ngpu-4   ann    {value}   r12",
    "aligned, ruled": lambda name, value: f"user      {name}\n--------  -----------\nann       {value}",
    "variable": lambda name, value: f'variable "{name}" {{\n  type    = string\n  default = "{value}"\n}}',
    "plist": lambda name, value: f"<key>{name}</key>\n<string>{html.escape(value)}</string>",
    "parameter": lambda name, value: (
        f"Parameters:\n  {name}:\n    Type: String\n    Default: {value}\n  Size:\n    Default: 8"
    ),
    "arrow": lambda name, value: f"{name} -> {value}",
}
"""Clothes by name."""
LEAST = 8
"""Letters of half a secret that must not be left."""
OVER: Mapping[str, Callable[[str], str]] = {
    "json log": lambda text: json.dumps({"log": f"{text}\n", "stream": "stderr"}),
    "csv cell": lambda text: f'7,"{text.replace(chr(34), chr(34) * 2)}",gpu-4',
    "html row": lambda text: f"<tr><td>7</td><td>{html.escape(text)}</td></tr>",
    "html span": lambda text: f'<span class="l">{html.escape(text)}</span>',
    "markdown row": lambda text: f"| 7 | {text} |",
    "markdown ticks": lambda text: f"- `{text}`",
    "box row": lambda text: f"│ {text} │",
    "mailed": lambda text: f"> {text}",
    "added": lambda text: f"+{text}",
    "numbered": lambda text: f"  17\t{text}",
    "syslog": lambda text: f"Feb  3 04:05:06 gpu4 job[311]: {text}",
    "kubernetes": lambda text: f"2026-02-03T04:05:06.789012345Z stdout F {text}",
    "rank": lambda text: f"[rank3]: {text}",
    "nccl line": lambda text: f"gpu4:311:340 [3] NCCL INFO {text}",
    "coloured": lambda text: f"\x1b[33m{text}\x1b[0m",
    "coloured words": lambda text: " ".join(f"\x1b[3{n % 8}m{word}\x1b[0m" for n, word in enumerate(text.split(" "))),
    "url": lambda text: f"GET /search?q={quote(text, safe='')}",
    "repr": lambda text: f"b{text!r}",
    "literal": lambda text: f"    echo = {json.dumps(text)}",
    "scalar": lambda text: f"notes: |\n    {text}",
    "printable line": _soft,
    "at 72": lambda text: _wrapped(text, 72),
    "at 50": lambda text: _wrapped(text, 50),
    "xml text": lambda text: f"<line n='7'>{html.escape(text)}</line>",
}
"""Clothes of a whole line."""
UNNAMED = frozenset({"url user", "encoded url", "database", "rsync", "prompt", "login", "sudo"})
"""Clothes without a name, which announce a secret themselves: a twin in them would be one."""


_ALPHABETS = {
    "h": (_HEX, "7a"),
    "w": (_WORD, "q7"),
    "A": (string.ascii_uppercase + string.digits, "Q7"),
    "b": (f"{_WORD}+/", "q7=="),
}
"""Letters, and the end of a value: each has a letter and a digit, as those of real ones practically always do."""


def _made(chance: random.Random, pattern: str) -> str:
    """A value with the pattern of a kind."""

    def letters(found: re.Match[str]) -> str:
        alphabet, end = _ALPHABETS[found[1]]
        return "".join(chance.choices(alphabet, k=int(found[2]) - len(end))) + end

    return chance.choice(TYPED) if pattern == "typed" else re.sub(r"\[(\w)(\d+)\]", letters, pattern)


def secrets(seed: int = 11) -> Iterator[Dressed]:
    """Each kind of secret in all clothes, with another value in each."""
    chance = random.Random(seed)
    for line in KINDS.split("\n")[1:-1]:
        name, pattern = line.split()
        for clothes, put_on in CLOTHES.items():
            value = _made(chance, pattern)
            yield Dressed(clothes, name, value, put_on(name, value))


def twins() -> Iterator[Dressed]:
    """Each harmless value in the clothes that have a name."""
    for line in TWINS.split("\n")[1:-1]:
        name, value = line.split()
        for clothes, put_on in CLOTHES.items():
            if clothes not in UNNAMED:
                yield Dressed(clothes, name, value, put_on(name, value))


def left(made: str, secret: Dressed) -> bool:
    """True if a cleaned text still shows the secret: itself, encoded, or as half of it on a line."""
    half = len(secret.value) // 2
    joined = re.sub(r"=?\n|\\\n\s*", "", made)
    forms = {secret.value, quote(secret.value, safe=""), html.escape(secret.value), json.dumps(secret.value)[1:-1]}
    parts = {secret.value[:half], secret.value[half:]} if half >= LEAST else set()
    return any(form in text for form in forms | parts for text in (made, joined, _decoded(made)))


def _decoded(text: str) -> str:
    try:
        return base64.b64decode(text, validate=True).decode()
    except ValueError:
        return ""
