"""What parsers of environments and command lines share: words, which variables are kept, what is secret."""

from __future__ import annotations

import re
import shlex

import msgspec

from ncdiag.spans import Section

LINE_LIMIT = 1 << 16
"""Characters of a line that are read."""
HIDDEN = "***"

_FAMILIES = (
    r"(?:NCCL|RCCL|HCCL|ASCEND|OFI|FI|UCX|UCC|UCS|OMPI|PMIX|PMI|PRTE|HYDRA|MPICH|I_MPI|TORCH|PYTORCH|CUDA|NVIDIA|NVSHMEM"
    r"|GLOO|HOROVOD|SLURM|HSA|ROCR|HIP|ROCM|RDMAV|IBV|MLX5|MLX4|SHARP|EFA)"
)
_OTHERS = (
    r"(?:MASTER_(?:ADDR|PORT)|(?:LOCAL_)?(?:WORLD_SIZE|RANK)|NNODES|(?:NODE|GROUP)_RANK|LD_LIBRARY_PATH|LD_PRELOAD"
    r"|OMP_NUM_THREADS|KUBERNETES_SERVICE_HOST|SLURMD_NODENAME)"
)
KEPT_PATTERN = rf"(?:{_FAMILIES}_[A-Z0-9_]{{1,100}}|{_OTHERS})"
"""The names that are kept, as a pattern for anchors."""

_KEPT = re.compile(rf"{KEPT_PATTERN}$")
_SECRET = re.compile(r"KEY|TOKEN|PASS|SECRET|CREDENTIAL|COOKIE|JWT")
_HARMLESS = re.compile(r"IB_PKEY|MR_KEY_SIZE|TOKENIZER")
_ASSIGNED = re.compile(r"(?<![\w-])(?P<name>[A-Za-z_]\w*)(?P<sep>\s?[=:]\s?)(?P<value>\"[^\"]*\"|'[^']*'|[^\s\"']+)")
_OPTION = re.compile(r"(?<![\w-])(?P<name>--?[A-Za-z][\w-]*)(?P<sep>[= ])(?P<value>\"[^\"]*\"|'[^']*'|[^\s\"']+)")
_USER = re.compile(r"://[^/@\s]{1,200}@")
_TYPOGRAPHY = str.maketrans({"“": '"', "”": '"', "‘": "'", "’": "'", "—": "--", "–": "-", "\u00a0": " "})  # noqa: RUF001


def is_kept(name: str) -> bool:
    """Whether this is a variable of NCCL, of a framework or of a launcher, and no secret."""
    return _KEPT.match(name) is not None and not is_secret(name)


def is_secret(name: str) -> bool:
    """Whether the name of a variable or option promises a key, token, password or the like."""
    return _SECRET.search(_HARMLESS.sub("", name.upper())) is not None


def hide_secrets(text: str) -> str:
    """The line with the values of secret variables and options and the users of URLs replaced by ``***``."""
    if "://" in text:
        text = _USER.sub(f"://{HIDDEN}@", text)
    if is_secret(text):
        text = _OPTION.sub(_hidden, _ASSIGNED.sub(_hidden, text))
    return text


def _hidden(found: re.Match[str]) -> str:
    return f"{found['name']}{found['sep']}{HIDDEN}" if is_secret(found["name"]) else found[0]


def without_secrets(section: Section) -> Section:
    """The section as parsers may see it: overlong lines cut, secrets hidden in its lines and in its command."""
    lines = tuple(hide_secrets(line[:LINE_LIMIT]) for line in section.lines)
    command = hide_secrets(section.command[:LINE_LIMIT]) if section.command else section.command
    return msgspec.structs.replace(section, lines=lines, command=command)


def words(text: str) -> list[str]:
    """Words of a command line, quotes removed (unbalanced ones dropped); ``;``, ``|`` and ``&`` stand alone."""
    text = re.sub(r"\\(?:\s|$)", " ", text[:LINE_LIMIT].translate(_TYPOGRAPHY))
    lexer = shlex.shlex(text, posix=True, punctuation_chars=";|&")
    lexer.whitespace_split = True
    lexer.commenters = ""
    try:
        return list(lexer)
    except ValueError:
        return text.replace('"', "").replace("'", "").split()


def unquoted(value: str) -> str:
    """A value as a shell would assign it: one pair of quotes removed."""
    value = value.strip().translate(_TYPOGRAPHY)
    if len(value) > 1 and value[0] == value[-1] and value[0] in "\"'":
        return value[1:-1]
    return value


def pipeline(command: str | None) -> list[list[str]]:
    """The commands of a pipeline, each as its words; what follows ``;`` or ``&&`` is left out. Empty when unknown."""
    stages: list[list[str]] = [[]]
    for word in words(command or ""):
        if set(word) <= set(";&") or word == "||":
            break
        if word == "|":
            stages.append([])
        else:
            stages[-1].append(word)
    return [stage for stage in stages if stage]
