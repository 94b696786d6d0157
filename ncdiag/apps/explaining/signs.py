"""The signs of a suspect as text, and its score for an input."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ncdiag.apps.explaining.columns import width
from ncdiag.engine.schema import Rule, Sign
from ncdiag.language import cells, phrase, say
from ncdiag.suspects.weigh import Judged, Weighed

_WORDS: dict[bool | None, str] = {True: "seen", False: "not seen", None: "unknown"}


def sought(sign: Sign) -> Iterator[str]:
    """The phrases and conditions of a sign."""
    if sign.says:
        yield say("says {phrases}", phrases=say(" or ").join(map(repr, sign.says)))
    if sign.also:
        yield say("and says {phrases}", phrases=say(" or ").join(map(repr, sign.also)))
    yield from (" ".join(condition.split()) for condition in sign.when)


def standing(sign: Sign) -> str:
    """Strength, direction and group."""
    group = say(", group {group}", group=sign.group) if sign.group else ""
    return f"{say(f'{sign.strength} against' if sign.against else f'{sign.strength} for')}{group}"


def listed(rule: Rule) -> Iterator[str]:
    """The lines on a rule's suspect."""
    if rule.suspect is None:
        return
    yield "  " + say("{text} ({note})", text=say("suspected"), note=say(rule.suspect.prior))
    yield from _wrapped(rule.suspect.text, "    ")
    if rule.suspect.complaints:
        yield "    " + say("where the job {complaints}", complaints=", ".join(rule.suspect.complaints))
    if rule.suspect.ask:
        yield from _wrapped(rule.suspect.ask, "    ")
    for sign in rule.signs:
        yield from _wrapped(say("{text} ({note})", text=sign.text, note=standing(sign)), "    ")
        for part in sought(sign):
            yield from _wrapped(part, "      ")


def summed(weighed: Weighed) -> str:
    """The composition of a suspect's score: its prior, the job's complaint, and each of its signs."""
    prior = weighed.rule.suspect.prior if weighed.rule.suspect else ""
    lines = [
        "",
        f"  {say('as a suspect')}: {weighed.score:+.1f}",
        f"    {weighed.prior:+.1f}  {say('{prior}: how common this cause is', prior=say(prior))}",
    ]
    if weighed.trouble:
        fits = "the job has the problem that this cause produces"
        differs = "the job has a different problem from the one that this cause produces"
        lines.append(f"    {weighed.trouble:+.1f}  {say(fits if weighed.trouble > 0 else differs)}")
    for judged in sorted(weighed.signs, key=lambda judged: -abs(judged.counts)):
        counts = f"{judged.counts:+.1f}" if judged.counts else "    "
        note = say("; ").join((standing(judged.sign), _state(judged)))
        lines += _wrapped(f"{counts}  {say('{text} ({note})', text=phrase(judged.sign.text), note=note)}", "    ")
        lines += [f"           {span.source}:{span.line} {span.text}"[: width()] for span in judged.evidence[:1]]
    return "\n".join(lines) + "\n"


def _state(judged: Judged) -> str:
    if judged.truth and not judged.counts:
        return say("seen, but a stronger sign already shows the same")
    return say(_WORDS[judged.truth])


def _wrapped(text: str, indent: str) -> Iterable[str]:
    return cells.wrap(text, width(), indent, indent + "  ")
