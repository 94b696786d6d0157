"""Completion is installed by one command, and real shells complete with it."""

from __future__ import annotations

import os
import pty
import shutil
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from processes import seen_on

from ncdiag.base.errors import OutputError
from ncdiag.commands._shells import place

Run = Callable[..., subprocess.CompletedProcess[bytes]]
Need = Callable[[str, object, str], None]
FILES = {
    "bash": ".local/share/bash-completion/completions/ncdiag",
    "zsh": ".local/share/zsh/site-functions/_ncdiag",
    "fish": ".config/fish/completions/ncdiag.fish",
}


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path


def environment(home: Path, program: list[str]) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("XDG_", "BASH_", "_NCDIAG"))}
    cache = os.environ.get("XDG_CACHE_HOME", str(home / "cache"))
    path = f"{Path(program[0]).parent}{os.pathsep}{os.environ['PATH']}"
    return {**kept, "HOME": str(home), "PATH": path, "XDG_CACHE_HOME": cache, "TERM": "xterm"}


def installed(shell: str, home: Path, ncdiag: Run) -> Path:
    done = ncdiag("completion", shell, "--install", env={"HOME": str(home)})
    assert (done.returncode, done.stdout) == (0, b"")
    assert FILES[shell] in done.stderr.decode()
    return home / FILES[shell]


@pytest.mark.parametrize("shell", FILES)
def test_it_is_one_file_and_the_second_time_changes_nothing(shell: str, home: Path, ncdiag: Run) -> None:
    (home / ".bashrc").write_text("mine\n")
    file = installed(shell, home, ncdiag)
    before = file.read_text()
    assert installed(shell, home, ncdiag).read_text() == before
    assert "_NCDIAG_COMPLETE" in before
    assert (home / ".bashrc").read_text() == "mine\n"
    made = {
        path.relative_to(home).as_posix() for path in home.rglob("*") if path.is_file() and "cache" not in path.parts
    }
    assert made == {".bashrc", FILES[shell]}


def test_the_folders_of_the_shells_can_be_elsewhere(ncdiag: Run, tmp_path: Path) -> None:
    for shell, variable in (
        ("bash", "BASH_COMPLETION_USER_DIR"),
        ("zsh", "XDG_DATA_HOME"),
        ("fish", "XDG_CONFIG_HOME"),
    ):
        assert ncdiag("completion", shell, "--install", "-q", env={variable: str(tmp_path / shell)}).stderr == b""
        assert [path.name for path in (tmp_path / shell).rglob("*ncdiag*")] == [FILES[shell].rsplit("/", 1)[1]]


def test_of_several_folders_of_bash_the_first_is_taken(ncdiag: Run, tmp_path: Path) -> None:
    folders = f"{tmp_path / 'first'}:{tmp_path / 'second'}"
    assert ncdiag("completion", "bash", "--install", "-q", env={"BASH_COMPLETION_USER_DIR": folders}).stderr == b""
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == [tmp_path / "first" / "completions" / "ncdiag"]


def test_a_user_without_a_home_gets_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    def homeless() -> Path:
        raise RuntimeError

    monkeypatch.setattr(Path, "home", homeless)
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    with pytest.raises(OutputError, match="set HOME or XDG_CONFIG_HOME"):
        place("fish")


def test_a_missing_shell_is_asked_for_in_one_line(ncdiag: Run) -> None:
    done = ncdiag("completion")
    assert done.returncode == 2
    assert b"Choose from: bash, zsh, fish" in done.stderr


def test_a_folder_that_cannot_be_made_is_a_sentence(ncdiag: Run, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    done = ncdiag("completion", "fish", "--install", env={"XDG_CONFIG_HOME": str(tmp_path / "file")})
    assert (done.returncode, done.stdout) == (4, b"")
    assert done.stderr.startswith(b"ncdiag: cannot create ")


def test_bash_completes_with_it(home: Path, program: list[str], ncdiag: Run) -> None:
    file = installed("bash", home, ncdiag)
    code = (
        f". '{file}'; spec=$(complete -p ncdiag); f=${{spec##*-F }}; "
        'COMP_WORDS=(ncdiag pars); COMP_CWORD=1; "${f%% *}" ncdiag; echo "${COMPREPLY[*]}"'
    )
    done = subprocess.run(
        ["bash", "--norc", "-c", code], env=environment(home, program), capture_output=True, text=True, check=True
    )
    assert done.stdout == "parse\n"


@pytest.mark.parametrize(
    ("words", "found"),
    [
        ("triage --format j", ["json", "junit"]), ("check --only lim", ["limits"]),
        ("explain NCCL_IB_GID", ["NCCL_IB_GID_INDEX"]),
    ],
)  # fmt: skip
def test_values_are_completed(words: str, found: list[str], home: Path, program: list[str]) -> None:
    typed = words.split()
    more = {"_NCDIAG_COMPLETE": "complete_bash", "COMP_WORDS": f"ncdiag {words}", "COMP_CWORD": str(len(typed))}
    done = subprocess.run(
        program, env={**environment(home, program), **more}, capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == found


def test_fish_completes_with_it(home: Path, program: list[str], ncdiag: Run, need: Need) -> None:
    need("shells", shutil.which("fish"), "fish is not installed")
    installed("fish", home, ncdiag)
    done = subprocess.run(
        ["fish", "-c", "complete -C 'ncdiag pars'; complete -C 'ncdiag parse --verb'"],
        env=environment(home, program), capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert [line.split("\t")[0] for line in done.stdout.splitlines()] == ["parse", "--verbose"]


def test_zsh_completes_with_it_at_the_first_key(home: Path, program: list[str], ncdiag: Run, need: Need) -> None:
    need("shells", shutil.which("zsh"), "zsh is not installed")
    folder = installed("zsh", home, ncdiag).parent
    with interactive(["zsh", "-f", "-i"], home, program) as (say, seen):
        say(f"PROMPT='> '; fpath=('{folder}' $fpath); autoload -Uz compinit; compinit -u -D; print RE''ADY\n")
        seen("READY")
        say("ncdiag pars\t")
        seen("ncdiag parse")


@contextmanager
def interactive(
    command: list[str], home: Path, program: list[str]
) -> Iterator[tuple[Callable[[str], object], Callable[[str], object]]]:
    """A shell on a terminal: what says something to it, and what waits until it has printed something."""
    leader, follower = pty.openpty()
    running = subprocess.Popen(
        command,
        stdin=follower,
        stdout=follower,
        stderr=follower,
        env=environment(home, program),
        start_new_session=True,
    )
    os.close(follower)
    try:
        yield (lambda text: os.write(leader, text.encode())), (lambda word: seen_on(leader, word.encode()))
    finally:
        running.kill()
        running.wait()
        os.close(leader)
