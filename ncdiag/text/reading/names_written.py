"""Names that the commands and labels of an input write: the namespace of a pod, a job, a partition, a container.

They fill the words in angle brackets of a fix where no fact does (`ncdiag.report.named`). The key is such a word. What
a person only looked at, such as a card or a port, is no such name: it need not be the one at fault.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping

from ncdiag.base.patterns import lazy_regex
from ncdiag.text.reading.model import Reading
from ncdiag.text.sections.prompt import prompt

_LOOKED_AT = 400
_NAME = r"[A-Za-z0-9][\w.-]{0,252}"
_OPTIONS = r"(?:\s-{1,2}[\w-]+(?:[= ](?!-)\S+)?)*"
_CONTAINERS = r"(?:docker|podman|nerdctl)(?:\scontainer)?"
_SIGN = lazy_regex(r"amespace|Node|nodeName|JobId|StepId|STEP |JOB |SLURM_JOB_ID|artition|\.svc\b")
"""What stands in each line that one of `_LABELS` may match."""
_COMMANDS = tuple(
    (words, lazy_regex(pattern))
    for words, pattern in (
        (("namespace",), rf"(?:kubectl|oc|helm|stern)\s.*?(?:-n|--namespace)[= ]?({_NAME})"),
        (("pod", "worker"), rf"(?:kubectl|oc)\s(?:.*\s)?(?:describe|get|delete)\s(?:pods?|po)[ /]({_NAME})(?:\s|$)"),
        (("pod", "worker"), rf"(?:kubectl|oc)\s(?:.*\s)?logs{_OPTIONS}\s({_NAME})(?:\s|$)"),
        (("container",), rf"{_CONTAINERS}\s(?:logs|wait|inspect|top|stats)\s(?:.*\s)?({_NAME})$"),
        (("container",), rf"{_CONTAINERS}\srun\s.*--name[= ]({_NAME})"),
        (("job",), r"(?:scontrol\s.*show\sjob|sacct\s.*-j|scancel|sstat\s.*-j|squeue\s.*-j)[= ]?(\d{1,12})"),
        (("unit",), rf"systemctl\s(?:status|show|cat|restart|edit)\s({_NAME})"),
        (("partition",), r"(?:srun|sbatch|salloc|sinfo)\s.*(?:-p|--partition)[= ]?([a-z][\w-]{0,60})"),
    )
)  # fmt: skip
"""Words of fixes, and how commands write their values."""
_LABELS = tuple(
    (words, lazy_regex(pattern))
    for words, pattern in (
        (("namespace",), r".{0,300}\b[a-z0-9-]{1,63}\.([a-z0-9-]{1,63})\.svc\b"),
        (("namespace",), rf"Namespace:\s{{1,20}}({_NAME})\s*$|\s{{2,4}}namespace:\s({_NAME})\s*$"),
        (("node of the pod",), rf"Node:\s{{1,20}}({_NAME})/[\d.:a-f]+\s*$|\s{{2}}nodeName:\s({_NAME})\s*$"),
        (("partition",), r"\s{0,8}Partition=(\S{1,60})|#SBATCH\s(?:-p|--partition)[= ](\S{1,60})"),
        (("job",), r".{0,60}\b(?:JobId=|StepId=|STEP |JOB )(\d{1,12})\b|SLURM_JOB_ID=(\d{1,12})$"),
    )
)  # fmt: skip
"""The same for other lines."""


def names_written(readings: Iterable[Reading]) -> Mapping[str, frozenset[str]]:
    """The names by word; a long source has none."""
    found: dict[str, set[str]] = defaultdict(set)
    for reading in readings:
        for span in reading.announcing:
            echo = prompt(span.text.strip())
            command = (echo.command if echo else span.text).strip().removeprefix("sudo ")[:_LOOKED_AT]
            for words, pattern in _COMMANDS:
                if match := pattern.match(command):
                    for word in words:
                        found[word].add(match[1])
        for span in filter(lambda written: _SIGN.search(written.text[:_LOOKED_AT]), reading.written):
            for words, pattern in _LABELS:
                if match := pattern.match(span.text[:_LOOKED_AT]):
                    for word in words:
                        found[word].add(next(filter(None, match.groups())))
    return {word: frozenset(names) for word, names in found.items()}
