"""The whole page: it loads nothing, stays small, is sound for screen readers, and each picture has words."""

from __future__ import annotations

import base64
import hashlib
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest
from examples import examples
from generate import large
from hostile_reports import built
from hypothesis import given
from hypothesis import strategies as st
from kept_reports import NAMES, load
from pages import Reader, assert_harmless, assert_headings_in_order

from ncdiag import catalogue, diagnose
from ncdiag.facts.model import Benchmark, Event, Job, ProbeLink, Rank
from ncdiag.language import speaking
from ncdiag.machine.inputs import inputs
from ncdiag.report import changes, digest, renderer
from ncdiag.report.html.evidence import around
from ncdiag.report.model import Difference, Report
from ncdiag.report.sanitize import one_line
from ncdiag.text.sources.files import TextSource

FIXTURES = Path(__file__).resolve().parents[3] / "fixtures"
FLAGSHIPS = ("veth", "roce-gid-3-old", "gdr-far", "ranks-missing", "memlock-64k", "ib-port-init")
MOST = 1_000_000


def addresses(report: Report) -> set[str]:
    found = [each for finding in report.findings for each in finding.references]
    return {one_line(each) for each in (*found, *(each for suspect in report.suspects for each in suspect.references))}


def written(found: diagnose.Diagnosed) -> str:
    return renderer("html")(found.report, view=found.view, lines=found.case.lines(around(found.report)))


def judged(path: Path) -> tuple[diagnose.Diagnosed, Reader]:
    """The diagnosis of a file or folder, and its page, which is sound."""
    found = diagnose.diagnosed(inputs([str(path)]))
    page = Reader(written(found))
    assert_sound(page, addresses(found.report))
    return found, page


def assert_sound(page: Reader, allowed: set[str], language: str = "en") -> None:
    assert_harmless(page, allowed)
    assert_headings_in_order(page)
    assert len(page.of("h1")) == len(page.of("main")) == len(page.of("title")) - len(page.of("svg")) - _tips(page) == 1
    assert page.of("html")[0].attributes == {"lang": language}
    ids = set(page.values("id"))
    assert all(set(named.split()) <= ids for named in page.values("aria-labelledby"))
    assert set(page.values("for")) <= ids
    for drawing in page.of("svg"):
        assert drawing.attributes["role"] == "img"
        title, about = (drawing.attributes["aria-labelledby"] or "").split()
        words = {tag.attributes.get("id"): text for tag, text in page.texts}
        assert words[title]
        assert words[about]
    for table in page.of("table"):
        assert "scroll" in table.around or "div" in table.around
    policy = next(tag for tag in page.of("meta") if tag.attributes.get("http-equiv"))
    digested = base64.b64encode(hashlib.sha256(page.styles.encode()).digest()).decode()
    assert policy.attributes["content"] == (
        f"default-src 'none'; style-src 'sha256-{digested}'; base-uri 'none'; form-action 'none'"
    )


def _tips(page: Reader) -> int:
    """Titles of shapes inside of drawings."""
    return sum("svg" in tag.around and tag.around[-1] != "svg" for tag in page.of("title"))


@pytest.mark.parametrize("name", FLAGSHIPS)
def test_a_flagship_is_told_in_full(name: str) -> None:
    found, page = judged(FIXTURES / "cases" / name)
    shown = " ".join(page.text.split())
    lead = found.report.findings[0]
    fixes = [line for fix in lead.fixes for _, line in digest.paste_lines(fix)]
    evidence = [item.text for finding in found.report.findings for item in finding.evidence]
    for text in (*(finding.title for finding in found.report.findings), *fixes, *evidence):
        assert " ".join(one_line(text).split()) in shown


def test_neighbours_of_a_cited_line_are_shown() -> None:
    found, page = judged(FIXTURES / "cases" / "roce-gid-3-old")
    item = found.report.findings[0].evidence[0]
    lines = Path(item.source).read_text(encoding="utf-8").splitlines()
    around_it = {lines[number - 1].strip() for number in range(item.line - 2, item.line + 3) if number != item.line}
    assert around_it <= {text.strip() for _, text in page.texts}


def test_all_pictures_of_a_rich_input() -> None:
    _, page = judged(FIXTURES / "pictures" / "two-hosts.txt")
    pictures = [text for tag, text in page.texts if tag.name == "h3" and "picture" in (tag.attributes.get("id") or "")]
    assert pictures == [
        "GPUs and NICs of a host", "Connections between hosts", "Ranks", "Which ranks are connected", "Rings and rails",
        "From setup to the first error", "Measured bandwidth", "What differs",
    ]  # fmt: skip
    for words in (
        "GPU3: every NIC is attached to another CPU (SYS)", "px01 to px03: does not connect",
        "2.21.5+cuda12.8: ranks 4-7", "channels 0,2: net 0 to rank 0 to rank 3", "limit of the network of one host",
        "completed setup", "mlx5_3 not used",
    ):  # fmt: skip
        assert words in " ".join(page.text.split()), words


def test_without_facts_there_are_no_pictures() -> None:
    page = Reader(renderer("html")(load("veth")))
    assert not page.of("svg")
    assert "Pictures" not in page.text


@pytest.mark.parametrize("name", NAMES)
def test_each_kept_report_makes_a_sound_page(name: str) -> None:
    report = load(name)
    assert_sound(Reader(renderer("html")(report)), addresses(report))


NAMED = re.compile(
    r"(?:NCCL|shell|rank|net|mlx5_|GPU\d|NIC\d|P2P).*|(?:\d+ )?px[-\[\]\d]+(?:（\d）)?|[-\d.,/]*(?:（bond0）)?|\d+[MGK]"
)
"""Headings and labels that are names."""
LABELS = {"h1", "h2", "h4", "dt", "th", "summary", "legend", "strong", "title", "desc", "a"}
WIDE = re.compile(r"[\u3400-\u9fff]")


def english(page: Reader) -> set[str]:
    """Labels, and words for who does not see, that are neither Chinese nor names."""
    found = {text.strip() for tag, text in page.texts if tag.name in LABELS and "://" not in text}
    found |= set(page.values("aria-label"))
    return {text for text in found if not WIDE.search(text) and not NAMED.fullmatch(text)}


def test_a_chinese_page_is_chinese_in_all_its_labels() -> None:
    with speaking("zh"):
        found = diagnose.diagnosed(
            inputs([str(FIXTURES / "pictures" / "two-hosts.txt")]), diagnose.Options(language="zh")
        )
        page = Reader(written(found))
    assert_sound(page, addresses(found.report), "zh-Hans")
    assert english(page) == set()
    for words in (
        "GPU3：所有网卡都在 CPU 之间的链路另一侧（SYS）", "px01 到 px03：无法连接", "2.21.5+cuda12.8：rank 4-7",
        "通道 0,2：net 0 到 rank 0 到 rank 3", "主机网络允许的上限：50 GB/s", "已完成初始化", "px02 上的 rank 4-7",
    ):  # fmt: skip
        assert words in " ".join(page.text.split()), words


@pytest.mark.parametrize("name", NAMES)
def test_labels_of_each_kept_report_in_chinese(name: str) -> None:
    """The sentences of the report itself were made in English."""
    report = load(name)
    own = msgspec.json.encode(report).decode()
    with speaking("zh"):
        page = Reader(renderer("html")(report))
    assert_sound(page, addresses(report), "zh-Hans")
    assert {text for text in english(page) if text not in own} == set()


def test_a_job_of_a_thousand_ranks_is_a_small_page() -> None:
    job = large.large("2.27.7", "roce", 125, 8, faults=large.FAULTS)
    text = "\n".join(large.lines(job)) + "\n"
    found = diagnose.diagnosed([TextSource.of_bytes("job.log", text.encode())])
    html = written(found)
    page = Reader(html)
    assert_sound(page, addresses(found.report))
    assert found.report.summary.nranks == 1000
    assert len(html.encode()) < MOST
    assert "999 ranks of 1000 on 125 hosts" in page.text


def test_a_report_without_end_is_a_bounded_page() -> None:
    report = load("veth")
    ranks = ",".join(str(rank) for rank in range(0, 100_000, 2))
    finding = msgspec.structs.replace(
        report.findings[0], ranks=ranks, nranks=50_000, explained_by=(), severity="error",
        title=f"The ranks differ: one (ranks {ranks}), another (all others)",
    )  # fmt: skip
    many = tuple(msgspec.structs.replace(finding, name=f"finding-{number}") for number in range(300))
    html = renderer("html")(msgspec.structs.replace(report, findings=(*many, *[finding] * 9)))
    assert len(html.encode()) < MOST
    assert f"finding-299, {finding.name} (9)" in html


_PARTS = st.builds(
    Job, ranks=st.lists(built(Rank), max_size=2).map(tuple), events=st.lists(built(Event), max_size=2).map(tuple),
    probe_links=st.lists(built(ProbeLink), max_size=3).map(tuple),
    benchmarks=st.lists(built(Benchmark), max_size=2).map(tuple),
)  # fmt: skip


@examples(40)
@given(_PARTS)
def test_hostile_facts_stay_texts(job: Job) -> None:
    report = load("veth")
    page = Reader(renderer("html")(report, view=diagnose.view_of(job)))
    assert_sound(page, addresses(report))


def test_a_hostile_topology_file_stays_text() -> None:
    _, page = judged(FIXTURES / "sections" / "topo_xml" / "hostile.txt")
    assert page.of("h2")


@examples(40)
@given(built(Difference))
def test_hostile_differences_stay_texts(found: Difference) -> None:
    page = Reader(changes.renderer("html")(found))
    assert_sound(page, set())
    assert one_line(found.before.source) in page.text


def test_a_redacted_page_names_no_host() -> None:
    from ncdiag.apps.redact import judged_cleaned

    found = diagnose.diagnosed(inputs([str(FIXTURES / "pictures" / "two-hosts.txt")]))
    lines = found.case.lines(around(found.report))
    report, job, shown = judged_cleaned(found.report, found.view.job, lines)
    html = renderer("html")(report, view=diagnose.view_of(job), lines=shown)
    assert "px0" in written(found)
    assert "px0" not in html
    assert len(Reader(html).of("svg")) == len(Reader(written(found)).of("svg"))


def test_rules_of_the_catalogue_refer_to_pages_or_to_places_in_programs() -> None:
    """A reference that is meant as an address is one that the page links to."""
    from ncdiag.report.html.element import is_address

    references = {each for rule in catalogue.rules(()) for each in rule.references}
    assert [each for each in references if "://" in each and not is_address(each.split()[0])] == []


def test_a_browser_reads_the_elements_that_were_written(
    need: Callable[[str, object, str], None], tmp_path: Path
) -> None:
    """It closes, moves or adds none, and refuses no style."""
    browser = shutil.which("chromium")
    need("chromium", browser, "it is not installed")
    found, page = judged(FIXTURES / "pictures" / "two-hosts.txt")
    path = tmp_path / "report.html"
    path.write_text(written(found), encoding="utf-8")
    command = [str(browser), "--headless", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr", "--dump-dom"]
    done = subprocess.run([*command, path.as_uri()], capture_output=True, check=True, timeout=120)
    read = Reader(done.stdout.decode())
    assert [tag.name for tag in read.tags] == [tag.name for tag in page.tags]
    assert b"Content Security" not in done.stderr
