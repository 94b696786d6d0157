"""Inputs that atheris (libFuzzer) makes from those that reached new code: none may raise, hang or eat memory.

A program of its own, for libFuzzer never returns: ``python -m fuzz.guided [FOLDER] [libFuzzer's options]`` in
``tests``; `campaign.py` starts it where atheris is installed. FOLDER holds inputs to begin with.
"""

from __future__ import annotations

import sys

import atheris

with atheris.instrument_imports(include=["ncdiag"]):
    from ncdiag.diagnose import diagnose
    from ncdiag.report import renderer
    from ncdiag.text.sources.files import TextSource


def judge(data: bytes) -> None:
    """One input through the whole program."""
    report = diagnose([TextSource.of_bytes("job.log", data)])
    for name in ("text", "json"):
        renderer(name)(report, width=80, colour=False)


if __name__ == "__main__":
    atheris.Setup(sys.argv, judge)
    atheris.Fuzz()
