"""HCCL's rank tables: counts, ids and addresses that do not match the job or its ports."""

from __future__ import annotations

from collections.abc import Iterator

from ncdiag.base.patterns import lazy_regex
from ncdiag.facts.derived import derived, derived_of
from ncdiag.facts.model import Event, Host, Job, Npu, RankTable, RankTableDevice, Setting
from ncdiag.facts.view import View

_NAMED = lazy_regex(r"\bhccl_(?:\d{1,4}s_)?(\d{1,5})p(?=[_.])")


@derived
def problem_text(table: RankTable, view: View) -> str:
    """What is wrong with the rank table, at most three problems."""
    return "; ".join(table.problems[:3])


@derived
def placeholder_text(table: RankTable, view: View) -> str:
    """Unfilled placeholders in place of addresses, ``{device_0_ip} and 17 more``; empty for none."""
    first, *others = table.placeholders or ("",)
    return f"{first} and {len(others)} more" if others else first


@derived
def rank_table_faults(job: Job, view: View) -> tuple[Event, ...]:
    """Problems of each rank table: HCCL's own lines where it rejected the table, else those it would report."""
    seen = [
        Event(
            event="hccl-ranktable-invalid", origin="hccl", kind="cause", text=problem_text(table, view),
            provenance=table.provenance,
        )
        for table in job.rank_tables
    ]  # fmt: skip
    told = any(event.text for event in seen)
    return (*seen, *(event for event in job.events if event.event == "hccl-ranktable-invalid" and not told))


@derived_of("hccl-ranktable-invalid")
def is_table_fault(event: Event, view: View) -> bool:
    """Is there a problem with the rank table?"""
    return bool(event.text)


@derived
def port_address(table: RankTable, view: View) -> str | None:
    """An address that the NPU's port does not have: ``device 1 of 10.3.0.1 has 29.1.1.9, the table 29.1.1.5``.

    Empty where all agree; None where no port of its devices was shown. The host of the ports is matched to the server
    with its name or address, else to the one with most of its devices' addresses.
    """
    compared = list(_compared(table, view))
    for npu, server, device in compared:
        if device.device_ip != npu.ip:
            view.note(npu, "ip")
            return f"device {device.device_id} of {server} has {npu.ip}, the table {device.device_ip}"
    return "" if compared else None


def _compared(table: RankTable, view: View) -> Iterator[tuple[Npu, str, RankTableDevice]]:
    """The NPUs whose port was shown, each with its server and its device in the table."""
    for host in view.job.hosts:
        ports = {str(npu.index): npu for npu in host.npus if npu.ip}
        server = _server(table, host, ports)
        for device in table.devices:
            npu = ports.get(device.device_id or "")
            if npu is not None and server and device.server_id == server and device.device_ip:
                yield npu, server, device


def _server(table: RankTable, host: Host, ports: dict[str, Npu]) -> str | None:
    own = {host.name} | {a.ip for interface in host.interfaces for a in interface.addresses or ()}
    servers = {device.server_id for device in table.devices if device.server_id}
    named = servers & own
    if named:
        return min(named)
    if len(servers) == 1:
        return min(servers)
    alike: dict[str, int] = {}
    for device in table.devices:
        npu = ports.get(device.device_id or "")
        if npu is not None and device.server_id and device.device_ip == npu.ip:
            alike[device.server_id] = alike.get(device.server_id, 0) + 1
    return max(alike, key=lambda server: alike[server]) if alike else None


@derived
def host_address(table: RankTable, view: View) -> str:
    """An address of a host that the table gives to one of its NPUs; empty for none."""
    return next((d.device_ip for d in table.devices if d.device_ip and d.device_ip == d.server_id), "")


def _rank_count(view: View) -> Setting | None:
    """The setting with the number of ranks: HCCL's RANK_SIZE, else PyTorch's WORLD_SIZE."""
    found = (view.setting(view.job, name) for name in ("RANK_SIZE", "WORLD_SIZE"))
    return next((setting for setting in found if setting is not None and setting.is_set), None)


@derived
def counted_tables(job: Job, view: View) -> tuple[RankTable, ...] | None:
    """The rank tables; if none is complete, a table with as many devices as the name in RANK_TABLE_FILE says.

    None if no table is shown or named. hccl_tools.py calls its file ``hccl_8p_01234567_10.0.0.1.json``, the merged one
    ``hccl_2s_16p.json``.
    """
    whole = tuple(table for table in job.rank_tables if table.devices and table.valid_json is not None)
    file = view.setting(job, "RANK_TABLE_FILE")
    named = _NAMED.search(file.text or "") if file is not None and file.is_set else None
    if whole or named is None or file is None:
        return job.rank_tables or None
    return (RankTable(devices=(RankTableDevice(),) * int(named[1]), valid_json=True, provenance=file.provenance),)


@derived
def rank_size_differs(table: RankTable, view: View) -> bool | None:
    """Does the number of ranks in the environment differ from the devices of the table? None if the table is cut."""
    setting = _rank_count(view)
    text = (setting.text or "").strip() if setting is not None else ""
    if not text.isdecimal() or not table.devices or table.valid_json is None:
        return None
    if setting is not None:
        view.note(setting)
    return int(text) != len(table.devices)


@derived
def rank_size(table: RankTable, view: View) -> str:
    """The number of ranks in the environment, as text for messages."""
    setting = _rank_count(view)
    return (setting.text if setting is not None else None) or "?"


@derived
def device_count(table: RankTable, view: View) -> int:
    """The number of devices in the rank table."""
    return len(table.devices)
