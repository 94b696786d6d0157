"""``dcgmi diag -j`` and ``dcgmi health --check -j``.

Source of the formats: NVIDIA/DCGM dcgmi/Diag.cpp (HelperJsonAddResult), nvvs/include/NvvsJsonStrings.h,
testing/python3/dcgm_diag_schema.json (v4.x); v3.x names GPUs by ``gpu_id``. dcgmi/DcgmiOutput.cpp for ``health``: nodes
with ``value`` and ``children``.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ncdiag.base.spans import Section
from ncdiag.facts.observe import Observation, Parsed, observe
from ncdiag.formats import decoded

DIAG, HEALTH = "dcgmi diag", "dcgmi health"
RESULTS = {
    "pass": "pass", "healthy": "pass", "skip": "skip", "warn": "warn", "warning": "warn", "fail": "fail",
    "failure": "fail",
}  # fmt: skip
"""DCGM's words, in lower case, as a check's result."""
_TEXT = 400


def parse(section: Section) -> Parsed:
    """A check for each result that an object of one of the two commands holds."""
    root = decoded.opened(section.lines)
    diag, body = decoded.table(root.get("DCGM Diagnostic")), decoded.table(root.get("body"))
    found = [*_diag(section, diag), *_health(section, body)]
    driver = decoded.table(root.get("metadata")).get("Driver Version Detected", diag.get("Driver Version Detected"))
    if isinstance(driver, str):
        found.append(observe(section, 0, "Host", driver=driver))
    unread = () if diag or body else tuple(i for i, line in enumerate(section.lines) if line.strip())
    return Parsed(observations=tuple(found), unread=unread)


def _diag(section: Section, diag: dict[str, Any]) -> Iterator[Observation]:
    for category in decoded.tables(diag.get("test_categories")):
        for test in decoded.tables(category.get("tests")):
            name = decoded.text(test.get("name"))
            results = decoded.tables(test.get("results")) or [decoded.table(test.get("test_summary"))]
            for item in results if name else ():
                result = RESULTS.get((decoded.text(item.get("status")) or "").lower())
                if result:
                    yield check(section, 0, DIAG, name or "", result, _warnings(item), **_whose(item))


def _whose(item: dict[str, Any]) -> dict[str, Any]:
    """The GPUs that a result is of, or the name of another device."""
    number = item.get("entity_id", item.get("gpu_id", item.get("gpu_ids")))
    kind = decoded.text(item.get("entity_group")) or "GPU"
    if kind != "GPU":
        return {"part": f"{kind} {number}"}
    numbers = str(number).split(",") if isinstance(number, (int, str)) else []
    return {"gpus": tuple(int(n) for n in map(str.strip, numbers) if n.isdecimal() and len(n) < 5)}  # noqa: PLR2004


def _warnings(item: dict[str, Any]) -> str:
    told = item.get("warnings")
    texts = told if isinstance(told, list) else [told]
    said = [decoded.table(text).get("warning", text) for text in texts]
    return "; ".join(text for text in said if isinstance(text, str))[:_TEXT]


def _health(section: Section, body: dict[str, Any]) -> Iterator[Observation]:
    """The systems below each device; the word for the whole where no device is named."""
    found = False
    for kind, devices in body.items():
        for number, device in _children(devices):
            for name, system in _children(decoded.table(decoded.table(device.get("children")).get("Errors"))):
                result = RESULTS.get((decoded.text(system.get("value")) or "").lower())
                is_gpu = kind == "GPU" and number.isdecimal() and len(number) < 5  # noqa: PLR2004  (no machine has more)
                if result:
                    found = True
                    whose: dict[str, Any] = {"gpus": (int(number),)} if is_gpu else {"part": f"{kind} {number}"}
                    yield check(section, 0, HEALTH, name, result, _overflow(system), **whose)
    overall = RESULTS.get((decoded.text(decoded.table(body.get("Overall Health")).get("value")) or "").lower())
    if overall and not found:
        yield check(section, 0, HEALTH, "overall", overall, "")


def _children(node: Any) -> Iterator[tuple[str, dict[str, Any]]]:  # noqa: ANN401
    for name, child in decoded.table(decoded.table(node).get("children")).items():
        yield name, decoded.table(child)


def _overflow(system: dict[str, Any]) -> str:
    told = system.get("overflow")
    return " ".join(text for text in told if isinstance(text, str))[:_TEXT] if isinstance(told, list) else ""


def check(  # noqa: PLR0913, PLR0917  (what a check is made of)
    section: Section, index: int, program: str, name: str, result: str, text: str, **whose: Any,  # noqa: ANN401
) -> Observation:  # fmt: skip
    """A check; what is said of a test that passed is left out."""
    said = text if result in {"fail", "warn"} else ""
    return observe(
        section, index, "HealthCheck", program=program, name=name, result=result, message=said or None, **whose
    )  # fmt: skip
