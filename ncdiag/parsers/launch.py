"""Command lines that start a job, over several lines or wrapped, several in one (srun torchrun).

mpirun, mpiexec, horovodrun, torchrun, torch.distributed, srun, deepspeed, accelerate, docker and podman run,
nccl-tests, and any program with variables of NCCL before it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from ncdiag.base.patterns import lazy_regex
from ncdiag.base.spans import Section, Span, span
from ncdiag.facts.observe import Observation, Parsed
from ncdiag.formats.launch_words import Command, by_environment, read_command
from ncdiag.formats.launchers import NCCL_TESTS, find
from ncdiag.formats.shell import LINE_LIMIT, hide_secrets, is_variable, without_secrets, words

KIND = "launch"
COMMANDS: tuple[str, ...] = ()
_DASH = r"(?:-{1,2}[A-Za-z]|[\u2013\u2014])"  # also the dashes that word processors make of --
_MPI = (
    r"(?:mpirun|mpiexec(?:\.hydra|\.mpich)?|orterun|prterun|horovodrun|srun|salloc|sbatch)"
    rf"[ \t]+(?:{_DASH}|\\|\$|\.{{0,2}}/|[A-Za-z_]\w*="
    r"|(?:python[\d.]{0,5}|bash|sh|torchrun|singularity|apptainer)[ \t]"
    rf"|[\w./-]{{1,100}}\.(?:py|sh)\b|{NCCL_TESTS}\b)"
)
_TORCH = rf"(?:torchrun|deepspeed|fleetrun|msrun)[ \t]+(?:{_DASH}|\\|\$|\S{{1,200}}\.py\b)"
_SAID = (
    r"(?![^:\n]{0,80}\b(?i:usage|try|tried|e\.g|example|should|could|would|can|instead|without|please|recommend\w*"
    r"|suggest\w*|docs?|help|hint|error|warning)\b)[A-Za-z][\w ,.()'-]{0,80}:[ \t]+"
)
"""A person's words before the command: ``started on n1 with: ``, ``on each host: ``; not advice."""
_DASHES = "-", "\u2013", "\u2014"
_FLAG = r"(?:-[A-Za-z]{1,3}[ \t]+)?"
_MODULE = (
    r"(?:python[\d.]{0,5}|accelerate)[ \t]+"
    rf"(?:launch[ \t]+\S|{_FLAG}{_FLAG}(?:torch\.distributed\.(?:launch|run)|paddle\.distributed\.launch)\b)"
)
_DOCKER = r"(?:docker|podman|nvidia-docker|nerdctl)[ \t]+(?:container[ \t]+)?run[ \t]+(?:-|\\)"
_TESTS = rf"{NCCL_TESTS}[ \t]+-[a-zA-Z]"
_FOLDER = r"(?:[\w./~$}{-]{1,200}/)?"
_WRAPPER = (
    r"(?:kubectl[ \t]+exec|(?:docker|podman|nerdctl)[ \t]+exec|(?:singularity|apptainer)[ \t]+(?:exec|run)"
    r"|nsys[ \t]+profile|numactl|ssh|(?:ba)?sh[ \t]+-l?c)"
)
"""What starts a launcher, in a container or on another host."""
_BEHIND = r"[^\s|;&]{0,2000}(?=[ \t]).{0,2000}?"  # the value, and whatever comes before the program
_ASSIGNED = rf"[A-Z][A-Za-z0-9_]{{1,60}}={_BEHIND}[ \t/]"
_STARTER = (
    r"(?:llamafactory-cli|xtuner|swift|vllm|sglang|lmdeploy|axolotl|colossalai|fairseq-train|trtllm-serve"
    r"|trl[ \t]+vllm-serve)[ \t]+[a-z/-]"
)
"""Programs that start the processes themselves, a training or a server, as variables say that are set before them."""
_MODULES = r"python3?[ \t]+-m[ \t]+(?:vllm\.entrypoints|sglang\.launch_server)"
_SERVER = rf"(?:trl vllm-serve|vllm serve|{_MODULES}\S*)[ \t]+\S"
_SETTINGS = r"(?:[A-Z][A-Za-z0-9_]{1,60}=[^\s|;&]{0,200}[ \t]{1,8}){1,16}"
_PLACED = (
    rf"(?:{_SETTINGS})?(?:NNODES|NODE_RANK|MASTER_ADDR|NPROC_PER_NODE)=[^\s|;&]{{0,200}}[ \t]{{1,8}}(?:{_SETTINGS})?"
    r"(?:(?:ba)?sh[ \t]+\S{1,200}\.sh\b|python[\d.]{0,5}[ \t]+\S|\\$)"
)
"""A script, with variables before it that say how many hosts there are, which this one is, and where they meet."""
_SET_ABOVE = (
    r"(?:NCCL|RCCL|UCX|TORCH|CUDA_VISIBLE|HIP_VISIBLE|ROCR_VISIBLE)_[A-Z0-9_]{1,60}=[^\s|;&]{0,200}[ \t]{1,8}"
    rf"(?:{_SETTINGS})?\\$"
)
"""A line with only variables that ends in a backslash: the program is on a line below."""
_PROGRAM = rf"_[A-Z0-9_]{{1,60}}={_BEHIND}[ \t](?:\./|/|python[\d.]{{0,5}}[ \t]|ucx_perftest[ \t]|ib_\w{{4,16}}[ \t])\S"
_OPENED = r"(?:`(?=[^`\n]{0,400}\\[ \t]{0,8}$))?"
"""A backtick before a command that goes on behind a backslash, and ends with the other one."""
_BEFORE = rf"[ \t]{{0,24}}{_OPENED}(?:(?:sudo|time|nohup|exec|env)[ \t]+(?:-E[ \t]+)?)?"
ANCHOR = (
    rf"{_BEFORE}(?:(?:{_FOLDER}|{_SAID}|{_WRAPPER}(?:[ \t].{{0,400}}?)?[ \t][\"']?|{_ASSIGNED})"
    rf"(?:{_MPI}|{_TORCH}|{_MODULE}|{_TESTS})"
    rf"|(?:{_FOLDER}|{_SAID}|{_ASSIGNED}){_DOCKER}"
    rf"|(?:NCCL|RCCL|CUDA|UCX|TORCH){_PROGRAM})|{_BEFORE}FI{_PROGRAM}"
    rf"|{_BEFORE}{_SETTINGS}{_STARTER}|{_BEFORE}{_SERVER}|{_BEFORE}{_PLACED}|{_BEFORE}{_SET_ABOVE}"
)
STRUCTURE = " \t`efnst"

_OPTION = lazy_regex(r"\s*(?:-{1,2}|[\u2013\u2014])[A-Za-z][\w.-]*(?:[ \t=]|$)")
_PATH = lazy_regex(r"[ \t]+(?:\.{0,2}/\S|python[\d.]*[ \t])")
_CUT = lazy_regex(r"\\[ \t]+$")
_OPEN = lazy_regex(r"(?:\s-{1,2}(?:x|e|env|mca|H|host|hosts|np|n|hostfile)|[,=])\s*$")
_BEGIN = lazy_regex(ANCHOR)
_SERVES = lazy_regex(_SERVER)
_TEST = lazy_regex(rf"{NCCL_TESTS}$")
_LAUNCHERS = (
    "mpirun",
    "mpiexec",
    "torchrun",
    "torch.distributed",
    "srun",
    "deepspeed",
    "accelerate",
    "horovodrun",
    "docker",
    "_perf",
)
_LINES = 200
_TEXT = 4000
_WORDS = 16
"""Words of what a launcher starts that may hold the name of its script."""
_DEPTH = 4
"""Launchers in one line: docker, srun, mpirun, torchrun."""


def continues(lines: Sequence[str], line: str) -> bool:
    """The line behind a backslash, and wrapped ones: options, a value that is waited for, the program itself."""
    if not lines or len(lines) > _LINES or not line.strip():
        return bool(lines) and not line.strip() and lines[-1].rstrip().endswith("\\") and len(lines) <= _LINES
    last = lines[-1].rstrip()
    if last.endswith("\\"):
        return True
    if _BEGIN.match(line) and not _OPTION.match(line):
        return False
    if _OPTION.match(line):
        return True
    return _OPEN.search(last) is not None or (len(lines) > 1 and _PATH.match(line) is not None)


def parse(section: Section) -> Parsed:
    """A launch for each launcher of the line (the outermost first), and a setting for each variable that it sets."""
    raw = [line[:LINE_LIMIT] for line in section.lines]
    section = without_secrets(section)
    lines = list(section.lines)
    if section.command and not (lines and section.command in lines[0]):
        lines.insert(0, section.command)
        raw.insert(0, section.command)
    if not lines:
        return Parsed()
    text = hide_secrets(_unquoted(_unbroken(raw, lines).lstrip("+ ")))
    place = section.span(0) if section.lines else span(section.source, section.first_line, text)
    found = list(_commands(text))
    observations = [o for command in found for o in _observations(section, place, command, text, cut_after(lines))]
    unread = () if found else tuple(i for i, line in enumerate(section.lines) if line.strip())
    return Parsed(observations=tuple(observations), unread=unread)


def _unquoted(text: str) -> str:
    """The command without the backticks around it, and what follows them."""
    return text[1:].partition("`")[0] if text.startswith("`") else text


_SPAN = lazy_regex(r"`([^`]{8,1000})`")
_ASKED = lazy_regex(r"(?i)\?|\b(?:should|could|would|instead of|such as|e\.g\.)\s|\uff1f")
"""A sentence that asks about a command or proposes one."""


_RAN = lazy_regex(
    r"(?i)\b(?:run(?:s|ning)?|ran|launch(?:es|ed|ing)?|start(?:s|ed|ing)?|execut(?:es?|ed|ing)|us(?:es?|ed|ing)|command|with)"
    r"(?:\s(?:it|this|the|my|our|following|same|nccl|test|job|command|script|line|by|as|with|using|via|is|was)){0,6}:?\s+(?=\S)"
)
"""The words before a command that a person says was run."""
_UNSAID = lazy_regex(
    r"(?i)\b(?:you|please|should|could|would|can|may|might|try\s|let'?s|never|without|not|no|instead|e\.g|such\sas|if|docs?"
    r"|says?)\b|n['\u2019]t\b"
)
"""Words of advice, of a question, a plan or a denial before a command."""
_WORKS = lazy_regex(r"(?i)\b(?:works?|worked|runs?\sfine|ran\sfine|succe\w{1,10}|no\s(?:problem|error)\w?)\b")
"""Words of a run that ended well: what it sets is no fault."""
_TRIES = 4
"""Places of a sentence at which a command may begin."""


def quoted(section: Section, index: int) -> list[Observation]:
    """The launches of the commands that a person quotes in backticks, or says without them after a verb: ``I run ...``.

    None of a line that asks or proposes.
    """
    line = section.lines[index]
    if "`" not in line:
        text = _said_to_run(line)
        return [] if text is None else _launches(section, index, text)
    if _ASKED.search(_SPAN.sub("", line)):
        return []
    return [o for text in _SPAN.findall(line) if _BEGIN.match(text) for o in _launches(section, index, text)]


def _launches(section: Section, index: int, text: str) -> list[Observation]:
    return [o for c in _commands(text) for o in _observations(section, section.span(index), c, text)]


def may_quote(line: str) -> bool:
    """True if the line may quote a command: a fast test."""
    return "`" in line or ((" -" in line or "=" in line) and any(map(line.__contains__, _LAUNCHERS)))


def _said_to_run(line: str) -> str | None:
    """The rest of a sentence from the command on that it says was run; None without one."""
    if len(line) > _TEXT or line.rstrip().endswith(("?", "\uff1f")) or _BEGIN.match(line) or _WORKS.search(line):
        return None
    for verb in list(_RAN.finditer(line))[:_TRIES]:
        if _UNSAID.search(line[: verb.end()]):
            return None
        if _BEGIN.match(text := line[verb.end() :]) and not text[0].isspace():
            return text
    return None


def cut_after(lines: Sequence[str]) -> str:
    """The last word of the first line whose backslash is not its last character: there the shell ends the command.

    Empty where each backslash is the last one.
    """
    cut = next(filter(_CUT.search, lines[:-1]), "")
    return (cut.rstrip().removesuffix("\\").split() or [""])[-1]


def _unbroken(lines: Sequence[str], hidden: Sequence[str]) -> str:
    """The lines as one, without the backslash at their end, and the ``> `` with which a shell asks for the next line.

    As in a shell, a word goes on in the next line if there is no blank on either side. An option begins a word in any
    case, as pastes lose indentation; and a secret goes on in any case. ``hidden``: the lines without their secrets.
    """
    text, goes_on, in_secret = "", False, False
    for line, shown in zip(lines, hidden, strict=True):
        part = line.rstrip()
        if goes_on and part.lstrip().startswith(">"):
            part = part.lstrip()[1:].removeprefix(" ")
        if in_secret:
            part = part.lstrip()
        joins = goes_on and not (part[:1].isspace() or text[-1:].isspace() or part.startswith(_DASHES))
        rest = part.removesuffix("\\")
        text = text + rest if joins else f"{text.rstrip()} {rest.lstrip()}"
        goes_on = part.endswith("\\")
        in_secret = goes_on and not shown.rstrip().endswith("\\")
    return text.strip()


def _commands(text: str) -> Iterator[Command]:
    """Launchers of a command line, from the outside in; settings before one or before what it starts are its own."""
    tokens = words(text)
    env: dict[str, str] = {}
    position = depth = 0
    while position < len(tokens) and depth < _DEPTH:
        word = tokens[position]
        here = find(tokens, position)
        if here and depth and _TEST.match(here[0]):
            return  # what the launcher starts, no launcher itself
        if here:
            command, position = read_command(tokens, here)
            inner, position = _assignments(tokens, position)
            command.env.update(inner)
            command.started_with(env)
            inside = find(tokens, position)
            if inside is None or _TEST.match(inside[0]):
                _started(command, word, _until_next(tokens, position))
            env, depth = {}, depth + 1
            yield command
            continue
        found, behind = _assignments(tokens, position)
        if behind > position:
            env.update(found)
            position = behind
        elif " " in word and any(name in word for name in _LAUNCHERS):  # bash -c "..."
            tokens[position : position + 1] = words(word)
        elif not depth and (env or (not position and _SERVES.match(text))) and not set(word) <= set(";&|"):
            yield by_environment(Command(program=word.rsplit("/", 1)[-1], env=env, prefix_env=env))
            return
        else:
            position += 1


_INTERPRETER = lazy_regex(r"(?:.*/)?(?:python[\d.]{0,5}|bash|sh)$")
_LAUNCHES_SCRIPTS = frozenset(
    {"torchrun", "torch.distributed.run", "torch.distributed.launch", "torch.distributed.elastic", "deepspeed",
     "accelerate launch"}
)  # fmt: skip


def _started(command: Command, own: str, words: list[str]) -> None:
    """Store the executable and the script of a command: ``own`` is its own word, ``words`` are those after its options.

    A launcher that runs Python scripts is itself the executable; ``-m`` names a module, which has no path.
    """
    if "no_ssh" in command.given:
        command.fields["agent"] = "none"
    if command.program in _LAUNCHES_SCRIPTS:
        command.fields["executable"] = own
        if words[:1] and not {"m", "module", "no_python"} & set(command.given):
            command.fields["script"] = words[0]
    elif words:
        command.fields["executable"] = words[0]
        script = _script(words[1:]) if _INTERPRETER.match(words[0]) else None
        if script:
            command.fields["script"] = script


def _script(words: list[str]) -> str | None:
    """The script given to an interpreter; None for a module, for inline code, and if it is unclear."""
    for position, word in enumerate(words):
        if word in {"-W", "-X"} or (position and words[position - 1] in {"-W", "-X"}):
            continue
        if not word.startswith("-"):
            return word
        if word in {"-m", "-c"}:
            return None
    return None


def _until_next(tokens: Sequence[str], position: int) -> list[str]:
    """The words from a position to the end of the command; nothing of a quoted one for a shell."""
    found: list[str] = []
    for word in tokens[position : position + _WORDS]:
        if set(word) <= set(";&|") or word.startswith((">", "<", "2>")) or " " in word:
            break
        found.append(word)
    return found


def _assignments(tokens: Sequence[str], position: int) -> tuple[dict[str, str], int]:
    """``A=1 B=2`` or ``env A=1 B=2`` from a position on, and the position behind them."""
    found: dict[str, str] = {}
    at = position + 1 if tokens[position : position + 1] == ["env"] else position
    while at < len(tokens):
        name, equals, value = tokens[at].partition("=")
        if not equals or not name.isidentifier():
            break
        found[name] = value
        at += 1
    return found, at if found else position


def _observations(section: Section, place: Span, command: Command, text: str, cut: str = "") -> Iterator[Observation]:
    fields: dict[str, Any] = {
        "program": command.program,
        "text": text[:_TEXT],
        "cut_after": cut or None,
        **command.fields,
    }
    if section.host:
        fields["host"] = section.host
    kept = {name: value for name, value in command.env.items() if is_variable(name)}
    prefix = {name: value for name, value in command.prefix_env.items() if is_variable(name)}
    fields.update(
        env=kept, prefix_env=prefix, forwarded=[name for name in dict.fromkeys(command.forwarded) if is_variable(name)]
    )
    fields.update(hosts=command.hosts, mca=command.mca)
    yield Observation(
        entity="Launch",
        span=place,
        standing="manifest",
        fields={k: v for k, v in fields.items() if v not in (None, {}, [])},
    )
    for name, value in {**prefix, **kept}.items():
        everywhere = command.spreads and name in kept
        yield Observation(
            entity="Setting", key=(name,), host=None if everywhere else section.host, span=place, standing="manifest",
            fields={"is_set": True, "text": value, "origin": "launcher", **({"launched": value} if everywhere else {})},
        )  # fmt: skip
