"""The forms of English verbs, so that a pattern names a verb once and matches each tense of it.

``verbs("hang", "slow down")`` matches hangs, hung, slowed down; ``in_all_tenses`` adds the irregular pasts to a pattern
that was written in the present.
"""

from __future__ import annotations

from collections.abc import Iterator

from ncdiag.base.patterns import lazy_regex

_IRREGULAR = {
    "become": "became", "begin": "began begun beginning", "blow": "blew blown", "break": "broke broken",
    "bring": "brought", "catch": "caught", "come": "came", "creep": "crept", "cut": "cut cutting", "die": "died dying",
    "do": "does did done", "eat": "ate eaten", "fall": "fell fallen", "find": "found", "freeze": "froze frozen",
    "get": "got gotten getting", "give": "gave given", "go": "goes went gone", "grow": "grew grown", "hang": "hung",
    "have": "has had having", "hit": "hit hitting", "hold": "held", "keep": "kept", "leave": "left", "lie": "lay lying",
    "lose": "lost", "make": "made", "put": "put putting", "quit": "quit quitting", "read": "read",
    "rise": "rose risen", "run": "ran running", "say": "said", "see": "saw seen", "show": "showed shown",
    "shrink": "shrank shrunk", "shut": "shut shutting", "sink": "sank sunk", "sit": "sat sitting", "slide": "slid",
    "spend": "spent", "spin": "spun spinning", "stand": "stood", "stick": "stuck", "swing": "swung",
    "take": "took taken", "throw": "threw thrown", "wake": "woke woken",
}  # fmt: skip
"""The pasts and participles that no ending makes."""
_DOUBLED = frozenset({"drop", "dip", "sag", "stop", "lag", "skip", "drag", "jam", "flip", "bog", "step"})
"""Verbs whose last letter is doubled before an ending."""
_TOLD = {
    "become": "became", "begin": "began", "break": "broke", "come": "came", "fall": "fell|fallen", "freeze": "froze",
    "get": "got", "give": "gave", "go": "went", "grow": "grew|grown", "hang": "hung", "rise": "rose|risen",
    "shrink": "shrank|shrunk", "sink": "sank|sunk", "sit": "sat", "stand": "stood",
    "take": r"took(?!\s(?:me|us|him|them)\b)"
            r"(?!\s(?:\w+\s){0,3}(?:minutes|mins?|hours|hrs?|days)\b(?!\s(?:instead|longer|rather|more|but)))",
}  # fmt: skip
"""Pasts of what troubles do, which mean nothing else.

What took a person long is no trouble of the job, and that something took hours is none by itself.
"""
_PRESENT = lazy_regex(
    rf"(?:(?<![A-Za-z\\])|(?<=\\s)|(?<=\\b))(?P<verb>{'|'.join(_TOLD)})(?P<ending>s\?|e?s)(?![A-Za-z?*+{{])"
)


def verbs(*names: str) -> str:
    """A pattern for all tenses of these verbs, or of a list with commas; what follows a blank follows the verb."""
    listed = ", ".join(names).split(", ")
    return rf"(?:{'|'.join(_tenses(*name.partition(' ')) for name in listed)})"


def _tenses(verb: str, _blank: str, rest: str) -> str:
    words = "|".join(dict.fromkeys(_words(verb)))
    return rf"(?:{words})\s{rest.replace(' ', chr(92) + 's')}" if rest else words


def _words(verb: str) -> Iterator[str]:
    """The patterns of a verb: its stem with endings, and its irregular forms."""
    irregular = _IRREGULAR.get(verb, "").split()
    past = "" if irregular else "ed|"
    if verb.endswith("e"):
        stem, endings = verb[:-1], rf"(?:{'' if irregular else 'ed|'}es?|ing)"
        yield stem + endings
    elif verb.endswith("y") and verb[-2] not in "aeou":
        yield rf"{verb[:-1]}(?:y|ies|ied|ying)"
    elif verb in _DOUBLED:
        yield rf"{verb}(?:s|{verb[-1]}ed|{verb[-1]}ing)?"
    else:
        yield rf"{verb}(?:{past}{'es' if verb.endswith(('s', 'x', 'z', 'ch', 'sh')) else 's'}|ing)?"
    yield from irregular


def in_all_tenses(pattern: str) -> str:
    """The source of a pattern, with the irregular past beside each ``takes?`` or ``takes``.

    What looks ahead keeps ``re`` from parting the common letters of both, of which literals would be left that are
    too short to search for.
    """
    return _PRESENT.sub(lambda found: rf"(?:{found[0]}|(?=\w)(?:{_TOLD[found['verb']]}))", pattern)
