"""The commands as tools for an assistant, with limits."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ncdiag.base.faces import exported

if TYPE_CHECKING:
    from ncdiag.apps.mcp import allowed
    from ncdiag.apps.mcp.server import serve
    from ncdiag.apps.mcp.tools import Settings

__all__ = [
    "Settings", "allowed", "serve",
]  # fmt: skip
__getattr__ = exported(
    __name__,
    {
        "": ("allowed",),
        "server": ("serve",),
        "tools": ("Settings",),
    },
)
