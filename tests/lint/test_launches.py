"""Several launches of one file: each finding stands at its own launch, and each is mended there."""

from __future__ import annotations

import pytest

from ncdiag.apps.lint import forms
from ncdiag.apps.lint.run import Options, lint, mended

EXPORT = "export NCCL_IB_HCA=mlx5_0\n"
LOST = "mpirun -np 2 -H a,b ./train"
RIGHT = "mpirun -x NCCL_IB_HCA -np 2 -H a,b ./train"


@pytest.mark.parametrize(
    ("text", "better"),
    [
        (f"{LOST}; {LOST}", f"{RIGHT}; {RIGHT}"),
        (f"mpirun -np 1 hostname; {LOST}", f"mpirun -np 1 hostname; {RIGHT}"),
        (f"{RIGHT}; {LOST}", f"{RIGHT}; {RIGHT}"),
        (f"{LOST}; mpirun -np 1 hostname", f"{RIGHT}; mpirun -np 1 hostname"),
        (f"mpirun -np 2 {LOST}", f"mpirun -np 2 {RIGHT}"),
        (f"mpirun -np 1 bash -c '{LOST}'; {LOST}", f"mpirun -np 1 bash -c '{RIGHT}'; {RIGHT}"),
        (f"time \\\n  {LOST}", f"time \\\n  {RIGHT}"),
        ("\n".join([LOST] * 30), "\n".join([RIGHT] * 30)),
    ],
)
def test_what_a_launcher_needs_is_given_to_that_launcher(text: str, better: str) -> None:
    assert mended(forms.read("run.sh", EXPORT + text, "shell"), Options()) == EXPORT + better


def test_a_launch_among_the_arguments_of_a_program_is_found_and_left_alone() -> None:
    text = f"{EXPORT}mpirun -np 1 ./wrapper {LOST}\n"
    document = forms.read("run.sh", text, "shell")
    (result,) = lint([document], Options())
    (found,) = [each for each in result.findings if each.name == "env-not-propagated"]
    assert (document.line(found.place.start), found.edits) == (2, ())
    assert mended(document, Options()) == text


def test_every_launch_and_every_place_of_a_value_has_a_finding() -> None:
    text = f"{EXPORT}{LOST}\nexport NCCL_NET_GDR_LEVEL=2\n{LOST}\nexport NCCL_NET_GDR_LEVEL=2\n"
    document = forms.read("run.sh", text, "shell")
    (result,) = lint([document], Options())
    lines: dict[str, list[int]] = {}
    for found in result.findings:
        lines.setdefault(found.name, []).append(document.line(found.place.start))
    assert lines["env-not-propagated"] == [2, 4]
    assert lines["gdr-level-numeric-legacy"] == [3, 5]
