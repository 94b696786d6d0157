# ruff: noqa: INP001  (a script beside the package)
"""Write ncdiag/nccl/env.toml from env_vars.json, the collected facts about the variables of NCCL and its neighbours.

Usage: python tools/make_env_table.py env_vars.json > ncdiag/nccl/env.toml

The input has, per variable, the releases that read it and each compiled-in default, taken from the NCCL release tags.
The output keeps what the program needs, one line a variable.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

FIRST_PATCH = {
    "2.3": 5, "2.4": 2, "2.5": 6, "2.6": 4, "2.7": 3, "2.8": 3, "2.9": 6, "2.10": 3, "2.11": 4, "2.12": 7, "2.13": 4,
    "2.14": 3, "2.15": 1, "2.16": 2, "2.17": 1, "2.18": 1, "2.19": 1, "2.20": 3, "2.21": 5, "2.22": 3, "2.23": 4,
    "2.24": 3, "2.25": 1, "2.26": 2, "2.27": 3, "2.28": 3, "2.29": 2, "2.30": 3, "2.31": 2, "2.32": 3,
}  # fmt: skip
"""The first published patch of each minor release: since that one is written as since the minor release."""

OLDEST_PUBLIC = "2.3"
LEVELS = {"NCCL_NET_GDR_LEVEL", "NCCL_P2P_LEVEL", "NCCL_IB_GDR_LEVEL"}
COMPUTED = {"", -2}
"""Compiled-in defaults that only say "work it out"; where the outcome is one known number, that is kept instead."""
NOT_WORDS = {
    "unset", "derived", "auto", "automatic", "built", "all", "unknown", "removed", "deprecated", "hardware", "try",
}  # fmt: skip

FOREIGN_PREFIXES = {
    "NCCL_OFI_": "AWS OFI plugin", "NCCL_FASTRAK_": "Google FasTrak plugin",
    "NCCL_GPUDIRECTTCPX_": "Google TCPX plugin", "NCCL_IBEXT_": "HPC-X plugin",
    "NCCL_SHARP_": "HPC-X SHARP plugin", "NCCL_UCX_": "HPC-X UCX plugin",
    "NCCL_SHIMNET_": "Google shim plugin",
    "NCCL_GPUVIZ_": "Google gpuviz library", "NCCL_TESTS_": "nccl-tests", "NCCL_INSPECTOR_": "inspector plugin",
    "NCCL_PROFILE_": "profiler plugin", "NCCL_EP_": "NCCL contrib", "NCCL_RESHARD_": "NCCL contrib",
}  # fmt: skip
FOREIGN_NAMES = {
    "NCCL_PLUGIN_P2P": "HPC-X plugin", "NCCL_TUNER_CONFIG_PATH": "tuner plugin", "NCCL_TIMEOUT": "framework scripts",
    "NCCL_SOCKET_IFNAMES": "third-party plugins", "NCCL_VERSION": "container images", "NCCL_ROOT": "build systems",
    "NCCL_ROOT_DIR": "build systems", "NCCL_DIR": "build systems", "NCCL_INCLUDE_DIR": "build systems",
    "NCCL_INCLUDE_DIRS": "build systems", "NCCL_LIB_DIR": "build systems", "NCCL_LIBRARY": "build systems",
    "NCCL_LIBRARIES": "build systems", "NCCL_PREFIX": "build systems", "NCCL_INSTALL_PATH": "build systems",
    "NCCL_NET_PLUGIN_TELEMETRY_MODE": "Google FasTrak plugin", "NCCL_DYNAMIC_CHUNK_SIZE": "Google FasTrak plugin",
    "NCCL_HDR_PATH": "build systems", "NCCL_LINK": "build systems", "NCCL_CUDA_HOME": "build systems",
}  # fmt: skip
"""Names outside the input that are no spelling mistakes (NVIDIA's images set NCCL_VERSION, CMake users NCCL_ROOT)."""


MORE = {
    "NCCL_SOCKET_NTHREADS": "Unset, it is 2 on AWS and 4 on Google, by the vendor of the interface.",
    "NCCL_NSOCKS_PERTHREAD": "Unset, it is 8 on AWS, by the vendor of the interface.",
    "NCCL_IB_ADDR_FAMILY": "Unset, it is AF_INET, whatever family the sockets have.",
    "NCCL_IB_HCA": "Rail and plane are read since 2.30.7.",
    "NCCL_NET": "Before 2.27 the line was `Error: network X not found.`",
    "NCCL_SOCKET_IFNAME": "A value of one character is ignored; at most 16 interfaces are used.",
}
"""What the source adds to that (2.30.7: src/transport/net_socket.cc, net_ib/connect.cc, misc/socket.cc)."""

TRUTH = re.compile(r"From (2\.\d+(?:\.\d+)?): 1/T/TRUE or 0/F/FALSE")
"""How the input says that a number may be written as a word, too."""

LISTED = r"\S.*[; ].*\S"
"""A list whose items are parted by blanks or semicolons."""
COMMAS = {"value": LISTED, "find": "[;, ]+", "put": ","}
PATTERNED = {"value": r"[^*]*[^*=^]\*.*", "find": r"\*+", "put": ""}
BRACKETED = {"value": r"[^\[\]{}?]*[\[\]{}?].*"}
EVERYTHING = {"value": r"=?(?:\*|(?i:all|any|auto|default|none))"}
INTERFACES = r"(?:ib\d+|bond\d+|eth\d+|eno\d+|ens\d\w*|enp\d\w*|ipogif\d+)"
RDMA_DEVICES = r"(?:mlx[45]_\w*|rocep\d\w*|rdmap\d\w*|bnxt_re\w*|irdma\d+|efa_\d\w*|hns_\w*|ionic_\d+|erdma_\d+)"
"""Names by which drivers call their devices; ``ibp`` is left out, as IPoIB interfaces are called so as well."""
WITHOUT_PATTERNS = "no patterns: the common beginning of the names is enough, or all of them with commas"

MISTAKES: dict[str, dict[str, str]] = {
    "NCCL_DEBUG=ERROR": {"value": "(?i:ERROR|CRITICAL|FATAL)", "right": "WARN"},
    "NCCL_DEBUG=WARNING": {"value": "(?i:WARNING|WARNINGS)", "right": "WARN"},
    "NCCL_DEBUG=DEBUG": {"value": "(?i:DEBUG|VERBOSE)", "right": "INFO"},
    "NCCL_DEBUG=1": {"value": r"\d+", "right": "INFO"},
    "NCCL_DEBUG=INFO,TRACE": {"value": "(?i:INFO,TRACE|TRACE,INFO)", "right": "TRACE"},
    "NCCL_DEBUG_SUBSYS=INIT NET": COMMAS,
    "NCCL_DEBUG_FILE=~/nccl.log": {"value": "~.*"},
    "NCCL_SOCKET_IFNAME=!lo": {"value": r"!([\w.,-]*)", "right": r"^\1"},
    "NCCL_SOCKET_IFNAME=192.168.1.5": {"value": r"[=^]?\d{1,3}(?:\.\d{1,3}){3}(?:[/:]\d+)?"},
    "NCCL_SOCKET_IFNAME=fd00::5": {
        "value": r"[=^]?(?=\S*:\S*:)[0-9a-fA-F:]{2,45}(?:[%/]\w+)?",
        "why": "addresses are not accepted; initialisation fails",
    },
    "NCCL_SOCKET_IFNAME=eth0;eth1": {
        **COMMAS, "why": "the separator is a comma: a name with a blank or a semicolon in it fits no interface",
    },
    "NCCL_SOCKET_IFNAME=eth*": {**PATTERNED, "why": f"{WITHOUT_PATTERNS}; no interface has a star in its name"},
    "NCCL_SOCKET_IFNAME=eth[01]": {**BRACKETED, "why": f"{WITHOUT_PATTERNS}; no interface fits brackets or braces"},
    "NCCL_SOCKET_IFNAME=all": {**EVERYTHING, "why": "the word is taken as the beginning of a name; leave it unset"},
    "NCCL_SOCKET_IFNAME=e": {"value": ".", "why": "a single character counts as unset: NCCL chooses by itself"},
    "NCCL_SOCKET_IFNAME=Eth0": {"value": r"[=^]?(?:Eth|ETH|Ens|ENS|Enp|ENP|Bond|BOND|Ib|IB)\d\w*"},
    "NCCL_SOCKET_IFNAME=mlx5_0": {
        "value": rf"[=^]?{RDMA_DEVICES}(?:[,:].*)?",
        "why": "this is the name of an RDMA device, which belongs in NCCL_IB_HCA; no interface is called so",
    },
    "NCCL_SOCKET_IFNAME=bond0:10.11.1.2": {"value": r"([=^]?[\w.-]+):\d.*", "right": r"\1"},
    "NCCL_IB_HCA=!mlx5_0": {
        "value": r"!([\w.,:-]*)", "right": r"^\1", "why": "exclusion is written ^; ! is taken as part of a name",
    },
    "NCCL_IB_HCA=192.168.1.5": {
        "value": r"[=^]?\d{1,3}(?:\.\d{1,3}){3}(?:[/:]\d+)?",
        "why": "addresses are not accepted: no device fits, and NCCL falls back to TCP",
    },
    "NCCL_IB_HCA=ib0": {"value": rf"[=^]?{INTERFACES}(?:[,:].*)?"},
    "NCCL_IB_HCA=mlx5_0 mlx5_1": {
        **COMMAS, "why": "the separator is a comma: a name with a blank or a semicolon in it fits no device",
    },
    "NCCL_IB_HCA=mlx5_*": {**PATTERNED, "why": f"{WITHOUT_PATTERNS}; no device has a star in its name"},
    "NCCL_IB_HCA=mlx5_[0-7]": {**BRACKETED, "why": f"{WITHOUT_PATTERNS}; no device fits brackets or braces"},
    "NCCL_IB_HCA=all": {**EVERYTHING, "why": "the word is taken as the beginning of a name; leave it unset"},
    "NCCL_SOCKET_FAMILY=ipv4": {"value": "(?i:ipv4|inet|inet4|v4|4)", "right": "AF_INET"},
    "NCCL_SOCKET_FAMILY=ipv6": {
        "value": "(?i:ipv6|inet6|v6|6)", "right": "AF_INET6", "why": "other words are ignored without a message",
    },
    "NCCL_P2P_LEVEL=NODE": {"value": "(?i:NODE)", "right": "PHB"},
    "NCCL_P2P_LEVEL=NV12": {"value": r"(?i:NV\d+|NVLINK)", "right": "NVL"},
    "NCCL_ALGO=CollNet": {"value": "(?i:CollNet)", "right": "CollNetDirect,CollNetChain", "since": "2.14"},
    "NCCL_ALGO=Ring, Tree": {"value": r"\S.*[ \t].*\S", "find": r"[, \t]+", "put": ","},
    "NCCL_ALGO=auto": {"value": "(?i:auto|default|all|none)"},
    "NCCL_PROTO=LL64": {"value": "(?i:LL64)", "right": "LL128"},
    "NCCL_PROTO=LL, Simple": {
        "value": r"\S.*[ \t].*\S", "find": r"[, \t]+", "put": ",",
        "why": "no blanks: from 2.24 initialisation fails (Unrecognized element token), before the word was dropped",
    },
    "GLOO_SOCKET_IFNAME=^lo": {"value": r"\^.*"},
}  # fmt: skip
"""Wrong values that were seen, by a sample: which values are meant (a regular expression for the whole value), the
right one (``right``, or ``find`` and ``put`` for a part of it), first release, and why where the input does not say it.
The first that fits counts.

Sources of what the input does not say: NCCL v2.30.7-1 src/misc/utils.cc:189 (parseStringList: commas alone part items)
and src/misc/socket.cc:198 (one character).
"""

SAME = {
    "NCCL_P2P_LEVEL": ("NCCL_NET_GDR_LEVEL",), "NCCL_SOCKET_FAMILY": ("NCCL_IB_ADDR_FAMILY",),
    "NCCL_IB_HCA": ("NCCL_OOB_NET_IFNAME",),
}  # fmt: skip
"""Variables that are read by the same code, so that the same values are wrong."""
NOT_SAME = {("NCCL_OOB_NET_IFNAME", "ib0")}
"""It names a device of the network plugin, which may be an interface."""

WORDS: dict[str, dict[str, Any]] = {
    "NCCL_ALGO": {
        "words": ["Tree", "Ring", "CollNet", "CollNetDirect", "CollNetChain", "NVLS", "NVLSTree", "PAT"],
        "any_case": True, "separators": ",;:",
    },
    "NCCL_PROTO": {"words": ["LL", "LL128", "Simple"], "any_case": True, "separators": ",;:"},
    "NCCL_NET": {"words": ["IB", "Socket"], "any_case": True, "others": True},
    **{
        f"NCCL_{kind}_PLUGIN": {"words": ["none"], "any_case": True, "others": True}
        for kind in ("NET", "TUNER", "PROFILER", "GIN", "RMA", "ENV")
    },
    "NCCL_CHECK_MODE": {"any_case": True},
    "NCCL_NET_MERGE_POLICY": {"any_case": True},
    "NCCL_NET_MERGE_LEVEL": {"words": ["LOC", "PORT", "PIX", "PXB", "P2C", "PXN", "PHB", "SYS"]},
    "NCCL_CTA_POLICY": {
        "words": ["DEFAULT", "EFFICIENCY", "ZERO", "0", "1", "2"], "any_case": True, "separators": "|",
    },
    "NCCL_DEBUG_SUBSYS": {"any_case": True, "separators": ","},
    "NCCL_DEBUG_LEVELS": {"any_case": True, "separators": ","},
    "NCCL_DEBUG_TIMESTAMP_LEVELS": {"any_case": True, "separators": ","},
}  # fmt: skip
"""How words are compared, where the input does not say it as data: strcasecmp, the characters between the words of a
list, the names of NCCL's own networks beside which plugins have others.

Sources: NCCL v2.30.7-1 src/graph/tuning.cc:30 (parseList), src/plugin/net.cc (strcasecmp since v2.14.3-1), src/init.cc
(NCCL_CHECK_MODE, NCCL_CTA_POLICY), src/plugin (none), src/graph/topo.cc:1449 and 1751 (NCCL_NET_MERGE_*), src/debug.cc.
"""
FUNCTIONS = ["broadcast", "reduce", "allgather", "reducescatter", "allreduce", "sendrecv", "send", "recv"]
"""What may stand before the colon of NCCL_ALGO and NCCL_PROTO (2.24 and later)."""
CHOICES = {"NCCL_NTHREADS": list(range(64, 513, 32))}
"""Numbers that the input gives shortened: getNthreads, src/graph/tuning.cc, takes multiples of the warp size."""

EMPTY: dict[str, str] = {
    "NCCL_ALGO": "names no algorithm: all are switched off",
    "NCCL_COLLNET_ENABLE": "counts as 0 and overrides what the program asked for",
    "NCCL_COMM_ID": "is no address: initialisation fails",
    "NCCL_GRAPH_FILE": "names no file: initialisation fails",
    "NCCL_HOSTID": "gives all hosts one identity: NCCL takes them for one machine",
    "NCCL_NET": "names no network: initialisation fails",
    "NCCL_NET_PLUGIN": "counts as none: no plugin is tried",
    "NCCL_PROTO": "names no protocol: all are switched off",
    "NCCL_TOPO_FILE": "names no file: the default topology file is not read, and NCCL warns",
    "NCCL_IB_ADDR_FAMILY": "",
    "NCCL_IB_HCA": "",
    "NCCL_SOCKET_FAMILY": "",
    "NCCL_SOCKET_IFNAME": "",
}
"""What an empty value does, where it is known and does not follow from the type; "" is the same as unset.

Numbers are read by ncclLoadParam and levels by ncclGetLevel, which pass over an empty text in every release since 2.3.
Sources: NCCL v2.7.8-1, v2.21.5-1 and v2.30.7-1, src/graph/tuning.cc (parseList), src/init.cc, src/graph/search.cc,
src/graph/topo.cc, src/misc/utils.cc (getHostHash), src/net.cc and src/plugin/net.cc, src/misc/socket.cc,
src/transport/net_ib.
"""


AGREE_ON_HOST = {"NCCL_P2P_DISABLE", "NCCL_P2P_LEVEL", "NCCL_SHM_DISABLE"}
"""Variables on which the ranks of one host have to agree, as the input says in words; hosts may differ."""
EMPTY_AT = {"NCCL_ALGO": "<2.24", "NCCL_PROTO": "<2.24", "NCCL_NET_PLUGIN": ">=2.27"}
"""The releases in which it does that, where it is not all."""


def release(tag: str | None) -> str | None:
    """``v2.14.3-1`` as ``2.14`` (its first patch), ``v2.12.10-1`` as ``2.12.10``; None for the oldest releases."""
    found = re.search(r"(\d+)\.(\d+)(?:\.(\d+))?", tag or "")
    if not found or found[1] == "1":
        return None
    minor = f"{found[1]}.{found[2]}"
    return minor if int(found[3] or 0) <= FIRST_PATCH.get(minor, 0) else f"{minor}.{found[3]}"


def default(text: str | None) -> int | str:
    """The default as a number or a word; the empty text where it is unset, derived, or cannot be told in one word."""
    text = (text or "").strip()
    if re.fullmatch(r"-?\d+", text):
        return int(text)
    if found := re.match(r"(-?\d+)(?: \(|;)", text):
        return int(found[1])
    value = re.split(r", | \(| if | while |;", text)[0]
    prose = " " in value and not value.startswith("[")
    return "" if prose or value in NOT_WORDS or re.fullmatch(r"[A-Z]+_[A-Z_]+", value) else value


def defaults(variable: dict[str, Any]) -> list[list[int | str]]:
    """Pairs of first release and default, oldest first; the first one holds from the beginning."""
    history = variable.get("default_history") or [{"since": None, "default": variable["default"]}]
    final = default(variable["default"])
    pairs: list[list[int | str]] = []
    for number, entry in enumerate(history, start=1):
        value = default(entry["default"])
        if number == len(history) and value in COMPUTED and isinstance(final, int):
            value = final
        pair: list[int | str] = [release(entry["since"]) or "", value]
        if not pairs or pairs[-1][1] != pair[1]:
            pairs.append(pair)
    pairs[0][0] = ""
    return pairs


def choices(values: str) -> list[int]:
    """The numbers that ``0,1 (-2 auto)`` or ``0,1,(-2)`` admits; empty where the text names no closed set."""
    plain = re.sub(r" \([a-z ]+\)", "", values).split(" (")[0].replace(" ", "")
    if "," not in plain or not re.fullmatch(r"\(?-?\d+\)?(,\(?-?\d+\)?)*", plain):
        return []
    extra = re.findall(r"\((-\d+) auto", values)
    return sorted({int(n) for n in re.findall(r"-?\d+", plain)} | {int(n) for n in extra})


def bounds(values: str) -> list[int]:
    """``0-31`` as [0, 31]; empty for other texts."""
    found = re.match(r"(\d+)-(\d+)(?:$|[ ,])", values)
    return [int(found[1]), int(found[2])] if found else []


def words(values: str) -> list[str]:
    """The words that an enumeration admits."""
    head = re.sub(r"\([^)]*(?:\)|$)", "", values.split(";", maxsplit=1)[0])
    parts = [part.strip() for part in head.split(",")]
    return parts if len(parts) > 1 and all(re.fullmatch(r"[A-Za-z]\w*", part) for part in parts) else []


def value_fields(name: str, kind: str, values: str) -> dict[str, Any]:
    """What the text about accepted values says, as data where it can be."""
    fields: dict[str, Any] = {}
    if kind in {"int", "bool", "size"}:
        fields = {"choices": CHOICES.get(name) or choices(values), "bounds": bounds(values)}
    elif values:
        own = WORDS.get(name, {})
        listed = kind == "enum" or "separators" in own
        fields = {"words": words(values) if listed else [], "accepts": values}
        fields["any_case"] = kind == "enum" and "any letter case" in values
        fields |= own
        fields["heads"] = FUNCTIONS if ":" in own.get("separators", "") else []
    return {field: value for field, value in fields.items() if value}


def entry(variable: dict[str, Any]) -> dict[str, Any]:
    """The fields of one variable that the program keeps."""
    values = variable.get("values") or ""
    history = defaults(variable)
    kind = variable["type"]
    if variable["name"] in LEVELS:
        kind = "level"
        history = [[since, "" if value in COMPUTED else value] for since, value in history]
    elif kind == "enum" and (choices(values) or isinstance(history[-1][1], int)):
        kind = "int"
    since = release(variable["since"])
    fields = {
        "type": kind,
        "since": since if since != OLDEST_PUBLIC else None,
        "until": release(variable["removed"]),
        "default": history if len(history) > 1 else history[0][1] if history[0][1] != "" else None,
        **value_fields(variable["name"], kind, values),
        "renamed": variable["replaced_by"],
        "agree": variable["must_agree"] if isinstance(variable["must_agree"], bool) else None,
        "agree_on_host": True if variable["name"] in AGREE_ON_HOST else None,
        "truth": release(truth[1]) if (truth := TRUTH.search(variable.get("parse", ""))) else None,
        "documented": False if variable["family"] == "nccl" and variable["documented"] is False else None,
        "experimental": True if variable.get("safe_in_production") is False and variable.get("documented") else None,
        "means": variable["description"],
        "effect": " ".join(filter(None, [variable.get("effect"), MORE.get(variable["name"])])) or None,
        "agree_why": variable.get("must_agree_why") or None,
        "related": variable.get("related") or None,
        "empty": EMPTY.get(variable["name"]),
        "empty_at": EMPTY_AT.get(variable["name"]),
    }
    return {name: value for name, value in fields.items() if value is not None}


def is_read(variable: dict[str, Any]) -> bool:
    """Does a release read it? Some names stand in messages or on a development branch only."""
    since, until = release(variable["since"]), release(variable["removed"])
    return not variable.get("not_a_variable") and (since is None or since != until)


def toml(value: Any) -> str:  # noqa: ANN401
    """A value in TOML; JSON's notation of texts, numbers and lists of these is TOML's too."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key} = {toml(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(toml(item) for item in value) + "]"
    return json.dumps(value, ensure_ascii=False)


def misspelt(data: dict[str, Any], owners: dict[str, str]) -> dict[str, dict[str, Any]]:
    """Wrong names and the right ones; an empty list where nothing does what the name promises."""
    found: dict[str, dict[str, Any]] = {}
    for mistake in data["common_mistakes"]:
        wrong = mistake["wrong"]
        ours = owners.get(wrong) == "nccl"
        if ours or "=" in wrong or mistake["kind"] not in {"misspelt name", "other tool's"} or " " in wrong:
            continue
        right = [name for name in re.findall(r"[A-Z][A-Z0-9_]{3,}", mistake["right"] or "") if name in owners]
        found[wrong] = {"right": right, "why": mistake["why"]}
    return found


def mistakes(data: dict[str, Any]) -> list[dict[str, str]]:
    """Wrong values: name, a sample, pattern of the value, right value and why. What follows from types is left out."""
    why = {mistake["wrong"]: mistake["why"] for mistake in data["common_mistakes"]}
    found = []
    for wrong, fields in MISTAKES.items():
        name, _, sample = wrong.partition("=")
        found += [
            {"name": same, "sample": sample, **fields, "why": fields.get("why") or why[wrong]}
            for same in (name, *SAME.get(name, ()))
            if (same, sample) not in NOT_SAME
        ]
    return sorted(found, key=lambda fields: fields["name"])


def write(data: dict[str, Any]) -> str:
    """The whole file."""
    owners = {variable["name"]: variable["family"] for variable in data["variables"]}
    owners |= {"NCCL_MAX_P2P_PEERS": "nobody"}
    lines = [
        "# The variables that NCCL and its neighbours read, what they default to, since which release and until which.",
        "# Generated by tools/make_env_table.py from env_vars.json; do not edit, change the generator or its input.",
        f"# Facts from: {data['meta']['source']}",
        "#",
        "# type: int, bool and size go through strtoll; level is a path type; enum is one of `words`.",
        '# default: one value, or [first release, value] pairs, oldest first; "" = unset or derived.',
        "# since: first release that reads it (none: 2.3 or before); until: first release that does not.",
        "# agree: must all ranks use the same value (left out: not known); agree_on_host: only those of one host.",
        "# truth: first release that reads TRUE and FALSE; documented = false: the user guide does not name it;",
        "# experimental: the guide files it under debugging, not for production.",
        "# separators: what parts the words of a list; heads: what may stand before the colon in it; others: plugins",
        "# have further words.",
        "# empty: what an empty value does (left out: the same as unset for numbers and levels, else not known);",
        "# empty_at: in which releases it does so (left out: all).",
        "# effect: what goes wrong with it; agree_why: why all ranks must agree or need not; related: see there.",
        "",
    ]  # fmt: skip
    for family in sorted(set(owners.values()) - {"nobody"}, key=lambda name: (name != "nccl", name)):
        members = [v for v in data["variables"] if v["family"] == family and is_read(v)]
        members.sort(key=lambda variable: str(variable["name"]))
        lines.append(f'[variables."{family}"]')
        lines += [f"{variable['name']} = {toml(entry(variable))}" for variable in members]
        lines.append("")
    lines.append("[misspelt] # wrong names that were seen, and the right ones (none: no variable does that)")
    lines += [f"{name} = {toml(fields)}" for name, fields in sorted(misspelt(data, owners).items())]
    lines += ["", "[wrong_values] # values that were seen and do not say what their writers meant", "seen = ["]
    lines += [f"  {toml(fields)}," for fields in mistakes(data)]
    lines += ["]"]
    lines += ["", "[foreign.prefixes] # names of others that begin like NCCL's"]
    lines += [f"{name} = {toml(owner)}" for name, owner in FOREIGN_PREFIXES.items()]
    lines += ["", "[foreign.names]"]
    lines += [f"{name} = {toml(owner)}" for name, owner in FOREIGN_NAMES.items()]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    sys.stdout.write(write(json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))))
