"""The form of a job that falls apart: each process, or each host, runs as a job of its own."""

from __future__ import annotations

from ncdiag.parsers.user_text.forms.form import Form, Way

_MANY = r"(?:\d{1,4}|two|three|four|five|six|seven|eight|nine|ten|twelve|sixteen|several|multiple|many|n)"
_COPIES = (
    r"(?:jobs|copies|instances|runs|trainings|training (?:jobs|runs|processes)|programs|worlds|processes|experiments"
    r"|applications|singletons|tests)"
)
_APART = r"(?:independent|separate|single|individual|identical|unrelated|isolated|one-process|single-process|different)"
_INSTEAD = r"(?:instead of|rather than|and not|not) (?:just |only |as )?(?:one|1|a single|single|a|the)\b"
_EACH = (
    r"(?:(?:each|every)(?: single| one of the)?|(?:all|both|any|all of|both of|each of)(?: the| our| my| \d+)*) "
    r"(?:\w+ ){0,2}?(?:process(?:es)?|ranks?|tasks?|workers?|gpus?|nodes?|hosts?|machines?|pods?|servers?|copy|copies"
    r"|instances?|mpi process(?:es)?)"
)
_CLAIMS = (
    r"(?:thinks?|believes?|assumes?|says?|claims?|reports?|prints?|shows?|sees?|gets?|got|has|have|is|are|becomes?|runs?"
    r"|starts?|logs?|comes up|come up|returns?|initiali[sz]es?)"
)
_BETWEEN = (
    r"(?:it|it's|they|they're|that|is|are|be|to|itself|themselves|as|the|its|their|own|a|of|only|just|always|being|number"
    r"|has|have|with|=|:)"
)
"""Words between a claim's verb and what is claimed."""
_FIRST = (
    r"(?:rank[ =:]{0,3}(?:0|zero)"
    r"(?=\W*$|[,.;)]|\s?/| (?:and|but|of (?:1|one|a)\b|in a|although|though|instead|with|so|while))"
    r"|world[ _]?size (?:\w+ )?[=:]?\s?(?:1|one)\b|world[ _]?size[=:]\s?1\b"
    r"|(?:a )?(?:world|job|group|communicator) (?:size )?of (?:size )?(?:1|one)\b|(?:0|zero) of (?:1|one)\b"
    r"|the only (?:one|rank|process|member|worker|node)|(?:the )?(?:master|main process|first rank)\b|alone\b|size 1\b)"
)
_OWN = (
    r"(?:its|their) own (?:separate |independent )?"
    r"(?:job|jobs|training|trainings|run|world|copy|experiment|communicator)\b"
    r"|(?:an?|as an?) (?:separate|independent|own) (?:job|training|run|copy|experiment)\b"
    r"|(?:trains?|runs?|works?) (?:\w+ )?(?:independently|separately|in isolation|alone|by itself|on its own)\b"
)
_PART = (
    r"\b(?:local|node|tensor|pipeline|data|expert|context)[- _]?(?:parallel )?(?:rank|group|size)"
    r"|\b(?:of|in) (?:its|their|the|each) (?:\w+ )?(?:group|subgroup|node|host|pipeline|stage)\b"
)
"""A rank or a size within a part of the job, which says nothing about the whole job."""
_MEANT = (
    r"\b(?:i|we|you) (?:\w+ ){0,2}?"
    r"(?:use|run|start|launch|submit|want|wanted|need|plan|decided|prefer|chose|split|test)\w* (?:\w+ ){0,2}?\d"
    r"|\bon purpose\b|\bdeliberate\w*|\bas (?:intended|expected|planned|designed)\b|\bper gpu\b|\bfine\b"
    r"|\bto (?:save|test|compare|avoid)\b|\b(?:should|must|may|could) (?:be|run|start|use|train)\b"
    r"|\bgrid search\b|\bsweep\b"
)
"""Words for separate jobs that are intended or recommended."""

FORMS = (
    Form(
        "each-alone", "fails-at-init", ("fails-at-init", "cannot-start", "fails", "wrong-results", "not-used"),
        (
            Way("", rf"{_MANY} (?:\w+ ){{0,2}}?{_COPIES} (?:\S+ ){{0,4}}?{_INSTEAD}", _MEANT),
            Way("",
                rf"(?:starts?|started|launch(?:es|ed)?|spawns?|spawned|gives?|gave|creates?|created|runs?|get"
                rf"|ends? up with|becomes?) (?:me |us )?(?:{_MANY} )?{_APART} {_COPIES}", _MEANT),
            Way(_EACH, rf"{_CLAIMS} (?:{_BETWEEN} ){{0,5}}?(?:{_FIRST})", rf"{_PART}|{_MEANT}"),
            Way(_EACH, _OWN, rf"{_PART}|{_MEANT}|\b(?:data|dataset|shard|seed|log|file|cache)\b"),
            Way("",
                r"world[ _]?size (?:\w+ ){0,2}?(?:always|still|stays?|remains?|only|is|=|:) (?:\w+ ){0,2}?"
                r"(?:1|one)\b(?![.\d])",
                rf"{_PART}|{_MEANT}|\bif\b|\bwhen\b|\b(?:single|one) (?:gpu|node|process)\b"),
        ),
    ),
)  # fmt: skip
