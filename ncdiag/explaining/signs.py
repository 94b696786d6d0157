"""The signs of a suspect as text, and the sum that they come to on an input."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator

from ncdiag.differential.weigh import Judged, Weighed
from ncdiag.engine.schema import Rule, Sign
from ncdiag.explaining.columns import width

_WORDS = {True: "seen", False: "not seen", None: "unknown"}


def sought(sign: Sign) -> Iterator[str]:
    """What a sign looks for: its phrases and its conditions."""
    if sign.says:
        yield f"says {' or '.join(map(repr, sign.says))}"
    if sign.also:
        yield f"and says {' or '.join(map(repr, sign.also))}"
    yield from (" ".join(condition.split()) for condition in sign.when)


def standing(sign: Sign) -> str:
    """Strength, direction and group."""
    group = f", group {sign.group}" if sign.group else ""
    return f"{sign.strength} {'against' if sign.against else 'for'}{group}"


def listed(rule: Rule) -> Iterator[str]:
    """All that a rule says of its suspect, line by line."""
    if rule.suspect is None:
        return
    yield f"  suspected ({rule.suspect.prior})"
    yield from _wrapped(rule.suspect.text, "    ")
    if rule.suspect.complaints:
        yield f"    where something {', '.join(rule.suspect.complaints)}"
    if rule.suspect.ask:
        yield from _wrapped(rule.suspect.ask, "    ")
    for sign in rule.signs:
        yield from _wrapped(f"{sign.text} ({standing(sign)})", "    ")
        for part in sought(sign):
            yield from _wrapped(part, "      ")


def summed(weighed: Weighed) -> str:
    """How the score of a suspect comes about: its prior, the trouble that the job has, and each of its signs."""
    prior = weighed.rule.suspect.prior if weighed.rule.suspect else ""
    lines = [
        "",
        f"  as a suspect: {weighed.score:+.1f}",
        f"    {weighed.prior:+.1f}  {prior}: how often it is the cause",
    ]
    if weighed.trouble:
        fits = "is" if weighed.trouble > 0 else "is not"
        lines.append(f"    {weighed.trouble:+.1f}  the trouble of the job {fits} what it makes")
    for judged in sorted(weighed.signs, key=lambda judged: -abs(judged.counts)):
        counts = f"{judged.counts:+.1f}" if judged.counts else "    "
        lines += _wrapped(f"{counts}  {judged.sign.text} ({standing(judged.sign)}; {_state(judged)})", "    ")
        lines += [f"           {span.source}:{span.line} {span.text}"[: width()] for span in judged.evidence[:1]]
    return "\n".join(lines) + "\n"


def _state(judged: Judged) -> str:
    if judged.truth and not judged.counts:
        return "seen, and a stronger sign says the same"
    return _WORDS[judged.truth]


def _wrapped(text: str, indent: str) -> Iterable[str]:
    return textwrap.wrap(text, width(), initial_indent=indent, subsequent_indent=indent + "  ")
