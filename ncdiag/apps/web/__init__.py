"""The page of ``ncdiag serve``: uploads, a confined process for each analysis, the HTML around an answer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ncdiag.base.faces import exported

if TYPE_CHECKING:
    from ncdiag.apps.web import server
    from ncdiag.apps.web.settings import LOOPBACK, Limits, Settings

__all__ = [
    "LOOPBACK", "Limits", "Settings", "server",
]  # fmt: skip
__getattr__ = exported(
    __name__,
    {
        "": ("server",),
        "settings": ("LOOPBACK", "Limits", "Settings"),
    },
)
