"""Why NCCL chooses what it chooses."""

from __future__ import annotations

import msgspec


class Reason(msgspec.Struct, frozen=True):
    """One step of a choice.

    ``about`` is what was considered (an interface, a GID entry; "" for the choice as a whole), ``text`` what became
    of it, ``rule`` the variable, default or test that decided, ``source`` the place in NCCL's source with its tag.
    """

    about: str
    text: str
    rule: str
    source: str

    def __str__(self) -> str:
        return f"{self.about}: {self.text}" if self.about else self.text
