"""Find the names of hosts, users and buckets in a line, in addition to those that parsers find."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ncdiag.apps.redact.accounts import accounts
from ncdiag.base.patterns import lazy_regex
from ncdiag.formats.by_shape import ByShape, ByWord
from ncdiag.text import prompt

__all__ = ["KEPT_DOMAIN", "TOP", "found_in", "is_hinted"]

_HOST = r"[A-Za-z0-9][\w-]{1,80}(?:\.[\w-]{1,80}){0,8}"
_NAME = r"(?=[\w-]{0,80}[A-Za-z])" + _HOST
_HOME = lazy_regex(
    r"(?:/(?:home|Users|users|people|u|nfs/home|mnt/home|data/home|export/home|homes)/|[A-Za-z]:\\{1,2}Users\\{1,2}"
    r"|(?<![\w/~.])~)(?P<user>[A-Za-z_][\w.-]{0,40})"
)
_SCRATCH = lazy_regex(
    r"(?:(?<![\w.])/(?:(?:p|g)?scratch\d*|lustre\d*|gpfs\d*|beegfs|fsx|nfs|work\d*|weka|vast|pfs|orion|projects?"
    r"|cephfs|nobackup|efs|mnt/[a-z]{2,12}\d*|data\d?)/(?:(?:fs\d*|scratch|work|projects?|proj|users?|home|homes"
    r"|nobackup)/)?)"
    r"(?P<user>[A-Za-z_][\w.-]{0,40})(?=[/\s\"':,)]|$)"
)
_USER = lazy_regex(
    r"\b(?:USER|LOGNAME|SUDO_USER|USERNAME|SLURM_JOB_USER|UserId"
    r"|SLURM_JOB_ACCOUNT)=(?P<user>[A-Za-z_][\w.-]{0,40})"
)
_AT = lazy_regex(
    r"(?<![\w.%+-])(?P<user>[A-Za-z_][\w.+-]{0,60})@(?P<host>[A-Za-z0-9][\w-]{0,80}(?:\.[\w-]{1,80}){0,8})"
)
_SSH = lazy_regex(r"\b(?:ssh|scp|rsync|sftp|pdsh|mosh)\s")
_HOSTS = lazy_regex(
    r"\b(?:HOSTNAME|HOST|MASTER_ADDR|SLURMD_NODENAME|SLURM_(?:SUBMIT_HOST|TOPOLOGY_ADDR|LAUNCH_NODE_IPADDR)"
    r"|NodeName|BatchHost|NodeHostName|NodeAddr|AllocNode:Sid|VC_\w+_HOSTS|HEAD_NODE|RAY_HEAD_IP)"
    rf"=(?P<host>(?=[A-Za-z]){_HOST})(?![\w(])"
    r"|--?(?:master[_-]addr|master|rdzv[_-]endpoint|nodelist|nodes?[_-]?addr|head[_-]node|host|hosts|address"
    rf"|host-?name|server)[= ](?P<option>{_NAME})(?=[:,\s\"']|$)"
    rf"|\b(?:tcp|http|https|grpc|ray|ib|nfs|ssh)://(?:[^\s@/]{{1,80}}@)?(?P<url>{_NAME})(?=[:/\s\"'<]|$)"
    rf"|\bpeer (?P<peer>{_NAME})<\d|\bON (?P<step>{_NAME}) CANCELLED|\b(?:srun|slurmstepd|prun|orted"
    r"|mpirun): error: (?!Node|(?:pyxis|enroot|spank|pmix\w*|cgroup\w*|gres\w*):"
    rf"|\w*_\w*: (?!tasks? ))(?P<srun>{_NAME}): "  # Slurm also prints the name of its function there
    rf"|^\s*\[(?P<mpi>{_NAME}):\d{{2,8}}\]|Permanently added '(?P<ssh>{_NAME})[,']|\b(?:ssh|mosh|ping6?|telnet"
    r"|iperf3? -c|ib_write_bw|ib_send_bw|ib_read_bw|nslookup|dig"
    rf"|host) (?:-[\w]+(?: \d+)? ){{0,4}}(?:[\w.-]{{1,60}}@)?(?P<to>(?=[\w.-]*[\d.])(?=[a-z]"
    rf")[a-z0-9][\w.-]{{2,100}})(?=[\s:\"']|$)"
    r"|\b(?:connect(?:ed|ing|ion)? to|connection to|refused by|reach|resolve|host|node|server|machine|on host"
    rf"|on node|hostname:?) \"?'?(?P<word>(?=[a-z][\w.-]*\d)(?=[\w.]*-)[a-z][\w.-]{{3,100}})(?=[\s:,;.)\"'<]|$)"
)
_SETS = lazy_regex(
    r"(?:NodeList|nodelist|NODELIST|ExcNodeList|ReqNodeList|Nodes|node_list|-w|-x|--exclude|--nodelist|reason"
    r"|hosts?|ON|on nodes?|scontrol show hostnames?|pdsh -w"
    r"|clush -w)(?:\([^)]{0,20}\)"
    r")?[= :]{1,3}\"?(?P<set>[A-Za-z][\w.-]{0,60}(?:\[[\d,-]{1,200}\][\w.-]{0,60}"
    r"|\d)(?:,[A-Za-z][\w.-]{0,60}(?:\[[\d,-]{1,200}\])?[\w.-]{0,60}){0,50})"
)
_LISTED = lazy_regex(
    r"\s(?:-H|--host|-host"
    rf"|--hosts)[ =](?P<list>{_HOST}(?::\d{{1,4}})?(?:,{_HOST}(?::\d{{1,4}})?){{0,200}})"
)
_NCCL = lazy_regex(rf"\A(?P<host>{_NAME}):\d{{1,8}}:\d{{1,8}} \[\w{{1,3}}\]")
_LABEL = lazy_regex(r"\A(?P<host>(?!nvidia-)[a-z][a-z0-9]{0,40}(?:-[a-z0-9]{1,40}){0,6}-\d{1,6}): ")
"""The prefix that launchers add to the lines of each host; with a dash and a number, to exclude names of devices."""
_BUCKET = lazy_regex(
    r"\b(?:s3a?|s3n|gs|gcs|oss|cos|obs|abfss?|wasbs?|az|swift|b2|r2|oci"
    r"|hdfs)://(?:[\w-]{1,60}@)?(?P<bucket>[A-Za-z0-9][\w.-]{1,100})"
    r"|(?i:\bbucket(?:_?name)?)[\"']?\s?[=:]\s?[\"']?(?P<named>[a-z0-9][a-z0-9.-]{2,62})(?![\w(])"
)
TOP = (
    r"(?:com|org|edu|gov|mil|int|net|internal|local|lan|corp|intra|intranet|cluster|hpc|example|localdomain|io|ai"
    r"|cloud|dev|app|co|uk|de|fr|eu|jp|cn|ch|nl|se|no|fi|dk|pl|cz|at|it|es|ca|au|in|kr|br|us)"
)
_FQDN = lazy_regex(
    r"(?<![\w./@-])(?P<fqdn>(?:[A-Za-z0-9](?:[\w-]{0,60}[A-Za-z0-9])?\.){1,7}(?:com|org|edu|gov|mil"
    r"|(?<=\d\.)net|(?<=\w\.\w\w\w\.)net|internal|lan|corp|intra|intranet|localdomain|example|hpc"
    r"|local))(?![\w/(-])(?!\.\w)"
)
KEPT_DOMAIN = lazy_regex(
    r"(?:.*\.)?(?:nvidia\.com|github\.com|githubusercontent\.com|gitlab\.com|pytorch\.org|python\.org|pypi\.org"
    r"|pythonhosted\.org|huggingface\.co|hf\.co|openai\.com|docker\.(?:com|io)|quay\.io|gcr\.io|ghcr\.io"
    r"|nvcr\.io|oraclecloud\.com|kernel\.org|ubuntu\.com|debian\.org|redhat\.com|mellanox\.com|readthedocs\.(?:io|org)"
    r"|anaconda\.(?:org|com)|conda\.io|google\.com|googleapis\.com|amazonaws\.com|amazon\.com|microsoft\.com"
    r"|azure\.com"
    r"|windows\.net|cloudflare\.com|wandb\.(?:ai|com)|slack\.com|discord(?:app)?\.com|telegram\.org|kubernetes\.io"
    r"|k8s\.io|apache\.org|gnu\.org|open-?mpi\.org|schedmd\.com|launchpad\.net|sourceforge\.net|stackoverflow\.com"
    r"|intel\.com|amd\.com|broadcom\.com|example\.(?:com|org|net|edu)|w3\.org|mlflow\.org|ray\.io|tensorflow\.org"
    r"|lightning\.ai|deepspeed\.ai|facebook\.com|meta\.com|ietf\.org|iana\.org|archive\.org|apple\.com|kubeflow\.org"
    r"|cncf\.io|volcano\.sh|helm\.sh|istio\.io|cilium\.io|openshift\.io|azurecr\.io|linux\.org|fedoraproject\.org"
    r"|centos\.org|opensuse\.org|arxiv\.org|wikipedia\.org|openssl\.org|openssh\.com|libfabric\.org|ofiwg\.org"
    r"|openfabrics\.org"
    r"|openucx\.org|spdk\.io|dpdk\.org|modal\.com|databricks\.com|comet\.(?:com|ml)|neptune\.ai|atlassian\.(?:com"
    r"|net)|cluster\.local|localhost|(?:[a-z]{2}-[a-z]+-\d\.)?(?:compute|ec2)\.internal|internal|local|localdomain"
    r"|svc|host\.docker\.internal)\Z",
    re.IGNORECASE,
)
"""Public domains, which identify nobody."""
_DIRECTORIES = frozenset(
    {
        "shared",
        "data",
        "ckpt",
        "ckpts",
        "tmp",
        "models",
        "datasets",
        "dataset",
        "software",
        "apps",
        "envs",
        "lib",
        "lib64",
        "checkpoints",
        "logs",
        "runs",
    }
    | {
        "users",
        "user",
        "home",
        "project",
        "projects",
        "proj",
        "public",
        "common",
        "cache",
        "outputs",
        "output",
        "results",
        "scratch",
        "work",
        "bin",
    }
    | {
        "containers",
        "images",
        "nccl",
        "nccl-tests",
        "src",
        "build",
        "log",
        "jobs",
        "job",
        "experiments",
        "dev",
        "test",
        "tests",
        "conda",
        "miniconda3",
    }
    | {
        "huggingface",
        "imagenet",
        "train",
        "val",
        "weights",
        "model",
        "fs",
        "fs1",
        "fs2",
        "fsx",
        "efs",
        "nfs",
        "lustre",
        "beegfs",
        "mnt",
        "export",
        "share",
    }
)
_FILE = lazy_regex(r"\.(?:py|sh|log|txt|so|json|ya?ml|cc|md)$")
_HINT = lazy_regex(
    r"@|[/\\](?:home|users|people|u|homes|p?scratch|gscratch|lustre|gpfs|beegfs|fsx|nfs|work|weka|vast|pfs|orion"
    r"|projects?|cephfs|nobackup|efs|mnt|data)\d*[/\\]|~\w|USER|LOGNAME|UserId|HOST|ADDR|NODENAME|Node|Host=|://"
    r"|CANCELLED|Permanently|\b(?:ssh|mosh|scp|rsync|sftp|pdsh|ping6?|telnet|iperf|ib_\w+_bw|nslookup|dig"
    r"|host|node|server|machine|connect\w*|refused|reach|resolve|hostname)\b|--?(?:master|rdzv|node|head|host"
    r"|address|server)|nodelist|NODELIST|[a-z]\[\d[\d,-]*\]"
    r"|bucket|\.(?:com|org|edu|gov|mil|net|internal"
    r"|lan|corp|intra\w*|localdomain|example|hpc|local)\b|--exclude|account"
    r"|project|cluster|arn:|ocid0|gke_|gcr\.io|pkg\.dev|azure|windows\.net|aliyuncs|resourcegroups"
    r"|\b(?:vpc|subnet|sg|i|eni|vol|fs|ami|igw|rtb|lt|snap|nat|cr)-[0-9a-f]{8}",
    re.IGNORECASE,
)
"""In a word of each line that may contain a name, or else the line has one of `_HINTS`, which go over blanks."""
_HINTS = lazy_regex(
    r"peer \S{1,80}<\d|error: |^\s*\[\w[\w.-]+:\d"
    r"| -H |:\d{1,8}:\d{1,8} \[|^[a-z][a-z0-9]{0,40}-[\w-]{0,80}\d: |-[wx] ",
    re.IGNORECASE,
)
_WORDS = ByWord(lambda word: _HINT.search(word) is not None)


def is_hinted(shape: str) -> bool:
    """True if a line with this shape (digits read as 0) may contain a name."""
    return bool(_WORDS.together(shape)) or _HINTS.search(shape) is not None


_FORMS = (_HOME, _USER, _SCRATCH, _HOSTS, _LISTED, _LABEL, _NCCL, _SETS, _FQDN, _BUCKET)
_BY_SHAPE = ByShape(_FORMS)
_Found = dict["re.Pattern[str]", Iterator["re.Match[str]"]]


def found_in(line: str) -> Iterator[tuple[str, str]]:
    """(kind, name) of each name in the line; the kinds are those of `ncdiag.apps.redact.name_stand_ins.Names.learn`."""
    all_found = {_FORMS[number]: _FORMS[number].finditer(line) for number in _BY_SHAPE.among(line)}
    for form in (_HOME, _USER):
        yield from (("user", found["user"]) for found in all_found.get(form, ()))
    for found in all_found.get(_SCRATCH, ()):
        if found["user"].lower() not in _DIRECTORIES:
            yield "folder", found["user"]
    yield from (("host", name) for name in _hosts(all_found))
    yield from (("set", found["set"]) for found in all_found.get(_SETS, ()))
    for found in all_found.get(_FQDN, ()):
        if not KEPT_DOMAIN.match(found["fqdn"]):
            yield ("host" if found["fqdn"].count(".") > 1 else "domain"), found["fqdn"]
    yield from (("account", name) for name in accounts(line))
    yield from (("bucket", found["bucket"] or found["named"]) for found in all_found.get(_BUCKET, ()))
    if "@" in line:
        yield from _at(line)


def _hosts(all_found: _Found) -> Iterator[str]:
    """Names of hosts, recognised by adjacent words, options and line prefixes."""
    for found in all_found.get(_HOSTS, ()):
        name = next(text for text in found.groups() if text)
        doubtful = found["url"] or found["to"] or found["word"] or found["option"]
        named = not doubtful or "." in name or re.search(r"\d", name)
        if named and not KEPT_DOMAIN.match(name) and not _FILE.search(name):
            yield name
    for found in all_found.get(_LISTED, ()):
        yield from (name.partition(":")[0] for name in found["list"].split(","))
    for form in (_LABEL, _NCCL):
        yield from (found["host"] for found in all_found.get(form, ()))


def _at(line: str) -> Iterator[tuple[str, str]]:
    """``user@host`` of prompts, of ssh and of mail, but not ``veth0@if7``."""
    at_prompt = prompt.prompt(line) or prompt.is_empty_prompt(line) or _SSH.search(line)
    for found in _AT.finditer(line):
        if at_prompt:
            yield "user", found["user"]
            yield "host", found["host"]
        elif re.search(rf"\.{TOP}$", found["host"]):
            yield "user", found["user"]
            yield "domain", found["host"]
