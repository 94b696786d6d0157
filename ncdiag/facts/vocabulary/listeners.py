"""Programs that listen on a port of a host."""

from __future__ import annotations

from ncdiag.base.patterns import lazy_regex
from ncdiag.facts.model import Host

_FOREIGN = lazy_regex(
    r"(?i)jupyter|tensorboard|code-server|sshd?$|nginx|httpd|apache|caddy|haproxy|[\w.-]{0,40}_?exporte?r?$|prometheus|"
    r"grafana|telegraf|mysqld|mariadbd|postgres|mongod|cupsd|rpc\.|rpcbind|systemd|slurm|mlflow|minio|java$"
)
"""Services that serve no rendezvous, by the name that the kernel keeps of a process (15 characters).

A name that is not here can be that of a trainer, or stand for a job in a container (``docker-proxy``).
"""


def is_foreign(port: int, host: Host) -> bool:
    """Is it known that the program that listens there is none of the job's, such as ``nginx``?"""
    program = (host.port_programs or {}).get(str(port))
    return program is not None and _FOREIGN.match(program) is not None
