"""``ncdiag redact FILE``: a paste that can be shown to strangers and still be diagnosed."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ncdiag.commands._options import application
from ncdiag.commands._output import pour, say, to_file
from ncdiag.errors import UsageError

if TYPE_CHECKING:
    from ncdiag.redact import Cleaned, Redactor
    from ncdiag.sources.model import Packed, Text

app = application()


@app.command(
    help="Clean FILE (- is standard input): addresses, names of hosts and users, GUIDs, UUIDs and serial numbers get "
    "stand-ins that keep subnets, vendors and names of devices, so that it can still be diagnosed; secrets are removed."
    " A bundle, an sos report or a recorded tree becomes a cleaned bundle.",
)
def redact(
    files: Annotated[list[str], typer.Argument(metavar="FILE...")],
    output: Annotated[Path | None, typer.Option("--output", "-o", metavar="FILE", help="Write to FILE.")] = None,
    map_: Annotated[
        Path | None,
        typer.Option("--map", metavar="FILE", help="Keep what became what in FILE, and go on with it the next time."),
    ] = None,
) -> int:
    """Print the cleaned text, several files each under a heading, or write a cleaned bundle."""
    from ncdiag.redact import Redactor, cleaned
    from ncdiag.redact.spool import Spooled
    from ncdiag.sources.files import open_sources
    from ncdiag.sources.model import Packed, Unreadable

    key, mapping = _known(map_) if map_ else (None, None)
    texts: list[Text] = []
    for source in open_sources(files):
        if isinstance(source, Packed):
            redactor = Redactor((), key, mapping)
            _clean_machine(source, files, output, redactor)
            _keep(map_, redactor)
            return 0
        if isinstance(source, Unreadable):
            say(f"{source.name}: {source.reason}")
        else:
            texts.append(Spooled(source))
    made, redactor = cleaned(texts, key, mapping)
    pour(_headed(made), output)
    _keep(map_, redactor)
    return 0 if texts else 3


def _keep(path: Path | None, redactor: Redactor) -> None:
    """Write the map where one is wanted, readable by its owner alone."""
    if path:
        held = {"key": redactor.key.hex(), "mapping": redactor.mapping}
        to_file([json.dumps(held, indent=1).encode()], path, 0o600)


def _headed(sources: Sequence[Cleaned]) -> Iterator[bytes]:
    """The texts, each under its name when there are several."""
    for number, source in enumerate(sources):
        if len(sources) > 1:
            yield (f"\n==> {source.name} <==\n" if number else f"==> {source.name} <==\n").encode()
        yield from source.buffers()


def _clean_machine(source: Packed, files: list[str], output: Path | None, redactor: Redactor) -> None:
    """A bundle, a report of sos or a recorded tree as a cleaned bundle."""
    from ncdiag.machine import bundle
    from ncdiag.machine.host import bundles_of
    from ncdiag.redact import bundle_cleaned

    if len(files) > 1:
        msg = f"{source.name} holds a machine, which is cleaned alone; give it without the other files"
        raise UsageError(msg)
    machines = bundles_of(source)
    if len(machines) != 1:
        msg = f"{source.name} holds {len(machines)} machines; clean them one by one"
        raise UsageError(msg)
    bundle.write(bundle_cleaned(machines[0], redactor), output or Path("-"))


def _known(path: Path) -> tuple[bytes | None, dict[str, str] | None]:
    """Key and stand-ins of an earlier run; nothing when there was none."""
    try:
        held = json.loads(path.read_bytes())
        return bytes.fromhex(held["key"]), {str(name): str(made) for name, made in held["mapping"].items()}
    except FileNotFoundError:
        return None, None
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        msg = f"{path} is no map of an earlier run"
        raise UsageError(msg) from error
