"""The lines of ``ncdiag probe --launch`` on what each host has of what a launch needs.

Format: `ncdiag.agent.probe.needs` and `ncdiag.agent.probe.main` print them on each host, `ncdiag.apps.cluster.logins`
those of ssh on the launching one::

    probe head ssh n2 port 2222: logged in
    probe n1 is n1, port 29500: free
    probe n1 is user ada uid 1000, 8 GPUs
    probe n1 has driver 550.54.15
    probe n1 has NCCL 2.21.5 in /opt/env/lib/libnccl.so.2
    probe n1 has program torchrun at /opt/env/bin/torchrun of /opt/env/bin/python3.11, Python 3.11.9
    probe n1 lacks program python
    probe n1 has file /data/train.py
    probe n1 lacks /data/train.py: no such file or directory

The words of ssh are those of OpenSSH (ssh.c, sshconnect.c, sshconnect2.c).
"""

from __future__ import annotations

import re

from ncdiag.base.patterns import lazy_regex
from ncdiag.facts.model.probes import ProbeLoginOutcome
from ncdiag.facts.scalars import VersionRange
from ncdiag.parsers._rows import Reading, Row

Line = re.Match[str]

_SSH: tuple[tuple[re.Pattern[str], ProbeLoginOutcome], ...] = (
    (lazy_regex(r"logged in$"), "logged in"),
    (lazy_regex(r"(?:\S{1,300}: )?Permission denied|.{0,300}Too many authentication failures"), "password"),
    (lazy_regex(r"Host key verification failed|.{0,100}host key is known|.{0,100}HOST IDENTIFICATION"), "host key"),
    (lazy_regex(r"ssh: connect to host .{1,300}timed out|no answer within"), "no answer"),
    (lazy_regex(r"ssh: connect to host |ssh: Could not resolve hostname "), "unreachable"),
    (lazy_regex(r"(?:kex|ssh)_exchange_identification: |Connection (?:closed|reset) by "), "closed"),
)


def _login(read: Reading, line: Line) -> None:
    words = line["words"]
    outcome = next((name for pattern, name in _SSH if pattern.match(words)), "failed")
    read.observe(
        "ProbeLogin", host=line["host"], peer=line["peer"], outcome=outcome,
        port=int(line["port"]) if line["port"] else None, error=words if outcome != "logged in" else None,
    )  # fmt: skip


def _meeting(read: Reading, line: Line) -> None:
    error = line["words"] if line["words"] != "free" else None
    port = int(line["port"])
    read.observe("ProbeMeeting", host=line["host"], place=line["place"], port=port, error=error)


def _own(read: Reading, line: Line) -> None:
    uid, gpus = int(line["uid"]), int(line["gpus"])
    read.observe("ProbeOwn", host=line["host"], user=line["user"], uid=uid, gpus=gpus)


def _driver(read: Reading, line: Line) -> None:
    read.observe("Host", host=line["host"], driver=line["driver"])


def _library(read: Reading, line: Line) -> None:
    version = VersionRange.exact(line["version"])
    read.observe("Library", (line["path"],), host=line["host"], version=version)


def _program(read: Reading, line: Line) -> None:
    read.observe(
        "ProbeProgram", host=line["host"], name=line["name"] or line["lacked"], path=line["path"],
        python=line["python"],
    )  # fmt: skip


def _path(read: Reading, line: Line) -> None:
    path = line["path"] or line["lacked"]
    read.observe("ProbePath", host=line["host"], path=path, error=line["error"])


_NAME = r"[A-Za-z0-9_][\w.:-]{0,252}"
_HEAD = rf"probe (?P<host>{_NAME}) "
NEEDS: tuple[Row[Reading], ...] = (
    Row(rf"{_HEAD}ssh (?P<peer>{_NAME})(?: port (?P<port>\d{{1,5}}))?: (?P<words>.+?)\s*$", _login),
    Row(rf"{_HEAD}is (?P<place>{_NAME}), port (?P<port>\d{{1,5}}): (?P<words>.+?)\s*$", _meeting),
    Row(rf"{_HEAD}is user (?P<user>\S{{1,64}}) uid (?P<uid>\d{{1,10}}), (?P<gpus>\d{{1,4}}) GPUs\s*$", _own),
    Row(rf"{_HEAD}has driver (?P<driver>[\d.]{{3,20}})\s*$", _driver),
    Row(rf"{_HEAD}has NCCL (?P<version>\d[\d.]{{2,20}}) in (?P<path>/.{{1,500}}?)\s*$", _library),
    Row(
        rf"{_HEAD}(?:lacks program (?P<lacked>\S{{1,500}})|has program (?P<name>\S{{1,500}}) at "
        r"(?P<path>/\S{1,500})(?: of /\S{1,500})?(?:, Python (?P<python>[\d.]{3,20}))?)\s*$",
        _program,
    ),
    Row(
        rf"{_HEAD}(?:has (?:file|folder) (?P<path>/.{{1,1000}}?)"
        r"|lacks (?P<lacked>/.{1,1000}): (?P<error>[^:/]{1,100}?))\s*$",
        _path,
    ),
)
"""The rows of these lines, each with the fact that it gives."""
