"""The settings of a site: private rule packs, and rules to ignore, each with a reason and an end date.

Only one file is read, the first of these that exists: ``--config``; ``NCDIAG_CONFIG`` (if empty, no file is read);
``ncdiag.toml`` in the working directory, if the user or root owns it; ``ncdiag/config.toml`` in the user's
configuration folder; ``/etc/ncdiag.toml``::

    rules = ["site-rules"]          # folders, relative to this file
    baseline = "good.tar.gz"        # the state that `check` compares with, relative to this file

    [[ignore]]
    rule = "shm-too-small"
    reason = "the image mounts its own, ticket 123"
    until = 2027-01-31

Each report lists the ignored rules, so that nobody thinks they passed. From the day ``until`` on, the rule is judged
again, and the report says that the exception has expired.
"""

from __future__ import annotations

import datetime as dt
import os
from collections.abc import Mapping
from pathlib import Path

import msgspec

from ncdiag.base.errors import DefinitionError, UsageError

VARIABLE = "NCDIAG_CONFIG"
PROJECT = Path("ncdiag.toml")
SYSTEM = Path("/etc/ncdiag.toml")


class Ignored(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A rule (code or name) that is not judged; ``until`` is the first day on which it is judged again."""

    rule: str
    reason: str
    until: dt.date | None = None

    def told(self, file: Path) -> str:
        """The phrase in reports that says which rule is ignored, until when and why."""
        until = f" until {self.until}" if self.until else ""
        return f"{self.rule}, ignored by {file}{until}: {self.reason}"

    def ended(self, file: Path) -> str:
        """The sentence in reports after the exception has expired."""
        return f"{self.rule} is used again since {self.until}; {file} ignored it until then: {self.reason}"


class Config(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """The content of a file: ``rules`` are folders of private packs, ``select`` the only rules to judge (code or name).

    ``baseline`` is a file or folder with a good state, which ``check`` compares with.
    """

    rules: tuple[str, ...] = ()
    select: tuple[str, ...] = ()
    ignore: tuple[Ignored, ...] = ()
    baseline: str | None = None
    file: Path | None = None

    def packs(self) -> tuple[Path, ...]:
        """The folders of private rules, resolved relative to the file."""
        base = self.file.parent if self.file else Path()
        return tuple(base / folder for folder in self.rules)

    def good_state(self) -> Path | None:
        """The path of the baseline, resolved relative to the file; None if there is none."""
        base = self.file.parent if self.file else Path()
        return base / self.baseline if self.baseline else None

    def expired(self, today: dt.date) -> tuple[str, ...]:
        """A sentence for each rule that is judged again because its exception has expired; one per rule."""
        held = {item.rule for item in self.left_out(today)}
        ended = {item.rule: item for item in self.ignore if item.until is not None and item.until <= today}
        return tuple(item.ended(self.file or PROJECT) for rule, item in ended.items() if rule not in held)

    def left_out(self, today: dt.date) -> tuple[Ignored, ...]:
        """The rules that are not judged on the day ``today``."""
        return tuple(item for item in self.ignore if item.until is None or today < item.until)


def load(named: Path | None = None, environment: Mapping[str, str] = os.environ) -> Config:
    """The settings in effect; empty ones if there is no file.

    Raises UsageError for a named file that does not exist, DefinitionError for one that cannot be understood.
    """
    path = named or find(environment)
    if path is None:
        return Config()
    from ncdiag.base import toml

    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        msg = f"{path}: the configuration cannot be read: {error.strerror}"
        raise UsageError(msg) from None
    except ValueError:
        msg = f"{path}: the configuration is not UTF-8"
        raise UsageError(msg) from None
    data = toml.definition(text, str(path))
    if "file" in data:
        reason = "unknown key 'file'"
        raise DefinitionError(reason, file=str(path))
    try:
        return msgspec.structs.replace(msgspec.convert(data, Config), file=path)
    except msgspec.ValidationError as error:
        raise DefinitionError(
            str(error), file=str(path), hint="allowed keys: rules, select, baseline and [[ignore]]"
        ) from None


def find(environment: Mapping[str, str] = os.environ) -> Path | None:
    """The file to read when the command line names none; None if none exists."""
    if VARIABLE in environment:
        return Path(environment[VARIABLE]) if environment[VARIABLE] else None
    user = environment.get("XDG_CONFIG_HOME") or os.path.join(environment.get("HOME", ""), ".config")  # noqa: PTH118
    project = () if passed_over(environment) else (PROJECT,)
    places = (*project, Path(user, "ncdiag", "config.toml"), SYSTEM)
    return next((place for place in places if os.path.isfile(place)), None)  # noqa: PTH113  (raises nothing)


def passed_over(environment: Mapping[str, str] = os.environ) -> Path | None:
    """The file in the working directory that is ignored because another user owns it: it may name rule packs."""
    if VARIABLE in environment or not hasattr(os, "getuid"):
        return None
    try:
        owner = PROJECT.stat().st_uid
    except OSError:
        return None
    return None if owner in {os.getuid(), 0} else PROJECT
