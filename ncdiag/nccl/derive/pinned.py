"""Settings that pin what NCCL would choose better: time-outs, protocols, the file of its log."""

from __future__ import annotations

from ncdiag.facts.model import Setting
from ncdiag.facts.view import View, derived

_STREAMS = ("/dev/stdout", "/dev/stderr", "stdout", "stderr")


@derived
def is_short_timeout(setting: Setting, view: View) -> bool | None:
    """NCCL_IB_TIMEOUT below what this release would use; 0 means no time-out at all."""
    if setting.name != "NCCL_IB_TIMEOUT":
        return False
    if setting.number is None or not isinstance(setting.default, int):
        return None
    return 0 < setting.number < setting.default


@derived
def is_shared_file(setting: Setting, view: View) -> bool:
    """NCCL_DEBUG_FILE without a placeholder: all ranks write the same file."""
    text = (setting.text or "").strip()
    if setting.name != "NCCL_DEBUG_FILE" or not text or text in _STREAMS:
        return False
    return "%p" not in text and "%h" not in text


@derived
def forces_ll128(setting: Setting, view: View) -> bool:
    """NCCL_PROTO that lists LL128 (a list behind ``^`` excludes)."""
    text = (setting.text or "").strip()
    if setting.name != "NCCL_PROTO" or text.startswith("^"):
        return False
    words = text.replace(";", ",").replace(":", ",").split(",")
    return "LL128" in {word.strip().upper() for word in words}
