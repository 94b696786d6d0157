"""A cleaned bundle tells the same of its host, without its names and secrets."""

from __future__ import annotations

import gzip
import ipaddress
import json
import pathlib
import re
import subprocess
from collections.abc import Callable
from typing import Any

import msgspec
from cleaning import FIXTURES, KEY, shape

from ncdiag.apps.redact import Redactor, bundle_cleaned
from ncdiag.machine import bundle
from ncdiag.machine import host as machine
from ncdiag.text.reading.job import job_of

ROOT = FIXTURES / "roots" / "roce8"


def test_a_cleaned_bundle_tells_the_same(tmp_path: pathlib.Path) -> None:
    packed = machine.pack(ROOT)
    made = bundle_cleaned(packed, Redactor((), KEY))
    paths = {name: tmp_path / f"{name}.tar.gz" for name in ("before", "after")}
    bundle.write(packed, paths["before"])
    bundle.write(made, paths["after"])
    before, after = (machine.unpack(path) for path in paths.values())
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
