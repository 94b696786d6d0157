"""Find in a stack the part of MPI or UCX that crashed while libc copied a message for it.

Names: glibc sysdeps/x86_64/multiarch (memcpy, memmove: resolved at load time, so that stacks often show no name),
openucx/ucx src/ucs/arch and src/uct, open-mpi/ompi opal/mca/btl and opal/datatype, MXM and PSM of older clusters.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePosixPath

from ncdiag.base.patterns import lazy_regex

_HANDLER = lazy_regex(
    r"(?:killpg|raise|gsignal|abort|funlockfile|_*restore_rt|_*sigaction|_*GI_raise|backtrace\w*"
    r"|(?:ucs|mxm|opal|orte|prte)_\w*(?:error|backtrace|stackframe|debug|signal)\w*|show_stackframe)$"
)
_COPY = lazy_regex(r"_{0,4}(?:GI_)?(?:wmem|mem)p?(?:cpy|move)(?:_\w{1,60})?$|ucs_(?:x86_)?memcpy\w{0,60}$")
_LIBC = lazy_regex(r"(?:libpthread|libc)(?:[-.]|$)")
_LIBRARY = lazy_regex(r"mca_(?:btl|pml|smsc)_|lib(?:uct|ucp|mxm|psm[23]?|psm_infinipath|open-pal|fabric)\b")
_CALLER = lazy_regex(
    r"(?:uct|ucp|mxm|mca_(?:btl|pml|smsc)|opal_convertor|opal_datatype|psm[23]?|ips|amsh|MPIDI?|smr|rxm|fi|ofi)_\w"
)
_AT_LEAST = 2
"""The number of libc frames without a name that show a copy: the signal handler and the copy function."""

Raw = tuple[str, str]
"""A frame: its function, which is empty if its name is not shown, and its file."""


def copies_in(frames: Sequence[Raw]) -> str | None:
    """The function or library of MPI or UCX whose copy of a message failed; None if the stack shows none.

    The innermost frame comes first.
    """
    nameless, is_copy = 0, False
    for function, file in frames:
        library = PurePosixPath(file).name
        if _COPY.match(function):
            is_copy = True
        elif _HANDLER.match(function):
            continue
        elif not function and _LIBC.match(library):
            nameless += 1
        elif is_copy or nameless >= _AT_LEAST:
            if function and _CALLER.match(function):
                return function
            return library.partition(".so")[0] if _LIBRARY.match(library) else None
        else:
            return None
    return None
