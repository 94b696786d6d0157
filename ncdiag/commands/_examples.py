"""Texts of ``--help`` besides options: a line per command for the list of commands, and examples."""

from __future__ import annotations

from typing import Any

SHORT = {
    "check": "Check this host, other hosts or recorded hosts.",
    "collect": "Save what 'check' reads from a host in one archive, a bundle.",
    "completion": "Print or install a completion script for bash, zsh or fish.",
    "demo": "Diagnose three example failures that come with ncdiag.",
    "diff": "Show what differs between two runs, hosts or bundles.",
    "explain": "Explain a rule, log line, variable, error code or term.",
    "facts": "Print the facts read from the input as JSON.",
    "lint": "Check the NCCL settings of launch commands and files.",
    "mcp": "Run a Model Context Protocol server for an AI assistant.",
    "parse": "Diagnose one job from its logs.",
    "predict": "Show which network, interfaces and RDMA ports NCCL would choose.",
    "probe": "Test the connections between hosts.",
    "redact": "Remove names, addresses and secrets before sharing a log.",
    "rules": "List, show, test and create rules.",
    "run": "Start a job and explain why it failed or hangs.",
    "schema": "Print the JSON schema of the '--format json' output.",
    "serve": "Serve a web page where a team can paste logs.",
    "topo": "Draw the GPUs and NICs of a host and the links between them.",
    "triage": "Diagnose any mix of logs and tool output; short: 'ncdiag FILE'.",
    "watch": "Follow growing logs and report the root cause when it appears.",
}
"""The line of each command in ``ncdiag --help``: fits next to the longest name on 80 columns."""

FIRST = """\
ncdiag finds the root cause of an NCCL failure.

  ncdiag FILE...              diagnose logs, pastes, bundles or folders
  COMMAND | ncdiag            diagnose what a command prints
  ncdiag check                check this host (--nodes SET: many hosts)
  ncdiag run -- COMMAND       start a job and explain why it failed or hangs
  ncdiag lint FILE...         check the NCCL settings of launch files
  ncdiag explain THING        explain a variable, log line, code or rule

'ncdiag --help' lists all commands, 'ncdiag help COMMAND' the options of one.
"""
"""What ``ncdiag`` alone prints: the commands that matter first, on one screen."""
EXAMPLES = {
    "check": ("ncdiag check", "ncdiag check --from node7.tar.gz", "ncdiag check n[1-8].tar.gz --baseline good.tar.gz"),
    "collect": (
        "ncdiag collect -o node7.tar.gz",
        "ncdiag collect --python > look.py",
        "ssh node7 python3 - < look.py > node7.tar.gz",
    ),
    "completion": (
        "ncdiag completion bash --install     # for all new shells",
        'eval "$(ncdiag completion bash)"     # in ~/.bashrc',
        'eval "$(ncdiag completion zsh)"      # in ~/.zshrc, after compinit',
        "ncdiag completion fish | source      # in ~/.config/fish/config.fish",
    ),
    "demo": ("ncdiag demo", "ncdiag demo | less"),
    "diff": ("ncdiag diff good.log bad.log", "ncdiag diff monday.tar.gz today.tar.gz --format markdown"),
    "explain": (
        "ncdiag explain NCCL_IB_GID_INDEX --nccl 2.21.5",
        "ncdiag explain 'NET/IB : Got completion from peer 10.0.0.2 with error 12'",
        "ncdiag explain NCD101 my.log    # why it did or did not fire here",
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
    """Command lines for the end of a ``--help``, printed unchanged (click's mark for that is a backspace)."""
    return "\n".join(["\b", "Examples:", *(f"  {line}" for line in lines)])


def described(command: Any, name: str) -> Any:  # noqa: ANN401  (the classes of commands moved between releases)
    """The command with its line for the list and its examples, and its subcommands likewise."""
    if name in EXAMPLES:
        command.epilog = examples(*EXAMPLES[name])
    command.short_help = SHORT.get(name, command.short_help)
    for own in getattr(command, "commands", {}).values():
        described(own, f"{name} {own.name}")
    return command
