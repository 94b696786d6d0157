# ruff: noqa: ISC004  (a log line is one string)
"""A failed completion is judged by its status, whoever prints it: by name, number, words or the card's syndrome."""

from __future__ import annotations

import pytest
from tenth import tenth

from ncdiag.diagnose import diagnose
from ncdiag.nccl.codes import Code, codes
from ncdiag.report.model import Report
from ncdiag.text.sources.files import TextSource

WORDINGS = (
    "n1:40:51 [0] transport/net_ib.cc:95 NCCL WARN NET/IB : Got completion with error {number}, opcode 0, len 0, "
    "vendor err 0",
    "n1:40:51 [0] transport/net_ib.cc:95 NCCL WARN NET/IB: Got completion from peer 10.0.0.2<48211> with "
    "status={name}({number}) opcode=IBV_WC_SEND(0) reqSize=0 vendor_err=0 req_type=Recv localGid ::ffff:10.0.0.1 "
    "remoteGids::ffff:10.0.0.2 hca mlx5_0",
    " Completion with error at client\n Failed status {number}: wr_id 0 syndrom 0x81\nscnt=128, ccnt=0",
    "Failed status {said} ({number}) for wr_id 2",
    "proxy.cpp:88: poll_cq: wc.status={number}",
    "ibv_poll_cq gave {name}",
    "NCCL: Got completion with error {number}, opcode 0, len 0",
    "the log of NCCL says status={number} ... vendor err 129",
    "it ends with vendor err 129, status {number}",
)  # fmt: skip
SYNDROME = "[n1:40:0:51] ib_mlx5_log.c:177  {said} on mlx5_0:1/RoCE (synd 0x{syndrome:x} vend 0x0 hw_synd 0/0)"
SYNDROMES = {0x04: 4, 0x05: 5, 0x12: 9, 0x13: 10, 0x14: 11, 0x15: 12, 0x16: 13}
ANSWERS = {
    4: "ib-completion-loc-prot", 5: "ib-completion-flush-err", 9: "ib-completion-remote-access",
    10: "ib-completion-remote-access", 11: "ib-completion-remote-access", 12: "ib-completion-retry-exceeded",
    13: "ib-completion-rnr",
}  # fmt: skip
"""Statuses of which a rule knows more than the name."""
HARMLESS = (
    "wc.status=0", "Got completion from peer 10.0.0.2<4000> with status=0",
    "status 12 of the order; see the vendor error list",
    "Got completion with status IBV_WC_SUCCESS", "        case IBV_WC_RETRY_EXC_ERR:",
    "    if (wc.status == IBV_WC_WR_FLUSH_ERR) continue;", "NCCL_IB_RETRY_CNT: the retry count of a queue pair",
)  # fmt: skip


def judged(text: str) -> Report:
    return diagnose([TextSource.of_bytes("log", f"{text}\n".encode())])


def filled(wording: str, code: Code, **more: int) -> str:
    return wording.format(number=code.number, name=code.name, said=code.said, **more)


@pytest.mark.sweep
@pytest.mark.parametrize("wording", WORDINGS)
def test_every_status_is_answered(wording: str) -> None:
    completions = codes()["completion"]
    for number in tenth(completions, lambda number: f"{WORDINGS.index(wording)}/{number}"):
        code = completions[number]
        text = filled(wording, code)
        if number:
            report = judged(text)
            assert [finding for finding in report.findings if finding.severity != "info"], text
            assert report.answers[0] == ANSWERS.get(number, report.answers[0]), text


@pytest.mark.parametrize("syndrome", SYNDROMES)
def test_the_syndrome_of_a_card_is_that_status(syndrome: int) -> None:
    code = codes()["completion"][SYNDROMES[syndrome]]
    assert judged(filled(SYNDROME, code, syndrome=syndrome)).answers[:1] == (ANSWERS[code.number],)


@pytest.mark.parametrize("line", HARMLESS)
def test_what_did_not_fail_is_left_in_peace(line: str) -> None:
    assert [finding.name for finding in judged(line).findings if finding.severity != "info"] == []
