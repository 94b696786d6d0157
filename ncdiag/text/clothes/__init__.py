"""Clothes of a whole paste that its form shows: encodings, cells, columns, the newest line first."""

from ncdiag.text.clothes.encodings import without_base64
from ncdiag.text.clothes.off import taken_off

__all__ = ["taken_off", "without_base64"]
