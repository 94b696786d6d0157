"""``ls /dev/nvidia*``: the device files of NVIDIA's driver; CUDA needs nvidiactl, one for each GPU, and nvidia-uvm.

Source of the names: NVIDIA/nvidia-modprobe modprobe-utils/nvidia-modprobe-utils.h. With ``-l`` one line a file.
``ls /dev | grep nvidia`` prints names without their folder.
"""

from __future__ import annotations

from collections.abc import Sequence

from ncdiag.base.patterns import lazy_regex
from ncdiag.base.spans import Section, span
from ncdiag.facts.observe import Observation, Parsed
from ncdiag.formats.basics import is_elision

KIND = "nvidia_dev"
COMMANDS: tuple[str, ...] = tuple(
    f"{tool} /dev/nvidia{end}"
    for tool in ("ls", "ls -l", "ls -la", "ls -al", "ls -lah", "ls -lh", "ll")
    for end in ("*", "-uvm", "-uvm*")
) + tuple(f"{tool} {folder}" for tool in ("ls", "ls -l", "ls -la", "ls -1") for folder in ("/dev", "/dev/"))
_WHAT = r"nvidia(?:\d{1,2}|ctl|-uvm(?:-tools)?|-modeset|-nvlink|-nvswitch(?:ctl|\d{1,2})|-vgpuctl|-caps\S{0,40})"
_NAME = rf"/dev/{_WHAT}"
ANCHOR = (
    rf"[cd][rwx-]{{9}}\S?[ \t].{{0,80}}[ \t]{_NAME}[ \t]*$|{_NAME}(?:[ \t]+{_NAME}){{0,40}}[ \t]*$"
    r"|ls: cannot access '?/dev/nvidia"
)

_FILE = lazy_regex(rf"(?<!\S)(?:/dev/)?({_WHAT})(?!\S)")
_FILTERED = lazy_regex(r"/dev/nvidia\*$|\s/dev/?\s*\|\s*grep (?:-i )?[\"']?nvidia[\"']?$")
"""Commands that list all device files of the driver."""
_ABSENT = lazy_regex(r"ls: cannot access '?/dev/(nvidia(?:-uvm)?)\*?'?: No such file or directory")
_NOISE = lazy_regex(r"total \d+\s*$|/dev/nvidia-caps:?\s*$|.{0,100}\bnvidia-cap\d{1,3}\b.{0,20}$")


def continues(lines: Sequence[str], line: str) -> bool:
    """More names, with or without the columns of ``ls -l``."""
    return bool(_FILE.search(line) or _ABSENT.match(line) or _NOISE.match(line)) or is_elision(line)


def parse(section: Section) -> Parsed:
    """``nvidia_uvm_file``: is /dev/nvidia-uvm there? Nothing where a list of others may leave it out."""
    names: list[str] = []
    missing: list[str] = []
    elided = False
    for line in section.lines:
        absent = _ABSENT.match(line)
        if absent:
            missing.append(absent[1])
        elided = elided or is_elision(line)
        names += [] if absent else _FILE.findall(line)
    where = section.span(0) if section.lines else span(section.source, section.first_line, section.command or "")
    if "nvidia-uvm" in names or "nvidia-uvm" in missing:
        present = "nvidia-uvm" in names
    elif _FILTERED.search(section.command or "") and "nvidiactl" in names and not elided:
        present = False
    else:
        return Parsed()
    fields = {"nvidia_uvm_file": present}
    return Parsed(observations=(Observation(entity="Host", host=section.host, span=where, fields=fields),))
