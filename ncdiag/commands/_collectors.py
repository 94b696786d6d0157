"""The table that ``check --list`` prints."""

from __future__ import annotations

from collections.abc import Iterator

from ncdiag.commands._output import for_terminal
from ncdiag.machine.command import collectors
from ncdiag.machine.live import DEADLINE

_HEAD = ("what", "root", "limit", "from")


def listing() -> str:
    """All collectors, one per line, each followed by its reason.

    Readers of files share the deadline of the inspection.
    """
    rows = list(_rows())
    columns = [max(len(row[0][i]) for row in [(_HEAD, ""), *rows]) for i in range(3)]
    lines = []
    for cells, why in [(_HEAD, ""), *rows]:
        padded = [cell.ljust(width) for cell, width in zip(cells[:3], columns, strict=True)]
        lines.append("  ".join([*padded, cells[3]]).rstrip())
        if why:
            lines.append(f"    {why}")
    lines.append("")
    lines.append(
        f"The whole collection takes at most {DEADLINE:g} s; a source that does not answer in time counts as not seen."
    )
    return for_terminal("\n".join(lines) + "\n")


def _rows() -> Iterator[tuple[tuple[str, str, str, str], str]]:
    """((what, root needed, time limit, file or command), why)."""
    table = collectors()
    for reader in table.reader:
        files = ", ".join(f"/{path}" for path in reader.files)
        yield (reader.what, _root(needed=reader.root), f"{DEADLINE:g} s", files), reader.why
    for asked in table.asked:
        yield (asked.what, _root(needed=asked.root), f"{asked.limit:g} s", asked.source), asked.why
    for command in table.command:
        notes = [f"only if no file shows it ({command.unless})"] if command.unless else []
        notes += [f"if {command.instead_of} fails"] if command.instead_of else []
        notes += [f"only if present: {' or '.join(command.needs)}"] if command.needs else []
        yield (command.why, _root(needed=command.root), f"{command.limit:g} s", command.line), "; ".join(notes)


def _root(*, needed: bool) -> str:
    return "root" if needed else "-"
