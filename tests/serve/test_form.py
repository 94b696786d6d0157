"""The page without a browser: the form as a program sends it, who is refused, what is left afterwards."""

from __future__ import annotations

import gzip
import io
import json
import os
import re
import signal
import socket
import stat
import subprocess
import sys
import tarfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from urllib.parse import urlsplit

import psutil
import pytest
from generate import large
from processes import until
from serving import Served, served_by

from ncdiag.apps.web import abandoned


@pytest.fixture(scope="session")
def veth(project: Path) -> str:
    return (project / "fixtures" / "cases" / "veth" / "nccl.log").read_text()


def visible(html: str) -> str:
    return re.sub(r"\s+", " ", re.sub(r"<[^>]*>", " ", html))


def test_the_form_alone_gives_the_answer(served: Served, veth: str) -> None:
    answer = served.send(veth)
    assert answer.status == 200
    assert "a virtual interface, is offered to the other hosts" in visible(answer.text)
    assert "export NCCL_SOCKET_IFNAME=&#x27;=eno1&#x27;" in answer.text
    assert 'href="#line-1-5"' in answer.text
    assert 'id="line-1-5"' in answer.text
    assert 'href="#answer-line-1-5"' in answer.text
    assert 'id="answer-line-1-5"' in answer.text
    assert "NET/Plugin : No plugin found" in answer.text.partition("<textarea")[2].partition("</textarea>")[0]


def test_no_link_of_an_answer_leads_nowhere(served: Served) -> None:
    """Neither where a cited line is not in the answer: what a rank did last, findings that are named alone."""
    lines = [*large.lines(large.large("2.27.7", "roce", 40, faults=large.FAULTS))]
    lines += [f"n{n}:1:1 [0] misc/socket.cc:490 NCCL WARN socketStartConnect: Connect to 10.0.0.{n}<4> failed : "
              "Connection refused" for n in range(80)]  # fmt: skip
    page = served.send("\n".join(lines)).text
    ids = re.findall(r' id="([^"]+)"', page)
    assert len(ids) == len(set(ids))
    links = set(re.findall(r'href="#([^"]+)"', page))
    assert len(links) > 20
    assert links - set(ids) == set()


def test_the_answer_is_that_of_the_command_line(
    served: Served, veth: str, tmp_path: Path, ncdiag: Callable[..., subprocess.CompletedProcess[bytes]]
) -> None:
    (tmp_path / "paste.txt").write_text(veth)
    asked = ncdiag("triage", "paste.txt", "--format", "json", cwd=tmp_path)
    assert served.report(veth) == json.loads(asked.stdout)


def test_files_and_archives_are_one_job(served: Served, project: Path) -> None:
    folder = project / "fixtures" / "cases" / "ranks-missing"
    logs = {path.name: path.read_bytes() for path in sorted(folder.glob("*.log"))}
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as archive:
        for name, data in logs.items():
            member = tarfile.TarInfo(f"logs/{name}")
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))
    for sent in (logs, {"logs.tar.gz": packed.getvalue()}):
        report = served.report(files=sent)
        assert report["findings"][0]["name"] == "ranks-missing-from-job"
        assert len(report["inputs"]) == 7


def test_a_program_may_send_the_text_alone(served: Served, veth: str) -> None:
    path = urlsplit(served.url).path
    answer = served.ask(f"{path}?format=text", veth.encode(), {"Content-Type": "text/plain"})
    assert answer.status == 200
    assert "ROOT CAUSE" in answer.text


def test_downloads_are_in_the_page(served: Served, veth: str) -> None:
    page = served.send(veth).text
    names = re.findall(r'<a class="button" download="(ncdiag\.\w+)" href="data:([^;]+);charset=utf-8;base64,', page)
    assert (
        dict(names).items()
        == {"ncdiag.md": "text/markdown", "ncdiag.json": "application/json", "ncdiag.html": "text/html"}.items()
    )


def test_the_page_reads_a_window_of_time(served: Served) -> None:
    warn = "srv1:7:7 [0] NCCL WARN Call to connect to 10.0.0.{}<4000> failed : Connection refused"
    text = f"2026-05-03 03:00:00 a\n{warn.format(8)}\n2026-05-03 03:10:00 b\n{warn.format(9)}\n"
    report = served.report(text, since="03:10", until="2026-05-03 04:00")
    assert report["window"]["text"] == "between 2026-05-03 03:10:00 and 2026-05-03 04:00:00"
    assert {line["line"] for finding in report["findings"] for line in finding["evidence"]} == {4}
    page = served.send(text, since="3 pm <").text
    assert "&#x27;3 pm &lt;&#x27; is not a time" in page
    assert 'value="3 pm &lt;"' in page
    changes = served.report(text, since="03:10", compare="10m")["window"]["changes"]
    assert [(change["what"], change["line"]) for change in changes] == [("new", 3)]
    assert "is not a duration" in served.send(text, compare="ten").text


def test_redaction_leaves_no_name_in_the_answer(served: Served, veth: str) -> None:
    page = served.send(veth, redact="on").text
    shown = page.partition('<div id="result"')[2]
    assert "a virtual interface, is offered to the other hosts" in visible(shown)
    for secret in ("gpu-a01", "172.18.40.41"):
        assert secret not in shown
        assert secret not in json.dumps(served.report(veth, redact="on"))


@pytest.mark.parametrize(("language", "said"), [("zh-CN,zh;q=0.9", "查找根因"), ("de,en;q=0.5", "Find the root cause")])
def test_the_page_speaks_the_language_of_the_browser(served: Served, language: str, said: str) -> None:
    assert said in served.ask(headers={"Accept-Language": language}).text
    assert "查找根因" in served.ask(f"{urlsplit(served.url).path}?lang=zh", headers={"Accept-Language": language}).text


def test_the_answer_is_in_the_language_of_the_page(served: Served, veth: str) -> None:
    for answer in (served.send(veth, query="?lang=zh"), served.send(veth, headers={"Accept-Language": "zh-CN"})):
        shown = visible(answer.text.partition('<div id="result"')[2])
        for words in ("根因", "其地址被公布给了其他主机", "未检查", "下一步"):
            assert words in shown, words
        assert "Root cause" not in shown
    title = served.report(veth)["findings"][0]["title"]
    for query, is_chinese in (("", False), ("?lang=zh", True)):  # JSON heeds the address alone
        answer = served.send(veth, None, {"Accept-Language": "zh-CN"}, query, format="json")
        assert (json.loads(answer.text)["findings"][0]["title"] != title) is is_chinese


def test_nothing_sent_is_answered_with_a_sentence(served: Served) -> None:
    answer = served.send("")
    assert answer.status == 400
    assert "Paste something or choose a file first." in answer.text


def test_what_is_not_understood_is_said(served: Served) -> None:
    answer = served.send("the quick brown fox")
    assert answer.status == 200
    assert served.report("the quick brown fox")["summary"]["verdict"] == "nothing-understood"


@pytest.mark.parametrize("path", ["/", "/words.json", "/static/page.js", "/wrong-token-1/", "/%00/", "//"])
def test_without_the_token_there_is_nothing(served: Served, path: str) -> None:
    answer = served.ask(path)
    assert answer.status == 403
    assert answer.text == "The token is missing from the address. Use the whole address that 'ncdiag serve' printed.\n"
    assert served.ask(path, b"x", {"Content-Type": "text/plain"}).status == 403


@pytest.mark.parametrize(
    "host",
    [
        "evil.example", "evil.example:80", "127.0.0.1.evil.example", "", "[::1", "localhost@evil", "evil@localhost",
        "localhost.", "localhost:", "localhost:80x", "::1", "[10.1.2.3]", "127.1", "localhost/x",
    ],
)  # fmt: skip
def test_another_name_for_the_host_is_refused(served: Served, host: str) -> None:
    assert served.ask(headers={"Host": host}).status in {400, 421}


@pytest.mark.parametrize("host", ["127.0.0.1:1", "localhost", "[::1]:8765", "10.1.2.3", "LOCALHOST:80"])
def test_addresses_and_own_names_are_answered(served: Served, host: str) -> None:
    assert served.ask(headers={"Host": host}).status == 200


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "http://evil.example"},
        {"Origin": "http://[::1"},
        {"Origin": "evil://{host}"},
        {"Origin": "http://{host}/"},
        {"Origin": "http://evil@{host}"},
        {"Origin": "http://evil.example", "Sec-Fetch-Site": "same-origin"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site", "Origin": "null"},
    ],
)
def test_a_form_of_another_page_is_refused(served: Served, veth: str, headers: dict[str, str]) -> None:
    host = urlsplit(served.url).netloc
    answer = served.send(veth, headers={name: value.replace("{host}", host) for name, value in headers.items()})
    assert (answer.status, answer.text) == (403, "This form was sent from another site.\n")


def test_broken_requests_of_others_are_not_the_operators(serving: Callable[..., Served]) -> None:
    """Whoever reaches the page could fill its log otherwise; `served_by` looks at what it printed."""
    page = serving()
    with socket.create_connection((urlsplit(page.url).hostname or "", urlsplit(page.url).port or 0)) as link:
        link.sendall(b"\x16\x03\x01 this is no HTTP\r\n\r\n")
        assert link.recv(100).startswith(b"HTTP/1.1 400")
    assert page.ask(body=b"no form", headers={"Content-Type": "multipart/form-data; boundary=x"}).status == 400


def test_a_form_of_a_browser_that_hides_its_origin_needs_the_token(
    served: Served, serving: Callable[..., Served], veth: str
) -> None:
    assert served.send(veth, headers={"Origin": "null"}).status == 200
    bare = serving("--no-token")
    assert bare.send(veth, headers={"Origin": "null"}).status == 403
    assert bare.send(veth, headers={"Origin": "null", "Sec-Fetch-Site": "same-origin"}).status == 200
    assert bare.send(veth, headers={"Origin": bare.url.rstrip("/")}).status == 200
    secure = bare.url.rstrip("/").replace("http:", "https:")
    assert bare.send(veth, headers={"Origin": secure, "Sec-Fetch-Site": "same-origin"}).status == 200


def test_every_answer_forbids_what_a_browser_need_not_do(served: Served) -> None:
    token = urlsplit(served.url).path
    for path in (token, "/", f"{token}static/page.js", f"{token}nowhere"):
        headers = served.ask(path).headers
        policy = headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "script-src 'self';" in policy
        assert "unsafe" not in policy
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == "no-referrer"
        assert headers["cache-control"] == "no-store"
        assert "server" not in headers


def test_the_page_loads_its_own_files_alone(served: Served) -> None:
    page = served.ask().text
    loaded = re.findall(r'(?:src|href)="([^"]+)"', page)
    assert len(loaded) > 5
    assert [address for address in loaded if not re.match(r"static/[\w.]+$|\./\?lang=\w+$|#\w+$", address)] == []
    assert not re.search(r"<script(?![^>]*\ssrc=)|\son\w+=|\sstyle=|<style", page)


def test_an_analysis_that_takes_too_long_is_ended(serving: Callable[..., Served]) -> None:
    page = serving("--time-limit", "0.1")
    lines = (f"n1:{n}:{n} [0] NCCL INFO Channel {n % 32:02d} : {n}[{n:x}] via NET/IB/{n % 8}\n" for n in range(300_000))
    packed = gzip.compress("".join(lines).encode(), 1)
    answer = page.send(files={"long.log.gz": packed}, format="json")
    assert answer.status == 504
    assert "took longer than 0.1 s and was stopped" in answer.text
    assert "took longer than 0.1 s" in page.send(files={"long.log.gz": packed}).text
    assert until(lambda: not page.workers())
    assert until(lambda: not page.left())


def test_one_that_needs_too_much_memory_is_told(served: Served) -> None:
    """A bomb of bytes is read piece by piece; the reading stops and the answer says so."""
    report = served.report(files={"bomb.gz": gzip.compress(bytes(200 << 20))})
    assert "not read to the end" in json.dumps(report["inputs"])


def test_uploads_are_private_while_they_are_judged_and_then_gone(served: Served, veth: str) -> None:
    assert served.ask().status == 200  # it has begun
    seen: set[int] = set()
    for path in served.temporary.iterdir():
        seen.add(stat.S_IMODE(path.stat().st_mode))
    assert seen == {0o700}
    assert served.send(veth).status == 200
    assert until(lambda: not served.left())


def test_when_the_one_who_asked_goes_away_the_analysis_ends(served: Served) -> None:
    """The connection is closed as soon as the upload is in a file, long before its end is judged."""
    parts = urlsplit(served.url)
    log = b"n1:1:1 [0] NCCL INFO Channel 00 : 0[0] via NET/IB/0\n" * 400_000
    head = f"POST {parts.path} HTTP/1.1\r\nHost: {parts.netloc}\r\nContent-Type: text/plain\r\n"
    head += f"Content-Length: {len(log)}\r\n\r\n"
    with socket.create_connection((parts.hostname or "", parts.port or 0)) as link:
        link.sendall(head.encode() + log)
        assert until(served.left)
    assert until(lambda: not served.left())
    assert until(lambda: not served.workers())


@pytest.mark.parametrize("asked", [signal.SIGTERM, pytest.param(signal.SIGINT, marks=pytest.mark.long)])
def test_a_server_that_is_ended_ends_its_analyses(
    serving: Callable[..., Served], veth: str, asked: signal.Signals
) -> None:
    """Also one that would never end, and without a word on it (`served_by`)."""
    page = serving("--at-once", "1")
    with page.begin("n1:1:1 [0] NCCL INFO Channel 00 : 0[0] via NET/IB/0\n" * 200_000), page.begin(veth):
        [worker] = until(page.workers)
        worker.suspend()
        page.process.send_signal(asked)
        assert page.process.wait(60) == 0
        assert until(lambda: not worker.is_running())


def test_keep_keeps_inputs_and_answers_and_large_uploads_are_refused(
    serving: Callable[..., Served], veth: str, tmp_path: Path
) -> None:
    kept = tmp_path / "kept"
    page = serving("--keep", kept, "--upload-limit", "1")
    for sent in (b"x" * (1 << 20), os.urandom(3 << 20)):
        answer = page.send(files={"large.log": sent})
        assert answer.status == 413
        assert "The input is larger than 1 MiB" in answer.text
    assert "Its operator stores your input" in page.ask().text
    assert "and nothing is stored" not in page.ask().text
    assert page.send(veth, {"more.log": b"n2:1:1 [0] NCCL INFO x\n"}).status == 200
    [folder] = kept.iterdir()
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert (folder / "input" / "paste.txt").read_text() == veth
    assert json.loads((folder / "answer.json").read_text())["summary"]["root_cause"] == "socket-virtual-ifname"
    assert {"answer.md", "answer.json", "answer.txt", "input"} <= {path.name for path in folder.iterdir()}
    assert until(lambda: not page.left())


def test_what_cannot_be_kept_is_answered_and_told_to_the_operator(
    serving: Callable[..., Served], veth: str, tmp_path: Path
) -> None:
    kept = tmp_path / "kept"
    page = serving("--keep", kept)
    kept.rmdir()
    kept.write_text("no folder any more")
    assert page.report(veth)["summary"]["root_cause"] == "socket-virtual-ifname"
    assert "socket-virtual-ifname" in page.send(veth).text
    assert page.process.stderr is not None
    told = [page.process.stderr.readline() for _ in range(3)]
    assert told[1:] == 2 * [f"ncdiag: cannot store a diagnosis in {kept}: Not a directory\n"]


def test_a_folder_that_somebody_removed_is_told(serving: Callable[..., Served], veth: str) -> None:
    """As programs do that tidy up /tmp."""
    page = serving()
    assert page.ask().status == 200
    [folder] = page.temporary.glob("ncdiag-serve-*")
    folder.rmdir()
    answer = page.send(veth)
    assert answer.status == 507
    assert "its upload folder was removed" in answer.text
    assert page.process.stderr is not None
    told = [page.process.stderr.readline() for _ in range(2)]
    assert told[1] == f"ncdiag: cannot create a folder in {folder}: No such file or directory\n"


def test_what_a_killed_server_left_is_removed(program: list[str], tmp_path: Path) -> None:
    """That of a server on another host, with the same place for temporary files, stays."""
    dead = next(pid for pid in range(4_000_000, 100, -1) if not psutil.pid_exists(pid))
    left = tmp_path / f"{abandoned.prefix(dead)}abc" / "tmp" / "input"
    far = tmp_path / f"ncdiag-serve-another_host-{dead}-abc"
    left.mkdir(parents=True)
    far.mkdir()
    with served_by(program, tmp_path) as page:
        assert page.ask().status == 200
        assert not left.exists()
        far.rmdir()


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--host", "::", "--no-token"], "with --no-token anybody who can reach :: could use the page"),
        (["--time-limit", "nan"], "--time-limit must be at most 86400 seconds"),
        (["--token", "short"], "a token must have 8 to 200 letters"),
        (["--host", "203.0.113.7"], "cannot listen on 203.0.113.7 port 8765"),
        (["--keep", "/proc/nowhere"], "cannot write to /proc/nowhere"),
        (["--rules", "/nowhere"], "nowhere"),
    ],
)
def test_wrong_options_are_one_sentence(
    ncdiag: Callable[..., subprocess.CompletedProcess[bytes]], options: list[str], sentence: str
) -> None:
    done = ncdiag("serve", *options)
    assert done.returncode == 2
    said = done.stderr.decode()
    assert sentence in said
    assert said.count("\n") == 1


def test_without_its_packages_it_names_them(project: Path) -> None:
    code = "import sys; sys.modules['starlette'] = None; from ncdiag.cli import main; sys.exit(main(['serve']))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, cwd=project)
    assert done.returncode == 2
    assert "pip install starlette uvicorn python-multipart" in done.stderr
    assert done.stderr.count("\n") == 1


def test_who_has_to_wait_is_told_so(serving: Callable[..., Served], veth: str) -> None:
    """The first analysis stands still until those after it have heard that they wait."""
    page = serving("--at-once", "1")
    slow = b"n1:1:1 [0] NCCL INFO Channel 00 : 0[0] via NET/IB/0\n" * 200_000
    with ThreadPoolExecutor(1) as pool:
        first = pool.submit(page.send, "", {"slow.log": slow})
        [worker] = until(page.workers)
        worker.suspend()
        with page.begin(veth, {"Accept": "application/x-ndjson"}) as second:
            assert json.loads(second.readline()) == {"before": 1}
            with page.begin(veth) as third:
                heard = b""
                while b"before yours" not in heard:
                    heard += third.read1()
                assert b"Other diagnoses are running. 2 before yours." in heard
                worker.resume()
                assert "socket-virtual-ifname" in json.loads(second.read().splitlines()[-1])["result"]
                assert b"socket-virtual-ifname" in third.read()
        assert first.result().status == 200
