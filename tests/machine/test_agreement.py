"""predict, topo, check and collect speak of one machine: what each says of a recorded tree is what the others say."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., subprocess.CompletedProcess[bytes]]

ROOTS = Path(__file__).parents[2] / "fixtures" / "roots"
SWITCHED = "roce8 with its PCI tree"
"""A recorded tree of which the bridges above the devices are known, too."""
NAMES = [*sorted(path.name for path in ROOTS.iterdir()), SWITCHED]
CHOICE = "What NCCL would choose"


def _with_bridges(root: Path) -> Path:
    """The tree with the devices below root ports, a GPU beside a card in the order of their bus ids."""
    shutil.copytree(ROOTS / "roce8", root, symlinks=True)
    devices = root / "sys" / "bus" / "pci" / "devices"
    ends = sorted(d.name for d in devices.iterdir() if (d / "class").read_text().strip() in {"0x030200", "0x020000"})
    for number, name in enumerate(ends):
        port = f"0000:{0x10 + number // 2 * 8:02x}:01.0"
        above = root / "sys" / "devices" / f"pci{port[:7]}" / port
        above.mkdir(parents=True, exist_ok=True)
        (above / "class").write_text("0x060400\n")
        shutil.move(str(devices / name), above / name)
        (devices / name).symlink_to(Path("../../../devices") / f"pci{port[:7]}" / port / name)
        if not (devices / port).exists():
            (devices / port).symlink_to(Path("../../../devices") / f"pci{port[:7]}" / port)
    return root


@pytest.fixture(scope="module", params=NAMES)
def root(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A recorded tree."""
    name: str = request.param
    return _with_bridges(tmp_path_factory.mktemp("tree") / "root") if name == SWITCHED else ROOTS / name


@pytest.fixture(scope="module")
def bundle(root: Path, ncdiag: Run, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The archive that collect makes of it."""
    path = tmp_path_factory.mktemp("bundle") / "node.tar.gz"
    assert ncdiag("collect", "--root", str(root), "--no-nccl", "-o", str(path)).returncode == 0
    return path


def predicted(ncdiag: Run, *arguments: str) -> Any:  # noqa: ANN401  (JSON)
    done = ncdiag("predict", "--format", "json", "--no-nccl", "--nccl", "2.27.7", *arguments)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def checked(ncdiag: Run, *arguments: str) -> Any:  # noqa: ANN401  (JSON)
    return json.loads(ncdiag("check", "--format", "json", "--nccl", "2.27.7", *arguments).stdout)


def seen(answer: Any, what: str) -> set[str]:  # noqa: ANN401  (JSON)
    """What the table of check shows of a choice, part by part."""
    (look,) = (each for each in answer["looks"] if each["area"] == "choice" and each["what"] == what)
    return set(filter(None, look["seen"].split(", ")))


def test_a_bundle_says_what_its_tree_says(root: Path, bundle: Path, ncdiag: Run) -> None:
    assert predicted(ncdiag, str(bundle)) == predicted(ncdiag, "--root", str(root))
    looks = [json.dumps(checked(ncdiag, *where)["looks"]) for where in ((str(bundle),), ("--root", str(root)))]
    assert looks[0].replace(f"{bundle}:", str(root)) == looks[1]
    drawn = [ncdiag("topo", "--no-color", *where).stdout for where in ((str(bundle),), ("--root", str(root)))]
    assert drawn[0] == drawn[1]


def test_check_shows_what_predict_says(root: Path, ncdiag: Run) -> None:
    (host,) = predicted(ncdiag, "--root", str(root))["hosts"]
    answer = checked(ncdiag, "--root", str(root))
    assert seen(answer, "interface for the bootstrap") == {host["bootstrap_interface"]}
    assert seen(answer, "network") == {host["net"]}
    assert seen(answer, "RDMA ports") == set(host["ib_devices"])
    entries = {f"{port} {entry}" for port, entry in host["gid"].items()}
    assert seen(answer, "GID entry") in (entries, set())
    words = {True: "yes", False: "no"}
    known = {f"{port} {words[gdr['enabled']]}" for port, gdr in host["gdr"].items() if gdr["enabled"] is not None}
    assert seen(answer, "GPUDirect RDMA") == known


def test_a_setting_of_nccl_conf_counts_everywhere(root: Path, ncdiag: Run) -> None:
    (host,) = predicted(ncdiag, "--root", str(root))["hosts"]
    told = {each["about"] for each in host["reasons"] if each["choice"] == "settings" and each["about"]}
    written = {
        line.split("=")[0]
        for path in (root / "etc" / "nccl.conf", *root.glob("home/*/.nccl.conf"))
        if path.is_file()
        for line in path.read_text(encoding="utf-8").splitlines()
        if line[:1].isalpha()
    }
    assert told == written


def test_topo_draws_the_nearest_cards_that_predict_names(root: Path, ncdiag: Run) -> None:
    (host,) = predicted(ncdiag, "--root", str(root))["hosts"]
    drawn = ncdiag("topo", "--no-color", "--root", str(root)).stdout.decode()
    labels = dict(re.findall(r"(NIC\d+)   (\w+)", drawn))
    assert {port.partition(":")[0] for port in host["ib_devices"] if drawn} <= set(labels.values())
    near = {
        gpu: {labels[nic] for nic in nics.split(", ")} for gpu, nics in re.findall(r"(GPU\d+) .*--\w+-- (.*)", drawn)
    }
    told = {each["about"]: each["text"] for each in host["reasons"] if each["choice"] == "nics" and each["about"]}
    assert near == {gpu: set(text.partition(":")[0].split(", ")) for gpu, text in told.items()}
    assert bool(near) == (root.name == "root")
