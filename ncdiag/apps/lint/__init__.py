"""Find faults in scripts and manifests, and the edits that fix them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ncdiag.base.faces import exported

if TYPE_CHECKING:
    from ncdiag.apps.lint import inputs, output
    from ncdiag.apps.lint.edits import patch
    from ncdiag.apps.lint.findings import checks, has_no_effect
    from ncdiag.apps.lint.model import Document, Form
    from ncdiag.apps.lint.output import label
    from ncdiag.apps.lint.run import Options, Result, lint, mended

__all__ = [
    "Document", "Form", "Options", "Result", "checks", "has_no_effect", "inputs", "label", "lint", "mended",
    "output", "patch",
]  # fmt: skip
__getattr__ = exported(
    __name__,
    {
        "": ("inputs", "output"),
        "edits": ("patch",),
        "findings": ("checks", "has_no_effect"),
        "model": ("Document", "Form"),
        "output": ("label",),
        "run": ("Options", "Result", "lint", "mended"),
    },
)
