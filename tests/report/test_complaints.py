"""The complaints of a report: told, seen, and those that the symptoms found stand for."""

from __future__ import annotations

import book
import msgspec
import pytest
from tenth import tenth

from ncdiag.diagnose import diagnose
from ncdiag.facts.model import FAILING
from ncdiag.report import digest, renderer
from ncdiag.report.model import Report
from ncdiag.text.sources.files import TextSource


def report_of(text: str) -> Report:
    return diagnose([TextSource.of_bytes("job.log", text.encode())])


def words(report: Report) -> list[tuple[str, bool, str | None]]:
    return [(found.what, found.told, found.phase) for found in report.complaints]


INIT = "n1:40:51 [0] NCCL INFO comm 0x1 rank 0 nranks 2 cudaDev 0 busId 1000 commId 0x9 - Init {0}\n"
READY = INIT.format("START") + INIT.format("COMPLETE")
STEPS = "".join(f"step {number} loss 2.{number}\n" for number in range(1, 7))
REFUSED = "n1:40:51 [0] misc/socket.cc:484 NCCL WARN Net : Connect to 10.1.2.4<40815> failed : Connection refused\n"


def test_a_job_that_goes_on_has_none() -> None:
    assert report_of(READY + STEPS).complaints == ()
    assert report_of(REFUSED + READY + STEPS).complaints == ()


def test_what_the_input_shows_stands_behind_what_a_person_tells() -> None:
    report = report_of("My training hangs on two nodes and I do not know why.\n\n" + READY + REFUSED)
    assert words(report) == [("hangs", True, None), ("fails", False, "first-collective")]
    assert report.complaints[1].where == "rank 0 on n1"
    assert [item.line for item in report.complaints[1].evidence] == [5]


@pytest.mark.sweep
def test_a_symptom_that_is_found_is_a_complaint() -> None:
    """Every rule that stands for one, on its own examples: the report says it, or says more of how the job failed."""
    silent, tried = [], 0
    for rule in tenth([rule for rule in book.rules() if rule.complaint], lambda rule: rule.name, one_in=2):
        for example in rule.examples:
            heading = f"=== {example.host} ===\n" if example.host else ""
            texts = [text.strip("\n") for found in example.sections.values() for text in found]
            report = report_of(heading + "\n".join(texts) + "\n")
            tried += 1
            fired = [f for f in report.findings if f.name == rule.name and f.severity != "info"]
            said = {found.what for found in report.complaints if not found.told}
            if rule.complaint in {found.what for found in report.complaints if found.told}:
                continue  # whoever asks has said it
            if fired and rule.complaint not in said and not (rule.complaint in FAILING and said & FAILING):
                silent.append((rule.name, example.name, said))
    assert tried
    assert silent == []


def test_the_text_says_what_goes_wrong_where_no_cause_is_found() -> None:
    text = renderer("text")(report_of(READY + REFUSED), width=200)
    assert "It fails, in the first collective (rank 0 on n1): A TCP connection could not be established" in text


def test_no_report_says_that_there_is_no_fault_beside_a_complaint() -> None:
    busy = "".join(f"{gpu}, NVIDIA A40, 100 %, 82.50 W, 300.00 W\n" for gpu in range(2))
    head = (
        "$ nvidia-smi --query-gpu=index,name,utilization.gpu,power.draw,power.limit --format=csv\n"
        "index, name, utilization.gpu [%], power.draw [W], power.limit [W]\n"
    )
    for text in (READY + head + busy, READY.replace("n1:", "n2:") + head + busy):
        report = report_of(text)
        assert ("hangs", False, "first-collective") in words(report)
        assert report.summary.verdict in {"failed-cause-not-here", "root-cause"}
        assert "No fault" not in digest.headline(report)


def test_of_many_groups_of_ranks_the_text_names_those_that_are_least_far() -> None:
    report = report_of(
        INIT.format("START") + INIT.format("START").replace("n1", "n2").replace("rank 0", "rank 1") + REFUSED
    )
    last = [moment for moment in report.timeline if moment.what == "last"]
    many = tuple(msgspec.structs.replace(last[0], text=f"stood at {number}") for number in range(5))
    lines = digest.first_to_fail(msgspec.structs.replace(report, timeline=many))
    assert [text.rpartition(" ")[2] for _, text in lines[:3]] == ["0", "1", "2"]
    assert lines[3:] == [("", "and 2 more groups of ranks")]


def test_the_text_says_that_nothing_tells_which_came_first() -> None:
    sources = [
        TextSource.of_bytes(f"{host}.log", (INIT.format("START") + REFUSED).replace("n1", host).encode())
        for host in ("n1", "n2")
    ]
    lines = digest.first_to_fail(diagnose(sources))
    assert [label for label, _ in lines] == ["among the first", "among the first", "last seen", "last seen", "order"]
