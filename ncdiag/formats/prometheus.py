"""Labels of a metric in Prometheus' text format: ``NAME{gpu="0",Hostname="n1"} 100``."""

from __future__ import annotations

from ncdiag.base.patterns import lazy_regex

LABELS = r"[^{}\n]{1,1500}"
"""What is between the braces."""
_LABEL = lazy_regex(r'(?P<name>\w{1,60})="(?P<value>[^"]{0,200})"')


def labels(text: str) -> dict[str, str]:
    """The labels in the text between the braces, by name."""
    return {found["name"]: found["value"] for found in _LABEL.finditer(text)}
