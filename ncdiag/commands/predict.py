"""``ncdiag predict [FILE...]``: what NCCL would choose, and why."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from ncdiag.base.errors import NOTHING_UNDERSTOOD
from ncdiag.commands._options import Lang, application, language_of
from ncdiag.commands._output import for_people, write

if TYPE_CHECKING:
    from ncdiag.facts.model import Job
    from ncdiag.facts.scalars import Version
    from ncdiag.nccl.on_host.predicting import Prediction

app = application()


@app.command(
    help="Show which interfaces, network, RDMA ports and GID NCCL would choose, whether it would use "
    "GPUDirect RDMA, and why. Reads FILE (logs, tool output) or this host. Runs no job and needs no GPU."
)
def predict(  # noqa: PLR0917  (typer's parameters)
    files: Annotated[list[str] | None, typer.Argument(metavar="[FILE... | live]")] = None,
    nccl: Annotated[
        list[str] | None,
        typer.Option(metavar="VERSION", help="NCCL version to predict for (repeat to compare versions)."),
    ] = None,
    env: Annotated[
        list[str] | None, typer.Option(metavar="NAME=VALUE", help="Also set this variable (repeatable).")
    ] = None,
    root: Annotated[
        Path, typer.Option(metavar="DIR", help="Read a recorded tree (/sys, /proc, /etc) instead of this host.")
    ] = Path("/"),
    format_: Annotated[Literal["text", "json"], typer.Option("--format", help="Output format.")] = "text",
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FILE", help="Write the output to FILE.")
    ] = None,
    ask_nccl: Annotated[
        bool,
        typer.Option(
            "--ask-nccl/--no-nccl", help="On this host, load the installed NCCL and ask which interface it picks."
        ),
    ] = True,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print no notes on standard error.")] = False,
    lang: Lang = None,
) -> int:
    """Print the prediction."""
    import json

    from ncdiag.commands._judge import told
    from ncdiag.facts.view import View
    from ncdiag.language import ENGLISH, say, speak
    from ncdiag.machine.inputs import inputs_or_host
    from ncdiag.nccl import environment
    from ncdiag.nccl.on_host.predicting import predict as predicted
    from ncdiag.report import prediction
    from ncdiag.report.sanitize import json_escapes
    from ncdiag.text import read_all

    speak(language_of(lang) if format_ == "text" else ENGLISH)  # JSON is for programs
    releases = [_version(text) for text in nccl or ()]
    changed = dict(map(_assignment, env or ()))
    items = inputs_or_host(files or (), root, ask_library=ask_nccl)
    job = read_all(told(items, quiet=quiet)).job()
    found = predicted(View(job, environment.resolve_fields), releases, changed)
    found = tuple(_marked(one, job, changed) for one in found)
    if format_ == "json":
        text = json_escapes(json.dumps(prediction.as_json(found), ensure_ascii=False, indent=1)) + "\n"
        write(text, output, encoding="utf-8")
    else:
        for_people(prediction.as_text(found) or say("no host was recognised in the input") + "\n", output)
    return 0 if found else NOTHING_UNDERSTOOD


def _marked(one: Prediction, job: Job, changed: Mapping[str, str]) -> Prediction:
    """The prediction with the known defects that the host meets with that release and these variables."""
    import msgspec

    from ncdiag.engine.fields import read
    from ncdiag.facts.model import Setting
    from ncdiag.facts.scalars import VersionRange
    from ncdiag.facts.view import View

    version = VersionRange.exact(one.nccl_version) if one.nccl_version else None
    host = next((host for host in job.hosts if host.name == one.host), None)
    if version is None or host is None:
        return one
    settings = {name: Setting(name=name, text=text, is_set=True) for name, text in changed.items()}
    host = msgspec.structs.replace(host, nccl_version=version, settings=host.settings | settings)
    others = tuple(host if other.name == one.host else other for other in job.hosts)
    met = read(host, "met_defects", View(msgspec.structs.replace(job, hosts=others)))
    return msgspec.structs.replace(one, known_defects=tuple(met or ()))


def _version(text: str) -> Version:
    from ncdiag.base.errors import UsageError
    from ncdiag.facts.scalars import Version

    version = Version.parse(text)
    if version is None:
        msg = f"{text!r} is not an NCCL version (example: 2.18.3)"
        raise UsageError(msg)
    return version


def _assignment(text: str) -> tuple[str, str]:
    from ncdiag.base.errors import UsageError

    name, equals, value = text.partition("=")
    if not equals or not name:
        msg = f"{text!r} is not an assignment (example: NCCL_SOCKET_IFNAME=eth0)"
        raise UsageError(msg)
    return name, value
