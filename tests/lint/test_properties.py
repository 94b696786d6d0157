"""What holds for every input: nothing is raised, a patch applies, and what it leaves has nothing left to mend."""

from __future__ import annotations

import shutil
import subprocess
import typing
from collections.abc import Callable
from pathlib import Path

import pytest
from examples import examples
from hypothesis import example, given
from hypothesis import strategies as st
from linear import assert_linear_time
from tenth import tenth

from ncdiag.apps.lint import forms, output
from ncdiag.apps.lint.edits import applied, patch
from ncdiag.apps.lint.model import Document, Form
from ncdiag.apps.lint.run import Options, lint, mended
from ncdiag.apps.lint.words import commands

FORMS: tuple[Form, ...] = typing.get_args(Form)
FOLDER = Path(__file__).resolve().parents[2] / "fixtures" / "lint"
FILES = sorted(path for path in FOLDER.rglob("*") if path.is_file() and path.suffix != ".expected")
PIECES = (
    "export ", "NCCL_DEBUG", "NCCL_ALGO", "NCCL_SOCKET_IFNAM", "NCCL_IB_HCA", "NCCL_P2P_LEVEL", "NCCL_IB_DISABLE", "=",
    "INFO", "true", "nvl", "010", "Ring, Tree", "eth0", '"', "'", "\\", "\n", "\\\n", " ", "\t", "\r\n", "#", "$", "$(",
    ")", "${", "}", "`", "<<EOF\n", "EOF", ";", "&&", "|", "mpirun -np 2 -H a:1,b:1 -x ", "docker run --gpus all -e ",
    "sudo ", "ssh a '", "srun --export=", "torchrun --nnodes=2 ", "if ", "then ", "fi", "case x in ", "esac", ",", ":",
    "ENV ", "RUN ", "FROM x\n", "- name: ", "  value: ", "env:\n", "services:\n", "environment:\n", "- ", "{", "[", "]",
    "apiVersion: v1\n", "kind: Pod\n", "> /etc/nccl.conf", "cat ", "bash -c ",
    "{{ x }}", "{{", "{%", "eval ", "&x ", "- |\n  ", ">-\n  ", '\\"', "é", "\x1b[31m", "\x00", "\u2028",
)  # fmt: skip
LINES = sorted({line for path in FILES for line in path.read_bytes().decode().split("\n")})
TEXTS = st.one_of(
    st.text(max_size=300),
    st.lists(st.sampled_from(PIECES), max_size=60).map("".join),
    st.lists(st.sampled_from(LINES), max_size=30).map("\n".join),
    st.lists(st.one_of(st.sampled_from(LINES), st.sampled_from(PIECES)), max_size=30).map("".join),
)
OPTIONS = Options()


def fixable(document: Document) -> list[str]:
    (result,) = lint([document], OPTIONS)
    return [found.message for found in result.findings if found.fixable]


@examples(150)
@given(TEXTS, st.sampled_from(FORMS))
@example("NCCL_DEBUG=INFO\\", "shell")
@example("env:\n- name: NCCL_DEBUG\n  value:", "kubernetes")
def test_no_text_is_too_strange(text: str, form: Form) -> None:
    results = lint([forms.read("file", text, form)], OPTIONS)
    for show in (output.as_text, output.as_json, output.as_github):
        show(results)
    for found in results[0].findings:
        assert 0 <= found.place.start <= found.place.end <= len(text)
        assert all(0 <= edit.start <= edit.end <= len(text) for edit in found.edits)


@examples(150)
@given(TEXTS, st.sampled_from(("shell", "conf", "env", "dockerfile", "kubernetes", "compose")))
@example("mpirun 0 NCCL_0= mpirun -0 -H 00,0 -e NCCL_0", "shell")
@example('NCCL_CROSS_NIC=\n""mpirun mpirun -0 -H 00,0', "shell")
def test_what_was_mended_has_nothing_left_to_mend(text: str, form: Form) -> None:
    better = mended(forms.read("file", text, form), OPTIONS)
    assert fixable(forms.read("file", better, form)) == []


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(FOLDER)))
def test_the_patch_of_a_fixture_leaves_nothing_to_mend(
    path: Path, tmp_path: Path, need: Callable[[str, object, str], None]
) -> None:
    need("patch", shutil.which("patch"), "the program patch is not installed")
    text = path.read_bytes().decode()
    form = forms.form_of(path.name, text)
    assert form is not None
    difference = patch(path.name, text, mended(forms.read(str(path), text, form), OPTIONS))
    copy = tmp_path / path.name
    copy.write_bytes(path.read_bytes())
    if difference:
        done = subprocess.run(
            ["patch", "--binary", "-p1"], input=difference.encode(), cwd=tmp_path, capture_output=True, check=False
        )
        assert done.returncode == 0, done.stdout.decode()
    assert fixable(forms.read(str(path), copy.read_bytes().decode(), form)) == []


@pytest.mark.sweep
@pytest.mark.parametrize("form", ["shell", "conf", "env", "dockerfile"])
def test_a_text_that_comes_again_is_mended_everywhere(form: Form) -> None:
    for path in tenth(FILES, lambda path: f"{form}/{path.stem}"):
        text = path.read_bytes().decode()
        if forms.form_of(path.name, text) == form:
            better = mended(forms.read(path.name, f"{text}\n" * 20, form), OPTIONS)
            assert fixable(forms.read(path.name, better, form)) == [], path


SCRIPTS = [path for path in FILES if path.suffix in {".sh", ".sbatch"}]


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda p: str(p.relative_to(FOLDER)))
def test_a_mended_script_is_one_that_bash_reads(path: Path, need: Callable[[str, object, str], None]) -> None:
    need("bash", shutil.which("bash"), "bash is not installed")
    text = mended(forms.read(str(path), path.read_text(encoding="utf-8"), "shell"), OPTIONS)
    done = subprocess.run(["bash", "-n"], input=text.encode(), capture_output=True, check=False)
    assert done.stderr == b""


@examples(150)
@given(TEXTS)
def test_words_cover_the_text_in_order_and_never_overlap(text: str) -> None:
    last = 0
    for command in commands(text):
        for word in command.words:
            assert last <= word.at.start < word.at.end <= len(text)
            last = word.at.end


@examples(150)
@given(st.text(max_size=200), st.text(max_size=200))
def test_a_patch_tells_every_difference(before: str, after: str) -> None:
    difference = patch("file", before, after)
    assert (difference == "") == (before == after)


def test_of_two_edits_that_overlap_the_first_counts() -> None:
    from ncdiag.apps.lint.model import Edit

    assert applied("abcdef", [Edit(0, 3, "X"), Edit(2, 4, "Y"), Edit(4, 5, "")]) == "Xdf"


HOSTILE = (
    "$(", '"$(', "'", '"', "`", "\\\n", "NCCL_DEBUG=", "-x ", "{", "<<a\n", "export A=1;", "if ",
    "mpirun -np 2 -H a,b true\n", "RUN mpirun -np 2 -H a,b true\n", "bash -c 'mpirun -np 2 true'\n",
    "{{ ", "{{ x }} ", "{% ", "$(NCCL_A=1) ", 'A="NCCL_A=1 $A"\n$A x\n', '"NCCL_DEBUG": ', '- "x\n',
    "- NCCL_A=1\n  x\n",
    "a: [\n", "- {name: NCCL_A, value: 1}\n", "- |\n  NCCL_A=1 x\n", "sbatch <<E\nNCCL_A=1 x\nE\n",
)  # fmt: skip
HOSTILE_FORMS: tuple[Form, ...] = ("shell", "dockerfile", "kubernetes")


@pytest.mark.sweep
@pytest.mark.parametrize(("form", "piece"), tenth([(form, piece) for form in HOSTILE_FORMS for piece in HOSTILE], repr))
def test_long_hostile_text_is_read_in_linear_time(form: Form, piece: str) -> None:
    assert_linear_time(lambda text: forms.read("file", text, form), lambda size: piece * size, 20_000 // len(piece))


DATA: tuple[tuple[Form, str, str], ...] = (
    ("json", "[", "/*,"),
    ("toml", "", 'a=[\\"""\n'),
    ("python", "import os\n", '"a";'),
    ("python", "import os\nx=[", "(1 if a else 2),"),
    ("python", "import os\nx='é';", 'os.environ["NCCL_IB_TC"]="106";'),
)


@pytest.mark.sweep
@pytest.mark.parametrize(("form", "start", "piece"), tenth(DATA, repr))
def test_long_hostile_data_is_read_in_linear_time(form: Form, start: str, piece: str) -> None:
    ends = {"[": "]"}.get(start[-1:], "")
    assert_linear_time(
        lambda text: forms.read("file", text, form), lambda size: f"{start}{piece * size}{ends}", 40_000 // len(piece)
    )


@pytest.mark.parametrize("number", ["9" * 5000, "0x" + "f" * 5000])
def test_a_number_of_thousands_of_digits_has_no_value(number: str) -> None:
    document = forms.read("train.py", f'import os\nos.environ["NCCL_IB_TC"] = str({number})\n', "python")
    assert document.problem or document.unknown == (2,)
