"""The variables in force on a host: its environment, then the conf files that the release reads."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator, Mapping, Sequence

import msgspec

from ncdiag.facts.model import Host, Setting
from ncdiag.facts.scalars import Version, VersionRange
from ncdiag.facts.view import View
from ncdiag.nccl import environment, versions
from ncdiag.nccl.judgement.values import of_value
from ncdiag.nccl.selection import settings as conf
from ncdiag.nccl.selection.reasons import Reason
from ncdiag.nccl.vocabulary.environment import CONF, conf_settings_told, variables_told

AnyVersion = Version | VersionRange | None
_HOME_FILE = "/.nccl.conf"
_ELSE = "NCCL_CONF_FILE"
_PARAM, _WORDS = "src/misc/param.cc:95 (v2.30.7-1)", "src/graph/paths.cc:243 (v2.30.7-1)"


class InForce(msgspec.Struct, frozen=True):
    """The values by name, and reasons: where they come from, and how NCCL reads them."""

    values: dict[str, str]
    reasons: tuple[Reason, ...] = ()


def settings_of(host: Host, view: View) -> dict[str, str]:
    """Return the NCCL variables set on a host, as the selection functions take them; must not be modified."""
    if view.hosts.get(host.name) is not host:
        return in_force(host, view, view.version(host)).values
    return view.remembered(("settings", host.name), lambda: in_force(host, view, view.version(host)).values)


def in_force(host: Host, view: View, version: AnyVersion, env: Mapping[str, str] | None = None) -> InForce:
    """Return the variables of a host with this release; ``env`` are additional variables of the environment."""
    told = {name: view.setting(host, name) for name in variables_told(view.job, view)}
    set_ones = {name: s for name, s in told.items() if s is not None and s.is_set and s.text is not None}
    values = {name: s.text or "" for name, s in set_ones.items() if s.origin != CONF} | dict(env or {})
    reasons: list[Reason] = []
    for setting in _of_files(host, view, values, version, reasons):
        name, where = setting.name, setting.file or "a conf file"
        if name not in values:
            values[name] = setting.text or ""
            reasons.append(Reason(name, f"{setting.text} comes from {where}", "conf file", conf.SOURCE))
        elif name in (env or {}) or set_ones.get(name) is None or set_ones[name].origin != CONF:
            text = f"the {setting.text} of {where} does not count: the environment sets it"
            reasons.append(Reason(name, text, "environment first", conf.SOURCE))
    return InForce(values, (*reasons, *_misread(tuple(values.items()), version)))


def _of_files(
    host: Host, view: View, values: Mapping[str, str], version: AnyVersion, reasons: list[Reason]
) -> Iterator[Setting]:
    """The settings of the conf files that the release reads, in its order; the first setting of a name counts."""
    everywhere = conf_settings_told(view.job, view)
    by_host = view.remembered(("conf files",), lambda: _by_host(everywhere))
    told = [everywhere[place] for place in sorted((*by_host.get(host.name, ()), *by_host.get(None, ())))]
    if not told:
        return
    named = values.get(_ELSE)
    reads = versions.agreed(version, (versions.CONF_FILE_VARIABLE,), lambda v: v >= versions.CONF_FILE_VARIABLE)
    if named and reads is False:
        reasons.append(Reason(_ELSE, "is not read by this release (2.23 and later)", _ELSE, conf.SOURCE))
    instead = named if named and reads is not False else None
    homes = list(dict.fromkeys(s.file for s in told if _is_home(s.file)))
    if len(homes) > 1 and instead is None:
        text = f"which of {', '.join(map(str, homes))} the job reads is not known: none is taken"
        reasons.append(Reason("", text, "conf file", conf.SOURCE))
    if homes and instead is not None:
        text = f"{', '.join(map(str, homes))} is not read: NCCL_CONF_FILE replaces it"
        reasons.append(Reason(_ELSE, text, _ELSE, conf.SOURCE))
    user = [s for s in told if _is_user_file(s.file, instead, homes)]
    yield from user
    yield from (s for s in told if s.file in {conf.SYSTEM_FILE, None})


def _by_host(settings: Sequence[Setting]) -> dict[str | None, list[int]]:
    """The indices of the settings, by host."""
    found: dict[str | None, list[int]] = {}
    for place, setting in enumerate(settings):
        found.setdefault(setting.host, []).append(place)
    return found


def _is_home(file: str | None) -> bool:
    return file is not None and file.endswith(_HOME_FILE)


def _is_user_file(file: str | None, instead: str | None, homes: Sequence[str | None]) -> bool:
    """Is it the file that NCCL_CONF_FILE names, else the one in the only home folder that was seen?"""
    if instead is not None:
        return file is not None and file.endswith(instead.removeprefix("~").removeprefix("$HOME"))
    return _is_home(file) and len(homes) == 1


@functools.lru_cache(maxsize=256)
def _misread(values: tuple[tuple[str, str], ...], version: AnyVersion) -> tuple[Reason, ...]:
    """Reasons for values that NCCL does not read as intended; cached, since most hosts have equal values."""
    return tuple(_reasons(values, version))


def _reasons(values: Iterable[tuple[str, str]], version: AnyVersion) -> Iterator[Reason]:
    exact = versions.LATEST_READ if version is None else version
    for name, text in values:
        known, wrong = environment.variables().get(name), of_value(name, text, exact)
        if known is None:
            continue
        if known.exists_at(exact) is False:
            yield Reason(name, "this release does not read it", "history of the variable", _PARAM)
        elif wrong is not None and not wrong.mild and wrong.holds(exact):
            by_number = known.type in environment.NUMBERS
            default = environment.resolve(name, text, exact).default if wrong.fault == "word-unknown" else None
            kept = f"; the default {default} stays" if default is not None else ""
            rule, source = ("strtoll", _PARAM) if by_number else ("whole words only", _WORDS)
            yield Reason(name, f"{wrong.what}{kept}", rule, source)
