"""Variables that a person says are set: ``We run with NCCL_IB_TIMEOUT=18``."""

from __future__ import annotations

import re
from collections.abc import Iterable

from ncdiag.base.patterns import lazy_regex
from ncdiag.formats.guarded import guarded_regex
from ncdiag.formats.shell import is_variable
from ncdiag.nccl.judgement.names import of_name
from ncdiag.parsers.user_text.moods import stated

_PRESENT = guarded_regex(
    r"\b(?:we|i|our\s\w+|(?:the\s|my\s)?(?:job|script|jobs|image|container|pods?|launcher|sbatch|yaml|dockerfile|bashrc"
    r"|manifest|compose\sfile|config)|it|all\s(?:nodes|hosts|ranks))\s"
    r"(?:\w+\s)?(?:have|has|uses?|sets?|put|added|adds?|pass(?:es|ed)?|specif(?:y|ies|ied)|defined?|exports?|exported"
    r"|(?:run|runs|launch|start)\swith)\b"
    r"|\b(?:is|are)\s(?:already\s|currently\s|also\s)?(?:set|exported|in\suse)\b|\bin\s(?:my|our|the)\senv(?:ironment)?\b"
    r"|\b(?:env(?:ironment)?(?:\svariables?)?|settings|variables)\b[^.;]{0,30}:",
    re.IGNORECASE,
)
_OTHERWISE = lazy_regex(
    r"\b(?:no|forbidden|they|their|other|others|another|if|when|whether|try|tried|should|could|would|without|not|never"
    r"|before|makes?|made|lets?|removed?|unset|instead|works?|helps?|such\sas|like|until|once|after|can|cannot)\b|n['\u2019]t\b|\be\.g\.",
    re.IGNORECASE,
)
_SEEN = lazy_regex(
    r"\b(?:(?:can(?:not|\snot|'t)?\s)?(?:sees?|finds?|gets?)|shows?|prints?|there\sis|(?:do(?:es)?\snot|do(?:es)?n't)\s(?:see|show|print))\s"
    r"(?:no|any|nothing)\b(?!\s(?:\w+\s)?(?:difference|change|effect|improvement|better|help)).*",
    re.IGNORECASE,
)
"""What is not seen while the variable is set: ``... and I see no NCCL log``."""
_ASSIGNED = lazy_regex(r"(?<![\w$])([A-Z][A-Z0-9]{1,20}_[A-Z0-9_]{2,40})=([^\s,;`'\")\u3400-\u9fff]{1,60})")
_STOP = ".:!"
_ILL = (
    r"(?:crash(?:es|ed)?|hangs?|hung|dies?|died|seg-?faults?|segfault(?:s|ed)|aborts?|aborted|fails?|failed|stuck|freez(?:e|es)"
    r"|deadlocks?|slower|breaks?|broke|wrong|nans?|corrupt\w*|sig[a-z]{3,4})"
)
_ONE = r"[A-Z][A-Z0-9]{1,20}_[A-Z0-9_]{2,40}=\S{1,60}"
_BLAMED = lazy_regex(
    rf"(?<![\w$]){_ONE}(?-i:\s(?:(?:makes?|made|lets?|causes?|caused)\s(?:\w+\s){{0,4}}{_ILL}"
    r"|(?:crashes|crashed|hangs|breaks|broke|kills|killed|deadlocks)\s(?:the|our|my|every|all|it|nccl|training)\b"
    r"|(?:leads|led)\sto\s|(?:triggers|gives|results\sin)\s))"
    rf"|\bwith\s(?:{_ONE}\s(?:and\s)?){{1,3}}(?:set\s)?,?\s?(?:the|our|my|every|each|all|it|nccl|training)\b[^.,;]{{0,40}}?\s{_ILL}\b",
    re.IGNORECASE,
)
"""Something goes wrong with the variable, by what the sentence says."""
_IN_VAIN = lazy_regex(
    r"\b(?:not|no|never|without\s\w+\s\w|still|also|too|even|as\swell|same|works?|worked|helps?|if|should|could|would|other"
    r"|another|they|their)\b|n['\u2019]t\b",
    re.IGNORECASE,
)


def read(sentence: str) -> list[tuple[str, str]]:
    """The variables that the sentence says are set, with their values; none of a question, a trial or a wish.

    Only those that are kept from other sources as well (`is_variable`), and so no secrets.
    """
    if "=" not in sentence or "_" not in sentence:
        return []
    said = stated(sentence.replace("`", " "))
    if (blamed := _BLAMED.search(said)) and not _IN_VAIN.search(said[max(0, blamed.start() - 4) : blamed.end()]):
        said = blamed[0]
    elif _OTHERWISE.search(_SEEN.sub(" ", said)) or not _PRESENT.search(said):
        return []
    given = ((name, value.rstrip(_STOP)) for name, value in _ASSIGNED.findall(said) if is_variable(name))
    return [(name, value) for name, value in given if value]


_READ = frozenset({"undocumented", "deprecated"})
"""Faults of variables that NCCL reads nevertheless."""
_NAMED = lazy_regex(r"([A-Z][A-Z0-9]{1,20}_[A-Z0-9_]{2,40})=(\S{1,60})$")


def misnamed(tried: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    """The variables that were tried in vain under a name that nothing reads, with their values.

    ``tried``: changes (``NCCL_SOCKET_IFACE=ens4``) with what came of them. A variable of a right name may have been
    taken away again; one that is misspelt is why the trial showed nothing.
    """
    found = (match for change, outcome in tried if outcome != "works" and (match := _NAMED.match(change)))
    verdicts = ((name, value, of_name(name)) for name, value in (match.groups() for match in found))
    return [(name, value) for name, value, verdict in verdicts if verdict is not None and verdict.fault not in _READ]
