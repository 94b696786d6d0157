"""What an assistant may ask: the arguments of each tool, of which their schemas are made."""

from __future__ import annotations

from typing import Annotated

import msgspec
from msgspec import Meta

Text = Annotated[
    str,
    Meta(
        description="Logs and tool output, exactly as printed, one after the other: the lines with NCCL of all "
        "ranks, the error, ibstat, show_gids, ip addr, nvidia-smi topo -m, env, the launch command."
    ),
]
Release = Annotated[
    Annotated[str, Meta(max_length=40)] | None,
    Meta(description="NCCL version, such as 2.21.5, if the text does not show it."),
]
Word = Annotated[str, Meta(max_length=200)]


class Ask(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """Base of the arguments of a tool."""


class Triage(Ask, frozen=True):
    """Find out why a job over NCCL hangs, fails or is slow.

    Reads any mixture of logs, outputs of tools and a description of the problem; answers with the root cause, the lines
    that show it, the fix, and what to paste next.
    """

    text: Text
    nccl: Release = None


class TriageFiles(Ask, frozen=True):
    """Find out why a job over NCCL hangs, fails or is slow.

    Reads any mixture of logs, outputs of tools and a description of the problem, as text or as files; answers with the
    root cause, the lines that show it, the fix, and what to paste next.
    """

    text: Text = ""
    paths: Annotated[
        list[Annotated[str, Meta(max_length=4096)]],
        Meta(description="Files, folders, archives or 'ncdiag collect' bundles inside the folders that the server "
             "allows.", max_length=64),
    ] = []  # fmt: skip
    nccl: Release = None


class Explain(Ask, frozen=True):
    """Explain a line of a log, an NCCL variable, an error code, an Xid, a rule or a term.

    With a rule and a text: clause by clause, why the rule fired on that text or did not.
    """

    thing: Annotated[
        str,
        Meta(description="A log line, NCCL_IB_GID_INDEX, 'Xid 79', 'status 12', ncclSystemError, NCD101, 'logging' "
        "(how to get a useful log) ...", max_length=4000),
    ]  # fmt: skip
    text: Annotated[str, Meta(description="For a rule: the input on which to evaluate it.")] = ""
    nccl: Release = None


class Predict(Ask, frozen=True):
    """Show which interfaces, network, RDMA ports and GID NCCL would choose, and why.

    Reads a log or the outputs of tools; runs no job. 'env' tries a setting before anybody sets it.
    """

    text: Text
    nccl: Annotated[
        list[Word], Meta(description="NCCL versions to compare, such as 2.18.3 and 2.21.5.", max_length=8)
    ] = []
    env: Annotated[
        list[Annotated[str, Meta(max_length=1000)]],
        Meta(description="Variables to set as well, such as NCCL_SOCKET_IFNAME=eth0.", max_length=32),
    ] = []


class Lint(Ask, frozen=True):
    """Check the NCCL settings of a launch command, script, Dockerfile, manifest or conf file before it runs."""

    text: Annotated[str, Meta(description="The content of the file, or a launch command.")]
    form: Annotated[
        Annotated[str, Meta(max_length=40)] | None,
        Meta(description="Type of the content, if it is not obvious: shell, dockerfile, kubernetes, compose, json, "
        "toml, python, env, conf, hostfile or ranktable."),
    ] = None  # fmt: skip
    nccl: Release = None


class ListRules(Ask, frozen=True):
    """List the rules, each with its code, area, severity and title; 'words' restricts the list."""

    words: Annotated[
        Word, Meta(description="Words that must all appear in the area, name or title of a rule, such as 'gid roce'.")
    ] = ""


class ShowRule(Ask, frozen=True):
    """Show what a rule looks for, why, when it may be wrong, and what to do."""

    rule: Annotated[Word, Meta(description="The code or name of a rule, such as NCD101.")]
