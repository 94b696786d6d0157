"""``ncdiag lint`` as a user and a CI job meet it: exit codes, formats, standard input, folders, processes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

Run = Callable[..., subprocess.CompletedProcess[bytes]]

BAD = "export NCCL_IB_DISABLE=true\nexport MASTER_PORT=abc\n./train\n"


@pytest.fixture
def script(tmp_path: Path) -> Path:
    path = tmp_path / "job.sh"
    path.write_text(BAD, encoding="utf-8")
    return path


def test_exit_codes(ncdiag: Run, script: Path, tmp_path: Path) -> None:
    good = tmp_path / "good.sh"
    good.write_text("export NCCL_DEBUG=WARN\n", encoding="utf-8")
    assert ncdiag("lint", str(good)).returncode == 0
    assert ncdiag("lint", str(script)).returncode == 1
    assert ncdiag("lint", str(script), "--fail-on", "never").returncode == 0
    assert ncdiag("lint", str(script), "--ignore", "master-port-invalid").returncode == 0
    assert ncdiag("lint", str(script), "--ignore", "NCL601", "--fail-on", "warning").returncode == 1
    assert ncdiag("lint", str(tmp_path / "absent.sh")).returncode == 2
    assert ncdiag("lint").returncode == 2
    assert ncdiag("lint", str(script), "--nccl", "two").returncode == 2
    assert ncdiag("lint", str(script), "--ignore", "no-such-check").returncode == 2
    assert ncdiag("lint", str(script), "--as", "poem").returncode == 2
    prose = tmp_path / "notes.txt"
    prose.write_text("nothing to see\n", encoding="utf-8")
    assert ncdiag("lint", str(prose)).returncode == 3


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("export NCCL_SOCKET_IFNMAE=eth0\n", 1),
        ("export NCCL_IB_CUDA_SUPPORT=1\n", 1),
        ("export NCCL_IB_DISABLE=1\n", 0),
    ],
)
def test_a_setting_without_effect_fails_where_that_is_asked(ncdiag: Run, tmp_path: Path, text: str, code: int) -> None:
    path = tmp_path / "run.sh"
    path.write_text(f"{text}python train.py\n")
    assert ncdiag("lint", str(path)).returncode == 0
    assert ncdiag("lint", str(path), "--fail-on-no-effect").returncode == code
    records = json.loads(ncdiag("lint", str(path), "--format", "json").stdout)["findings"]
    assert any(each["no_effect"] for each in records) is bool(code)


def test_text_names_place_reason_and_correction(ncdiag: Run, script: Path) -> None:
    lines = ncdiag("lint", str(script), "--select", "value-not-a-number").stdout.decode().splitlines()
    assert lines[0].startswith(f"{script}:1:24: warning NCL201 value-not-a-number: NCCL_IB_DISABLE=true")
    assert lines[1].startswith("    why: ")
    assert lines[2] == "    write: export NCCL_IB_DISABLE=1"


def test_json_says_the_same(ncdiag: Run, script: Path) -> None:
    answer = json.loads(ncdiag("lint", str(script), "--format", "json").stdout)
    assert answer["summary"] == {"errors": 1, "warnings": 1, "infos": 0, "fixable": 1}
    assert answer["inputs"] == [
        {"source": str(script), "form": "shell", "settings": 2, "unread": [], "unknown": [], "nccl": None}
    ]
    first = answer["findings"][0]
    assert (first["line"], first["column"], first["variable"]) == (1, 24, "NCCL_IB_DISABLE")
    assert first["corrected"] == "export NCCL_IB_DISABLE=1"


def test_github_annotations_stay_on_one_line_each(ncdiag: Run, script: Path) -> None:
    lines = ncdiag("lint", str(script), "--format", "github").stdout.decode().splitlines()
    assert [line.split(" ")[0] for line in lines] == ["::warning", "::error"]
    assert all("line=" in line and "%0A" in line for line in lines)


def test_the_patch_is_printed_and_no_file_is_changed(ncdiag: Run, script: Path) -> None:
    done = ncdiag("lint", str(script), "--fix")
    assert b"-export NCCL_IB_DISABLE=true\n+export NCCL_IB_DISABLE=1\n" in done.stdout
    assert script.read_text(encoding="utf-8") == BAD


def test_a_secret_is_in_no_output(ncdiag: Run, tmp_path: Path) -> None:
    path = tmp_path / "job.sh"
    path.write_text("docker run --gpus all -e HF_TOKEN=hunter2 -e NCCL_DEBUG=ERROR x python t.py\n", encoding="utf-8")
    for arguments in ([], ["--format", "json"], ["--format", "github"], ["--fix"]):
        done = ncdiag("lint", str(path), *arguments)
        assert b"hunter2" not in done.stdout + done.stderr
        assert done.returncode in {0, 1}


def test_a_command_line_and_standard_input(ncdiag: Run) -> None:
    done = ncdiag("lint", "--", "mpirun", "-np", "2", "-x", "NCCL_SOCKET_IFNAM=eth0", "./train it's")
    assert b"NCCL_SOCKET_IFNAME=eth0" in done.stdout
    done = ncdiag("lint", "-", input=b"NCCL_DEBUG=ERROR ./train\n")
    assert b"<stdin>:1:12: warning NCL205" in done.stdout


def test_folders_are_searched_and_binary_files_left_out(ncdiag: Run, tmp_path: Path) -> None:
    (tmp_path / "job.sh").write_text(BAD, encoding="utf-8")
    (tmp_path / "library.so").write_bytes(b"\x7fELF\x00NCCL_FOO=1")
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "hook.sh").write_text("export NCCL_FOO=1\n", encoding="utf-8")
    deep = tmp_path / "deploy" / "Dockerfile"
    deep.parent.mkdir()
    deep.write_text("FROM scratch\nENV NCCL_FOO=1\n", encoding="utf-8")
    answer = json.loads(ncdiag("lint", str(tmp_path), "--format", "json").stdout)
    assert [Path(each["source"]).name for each in answer["inputs"]] == ["job.sh", "Dockerfile"]


def test_values_that_differ_between_the_hosts_of_one_job(ncdiag: Run, tmp_path: Path) -> None:
    for name, value in (("a", "Ring"), ("b", "Tree")):
        (tmp_path / f"nccl-{name}.conf").write_text(
            f"NCCL_ALGO={value}\nNCCL_DEBUG_FILE=/tmp/{name}.%p\n", encoding="utf-8"
        )
    files = [str(tmp_path / f"nccl-{name}.conf") for name in "ab"]
    apart = ncdiag("lint", *files).stdout
    together = ncdiag("lint", *files, "--one-job").stdout
    assert b"setting-differs-between-ranks" not in apart
    assert together.count(b"setting-differs-between-ranks") == 1


@pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="the environment of a process is read from /proc")
def test_a_live_process(ncdiag: Run) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", "print(flush=True); input()"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        env={"PATH": os.environ["PATH"], "NCCL_P2P_LEVEL": "nvl", "API_TOKEN": "hunter2"},
    ) as child:  # fmt: skip
        assert child.stdout is not None
        child.stdout.readline()
        done = ncdiag("lint", "--pid", str(child.pid))
        child.communicate(b"\n")
    assert f"process {child.pid}:".encode() in done.stdout
    assert b"value-word-unknown: NCCL_P2P_LEVEL does not accept 'nvl'" in done.stdout
    assert b"hunter2" not in done.stdout


def test_a_process_that_is_not_there(ncdiag: Run) -> None:
    done = ncdiag("lint", "--pid", "4194305")
    assert done.returncode == 2
    assert b"cannot read the environment of process 4194305" in done.stderr


def test_the_release_decides(ncdiag: Run, tmp_path: Path) -> None:
    path = tmp_path / "job.sh"
    path.write_text("export NCCL_TREE_THRESHOLD=0 NCCL_IB_MERGE_NICS=1\n./train\n", encoding="utf-8")

    def names(*arguments: str) -> list[str]:
        return [
            each["name"]
            for each in json.loads(ncdiag("lint", str(path), "--format", "json", *arguments).stdout)["findings"]
        ]

    assert names("--nccl", "2.4.8") == ["variable-too-new"]
    assert names("--nccl", "2.27.7") == ["env-variable-without-effect"]
    assert names("--nccl", "2.27.7", "--ignore", "env-removed-variable") == []  # as it was called


def test_every_check_is_explained(ncdiag: Run) -> None:
    from ncdiag.apps.lint.findings import checks

    for check in checks().values():
        assert check.reason
    done = ncdiag("explain", "NCL201")
    assert b"value-not-a-number" in done.stdout
    assert b"strtoll" in done.stdout


def test_a_configuration_leaves_rules_out_and_adds_some(ncdiag: Run, tmp_path: Path) -> None:
    script = tmp_path / "job.sh"
    script.write_text("export NCCL_IB_DISABLE=1\n./train\n", encoding="utf-8")
    config = tmp_path / "ncdiag.toml"
    config.write_text('[[ignore]]\nrule = "env-ib-disable"\nreason = "no RDMA here"\n', encoding="utf-8")
    assert b"NCD603" in ncdiag("lint", str(script)).stdout
    assert b"NCD603" not in ncdiag("lint", str(script), "--config", str(config)).stdout
    assert ncdiag("lint", str(script), "--rules", str(tmp_path / "none")).returncode == 2


def test_a_file_of_another_encoding_is_judged_and_not_patched(ncdiag: Run, tmp_path: Path) -> None:
    path = tmp_path / "job.sh"
    path.write_bytes(b"# caf\xe9\nexport NCCL_IB_DISABLE=true\n./train\n")
    for format_ in ("text", "json", "github"):
        assert b"value-not-a-number" in ncdiag("lint", str(path), "--format", format_).stdout
    done = ncdiag("lint", str(path), "--fix")
    assert done.stdout == b""
    assert b"no patch is printed: it is not UTF-8" in done.stderr


@pytest.mark.parametrize("words", [["NCCL_CROSS_NIC=true", "./a"], ["env", "NCCL_CROSS_NIC=true", "./a"]])
def test_a_command_line_may_be_quoted_as_a_whole(ncdiag: Run, words: list[str]) -> None:
    for given in (words, [" ".join(words)]):
        assert b"NCCL_CROSS_NIC=true: NCCL reads 0" in ncdiag("lint", "--", *given).stdout


SAID = [
    ("job.yaml", "a:\n  NCCL_DEBUG: [INFO, WARN]\n", 3, b"job.yaml: an NCCL setting on line 2 was not read"),
    ("job.yaml", "NCCL_DEBUG: WARN\nb: {NCCL_ALGO: [Ring]}\n", 0, b"job.yaml: an NCCL setting on line 2 was not read"),
    (
        "job.sh",
        "cat > x <<E\nNCCL_DEBUG=INFO\nNCCL_ALGO=x\nE\n",
        3,
        b"job.sh: NCCL settings on lines 2-3 were not read",
    ),
    ("run.py", "levels = {'NCCL_DEBUG': 'INFO'}\n", 3, b"run.py: an NCCL setting on line 1 was not read"),
    ("run.py", "import os\nos.environ['NCCL_DEBUG'] = 'INFO'\nprint 'x'\n", 3, b"run.py: it is not Python 3 (line 3)"),
    ("run.toml", "[env]\nNCCL_DEBUG = ['INFO']\n", 3, b"run.toml: an NCCL setting on line 2 was not read"),
    ("run.rb", "ENV['NCCL_DEBUG'] = 'INFO'\n", 3, b"run.rb: an NCCL setting on line 1 was not read"),
]


@pytest.mark.parametrize(("name", "text", "code", "said"), SAID)
def test_a_setting_that_was_not_read_is_said(
    ncdiag: Run, tmp_path: Path, name: str, text: str, code: int, said: bytes
) -> None:
    (tmp_path / name).write_text(text, encoding="utf-8")
    for target in (tmp_path / name, tmp_path):
        done = ncdiag("lint", str(target))
        assert said in done.stdout + done.stderr
        assert done.returncode == code


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("job.sh", "# NCCL_DEBUG=INFO\nunset NCCL_DEBUG\necho NCCL_DEBUG=$NCCL_DEBUG\n[ $NCCL_ALGO = Ring ]\n"),
        ("run.py", "# NCCL_DEBUG=1\nx = os.environ.get('NCCL_DEBUG', 'WARN')\nif 'NCCL_DEBUG' in os.environ: pass\n"),
        ("job.yaml", "# NCCL_DEBUG: INFO\nnote: about NCCL_DEBUG and its values\nNCCL_OWN: [1]\n"),
    ],
)
def test_what_sets_nothing_is_not_said(ncdiag: Run, tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / name).write_text(text, encoding="utf-8")
    done = ncdiag("lint", str(tmp_path / name))
    assert b"not read" not in done.stdout + done.stderr


def test_tools_are_told_what_was_not_read(ncdiag: Run, tmp_path: Path) -> None:
    (tmp_path / "job.yaml").write_text("NCCL_DEBUG: WARN\nNCCL_ALGO: [Ring]\n", encoding="utf-8")
    (said,) = json.loads(ncdiag("lint", str(tmp_path), "--format", "json").stdout)["inputs"]
    assert (said["settings"], said["unread"]) == (1, [2])
    assert b"::notice file=" in ncdiag("lint", str(tmp_path), "--format", "github").stdout


GUIDE = """# How we start

Set NCCL_DEBUG=INFO to see more, then type this on node0:

```plaintext
$ mpirun -np 16 -H node0:8,node1:8 \\
    -x NCCL_IB_DISABLE=true ./train
```

    export NCCL_SOCKET_IFNAM=eth0

```c
setenv("NCCL_DEBUG", "INFO", 1);
```
"""


def test_the_commands_of_a_page_are_read(ncdiag: Run, tmp_path: Path) -> None:
    page = tmp_path / "guide.md"
    page.write_text(GUIDE, encoding="utf-8")
    done = ncdiag("lint", str(page))
    heads = [line for line in done.stdout.decode().splitlines() if line.startswith(str(page))]
    assert [head.split(": ")[0].removeprefix(f"{page}:") for head in heads] == ["7:24", "10:12"]
    assert [head.split()[2] for head in heads] == ["NCL201", "NCD601"]
    assert b"'ncdiag triage' reads the rest" in done.stderr
    assert ncdiag("lint", str(page), "--fix").stdout == b""


def test_a_page_without_commands_is_sent_to_triage(ncdiag: Run, tmp_path: Path) -> None:
    page = tmp_path / "guide.txt"
    page.write_text("The job hangs when it starts on the second of our nodes.\n", encoding="utf-8")
    done = ncdiag("lint", str(page))
    assert done.returncode == 3
    assert f"'ncdiag triage {page}'".encode() in done.stderr


def test_two_jobs_of_one_page_are_two(ncdiag: Run, tmp_path: Path) -> None:
    page = tmp_path / "guide.md"
    start = "torchrun --nnodes 2 --node_rank {} --master_addr node{} --master_port {} train.py"
    page.write_text(
        "\n".join(["```", start.format(0, 0, 29500), "```", "or", "```", start.format(1, 4, 29600), "```", ""]),
        encoding="utf-8",
    )
    assert json.loads(ncdiag("lint", str(page), "--format", "json").stdout)["findings"] == []
    script = tmp_path / "both.sh"
    script.write_text(f"{start.format(0, 0, 29500)}\nexport MASTER_PORT=29600\n", encoding="utf-8")
    assert b"rendezvous-differs" in ncdiag("lint", str(script)).stdout
