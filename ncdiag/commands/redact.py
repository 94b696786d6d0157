"""``ncdiag redact FILE``: a paste that can be shown to strangers and still be diagnosed."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ncdiag.base.errors import UsageError
from ncdiag.commands._options import application
from ncdiag.commands._output import pour, say, to_file

if TYPE_CHECKING:
    from ncdiag.apps.redact import Cleaned, Redactor
    from ncdiag.text import Packed, Text

app = application()


@app.command(
    help="Replace addresses, host and user names, GUIDs, UUIDs and serial numbers in FILE (- is standard "
    "input) with placeholders, and remove secrets. Subnets, vendors and device names are kept, so the "
    "result can still be diagnosed. A bundle, an sos report or a recorded tree becomes a redacted "
    "bundle. Redaction is best effort: review the result before you share it.",
)
def redact(
    files: Annotated[list[str], typer.Argument(metavar="FILE...")],
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FILE", help="Write the output to FILE.")
    ] = None,
    map_: Annotated[
        Path | None,
        typer.Option("--map", metavar="FILE", help="Save the mapping in FILE and reuse it next time."),
    ] = None,
    review: Annotated[
        bool,
        typer.Option("--review", help="List the remaining words that may be secrets, with their lines, on stderr."),
    ] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print no notes on standard error.")] = False,
) -> int:
    """Print the cleaned text, several files each under a heading, or write a cleaned bundle."""
    from ncdiag.apps.redact import Redactor, Spooled, cleaned
    from ncdiag.text import Packed, Unreadable, open_sources

    key, mapping, kinds = _known(map_) if map_ else (None, None, None)
    texts: list[Text] = []
    for source in open_sources(files):
        if isinstance(source, Packed):
            redactor = Redactor((), key, mapping, kinds)
            redactor.review = {} if review else None
            _clean_machine(source, files, output, redactor)
            _finish(redactor, map_, quiet=quiet)
            return 0
        if isinstance(source, Unreadable):
            if not quiet:
                say(f"{source.name}: {source.reason}")
        else:
            texts.append(Spooled(source))
    made, redactor = cleaned(texts, key, mapping, kinds)
    redactor.review = {} if review else None
    pour(_headed(made), output)
    _finish(redactor, map_, quiet=quiet)
    return 0 if texts else 3


def _finish(redactor: Redactor, map_: Path | None, *, quiet: bool) -> None:
    """Save the map, and report how much was replaced and what a person should check."""
    _keep(map_, redactor)
    review = redactor.review
    if review is not None:
        words = [f"{place}: {word}" for word, place in review.items()]
        said = "\n  ".join([f"{len(words)} words to check that may be secrets:", *words])
        say(said if words else "no remaining word resembles a secret", lines=True)
    if not quiet:
        counts = [f"{count} {_plural(kind, count)}" for kind, count in sorted(redactor.replaced().items()) if count]
        say(f"replaced: {', '.join(counts) or 'nothing'}")
        say(
            "redaction is best effort: review the result before you share it"
            + (" (--review lists words to check)" if review is None else "")
        )


def _plural(kind: str, count: int) -> str:
    """The name of a kind after a number."""
    return kind if count == 1 else f"{kind}es" if kind.endswith("s") else f"{kind}s"


def _keep(path: Path | None, redactor: Redactor) -> None:
    """Write the map if requested, readable only by its owner."""
    if path:
        held = {"key": redactor.key.hex(), "mapping": redactor.mapping, "kinds": dict(redactor.kinds)}
        to_file([json.dumps(held, indent=1).encode()], path, 0o600)


def _headed(sources: Sequence[Cleaned]) -> Iterator[bytes]:
    """The texts, each under its name when there are several."""
    for number, source in enumerate(sources):
        if len(sources) > 1:
            yield (f"\n==> {source.name} <==\n" if number else f"==> {source.name} <==\n").encode()
        yield from source.buffers()


def _clean_machine(source: Packed, files: list[str], output: Path | None, redactor: Redactor) -> None:
    """Write a bundle, an sos report or a recorded tree as a cleaned bundle."""
    from ncdiag.apps.redact import bundle_cleaned
    from ncdiag.machine import bundle
    from ncdiag.machine.host import bundles_of

    if len(files) > 1:
        msg = f"{source.name} is a recorded host, which must be redacted on its own; give it without other files"
        raise UsageError(msg)
    machines = bundles_of(source)
    if len(machines) != 1:
        msg = f"{source.name} contains {len(machines)} recorded hosts; redact them one at a time"
        raise UsageError(msg)
    bundle.write(bundle_cleaned(machines[0], redactor), output or Path("-"))


def _known(path: Path) -> tuple[bytes | None, dict[str, str] | None, dict[str, str] | None]:
    """Key, stand-ins and their kinds of an earlier run; None if there was none."""
    try:
        held = json.loads(path.read_bytes())
        tables = [{str(name): str(made) for name, made in held[key].items()} for key in ("mapping", "kinds")]
        return bytes.fromhex(held["key"]), tables[0], tables[1]
    except FileNotFoundError:
        return None, None, None
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        msg = f"{path} is not a mapping written by --map"
        raise UsageError(msg) from error
