"""Cleaning keeps what a diagnosis rests on, and no secret, name or address."""

from __future__ import annotations

import gzip
import ipaddress
import json
import pathlib
import random
import re
import stat
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ncdiag import node
from ncdiag.diagnose import diagnose
from ncdiag.read import job_of, read_source
from ncdiag.redact import Redactor, bundle_cleaned, cleaned, hosts_in, report_cleaned
from ncdiag.report import renderer
from ncdiag.report.model import Report
from ncdiag.sources import bundle
from ncdiag.sources.files import TextSource, open_sources

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

KEY = b"a key of sixteen"
FIXTURES = pathlib.Path(__file__).resolve().parents[2] / "fixtures"
CASES = sorted(path for path in (FIXTURES / "cases").iterdir() if path.is_dir())


def redactor(*hosts: str) -> Redactor:
    return Redactor(hosts, KEY)


def clean(text: str, *hosts: str) -> str:
    return redactor(*hosts).text(text)


def gist(report: Report) -> Any:  # noqa: ANN401
    """What must not change: the findings in order, how sure they are, and the structure of their fixes."""
    found = [
        (
            f.name, f.severity, f.confidence, f.nhosts, f.ranks, f.explained_by,
            [(x.kind, sorted(x.env), x.unset, sorted(x.commands), x.proof and x.proof.state) for x in f.fixes],
        )
        for f in report.findings
    ]  # fmt: skip
    asked = [(u.name, u.ask_for) for u in report.unknown]
    sections = [(s.kind, s.first_line, s.last_line) for i in report.inputs for s in i.sections]
    return report.summary.verdict, report.summary.root_cause, found, asked, sections


@pytest.mark.parametrize("folder", CASES, ids=lambda p: p.name)
def test_the_diagnosis_stays(folder: pathlib.Path) -> None:
    case = tomllib.loads((folder / "case.toml").read_text())
    names = case.get("input") or sorted(p.name for p in folder.iterdir() if p.name != "case.toml")
    files = [str(folder / name) for name in names]
    made, _ = cleaned([source for source in open_sources(files) if isinstance(source, TextSource)], KEY)
    assert gist(diagnose(made)) == gist(diagnose(open_sources(files)))


def shape(value: Any) -> Any:  # noqa: ANN401
    """Facts without their words: what there is, how much of it, and every number (large ones are handles)."""
    if isinstance(value, dict):
        left_out = {"provenance", "conflicts", "order"}
        return {name: shape(item) for name, item in sorted(value.items()) if name not in left_out}
    if isinstance(value, list):
        return [shape(item) for item in value]
    return "a word" if isinstance(value, str) or (isinstance(value, int) and value >> 48) else value


def facts(source: Any) -> Any:  # noqa: ANN401
    return shape(json.loads(msgspec.json.encode(job_of([read_source(source)]))))


def same_facts(text: bytes, name: str = "paste.txt") -> bool:
    (made,), _ = cleaned([TextSource.of_bytes(name, text)], KEY)
    return bool(facts(made) == facts(TextSource.of_bytes(name, text)))


@pytest.mark.parametrize("kind", sorted(path.name for path in (FIXTURES / "sections").iterdir()))
def test_the_facts_of_every_specimen_stay(kind: str) -> None:
    texts = sorted((FIXTURES / "sections" / kind).glob("*.txt"))
    assert [path.name for path in texts if not same_facts(path.read_bytes())] == []


@pytest.mark.parametrize("area", sorted(path.name for path in (FIXTURES.parent / "rules").iterdir() if path.is_dir()))
def test_the_facts_of_every_example_stay(area: str) -> None:
    wrong = []
    for path in sorted((FIXTURES.parent / "rules" / area).rglob("*.toml")):
        for example in tomllib.loads(path.read_text(encoding="utf-8")).get("example", ()):
            texts = [text for text in example.values() if isinstance(text, str) and "\n" in text]
            if not same_facts("\n".join(texts).encode()):
                wrong.append(f"{path.name}: {example['name']}")
    assert wrong == []


@pytest.mark.parametrize("folder", sorted((FIXTURES / "healthy").iterdir()), ids=lambda p: p.name)
def test_what_is_healthy_stays_so(folder: pathlib.Path) -> None:
    files = [str(path) for path in sorted(folder.rglob("*")) if path.is_file()]
    made, _ = cleaned([source for source in open_sources(files) if isinstance(source, TextSource)], KEY)
    assert gist(diagnose(made)) == gist(diagnose(open_sources(files)))


def test_the_diagnosis_of_real_cases_stays(shared: pathlib.Path) -> None:
    texts = sorted(path for path in (shared / "cases").rglob("*.txt"))
    assert texts
    changed = []
    for path in texts:
        made, _ = cleaned([TextSource.of_bytes(path.name, path.read_bytes())], KEY)
        before = gist(diagnose([TextSource.of_bytes(path.name, path.read_bytes())]))
        if gist(diagnose(made))[:4] != before[:4]:
            changed.append(path.name)
    assert changed == []


@pytest.mark.parametrize("seed", range(4))
def test_planted_secrets_are_gone(seed: int) -> None:
    chance = random.Random(seed)  # noqa: S311  (places, no secrets)
    texts = [*sorted((FIXTURES / "sections").rglob("*.txt")), *sorted((FIXTURES / "cases").rglob("*.txt"))]
    planted, left = 0, []
    for path in texts:
        lines = path.read_text(encoding="utf-8", errors="replace").split("\n")
        mine = [f"{chance.choice(('Zq', 'x9'))}{chance.getrandbits(60):x}" for _ in range(3)]
        for secret in mine:
            lines.insert(chance.randrange(len(lines) + 1), chance.choice(PLACES).format(secret))
        planted += len(mine)
        (made,), used = cleaned([TextSource.of_bytes(path.name, "\n".join(lines).encode())], KEY)
        text = b"".join(made.buffers()).decode() + json.dumps(used.mapping)
        left += [f"{path.name}: {secret}" for secret in mine if secret in text]
    assert planted > 500
    assert left == []


PASTE = """\
alice@gpu07:~$ ssh gpu08 lsmod
Module                  Size  Used by
nvidia_peermem         16384  0
gpu07:812:812 [0] NCCL INFO Bootstrap : Using eth0:10.20.30.7<0>
gpu08:733:733 [0] NCCL INFO Bootstrap : Using eth0:10.20.31.8<0>
srun -w gpu[07-08] --chdir /home/alice/run ./train
"""


def test_names_of_hosts_and_users() -> None:
    (made,), used = cleaned([TextSource.of_bytes("/home/alice/gpu07.log", PASTE.encode())], KEY)
    text = b"".join(made.buffers()).decode()
    assert set(used.mapping) >= {"gpu07", "gpu08", "alice"}
    assert not re.search("gpu07|gpu08|alice|10[.]20[.]", text + made.name)
    assert text.count("\n") == PASTE.count("\n")
    assert hosts_in([made]) == ["host1", "host2"] or set(hosts_in([made])) == {"host1", "host2"}
    assert "-w host" in text
    assert "/home/user1/run" in text


@pytest.mark.parametrize(
    "text",
    [
        "mlx5_0 mlx5_bond_0 bond0.100@bond0 veth5a3f@if12 ib0 eth0 docker0 GPU0",
        "127.0.0.1 0.0.0.0 255.255.255.0 224.0.0.1 169.254.3.4 :: ::1 ff02::1",
        "00:00:00:00:00:00 ff:ff:ff:ff:ff:ff 0000:3b:00.0 12:34:56 2.18.3+cuda12.1 c10::Error std::vector",
        "NCCL_IB_HCA=mlx5_0:1 NCCL_IB_PKEY=0x8001 commHash 1234567890123456",
        "root@x.y~ /home/ubuntu/x",
        "HCA fe80:0000:0000:0000:0000:0000:0000:0000 0xffffffffffffffff",
    ],
)
def test_what_stays_as_it_is(text: str) -> None:
    assert clean(text, "node", "rank", "localhost", "10.0.0.1") == text


ADDRESSES = st.one_of(
    st.integers(0x0A000100, 0x0AFFFEFE), st.integers(0xC0A80101, 0xC0A8FEFE), st.integers(0xAC100101, 0xAC1FFEFE)
).map(lambda n: str(ipaddress.IPv4Address(n)))
PRIVATE = [ipaddress.ip_network(n) for n in ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16")]


@settings(max_examples=200, deadline=None)
@given(one=ADDRESSES, two=ADDRESSES, length=st.integers(8, 24))
def test_subnets_and_private_ranges_stay(one: str, two: str, length: int) -> None:
    made = clean(f"{one} {two}/{length}").replace(f"/{length}", "").split()
    for before, after in zip((one, two), made, strict=True):
        assert before.rsplit(".", 1)[1] == after.rsplit(".", 1)[1]
        for network in PRIVATE:
            assert (ipaddress.ip_address(before) in network) is (ipaddress.ip_address(after) in network)
    usual = [part for address in (one, two) for part in address.split(".")[2:3] if part not in {"0", "255"}]
    if len(usual) == 2:
        made = clean(f"{one} {two}").split()
        shared = [int(ipaddress.ip_address(a)) ^ int(ipaddress.ip_address(b)) for a, b in ((one, two), tuple(made))]
        assert shared[0].bit_length() == shared[1].bit_length() or shared[0] >> 8 == shared[1] >> 8 == 0


@settings(max_examples=60, deadline=None)
@given(number=st.integers(0x0A000100, 0x0AFFFEFE), length=st.integers(9, 24))
def test_networks_stay_networks(number: int, length: int) -> None:
    network = ipaddress.ip_network((number >> (32 - length) << (32 - length), length))
    made = ipaddress.ip_network(clean(str(network)))
    assert made.prefixlen == length


@pytest.mark.parametrize("ip", ["10.20.30.7", "fe80::526b:4bff:fea1:b2c3", "2001:db8:12:ab00::7"])
def test_an_address_is_the_same_with_all_that_stands_around_it(ip: str) -> None:
    made = clean(ip)
    assert made != ip
    around = f"eth0:{ip}<0> [0]bond0:{ip}%bond0<0> {ip}/16 {ip}/24 [{ip}] ={ip}, ip {ip}"
    assert clean(around) == around.replace(ip, made)


def test_an_address_is_the_same_in_all_its_forms() -> None:
    made = clean("10.20.30.7 ::ffff:10.20.30.7 0000:0000:0000:0000:0000:ffff:0a14:1e07").split()
    address = ipaddress.ip_address(made[0])
    assert str(address) != "10.20.30.7"
    assert made[1] == f"::ffff:{address}"
    assert ipaddress.IPv6Address(made[2]).ipv4_mapped == address


def test_hardware_addresses_hang_together() -> None:
    text = "50:6b:4b:a1:b2:c3 fe80::526b:4bff:fea1:b2c3 0x506b4b0300a1b2c3 506b:4b03:00a1:b2c4 50-6B-4B-A1-B2-C3"
    mac, link, guid, port, upper = clean(text).split()
    assert mac != "50:6b:4b:a1:b2:c3"
    assert mac.startswith("50:6b:4b:")
    assert upper == mac.upper().replace(":", "-")
    tail = mac.replace(":", "")[6:]
    assert link == f"fe80::526b:4bff:fe{tail[:2]}:{tail[2:]}"
    assert guid == f"0x506b4b0300{tail}"
    assert port.replace(":", "") == f"506b4b0300{tail[:4]}c4"


def test_uuids_and_serials() -> None:
    text = "GPU-12345678-1234-1234-1234-123456789abc Serial Number : 1320023019042"
    made = clean(text)
    assert clean(text) == made
    assert re.fullmatch(r"GPU-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12} Serial Number : \d{13}", made)
    assert "12345678" not in made
    assert "1320023019042" not in made


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
    used = redactor()
    text = used.text(f"before\n{place.format(secret)}\nafter {secret[:0]}")
    assert secret not in text
    assert text.startswith("before\n")
    assert text.endswith("after ")
    assert secret not in json.dumps(used.mapping)


@pytest.mark.parametrize("secret", SECRETS[1:])
def test_tokens_are_known_by_their_form(secret: str) -> None:
    assert secret not in clean(f"I used {secret} there")


@settings(max_examples=150, deadline=None)
@given(text=st.text(max_size=200), hosts=st.lists(st.text(max_size=8), max_size=3))
def test_any_text_keeps_its_lines(text: str, hosts: list[str]) -> None:
    assert clean(text, *hosts).count("\n") == text.count("\n")


@pytest.mark.parametrize(
    "piece", ["1.", "a:", "::", "0:", "f" * 9, "a@", "/home/", "-", "[1,", "a1", "name: X_KEY ", '"K":"', "eyJ"]
)
def test_repetition_takes_linear_time(piece: str) -> None:
    import time

    began = time.perf_counter()
    clean(piece * (60_000 // len(piece)), "h1")
    assert time.perf_counter() - began < 2


def test_a_report_is_cleaned_with_the_same_structure() -> None:
    launch = "NCCL_IB_HCA=mlx5 mpirun -np 2 -H rack1n5:1,rack1n6:1 /home/bob/train --token s3cr3tValue9"
    text = f"{PASTE}{launch}\n"
    whole = diagnose([TextSource.of_bytes("/home/alice/paste", text.encode())])
    made = report_cleaned(whole, KEY)
    assert whole.findings
    assert gist(made) == gist(whole)
    shown = renderer("json")(made, width=80, colour=False)
    assert "rack1n5" in renderer("json")(whole, width=80, colour=False)
    assert not re.search("gpu0[78]|rack1n|alice|bob|s3cr3t|10[.]20[.]", shown)
    assert "mpirun -np 2 -H host" in shown


def test_the_option(ncdiag: Callable[..., subprocess.CompletedProcess[bytes]]) -> None:
    shown = ncdiag("triage", "--redact", "--format", "json", input=PASTE.encode()).stdout
    assert json.loads(shown)["schema_version"] == 1
    assert b"gpu07" not in shown


def test_the_command(ncdiag: Callable[..., subprocess.CompletedProcess[bytes]], tmp_path: pathlib.Path) -> None:
    paste, kept = tmp_path / "paste.txt", tmp_path / "map.json"
    paste.write_text(PASTE)
    first = ncdiag("redact", paste, "--map", kept)
    again = ncdiag("redact", paste, "--map", kept, "-o", tmp_path / "out.txt")
    assert (first.returncode, again.returncode) == (0, 0)
    assert (tmp_path / "out.txt").read_bytes() == first.stdout
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    assert "gpu07" in json.loads(kept.read_text())["mapping"]
    assert ncdiag("redact", "-", input=PASTE.encode()).stdout != first.stdout  # another key
    kept.write_text("[]")
    assert ncdiag("redact", paste, "--map", kept).returncode == 2


def test_long_texts_are_cleaned_piece_by_piece(tmp_path: pathlib.Path) -> None:
    """A name that stands at the end is replaced at the beginning, and no piece is the whole."""
    line = "gpu07:812:812 [0] NCCL INFO Bootstrap : Using eth0:10.20.30.7<0>\n"
    path = tmp_path / "long.log"
    path.write_text("gpu07 first\n" + "nothing here, but much of it\n" * 120_000 + line)
    sources = [source for source in open_sources([str(path)]) if isinstance(source, TextSource)]
    (made,), _ = cleaned(sources, KEY)
    pieces = list(made.buffers())
    assert len(pieces) > 2
    assert pieces[0].startswith(b"host1 first\n")
    assert pieces[-1].endswith(b"<0>\n")
    assert b"".join(pieces).count(b"\n") == 120_002
    assert list(made.buffers()) == pieces, "it can be read again"


def test_a_text_that_can_be_read_once(ncdiag: Callable[..., subprocess.CompletedProcess[bytes]]) -> None:
    done = ncdiag("redact", "-", input=PASTE.encode() * 3)
    assert done.returncode == 0
    assert done.stdout.count(b"\n") == 3 * PASTE.count("\n")
    assert b"gpu07" not in done.stdout


ROOT = FIXTURES / "roots" / "roce8"


def test_a_cleaned_bundle_tells_the_same(tmp_path: pathlib.Path) -> None:
    packed = node.pack(ROOT)
    made = bundle_cleaned(packed)
    paths = {name: tmp_path / f"{name}.tar.gz" for name in ("before", "after")}
    bundle.write(packed, paths["before"])
    bundle.write(made, paths["after"])
    before, after = (node.unpack(path) for path in paths.values())
    jobs = [json.loads(msgspec.json.encode(job_of(seen.readings(), seen.observations()))) for seen in (before, after)]
    assert shape(jobs[0]) == shape(jobs[1])
    (one,), (two,) = jobs[0]["hosts"], jobs[1]["hosts"]
    assert one["name"] != two["name"]
    known = [a["ip"] for interface in one["interfaces"] for a in interface["addresses"]]
    assert not {ip for ip in known if not ip.startswith(("127.", "::1"))} & set(_words(two))
    names = [i["name"] for i in two["interfaces"]] + [h["name"] for h in two["hcas"]]
    assert names == [i["name"] for i in one["interfaces"]] + [h["name"] for h in one["hcas"]]
    assert _pairs(two) == _pairs(one), "routes and addresses hang together as before"


def _words(value: Any) -> list[str]:  # noqa: ANN401
    if isinstance(value, dict | list):
        return [word for item in (value.values() if isinstance(value, dict) else value) for word in _words(item)]
    return [value] if isinstance(value, str) else []


def _pairs(host: Any) -> list[tuple[int, int]]:  # noqa: ANN401
    """Which address stands in the network of which route."""
    routes = [ipaddress.ip_network(r["destination"]) for r in host["routes"] if "/" in r["destination"]]
    found = [ipaddress.ip_address(a["ip"]) for i in host["interfaces"] for a in i["addresses"]]
    gids = [ipaddress.ip_address(g["ip"]) for h in host["hcas"] for p in h["ports"] for g in p["gids"] if g.get("ip")]
    return [
        (n, m) for n, a in enumerate([*found, *gids]) for m, r in enumerate(routes) if a.version == r.version and a in r
    ]


def test_no_secret_and_no_user_in_a_cleaned_bundle(
    ncdiag: Callable[..., subprocess.CompletedProcess[bytes]], tmp_path: pathlib.Path
) -> None:
    root, path = tmp_path / "root", tmp_path / "x.tar.gz"
    (root / "home/alice").mkdir(parents=True)
    (root / "proc").mkdir()
    (root / "etc").mkdir()
    (root / "etc/hostname").write_text("rack1n5\n")
    (root / "home/alice/.nccl.conf").write_text("NCCL_IB_HCA=mlx5_0\nMY_TOKEN=s3cr3tValue9\n# of ~alice on rack1n5\n")
    (root / "proc/cmdline").write_text("root=UUID=12345678-1234-1234-1234-123456789abc pass=s3cr3tValue9 at=rack1n5\n")
    assert ncdiag("collect", "--redact", "--root", root, "-o", path).returncode == 0
    shown = gzip.decompress(path.read_bytes())
    assert not re.search(rb"alice|s3cr3t|rack1n5|12345678-1234", shown)
    assert b"NCCL_IB_HCA=mlx5_0" in shown
    kept = tmp_path / "map.json"
    assert ncdiag("redact", path, "-o", tmp_path / "again.tar.gz", "--map", kept).returncode == 0
    assert json.loads(kept.read_text())["key"]
    for command in (["facts", "--redact"], ["triage", "--redact"]):
        shown = ncdiag(*command, root).stdout
        assert shown
        assert not re.search(rb"alice|s3cr3t|rack1n5", shown)


@pytest.mark.parametrize(
    ("network", "inside"),
    [
        ("2001:db8:12:ab00::/56", "2001:db8:12:abcd::7"),
        ("fd12:3456:789a:1::/64", "fd12:3456:789a:1:506b:4bff:fea1:b2c3"),
        ("2001:db8::/32", "2001:db8:5::1"),
        ("fe80::/10", "fe80::506b:4bff:fea1:b2c3"),
    ],
)
def test_networks_of_ipv6_stay_networks(network: str, inside: str) -> None:
    made = clean(f"{network} {inside}").split()
    assert ipaddress.ip_address(made[1]) in ipaddress.ip_network(made[0])
    assert ipaddress.ip_network(made[0]).prefixlen == ipaddress.ip_network(network).prefixlen
    assert (made[0] == network) is (network == "fe80::/10")
