"""``ncdiag redact FILE``: a paste that can be shown to strangers and still be diagnosed."""

from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path
from typing import Annotated, Any

import typer

from ncdiag.commands._options import application
from ncdiag.commands._output import say, write
from ncdiag.errors import OutputError, UsageError

app = application()


@app.command(
    help="Clean FILE (- is standard input): addresses, names of hosts and users, GUIDs, UUIDs and serial numbers get "
    "stand-ins that keep subnets, vendors and names of devices, so that it can still be diagnosed; secrets are removed."
)
def redact(
    files: Annotated[list[str], typer.Argument(metavar="FILE...")],
    output: Annotated[Path | None, typer.Option("--output", "-o", metavar="FILE", help="Write to FILE.")] = None,
    map_: Annotated[
        Path | None,
        typer.Option("--map", metavar="FILE", help="Keep what became what in FILE, and go on with it the next time."),
    ] = None,
) -> int:
    """Print the cleaned text; several files each under a heading."""
    from ncdiag.redact import cleaned
    from ncdiag.sources.files import open_sources

    key, mapping = _known(map_) if map_ else (None, None)
    readable: list[Any] = []
    for source in open_sources(files):
        reason = getattr(source, "reason", None)
        if reason is None:
            readable.append(source)
        else:
            say(f"{source.name}: {reason}")
    made, redactor = cleaned(readable, key, mapping)
    texts = [b"".join(source.buffers()).decode() for source in made]
    if len(texts) > 1:
        texts = [f"==> {source.name} <==\n{text}" for source, text in zip(made, texts, strict=True)]
    write("\n".join(texts), output, encoding="utf-8")
    if map_:
        _keep(map_, {"key": redactor.key.hex(), "mapping": redactor.mapping})
    return 0 if texts else 3


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


def _keep(path: Path, content: dict[str, Any]) -> None:
    """Write the map, readable by its owner alone."""
    try:
        handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
        with os.fdopen(handle, "w", encoding="utf-8") as target:
            json.dump(content, target, indent=1)
        Path(name).replace(path)
    except OSError as error:
        msg = f"cannot write {path}: {error.strerror or error}"
        raise OutputError(msg) from error
