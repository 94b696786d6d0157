"""The JSON file of nccl-tests (``-J``), whole or cut off behind a result.

Format: nccl-tests src/util.cu (jsonOutputInit, writeDeviceReport, writeBenchmarkLineBody,
writeResultFooter), since 2.17.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from ncdiag.base.patterns import lazy_regex
from ncdiag.base.spans import Section
from ncdiag.facts.observe import Observation, observe
from ncdiag.facts.scalars import bus_id
from ncdiag.formats import decoded, relaxed_json

ANCHOR = (
    r'\{\s?"version"\s?:\s?\d,\s?"start_time"'
    r'|\{?\s{0,8}"(?:start_time"\s?:\s?"\d{4}-|args"\s?:\s?\[\s?(?:$|"\S{0,200}_perf))'
)
_START = lazy_regex(r'\s{0,8}\{?\s{0,8}"(?:version|start_time|args)"\s?:')
_PROGRAM = lazy_regex(r"((?:[a-z]+_){1,3}perf)(?:_mpi)?$")
_CONFIG = {
    "nthreads": "nthreads", "ngpus": "gpus_per_process", "minimum_bytes": "min_bytes", "maximum_bytes": "max_bytes",
    "iterations": "iterations", "validation": "validation",
}  # fmt: skip
_MEASURES = {"time": "time_us", "cpu_time": "time_us", "alg_bw": "algbw", "bus_bw": "busbw", "nwrong": "wrong"}


def starts(line: str) -> bool:
    """The first lines of such a file."""
    return _START.match(line) is not None


def continues(lines: Sequence[str], line: str) -> bool:
    """Lines of JSON to the last brace."""
    return not line.strip() or (decoded.is_line(line) and not decoded.closed(lines[-1], line))


def read(section: Section) -> list[Observation]:
    """One Benchmark, and the ranks and GPUs of the device list; nothing where the text is another file."""
    text = section.text.strip()
    value = relaxed_json.loads(text if text.startswith("{") else "{" + text).value
    told = decoded.table(value)
    config = decoded.table(told.get("config"))
    if not config and "results" not in told:
        return []
    devices = decoded.tables(config.get("devices"))
    fields: dict[str, Any] = {
        target: config[name] for name, target in _CONFIG.items() if isinstance(config.get(name), int)
    }
    rows = [_row(item) for item in decoded.tables(told.get("results"))]
    fields["rows"] = [row for row in rows if "time_us" in row or "in_place_time_us" in row]
    hosts = {str(device.get("hostname")) for device in devices}
    if devices and {device.get("rank") for device in devices} == set(range(len(devices))):
        fields |= {"nranks": len(devices), "nhosts": len(hosts)}
    fields |= _summary(told)
    args = told.get("args")
    program = _PROGRAM.search(str(args[0])) if isinstance(args, list) and args else None
    fields["program"] = program[1] if program else None
    run = observe(section, 0, "Benchmark", **fields)
    return [run, *(o for device in devices for o in _device(section, device))]


def _summary(told: dict[str, Any]) -> dict[str, Any]:
    bounds, average = decoded.table(told.get("out_of_bounds")), decoded.table(told.get("average_bus_bandwidth"))
    fields = {
        "out_of_bounds": bounds.get("count"), "out_of_bounds_ok": bounds.get("okay"),
        "average_busbw": average.get("bandwidth"), "average_ok": average.get("okay"),
    }  # fmt: skip
    return {name: value for name, value in fields.items() if isinstance(value, int | float)}


def _row(item: dict[str, Any]) -> dict[str, Any]:
    row: dict[str, Any] = {"size": item.get("size", 0), "count": item.get("count"), "datatype": item.get("type")}
    redop, root = item.get("redop"), str(item.get("root", ""))
    row["redop"] = None if redop == "none" else redop
    row["root"] = int(root) if re.fullmatch(r"-?\d{1,9}", root) else None
    row["iterations"] = item.get("actual_iterations")
    for side, before in (("out_of_place", ""), ("in_place", "in_place_")):
        for name, value in decoded.table(item.get(side)).items():
            if name in _MEASURES and isinstance(value, int | float):
                row[before + _MEASURES[name]] = int(value) if name == "nwrong" else float(value)
    return {name: value for name, value in row.items() if value is not None}


def _device(section: Section, device: dict[str, Any]) -> list[Observation]:
    rank, pid, number, host = (device.get(name) for name in ("rank", "pid", "device", "hostname"))
    if (
        not isinstance(rank, int)
        or not isinstance(pid, int)
        or not isinstance(number, int)
        or not isinstance(host, str)
    ):
        return []
    host = host.split(".", 1)[0]
    address = bus_id(str(device.get("device_hex", "")))
    found = [observe(section, 0, "Rank", (pid, number), host=host, rank=rank, bus_id=address)]
    model = device.get("device_info")
    if isinstance(model, str) and model.strip():
        found.append(observe(section, 0, "Gpu", (address or number,), host=host, model=model.strip()))
    return found
