"""Plugins that do not load, do not match the release, or are used in place of the intended one."""

from __future__ import annotations

from ncdiag.base.patterns import lazy_regex
from ncdiag.facts.derived import derived, derived_of
from ncdiag.facts.model import Event, Host, Job, Rank, Setting
from ncdiag.facts.view import View
from ncdiag.facts.vocabulary.rdma import ranks_of

_MISSING = lazy_regex(r"(?:^|[ /])([\w.+-]{1,200}\.so[\w.]{0,40}): cannot open shared object file")
_PLUGIN_FAILURES = {
    "ofi-no-provider", "ofi-init-failed", "ofi-option-failed",
    "plugin-load-failed", "plugin-not-found", "plugin-init-failed",
}  # fmt: skip


def _missing_library(event: Event) -> str | None:
    """The library other than the plugin itself that the loader did not find (glibc, elf/dl-load.c); None if none."""
    missing = _MISSING.search(str(event.fields.get("error", ""))) if event.event == "plugin-load-failed" else None
    return None if missing is None or missing[1].startswith("libnccl") else missing[1]


_SLINGSHOT = lazy_regex(r"hsn\d+$")
"""Interfaces of HPE Slingshot, which NCCL reaches at full speed through the plugin for libfabric alone."""
_OFI_FAILURES = frozenset({"ofi-no-provider", "ofi-init-failed", "ofi-option-failed"})


@derived
def lacks_needed_plugin(host: Host, view: View) -> bool | None:
    """Did a plugin that this machine needs fail?

    The OFI plugin started and found nothing, a plugin lacks a library, one was named and not found, or none was found
    and sockets use Slingshot cards. Where NCCL's own verbs transport is used instead, only a named plugin counts.
    """
    mine = view.events_on(host.name, _PLUGIN_FAILURES)
    events = {e.event for e in mine}
    for event in mine:
        view.note(event)
    ranks = ranks_of(host, view)
    if any(r.net not in {None, "Socket", "IB"} for r in ranks):
        return False
    served = any(r.net == "IB" for r in ranks)
    if events & _OFI_FAILURES and not served:
        return True
    sockets = [i.name for r in ranks if r.net in {None, "Socket"} for i in r.socket_interfaces or ()]
    if mine and any(map(_SLINGSHOT.match, sockets)):
        return True
    named = _named_plugin(host, view)
    if not served and any(_missing_library(event) for event in mine):
        return True
    if named is not None and named.is_set and named.text and named.effective != "none":
        return bool(events & {"plugin-load-failed", "plugin-not-found", "plugin-init-failed"}) or None
    return False if ranks else None


def _named_plugin(of: Host | Job, view: View) -> Setting | None:
    named, provider = view.setting(of, "NCCL_NET_PLUGIN"), view.setting(of, "FI_PROVIDER")
    ranks = ranks_of(of, view) if isinstance(of, Host) else view.job.ranks
    by_verbs = any(device.link_layer for rank in ranks for device in rank.net_devices or ())  # the image is a cloud's
    if (
        not by_verbs and provider is not None and provider.is_set and provider.text == "efa"
    ):  # only the plugin of AWS reads it
        view.note(provider)
        return provider
    return named


@derived
def lacks_other_plugin(job: Job, view: View) -> bool:
    """Do plugins fail, none of them the one for libfabric: by its lines, name, libraries or settings?"""
    failed = [e for e in view.job.events if e.event in _PLUGIN_FAILURES]
    if not failed or any(e.event in _OFI_FAILURES for e in failed):
        return False
    if any((_missing_library(e) or "").startswith(("libfabric", "libefa")) for e in failed):
        return False
    named = _named_plugin(job, view)
    return named is None or not (named.is_set and (named.name == "FI_PROVIDER" or "ofi" in (named.text or "")))


@derived
def plugin_need(host: Host, view: View) -> str:
    """What the plugin lacks, ``: libfabric.so.1 is missing``, or a newer libfabric; empty where no line names it."""
    wanted = libfabric_needed(host, view)
    if wanted:
        shown = next((e.fields.get("libfabric") for e in view.events_on(host.name, ["ofi-libfabric-version"])), None)
        has = f", and {shown} was loaded" if shown else ""
        return f": it needs libfabric {wanted} or later{has}"
    mine = view.events_on(host.name, _PLUGIN_FAILURES)
    found = next((library for e in mine if (library := _missing_library(e))), None)
    return f": {found} is missing" if found else ""


@derived
def libfabric_needed(host: Host, view: View) -> str:
    """The least release of libfabric with which the plugin starts, as it says, ``1.22.0``; empty where it says none."""
    found = next(iter(view.events_on(host.name, ["ofi-libfabric-too-old"])), None)
    if found is None:
        return ""
    view.note(found)
    return str(found.fields["libfabric_needed"]).rstrip(".")


@derived
def ib_is_off(job: Job, view: View) -> bool | None:
    """Is NCCL's own verbs transport switched off?"""
    setting = view.setting(job, "NCCL_IB_DISABLE")
    if setting is None or (setting.number is None and setting.is_set is not False):
        return None
    view.note(setting)
    return bool(setting.is_set and setting.number)


_IBEXT = lazy_regex(r"IBext(?:_v\d{1,3})?")


@derived
def is_on_ibext(rank: Rank, view: View) -> bool | None:
    """Is the rank's network that of HPC-X's plugin? Its name includes the interface version since v6."""
    if rank.net is None:
        return None
    view.note(rank, "net")
    return _IBEXT.fullmatch(rank.net) is not None


@derived
def refuses_plugin(host: Host, view: View) -> bool | None:
    """Did NCCL find a network plugin without an interface version that it supports, and continue without it?

    It tries one version of the interface after the other; a plugin that loads in the end does not count.
    """
    asked = view.events_on(host.name, ["plugin-symbol-missing"])
    missing = [e for e in asked if str(e.fields.get("symbol", "")).startswith("ncclNet")]
    missing += [e for e in view.events_on(host.name, ["plugin-unsupported"]) if "plugin_kind" not in e.fields]
    if not missing:
        return False
    if view.events_on(host.name, ["plugin-loaded"]) or any(r.net_plugin for r in ranks_of(host, view)):
        return False
    nets = {r.net for r in ranks_of(host, view) if r.net is not None}
    view.note(missing[-1])
    if not nets:
        return True if view.events_on(host.name, ["plugin-list-internal"]) else None
    return bool(nets & {"Socket", "IB"})


@derived_of("other-plugin-not-found")
def is_named_tuner_missing(event: Event, view: View) -> bool | None:
    """Was a tuner plugin configured by name and not found?"""
    if "TUNER/" not in event.text:
        return False
    setting = view.setting(view.job, "NCCL_TUNER_PLUGIN")
    return None if setting is None else bool(setting.is_set and setting.text) and setting.effective != "none"
