"""Redact a bundle: names and addresses in files, outputs and answers, also in the kernel's numeric form."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from ncdiag.apps.redact.stand_ins import Redactor
from ncdiag.base.patterns import lazy_regex
from ncdiag.machine.bundle import Bundle
from ncdiag.machine.command import CommandResult

_BINARY = lazy_regex(r"sys/bus/pci/devices/[^/]+/config")
_V6_WORDS = 32


def bundle_cleaned(bundle: Bundle, redactor: Redactor | None = None) -> Bundle:
    """The bundle with stand-ins (of ``redactor`` if given); a diagnosis of it gives the same result."""
    recorded, manifest = bundle.recorded, bundle.manifest
    redactor = redactor or Redactor()
    redactor.know([recorded.host, manifest.host])
    texts = {path: data.decode("utf-8", "surrogateescape") for path, data in recorded.files.items()}
    for text in texts.values():
        redactor.learn(text.split("\n"))
    for output in recorded.outputs.values():
        redactor.learn(output.output)

    def clean(value: Any) -> Any:  # noqa: ANN401  (JSON values)
        if isinstance(value, str):
            return redactor.text(value)
        if isinstance(value, list | tuple):
            return [clean(item) for item in value]
        return {clean(name): clean(item) for name, item in value.items()} if isinstance(value, dict) else value

    made = msgspec.structs.replace(
        recorded, host=clean(recorded.host), present=[redactor.path(path) for path in recorded.present],
        folders={
            redactor.path(path): [redactor.path(f"{path}/{name}").rpartition("/")[2] for name in names]
            for path, names in recorded.folders.items()
        },
        links={redactor.path(path): redactor.path(target) for path, target in recorded.links.items()},
        refused={redactor.path(path): why for path, why in recorded.refused.items()},
        failures=clean(recorded.failures),
        answers={name: clean(value) for name, value in recorded.answers.items()},
        files={redactor.path(path): _file(redactor, path, text) for path, text in texts.items()},
        outputs={
            name: CommandResult(tuple(redactor.text("\n".join(r.output)).split("\n")), r.status, clean(r.reason))
            for name, r in recorded.outputs.items()
        },
    )  # fmt: skip
    libraries = [
        msgspec.structs.replace(item, path=clean(item.path), problem=clean(item.problem), log=clean(item.log))
        for item in manifest.libraries
    ]
    told = msgspec.structs.replace(
        manifest, host=made.host, libraries=libraries, not_seen=[redactor.text(phrase) for phrase in manifest.not_seen]
    )
    return Bundle(manifest=told, recorded=made)


def _file(redactor: Redactor, path: str, text: str) -> bytes:
    """A redacted file; tables of the kernel contain addresses as hexadecimal numbers."""
    if not _BINARY.fullmatch(path):
        rewrite = _TABLES.get(path)
        text = "\n".join(rewrite(redactor, line) for line in text.split("\n")) if rewrite else redactor.text(text)
    return text.encode("utf-8", "surrogateescape")


def _route(redactor: Redactor, line: str) -> str:
    """/proc/net/route: destination, gateway and mask in the byte order of the machine, which is little endian."""
    words = line.split("\t")
    try:
        destination, gateway, mask = (int.from_bytes(bytes.fromhex(words[i].strip()), "little") for i in (1, 2, 7))
    except (ValueError, IndexError):
        return line
    words[1] = _little(redactor.number4(destination, mask.bit_count()))
    words[2] = _little(redactor.number4(gateway))
    return "\t".join(words)


def _little(number: int) -> str:
    return number.to_bytes(4, "little").hex().upper()


def _route6(redactor: Redactor, line: str) -> str:
    """/proc/net/ipv6_route: destination and its length, source and its length, gateway ..."""
    words = line.split(" ")
    try:
        words[0] = f"{redactor.number6(int(words[0], 16), int(words[1], 16)):032x}"
        words[4] = f"{redactor.number6(int(words[4], 16)):032x}"
    except (ValueError, IndexError):
        return line
    return " ".join(words)


def _if_inet6(redactor: Redactor, line: str) -> str:
    """/proc/net/if_inet6: address, index, length of the prefix ..."""
    address, space, rest = line.partition(" ")
    if len(address) != _V6_WORDS:
        return line
    return f"{redactor.number6(int(address, 16)):032x}{space}{rest}"


def _sockets(_redactor: Redactor, line: str) -> str:
    """/proc/net/tcp: only the port numbers are kept, because nothing else is read."""
    return re.sub(r"\b(?:[0-9A-F]{32}|[0-9A-F]{8})(?=:[0-9A-F]{4}\b)", lambda found: "0" * len(found[0]), line)


_TABLES: Mapping[str, Callable[[Redactor, str], str]] = {
    "proc/net/route": _route, "proc/net/ipv6_route": _route6, "proc/net/if_inet6": _if_inet6,
    "proc/net/tcp": _sockets, "proc/net/tcp6": _sockets,
}  # fmt: skip
