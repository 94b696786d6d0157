"""Closed loops: what the rules ask for can be read and settles something, what they tell to run was checked.

``ask_for`` is a list of outputs with ``;`` between them, each a command or a few words (`IN_WORDS`), and with the place
behind it in parentheses: ``ip addr; ip route (on every host)``. There is no exception: a parser reads each of them.
``commands`` and ``confirm`` may name commands that are for a person's eyes only; ``eyes_only.toml`` lists these with
the reason, one entry for a program in place of a mark at each of the many rules that name it.
"""

from __future__ import annotations

import ast
import functools
import re
import shutil
import subprocess
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest
from book import rules
from specimens import FIXTURES, read, sections
from tenth import tenth

from ncdiag import catalogue
from ncdiag.base import toml
from ncdiag.engine.quality import outcome
from ncdiag.engine.schema import Rule
from ncdiag.facts.view import View
from ncdiag.nccl import environment
from ncdiag.parsers import discover
from ncdiag.report.build import LOOKED_AT
from ncdiag.text.reading.given import given
from ncdiag.text.reading.job import facts_of
from ncdiag.text.reading.one import read_source
from ncdiag.text.sections.kinds import Kinds
from ncdiag.text.sections.prompt import prompt
from ncdiag.text.sources.files import TextSource

PACKAGE = Path(catalogue.__file__).parent
KINDS = Kinds(discover().values())
NCCL_LOG = "nccl_log"

IN_WORDS = {
    r"NCCL_DEBUG=\S+(?: NCCL_DEBUG_SUBSYS=\S+)? output\b": {NCCL_LOG},
    r"the log (?:of|with|and)\b|the (?:NET/IB : )?Using .*\bline of": {NCCL_LOG},
    r"the dump files of all ranks|its flight recorder dump": {"flight_recorder", "fr_trace"},
    r"the plog of ": {"text"},
    r"the launch command\b|the docker run line or the manifest": {"launch", "k8s_manifest", "slurm_script"},
    r"the hostfile\b": {"hostfile"},
    r"(?:a|the) table of throughput\b": {"throughput"},
    r"the (?:last )?(?:output|lines)\b|the launcher's own output\b|the output of mpirun\b": {"text", "traceback"},
}
"""What is asked for in words, and the section kinds in which the answer is read."""

_PROSE = """
the a an no all each every one eight any nothing there its it after with without not busbw init latency width speed
status NCCL NET/IB localRanks nranks Remapped #wrong scaling_governor np_ecn_marked_roce_packets import oom_kill
init_process_group nccl-tests NVSHMEM's slower so later then times only
"""
PROSE = frozenset(_PROSE.split())
"""How a sentence begins that is about the job and its log and names no command."""


def outside_quotes(text: str, separators: str) -> list[str]:
    """The parts between separators that stand outside of quotes and brackets."""
    parts, quote, depth = [""], "", 0
    for piece in re.findall(rf"{separators}|.", text, re.DOTALL):
        if quote:
            quote = "" if piece == quote else quote
        elif piece in {"'", '"'}:
            quote = piece
        elif piece in {"(", ")"}:
            depth += 1 if piece == "(" else -1
        elif depth == 0 and re.fullmatch(separators, piece):
            parts.append("")
            continue
        parts[-1] += piece
    return [part.strip() for part in parts if part.strip()]


def pieces(ask_for: str) -> list[str]:
    """The outputs that are asked for, without the places."""
    bare = (re.sub(r"\s*\([^()]*\)$", "", part) for part in outside_quotes(ask_for, ";"))
    return [re.sub(r"^(?:or|and) ", "", part) for part in bare]


def commands_in(line: str) -> list[str]:
    """The commands of a line of the shell: each part of a list, the first of a pipeline, the body of a loop."""
    filled = re.sub(r"\{\{|\}\}", "", re.sub(r"\{[\w.]+\}", "PROGRAM", line))
    parts = (outside_quotes(part, r"\|")[0] for part in outside_quotes(filled, r"&&|\|\||;"))
    bodies = (re.sub(r"^(?:do|sudo) ", "", part) for part in parts)
    settings = r"^(?:[A-Z_][A-Z0-9_]*=\S*\s*)+"
    return [bare for body in bodies if (bare := re.sub(settings, "", body)) and not re.match(r"for |done$|<", bare)]


@functools.cache
def shown() -> dict[str, set[str]]:
    """The kinds of section that begin right below a command in a specimen: how outputs of files are told apart."""
    found: dict[str, set[str]] = defaultdict(set)
    for path in FIXTURES.glob("*/*.txt"):
        lines = read(path)
        below = {section.first_line: section.kind for section in sections(lines) if section.kind != "text"}
        for number, line in enumerate(lines, 1):
            echo = prompt(line.strip())
            if echo and number + 1 in below:
                found[echo.command].add(below[number + 1])
    return found


def kinds_of(piece: str) -> set[str]:
    """The kinds of section in which an answer is read; empty when nothing reads it."""
    worded = next((kinds for pattern, kinds in IN_WORDS.items() if re.match(pattern, piece)), None)
    if worded is not None:
        return worded
    kind = KINDS.of_command(piece)
    by_specimen = re.sub(r"<[^<>]+>", "w0", piece)
    return {kind} if kind else shown().get(piece, set()) | shown().get(by_specimen, set())


def eyes_only() -> dict[tuple[str, ...], str]:
    """The commands of ``eyes_only.toml``, by words."""
    groups = toml.loads((Path(__file__).parent / "eyes_only.toml").read_text(encoding="utf-8"))["group"]
    return {tuple(command.split()): group["why"] for group in groups for command in group["commands"]}


def entry_of(command: str) -> tuple[str, ...] | None:
    """The entry of the table that a command falls under."""
    words = tuple(command.split())
    words = (words[0].removeprefix("/usr/sbin/"), *words[1:])
    return next((e for e in sorted(eyes_only(), key=len, reverse=True) if _begins(words, e)), None)


def _begins(words: Sequence[str], entry: Sequence[str]) -> bool:
    exact, last = words[: len(entry) - 1] == tuple(entry[:-1]), words[len(entry) - 1 : len(entry)]
    is_path = entry[-1].startswith("/")
    return exact and bool(last) and (last[0].startswith(entry[-1]) if is_path else last[0] == entry[-1])


def asks_of_code() -> Iterator[tuple[str, str]]:
    """What the package itself asks for, in ``ask_for=`` and the constants named there, with the module's name."""
    for path in PACKAGE.rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        tree = ast.parse(text) if "ask_for=" in text else ast.Module([], [])
        nodes = list(ast.walk(tree))
        constants = {
            n.targets[0].id: n.value for n in nodes if isinstance(n, ast.Assign) and isinstance(n.targets[0], ast.Name)
        }
        for value in (k.value for n in nodes if isinstance(n, ast.Call) for k in n.keywords if k.arg == "ask_for"):
            named = (constants[n.id] for n in ast.walk(value) if isinstance(n, ast.Name) and n.id in constants)
            yield from ((path.name, asked) for node in (value, *named) for asked in _texts(node))


def _texts(node: ast.AST) -> Iterator[str]:
    """The texts of an expression, a word for what an f-string fills in."""
    if isinstance(node, ast.JoinedStr):
        yield "".join(str(part.value) if isinstance(part, ast.Constant) else "w0" for part in node.values)
    elif isinstance(node, ast.Constant):
        yield from [node.value] if isinstance(node.value, str) else []
    else:
        for child in ast.iter_child_nodes(node):
            yield from _texts(child)


@functools.cache
def understood() -> frozenset[str]:
    """The commands below which, in a specimen or an example, something is observed."""
    examples = (
        text.split("\n") for rule in rules() for e in rule.examples for texts in e.sections.values() for text in texts
    )
    found = set()
    for lines in (*map(read, FIXTURES.glob("*/*.txt")), *examples):
        prompts = {number: echo.command for number, line in enumerate(lines, 1) if (echo := prompt(line.strip()))}
        for section in sections(lines):
            if section.kind != "text" and discover()[section.kind].parse(section).observations:
                found.add(section.command or prompts.get(section.first_line - 1, ""))
    return frozenset(command.removeprefix("sudo ") for command in found)


def as_asked(piece: str) -> re.Pattern[str]:
    """A command with anything in place of its ``<holes>``."""
    parts = re.split(r"<[^<>]+>", piece.removeprefix("sudo "))
    return re.compile(r"\S+".join(map(re.escape, parts)) + "$")


def is_modprobe(words: Sequence[str]) -> bool:
    """What stands behind the module are its parameters, unless all words are modules (-a, -r; modprobe(8))."""
    plain = [word for word in words[1:] if not word.startswith("-")]
    every = {"-a", "-r", "--all", "--remove"} & set(words)
    return bool(plain) and (bool(every) or all("=" in word for word in plain[1:]))


def verdict(rule: Rule, texts: dict[str, tuple[str, ...]], host: str | None) -> str:
    """The outcome of a rule on texts by section kind."""
    return outcome(rule, View(facts_of(texts, host), environment.resolve_fields))


@functools.cache
def turned_by(name: str) -> frozenset[str]:
    """The section kinds without which an example of the rule, judged with them, comes out otherwise."""
    rule = next(rule for rule in rules() if rule.name == name)
    return frozenset(
        kind
        for example in rule.examples
        for kind in example.sections
        if example.outcome != "unknown"
        and verdict(rule, {k: texts for k, texts in example.sections.items() if k != kind}, example.host)
        != example.outcome
    )


def asking() -> list[Rule]:
    return [rule for rule in rules() if rule.asks]


def test_what_a_rule_asks_for_is_read() -> None:
    asked = {rule.name: [piece for ask in rule.asks for piece in pieces(ask.ask_for)] for rule in asking()}
    unread = {(name, piece) for name, held in asked.items() for piece in held if not kinds_of(piece)}
    assert unread == set(), "ask for the output of a command that a parser reads (COMMANDS of ncdiag/parsers)"
    assert {kind for held in asked.values() for piece in held for kind in kinds_of(piece)} <= {*discover(), NCCL_LOG}


def test_every_command_that_is_asked_for_was_tried() -> None:
    asked = {piece for rule in asking() for ask in rule.asks for piece in pieces(ask.ask_for)}
    commands = {piece for piece in asked if not any(re.match(words, piece) for words in IN_WORDS)}
    untried = {piece for piece in commands if not any(as_asked(piece).match(echoed) for echoed in understood())}
    assert untried == set(), "show each in a specimen, or in an example of a rule, with what it prints"


@pytest.mark.sweep
def test_what_a_rule_asks_for_settles_it() -> None:
    idle = set()
    for rule in tenth(asking(), lambda rule: rule.name):
        if not any(example.outcome == "unknown" for example in rule.examples):
            continue  # it is never open, and nothing is asked for
        causes = [other for other in rules() if rule.name in other.explains] if rule.role == "symptom" else []
        settling = {kind for other in (rule, *causes) for kind in turned_by(other.name)}
        for ask in rule.asks:
            if not settling & {kind for piece in pieces(ask.ask_for) for kind in kinds_of(piece)}:
                idle.add((rule.name, ask.ask_for))
    assert idle == set(), "show by an example that the outcome turns on it, or ask for what it turns on"


def test_what_the_package_itself_asks_for_is_read() -> None:
    found = list(asks_of_code())
    assert len(found) > 20, "the walk sees them"
    assert [(place, text) for place, text in found if not all(map(kinds_of, pieces(text)))] == []


def test_what_was_not_looked_at_can_be_read() -> None:
    told = {words[1]: kinds for phrase, kinds in LOOKED_AT if (words := re.search(r"\((.+)\)$", phrase))}
    assert len(told) > 5
    assert {command: kinds_of(command) for command, kinds in told.items() if not kinds_of(command) & kinds} == {}


def told_to_run() -> set[tuple[str, str]]:
    """The commands that the fixes of a rule name."""
    lines = ((rule.name, line) for rule in rules() for fix in rule.fixes for line in fix.commands)
    return {(name, command) for name, line in lines for command in commands_in(line)}


def told_to_look() -> set[tuple[str, str]]:
    """The parts of a rule's ``confirm`` that begin with a command, as far as nobody knows better."""
    texts = ((rule.name, fix.confirm) for rule in rules() for fix in rule.fixes)
    clauses = ((name, clause) for name, text in texts for clause in re.split(r"; |, and ", text) if clause)
    return {(name, clause) for name, clause in clauses if clause.split(" ")[0] not in PROSE}


def test_what_a_rule_tells_to_run_or_to_look_at_is_read_or_for_eyes_only() -> None:
    told = told_to_run() | told_to_look()
    unread = {(name, text) for name, text in told if not (kinds_of(text) or entry_of(text))}
    assert unread == set(), (
        "no parser reads what it prints: add its first words to a group of tests/rules/eyes_only.toml"
    )


def test_what_is_for_eyes_only_is_told_and_read_by_nothing() -> None:
    used = {entry_of(text) for _, text in told_to_run() | told_to_look() if not kinds_of(text)}
    assert set(eyes_only()) - used == set()
    assert [entry for entry in eyes_only() if KINDS.of_command(" ".join(entry))] == []


def test_the_shell_understands_every_command(need: Callable[[str, object, str], None]) -> None:
    need("bash", shutil.which("bash"), "bash is not installed")
    lines = [line for rule in rules() for fix in rule.fixes for line in fix.commands]
    filled = (re.sub(r"<[A-Za-z][^<>]*>", "value", re.sub(r"\{[\w.]+\}", "value", line)) for line in lines)
    script = "\n".join(line.replace("{{", "{").replace("}}", "}") for line in filled)
    tried = subprocess.run(["bash", "-n"], input=script, capture_output=True, text=True, check=False)
    assert (tried.returncode, tried.stderr) == (0, "")


def test_no_command_is_a_sentence_about_its_output() -> None:
    lines = [line for rule in rules() for fix in rule.fixes for line in fix.commands]
    assert [line for line in [*lines, "lsmod shows the module"] if is_sentence(line)] == ["lsmod shows the module"]


def is_sentence(line: str) -> bool:
    """True if a line of the shell says, outside quotes, places to fill and comments, what a command prints."""
    bare = re.sub(r"""<[^<>]*>|'[^']*'|"[^"]*"|#.*""", "", line)
    return re.search(r"\b(shows|prints|says|lists|reports|names|is|are|the)\b", bare) is not None


def test_modprobe_is_given_one_module_and_its_parameters() -> None:
    lines = [line for rule in rules() for fix in rule.fixes for line in fix.commands]
    calls = [command.split() for line in lines for command in commands_in(line) if command.startswith("modprobe")]
    assert len(calls) > 3
    assert [words for words in calls if not is_modprobe(words)] == []
    assert is_modprobe(["modprobe", "-a", "a", "b"])
    assert is_modprobe(["modprobe", "-r", "a", "b"])
    assert is_modprobe(["modprobe", "a", "x=1"])
    assert not is_modprobe(["modprobe", "a", "b"])


def requests() -> set[str]:
    """Everything that rules, suspects and the package ask for, but questions that a word answers, and whole logs."""
    asked = {ask.ask_for for rule in rules() for ask in rule.asks} | {text for _, text in asks_of_code()}
    asked |= {text for rule in rules() for text in _asks_of_suspect(rule)}
    return {text for text in asked if text and not text.endswith("?") and _COMMAND.match(text)}


_COMMAND = re.compile(r"(?!the |a |NCCL_DEBUG|srun |Is |Does |Do |Are )[a-z]")
"""A request that begins with a command that prints nothing but what it was asked for."""


def _asks_of_suspect(rule: Rule) -> Iterator[str]:
    if rule.suspect is not None:
        yield from (text for text in (rule.suspect.ask, *(sign.ask for sign in rule.signs)) if text)


def test_nothing_is_asked_for_again_whatever_it_printed() -> None:
    again = set()
    for request in requests():
        text = ""
        for piece in pieces(re.sub(r", (?:on|in|inside|over) [^;]*$", "", request)):
            text += f"$ {re.sub(r'<[^<>]+>', 'w0', piece)}\nsome words 17 that nobody reads\nand more\n"
        if given([read_source(TextSource.of_bytes("paste", text.encode()))], frozenset()).rest(request):
            again.add(request)
    assert again == set()
    assert len(requests()) > 100
