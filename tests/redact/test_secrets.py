"""No secret survives, wherever it stands and whatever it looks like."""

from __future__ import annotations

import json
import random
import re

import pytest
from cleaning import FIXTURES, KEY, clean
from healthy_words import healthy
from planted import planted
from tenth import at_least, tenth

from ncdiag import catalogue
from ncdiag.apps.redact import Redactor, cleaned
from ncdiag.formats.secrets.hiding import Hiding
from ncdiag.formats.secrets.remover import Secrets
from ncdiag.text.sources.files import TextSource

SECRETS = (
    "s3cr3tValue9",
    "hf_" + "a1B2" * 6,
    "ghp_" + "Zx9" * 10,
    "AKIA" + "A1" * 8,
    "eyJhbGciOi.eyJzdWIiOiIx.sig-nature",
)
PLACES = (
    "export WANDB_API_KEY={}", "HF_TOKEN={}", "-x MY_SECRET={}", 'docker run -e "DB_PASSWORD={}" img',
    '"api_key": "{}",',
    "- name: AUTH_TOKEN\n  value: {}", "- {{name: AUTH_TOKEN, value: {}}}", "curl -H 'Authorization: Bearer {}'",
    "curl https://kim:{}@example.org/x", "--password {}", "--token={}", "AWS_SECRET_ACCESS_KEY='{}'", "password: {}",
    '{{"name": "MY_TOKEN", "value": "{}"}}', '  "name": "MY_PASSWORD",\n  "value": "{}"',
    "-----BEGIN RSA PRIVATE KEY-----\n{}\n-----END RSA PRIVATE KEY-----",
)  # fmt: skip


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("secret", SECRETS)
def test_no_secret_survives(place: str, secret: str) -> None:
    used = Redactor((), KEY)
    text = used.text(f"before\n{place.format(secret)}\nafter {secret[:0]}")
    assert secret not in text
    assert text.startswith("before\n")
    assert text.endswith("after ")
    assert secret not in json.dumps(used.mapping)


@pytest.mark.parametrize("secret", SECRETS[1:])
def test_tokens_are_known_by_their_form(secret: str) -> None:
    assert secret not in clean(f"I used {secret} there")


@pytest.mark.parametrize("line", ["password: {}", "--password {}", "-----BEGIN RSA PRIVATE KEY-----\n{}"])
def test_a_secret_that_looks_like_a_host_is_in_no_mapping(line: str) -> None:
    texts = [f"$ cat hosts\n{line.format(secret)}\n-----END RSA PRIVATE KEY-----\n" for secret in ("x9e16", "zq3-7")]
    (_, _), used = cleaned([TextSource.of_bytes("hosts", text.encode()) for text in texts], KEY)
    assert not {"x9e16", "zq3-7"} & set(used.mapping)


def test_every_kind_of_planted_secret_is_gone() -> None:
    """One by one, and what stands around it stays."""
    texts = list(planted())
    assert len(texts) > 300
    left = []
    for dress, text, secret in texts:
        made = clean(f"first line\n{text}\nlast line, all well")
        if secret in made or not (made.startswith("first line\n") and made.endswith("\nlast line, all well")):
            left.append((dress, text, made))
    assert left == []


def test_a_secret_that_a_name_told_is_gone_everywhere() -> None:
    text = "export DB_PASSWORD=mX9-wolke.77\nretrying with mX9-wolke.77 on rank 0\n"
    (made,), used = cleaned([TextSource.of_bytes("x", text.encode())], KEY)
    assert b"".join(made.buffers()) == b"export DB_PASSWORD=***\nretrying with *** on rank 0\n"
    assert used.replaced() == {"secret": 2}


@pytest.mark.parametrize(
    ("text", "made"),
    [
        (
            "srun --export=ALL,DB_PASSWORD=x9q,NCCL_DEBUG=INFO python",
            "srun --export=ALL,DB_PASSWORD=***,NCCL_DEBUG=INFO python",
        ),
        ("{name: HF_TOKEN, value: x9q}", "{name: HF_TOKEN, value: ***}"),
        (
            '{"k": "-----BEGIN PRIVATE KEY-----\\nx9q\\n-----END PRIVATE KEY-----", "a": 1}\nnext',
            '{"k": "***", "a": 1}\nnext',
        ),
        ("-----BEGIN RSA PRIVATE KEY-----\nnothing of a key, cut\nnext", "***\nnothing of a key, cut\nnext"),
        ("data:\n  a: b\nkind: ConfigMap", "data:\n  a: b\nkind: ConfigMap"),
        ("os.environ['MY_PASS']='x9q'", "os.environ['MY_PASS']='***'"),
        ("curl -u kim:x9q https://x.lab.example/y", "curl -u kim:*** https://x.lab.example/y"),
        ("curl -sku kim:x9q https://x.lab.example/y", "curl -sku kim:*** https://x.lab.example/y"),
        ("curl -sSk https://x.lab.example:443/y", "curl -sSk https://x.lab.example:443/y"),
        (
            "snmp-server user ops v3 auth sha birch-tree priv aes-128 oak-tree",
            "snmp-server user ops v3 auth sha *** priv aes-128 ***",
        ),
        ("auth sha mismatch, priv aes missing", "auth sha mismatch, priv aes missing"),
        (
            '"cookies":[{"name":"sid","value":"x9qx9q"}],"headers":[{"name":"Accept","value":"text/html"}]',
            '"cookies":[{"name":"sid","value":"***"}],"headers":[{"name":"Accept","value":"text/html"}]',
        ),
    ],
)
def test_what_stands_around_a_secret_stays(text: str, made: str) -> None:
    lines = text.split("\n")
    changed = Secrets().part(lines, range(len(lines)))
    assert "\n".join(changed.get(index, line) for index, line in enumerate(lines)) == made


def test_healthy_words_and_lines_stay() -> None:
    words = list(healthy())
    assert len(words) > 2000
    assert [(word, made) for word in words if (made := clean(word)) != word] == []


def test_no_fixture_is_taken_for_a_secret() -> None:
    """Beside those that fixtures hold on purpose."""
    found = []
    for path in sorted(path for path in FIXTURES.rglob("*.txt") if path.parent.parent.name != "lint"):
        lines = path.read_text(encoding="utf-8", errors="replace").split("\n")
        made = Secrets().part(lines, range(len(lines)))
        found += [f"{path.name}: {lines[index]}" for index in made]
    assert [line for line in found if not re.search("TOKEN|KEY|me:pass@|hf_", line)] == []


@pytest.mark.sweep
@pytest.mark.parametrize("seed", range(4))
def test_planted_secrets_are_gone(seed: int) -> None:
    chance = random.Random(seed)
    texts = [*sorted((FIXTURES / "sections").rglob("*.txt")), *sorted((FIXTURES / "cases").rglob("*.txt"))]
    planted, left = 0, []
    for path in tenth(texts, lambda path: f"{seed}/{path.parent.name}/{path.stem}", one_in=3):
        lines = path.read_text(encoding="utf-8", errors="replace").split("\n")
        mine = [f"{chance.choice(('Zq', 'x9'))}{chance.getrandbits(60):x}" for _ in range(3)]
        for secret in mine:
            lines.insert(chance.randrange(len(lines) + 1), chance.choice(PLACES).format(secret))
        planted += len(mine)
        (made,), used = cleaned([TextSource.of_bytes(path.name, "\n".join(lines).encode())], KEY)
        text = b"".join(made.buffers()).decode() + json.dumps(used.mapping)
        left += [f"{path.name}: {secret}" for secret in mine if secret in text]
    assert planted > at_least(500)
    assert left == []


def test_no_line_of_a_fix_looks_like_a_secret() -> None:
    """A report hides secrets in its own fixes too: what they tell to paste must survive that."""
    lines = [command for rule in catalogue.rules() for fix in rule.fixes for command in fix.commands]
    lines += [f"{name}={value}" for rule in catalogue.rules() for fix in rule.fixes for name, value in fix.env.items()]
    assert len(lines) > 1000
    assert [line for line in lines if list(Hiding().lines(line.split("\n"))) != line.split("\n")] == []
