"""The page in a real browser: pasted and dropped, read, copied, downloaded; nothing asked of others, nothing run."""

from __future__ import annotations

import io
import json
import os
import re
import sys
import tarfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import pytest
from serving import Served
from tenth import tenth

from ncdiag.apps.web.words import table

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, Dialog, Page, Request

pytestmark = pytest.mark.xdist_group("browser")  # one browser and one page for all

FAULTS = ("veth", "roce-gid-3-old", "memlock-64k", "shm-64m", "gdr-no-module", "ib-port-init")
SIZES = {"desktop": (1280, 900), "phone": (390, 844)}
DROP = """([names, texts]) => {
  const held = new DataTransfer();
  names.forEach((name, i) => held.items.add(new File([Uint8Array.from(texts[i])], name)));
  for (const kind of ["dragenter", "dragover", "drop"])
    document.body.dispatchEvent(new DragEvent(kind, { dataTransfer: held, bubbles: true, cancelable: true }));
}"""


class Tab:
    """A tab with the page in it, and what went wrong or out of it."""

    def __init__(self, page: Page, served: Served) -> None:
        self.page, self.served = page, served
        self.wrong: list[str] = []
        page.on("console", lambda said: self.wrong.append(said.text) if said.type in {"error", "warning"} else None)
        page.on("pageerror", lambda error: self.wrong.append(str(error)))
        page.on("dialog", self._met)
        page.on("request", self._asked)

    def _met(self, dialog: Dialog) -> None:
        self.wrong.append(f"dialog: {dialog.message}")
        dialog.dismiss()

    def _asked(self, request: Request) -> None:
        if not request.url.startswith((self.served.url, "data:")):
            self.wrong.append(f"asked for {request.url}")

    def open(self) -> None:
        self.page.goto(self.served.url)
        self.page.locator("#clear").wait_for()  # the script has run

    def judge(self, text: str = "") -> None:
        if text:
            self.page.fill("#text", text)
        self.page.click("#judge")
        self.done()

    def done(self) -> None:
        self.page.wait_for_function(
            "() => document.querySelector('#result .answer') && !document.querySelector('#result').ariaBusy"
        )

    def shot(self, name: str) -> None:
        """Keep a picture of the whole page where NCDIAG_SCREENSHOTS asks for them."""
        folder = os.environ.get("NCDIAG_SCREENSHOTS")
        if folder:
            self.page.screenshot(path=Path(folder) / f"{name}.png", full_page=True)


@pytest.fixture
def tab(chromium: Browser, served: Served) -> Iterator[Callable[..., Tab]]:
    """``tab(size)``: a tab of a fresh browser profile; at the end nothing may have gone wrong in it."""
    opened: list[Tab] = []
    contexts: list[BrowserContext] = []

    def new(size: str = "desktop", theme: Literal["light", "dark"] = "light") -> Tab:
        width, height = SIZES[size]
        context = chromium.new_context(
            viewport={"width": width, "height": height}, permissions=["clipboard-read", "clipboard-write"],
            locale="en-US", color_scheme=theme,
        )  # fmt: skip
        contexts.append(context)
        made = Tab(context.new_page(), served)
        opened.append(made)
        made.open()
        return made

    yield new
    for context in contexts:
        context.close()
    assert [each.wrong for each in opened if each.wrong] == []


def case(project: Path, name: str) -> tuple[str, dict[str, Any]]:
    folder = project / "fixtures" / "cases" / name
    about = tomllib.loads((folder / "case.toml").read_text())
    [text] = [path for path in folder.iterdir() if path.name != "case.toml"]
    return text.read_text(), about


@pytest.mark.sweep
@pytest.mark.parametrize("name", tenth(FAULTS))
def test_a_fault_is_found_shown_and_its_fix_copied(
    tab: Callable[..., Tab], project: Path, name: str, served: Served
) -> None:
    text, about = case(project, name)
    report = served.report(text)
    cause = report["findings"][0]
    assert cause["name"] == about["root_cause"]

    here = tab()
    here.judge(text)
    page = here.page
    lead = page.locator("#result .lead")
    assert cause["name"] in lead.inner_text()
    here.shot(f"{name}-desktop")

    link = lead.locator(".evidence a").first
    place = {f"{item['source']}:{item['line']}": item for item in cause["evidence"]}[link.inner_text()]
    link.click()
    line = page.locator(".input .line:target")
    line.wait_for()
    assert place["text"][:40].strip() in line.inner_text()
    assert line.locator("mark").count() == 1
    assert line.evaluate("line => getComputedStyle(line).backgroundColor") != "rgba(0, 0, 0, 0)"
    line.locator("a.back").click()
    assert page.locator("#result .lead a:target").inner_text() == link.inner_text()

    fix = next(fix for fix in cause["fixes"] if fix["commands"])
    launcher, command = next(iter(fix["commands"].items()))
    page.get_by_role("button", name=f"Copy: {launcher}", exact=True).first.click()
    page.get_by_text("Copied", exact=True).first.wait_for()
    assert page.evaluate("() => navigator.clipboard.readText()") == command


def test_three_files_are_dropped_and_one_is_taken_back(tab: Callable[..., Tab], project: Path) -> None:
    folder = project / "fixtures" / "cases" / "ranks-missing"
    names = ["rank0.log", "rank1.log", "rank2.log"]
    here = tab()
    here.page.evaluate(DROP, [names, [list((folder / name).read_bytes()) for name in names]])
    assert [re.sub(r" .*", "", item) for item in here.page.locator("#chosen li span").all_inner_texts()] == names
    here.page.get_by_role("button", name="Remove rank1.log").click()
    here.judge()
    here.page.locator(".scope details").evaluate("details => { details.open = true }")
    read = here.page.locator(".scope").inner_text()
    assert "rank0.log" in read
    assert "rank2.log" in read
    assert "rank1.log" not in read


def test_an_archive_is_dropped(tab: Callable[..., Tab], project: Path) -> None:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as archive:
        for path in sorted((project / "fixtures" / "cases" / "ranks-missing").glob("*.log")):
            archive.add(path, f"logs/{path.name}")
    here = tab()
    here.page.evaluate(DROP, [["logs.tar.gz"], [list(packed.getvalue())]])
    here.judge()
    assert "ranks-missing-from-job" in here.page.locator("#result .lead").inner_text()


HOSTILE = (
    '<script>alert(1)</script>"><img src=x onerror=alert(2)><svg onload=alert(3)></textarea></pre></div>'
    "javascript:alert(4) ${alert(5)} {{7*7}} <a href=https://evil.example>x</a> \u202eabc\x07\x1b[31m"
)


def test_a_hostile_text_stays_text(tab: Callable[..., Tab], project: Path) -> None:
    log = (project / "fixtures" / "cases" / "veth" / "nccl.log").read_text()
    evil = log.replace("veth25f2e72:fe80", "veth25f2e72<img/src=x/onerror=alert(9)>:fe80").replace(
        "socket.h:403 NCCL WARN Connect", f"socket.h:403 NCCL WARN {HOSTILE} Connect"
    )
    here = tab()
    page = here.page
    page.evaluate(DROP, [['<img src=x onerror=alert(6)>".log'], [list(f"{HOSTILE}\n{evil}".encode())]])
    page.evaluate("() => { window.before = document.querySelectorAll('script, iframe, object, embed, img').length }")
    here.judge(f"{HOSTILE}\n{evil}")
    assert "onerror=alert(9)" in page.locator("#result").inner_text()
    assert (
        page.evaluate("() => document.querySelectorAll('script, iframe, object, embed, img').length - window.before")
        == 0
    )
    bad = "() => [...document.querySelectorAll('#result *')].flatMap(e => [...e.attributes])"
    assert page.evaluate(f"{bad}.filter(a => a.name.startsWith('on') || /^javascript:/i.test(a.value)).length") == 0
    assert page.locator("a[href*=evil]").count() == 0
    here.shot("hostile-desktop")


def test_downloads_hold_the_report(tab: Callable[..., Tab], project: Path) -> None:
    here = tab()
    here.judge(case(project, "veth")[0])
    for title, mark in (("HTML", "<!doctype html>"), ("Markdown", "### veth25f2e72"), ("JSON", '"root_cause"')):
        with here.page.expect_download() as coming:
            here.page.locator(".downloads a", has_text=title).click()
        text = Path(coming.value.path()).read_text()
        assert mark in text
    assert json.loads(text)["summary"]["root_cause"] == "socket-virtual-ifname"
    here.page.get_by_role("button", name="Copy as Markdown").click()
    here.page.get_by_text("Copied", exact=True).first.wait_for()
    assert "### veth25f2e72" in here.page.evaluate("() => navigator.clipboard.readText()")


def test_language_and_theme_change_without_a_reload(tab: Callable[..., Tab], project: Path) -> None:
    here = tab()
    page = here.page
    here.judge(case(project, "veth")[0])
    page.evaluate("() => { window.same = true }")
    page.get_by_role("link", name="中文").click()
    page.get_by_role("heading", name=table()["zh"]["title"]).wait_for()
    page.get_by_text("诊断结果已就绪。").wait_for()
    assert page.evaluate("() => document.documentElement.lang") == "zh-Hans"
    assert page.get_by_role("heading", name="你的内容").count() == 1
    assert "其地址被公布给了其他主机" in page.locator("#result .lead h3").inner_text()
    assert page.locator("#result .summary .verdict").inner_text() == "根因"
    here.shot("veth-desktop-zh")
    light = page.evaluate("() => getComputedStyle(document.body).backgroundColor")
    page.get_by_label("主题").select_option("dark")
    dark = page.evaluate("() => getComputedStyle(document.body).backgroundColor")
    assert dark != light
    here.shot("veth-desktop-zh-dark")
    assert page.evaluate("() => window.same")
    page.reload()
    page.get_by_role("heading", name=table()["zh"]["title"]).wait_for()
    assert page.evaluate("() => getComputedStyle(document.body).backgroundColor") == dark


def test_a_language_that_is_chosen_while_one_waits_is_that_of_the_answer(
    tab: Callable[..., Tab], project: Path
) -> None:
    here = tab()
    here.page.fill("#text", case(project, "veth")[0])
    here.page.evaluate("() => { for (const name of ['#judge', '[data-to=zh]']) document.querySelector(name).click(); }")
    here.done()
    assert here.page.get_by_role("heading", name="你的内容").count() == 1
    assert here.page.locator("#status").inner_text() == "诊断结果已就绪。"


def test_the_keyboard_is_enough(tab: Callable[..., Tab], project: Path) -> None:
    here = tab()
    page = here.page
    page.keyboard.press("Tab")
    assert page.evaluate("() => document.activeElement.className") == "skip"
    order = []
    for _ in range(12):
        page.keyboard.press("Tab")
        order.append(page.evaluate("() => document.activeElement.id || document.activeElement.className || ''"))
    wanted = ["theme", "text", "files", "since", "until", "compare", "redact", "judge", "clear"]
    assert [name for name in order if name in wanted] == wanted
    page.focus("#text")
    page.evaluate("text => navigator.clipboard.writeText(text)", case(project, "veth")[0])
    page.keyboard.press("Control+V")
    page.keyboard.press("Control+Enter")
    here.done()
    assert page.evaluate("() => document.activeElement.id") == "result"
    assert page.locator("#status").inner_text() == "The diagnosis is ready."


PASTE = """size => {
  const held = new DataTransfer();
  held.setData("text/plain", "x1:1:1 [0] NCCL INFO a line of a long log\\n".repeat(size / 42));
  const began = performance.now();
  document.querySelector("#text").dispatchEvent(
    new ClipboardEvent("paste", { clipboardData: held, bubbles: true, cancelable: true }));
  return performance.now() - began;
}"""


def test_a_long_paste_becomes_a_file(tab: Callable[..., Tab]) -> None:
    here = tab()
    page = here.page
    assert page.evaluate(PASTE, 200_000_000) < 5000
    assert page.input_value("#text") == ""
    assert page.locator("#chosen li").all_inner_texts()[0].startswith("pasted.txt (")
    page.get_by_text("The paste is long and was added as the file pasted.txt").wait_for()
    page.evaluate(PASTE, 3_000_000)
    assert [text.split()[0] for text in page.locator("#chosen li").all_inner_texts()] == ["pasted.txt", "pasted-2.txt"]
    page.evaluate(PASTE, 1_000_000)
    assert page.locator("#chosen li").count() == 2


def test_the_button_names_its_key_where_there_is_a_keyboard(tab: Callable[..., Tab]) -> None:
    desktop, phone = tab(), tab("phone")
    assert desktop.page.locator("#judge").inner_text() == "Find the root cause Ctrl+Enter"
    assert phone.page.locator("#judge").inner_text() == "Find the root cause"


def test_on_a_phone_the_cause_comes_before_what_is_known_of_the_job(tab: Callable[..., Tab], project: Path) -> None:
    here = tab("phone")
    here.judge(case(project, "veth")[0])
    places = (
        "() => ['.lead', '.about'].map(name => document.querySelector(`#result ${name}`).getBoundingClientRect().top)"
    )
    cause, job = here.page.evaluate(places)
    top = here.page.evaluate("() => document.querySelector('#result').getBoundingClientRect().top")
    assert top < cause < top + 300
    assert cause < job


def test_redacting_and_clearing(tab: Callable[..., Tab], project: Path) -> None:
    here = tab()
    page = here.page
    page.get_by_label("Redact before sharing").check()
    here.judge(case(project, "veth")[0])
    assert "gpu-a01" not in page.locator("#result").inner_text()
    page.get_by_role("button", name="Clear").click()
    assert page.locator("#result").inner_text() == ""
    assert page.input_value("#text") == ""


def test_what_cannot_be_sent_is_said(tab: Callable[..., Tab]) -> None:
    here = tab()
    here.page.click("#judge")
    here.page.get_by_text("Paste something or choose a file first.").wait_for()


@pytest.mark.long
def test_on_paper_nothing_is_cut_off(tab: Callable[..., Tab], project: Path) -> None:
    here = tab()
    page = here.page
    here.judge(case(project, "veth")[0] + "a line of the program\n" * 100)
    cut = "() => [...document.querySelectorAll('#result pre')].filter(e => e.scrollHeight > e.clientHeight + 1).length"
    assert page.evaluate(cut) == 1
    page.emulate_media(media="print")
    assert page.evaluate(cut) == 0
    assert page.locator("#form").is_hidden()
    hidden = page.locator("#result .paste").filter(visible=False)
    assert hidden.count() == 0


@pytest.mark.long
@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("size", SIZES)
def test_it_is_readable_and_accessible(tab: Callable[..., Tab], axe: str, project: Path, theme: str, size: str) -> None:
    here = tab(size, theme)
    page = here.page
    here.shot(f"empty-{size}-{theme}")
    for state in ("empty", "answer"):
        if state == "answer":
            here.judge(case(project, "veth")[0])
            for number in range(page.locator("details").count()):
                page.locator("details").nth(number).evaluate("details => { details.open = true }")
        wide = page.evaluate("() => document.documentElement.scrollWidth - document.documentElement.clientWidth")
        assert wide == 0
        page.evaluate(axe)
        found = page.evaluate("async () => (await axe.run()).violations")
        assert [
            (f["id"], [node["html"] for node in f["nodes"]])
            for f in found
            if f["impact"] in {"moderate", "serious", "critical"}
        ] == []
    here.shot(f"answer-{size}-{theme}")


def test_without_scripts_the_form_gives_the_answer(chromium: Browser, served: Served, project: Path) -> None:
    context = chromium.new_context(java_script_enabled=False, locale="en-US")
    page = context.new_page()
    page.goto(served.url)
    page.fill("#text", case(project, "veth")[0])
    page.click("#judge")
    page.locator("#result .answer").wait_for()
    assert "socket-virtual-ifname" in page.locator("#result .lead").inner_text()
    page.locator("#result .lead .evidence a").first.click()
    assert page.locator(".input .line:target mark").count() == 1
    assert "NET/Plugin" in page.input_value("#text")
    context.close()
