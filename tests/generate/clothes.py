"""Clothes that a paste may come in, by their class: functions from a text to the same text in other clothes."""

from __future__ import annotations

import base64
import csv
import io
import itertools
import json
import quopri
import re
import textwrap
from collections.abc import Callable
from urllib.parse import quote, quote_plus

Dress = Callable[[str], bytes]


def _lines(text: str) -> list[str]:
    return text.removesuffix("\n").split("\n")


def _whole(change: Callable[[str], str]) -> Dress:
    return lambda text: change(text).encode("utf-8", "surrogatepass")


def _each(form: Callable[[int, str], str]) -> Dress:
    """Each line, with its number from 1, in another form."""
    return _whole(lambda text: "".join(f"{form(n, line)}\n" for n, line in enumerate(_lines(text), 1)))


def _prefix(words: str) -> Dress:
    return _each(lambda _, line: words + line)


def _ends(end: str) -> Dress:
    return _whole(lambda text: end.join(_lines(text)) + end)


def _bytes_at(place: str, damage: bytes) -> Dress:
    """Each line with these bytes in its middle or at its end."""

    def dress(text: str) -> bytes:
        raw = [line.encode() for line in _lines(text)]
        if place == "end":
            return b"".join(line + damage + b"\n" for line in raw)
        return b"".join(line[: len(line) // 2] + damage + line[len(line) // 2 :] + b"\n" for line in raw)

    return dress


def _mail(encoding: str, encoded: Callable[[bytes], bytes]) -> Dress:
    head = (
        "From: Ada <ada@example.org>\nSubject: output\nMIME-Version: 1.0\n"
        f"Content-Type: text/plain; charset=utf-8\nContent-Transfer-Encoding: {encoding}\n\n"
    )
    return lambda text: head.encode() + encoded(text.encode())


def _multipart(text: str) -> bytes:
    body = base64.encodebytes(text.encode()).decode()
    return (
        "From: Ada <ada@example.org>\nSubject: output\nContent-Type: multipart/mixed; boundary=xyz7\n\n"
        "--xyz7\nContent-Type: text/plain\n\nThe log is attached.\n\n"
        f"--xyz7\nContent-Type: text/plain; name=job.log\nContent-Transfer-Encoding: base64\n\n{body}\n--xyz7--\n"
    ).encode()


def _notebook(text: str) -> str:
    output = {"output_type": "stream", "name": "stderr", "text": [f"{line}\n" for line in _lines(text)]}
    cell = {"cell_type": "code", "execution_count": 1, "metadata": {}, "outputs": [output], "source": ["!sh run.sh\n"]}
    return json.dumps({"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}, indent=1)


def _csv(head: list[str], row: Callable[[int, str], list[str]], *, quoted: bool = False) -> Dress:
    def dress(text: str) -> str:
        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\n", quoting=csv.QUOTE_ALL if quoted else csv.QUOTE_MINIMAL)
        writer.writerows([*([head] if head else []), *(row(n, line) for n, line in enumerate(_lines(text), 1))])
        return out.getvalue()

    return _whole(dress)


def _at(number: int) -> str:
    """A time, a little later for each line."""
    return f"2026-03-02 {4 + number // 3600:02d}:{number // 60 % 60:02d}:{number % 60:02d}"


def _sql(number: int, line: str) -> str:
    return f"({number},'{_at(number)}','{line.replace(chr(39), chr(39) * 2)}')"


def _mysql(text: str) -> str:
    width = max(map(len, _lines(text)))
    rule = f"+------+-{'-' * width}-+\n"
    rows = "".join(f"| {n:4d} | {line:{width}} |\n" for n, line in enumerate(_lines(text), 1))
    return f"{rule}| id   | {'message':{width}} |\n{rule}{rows}{rule}{len(_lines(text))} rows in set (0.01 sec)\n"


def _psql(text: str) -> str:
    width = max(map(len, _lines(text)))
    rows = "".join(f" {n:4d} | {line}\n" for n, line in enumerate(_lines(text), 1))
    return f"  id  | {'line':^{width}} \n------+-{'-' * width}-\n{rows}({len(_lines(text))} rows)\n"


def _beside(middle: str, right: Callable[[str], str]) -> Dress:
    """Two columns, the text at the left."""

    def dress(text: str) -> str:
        width = max(map(len, _lines(text.expandtabs())))
        return "".join(f"{line:{width}}{middle}{right(line)}".rstrip() + "\n" for line in _lines(text.expandtabs()))

    return _whole(dress)


def _pane(width: int) -> Dress:
    """A pane of a terminal of that width, whose lines are cut, beside an empty one."""
    return _whole(lambda text: "".join(f"{line[:width]:{width}}\u2502{'':40}\n" for line in _lines(text.expandtabs())))


def _page(text: str) -> str:
    escaped = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    rows = "".join(
        f'<div class="row"><span class="n">{n}</span><span>{line}</span></div>\n'
        for n, line in enumerate(_lines(escaped), 1)
    )
    return f'<div class="log">{rows}</div>\n'


def _table_page(text: str) -> str:
    escaped = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    rows = "".join(f"<tr><td>{n}</td><td>{line}</td></tr>\n" for n, line in enumerate(_lines(escaped), 1))
    return f"<html><body><table>\n{rows}</table></body></html>\n"


def _added(text: str) -> str:
    lines = _lines(text)
    return f"--- /dev/null\n+++ b/job.log\n@@ -0,0 +1,{len(lines)} @@\n" + "".join(f"+{line}\n" for line in lines)


def _caret(line: str) -> str:
    return re.sub(r"[\x80-\U0010ffff]", "M-^?", line)


INSERT = "INSERT INTO `logs` (id, at, line) VALUES"
BAR = "Epoch 2:  41%|####1     | 41/100 [00:12<00:17,  3.40it/s]"
WARN = "[W 04:11:09 launch.py:7] waiting for the other nodes"


def _between(*others: str) -> Dress:
    """Other lines in turn between each two lines."""
    return _whole(
        lambda text: "".join(
            f"{line}\n{other}\n" for line, other in zip(_lines(text), itertools.cycle(others), strict=False)
        )
    )


CLOTHES: dict[str, dict[str, Dress]] = {
    "line ends": {
        "VT": _ends("\v"), "FF": _ends("\f"), "NEL": _ends("\u0085"), "LS": _ends("\u2028"), "PS": _ends("\u2029"),
        "NUL": _ends("\0"), "CR": _ends("\r"), "CR CR LF": _ends("\r\r\n"), "backslashes": _ends(" \\\n"),
        "written": _whole(lambda text: text.replace("\n", r"\n")),
    },
    "encodings": {
        "base64 mail": _mail("base64", base64.encodebytes),
        "quoted-printable mail": _mail("quoted-printable", quopri.encodestring),
        "base64 part": _multipart,
        "base64": lambda text: base64.encodebytes(text.encode()),
        "base64 in one line": lambda text: base64.b64encode(text.encode()),
        "base64 twice": lambda text: base64.encodebytes(base64.encodebytes(text.encode())),
        "quoted-printable": lambda text: quopri.encodestring(text.encode()),
        "URL": _whole(quote),
        "URL form": _whole(lambda text: "log=" + quote_plus(text)),
        "URL twice": _whole(lambda text: quote(quote(text))),
        "JSON string": _whole(json.dumps),
        "JSON object": _whole(lambda text: json.dumps({"id": 7, "log": text})),
        "JSON array": _whole(lambda text: json.dumps({"lines": _lines(text)}, indent=1)),
        "JSON array in one line": _whole(lambda text: json.dumps(_lines(text))),
        "JSON in JSON": _whole(lambda text: json.dumps({"payload": json.dumps({"log": text})})),
        "base64 in JSON": _whole(lambda text: json.dumps({"data": base64.b64encode(text.encode()).decode()})),
        "notebook": _whole(_notebook),
        "repr": _whole(repr),
        "repr of bytes": _whole(lambda text: repr(text.encode())),
        "repr of lines": _whole(lambda text: repr([f"{line}\n" for line in _lines(text)])),
        "repr of a result": _whole(
            lambda text: f"CompletedProcess(args=['sh', 'r.sh'], returncode=1, stdout={text!r})\n"),
        "CDATA": _whole(lambda text: f"<log><![CDATA[{text}]]></log>\n"),
    },
    "cells": {
        "CSV": _csv(["id", "timestamp", "message"], lambda n, line: [str(n), _at(n), line]),
        "CSV quoted": _csv(["timestamp", "message"], lambda n, line: [_at(n), line], quoted=True),
        "CSV without head": _csv([], lambda n, line: [str(n), line], quoted=True),
        "Azure export": _csv(
            ["TimeGenerated [UTC]", "ContainerName", "LogEntry"],
            lambda n, line: [f"3/2/2026, 4:{n // 60:02d}:{n % 60:02d}.123 AM", "trainer", line], quoted=True),
        "Loki export": _csv(
            ["Date", "Line", "tsNs", "labels"],
            lambda n, line: [_at(n).replace(" ", "T") + ".123Z", line, str(1772424669123456789 + n), '{"app":"train"}'],
            quoted=True),
        "TSV": _each(lambda n, line: f"{n}\t{_at(n)}\t{line}"),
        "SQL": _each(lambda n, line: f"{INSERT} {_sql(n, line)};"),
        "SQL rows": _whole(
            lambda text: f"{INSERT}\n"
            + ",\n".join(_sql(n, line) for n, line in enumerate(_lines(text), 1)) + ";\n"),
        "MySQL": _whole(_mysql),
        "psql": _whole(_psql),
        "web page": _whole(_page),
        "web table": _whole(_table_page),
    },
    "columns": {
        "split screen": _beside(" \u2502 ", lambda _: "ada@ws1:~$"),
        "sdiff": _beside("   ", lambda line: line),
        "sdiff of others": _beside("  |  ", lambda line: line[::-1]),
        "wide pane": _pane(240),
        "cut at 79": _pane(79),
        "cut at 120": _each(lambda _, line: line[:120]),
    },
    "prefixes": {
        "US time": _each(lambda n, line: f"3/2/2026 9:{n // 60 % 60}:{n % 60} AM {line}"),
        "syslog unpadded": _each(lambda n, line: f"Mar 2 9:{n // 60 % 60}:{n % 60} gpu1 train[4242]: {line}"),
        "main thread": _prefix("(main thread) "),
        "MainThread": _prefix("[MainThread] "),
        "Azure error": _prefix("##[error] "),
        "Azure stamp": _each(lambda n, line: f"2026-03-02T04:{n // 60 % 60:02d}:{n % 60:02d}.1234567Z ##[error]{line}"),
        "numbers": _each(lambda n, line: f"{n}: {line}"),
        "numbers in brackets": _each(lambda n, line: f"[{n}] {line}"),
        "diff": _whole(_added),
        "git show": _whole(
            lambda text: f"diff --git a/j.log b/j.log\nnew file mode 100644\nindex 0000000..3b18e51\n{_added(text)}"),
        "quoted and wrapped at 72": _whole(lambda text: "".join(
            f"> {part}\n" for line in _lines(text) for part in textwrap.wrap(
                line, 72, drop_whitespace=True, break_long_words=False, break_on_hyphens=False) or [""])),
        "console": _each(lambda n, line: f"[{n * 7:>5d}.{n % 1000000:06d}] {line}"),
    },
    "characters": {
        "en dash": _whole(lambda text: text.replace("-", "\u2013")),
        "minus": _whole(lambda text: text.replace("-", "\u2212")),
        "hyphen": _whole(lambda text: text.replace("-", "\u2010")),
        "full-width colons": _whole(lambda text: text.replace(":", "\uff1a")),
        "right-to-left": _each(lambda _, line: f"\u202e{line}\u202c"),
        "isolates": _each(lambda _, line: f"\u2066{line}\u2069"),
        "colours without ESC": _each(lambda _, line: f"[32m{line}[0m"),
        "bold without ESC": _each(lambda _, line: f"[1;31m{line}[m"),
        "colours of cat -v": _each(lambda _, line: f"^[[32m{_caret(line)}^[[0m^M"),
        "colours written": _each(lambda _, line: rf"\x1b[32m{line}\x1b[0m"),
        "colours of syslog": _each(lambda _, line: f"#033[32m{line}#033[0m"),
        "cat -A": _each(lambda _, line: _caret(line).replace("\t", "^I") + "$"),
        "cut character": _bytes_at("end", b"\xe4\xb8"),
        "FF FE": _bytes_at("middle", b"\xff\xfe"),
        "replacement": _bytes_at("end", "\ufffd".encode()),
        "surrogate": lambda text: b"\xed\xa0\x80 " + text.encode(),
        "upper case": _whole(str.upper),
    },
    "between": {
        "progress": _between(BAR),
        "another process": _between(WARN),
        "blank lines": _between(""),
        "progress in the line": _each(lambda _, line: f"\r{BAR}\r{line}"),
        "newest first": _whole(lambda text: "".join(
            f"{_at(n)} {line}\n" for n, line in reversed(list(enumerate(_lines(text), 1))))),
    },
}  # fmt: skip
"""The clothes of each class by name."""
