"""``ncdiag rules list|show|test``: the rule book."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ncdiag.commands._options import application
from ncdiag.commands._output import write
from ncdiag.report.sanitize import clean

app = application(help="Open the rule book. List the rules, show one, or run their examples.", no_args_is_help=True)

Folders = Annotated[list[Path] | None, typer.Option("--rules", metavar="DIR", help="Add the rules of this folder.")]


@app.command("list", help="List all rules. One a line: code, severity, role, name, title.")
def list_rules(rules: Folders = None) -> int:
    """Print the table of rules."""
    from ncdiag import catalogue
    from ncdiag.commands import _rulebook

    write(clean(_rulebook.table(catalogue.rules(rules or ()))), None)
    return 0


@app.command(help="Show one rule. What it looks for, why, when it may be wrong, what to do.")
def show(rule: Annotated[str, typer.Argument(metavar="RULE")], rules: Folders = None) -> int:
    """Print the page of a rule."""
    from ncdiag.commands import _rulebook

    write(clean(_rulebook.page(_rulebook.find(rule, rules or ()))), None)
    return 0


@app.command(
    "test", help="Run the examples of rules. Of all shipped rules, of those named, or of those of --rules DIR."
)
def run_examples(
    names: Annotated[list[str] | None, typer.Argument(metavar="[RULE...]")] = None, rules: Folders = None
) -> int:
    """Check rules against their own examples; 1 when something is wrong."""
    from ncdiag import catalogue
    from ncdiag.commands import _rulebook
    from ncdiag.diagnose import view_of
    from ncdiag.engine.load import load_folder
    from ncdiag.engine.quality import problems
    from ncdiag.read import facts_of

    catalogue.rules(rules or ())  # refuses a folder that is none, and names that are taken
    wanted = {_rulebook.find(name, rules or ()).name for name in names or ()}
    known = catalogue.names()
    loaded = [rule for folder in rules or [catalogue.rules_dir()] for rule in load_folder(folder, known)]
    chosen = [rule for rule in loaded if not wanted or rule.name in wanted]
    found = problems(chosen, facts_of, view_of)
    examples = sum(len(rule.examples) for rule in chosen)
    lines = [*found, f"{len(chosen)} rules, {examples} examples, {len(found)} problems"]
    write(clean("".join(f"{line}\n" for line in lines)), None)
    return 1 if found else 0
