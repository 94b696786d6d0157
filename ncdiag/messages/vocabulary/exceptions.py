"""Exceptions that end a rank: errors in its own work, as opposed to reports that another rank is lost."""

from __future__ import annotations

from ncdiag.base.patterns import lazy_regex
from ncdiag.facts.derived import derived
from ncdiag.facts.model import Event
from ncdiag.facts.view import View
from ncdiag.facts.vocabulary.outcome import is_open_failure

EXCEPTION = "python-exception"
_OWN = frozenset({
    "AssertionError", "AttributeError", "FileExistsError", "FileNotFoundError", "FloatingPointError", "ImportError",
    "IndentationError", "IndexError", "IsADirectoryError", "JSONDecodeError", "KeyError", "LookupError", "MemoryError",
    "ModuleNotFoundError", "NameError", "NotADirectoryError", "NotImplementedError", "OverflowError", "PermissionError",
    "RecursionError", "SyntaxError", "TypeError", "UnboundLocalError", "UnicodeDecodeError",
    "UnicodeEncodeError", "UnpicklingError", "ValueError", "ZeroDivisionError",
})  # fmt: skip
"""Python's own exceptions that no library raises for a peer or a device, whatever their text."""
_MISTAKES = frozenset({
    "AttributeError", "IndentationError", "IndexError", "KeyError", "NameError", "NotImplementedError",
    "RecursionError", "SyntaxError", "TypeError", "UnboundLocalError", "UnicodeDecodeError", "UnicodeEncodeError",
    "ZeroDivisionError",
})  # fmt: skip
"""Those of them that the program's code or its data raises: no file, device, peer or network does."""
_LOST_CLASS = r"""
    # PyTorch, Ray, Horovod, vLLM and NCCL's bindings for a process group or a process that is lost
    Dist\w*Error | ChildFailed\w* | Rendezvous\w* | Process(?:Raised|Exited|Lookup)\w* | \w*Signal\w*
  | (?:Ray|Actor|Worker|Node|Owner|Raylet|Engine|Agent)\w*(?:Error|Exception)
  | Nccl\w* | NCCL\w* | Horovod\w* | Hosts\w* | \w*(?:Died|Dead)\w*
"""
_LOST_WORDS = r"""\b(?:nccl\w* | rccl | hccl | gloo | c10d\w* | tcpstore | process\s?group\w* | communicators?)\b"""
_LOST = lazy_regex(rf"(?ix) {_LOST_WORDS}"), lazy_regex(rf"(?x) {_LOST_CLASS}")
_ECHO_CLASS = lazy_regex(
    rf"""(?x) {_LOST_CLASS}
    # Python for a connection, a process or a person that is gone
  | Connection\w* | BrokenPipe\w* | BrokenProcessPool\w* | BrokenBarrier\w* | EOFError | \w*Timeout\w* | \w*TimedOut\w*
  | CalledProcess\w* | Subprocess\w* | KeyboardInterrupt | SystemExit | GeneratorExit | Cancelled\w*
    """
)
_ECHO_WORDS = lazy_regex(
    r"""(?ix)
    \b(?:nccl\w* | rccl | hccl | gloo | c10d\w* | tcpstore | rendezvous | process\s?group\w* | communicators?
      | collectives? | monitored_?barrier | all_?reduce | all_?gather | peers? | remote | sockets? | connections?
      | broken\spipe | recv | handshake | heartbeats? | time[sd]?\s?-?out | died | dead | killed | sigkill | sigterm
      | aborted | actors? | unavailable | shut\s?down
      | (?:rank|worker|process)\s(?:\d+\s)?(?:failed|exited|lost|is\sgone|terminated))\b
    """
)
_TEXT = 120


def is_pythons(event: Event) -> bool:
    """Is it one of Python's own exceptions, which no library raises for a lost peer?"""
    return event.event == EXCEPTION and _name(event) in _OWN


def is_mistake(event: Event) -> bool:
    """Is it an exception that only the code or the data of the program raises, and that ended it?

    One that came up in the handling of another, or that Python ignored, did not.
    """
    return event.event == EXCEPTION and _name(event) in _MISTAKES and not event.fields.get("aside")


def is_of_a_loss(event: Event) -> bool:
    """Is it an exception by which a library for communication says that a call failed or a process is lost?"""
    if event.event != EXCEPTION or is_pythons(event):
        return False
    words, names = _LOST
    return names.fullmatch(_name(event)) is not None or words.search(str(event.fields.get("error", ""))) is not None


def _name(event: Event) -> str:
    return str(event.fields.get("exception", "")).rpartition(".")[2]


@derived
def is_own_exception(event: Event, view: View) -> bool:
    """Did a program end with an unhandled exception in its own work?

    Other libraries raise any class for a lost peer; exceptions that are not Python's own are classified by their words.
    """
    if event.event != EXCEPTION or not is_open_failure(event, view):
        return False
    if is_pythons(event):
        return True
    return not _ECHO_CLASS.fullmatch(_name(event)) and not _ECHO_WORDS.search(str(event.fields.get("error", "")))


def exception_text(event: Event) -> str:
    """The exception as text, shortened: ``ValueError: not a number``."""
    said = f"{event.fields['exception']}: {event.fields.get('error', '')}".rstrip(": ")
    return said if len(said) <= _TEXT else f"{said[: _TEXT - 4].rstrip()} ..."
