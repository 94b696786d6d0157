"""Failed steps of RDMA that a program other than NCCL tells in words of its own: perftest, UCX, NVSHMEM, Mooncake.

Whatever the words are, a step is one of few: a device is found and opened, its GID is read, memory is registered,
queues are made, a queue pair goes through its states, the connection manager finds the peer. A line that names such a
step (the call of libibverbs or librdmacm, or its object) and says that it failed is the event that NCCL's own message
of that call is, so that the same rules judge it. Calls and states: rdma-core libibverbs/verbs.h, librdmacm/rdma_cma.h.
"""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from ncdiag.base.patterns import lazy_regex
from ncdiag.nccl import reasons
from ncdiag.nccl.codes import codes
from ncdiag.parsers._prose import is_said, is_talk
from ncdiag.parsers._signs import Signs

EVENTS: dict[str, dict[str, str]] = {
    "rdma-no-device": {"hca": "str", "errno": "int", "error": "str"},
    "rdma-cm-failed": {"hca": "str", "errno": "int", "error": "str", "cm_event": "str"},
    "rdma-address-handle-failed": {"hca": "str", "errno": "int", "error": "str"},
    "ib-reg-mr-failed": {"memory": "str"},
}
"""Events that are told by the form of a line, and fields that no message has."""
_LOOKED_AT, _NEAR = 600, 80
_RDMA = r"(?:rdma|infiniband(?:/roce)?|ib|roce|verbs|ibv|rnic|hca|efa)"
_QUEUE = r"(?:[qc]ps?|cqs?|srq|queue[ -]?pairs?|completion[ -]queues?|protection domain)"
_ADDRESS = r"(?= (?:index|table|entr|for|on|of|from|at|\d)|\s*$|\s?[,.:(])"
_STEPS: dict[str, re.Pattern[str]] = {
    "rdma-cm-failed": lazy_regex(
        r"\bRDMA_CM_EVENT_(?P<event>ADDR_ERROR|ROUTE_ERROR|CONNECT_ERROR|UNREACHABLE|REJECTED|DEVICE_REMOVAL)\b"
        r"|\brdma_(?P<call>resolve_addr|resolve_route|connect|bind_addr|accept|listen)\b"
    ),
    "ib-modify-qp-failed": lazy_regex(
        r"(?i)\b(?:\w{0,12}_)?modify_qp(?:_ex)?\b|\b(?:rst|reset|init|rtr)2(?:init|rtr|rts)\b"
        r"|\b(?:modify(?:ing)?|mov(?:e|ing)|set(?:ting)?|transition(?:ing)?|bring(?:ing)?|chang(?:e|ing))\b[^;:]{0,30}?"
        r"\b(?:qp|qpair|queue[ -]?pairs?|dct)\b"
    ),
    "ib-reg-mr-failed": lazy_regex(
        r"(?i)\b(?:ibv|mlx5dv|rdma|fi|wrap_ibv)_(?:exp_)?(?:mr_)?reg(?:_\w{1,20}|attr|v)?(?<!_ring)\b"
        r"|(?<!de-)(?<!un-)\b(?:register(?:ing)?|regist(?:ration|ering) of|creat(?:e|ing)|allocat(?:e|ing)"
        r"|reg)\b[^;:]{0,25}?\b(?:mrs?|memory regions?)\b"
        rf"|\bregister(?:ing)?\b[^;:]{{0,20}}?\bmemory\b[^;:]{{0,30}}?\b(?:with|on|to|for)\b[^;:]{{0,12}}?\b{_RDMA}\b"
        rf"|\b{_RDMA} (?:memory |mem )registration\b|\bmem(?:ory)? registration(?= failed\b)"
        r"|\bregister address 0x[0-9a-f]{1,16} (?:\(|mem_type\b)"
        r"|\bregister(?:ing)? memory (?:at |addr(?:ess)?[ =:]{1,2})?0x[0-9a-f]{1,16}\b"
    ),
    "rdma-address-handle-failed": lazy_regex(
        r"(?i)\b(?:ibv|rdma)_create_ah\b|\bcreat(?:e|ing)\b[^;:]{0,12}?\b(?:ah|address[ -]handles?)\b"
    ),
    "ib-create-failed": lazy_regex(
        r"(?i)\b(?:ibv_(?:exp_)?create_(?:qp|cq|srq)\w{0,4}|ibv_alloc_pd|mlx5dv_create_(?:qp|cq)\w{0,3}|rdma_create_(?:qp|ep))\b"
        rf"|\b(?:creat|allocat|alloc)(?:e|ed|ing|ion of)?\b[^;:]{{0,25}}?\b{_QUEUE}\b|\b{_QUEUE} creation\b"
    ),
    "ib-open-device-failed": lazy_regex(
        rf"(?i)\b(?:ibv|rdma)_open_device\b|\bopen_device\b[^;:]{{0,20}}\b{_RDMA}\b"
        rf"|\bopen(?:ing)?\b[^;:]{{0,20}}?\b{_RDMA}[ -]devices?\b"
    ),
    "ib-query-gid-failed": lazy_regex(
        r"(?i)\b(?:ibv_)?query_gid(?:_ex|_type|_table)?\b|\bsgid of index \d|\b(?:find|get|query|read|select|determine"
        rf"|retrieve|fetch)(?:ing)?\b[^;:]{{0,30}}?\bs?gids?\b{_ADDRESS}"
    ),
    "rdma-no-device": lazy_regex(
        r"(?i)\bibv_get_device_list\b|\brdma_get_devices\b"
        rf"|\b(?:find|detect|get|list|discover)\b[^;:]{{0,20}}?\b{_RDMA}"
        r"(?:[ -](?:capable )?(?:nic|device|adapter|hca))?s?(?: list)?\b"
    ),
}
_NONE = {
    "rdma-no-device": lazy_regex(
        r"(?i)\bno\b(?: (?:active|available|usable|suitable|valid|supported|healthy|matching|capable|such)){0,2}"
        rf" {_RDMA}(?:[- ]capable)?(?:[ -](?:nic|device|adapter|hca|interface)s?|s)?"
        r" (?:(?:is|are|was|were) )?(?:found|available|detected|present|visible|exists?)\b"
        r"|\bno (?:available|usable|suitable|active) (?:rnic|hca|rdma device|ib device|rdma nic)s?\b"
    ),
    "ib-query-gid-failed": lazy_regex(
        r"(?i)\bno\b(?: [\w-]{2,16}){0,3} gids?(?: (?:index|entry|entries))?"
        r"(?= (?:found|on|for|in|at|available|is|exists?)|\s*$|[,.:])"
        r"|\bgids?\b(?: (?:index|table|entry|at index))?(?: \d{1,4})?(?: (?:on|of|for) \S{1,40})? (?:is|was) "
        r"(?:empty|invalid|all zeros?|zero|null)\b"
    ),
}
"""What is missing, said without a word of failure."""
_FAILED = lazy_regex(
    r"(?i)\bfail(?:ed|ure|s|ing)?\b(?!\s?[:=]\s?(?:0|none|no(?! \w))\b)|\bunable\b|\bcould ?n[o']?t\b"
    r"|\bcan(?:not|'t| not)\b"
    r"|(?<!no )(?<!without )\berr(?:or)?\b(?!\s?[:=]\s?0\b)|\bdid(?:n't| not)\b|\brefused\b"
    r"|\breturn(?:ed|s)?(?: value)?[ :=]{1,3}(?:-?[1-9]\d{0,2}\b|null\b|with )"
)
_HARMLESS = lazy_regex(
    r"(?i)\bfall(?:s|ing)?[ -]?back|\bfallback\b|\bretry(?:ing)?\b|\bskip(?:ped|ping)?\b|\bignor(?:e|ed|ing)\b"
    r"|\btry(?:ing)? (?:next|another|without|with)\b|\bwill use\b|\busing \w{1,12} instead\b"
    # what is given back, and memory of other kinds
    r"|\b(?:de|un)-?reg|\bdestroy|\bdealloc|\bcuda_?Host|\bhipHost|\bshm\b|shared memory|io_uring"
    # a queue pair that is taken down
    r"|\b(?:to|state) ?(?:ibv_qps_)?(?:err(?:or)?|reset|sqd)\b|->(?:ERR|RESET|SQD)\b"
    # code or a search, not what is printed
    r"|^\s*(?:\$ )?(?:[ez]?grep|rg|awk|sed|git)\b"
    r"|\b(?:f?printf|perror|throw|LOG|raise|return|assert|strerror)\s?\(|<<|^\s*(?:if\b|//|#|\*)"
)
"""The program goes on without, or nothing is made here."""
_ARGUMENTS = lazy_regex(r"^\([^()]{0,300}\)")
_OF_UNIX = lazy_regex(r"(?i)\b(?:users?|groups?|uid|chown|posix)\b")
"""In such a line, a GID is that of a group of users."""
_SIGNS = Signs(
    "gid",
    "qp",
    "ueue",
    "mr",
    "emory",
    "ibv_",
    "rdma",
    "nic",
    "hca",
    "ib ",
    "ib_",
    "cq",
    "nfini",
    "verbs",
    "0rt",
    "0init",
    "fi_",
    "dct",
    "egister",
    "efa",
    "egistration",
    "ate ah",
    "ting ah",
    "ddress handle",
    "ddress-handle",
)
"""One of these is in every line that the patterns know: they are tried on few others."""
_CLAIMS = Signs(
    "fail", "unable", "could", "can", "err", "did", "refused", "return", "no ", "empty", "invalid", "zero", "null",
    "rdma_", "ibv_", "mlx0dv_", "fi_", "_qp", "open_device", "query_gid",
)  # fmt: skip
"""And one of these: a word of failure, or a call, behind which an error may stand without one."""
_STATE = lazy_regex(r"(?i)(?:\b|2|_)(?P<state>init|rtr|rts|r2r|r2s)(?=\b|[.,:;)\]]|$)|ready to (?P<way>receive|send)")
_STATES = {"r2r": "RTR", "r2s": "RTS", "receive": "RTR", "send": "RTS"}
_HCA = lazy_regex(
    r"\b((?:mlx[45]_|bnxt_re|irdma|rocep|roceo|ibp|ibs|hns_|erdma_|rdmap|efa_|ionic_|mana_|rxe|siw|qedr)\w{1,30})\b"
)
_INDEX = lazy_regex(r"(?i)\b(?:gid|index)[ _]?(?:index|idx)?[ :=#]{0,3}(\d{1,4})\b")
_NUMBER = lazy_regex(
    r"(?i)\b(?:errno|err|error|ret|rc|ret_?val|returned|returns|code|status)\b\W{0,3}(?:with )?(?:code )?-?"
    r"(\d{1,3})\b(?!\.?\d)|\[(\d{1,3})\]\s*$|\((\d{1,3})\)\s*$"
)
_GPU = lazy_regex(
    r"(?i)\bgpu|cuda|dma-?_?buf|\bvram\b|\bhbm\b|\brocm\b|\bhip\b|device memory|\bmem_type bit 0x(?!1\b)|nvshmem|deepep"
)
"""Names of GPU memory. UCX prints a set of types, whose lowest bit is the host's; NVSHMEM's heap is on the GPU."""


class Failure(NamedTuple):
    """A step that failed: its event, and what the line tells of it (``errno``, ``error``, ``hca``, ``next_state``)."""

    event: str
    fields: dict[str, Any]


def failure(text: str) -> Failure | None:
    """The failed step of which a line tells; None where it tells of none, or says that the program goes on."""
    if not (_SIGNS.stand_in(text) and _CLAIMS.stand_in(text)):
        return None
    text = text[:_LOOKED_AT]
    event, found = _step(text)
    if event is None or found is None or _HARMLESS.search(text) or _is_spoken(text, found):
        return None
    if event == "ib-query-gid-failed" and _OF_UNIX.search(text):
        return None
    hca = _HCA.search(text)
    fields = _reason(text) | ({"hca": hca[1]} if hca else {})
    return Failure(event, fields | _details(event, text, found))


def _step(text: str) -> tuple[str | None, re.Match[str] | None]:
    """The event of the step, and where it is named."""
    for event, pattern in _STEPS.items():
        found = pattern.search(text)
        if found is not None and (_has_failed(text, found) or (event == "rdma-cm-failed" and found["event"])):
            return event, found
    return next(((event, found) for event, none in _NONE.items() if (found := none.search(text))), (None, None))


def _has_failed(text: str, found: re.Match[str]) -> bool:
    """Does the sentence around the step say that it failed, or give an error right behind the call?"""
    before = re.split(r"[;!]|\. ", text[: found.start()])[-1][-_NEAR:]
    behind = re.split(r"[;!]|\. ", _ARGUMENTS.sub("", text[found.end() :]))[0][:_NEAR]
    if any(_FAILED.search(part) for part in (before, found[0], behind)):
        return True
    said = re.match(r"(?:\([^()]{0,200}\))?: (.{3,80})$", text[found.end() :])
    return "_" in found[0] and said is not None and _errno(said[1]) is not None


def _is_spoken(text: str, found: re.Match[str]) -> bool:
    """Does somebody ask, tell what may happen, or say that it is over?"""
    if text.rstrip().endswith("?") or is_talk(text[: found.end()]):
        return True
    return _FAILED.search(text) is not None and not is_said(_FAILED, text)


def _details(event: str, text: str, found: re.Match[str]) -> dict[str, Any]:
    """What belongs to this step alone."""
    if event == "ib-modify-qp-failed":
        state = _STATE.search(text, found.start())
        word = (state["state"] or state["way"]).lower() if state else ""
        return {"next_state": _STATES.get(word, word.upper())} if word else {}
    if event == "ib-reg-mr-failed":
        return {"memory": "gpu"} if _GPU.search(text) else {}
    if event == "ib-query-gid-failed":
        index = _INDEX.search(text)
        return {"gid_index": int(index[1])} if index else {}
    return {"cm_event": found["event"] or found["call"]} if event == "rdma-cm-failed" else {}


def _reason(text: str) -> dict[str, Any]:
    """Number and words of the error that a line gives, as far as it does."""
    found: dict[str, Any] = {}
    numbered = _NUMBER.search(text)
    known = reasons.of_errno(int(next(filter(None, numbered.groups())))) if numbered is not None else None
    if numbered is not None and known is not None:
        found["errno"] = int(next(filter(None, numbered.groups())))
    name = _errno(text) or (known.name if known is not None else None)
    if name is not None:
        found["error"] = next((code.said for code in codes()["errno"].values() if code.name == name), None) or name
    return found


def _errno(text: str) -> str | None:
    """The name of the errno whose name or words are in a text."""
    told = reasons.of_text(text)
    return told.name if told is not None and told.name and re.fullmatch(r"E[A-Z0-9]{2,16}", told.name) else None
