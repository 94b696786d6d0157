"""Find what identifies the customer of a cloud: accounts, projects, clusters, instances, and hosts named after them."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ncdiag.base.patterns import lazy_regex
from ncdiag.formats.by_shape import ByShape

__all__ = ["accounts"]

_PROJECT = r"[a-z][a-z0-9-]{4,29}"
_FORMS = tuple(
    lazy_regex(form)
    for form in (
        r"\barn:aws[\w-]{0,12}:[\w-]{0,40}:[\w-]{0,40}:(?P<id>\d{12})\b|\b(?P<registry>\d{12})\.dkr\.ecr\.",
        r"(?i:\baccount(?:[ _-]?(?:id|number))?)[\"']?\s?[:= ]\s?[\"']?(?P<id>\d{12})\b",
        r"(?:/id/|//)(?P<id>[0-9A-F]{32})(?=[./\s\"']|$)",
        r"\b(?:vpc|subnet|sg|i|eni|vol|fs|fsvol|ami|igw|rtb|lt|snap|nat|cr|eipalloc)-(?P<id>[0-9a-f]{17}|[0-9a-f]{8})\b",
        r"\bocid1\.[a-z]{3,40}\.oc\d{1,2}\.[\w-]{0,40}\.(?:[\w-]{1,40}\.)?(?P<id>[a-z0-9]{10,80})\b",
        (
            r"\b(?P<id>[a-z0-9][\w-]{1,62})\.(?:(?:blob|queue|table|file|dfs)\.core\.windows\.net|azurecr\.io"
            r"|vault\.azure\.net|redis\.cache\.windows\.net|iam\.gserviceaccount\.com|snowflakecomputing\.com"
            r"|s3(?:[.-][\w-]{1,40})?\.amazonaws\.com|oss-[\w-]{1,40}\.aliyuncs\.com|cos\.[\w-]{1,40}\.myqcloud\.com"
            r"|(?:\d{1,3}\.)?azuredatabricks\.net|(?:cloud|gcp)\.databricks\.com|(?!core\.)[a-z]{2,20}\.windows\.net)\b"
        ),
        (
            r"\b(?P<id>[a-z0-9][\w-]{1,62}(?:\.[a-z0-9]{4,20}){0,2})\.(?:mongodb\.net"
            r"|[a-z]{2}(?:-[a-z]{2,12}){1,2}-\d\.(?:rds|redshift|elb|es|aoss|docdb)\.amazonaws\.com"
            r"|\d{4}\.[a-z]{2,5}\d\.cache\.amazonaws\.com)\b"
        ),
        (
            rf"\b(?:gcr\.io|pkg\.dev|aliyuncs\.com)/(?P<id>{_PROJECT})(?=[/:\s\"']|$)"
            rf"|\bprojects/(?P<path>{_PROJECT})/(?=zones|regions|locations|global|secrets|serviceAccounts)"
            rf"|\.c\.(?P<zone>{_PROJECT})\.internal\b"
        ),
        rf"\bgke_(?P<id>{_PROJECT})_[a-z0-9-]{{4,30}}_(?P<cluster>[a-z][a-z0-9-]{{1,40}})",
        rf"(?i:\bproject[ _-]?id|_PROJECT)[\"']?\s?[:=]\s?[\"']?(?P<id>{_PROJECT})(?![\w./(-])",
        r"\bresourceGroups/(?P<id>[\w.-]{2,90})",
        (
            r"(?i:\bcluster[ _-]?(?:id|name|arn)|_CLUSTER_NAME|:cluster/)[\"']?(?:\s?[:=]\s?)?[\"']?"
            r"(?P<id>(?=[\w.-]*[a-z0-9])[A-Za-z0-9][\w.-]{2,80}\w)(?![\w(])"
        ),
    )
)
_COMMON = lazy_regex(
    r"(?:default|none|null|true|false|auto|local|linux|kubernetes|minikube|kind|slurm|cluster|unknown|production|dev"
    r"|nvidia\S*|pytorch\S*|google\S*|library|\d{1,9})\Z",
    re.IGNORECASE,
)
"""Names that identify nobody."""


_BY_SHAPE = ByShape(_FORMS)


def accounts(line: str) -> Iterator[str]:
    """The names and numbers in the line by which a cloud knows its customer."""
    for number in _BY_SHAPE.among(line):
        for found in _FORMS[number].finditer(line):
            yield from (name for name in found.groups() if name and not _COMMON.match(name))
