"""Explain a word, a line, a rule or a fact."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ncdiag.base.faces import exported

if TYPE_CHECKING:
    from ncdiag.apps.explaining import facts, lines, order_text, rule_pages, rule_text, signs
    from ncdiag.apps.explaining.answer_text import is_pasted, text_of
    from ncdiag.apps.explaining.answers import Answer, answers_to, suggestions
    from ncdiag.apps.explaining.conditions import meanings
    from ncdiag.apps.explaining.lines import Explanation
    from ncdiag.apps.explaining.nearby import rules_about

__all__ = [
    "Answer", "Explanation", "answers_to", "facts", "is_pasted", "lines", "meanings", "order_text", "rule_pages",
    "rule_text", "rules_about", "signs", "suggestions", "text_of",
]  # fmt: skip
__getattr__ = exported(
    __name__,
    {
        "": ("facts", "lines", "order_text", "rule_pages", "rule_text", "signs"),
        "answer_text": ("is_pasted", "text_of"),
        "answers": ("Answer", "answers_to", "suggestions"),
        "conditions": ("meanings",),
        "lines": ("Explanation",),
        "nearby": ("rules_about",),
    },
)
