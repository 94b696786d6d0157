"""``ncdiag rules list|show|test|new|number|facts|pages``: the rule book."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from ncdiag.commands._options import Lang, Language, application, language_of, packs
from ncdiag.commands._output import for_people, write
from ncdiag.report.sanitize import clean

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

    from ncdiag.engine.schema import Rule

app = application(help="List, show, test and create rules.", no_args_is_help=True)

Folders = Annotated[
    list[Path] | None, typer.Option("--rules", metavar="DIR", help="Also use the rules in this folder (repeatable).")
]


@app.command("list", help="List all rules. One per line, with code, severity, role, name and title.")
def list_rules(
    rules: Folders = None,
    format_: Annotated[Literal["text", "json"], typer.Option("--format", help="Output format.")] = "text",
    lang: Lang = None,
) -> int:
    """Print the table of rules."""
    from ncdiag import catalogue
    from ncdiag.apps.explaining import rule_text

    folders = packs(rules)
    language = language_of(lang or (None if format_ == "text" else Language.en))
    book = catalogue.localised(catalogue.rules(folders), language, folders)
    if format_ == "json":
        import json

        from ncdiag.report.sanitize import json_escapes

        told = [
            {name: getattr(rule, name) for name in ("code", "name", "area", "severity", "role", "title")}
            for rule in book
        ]
        write(json_escapes(json.dumps({"schema_version": 1, "rules": told}, ensure_ascii=False, indent=1)) + "\n", None)
        return 0
    for_people(rule_text.table(book), None)
    return 0


@app.command(help="Show one rule. Prints its conditions, reason, false positives and fixes.")
def show(rule: Annotated[str, typer.Argument(metavar="RULE")], rules: Folders = None, lang: Lang = None) -> int:
    """Print the page of a rule."""
    from ncdiag import catalogue
    from ncdiag.apps.explaining import rule_text
    from ncdiag.language import speak

    folders = packs(rules)
    speak(language := language_of(lang))
    found = rule_text.find(rule, catalogue.rules(folders))
    for_people(rule_text.page(*catalogue.localised([found], language, folders)), None)
    return 0


@app.command(
    "test",
    help="Run the examples of rules. Of all built-in rules, of the named ones, or of those in DIR. Exit code "
    "1 if an example fails.",
)
def run_examples(
    names: Annotated[list[str] | None, typer.Argument(metavar="[RULE|DIR...]")] = None, rules: Folders = None
) -> int:
    """Check rules against their own examples; 1 when something is wrong."""
    from ncdiag import catalogue
    from ncdiag.apps.explaining import rule_text
    from ncdiag.diagnose import look, view_of
    from ncdiag.engine.quality import problems
    from ncdiag.suspects import quality as signs
    from ncdiag.text import facts_of

    folders = [*(rules or ()), *(Path(name) for name in names or () if Path(name).is_dir())]
    words = [name for name in names or () if not Path(name).is_dir()]
    loaded = _loaded(folders)
    book = catalogue.rules(folders)  # raises if a name is taken
    wanted = {rule_text.find(word, book).name for word in words}
    chosen = [rule for rule in loaded if not wanted or rule.name in wanted]
    found = [*problems(chosen, facts_of, view_of, book), *signs.problems(chosen, look)]
    found += _translation_problems(chosen, folders or [catalogue.rules_dir()])
    examples, count = sum(len(rule.examples) for rule in chosen), sum(len(rule.signs) for rule in chosen)
    signs_too = f", {count} signs" if count else ""
    lines = [*found, f"{len(chosen)} rules, {examples} examples{signs_too}, {len(found)} problems"]
    write(clean("".join(f"{line}\n" for line in lines)), None)
    return 1 if found else 0


def _translation_problems(rules: Iterable[Rule], folders: Iterable[Path]) -> Iterator[str]:
    """Faults of the translations of the rules."""
    from ncdiag import catalogue
    from ncdiag.engine.translation_quality import problems
    from ncdiag.language import ENGLISH, LANGUAGES

    held = list(folders)
    for code in LANGUAGES:
        said = {} if code == ENGLISH else {n: t for each in held for n, t in catalogue.translations(code, each).items()}
        for rule in rules:
            if rule.name in said:
                yield from (
                    f"{rule.code} {rule.name}: text.{code}: {found}" for found in problems(rule, said[rule.name])
                )


def _loaded(folders: Collection[Path]) -> list[Rule]:
    """The rules of the folders, or the shipped ones if none is given, with their examples.

    Raises UsageError for a folder without rules, and one DefinitionError for all invalid files.
    """
    from ncdiag import catalogue
    from ncdiag.base import compiled
    from ncdiag.base.errors import DefinitionError, UsageError
    from ncdiag.engine.examples import orphans
    from ncdiag.engine.load import load_file, rule_files

    if not folders and not compiled.is_checkout():
        return list(catalogue.rules_with_examples())
    known = catalogue.names()
    loaded: list[Rule] = []
    wrong: list[str] = []
    for folder in folders or [catalogue.rules_dir()]:
        if not folder.is_dir() or not rule_files(folder):
            msg = f"{folder} is not a folder of rules (it has no <area>/<name>.toml)"
            raise UsageError(msg)
        for path in rule_files(folder):
            try:
                loaded.append(load_file(path, known))
            except DefinitionError as error:  # noqa: PERF203  (all of them are told, not only the first)
                wrong.append(str(error))
        wrong += [f"{path}: there is no rule beside these examples" for path in orphans(folder)]
    if wrong:
        raise DefinitionError("\n".join(wrong))
    return loaded


@app.command("new", help="Create a rule to edit. Writes DIR/<area>/NAME.toml, complete, with passing examples.")
def new_rule(
    name: Annotated[str, typer.Argument(metavar="NAME")],
    folder: Annotated[Path, typer.Option("--in", metavar="DIR", help="Folder of your rules.")] = Path("site-rules"),
    area: Annotated[str, typer.Option(metavar="AREA", help="Subfolder for the rule.")] = "site",
    prefix: Annotated[
        str | None, typer.Option(metavar="LETTERS", help="Prefix of your rule codes.", show_default="SITE")
    ] = None,
) -> int:
    """Write the files of a rule; one that exists is never overwritten.

    In the folder of the shipped rules it is one of them: with a suspect, a file of examples, and no number yet.
    """
    from ncdiag import catalogue
    from ncdiag.engine.examples import file_of
    from ncdiag.engine.new_rule import write_rule, write_shipped

    known = catalogue.rules([folder] if folder.is_dir() else ())
    if catalogue.is_shipped(folder):
        path = write_shipped(folder, area, name, prefix or "NCD", known)
        lines = [f"{path}", f"{file_of(path)}", f"test it: ncdiag rules test {name}"]
        lines.append(f"once it is merged: ncdiag rules number --in {folder}")
    else:
        path = write_rule(folder, area, name, prefix or "SITE", known)
        lines = [f"{path}", f"test it: ncdiag rules test {folder}", f"use it: ncdiag check --rules {folder}"]
    write(clean("".join(f"{line}\n" for line in lines)), None)
    return 0


@app.command(
    "number", help="Assign codes to new rules. Each rule in DIR with a code like NCD??? gets the next free code."
)
def number_rules(
    folder: Annotated[Path, typer.Option("--in", metavar="DIR", help="Folder of the rules.")] = Path("site-rules"),
) -> int:
    """Write the codes, and print each with its rule."""
    from ncdiag import catalogue
    from ncdiag.engine.codes import number
    from ncdiag.engine.load import rule_files

    taken = {rule.code for rule in catalogue.rules([folder])}
    made = number(rule_files(folder), taken)
    write(clean("".join(f"{code} {path}\n" for code, path in made) or "every rule has a code\n"), None)
    return 0


@app.command(
    help="Write a reference of all facts. Markdown, with the stored and derived fields of every type that rules "
    "can use."
)
def facts(
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FILE", help="Write the output to FILE.")
    ] = None,
) -> int:
    """Print the reference of facts."""
    from ncdiag.apps.explaining import facts as reference

    write(reference.page(), output, encoding="utf-8")
    return 0


@app.command(help="Write the rule pages. One Markdown page per rule, and an index, in DIR.")
def pages(folder: Annotated[Path, typer.Argument(metavar="DIR")], rules: Folders = None) -> int:
    """Write a page for each rule; pages of rules that are gone are removed."""
    from ncdiag.apps.explaining import rule_pages

    count = rule_pages.write_pages(_loaded(rules or ()), folder)
    write(clean(f"{count} pages in {folder}\n"), None)
    return 0
