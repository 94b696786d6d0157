"""Addresses of this network namespace by getifaddrs(3), in its order: the call that NCCL itself makes (socket.cc)."""

import contextlib
import socket
import struct
from typing import Any, Callable, Dict, Iterable, Iterator, List, Optional, Tuple

_IFADDRS = struct.Struct("@PPIPPPP")  # struct ifaddrs of <ifaddrs.h>: next, name, flags, address, mask, other, data
_POINT_TO_POINT = 0x10  # IFF_POINTOPOINT
_LENGTHS = {socket.AF_INET: (4, 4), socket.AF_INET6: (8, 16)}  # where the address is in a sockaddr, and its bytes


def addresses() -> Optional[Dict[str, List[Dict[str, Any]]]]:
    """Maps each interface to its addresses (``ip``, ``prefix_len``, ``peer``), IPv4 first; None if unavailable."""
    try:
        import ctypes

        library, first = ctypes.CDLL(None), ctypes.c_void_p()
        if library.getifaddrs(ctypes.byref(first)):
            return None
    except (ImportError, OSError, AttributeError, TypeError):
        return None
    try:
        found = list(_entries(first.value, ctypes.string_at))
    finally:
        library.freeifaddrs(first)
    told: Dict[str, List[Dict[str, Any]]] = {}
    for _, name, fields in sorted(found, key=lambda entry: entry[0]):
        told.setdefault(name, []).append(fields)
    return told


def _entries(place: Optional[int], memory: Callable[[Any, int], bytes]) -> Iterator[Tuple[int, str, Dict[str, Any]]]:
    """(family, interface, fields) of each address in the kernel's order; ``memory(place, size)`` reads memory."""
    while place:
        place, name, flags, address, mask, other, _ = _IFADDRS.unpack(memory(place, _IFADDRS.size))
        family = struct.unpack("H", memory(address, 2))[0] if address else None
        if family not in _LENGTHS:
            continue
        start, length = _LENGTHS[family]
        fields: Dict[str, Any] = {"ip": socket.inet_ntop(family, memory(address + start, length))}
        if mask:  # the family of a mask may be missing
            fields["prefix_len"] = bin(int.from_bytes(memory(mask + start, length), "big")).count("1")
        if other and flags & _POINT_TO_POINT:
            fields["peer"] = socket.inet_ntop(family, memory(other + start, length))
        yield family, memory(name, -1).decode("utf-8", "replace"), fields


def resolved(name: str) -> List[str]:
    """The addresses of a name, as programs on this host resolve it."""
    try:
        found = socket.getaddrinfo(name, None, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        return []
    return list(dict.fromkeys(str(place[0]) for *_, place in found))


def is_here(name: str, found: Iterable[str], *known: str) -> bool:
    """True if a name with these addresses means this host, which is also ``known`` by the given names.

    Another host's name that resolves to loopback is an error in this host's files, and must not hide that host.
    """
    own = socket.gethostname()
    if name in {"localhost", own, own.partition(".")[0], *known}:
        return True
    return any(_is_own(one) for one in found if one == name or not (one.startswith("127.") or one == "::1"))


def _is_own(address: str) -> bool:
    with contextlib.suppress(OSError), socket.socket(
        socket.AF_INET6 if ":" in address else socket.AF_INET, socket.SOCK_STREAM
    ) as one:
        one.bind((address, 0))
        return True
    return False
