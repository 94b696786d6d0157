"""Find the variables that Python programs set for themselves and for the processes that they start.

Found in the syntax tree, without running the program: ``os.environ[...] = ...``, ``os.environ.setdefault``, ``update``
and ``|=``, ``os.putenv``, dictionaries whose name or place makes them an environment, ``NAME=VALUE`` among the words of
a command, and commands in ``os.system`` or ``subprocess``. A value that is not a literal is unknown. Sources:
docs.python.org, os and subprocess.
"""

from __future__ import annotations

import ast
import bisect
import itertools
import re
import warnings

from ncdiag.apps.lint import masks, shell
from ncdiag.apps.lint.findings import finding
from ncdiag.apps.lint.model import Document, Edit, Place, Setting
from ncdiag.apps.lint.vocabulary import is_setting, sets_variables
from ncdiag.base.patterns import lazy_regex
from ncdiag.formats.launchers import find

_DEPTH = 60
_LIMIT = 2000
_CONDITION = 200
_ENVIRON = lazy_regex(r"(?:os\.)?environb?$")
_ENVIRONMENT = lazy_regex(r"(?i)(?:^|_)env(?:s|iron|ironment)?(?:_?vars?|_?variables|_?dict)?(?:$|_)")
"""Names of dictionaries, arguments and methods that contain or take an environment."""
_ABOUT = lazy_regex(r"(?i)(?:^|_)(?:help|docs?|desc\w*|types?|valid|allowed|choices)(?:$|_)")
"""Words in the name of a dictionary that describes variables and sets none."""
_INIT = "init_process_group"
_SETTERS = {"putenv", "setenv", "setdefault"}
_COMMANDS = lazy_regex(
    r"(?:os\.(?:system|popen)|(?:subprocess\.)?(?:run|call|check_call|check_output|Popen|getoutput|getstatusoutput))$"
)
_PAIR = lazy_regex(r"(?P<name>[A-Z][A-Z0-9_]{2,100})=(?P<value>.*)", re.DOTALL)


def read(document: Document) -> str | None:
    """Parse the program into the document; returns the reason if it is not valid Python."""
    text = document.text.encode("utf-8", "replace").decode("utf-8")  # the same length, without lone surrogates
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(text)
    except SyntaxError as error:
        return f"it is not Python 3 (line {error.lineno or 1})"
    except (ValueError, RecursionError, MemoryError):
        return "it cannot be read as Python"
    reader = _Reader(document, text)
    reader.body(tree, 0, 0, "")
    lines = {document.line(each.name_at.start) for each in document.settings if each.value is None}
    document.unknown = tuple(sorted(lines))
    document.script = masks.applied(document.script or text, reader.remarks)
    return None


class _Reader:
    """``groups`` is the last number of an environment: each dictionary and function has one, the module has 0.

    ``inits``: by environment, the line on which the process group is created.
    """

    def __init__(self, document: Document, text: str) -> None:
        self.document, self.text = document, text
        self.starts = [0, *(found.end() for found in re.finditer(r"\r\n?|\n", text))]
        self.groups = 0
        self.columns: tuple[int, list[int] | None] = (0, None)
        self.seen: set[int] = set()
        self.remarks: list[tuple[int, str]] = []
        self.named: dict[tuple[int, str], int] = {}
        self.inits: dict[int, int] = {}

    def body(self, node: ast.AST, group: int, depth: int, branch: str) -> None:
        """Process everything below a node, in the order of the text."""
        if depth > _DEPTH or len(self.document.settings) >= _LIMIT:
            return
        for child in ast.iter_child_nodes(node):
            inner, condition = group, branch
            if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
                inner = self.apart()
            elif isinstance(child, ast.If | ast.IfExp | ast.Match):
                condition = self.condition(child)
            self.look(child, inner, condition)
            self.body(child, inner, depth + 1, condition)

    def apart(self) -> int:
        self.groups += 1
        return self.groups

    def condition(self, node: ast.If | ast.IfExp | ast.Match) -> str:
        start = self.offset(node.lineno, node.col_offset)
        return self.text[start : start + _CONDITION].split("\n", 1)[0]

    def look(self, node: ast.AST, group: int, branch: str) -> None:
        """Add the variables that this node sets."""
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            at = self.place(node.value)
            self.remarks.append((at.start, re.sub(r"[^\n]", " ", self.text[at.start : at.end])))
        elif isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
            for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
                self.assigned(target, node.value, group, branch)
        elif isinstance(node, ast.Call):
            self.called(node, group, branch)
        elif isinstance(node, ast.List | ast.Tuple):
            self.words(node, branch)
        else:
            self.joined(node, group, branch)

    def joined(self, node: ast.AST, group: int, branch: str) -> None:
        """Process operands merged with an environment (``|``, ``|=``, ``**``), and a dictionary with such a key."""
        if isinstance(node, ast.Dict):
            pairs = list(zip(node.keys, node.values, strict=True))
            for key, value in pairs:
                if key is not None and _ENVIRONMENT.search(_text(key) or ""):
                    self.mapping(value, self.apart(), branch)
            if any(key is None and self.is_environment(value) for key, value in pairs):
                self.mapping(node, self.apart(), branch)
        elif isinstance(node, ast.AugAssign | ast.BinOp) and isinstance(node.op, ast.BitOr):
            left, right = (node.target, node.value) if isinstance(node, ast.AugAssign) else (node.left, node.right)
            if self.is_environment(left):
                own = self.group_of(left, group) if isinstance(node, ast.AugAssign) else self.apart()
                self.mapping(right, own, branch)

    def assigned(self, target: ast.expr, value: ast.expr, group: int, branch: str) -> None:
        """``os.environ["NAME"] = value``, ``env["NAME"] = value``, ``env = {...}``."""
        if isinstance(target, ast.Subscript) and self.is_environment(target.value):
            self.add(target.slice, value, self.group_of(target.value, group), branch)
            if _ENVIRON.search(_name(target.value)):
                self.judged(target.slice, value, group)
        elif _is_environments(_name(target).rpartition(".")[2]):
            self.mapping(value, self.apart(), branch)

    def judged(self, key: ast.expr, value: ast.expr, group: int) -> None:
        """Report an assignment to ``os.environ`` that fails, or that comes after NCCL has read the variable."""
        name, at = _text(key), self.place(value)
        if name is None or not is_setting(name):
            return
        if isinstance(value, ast.Constant) and isinstance(value.value, int):
            what = f"os.environ takes only text, and {value.value!r} is not text: TypeError"
            text = Edit(at.start, at.end, f'"{int(value.value)}"')
            found = finding("environ-value-not-text", at, variable=name, what=what, edits=(text,), fixable=True)
            self.document.found.append(found)
        if group in self.inits:
            what = f"{name} is set after init_process_group (line {self.inits[group]}) and has no effect"
            self.document.found.append(finding("set-after-init", self.place(key), variable=name, what=what))

    def called(self, node: ast.Call, group: int, branch: str) -> None:
        name = _name(node.func)
        owner, _, method = name.rpartition(".")
        if method == _INIT:
            self.inits.setdefault(group, node.lineno)
        given = node.args
        is_own = self.is_environment(node.func)
        if (method in _SETTERS and (owner in {"os", "monkeypatch"} or is_own)) or (method == "update" and is_own):
            self.taken(node, self.group_of(node.func, group), branch)
        elif _is_environments(method) or (method == "dict" and any(map(self.is_environment, given))):
            self.taken(node, self.apart(), branch)
        for keyword in node.keywords:
            if keyword.arg and _is_environments(keyword.arg):
                self.mapping(keyword.value, self.apart(), branch)
        if _COMMANDS.search(name):
            for argument in given[:1]:
                self.command(argument)

    def taken(self, node: ast.Call, group: int, branch: str) -> None:
        """Process a call that adds to an environment: a name and a value, dictionaries, keywords.

        ``putenv(NAME, value)``, ``image.env({...})``, ``task.with_env(NAME=value)``, ``patch.dict(os.environ, {...})``.
        """
        given = node.args
        if len(given) > 1:
            self.add(given[0], given[1], group, branch)
        for argument in given:
            self.mapping(argument, group, branch)
        self.keywords(node, group, branch)

    def is_environment(self, node: ast.expr) -> bool:
        """True if an expression is an environment, or a method of one."""
        name = _owner(node)
        return _ENVIRON.search(name) is not None or _is_environments(name.rpartition(".")[2])

    def group_of(self, node: ast.expr, group: int) -> int:
        """The number of an environment: each scope has one for the process, and one per name of a dictionary."""
        name = _owner(node)
        if name == "os" or _ENVIRON.search(name):
            return group
        if (group, name) not in self.named:
            self.named[group, name] = self.apart()
        return self.named[group, name]

    def mapping(self, node: ast.expr, group: int, branch: str) -> None:
        """Add the pairs of a dictionary, written in braces or as a call of ``dict``."""
        if isinstance(node, ast.Dict):
            for key, value in zip(node.keys, node.values, strict=True):
                if key is not None:
                    self.add(key, value, group, branch)
        elif isinstance(node, ast.Call) and _name(node.func) == "dict":
            self.keywords(node, group, branch)

    def keywords(self, node: ast.Call, group: int, branch: str) -> None:
        for keyword in node.keywords:
            if keyword.arg and is_setting(keyword.arg):
                start = self.offset(keyword.lineno, keyword.col_offset)
                self.setting(Place(start, start + len(keyword.arg)), keyword.value, group, branch)

    def add(self, key: ast.expr, value: ast.expr, group: int, branch: str) -> None:
        name = _text(key)
        if name is None or not is_setting(name):
            return
        at = self.place(key)
        start = self.text.find(name, at.start, at.end)
        if start >= 0:
            self.setting(Place(start, start + len(name)), value, group, branch)

    def setting(self, at: Place, value: ast.expr, group: int, branch: str) -> None:
        if at.start in self.seen:
            return
        self.seen.add(at.start)
        text = _text(value)
        whole = self.place(value)
        simple = text is not None and re.fullmatch(r"\"[^\"\\\n]*\"|'[^'\\\n]*'", self.text[whole.start : whole.end])
        self.document.settings.append(
            Setting(
                name=self.text[at.start : at.end], value=text, name_at=at, value_at=whole,
                quoting="yaml" if simple else "none", group=group, branch=branch,
            )
        )  # fmt: skip

    def words(self, node: ast.List | ast.Tuple, branch: str) -> None:
        """``["mpirun", "-x", "NAME=VALUE", ...]``."""
        texts = [_text(item) for item in node.elts]
        own = 0
        for number, (item, text) in enumerate(zip(node.elts, texts, strict=True)):
            found = _PAIR.fullmatch(text or "")
            before = texts[number - 1] if number else None
            if found is None or not is_setting(found["name"]) or before not in {"-x", "-e", "--env", "-env", "env"}:
                continue
            at = self.place(item)
            start = self.text.find(f"{found['name']}={found['value']}", at.start, at.end)
            if start < 0:
                continue
            own = own or self.apart()
            split = start + len(found["name"]) + 1
            self.document.settings.append(
                Setting(
                    name=found["name"], value=found["value"], name_at=Place(start, split - 1), group=own, reaches="all",
                    value_at=Place(split, split + len(found["value"])), quoting="bare", branch=branch,
                )
            )  # fmt: skip

    def command(self, node: ast.expr) -> None:
        """Parse a text that is passed to a shell, or the list of a launcher's words, at its place in the program."""
        if isinstance(node, ast.List | ast.Tuple):
            self.launched(node)
            return
        text = _text(node)
        if text is None or not (sets_variables(text) or find(text.split(), 0)):
            return
        at = self.place(node)
        start = self.text.find(text, at.start, at.end)
        if start >= 0:
            shell.read(self.document, Place(start, start + len(text)), self.apart())

    def launched(self, node: ast.List | ast.Tuple) -> None:
        """``subprocess.run(["torchrun", "--nnodes=2", ...])``; a word that the program makes is a variable's value."""
        words = [_word(item) for item in node.elts]
        if len(words) < 2 or find(words, 0) is None:  # noqa: PLR2004  (a name alone starts nothing)
            return
        at = self.place(node)
        line = " ".join(words)
        if len(line) <= at.end - at.start:
            script = self.document.script or self.text
            self.document.script = masks.applied(script, [(at.start, line.ljust(at.end - at.start))])
            shell.read(self.document, at, self.apart())

    def place(self, node: ast.expr) -> Place:
        start = self.offset(node.lineno, node.col_offset)
        return Place(start, self.offset(node.end_lineno or node.lineno, node.end_col_offset or node.col_offset))

    def offset(self, line: int, column: int) -> int:
        """The offset of a position in the syntax tree, whose columns are bytes of UTF-8."""
        start = self.starts[min(line, len(self.starts)) - 1]
        if self.columns[0] != line:  # a line can be as long as the file, and hold thousands of places
            stop = self.starts[line] if line < len(self.starts) else len(self.text)
            text = self.text[start:stop]
            ends = None if text.isascii() else [*itertools.accumulate(len(letter.encode()) for letter in text)]
            self.columns = line, ends
        ends = self.columns[1]
        return start + (column if ends is None else bisect.bisect_right(ends, column))


def _word(node: ast.expr) -> str:
    """A word of a command as a shell would write it; what is known only at run time is a variable."""
    if isinstance(node, ast.JoinedStr) and node.values:
        text = f"{_text(node.values[0]) or ''}$_"
    else:
        text = "python" if _name(node) == "sys.executable" else _text(node) or "$_"
    return text if re.fullmatch(r"[\w@%+=:,./^~$-]+", text) else "$_"


def _is_environments(word: str) -> bool:
    """True if a dictionary, an argument or a method with this name contains or takes an environment."""
    return _ENVIRONMENT.search(word) is not None and _ABOUT.search(word) is None


def _name(node: ast.expr) -> str:
    """The dotted name of an expression such as ``os.environ``; calls are ignored. Empty for others."""
    parts: list[str] = []
    for _ in range(8):
        if isinstance(node, ast.Attribute):
            parts.append(node.attr)
            node = node.value
        elif isinstance(node, ast.Call):
            node = node.func
        elif isinstance(node, ast.Name):
            parts.append(node.id)
            break
        else:
            break
    return ".".join(reversed(parts))


def _owner(node: ast.expr) -> str:
    """The name of a dictionary, of which the node may be a method."""
    name = _name(node)
    owner, _, last = name.rpartition(".")
    return owner if last in {"copy", "update", *_SETTERS} else name


def _text(node: ast.expr) -> str | None:
    """The text of a literal, or of ``str`` of one; None if it is known only at run time."""
    if isinstance(node, ast.Call) and _name(node.func) == "str" and len(node.args) == 1 and not node.keywords:
        node = node.args[0]
    if not isinstance(node, ast.Constant) or not isinstance(node.value, str | int) or isinstance(node.value, bool):
        return None
    try:
        return str(node.value)
    except ValueError:  # Python converts no integer of more than 4300 digits
        return None
