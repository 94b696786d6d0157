"""Which variables are kept, and what is secret: the same on a bare node and where texts are read."""

import re

LINE_LIMIT = 1 << 16
"""Maximum number of characters of a line that are read."""
HIDDEN = "***"

_FAMILIES = (
    r"(?:NCCL|RCCL|HCCL|ASCEND|OFI|FI|UCX|UCC|UCS|OMPI|PMIX|PMI|PRTE|HYDRA|MPICH|I_MPI|TORCH|PYTORCH|CUDA|NVIDIA|NVSHMEM"
    r"|GLOO|HOROVOD|LIGHT|SLURM|HSA|ROCR|HIP|ROCM|RDMAV|IBV|MLX5|MLX4|SHARP|EFA|PET)"
)
_OTHERS = (
    r"(?:MASTER_(?:ADDR|PORT)|(?:LOCAL_)?(?:WORLD_SIZE|RANK)|RANK_(?:SIZE|ID|TABLE_FILE)|DEVICE_ID|NNODES|(?:NODE|GROUP)_RANK|LD_LIBRARY_PATH|LD_PRELOAD"
    r"|OMP_NUM_THREADS|KUBERNETES_SERVICE_HOST|SLURMD_NODENAME|MC_(?:MTU|ENABLE_D[A-Z_]+))"
)
KEPT_PATTERN = rf"(?:{_FAMILIES}_[A-Z0-9_]{{1,100}}|(?:OMPI|PMIX|PRTE|OPAL)_MCA_[a-z0-9_]{{1,100}}|{_OTHERS})"
"""The names that are kept, as a pattern for anchors."""
SECRET_WORDS = ("KEY", "TOKEN", "PASS", "SECRET", "CREDENTIAL", "COOKIE", "JWT")
"""Parts of a name that suggest a secret."""
HARMLESS_NAMES = ("IB_PKEY", "MR_KEY_SIZE", "TOKENIZER")

_KEPT = re.compile(rf"{KEPT_PATTERN}$")
_SECRET = re.compile("|".join(SECRET_WORDS))
_HARMLESS = re.compile("|".join(HARMLESS_NAMES))
_ASSIGNED = re.compile(r"(?<![\w-])(?P<name>[A-Za-z_]\w*)(?P<sep>\s?[=:]\s?)(?P<value>\"[^\"]*\"|'[^']*'|[^\s\"']+)")
_OPTION = re.compile(r"(?<![\w-])(?P<name>--?[A-Za-z][\w-]*)(?P<sep>[= ])(?P<value>\"[^\"]*\"|'[^']*'|[^\s\"']+)")
_LABEL = re.compile(
    r"[\"']?(?:[a-z0-9-]{1,63}\.){0,8}(?:kubernetes\.io|k8s\.io|google\.com|nvidia\.com|amazonaws\.com)/[\w.-]{1,63}[\"']?$"
)
"""The name of a node's label or taint, which follows ``key:`` in a manifest."""
_USER = re.compile(r"://[^/@\s]{1,200}@")
_MAY_HOLD_SECRETS = ("proc/", "etc/", "root/", "home/")


def is_kept(name: str) -> bool:
    """True for a variable of NCCL, of a framework or of a launcher that is not a secret."""
    return _KEPT.match(name) is not None and not is_secret(name)


def is_secret(name: str) -> bool:
    """True if the name of a variable or option suggests a key, token, password or similar."""
    return _SECRET.search(_HARMLESS.sub("", name.upper())) is not None


def hide_secrets(text: str) -> str:
    """The line with the values of secret variables and options and the users of URLs replaced by ``***``."""
    if "://" in text:
        text = _USER.sub("://" + HIDDEN + "@", text)
    if is_secret(text):
        text = _OPTION.sub(_hidden, _ASSIGNED.sub(_hidden, text))
    return text


def _hidden(found: "re.Match[str]") -> str:
    secret = is_secret(found["name"]) and not (found["name"] == "key" and _LABEL.match(found["value"]))
    return f"{found['name']}{found['sep']}{HIDDEN}" if secret else found[0]


def lines_without_secrets(data: bytes) -> bytes:
    """A text without secrets, line by line; bytes that are not UTF-8 are unchanged."""
    lines = data.decode("utf-8", "surrogateescape").split("\n")
    return "\n".join(hide_secrets(line[:LINE_LIMIT]) for line in lines).encode("utf-8", "surrogateescape")


def file_without_secrets(path: str, data: bytes) -> bytes:
    """A file that may hold settings, without secrets; files of devices are unchanged. ``path`` has no leading slash."""
    if not path.startswith(_MAY_HOLD_SECRETS) and "conf" not in path.rpartition("/")[2]:
        return data
    return lines_without_secrets(data)
