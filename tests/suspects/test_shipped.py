"""What holds of all signs of the book."""

from __future__ import annotations

from pathlib import Path

import pytest

import ncdiag
from ncdiag import catalogue
from ncdiag.base import errors
from ncdiag.diagnose import diagnose, view_of
from ncdiag.fixes.values import Values
from ncdiag.machine.inputs import inputs
from ncdiag.parsers.user_text.changes import DONE
from ncdiag.report.model import Fix, Report
from ncdiag.report.remedies import fixes_of
from ncdiag.report.suspects import unbound_finding
from ncdiag.suspects import trials
from ncdiag.suspects.weigh import Scales
from ncdiag.text.reading.job import facts_of
from ncdiag.text.sources.files import TextSource


def reported(text: str) -> Report:
    return diagnose([TextSource.of_bytes("paste", text.encode())])


def test_a_suspect_is_reported_with_its_signs_and_fixes() -> None:
    refused = "RuntimeError: The server socket has failed to listen on any local network address.\n"
    text = f"{refused}It is the second run today.\n"
    report = reported(text)
    suspect = report.suspects[0]
    assert (suspect.name, suspect.likelihood) == ("launcher-port-in-use", "very likely")
    assert [(item.line, item.text) for item in suspect.supporting[0].evidence] == [(1, text.splitlines()[0])]
    assert suspect.fixes
    assert report.answers[0] == suspect.name


def test_no_suspect_offers_what_is_set() -> None:
    text = "Why does it hang after Init COMPLETE? 2x RTX 4090, one node.\n"
    offered = {pair for suspect in reported(text).suspects for fix in suspect.fixes for pair in fix.env.items()}
    assert ("NCCL_P2P_DISABLE", "1") in offered
    text += "export NCCL_P2P_DISABLE=1\n"
    offered = {pair for suspect in reported(text).suspects for fix in suspect.fixes for pair in fix.env.items()}
    assert ("NCCL_P2P_DISABLE", "1") not in offered


def test_each_suspect_has_a_fix_that_names_what_nothing_bound_by_its_kind() -> None:
    view = view_of(facts_of({"text": ["it hangs"]}))
    found = {
        rule.name: fixes_of(unbound_finding(rule), view, Values(view), [])
        for rule in catalogue.rules() if rule.suspect
    }  # fmt: skip
    assert [name for name, fixes in found.items() if not fixes] == []
    filled = [fix for fixes in found.values() for fix in fixes if isinstance(fix, Fix)]
    assert not [fix.text for fix in filled if "unknown" in fix.scope or "{" in fix.text]
    (fix,) = found["roce-netdev-no-ip"]
    assert isinstance(fix, Fix)
    assert fix.commands["shell"] == "ip addr add <address>/<prefix> dev <netdev name>"
    errors_of_links = found["ib-link-errors"][0]
    assert isinstance(errors_of_links, Fix)
    assert errors_of_links.commands["shell"].startswith("perfquery -x -C <hca> -P <port>\n")


def test_a_hole_that_says_more_than_a_name_is_left_out() -> None:
    (rule,) = (rule for rule in catalogue.rules() if rule.name == "env-variable-without-effect")
    assert rule.fixes[0].text == "Remove {s.name}{s.replacement}."
    view = view_of(facts_of({"text": ["it hangs"]}))
    (fix,) = fixes_of(unbound_finding(rule), view, Values(view), [])
    assert isinstance(fix, Fix)
    assert (fix.text, fix.unset) == ("Remove <setting>.", ())


def test_a_fault_of_a_sign_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        msg = "a derived field that fails"
        raise ValueError(msg)

    monkeypatch.setattr(errors, "strict", False)
    monkeypatch.setattr(Scales, "_truth", broken)
    assert any("could not be evaluated" in fault for fault in reported("Why does it hang?\n").faults)


def test_a_machine_on_which_nothing_failed_has_no_suspect(project: Path) -> None:
    reports = [ncdiag.check(str(root)) for root in sorted((project / "fixtures" / "roots").iterdir())]
    calm = [report for report in reports if report.summary.verdict in {"risk-only", "healthy-as-far-as-seen"}]
    assert calm
    assert [report.inputs[0].source for report in calm if report.suspects] == []


def test_no_suspect_is_likely_in_healthy_texts(project: Path) -> None:
    healthy = sorted((project / "fixtures" / "healthy").iterdir())
    reports = [diagnose(inputs([str(path)])) for path in healthy]
    assert reports
    assert [s.name for report in reports for s in report.suspects if s.likelihood in {"very likely", "likely"}] == []


def test_suspects_have_plain_sentences() -> None:
    wrong = [
        rule.name for rule in catalogue.rules() if rule.suspect
        for text in (rule.suspect.text, *(sign.text for sign in rule.signs)) if "{" in text or text.endswith(".")
    ]  # fmt: skip
    assert wrong == []


def test_questions_are_plain_and_no_trial_asks_the_same() -> None:
    asked = {rule.name: rule for rule in catalogue.rules() if rule.suspect and rule.suspect.ask}
    wrong = [
        name for name, rule in asked.items() if rule.suspect for text in [rule.suspect.ask]
        if not text.endswith("?") or text.count("?") != 1 or not text[0].isupper() or len(text) > 120
        or any(f"with {label}" in text for fix in rule.fixes for label in trials.variables(fix))
    ]  # fmt: skip
    assert wrong == []
    assert len(asked) > 0.9 * sum(rule.suspect is not None for rule in catalogue.rules())


def test_what_fixes_say_was_tried_is_what_people_are_read_to_have_tried() -> None:
    known = {label for labels in DONE.values() for label in labels.values()}
    tried = {label for rule in catalogue.rules() for fix in rule.fixes for label in fix.tried}
    assert tried
    assert tried <= known


def test_a_suspect_ends_no_process_that_nothing_names() -> None:
    report = reported(
        "XlaRuntimeError: RESOURCE_EXHAUSTED: Failed to allocate request for 2.00GiB on device ordinal 0\n"
    )
    suspect = report.suspects[0]
    assert suspect.name == "cuda-out-of-memory"
    assert "kill" not in "\n".join(line for fix in suspect.fixes for line in fix.commands.values())


@pytest.mark.parametrize(
    "line",
    [
        "JaxRuntimeError: RESOURCE_EXHAUSTED: grpc: received message larger than max (5242880 vs. 4194304)",
        "XlaRuntimeError: RESOURCE_EXHAUSTED: Failed to allocate request for 2.00GiB (2147483648B) on host",
    ],
)
def test_another_resource_than_the_gpus_memory_is_exhausted(line: str) -> None:
    assert all(
        suspect.name != "cuda-out-of-memory" or suspect.likelihood == "possible"
        for suspect in reported(f"{line}\n").suspects
    )


def test_windows_of_gpus_of_unknown_models_are_not_compared() -> None:
    gpu = (
        "GPU 00000000:{bus}:00.0\n{name}    BAR1 Memory Usage\n        Total                             : {size} MiB\n"
    )
    name = "    Product Name                          : NVIDIA A100-PCIE-40GB\n"

    def likelihood(named: str) -> str:
        gpus = gpu.format(bus="01", name=named, size=65536) + gpu.format(bus="21", name=named, size=256)
        suspects = reported(f"Training is slow.\n\n$ nvidia-smi -q\n{gpus}").suspects
        return next((each.likelihood for each in suspects if each.name == "pci-window-missing"), "")

    assert likelihood(name) in {"likely", "very likely"}
    assert likelihood("") not in {"likely", "very likely"}
