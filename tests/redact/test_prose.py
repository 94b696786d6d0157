"""Sentences in several languages that speak of a password and do not say it."""

from __future__ import annotations

import pytest

from ncdiag.formats.secrets.prose import prose

FREE = """
Das Passwort für den Knoten ist falsch
Das Kennwort vom BMC ist abgelaufen
Le mot de passe de la base est vide
La contraseña del nodo es incorrecta
A senha do nó é inválida
Het wachtwoord voor de node is verlopen
The password for the node is wrong
"""


@pytest.mark.parametrize("line", FREE.strip().splitlines())
def test_how_a_password_is_is_no_password(line: str) -> None:
    assert not list(prose(line))


@pytest.mark.parametrize(
    "line", ["Das Passwort für den Knoten lautet Regen7wurm", "Das Kennwort vom BMC war Zahn4arzt"]
)
def test_a_password_behind_what_it_is_for_is_found(line: str) -> None:
    (span,) = prose(line)
    assert line[slice(*span)] == line.rsplit(maxsplit=1)[-1]
