"""Redact a paste so that it can be published and still be diagnosed: equal things get equal stand-ins.

Kept is what a diagnosis needs: common prefixes of addresses (of any length), their private range or link-local prefix,
host parts, gateways and masks; names of interfaces and HCAs with their numbers; vendors in MAC addresses and GUIDs and
how these are related. Replaced are the middle bits of addresses, MACs and GUIDs, the letters in names of hosts,
domains, users, their folders and buckets, UUIDs and serial numbers; the replacements have the same length, so that line
breaks stay valid. Secrets are removed and not stored.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

import msgspec

from ncdiag.apps.redact.bundles import bundle_cleaned
from ncdiag.apps.redact.reading import WithoutSecrets
from ncdiag.apps.redact.searched import Searched
from ncdiag.apps.redact.spool import Spooled
from ncdiag.apps.redact.stand_ins import Redactor
from ncdiag.base.patterns import lazy_regex
from ncdiag.facts.fold import unfold_hosts
from ncdiag.facts.model import Job
from ncdiag.report.model import Difference, Report
from ncdiag.text import Text, TextSource, job_of, read_source

__all__ = [
    "Cleaned",
    "Redactor",
    "Spooled",
    "bundle_cleaned",
    "cleaned",
    "difference_cleaned",
    "hosts_in",
    "judged_cleaned",
    "names_of",
    "report_cleaned",
    "structure_cleaned",
]

_FOLDED = lazy_regex(r"[^,\[\]]{1,200}(?:\[[^\]]{1,4000}\][^,\[\]]{0,60})?")
_ADDRESS = lazy_regex(r"[\d.]+|.*:.*", re.DOTALL)

T = TypeVar("T")


class Cleaned(Text):
    """A source that is redacted while it is read; its ``name`` is redacted, too."""

    def __init__(self, source: Text, redactor: Redactor, searched: Searched | None = None) -> None:
        """``redactor`` must have learnt the names in all sources of the case.

        ``searched``: what it found in this one while it learnt them.
        """
        self._source, self._redactor, self._searched = source, redactor, searched
        self.name, self.notes = redactor.text(source.name), source.notes

    def buffers(self) -> Iterator[bytes]:
        """The redacted buffers of the source; the number of lines is unchanged."""
        self._redactor.begin(self.name, self._searched)
        for buffer in self._source.buffers():
            yield self._redactor.buffer(buffer)


def cleaned(
    sources: Iterable[Text],
    key: bytes | None = None,
    mapping: Mapping[str, str] | None = None,
    kinds: Mapping[str, str] | None = None,
) -> tuple[list[Cleaned], Redactor]:
    """The redacted sources, and their redactor. Each source is read twice: first to find names."""
    kept = [source if isinstance(source, Spooled) else Spooled(source) for source in sources]
    redactor = Redactor((), key, mapping, kinds)
    without = [WithoutSecrets(source, redactor.secrets(), redactor.learn_line) for source in kept]
    redactor.know(_hosts(without))
    redactor.learn([source.name for source in kept])
    return [Cleaned(each, redactor, read.searched) for each, read in zip(kept, without, strict=True)], redactor


def report_cleaned(report: Report, key: bytes | None = None) -> Report:
    """The report with all its texts cleaned; its names, codes and counts are the same."""
    return structure_cleaned(report, _learned(report, key))


def judged_cleaned(
    report: Report, job: Job, lines: Mapping[tuple[str, int], str]
) -> tuple[Report, Job, dict[tuple[str, int], str]]:
    """A report, the facts of its job and lines of the input, redacted with common stand-ins.

    The facts keep their places in the input, but not the texts of the lines.
    """
    redactor = _learned(report, None, names_of(job), lines.values())
    shown = {(redactor.text(source), number): redactor.text(text) for (source, number), text in lines.items()}
    return structure_cleaned(report, redactor), structure_cleaned(job, redactor, lines=False), shown


def _learned(report: Report, key: bytes | None, hosts: Iterable[str] = (), more: Iterable[str] = ()) -> Redactor:
    """A redactor that knows the names in a report, the given hosts, and the names in the lines ``more``."""
    lines = [item.text for finding in report.findings for item in finding.evidence]
    signs = (sign for suspect in report.suspects for sign in (*suspect.supporting, *suspect.against))
    lines += [item.text for sign in signs for item in sign.evidence]
    folded = [report.summary.hosts or "", *(finding.hosts or "" for finding in report.findings)]
    named = [name for text in folded for part in _FOLDED.findall(text) for name in unfold_hosts(part)]
    named += [section.host for item in report.inputs for section in item.sections if section.host]
    redactor = Redactor([*named, *hosts, *hosts_in([TextSource.of_bytes("evidence", "\n".join(lines).encode())])], key)
    redactor.learn([*lines, *more, *(item.source for item in report.inputs)])
    return redactor


def difference_cleaned(found: Difference) -> Difference:
    """The answer of ``ncdiag diff`` with all its texts cleaned."""
    folded = [found.before.hosts, found.after.hosts, *(change.hosts for change in found.changes)]
    named = [name for text in folded for part in _FOLDED.findall(text) for name in unfold_hosts(part)]
    texts = [text for change in found.changes for text in (change.before, change.after)]
    redactor = Redactor([*named, *hosts_in([TextSource.of_bytes("values", "\n".join(texts).encode())])])
    redactor.learn([*texts, found.before.source, found.after.source])
    return structure_cleaned(found, redactor)


def structure_cleaned(value: T, redactor: Redactor, *, lines: bool = True) -> T:
    """A msgspec structure (a report, the facts of a job) with all its texts redacted.

    ``lines`` False: remove the texts of the lines from which facts were read, which are most of them.
    """
    text = functools.cache(redactor.text)  # a thousand ranks have equal texts

    def clean(part: Any) -> Any:  # noqa: ANN401  (what it is made of)
        if isinstance(part, str):
            return text(part)
        if isinstance(part, list | tuple):
            return [clean(item) for item in part]
        return {name: _of(name, item) for name, item in part.items()} if isinstance(part, dict) else part

    def _of(name: str, item: Any) -> Any:  # noqa: ANN401
        """The redacted value of a field; the keys of a table of groups are values of the input."""
        if name == "provenance" and not lines:
            item = {field: {**span, "text": ""} for field, span in item.items()}
        found = clean(item)
        return {text(value): share for value, share in found.items()} if name == "groups" else found

    made: T = msgspec.convert(clean(msgspec.to_builtins(value)), type(value))
    return made


def hosts_in(sources: Sequence[Text]) -> list[str]:
    """Names of hosts in the order of their first mention in the sources; secrets are never taken for names."""
    return _hosts([WithoutSecrets(source) for source in sources])


def _hosts(sources: Iterable[WithoutSecrets]) -> list[str]:
    return names_of(job_of([read_source(source) for source in sources]))


def names_of(job: Job) -> list[str]:
    """Names of hosts in the facts of a job."""

    def names() -> Iterator[str | None]:
        yield from (host.name for host in job.hosts)
        yield from (rank.host for rank in job.ranks)
        for launch in job.launches:
            yield from (launch.host, *(host.name for host in launch.hosts), launch.master_addr)
        for table in job.rank_tables:
            yield from (device.server_id for device in table.devices or ())

    return list(dict.fromkeys(name for name in names() if name and not _ADDRESS.fullmatch(name)))
