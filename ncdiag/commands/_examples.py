"""What ``--help`` says of each command beside its options: a line for the list of commands, and examples."""

from __future__ import annotations

from typing import Any

SHORT = {
    "check": "Judge this host.",
    "collect": "Pack what 'check' would read into one archive.",
    "completion": "Print or install a completion script for bash, zsh or fish.",
    "demo": "Diagnose three faults that are shipped.",
    "diff": "Show what differs between two runs, hosts or bundles.",
    "explain": "Explain a rule, a line of a log, a variable, a code or a word.",
    "facts": "Print what was understood, as JSON; nothing is judged.",
    "lint": "Check the NCCL settings of launch commands and files.",
    "mcp": "Serve an assistant (Model Context Protocol).",
    "parse": "Judge one job by its logs.",
    "predict": "Show which network, ports and interfaces NCCL would choose.",
    "probe": "Try the connections between many hosts.",
    "redact": "Remove names, addresses and secrets from a paste.",
    "rules": "Open the rule book: list, show, test or write rules.",
    "run": "Start a job and say why it failed or hangs.",
    "schema": "Print the JSON schema of a report.",
    "serve": "Serve a page to paste logs into, for a team.",
    "topo": "Draw GPUs and NICs, and how they are linked.",
    "triage": "Judge any pasted mixture; 'ncdiag FILE' is short for it.",
    "watch": "Follow growing logs and tell the root cause as it appears.",
}
"""The line of each command in ``ncdiag --help``: it fits beside the longest name on 80 columns."""

_EXAMPLES = {
    "check": ("ncdiag check", "ncdiag check --from node7.tar.gz", "ncdiag check n[1-8].tar.gz --baseline good.tar.gz"),
    "collect": (
        "ncdiag collect -o node7.tar.gz",
        "ncdiag collect --python > look.py",
        "ssh node7 python3 - < look.py > node7.tar.gz",
    ),
    "completion": (
        "ncdiag completion bash --install     # for new shells",
        'eval "$(ncdiag completion bash)"     # in ~/.bashrc',
        'eval "$(ncdiag completion zsh)"      # in ~/.zshrc, after compinit',
        "ncdiag completion fish | source      # in ~/.config/fish/config.fish",
    ),
    "demo": ("ncdiag demo", "ncdiag demo | less"),
    "diff": ("ncdiag diff good.log bad.log", "ncdiag diff monday.tar.gz today.tar.gz --format markdown"),
    "explain": (
        "ncdiag explain NCCL_IB_GID_INDEX --nccl 2.21.5",
        "ncdiag explain 'NET/IB : Got completion from peer 10.0.0.2 with error 12'",
        "ncdiag explain NCD101 my.log    # why it fired on this input, or did not",
    ),
    "facts": ("ncdiag facts my.log | jq .ranks", "ncdiag facts --unread my.log"),
    "lint": ("ncdiag lint job.sbatch deploy/", "ncdiag lint -- mpirun -np 16 -H a:8,b:8 -x NCCL_DEBUG=INFO ./train"),
    "mcp": ("ncdiag mcp", "ncdiag mcp --allow logs/", "claude mcp add ncdiag -- ncdiag mcp"),
    "parse": ("ncdiag parse logs/", "ncdiag parse --each 'logs/*.log'", "ncdiag parse --brief my.log"),
    "predict": ("ncdiag predict", "ncdiag predict --nccl 2.18.3 --nccl 2.21.5 my.log"),
    "probe": (
        "ncdiag probe --nodes 'node[01-08]'",
        "ncdiag probe --nodes @gpu --port 29500 --svg hosts.svg --save probe.txt",
        "ncdiag triage probe.txt",
        "ncdiag probe --launch 'mpirun -H n1:8,n2:8 python train.py'",
    ),
    "redact": ("ncdiag redact my.log > public.log", "ncdiag redact --map names.json node7.tar.gz -o clean.tar.gz"),
    "rules": ("ncdiag rules list", "ncdiag rules show NCD101", "ncdiag rules new my-rule --in site-rules"),
    "run": (
        "ncdiag run -- torchrun --nproc-per-node 8 train.py",
        "ncdiag run --logs /shared/logs -- mpirun -H a:8,b:8 -np 16 ./train",
        "ncdiag run --hang-after 120 --kill-on-hang -o why.txt -- srun ./train",
    ),
    "schema": ("ncdiag schema > report.schema.json", "ncdiag schema facts"),
    "serve": ("ncdiag serve", "ncdiag serve --host 10.0.0.5 --port 8080", "ncdiag serve --keep /srv/ncdiag"),
    "topo": ("ncdiag topo", "nvidia-smi topo -m | ncdiag topo -", "ncdiag topo --svg host.svg node7.tar.gz"),
    "triage": ("ncdiag triage paste.txt", "kubectl logs trainer-0 | ncdiag", "ncdiag triage --ask paste.txt"),
    "watch": (
        "ncdiag watch job.log",
        "ncdiag watch '/var/log/jobs/*.log'",
        "kubectl logs -f trainer-0 | ncdiag watch -",
    ),
    "rules list": ("ncdiag rules list", "ncdiag rules list --rules site-rules"),
    "rules show": ("ncdiag rules show NCD101", "ncdiag rules show socket-virtual-ifname"),
    "rules test": ("ncdiag rules test", "ncdiag rules test NCD101", "ncdiag rules test site-rules"),
    "rules new": ("ncdiag rules new my-rule --in site-rules",),
    "rules number": ("ncdiag rules number --in site-rules",),
    "rules facts": ("ncdiag rules facts -o facts.md",),
    "rules pages": ("ncdiag rules pages pages",),
}


def examples(*lines: str) -> str:
    """Command lines for the end of a ``--help``, kept as they are (a backspace is click's mark for that)."""
    return "\n".join(["\b", "Examples:", *(f"  {line}" for line in lines)])


def described(command: Any, name: str) -> Any:  # noqa: ANN401  (the classes of commands moved between releases)
    """The command with its line for the list and its examples, and those of its own commands."""
    if name in _EXAMPLES:
        command.epilog = examples(*_EXAMPLES[name])
    command.short_help = SHORT.get(name, command.short_help)
    for own in getattr(command, "commands", {}).values():
        described(own, f"{name} {own.name}")
    return command
