"""Differences of ranks and hosts that should be equal: a table of the values and of who has them."""

from __future__ import annotations

from ncdiag.engine.fields import read
from ncdiag.facts.model import Difference
from ncdiag.facts.view import View
from ncdiag.language import phrase, say
from ncdiag.report.digest import counted, cut
from ncdiag.report.html.context import Context
from ncdiag.report.html.drawing import picture, scrolled
from ncdiag.report.html.element import Element, element

SHOWN = 40
"""Maximum number of differences that are listed."""
_VALUES, _TEXT = 8, 160
_WORDS = {
    "setting": "", "nccl_version": "NCCL version", "net": "network", "library": "library",
    "cuda_driver": "CUDA of the driver", "driver": "GPU driver", "net_plugin": "network plugin",
    "hca_list": "RDMA devices", "gdr": "GPUDirect RDMA", "gid_kind": "kind of GID",
    "local_transport": "transport inside a host", "interface_mtu": "MTU of interfaces in",
    "port_mtu": "MTU of RDMA ports", "rocev2_index": "index of the RoCE v2 GID", "nccl_installed": "installed NCCL",
    "wait": "waits in", "stuck": "stuck in", "call": "call",
}  # fmt: skip
"""`Difference.what` for people; the name is added if it says more."""
_NAMED = frozenset({"setting", "interface_mtu", "wait", "stuck"})


def draw(view: View, context: Context) -> Element | None:
    """The table; None if nothing differs."""
    found: tuple[Difference, ...] = read(view.job, "differences", view) or ()
    if not found:
        return None
    rows = [_row(one) for one in found[:SHOWN]]
    head = element(
        "tr", element("th", say("What"), scope="col"), element("th", say("Values by host or rank"), scope="col")
    )
    table = element("table", element("thead", head), element("tbody", *rows))
    things = counted(len(found), "difference")
    told = [say("{things} between ranks or hosts in values that are usually equal.", things=things)]
    if len(found) > SHOWN:
        told.append(say("{n} more not listed.", n=len(found) - SHOWN))
    return picture(context, say("What differs"), say(" ").join(told), scrolled(say("Differences"), table))


def _row(one: Difference) -> Element:
    what = say(_WORDS.get(one.what, one.what))
    values = [
        element(
            "li", element("code", cut(value, _TEXT)), element("span", f" {cut(phrase(who), _TEXT)}", class_="quiet")
        )
        for value, who in list(one.groups.items())[:_VALUES]
    ]
    if len(one.groups) > _VALUES:
        values.append(element("li", say("and {n} more values", n=len(one.groups) - _VALUES)))
    name = f"{what} {one.name}".strip() if one.what in _NAMED else what
    return element("tr", element("th", name, scope="row"), element("td", element("ul", *values, class_="values")))
